#!/usr/bin/env python3
"""Layers: a folder includes only what lies below it.

The table below is the architecture. A file that includes something else fails the test with its
name, line and the folders that it may use. Files named *_test.cc, *_test.h or *_test_*.h are tests
that stand beside the code: beyond what their folder may use, they may use testing/ and any header
of a library, and nothing but tests may use them.
"""

import re
import sys
import unittest

from source_tree import REPOSITORY, PlantedTree, cpp_files_of

PUBLIC = "include/hawthorn"
SRC = ("base", "os", "format", "wal", "cache", "space", "tree", "txn", "db")


def src(*layers):
    return {f"src/{layer}" for layer in layers}


# Folder -> the folders of this repository that it may include, besides itself.
MAY_INCLUDE = {
    PUBLIC: set(),
    "src/base": {PUBLIC},
    "src/os": {PUBLIC} | src("base"),
    "src/format": {PUBLIC} | src("base"),
    "src/wal": {PUBLIC} | src("base", "os", "format"),
    "src/cache": {PUBLIC} | src("base", "os", "format"),
    "src/space": {PUBLIC} | src("base", "os", "format"),
    "src/tree": {PUBLIC} | src("base", "os", "format", "wal", "cache", "space"),
    "src/txn": {PUBLIC} | src("base", "os", "format", "wal", "cache", "space", "tree"),
    "src/db": {PUBLIC} | src(*SRC),
    "src/c": {PUBLIC},
    "shims": {PUBLIC},
    "bindings": {PUBLIC},
    "tools": {PUBLIC},
    "tools/rocksdb": {PUBLIC, "tools", "shims"},
    "tools/mdbx": {PUBLIC, "tools", "shims"},
    "tools/sqlite": {PUBLIC, "tools", "shims"},
    "bench": {PUBLIC, "bench/instructions"},
    # Has the machine on which the databases of counted programs are opened.
    "bench/instructions": {PUBLIC} | src("base", "os"),
    "examples": {PUBLIC},
    "testing": {PUBLIC} | src(*SRC),
    "tests": {PUBLIC, "testing", "tools", "bench"} | src(*SRC),
}

# Shims offer other engines' headers, from folders which nobody else uses.
SHIM_INCLUDES = {"shims/rocksdb": ("include",), "shims/mdbx": ("include", "include/common")}

# Everything that touches the machine goes through src/os, so that a simulated one can take its
# place; src/base sits below it and has no I/O at all.
MACHINE_HEADERS = re.compile(
    r"^(sys/.*|linux/.*|fcntl\.h|unistd\.h|pthread\.h|signal\.h|time\.h|errno\.h|dirent\.h|"
    r"liburing\.h|thread|mutex|shared_mutex|condition_variable|semaphore|latch|barrier|future|"
    r"stop_token|chrono|random|fstream|iostream|filesystem|ctime|csignal|cerrno)$")

STANDARD_HEADERS = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono
cinttypes climits clocale cmath codecvt compare complex concepts condition_variable coroutine
csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque
exception execution filesystem format forward_list fstream functional future initializer_list
iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource
mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string
string_view syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
unordered_set utility valarray variant vector version stddef.h stdint.h
""".split())

TEST_FILE = re.compile(r"_test\.cc?$|_test(_\w+)?\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(relative):
    """The row of the table that a file belongs to, or None."""
    parts = relative.parts
    for length in (2, 1):
        name = "/".join(parts[:length])
        if name in MAY_INCLUDE and len(parts) > length:
            return name
    return None


def resolve(root, path, target):
    """The file of the tree that an #include names, relative to root, or None for a foreign one."""
    shims = [root / name / folder for name, folders in SHIM_INCLUDES.items()
             if path.is_relative_to(root / name) for folder in folders]
    for base in (path.parent, *shims, root / "include", root / "src", root):
        candidate = base / target
        if candidate.is_file():
            return candidate.resolve().relative_to(root.resolve())
    return None


def problems_of_include(root, path, relative, folder, quote, target):
    is_test = folder == "tests" or TEST_FILE.search(relative.name)
    if ".." in target.split("/"):
        return "goes up with '..'; name the file from the root"
    found = resolve(root, path, target)
    if found is None:
        if quote == '"':
            return "names no file of this tree"
        if folder == PUBLIC and target not in STANDARD_HEADERS:
            return "is not of the standard library, and public headers use nothing else"
        outside_os = folder.startswith("src/") and folder != "src/os"
        if outside_os and not is_test and MACHINE_HEADERS.match(target):
            return "touches the machine, which only src/os may"
        return None
    included = folder_of(found)
    if TEST_FILE.search(found.name) and not is_test:
        return "is for tests only"
    if included is None:
        return f"lies in no folder of the table ({found})"
    allowed = MAY_INCLUDE[folder] | {folder}
    if is_test:
        allowed = allowed | {"testing"}
    if included not in allowed:
        return f"is of {included}; {folder} may use {', '.join(sorted(allowed))}"
    return None


