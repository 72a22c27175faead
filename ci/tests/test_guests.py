# SPDX-License-Identifier: GPL-2.0
"""Guests that hang, panic or leave without a word, in the kernel of 50-build."""
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from toy import CI, ROOT, run

sys.path.insert(0, str(CI))
import guest  # noqa: E402

OUT = ROOT / "build/out" / os.environ.get("CHECK_KERNEL", "check")
KERNEL = OUT / "arch/x86/boot/bzImage"


class Emulator(unittest.TestCase):
    def test_int3(self):
        oops = ("[   43.9] Oops: int3: 0000 [#1] SMP\n[   43.9] CPU: 1 UID: 0 PID: 53 Comm: fuzz\n"
                "[   43.9] RIP: 0010:__do_sys_getppid+0x1/0x40\n[   43.9] Code: c3 66 90 {} <48> ff 05 98\n")
        self.assertTrue(guest.executed_what_is_not_there(oops.format("65")))
        self.assertFalse(guest.executed_what_is_not_there(oops.format("cc")))
        self.assertFalse(guest.executed_what_is_not_there("[ 43.8] WARNING: at foo+0x1/0x2\n" + oops.format("65")))
        self.assertFalse(guest.executed_what_is_not_there("[ 43.8] BUG: kernel NULL pointer dereference\n"))
        self.assertFalse(guest.executed_what_is_not_there(""))


@unittest.skipUnless(KERNEL.exists() and shutil.which("qemu-system-x86_64"), "no kernel in build/out/check, or no qemu")
class Guests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tmp = tempfile.TemporaryDirectory()
        cls.initrd = Path(cls.tmp.name) / "initrd"
        status, _, err = run(ROOT / "tools/initramfs", "--out", OUT.name, cls.initrd)
        if status:
            cls.tmp.cleanup()
            raise RuntimeError(f"tools/initramfs: {err}")

    @classmethod
    def tearDownClass(cls):
        cls.tmp.cleanup()

    def vm(self, *args, timeout=150):
        self.log = Path(self.tmp.name) / f"{self.id()}.log"
        status, self.out, self.err = run(ROOT / "tools/vm", "--kernel", KERNEL, "--initrd", self.initrd,
                                         "--log", self.log, "--timeout", str(timeout), *args)
        return status

    def console(self):
        return self.log.read_text(errors="replace")

    def test_status(self):
        self.assertEqual(self.vm("--", "sh", "-c", "echo word; exit 7"), 7, self.err)
        self.assertEqual(self.out.strip(), "word")
        self.assertEqual(run(CI / "splat", self.log)[0], 0)

    def test_two_cpus(self):
        self.assertEqual(self.vm("--", "nproc"), 0, self.err)
        self.assertEqual(self.out.strip(), "2")

    def test_hang(self):
        self.assertEqual(self.vm("--", "sleep", "10000", timeout=25), 124, self.err)

    def test_panic(self):
        # An init that only prints its usage and ends: the kernel panics.
        self.assertEqual(self.vm("--append", "rdinit=/bin/busybox", "--", "true"), 125, self.err)
        self.assertIn("Kernel panic", self.console())
        self.assertEqual(run(CI / "splat", self.log)[0], 1)

    def test_leaves_without_a_report(self):
        self.assertEqual(self.vm("--", "reboot", "-f"), 125, self.err)

    def test_failed_command(self):
        self.assertEqual(self.vm("--", "false"), 1, self.err)


if __name__ == "__main__":
    unittest.main()
