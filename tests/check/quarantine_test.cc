// Damage in one container leaves all others usable: reads, cursors, writes, flushes, counts and the
// background; and what is written to the damaged one is not lost.

#include "db/log_sizing.h"
#include "db/manifest.h"
#include "format/run_layout.h"
#include "tests/check/every_kind.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;

constexpr uint64_t kKeys = 6000;
constexpr size_t kValueBytes = 300;

enum class Part { kHeader, kIndex, kValues };

class Quarantine : public ::testing::TestWithParam<Part> {
 protected:
  void SetUp() override {
    db::log_segment_bytes = size_t{4} << 20;
    {
      SimMachine machine(*disk_, 1);
      auto db = Db::open_on(machine.machine(), "/db", options());
      ASSERT_OK(db.status());
      const Tree tree = (*db)->tree("t").value();
      contents_ = numbered(0, kKeys, kValueBytes);
      for (const auto& [key, value] : contents_) ASSERT_OK((*db)->put(tree, key, value));
      ASSERT_OK((*db)->close());
      const auto loaded = db::Manifest::load(machine.machine(), "/db", nullptr);
      ASSERT_OK(loaded.status());
      std::map<std::string, format::ContainerRecord> by_key;
      for (const auto& [id, record] : loaded->state.containers) {
        if (loaded->state.trees.at(record.tree).name == "t") by_key.emplace(record.low, record);
      }
      ASSERT_GE(by_key.size(), 4u);
      const auto damaged = std::next(by_key.begin(), 2);
      record_ = damaged->second;
      low_ = damaged->first;
      high_ = std::next(damaged)->first;
    }
    ASSERT_FALSE(record_.values.empty());
    const format::RunFront front = format::run_front(record_);
    extent_ = GetParam() == Part::kValues ? record_.values.front().address : record_.run;
    const uint64_t block = GetParam() == Part::kIndex ? front.header_blocks : 0;
    place_ = (uint64_t{extent_.block} + block) * 4096 + 1000;
    ASSERT_TRUE(disk_->flip_bit(data_path(extent_), place_, 4));
    open();
  }
  void TearDown() override {
    db_.reset();
    machine_.reset();
  }

  static Options options() {
    Options options = every_kind_options();
    options.log = [](LogLevel, std::string_view) {};
    return options;
  }
  void open() {
    db_.reset();
    machine_ = std::make_unique<SimMachine>(*disk_, 2);
    auto db = Db::open_on(machine_->machine(), "/db", options());
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->find_tree("t").value();
  }
  bool in_damaged(std::string_view key) const { return key >= low_ && key < high_; }
  // Whether the container can be read at all.
  bool run_is_damaged() const { return GetParam() != Part::kValues; }
  bool names_the_place(const Status& status) const {
    return status.is(StatusCode::kCorruption) &&
           status.message().find("data." + std::to_string(extent_.file) + " at ") !=
               std::string_view::npos;
  }
  // All that is there, and how many could not be read, each time with the place.
  void read_all_keys(uint64_t* failed) {
    Value value;
    *failed = 0;
    for (const auto& [key, expected] : contents_) {
      const Status status = db_->get(tree_, key, value);
      if (status.ok()) {
        ASSERT_EQ(value.view(), expected);
        continue;
      }
      ASSERT_TRUE(in_damaged(key)) << status.to_string();
      ASSERT_TRUE(names_the_place(status)) << status.to_string();
      ++*failed;
    }
  }
  void put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->put(tree_, key, value));
    contents_[key] = value;
  }
  std::string inside() const { return low_ + "x"; }

  std::unique_ptr<SimDisk> disk_ = std::make_unique<SimDisk>(1);
  std::unique_ptr<SimMachine> machine_;
  std::unique_ptr<Db> db_;
  Tree tree_;
  Contents contents_;
  format::ContainerRecord record_;
  format::ExtentAddress extent_;
  std::string low_;
  std::string high_;
  uint64_t place_ = 0;
};

