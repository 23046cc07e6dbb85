#!/usr/bin/env python3
"""The binary interface of the C API, as include/hawthorn/c.h and the shared library have it.

abi.txt is the committed table of it: constants with their values, structures with sizes and
offsets, types, functions with their signatures. src/c/exports.map is the list of what the shared
library exports, and under which version. Both are compared with what is there.

  abi.py --cc gcc --library libhawthorn.so    fails where they differ
  abi.py --cc gcc --null-calls FILE           writes a C program that calls each with nothing
  abi.py --cc gcc --write                     writes both anew: for what was added. What was in
                                              them before may not change any more.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INCLUDE = ROOT / "include"
PARTS = INCLUDE / "hawthorn" / "c"
TABLE = HERE / "abi.txt"
EXPORTS = ROOT / "src" / "c" / "exports.map"
# Of the library's exports; what is new gets the last one, and each release that has something new
# begins another.
VERSIONS = ("HAWTHORN_1",)
# Methods of the C++ API whose functions have other names, and those that C does not need.
RENAMED = {
    "Db::begin": "hawthorn_txn_begin",
    "Db::repair": "hawthorn_repair",
    "Db::destroy": "hawthorn_destroy_database",
    "Db::limits": "hawthorn_limit_key_bytes",
    "Db::open_feed": "hawthorn_feed_open",
    "Db::open_feed_at": "hawthorn_feed_open_at",
    "Db::read_queue": "hawthorn_read_queue_open",
    "FeedCommit::cts": "hawthorn_feed_commit_timestamp",
    "FeedCommit::encode": "hawthorn_feed_encode",
    "FeedCommit::next": "hawthorn_feed_next_change",
    "FeedCommit::previous": "hawthorn_feed_commit_previous",
    "FeedCommit::read_value": "hawthorn_feed_read_value",
    "Ingest::abandon": "hawthorn_ingest_free",
    "Ingest::open": "hawthorn_ingest_is_open",
    "ReadQueue::get": "hawthorn_read_queue_get",
    "ReadQueue::get_async": "hawthorn_read_queue_get",
    "Snapshot::reset": "hawthorn_snapshot_free",
    "Transaction::open": "hawthorn_txn_is_open",
    "Tree::valid": "hawthorn_tree_free",
    "Snapshot::valid": "hawthorn_snapshot_free",
    "Feed::valid": "hawthorn_feed_free",
}
# Class -> its header, and how its functions begin.
CLASSES = {
    "Db": ("db.h", "hawthorn_db_"), "Tree": ("db.h", "hawthorn_tree_"),
    "Snapshot": ("db.h", "hawthorn_snapshot_"), "Transaction": ("transaction.h", "hawthorn_txn_"),
    "Cursor": ("cursor.h", "hawthorn_cursor_"), "WriteBatch": ("batch.h", "hawthorn_batch_"),
    "ReadQueue": ("read_queue.h", "hawthorn_read_queue_"), "Feed": ("feed.h", "hawthorn_feed_"),
    "FeedCommit": ("feed.h", "hawthorn_feed_"), "Replica": ("replica.h", "hawthorn_replica_"),
    "Follower": ("follower.h", "hawthorn_follower_"), "Ingest": ("ingest.h", "hawthorn_ingest_"),
    "BackupRepository": ("backup.h", "hawthorn_repository_"),
}
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wstrict-prototypes")
arguments = None


def text_of_headers():
    """The headers without comments and preprocessor lines, with single spaces."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PARTS.glob("*.h")))
    text = re.sub(r"//[^\n]*", "", text).replace("\\\n", " ")
    text = re.sub(r"^\s*#[^\n]*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\s+", " ", text)


def functions():
    """Name -> declaration."""
    found = {}
    for declaration in re.findall(r"HAWTHORN_C_API ([^;{]*);", text_of_headers()):
        name = re.match(r"[\w\s*]*?(hawthorn_\w+)\(", declaration).group(1)
        assert name not in found, f"{name} is declared twice"
        found[name] = declaration.replace("( ", "(")
    return found


