#!/usr/bin/env python3
"""Makes sqlite3.c call Hawthorn: the mechanical step behind the SQLite shim.

    prepare.py SOURCE OUT

SOURCE holds an amalgamation (sqlite3.c, sqlite3.h), any recent version; OUT gets sqlite3.c with

 1. each function that src/dispatch*.c define renamed, where SQLite defines it, to stock_NAME;
 2. members of the shim in its structures Btree, BtCursor, Pager, Parse, sqlite3 and
    sqlite3_backup;
 3. BEGIN CONCURRENT understood: where CONCURRENT is behind BEGIN the parser gets DEFERRED, and the
    program that begins the transaction an operand;
 4. src/dispatch*.c included behind its last line.

A function is renamed inside of the file that defines it, its own calls there included: the stock
B-tree calls itself. Everything else calls the dispatcher, which asks whose the database is. What is
not found stops the build: then this version of SQLite is not one that the shim knows.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
DISPATCH = [HERE / "src" / name for name in
            ("dispatch.c", "dispatch_pager.c", "dispatch_cursors.c", "dispatch_checks.c",
             "dispatch_copy.c", "dispatch_compare.c", "dispatch_backup.c")]
DEFINED = re.compile(r"^(?:SQLITE_PRIVATE|SQLITE_API)\b[^;{]*?\b(sqlite3\w+)\s*\([^;{]*?\)\s*\{",
                     re.MULTILINE)
END = "/************** End of %s *"


class Unknown(Exception):
    pass


def defined_names(dispatch):
    return DEFINED.findall(dispatch)


def regions(text):
    """(name, start, end) of each file of the amalgamation that is no part of another one."""
    found = []
    for begin in re.finditer(r"^/\*{14} Begin file (\S+) \*+/$", text, re.MULTILINE):
        if found and begin.start() < found[-1][2]:
            continue
        end = text.find(END % begin.group(1), begin.end())
        if end < 0:
            raise Unknown("no end of " + begin.group(1))
        found.append((begin.group(1), begin.end() + 1, end))
    return found


def declaration(text, name):
    match = re.search(r"^SQLITE_(?:PRIVATE|API)\b[^;{}]*?\b%s\s*\([^;{}]*?\);" % name, text,
                      re.MULTILINE)
    if match is None:
        raise Unknown("no declaration of " + name)
    return match.group(0)


def file_of(text, files, name):
    """The file that defines a function."""
    pattern = re.compile(r"^SQLITE_(?:PRIVATE|API)\b[^;{}]*?\b%s\s*\([^;{}]*?\)\s*\{" % name,
                         re.MULTILINE)
    for file in files:
        if name in text[file[1]:file[2]] and pattern.search(text, file[1], file[2]):
            return file
    raise Unknown("no definition of " + name)


def with_member(text, structure, behind, member):
    match = re.search(r"^struct %s \{.*?^\};" % structure, text, re.MULTILINE | re.DOTALL)
    if match is None:
        raise Unknown("no struct " + structure)
    at = match.group(0).find(behind)
    if at < 0:
        raise Unknown("struct %s has no %s" % (structure, behind))
    at += match.start() + len(behind)
    at = text.index("\n", at) + 1
    return text[:at] + "  " + member + "\n" + text[at:]


# Structure, behind which of its members, and what. Of a cursor's, behind the state, which comes
# first, and among what is cleared before a cursor is opened.
MEMBERS = [
    ("Btree", "sqlite3 *db;", "struct HwConnection *hawthorn;\n"
     "  char *hawthornName;\n  unsigned char hawthornSync;\n"
     "  unsigned char hawthornVacuum;\n  unsigned char hawthornFixed;\n"
     "  unsigned char hawthornModeChanges;"),
    ("BtCursor", "Btree *pBtree;", "struct HwCursor *hawthorn;"),
    ("Pager", "sqlite3_vfs *pVfs;", "const char *hawthornName;\n  unsigned char hawthornMode;\n"
     "  unsigned char hawthornLocking;\n  int hawthornLog;\n"
     "  sqlite3_file hawthornFile;\n  struct HwConnection *hawthornOf;"),
    ("Parse", "u8 nested;", "unsigned char hawthornConcurrent;"),
    ("sqlite3", "u8 autoCommit;", "unsigned char hawthornConcurrent;\n"
     "  unsigned char hawthornConflict;"),
    ("sqlite3_backup", "pDestDb;", "struct HwBackup *hawthorn;"),
]

# BEGIN CONCURRENT, from the parser to the program: how often what is there, and what replaces it.
CONCURRENT = [
    (1, "    sqlite3Parser(pEngine, tokenType, pParse->sLastToken);",
     "    if( tokenType==TK_ID && lastTokenParsed==TK_BEGIN && n==10\n"
     "     && sqlite3_strnicmp(zSql, \"concurrent\", 10)==0 ){\n"
     "      tokenType = TK_DEFERRED;\n"
     "      pParse->hawthornConcurrent = 1;\n"
     "    }\n"
     "    sqlite3Parser(pEngine, tokenType, pParse->sLastToken);"),
    (1, "sqlite3VdbeAddOp0(v, OP_AutoCommit);",
     "sqlite3VdbeAddOp3(v, OP_AutoCommit, 0, 0, pParse->hawthornConcurrent);"),
    (1, "      db->autoCommit = (u8)desiredAutoCommit;",
     "      db->autoCommit = (u8)desiredAutoCommit;\n"
     "      if( !desiredAutoCommit ) db->hawthornConcurrent = (u8)pOp->p3;"),
    # Where COMMIT and RELEASE leave the transaction open.
    (2, "p->rc = rc = SQLITE_BUSY;",
     "p->rc = rc = db->hawthornConflict ? SQLITE_BUSY_SNAPSHOT : SQLITE_BUSY;"),
]

# Of an index that is emptied nobody asks how many entries it had.
CLEAR = [
    (1, "rc = sqlite3BtreeClearTable(db->aDb[pOp->p2].pBt, (u32)pOp->p1, &nChange);",
     "rc = sqlite3BtreeClearTable(db->aDb[pOp->p2].pBt, (u32)pOp->p1, pOp->p3 ? &nChange : 0);"),
]


def with_replacements(text):
    for count, old, new in CONCURRENT + CLEAR:
        if text.count(old) != count:
            raise Unknown("%d times, not %d: %s" % (text.count(old), count, old.strip()))
        text = text.replace(old, new)
    return text


def with_members(text, required=True):
    """The shim's members in these structures; in those that are there where not required."""
    for structure, behind, member in MEMBERS:
        if required or "\nstruct %s {" % structure in text:
            text = with_member(text, structure, behind, member)
    return text


