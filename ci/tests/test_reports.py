# SPDX-License-Identifier: GPL-2.0
"""ci/splat, ci/ktap.py and the judgement on reports."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from toy import CI, run
from common import SKIP, Fail
from guest import judge
from ktap import parse

BOOT = "[    0.000000] Linux version 7.3.4\n[    1.000000] Run /init as init process\n"
SPLATS = [
    "WARNING: kernel/events/core.c:1 at perf_x+0x1/0x2, CPU#0: swapper/1",
    "BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "Oops: Oops: 0000 [#1] SMP NOPTI",
    "Oops: general protection fault, probably for non-canonical address 0x6b6b6b6b: 0000 [#1]",
    "BUG: KASAN: slab-use-after-free in perf_event_release+0x1/0x2",
    "UBSAN: array-index-out-of-bounds in kernel/events/core.c:1:2",
    "WARNING: possible circular locking dependency detected",
    "WARNING: inconsistent lock state", "WARNING: suspicious RCU usage",
    "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "refcount_t: underflow; use-after-free.",
    "list_del corruption. prev->next should be ffff, but was 0000",
    "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "unregister_netdevice: waiting for lo to become free",
    "INFO: task demo:100 blocked for more than 120 seconds.",
    "watchdog: BUG: soft lockup - CPU#1 stuck for 22s!",
    "watchdog: CPU1: Watchdog detected hard LOCKUP on cpu 1",
    "BUG: sleeping function called from invalid context at kernel/locking/mutex.c:1",
    "BUG: scheduling while atomic: demo/100/0x00000002",
    "Kernel panic - not syncing: Fatal exception", " Call Trace:",
    "ODEBUG: free active (active state 0) object: 0 object type: timer_list",
    "------------[ cut here ]------------",
]
KUNIT = """KTAP version 1
1..2
    KTAP version 1
    # Subtest: alpha
    1..2
    ok 1 first
    ok 2 second
ok 1 alpha
    KTAP version 1
    # Subtest: beta
    1..1
    ok 1 third # SKIP no such PMU
