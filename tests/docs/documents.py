"""What the checks here share: the Markdown of the repository, its blocks of code, its headings."""

import dataclasses
import pathlib
import re

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("docs", "shims", "bindings", "bench", "examples", "fuzz", "tests")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)\s*(.*)$")
COMMANDS = "first"  # behind `sh` or `console`: typed by first_key_test.py
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")


def documents(root=REPOSITORY):
    """All Markdown files of the root itself and of the known folders."""
    found = list(root.glob("*.md"))
    for folder in FOLDERS:
        found += [path for path in (root / folder).rglob("*.md")
                  if not {"node_modules", "build", "target"} & set(path.relative_to(root).parts)]
    return sorted(found)


@dataclasses.dataclass
class Block:
    """A block between fences."""
    path: pathlib.Path
    line: int
    language: str
    words: str  # what stands behind the language
    text: str
    output: str | None = None  # what the block `text output` behind it has

    def where(self, root=REPOSITORY):
        return f"{self.path.relative_to(root)}:{self.line}"


def lines_of(text):
    """Numbered lines, each with whether it lies in a block between fences."""
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        found = FENCE.match(line)
        if fence:
            yield number, line, True
            if found and found.group(1).startswith(fence) and not found.group(2):
                fence = ""
        elif found:
            fence = found.group(1)
            yield number, line, True
        else:
            yield number, line, False


def blocks(path):
    found, block, between = [], None, ""
    for number, line, is_code in lines_of(path.read_text("utf-8")):
        if not is_code:
            between += line
        elif block is None:
            _, language, words = FENCE.match(line).groups()
            block = Block(path, number, language, words.strip(), "")
        elif FENCE.match(line) and not FENCE.match(line).group(2):
            if (block.language, block.words) == ("text", "output") and found and not between:
                found[-1].output = block.text
                if found[-1].words == COMMANDS and len(found) > 1:
                    found[-2].output = block.text  # the program that the commands run
            else:
                found.append(block)
            block, between = None, ""
        else:
            block.text += line + "\n"
    return found


def anchor_of(heading):
    """As GitHub makes it; the site is told to do the same."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    text = re.sub(r"[`*]", "", text)
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path):
    found, counts = set(), {}
    for _, line, is_code in lines_of(path.read_text("utf-8")):
        heading = HEADING.match(line)
        if heading and not is_code:
            anchor = anchor_of(heading.group(2))
            count = counts.get(anchor, 0)
            counts[anchor] = count + 1
            found.add(f"{anchor}-{count}" if count else anchor)
    return found