TEST_P(Quarantine, reads_of_others_go_on) {
  // Twice: what was found is remembered, with its place.
  for (int round = 0; round < 2; ++round) {
    uint64_t failed = 0;
    ASSERT_NO_FATAL_FAILURE(read_all_keys(&failed));
    EXPECT_GT(failed, 0u);
  }
  EXPECT_EQ(db_->stats().quarantined_containers, run_is_damaged() ? 1u : 0u);
  // A walk ends in front of it, or in it, and says why; another one begins behind it, and one comes
  // from above.
  Cursor cursor = db_->cursor(tree_);
  auto at = contents_.begin();
  for (bool there = cursor.first(); there; there = cursor.next(), ++at) {
    ASSERT_EQ(cursor.key(), at->first);
    ASSERT_EQ(cursor.value(), at->second);
  }
  EXPECT_TRUE(names_the_place(cursor.status())) << cursor.status().to_string();
  EXPECT_TRUE(in_damaged(at->first));
  at = contents_.lower_bound(high_);
  for (bool there = cursor.seek(high_); there; there = cursor.next(), ++at) {
    ASSERT_EQ(cursor.value(), at->second);
  }
  ASSERT_OK(cursor.status());
  EXPECT_EQ(at, contents_.end());
  at = contents_.end();
  for (bool there = cursor.last(); there && !in_damaged(cursor.key()); there = cursor.prev()) {
    ASSERT_EQ(cursor.key(), (--at)->first);
  }
  // A batch has an answer for each key.
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : contents_) keys.push_back(key);
  ReadBatch batch;
  const Status read = db_->multi_get(tree_, keys, batch);
  EXPECT_TRUE(names_the_place(read)) << read.to_string();
  // Counts on both sides, and of one that does not need the values over it.
  EXPECT_EQ(db_->count(tree_, "", low_).value(),
            static_cast<uint64_t>(std::distance(contents_.begin(), contents_.find(low_))));
  EXPECT_EQ(db_->count(tree_, high_, std::nullopt).value(),
            static_cast<uint64_t>(std::distance(contents_.find(high_), contents_.end())));
}

TEST_P(Quarantine, writes_and_flushes_of_others_go_on) {
  uint64_t failed = 0;
  ASSERT_NO_FATAL_FAILURE(read_all_keys(&failed));
  for (uint64_t i = 0; i < kKeys; i += 7) {
    ASSERT_NO_FATAL_FAILURE(put(big_endian(i), value_of(i + 1, kValueBytes)));
  }
  ASSERT_NO_FATAL_FAILURE(put(inside(), "new"));
  const Status flushed = db_->flush();
  if (run_is_damaged()) {
    EXPECT_TRUE(names_the_place(flushed)) << flushed.to_string();
  } else {
    EXPECT_OK(flushed);
  }
  // Nothing is left in memory but what belongs to the damaged one.
  const auto left = [this] {
    for (const TreeStats& tree : db_->stats().trees) {
      if (tree.name == "t") return tree.delta_records;
    }
    return uint64_t{0};
  };
  uint64_t in_it = 0;
  for (uint64_t i = 0; i < kKeys; i += 7) in_it += in_damaged(big_endian(i)) ? 1 : 0;
  EXPECT_EQ(left(), run_is_damaged() ? in_it + 1 : 0);
  // What was written to it is read.
  Value value;
  ASSERT_OK(db_->get(tree_, inside(), value));
  EXPECT_EQ(value.view(), "new");
  EXPECT_OK(db_->drain());
  const Status compacted = db_->compact();
  EXPECT_TRUE(names_the_place(compacted)) << compacted.to_string();
  // Transactions elsewhere, and other trees.
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  ASSERT_OK(transaction->get(tree_, big_endian(0), value));
  ASSERT_OK(transaction->put(tree_, big_endian(0), "by a transaction"));
  ASSERT_OK(transaction->commit());
  contents_[big_endian(0)] = "by a transaction";
  const Tree other = db_->tree("other").value();
  ASSERT_OK(db_->put(other, "k", "v"));
  ASSERT_NO_FATAL_FAILURE(read_all_keys(&failed));
}

