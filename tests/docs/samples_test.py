#!/usr/bin/env python3
"""Samples of the documents: programs compile and run, and the command has what they ask of it.

A block ```cpp or ```c that has a `main` is a program: it gets a fresh directory as its argument,
has to end with 0 and, where a block ```text output follows, to print that. ```cpp part is some
statements, in which `db` (a pointer to a Db) and `tree` are there; it is compiled. ```cpp leveldb
is a program that also uses LevelDB: where that is installed, it moves a database of LevelDB's.

Of each `hawthorn COMMAND --option` in code the command's help has to have the command and the
option. Commands of other programs (`import-rocksdb` and the like) count where they are there.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from documents import REPOSITORY, blocks, documents, lines_of

PART = """#include <hawthorn/hawthorn.h>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

[[maybe_unused]] static hawthorn::Status part(hawthorn::Db* db, hawthorn::Tree tree) {{
  (void)db, (void)tree;
{text}
  return {{}};
}}
"""
LEVELDB_MAKER = """#include <leveldb/db.h>
int main(int, char** argv) {
  leveldb::DB* db = nullptr;
  leveldb::Options options;
  options.create_if_missing = true;
  if (!leveldb::DB::Open(options, argv[1], &db).ok()) return 1;
  for (int i = 0; i < 1000; ++i) (void)db->Put({}, "key" + std::to_string(i), "value");
  delete db;
}
"""
CALL = re.compile(r"(?:^|[^\w./-])hawthorn ([a-z][a-z-]+)((?: [^|&;`)>]*)?)")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z_-]*)")
BROUGHT_ALONG = {"import-rocksdb", "export-rocksdb", "import-sqlite", "export-sqlite", "ldb",
                 "mdbx-dump", "mdbx-load", "bench"}
arguments = None


def texts_of_code(path):
    """Numbered pieces of a document that are code: blocks, indented lines, `code`."""
    for number, line, is_code in lines_of(path.read_text("utf-8")):
        if is_code or line.startswith("    "):
            yield number, line
        else:
            for piece in re.findall(r"`([^`]+)`", line):
                yield number, piece


def calls(path):
    """(line, command, options) of each call of the command."""
    for number, text in texts_of_code(path):
        for command, rest in CALL.findall(text):
            yield number, command, OPTION.findall(rest.split(" # ")[0])


class Samples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name)
        cls.library = pathlib.Path(arguments.library).resolve()
        cls.environment = dict(os.environ, LD_LIBRARY_PATH=str(cls.library.parent))

    def compile(self, text, language, *options):
        source = self.scratch / f"sample.{'cc' if language == 'cpp' else 'c'}"
        source.write_text(text, encoding="utf-8")
        compiler = ([arguments.cxx, "-std=c++20"] if language == "cpp" else
                    [arguments.cc, "-std=c99"])
        done = subprocess.run(
            compiler + ["-Wall", "-Wextra", "-Werror", f"-I{arguments.include}", str(source),
                        *options], text=True, check=False, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def program(self, block, *options):
        program = self.scratch / "sample"
        self.compile(block.text, block.language, "-o", str(program), str(self.library), *options)
        return program

    def run_program(self, *command):
        done = subprocess.run([str(part) for part in command], text=True, check=False,
                              capture_output=True, env=self.environment, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def fresh(self, name):
        path = self.scratch / name
        shutil.rmtree(path, ignore_errors=True)
        return path

    def check(self, block):
        if block.words == "part":
            self.compile(PART.format(text=block.text), block.language, "-fsyntax-only")
        elif block.words == "leveldb":
            if not pathlib.Path("/usr/include/leveldb/db.h").exists():
                self.skipTest("LevelDB is not installed")
            source = self.fresh("leveldb")
            self.compile(LEVELDB_MAKER, "cpp", "-o", str(self.scratch / "maker"), "-lleveldb")
            self.run_program(self.scratch / "maker", source)
            target = self.fresh("database")
            self.run_program(self.program(block, "-lleveldb"), source, target)
            count = self.run_program(arguments.hawthorn, "count", target)
            self.assertEqual(count.strip(), "1000")
        else:
            self.assertEqual(block.words, "", "a word that says nothing here")
            self.assertIn("int main(", block.text, "no program, and not marked as a part")
            output = self.run_program(self.program(block), self.fresh("database"))
            if block.output is not None:
                self.assertEqual(output, block.output)

    def test_programs(self):
        found = 0
        for path in documents():
            if REPOSITORY / "docs" not in path.parents and path.parent != REPOSITORY:
                continue
            for block in blocks(path):
                if block.language in ("cpp", "c"):
                    found += 1
                    with self.subTest(block.where()):
                        self.check(block)
        self.assertGreater(found, 0)


class Commands(unittest.TestCase):
    def help_of(self, command):
        done = subprocess.run([arguments.hawthorn, command, "--help"], text=True, check=False,
                              capture_output=True, stdin=subprocess.DEVNULL)
        return done.stdout + done.stderr if done.returncode == 0 else None

    def test_options_are_there(self):
        known, problems, found = {}, [], 0
        for path in documents():
            if "bindings" in path.parts:
                continue  # there the word may be a module's name
            for number, command, options in calls(path):
                if command not in known:
                    known[command] = self.help_of(command)
                where = f"{path.relative_to(REPOSITORY)}:{number}: hawthorn {command}"
                if known[command] is None:
                    if command not in BROUGHT_ALONG:
                        problems.append(f"{where}: no such command")
                    continue
                found += 1
                for option in options:
                    if not re.search(rf"{option}(?![\w-])", known[command]):
                        problems.append(f"{where} {option}: no such option")
        self.assertFalse(problems, "\n" + "\n".join(problems))
        self.assertGreater(found, 20)

    def test_how_calls_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.md"
            path.write_text("Of `hawthorn scan db --reverse` and hawthorn words.\n\n"
                            "    hawthorn dump db | ssh x hawthorn load --sorted db\n", "utf-8")
            self.assertEqual(list(calls(path)), [(1, "scan", ["--reverse"]), (3, "dump", []),
                                                 (3, "load", ["--sorted"])])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--hawthorn", required=True)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cc", default="cc")
    arguments, rest = parser.parse_known_args()
    sys.exit(unittest.main(argv=sys.argv[:1] + rest))
