// What a copy holds on the disk of its source while it is made, and who may have its directory
// meanwhile: interleavings at named places.

#include "tests/backup/sim_backup_fixture.h"

#if defined(HAWTHORN_TEST_POINTS)

namespace hawthorn::tests {
namespace {

using testing::SimOp;

using BackupPin = SimBackup;

// Takes all space that is free, of any size, with other bytes.
void write_over_free_space(Db& db, Tree tree) {
  for (uint64_t i = 0; i < 12; ++i) {
    ASSERT_OK(db.put(tree, "over" + std::to_string(i), value_of(900 + i, 100'000 + i * 20'000)));
  }
  ASSERT_OK(db.flush());
}

// A feed that goes on lets go of extents without a batch of their containers.
TEST_F(BackupPin, a_feed_that_lets_go_of_a_large_value_meanwhile) {
  ASSERT_OK(db_->create_feed("feed"));
  ASSERT_OK(db_->put(tree_, "large", value_of(1, 150'000)));
  ASSERT_OK(db_->put(tree_, "large", value_of(2, 150'000)));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->flush());
  once_at("copy.pinned", [&] {
    Feed feed = db_->open_feed("feed").value();
    uint64_t last = 0;
    while (FeedCommit* const commit = feed.next(0).value()) last = commit->cts();
    ASSERT_OK(feed.acknowledge(last));
    ASSERT_OK(db_->flush());
    write_over_free_space(*db_, tree_);
  });
  ASSERT_OK(db_->checkpoint("/copy"));
  auto copy = Db::open_on(machine_.machine(), "/copy", options(false)).value();
  Feed feed = copy->open_feed("feed").value();
  for (const uint64_t number : {1, 2}) {
    FeedCommit* const commit = feed.next(0).value();
    ASSERT_NE(commit, nullptr);
    FeedChange change;
    ASSERT_TRUE(commit->next(&change).value());
    ASSERT_EQ(change.value_bytes, 150'000U);
    std::string value(change.value_bytes, '\0');
    ASSERT_TRUE(change.streamed);
    ASSERT_EQ(commit->read_value(0, value).value(), value.size());
    EXPECT_TRUE(value == value_of(number, 150'000)) << "value " << number << " was written over";
  }
}

// Neither does the end of a prepared transaction ask for a batch.
TEST_F(BackupPin, a_prepared_transaction_that_is_aborted_meanwhile) {
  Transaction prepared = db_->begin({}).value();
  ASSERT_OK(prepared.put(tree_, "large", value_of(1, 150'000)));
  ASSERT_OK(prepared.prepare("p"));
  once_at("copy.pinned", [&] {
    ASSERT_OK(db_->rollback_prepared("p"));
    write_over_free_space(*db_, tree_);
  });
  ASSERT_OK(db_->checkpoint("/copy"));
  auto copy = Db::open_on(machine_.machine(), "/copy", options(false)).value();
  ASSERT_OK(copy->commit_prepared("p"));
  Value value;
  ASSERT_OK(copy->get(copy->find_tree("t").value(), "large", value));
  EXPECT_TRUE(value.to_string() == value_of(1, 150'000)) << "it was written over";
}

TEST_F(BackupPin, what_was_held_is_free_when_the_copy_is_there) {
  put_all(numbered(0, 3000, 300));
  ASSERT_OK(db_->flush());
  uint64_t used = 0;
  const auto rewrite = [&](uint64_t salt) {
    put_all(numbered(0, 3000, 300 + salt));
    ASSERT_OK(db_->flush());
  };
  for (uint64_t i = 1; i <= 3; ++i) rewrite(i);
  used = disk_.used_bytes();
  for (uint64_t i = 0; i < 12; ++i) {
    once_at("copy.log_copied", [&] { rewrite(4 + i % 3); });
    const std::string copy = "/copy";
    ASSERT_OK(db_->checkpoint(copy));
    ASSERT_OK(open(copy));
    const std::vector<std::string> names = disk_.list(copy).value();
    for (const std::string& name : names) {
      ASSERT_OK(disk_.remove(copy + "/" + name));
    }
  }
  EXPECT_LT(disk_.used_bytes(), used + (uint64_t{12} << 20));
}

// Two at once, the first of which goes: what the second one needs stays.
TEST_F(BackupPin, each_of_two_copies_holds_what_it_needs) {
  const Contents before = numbered(0, 3000, 300);
  put_all(before);
  ASSERT_OK(db_->flush());
  once_at("copy.log_copied", [&] {
    ASSERT_OK(db_->checkpoint("/inner"));
    for (uint64_t i = 1; i < 4; ++i) {
      put_all(numbered(0, 3000, 300 + i));
      ASSERT_OK(db_->flush());
    }
  });
  ASSERT_OK(db_->checkpoint("/outer"));
  EXPECT_TRUE(same(contents_of("/inner"), before));
  EXPECT_TRUE(same(contents_of("/outer"), before));
}

// What the log takes may fill the disk as well: writers win.
TEST_F(BackupPin, a_disk_full_of_log_ends_the_copy_and_not_the_writers) {
  put_all(numbered(0, 600, 200));
  once_at("copy.pinned", [&] {
    disk_.set_capacity(disk_.used_bytes() + (uint64_t{6} << 20));
    for (uint64_t i = 1; i < 200; ++i) {
      put_all(numbered(0, 600, 200 + i % 7));
      if (::testing::Test::HasFailure()) break;
    }
  });
  const Status status = db_->checkpoint("/copy");
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  EXPECT_NE(status.message().find("given to writers"), std::string_view::npos)
      << status.to_string();
  EXPECT_TRUE(open("/copy").is(StatusCode::kCorruption));
  ASSERT_OK(db_->put(tree_, "more", "1"));
}

// ---- Who has the directory

TEST_F(BackupPin, a_database_that_is_made_before_the_lock_is_had_stays) {
  once_at("copy.before_lock", [&] {
    auto other = Db::open_on(machine_.machine(), "/copy", options()).value();
    ASSERT_OK(other->put(other->tree("t").value(), "k", "mine"));
    ASSERT_OK(other->close());
  });
  EXPECT_TRUE(db_->checkpoint("/copy").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(same(contents_of("/copy"), {{"k", "mine"}}));
}

// The other one had its marker, finished, and its database was opened and written.
TEST_F(BackupPin, a_copy_that_is_finished_before_the_lock_is_had_stays) {
  ASSERT_OK(db_->put(tree_, "k", "1"));
  ASSERT_OK(db_->checkpoint("/copy"));
  ASSERT_OK(disk_.open_file("/copy/copy.incomplete", {.create = true}).status());
  once_at("copy.before_lock", [&] {
    ASSERT_OK(db_->checkpoint("/copy"));
    auto copy = Db::open_on(machine_.machine(), "/copy", options(false)).value();
    ASSERT_OK(copy->put(copy->find_tree("t").value(), "later", "2"));
  });
  EXPECT_TRUE(db_->checkpoint("/copy").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(same(contents_of("/copy"), {{"k", "1"}, {"later", "2"}}));
}

TEST_F(BackupPin, nobody_else_has_the_directory_while_a_copy_is_made) {
  ASSERT_OK(db_->put(tree_, "k", "1"));
  for (const char* const point : {"copy.log_copied", "copy.before_unmark"}) {
    SCOPED_TRACE(point);
    const std::string copy = std::string("/") + point;
    bool looked = false;
    once_at(point, [&] {
      looked = true;
      EXPECT_TRUE(db_->checkpoint(copy).is(StatusCode::kBusy));
      EXPECT_TRUE(open(copy, true).is(StatusCode::kCorruption));
    });
    ASSERT_OK(db_->checkpoint(copy));
    EXPECT_TRUE(looked);
    EXPECT_TRUE(same(contents_of(copy), {{"k", "1"}}));
  }
}

// Who opens has looked before the copy began.
TEST_F(BackupPin, an_open_that_looked_before_a_copy_began) {
  ASSERT_OK(db_->put(tree_, "k", "1"));
  // The whole copy fits in between: what was seen as missing is there now, and is opened.
  once_at("open.before_lock", [&] { ASSERT_OK(db_->checkpoint("/copy")); });
  EXPECT_OK(open("/copy", true));
  EXPECT_TRUE(same(contents_of("/copy"), {{"k", "1"}}));
  // An interrupted one: its marker was not there yet.
  ASSERT_OK(db_->checkpoint("/other"));
  once_at("open.before_lock",
          [&] { ASSERT_OK(disk_.open_file("/other/copy.incomplete", {.create = true}).status()); });
  EXPECT_TRUE(open("/other").is(StatusCode::kCorruption));
  ASSERT_OK(db_->checkpoint("/other"));
  EXPECT_TRUE(same(contents_of("/other"), {{"k", "1"}}));
}

// ---- Shared blocks

TEST_F(BackupPin, a_checkpoint_shares_blocks_where_the_file_system_can) {
  Contents expected = numbered(0, 4000, 300);
  expected["large"] = value_of(5, 300'000);
  put_all(expected);
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->checkpoint("/copied"));
  EXPECT_EQ(disk_.counters().bytes_cloned, 0U);
  disk_.set_clones_supported(true);
  ASSERT_OK(db_->checkpoint("/full", {.share_blocks = false}));
  EXPECT_EQ(disk_.counters().bytes_cloned, 0U);
  uint64_t clones = 0;
  os::set_test_point("copy.cloned", [&] {
    if (++clones > 3) return;
    put_all(numbered(0, 4000, 300 + clones));
    EXPECT_OK(db_->flush());
  });
  ASSERT_OK(db_->checkpoint("/shared"));
  os::clear_test_points();
  EXPECT_GT(clones, 0U);
  EXPECT_GT(disk_.counters().bytes_cloned, uint64_t{1} << 20);
  for (const char* const copy : {"/copied", "/full", "/shared"}) {
    SCOPED_TRACE(copy);
    EXPECT_TRUE(same(contents_of(copy), expected));
  }
  // What fails for another reason than that it cannot be is an error, and nothing is copied
  // instead.
  disk_.fail_path("/again/data", SimOp::kWrite, 1, StatusCode::kIoError);
  EXPECT_TRUE(db_->checkpoint("/again").is(StatusCode::kIoError));
  ASSERT_OK(db_->checkpoint("/again"));
}

}  // namespace
}  // namespace hawthorn::tests

#endif
