#!/usr/bin/env python3
"""The list of tests/attacks/breaks.py fits the code: what it breaks stands where it says, once, and
the tests that have to notice exist. scripts/break_rules.py shows that they do notice. And what
rows of the table say to be so by construction, where the text of the code tells."""

import fnmatch
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "attacks"))

from breaks import BREAKS, Break  # noqa: E402
from source_tree import REPOSITORY, PlantedTree, cpp_files_of  # noqa: E402

TEST = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)


def tests_of(root):
    """All tests of the tree, as Suite.Test."""
    names = set()
    for path, _ in cpp_files_of(root):
        names |= {f"{suite}.{name}" for suite, name in TEST.findall(path.read_text("utf-8"))}
    return names


def without_instance(pattern):
    """`Kinds/Settle.Name/inline` names Settle.Name."""
    suite, _, name = pattern.partition(".")
    return suite.rpartition("/")[2] + ("." + name.split("/")[0] if name else "")


def problems(root, breaks, rows, tests):
    for item in breaks:
        path = pathlib.Path(root) / item.file
        found = path.read_text("utf-8").count(item.old) if path.is_file() else 0
        if found != 1:
            yield f"row {item.row}: {item.file} has {found} times: {item.old}"
        if item.old == item.new:
            yield f"row {item.row}: {item.what}: nothing is broken"
        if item.row not in rows:
            yield f"row {item.row} is none of docs/attacks.md"
        for pattern in map(without_instance, item.tests.split(":")):
            if not fnmatch.filter(tests, pattern):
                yield f"row {item.row}: no test is called {pattern}"


class BreaksFit(unittest.TestCase):
    def test_the_list_fits_the_code(self):
        table = (REPOSITORY / "docs" / "attacks.md").read_text("utf-8")
        rows = {int(row) for row in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
        self.assertEqual([], [item.what for item in BREAKS
                              if f"| {item.row} | {item.what} |" not in table],
                         "the second table of docs/attacks.md does not have these")
        self.assertEqual([], list(problems(REPOSITORY, BREAKS, rows, tests_of(REPOSITORY))))


def writes_of_io_uring(root):
    """Requests that the kernel may carry out behind the end of the process: attack 39."""
    asked = re.compile(r"io_uring_prep_(?!readv?\b)\w+|IORING_OP_(?!READV?\b)\w+")
    for path, relative in cpp_files_of(root):
        if relative.parts[0] == "src":
            for found in asked.finditer(path.read_text("utf-8")):
                yield f"{relative}: {found.group()}"


class Constructions(unittest.TestCase):
    def test_io_uring_only_reads(self):
        self.assertEqual([], list(writes_of_io_uring(REPOSITORY)))


class WhatIsFound(PlantedTree):
    def test_requests_that_write(self):
        self.plant("src/a.cc", "io_uring_prep_read(a); io_uring_prep_readv(a);\n")
        self.assertEqual([], list(writes_of_io_uring(self.root)))
        self.plant("src/b.cc", "io_uring_prep_write_fixed(a); a = IORING_OP_FSYNC;\n")
        self.assertEqual(["src/b.cc: io_uring_prep_write_fixed", "src/b.cc: IORING_OP_FSYNC"],
                         list(writes_of_io_uring(self.root)))

    def test_each_kind_of_problem(self):
        self.plant("src/a.cc", "int a = 1;\nint b = 1;\n")
        self.plant("src/a_test.cc", "TEST(A, works) {}\n")
        tests = tests_of(self.root)
        self.assertEqual({"A.works"}, tests)
        good = Break(1, "a is two", "src/a.cc", "a = 1", "a = 2", "a_test", "A.*")
        bad = (Break(1, "twice", "src/a.cc", "= 1", "= 2", "a_test", "A.works"),
               Break(1, "gone", "src/a.cc", "c = 1", "c = 2", "a_test", "A.works"),
               Break(1, "no file", "src/b.cc", "a = 1", "a = 2", "a_test", "A.works"),
               Break(1, "the same", "src/a.cc", "a = 1", "a = 1", "a_test", "A.works"),
               Break(2, "no row", "src/a.cc", "a = 1", "a = 2", "a_test", "A.works"),
               Break(1, "no test", "src/a.cc", "a = 1", "a = 2", "a_test", "A.works:B.works"))
        self.assertEqual([], list(problems(self.root, [good], {1}, tests)))
        for item in bad:
            self.assertEqual(1, len(list(problems(self.root, [item], {1}, tests))), item.what)


if __name__ == "__main__":
    unittest.main()
