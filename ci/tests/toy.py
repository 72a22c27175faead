# SPDX-License-Identifier: GPL-2.0
"""A small repository with a small "kernel", for tests that break things."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
CI = Path(__file__).resolve().parent.parent
ROOT = CI.parent
sys.path.insert(0, str(CI))

ONE = "0001-perf-core-Change-one.patch"
TWO = "0002-perf-core-Add-a-file.patch"
CORE = "".join(f"int perf_{i}(void)\n{{\n\treturn {i};\n}}\n\n" for i in range(12))


def run(*cmd, env=None, **kw):
    """(status, stdout, stderr)"""
    r = subprocess.run([str(c) for c in cmd], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       errors="replace", env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **(env or {})), **kw)
    return r.returncode, r.stdout, r.stderr


class Toy(unittest.TestCase):
    """self.root: tools/, series, patches/ (two) and build/linux that agree."""

    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.root = Path(tmp.name) / "repo"
        self.linux = self.root / "build/linux"
        self.linux.mkdir(parents=True)
        (self.root / "patches").mkdir()
        shutil.copytree(ROOT / "tools", self.root / "tools")
        for f in ("BASE", "Makefile"):
            if (ROOT / f).exists():
                shutil.copy(ROOT / f, self.root / f)
        self.kgit("init", "-q", "-b", "series")
        self.write("kernel/events/core.c", CORE)
        self.commit("base")
        self.kgit("tag", "base")
        self.write("kernel/events/core.c", CORE.replace("return 1;", "return 10;"))
        self.commit("perf/core: Change one")
        self.write("kernel/events/persistent.c", "int persistent;\n")
        self.commit("perf/core: Add a file")
        (self.root / "series").write_text("# A section\n0001-perf-core-Change-one.patch\n"
                                          "0002-perf-core-Add-a-file.patch\n")
        status, _, err = self.tool("refresh")
        self.assertEqual(status, 0, err)

    def kgit(self, *args):
        status, out, err = run("git", "-C", self.linux, "-c", "user.name=Toy", "-c", "user.email=toy@localhost", *args)
        self.assertEqual(status, 0, err)
        return out

    def write(self, name, text):
        path = self.linux / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, subject):
        self.kgit("add", "-A")
        self.kgit("commit", "-q", "-m", subject)

    def tool(self, name, *args):
        return run(self.root / "tools" / name, *args)

    def check(self, name):
        """(status, last line) of a check of ours on the toy"""
        status, out, err = run(CI / name, env={"CHECK_ROOT": str(self.root)})
        return status, (out.strip().splitlines() or [err])[-1]

    def edit(self, name, old, new):
        path = self.root / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))


class Send(Toy):
    """With a section for each patch, and their letters."""

    def setUp(self):
        super().setUp()
        (self.root / "series").write_text(f"# [one] The first: alone.\n# A remark.\n{ONE}\n# [two] The second.\n{TWO}\n")
        (self.root / "cover").mkdir()
        for name in ("one", "two"):
            self.cover(name, f"perf: Part {name}\n\nText of {name}.\n\n@ROADMAP@\n\n@TESTED@\n")
        self.cover("TESTED", "Tested well.\n")

    def cover(self, name, text):
        (self.root / "cover" / name).write_text(text)

    def refused(self, tool, *args, why):
        status, out, err = self.tool(tool, *args)
        self.assertEqual(status, 2, out + err)
        self.assertEqual(len(err.strip().splitlines()), 1, err)
        self.assertRegex(err, why)

    def mbox(self, name):
        status, out, err = self.tool("mbox")
        self.assertEqual(status, 0, out + err)
        return (self.root / f"build/mbox/{name}.mbox").read_text()
