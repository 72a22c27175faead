# SPDX-License-Identifier: GPL-2.0
"""Every patch of the series builds, and without a warning (W=1) that was not there
before it.

Built are the objects of the .c files a patch touches; for a header kernel/events
and, in each(full=True), a few other users.  The option is on as soon as there is
one; it is off, too, where a header or a Kconfig file is touched, or always if full.
Files that the x86 config cannot build are named.  What passed is remembered in
build/each by the trees and the configs.

Unless full, no more is begun after MINUTES; where it begins differs from series to series,
so that it is not always the same patches that are left for the next run.
"""
import hashlib
import json
import random
import sys
import time

from common import CI, Fail, commits, git, need, need_tree, plural, run
from kbuild import EACH, SYMBOL, Config, Source, fragments, need_compiler

MINUTES = 8
RESULTS = EACH / "results.json"


def load():
    try:
        return json.loads(RESULTS.read_text())
    except (OSError, ValueError):
        return {}


def save(results):
    EACH.mkdir(parents=True, exist_ok=True)
    new = RESULTS.with_suffix(".new")
    new.write_text(json.dumps(results, indent=1))
    new.replace(RESULTS)


def has_symbol(commit, name):
    return run("git", "-C", git("rev-parse", "--show-toplevel").strip(), "grep", "-q", f"^config {name}$", commit,
               "--", "init/Kconfig", "kernel/**Kconfig*", "kernel/Kconfig*", "lib/Kconfig*", "arch/Kconfig",
               "mm/Kconfig").returncode == 0


def wanted(commit, files, full):
    """The configs that this state can have: {name: text}."""
    off = fragments("base", "selftests", "kunit")
    configs = {"off": off + f"# CONFIG_{SYMBOL} is not set\n"}
    if has_symbol(commit, SYMBOL):
        configs["on"] = off + fragments("feature", "kunit-feature", "mce")
        if not full and not any(f.endswith(".h") or "Kconfig" in f for f in files):
            del configs["off"]
    return configs


def key(commit, text, full):
    compiler = run("gcc", "--version").stdout.split("\n")[0]
    code = (CI / "kbuild.py").read_text()
    trees = git("rev-parse", f"{commit}^{{tree}}", f"{commit}~^{{tree}}")
    return hashlib.sha256("\0".join([trees, text, compiler, code, str(full)]).encode()).hexdigest()


def build(src, commit, name, text, files, full):
    """A line on the objects built; raises Fail."""
    cfg = Config(src, name, text)
    src.checkout(commit)
    warned, have = cfg.configure()
    if name == "on" and SYMBOL not in have:
        raise Fail(f"CONFIG_{SYMBOL} is there, but the config 'on' does not get it")
    objs, why = cfg.objects(files, full)
    if not objs and not any("Kconfig" in f or f.endswith(("Makefile", "Kbuild")) for f in files):
        return f"{name}: no object", why
    good, found = cfg.build(objs)
    if not good:
        raise Fail(f"does not build with the option {name}: {', '.join(found)}")
    found += warned
    if found:
        print("\n".join(f"    has: {w}" for w in found))
        # Only now is it worth the time to build the state before.
        src.checkout(git("rev-parse", f"{commit}~").strip())
        before, _ = cfg.configure()
        old, _ = cfg.objects([f for f in files if (src.dir / f).exists()], full)
        good, more = cfg.build(old & objs)
        new = found - before - (more if good else {})
        if new:
            raise Fail(f"new warning with the option {name}: {next(iter(new))}")
    return f"{name}: {' '.join(sorted(objs)) or 'no object'}", why


def each(full=False):
    need("build")
    need_tree()
    need_compiler()
    src, results, fresh, begin = Source(), load(), 0, time.monotonic()
    series, on, skipped, bad = commits(), 0, set(), []
    if not series:
        raise Fail("build/linux has no patches")
    for commit, _ in series:
        for f in git("diff", "--name-only", "--diff-filter=d", f"{commit}~", commit).split("\n"):
            if f.startswith(("drivers/", "sound/")) and "/" in f:
                src.want_dirs.add("/" + f.rsplit("/", 1)[0] + "/*")
    left, first = 0, 0 if full else random.Random(series[-1][0]).randrange(len(series))
    # Neighbours after each other: their configs are alike.
    order = series[first:] + series[:first]
    for commit, subject in order:
        files = git("diff", "--name-only", f"{commit}~", commit).split()
        print(f"{subject}", flush=True)
        if all(f.startswith(("tools/", "Documentation/")) for f in files):
            print("    no code of the kernel")
            continue
        for name, text in wanted(commit, files, full).items():
            on += name == "on"
            k = key(commit, text, full)
            t = time.monotonic()
            try:
                if k not in results:
                    if not full and time.monotonic() - begin > 60 * MINUTES:
                        left += 1
                        print(f"    {name}: no time left")
                        continue
                    line, why = build(src, commit, name, text, files, full)
                    results = load() | {k: [line, why]}
                    save(results)
                    fresh += 1
                line, why = results[k]
                print(f"    {line} ({time.monotonic() - t:.0f} s)")
                for f, reason in why.items():
                    skipped.add(f)
                    print(f"    not built: {f}: {reason}")
            except Fail as e:
                bad.append(f"{subject}: {e}")
                print(f"    FAIL {e}")
        sys.stdout.flush()
    if bad:
        raise Fail(f"{plural(len(bad), 'build')} bad, the first: {bad[0]}")
    line = (f"{plural(len(series), 'patch')}, the option on in {on}: no new warning; "
            f"{plural(len(skipped), 'file')} not built; {fresh} built now in {time.monotonic() - begin:.0f} s")
    if left:
        line += f"; {plural(left, 'build')} left to the next run for want of time (all: each-patch-full)"
    return line

