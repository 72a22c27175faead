# SPDX-License-Identifier: GPL-2.0
"""tools/report makes JUnit and KCIDB of what tools/check found; tools/check --shard."""
import json
import re
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from toy import ROOT, run

KTAP = """TAP version 13
1..3
ok 1 one.two
not ok 2 spaced name / odd
ok 3 three # SKIP no such thing
"""
# What the schema 5.3 of kcidb-io requires of each kind of object, and what it allows.
REQUIRED = {"checkouts": {"id", "origin"}, "builds": {"checkout_id", "id", "origin"},
            "tests": {"build_id", "id", "origin"}}
ALLOWED = {"checkouts": {"id", "origin", "tree_name", "git_repository_url", "git_commit_hash", "git_commit_name",
                         "patchset_files", "patchset_hash", "message_id", "comment", "start_time", "log_url",
                         "log_excerpt", "valid", "misc"},
           "builds": {"checkout_id", "id", "origin", "comment", "start_time", "duration", "architecture", "command",
                      "compiler", "input_files", "output_files", "config_name", "config_url", "log_url", "log_excerpt",
                      "status", "misc"},
           "tests": {"build_id", "id", "origin", "environment", "path", "comment", "log_url", "log_excerpt", "status",
                     "number", "start_time", "duration", "input_files", "output_files", "misc"}}


class Export(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.dir = Path(tmp.name)
        self.add("10-a", "echo all well")
        self.add("20-b", f"cat <<'E'\n{KTAP}E\nprintf 'a \\001 b\\n'; echo broken; exit 1")
        self.add("62-arm64", "echo 'skipped: no compiler'; exit 250")

    def add(self, name, body, head=""):
        path = self.dir / name
        path.write_text(f"#!/bin/sh\n{head}\n{body}\n")
        path.chmod(0o755)

    def check(self, *args):
        return run(ROOT / "tools/check", "--dir", self.dir, "--logs", self.dir / "logs", *args)

    def report(self):
        self.assertEqual(self.check()[0], 1)
        out = [self.dir / "junit.xml", self.dir / "kcidb.json"]
        status, text, err = run(ROOT / "tools/report", "--logs", self.dir / "logs", "--junit", out[0], "--kcidb", out[1])
        self.assertEqual(status, 0, err)
        self.assertEqual(text.strip(), "report: 3 checks, 3 cases below them, 1 checks failed")
        return ElementTree.parse(out[0]).getroot(), json.loads(out[1].read_text())

    def test_junit(self):
        top, _ = self.report()
        self.assertEqual(top.tag, "testsuites")
        numbers = [[s.get(k) for k in ("name", "tests", "failures", "skipped")] for s in top]
        self.assertEqual(numbers, [["10-a", "1", "0", "0"], ["20-b", "4", "2", "1"], ["62-arm64", "1", "0", "1"]])
        bad = top.findall(".//failure")
        self.assertEqual([f.get("message") for f in bad], ["broken", "failed"])
        self.assertIn("not ok 2 spaced", bad[0].text)
        self.assertEqual(top.findall(".//skipped")[1].get("message"), "skipped: no compiler")

    def test_kcidb(self):
        _, data = self.report()
        self.assertEqual(data["version"], {"major": 5, "minor": 3})
        for kind, required in REQUIRED.items():
            self.assertTrue(data[kind])
            for o in data[kind]:
                self.assertLessEqual(required, set(o), o)
                self.assertLessEqual(set(o), ALLOWED[kind], o)
                self.assertRegex(o["origin"], r"^[a-z0-9_]+$")
                for k in o:
                    if k == "id" or k.endswith("_id"):
                        self.assertRegex(o[k], r"^[a-z0-9_]+:[^\0]+$")
            ids = [o["id"] for o in data[kind]]
            self.assertEqual(len(ids), len(set(ids)))
        builds = {b["id"] for b in data["builds"]}
        self.assertEqual({b["checkout_id"] for b in data["builds"]}, {data["checkouts"][0]["id"]})
        self.assertEqual({b["architecture"] for b in data["builds"]}, {"x86_64", "arm64"})
        self.assertRegex(data["checkouts"][0]["patchset_hash"], r"^[0-9a-f]{64}$")
        for t in data["tests"]:
            self.assertIn(t["build_id"], builds)
            self.assertRegex(t["path"], r"^[a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*$")
            self.assertRegex(t["start_time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$")
            self.assertFalse(re.search("\0", t.get("log_excerpt", "")))
        self.assertEqual([t["status"] for t in data["tests"]], ["PASS", "FAIL", "PASS", "FAIL", "SKIP", "SKIP"])
        self.assertEqual(data["tests"][2]["path"], "persistent_perf.20-b.one.two")

    def test_old_log(self):
        self.check()
        (self.dir / "logs/check-20-b.log").write_text(KTAP)
        results = json.loads((self.dir / "logs/results.json").read_text())
        for r in results:
            r["start"] += 3600
        (self.dir / "logs/results.json").write_text(json.dumps(results))
        self.assertIn(" 0 cases", run(ROOT / "tools/report", "--logs", self.dir / "logs")[1])

    def test_bad_use(self):
        for args in (["--logs", self.dir], ["--origin", "A B"]):
            status, _, err = run(ROOT / "tools/report", *args)
            self.assertEqual((status, len(err.splitlines())), (2, 1), err)

    def test_shards(self):
        self.add("15-tree", "echo tree", "# in every shard")
        self.add("50-long", "echo long", "# time limit: 60 minutes")
        self.add("51-named", "echo named", "# only by name")
        seen = []
        for i in (1, 2, 3):
            status, out, err = self.check("--list", "--shard", f"{i}/3")
            self.assertEqual(status, 0, err)
            names = [line.split()[0] for line in out.splitlines()]
            self.assertIn("15-tree", names)
            seen += [n for n in names if n != "15-tree"]
            self.assertEqual(self.check("--list", "--shard", f"{i}/3")[1], out)
        self.assertEqual(sorted(seen), ["10-a", "20-b", "50-long", "62-arm64"])
        self.assertEqual(self.check("--list", "--shard", "1/3", "a", "b")[1].split()[0], "10-a")

    def test_more_shards_than_checks(self):
        names = [self.check("--list", "--shard", f"{i}/9")[1].split()[:1] for i in range(1, 10)]
        self.assertEqual(sum(names, []).count("20-b"), 1)
        self.assertEqual(self.check("--shard", "9/9")[0], 0)

    def test_bad_shard(self):
        for value in ("0/3", "4/3", "1", "a/b", "1/0"):
            self.assertEqual(self.check("--shard", value)[0], 2, value)


if __name__ == "__main__":
    unittest.main()
