#!/usr/bin/env python3
"""What scripts make for the site: the reference has a heading for each class and function that the
headers offer, and the pictures are those that their script draws."""

import pathlib
import re
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "scripts"))
import api_reference  # noqa: E402
import docs_pictures  # noqa: E402

HEADER = """#pragma once
// A thing: see other.h.
//
//   Thing thing;

namespace hawthorn {

class Later;

// What it is.
class HAWTHORN_EXPORT Thing {
 public:
  Thing() = default;
  // Turns it by `steps`. Errors: kBusy.
  Status turn(int steps,
              bool fast = false);
  bool ok() const { return ok_; }

 private:
  // Not shown.
  void secret();
  bool ok_ = false;
};

}  // namespace hawthorn
"""


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = api_reference.pages()

    def headings(self, folder):
        return "\n".join(line for name, text in self.pages.items() if name.startswith(folder)
                         for line in text.split("\n") if line.startswith("##"))

    def test_every_class_is_there(self):
        headings = self.headings("cpp/")
        for path in api_reference.INCLUDE.glob("*.h"):
            text = path.read_text("utf-8")
            for name in re.findall(r"^(?:class|struct)(?: HAWTHORN_EXPORT)? (\w+) \{", text,
                                   re.MULTILINE):
                self.assertTrue(name == "Pin" or  # which is for the library alone
                                re.search(rf"## (class|struct) `{name}`[,\n]", headings), name)

    def test_every_function_of_c_is_there(self):
        headings = self.headings("c/")
        for path in (api_reference.INCLUDE / "c").glob("*.h"):
            text = path.read_text("utf-8")
            for name in re.findall(r"^HAWTHORN_C_API [^;(]*?\b(\w+)\(", text, re.MULTILINE):
                self.assertTrue(f"`{name}`" in headings, name)

    def test_blocks_are_closed(self):
        for name, text in self.pages.items():
            self.assertEqual(text.count("```") % 2, 0, name)

    def test_a_header(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "thing.h"
            path.write_text(HEADER, "utf-8")
            text = api_reference.Page(path, "cpp").markdown()
        self.assertIn("A thing: see `other.h`.", text)
        self.assertIn("```cpp\nThing thing;\n```", text)
        self.assertIn("## class `Thing`\n\nWhat it is.\n", text)
        self.assertIn("### `Thing::turn`, `ok`\n\n```cpp\nStatus turn(int steps,\n"
                      "            bool fast = false);\nbool ok() const;\n```\n\n"
                      "Turns it by `steps`. Errors: `kBusy`.", text)
        for hidden in ("secret", "Later", "Not shown", "HAWTHORN_EXPORT"):
            self.assertNotIn(hidden, text)


class Pictures(unittest.TestCase):
    def test_they_are_as_drawn(self):
        there = docs_pictures.FOLDER
        self.addCleanup(setattr, docs_pictures, "FOLDER", there)
        with tempfile.TemporaryDirectory() as folder:
            docs_pictures.FOLDER = pathlib.Path(folder)
            docs_pictures.main()
            for path in pathlib.Path(folder).iterdir():
                self.assertEqual(path.read_text("utf-8"),
                                 (there / path.name).read_text("utf-8"), path.name)


if __name__ == "__main__":
    sys.exit(unittest.main())
