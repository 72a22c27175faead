# SPDX-License-Identifier: GPL-2.0
"""Lists that drift apart, patches that do not apply, and tools/refresh and tree."""
import os
import subprocess
import unittest

from toy import Toy, run

ONE = "patches/0001-perf-core-Change-one.patch"
TWO = "patches/0002-perf-core-Add-a-file.patch"


class Series(Toy):
    def bad(self, why):
        status, line = self.check("20-series")
        self.assertEqual(status, 1, line)
        self.assertRegex(line, why)

    def test_good(self):
        self.assertEqual(self.check("20-series"), (0, "2 patches: series, patches/ and build/linux agree"))

    def test_not_in_series(self):
        self.edit("series", "0002-perf-core-Add-a-file.patch\n", "")
        self.bad("0002-.* is not in series")

    def test_commented_out(self):
        self.edit("series", "0002-", "# 0002-")
        self.bad("0002-.* is not in series")

    def test_not_in_patches(self):
        (self.root / TWO).unlink()
        self.bad("series names 0002-.*not in patches/")

    def test_neither(self):
        (self.root / TWO).unlink()
        self.edit("series", "0002-perf-core-Add-a-file.patch\n", "")
        self.bad("not in series: perf/core: Add a file")

    def test_named_twice(self):
        with open(self.root / "series", "a") as f:
            f.write("0001-perf-core-Change-one.patch\n")
        self.bad("named twice")

    def test_order(self):
        self.edit("series", "0001-perf-core-Change-one.patch\n0002-perf-core-Add-a-file.patch",
                  "0002-perf-core-Add-a-file.patch\n0001-perf-core-Change-one.patch")
        self.bad("is number")

    def test_stray_file(self):
        (self.root / "patches/notes.txt").write_text("x")
        self.bad("notes.txt is not in series")

    def test_line_that_splits_an_mbox(self):
        (self.root / "cover").mkdir()
        (self.root / "cover/one").write_text("perf: x\n\nFrom then on.\n")
        self.bad("^cover/one:3: begins with 'From '")
        (self.root / "cover/one").write_text("perf: x\n\n From then on.\n")
        self.edit(TWO, "\n---\n", "\nFrom now on it is.\n---\n")
        self.bad("^patches/0002-.*: begins with 'From '")

    def test_empty(self):
        (self.root / "series").write_text("# nothing\n")
        self.bad("is not in series")
        for f in (ONE, TWO):
            (self.root / f).unlink()
        self.bad("names no patch")

    def test_no_series(self):
        (self.root / "series").unlink()
        self.bad("no file series")

    def test_does_not_apply(self):
        self.edit(ONE, "-\treturn 1;", "-\treturn 77;")
        self.bad("0001-.*does not apply")

    def test_white_space_damage(self):
        self.edit(ONE, "-\treturn 1;", "-        return 1;")
        self.bad("0001-.*does not apply")

    def test_another_base(self):
        text = (self.root / ONE).read_text()
        blob = text.split("\nindex ")[1][:40]
        self.edit(ONE, blob, "1234567890" * 4)
        self.bad("0001-.*was made for another kernel/events/core.c")

    def test_short_blobs(self):
        text = (self.root / ONE).read_text()
        blob = text.split("\nindex ")[1][:40]
        self.edit(ONE, blob, blob[:12])
        self.bad("short blob ids")

    def test_other_content(self):
        self.edit(ONE, "+\treturn 10;", "+\treturn 11;")
        self.bad("0001-.* differ")

    def test_other_words(self):
        self.edit(ONE, "Change one", "Change two")
        self.bad("subject 'perf/core: Change two'")

    def test_other_message(self):
        self.edit(ONE, "\n---\n", "\nMore words.\n---\n")
        self.bad("not what tools/refresh writes")

    def test_uncommitted(self):
        self.write("kernel/events/core.c", "int lost;\n")
        self.bad("changes that are in no patch")

    def test_untracked(self):
        self.write("kernel/events/new.c", "int lost;\n")
        self.bad("changes that are in no patch")

    def test_extra_commit(self):
        self.write("kernel/events/new.c", "int x;\n")
        self.commit("perf/core: Forget to refresh")
        self.bad("not in series: perf/core: Forget")

    def test_other_branch(self):
        self.kgit("checkout", "-q", "-b", "side", "base")
        self.bad("not at its branch")

    def test_no_tree(self):
        (self.root / "build/linux/.git").rename(self.root / "gone")
        status, line = self.check("20-series")
        self.assertEqual(status, 250, line)


