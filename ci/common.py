# SPDX-License-Identifier: GPL-2.0
"""What the checks share: where things are, how a check ends, the series.

A check is a function that returns one line (pass) or raises Fail or Skip with
one line.  CHECK_ROOT names another repository; the tests use it.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

CI = Path(__file__).resolve().parent
ROOT = Path(os.environ.get("CHECK_ROOT") or CI.parent).resolve()
BUILD = ROOT / "build"
LINUX = BUILD / "linux"
LOGS = BUILD / "logs"
TOOLS = ROOT / "tools"
SKIP = 250


class Fail(Exception):
    pass


class Skip(Exception):
    pass


def main(check, doc):
    """Run check() and end the program the way tools/check expects."""
    args = sys.argv[1:]
    if args and args[0] in ("-h", "--help"):
        print(doc.strip())
        sys.exit(0)
    if args:
        print(f"{Path(sys.argv[0]).name}: unknown argument {args[0]!r}: takes only --help",
              file=sys.stderr)
        sys.exit(2)
    os.chdir(ROOT)
    # Output of programs run by the check must come out in the right order.
    sys.stdout.reconfigure(line_buffering=True)
    try:
        line, status = check(), 0
    except Skip as e:
        line, status = f"skipped: {e}", SKIP
    except Fail as e:
        line, status = str(e), 1
    if not line:
        sys.exit(1)
    print(line)
    sys.exit(status)


def run(*cmd, **kw):
    """A command with its output caught, as text; never raises on its status."""
    kw.setdefault("stdin", subprocess.DEVNULL)
    kw.setdefault("stdout", subprocess.PIPE)
    kw.setdefault("stderr", subprocess.STDOUT)
    kw.setdefault("text", True)
    kw.setdefault("errors", "replace")
    try:
        return subprocess.run([str(c) for c in cmd], **kw)
    except OSError as e:
        why = f"{cmd[0]} cannot be started: {e.strerror}"
        return subprocess.CompletedProcess(cmd, 127, why, why)


def out(*cmd, **kw):
    """The output of a command that has to work."""
    r = run(*cmd, stderr=subprocess.PIPE, **kw)
    if r.returncode:
        why = (r.stderr or r.stdout).strip().splitlines()
        raise Fail(f"{Path(str(cmd[0])).name} {' '.join(str(c) for c in cmd[1:4])} failed: "
                   f"{why[-1] if why else 'status %d' % r.returncode}")
    return r.stdout


def git(*args, **kw):
    return out("git", "-C", LINUX, *args, **kw)


def need(*groups):
    """Packages of tools/deps; without them the check is a skip, not a pass."""
    r = run(TOOLS / "deps", *groups)
    if r.returncode:
        lines = r.stdout.strip().splitlines()
        raise Skip(lines[-1] if lines else f"tools/deps {' '.join(groups)} failed")


def need_tree():
    """build/linux with the tag and the branch the checks work on."""
    for ref in ("base", "series"):
        if run("git", "-C", LINUX, "rev-parse", "-q", "--verify", f"{ref}^{{commit}}").returncode:
            raise Skip(f"no kernel tree with '{ref}' in build/linux: run make tree")


def series_names():
    """The patch names of the series file, in order (quilt: comments, blank lines)."""
    try:
        text = (ROOT / "series").read_text()
    except OSError:
        raise Fail("there is no file series") from None
    names = []
    for line in text.splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        if line:
            names.append(line)
    return names


def patch_file(name):
    """Quilt looks below patches/; an entry may name that folder or not."""
    return ROOT / "patches" / name.removeprefix("patches/")


def commits():
    """[(commit, subject)] of the series, oldest first."""
    text = git("log", "--reverse", "--format=%H %s", "base..series")
    return [tuple(line.split(" ", 1)) for line in text.splitlines()]


def plural(n, word):
    return f"{n} {word}" + ("" if n == 1 else "es" if word.endswith(("ch", "s")) else "s")
