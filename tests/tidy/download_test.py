#!/usr/bin/env python3
"""scripts/download.sh and scripts/peers.sh, with commands in place of registries and a clock that
`sleep` alone moves: nothing here is downloaded, and nobody waits."""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# `timeout` writes down what it allows, and a command that hangs is ended by it.
FAKES = {
    "date": 'cat "$FAKE/now"',
    "sleep": 'echo "$1" >>"$FAKE/sleeps"; echo $(($(cat "$FAKE/now") + $1)) >"$FAKE/now"',
    "timeout": """while [ "${1#-}" != "$1" ]; do shift; done
echo "$1" >>"$FAKE/allowed"
allowed=$1
shift
if [ "$1" = hang ]; then
  echo $(($(cat "$FAKE/now") + allowed)) >"$FAKE/now"
  exit 124
fi
exec "$@\"""",
    "fails": """echo attempt >>"$FAKE/attempts"
[ "$(wc -l <"$FAKE/attempts")" -gt "$1\" ]""",
    # As cargo would, it leaves an archive in its home.
    "cargo": """echo "$@" >>"$FAKE/cargo"
mkdir -p "$CARGO_HOME/registry/cache/index"
cp "$FAKE/archive" "$CARGO_HOME/registry/cache/index/engine-1.2.3.crate\"""",
}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.fake = pathlib.Path(folder.name)
        (self.fake / "bin").mkdir()
        for name, text in FAKES.items():
            program = self.fake / "bin" / name
            program.write_text("#!/bin/bash\n" + text + "\n")
            program.chmod(0o755)
        (self.fake / "now").write_text("1000\n")
        self.environment = {
            "PATH": f"{self.fake}/bin:{os.environ['PATH']}", "FAKE": str(self.fake),
            "HAWTHORN_CACHE": f"{self.fake}/cache", "CARGO_HOME": f"{self.fake}/cargo-home",
            "HOME": str(self.fake), "HAWTHORN_PEERS": f"{self.fake}/peers"}

    def run_bash(self, command, **environment):
        return subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True,
                              env={**self.environment, **environment})

    def lines(self, name):
        path = self.fake / name
        return path.read_text().split("\n")[:-1] if path.exists() else []


class Download(Case):
    def test_what_succeeds_is_run_once(self):
        done = self.run_bash("scripts/download.sh 'a registry' fails 0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.lines("attempts")), 1)
        self.assertEqual(self.lines("sleeps"), [])
        self.assertEqual(done.stderr, "")

    def test_what_fails_is_tried_again_with_growing_pauses(self):
        done = self.run_bash("scripts/download.sh 'a registry' fails 3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.lines("attempts")), 4)
        self.assertEqual(self.lines("sleeps"), ["1", "2", "4"])

    def test_after_the_limit_it_fails_and_names_the_registry(self):
        done = self.run_bash("scripts/download.sh 'a registry' fails 1000000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a registry gave nothing within 300 seconds", done.stderr)
        self.assertIn("fails 1000000", done.stderr)
        waited = sum(map(int, self.lines("sleeps")))
        self.assertLessEqual(waited, 300)
        self.assertGreater(waited, 250)
        # Each attempt gets what is left.
        allowed = list(map(int, self.lines("allowed")))
        self.assertEqual(allowed[:3], [300, 299, 297])
        self.assertEqual(allowed, sorted(allowed, reverse=True))

    def test_the_limit_can_be_set(self):
        done = self.run_bash("scripts/download.sh r fails 1000000", HAWTHORN_DOWNLOAD_SECONDS="10")
        self.assertIn("within 10 seconds", done.stderr)
        self.assertEqual(self.lines("sleeps"), ["1", "2", "4"])
        for wrong in ("0", "soon", "-5", ""):
            done = self.run_bash("scripts/download.sh r fails 0", HAWTHORN_DOWNLOAD_SECONDS=wrong)
            self.assertEqual(done.returncode, 0 if wrong == "" else 2, wrong)

    def test_a_command_that_hangs_is_ended(self):
        done = self.run_bash("scripts/download.sh 'a registry' hang")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.lines("allowed"), ["300"])
        self.assertIn("a registry gave nothing", done.stderr)

    def test_a_command_that_is_not_there_fails_at_once(self):
        done = self.run_bash("scripts/download.sh 'a registry' no-such-command")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(self.lines("sleeps"), [])
        self.assertIn("no-such-command cannot be run", done.stderr)

    def make_crate(self):
        (self.fake / "engine-1.2.3").mkdir()
        (self.fake / "engine-1.2.3" / "engine.c").write_text("int engine;\n")
        subprocess.run(["tar", "-czf", self.fake / "archive", "-C", self.fake, "engine-1.2.3"],
                       check=True)
        return hashlib.sha256((self.fake / "archive").read_bytes()).hexdigest()

    def fetch(self, checksum):
        return self.run_bash(f". scripts/download.sh; fetch_crate engine 1.2.3 {checksum} "
                             '"$FAKE/unpacked"')

    def test_a_crate_is_downloaded_once_and_unpacked_from_the_cache(self):
        checksum = self.make_crate()
        for _ in range(2):
            done = self.fetch(checksum)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.fake / "unpacked" / "engine.c").read_text(), "int engine;\n")
        self.assertEqual(len(self.lines("cargo")), 1)

    def test_a_crate_with_another_checksum_is_refused(self):
        self.make_crate()
        done = self.fetch("0" * 64)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("engine 1.2.3 of crates.io has another checksum", done.stderr)
        self.assertFalse((self.fake / "unpacked").exists())

    def test_a_spoiled_crate_in_the_cache_is_downloaded_again(self):
        checksum = self.make_crate()
        self.fetch(checksum)
        (self.fake / "cache" / "crates" / "engine-1.2.3.crate").write_bytes(b"spoiled")
        done = self.fetch(checksum)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.lines("cargo")), 2)


