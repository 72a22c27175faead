# SPDX-License-Identifier: GPL-2.0
"""tools/mce against a QEMU that is a few lines of Python."""
import importlib.machinery
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load():
    loader = importlib.machinery.SourceFileLoader("mce", str(ROOT / "tools/mce"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mce", loader))
    loader.exec_module(module)
    return module


class Monitor(threading.Thread):
    """Answers each command; what it says to the human monitor's is given."""

    def __init__(self, path, says):
        super().__init__(daemon=True)
        self.says, self.got = says, []
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(path)
        self.server.listen(1)
        self.start()

    def run(self):
        conn, _ = self.server.accept()
        conn.sendall(b'{"QMP": {}}\n')
        for line in conn.makefile("r"):
            cmd = json.loads(line)
            self.got.append(cmd)
            answer = {"return": self.says if cmd["execute"] == "human-monitor-command" else {}}
            if cmd["execute"] == "bad":
                answer = {"error": {"desc": "no"}}
            # Events can come at any time.
            conn.sendall(b'{"event": "RESUME"}\n' + json.dumps(answer).encode() + b"\n")
        conn.close()


class Mce(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)
        self.path = os.path.join(self.tmp.name, "qmp")

    def test_injects(self):
        monitor = Monitor(self.path, "")
        qmp = load().Qmp(self.path, lambda: True)
        qmp.mce("1 4 0x9c 0 0x1000 0x86")
        qmp.command("cont")
        self.assertEqual([c["execute"] for c in monitor.got],
                         ["qmp_capabilities", "human-monitor-command", "cont"])
        self.assertEqual(monitor.got[1]["arguments"]["command-line"], "mce 1 4 0x9c 0 0x1000 0x86")

    def test_complaint(self):
        Monitor(self.path, "Invalid bank number\r\n")
        with self.assertRaisesRegex(OSError, "Invalid bank"):
            load().Qmp(self.path, lambda: True).mce("0 99 0 0 0 0")

    def test_refused(self):
        Monitor(self.path, "")
        with self.assertRaisesRegex(OSError, "bad: no"):
            load().Qmp(self.path, lambda: True).command("bad")

    def test_no_qemu(self):
        with self.assertRaises(OSError):
            load().Qmp(self.path, lambda: False)

    def test_no_job(self):
        r = subprocess.run([sys.executable, ROOT / "tools/mce", "no-such-job"],
                           capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, 2)
        self.assertIn("job", r.stderr)


if __name__ == "__main__":
    unittest.main()
