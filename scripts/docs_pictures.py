#!/usr/bin/env python3
"""Draws the pictures of docs/concepts.md: `scripts/docs_pictures.py` writes docs/pictures/*.svg.

Boxes and arrows on a grid. The colours follow the reader's scheme, light or dark, by a style in
each file. A picture has its words in it as text, so that they are found and read aloud.
"""

import pathlib
import sys
from xml.sax.saxutils import escape

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs" / "pictures"
WIDTH = 760

STYLE = """
  svg { --paper: #ffffff; --ink: #23292e; --dim: #5c6770; --line: #6b7780;
        --ram: #dff1ee; --ram-line: #00796b; --disk: #fdeedd; --disk-line: #c4661f;
        --hot: #d84315; --old: #e6e9ec; }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #1e2129; --ink: #e4e8ec; --dim: #a4aeb8; --line: #8b96a1;
          --ram: #14413c; --ram-line: #4db6a9; --disk: #4b3118; --disk-line: #e79a55;
          --hot: #ff8a65; --old: #343a44; }
  }
  .paper { fill: var(--paper); }
  text { fill: var(--ink); font: 14px system-ui, sans-serif; }
  .dim { fill: var(--dim); font-size: 12px; }
  .name { font-weight: 600; }
  .hot { fill: var(--hot); }
  .ram { fill: var(--ram); stroke: var(--ram-line); }
  .disk { fill: var(--disk); stroke: var(--disk-line); }
  .old { fill: var(--old); stroke: var(--line); }
  .area { fill: none; stroke: var(--line); stroke-dasharray: 4 4; }
  .arrow { fill: none; stroke: var(--ink); stroke-width: 1.5; marker-end: url(#head); }
  .late { stroke-dasharray: 6 4; }
  marker path { fill: var(--ink); }
"""


class Picture:
    def __init__(self, name, height, title, description):
        self.name, self.height = name, height
        self.out = [f"<title>{escape(title)}</title>", f"<desc>{escape(description)}</desc>",
                    f"<style>{STYLE}</style>",
                    '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
                    'markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker>',
                    f'<rect class="paper" width="{WIDTH}" height="{height}" rx="8"/>']

    def text(self, x, y, text, kind="", anchor="middle"):
        self.out.append(f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">'
                        f"{escape(text)}</text>")

    def box(self, x, y, width, height, kind, name="", lines=()):
        self.out.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" '
                        f'height="{height}" rx="6"/>')
        rows = ([(name, "name")] if name else []) + [(line, "dim") for line in lines]
        top = y + height / 2 - (len(rows) - 1) * 9 + 5
        for at, (row, row_kind) in enumerate(rows):
            self.text(x + width / 2, top + at * 18, row, row_kind)

    def area(self, x, y, width, height, name):
        self.out.append(f'<rect class="area" x="{x}" y="{y}" width="{width}" '
                        f'height="{height}" rx="10"/>')
        self.text(x + 12, y + 20, name, "dim", "start")

    def arrow(self, points, late=False):
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        self.out.append(f'<path class="arrow{" late" if late else ""}" d="{path}"/>')

    def write(self):
        text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
                f'role="img">\n' + "\n".join(self.out) + "\n</svg>\n")
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{self.name}.svg").write_text(text, encoding="utf-8")


