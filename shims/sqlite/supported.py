#!/usr/bin/env python3
"""What databases of Hawthorn support of SQLite, from supported.tsv: SUPPORTED.md.

  supported.py                            writes SUPPORTED.md
  supported.py --check [SOURCE]           fails when SUPPORTED.md is not what it would write, when a
                                          row of the table is malformed or has no claim where it
                                          needs one, when a claim names a check or a test that there
                                          is not; and, of the amalgamation of SQLite in SOURCE, when
                                          a function of sqlite3.h, a pragma or a statement of
                                          sqlite3.c is in no row, or a row has what is not there
  supported.py --symbols LIBRARY SOURCE   fails when a shared library does not export a function of
                                          the header, exports one that the table says is absent, or
                                          one that it does not know

Whether the claims are true is what tests/supported_test.cc finds out, which executes them.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "supported.tsv"
PAGE = HERE / "SUPPORTED.md"
CHECKS = HERE / "tests" / "supported_test.cc"
HOWS = ("own", "yes", "differs", "accepted", "refused", "absent")
SECTIONS = {"topic": "By subject", "statement": "Statements", "pragma": "Pragmas",
            "function": "Functions", "backup": "Backups (`sqlite3_backup_*`)"}
NAMED = ("pragma", "function")  # sections whose rows have names with a space between
NEWER = (3, 54, 1)  # has the names that bear a +

FUNCTION = re.compile(r"^SQLITE_API\b[^;]*?\b(sqlite3\w*)\s*\(", re.MULTILINE)
VERSION = re.compile(r'^#define SQLITE_VERSION\s+"(\d+)\.(\d+)\.(\d+)"', re.MULTILINE)
PRAGMAS = re.compile(r"^static const PragmaName aPragmaName\[\] = \{(.*?)^\};",
                     re.MULTILINE | re.DOTALL)
PRAGMA = re.compile(r'/\* zName: +\*/ "(\w+)"')
RULE = re.compile(r'"cmd ::= ([^"]+)"')
# Of rules that do not begin with the words of a statement.
STATEMENTS = {"select": ["SELECT"], "insert_cmd": ["INSERT", "REPLACE"],
              "create_vtab": ["CREATE VIRTUAL TABLE"], "create_table": ["CREATE TABLE"],
              "alter_add": ["ALTER TABLE"], "temp": ["CREATE VIEW"],
              "uniqueflag": ["CREATE INDEX"], "trigger_decl": ["CREATE TRIGGER"]}

PAGE_HEAD = """# What databases of Hawthorn support of SQLite

Written by `supported.py` from [supported.tsv](supported.tsv), whose claims a test executes
(`SupportedTest`); `supported.py --check`, another one, compares the table with SQLite's source.
SQL and the C API are SQLite's own; where storage has a part in it, it is said here. Databases in
memory, temporary tables and SQLite's own files are served by SQLite's B-tree, and have all of it.

- **own**: SQLite's own code; storage has no part in it.
- **yes**: storage has a part in it, and does what SQLite's documentation says.
- **differs**: there, and other than in SQLite.
- **accepted**: taken, without a meaning here: it is about something that the engine has not, or
  decides by itself.
