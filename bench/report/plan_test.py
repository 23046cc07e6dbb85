#!/usr/bin/env python3
"""The plan of a time budget: sizes, rounds, engines, and that what does not fit is said."""

import sys
import unittest

from plan import ITEMS, MB, OURS, ladder, make_plan, memory_for

INSTALLED = ("hawthorn hawthorn-lz4 hawthorn-zstd hawthorn-encrypted rocksdb rocksdb-tuned "
             "rocksdb-level rocksdb-universal rocksdb-universal-get lmdb lmdb-writemap sqlite "
             "leveldb wiredtiger memory").split()
BUDGETS = (0.2, 1, 2, 5, 10, 20, 60, 240, 1440)


def plan_for(minutes, **more):
    return make_plan(minutes, INSTALLED, available_bytes=8 << 30, **more)


class Budgets(unittest.TestCase):
    def test_the_estimates_stay_within_the_budget(self):
        for minutes in BUDGETS:
            for slowness in (0.5, 1.0, 4.0):
                with self.subTest(minutes=minutes, slowness=slowness):
                    plan = plan_for(minutes, slowness=slowness, can_cap=True)
                    self.assertLessEqual(plan.seconds, minutes * 60 * 0.9 + 1e-6)

    def test_every_item_is_run_or_told_of(self):
        for minutes in BUDGETS:
            plan = plan_for(minutes)
            keys = [job.item.key for job in plan.jobs] + [one.key for one, _ in plan.not_run]
            self.assertEqual(sorted(keys), sorted(one.key for one in ITEMS))
            for _, why in plan.not_run:
                self.assertIn("did not fit", why)

    def test_every_engine_is_run_or_told_of(self):
        others = {"rocksdb-level", "rocksdb-universal", "rocksdb-universal-get"}
        for minutes in BUDGETS:
            for job in plan_for(minutes).jobs:
                told = set(job.engines) | {engine for engine, _ in job.left_out}
                missing = set(INSTALLED) - told - others
                self.assertEqual(missing, {"memory", "hawthorn-lz4", "hawthorn-zstd",
                                           "hawthorn-encrypted"}, job.item.key)
                self.assertEqual(len(job.engines), len(set(job.engines)))

    def test_ours_and_a_peer_are_in_every_job(self):
        for minutes in BUDGETS:
            for job in plan_for(minutes).jobs:
                self.assertEqual(job.engines[0], OURS)
                self.assertGreaterEqual(len(job.engines), 2)

    def test_a_larger_budget_never_makes_an_item_smaller(self):
        before = {}
        for minutes in (5, 10, 20, 60, 240, 1440):
            sizes = {job.item.key: job.size for job in plan_for(minutes).jobs}
            for key, size in before.items():
                # An engine more, or a round more, may cost a step or two; not an item.
                self.assertGreaterEqual(sizes.get(key, 0) * 5, size, (minutes, key))
            before = sizes
        self.assertGreater(before["upsert"], 1_000_000)

    def test_the_default_budget_runs_all_documents_in_three_rounds(self):
        plan = plan_for(20)
        self.assertEqual({job.item.document for job in plan.jobs},
                         {"upsert", "scale", "bank", "insert", "nvme"})
        for job in plan.jobs:
            if job.item.key != "bank-100000":
                self.assertEqual(job.rounds, 3, job.item.key)

    def test_the_plan_is_the_same_each_time(self):
        first, second = plan_for(20), plan_for(20)
        self.assertEqual([job.arguments() for job in first.jobs],
                         [job.arguments() for job in second.jobs])

    def test_next_to_no_time_runs_nothing(self):
        plan = make_plan(0.001, INSTALLED)
        self.assertEqual(plan.jobs, [])
        self.assertEqual(len(plan.not_run), len(ITEMS))

    def test_tupldb_runs_what_its_program_knows(self):
        plan = make_plan(60, INSTALLED + ["tupldb"], available_bytes=8 << 30)
        with_it = {job.item.workload for job in plan.jobs
                   if "tupldb" in job.engines + [engine for engine, _ in job.left_out]}
        self.assertEqual(with_it, {"upsert", "insert", "bank"})
        for job in plan.jobs:
            if job.item.workload == "insert":
                self.assertIn("tupldb", job.engines)

    def test_hedgedb_runs_what_needs_no_atomic_batches(self):
        plan = make_plan(60, INSTALLED + ["hedgedb"], available_bytes=8 << 30)
        with_it = {job.item.workload for job in plan.jobs
                   if "hedgedb" in job.engines + [engine for engine, _ in job.left_out]}
        self.assertEqual(with_it, {"upsert", "scale", "insert", "nvme"})
        for job in plan.jobs:
            if job.item.workload == "nvme":
                self.assertIn("hedgedb", job.engines)

    def test_this_engine_by_other_apis_is_no_peer(self):
        ours = ["hawthorn-rocksdb", "hawthorn-mdbx", "hawthorn-sqlite"]
        for job in make_plan(60, INSTALLED + ours, available_bytes=8 << 30).jobs:
            self.assertFalse(set(ours) & set(job.engines), job.item.key)

    def test_a_build_with_one_peer(self):
        plan = make_plan(10, ["hawthorn", "sqlite"])
        self.assertTrue(plan.jobs)
        for job in plan.jobs:
            self.assertEqual(job.engines, ["hawthorn", "sqlite"])


class Sizes(unittest.TestCase):
    def test_the_ladder_ends_at_the_size_of_the_document(self):
        for item in ITEMS:
            sizes = ladder(item)
            self.assertEqual(sizes, sorted(set(sizes)))
            self.assertEqual(sizes[-1], item.document_size)
            self.assertGreaterEqual(sizes[0], item.smallest)

    def test_sizes_are_whole_rounds_and_batches(self):
        for item in ITEMS:
            for size in ladder(item):
                options = item.options(size)
                if item.workload in ("upsert", "scale"):
                    items = int(options[options.index("--items") + 1])
                    rounds = int(options[options.index("--rounds") + 1])
                    self.assertEqual(items * rounds, size)
                if item.workload == "bank":
                    self.assertGreaterEqual(size, 2 * item.parameter, "two commits at least")

    def test_memory_is_bounded_by_the_machine(self):
        for item in ITEMS:
            for size in ladder(item):
                memory, cap = memory_for(item, size, 4 << 30, True)
                self.assertLessEqual(max(memory, cap), 1 << 30)
                self.assertGreaterEqual(max(memory, cap), 256 * MB)

    def test_data_outgrow_memory_where_the_document_does_and_a_cap_is_there(self):
        scale = next(item for item in ITEMS if item.key == "scale")
        self.assertEqual(memory_for(scale, 20_000, 8 << 30, True), (256 * MB, 0))
        self.assertEqual(memory_for(scale, 10_000_000, 8 << 30, False)[1], 0)
        memory, cap = memory_for(scale, 10_000_000, 64 << 30, True)
        self.assertEqual(memory, 0)
        self.assertGreaterEqual(scale.raw_bytes(10_000_000) / cap, scale.ratio)


if __name__ == "__main__":
    sys.exit(unittest.main())
