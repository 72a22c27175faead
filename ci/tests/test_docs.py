# SPDX-License-Identifier: GPL-2.0
"""ci/37-docs sees a new warning of the kernel's documentation and of the man page."""
import gzip
import os
import shutil
import unittest
from unittest import mock

from toy import Toy, run

WRAPPER = """#!/usr/bin/env python3
import pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("--builddir") + 1])
for page in pathlib.Path("Documentation").rglob("*.rst"):
    text = page.read_text()
    if "LOST" not in text:
        html = out / page.relative_to("Documentation").with_suffix(".html")
        html.parent.mkdir(parents=True, exist_ok=True)
        html.write_text(text)
    for n, line in enumerate(text.splitlines(), 1):
        if "BAD" in line:
            print(f"{page.resolve()}:{n}: WARNING: {line}", file=sys.stderr)
"""
# In place of groff and mandoc.
LINT = """#!/bin/sh
for page; do :; done
grep -n '^.BX' "$page" | sed "s|^|lint: $page:|"
"""
PAGE = """.TH perf_event_open 2 2026-01-01 "Toy"
.SH NAME
perf_event_open \\- a toy
.SH DESCRIPTION
One line.
"""
PATCH = """A change.
---
diff --git a/man/man2/perf_event_open.2 b/man/man2/perf_event_open.2
--- a/man/man2/perf_event_open.2
+++ b/man/man2/perf_event_open.2
@@ -3,3 +3,4 @@
 perf_event_open \\- a toy
 .SH DESCRIPTION
 One line.
+Another line.
"""


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb")
class Docs(Toy):
    def setUp(self):
        super().setUp()
        self.kgit("checkout", "-q", "base")
        self.write("tools/docs/sphinx-build-wrapper", WRAPPER)
        self.write("tools/docs/get_abi.py", "")
        self.write("Documentation/perf/index.rst", "An index\n")
        self.write("Documentation/perf/page.rst", "BAD as ever\n")
        self.commit("Documentation: perf: Begin")
        self.kgit("tag", "-f", "base")
        self.kgit("checkout", "-q", "-B", "series")
        (self.root / "man-pages").mkdir()
        (self.root / "man-pages/BASE").write_text("package=toy\n")
        self.package(PATCH)
        self.program("tools/deps", "#!/bin/sh\n")
        for name in ("groff", "mandoc"):
            self.program(f"bin/{name}", LINT)
        path = mock.patch.dict(os.environ, PATH=f"{self.root}/bin:{os.environ['PATH']}")
        path.start()
        self.addCleanup(path.stop)

    def program(self, name, text):
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def package(self, patch):
        (self.root / "man-pages/0001-page.patch").write_text(patch)
        deb = self.root / "deb"
        page = deb / "usr/share/man/man2/perf_event_open.2.gz"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_bytes(gzip.compress(PAGE.encode()))
        (deb / "DEBIAN").mkdir(exist_ok=True)
        (deb / "DEBIAN/control").write_text("Package: toy\nVersion: 1\nArchitecture: all\n"
                                            "Maintainer: Toy <toy@localhost>\nDescription: toy\n")
        status, _, err = run("dpkg-deb", "--root-owner-group", "-b", deb, self.root / "toy.deb")
        self.assertEqual(status, 0, err)
        self.fetch(f"echo {self.root}/toy.deb\n")

    def fetch(self, what):
        self.program("tools/fetch", f"#!/bin/sh\n{what}")

    def go(self, text):
        self.write("Documentation/perf/page.rst", text)
        self.commit("Documentation: perf: Go on")
        return self.check("37-docs")

    def test_good(self):
        status, line = self.go("A line before it\nBAD as ever\n")
        self.assertEqual((status, line), (0, "1 page as HTML, perf_event_open(2) with its patch: no new warning"))

    def test_new_warning(self):
        status, line = self.go("BAD as ever\nBAD, too\n")
        self.assertEqual(status, 1)
        self.assertIn("1 new warning, the first: Documentation/perf/page.rst: WARNING: BAD, too", line)

    def test_twice(self):
        self.assertEqual(self.go("BAD as ever\nBAD as ever\n")[0], 1)

    def test_lost_page(self):
        status, line = self.go("LOST\n")
        self.assertEqual(status, 1)
        self.assertIn("made no perf/page.html", line)

    def test_no_page_to_patch(self):
        self.fetch("echo 'no network' >&2; exit 2\n")
        status, line = self.go("Good\n")
        self.assertEqual(status, 250)
        self.assertIn("no network", line)

    def test_patch_does_not_apply(self):
        self.package(PATCH.replace(" One line.", " Two lines."))
        status, line = self.go("Good\n")
        self.assertEqual(status, 1)
        self.assertIn("does not apply", line)

    def test_bad_macro(self):
        self.package(PATCH.replace("+Another line.", "+.BX another line"))
        status, line = self.go("Good\n")
        self.assertEqual(status, 1)
        self.assertIn("2 new warnings, the first: groff: lint: ", line)


if __name__ == "__main__":
    unittest.main()
