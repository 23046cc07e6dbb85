#!/usr/bin/env python3
"""The list of tests/waits.txt fits the tree, as far as that can be told without a build: its
programs are made where it says, and each of its patterns matches a test of that folder."""

import fnmatch
import pathlib
import re
import unittest

from source_tree import CPP_SUFFIXES, REPOSITORY, PlantedTree

TEST = re.compile(r"^TEST(_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
INSTANCE = re.compile(r"^INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+),", re.MULTILINE)
PROGRAM = re.compile(r"\bhawthorn_test\(\s*([\w${}]+)")
LAYER = re.compile(r"\bhawthorn_layer\(\s*(\w+)")
OTHER = re.compile(r"\b(?:hawthorn_python_test|hawthorn_add_test|add_test)"
                   r"\(\s*(?:NAME\s+)?([\w.]+)")


def tests_of(folder):
    """Names of all tests below a folder, as GoogleTest filters see them; of those with parameters
    one for each place that instantiates them."""
    plain, suites, instances = set(), {}, {}
    for path in sorted(folder.rglob("*")):
        if path.suffix not in CPP_SUFFIXES:
            continue
        text = path.read_text("utf-8")
        for kind, suite, name in TEST.findall(text):
            if kind == "_P":
                suites.setdefault(suite, set()).add(name)
            else:
                plain.add(f"{suite}.{name}")
        for instance, suite in INSTANCE.findall(text):
            instances.setdefault(suite, set()).add(instance)
    for suite, names in suites.items():
        for instance in instances.get(suite, ()):
            plain |= {f"{instance}/{suite}.{name}/0" for name in names}
    return plain


def makes_program(folder, program):
    """Whether the folder's CMakeLists.txt does. A variable in a name is one character or more."""
    lists = folder / "CMakeLists.txt"
    if not lists.is_file():
        return False
    text = lists.read_text("utf-8")
    names = [re.sub(r"\$\{\w+\}", "?*", name) for name in PROGRAM.findall(text)]
    for layer in LAYER.findall(text):
        names += [f"{layer}_test"] if any(folder.glob("*_test.cc")) else []
        names += ([f"{layer}_concurrency_test"]
                  if any(folder.glob("*_concurrency_test.cc")) else [])
    return any(fnmatch.fnmatchcase(program, name) for name in names)


def other_tests(root):
    """Names of the tests that are no programs of GoogleTest."""
    names = set()
    for path in sorted(pathlib.Path(root).rglob("CMakeLists.txt")):
        if path.relative_to(root).parts[0] != "build":
            names |= set(OTHER.findall(path.read_text("utf-8")))
    return names


def problems(root, text):
    root = pathlib.Path(root)
    others = other_tests(root)
    tests = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        program, _, patterns = line.partition(" ")
        if program == "ctest":
            if patterns not in others:
                yield f"{line}: there is no such test"
            continue
        folder = (root / program).parent
        if not makes_program(folder, pathlib.Path(program).name):
            yield f"{line}: no CMakeLists.txt there makes the program"
            continue
        known = tests.setdefault(folder, tests_of(folder))
        for pattern in re.split("[:-]", patterns):
            if pattern and not any(fnmatch.fnmatchcase(test, pattern) for test in known):
                yield f"{line}: {pattern} matches no test"


class Waits(PlantedTree):
    def test_the_list_fits_the_tree(self):
        text = (REPOSITORY / "tests" / "waits.txt").read_text("utf-8")
        self.assertEqual([], list(problems(REPOSITORY, text)))

    def test_each_kind_of_problem(self):
        self.plant("src/a/CMakeLists.txt", "hawthorn_layer(a SMALL b)\n")
        self.plant("src/a/a_test.cc", """\
            TEST(A, works) {}
            TEST_F(Fixture, works) {}
            TEST_P(Kinds, works) {}
            INSTANTIATE_TEST_SUITE_P(All, Kinds, ::testing::Bool());
            TEST_P(NoKinds, works) {}
            """)
        self.plant("shims/b/CMakeLists.txt", """\
            hawthorn_test(b${api}_test SOURCES ${tests})
            hawthorn_python_test(b.script SCRIPT b_test.py)
            """)
        self.plant("shims/b/src/b_test.cc", "TEST(B, works) {}\n")
        good = ("src/a/a_test *", "src/a/a_test A.works:Fixture.*:*Kinds.*:A*-*Kinds*",
                "shims/b/b1_test B.*", "ctest b.script", "# a comment", "")
        self.assertEqual([], list(problems(self.root, "\n".join(good))))
        bad = ("src/a/a_concurrency_test *", "src/b/a_test *", "shims/b/c_test *",
               "src/a/a_test A.*:Gone.*", "src/a/a_test Kinds.*", "src/a/a_test *NoKinds.*",
               "src/a/a_test B.*", "shims/b/b_test B.*", "shims/b/b1_test A.*", "ctest b.gone")
        for line in bad:
            self.assertEqual(1, len(list(problems(self.root, line))), line)


if __name__ == "__main__":
    unittest.main()