def constants():
    found = []
    for body in re.findall(r"\benum \{([^}]*)\}", text_of_headers()):
        found += re.findall(r"(HAWTHORN_\w+) =", body)
    return found


def structures():
    """Name -> names of members."""
    found = {}
    for name, body in re.findall(r"typedef struct (hawthorn_\w+) \{(.*?)\} \1;", text_of_headers()):
        members = []
        for member in body.split(";"):
            member = member.strip()
            if not member:
                continue
            pointer = re.match(r"[\w\s*]*\(\*(\w+)\)\(", member)
            members.append(pointer.group(1) if pointer
                           else re.search(r"(\w+)(?:\[\d+\])?$", member).group(1))
        found[name] = members
    return found


def scalars():
    return re.findall(r"typedef u?int\d+_t (hawthorn_\w+);", text_of_headers())


def callbacks():
    return {name: f"{result}(*)({parameters})" for result, name, parameters in
            re.findall(r"typedef ([\w\s*]+?)\(\*(hawthorn_\w+)\)\(([^;]*)\);", text_of_headers())}


def compile_and_run(source):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "abi"
        path = pathlib.Path(folder) / "abi.c"
        path.write_text(source, encoding="utf-8")
        subprocess.run([arguments.cc, "-std=c99", *WARNINGS, f"-I{INCLUDE}", path, "-o", program],
                       check=True)
        return subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout


def table():
    """What abi.txt is to be: measured by a C program, not read from the headers."""
    lines = ["#include <hawthorn/c.h>", "#include <stdio.h>", "int main(void) {"]
    for name in constants():
        lines.append(f'  printf("constant {name} %ld\\n", (long){name});')
    for name in scalars():
        lines.append(f'  printf("type {name} size %zu %s\\n", sizeof({name}), '
                     f'({name})-1 < ({name})1 ? "signed" : "unsigned");')
    for name, members in structures().items():
        lines.append(f'  printf("struct {name} size %zu\\n", sizeof({name}));')
        for member in members:
            lines.append(f'  printf("member {name}.{member} offset %zu size %zu\\n", '
                         f'offsetof({name}, {member}), sizeof((({name}*)0)->{member}));')
    lines += ["  return 0;", "}", ""]
    measured = compile_and_run("\n".join(lines))
    measured += "".join(f"callback {name} {text}\n" for name, text in sorted(callbacks().items()))
    measured += "".join(f"function {text}\n" for _, text in sorted(functions().items()))
    return measured


def null_calls():
    """A C program that calls each function with nothing: NULL for addresses, 0 for numbers."""
    lines = ["// Each function of the C API with nothing: none may crash, and those that can fail",
             "// say that it was the caller's mistake.",
             "#include <hawthorn/c.h>", "#include <stdio.h>", "", "static int wrong;",
             "static void told(const char* name, hawthorn_code code) {",
             "  if (code == HAWTHORN_INVALID_ARGUMENT) return;",
             '  fprintf(stderr, "%s: %s\\n", name, hawthorn_code_name(code));',
             "  wrong = 1;", "}", ""]
    calls = []
    for name, declaration in sorted(functions().items()):
        result, parameters = re.match(rf"(.*?)\s*{name}\((.*)\)$", declaration).groups()
        frees = result.replace("*", "_free")
        passed = []
        for parameter in ([] if parameters == "void" else re.split(r", (?![^(]*\))", parameters)):
            kind = re.sub(r"\w+$", "", parameter.split("[")[0]).strip()
            pointer = "*" in parameter or "[" in parameter or kind in callbacks()
            pointer = pointer or kind == "hawthorn_destroy"
            passed.append("NULL" if pointer else "0")
        call = f"{name}({', '.join(passed)})"
        can_fail = parameters.endswith("hawthorn_error** error")
        if can_fail:
            calls.append(f'  told("{name}", {call});')
        else:
            calls.append(f"  {frees}({call});" if frees in functions() else f"  (void){call};")
    return "\n".join(lines + ["int main(void) {", *calls, "  return wrong;", "}", ""])


