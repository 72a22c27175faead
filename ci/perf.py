# SPDX-License-Identifier: GPL-2.0
"""Build the perf tool, and run the guest's jobs with it."""
import re

from common import SKIP, TOOLS, Fail, Skip, run
from guest import judge, run_job
from ktap import parse


def build(*args):
    r = run(TOOLS / "build-perf", *args)
    print(r.stdout, end="")
    if r.returncode:
        raise Fail((r.stdout.strip().splitlines() or ["tools/build-perf says nothing"])[-1])


def job(name, *args, kernel=None, arch=None, expect=None):
    """One line of what passed, in the kernel of the series or another one.

    What is to be seen on the job's terminal besides is a regular expression.
    """
    options = ["--arch", arch] if arch else ["--with", "check"] if kernel else []
    status, text, _ = run_job(name, *args, out=arch or kernel, options=options)
    report = parse(text.splitlines(), name)
    report.groups.setdefault(name, "ok" if status == 0 else "fail")
    line, verdict = judge(report, [name], report.groups, "job")
    if status:
        raise Fail(f"the job's status is {status}; {line}")
    if expect and not re.search(expect, text):
        raise Fail(f"the job has not printed '{expect}'; {line}")
    if verdict == SKIP:
        raise Skip(line)
    return line
