# SPDX-License-Identifier: GPL-2.0
"""ci/30-checkpatch and ci/40-each-patch see a bad patch."""
import contextlib
import io
import shutil
import unittest

from toy import ROOT, Toy
from kbuild import EACH, Config, Source, fragments, problems

REAL = ROOT / "build/linux"
PATCH = """From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: Toy <toy@localhost>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: [PATCH] perf/core: Say it well

The words of this patch are good enough for a test of the check.
---
 kernel/events/core.c | 5 +++++
 1 file changed, 5 insertions(+)

diff --git a/kernel/events/core.c b/kernel/events/core.c
index a931913b128258d6b9897f5ab7c4e327651ee313..75e0c8cc376b03f546f22daeac4435aa84c95ec2 100644
--- a/kernel/events/core.c
+++ b/kernel/events/core.c
@@ -40,2 +40,7 @@
+static int perf_one(void)
+{
+\treturn 1;
+}
+
 int a;
 int b;
"""


@unittest.skipUnless((REAL / "scripts/checkpatch.pl").exists() and shutil.which("perl"), "no build/linux or no perl")
class Checkpatch(Toy):
    def setUp(self):
        super().setUp()
        self.linux.rename(self.root / "build/toy")
        self.linux.symlink_to(REAL)
        (self.root / "series").write_text("0001-one.patch\n")
        (self.root / "ci").mkdir()
        self.allow("")

    def allow(self, text):
        (self.root / "ci/checkpatch.allow").write_text(text)

    def go(self, text):
        (self.root / "patches/0001-one.patch").write_text(text)
        return self.check("30-checkpatch")

    def test_good(self):
        self.assertEqual(self.go(PATCH), (0, "1 patch clean"))

    def test_white_space(self):
        status, line = self.go(PATCH.replace("+\treturn 1;", "+\treturn 1; "))
        self.assertEqual(status, 1)
        self.assertIn("TRAILING_WHITESPACE", line)

    def test_strict(self):
        status, line = self.go(PATCH.replace("+\treturn 1;", "+\treturn (1+1);"))
        self.assertEqual(status, 1, line)

    def test_allowed(self):
        bad = PATCH.replace("+\treturn 1;", "+\treturn 1; ")
        self.allow("TRAILING_WHITESPACE | *-one.patch | a test\n")
        self.assertEqual(self.go(bad)[0], 0)
        self.allow("TRAILING_WHITESPACE | *-two.patch | a test\n")
        self.assertEqual(self.go(bad)[0], 1)

    def test_allowance_without_reason(self):
        self.allow("TRAILING_WHITESPACE | *\n")
        self.assertEqual(self.go(PATCH)[0], 1)

    def test_out_of_use(self):
        self.allow("TRAILING_WHITESPACE | * | a test\n")
        self.assertIn("1 allowance out of use", self.go(PATCH)[1])

    def test_no_patch_in_the_file(self):
        self.assertEqual(self.go("")[0], 1)


class Warnings(unittest.TestCase):
    def test_place_does_not_matter(self):
        a = problems("/a/src/kernel/x.c:10:3: warning: unused 'y' [-Wunused]\n  CC x.o\n", "/a/src")
        b = problems("/b/src/kernel/x.c:99:3: warning: unused 'y' [-Wunused]\n", "/b/src")
        self.assertEqual(a, b)
        self.assertEqual(sum(a.values()), 1)

    def test_one_more_of_the_same(self):
        line = "kernel/x.c:10:3: warning: unused 'y'\n"
        self.assertEqual(sum((problems(line * 2) - problems(line)).values()), 1)

    def test_kinds(self):
        for line in ("Warning: kernel/x.c:3 function parameter 'a' not described in 'b'",
                     "vmlinux.o: warning: objtool: x+0x1: unreachable",
                     "kernel/x.c:1:1: error: expected ';'"):
            self.assertEqual(sum(problems(line + "\n").values()), 1, line)


@unittest.skipUnless((EACH / "src/.git").exists() and (EACH / "off/.config").exists(),
                     "ci/40-each-patch has not built anything yet")
class Objects(unittest.TestCase):
    """On the checkout that 40-each-patch made; what is changed there is put back."""
    FILE = "kernel/events/callchain.c"
    OBJ = "kernel/events/callchain.o"

    def setUp(self):
        self.src = Source()
        self.src.at = self.src.git("rev-parse", "HEAD").strip()
        self.cfg = Config(self.src, "off", fragments("base"))
        self.file = self.src.dir / self.FILE
        self.addCleanup(self.file.write_text, self.file.read_text())

    def build(self, more):
        self.file.write_text(self.file.read_text() + more)
        with contextlib.redirect_stdout(io.StringIO()):
            return self.cfg.build({self.OBJ})

    def test_good(self):
        self.assertEqual(self.build(""), (True, {}))

    def test_warning(self):
        good, found = self.build("static int toy(void) { return 1; }\n")
        self.assertTrue(not good or found)

    def test_error(self):
        self.assertFalse(self.build("int toy(void) { return no_such_name; }\n")[0])

    def test_what_is_built(self):
        objs, why = self.cfg.objects([self.FILE, "kernel/events/no_such_file.c", "arch/arm64/kernel/smp.c",
                                      "Documentation/x.rst", "init/Kconfig"])
        self.assertEqual(objs, {self.OBJ})
        self.assertEqual(self.cfg.objects(["arch/x86/events/core.c"])[0], {"arch/x86/events/core.o"})
        self.assertEqual(sorted(why), ["Documentation/x.rst", "arch/arm64/kernel/smp.c",
                                       "kernel/events/no_such_file.c"])


if __name__ == "__main__":
    unittest.main()
