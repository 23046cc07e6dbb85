#!/usr/bin/env python3
"""Style: what clang-format and the compilers do not settle.

Lines of code end by column 100 and have no tabs; nothing has trailing spaces, and every file ends
with one newline; headers begin with `#pragma once` and say in a comment what they are; no file of
code has more than 700 lines; no notes about unfinished work; no lines that only separate; links of
documents lead to files that exist.
"""

import re
import sys
import unittest

from source_tree import CPP_SUFFIXES, REPOSITORY, PlantedTree, files_of

COLUMNS_MAX = 100
LINES_MAX = 700
CODE_SUFFIXES = CPP_SUFFIXES + (".py", ".sh", ".cmake")
# Columns and tabs of these are settled by formatters of their own.
OTHER_SUFFIXES = (".java", ".go", ".rs", ".js", ".ts")
TEXT_SUFFIXES = CODE_SUFFIXES + OTHER_SUFFIXES + (".md", ".json", ".in", ".txt")
TEXT_NAMES = ("Makefile", "run", ".gitignore", ".clang-format")

UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")) + r")\b")
SEPARATOR = re.compile(r"^\s*(//|#)\s*[-=*/#~_]{8,}\s*$")
LINK = re.compile(r"\]\(([^)#\s]+)")
SNAKE_CASE = re.compile(r"^[a-z0-9_]+\.(h|cc|c|py)$")


def problems_of_lines(relative, lines, is_code):
    for number, line in enumerate(lines, 1):
        where = f"{relative}:{number}:"
        if is_code and len(line) > COLUMNS_MAX:
            yield f"{where} has {len(line)} columns, {COLUMNS_MAX} are allowed"
        if is_code and "\t" in line:
            yield f"{where} has a tab"
        if line != line.rstrip():
            yield f"{where} has spaces at its end"
        if UNFINISHED.search(line):
            yield f"{where} notes unfinished work: finish it, or describe the limit"
        if is_code and SEPARATOR.match(line):
            yield f"{where} only separates"


def problems_of_header(relative, lines):
    filled = [line for line in lines if line.strip()]
    if "#pragma once" not in filled[:1]:
        yield f"{relative}:1: a header begins with #pragma once"
    elif len(filled) < 2 or not filled[1].startswith("//"):
        yield f"{relative}:2: a header says in a comment what it is"


def problems_of_links(path, relative, lines):
    for number, line in enumerate(lines, 1):
        for target in LINK.findall(line):
            if "://" not in target and not (path.parent / target).exists():
                yield f"{relative}:{number}: leads to {target}, which does not exist"


def problems_of_file(path, relative):
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return [f"{relative}: is not UTF-8"]
    is_code = relative.suffix in CODE_SUFFIXES or relative.name == "CMakeLists.txt"
    lines = text.split("\n")
    problems = list(problems_of_lines(relative, lines, is_code))
    if not text.endswith("\n") or text.endswith("\n\n"):
        problems.append(f"{relative}: ends with one newline")
    has_limit = is_code or relative.suffix in OTHER_SUFFIXES
    if has_limit and len(lines) - 1 > LINES_MAX:
        problems.append(f"{relative}: has {len(lines) - 1} lines, {LINES_MAX} are allowed")
    if relative.suffix == ".h":
        problems += problems_of_header(relative, lines)
    if relative.suffix == ".md":
        problems += problems_of_links(path, relative, lines)
    if relative.suffix in CPP_SUFFIXES + (".py",) and not SNAKE_CASE.match(relative.name):
        problems.append(f"{relative}: is not in snake_case")
    return problems


def check(root):
    problems = []
    for path, relative in files_of(root):
        if relative.suffix in TEXT_SUFFIXES or relative.name in TEXT_NAMES:
            problems += problems_of_file(path, relative)
    return problems


class Tree(unittest.TestCase):
    def test_every_file_keeps_the_style(self):
        problems = check(REPOSITORY)
        self.assertFalse(problems, "\n" + "\n".join(problems))


class Check(PlantedTree):
    """The check itself: silent on a clean tree, loud on each planted violation."""

    CLEAN = "#pragma once\n// A thing.\n\nint thing();\n"

    def assert_found(self, name, text, part):
        self.plant(name, text)
        problems = check(self.root)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(name, problems[0])
        self.assertIn(part, problems[0])

    def test_a_clean_tree_passes(self):
        self.plant("src/base/a.h", self.CLEAN)
        self.plant("src/base/a.cc", "int thing() { return 1; }\n" + "\n" * 500 + "int b;\n")
        self.plant("src/base/wide.cc", "// " + "é" * (COLUMNS_MAX - 3) + "\n")
        self.plant("bindings/go/a.go", "func a() {\n\treturn // " + "x" * COLUMNS_MAX + "\n}\n")
        self.plant("README.md", "# A\n\n" + "| wide table " * 20 + "|\n")
        self.plant("Makefile", "all:\n\ttrue\n")
        self.assertEqual(check(self.root), [])

    def test_a_long_line(self):
        self.assert_found("src/base/a.cc", "// " + "x" * COLUMNS_MAX + "\n", "columns")

    def test_a_tab(self):
        self.assert_found("src/base/a.cc", "int\ta;\n", "tab")

    def test_trailing_spaces(self):
        self.assert_found("docs/a.md", "A line. \n", "spaces at its end")

    def test_line_ends_of_windows(self):
        self.assert_found("src/base/a.cc", "int a;\r\n", "spaces at its end")

    def test_no_pragma_once(self):
        self.assert_found("src/base/a.h", "// A thing.\nint thing();\n", "#pragma once")

    def test_no_head(self):
        self.assert_found("src/base/a.h", "#pragma once\n\n#include <map>\n", "says in a comment")

    def test_a_large_file(self):
        for suffix in (".cc", ".py", ".java", ".go", ".rs", ".js", ".ts"):
            with self.subTest(suffix=suffix):
                name = "bindings/a" + suffix
                self.assert_found(name, "int a;\n" * (LINES_MAX + 1), "lines")
                (self.root / name).unlink()

    def test_unfinished_work(self):
        for word in ("TO" + "DO", "FIX" + "ME"):
            with self.subTest(word=word):
                self.assert_found("src/base/a.cc", f"int a;  // {word}: later\n", "unfinished")

    def test_a_separator(self):
        self.assert_found("src/base/a.cc", "// " + "-" * 40 + "\nint a;\n", "separates")

    def test_no_newline_at_the_end(self):
        self.assert_found("src/base/a.cc", "int a;", "newline")

    def test_a_link_to_nowhere(self):
        text = "[a](a.md#part), [code](../docs/a.md), [out](https://example.org)\n"
        self.plant("docs/b.md", text)
        self.assert_found("docs/a.md", "[b](b.md) and [c](c.md)\n", "leads to c.md")

    def test_a_name_in_camel_case(self):
        self.assert_found("src/base/MyFile.cc", "int a;\n", "snake_case")

    def test_a_file_that_is_no_text(self):
        (self.root / "src").mkdir()
        (self.root / "src/a.cc").write_bytes(b"\xff\xfe\n")
        self.assertEqual(check(self.root), ["src/a.cc: is not UTF-8"])


if __name__ == "__main__":
    sys.exit(unittest.main())
