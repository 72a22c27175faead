# SPDX-License-Identifier: GPL-2.0
"""Sections and cover letters; what is sent arrives as it is; the sender signs off."""
import importlib.machinery
import importlib.util
import os
import re
import shutil
import sys
import unittest
from pathlib import Path

from toy import ONE, ROOT, TWO, Send, run

# As the real one: it reads its standard input only where no file is named.
MAINTAINERS = """#!/usr/bin/perl
for (@ARGV) { die "$0: file '$_' not found\\n" unless /^--/ }
die "$0: no patch\\n" unless grep { /^diff --git / } <STDIN>;
print "Some Body <some\\@body.test>\\n";
exit if grep { $_ eq "--nol" } @ARGV;
print "Re Viewer <re\\@viewer.test>\\nlist\\@lists.test\\n";
"""
EMAIL = Path(run("git", "--exec-path")[1].strip(), "git-send-email").exists() and \
    run("perl", "-MMail::Address", "-MNet::SMTP", "-e1")[0] == 0
REAL = ROOT / "build/linux/scripts/get_maintainer.pl"


class Mbox(Send):
    def test_what_is_in_it(self):
        text = self.mbox("two")
        self.assertEqual(text.count("\nSubject: "), 2)
        for part in ("Subject: [PATCH 0/1] perf: Part two", "Text of two.", "    1. The first: alone (1)",
                     " -> 2. The second (1)", "Tested well.", "1 file changed", "  perf/core: Add a file\n",
                     "Subject: [PATCH 1/1] perf/core: Add a file", "In-Reply-To: <"):
            self.assertIn(part, text)
        self.assertEqual(text.count("prerequisite-patch-id: "), 1)
        self.assertNotIn("prerequisite-patch-id", self.mbox("one"))
        self.assertNotIn("base-commit", text)

    def test_base_that_others_know(self):
        self.kgit("config", "series.upstream", "1" * 40)
        self.assertIn("base-commit: " + "1" * 40, self.mbox("one"))

    def test_same_bytes(self):
        self.assertEqual(self.mbox("one"), self.mbox("one"))

    def test_figures(self):
        self.cover("one", "perf: x\n\n@FIGURES@\n\n@FIGURES ^b@\n")
        self.refused("mbox", why="README.md")
        readme = self.root / "README.md"
        readme.write_text("<!-- bench: begin -->\n\n| | base | series | ratio |\n|---|--:|--:|--:|\n"
                          f"| a | 1 | 22 | 22.0 |\n| {'b ' * 40}| 3 |  |  |\n\n<!-- bench: end -->\n")
        text = self.mbox("one")
        self.assertEqual(text.count(f"\na{'':54} {1:10} {22:10}\n"), 1)
        self.assertEqual(text.count(f"{3:10}"), 2)
        readme.write_text(readme.read_text().replace("| b ", "| c "))
        self.refused("mbox", why="no figures of .b")

    def test_no_cover(self):
        (self.root / "cover/two").unlink()
        self.refused("mbox", why="cover/two")

    def test_cover_without_subject(self):
        self.cover("two", "perf: x\ntext\n")
        self.refused("mbox", why="first line is the subject")

    def test_line_that_splits_an_mbox(self):
        self.cover("two", "perf: x\n\nWhat it is for:\nFrom then on.\n")
        self.refused("mbox", why="^mbox: cover/two: .*From then on")
        self.cover("two", "perf: x\n\nWhat it is for:\n From then on, >From, From: and from all.\n")
        self.mbox("two")
        self.edit(f"patches/{TWO}", "\n---\n", "\nSaid before.\nFrom now on it is.\n---\n")
        self.refused("mbox", why="^mbox: patches/0002-.*From now on")

    def test_nothing_to_put_in(self):
        self.cover("two", "perf: x\n\n@NOSUCH@\n")
        self.refused("mbox", why="@NOSUCH@")

    def test_unknown_section(self):
        self.refused("mbox", "three", why="one two")

    def test_patch_before_the_first_section(self):
        (self.root / "series").write_text(f"{ONE}\n# [two] The second.\n{TWO}\n")
        self.refused("mbox", why="series:1: a patch before")

    def test_section_twice(self):
        (self.root / "series").write_text(f"# [a] A\n{ONE}\n# [a] B\n{TWO}\n")
        self.refused("mbox", why="series:3")

    def test_empty_section(self):
        (self.root / "series").write_text(f"# [one] A\n{ONE}\n{TWO}\n# [two] B\n")
        self.refused("mbox", why="no patch")

    def test_too_many(self):
        text = (self.root / "tools/letters.py").read_text()
        (self.root / "tools/letters.py").write_text(text.replace("MOST = 15", "MOST = 1"))
        self.mbox("one")
        (self.root / "series").write_text(f"# [one] A\n{ONE}\n{TWO}\n")
        self.refused("mbox", why="at most 1")


