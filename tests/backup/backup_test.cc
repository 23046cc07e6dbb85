// Checkpoints and backups of a database that nobody writes meanwhile: what they hold, what is
// refused, and damage.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/ingest_test.h"

namespace hawthorn::tests {
namespace {

Options options() {
  Options options;
  options.memory_budget_bytes = size_t{32} << 20;
  options.durability = Durability::kNone;
  return options;
}

class Backup : public ::testing::Test {
 protected:
  void SetUp() override {
    db_ = open("db");
    tree_ = db_->tree("t").value();
  }
  std::unique_ptr<Db> open(const std::string& name) {
    Result<std::unique_ptr<Db>> db = Db::open(directory_ / name, options());
    EXPECT_OK(db.status());
    return db.ok() ? std::move(*db) : nullptr;
  }
  std::unique_ptr<BackupRepository> repository() {
    Result<std::unique_ptr<BackupRepository>> opened = BackupRepository::open(directory_ / "repo");
    EXPECT_OK(opened.status());
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  void put_all(const Contents& entries) {
    for (const auto& [key, value] : entries) ASSERT_OK(db_->put(tree_, key, value));
  }
  Contents contents_of(const std::string& name) {
    const std::unique_ptr<Db> copy = open(name);
    if (copy == nullptr) return {};
    const Result<CheckReport> report = copy->check();
    EXPECT_OK(report.status());
    EXPECT_TRUE(report->ok()) << report->errors.front();
    return read_all(*copy, copy->find_tree("t").value());
  }

  TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_F(Backup, of_an_empty_database) {
  ASSERT_OK(db_->checkpoint(directory_ / "copy"));
  EXPECT_TRUE(contents_of("copy").empty());
}

TEST_F(Backup, a_checkpoint_has_what_was_flushed_and_what_was_not_and_goes_its_own_way) {
  Contents expected = numbered(0, 4000, 300);
  put_all(expected);
  ASSERT_OK(db_->flush());
  const Contents newer = numbered(2000, 500, 200000 / 500);
  put_all(newer);
  for (const auto& [key, value] : newer) expected[key] = value;
  expected["large"] = value_of(7, 300'000);
  expected["larger"] = value_of(8, 3'000'000);
  ASSERT_OK(db_->put(tree_, "large", expected["large"]));
  ASSERT_OK(db_->put(tree_, "larger", expected["larger"]));
  ASSERT_OK(db_->checkpoint(directory_ / "copy"));
  ASSERT_OK(db_->put(tree_, "later", "1"));
  ASSERT_OK(db_->del(tree_, "larger"));
  ASSERT_OK(db_->flush());
  EXPECT_TRUE(same(contents_of("copy"), expected));
  const std::unique_ptr<Db> copy = open("copy");
  EXPECT_NE(copy->id(), db_->id());
  ASSERT_OK(copy->put(copy->find_tree("t").value(), "other", "2"));
  ASSERT_OK(copy->flush());
  Value value;
  EXPECT_TRUE(db_->get(tree_, "other", value).is_not_found());
}

TEST_F(Backup, holds_named_snapshots_feeds_prepared_transactions_and_no_open_one) {
  ASSERT_OK(db_->put(tree_, "k", "1"));
  ASSERT_OK(db_->create_snapshot("then"));
  ASSERT_OK(db_->create_feed("feed"));
  ASSERT_OK(db_->put(tree_, "k", "2"));
  Transaction prepared = db_->begin({}).value();
  ASSERT_OK(prepared.put(tree_, "prepared", value_of(1, 100'000)));
  ASSERT_OK(prepared.prepare("p"));
  Transaction open_one = db_->begin({}).value();
  for (uint64_t i = 0; i < 3000; ++i) {
    ASSERT_OK(open_one.put(tree_, big_endian(i), value_of(i, 300)));  // logs chunks
  }
  ASSERT_OK(db_->checkpoint(directory_ / "copy"));
  open_one.abort();
  const std::unique_ptr<Db> copy = open("copy");
  ASSERT_NE(copy, nullptr);
  const Tree tree = copy->find_tree("t").value();
  EXPECT_TRUE(same(read_all(*copy, tree), {{"k", "2"}}));
  {
    const Snapshot then = copy->open_snapshot("then").value();
    EXPECT_TRUE(same(read_all(*copy, tree, &then), {{"k", "1"}}));
  }
  Feed feed = copy->open_feed("feed").value();
  FeedCommit* const commit = feed.next(0).value();
  ASSERT_NE(commit, nullptr);
  FeedChange change;
  ASSERT_TRUE(commit->next(&change).value());
  EXPECT_EQ(change.key, "k");
  EXPECT_EQ(change.value, "2");
  ASSERT_EQ(copy->prepared().value().size(), 1u);
  ASSERT_OK(copy->commit_prepared("p"));
  Value value;
  ASSERT_OK(copy->get(tree, "prepared", value));
  EXPECT_EQ(value.to_string(), value_of(1, 100'000));
}

TEST_F(Backup, holds_trees_in_trees_clones_and_compressed_ones) {
  TreeOptions nested;
  nested.subtrees = true;
  const Tree parent = db_->tree("parent", nested).value();
  const Tree hung = db_->create_subtree(parent, "at").value();
  ASSERT_OK(db_->put(hung, "in", "side"));
  put_all(numbered(0, 3000, 200));
  ASSERT_OK(db_->set_compression(tree_, Compression::kLz4));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->clone_tree("t", "clone").status());
  ASSERT_OK(db_->del(tree_, big_endian(5)));
  ASSERT_OK(db_->checkpoint(directory_ / "copy"));
  const std::unique_ptr<Db> copy = open("copy");
  ASSERT_NE(copy, nullptr);
  const Tree found = copy->subtree(copy->find_tree("parent").value(), "at").value();
  EXPECT_TRUE(same(read_all(*copy, found), {{"in", "side"}}));
  EXPECT_TRUE(same(read_all(*copy, copy->find_tree("clone").value()), numbered(0, 3000, 200)));
  Contents rest = numbered(0, 3000, 200);
  rest.erase(big_endian(5));
  EXPECT_TRUE(same(read_all(*copy, copy->find_tree("t").value()), rest));
  const Result<CheckReport> report = copy->check();
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->ok());
}

TEST_F(Backup, other_directories_are_left_alone) {
  std::filesystem::create_directory(directory_ / "full");
  std::ofstream(directory_ / "full/mine") << "x";
  EXPECT_TRUE(db_->checkpoint(directory_ / "full").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(db_->checkpoint(directory_ / "db").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(
      BackupRepository::open(directory_ / "full").status().is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(BackupRepository::open(directory_ / "db").status().is(StatusCode::kInvalidArgument));
  // Neither does a marker of somebody else's make it ours.
  std::ofstream(directory_ / "full/copy.incomplete") << "";
  EXPECT_TRUE(db_->checkpoint(directory_ / "full").is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "full/mine"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "full/lock"));
  ASSERT_OK(db_->put(tree_, "k", "v"));
}

TEST_F(Backup, what_was_interrupted_is_refused_and_made_anew) {
  ASSERT_OK(db_->put(tree_, "k", "v"));
  ASSERT_OK(db_->checkpoint(directory_ / "copy"));
  std::ofstream(directory_ / "copy/copy.incomplete") << "";
  const Status refused = Db::open(directory_ / "copy", options()).status();
  EXPECT_TRUE(refused.is(StatusCode::kCorruption));
  EXPECT_NE(refused.message().find("copy.incomplete"), std::string_view::npos) << refused.message();
  Options reading = options();
  reading.read_only = true;
  EXPECT_TRUE(Db::open(directory_ / "copy", reading).status().is(StatusCode::kCorruption));
  EXPECT_TRUE(Follower::open(directory_ / "copy", {}).status().is(StatusCode::kCorruption));
  EXPECT_TRUE(Db::destroy(directory_ / "copy").is(StatusCode::kCorruption));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "copy/superblock"));
  ASSERT_OK(db_->checkpoint(directory_ / "copy"));
  EXPECT_TRUE(same(contents_of("copy"), {{"k", "v"}}));
}

TEST_F(Backup, incremental_ones_store_what_is_new_and_each_restores) {
  const Contents first = numbered(0, 20000, 300);
  put_all(first);
  ASSERT_OK(db_->flush());
  const auto repository = this->repository();
  const BackupInfo one = db_->backup(*repository).value();
  EXPECT_FALSE(one.incremental);
  Contents second = first;
  for (uint64_t i = 0; i < 50; ++i) {
    second[big_endian(i)] = "new";
    ASSERT_OK(db_->put(tree_, big_endian(i), "new"));
  }
  ASSERT_OK(db_->flush());
  const BackupInfo two = db_->backup(*repository).value();
  EXPECT_TRUE(two.incremental);
  EXPECT_LT(two.bytes_stored, two.bytes / 2);
  const BackupInfo three = db_->backup(*repository, {.full = true}).value();
  EXPECT_FALSE(three.incremental);
  EXPECT_GT(three.bytes_stored, 2 * two.bytes_stored);
  const std::vector<BackupInfo> list = repository->list().value();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[1].id, two.id);
  EXPECT_EQ(list[1].bytes_stored, two.bytes_stored);
  EXPECT_TRUE(list[1].incremental);
  EXPECT_TRUE(BackupRepository::open(directory_ / "repo").status().is(StatusCode::kBusy));
  for (const BackupInfo& info : list) EXPECT_OK(repository->verify(info.id));
  ASSERT_OK(repository->restore(one.id, directory_ / "one"));
  ASSERT_OK(repository->restore(two.id, directory_ / "two"));
  EXPECT_TRUE(same(contents_of("one"), first));
  EXPECT_TRUE(same(contents_of("two"), second));
  EXPECT_TRUE(repository->restore(two.id, directory_ / "two").is(StatusCode::kInvalidArgument));

  // What the second one has of the first one stays, the rest does not.
  ASSERT_OK(repository->remove(one.id));
  EXPECT_TRUE(repository->verify(one.id).is_not_found());
  EXPECT_OK(repository->verify(two.id));
  ASSERT_OK(repository->restore(two.id, directory_ / "again"));
  EXPECT_TRUE(same(contents_of("again"), second));
  ASSERT_OK(repository->remove(two.id));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "repo/parts.1"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "repo/parts.2"));
  ASSERT_OK(repository->restore(three.id, directory_ / "three"));
  EXPECT_TRUE(same(contents_of("three"), second));
  EXPECT_TRUE(repository->remove(one.id).is_not_found());
}

void flip(const std::string& path, uint64_t offset) {
  const int file = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  char byte = 0;
  ASSERT_EQ(pread(file, &byte, 1, static_cast<off_t>(offset)), 1);
  byte = static_cast<char>(byte ^ 16);
  ASSERT_EQ(pwrite(file, &byte, 1, static_cast<off_t>(offset)), 1);
  ::close(file);
}

TEST_F(Backup, damage_is_found_by_verify_and_restore_with_file_and_offset) {
  put_all(numbered(0, 3000, 300));
  ASSERT_OK(db_->flush());
  const auto repository = this->repository();
  const uint64_t id = db_->backup(*repository).value().id;
  const std::string parts = directory_ / "repo/parts.1";
  const uint64_t size = std::filesystem::file_size(parts);
  for (uint64_t i = 0; i < 40; ++i) {
    const uint64_t offset = i == 39 ? size - 1 : mix64(i) % size;
    flip(parts, offset);
    const Status verified = repository->verify(id);
    EXPECT_TRUE(verified.is(StatusCode::kCorruption)) << offset;
    const std::string message(verified.message());
    const size_t at = message.find("parts.1 at ");
    ASSERT_NE(at, std::string::npos) << message;
    const uint64_t named = std::stoull(message.substr(at + 11));
    EXPECT_LE(named, offset);
    EXPECT_LT(offset, named + (1 << 20));
    if (i % 8 == 0) {
      EXPECT_EQ(repository->restore(id, directory_ / "target").message(), verified.message());
      EXPECT_TRUE(Db::open(directory_ / "target", options()).status().is(StatusCode::kCorruption));
    }
    flip(parts, offset);
  }
  EXPECT_OK(repository->verify(id));
  const std::string index = directory_ / "repo/backup.1";
  const uint64_t index_size = std::filesystem::file_size(index);
  for (uint64_t i = 0; i < 60; ++i) {
    const uint64_t offset = i < 30 ? i * 2 : mix64(i) % index_size;
    flip(index, offset);
    const Status status = repository->verify(id);
    EXPECT_TRUE(status.is(StatusCode::kCorruption)) << offset << status.to_string();
    EXPECT_NE(status.message().find("backup.1 at "), std::string_view::npos) << status.message();
    flip(index, offset);
  }
  // Of another size than its header says it is not even read: this is more than any memory.
  std::filesystem::resize_file(index, uint64_t{1} << 40);
  EXPECT_TRUE(repository->verify(id).is(StatusCode::kCorruption));
  std::filesystem::resize_file(index, index_size);
  std::filesystem::resize_file(parts, size - 10);
  EXPECT_TRUE(repository->verify(id).is(StatusCode::kCorruption));
  std::filesystem::remove(parts);
  EXPECT_TRUE(repository->verify(id).is(StatusCode::kCorruption));
}

TEST_F(Backup, tells_what_it_has_copied_and_ends_when_told) {
  const Contents expected = numbered(0, 20000, 300);
  put_all(expected);
  ASSERT_OK(db_->flush());
  const auto repository = this->repository();
  std::vector<uint64_t> told;
  const CopyProgress tell = [&told](uint64_t bytes) {
    told.push_back(bytes);
    return Status();
  };
  const CopyProgress end = [&told](uint64_t bytes) {
    told.push_back(bytes);
    return told.size() < 3 ? Status() : Status(StatusCode::kBusy, "that is enough");
  };
  const auto ended = [&told](const Status& status) {
    EXPECT_TRUE(status.is(StatusCode::kBusy)) << status.to_string();
    EXPECT_EQ(status.message(), "that is enough");
    EXPECT_EQ(told.size(), 3u);
    for (size_t i = 0; i < told.size(); ++i) {
      EXPECT_GE(told[i], (i == 0 ? 0 : told[i - 1]) + (1 << 20));
    }
    told.clear();
  };

  ended(db_->checkpoint(directory_ / "copy", {.progress = end, .share_blocks = false}));
  EXPECT_TRUE(Db::open(directory_ / "copy", options()).status().is(StatusCode::kCorruption));
  ASSERT_OK(db_->checkpoint(directory_ / "copy", {.progress = tell, .share_blocks = false}));
  EXPECT_GE(told.size(), 5u);
  EXPECT_TRUE(same(contents_of("copy"), expected));
  told.clear();

  ended(db_->backup(*repository, {.progress = end}).status());
  EXPECT_TRUE(repository->list().value().empty());
  const Result<BackupInfo> made = db_->backup(*repository, {.progress = tell});
  ASSERT_OK(made.status());
  ASSERT_FALSE(told.empty());
  EXPECT_LE(told.back(), made->bytes);
  EXPECT_GT(told.back() + (2 << 20), made->bytes);
  told.clear();

  ended(repository->verify(made->id, {.progress = end}));
  ASSERT_OK(repository->verify(made->id, {.progress = tell}));
  EXPECT_LE(told.back(), made->bytes);
  EXPECT_GT(told.back() + (2 << 20), made->bytes);
  told.clear();

  ended(repository->restore(made->id, directory_ / "restored", {.progress = end}));
  ASSERT_OK(repository->restore(made->id, directory_ / "restored", {.progress = tell}));
  EXPECT_TRUE(same(contents_of("restored"), expected));
  EXPECT_GT(told.back() + (2 << 20), made->bytes);
}

TEST_F(Backup, keeps_to_its_rate) {
  put_all(numbered(0, 6000, 300));
  ASSERT_OK(db_->flush());
  const auto began = std::chrono::steady_clock::now();
  ASSERT_OK(db_->checkpoint(directory_ / "copy", {.bytes_per_second = 4 << 20}));
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GT(took, std::chrono::milliseconds(200));
}

}  // namespace
}  // namespace hawthorn::tests
