# SPDX-License-Identifier: GPL-2.0
"""tools/rebase tells what becomes of each patch; tools/refresh, where new ones are."""
import shutil
import unittest

from toy import CORE, ONE, TWO, Send, Toy, run


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
        self.assertRegex(lines[-1], r"^\| 9\.1\.2-rc3 \| `BASE=/.*/other` \| 2 \| 0 \| 0 \|$")

    def test_three_way(self):
        # The context is another, what is changed is not.
        words, lines = self.rebase(CORE.replace("int perf_2(void)\n{", "int perf_two(void)\n{"))
        self.assertEqual(words, ["merged", "as it is"])
        self.assertIn("| 1 | 1 | 0 |", lines[-1])

    def test_conflict(self):
        words, lines = self.rebase(CORE.replace("return 1;", "return 77;"))
        self.assertEqual(words, ["needs work", "as it is"])
        self.assertIn("kernel/events/core.c", next(x for x in lines if "needs work" in x))
        self.assertTrue(lines[-1].endswith(" | 1 | 0 | 1: 0001 (kernel/events/core.c) |"), lines[-1])
        self.assertIn("return 10;", (self.root / "build/rebase/kernel/events/core.c").read_text())

    def test_there_already(self):
        words, lines = self.rebase(CORE.replace("return 1;", "return 10;"))
        self.assertEqual(words, ["is there already", "as it is"])
        self.assertIn(" | 1 (1 more there already) | 0 | 0 |", lines[-1])

    def test_bad_base(self):
        self.refused("rebase", "/no/such/tree", why="linux-source-6.12")
        self.refused("rebase", f"{self.linux}@v9.9", why="v9.9")
        self.refused("rebase", self.root / "cover", why="no Makefile")
        self.refused("rebase", "linux-source-6.12", "--suite", "no suite", why="suite of Debian")

    def test_check(self):
        shutil.rmtree(self.linux)
        self.refused("rebase", "/no/such/tree", "--check", why="linux-source-6.12")
        self.assertEqual(self.tool("rebase", "linux-source-6.12", "--suite", "sid", "--check"), (0, "", ""))
        self.assertFalse((self.root / "build/rebase").exists())
        self.refused("rebase", "linux-source-6.12", why="make tree")


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

    def test_new(self):
        """A new patch is named, with its section."""
        (self.root / "series").write_text(f"# [one] One\n{ONE}\n# [two] Two\n{TWO}\n")
        self.kgit("reset", "-q", "--hard", "series~")
        for name, subject in (("new", "Add another"), ("persistent", "Add a file"), ("last", "Add the last")):
            self.write(f"kernel/events/{name}.c", f"int {name};\n")
            self.commit(f"perf/core: {subject}")
        status, out, err = self.tool("refresh", "--force")
        self.assertEqual(status, 0, err)
        self.assertEqual(out.splitlines()[:-1], ["refresh: new, in section [one]: 0002-perf-core-Add-another.patch",
                                                 "refresh: new, in section [two]: 0004-perf-core-Add-the-last.patch"])
        self.assertEqual(len(self.tool("refresh")[1].splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
