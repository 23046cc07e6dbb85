// Prepared transactions on the simulated disk: a database lives through several lives, each ended
// by a killed process or a power loss at a random operation of the disk, also while it recovers.
//
// What must hold after each (R21): a transaction whose prepare returned is there until its outcome
// was asked for; one whose commit or rollback returned has that outcome; where the machine stopped
// in between it is one or the other, as a whole; and what one recovery has shown stays.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "os/test_point.h"
#include "testing/sim_machine.h"
#include "tests/support/crash_life.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

using Contents = std::map<std::string, std::string>;
using Writes = std::map<std::string, std::optional<std::string>>;

constexpr size_t kBudget = size_t{16} << 20;
constexpr size_t kSegment = size_t{1} << 20;

Options options() {
  Options options;
  options.memory_budget_bytes = kBudget;
  options.durability = Durability::kFull;
  options.lock_timeout_ms = 0;
  return options;
}

Status read(Db& db, const Tree& tree, Contents* contents) {
  return db.scan(tree, "", std::nullopt, [&](std::span<const Entry> entries) {
    for (const Entry& entry : entries) contents->emplace(entry.key, entry.value);
    return true;
  });
}

Contents read(Db& db, const Tree& tree) {
  Contents contents;
  EXPECT_OK(read(db, tree, &contents));
  return contents;
}

void apply_to(const Writes& writes, Contents* contents) {
  for (const auto& [key, value] : writes) {
    if (value.has_value()) {
      (*contents)[key] = *value;
    } else {
      contents->erase(key);
    }
  }
}

std::set<std::string> ids(Db& db) {
  std::set<std::string> result;
  const auto prepared = db.prepared();
  EXPECT_OK(prepared.status());
  for (const PreparedTransaction& one : *prepared) result.insert(one.id);
  return result;
}

// Everything is committed with kFull, so that only what was under way when the machine stopped is
// not known; beside it much is logged that does not matter, so that the log goes round.
class PreparedLives {
 public:
  explicit PreparedLives(uint64_t seed)
      : prng_(seed), disk_(std::make_unique<SimDisk>(mix64(seed))) {}

  void live() {
    tests::live(
        {.steps = 60, .operations = 300}, prng_, &disk_,
        [this](const os::Machine& machine) { return open(machine); },
        [this](std::unique_ptr<Db>& db, const os::Machine& machine) { step(db, machine); });
  }

  void finish() {
    SimMachine machine(*disk_, prng_.next());
    std::unique_ptr<Db> db = open(machine.machine());
    ASSERT_NE(db, nullptr);
    while (!prepared_.empty()) end(*db, prepared_.begin()->first, prng_.one_in(2));
    ASSERT_EQ(read(*db, db->tree("t").value()), contents_);
    ASSERT_TRUE(clean(*db));
    ASSERT_OK(db->close());
  }
  uint64_t found() const { return found_; }

 private:
  enum class Doing : uint8_t { kNothing, kPreparing, kCommitting, kRollingBack, kWriting };

  std::unique_ptr<Db> open(const os::Machine& machine) {
    Result<std::unique_ptr<Db>> db = Db::open_on(machine, "/db", options());
    if (!db.ok()) {
      EXPECT_TRUE(disk_->stopped()) << db.status().to_string();
      return nullptr;
    }
    for (const char* name : {"t", "busy"}) {
      if (!(*db)->tree(name).ok()) return nullptr;
    }
    if (!compare(**db)) return nullptr;
    return std::move(*db);
  }

