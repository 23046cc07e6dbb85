#!/usr/bin/env python3
"""Writes src/sys/functions/*.rs and tests/layout.rs from the table of the C API's binary interface.

  declare.py ROOT           ROOT is the checkout, with tests/c_api/abi.txt and include/
  declare.py --check ROOT   fails where the files differ from what it would write

Run it when functions were added to the C API, and rustfmt behind it. Structures are written by hand
(src/sys/types.rs); tests/layout.rs compares them with the table.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent
PARTS = ["base", "options", "db", "access", "transaction", "cursor", "read_queue", "copies",
         "feed", "check"]
SCALARS = {"void": "c_void", "char": "c_char", "int": "c_int", "size_t": "usize",
           "uint8_t": "u8", "uint32_t": "u32", "int32_t": "i32", "uint64_t": "u64",
           "int64_t": "i64", "double": "f64"}
KEYWORDS = {"type", "match", "ref", "move", "in", "loop", "fn"}
CALLBACKS = set()
# Structures and types of which a field or member has another name in Rust.
FIELDS = {"type": "kind"}


def rust_name(name):
    """hawthorn_txn_options becomes TxnOptions."""
    return "".join(word.capitalize() for word in name[len("hawthorn_"):].split("_"))


def rust_type(text):
    text = text.strip()
    stars = text.count("*")
    const = text.startswith("const ")
    base = text.replace("*", "").replace("const ", "").strip()
    if base in SCALARS:
        out = SCALARS[base]
    elif base in CALLBACKS:
        out = f"Option<{rust_name(base)}>"
    else:
        out = rust_name(base)
    for star in range(stars):
        innermost = star == 0
        out = ("*const " if const and innermost else "*mut ") + out
    return out


def arguments(text):
    text = text.strip()
    if text in ("void", ""):
        return ""
    out = []
    for part in text.split(","):
        part = part.strip()
        array = re.search(r"\[\d*\]$", part)
        if array:
            part = part[:array.start()]
        kind, name = re.match(r"(.*?)(\w+)$", part).groups()
        if array:
            kind += "*"
        name = f"{name}_" if name in KEYWORDS else name
        out.append(f"{name}: {rust_type(kind)}")
    return ", ".join(out)


def returns(text):
    text = text.strip()
    return "" if text == "void" else f" -> {rust_type(text)}"


def main():
    check = "--check" in sys.argv
    root = pathlib.Path([a for a in sys.argv[1:] if not a.startswith("--")][0])
    table = (root / "tests/c_api/abi.txt").read_text().splitlines()
    rows = [line.split(" ", 1) for line in table if line and not line.startswith("#")]
    CALLBACKS.update(rest.split(" ", 1)[0] for kind, rest in rows if kind == "callback")
    where = {}
    for part in PARTS:
        text = (root / f"include/hawthorn/c/{part}.h").read_text()
        for name in re.findall(r"\b(hawthorn_\w+)\(", text):
            where.setdefault(name, part)
    files = {}
    for part in PARTS:
        lines = []
        for kind, rest in rows:
            match = kind == "function" and re.match(r"(.*?)(hawthorn_\w+)\((.*)\)$", rest)
            if match and where[match.group(2)] == part:
                result, name, args = match.groups()
                lines.append(f"pub fn {name}({arguments(args)}){returns(result)};")
        body = "\n".join(lines)
        files[f"src/sys/functions/{part}.rs"] = (
            f"//! Functions of hawthorn/c/{part}.h. Written by scripts/declare.py.\n\n"
            f"use crate::sys::types::*;\n\nextern \"C\" {{\n{body}\n}}\n")
    lines = []
    for kind, rest in rows:
        if kind == "callback":
            name, rest = rest.split(" ", 1)
            result, args = re.match(r"(.*?)\(\*\)\((.*)\)$", rest).groups()
            lines.append(f"pub type {rust_name(name)} = "
                         f"unsafe extern \"C\" fn({arguments(args)}){returns(result)};")
    files["src/sys/functions/callbacks.rs"] = (
        "//! Types of callbacks. Written by scripts/declare.py.\n\nuse crate::sys::types::*;\n\n"
        + "\n".join(lines) + "\n")
    tests = []
    for kind, rest in rows:
        words = rest.split()
        if kind == "constant":
            tests.append(f"assert_eq!({words[0][len('HAWTHORN_'):]} as i64, {words[1]});")
        elif kind == "struct":
            tests.append(f"assert_eq!(size_of::<{rust_name(words[0])}>(), {words[2]});")
        elif kind == "member":
            owner, member = words[0].split(".")
            member = FIELDS.get(member, member)
            tests.append(f"member!({rust_name(owner)}, {member}, {words[2]}, {words[4]});")
        elif kind == "type":
            tests.append(f"assert_eq!(size_of::<{rust_name(words[0])}>(), {words[2]});")
    files["src/sys/layout_test.rs"] = (
        "//! Sizes, offsets and numbers as the C API has them. Written by scripts/declare.py.\n\n"
        "use super::types::*;\nuse std::mem::{size_of, MaybeUninit};\n\n"
        "macro_rules! member {\n($owner:ty, $member:ident, $offset:expr, $size:expr) => {\n"
        "let owner = MaybeUninit::<$owner>::uninit();\nlet base = owner.as_ptr();\n"
        "let member = unsafe { std::ptr::addr_of!((*base).$member) };\n"
        "assert_eq!(member as usize - base as usize, $offset);\n"
        "assert_eq!(size_behind(member), $size);\n};\n}\n\n"
        "fn size_behind<T>(_: *const T) -> usize {\nsize_of::<T>()\n}\n\n"
        "#[test]\nfn layout_is_that_of_c() {\n" + "\n".join(tests) + "\n}\n")
    same = True
    for name, text in files.items():
        text = subprocess.run(["rustfmt", "--edition", "2021", "--config", "max_width=100"],
                              input=text, capture_output=True, text=True, check=True).stdout
        path = HERE / name
        if check:
            same = same and path.read_text() == text
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if not same:
        sys.exit("src/sys is not what scripts/declare.py writes: run it again")


main()
