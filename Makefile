# SPDX-License-Identifier: GPL-2.0
# A thin index of tools/; "make help" lists what there is.

known := LINUX LINUX_REV JOBS CHECKS SHARD SECTION BASE SUITE VM_ACCEL MINUTES SEED
unknown := $(filter-out $(known),$(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(v))))
ifneq ($(unknown),)
$(error unknown variable $(firstword $(unknown)); there are: $(known))
endif

define number
ifneq ($(filter-out 0 1 2 3 4 5 6 7 8 9,$(shell echo '$($(1))' | sed 's/./& /g')),)
$$(error $(1)=$($(1)): a number, such as $(1)=2)
endif
endef
$(foreach v,JOBS MINUTES SEED,$(eval $(call number,$(v))))

build = tools/build $(if $(JOBS),--jobs $(JOBS))

.PHONY: help demo check tree kernel shell refresh mbox verify-send rebase bench stress clean section-ok base-ok
.NOTPARALLEL:

help:
	@echo 'make demo     from nothing to a persistent event recorded in QEMU'
	@echo 'make check    all checks (CHECKS="NAME ..." for some)'
	@echo 'make tree     build/linux: the base with the series applied'
	@echo 'make kernel   the tree, compiled'
	@echo 'make shell    a root shell in the patched guest'
	@echo 'make refresh  commits of build/linux back into patches/ and series'
	@echo 'make mbox     what would be sent, a section each (SECTION="NAME ..." for some)'
	@echo 'make verify-send  take that as a maintainer would (SECTION="NAME ..."): is it the same tree?'
	@echo 'make rebase   try the series on another kernel: BASE=DIR[@REV] or a package'
	@echo 'make bench    what events cost, with the series and without'
	@echo 'make stress   race and fuzz in guests with debug kernels (MINUTES=30 each, SEED=N)'
	@echo 'make clean    remove what was built (downloads, build/send and unsaved commits stay)'
	@echo
	@echo 'Variables: LINUX=DIR LINUX_REV=REV  base from a git tree of your own'
	@echo '           JOBS=N                   parallel compilations'
	@echo '           SHARD=I/N                make check: the part for one of N machines'
	@echo '           SUITE=NAME               make rebase: where Debian has the package'
	@echo '           VM_ACCEL=kvm|tcg         how QEMU runs the guest'
	@echo '           MINUTES=N SEED=N         of make stress'

# A smaller kernel than the one of the checks: it is what a newcomer waits for.
demo: tree
	@$(build) --out demo base feature mce
	@tools/mce --out demo demo

check:
	@tools/check $(if $(SHARD),--shard '$(SHARD)') $(CHECKS)

tree:
	@tools/tree

kernel: tree
	@$(build)

shell: kernel
	@tools/shell

refresh:
	@tools/refresh

rebase_args = '$(or $(BASE),$(error say which kernel: BASE=DIR, BASE=DIR@REV or a package such as BASE=linux-source-6.12))' \
	$(if $(SUITE),--suite '$(SUITE)')

# Before the tree is made, which takes a while.
section-ok:
	@tools/mbox --list $(SECTION) >/dev/null

base-ok:
	@tools/rebase --check $(rebase_args)

mbox: section-ok tree
	@tools/deps send
	@tools/mbox $(SECTION)

verify-send: mbox
	@tools/verify-send $(SECTION)

rebase: base-ok tree
	@tools/rebase $(rebase_args)

# The series' kernel first: the other one takes its config.
bench: kernel
	@tools/base
	@tools/bench

stress: tree
	@tools/stress $(if $(JOBS),--jobs $(JOBS)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

clean:
	@tools/clean