  // Decides what was under way. False: the machine stopped, or there is a failure.
  bool compare(Db& db) {
    const std::set<std::string> there = ids(db);
    Contents found;
    const Status status = read(db, db.tree("t").value(), &found);
    const auto checked = clean(db);
    if (disk_->stopped()) return false;
    EXPECT_OK(status);
    EXPECT_TRUE(checked);
    const bool listed = there.contains(id_);
    switch (doing_) {
      case Doing::kNothing:
        break;
      case Doing::kPreparing:
        if (listed) prepared_[id_] = writes_;
        break;
      case Doing::kCommitting:
        if (!listed) apply_to(writes_, &contents_);
        [[fallthrough]];
      case Doing::kRollingBack:
        if (!listed) prepared_.erase(id_);
        break;
      case Doing::kWriting: {
        Contents with = contents_;
        apply_to(writes_, &with);
        if (found == with) contents_ = with;
        break;
      }
    }
    doing_ = Doing::kNothing;
    std::set<std::string> expected;
    for (const auto& [id, writes] : prepared_) expected.insert(id);
    EXPECT_EQ(there, expected);
    EXPECT_TRUE(found == contents_) << found.size() << " of " << contents_.size();
    found_ += there.size();
    return !::testing::Test::HasFailure();
  }

  void step(std::unique_ptr<Db>& db, const os::Machine& machine) {
    const uint64_t pick = prng_.below(20);
    if (pick < 6) return prepare(*db);
    if (pick < 10 && !prepared_.empty()) {
      const auto at =
          std::next(prepared_.begin(), static_cast<ptrdiff_t>(prng_.below(prepared_.size())));
      return end(*db, std::string(at->first), !prng_.one_in(3));
    }
    if (pick < 13) return write(*db);
    if (pick < 17) return churn(*db);
    Status status;
    if (pick == 17) status = db->flush();
    if (pick == 18) status = prng_.one_in(2) ? db->compact() : db->drain();
    if (pick == 19) {
      status = db->close();
      db.reset();
      if (status.ok() && !disk_->stopped()) db = open(machine);
    }
    if (!disk_->stopped()) ASSERT_OK(status);
  }

  bool is_free(const std::string& key) const {
    return std::none_of(prepared_.begin(), prepared_.end(),
                        [&](const auto& one) { return one.second.contains(key); });
  }

