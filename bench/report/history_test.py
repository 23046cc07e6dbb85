#!/usr/bin/env python3
"""The history of reports: what is kept, what compares, and which rows are worse."""

import json
import os
import sys
import tempfile
import unittest

import canned
import history
from figures import Figures, compare, factor_of, losing_first


class Factors(unittest.TestCase):
    def rows(self, runs):
        return {one.key: one for one in compare(Figures(runs), canned.item("upsert"))}

    def test_a_factor_is_of_the_same_round(self):
        rate = self.rows(canned.upsert_runs())["upsert/upsert/ops_per_s"]
        rocks = rate.factors["rocksdb"]
        self.assertAlmostEqual(rocks.low, 900 * 1.1 / (300 * 1.2))
        self.assertAlmostEqual(rocks.high, 3.0)
        self.assertEqual(rocks.count, 2)
        self.assertFalse(rate.lost)
        self.assertEqual(rate.best_peer, "rocksdb")

    def test_less_is_better_for_sizes_and_times(self):
        disk = self.rows(canned.upsert_runs())["upsert/verify/bytes_on_disk"]
        self.assertAlmostEqual(disk.factors["rocksdb"].median, 50 / 55)
        self.assertAlmostEqual(disk.factors["lmdb"].median, 2.0)
        self.assertTrue(disk.lost)
        self.assertEqual(disk.best_peer, "rocksdb")

    def test_lost_rows_come_first(self):
        ordered = losing_first(list(self.rows(canned.upsert_runs()).values()))
        lost = [one.lost for one in ordered]
        self.assertEqual(lost, sorted(lost, reverse=True))
        self.assertTrue(lost[0] and not lost[-1])

    def test_a_round_that_failed_gives_no_factor(self):
        runs = canned.upsert_runs()
        runs[4] = canned.upsert_run("rocksdb", 1, 1, 1, status="failed", reason="wrong")
        rate = self.rows(runs)["upsert/upsert/ops_per_s"]
        self.assertEqual(rate.factors["rocksdb"].count, 1)
        self.assertEqual(rate.factors["lmdb"].count, 2)

    def test_nothing_of_ours_nothing_to_compare(self):
        runs = [run for run in canned.upsert_runs() if run.engine != "hawthorn"]
        self.assertEqual(self.rows(runs), {})

    def test_a_library_with_assertions_gives_no_factor(self):
        found = compare(Figures(canned.upsert_runs(), {"rocksdb"}), canned.item("upsert"))
        self.assertTrue(found)
        for one in found:
            self.assertEqual(list(one.factors), ["lmdb"])
            self.assertEqual(list(one.unfair), ["rocksdb"])
        self.assertEqual(compare(Figures(canned.upsert_runs(), {"hawthorn"}),
                                 canned.item("upsert")), [])

    def test_nothing_divides_by_zero(self):
        self.assertIsNone(factor_of(0, 5, "more"))
        self.assertIsNone(factor_of(5, 0, "less"))


class File(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "deep", "history.jsonl")

    def test_what_is_appended_is_loaded(self):
        self.assertEqual(history.load(self.path), ([], 0))
        entry = canned.entry_of(canned.upsert_runs())
        history.append(self.path, entry)
        history.append(self.path, entry)
        self.assertEqual(history.load(self.path), ([entry, entry], 0))
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 2)

    def test_an_entry_has_what_it_takes_to_compare(self):
        entry = canned.entry_of(canned.upsert_runs())
        for field in ("date", "commit", "machine", "sizes", "rows"):
            self.assertIn(field, entry)
        rate = entry["rows"]["upsert/upsert/ops_per_s"]
        self.assertEqual(rate["ours"]["count"], 2)
        self.assertEqual(rate["peers"]["rocksdb"]["factor"]["high"], 3.0)

    def test_a_line_that_was_cut_off_costs_that_line_alone(self):
        entry = canned.entry_of(canned.upsert_runs())
        history.append(self.path, entry)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry)[:100])
        history.append(self.path, entry)
        self.assertEqual(history.load(self.path), ([entry, entry], 1))

    def test_lines_of_something_else_are_counted(self):
        os.makedirs(os.path.dirname(self.path))
        with open(self.path, "w", encoding="utf-8") as file:
            file.write('{"a": 1}\n[]\n7\nnull\n\n')
        self.assertEqual(history.load(self.path), ([], 4))


