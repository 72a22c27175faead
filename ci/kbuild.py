# SPDX-License-Identifier: GPL-2.0
"""Compile single objects of a state of the tree and collect what make warns of."""
import hashlib
import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

from common import BUILD, LINUX, ROOT, Fail, Skip, out, run

EACH = BUILD / "each"
SYMBOL = "PERF_EVENTS_PERSISTENT"
# Users of perf's headers that are quick to build, beside kernel/events itself.
USERS = ["kernel/trace", "arch/x86/events", "kernel"]
MAX_USERS = 5
PROBLEM = re.compile(r"\b[Ww]arning: |\berror: |\*\*\* |undefined reference")


def fragments(*names):
    text = ""
    for n in names:
        try:
            text += (ROOT / "kconfig-fragments" / n).read_text()
            x86 = ROOT / "kconfig-fragments" / f"{n}-x86"
            text += x86.read_text() if x86.exists() else ""
        except OSError:
            raise Fail(f"kconfig-fragments/{n} is not there") from None
    return text


def problems(text, *roots):
    """The warnings and errors in make's output, without what differs by place."""
    found = Counter()
    for line in text.splitlines():
        if not PROBLEM.search(line) or line.startswith("make"):
            continue
        for root in roots:
            line = line.replace(f"{root}/", "")
        line = re.sub(r"(?:\.\./)+", "", line)
        found[re.sub(r":\d+(?::\d+)?:?(?= )", ":", line.strip())] += 1
    return found


class Source:
    """A checkout of its own next to build/linux, and one output folder a config."""

    def __init__(self):
        self.dir = EACH / "src"
        self.at = None
        self.want_dirs = set()

    def git(self, *args):
        return out("git", "-C", self.dir, *args)

    def checkout(self, commit):
        if self.at == commit:
            return
        # The objects are borrowed from build/linux: a new one there needs a new clone.
        have = run("git", "-C", self.dir, "cat-file", "-e", f"{commit}^{{tree}}").returncode == 0
        if not have:
            shutil.rmtree(EACH, ignore_errors=True)
            EACH.mkdir(parents=True)
            out("git", "clone", "-q", "--shared", "--no-checkout", LINUX, self.dir)
            self.git("config", "core.sparseCheckout", "true")
        # Most of drivers/ and sound/ is source that no config here builds.
        keep = ["/*", "!/drivers/**/*.c", "!/sound/**/*.c"] + sorted(self.want_dirs)
        info = self.dir / ".git/info/sparse-checkout"
        if not info.exists() or info.read_text().split() != keep:
            info.parent.mkdir(exist_ok=True)
            info.write_text("\n".join(keep) + "\n")
            if (self.dir / ".git/index").exists():
                self.git("read-tree", "-mu", "HEAD")
        self.git("checkout", "-q", "-f", "--detach", commit)
        self.at = commit


