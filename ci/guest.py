# SPDX-License-Identifier: GPL-2.0
"""Run a guest job in the kernel of the series; splats; what must have run."""
import hashlib
import re

from common import BUILD, CI, LINUX, LOGS, ROOT, SKIP, TOOLS, Fail, git, need, need_tree, plural, run

STAMP = BUILD / "out/check/.check-stamp"
IMAGE = BUILD / "out/check/arch/x86/boot/bzImage"
WORDS = {2: "could not be started", 124: "ran into the time limit", 125: "lost the guest"}


def state():
    """What the built kernel has to be made of; None where that cannot be said."""
    if git("status", "--porcelain").strip():
        return None
    data = git("rev-parse", "HEAD^{tree}")
    for f in sorted((ROOT / "kconfig-fragments").iterdir()):
        data += f"{f.name}\0{f.read_text()}\0"
    return hashlib.sha256(data.encode()).hexdigest()


def build():
    """tools/build with its defaults; the stamp says for what it succeeded."""
    STAMP.unlink(missing_ok=True)
    before = state()
    r = run(TOOLS / "build")
    print(r.stdout, end="")
    if r.returncode or not IMAGE.exists():
        raise Fail((r.stdout.strip().splitlines() or [f"tools/build: status {r.returncode}"])[-1])
    if before and before == state():
        STAMP.write_text(before)


def build_kernel(out, *fragments, target="bzImage"):
    """Another kernel of the series, in build/out/OUT."""
    r = run(TOOLS / "build", "--out", out, "--target", target, *fragments)
    print(r.stdout, end="")
    if r.returncode:
        raise Fail((r.stdout.strip().splitlines() or [f"tools/build: status {r.returncode}"])[-1])


def need_kernel():
    """The kernel of this series: an old one must not stand in for it."""
    need("build", "vm")
    need_tree()
    if not (IMAGE.exists() and STAMP.exists() and STAMP.read_text() == state()):
        build()


def splats(log):
    r = run(CI / "splat", log)
    if r.returncode:
        print(r.stdout)
        raise Fail(f"{log.name}: {r.stdout.strip().splitlines()[0]}")


def executed_what_is_not_there(console):
    """Is the first thing that went wrong an int3 that is not in memory?

    QEMU 7.2 seems to translate an instruction while another CPU writes it, and to keep what
    it translated: the breakpoint of a kprobe is hit by all CPUs when it is long gone.
    """
    first = re.search(r"Oops: |WARNING: |BUG: ", console)
    code = first and re.match(r"Oops: int3: .*\n(?:.*\n){1,4}?.*Code: (?:[0-9a-f]{2} )*([0-9a-f]{2}) <",
                              console[first.start():])
    return bool(code) and code[1] != "cc"


def run_job(*job, out=None, tool="guest", options=()):
    """The job's own output; its console log is free of splats.

    It runs in the kernel of the checks, or in another one that is built already.
    """
    if not out:
        need_kernel()
    log = LOGS / f"guest-{'arm64-' if 'arm64' in options else ''}{job[0]}.log"
    log.unlink(missing_ok=True)
    r = run(TOOLS / tool, *(["--out", out] if out else []), *options, *job)
    print(r.stdout, end="")
    if log.exists():
        splats(log)
    if r.returncode in WORDS:
        last = (r.stdout.strip().splitlines() or [""])[-1]
        raise Fail(f"{job[0]} {WORDS[r.returncode]}: {last}")
    if not log.exists():
        raise Fail(f"{job[0]} left no console log in build/logs")
    return r.returncode, r.stdout, log


def wanted(path):
    """The names of a list file: the last word of each line."""
    try:
        lines = (ROOT / path).read_text().splitlines()
    except OSError:
        raise Fail(f"{path} is not there") from None
    names = [w[-1] for line in lines if (w := line.split("#")[0].split())]
    if not names:
        raise Fail(f"{path} names nothing")
    return names


def judge(report, names, groups, what):
    """(line, status) on a report in which the named groups must be; raises Fail.

    A group of which every case was skipped has tested nothing: then the whole
    check is a skip.
    """
    # Only the end of this is shown of a check that failed.
    for case, status, reason in sorted(report.cases, key=lambda c: c[1] == "fail"):
        print(f"{status:5}{case}" + (f": {reason}" if reason else ""))
        for line in report.notes.get(case, []) if status == "fail" else []:
            print(f"         {line}")
    for e in report.errors:
        print(f"error: {e}")
    missing = [n for n in names if n not in groups]
    failed = [c[0] for c in report.cases if c[1] == "fail"] + \
        [g for g in groups if groups[g] == "fail"]
    if missing:
        raise Fail(f"{what} did not run: {' '.join(missing)}")
    if failed:
        raise Fail(f"{plural(len(failed), 'failure')}: {' '.join(failed[:5])}")
    if report.errors:
        raise Fail(report.errors[0])
    skipped = [(c[0], c[2]) for c in report.cases if c[1] == "skip"]
    line = f"{plural(len(names), what)}, {plural(report.count('ok'), 'case')} passed"
    if skipped:
        line += f", {len(skipped)} skipped: " + "; ".join(f"{n} ({r})" for n, r in skipped[:4])
        line += " ..." if skipped[4:] else ""
    idle = [n for n in names if groups[n] == "skip" or not any(
        c[1] == "ok" and c[0].split(".")[0] == n for c in report.cases)]
    if idle:
        return f"nothing tested by {' '.join(idle)}; {line}", SKIP
    return line, 0
