#!/usr/bin/env python3
"""Whether the files of libraries show how they were built: assertions of each kind, on and off."""

import argparse
import os
import subprocess
import sys
import tempfile
import unittest

OPTIONS = argparse.Namespace()
ASSERTING = """
#include <assert.h>
int checked(int value) { assert(value > 0); return value; }
"""
# A library whose own assertions call nothing of the C library's.
OWN = """
#include <stdio.h>
#include <stdlib.h>
#ifdef NDEBUG
#define CHECK(condition) ((void)0)
#else
#define CHECK(condition) ((condition) ? (void)0 : fail(#condition))
static void fail(const char* text) {
  fprintf(stderr, "%s:%d: Assertion '%s' failed\\n", __FILE__, __LINE__, text);
  abort();
}
#endif
int checked(int value) { CHECK(value > 0); return value; }
"""


class Facts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_command(self, *words):
        subprocess.run(words, check=True, timeout=60, cwd=self.folder)

    def facts(self, library):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "library_facts.cmake")
        done = subprocess.run([OPTIONS.cmake, f"-DCMAKE_NM={OPTIONS.nm}", f"-DLIBRARY={library}",
                               "-P", script], check=True, timeout=60, cwd=self.folder,
                              capture_output=True, text=True)
        return dict(line.split("=", 1) for line in done.stderr.splitlines())

    def build(self, source, *flags):
        """The same source as a shared and as a static library."""
        with open(os.path.join(self.folder, "one.c"), "w", encoding="utf-8") as file:
            file.write(source)
        self.run_command(OPTIONS.cc, "-O2", "-fPIC", *flags, "-c", "one.c", "-o", "one.o")
        self.run_command(OPTIONS.cc, "-shared", "one.o", "-o", "libone.so")
        self.run_command(OPTIONS.ar, "rcs", "libone.a", "one.o")
        return [os.path.join(self.folder, name) for name in ("libone.so", "libone.a")]

    def test_assertions_are_seen_whoever_reports_them(self):
        for source in (ASSERTING, OWN):
            for library in self.build(source):
                self.assertEqual(self.facts(library)["assertions"], "true", library)

    def test_a_release_build_has_none(self):
        for source in (ASSERTING, OWN):
            for library in self.build(source, "-DNDEBUG"):
                self.assertEqual(self.facts(library)["assertions"], "false", library)

    def test_the_compiler_is_named(self):
        for library in self.build(ASSERTING):
            self.assertRegex(self.facts(library)["compiler"], r"^GCC: |clang version ")

    def test_symbols_may_be_stripped(self):
        library = self.build(ASSERTING)[0]
        self.run_command(OPTIONS.strip, library)
        self.assertEqual(self.facts(library)["assertions"], "true")

    def test_of_what_is_no_library_nothing_is_known(self):
        library = os.path.join(self.folder, "libtext.so")
        with open(library, "w", encoding="utf-8") as file:
            file.write("INPUT(-lother)\n")
        self.assertEqual(self.facts(library)["assertions"], "std::nullopt")
        self.assertEqual(self.facts(library + ".gone")["assertions"], "std::nullopt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("cmake", "cc", "nm", "ar", "strip"):
        parser.add_argument("--" + name, default=name)
    OPTIONS, rest = parser.parse_known_args()
    sys.exit(unittest.main(argv=sys.argv[:1] + rest))
