"""What the checks here share: the source files of a tree, and planting files to be found."""

import pathlib
import tempfile
import textwrap
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("include", "src", "testing", "tests", "tools", "bench", "examples", "shims", "bindings",
           "cmake", "scripts", "docs", ".ci")
CPP_SUFFIXES = (".h", ".cc", ".c")


def files_of(root):
    """Every file of the known folders and of the root itself, as (path, path relative to root)."""
    root = pathlib.Path(root)
    found = [path for path in root.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found += [path for path in (root / folder).rglob("*") if path.is_file()]
    for path in sorted(found):
        relative = path.relative_to(root)
        if "__pycache__" not in relative.parts:
            yield path, relative


def cpp_files_of(root):
    for path, relative in files_of(root):
        if relative.suffix in CPP_SUFFIXES and len(relative.parts) > 1:
            yield path, relative


class PlantedTree(unittest.TestCase):
    """A test case with a temporary tree, for showing that a check finds what was planted in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