class Regressions(unittest.TestCase):
    def worse(self, earlier, now):
        return history.regressions(history.changes(earlier, now))

    def test_a_first_report_has_none(self):
        entry = canned.entry_of(canned.upsert_runs())
        self.assertEqual(history.changes([], entry), {})

    def test_the_same_again_is_none(self):
        entry = canned.entry_of(canned.upsert_runs())
        self.assertEqual(self.worse([entry], entry), [])
        self.assertEqual(len(history.changes([entry], entry)), len(entry["rows"]))

    def test_more_than_ten_percent_is_one(self):
        before = canned.entry_of(canned.upsert_runs())
        now = json.loads(json.dumps(before))
        row = now["rows"]["upsert/upsert/ops_per_s"]
        for peer in row["peers"].values():
            for name in ("median", "low", "high"):
                peer["factor"][name] *= 0.85
        found = self.worse([before], now)
        self.assertEqual([one.key for one in found], ["upsert/upsert/ops_per_s"])
        self.assertAlmostEqual(found[0].part, 0.85)
        for peer in row["peers"].values():
            peer["factor"]["median"] *= 0.91 / 0.85
        self.assertEqual(self.worse([before], now), [])

    def test_the_median_of_the_earlier_ones_counts(self):
        def entry(factor):
            made = canned.entry_of(canned.upsert_runs())
            made["rows"] = {"upsert/upsert/ops_per_s": {
                "unit": "1/s", "ours": {},
                "peers": {"rocksdb": {"factor": {"median": factor, "low": factor, "high": factor,
                                                 "count": 1}}}}}
            return made
        earlier = [entry(1.0), entry(1.02), entry(9.0)]
        self.assertEqual(self.worse(earlier, entry(1.0)), [])
        found = self.worse(earlier, entry(0.9))
        self.assertEqual([(one.before, one.reports) for one in found], [(1.02, 3)])

    def test_one_peer_of_three_that_got_faster_is_none(self):
        before = canned.entry_of(canned.upsert_runs())
        now = json.loads(json.dumps(before))
        for entry in (before, now):
            for row in entry["rows"].values():
                row["peers"]["third"] = json.loads(json.dumps(row["peers"]["lmdb"]))
        now["rows"]["upsert/upsert/ops_per_s"]["peers"]["third"]["factor"]["median"] *= 0.3
        self.assertEqual(self.worse([before], now), [])

    def test_another_machine_or_size_is_nothing_to_compare_with(self):
        now = canned.entry_of(canned.upsert_runs(ours=100e3))
        before = canned.entry_of(canned.upsert_runs())
        self.assertNotEqual(self.worse([before], now), [])
        self.assertEqual(self.worse([dict(before, machine="m2")], now), [])
        self.assertEqual(self.worse([dict(before, sizes={"upsert": "other"})], now), [])

    def test_another_build_of_a_peer_is_nothing_to_compare_with(self):
        before = canned.entry_of(canned.upsert_runs(ours=1800e3))
        after = canned.entry_of(canned.upsert_runs())
        self.assertTrue(history.regressions(history.changes([before], after)))
        for versions in ({}, {"rocksdb": "7.8", "lmdb": "0.9"}):
            before["versions"] = versions
            after["versions"] = {"rocksdb": "11.8", "lmdb": "0.9.70"}
            self.assertEqual(history.changes([before], after), {})
        before["versions"] = dict(after["versions"], lmdb="0.9")
        for change in history.changes([before], after).values():
            self.assertEqual(change.peer, "rocksdb")

    def test_a_change_within_the_spread_says_so(self):
        before = canned.entry_of(canned.upsert_runs())
        now = json.loads(json.dumps(before))
        for peer in now["rows"]["upsert/upsert/ops_per_s"]["peers"].values():
            peer["factor"]["median"] *= 0.8
        self.assertTrue(self.worse([before], now)[0].within_spread)

    def test_slowness_is_a_power_of_two(self):
        for measured, kept in ((1.3, 1), (1.5, 2), (0.4, 0.5), (0.01, 0.25), (500, 64)):
            self.assertEqual(history.slowness_of([{"machine": "m", "slowness": measured}], "m"),
                             kept, measured)
        self.assertEqual(history.slowness_of([], "m"), 1.0)


if __name__ == "__main__":
    sys.exit(unittest.main())