  std::optional<std::string> any_value() {
    if (prng_.one_in(4)) return std::nullopt;
    return value_of(prng_.next(), prng_.one_in(12) ? 70'000 : prng_.below(400));
  }

  void prepare(Db& db) {
    const std::string id = "id" + std::to_string(prng_.below(8));
    if (prepared_.contains(id)) return;
    Transaction t =
        db.begin({.mode = prng_.one_in(2) ? TxnMode::kPessimistic : TxnMode::kOptimistic}).value();
    const Tree tree = db.tree("t").value();
    Writes writes;
    for (uint64_t count = prng_.one_in(6) ? 1200 : prng_.below(6); count > 0; --count) {
      const std::string key = key_of(prng_.below(1500));
      if (!is_free(key)) continue;
      const std::optional<std::string> value = any_value();
      const Status status = value.has_value() ? t.put(tree, key, *value) : t.del(tree, key);
      if (disk_->stopped()) return;
      ASSERT_OK(status);
      writes[key] = value;
    }
    doing_ = Doing::kPreparing;
    id_ = id;
    writes_ = writes;
    const Status status = t.prepare(id);
    if (disk_->stopped() && !status.ok()) return;
    doing_ = Doing::kNothing;
    ASSERT_OK(status);
    prepared_[id] = std::move(writes);
  }

  void end(Db& db, const std::string& id, bool commit) {
    doing_ = commit ? Doing::kCommitting : Doing::kRollingBack;
    id_ = id;
    writes_ = prepared_[id];
    const Status status = commit ? db.commit_prepared(id) : db.rollback_prepared(id);
    if (disk_->stopped() && !status.ok()) return;
    doing_ = Doing::kNothing;
    ASSERT_OK(status);
    if (commit) apply_to(writes_, &contents_);
    prepared_.erase(id);
  }

  void write(Db& db) {
    const std::string key = key_of(prng_.below(1500));
    const std::optional<std::string> value = any_value();
    const Tree tree = db.tree("t").value();
    doing_ = Doing::kWriting;
    writes_ = {{key, value}};
    const Status status = value.has_value() ? db.put(tree, key, *value) : db.del(tree, key);
    if (disk_->stopped() && !status.ok()) return;
    doing_ = Doing::kNothing;
    if (!is_free(key)) {
      ASSERT_TRUE(status.is(StatusCode::kTimedOut)) << status.to_string();
      return;
    }
    ASSERT_OK(status);
    apply_to(writes_, &contents_);
  }

  void churn(Db& db) {
    const Tree tree = db.tree("busy").value();
    for (int i = 0; i < 40 && !disk_->stopped(); ++i) {
      const Status status =
          db.put(tree, key_of(prng_.below(100)), value_of(prng_.next(), 20'000), Durability::kNone);
      if (!disk_->stopped()) ASSERT_OK(status);
    }
    const Status status = db.drain();
    if (!disk_->stopped()) ASSERT_OK(status);
  }

  Prng prng_;
  std::unique_ptr<SimDisk> disk_;
  Contents contents_;
  std::map<std::string, Writes> prepared_;
  Doing doing_ = Doing::kNothing;  // when the machine stopped
  std::string id_;
  Writes writes_;
  uint64_t found_ = 0;
};

TEST(PreparedCrash, any_moment) {
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
  db::log_segment_bytes = kSegment;
  db::log_bytes_min = size_t{1} << 20;
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  const uint64_t count = only != 0 ? 1 : scaled(100);
  uint64_t found = 0;
  for (uint64_t i = 1; i <= count; ++i) {
    const uint64_t seed = only != 0 ? only : i;
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
    PreparedLives test(seed);
    for (int life = 0; life < 6; ++life) {
      test.live();
      if (::testing::Test::HasFailure()) return;
    }
    test.finish();
    if (::testing::Test::HasFailure()) return;
    found += test.found();
  }
  // One that never finds any would pass, too.
  if (count > 10) {
    EXPECT_GT(found, 3 * count);
  }
}

// ---- One that stays for long

class PreparedForLong : public ::testing::Test {
 protected:
  void SetUp() override {
    db::data_file_bytes_first = uint64_t{1} << 20;
    db::data_file_bytes_max = uint64_t{4} << 20;
    db::log_segment_bytes = kSegment;
    db::log_bytes_min = size_t{1} << 20;
    open();
  }
  void open() {
    db_.reset();
    db_ = Db::open_on(machine_.machine(), "/db", options()).value();
    tree_ = db_->tree("t").value();
    busy_ = db_->tree("busy").value();
  }
  // Returns how long the log was at most.
  uint64_t write_log(uint64_t bytes) {
    uint64_t most = 0;
    for (const uint64_t end = db_->stats().visible_timestamp + bytes;
         db_->stats().visible_timestamp < end;) {
      for (int i = 0; i < 20; ++i, ++written_) {
        EXPECT_OK(db_->put(busy_, key_of(written_ % 150 * 32 + 6), value_of(written_, 20'000),
                           Durability::kNone));
      }
      EXPECT_OK(db_->drain());
      most = std::max(most, db_->stats().log_bytes);
    }
    return most;
  }
  void prepare(const std::string& id, uint64_t from, uint64_t count, Isolation level) {
    Transaction t = db_->begin({.isolation = level}).value();
    Value value;
    writes_[id];  // also one without any
    for (uint64_t i = from; i < from + count; ++i) {
      EXPECT_TRUE(t.get(tree_, "read" + std::to_string(i), value).is_not_found());
      writes_[id][big_endian(i)] = value_of(i, i % 101 == 100 ? 70'000 : 1000);
      ASSERT_OK(t.put(tree_, big_endian(i), *writes_[id][big_endian(i)]));
    }
    ASSERT_OK(t.prepare(id));
  }
  // All of them are there after any crash, and can be ended either way.
  void expect_after_crashes() {
    for (const CrashKind kind :
         {CrashKind::kProcessKill, CrashKind::kPowerLoss, CrashKind::kPowerLossDrop}) {
      auto after = disk_.after_crash(++written_, kind);
      for (const bool reopens : {false, true}) {
        SimMachine machine(*after, 2);
        std::unique_ptr<Db> db = Db::open_on(machine.machine(), "/db", options()).value();
        std::set<std::string> expected;
        for (const auto& [id, writes] : writes_) expected.insert(id);
        EXPECT_EQ(ids(*db), expected);
        const Tree tree = db->tree("t").value();
        EXPECT_TRUE(read(*db, tree).empty());
        EXPECT_TRUE(db->del(tree, "read5").is_conflict());
        EXPECT_TRUE(clean(*db));
        if (!reopens) continue;
        Contents contents;
        for (const auto& [id, writes] : writes_) {
          EXPECT_OK(db->commit_prepared(id));
          apply_to(writes, &contents);
        }
        EXPECT_TRUE(read(*db, tree) == contents);
        EXPECT_OK(db->close());
      }
    }
  }

  SimDisk disk_{1};
  SimMachine machine_{disk_, 1};
  std::unique_ptr<Db> db_;
  Tree tree_;
  Tree busy_;
  std::map<std::string, Writes> writes_;
  uint64_t written_ = 0;
};

// The log goes round many times, before and after restarts: all that was prepared moves with it.
TEST_F(PreparedForLong, moves_with_the_log) {
  prepare("small", 0, 10, Isolation::kSerializable);
  prepare("large", 1000, 700, Isolation::kSnapshot);
  prepare("nothing", 0, 0, Isolation::kSnapshot);
  prepare("reads much", 3000, 2000, Isolation::kSerializable);
  const size_t limit = kBudget / 5 * 2;
  for (int life = 0; life < 4; ++life) {
    SCOPED_TRACE(life);
    EXPECT_LT(write_log(5 * limit), 4 * limit);
    expect_after_crashes();
    if (life == 1) ASSERT_OK(db_->flush());
    if (life == 2) ASSERT_OK(db_->close());
    open();
    expect_after_crashes();
  }
  ASSERT_OK(db_->rollback_prepared("large"));
  writes_.erase("large");
  write_log(limit);
  expect_after_crashes();
  Contents contents;
  for (const auto& [id, writes] : writes_) {
    ASSERT_OK(db_->commit_prepared(id, Durability::kNone));
    apply_to(writes, &contents);
  }
  write_log(4 * limit);
  EXPECT_LT(db_->stats().log_bytes, 2 * limit) << "nothing holds the log any more";
  EXPECT_TRUE(read(*db_, tree_) == contents);
  ASSERT_OK(db_->close());
  open();
  EXPECT_TRUE(read(*db_, tree_) == contents);
  EXPECT_TRUE(clean(*db_));
}

#if defined(HAWTHORN_TEST_POINTS)
// The power goes as soon as the manifest no longer needs the records from before a move: those
// behind it are durable by then, though no flush has asked for that (attack 56).
TEST_F(PreparedForLong, moves_before_the_log_is_trimmed) {
  prepare("x", 0, 10, Isolation::kSerializable);
  int moves = 0;
  bool moved = false;
  std::vector<std::unique_ptr<SimDisk>> left;
  os::set_test_point("reappender.before_durable", [&] {
    moved = true;
    ++moves;
  });
  os::set_test_point("publisher.after_manifest", [&] {
    if (moved) left.push_back(disk_.after_crash(left.size(), CrashKind::kPowerLossDrop));
  });
  for (uint64_t i = 0; moves < 4 && i < 2000; ++i) {
    for (int n = 0; n < 20; ++n) {
      ASSERT_OK(db_->put(busy_, key_of(i % 10), value_of(i, 20'000), Durability::kNone));
    }
    ASSERT_OK(db_->flush());
    ASSERT_OK(db_->drain());
    moved = false;
  }
  os::clear_test_points();
  ASSERT_EQ(moves, 4);
  ASSERT_GE(left.size(), 4u);
  for (const std::unique_ptr<SimDisk>& disk : left) {
    SimMachine machine(*disk, 2);
    auto db = Db::open_on(machine.machine(), "/db", options());
    ASSERT_OK(db.status());
    EXPECT_EQ(ids(**db), std::set<std::string>{"x"});
  }
}
#endif

// Committed with kNone, then the power goes: it is prepared again, or committed, and whole.
TEST_F(PreparedForLong, an_outcome_may_be_lost_but_not_the_transaction) {
  prepare("x", 0, 500, Isolation::kSnapshot);
  write_log(size_t{8} << 20);
  ASSERT_OK(db_->commit_prepared("x", Durability::kNone));
  for (int later = 0; later < 3; ++later) {
    for (uint64_t salt = 0; salt < 6; ++salt) {
      auto after = disk_.after_crash(salt, static_cast<CrashKind>(salt % 3));
      SimMachine machine(*after, 2);
      std::unique_ptr<Db> db = Db::open_on(machine.machine(), "/db", options()).value();
      const Tree tree = db->tree("t").value();
      if (!ids(*db).empty()) {
        EXPECT_NE(salt % 3, 0u) << "a killed process loses nothing";
        EXPECT_TRUE(read(*db, tree).empty());
        ASSERT_OK(db->commit_prepared("x"));
      }
      Contents contents;
      apply_to(writes_["x"], &contents);
      EXPECT_TRUE(read(*db, tree) == contents);
      EXPECT_TRUE(clean(*db));
    }
    if (later == 0) ASSERT_OK(db_->flush());
    if (later == 1) write_log(size_t{20} << 20);
  }
}

// The disk fills up around it: it is there all the same, after every crash, and can be ended, for
// which space was set aside.
TEST_F(PreparedForLong, a_full_disk_does_not_lose_it) {
  prepare("small", 0, 10, Isolation::kSerializable);
  prepare("large", 1000, 700, Isolation::kSnapshot);
  disk_.set_capacity(disk_.used_bytes() + (size_t{24} << 20));
  Status status;
  uint64_t puts = 0;
  for (; status.ok() && puts < 20'000; ++puts) {
    status = db_->put(busy_, big_endian(puts), value_of(puts, 20'000), Durability::kNone);
  }
  ASSERT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  expect_after_crashes();
  open();
  EXPECT_EQ(ids(*db_).size(), 2u);
  ASSERT_OK(db_->commit_prepared("large"));
  ASSERT_OK(db_->rollback_prepared("small"));
  // Nothing holds the log any more: there is room for deletes.
  for (uint64_t i = 0; i + 1 < puts; ++i) {
    ASSERT_OK(db_->del(busy_, big_endian(i), Durability::kNone));
  }
  Contents contents;
  apply_to(writes_["large"], &contents);
  EXPECT_TRUE(read(*db_, tree_) == contents);
  EXPECT_TRUE(clean(*db_));
  ASSERT_OK(db_->close());
}

// Where the log cannot be synced nobody knows: the next open tells.
TEST_F(PreparedForLong, a_failed_sync_leaves_it_open) {
  for (const int nth : {1, 2}) {
    writes_.clear();
    Transaction t = db_->begin({}).value();
    ASSERT_OK(t.put(tree_, "a", "1"));
    if (nth == 2) ASSERT_OK(t.prepare("x"));
    disk_.fail_path("wal.", SimOp::kSync, 1, StatusCode::kIoError, true);
    if (nth == 1) {
      EXPECT_TRUE(t.prepare("x").is(StatusCode::kUnknownOutcome));
      EXPECT_TRUE(t.open());
    }
    t.abort();
    EXPECT_TRUE(t.open()) << "what cannot be logged has not happened";
    EXPECT_FALSE(db_->rollback_prepared("x").ok());
    t = Transaction();
    db_.reset();
    disk_.clear_faults();
    open();
    if (!ids(*db_).empty()) ASSERT_OK(db_->rollback_prepared("x"));
    EXPECT_TRUE(read(*db_, tree_).empty());
    EXPECT_TRUE(clean(*db_));
  }
}

}  // namespace
}  // namespace hawthorn::tests