def known_names(text, dispatch):
    """Of the functions that the dispatcher defines those that this version has; and what tells it
    so, of those that it has for some versions alone."""
    names = []
    defines = ""
    for name in defined_names(dispatch):
        guard = "HW_HAVE_" + name
        if guard not in dispatch:
            names.append(name)
        elif re.search(r"\b%s\s*\(" % name, text):
            names.append(name)
            defines += "#define %s\n" % guard
    return names, defines


def prepare(text, paths):
    dispatch = "".join(path.read_text() for path in paths)
    names, defines = known_names(text, dispatch)
    files = regions(text)
    by_file = {}
    for name in names:
        by_file.setdefault(file_of(text, files, name), []).append(name)
    declarations = {name: declaration(text, name) for name in names}
    for file in sorted(by_file, key=lambda f: f[1], reverse=True):
        own = by_file[file]
        before = "".join("#define %s stock_%s\n" % (name, name) for name in own)
        before += "".join(declarations[name].replace("SQLITE_API", "SQLITE_PRIVATE") + "\n"
                          for name in own)
        after = "".join("#undef %s\n" % name for name in own)
        body = text[file[1]:file[2]]
        for name in own:
            # What was a part of the API is the dispatcher's now.
            body = re.sub(r"^SQLITE_API(\b[^;{}]*?\b%s\s*\([^;{}]*?\)\s*\{)" % name,
                          r"SQLITE_PRIVATE\1", body, flags=re.MULTILINE)
        text = text[:file[1]] + before + body + after + text[file[2]:]
    text = with_replacements(with_members(text))
    check = declarations["sqlite3BtreeIntegrityCheck"]
    if "aCnt" in check:
        defines += "#define HW_CHECK_COUNTS\n"
    if "pzOut" in check:
        defines += "#define HW_CHECK_RETURNS_CODE\n"
    if "KeyInfo" in declaration(text, "sqlite3VdbeRecordUnpack"):
        defines += "#define HW_UNPACKS_BY_KEYINFO\n"
    return text + defines + "".join('#include "%s"\n' % path for path in paths)


def main():
    source, out = (pathlib.Path(argument) for argument in sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    text = (source / "sqlite3.c").read_text()
    try:
        made = prepare(text, DISPATCH)
    except Unknown as error:
        sys.exit("prepare.py: %s: %s" % (source / "sqlite3.c", error))
    (out / "sqlite3.c").write_text(made)


if __name__ == "__main__":
    main()