ok 2 beta
"""
KSELF = """TAP version 13
1..2
# selftests: perf_events: one
# TAP version 13
# 1..2
# # Starting 2 tests from 1 test cases.
# ok 1 a
# ok 2 b
ok 1 selftests: perf_events: one
# selftests: perf_events: two
# TAP version 13
# 1..1
# ok 1 c
ok 2 selftests: perf_events: two
"""


class Splat(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.log, self.allow = Path(tmp.name) / "log", Path(tmp.name) / "allow"
        self.allow.write_text("")

    def go(self, text, *args):
        self.log.write_text(text)
        return run(CI / "splat", "--allow", self.allow, *args, self.log)[0]

    def test_clean(self):
        self.assertEqual(self.go(BOOT), 0)

    def test_each_kind(self):
        for s in SPLATS:
            self.assertEqual(self.go(f"{BOOT}[    2.000000] {s}\n"), 1, s)

    def test_a_log_without_a_kernel(self):
        self.assertEqual(self.go(""), 1)
        self.assertEqual(self.go("demo: passed\n"), 1)

    def test_allowed_until(self):
        self.allow.write_text("Subject|refcount_t: underflow | 2026-06-30 | the driver's own, reported\n")
        text = f"{BOOT}[    2.0] refcount_t: underflow; use-after-free.\n"
        self.assertEqual(self.go(text, "--today", "2026-06-30"), 0)
        self.assertEqual(self.go(text, "--today", "2026-07-01"), 1)
        # Out of date is a failure even where nothing needed it.
        self.assertEqual(self.go(BOOT, "--today", "2026-07-01"), 1)

    def test_bad_use(self):
        for line in ("no date | never | reason", "x | 2026-01-01 |", "only one field", "( | 2099-01-01 | bad"):
            self.allow.write_text(line + "\n")
            self.assertEqual(self.go(BOOT), 2, line)
        self.assertEqual(run(CI / "splat")[0], 2)
        self.assertEqual(run(CI / "splat", "--no-such")[0], 2)
        self.assertEqual(run(CI / "splat", self.log.parent / "absent")[0], 2)


class Ktap(unittest.TestCase):
    def judge(self, text, names, groups=None):
        report = parse(text.splitlines())
        with contextlib.redirect_stdout(io.StringIO()):
            return judge(report, names, report.groups if groups is None else groups(report), "suite")

    def bad(self, text, names, why, groups=None):
        with self.assertRaisesRegex(Fail, why):
            self.judge(text, names, groups)

    def test_good(self):
        line, status = self.judge(KUNIT, ["alpha"])
        self.assertEqual(status, 0)
        self.assertIn("2 cases passed", line)
        self.assertIn("third (no such PMU)", line)

    def test_console_stamps(self):
        text = "".join(f"[    {i}.123456] {line}\n" for i, line in enumerate(KUNIT.splitlines()))
        self.assertEqual(self.judge(text, ["alpha"])[1], 0)

    def test_all_skipped_tests_nothing(self):
        line, status = self.judge(KUNIT, ["alpha", "beta"])
        self.assertEqual(status, SKIP)
        self.assertIn("nothing tested by beta", line)

    def test_missing_suite(self):
        self.bad(KUNIT, ["alpha", "gamma"], "did not run: gamma")

    def test_nothing_at_all(self):
        self.bad("", ["alpha"], "did not run")

    def test_failed_case(self):
        self.bad(KUNIT.replace("    ok 2 second", "    not ok 2 second"), ["alpha"], "alpha.second")

    def test_what_a_failed_case_said(self):
        text = KUNIT.replace("    ok 2 second", "    # second: EXPECTATION FAILED at x.c:1\n    not ok 2 second")
        said = parse(text.splitlines()).notes
        self.assertEqual(said, {"alpha.second": ["# second: EXPECTATION FAILED at x.c:1"]})

    def test_failed_suite_without_failed_case(self):
        self.bad(KUNIT.replace("ok 1 alpha", "not ok 1 alpha"), ["alpha"], "alpha")

    def test_broken_off(self):
        for n in (6, 7, 8, 11, 12):
            text = "\n".join(KUNIT.splitlines()[:n])
            self.bad(text, ["alpha"] if n >= 8 else ["alpha"], "planned|did not run")

    def test_no_plan(self):
        self.bad(KUNIT.replace("    1..2\n", ""), ["alpha"], "no test plan")

    def test_parameters_have_no_plan(self):
        text = KUNIT.replace("    ok 1 first\n", "        KTAP version 1\n        # Subtest: first\n"
                             "        ok 1 a\n        ok 2 b\n    ok 1 first\n")
        self.assertEqual(self.judge(text, ["alpha"])[1], 0)
        self.bad(text.replace("        ok 2 b", "        not ok 2 b"), ["alpha"], "alpha.first.b")
        self.bad(text.replace("        ok 2 b", "        ok 3 b"), ["alpha"], "expected 2")

    def test_lost_case(self):
        self.bad(KUNIT.replace("    ok 1 first\n", ""), ["alpha"], "number 2, expected 1")

    def test_bail_out(self):
        self.bad(KUNIT + "Bail out! no more\n", ["alpha"], "Bail out")

    def programs(self, report):
        return {k.split()[-1]: v for k, v in report.groups.items()}

    def test_kselftest(self):
        line, status = self.judge(KSELF, ["one", "two"], self.programs)
        self.assertEqual((line, status), ("2 suites, 3 cases passed", 0))

    def test_missing_program(self):
        text = KSELF.split("# selftests: perf_events: two")[0]
        self.bad(text, ["one", "two"], "did not run: two", self.programs)

    def test_program_breaks_off(self):
        self.bad(KSELF.replace("# ok 2 b\n", ""), ["one", "two"], "one: 1 of 2 planned", self.programs)
        self.bad(KSELF.replace("# ok 2 b\nok 1", "not ok 1"), ["one", "two"], "failure", self.programs)

    def test_failed_case_in_a_program_that_passes(self):
        self.bad(KSELF.replace("# ok 2 b", "# not ok 2 b"), ["one", "two"], "one.b", self.programs)


if __name__ == "__main__":
    unittest.main()
