# SPDX-License-Identifier: GPL-2.0
"""The sections of the series, their cover letters, and the messages made of them.

A section is what follows a line "# [NAME] Title" of the file series, until the next
such line; other comments mean nothing. Its cover letter is cover/NAME: a line that is
the subject, an empty line, the text. A line of the text that is only

  @ROADMAP@   becomes the list of all sections, with this one marked
  @FIGURES@   becomes the table of README.md that tools/bench --update writes, as plain
              text; @FIGURES EXPRESSION@ only the rows that the regular expression matches
  @WORD@      becomes cover/WORD, what several letters say
"""
import hashlib
import os
import re
import subprocess
import sys
import textwrap
from collections import namedtuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINUX = os.path.join(ROOT, "build/linux")
MOST = 15       # patches a section, as maintainers ask
HEAD = re.compile(r"# \[([a-z][a-z0-9-]*)\] (\S.*)$")

Section = namedtuple("Section", "name title patches before")    # before: patches of the sections before it


def die(text):
    print(f"{os.path.basename(sys.argv[0])}: {text}", file=sys.stderr)
    sys.exit(2)


def read(*path):
    try:
        with open(os.path.join(ROOT, *path), encoding="utf-8", errors="surrogateescape") as f:
            return f.read()
    except OSError as e:
        return die(f"cannot read {'/'.join(path)}: {e.strerror}")


def git(*args, tree=LINUX, text=None, env=None, okay=False):
    """Output of git with nothing of the user's settings; okay: (status, output) instead."""
    env = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", **(env or {}))
    r = subprocess.run(["git", "-C", tree, "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false",
                        "-c", "gc.auto=0", "-c", "advice.detachedHead=false", *args],
                       env=env, input=text or "", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       errors="surrogateescape", check=False)
    if okay:
        return r.returncode, r.stdout + r.stderr
    if r.returncode:
        die(f"git {args[0]} failed in {os.path.relpath(tree)}: {(r.stderr.strip().splitlines() or [''])[-1]}")
    return r.stdout


def sections():
    found, before = [], 0
    for n, line in enumerate(read("series").splitlines(), 1):
        line = line.strip()
        if m := HEAD.match(line):
            if any(s.name == m[1] for s in found):
                die(f"series:{n}: there is a section [{m[1]}] already")
            found.append(Section(m[1], m[2].rstrip("."), [], before))
        elif line and not line.startswith("#"):
            if not found:
                die(f"series:{n}: a patch before the first '# [NAME] Title'")
            found[-1].patches.append(line)
            before += 1
    if not found:
        die("series has no section: write '# [NAME] Title' before its patches")
    for s in found:
        if not s.patches:
            die(f"series: section [{s.name}] has no patch")
    return found


def pick(names):
    every = sections()
    for n in names:
        if n not in [s.name for s in every]:
            die(f"no section '{n}' in series; there are: {' '.join(s.name for s in every)}")
    return [s for s in every if not names or s.name in names]


def figures(which):
    """Rows of the README's table of costs, as plain text."""
    _, begin, rest = read("README.md").partition("<!-- bench: begin -->\n")
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in rest.partition("<!-- bench: end -->")[0].split("\n")
            if line.startswith("|")]
    found = [r for r in rows[2:] if re.search(which, r[0])]
    if not begin or not found:
        die(f"README.md: no figures{f' of {which}' if which else ''}; tools/bench --update writes them")
    text = [f"{'':<55} {'base':>10} {'series':>10}"]
    for name, base, series, *_ in found:
        *first, last = textwrap.wrap(name, 55, subsequent_indent="  ")
        text += [*first, f"{last:<55} {base:>10} {series:>10}"]
    return "\n".join(text)


def no_from(name, text):
    """Refuses what readers of an mbox take for the begin of the next message."""
    if m := re.search(r"^From .*", text, re.M):
        die(f"{name}: a line begins with 'From ', where b4 splits an mbox; reword it: {m[0][:60]}")


def cover(section):
    """(subject, text) of the cover letter."""
    every = sections()
    if not os.path.isfile(os.path.join(ROOT, "cover", section.name)):
        die(f"no cover letter: write cover/{section.name} (subject, empty line, text)")
    subject, _, text = read("cover", section.name).partition("\n")
    if not subject or not text.startswith("\n"):
        die(f"cover/{section.name}: the first line is the subject, the second is empty")
    roadmap = "".join(f" {'->' if s.name == section.name else '  '} {i}. {s.title} ({len(s.patches)})\n"
                      for i, s in enumerate(every, 1))

    def fill(m):
        if m[1] == "ROADMAP":
            return "Road map\n--------\n" + roadmap.rstrip("\n")
        if m[1] == "FIGURES":
            return figures(m[2] or "")
        if not os.path.isfile(os.path.join(ROOT, "cover", m[1])):
            die(f"cover/{section.name}: nothing is known to put in for {m[0]}")
        return read("cover", m[1]).strip()
    return subject, re.sub(r"^@([A-Z]+)(?: (.+))?@$", fill, text.lstrip("\n"), flags=re.M)