class Refresh(Toy):
    def all(self):
        return {p.name: p.read_bytes() for p in [self.root / "series", *(self.root / "patches").iterdir()]}

    def refused(self, why):
        before = self.all()
        status, _, err = self.tool("refresh")
        self.assertEqual(status, 2, err)
        self.assertEqual(len(err.strip().splitlines()), 1, err)
        self.assertRegex(err, why)
        self.assertEqual(self.all(), before)

    def test_nothing_new(self):
        before = self.all()
        self.assertEqual(self.tool("refresh")[0], 0)
        self.assertEqual(self.all(), before)

    def test_dirty(self):
        self.write("kernel/events/core.c", "int mine;\n")
        self.refused("uncommitted changes")
        self.assertEqual((self.linux / "kernel/events/core.c").read_text(), "int mine;\n")

    def test_wrong_branch(self):
        self.kgit("checkout", "-q", "-b", "side")
        self.refused("not on series")

    def test_in_a_rebase(self):
        (self.linux / ".git/rebase-apply").mkdir()
        self.refused("rebase")

    def test_no_tree(self):
        (self.linux / ".git").rename(self.root / "gone")
        self.refused("make tree")

    def test_new_commit(self):
        self.write("kernel/events/new.c", "int x;\n")
        self.commit("perf/core: Add another")
        self.assertEqual(self.tool("refresh")[0], 0)
        self.assertIn("0003-perf-core-Add-another.patch", self.all())
        self.assertEqual(self.check("20-series")[0], 0)

    def test_removed_commit(self):
        self.kgit("reset", "-q", "--hard", "series~")
        self.assertEqual(self.tool("refresh")[0], 0)
        self.assertNotIn(TWO[8:], self.all())
        self.assertIn("# A section", (self.root / "series").read_text())
        self.assertEqual(self.check("20-series")[0], 0)


class Tree(Toy):
    def tree(self, **env):
        status, out, err = run(self.root / "tools/tree", env=env)
        return status, out + err

    def test_up_to_date(self):
        head = self.kgit("rev-parse", "HEAD")
        self.assertEqual(self.tree()[0], 0)
        self.assertEqual(self.kgit("rev-parse", "HEAD"), head)

    def test_does_not_apply(self):
        self.assertEqual(self.tree()[0], 0)
        self.edit(ONE, "-\treturn 1;", "-\treturn 77;")
        status, text = self.tree()
        self.assertEqual(status, 2, text)
        self.assertIn("0001-perf-core-Change-one.patch does not apply", text.splitlines()[-1])
        # Neither skipped nor half applied.
        self.assertEqual(self.kgit("log", "--oneline", "base..series"), "")
        self.assertEqual(self.kgit("status", "--porcelain"), "")
        self.assertEqual(run("git", "-C", self.linux, "am", "--show-current-patch")[0] != 0, True)

    def test_no_fuzz(self):
        self.assertEqual(self.tree()[0], 0)
        # Context that is only nearly right: patch(1) would take it.
        self.edit(ONE, "\n int perf_2(void)", "\n int perf_two(void)")
        self.assertEqual(self.tree()[0], 2)

    def test_names_a_patch_that_is_not_there(self):
        (self.root / TWO).unlink()
        status, text = self.tree()
        self.assertEqual(status, 2)
        self.assertIn("0002-perf-core-Add-a-file.patch", text)

    def test_series_does_not_name_it(self):
        for name in ("0003-perf-Left-over.patch", "0002-perf-core-Add-a-file.patch.orig"):
            (self.root / "patches" / name).write_text("x")
        status, text = self.tree()
        self.assertEqual((status, len(text.splitlines())), (2, 1), text)
        self.assertRegex(text, r"patches/0002-perf-core-Add-a-file.patch.orig \(2 such\).*git clean -n patches")

    def test_own_work_stays(self):
        self.assertEqual(self.tree()[0], 0)
        self.write("kernel/events/new.c", "int x;\n")
        self.commit("perf/core: Work of hours")
        self.assertEqual(self.tree()[0], 2)
        self.assertIn("Work of hours", self.kgit("log", "--format=%s"))

    def test_uncommitted_work_stays(self):
        self.write("kernel/events/core.c", "int mine;\n")
        self.assertEqual(self.tree()[0], 2)
        self.assertEqual((self.linux / "kernel/events/core.c").read_text(), "int mine;\n")

    def test_again_after_a_change(self):
        self.assertEqual(self.tree()[0], 0)
        self.edit(ONE, "+\treturn 10;", "+\treturn 11;")
        self.assertEqual(self.tree()[0], 0)
        self.assertIn("return 11;", (self.linux / "kernel/events/core.c").read_text())

    def test_git_tree_of_somebody(self):
        other = self.root / "other"
        subprocess.run(["git", "clone", "-q", self.linux, other], check=True, stdin=subprocess.DEVNULL)
        subprocess.run(["git", "-C", other, "checkout", "-q", "--detach", "base"], check=True)
        before = sorted(os.listdir(other / ".git"))
        self.linux.rename(self.root / "build/old")
        status, text = self.tree(LINUX=str(other), LINUX_REV="base")
        self.assertEqual(status, 0, text)
        self.assertEqual(self.kgit("log", "--format=%s", "base..series"),
                         "perf/core: Add a file\nperf/core: Change one\n")
        self.assertEqual(self.kgit("config", "series.upstream"), run("git", "-C", other, "rev-parse", "base")[1])
        self.assertEqual(sorted(os.listdir(other / ".git")), before)
        self.assertEqual(self.check("20-series")[0], 0)

    def test_no_such_tree(self):
        self.linux.rename(self.root / "build/old")
        status, text = self.tree(LINUX="/no/such/folder")
        self.assertEqual(status, 2)
        self.assertIn("no such directory", text)
        self.assertFalse(self.linux.exists())


if __name__ == "__main__":
    unittest.main()
