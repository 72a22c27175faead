# SPDX-License-Identifier: GPL-2.0
"""The demo, in a kernel that is built: its last line is "demo: passed"."""
from common import Fail
from guest import run_job

# What the Makefile builds for make demo.
FRAGMENTS = ("base", "feature", "mce")


def demo(out=None):
    status, text, _ = run_job("demo", out=out, tool="mce")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if status:
        raise Fail(f"the demo's status is {status}: {(lines or ['no output'])[-1]}")
    if not lines or lines[-1] != "demo: passed":
        raise Fail(f"the demo's last line is not 'demo: passed' but '{(lines or [''])[-1]}'")
    return f"passed, {len(lines)} lines"
