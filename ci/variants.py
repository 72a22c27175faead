# SPDX-License-Identifier: GPL-2.0
"""Compile what the series touches in other configurations, with other compilers, for other
architectures: objects only, W=1, and no warning that the base does not have.

A variant is a line of VARIANTS: what make is told, what the config has more or less than
that of the checks, and the group of tools/deps that it takes.
"""
from collections import Counter, namedtuple

from common import LINUX, Fail, Skip, git, need, need_tree, plural, run
from kbuild import Config, Source, fragments, need_compiler

Variant = namedtuple("Variant", "args config gone deps", defaults=((), "", (), ""))
POWERPC = """CONFIG_PPC64=y
CONFIG_PPC_BOOK3S_64=y
CONFIG_CPU_BIG_ENDIAN=y
CONFIG_PERF_EVENTS=y
"""
PSERIES = """CONFIG_PPC_PSERIES=y
CONFIG_VPA_PMU=y
CONFIG_DTL=y
CONFIG_LIBNVDIMM=y
CONFIG_PAPR_SCM=y
"""
# pseries selects HOTPLUG_CPU.
POWERNV = """CONFIG_PPC_POWERNV=y
# CONFIG_PPC_PSERIES is not set
# CONFIG_HOTPLUG_CPU is not set
"""
VARIANTS = {
    "clang": Variant(("LLVM=-19",), deps="clang"),
    "sparse": Variant(("C=2",), deps="sparse"),
    "i386": Variant(("ARCH=i386",), "# CONFIG_64BIT is not set\n", ("64BIT",)),
    "big-endian": Variant(("ARCH=powerpc", "CROSS_COMPILE=powerpc64-linux-gnu-"), POWERPC + PSERIES,
                          ("CPU_LITTLE_ENDIAN",), "powerpc"),
    # Only there can a kernel for several CPUs be without hotplug.
    "no-hotplug": Variant(("ARCH=powerpc", "CROSS_COMPILE=powerpc64-linux-gnu-"),
                          POWERPC + POWERNV, ("HOTPLUG_CPU",), "powerpc"),
    "no-smp": Variant((), "# CONFIG_SMP is not set\n", ("SMP", "HOTPLUG_CPU")),
    "no-tracing": Variant((), "# CONFIG_FTRACE is not set\n# CONFIG_KPROBES is not set\n", ("EVENT_TRACING",)),
    "no-bpf": Variant((), "# CONFIG_BPF_SYSCALL is not set\n# CONFIG_BPF_EVENTS is not set\n",
                      ("BPF_SYSCALL", "BPF_EVENTS")),
}


class Other(Config):
    """A configuration of a variant, at any state of the tree."""

    def __init__(self, src, name, variant):
        names = ["base", "feature", "kunit", "kunit-feature", "selftests"]
        arch = next((a[5:] for a in variant.args if a.startswith("ARCH=")), "x86_64")
        text = fragments(*names) + ("" if arch == "powerpc" else fragments("mce")) + variant.config
        super().__init__(src, name, text)
        self.arch, self.args, self.variant = arch, variant.args, variant


def chosen(cfg, files, only):
    objs, why = cfg.objects([f for f in files if (cfg.src.dir / f).exists()], full=False)
    # Compiled with everything that perf is made of, or no error in a header would be seen.
    objs |= {o for o in cfg.members("kernel/events") if o.endswith(".o")}
    return {o for o in objs if o.startswith(only)}, why


def one(name, only=""):
    """A line on a variant; raises Fail."""
    need("build")
    need_tree()
    need_compiler()
    v = VARIANTS[name]
    if v.deps:
        need(v.deps)
    # make would skip sparse, say so among its output, and succeed.
    if name == "sparse" and run(LINUX / "scripts/checker-valid.sh", "sparse").stdout.strip() != "1":
        raise Skip(f"{run('sparse', '--version').stdout.strip()} is too old for this kernel (scripts/checker-valid.sh)")
    src = Source()
    files = git("diff", "--name-only", "base..series").split()
    src.want_dirs = {"/" + f.rsplit("/", 1)[0] + "/*" for f in files if f.startswith(("drivers/", "sound/"))}
    src.checkout(git("rev-parse", "series").strip())
    cfg = Other(src, name, v)
    warned, have = cfg.configure()
    if "PERF_EVENTS_PERSISTENT" not in have:
        raise Fail(f"{name}: the config has no CONFIG_PERF_EVENTS_PERSISTENT")
    if still := [s for s in v.gone if s in have]:
        raise Fail(f"{name}: CONFIG_{still[0]} is on, although it should be off")
    objs, why = chosen(cfg, files, only)
    for f, reason in why.items():
        print(f"    not built: {f}: {reason}")
    if not objs:
        raise Fail(f"{name}: nothing to build")
    good, found = cfg.build(objs)
    if not good:
        raise Fail(f"{name}: does not build: {', '.join(found)}")
    found += warned
    if found:
        src.checkout(git("rev-parse", "base").strip())
        before, _ = cfg.configure()
        old, _ = chosen(cfg, files, only)
        _, more = cfg.build(old & objs)
        found = Counter({w: n for w, n in found.items() if n > (before + more)[w]})
        src.checkout(git("rev-parse", "series").strip())
    if found:
        print("\n".join(found))
        raise Fail(f"{name}: new warning: {next(iter(found))}")
    return plural(len(objs), "object")


def several(*names):
    """The line of a check that builds some variants; each is tried, whatever became of the others."""
    done, bad, skipped = [], [], []
    for n in names:
        try:
            done.append(f"{n} {one(n)}")
        except Skip as e:
            skipped.append(f"{n}: {e}")
        except Fail as e:
            print(f"    FAIL {e}")
            bad.append(str(e))
    if bad:
        raise Fail(f"{len(bad)} of {len(names)} variants bad, the first: {bad[0]}")
    if skipped:
        raise Skip("; ".join(skipped + done))
    return f"no new warning (W=1): {', '.join(done)}"
