#!/usr/bin/env python3
"""No exception leaves a C function of the shims: each is a function-try-block, or calls nothing
that may throw."""

import re
import unittest

from source_tree import REPOSITORY, PlantedTree

# Of LMDB, libmdbx and RocksDB, and what SQLite's code calls.
API = r"(?:mdbx?|rocksdb|hw)_\w+"
HEAD = re.compile(rf"^(?!#|//|struct |using |static |return )[\w:<>*& ]*?\b({API})\(", re.MULTILINE)
CALL = re.compile(r"([\w:]+)\s*(?:<[^;(){}]*>)?\s*\(")
WORDS = {"if", "for", "while", "switch", "return", "sizeof", "offsetof", "static_cast",
         "reinterpret_cast", "const_cast", "defined"}

# What else one without a handler may call: it takes no memory.
SAFE_CALLS = {
    # Whether a handle may be used; the same handle as another type.
    "MDBX_txn::check", "check_env", "Env::check", "is_cursor", "is_open", "inherited", "core",
    "read_only",
    # Numbers, and what is there from the start.
    "mdbx_shim::process_id", "mdbx_shim::key_max", "mdbx_shim::value_max", "reader_limit",
    "mdbx_shim::key_compare", "mdbx_shim::value_compare", "bad_page_size", "bytes_of", "ordered",
    "unordered", "number_of", "count_of", "pointed", "std::chrono::microseconds",
    # They see to it themselves.
    "refuse", "hawthorn::rocks::refuse", "hawthorn::rocks::free_text",
    # The languages' and the system's.
    "std::free", "std::min", "std::max", "std::clamp", "std::size", "std::all_of", "c_str", "size",
    "snprintf", "vsnprintf", "va_start", "va_end", "strerror", "strerror_r", "sysconf",
}
# Functions whose calls have names that say nothing of them.
SAFE_FUNCTIONS = {
    # They end the process.
    "mdbx_assert_fail", "mdbx_panic",
    # They show, or set, a number.
    "rocksdb_backup_engine_info_timestamp", "rocksdb_backup_engine_info_backup_id",
    "rocksdb_backup_engine_info_size", "rocksdb_backup_engine_info_number_files",
    "rocksdb_perfcontext_metric", "hw_data_version", "hw_seen_version", "hw_log_bytes",
    "hw_limit_pages", "hw_place", "hw_payload_code", "hw_is_collated",
    # It lets go.
    "hw_cursor_clear",
}


def without_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def functions_of(text):
    """(name, whether its body is a function-try-block, body) of each that is defined at the left
    edge, as those are that other files call."""
    for head in HEAD.finditer(text):
        depth, at = 0, head.end() - 1
        while at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
            if depth == 0:
                break
        opened = re.match(r"[\s\w]*?(\btry\s*)?\{", text[at:])
        if opened is None:
            continue  # declared, or called
        begin = at + opened.end()
        line_end = text.find("\n", begin)
        if text[begin:line_end].rstrip().endswith("}"):
            body = text[begin:line_end]
        else:
            body = text[begin:text.index("\n}", begin)]
        yield head.group(1), opened.group(1) is not None, body


def problems(root):
    for path in sorted((root / "shims").glob("*/src/**/*.cc")):
        if path.name.endswith("_test.cc"):
            continue
        for name, handled, body in functions_of(without_comments(path.read_text("utf-8"))):
            if handled or name in SAFE_FUNCTIONS:
                continue
            unsafe = sorted({call for call in CALL.findall(body)
                             if call not in WORDS and call not in SAFE_CALLS and
                             not re.fullmatch(rf"(?:__inline_)?{API}", call)})
            unsafe += ["new"] if re.search(r"\bnew\b", body) else []
            if unsafe:
                yield (f"{path.relative_to(root)}: {name} calls {', '.join(unsafe)}: make it a "
                       "function-try-block")


class Boundary(PlantedTree):
    def test_no_exception_leaves_a_c_function(self):
        self.assertEqual([], list(problems(REPOSITORY)))

    def test_there_are_many(self):
        names = {name for path in (REPOSITORY / "shims").glob("*/src/**/*.cc")
                 for name, _, _ in functions_of(without_comments(path.read_text("utf-8")))}
        for some in ("mdb_put", "mdbx_cursor_get", "rocksdb_get", "rocksdb_writebatch_wi_put",
                     "hw_insert_record", "hw_close"):
            self.assertIn(some, names)
        self.assertGreater(len(names), 900)

    def test_each_kind_of_problem(self):
        self.plant("shims/a/src/a.cc", """\
            int mdb_good(MDB_env* env) try {
              return go(env);
            } catch (...) {
              return lmdb_shim::exception_code();
            }
            int mdb_field(const MDB_env* env) { return env->flags; }
            int mdb_forwards(MDB_env* env, int b) { return mdb_good(env, static_cast<int>(b)); }
            void rocksdb_frees(char* list) {
              std::free(list);  // and calls nothing(else)
            }
            """)
        self.assertEqual([], list(problems(self.root)))
        for bad in ("int mdb_bad(MDB_env* env) { return go(env); }\n",
                    "rocksdb_t* rocksdb_make() { return new rocksdb_t; }\n",
                    "int hw_bad(HwCursor* at,\n           int b) {\n  return at->go();\n}\n",
                    "int mdbx_bad(int b) HAWTHORN_MDBX_NOTHROW {\n  try {\n    go(b);\n"
                    "  } catch (int) {\n  }\n}\n"):
            self.plant("shims/a/src/b.cc", bad)
            self.assertEqual(1, len(list(problems(self.root))), bad)


if __name__ == "__main__":
    unittest.main()
