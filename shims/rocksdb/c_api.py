#!/usr/bin/env python3
"""The table of RocksDB's C API, c_api.tsv, and the headers that are written from it.

  c_api.py                  writes include/rocksdb/c/*.h
  c_api.py --check          fails when they are not what it would write, or the table has mistakes
  c_api.py --symbols FILE   fails when the shared library exports other functions of the C API
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "c_api.tsv"
HEADERS = HERE / "include/rocksdb/c"
SINCE = ("10.4", "older", "newer")
HOWS = ("mapped", "accepted", "refused")
TOPIC = re.compile(r"\[(\w+)\] (.*)")
COLUMNS = 100
# Of RocksDB 10.4.2.
FUNCTIONS_OF_10_4 = 942


class Function:
    def __init__(self, topic, line):
        fields = line.split("\t")
        self.topic = topic
        self.name, self.since, self.returns, self.parameters, self.how = fields[:5]
        self.note = fields[5] if len(fields) > 5 else ""
        if self.how == "refused" and not self.note and "errptr" not in self.parameters:
            self.note = ("does nothing" if self.returns == "void" else
                         "returns null" if "*" in self.returns else "returns 0")

    def prototype(self):
        first = f"{self.returns} {self.name}("
        line = f"{first}{self.parameters});"
        if len(line) <= COLUMNS:
            return line + "\n"
        lines = [""]
        for part in self.parameters.split(", "):
            if len(lines[-1]) + len(part) > COLUMNS - 8:
                lines.append("")
            lines[-1] += part + ", "
        wrapped = "\n    ".join(line.rstrip() for line in lines)
        return f"{first}\n    {wrapped.removesuffix(',')});\n"


def read_table():
    """The topics with what they are about, and all functions."""
    topics, functions, topic = {}, [], None
    for line in TABLE.read_text("utf-8").splitlines():
        heading = TOPIC.match(line)
        if heading:
            topic = heading.group(1)
            topics[topic] = heading.group(2)
        elif line and not line.startswith("#"):
            functions.append(Function(topic, line))
    return topics, functions


def header(topic, about, functions):
    text = f"""#pragma once
// {about}
//
// Written by c_api.py from c_api.tsv, which says of each function whether it is mapped, accepted or
// refused. Included by rocksdb/c.h, which has the conventions and the types.
// clang-format off

#ifndef HAWTHORN_ROCKSDB_C_H
#error "include rocksdb/c.h"
#endif

#ifdef __cplusplus
extern "C" {{
#endif

"""
    for since, what in (("10.4", ""), ("older", "// Of versions before 10.4.\n"),
                        ("newer", "// Of versions behind 10.4.\n")):
        own = [f.prototype() for f in functions if f.topic == topic and f.since == since]
        if own:
            text += what + "".join(own) + "\n"
    return text + """#ifdef __cplusplus
}
#endif
"""


def headers():
    topics, functions = read_table()
    return {HEADERS / f"{topic}.h": header(topic, about, functions)
            for topic, about in topics.items()}


def problems_of_table():
    _, functions = read_table()
    names = [function.name for function in functions]
    for name in {name for name in names if names.count(name) > 1}:
        yield f"{name} stands in the table twice"
    count = sum(function.since == "10.4" for function in functions)
    if count != FUNCTIONS_OF_10_4:
        yield f"{count} functions of 10.4, and not {FUNCTIONS_OF_10_4}"
    for function in functions:
        if function.since not in SINCE or function.how not in HOWS:
            yield f"{function.name}: {function.since}, {function.how}"
    for path, text in headers().items():
        if not path.exists() or path.read_text("utf-8") != text:
            yield f"{path.name} is not what c_api.py writes: run it"
    for path in HEADERS.glob("*.h"):
        if path not in headers():
            yield f"{path.name} is of no topic"


def problems_of_symbols(library):
    output = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                            capture_output=True, text=True).stdout
    exported = set(re.findall(r" T (rocksdb_\w+)(?:@.*)?$", output, re.MULTILINE))
    table = {function.name for function in read_table()[1]}
    for name in sorted(table - exported):
        yield f"{name} is not exported"
    for name in sorted(exported - table):
        yield f"{name} is exported, and not in the table"


def main():
    arguments = sys.argv[1:]
    if not arguments:
        HEADERS.mkdir(exist_ok=True)
        for path, text in headers().items():
            path.write_text(text, "utf-8")
        return 0
    problems = list(problems_of_table())
    if arguments[0] == "--symbols":
        problems += problems_of_symbols(arguments[1])
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
