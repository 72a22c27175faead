# SPDX-License-Identifier: GPL-2.0
"""The bars of tools/bench_bars.py: figures that keep them, and each way not to."""
import sys
import unittest

from toy import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import bench_bars  # noqa: E402

BASE = {"record.perf": 1266.0, "clock.perf": 2678.0, "overflow.perf": 964.0, "read.perf": 101.0,
        "switch.event": 3940.0, "map-unmap": 71000.0, "close-max.tracepoint": 15e6, "memory.event-and-file": 1634.0}


def series():
    figures = dict(BASE)
    for name in bench_bars.bars(figures, BASE):
        figures.setdefault(name, 1.0)
    return figures


class Bars(unittest.TestCase):
    def broken(self, **change):
        figures = series()
        figures.update((name.replace("__", ".").replace("_", "-"), value) for name, value in change.items())
        return bench_bars.broken(figures, BASE)

    def test_kept(self):
        self.assertEqual(self.broken(), [])

    def test_not_kept(self):
        for change in ({"record__perf": 1273.0}, {"stop_start__cpu__256": 1501.0}, {"open_map_close__id": 93000.0},
                       {"close_max__software__id": 4e6}, {"memory__entry": 1025.0}, {"close_max__tracepoint": 9000.0},
                       {"record__persistent": 1273.0}):
            with self.subTest(change):
                self.assertEqual(len(self.broken(**change)), 1)

    def test_not_measured(self):
        figures = series()
        del figures["stop-start.task.16"]
        self.assertEqual(bench_bars.broken(figures, BASE), ["stop-start.task.16: not measured"])

    def test_output(self):
        good = "bench: record.perf 1266.0 ns\nbench: note: there is no JIT\nbench: done\n"
        self.assertEqual(bench_bars.parse(good), {"record.perf": 1266.0})
        for bad in ("bench: record.perf 1266.0 ns\n", "bench: failed: mmap: No such device\n", "",
                    "bench: no.such-row 1.0 ns\nbench: done\n"):
            with self.subTest(bad), self.assertRaises(ValueError):
                bench_bars.parse(bad)


if __name__ == "__main__":
    unittest.main()
