#!/usr/bin/env python3
"""What of libmdbx's and LMDB's API there is, from the headers: SUPPORTED.md.

Each declaration of include/ is mapped (it does what it says), accepted (taken, without a meaning
here) or refused (ENOSYS). Comments say which: `[mapped]`, `[accepted]` or `[refused]`, in the
comment before a declaration, which also holds for those that follow without a line between, or in
the one behind it. Enumerators and members have what their type has, unless they say otherwise;
members have no row of their own then.

  supported.py                            writes SUPPORTED.md
  supported.py --check                    fails when SUPPORTED.md is not what it would write, when a
                                          declaration has no mark, or when no test names a function
                                          or a constant that is mapped
  supported.py --symbols LIBRARY FLAVOUR  fails when a shared library does not export the functions
                                          of a flavour (mdbx13, mdbx14, lmdb), or exports others
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE / "include"
PAGE = HERE / "SUPPORTED.md"
HOWS = ("mapped", "accepted", "refused")

MDBX_HEADERS = "common/hawthorn_mdbx"
# What compilers differ in is the same as in the originals, and has no marks.
WITHOUT_MARKS = ("compiler.h",)
TOPICS = ("types", "errors", "environment", "transactions", "tables", "operations", "cursors",
          "readers", "limits", "statistics", "checks", "debug")
FLAVOURS = {"mdbx13": 13, "mdbx14": 14, "lmdb": 0}

MARK = re.compile(r"\[(mapped|accepted|refused)\]")
CONDITION = re.compile(r"#\s*if\s+HAWTHORN_MDBX_API\s*(>=|<)\s*14$")
DEFINE = re.compile(r"#\s*define\s+(\w+)(\()?\s*(.*)", re.DOTALL)
ENUM = re.compile(r"(?:typedef\s+)?enum\s+(\w+)\s*\{")
STRUCT = re.compile(r"(?:typedef\s+|extern\s+.*?)?struct\s+(\w+)\s*\{.*\}\s*(\w*);", re.DOTALL)
INLINE = re.compile(r"LIBMDBX_INLINE_API\(\s*[\w\s*]+?,\s*(\w+),")
FUNCTION_TYPE = re.compile(r"(?:HAWTHORN_MDBX_CALLBACK)?\(\*?(\w+)\)\(")
ALIAS = re.compile(r"(\w+);$")
FUNCTION = re.compile(r"(\w+)\(")
DECLARATOR = re.compile(r"(\w+)\s*(?:\[\d+\])?\s*(?=[,;])")
# Macros that look like functions: that of a type, and an attribute.
MACROS_WITHIN = re.compile(r"HAWTHORN_MDBX_POINTER\((\w+)\)|MDBX_PRINTF_ARGS\([^)]*\)")
# What linkers add to every library.
LINKER_SYMBOLS = {"_init", "_fini", "__bss_start", "_edata", "_end"}

PAGE_HEAD = """# What of libmdbx's and LMDB's API there is

Of the headers in [include](include), written by `supported.py` from their marks;
`supported.py --check`, which is a test, compares the two, and looks for each function and constant
that is mapped in a test. Level of the APIs: libmdbx 0.13.11 and 0.14, LMDB 0.9.33. What is not
listed is not declared.

- **mapped**: does what the original's documentation says, within the limits that the header names.
- **accepted**: taken, without a meaning here: it is about something that the engine has not, or
  decides by itself.
- **refused**: gives MDBX_ENOSYS, or ENOSYS of LMDB's functions, always.

"""


class Declaration:
    def __init__(self, name, how, note, kind):
        self.name, self.how, self.note, self.kind = name, how, note, kind


def lines_of_flavour(text, api):
    """The lines that a C compiler would see, with comments and definitions; what depends on another
    macro than the flavour's is taken as of a C program that has defined none."""
    taken = []  # of each #if that is open: whether its lines count
    for line in text.replace("\\\n", " ").splitlines():
        stripped = line.strip()
        condition = CONDITION.match(stripped)
        if condition:
            taken.append((api >= 14) == (condition.group(1) == ">="))
        elif re.match(r"#\s*if", stripped):
            taken.append(not re.match(r"#\s*if(def|\s+defined\()", stripped))
        elif re.match(r"#\s*else", stripped):
            taken[-1] = not taken[-1]
        elif re.match(r"#\s*endif", stripped):
            taken.pop()
        elif all(taken):
            yield stripped