@unittest.skipUnless(shutil.which("b4") and shutil.which("quilt"), "no b4 or no quilt")
class Verify(Send):
    def verify(self, want, why):
        status, out, err = self.tool("verify-send")
        self.assertEqual(status, want, out + err)
        self.assertRegex((out + err).strip().splitlines()[-1], why)

    def test_good(self):
        self.mbox("one")
        self.verify(0, "2 patches in 2 sections arrive")

    def test_no_mbox(self):
        self.verify(2, "make mbox")

    def test_patch_is_lost(self):
        text = self.mbox("two")
        (self.root / "build/mbox/two.mbox").write_text(text[:text.index("\nFrom 0000", 10) + 1])
        self.verify(1, "two: b4 am took no patches of 1")

    def test_other_content(self):
        text = self.mbox("one")
        (self.root / "build/mbox/one.mbox").write_text(text.replace("+\treturn 10;", "+\treturn 11;"))
        self.verify(1, "one: the tree after 0001-.* is another")

    def test_other_patches(self):
        self.mbox("one")
        self.edit(f"patches/{ONE}", "+\treturn 10;", "+\treturn 11;")
        self.verify(1, "quilt push -a gives another kernel/events/core.c")

    def test_fuzz(self):
        self.mbox("one")
        self.edit(f"patches/{ONE}", "\n int perf_2(void)", "\n int perf_two(void)")
        self.verify(1, "quilt push -a stopped")


    def test_check(self):
        self.assertEqual(self.check("22-send"), (0, "2 patches in 2 sections arrive as they are"))
        self.edit(f"patches/{ONE}", "+\treturn 10;", "+\treturn 11;")
        status, line = self.check("22-send")
        self.assertEqual(status, 1, line)
        self.assertRegex(line, "tools/verify-send: one: the tree after 0001-.* is another")
        (self.root / "cover/two").unlink()
        status, line = self.check("22-send")
        self.assertEqual(status, 1, line)
        self.assertRegex(line, "tools/mbox: no cover letter")


