# SPDX-License-Identifier: GPL-2.0
"""Read KTAP as KUnit and kselftest print it, in the middle of a console log.

parse() gives the cases and everything that is wrong with the report itself: a
plan that is missing or not kept, numbers out of order, "Bail out!".  The rules:
Documentation/dev-tools/ktap.rst of the kernel.
"""
import re
from dataclasses import dataclass, field

MAX_NOTES = 12
STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\] ?(?:\[[TC ]*\d+\] ?)?")
PLAN = re.compile(r"1\.\.(\d+)(?:\s*# *SKIP\b\s*(.*))?$", re.I)
RESULT = re.compile(r"(not )?ok (\d+)(?:\s+-)?(?:\s+([^#]*?))?\s*(?:#\s*(\w+)\b:?\s*(.*))?$")


@dataclass
class Report:
    cases: list = field(default_factory=list)       # (name, "ok" | "fail" | "skip", reason)
    groups: dict = field(default_factory=dict)      # name: status, of results that had cases below
    errors: list = field(default_factory=list)
    notes: dict = field(default_factory=dict)       # failed case: what it said of itself

    def count(self, status):
        return sum(1 for c in self.cases if c[1] == status)


@dataclass
class Level:
    name: str = ""
    plan: int = None
    seen: int = 0
    opened: bool = False


def strip(line):
    """A console line without its time stamp."""
    return STAMP.sub("", line.rstrip("\r\n"), count=1)


def depth(text):
    """(level, rest): four spaces a level, kselftest's runner nests with '# '."""
    n = 0
    while True:
        if text.startswith("    "):
            text = text[4:]
        elif re.match(r"# (?:# )*(?:TAP version|KTAP version|1\.\.\d|(?:not )?ok \d)", text):
            text = text[2:]
        else:
            return n, text.strip()
        n += 1


def close(report, level, where):
    if level.plan is None and level.seen:
        report.errors.append(f"{where}: no test plan")
    elif level.plan is not None and level.seen != level.plan:
        report.errors.append(f"{where}: {level.seen} of {level.plan} planned tests reported")
    elif level.opened and level.plan is None:
        report.errors.append(f"{where}: no test plan and no test")


def parse(lines, name="report"):
    report, stack, said = Report(), [], []

    def at(n):
        while len(stack) <= n:
            stack.append(Level())
        return stack[n]

    def prefix(n):
        return ".".join(lv.name for lv in stack[1:n + 1] if lv.name)

    for raw in lines:
        n, text = depth(strip(raw))
        if text.startswith("Bail out!"):
            report.errors.append(f"{name}: {text}")
        elif re.match(r"K?TAP version \d+$", text):
            # A new report at a level that still has one: the old one broke off.
            while len(stack) > n + 1 or (len(stack) > n and (stack[n].opened or stack[n].seen)):
                if stack[-1].opened or stack[-1].seen:
                    close(report, stack[-1], stack[-1].name or name)
                stack.pop()
            at(n).opened = True
        elif m := re.match(r"# Subtest: (.+)", text):
            at(n).name = m[1].strip()
        elif m := re.match(r"# selftests: \S+: (\S+)$", text):
            # The runner names a program before the report, one level further in.
            del stack[n + 2:]
            if len(stack) > n + 1 and (stack[-1].opened or stack[-1].seen):
                close(report, stack[-1], stack[-1].name or name)
            del stack[n + 1:]
            at(n + 1).name = m[1]
        elif m := PLAN.match(text):
            level = at(n)
            level.opened, level.plan = True, int(m[1])
            if m[1] == "0":
                report.cases.append((level.name or name, "skip", m[2] or "no reason given"))
        elif m := RESULT.match(text):
            result(report, stack, at, prefix, n, m, name)
            if report.cases and report.cases[-1][1] == "fail":
                report.notes.setdefault(report.cases[-1][0], said[-MAX_NOTES:])
            said = []
        else:
            said.append(text)
    while stack:
        level = stack.pop()
        if level.opened or level.seen:
            close(report, level, level.name or name)
    if not report.cases and not report.errors:
        report.errors.append(f"{name}: no test report")
    return report


def result(report, stack, at, prefix, n, m, name):
    level = at(n)
    title = (m[3] or "").strip() or f"test {m[2]}"
    if level.opened or level.plan is not None or len(stack) > n + 1:
        level.seen += 1
        if int(m[2]) != level.seen:
            report.errors.append(f"{prefix(n) or name}: test {title} has number {m[2]}, expected {level.seen}")
            level.seen = int(m[2])
    else:
        level.seen += 1
    status = "fail" if m[1] else "skip" if (m[4] or "").upper() == "SKIP" else "ok"
    # "# SKIP why", or with anything but SKIP the whole comment.
    why = (m[5] or "no reason given") if status == "skip" else " ".join(p for p in (m[4], m[5]) if p)
    children = stack[n + 1:]
    if any(c.opened or c.seen for c in children):
        while len(stack) > n + 1:
            below = stack.pop()
            # KUnit does not know how many parameters a case has: it gives no plan for them.
            if n >= 1 and below.seen and below.plan is None:
                continue
            if below.opened or below.seen:
                close(report, below, below.name or title)
        report.groups[title] = status
        if status == "fail" and not any(c[1] == "fail" for c in report.cases):
            report.cases.append((title, status, why))
    else:
        del stack[n + 1:]
        full = f"{prefix(n)}.{title}" if prefix(n) else title
        report.cases.append((full, status, why))