def split_comment(line):
    code, _, comment = line.partition("//")
    return code.strip(), comment.strip()


def blocks(lines):
    """(comment before, lines of the declaration, whether a line is empty before) of each
    declaration or definition."""
    comment, block, blank, depth = [], [], True, 0
    for line in lines:
        code, behind = split_comment(line)
        if not block:
            if not code and behind:
                comment.append(behind)
                continue
            if not code:
                comment, blank = [], True
                continue
        block.append(line)
        depth += sum(code.count(c) for c in "({") - sum(code.count(c) for c in ")}")
        whole = depth == 0 and (code.endswith((";", "}")) or block[0].startswith("#") or
                                block[0].startswith("HAWTHORN_MDBX_ENUM_OPERATORS"))
        if whole:
            yield " ".join(comment), block, blank
            comment, block, blank = [], [], False


def mark_and_note(comment):
    """The mark in a comment, or None, and its text without the mark."""
    mark = MARK.search(comment)
    if not mark:
        return None, comment
    return mark.group(1), " ".join((comment[:mark.start()] + comment[mark.end():]).split())


def commented(lines):
    """(code, its mark or None, note) of each line within a type: a comment is behind it, or
    before."""
    pending = []
    for line in lines:
        code, behind = split_comment(line)
        comments = pending + [behind] if behind else pending
        if code:
            yield code, *mark_and_note(" ".join(comments))
        pending = comments if behind and not code else []


def enumerators(lines, how):
    for code, own, note in commented(lines):
        yield Declaration(re.match(r"\w+", code).group(0), own or how, note, "constant")


def members(lines, prefix):
    """Those of a struct that have a mark of their own."""
    for code, own, note in commented(lines):
        for name in DECLARATOR.findall(code) if own else ():
            yield Declaration(f"{prefix}.{name}", own, note, "member")


def name_and_kind(code):
    """Of what is neither an enum nor a struct with members; None for what has no row."""
    define = DEFINE.match(code)
    if define:
        name, parameters, value = define.groups()
        # Without a value it only keeps a header from being read twice.
        return (name, "macro" if parameters else "constant") if value else None
    if code.startswith(("#", "HAWTHORN_MDBX_ENUM_OPERATORS")):
        return None
    inline = INLINE.search(code)
    if inline:
        return inline.group(1), "inline function"
    code = MACROS_WITHIN.sub(lambda match: match.group(1) or "", code)
    if code.startswith("typedef"):
        named = FUNCTION_TYPE.search(code) or FUNCTION.search(code) or ALIAS.search(code)
        return named.group(1), "type"
    name = FUNCTION.search(code).group(1)
    return name, "inline function" if "__inline" in code else "function"


def parse(path, api):
    found, unmarked, last_how = [], [], None
    for comment, lines, blank in blocks(lines_of_flavour(path.read_text("utf-8"), api)):
        code = "\n".join(split_comment(line)[0] for line in lines)
        behind = split_comment(lines[0])[1] if len(lines) == 1 else ""
        own, note = mark_and_note(" ".join(filter(None, (comment, behind))))
        how = own or (last_how if not blank else None)
        enum, struct = ENUM.match(code), STRUCT.match(code)
        declarations = []
        if enum:
            declarations.append(Declaration(enum.group(1), how, note, "type"))
            declarations += enumerators(lines[1:-1], how)
        elif struct:
            variable = code.startswith("extern")
            name = struct.group(2) if variable else struct.group(1)
            declarations.append(Declaration(name, how, note, "variable" if variable else "type"))
            declarations += members(lines[1:-1], name)
        else:
            named = name_and_kind(code)
            if named is None:
                continue
            declarations.append(Declaration(named[0], how, note, named[1]))
        unmarked += [f"{path.name}: {declaration.name}" for declaration in declarations
                     if declaration.how is None]
        found += declarations
        last_how = how
    return found, unmarked


def headers_of(flavour):
    if flavour == "lmdb":
        return [INCLUDE / "lmdb/lmdb.h"]
    return [INCLUDE / MDBX_HEADERS / f"{topic}.h" for topic in TOPICS]


def problems_of_topics():
    """A header that is in no table."""
    known = {f"{topic}.h" for topic in TOPICS} | set(WITHOUT_MARKS)
    for path in sorted((INCLUDE / MDBX_HEADERS).glob("*.h")):
        if path.name not in known:
            yield f"{path.name} is in no table: supported.py has the topics"


