#!/usr/bin/env python3
"""What of RocksDB's API there is, from the headers: SUPPORTED.md.

Each declaration of include/rocksdb/ is mapped (it does what it says), accepted (taken, without a
meaning here) or refused (NotSupported). Comments say which: `[mapped]`, `[accepted]` or `[refused]`
in the comment before a declaration or behind it. Members have what their class has, unless they
say otherwise; declarations at the top need a mark of their own, which also holds for those that
follow without a line between.

The C API has its marks in c_api.tsv.

  supported.py           writes SUPPORTED.md
  supported.py --check   fails when SUPPORTED.md is not what it would write, when a declaration has
                         no mark, or when a test names neither it nor its class; of the C API, what
                         is mapped needs a test; or when a member of options is in no table of
                         src/option_tables.cc
"""

import pathlib
import re
import sys

import c_api

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE / "include/rocksdb"
PAGE = HERE / "SUPPORTED.md"
HOWS = ("mapped", "accepted", "refused")
MARK = re.compile(r"\[(mapped|accepted|refused)\]\s*(.*)", re.DOTALL)

TYPE = re.compile(r"^(?:enum\s+class|enum|class|struct)\s+(\w+)")
USING = re.compile(r"^using\s+(\w+)\s*=")
# The last name before the parameters, an initializer or the end.
FUNCTION = re.compile(r"((?:operator\s*[^\s(]+(?:\(\))?)|~?\w+)\s*\(")
FIELD = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:=.*|\{.*\})?$", re.DOTALL)
POINTER_TO_FUNCTION = re.compile(r"\(\*(\w+)\)\(")

PAGE_HEAD = """# What of RocksDB's API there is

Of the headers in [include/rocksdb](include/rocksdb), written by `supported.py` from their marks,
and for the C API, whose headers are in [include/rocksdb/c](include/rocksdb/c), from
[c_api.tsv](c_api.tsv); `supported.py --check`, which is a test, compares the two, and looks for
each row in a test (of the C API, for each that is mapped). Level of the API: RocksDB 10.4. What is
not listed is not declared.

- **mapped**: does what RocksDB's documentation says, within the limits that the header names.
- **accepted**: taken, without a meaning here: it is about something that the engine has not, or
  decides by itself.
- **refused**: NotSupported where it is called, or where it is not its default.

"""


class Declaration:
    def __init__(self, name, how, note, kind):
        self.name, self.how, self.note, self.kind = name, how, note, kind


def statements(text):
    """(comment before, statement, comment behind, depth of braces, whether a line is empty before)
    of each declaration; a statement ends with `;` or `{`. `}` is one of its own."""
    comment, code, blank = [], [], False
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped:
            blank, comment = (True, []) if not code else (blank, comment)
            continue
        if stripped.startswith("#"):
            continue
        if stripped.startswith("//") and not code:
            comment.append(stripped[2:].strip())
            continue
        behind = ""
        if "//" in stripped:
            stripped, _, behind = stripped.partition("//")
            stripped, behind = stripped.strip(), behind.strip()
        if stripped:
            code.append(stripped)
        joined = " ".join(code)
        if joined.endswith((";", "{", "}", "};")) or joined.endswith("public:") or \
                joined in ("private:", "protected:") or joined.endswith(",") and "(" not in joined:
            yield " ".join(comment), joined, behind, blank
            comment, code, blank = [], [], False


def without_braces(text):
    """Takes away bodies in one line: `int f() { return 1; }` is `int f()`."""
    while True:
        shorter = re.sub(r"\{[^{}]*\}", "", text)
        if shorter == text:
            return text
        text = shorter


def parse(path):
    found, unmarked = [], []
    scopes = []  # (kind, name, how, visible)
    last_how = None

    def visible():
        return all(scope[3] for scope in scopes)

    for comment, code, behind, blank in statements(path.read_text("utf-8")):
        mark = MARK.search(comment) or MARK.search(behind)
        own = mark.group(1) if mark else None
        note = mark.group(2).strip() if mark else ""
        if mark and not MARK.search(behind) and not note:
            note = comment[:mark.start()].strip()
        if code.startswith("}"):
            if scopes:
                scopes.pop()
            if not code.endswith("{"):
                continue
        if code in ("public:", "private:", "protected:"):
            kind, name, how, _ = scopes[-1]
            scopes[-1] = (kind, name, how, code == "public:")
            continue
        if code.startswith("namespace"):
            scopes.append(("namespace", "", None, True))
            continue
        opens = code.endswith("{") and not without_braces(code).count("{") == 0
        inside = [scope for scope in scopes if scope[0] in ("class", "enum")]
        prefix = "::".join(scope[1] for scope in inside)
        inherited = inside[-1][2] if inside else None
        type_match = TYPE.match(code)
        in_function = any(scope[0] == "function" for scope in scopes)
        how = own or inherited or (last_how if not blank else None)
        if type_match and (opens or "{" in code):
            name = type_match.group(1)
            kind = "enum" if code.startswith("enum") else "class"
            if visible() and not in_function:
                if how is None:
                    unmarked.append(f"{path.name}: {name}")
                found.append(Declaration(join(prefix, name), how or "mapped", note, kind))
            if opens:
                hidden = kind == "class" and code.startswith("class")
                scopes.append((kind, name, how, not hidden))
            last_how = how
            continue
        if type_match and code.endswith(";"):
            continue  # a declaration of a type alone
        if in_function or not visible():
            if opens:
                scopes.append(("function", "", None, True))
            continue
        if inside and inside[-1][0] == "enum":
            if own:
                name = re.match(r"\w+", code).group(0)
                found.append(Declaration(join(prefix, name), own, note, "value"))
            continue
        name = name_of(code, inside[-1][1] if inside else None)
        if opens:
            scopes.append(("function", "", None, True))
        if name is None:
            continue
        if how is None:
            unmarked.append(f"{path.name}: {join(prefix, name)}")
        last_how = how
        found.append(Declaration(join(prefix, name), how or "mapped", note, "member"))
    return found, unmarked