class Peers(Case):
    def assertions(self, source, *flags):
        (self.fake / "part.c").write_text(source)
        for command in (["cc", *flags, "-c", "part.c", "-o", "part.o"],
                        ["ar", "rcs", "libpart.a", "part.o"],
                        ["cc", *flags, "-shared", "-fPIC", "-s", "part.c", "-o", "libpart.so"]):
            subprocess.run(command, cwd=self.fake, check=True)
        found = [self.run_bash(f'scripts/peers.sh --assertions "$FAKE/libpart.{kind}"')
                 for kind in ("a", "so")]
        return [done.stdout.strip() or done.stderr for done in found]

    def test_assertions_are_found_in_libraries(self):
        source = "#include <assert.h>\n#include <stdio.h>\n" \
                 "int part(int i) { assert(i); return puts(\"\") + i; }\n"
        self.assertEqual(self.assertions(source), ["on", "on"])
        self.assertEqual(self.assertions(source, "-DNDEBUG"), ["off", "off"])
        # As LMDB and libmdbx say it, whose code has functions of their own for that.
        own = '#include <stdio.h>\nint part(void) { return puts("%s"); }\n'
        self.assertEqual(self.assertions(own % "%s:%d: Assertion '%.200s' failed in %.40s()"),
                         ["on", "on"])
        self.assertEqual(self.assertions(own % " CHECKING=2"), ["on", "on"])
        self.assertEqual(self.assertions(own % " CHECKING=0"), ["off", "off"])

    def test_what_is_no_library_is_refused(self):
        done = self.run_bash("scripts/peers.sh --assertions Makefile")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Makefile is no library", done.stderr)

    def test_an_unknown_peer_is_refused_with_those_there_are(self):
        done = self.run_bash("scripts/peers.sh lmdb rocksdb-1.0")
        self.assertEqual(done.returncode, 2)
        self.assertIn('there is no peer "rocksdb-1.0"; there are: lmdb-', done.stderr)
        self.assertFalse((self.fake / "peers").exists())

    def test_a_registry_that_is_down_is_named_and_nothing_is_installed(self):
        (self.fake / "bin" / "cargo").write_text("#!/bin/bash\nexit 101\n")
        done = self.run_bash("scripts/peers.sh lmdb", HAWTHORN_DOWNLOAD_SECONDS="5")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("crates.io gave nothing within 5 seconds", done.stderr)
        self.assertEqual(list((self.fake / "peers").glob("*")), [])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
