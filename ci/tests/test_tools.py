# SPDX-License-Identifier: GPL-2.0
"""Bad input to the tools: one line that says what to do, and status 2."""
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from toy import ROOT, Send, Toy, run


class Compiler(unittest.TestCase):
    @unittest.skipUnless(shutil.which("ccache") and shutil.which("gcc"), "no ccache or gcc")
    def test_incbin_is_new(self):
        # As tools/build uses ccache, which would give back the first object.
        with tempfile.TemporaryDirectory() as work:
            work = Path(work)
            env = {"CCACHE_DIR": str(work / "cache"), "CCACHE_DEPEND": "1"}
            (work / "a.S").write_text('.incbin "data"\n')
            for text in ("first!", "second"):
                (work / "data").write_text(text)
                status, out, err = run(ROOT / "tools/cc", "gcc", "-MD", "-c", "a.S", "-o", "a.o", env=env, cwd=work)
                self.assertEqual(status, 0, out + err)
                self.assertIn(text.encode(), (work / "a.o").read_bytes())


class BadInput(unittest.TestCase):
    def refused(self, *cmd, env=None, why=".", lines=1):
        status, out, err = run(*cmd, env=env, cwd=ROOT)
        self.assertEqual(status, 2, f"{cmd}: {out}{err}")
        text = [line for line in err.splitlines() if not line.startswith("usage:") and line.strip()]
        if lines:
            self.assertLessEqual(len(text), lines, f"{cmd}: {err}")
        self.assertRegex(err, why)

    def tools(self):
        return [p for p in sorted((ROOT / "tools").iterdir()) if os.access(p, os.X_OK) and p.is_file()]

    def test_unknown_flag(self):
        for tool in self.tools():
            with self.subTest(tool.name):
                # argparse prints its usage above the line: wrapped, so not counted.
                self.refused(tool, "--no-such-flag", lines=0)

    def test_one_usage(self):
        for tool in self.tools():
            with self.subTest(tool.name):
                self.assertLessEqual(len(re.findall(r"^usage: ", run(tool, "--help", cwd=ROOT)[1], re.M)), 1)

    def test_checks_take_no_arguments(self):
        for check in sorted((ROOT / "ci").glob("[0-9][0-9]-*")):
            with self.subTest(check.name):
                self.refused(check, "--no-such-flag")

    def test_make_variable(self):
        self.refused("make", "-s", "help", "JOSB=4", why="JOSB", lines=2)

    def test_make_target(self):
        self.assertEqual(run("make", "-s", "no-such-target", cwd=ROOT)[0], 2)

    def test_missing_files(self):
        self.refused(ROOT / "tools/vm", "--kernel", "/no/such/kernel", "--initrd", "/no/such/initrd",
                     why="no such file")
        self.refused(ROOT / "tools/build", "--src", "/no/such/tree", why="make tree")
        self.refused(ROOT / "tools/deps", "no-such-group", why="no-such-group")
        self.refused(ROOT / "tools/guest", "no-such-job", why="no-such-job")
        self.refused(ROOT / "tools/mce", "--out", "demo", "no-such-job", "demo", why="no job 'no-such-job'")

    def test_no_arguments(self):
        self.refused(ROOT / "tools/mce", why="name a job")
        self.refused(ROOT / "tools/cc", why="name a compiler")

    def test_no_qemu(self):
        self.refused(ROOT / "tools/vm", "--kernel", __file__, "--initrd", __file__, "--qemu", "no-such-qemu",
                     why="apt-get install")

    def test_accelerator(self):
        self.refused(ROOT / "tools/vm", "--kernel", __file__, "--initrd", __file__, "--qemu", "true",
                     env={"VM_ACCEL": "magic"}, why="VM_ACCEL")


@unittest.skipUnless((ROOT / "build/linux/Kconfig").exists() and shutil.which("flex") and shutil.which("bison"),
                     "no build/linux, flex or bison")
class Fragment(unittest.TestCase):
    def go(self, text):
        with tempfile.TemporaryDirectory() as tmp:
            path = Path(tmp) / "bad"
            path.write_text(text)
            self.addCleanup(shutil.rmtree, ROOT / "build/out/tests-config", True)
            return run(ROOT / "tools/build", "--config-only", "--out", "tests-config", "base", path)

    def test_option_that_is_dropped(self):
        status, _, err = self.go("CONFIG_NO_SUCH_OPTION=y\n")
        self.assertEqual(status, 2, err)
        self.assertIn("CONFIG_NO_SUCH_OPTION", err)

    def test_option_that_lacks_another(self):
        status, _, err = self.go("CONFIG_USB_STORAGE=y\n")
        self.assertEqual(status, 2, err)
        self.assertIn("CONFIG_USB_STORAGE", err)


class Make(Send):
    """What is wrong with the arguments is said before the tree is made."""

    def make(self, *args, why=None):
        (self.root / "tools/tree").write_text("#!/bin/sh\necho made a tree\n")
        status, out, err = run("make", "-s", "-C", self.root, *args)
        self.assertEqual(status, 2, out + err)
        self.assertEqual(out, "" if why else "made a tree\n")
        self.assertRegex(err, why or ".")

    def test_section(self):
        for target in ("mbox", "verify-send"):
            self.make(target, "SECTION=nosuch", why="no section 'nosuch'")
            self.make(target, "SECTION=one nosuch", why="no section 'nosuch'")

    def test_base(self):
        self.make("rebase", why="say which kernel")
        self.make("rebase", "BASE=/nonexistent", why="BASE=/nonexistent: a folder")
        self.make("rebase", "BASE=linux-source-6.12", "SUITE=no suite", why="suite of Debian")
        shutil.rmtree(self.linux)
        self.make("rebase", "BASE=linux-source-6.12")


class Clean(Toy):
    def test_what_goes(self):
        for name in ("mbox", "rebase", "verify-send", "logs", "send", "cache"):
            (self.root / "build" / name).mkdir()
        status, out, err = self.tool("clean")
        self.assertEqual(status, 0, err)
        self.assertEqual(sorted(os.listdir(self.root / "build")), ["cache", "send"])
        self.assertIn("build/send and the downloads in build/cache stay", out)

    def test_commits_stay(self):
        self.write("kernel/events/new.c", "int x;\n")
        self.commit("perf/core: Work of hours")
        if not (self.root / "tools/clean").exists():
            self.skipTest("no tools/clean")
        self.tool("clean")
        self.assertIn("Work of hours", self.kgit("log", "--format=%s"))


if __name__ == "__main__":
    unittest.main()
