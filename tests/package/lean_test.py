#!/usr/bin/env python3
"""A lean build: what is installed is built by one target, and that needs nothing of the tests.

Run by ctest, which says where a finished build is. A tree of its own, next to that build so that
the compiler cache has its objects, is configured as on a machine without GoogleTest; library and
command are built and installed.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Library and command compile in batches; the whole tree has ten times as many steps.
STEPS_MAX = 60
arguments = None


def run(*command, **options):
    """Runs a command; its output is shown when it fails."""
    done = subprocess.run([str(part) for part in command], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Lean(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="lean-", dir=arguments.build.parent)
        cls.addClassCleanup(folder.cleanup)
        cls.tree = pathlib.Path(folder.name)
        cls.said = run("cmake", "--preset", "release", "-B", cls.tree,
                       "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", cwd=SOURCE)

    def commands(self, target):
        return run("ninja", "-C", self.tree, "-t", "commands", target)

    def test_tests_are_left_out_and_that_is_said(self):
        self.assertIn("Tests: left out", self.said)
        self.assertNotIn("gtest", self.commands("all"))

    def test_tests_that_were_asked_for_are_not_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(AssertionError, "GTest"):
                run("cmake", "--preset", "release", "-B", folder, "-DHAWTHORN_BUILD_TESTS=ON",
                    "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", cwd=SOURCE)

    def test_it_has_few_steps(self):
        self.assertLess(len(self.commands("hawthorn_installed").splitlines()), STEPS_MAX)

    def test_it_is_built_and_installed(self):
        run("cmake", "--build", self.tree, "--target", "hawthorn_installed")
        stage = self.tree / "stage"
        run("cmake", "--install", self.tree, "--prefix", "/usr/local",
            env=dict(os.environ, DESTDIR=str(stage)))
        prefix = stage / "usr/local"
        version = run(prefix / "bin/hawthorn", "--version")
        self.assertIn(arguments.version, version)
        names = {str(path.relative_to(prefix)) for path in prefix.rglob("*")}
        for name in ("include/hawthorn/db.h", "include/hawthorn/c/db.h",
                     "share/man/man1/hawthorn.1", "share/bash-completion/completions/hawthorn",
                     "share/doc/hawthorn/hawthorn.cdx.json"):
            self.assertIn(name, names)
        for pattern in ("**/libhawthorn.so", "**/libhawthorn.a", "**/pkgconfig/hawthorn.pc",
                        "**/cmake/hawthorn/hawthornConfig.cmake"):
            self.assertTrue(list(prefix.glob(pattern)), pattern)
        self.assertNotIn("bin/hawthorn-bench", names)

    def test_programs_and_libraries_are_installed_by_one_function(self):
        # It has the target `hawthorn_installed` build them; what need not be there is optional.
        rules = {}
        for room in ("bench", "cmake", "examples", "shims", "src", "tools"):
            for path in (SOURCE / room).rglob("*"):
                if path.name != "CMakeLists.txt" and path.suffix != ".cmake":
                    continue
                for rule in re.findall(r"\binstall\(TARGETS[^)]*\)", path.read_text()):
                    rules[rule] = str(path.relative_to(SOURCE))
        self.assertEqual({path for rule, path in rules.items() if "OPTIONAL" not in rule},
                         {"cmake/HawthornInstalled.cmake"})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    arguments, rest = parser.parse_known_args()
    sys.exit(unittest.main(argv=[sys.argv[0]] + rest))