def patch_ids(text):
    """The stable patch ids of some patches in mbox form, in order."""
    return [line.split()[0] for line in git("patch-id", "--stable", text=text).splitlines()]


def prerequisites(base, earlier):
    """The lines that git format-patch --base writes; earlier: text of the patches before."""
    lines = [f"base-commit: {base}"] if base else []
    return "".join(f"{x}\n" for x in lines + [f"prerequisite-patch-id: {i}" for i in patch_ids(earlier)])


def shortlog(messages):
    """What format-patch puts below a cover's text: who wrote which patches."""
    by = {}
    for m in messages:
        head = re.sub(r"\n[ \t]", " ", m.split("\n\n", 1)[0])
        who = re.search(r"^From: (.*?) *<", head, re.M)[1].strip('"')
        by.setdefault(who, []).append(re.search(r"^Subject: \[PATCH[^]]*\] (.*)", head, re.M)[1])
    return "\n".join(f"{who} ({len(s)}):\n" + "".join(f"  {x}\n" for x in s) for who, s in by.items())


def messages(section, patches, stat, tail, prefix="PATCH", ids=True, sender=None):
    """[(file name, message)]: the cover letter, then the patches (text of format-patch).

    The same input gives the same bytes; ids: with Message-ID and references. The cover
    letter is from the sender, or else from the author of the first patch.
    """
    n = len(patches)
    width = len(str(n))
    subject, text = cover(section)
    first = re.sub(r"\n[ \t]", " ", patches[0].split("\n\n", 1)[0])
    heads = {k: re.search(rf"^{k}: (.*)", first, re.M)[1] for k in ("From", "Date")}
    no_from(f"cover/{section.name}", text)
    top = (f"From {'0' * 40} Mon Sep 17 00:00:00 2001\nFrom: {sender or heads['From']}\nDate: {heads['Date']}\n"
           f"Subject: [{prefix} {0:0{width}}/{n}] {subject}\nMIME-Version: 1.0\n"
           "Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n"
           f"{text}\n{shortlog(patches)}\n{stat.rstrip()}\n\n{tail}".rstrip("\n") + "\n")
    out = [(f"{0:04}-cover-letter.patch", top)]
    for i, (name, p) in enumerate(zip(section.patches, patches), 1):
        slug = re.sub(r"^\d+-", "", name)
        head, body = p.split("\n\n", 1)
        no_from(f"patches/{name}", body)
        # b4 0.12 cannot read a folded subject from an mbox.
        head = re.sub(r"\n[ \t]", " ", head).replace("Subject: [PATCH] ", f"Subject: [{prefix} {i:0{width}}/{n}] ", 1)
        out.append((f"{i:04}-{slug}", f"{head}\n\n{body}"))
    if not ids:
        return out
    key = hashlib.sha256("".join(m for _, m in out).encode(errors="surrogateescape")).hexdigest()[:16]
    mark = [f"<{key}.{i}.{section.name}@persistent-perf.example.org>" for i in range(n + 1)]
    for i, (name, m) in enumerate(out):
        more = f"Message-ID: {mark[i]}\n"
        if i:
            more += f"In-Reply-To: {mark[0]}\nReferences: {mark[0]}\n"
        out[i] = (name, m.replace("\nDate: ", f"\n{more}Date: ", 1))
    return out


def of_series(section):
    """The messages of a section, made of patches/ and the commits of build/linux."""
    if not os.path.isdir(os.path.join(LINUX, ".git")):
        die("no build/linux; run make tree")
    commits = git("log", "--reverse", "--format=%H", "base..series").split()
    every = [p for s in sections() for p in s.patches]
    if len(commits) != len(every):
        die(f"build/linux has {len(commits)} patches, series {len(every)}; run make tree or make refresh")
    b, n = section.before, len(section.patches)
    stat = git("diff", "--stat", "--summary", "-M", commits[b - 1] if b else "base", commits[b + n - 1])
    # A base that was made of a package has no commit that others know.
    status, base = git("config", "series.upstream", okay=True)
    tail = prerequisites(base.strip() if status == 0 else "", "".join(read("patches", p) for p in every[:b]))
    return messages(section, [read("patches", p) for p in section.patches], stat, tail), commits[b:b + n]
