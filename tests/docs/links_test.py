#!/usr/bin/env python3
"""Links between documents: each leads to a file of the repository and, where it has a fragment, to
a heading of it. Pages that the navigation of the site names are there."""

import pathlib
import re
import sys
import tempfile
import unittest

from documents import REPOSITORY, anchors, documents, lines_of

LINK = re.compile(r"\]\(([^)\s]+)\)")
MADE = {"contributing.md"}  # pages of the site that are no files of docs/
LEADS = "leads to"


def problems_of(root):
    for path in documents(root):
        text = path.read_text("utf-8")
        for number, line, is_code in lines_of(text):
            if is_code or line.startswith("    "):
                continue
            for link in LINK.findall(re.sub(r"`[^`]*`", "``", line)):
                if "://" in link or link.startswith("mailto:"):
                    continue
                name, _, fragment = link.partition("#")
                target = (path.parent / name) if name else path
                where = f"{path.relative_to(root)}:{number}:"
                if not target.exists():
                    yield f"{where} {LEADS} {name}, which does not exist"
                elif fragment and target.suffix == ".md" and fragment not in anchors(target):
                    yield f"{where} {LEADS} {link}, and there is no such heading"


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        problems = list(problems_of(REPOSITORY))
        self.assertFalse(problems, "\n" + "\n".join(problems))

    def test_pages_of_the_navigation_are_there(self):
        nav = (REPOSITORY / "mkdocs.yml").read_text("utf-8").split("\nnav:")[1]
        named = set(re.findall(r"([\w-]+\.md)$", nav, re.MULTILINE)) - MADE
        there = {path.name for path in (REPOSITORY / "docs").glob("*.md")}
        self.assertEqual(named - there, set())


class Check(unittest.TestCase):
    """The check itself: silent on what is right, loud on each planted fault."""

    def problems(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            for name, text in files.items():
                (root / "docs" / f"{name}.md").write_text(text, "utf-8")
            return list(problems_of(root))

    def test_what_is_right(self):
        self.assertEqual(self.problems(
            a="# A `b`, c\n\n[x](b.md#the-end), [y](#a-b-c), [z](https://x.org)\n",
            b="## The end\n\n```\n[no](link.md)\n```\n"), [])

    def test_a_missing_file(self):
        self.assertIn("b.md", self.problems(a="[x](b.md)\n")[0])

    def test_a_missing_heading(self):
        self.assertIn("no such heading", self.problems(a="# A\n[x](#b)\n")[0])


if __name__ == "__main__":
    sys.exit(unittest.main())