def write_path():
    p = Picture("write", 380, "How a write goes",
                "A put goes to the delta of its container, and its commit record to the log ring, "
                "both in memory. The ring is written to log segments on disk. Later a flush makes "
                "of the delta a new index run and one value extent; the manifest names them.")
    p.area(20, 16, 720, 176, "memory")
    p.area(20, 212, 720, 150, "disk")
    p.box(44, 78, 110, 56, "old", "put", ["key, value"])
    p.box(236, 44, 180, 56, "ram", "log ring", ["commit record"])
    p.box(236, 116, 180, 56, "ram", "delta", ["version of the key"])
    p.arrow([(154, 98), (236, 74)])
    p.arrow([(154, 116), (236, 142)])
    p.text(190, 66, "2", "name hot")
    p.text(190, 148, "1", "name hot")
    p.box(44, 256, 170, 66, "disk", "log segments", ["used again and again"])
    p.box(280, 256, 140, 66, "disk", "index run", ["keys, rewritten"])
    p.box(440, 256, 140, 66, "disk", "value extent", ["new; old ones stay"])
    p.box(600, 256, 120, 66, "disk", "manifest", ["what is where"])
    p.arrow([(416, 62), (440, 62), (440, 202), (130, 202), (130, 256)])
    p.text(452, 66, "kNone: done here", "dim", "start")
    p.text(452, 84, "kAsync, kFull: the ring is synced to segments", "dim", "start")
    p.arrow([(416, 150), (470, 150), (470, 230), (350, 230), (350, 256)], late=True)
    p.arrow([(470, 230), (510, 230), (510, 256)], late=True)
    p.text(482, 146, "flush, in the background:", "dim", "start")
    p.text(482, 164, "one container at a time", "dim", "start")
    p.arrow([(580, 290), (600, 290)], late=True)
    p.text(660, 342, "last: durable before", "dim")
    p.text(660, 356, "old space is free", "dim")
    p.write()


def snapshots():
    p = Picture("snapshots", 300, "What a snapshot sees",
                "Versions of one key along the commit order. A snapshot taken at commit 20 goes "
                "on seeing the version of commit 12; readers of now see that of commit 31. The "
                "version of commit 5 is seen by nobody and goes with the next flush.")
    p.arrow([(40, 208), (724, 208)])
    p.text(724, 230, "commits", "dim", "end")
    for x, commit, value, kind, note in ((90, 5, "ada = 1", "old", "seen by nobody: goes"),
                                         (270, 12, "ada = 2", "ram", "kept for the snapshot"),
                                         (560, 31, "ada = 3", "ram", "newest")):
        p.box(x, 92, 120, 64, kind, value, [f"commit {commit}"])
        p.arrow([(x + 60, 156), (x + 60, 208)])
        p.text(x + 60, 226, str(commit), "dim")
        p.text(x + 60, 82, note, "dim")
    p.out.append('<path class="area" d="M450 40 L450 208"/>')
    p.text(450, 30, "snapshot at 20", "name hot")
    p.arrow([(446, 124), (390, 124)])
    p.text(450, 226, "20", "dim")
    p.text(700, 30, "now", "name hot")
    p.out.append('<path class="area" d="M700 40 L700 208"/>')
    p.arrow([(697, 124), (680, 124)])
    p.text(380, 268, "A snapshot is one number in a register. It holds no lock; "
           "writers never wait for it.", "dim")
    p.write()


def memory():
    p = Picture("memory", 330, "What is in memory",
                "One budget holds deltas, fronts of index runs, resident data and single blocks, "
                "transactions and the log ring. Of a database that is larger than memory the "
                "rest is on disk.")
    p.area(20, 16, 720, 190, "one budget: Options::memory_budget_bytes")
    p.box(40, 50, 136, 92, "ram", "deltas", ["not flushed yet", "a fifth to 62%"])
    p.box(190, 50, 150, 92, "ram", "fronts of runs", ["which block has the", "key; go last"])
    p.box(354, 50, 150, 92, "ram", "whole extents", ["what is hot;", "go first"])
    p.box(518, 50, 92, 92, "ram", "frames", ["single blocks", "of 4 KB"])
    p.box(624, 50, 100, 92, "old", "the rest", ["log ring, open", "transactions,", "merges"])
    p.text(336, 178, "The database fits: everything that was read stays, and reads take no disk.",
           "dim")
    p.text(336, 196, "It does not: a get of a cold key reads one block, or two.", "dim")
    p.box(40, 236, 684, 60, "disk", "disk: all index runs and value extents, log, manifest",
          ["an open reads manifest and log alone"])
    p.arrow([(108, 142), (108, 236)], late=True)
    p.text(116, 226, "flush", "dim", "start")
    p.arrow([(564, 236), (564, 142)])
    p.text(572, 226, "read, verified", "dim", "start")
    p.write()


def main():
    write_path()
    snapshots()
    memory()
    return 0


if __name__ == "__main__":
    sys.exit(main())