def join(prefix, name):
    return f"{prefix}::{name}" if prefix else name


def name_of(code, of_class):
    """Of a function, a field or an alias; None for what has no row of its own."""
    using = USING.match(code)
    if using:
        return using.group(1)
    if code.startswith(("using ", "friend ", "template")) or "= delete" in code:
        return None
    text = without_braces(code).rstrip("{ ").rstrip(";").strip()
    pointer = POINTER_TO_FUNCTION.search(text)
    if pointer:
        return pointer.group(1)
    head = text.split("=")[0] if "operator" not in text else text
    function = FUNCTION.search(head)
    if function and not re.match(r".*std::function<", head):
        name = function.group(1).replace(" ", "")
        if of_class and name.lstrip("~") == of_class:
            return None  # constructors and destructors go with their class
        return name
    field = FIELD.search(re.sub(r"=.*", "", text, flags=re.DOTALL).strip())
    return field.group(1) if field else None


def rows():
    all_rows, unmarked = {}, []
    # Those of the C API are written from its table.
    for path in sorted(HEADERS.rglob("*.h")):
        if path.name == "c.h" or path.parent.name == "c":
            continue
        found, without = parse(path)
        unmarked += without
        merged = {}
        for declaration in found:
            known = merged.setdefault(declaration.name, declaration)
            if known is not declaration and declaration.note and not known.note:
                known.note = declaration.note
        all_rows[path.relative_to(HEADERS).as_posix()] = list(merged.values())
    topics, functions = c_api.read_table()
    for topic in topics:
        all_rows[f"c/{topic}.h"] = [
            Declaration(function.name, function.how, function.note, "function of C")
            for function in functions if function.topic == topic]
    return all_rows, unmarked


def page(all_rows):
    count = {how: 0 for how in HOWS}
    text = ""
    for header, declarations in all_rows.items():
        if not declarations:
            continue
        text += f"\n## rocksdb/{header}\n\n| | | |\n|---|---|---|\n"
        for declaration in declarations:
            count[declaration.how] += 1
            note = declaration.note.replace("|", "\\|")
            note = note[:1].upper() + note[1:]
            row = f"| `{declaration.name}` | {declaration.how} | {note} |\n"
            text += row.replace("|  |", "| |")
    totals = ", ".join(f"{count[how]} {how}" for how in HOWS)
    return PAGE_HEAD + f"Rows: {totals}.\n" + text


def untested(all_rows):
    files = [path for end in ("*_test*.cc", "*_test_*.h", "*_test*.c")
             for path in sorted(HERE.rglob(end))]
    tests = "".join(path.read_text("utf-8") for path in files)
    words = set(re.findall(r"\w+", tests))
    # Macros of the tests of the C API, which set a field and read it.
    for fields in re.findall(r"\b(?:FIELD|FLAG)\(([^)]*)\)", tests):
        named = [word.strip() for word in fields.split(",")]
        for name in named[1:]:
            words |= {f"rocksdb_{named[0]}_set_{name}", f"rocksdb_{named[0]}_get_{name}"}
    for header, declarations in all_rows.items():
        for declaration in declarations:
            if declaration.kind == "function of C" and declaration.how != "mapped":
                continue
            parts = declaration.name.split("::")
            if parts[-1].startswith("operator"):
                continue
            named = parts[-1] in words or any(
                other.name.startswith(declaration.name + "::") for other in declarations)
            if not named and declaration.kind != "enum":
                yield f"{header}: {declaration.name} is in no test"


def without_text(all_rows):
    """Members of options that neither have a text nor are said to have none."""
    source = (HERE / "src/option_tables.cc").read_text("utf-8")
    tables = {}
    for table in re.split(r"using Of = rocksdb::", source)[1:]:
        of = re.match(r"\w+", table).group(0)
        words = re.findall(r"\w+", re.sub(r'"[^"]*"', "", table))
        tables.setdefault(of, set()).update(words)
    tables["AdvancedColumnFamilyOptions"] = tables["ColumnFamilyOptions"]
    tables["ShardedCacheOptions"] = tables["LRUCacheOptions"]
    for header, declarations in all_rows.items():
        text = (HEADERS / header).read_text("utf-8")
        for declaration in declarations:
            of, _, name = declaration.name.partition("::")
            if of not in tables or declaration.kind != "member" or re.match(r"k[A-Z]", name) or \
                    re.search(rf"\b{name}\(|using {name}\b", text):
                continue
            if name not in tables[of]:
                yield f"{header}: {declaration.name} is in no table of options"


def main():
    all_rows, unmarked = rows()
    written = page(all_rows)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(written, "utf-8")
        return 0
    problems = [f"{name} has no mark" for name in unmarked]
    if not PAGE.exists() or PAGE.read_text("utf-8") != written:
        problems.append("SUPPORTED.md is not what supported.py writes: run it")
    problems += list(untested(all_rows))
    problems += list(without_text(all_rows))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