class Config:
    def __init__(self, src, name, text):
        self.src, self.name, self.text = src, name, text
        self.out = EACH / name
        self.arch, self.args = "x86_64", ()

    def srcarch(self):
        return {"x86_64": "x86", "i386": "x86"}.get(self.arch, self.arch)

    def make(self, *args, keep=False):
        env = dict(os.environ, LC_ALL="C", CCACHE_BASEDIR=str(ROOT), CCACHE_NOHASHDIR="1",
                   KBUILD_BUILD_USER="kbuild", KBUILD_BUILD_HOST="kbuild", KBUILD_BUILD_VERSION="1",
                   KBUILD_BUILD_TIMESTAMP="2026-01-01")
        for v in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            env.pop(v, None)
        cc = ["CC=ccache gcc", "HOSTCC=ccache gcc"] if shutil.which("ccache") else []
        if any(a.startswith(("LLVM=", "CROSS_COMPILE=")) for a in self.args):
            cc = []
        r = run("make", "-C", self.src.dir, f"O={self.out}", f"-j{min(os.cpu_count() or 1, 8)}", f"ARCH={self.arch}",
                *cc, *self.args, *(["-k"] if keep else []), *args, env=env)
        return r.returncode, r.stdout

    def configure(self):
        """The .config of this state; says what was warned of and which symbols it has."""
        self.out.mkdir(parents=True, exist_ok=True)
        want, mark = self.out / "wanted.config", self.out / "configured.json"
        # kconfig takes longer than most of the compiles: only where its input changed.
        paths = self.src.git("ls-tree", "-r", self.src.at, "--", "init", "kernel", "lib", f"arch/{self.srcarch()}", "arch/Kconfig",
                             "mm", "fs", "security", "Kconfig", "scripts").splitlines()
        state = [self.text] + [p for p in paths if "Kconfig" in p or "\tscripts/" in p]
        state = hashlib.sha256("\n".join(state).encode()).hexdigest()
        if mark.exists() and (self.out / ".config").exists():
            old = json.loads(mark.read_text())
            if old["state"] == state:
                return Counter(old["found"]), set(old["have"])
        mark.unlink(missing_ok=True)
        want.write_text(self.text)
        status, text = self.make(f"KCONFIG_ALLCONFIG={want}", "allnoconfig")
        if status:
            print(text)
            raise Fail(f"the config '{self.name}' cannot be made at {self.src.at[:12]}")
        # A value that a fragment gives twice is overridden on purpose: not news.
        found = Counter({k: n for k, n in problems(text, self.src.dir, self.out).items()
                         if "override" not in k and "unexpected data" not in k and "unknown" not in k})
        have = set(re.findall(r"^CONFIG_(\w+)=y$", (self.out / ".config").read_text(), re.M))
        mark.write_text(json.dumps({"state": state, "found": found, "have": sorted(have)}))
        return found, have

    def members(self, folder):
        """The objects of a folder that this config builds, as kbuild's Makefile says."""
        top = self.src.dir
        name = next((f"{folder}/{f}" for f in ("Kbuild", "Makefile") if (top / folder / f).exists()), None)
        if not name:
            return set()
        parent = str(Path(folder).parent)
        # arch/ has no Makefile: the one at the top names arch/$(SRCARCH)/ itself.
        if parent not in (".", "arch") and f"{folder}/" not in self.members(parent):
            return set()
        probe = self.out / "probe.mk"
        probe.write_text(
            f"probe-all:;@:\nsrctree := .\nobjtree := {self.out}\nsrc := {folder}\nobj := {folder}\nSRCARCH := {self.srcarch()}\n"
            f"BITS := {32 if self.arch == 'i386' else 64}\n-include {self.out}/.config\ninclude {name}\n"
            "all-o := $(obj-y) $(obj-m) $(lib-y)\n"
            "$(info probe: $(all-o) $(foreach o,$(all-o),$($(o:.o=-y)) $($(o:.o=-objs))))\n")
        r = run("make", "-C", top, "-f", probe, "probe-all")
        m = re.search(r"^probe: (.*)", r.stdout, re.M)
        if not m:
            print(r.stdout)
            raise Fail(f"cannot find out what {name} builds")
        return {os.path.normpath(f"{folder}/{o}") + ("/" if o.endswith("/") else "") for o in m[1].split()}

    def header_users(self, header, full):
        """kernel/events, and a few of those that include the header by name."""
        objs = {o for o in self.members("kernel/events") if o.endswith(".o")}
        if not full:
            return objs
        short = re.sub(r"^(?:arch/x86/)?include/(?:uapi/)?", "", header)
        users = run("git", "-C", self.src.dir, "grep", "-l", f"include <{short}>", "--",
                    *[f"{d}/*.c" for d in USERS]).stdout.split()
        more = []
        for u in users:
            d = str(Path(u).parent)
            if d in USERS and len(more) < MAX_USERS and (o := u[:-1] + "o") in self.members(d):
                more.append(o)
        return objs | set(more)

    def objects(self, files, full=True):
        """({object}, {file: why nothing is built for it}) of the files a patch touches."""
        objs, why = set(), {}
        for f in files:
            if f.startswith(("tools/", "Documentation/", "samples/")):
                why[f] = "user space or documentation"
            elif f.endswith(".h"):
                if m := re.match(r"arch/(\w+)/", f):
                    if m[1] != self.srcarch():
                        why[f] = f"only for {m[1]}"
                        continue
                objs |= self.header_users(f, full)
            elif f.endswith((".c", ".S")):
                o = f[:-1] + "o"
                if (m := re.match(r"arch/(\w+)/", f)) and m[1] != self.srcarch():
                    why[f] = f"only for {m[1]}"
                elif not (self.src.dir / f).exists():
                    why[f] = "removed by the patch"
                elif o in self.members(str(Path(f).parent)):
                    objs.add(o)
                else:
                    why[f] = f"not built in the config '{self.name}'"
            elif not f.endswith(("Kconfig", "Makefile", "Kbuild")) and "Kconfig" not in f:
                why[f] = "not code"
        return objs, why

    def build(self, objs):
        """(built without error, Counter of warnings); always compiles them anew."""
        for o in objs:
            (self.out / o).unlink(missing_ok=True)
        # One make for all: with and without W=1 it would build its own tools twice.
        status, text = self.make("W=1", *(sorted(objs) or ["prepare"]), keep=True)
        missing = [o for o in objs if not (self.out / o).exists()]
        if status or missing:
            print(text)
            return False, Counter({f"{o}: not built": 1 for o in missing} or {"make failed": 1})
        return True, problems(text, self.src.dir, self.out)


def need_compiler():
    for tool in ("gcc", "make", "flex", "bison", "bc"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")
