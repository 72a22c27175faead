# SPDX-License-Identifier: GPL-2.0
"""ci/10-repo sees what must not be in the repository."""
import shutil
import unittest

from toy import Toy, run

HEAD = "#!/usr/bin/env python3\n# SPDX-License-Identifier: GPL-2.0\n"
README = """# Toy

## Kernels

| Kernel | `make rebase` | As is | Merged | Need work |
|---|---|---|---|---|
| 9.1 | `BASE=x` | 1 | 0 | 1: 0002 (kernel/events/core.c) |

## Layout

| | |
|---|---|
| `README.md`, `BASE`, `Makefile`, `.gitignore` | files |
| `series`, `patches/` | `nosuch` |
| `tools/deps` | tools |
| `build/` | not in git |

"""
GOOD = HEAD + '"""A tool."""\nimport sys\nif "--help" in sys.argv:\n    print("help")\n'


@unittest.skipUnless(shutil.which("shellcheck") and shutil.which("codespell"), "no shellcheck or no codespell")
class Repo(Toy):
    def setUp(self):
        super().setUp()
        # Only the tool that the check needs: the others have their turn in ci/10-repo.
        for p in (self.root / "tools").iterdir():
            if p.name not in ("deps", "lib.sh"):
                p.unlink()
        (self.root / ".gitignore").write_text("build/\n")
        self.put("README.md", README, 0o644)
        run("git", "init", "-q", self.root)

    def put(self, name, text, mode=0o755):
        path = self.root / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)

    def go(self):
        run("git", "-C", self.root, "add", "-A")
        return self.check("10-repo")

    def bad(self, why):
        status, line = self.go()
        self.assertEqual(status, 1, line)
        self.assertRegex(line, why)

    def test_good(self):
        self.put("tools/x", GOOD)
        status, line = self.go()
        self.assertEqual(status, 0, line)

    def test_no_help(self):
        self.put("tools/x", HEAD + "pass\n")
        self.bad("tools/x: --help")

    def test_too_long(self):
        self.put("tools/x", GOOD + "# more\n" * 300)
        self.bad("tools/x: 30. lines")

    def test_no_license(self):
        self.put("tools/x", GOOD.replace("SPDX", "XPDS"))
        self.bad("tools/x: no line")

    def test_syntax(self):
        self.put("tools/x", GOOD + "def\n")
        self.bad("tools/x:")

    def test_shell(self):
        self.put("tools/x", "#!/bin/bash\n# SPDX-License-Identifier: GPL-2.0\nset -euo pipefail\n"
                            "echo help\nls $1\n")
        self.bad("tools/x: shellcheck")

    def test_shell_without_pipefail(self):
        self.put("tools/x", "#!/bin/bash\n# SPDX-License-Identifier: GPL-2.0\necho help\n")
        self.bad("pipefail")

    def test_machine_path(self):
        self.put("notes", "see /" + "root" + "/.profile\n")
        self.bad("notes:1: names a machine path")

    def test_mirror(self):
        self.put("notes", "deb http://deb." + "example.org/ x main\n")
        self.bad("notes:1: names a mirror")

    def test_binary(self):
        self.put("blob", b"\x7fELF\0\1")
        self.bad("blob: is binary")

    def test_trailer(self):
        self.edit("patches/0001-perf-core-Change-one.patch", "\n---\n", "\nSigned-off-" + "by: A <a@b>\n---\n")
        self.bad("has a trailer")

    def test_layout(self):
        self.put("notes", "x\n")
        self.bad("'Layout' has no notes$")
        (self.root / "notes").unlink()
        self.edit("README.md", "`tools/deps`", "`tools/deps`, `nosuch/`")
        self.bad("'Layout' names nosuch,")
        (self.root / "README.md").unlink()
        self.bad("no README.md")

    def test_kernels(self):
        self.edit("README.md", "| 1 | 0 | 1:", "| 0 (1 more there already) | 0 | 1:")
        status, line = self.go()
        self.assertEqual(status, 0, line)
        self.edit("README.md", "| 0 | 1:", "| 3 | 1:")
        self.bad(r"9\.1: 0 \+ 1 \+ 3 \+ 1 patches, and series has 2")
        self.edit("README.md", "## Kernels", "## Others")
        self.bad("no table below 'Kernels'")

    def test_spelling(self):
        self.put("notes", "we recie" + "ve it\n")
        self.bad("receive")


if __name__ == "__main__":
    unittest.main()