@unittest.skipUnless(shutil.which("perl"), "no perl")
class Sign(Send):
    """A tree of the sender's own, in which section one has been applied."""

    def setUp(self):
        super().setUp()
        self.mbox("one")
        self.own = self.root / "own"
        run("git", "clone", "-q", self.linux, self.own)
        self.git("checkout", "-q", "-b", "work", "base")
        self.git("config", "user.name", "A Sender")
        self.git("config", "user.email", "a@sender.test")
        (self.own / "scripts").mkdir()
        (self.own / "scripts/get_maintainer.pl").write_text(MAINTAINERS)

    def git(self, *args):
        status, out, err = run("git", "-C", self.own, *args)
        self.assertEqual(status, 0, out + err)
        return out

    def apply(self, *options, name="one"):
        self.git("am", "-q", "--empty=drop", *options, self.root / f"build/mbox/{name}.mbox")

    def take_over(self):
        self.git("commit", "-q", "--amend", "--no-edit", "--reset-author")

    def send(self, name="one"):
        return self.tool("send", name, "--tree", self.own)

    def test_not_signed_off(self):
        self.refused("send", "two", why="placeholder|no Signed-off-by")
        self.apply()
        self.take_over()
        self.refused("send", "one", "--tree", self.own, why="no Signed-off-by")

    def test_somebody_else_signed(self):
        self.apply("-s")
        self.take_over()
        self.git("config", "user.name", "B Sender")
        self.take_over()
        self.refused("send", "one", "--tree", self.own, why="only your own counts")

    def test_placeholder(self):
        self.apply("-s")
        self.git("commit", "-q", "--amend", "--no-edit", "--author=P <p@example.org>")
        self.refused("send", "one", "--tree", self.own, why="placeholder")

    def test_not_there(self):
        self.apply("-s")
        self.refused("send", "two", "--tree", self.own, why="not section two")

    def test_good(self):
        self.apply("-s")
        self.take_over()
        base = self.git("rev-parse", "HEAD~").strip()
        self.apply("-s", name="two")
        self.take_over()
        status, out, err = self.send("two")
        self.assertEqual(status, 0, out + err)
        cover, patch = (p.read_text() for p in sorted((self.root / "build/send/two").iterdir()))
        for text in (cover, patch):
            self.assertIn("\nTo: Some Body <some@body.test>\nCc: Re Viewer <re@viewer.test>,\n list@lists.test\n",
                          text.split("\n\n")[0] + "\n")
        self.assertIn("From: A Sender <a@sender.test>\n", cover)
        self.assertIn(f"base-commit: {self.git('rev-parse', 'base').strip()}\nprerequisite-patch-id: ", cover)
        self.assertIn("Subject: [PATCH 1/1] perf/core: Add a file", patch)
        self.assertIn("Signed-off-by: A Sender <a@sender.test>", patch)
        self.assertIn("--dry-run", out)
        self.assertNotEqual(base, "")
        # git am takes it.
        self.git("checkout", "-q", "HEAD~")
        self.git("am", "-q", *sorted((self.root / "build/send/two").glob("0001*")))

    @unittest.skipUnless(EMAIL, "no git-email, or no Mail::Address")
    def test_who_gets_it(self):
        """The command that is printed sends to who is in the files, and to nobody else."""
        self.apply("-s")
        self.git("commit", "-q", "--amend", "--reset-author", "-m", "perf/core: Change one",
                 "-m", "Reported-by: C <c@nobody.test>\nCc: d@nobody.test\nSigned-off-by: A Sender <a@sender.test>")
        status, out, err = self.send()
        self.assertEqual(status, 0, out + err)
        command = re.search(r"^  (git send-email .*)", out, re.M)[1]
        files = re.search(r"\S+$", command)[0]
        command = command.replace(files, os.path.abspath(files)).replace("git ", f"git -C {self.own} ", 1)
        env = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        status, out, err = run("bash", "-c", command, env=env)
        self.assertEqual(status, 0, out + err)
        self.assertEqual(out.count("\nSubject: "), 2)
        self.assertEqual(len(re.findall(r"^To: Some Body <some@body\.test>$", out, re.M)), 2, out)
        self.assertEqual(len(re.findall(r"^Cc: Re Viewer <re@viewer\.test>,\s+list@lists\.test$", out, re.M)), 2, out)
        self.assertNotIn("nobody.test>", re.sub(r"^.*-by: .*", "", out, flags=re.M))
        self.assertEqual(set(re.findall(r"^RCPT TO:<(.*)>$", out, re.M)),
                         {"some@body.test", "re@viewer.test", "list@lists.test"} if "RCPT TO" in out else set())

    def test_folder_of_others(self):
        self.apply("-s")
        self.take_over()
        out = self.root / "mine"
        out.mkdir()
        (out / "notes").write_text("of hours")
        self.refused("send", "one", "--tree", self.own, "--out", out, why="notes")
        self.assertEqual((out / "notes").read_text(), "of hours")
        self.refused("send", "one", "--tree", self.own, "--out", self.root / "patches", why="0001-perf-core")
        self.assertTrue((self.root / "patches" / TWO).exists())
        self.refused("send", "one", "--tree", self.own, "--out", out / "notes", why="cannot write")

    def test_again(self):
        self.apply("-s")
        self.take_over()
        self.assertEqual(self.send()[0], 0)
        out = self.root / "build/send/one"
        names = sorted(os.listdir(out))
        (out / "0009-of-before.patch").write_text("x")
        # What fails leaves it alone.
        (self.own / "scripts/get_maintainer.pl").rename(self.own / "scripts/gone")
        self.refused("send", "one", "--tree", self.own, why="no scripts/get_maintainer.pl")
        self.assertEqual(sorted(os.listdir(out)), [*names, "0009-of-before.patch"])
        (self.own / "scripts/gone").rename(self.own / "scripts/get_maintainer.pl")
        self.assertEqual(self.send()[0], 0)
        self.assertEqual(sorted(os.listdir(out)), names)

    @unittest.skipUnless(REAL.exists(), "no build/linux")
    def test_real_script(self):
        sys.path.insert(0, str(ROOT / "tools"))
        self.addCleanup(sys.path.remove, str(ROOT / "tools"))
        loader = importlib.machinery.SourceFileLoader("send", str(ROOT / "tools/send"))
        send = importlib.util.module_from_spec(importlib.util.spec_from_loader("send", loader))
        loader.exec_module(send)
        to, cc = send.recipients(str(ROOT / "build/linux"), (self.root / "patches" / ONE).read_text())
        self.assertTrue(any("peterz@infradead.org" in a for a in to), to)
        self.assertIn("linux-perf-users@vger.kernel.org", cc)
        self.assertFalse(set(to) & set(cc))


if __name__ == "__main__":
    unittest.main()
