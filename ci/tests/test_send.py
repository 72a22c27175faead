# SPDX-License-Identifier: GPL-2.0
"""Sections and cover letters; what is sent arrives as it is; the sender signs off; rebase."""
import shutil
import unittest

from toy import CORE, Toy, run

ONE = "0001-perf-core-Change-one.patch"
TWO = "0002-perf-core-Add-a-file.patch"
MAINTAINERS = """#!/usr/bin/perl
print "Some Body <some\\@body.test>\\n";
print "list\\@lists.test\\n" unless grep { $_ eq "--nol" } @ARGV;
"""


class Send(Toy):
    def setUp(self):
        super().setUp()
        (self.root / "series").write_text(f"# [one] The first: alone.\n# A remark.\n{ONE}\n# [two] The second.\n{TWO}\n")
        (self.root / "cover").mkdir()
        for name in ("one", "two"):
            self.cover(name, f"perf: Part {name}\n\nText of {name}.\n\n@ROADMAP@\n\n@TESTED@\n")
        self.cover("TESTED", "Tested well.\n")

    def cover(self, name, text):
        (self.root / "cover" / name).write_text(text)

    def refused(self, tool, *args, why):
        status, out, err = self.tool(tool, *args)
        self.assertEqual(status, 2, out + err)
        self.assertEqual(len(err.strip().splitlines()), 1, err)
        self.assertRegex(err, why)

    def mbox(self, name):
        status, out, err = self.tool("mbox")
        self.assertEqual(status, 0, out + err)
        return (self.root / f"build/mbox/{name}.mbox").read_text()


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


class Rebase(Send):
    def rebase(self, text, name="kernel/events/core.c"):
        """Rebase on a kernel whose core.c is text; the words of each patch and the table's line."""
        other = self.root / "other"
        run("git", "clone", "-q", self.linux, other)
        run("git", "-C", other, "checkout", "-q", "base")
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(text)
        (other / "Makefile").write_text("VERSION = 9\nPATCHLEVEL = 1\nSUBLEVEL = 2\nEXTRAVERSION = -rc3\n")
        for args in (("add", "-A"), ("-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-q", "-m", "x")):
            run("git", "-C", other, *args)
        before = self.kgit("rev-parse", "HEAD", "base")
        results = []
        for where in (f"{other}@HEAD", str(other)):
            if where == str(other):
                shutil.rmtree(other / ".git")
            status, out, err = self.tool("rebase", where)
            self.assertEqual(status, 0, out + err)
            lines = out.strip().splitlines()
            results.append(([x[:18].strip() for x in lines if x.startswith("  ")], lines))
        self.assertEqual(results[0][0], results[1][0])
        self.assertEqual(self.kgit("rev-parse", "HEAD", "base"), before)
        return results[1]

    def test_same(self):
        words, lines = self.rebase(CORE)
        self.assertEqual(words, ["as it is", "as it is"])
        self.assertRegex(lines[-1], r"^\| 9.1.2-rc3 \| other \| 2 \| 0 \| 0 \|$")

    def test_three_way(self):
        # The context is another, what is changed is not.
        words, lines = self.rebase(CORE.replace("int perf_2(void)\n{", "int perf_two(void)\n{"))
        self.assertEqual(words, ["merged", "as it is"])
        self.assertIn("| 1 | 1 | 0 |", lines[-1])

    def test_conflict(self):
        words, lines = self.rebase(CORE.replace("return 1;", "return 77;"))
        self.assertEqual(words, ["needs work", "as it is"])
        self.assertIn("kernel/events/core.c", next(x for x in lines if "needs work" in x))
        self.assertIn("return 10;", (self.root / "build/rebase/kernel/events/core.c").read_text())

    def test_there_already(self):
        words, lines = self.rebase(CORE.replace("return 1;", "return 10;"))
        self.assertEqual(words, ["is there already", "as it is"])
        self.assertIn("1 more are there already", lines[-1])

    def test_bad_base(self):
        self.refused("rebase", "/no/such/tree", why="linux-source-6.12")
        self.refused("rebase", f"{self.linux}@v9.9", why="v9.9")


class RenamedHead(Toy):
    """The comment before a patch stays where it was when the patch gets another subject."""

    def test_renamed(self):
        (self.root / "series").write_text(f"# [one] One\n{ONE}\n# [two] Two\n{TWO}\n")
        self.kgit("reset", "-q", "--hard", "base")
        self.write("kernel/events/core.c", CORE.replace("return 1;", "return 10;"))
        self.commit("perf/core: Change another")
        self.write("kernel/events/persistent.c", "int persistent;\n")
        self.commit("perf/core: Add a file")
        status, _, err = self.tool("refresh", "--force")
        self.assertEqual(status, 0, err)
        self.assertEqual((self.root / "series").read_text(),
                         "# [one] One\n0001-perf-core-Change-another.patch\n# [two] Two\n" + TWO + "\n")


if __name__ == "__main__":
    unittest.main()
