#!/usr/bin/env python3
"""The page of canned results: rows that are lost first, nothing loaded from elsewhere, sound HTML,
and nothing of what engines say taken for HTML."""

import base64
import html.parser
import re
import sys
import unittest

import canned
import chart
import page
import palette
import run
import svg
from chart import Chart, Series
from documents import DOCUMENTS
from figures import losing_first

VOID = {"meta", "br"}
LOADING = {"src", "srcset", "data", "poster", "background", "action", "xlink:href", "formaction"}


class Reader(html.parser.HTMLParser):
    """Reads strictly: every element is closed, in its order; notes what would be loaded."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.problems = []
        self.ids = []
        self.hrefs = []
        self.tags = {}
        self.text = []
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for name, value in attributes:
            if name in LOADING:
                self.problems.append(f"{tag} loads by {name}: {value}")
            if name == "href":
                self.hrefs.append(value)
            if name == "id":
                self.ids.append(value)
            if name.startswith("on"):
                self.problems.append(f"{tag} has a script in {name}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        self.text.append(data)


class Whole(unittest.TestCase):
    def read(self, content):
        text = page.render(content)
        reader = Reader(text)
        self.assertEqual(reader.problems, [])
        return text, reader

    def test_it_is_sound_html(self):
        _, reader = self.read(canned.content())
        self.assertEqual(len(reader.ids), len(set(reader.ids)))
        for href in reader.hrefs:
            if href.startswith("#"):
                self.assertIn(href[1:], reader.ids)
        self.assertGreater(reader.tags["svg"], 10)

    def test_it_loads_nothing(self):
        text, reader = self.read(canned.content())
        for href in reader.hrefs:
            self.assertRegex(href, r"^(#|data:text/csv;base64,)")
        for tag in ("script", "link", "iframe", "object", "embed", "img", "base", "form"):
            self.assertNotIn(tag, reader.tags)
        self.assertNotRegex(text, r"(?i)https?://|@import|url\(|//[a-z]+\.")

    def test_rows_that_are_lost_come_before_all_others(self):
        content = canned.content()
        text, _ = self.read(content)
        lost = [one for one in losing_first(content.all_compared()) if one.lost]
        self.assertTrue(lost)
        table = text[text.index('id="lost"'):text.index('id="unfit"')]
        places = [table.index(one.row.label) for one in lost]
        self.assertEqual(places, sorted(places))
        for one in content.all_compared():
            if not one.lost:
                self.assertNotIn(one.row.label, table)
        self.assertLess(text.index('id="lost"'), text.index("<svg"))
        section = text[text.index("All rows, those that we lose first"):]
        self.assertLess(section.index('class="lost"'), section.index('class="won"'))

    def test_a_glance_has_the_main_rate_against_every_peer(self):
        text, _ = self.read(canned.content())
        table = text[text.index("<h2>The main rate"):text.index('id="lost"')]
        plain = re.sub(r"<[^>]*>", " ", table)
        self.assertRegex(plain, r"upsert\s+upserts, keys/s\s+945 K/s\s+±5%\s+4\.[0-9]+\s+2\.88")

    def test_a_report_without_a_lost_row_says_so(self):
        runs = [canned.upsert_run(engine, 0, rate, disk) for engine, rate, disk in
                (("hawthorn", 9e5, 1e6), ("rocksdb", 1e5, 9e6), ("lmdb", 1e5, 9e6))]
        self.assertIn("None of those that were run.", page.render(canned.content(runs)))

    def test_figures_stand_with_their_factor_and_spread(self):
        text, _ = self.read(canned.content())
        row = re.search(r"<tr><td class=l>upserts, keys/s</td>.*?</tr>", text).group()
        plain = re.sub(r"<[^>]*>", " ", row)
        self.assertRegex(plain, r"945 K/s\s+±5%")
        self.assertRegex(plain, r"2\.88\s+2\.75 to 3\.00")
        self.assertRegex(plain, r"rocksdb\s+330 K/s")

    def test_what_engines_say_is_text(self):
        runs = canned.upsert_runs()
        runs[2] = canned.upsert_run("lmdb", 0, 1, 1, status=run.FAILED,
                                    reason="<script>alert('x')</script> & \"more\"")
        content = canned.content(runs)
        content.machine = {"CPU": "<b>fast</b>"}
        content.engines = dict(content.engines, rocksdb=run.Engine(
            '<img src="http://example.org/">', "<script>", assertions=True))
        text, reader = self.read(content)
        self.assertIn("&lt;script&gt;", text)
        self.assertNotIn("script", reader.tags)
        self.assertNotIn("img", reader.tags)
        self.assertIn("RocksDB &lt;7&gt; &amp; &quot;more&quot;", text)
        self.assertIn("abc&lt;def&gt;", text)

    def test_a_peer_with_assertions_is_red_and_has_no_factor(self):
        content = canned.content(engines=canned.with_assertions("rocksdb"))
        text, reader = self.read(content)
        self.assertIn("assertions", reader.ids)
        self.assertIn("#assertions", reader.hrefs)
        for one in content.all_compared():
            self.assertNotIn("rocksdb", one.factors)
            self.assertIn("lmdb", one.factors)
        row = re.search(r"<tr><td class=l>upserts, keys/s</td>.*?</tr>", text).group()
        self.assertIn('<span class="lost">rocksdb 330 K/s, assertions on</span>', row)
        self.assertNotRegex(text, r"rocksdb (?:</b>)?[0-9.]+ to")
        glance = text[text.index("<h2>The main rate"):text.index('id="lost"')]
        self.assertNotIn("rocksdb", glance)
        self.assertIn('stroke="var(--e-unfair)"', text)
        self.assertIn("rocksdb (assertions)", text)
        self.assertRegex(text, r'<span class="lost">RocksDB 1\.2\.3; assertions on</span>')

    def test_without_assertions_nothing_is_said_of_them(self):
        text, reader = self.read(canned.content())
        self.assertNotIn("assertions", reader.ids)
        self.assertNotIn("assertions on", text)
        self.assertNotIn('"var(--e-unfair)"', text)

    def test_where_all_peers_have_assertions_nothing_compares(self):
        for names in (("rocksdb", "lmdb"), ("hawthorn",)):
            content = canned.content(engines=canned.with_assertions(*names))
            text, _ = self.read(content)
            self.assertEqual(content.all_compared(), [])
            self.assertIn("No row could be compared.", text)

    def test_a_failed_engine_is_shown_and_in_no_row(self):
        runs = canned.upsert_runs()
        for at, number in ((2, 0), (5, 1)):
            runs[at] = canned.upsert_run("lmdb", number, 1, 1, status=run.FAILED,
                                         reason="key 7 has a wrong value")
        content = canned.content(runs)
        text, reader = self.read(content)
        alarm = text[text.index('id="failed"'):text.index('id="lost"')]
        self.assertIn("2 runs failed", alarm)
        self.assertIn("key 7 has a wrong value", alarm)
        for one in content.all_compared():
            self.assertEqual(list(one.factors), ["rocksdb"])
        link = next(href for href in reader.hrefs if href.startswith("data:"))
        raw = base64.b64decode(link.split(",", 1)[1]).decode("utf-8")
        self.assertIn('upsert,lmdb,1,0,failed,,,,"key 7 has a wrong value"', raw)

    def test_ours_that_failed_leaves_a_page_that_says_so(self):
        runs = [canned.upsert_run(one.engine, one.round, 1, 1, status=run.FAILED, reason="dead")
                if one.engine == "hawthorn" else one for one in canned.upsert_runs()]
        text, _ = self.read(canned.content(runs))
        self.assertIn("No row could be compared.", text)
        self.assertIn("<b>hawthorn</b>, upsert, round 1: dead", text)

    def test_what_did_not_fit_is_said(self):
        runs = canned.upsert_runs()
        for at, reason in ((5, "stopped after 9 s"), (1, "not run: 0 s were left"),
                           (2, "not run: 0 s were left")):
            runs[at].status, runs[at].reason, runs[at].figures = run.NO_TIME, reason, {}
        text, _ = self.read(canned.content(runs))
        note = text[text.index('id="unfit"'):text.index('id="upsert"')]
        for part in ("<b>nvme</b>: did not fit", "without sqlite: did not fit: too &lt;slow&gt;",
                     "<b>upsert</b>, round 2: lmdb stopped after 9 s",
                     "<b>upsert</b>, round 1: no time was left for rocksdb, lmdb"):
            self.assertIn(part, note)

    def test_what_ran_full_is_said(self):
        runs = canned.upsert_runs()
        runs[2].status, runs[2].reason = run.FULL, "map of 40 GB"
        self.assertIn("<b>lmdb</b>, upsert: map of 40 GB", page.render(canned.content(runs)))

    def test_regressions_are_marked(self):
        earlier = [canned.entry_of(canned.upsert_runs())]
        text, _ = self.read(canned.content(canned.upsert_runs(ours=450e3), earlier))
        self.assertIn('id="regressions"', text)
        self.assertIn('class="worse">−', text)
        self.assertIn('<a href="#regressions">', text)
        self.assertLess(text.index('id="lost"'), text.index('id="regressions"'))
        self.assertLess(text.index('id="regressions"'), text.index('id="upsert"'))
        text, _ = self.read(canned.content(entries=earlier))
        self.assertNotIn('id="regressions"', text)
        self.assertNotIn('class="worse"', text)

    def test_the_data_are_in_the_page(self):
        content = canned.content()
        text, _ = self.read(content)
        for name, whole in content.files.items():
            found = re.search(rf'download="{name}" href="data:text/csv;base64,([^"]*)"', text)
            self.assertEqual(base64.b64decode(found.group(1)).decode("utf-8"), whole)

    def test_every_document_has_its_place(self):
        text, reader = self.read(canned.content())
        for document in DOCUMENTS:
            self.assertIn(document.key, reader.ids)
            for figure in document.published:
                self.assertGreater(figure.factor, 0)
                self.assertIn(figure.item, [one.key for one in canned.ITEMS])
        self.assertIn("not run", text)

    def test_nothing_run_at_all(self):
        plan = canned.Plan(1, 1.0, [], [(canned.item("upsert"), "did not fit: nothing does")])
        self.read(canned.content([], plan=plan))


class Charts(unittest.TestCase):
    def drawn(self, made):
        text = svg.draw(made)
        reader = Reader(text)
        self.assertEqual(reader.problems, [])
        for number in re.findall(r' (?:x|y|x1|x2|y1|y2|cx|cy|width|height|r)="([^"]*)"', text):
            self.assertGreaterEqual(float(number), -1, text)
            self.assertLessEqual(float(number), 1000)
        self.assertNotIn("nan", text.lower())
        return text

    def test_kinds(self):
        lines = tuple(Series(name, [(1, 5.0), (8, 9.0), (16, 2.0)], [4, 8, 1], [6, 10, 3])
                      for name in ("hawthorn", "lmdb", "another <engine>"))
        for log_x in (False, True):
            for log_y in (False, True):
                self.assertIn("another &lt;engine&gt;", self.drawn(
                    Chart("lines", "A <title>", "x", "1/s", lines, log_x=log_x, log_y=log_y)))
        bars = tuple(Series(name, [(0, 5.0), (1, 90.0), (2, 0.0)]) for name in ("hawthorn", "b"))
        for count in (1, 2, 3):
            cut = tuple(Series(one.name, one.points[:count]) for one in bars)
            for log_y in (False, True):
                self.drawn(Chart("bars", "t", "", "bytes", cut, ("a", "b", "c")[:count],
                                 log_y=log_y))

    def test_edges(self):
        self.assertEqual(svg.draw(Chart("lines", "t", "x", "y", ())), "")
        self.assertEqual(svg.draw(Chart("bars", "t", "", "y", (Series("a", [(0, 0)]),), ("",))), "")
        for log in (False, True):
            self.drawn(Chart("lines", "t", "x", "y", (Series("a", [(5, 7)]),), log_x=log,
                             log_y=log))
        self.drawn(Chart("lines", "t", "x", "us", (Series("a", [(1, 0), (2, 3)]),), log_y=True))
        self.drawn(Chart("lines", "t", "x", "y", (Series("a", [(0, 1e-3), (1, 4e12)]),),
                         log_y=True))

    def test_ticks_hold_what_is_drawn(self):
        for top in (0.003, 1, 7, 99, 1.01e6, 3.3e9):
            ticks = chart.linear_ticks(top)
            self.assertGreaterEqual(ticks[-1], top)
            self.assertLess(len(ticks), 13)
        for low, high in ((1, 1), (3, 4), (0.2, 9e6), (50, 5000)):
            ticks = chart.log_ticks(low, high)
            self.assertLessEqual(ticks[0], low)
            self.assertGreaterEqual(ticks[-1], high)
            self.assertGreater(len(ticks), 1)

    def test_numbers(self):
        for number, text in ((0, "0"), (7, "7"), (999.97, "1 K"), (1234567, "1.23 M"),
                             (51.5e9, "51.5 G"), (250, "250"), (0.5, "0.5"), (100, "100")):
            self.assertEqual(chart.short(number), text)
        for value, unit, text in ((51.5e9, "bytes", "51.5 GB"), (12, "bytes", "12 B"),
                                  (1500, "us", "1.5 ms"), (2.5e6, "us", "2.5 s"),
                                  (3.3e3, "1/s", "3.3 K/s"), (0.126, "ratio", "12.6%")):
            self.assertEqual(chart.with_unit(value, unit), text)

    def test_engines_have_colours_of_their_own(self):
        slots = [palette.SLOTS[name] for name in
                 ("hawthorn", "rocksdb", "rocksdb-tuned", "lmdb", "lmdb-writemap", "mdbx", "sqlite",
                  "leveldb", "wiredtiger", "tidesdb", "rocksdb-level", "rocksdb-universal-get")]
        self.assertEqual(len(slots), len(set(slots)))
        for shade in ("light", "dark"):
            colors = [getattr(style, shade) for style in palette.STYLES]
            self.assertEqual(len(colors), len(set(colors)))


if __name__ == "__main__":
    sys.exit(unittest.main())