def versions():
    """Function -> version: as exports.map has it, of new ones the last."""
    found = {}
    for version, names in re.findall(r"(HAWTHORN_\d+) \{\s*global:([^}]*)\}",
                                     EXPORTS.read_text(encoding="utf-8")):
        found.update({name: version for name in re.findall(r"\w+", names)})
    return {name: found.get(name, VERSIONS[-1]) for name in functions()}


def exports():
    """What exports.map is to be."""
    text = ("/* What the shared library exports of the C API, and under which version; written by\n"
            "   tests/c_api/abi.py. C++ functions are shown by their headers, without one. */\n")
    before = ""
    for version in VERSIONS:
        names = "".join(f"    {name};\n" for name, since in sorted(versions().items())
                        if since == version)
        text += f"{version} {{\n  global:\n{names}}}{before};\n"
        before = f" {version}"
    return text


def methods_of(header, name):
    """The public methods of a class of the C++ API, without constructors."""
    text = (INCLUDE / "hawthorn" / header).read_text(encoding="utf-8")
    body = re.search(rf"\nclass HAWTHORN_EXPORT {name} \{{(.*?)\n\}};", text, re.S)[1]
    body = re.sub(r"//[^\n]*", "", body).split("\n private:")[0]
    found = re.findall(r"(?:^|[;{}])\s*(?:static\s+)?"
                       r"(?!HAWTHORN_HIDDEN|explicit|friend|using|return)"
                       r"[\w:<>,*&\[\] ]+?[\s*&](\w+)\(", body)
    # What ends with _on takes the project's simulated machine.
    return {method for method in found if method != name and not method.endswith("_on")}