- **refused**: an error.
- **absent**: in SQLite's header or source, and not in this build of it.
"""


class Row:
    def __init__(self, section, line, number):
        columns = line.split("\t")
        self.section, self.number = section, number
        self.how = columns[1] if len(columns) > 1 else ""
        self.note = columns[2] if len(columns) > 2 else ""
        self.claims = columns[3:]
        listed = columns[0].split() if section in NAMED else [columns[0]]
        self.names = [name.rstrip("+") for name in listed]
        self.newer = {name[:-1] for name in listed if name.endswith("+")}


def read_table():
    rows, section = [], ""
    for number, line in enumerate(TABLE.read_text("utf-8").splitlines(), 1):
        if line.startswith("["):
            section = line[1:line.index("]")]
        elif line and not line.startswith("#"):
            rows.append(Row(section, line, number))
    return rows


# ---- The page

def cell(text):
    return text.replace("|", "\\|")


def shown_names(row):
    if row.section not in NAMED:
        return row.names[0]
    return ", ".join(f"`{name}`" for name in row.names)


def table_of(rows):
    text = "\n| | | |\n|---|---|---|\n"
    for row in rows:
        text += re.sub(r"\|  (?=\|)", "| ",
                       f"| {cell(shown_names(row))} | {row.how} | {cell(row.note)} |\n")
    return text


def page(rows):
    text = PAGE_HEAD
    for section, title in SECTIONS.items():
        here = [row for row in rows if row.section == section]
        own = [row for row in here if row.how == "own" and not row.note]
        if section not in NAMED:
            own = []
        text += f"\n## {title}\n" + table_of([row for row in here if row not in own])
        names = sorted(name for row in own for name in row.names)
        if names:
            text += "\nSQLite's own: " + ", ".join(f"`{name}`" for name in names) + ".\n"
    newer = sorted(name for row in rows for name in row.newer)
    return text + "\nNewer than 3.40.1: " + ", ".join(f"`{name}`" for name in newer) + ".\n"


# ---- Checks

def problems_of_rows(rows):
    checks = set(re.findall(r'^ *\{"(\w+)", &SupportedTest::', CHECKS.read_text("utf-8"),
                            re.MULTILINE))
    tests = set()
    for path in [*HERE.glob("src/*_test.cc"), *HERE.glob("tests/*_test.cc")]:
        for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", path.read_text("utf-8"),
                                      re.MULTILINE):
            tests.add(f"{suite}.{name}")
    seen = set()
    for row in rows:
        where = f"supported.tsv:{row.number}: {row.names[0]}"
        if row.section not in SECTIONS:
            yield f"{where}: there is no section {row.section}"
        if row.how not in HOWS:
            yield f"{where}: {row.how!r} is none of {', '.join(HOWS)}"
        if row.how in ("differs", "refused", "absent") and not row.note:
            yield f"{where}: {row.how}, and the note does not say what"
        needed = row.how not in ("own", "absent") or row.section == "statement"
        if needed and not row.claims:
            yield f"{where}: has no claim"
        for name in row.names:
            if (row.section, name) in seen:
                yield f"{where}: {name} is there twice"
            seen.add((row.section, name))
        for claim in row.claims:
            if claim.startswith("@"):
                if claim[1:] not in checks:
                    yield f"{where}: supported_test.cc has no check {claim}"
            elif claim.startswith("test "):
                if claim[5:] not in tests:
                    yield f"{where}: there is no test {claim[5:]}"
            elif not claim.endswith(" ==") and " =>" not in claim:
                yield f"{where}: no claim: {claim}"


def version_of(source):
    return tuple(int(part) for part in VERSION.search((source / "sqlite3.h").read_text()).groups())


def names_of(rows, section):
    return {name: row for row in rows if row.section == section for name in row.names}


def compared(what, there, rows, version):
    """What is in SQLite's source against what the table has."""
    known = {name: row for row in rows for name in row.names}
    for name in sorted(there - known.keys()):
        yield f"{what} {name} is in no row of supported.tsv"
    for name in sorted(known.keys() - there):
        if name not in known[name].newer or version >= NEWER:
            yield f"supported.tsv:{known[name].number}: SQLite has no {what} {name}"


def statements_of(rule):
    """Those that a rule of SQLite's grammar is of; nothing where it is not known."""
    words = [word for word in rule.split() if word not in ("with", "createkw")]
    if words[0] in STATEMENTS:
        return STATEMENTS[words[0]]
    if words[0] in ("ALTER", "DROP"):
        return [" ".join(words[:2])]
    return words[0].split("|") if words[0].isupper() else []


def problems_of_source(rows, source):
    version = version_of(source)
    header = (source / "sqlite3.h").read_text("utf-8")
    code = (source / "sqlite3.c").read_text("utf-8")
    of = {section: [row for row in rows if row.section == section] for section in SECTIONS}
    yield from compared("function", set(FUNCTION.findall(header)), of["function"], version)
    pragmas = PRAGMAS.search(code)
    yield from compared("pragma", set(PRAGMA.findall(pragmas.group(1) if pragmas else "")),
                        of["pragma"], version)
    statements = {"EXPLAIN"} if '"explain ::= EXPLAIN"' in code else set()
    for rule in RULE.findall(code):
        found = statements_of(rule)
        if not found:
            yield f"supported.py does not know which statement `{rule}` is of"
        statements |= set(found)
    yield from compared("statement", statements, of["statement"], version)


def problems_of_symbols(rows, library, source):
    output = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", library], check=True,
                            capture_output=True, text=True).stdout
    exported = {line.split()[0].split("@")[0] for line in output.splitlines()
                if line.split()[1] == "T"}
    header = set(FUNCTION.findall((source / "sqlite3.h").read_text("utf-8")))
    known = names_of(rows, "function")
    for name in sorted(header & known.keys()):
        absent = known[name].how == "absent"
        if absent and name in exported:
            yield f"{name} is exported, and supported.tsv says that it is absent"
        elif not absent and name not in exported:
            yield f"{name} is not exported"
    for name in sorted(exported):
        if name.startswith("sqlite3") and name not in header:
            yield f"{name} is exported, and not in the header"


def main():
    arguments = sys.argv[1:]
    rows = read_table()
    if not arguments:
        PAGE.write_text(page(rows), "utf-8")
        return 0
    if arguments[0] == "--check" and len(arguments) <= 2:
        problems = list(problems_of_rows(rows))
        if not PAGE.exists() or PAGE.read_text("utf-8") != page(rows):
            problems.append("SUPPORTED.md is not what supported.py writes: run it")
        if len(arguments) == 2:
            problems += problems_of_source(rows, pathlib.Path(arguments[1]))
    elif arguments[0] == "--symbols" and len(arguments) == 3:
        problems = list(problems_of_symbols(rows, arguments[1], pathlib.Path(arguments[2])))
    else:
        print(__doc__)
        return 2
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
