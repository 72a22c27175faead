# SPDX-License-Identifier: GPL-2.0
"""Sections and cover letters; what is sent arrives as it is; the sender signs off."""
import shutil
import unittest

from toy import ONE, TWO, Send, run

MAINTAINERS = """#!/usr/bin/perl
print "Some Body <some\\@body.test>\\n";
print "list\\@lists.test\\n" unless grep { $_ eq "--nol" } @ARGV;
"""


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
            self.assertIn("\nTo: Some Body <some@body.test>\nCc: list@lists.test\n", text.split("\n\n")[0] + "\n")
        self.assertIn("From: A Sender <a@sender.test>\n", cover)
        self.assertIn(f"base-commit: {self.git('rev-parse', 'base').strip()}\nprerequisite-patch-id: ", cover)
        self.assertIn("Subject: [PATCH 1/1] perf/core: Add a file", patch)
        self.assertIn("Signed-off-by: A Sender <a@sender.test>", patch)
        self.assertIn("--dry-run", out)
        self.assertNotEqual(base, "")
        # git am takes it.
        self.git("checkout", "-q", "HEAD~")
        self.git("am", "-q", *sorted((self.root / "build/send/two").glob("0001*")))


if __name__ == "__main__":
    unittest.main()
