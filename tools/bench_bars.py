# SPDX-License-Identifier: GPL-2.0
"""The rows that selftests/bench prints, what they must not pass, and the table.

Figures are instructions, unless the name says otherwise; a row that a kernel does
not have is not in its figures.
"""
import re

NEIGHBOURS = (0, 16, 64, 256)
CLOSE_MAX = 1000000         # ns; to wait for RCU takes a tick at least, 4 ms
NODE = 128                  # struct kernfs_node; its name is the entry's
ENTRY = 1024                # bytes
STOP_START = 1500
GROWTH = 1.005
BY_ID = 1.3

ROWS = [
    ("nothing", "the system call that fires a tracepoint, with no event"),
    ("record.perf", "a tracepoint's record, beyond that call: an overwritten buffer"),
    ("record.persistent", "the same, a persistent event's"),
    ("record.ftrace", "the same, ftrace"),
    ("record.bpf", "the same, an interpreted BPF program with a pinned ring buffer"),
    ("clock.perf", "a sample of the software clock with a call chain of 8"),
    ("clock.persistent", "the same, persistent"),
    ("overflow.perf", "a sample of a software event (page faults), each an overflow"),
    ("overflow.persistent", "the same, persistent"),
    ("read.perf", "reading a record from a full buffer"),
    ("read.persistent", "the same, opened by id"),
    ("pipe", "writing a byte to a pipe and reading it"),
    ("switch.none", "a switch to another task, with the pipe that asks for it"),
    ("switch.event", "the same, one of the two has an event"),
    ("switch.persistent", "the same, persistent"),
    ("switch.events", "an ordinary one, while there is one of the CPU as well"),
    ("open-close", "open, close: a new event"),
    ("open-map-close", "open, mmap of 512 KiB, munmap, close: a new event"),
    ("map-unmap", "mmap, munmap of a buffer that is there"),
    ("open-map-close.id", "open by id, mmap, munmap, close"),
    ("map-unmap.id", "mmap, munmap of a file that was opened by id"),
    ("detach", "DETACH"),
    ("attach", "ATTACH"),
    ("close-max.software", "munmap, close at most, ns: a new event"),
    ("close-max.tracepoint", "the same, a tracepoint's (waits for RCU)"),
    ("close-max.software.id", "the same, opened by id"),
    ("close-max.tracepoint.id", "the same, a tracepoint's opened by id"),
    ("two-ioctls", "two ioctls that do next to nothing"),
    *((f"{pair}.{of}.{n}", f"{words}: an event of the {where}, {n} others on its CPU")
      for pair, words in (("disable-enable", "DISABLE, ENABLE"), ("stop-start", "STOP, START"))
      for of, where in (("task", "task"), ("cpu", "CPU")) for n in NEIGHBOURS),
    ("memory.event-and-file", "memory of an event and its file, bytes"),
    ("memory.persistent-event", "memory of a persistent event, bytes"),
    ("memory.entry", "memory of an entry without its events, bytes"),
    ("memory.sysfs-nodes", "of it, files and folders of sysfs"),
]
# Not of the events of today; or the most of some, in which a tick may be.
NO_GROWTH = re.compile(r"(close-max|stop-start|memory)\..*|.*\.(persistent|id)|detach|attach")
SAME = ("record", "clock", "overflow", "read", "switch")


def parse(text):
    """{row: figure} of a whole run; raises ValueError with one line."""
    found = {m[1]: float(m[2]) for m in re.finditer(r"^bench: (\S+) ([\d.]+) (?:ns|bytes|nodes)$", text, re.M)}
    if not re.search(r"^bench: done$", text, re.M):
        lines = text.strip().splitlines()
        raise ValueError(f"bench did not end well: {lines[-1] if lines else 'no output'}")
    if unknown := [name for name in found if name not in dict(ROWS)]:
        raise ValueError(f"rows without a description: {' '.join(unknown)}")
    return found


def bars(series, base, slack=0):
    """{row: (limit, what the limit is)}; without figures of the base only some."""
    limits = {}
    for name, figure in (base or {}).items():
        if not NO_GROWTH.fullmatch(name):
            limits[name] = (figure * GROWTH + slack, f"{GROWTH} x base")
    for name in SAME:
        limits[f"{name}.persistent"] = (series.get(f"{name}.perf", series.get(f"{name}.event", 0)) * GROWTH,
                                        f"{GROWTH} x an ordinary event's")
    limits["open-map-close.id"] = (BY_ID * (base or series).get("map-unmap", 0), f"{BY_ID} x mmap, munmap")
    for name in ("close-max.software.id", "close-max.tracepoint.id"):
        limits[name] = (CLOSE_MAX, f"{CLOSE_MAX:,} ns")
    for of in ("task", "cpu"):
        for n in NEIGHBOURS:
            limits[f"stop-start.{of}.{n}"] = (STOP_START, f"{STOP_START:,}")
    limits["memory.persistent-event"] = (series.get("memory.event-and-file", 0), "an ordinary event and its file")
    limits["memory.entry"] = (ENTRY + NODE * series.get("memory.sysfs-nodes", 0), f"{ENTRY:,} and {NODE} a node")
    return limits


def broken(series, base=None, slack=0):
    """One line for each bar that is not kept; what was not measured keeps none."""
    bad = []
    for name in sorted(set(base or {}) - set(series)):
        bad.append(f"{name}: not measured with the series")
    for name, (limit, what) in bars(series, base, slack).items():
        if name not in series:
            bad.append(f"{name}: not measured")
        elif series[name] > limit + 0.05:
            bad.append(f"{name}: {series[name]:,.1f}, at most {limit:,.1f} ({what})")
    # Or this would not tell a wait for RCU from none.
    if series.get("close-max.tracepoint", 0) < 4 * CLOSE_MAX:
        bad.append("close-max.tracepoint: the close of a new event does not wait for RCU here")
    return bad


def number(figures, name):
    return f"{figures[name]:,.0f}" if figures and name in figures else ""


def ratio(a, b, name, digits):
    return f"{a[name] / b[name]:.{digits}f}" if a and b and b.get(name) and name in a else ""


def table(series, base, wall_series=None, wall_base=None):
    """Markdown."""
    limits = bars(series, base)
    wall = wall_series and wall_base
    out = ["| | base | series | ratio | at most |" + " wall time |" * bool(wall), "|---|--:|--:|--:|--:|" + "--:|" * bool(wall)]
    for name, text in ROWS:
        if name in series or name in (base or {}):
            line = (f"| {text} | {number(base, name)} | {number(series, name)} | "
                    f"{ratio(series, base, name, 4)} | {limits[name][1] if name in limits else ''} |")
            if wall:
                counts = not name.startswith(("close-max", "memory"))
                line += f" {ratio(wall_series, wall_base, name, 2) if counts else ''} |"
            out.append(line)
    return "\n".join(out) + "\n"