def exported():
    """Name -> version, of the dynamic symbols that are the C API's."""
    listed = subprocess.run(["readelf", "--dyn-syms", "--wide", arguments.library], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for line in listed.splitlines():
        fields = line.split()
        if len(fields) < 8 or fields[6] == "UND" or not fields[7].startswith("hawthorn_"):
            continue
        name, _, version = fields[7].replace("@@", "@").partition("@")
        found[name] = version
    return found


class Abi(unittest.TestCase):
    maxDiff = None

    def test_the_table_is_what_a_c_compiler_sees(self):
        self.assertEqual(table().splitlines(), TABLE.read_text(encoding="utf-8").splitlines())

    def test_the_list_of_exports_is_what_is_declared(self):
        self.assertEqual(EXPORTS.read_text(encoding="utf-8"), exports())

    def test_the_library_exports_each_function_under_its_version(self):
        self.assertEqual(exported(), versions())

    def test_every_header_compiles_alone_without_warnings(self):
        languages = (("c", "c99"), ("c", "c11"), ("c++", "c++11"), ("c++", "c++20"))
        headers = [INCLUDE / "hawthorn" / "c.h", *sorted(PARTS.glob("*.h"))]
        self.assertGreater(len(headers), 5)
        for header in headers:
            for language, standard in languages:
                with self.subTest(header=header.name, standard=standard):
                    warnings = WARNINGS if language == "c" else WARNINGS[:-1]
                    subprocess.run([arguments.cc, f"-std={standard}", "-fsyntax-only", *warnings,
                                    f"-I{INCLUDE}", "-include", header, "-x", language,
                                    "/dev/null"], check=True)

    def test_structures_begin_with_their_size_and_have_an_initializer(self):
        text = "\n".join(path.read_text(encoding="utf-8") for path in PARTS.glob("*.h"))
        sized = {name for name, members in structures().items() if members[0] == "struct_size"}
        plain = {"hawthorn_bytes", "hawthorn_entry", "hawthorn_field", "hawthorn_savepoint"}
        self.assertEqual(set(structures()) - sized, plain)
        source = ["#include <hawthorn/c.h>", "int main(void) {"]
        for name in sorted(sized):
            macro = name.upper() + "_INIT"
            self.assertIn(f"#define {macro}", text)
            source.append(f"  {name} made_{name} = {macro};")
            source.append(f"  if (made_{name}.struct_size != sizeof({name})) return 1;")
        compile_and_run("\n".join(source + ["  return 0;", "}", ""]))

    def test_structures_have_no_room_at_their_end(self):
        # What a later version adds would lie in bytes that older programs have not set.
        lines = {line.rsplit(" ", 4)[0] if " offset " in line else line.rsplit(" ", 2)[0]: line
                 for line in TABLE.read_text(encoding="utf-8").splitlines()}
        for name, members in structures().items():
            size = int(lines[f"struct {name}"].split()[-1])
            last = lines[f"member {name}.{members[-1]}"].split()
            self.assertEqual(int(last[-3]) + int(last[-1]), size, name)

    def test_the_document_names_every_part_and_no_function_that_is_not(self):
        page = (ROOT / "docs" / "c-api.md").read_text(encoding="utf-8")
        for path in PARTS.glob("*.h"):
            self.assertIn(f"c/{path.name}", page)
        named = set(re.findall(r"\bhawthorn_\w+(?=\()", page))
        self.assertLessEqual(named, set(functions()) | set(callbacks()))
        self.assertGreater(len(named), 10)

    def test_every_method_of_the_engine_has_a_function(self):
        known = set(functions())
        for name, (header, prefix) in CLASSES.items():
            methods = methods_of(header, name)
            self.assertGreater(len(methods), 0, name)
            for method in methods:
                function = RENAMED.get(f"{name}::{method}", prefix + method)
                self.assertIn(function, known, f"{name}::{method}")
        self.assertGreater(len(methods_of("db.h", "Db")), 70)
        self.assertGreater(len(methods_of("transaction.h", "Transaction")), 45)

    def test_every_option_of_the_engine_has_a_name(self):
        text = (INCLUDE / "hawthorn" / "options.h").read_text(encoding="utf-8")
        body = re.sub(r"//[^\n]*", "", re.search(r"struct Options \{(.*?)\n\};", text, re.S)[1])
        fields = [re.search(r"(\w+)\s*(=[^;]*)?$", field.strip(), re.S)[1]
                  for field in body.split(";") if field.strip()]
        self.assertGreater(len(fields), 20)
        names = re.findall(r'^\s*\{"([\w.]+)", ',
                           (ROOT / "src/c/options_by_name.cc").read_text(encoding="utf-8"), re.M)
        self.assertEqual({name.split(".")[0] for name in names}, set(fields))

    def test_every_figure_of_stats_is_shown(self):
        text = (INCLUDE / "hawthorn" / "stats.h").read_text(encoding="utf-8")
        shown = (ROOT / "src/c/stats.cc").read_text(encoding="utf-8")
        for structure in ("NamedSnapshotStats", "FollowerStats", "TreeStats", "FeedStats", "Stats"):
            body = re.search(rf"struct {structure} \{{(.*?)\n\}};", text, re.S)[1]
            body = re.sub(r"//[^\n]*", "", body)
            for field in body.split(";"):
                if not field.strip():
                    continue
                name = re.search(r"(\w+)\s*(=[^;]*)?$", field.strip(), re.S)[1]
                self.assertRegex(shown, rf'"{name}",', f"{structure}::{name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", required=True)
    parser.add_argument("--library")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--null-calls", help="where to write a program that calls all with nothing")
    arguments, rest = parser.parse_known_args()
    if arguments.null_calls:
        pathlib.Path(arguments.null_calls).write_text(null_calls(), encoding="utf-8")
        sys.exit(0)
    if arguments.write:
        TABLE.write_text(table(), encoding="utf-8")
        EXPORTS.write_text(exports(), encoding="utf-8")
        sys.exit(0)
    sys.exit(unittest.main(argv=[sys.argv[0]] + rest))