def rows():
    """Header -> [(declaration, which flavour alone has it, or "")], and what has no mark."""
    all_rows, unmarked = {}, []
    for path in headers_of("mdbx13"):
        each = {}
        for api in (13, 14):
            each[api], without = parse(path, api)
            unmarked += [name for name in without if name not in unmarked]
        keys = {api: {(d.name, d.how) for d in each[api]} for api in each}
        merged = [(d, "" if (d.name, d.how) in keys[13] else "0.14") for d in each[14]]
        # Those of 0.13 stand behind what they follow there.
        last = -1
        for declaration in each[13]:
            key = (declaration.name, declaration.how)
            if key in keys[14]:
                last = next(i for i, (d, _) in enumerate(merged) if (d.name, d.how) == key)
            else:
                last += 1
                merged.insert(last, (declaration, "0.13"))
        all_rows[path] = merged
    for path in headers_of("lmdb"):
        found, without = parse(path, 0)
        unmarked += without
        all_rows[path] = [(declaration, "") for declaration in found]
    return all_rows, unmarked


def page(all_rows):
    count = {how: 0 for how in HOWS}
    text = ""
    for path, declarations in all_rows.items():
        api = "LMDB" if path.name == "lmdb.h" else "libmdbx"
        link = path.relative_to(HERE).as_posix()
        text += f"\n## {api}: [{path.name}]({link})\n\n"
        about = "| Name | | {}What it is, or why |\n|---|---|{}---|\n"
        text += about.format("", "") if api == "LMDB" else about.format("Only in | ", "---|")
        for declaration, only in declarations:
            if declaration.how is None:
                continue
            count[declaration.how] += 1
            note = declaration.note.replace("|", "\\|")
            cells = [f"`{declaration.name}`", declaration.how, note[:1].upper() + note[1:]]
            if api == "libmdbx":
                cells.insert(2, only)
            text += re.sub(r"\|  (?=\|)", "| ", "| " + " | ".join(cells) + " |") + "\n"
    totals = ", ".join(f"{count[how]} {how}" for how in HOWS)
    return PAGE_HEAD + f"Rows: {totals}.\n" + text


def untested(all_rows):
    files = sorted((HERE / "src").rglob("*_test*")) + sorted((HERE / "tests").rglob("*"))
    words = set()
    for path in files:
        if path.is_file():
            words |= set(re.findall(r"\w+", path.read_text("utf-8", errors="replace")))
    for path, declarations in all_rows.items():
        for declaration, _ in declarations:
            tested = declaration.kind not in ("type", "member") and declaration.how == "mapped"
            if tested and declaration.name not in words:
                yield f"{path.name}: {declaration.name} is in no test"


def problems_of_symbols(library, flavour):
    output = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", library], check=True,
                            capture_output=True, text=True).stdout
    # Symbols of type A are the names of versions.
    exported = {line.split()[0].split("@")[0] for line in output.splitlines()
                if line.split()[1] != "A"}
    needed, inline = set(), set()
    for path in headers_of(flavour):
        for declaration in parse(path, FLAVOURS[flavour])[0]:
            if declaration.kind == "inline function":
                inline.add(declaration.name)
            elif declaration.kind in ("function", "variable"):
                needed.add(declaration.name)
    for name in sorted(needed - exported):
        yield f"{name} is not exported"
    # Functions that the header has inline may be exported too, as libmdbx does.
    for name in sorted(exported - needed - inline - LINKER_SYMBOLS):
        yield f"{name} is exported, and not in the header"


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--symbols"]:
        if len(arguments) != 3 or arguments[2] not in FLAVOURS:
            print(f"supported.py --symbols LIBRARY {'|'.join(FLAVOURS)}")
            return 2
        problems = list(problems_of_symbols(*arguments[1:]))
    else:
        all_rows, unmarked = rows()
        written = page(all_rows)
        if not arguments:
            PAGE.write_text(written, "utf-8")
            return 0
        if arguments != ["--check"]:
            print(__doc__)
            return 2
        problems = [f"{name} has no mark" for name in unmarked] + list(problems_of_topics())
        if not PAGE.exists() or PAGE.read_text("utf-8") != written:
            problems.append("SUPPORTED.md is not what supported.py writes: run it")
        problems += untested(all_rows)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
