# SPDX-License-Identifier: GPL-2.0
"""tools/check: what counts as passed, failed and skipped."""
import tempfile
import unittest
from pathlib import Path

from toy import ROOT, run


class Runner(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.dir = Path(tmp.name)

    def add(self, name, body, head="", mode=0o755):
        path = self.dir / name
        path.write_text(f"#!/bin/sh\n{head}\n{body}\n")
        path.chmod(mode)

    def go(self, *args):
        status, out, err = run(ROOT / "tools/check", "--dir", self.dir, "--logs", self.dir / "logs", *args)
        self.out, self.err = out, err
        return status, (out.splitlines() or [""])[-1]

    def test_pass(self):
        self.add("10-a", "echo noise; echo all is well")
        self.assertEqual(self.go(), (0, "check: 1 passed, 0 failed, 0 skipped"))
        self.assertIn("all is well", self.out)

    def test_one_of_each(self):
        self.add("10-a", "echo fine")
        self.add("20-b", "echo broken; exit 3")
        self.add("30-c", "echo 'skipped: no reason to'; exit 250")
        self.assertEqual(self.go(), (1, "check: 1 passed, 1 failed, 1 skipped"))
        self.assertIn("no reason to", self.out)

    def test_skip_alone_is_no_failure_and_no_pass(self):
        self.add("10-a", "echo 'skipped: no qemu'; exit 250")
        self.assertEqual(self.go(), (0, "check: 0 passed, 0 failed, 1 skipped"))

    def test_only_by_name(self):
        self.add("10-a", "echo fine")
        self.add("20-b", "# only by name\necho this takes long")
        self.assertEqual(self.go(), (0, "check: 1 passed, 0 failed, 0 skipped"))
        self.assertNotIn("takes long", self.out)
        self.assertEqual(self.go("b"), (0, "check: 1 passed, 0 failed, 0 skipped"))
        self.assertIn("takes long", self.out)
        self.go("--list")
        self.assertIn("20-b", self.out)

    def test_says_nothing(self):
        self.add("10-a", "exit 0")
        self.assertEqual(self.go(), (1, "check: 0 passed, 1 failed, 0 skipped"))
        self.assertIn("said nothing", self.out)

    def test_skip_without_reason(self):
        self.add("10-a", "exit 250")
        self.assertEqual(self.go(), (1, "check: 0 passed, 1 failed, 0 skipped"))

    def test_only_stderr(self):
        self.add("10-a", "echo fine >&2")
        self.assertEqual(self.go()[0], 1)

    def test_killed(self):
        self.add("10-a", "echo fine; kill -9 $$")
        self.assertEqual(self.go(), (1, "check: 0 passed, 1 failed, 0 skipped"))
        self.assertIn("signal 9", self.out)

    def test_time_limit(self):
        self.add("10-a", "echo fine; sleep 60 & sleep 60", "# time limit: 1 second")
        self.assertEqual(self.go(), (1, "check: 0 passed, 1 failed, 0 skipped"))
        self.assertIn("ran out of time", self.out)

    def test_cannot_be_started(self):
        self.add("10-a", "echo fine", mode=0o644)
        self.assertEqual(self.go(), (1, "check: 0 passed, 1 failed, 0 skipped"))

    def test_tail_of_the_log(self):
        self.add("10-a", "echo the cause; echo broken; exit 1")
        self.go()
        self.assertIn("the cause", self.out)

    def test_by_name(self):
        self.add("10-a", "echo fine")
        self.add("20-b", "echo broken; exit 1")
        self.assertEqual(self.go("a"), (0, "check: 1 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.go("20-b")[0], 1)

    def test_bad_use(self):
        self.assertEqual(self.go()[0], 2)       # no checks at all
        self.add("10-a", "echo fine")
        for args in (["--no-such"], ["no-such-check"], ["--logs"]):
            self.assertEqual(self.go(*args)[0], 2, args)
            self.assertEqual(len(self.err.splitlines()), 1, self.err)

    def test_list(self):
        self.add("10-a", "exit 1")
        self.assertEqual(self.go("--list")[0], 0)
        self.assertIn("10-a", self.out)


if __name__ == "__main__":
    unittest.main()