def check(root):
    problems = []
    for path, relative in cpp_files_of(root):
        folder = folder_of(relative)
        if folder is None:
            problems.append(f"{relative}: lies in no folder of the table in layering_test.py")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            problem = problems_of_include(root, path, relative, folder, *match.groups())
            if problem:
                problems.append(f"{relative}:{number}: {match.group(2)} {problem}")
    return problems


class Tree(unittest.TestCase):
    def test_every_include_points_downward(self):
        problems = check(REPOSITORY)
        self.assertFalse(problems, "\n" + "\n".join(problems))


class Check(PlantedTree):
    """The check itself: silent on what is allowed, loud on what is not."""

    def setUp(self):
        super().setUp()
        self.plant("include/hawthorn/status.h", "#pragma once\n#include <string>\n")
        for layer in SRC:
            self.plant(f"src/{layer}/{layer}.h", '#include "hawthorn/status.h"\n')
        self.plant("testing/model.h", '#include "db/db.h"\n#include "hawthorn/status.h"\n')

    def assert_found(self, name, text):
        self.plant(name, text)
        problems = check(self.root)
        self.assertEqual(len(problems), 1, problems)
        self.assertTrue(problems[0].startswith(name), problems)

    def test_allowed_includes_pass(self):
        self.plant("src/db/open.cc", '#include "txn/txn.h"\n#include "wal/wal.h"\n#include <map>\n')
        self.plant("src/os/file.cc", '#include <fcntl.h>\n#include "base/base.h"\n')
        self.plant("src/tree/tree_test.cc", '#include "testing/model.h"\n#include <thread>\n')
        self.plant("tools/main.cc", '#include <hawthorn/status.h>\n#include "help.h"\n')
        self.plant("tools/help.h", "#include <unistd.h>\n")
        self.plant("tests/model/run.cc", '#include "testing/model.h"\n#include "db/db.h"\n')
        self.assertEqual(check(self.root), [])

    def test_each_layer_may_not_use_the_one_above(self):
        for index, layer in enumerate(SRC[:-1]):
            with self.subTest(layer=layer):
                name = f"src/{layer}/upward.cc"
                self.assert_found(name, f'#include "{SRC[-1]}/{SRC[-1]}.h"\n')
                self.plant(name, f'#include "{layer}/{layer}.h"\n')

    def test_neighbours_may_not_use_each_other(self):
        self.assert_found("src/format/a.cc", '#include "os/os.h"\n')

    def test_src_may_not_use_testing(self):
        self.assert_found("src/db/open.cc", '#include "testing/model.h"\n')

    def test_tools_may_not_use_src(self):
        self.assert_found("tools/main.cc", '#include "base/base.h"\n')

    def test_a_shim_uses_its_own_headers_and_the_public_ones(self):
        self.plant("shims/rocksdb/include/rocksdb/db.h", "#pragma once\n#include <map>\n")
        self.plant("shims/rocksdb/src/db.h", '#include "rocksdb/db.h"\n')
        self.plant("shims/rocksdb/src/db.cc",
                   '#include "shims/rocksdb/src/db.h"\n#include <hawthorn/status.h>\n')
        self.assertEqual(check(self.root), [])
        self.assert_found("shims/rocksdb/src/put.cc", '#include "db/db.h"\n')

    def test_others_do_not_see_a_shim_s_headers(self):
        self.plant("shims/rocksdb/include/rocksdb/db.h", "#pragma once\n#include <map>\n")
        self.assert_found("tools/main.cc", '#include "rocksdb/db.h"\n')

    def test_bench_may_not_use_src(self):
        self.assert_found("bench/main.cc", '#include "base/base.h"\n')

    def test_examples_may_not_use_src_by_a_path_of_their_own(self):
        self.assert_found("examples/hello.cc", '#include "src/base/base.h"\n')

    def test_public_headers_use_only_the_standard_library(self):
        self.assert_found("include/hawthorn/db.h", "#include <sys/types.h>\n")

    def test_public_headers_may_not_use_src(self):
        self.assert_found("include/hawthorn/db.h", '#include "base/base.h"\n')

    def test_only_os_may_touch_the_machine(self):
        self.assert_found("src/txn/commit.cc", "#include <mutex>\n")

    def test_only_tests_may_use_what_is_for_tests(self):
        self.plant("src/base/base_test_model.h", "#include <fstream>\n")
        self.plant("src/base/base_test.cc", '#include "base/base_test_model.h"\n')
        self.assert_found("src/base/a.cc", '#include "base/base_test_model.h"\n')

    def test_indented_and_angle_bracket_forms_are_seen(self):
        self.assert_found("src/base/a.cc", "#  include <db/db.h>\n")

    def test_the_way_up_is_closed(self):
        self.assert_found("src/base/a.cc", '#include "../db/db.h"\n')

    def test_a_missing_file_is_named(self):
        self.assert_found("src/base/a.cc", '#include "base/absent.h"\n')

    def test_a_new_folder_needs_a_row_in_the_table(self):
        self.assert_found("src/sneaky/a.cc", "int a;\n")


if __name__ == "__main__":
    sys.exit(unittest.main())
