#!/usr/bin/env python3
"""Makes Markdown of the public headers: one page for each, of their plain `//` comments.

    scripts/api_reference.py FOLDER     writes cpp/NAME.md, c/NAME.md and an index of each

A page is the comment at the head of its header, then each declaration with what stands above it. A
comment is about all declarations that follow it without an empty line. Left out are what is
private, what is hidden from programs (HAWTHORN_HIDDEN), and what only declares names.

Not a parser of C++: it counts braces, and relies on how headers are written here.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = REPOSITORY / "include" / "hawthorn"
NO_PAGE = {"hawthorn.h", "export.h", "c.h"}  # these only include others, or define macros

FORWARD = re.compile(r"^(class|struct|enum class|union)\s+\w+(\s*:\s*\w+)?;$")
TYPE = re.compile(r"^(?:template <[^>]*>\s+)?(?:typedef\s+)?(class|struct|enum class|enum|union)\s+"
                  r"(?:\[\[nodiscard\]\]\s+)?(?:HAWTHORN_EXPORT\s+)?([\w:]*)")
CODE = re.compile(r"[;{]\s*(//.*)?$|->|^\w.*\)$")
IDENTIFIER = re.compile(
    r"\b(?:~?[A-Za-z_]\w*(?:::~?\w+)+(?:\(\))?|k[A-Z]\w+|HAWTHORN_\w+|hawthorn_\w+(?:\(\))?"
    r"|[a-z]\w*\(\)(?:\.\w+)?|[a-z]+_\w+)|(?<![\w*])\*[a-z]\w*")
HEADER_NAME = re.compile(r"\b((?:c/)?[a-z_]+)\.h\b")
DOCUMENT = re.compile(r"\bdocs/([a-z0-9-]+)\.md\b")
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//.*')


@dataclasses.dataclass
class Item:
    """One declaration, or several under one comment."""
    comment: list = dataclasses.field(default_factory=list)
    declarations: list = dataclasses.field(default_factory=list)  # each a list of lines


def bare(line):
    """The line without strings and comments, for counting braces."""
    return STRING_OR_COMMENT.sub("", line)


def is_complete(lines):
    """Whether these lines are a whole declaration: ended by `;`, or by the brace of a body."""
    text = "\n".join(bare(line) for line in lines)
    if text.count("(") != text.count(")") or text.count("{") != text.count("}"):
        return False
    text = text.rstrip()
    return text.endswith(";") or text.endswith("}")


def split_items(lines):
    """Items of a namespace's or a class's body, with None where `private:` and the like stand."""
    items, current, at = [], Item(), 0

    def close():
        nonlocal current
        if current.comment or current.declarations:
            items.append(current)
        current = Item()

    while at < len(lines):
        line = lines[at].strip()
        if not line:
            close()
        elif line in ("public:", "private:", "protected:"):
            close()
            items.append(line[:-1])
        elif line.startswith("//"):
            if current.declarations:
                close()
            current.comment.append(line)
        elif line.startswith("#"):
            define = [lines[at]]
            while lines[at].endswith("\\"):
                at += 1
                define.append(lines[at])
            if line.startswith("#define ") and line.split()[1].endswith("_INIT"):
                current.declarations.append(define)
            elif re.match(r"#define HAWTHORN_[A-Z]+ \(", line):
                current.declarations.append(define)
        else:
            declaration = [lines[at]]
            while not is_complete(declaration) and at + 1 < len(lines):
                at += 1
                declaration.append(lines[at])
            current.declarations.append(declaration)
        at += 1
    close()
    return items


def body_of(declaration):
    """The lines between the outermost braces of a class."""
    text = "\n".join(declaration)
    return text[text.index("{") + 1:text.rindex("}")].split("\n")


def without_indent(lines):
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    least = min(indents, default=0)
    return [line[least:] for line in lines]


def name_of(declaration):
    text = " ".join(line.strip() for line in declaration)
    for pattern in (r"^#define (\w+)", r"^using (\w+)", r"^typedef .*?(\w+);$", r"(operator\W+?)\(",
                    r"\(\*(\w+)\)\(", r"(~?\w+)\((?!\()", r"(\w+)\s*(?:=[^=].*)?;"):
        found = re.search(pattern, text)
        if found:
            return found.group(1)
    return text[:40]


def is_shown(declaration):
    text = " ".join(line.strip() for line in declaration)
    return not (FORWARD.match(text) or "HAWTHORN_HIDDEN" in text.split("{")[0]
                or text.startswith("friend ") or re.match(r"^inline .*\w::\w+\(", text)
                or text.endswith("= delete;") or text.startswith("namespace ")
                or text.startswith("extern ") or re.match(r"^typedef struct (\w+) \1;$", text)
                or re.match(r"^static_assert", text))


def is_special(declaration, owner):
    """Destructors, and what moves and copies: not worth a heading where nothing is said of them."""
    text = " ".join(line.strip() for line in declaration)
    return bool(re.match(rf"^(virtual |explicit )?~?{owner}\(({owner}(&&|\s)[^)]*|const {owner}&"
                         rf"[^)]*|std::unique_ptr<Impl>[^)]*|)\)", text)
                or text.startswith(f"{owner}& operator="))


def cleaned(declaration):
    """As a reader wants it: no macros of visibility, and no bodies of inline functions."""
    lines = without_indent(declaration)
    text = "\n".join(lines)
    text = re.sub(r"HAWTHORN_(EXPORT|C_API)\s+", "", text)
    if not TYPE.match(text.lstrip()) and not text.startswith("#") and "{" in bare(text):
        if re.search(r"\)[^;{]*\{", text):
            text = re.sub(r"\s*(?:: \w+_\([^{]*)?\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}$", ";", text)
    if "HAWTHORN_C_API" in "\n".join(lines) or "HAWTHORN_EXPORT" in "\n".join(lines):
        parts = text.split("\n")  # arguments stay under the first one
        if len(parts) > 1 and not TYPE.match(parts[0]) and "(" in parts[0]:
            column = parts[0].index("(") + 1
            text = "\n".join([parts[0]] + [" " * column + part.strip() for part in parts[1:]])
    return text.rstrip()


class Page:
    """One header as Markdown."""

    def __init__(self, path, language):
        self.language = language
        self.name = path.name
        self.out = []
        lines = path.read_text("utf-8").split("\n")
        self.lines = [line for line in lines if line != "#pragma once"]

    def text_of(self, text):
        """Prose of a comment, with names as code and links to other pages."""
        parts = re.split(r"(`[^`]*`)", text)
        for at in range(0, len(parts), 2):
            part = parts[at].replace("&", "&amp;").replace("<", "&lt;")
            part = part.replace("[", "\\[")
            held = []

            def hold(text, held=held):
                held.append(text)
                return f"\x00{len(held) - 1}\x00"

            part = DOCUMENT.sub(lambda m: hold(f"[{m.group(1)}](../../{m.group(1)}.md)"), part)
            part = HEADER_NAME.sub(lambda m: hold(self.header_link(m.group(1))), part)
            part = IDENTIFIER.sub(lambda m: hold(f"`{m.group(0)}`"), part).replace("*", "\\*")
            part = re.sub(r"\x00(\d+)\x00", lambda m, held=held: held[int(m.group(1))], part)
            parts[at] = part
        return "".join(parts)

    def header_link(self, name):
        folder, _, stem = name.rpartition("/")
        if folder == "c" or (self.language == "c" and (INCLUDE / "c" / f"{stem}.h").exists()
                             and stem != "options"):
            exists = (INCLUDE / "c" / f"{stem}.h").exists()
            return f"[c/{stem}.h](../c/{stem}.md)" if exists else f"`{name}.h`"
        if (INCLUDE / f"{stem}.h").exists() and f"{stem}.h" not in NO_PAGE:
            return f"[{stem}.h](../cpp/{stem}.md)"
        return f"`{name}.h`"

    def prose(self, comment):
        """A comment's paragraphs, and what it indents, as it stands."""
        lines = [line.strip()[2:] for line in comment]
        lines = [line[1:] if line.startswith(" ") else line for line in lines]
        blocks, held = [], []
        indented = False
        for line in lines + [""]:
            deeper = line.startswith("  ")
            if held and (not line.strip() and not indented or line.strip() and deeper != indented):
                blocks.append((indented, held))
                held = []
            if line.strip():
                indented = deeper
                held.append(line)
            elif indented and held:
                held.append("")
        if held:
            blocks.append((indented, held))
        for is_code, block in blocks:
            while block and not block[-1]:
                block.pop()
            if is_code:
                block = without_indent(block)
                kind = self.language if any(CODE.search(line) for line in block) else "text"
                self.out += [f"```{kind}"] + block + ["```", ""]
            else:
                self.out += [self.text_of(" ".join(block)), ""]

    def code(self, declarations):
        self.out += [f"```{self.language}"]
        self.out += [cleaned(declaration) for declaration in declarations]
        self.out += ["```", ""]

    def members(self, owner, lines, is_class):
        shown = not is_class
        for item in split_items(lines):
            if isinstance(item, str):
                shown = item == "public"
                continue
            declarations = [one for one in item.declarations if is_shown(one)]
            if not item.comment:
                declarations = [one for one in declarations if not is_special(one, owner)]
            if not shown:
                continue
            if not declarations:
                if item.comment and not item.declarations:
                    self.prose(item.comment)  # about all that follows
                continue
            names = list(dict.fromkeys(name_of(one) for one in declarations))
            names = [f"`{owner}::{name}`" if at == 0 else f"`{name}`"
                     for at, name in enumerate(names)]
            self.out += ["### " + ", ".join(names), ""]
            self.code(declarations)
            self.prose(item.comment)

    def item(self, item):
        declarations = [one for one in item.declarations if is_shown(one)]
        if not declarations:
            if item.comment and not item.declarations:
                self.prose(item.comment)
            return
        first = declarations[0]
        text = " ".join(line.strip() for line in first)
        found = TYPE.match(text)
        if found and "{" in text:
            kind, name = found.groups()
            if not name:
                name = name_of(declarations[0]) if text.startswith("typedef") else ""
            if kind == "class":
                self.out += [f"## class `{name}`", ""]
                self.prose(item.comment)
                self.members(name.split("::")[-1], body_of(first), True)
                return
            names = [f"`{name or self.constants(text)}`"]
            names += [f"`{name_of(one)}`" for one in declarations[1:] if "(" in one[0]
                      and not one[0].startswith("#")]
            self.out += [f"## {kind} " + ", ".join(dict.fromkeys(names)), ""]
            self.prose(item.comment)
            self.code(declarations)
            return
        named = [one for one in declarations if not one[0].startswith("enum {")]
        names = ", ".join(f"`{name}`" for name in
                          dict.fromkeys(name_of(one) for one in named or declarations))
        self.out += [f"## {names}", ""]
        self.code(declarations)
        self.prose(item.comment)

    @staticmethod
    def constants(text):
        """What the constants of an enum without a name begin with."""
        names = re.findall(r"\b([A-Z][A-Z0-9_]+) =", text)
        if not names:
            return "constants"
        start = names[0]
        while not all(name.startswith(start) for name in names):
            start = start[:-1]
        return start[:start.rfind("_") + 1] + "..." if len(names) > 1 else start

    def head(self):
        lines = []
        for line in self.lines:
            if line.startswith("//"):
                lines.append(line)
            elif lines:
                break
        return lines

    def body(self):
        """What stands behind the includes, in the library's namespace or between `extern "C"`."""
        lines = self.lines
        if self.language == "cpp":
            start = lines.index("namespace hawthorn {") + 1
            end = max(at for at, line in enumerate(lines) if line.startswith("}  // namespace"))
        else:
            start = lines.index('extern "C" {') + 2
            end = max(at for at, line in enumerate(lines) if line.startswith("}")
                      and at > 0 and "__cplusplus" in lines[at - 1]) - 1
        return lines[start:end]

    def markdown(self):
        prefix = "c/" if self.language == "c" else ""
        self.out = [f"# {prefix}{self.name}", "", f"`#include <hawthorn/{prefix}{self.name}>`", ""]
        self.prose(self.head())
        for item in split_items(self.body()):
            if not isinstance(item, str):
                self.item(item)
        return "\n".join(self.out).rstrip() + "\n"


def first_sentence(page):
    text = []
    for line in page.head():
        line = line[2:].strip()
        if not line:
            break
        text.append(line)
    return page.text_of(re.split(r"(?<=\.)\s", " ".join(text))[0])


def pages():
    """All pages, as a map from their path below `reference/` to Markdown."""
    found = {}
    for folder, language in ((INCLUDE, "cpp"), (INCLUDE / "c", "c")):
        title = "The C++ API" if language == "cpp" else "The C API"
        index = [f"# {title}", "",
                 "Made of the headers, whose comments these are. " + (
                     "`#include <hawthorn/hawthorn.h>` has all of it."
                     if language == "cpp" else
                     "`#include <hawthorn/c.h>` has all of it; [the C API](../../c-api.md) says "
                     "what holds for all functions."), "", "| header | |", "|---|---|"]
        for path in sorted(folder.glob("*.h")):
            if path.name in NO_PAGE:
                continue
            page = Page(path, language)
            found[f"{language}/{path.stem}.md"] = page.markdown()
            index.append(f"| [{path.name}]({path.stem}.md) | {first_sentence(page)} |")
        found[f"{language}/index.md"] = "\n".join(index) + "\n"
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
