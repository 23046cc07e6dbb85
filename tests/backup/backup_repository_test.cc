// A repository whose disk fails, whose files are cut or missing, and what it reads and removes.

#include "tests/backup/sim_backup_fixture.h"

namespace hawthorn::tests {
namespace {

using testing::SimOp;

class Repository : public SimBackup {
 protected:
  // A backup of many entries, and a second one that shares most of it.
  void make_two() {
    first_ = numbered(0, 20000, 300);
    put_all(first_);
    ASSERT_OK(db_->flush());
    repository_ = repository();
    ASSERT_OK(db_->backup(*repository_).status());
    second_ = first_;
    second_[big_endian(3)] = "new";
    put_all({{big_endian(3), "new"}});
    ASSERT_OK(db_->flush());
    const Result<BackupInfo> two = db_->backup(*repository_);
    ASSERT_OK(two.status());
    ASSERT_TRUE(two->incremental);
  }
  void expect_restores(uint64_t id, const Contents& expected) {
    const std::string target = "/restored" + std::to_string(++restored_);
    ASSERT_OK(repository_->verify(id));
    ASSERT_OK(repository_->restore(id, target));
    EXPECT_TRUE(same(contents_of(target), expected));
  }

  Contents first_;
  Contents second_;
  std::unique_ptr<BackupRepository> repository_;
  uint64_t restored_ = 0;
};

// A hole that cannot be punched is space lost, and nothing else.
TEST_F(Repository, a_hole_that_cannot_be_punched_harms_no_backup) {
  for (uint64_t nth = 1; nth <= 3; ++nth) {
    SCOPED_TRACE(nth);
    make_two();
    disk_.fail_path("/repo/parts.1", SimOp::kAllocate, nth, StatusCode::kIoError);
    static_cast<void>(repository_->remove(1).ok());
    disk_.clear_faults();
    expect_restores(2, second_);
    repository_.reset();
    const std::vector<std::string> names = disk_.list("/repo").value();
    for (const std::string& name : names) {
      ASSERT_OK(disk_.remove("/repo/" + name));
    }
  }
}

// Of a backup that is removed the space comes back once, and not again and again.
TEST_F(Repository, only_a_removal_punches_holes) {
  make_two();
  const uint64_t used = disk_.used_bytes();
  const uint64_t before = disk_.counters().allocates;
  ASSERT_OK(repository_->remove(1));
  EXPECT_GT(disk_.counters().allocates, before);
  EXPECT_LT(disk_.used_bytes(), used);
  repository_.reset();
  const uint64_t removed = disk_.counters().allocates;
  repository_ = repository();
  EXPECT_EQ(disk_.counters().allocates, removed);
  expect_restores(2, second_);
}

TEST_F(Repository, no_backup_refers_to_parts_that_are_missing) {
  make_two();
  repository_.reset();
  {
    auto parts = disk_.open_file("/repo/parts.1", {}).value();
    ASSERT_OK(parts->truncate(parts->size().value() / 2));
  }
  repository_ = repository();
  const Result<BackupInfo> third = db_->backup(*repository_);
  ASSERT_OK(third.status());
  EXPECT_TRUE(third->incremental);
  EXPECT_GT(third->bytes_stored, third->bytes / 4);
  expect_restores(third->id, second_);
  EXPECT_TRUE(repository_->verify(1).is(StatusCode::kCorruption));
  repository_.reset();
  ASSERT_OK(disk_.remove("/repo/parts.1"));
  ASSERT_OK(disk_.remove("/repo/parts.3"));
  repository_ = repository();
  const Result<BackupInfo> fourth = db_->backup(*repository_);
  ASSERT_OK(fourth.status());
  expect_restores(fourth->id, second_);
}

// ---- What an incremental one reads

TEST_F(Repository, what_was_not_written_since_is_not_read_again) {
  make_two();
  const BackupInfo one = repository_->list().value()[0];
  const BackupInfo two = repository_->list().value()[1];
  EXPECT_GE(one.bytes_read, one.bytes_stored);
  EXPECT_LT(two.bytes_read, two.bytes / 2);
  const uint64_t read_before = disk_.counters().bytes_read;
  const BackupInfo three = db_->backup(*repository_).value();
  // Only the log and a little of what stands beside it.
  EXPECT_LT(three.bytes_read, three.bytes / 4);
  EXPECT_LT(three.bytes_stored, three.bytes / 4);
  EXPECT_LT(disk_.counters().bytes_read - read_before, three.bytes / 2);
  expect_restores(three.id, second_);
  const BackupInfo full = db_->backup(*repository_, {.full = true}).value();
  EXPECT_EQ(full.bytes_stored, full.bytes);
  EXPECT_FALSE(full.incremental);
  // Behind a restart the marks are the same.
  ASSERT_OK(db_->close());
  db_ = Db::open_on(machine_.machine(), "/db", options()).value();
  tree_ = db_->find_tree("t").value();
  const BackupInfo later = db_->backup(*repository_).value();
  EXPECT_LT(later.bytes_read, later.bytes / 4);
  expect_restores(later.id, second_);
}

// Two databases in one repository, and one that went on from a restored backup: none takes parts
// of another one for its own.
TEST_F(Repository, marks_are_of_one_database) {
  make_two();
  ASSERT_OK(repository_->restore(1, "/other"));
  auto other = Db::open_on(machine_.machine(), "/other", options(false)).value();
  const Tree tree = other->find_tree("t").value();
  Contents expected = first_;
  for (uint64_t i = 0; i < 20000; i += 100) {
    expected[big_endian(i)] = "other";
    ASSERT_OK(other->put(tree, big_endian(i), "other", Durability::kNone));
  }
  ASSERT_OK(other->flush());
  for (int round = 0; round < 2; ++round) {
    const BackupInfo made = other->backup(*repository_).value();
    expect_restores(made.id, expected);
    const BackupInfo of_first = db_->backup(*repository_).value();
    expect_restores(of_first.id, second_);
  }
}

// Whatever happens to containers between two backups: each restores to what was there.
TEST_F(Repository, random_histories) {
  const uint64_t seed = environment_number("HAWTHORN_SEED", 1);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  repository_ = repository();
  Contents model;
  std::map<uint64_t, Contents> backups;
  const uint64_t rounds = scaled(12);
  for (uint64_t round = 0; round < rounds; ++round) {
    Contents changes;
    // Sometimes a small range, sometimes all over.
    const uint64_t width = prng.one_in(3) ? 20000 : 300;
    const uint64_t base = prng.below(20000);
    for (uint64_t i = 0; i < 400; ++i) {
      const uint64_t size = prng.one_in(60) ? 70'000 + prng.below(100'000) : prng.below(500);
      const std::string key = big_endian(base + prng.below(width));
      changes[key] = value_of(prng.next(), size);
      model[key] = changes[key];
    }
    put_all(changes);
    if (!prng.one_in(3)) ASSERT_OK(db_->flush());
    if (prng.one_in(4)) ASSERT_OK(db_->compact());
    if (prng.one_in(5)) {
      const std::string low = big_endian(base);
      const std::string high = big_endian(base + 200);
      ASSERT_OK(db_->delete_range(tree_, low, high));
      model.erase(model.lower_bound(low), model.lower_bound(high));
    }
    if (prng.one_in(4)) {
      ASSERT_OK(db_->close());
      db_ = Db::open_on(machine_.machine(), "/db", options()).value();
      tree_ = db_->find_tree("t").value();
    }
    const Result<BackupInfo> made = db_->backup(*repository_, {.full = prng.one_in(6)});
    ASSERT_OK(made.status());
    backups[made->id] = model;
    if (prng.one_in(3)) {
      const auto gone = std::next(backups.begin(), prng.below(backups.size()));
      ASSERT_OK(repository_->remove(gone->first));
      backups.erase(gone);
    }
    if (backups.empty()) continue;
    const auto some = std::next(backups.begin(), prng.below(backups.size()));
    expect_restores(some->first, some->second);
    if (::testing::Test::HasFailure()) return;
  }
  for (const auto& [id, expected] : backups) expect_restores(id, expected);
}

}  // namespace
}  // namespace hawthorn::tests