// Closed or killed, again and again: what was written to the damaged container is there.
TEST_P(Quarantine, what_is_written_to_it_is_not_lost) {
  for (int life = 0; life < 4; ++life) {
    SCOPED_TRACE("life " + std::to_string(life));
    for (int i = 0; i < 50; ++i) {
      ASSERT_NO_FATAL_FAILURE(
          put(inside() + std::to_string(life) + "/" + std::to_string(i), value_of(i, 200)));
      ASSERT_NO_FATAL_FAILURE(put(big_endian(i + 10), value_of(life + i, 250)));
    }
    static_cast<void>(db_->flush().ok());
    if (life % 2 == 0) {
      ASSERT_OK(db_->close());
      open();
    } else {
      ASSERT_OK(db_->sync());
      db_.reset();
      auto killed = disk_->crash(life, CrashKind::kProcessKill);
      machine_.reset();
      disk_ = std::move(killed);
      open();
    }
    Value value;
    for (const auto& [key, expected] : contents_) {
      if (in_damaged(key) && !key.starts_with(inside())) continue;
      ASSERT_OK(db_->get(tree_, key, value));
      ASSERT_EQ(value.view(), expected);
    }
  }
  const auto report = db_->check();
  ASSERT_OK(report.status());
  ASSERT_FALSE(report->ok());
  for (const CheckItem& item : report->items) EXPECT_EQ(item.container, record_.id);
}

INSTANTIATE_TEST_SUITE_P(Parts, Quarantine,
                         ::testing::Values(Part::kHeader, Part::kIndex, Part::kValues),
                         [](const auto& part) {
                           return part.param == Part::kHeader  ? "Header"
                                  : part.param == Part::kIndex ? "Index"
                                                               : "Values";
                         });

// With threads in the background, which flush what others write while the damaged one cannot be.
TEST(QuarantineThreads, the_background_goes_on) {
  db::log_segment_bytes = size_t{4} << 20;
  const TempDirectory directory;
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  const Contents contents = numbered(0, kKeys, kValueBytes);
  format::ContainerRecord damaged;
  std::string high;
  {
    auto db = Db::open(directory / "db", options);
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    for (const auto& [key, value] : contents) ASSERT_OK((*db)->put(tree, key, value));
    ASSERT_OK((*db)->close());
    const auto loaded = db::Manifest::load(os::real_machine(), directory / "db", nullptr);
    ASSERT_OK(loaded.status());
    std::map<std::string, format::ContainerRecord> by_key;
    for (const auto& [id, record] : loaded->state.containers) {
      if (loaded->state.trees.at(record.tree).name == "t") by_key.emplace(record.low, record);
    }
    ASSERT_GE(by_key.size(), 3u);
    damaged = std::next(by_key.begin())->second;
    high = std::next(by_key.begin(), 2)->first;
  }
  {
    auto file = os::real_machine().files->open_file(
        directory / ("db/data." + std::to_string(damaged.run.file)), {});
    ASSERT_OK(file.status());
    std::string block(4096, '\0');
    ASSERT_OK((*file)->read_at(uint64_t{damaged.run.block} * 4096, block));
    block[200] = static_cast<char>(block[200] ^ 4);
    ASSERT_OK((*file)->write_at(uint64_t{damaged.run.block} * 4096, block));
  }
  auto db = Db::open(directory / "db", options);
  ASSERT_OK(db.status());
  const Tree tree = (*db)->find_tree("t").value();
  Value value;
  EXPECT_TRUE((*db)->get(tree, damaged.low, value).is(StatusCode::kCorruption));
  ASSERT_OK((*db)->put(tree, std::string(damaged.low) + "x", "kept"));
  // Several times the quota of unflushed data, all elsewhere.
  uint64_t written = 0;
  for (uint64_t round = 0; round < 20; ++round) {
    for (const auto& [key, old] : contents) {
      if (key >= damaged.low && key < high) continue;
      ASSERT_OK((*db)->put(tree, key, value_of(round, kValueBytes)));
      written += kValueBytes;
    }
  }
  EXPECT_GT(written, size_t{20} << 20);
  EXPECT_GT((*db)->stats().flushes, 10u);
  ASSERT_OK((*db)->drain());
  ASSERT_OK((*db)->get(tree, std::string(damaged.low) + "x", value));
  EXPECT_EQ(value.view(), "kept");
  ASSERT_OK((*db)->get(tree, big_endian(0), value));
  EXPECT_EQ(value.view(), value_of(19, kValueBytes));
  EXPECT_OK((*db)->close());
}

}  // namespace
}  // namespace hawthorn::tests
