// Random histories of a source whose feed a replica follows, on the simulated disk: transactions of
// all kinds with savepoints, large values, ranges, merges, trees that come and go; restarts and
// crashes of both sides, at any operation of the disk.
//
// What must hold: the replica equals the source at the commit that it stands at, whenever that is
// one of which a snapshot was taken, and at the end; nothing is delivered that a crash of the
// source takes back; timestamps ascend; nothing is left out.
#include <map>
#include <set>

#include "base/prng.h"
#include "tests/feed/feed_test_support.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

// One of the two databases, on a disk of its own.
struct Side {
  explicit Side(uint64_t seed) : disk(std::make_unique<SimDisk>(seed)), machine(seed) {}
  void start(uint64_t seed) { running = std::make_unique<SimMachine>(*disk, seed); }
  std::unique_ptr<SimDisk> disk;
  uint64_t machine;
  std::unique_ptr<SimMachine> running;
  std::unique_ptr<Db> db;
};

class FeedModel {
 public:
  explicit FeedModel(uint64_t seed)
      : prng_(seed), source_(mix64(seed)), target_(mix64(seed + 1000)) {}

  void run(uint64_t steps) {
    ASSERT_NO_FATAL_FAILURE(open_source());
    ASSERT_NO_FATAL_FAILURE(open_target());
    for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(transaction());
    ASSERT_OK(source_.db->create_feed("replica"));
    ASSERT_OK(replica_->copy(*source_.db));
    ASSERT_EQ(difference(*source_.db, nullptr, *target_.db), "");
    for (uint64_t i = 0; i < steps; ++i) {
      ASSERT_NO_FATAL_FAILURE(step());
    }
    feed_.reset();
    ASSERT_NO_FATAL_FAILURE(follow(~uint64_t{0}));
    feed_.reset();
    ASSERT_EQ(difference(*source_.db, nullptr, *target_.db), "");
    ASSERT_TRUE(clean(*source_.db));
    ASSERT_TRUE(clean(*target_.db));
    snapshots_.clear();
    ASSERT_OK(source_.db->drop_feed("replica"));
    ASSERT_OK(source_.db->drain());
    ASSERT_EQ(source_.db->stats().feed_bytes_held, 0u);
    ASSERT_OK(source_.db->close());
    ASSERT_OK(target_.db->close());
  }
  uint64_t compared() const { return compared_; }
  uint64_t crashes() const { return crashes_; }

 private:
  static Options options() {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 0;
    options.merge_operators = {append_with(",")};
    return options;
  }
  void open(Side& side) {
    side.db.reset();
    side.start(prng_.next());
    Result<std::unique_ptr<Db>> db = Db::open_on(side.running->machine(), "/db", options());
    ASSERT_OK(db.status());
    side.db = std::move(*db);
  }
  void open_source() {
    ASSERT_NO_FATAL_FAILURE(open(source_));
    ASSERT_OK(source_.db->tree("t0").status());
  }
  void open_target() {
    ASSERT_NO_FATAL_FAILURE(open(target_));
    Result<std::unique_ptr<Replica>> replica = Replica::open(*target_.db);
    ASSERT_OK(replica.status());
    replica_ = std::move(*replica);
  }

  void step() {
    switch (prng_.below(24)) {
      case 0:
        return crash_source();
      case 1:
        return crash_target();
      case 2:
        feed_.reset();
        snapshots_.clear();
        ASSERT_OK(source_.db->close());
        return open_source();
      case 3:
        ASSERT_OK(source_.db->flush());
        return;
      case 4:
        ASSERT_OK(source_.db->drain());
        return;
      case 5:
        ASSERT_OK(prng_.one_in(2) ? source_.db->compact() : target_.db->flush());
        return;
      case 6:
        feed_.reset();
        return;
      case 7:
        return prepared();
      case 8:
      case 9:
      case 10:
        return follow(prng_.between(1, 12));
      case 11:
        return trees();
      default:
        return transaction();
    }
  }

  void crash_source() {
    ++crashes_;
    const auto kind = static_cast<CrashKind>(prng_.below(3));
    snapshots_.clear();
    // At a random moment of what it does next.
    source_.disk->stop_at(SimOp::kAny, prng_.between(1, 200));
    for (int i = 0; i < 30 && !source_.disk->stopped(); ++i) {
      stopping_ = true;
      if (prng_.one_in(5)) static_cast<void>(source_.db->flush().ok());
      if (prng_.one_in(5)) follow(3);
      transaction();
    }
    stopping_ = false;
    snapshots_.clear();
    auto after = source_.disk->crash(prng_.next(), kind);
    feed_.reset();
    source_.db.reset();
    source_.disk = std::move(after);
    ASSERT_NO_FATAL_FAILURE(open_source());
    // What was delivered, and is in the replica, is there.
    ASSERT_LE(replica_->position(), source_.db->stats().visible_timestamp);
  }
  void crash_target() {
    ++crashes_;
    auto after = target_.disk->crash(prng_.next(), static_cast<CrashKind>(prng_.below(3)));
    replica_.reset();
    target_.db.reset();
    target_.disk = std::move(after);
    ASSERT_NO_FATAL_FAILURE(open_target());
    // It may have lost what was acknowledged: durable on its own side it was not.
    ASSERT_GE(replica_->position(), durable_position_);
    feed_.reset();
  }

  void follow(uint64_t most) {
    if (!feed_.has_value()) {
      Result<Feed> feed = source_.db->open_feed("replica");
      if (stopping_ && !feed.ok()) return;
      ASSERT_OK(feed.status());
      feed_ = std::move(*feed);
      last_ = feed_->position();
    }
    for (uint64_t i = 0; i < most; ++i) {
      Result<FeedCommit*> commit = feed_->next(1);
      if (!commit.ok() && stopping_) return feed_.reset();
      ASSERT_OK(commit.status());
      if (*commit == nullptr) break;
      ASSERT_GT((*commit)->cts(), last_);
      ASSERT_EQ((*commit)->previous(), last_);
      last_ = (*commit)->cts();
      const Status applied = prng_.one_in(2) ? replica_->apply(**commit) : apply_bytes(**commit);
      if (!applied.ok() && stopping_) return feed_.reset();
      ASSERT_OK(applied);
      ASSERT_GE(replica_->position(), last_);
      compare();
      if (::testing::Test::HasFatalFailure()) return;
    }
    if (prng_.one_in(2)) {
      // Only what the replica cannot lose.
      ASSERT_OK(target_.db->sync());
      durable_position_ = replica_->position();
      const Status status = feed_->acknowledge(last_);
      if (!stopping_) ASSERT_OK(status);
    }
  }
  Status apply_bytes(FeedCommit& commit) {
    std::string piece;
    return replica_->apply([&]() -> Result<std::string_view> {
      Result<bool> more = commit.encode(&piece);
      if (!more.ok()) return more.status();
      if (!*more) return Status(StatusCode::kCorruption, "there are no more pieces");
      return std::string_view(piece);
    });
  }
  void compare() {
    while (!snapshots_.empty() && snapshots_.front().timestamp() < replica_->position()) {
      snapshots_.erase(snapshots_.begin());
    }
    if (snapshots_.empty() || snapshots_.front().timestamp() != replica_->position()) return;
    const std::string found = difference(*source_.db, &snapshots_.front(), *target_.db);
    if (source_.disk->stopped()) return;
    ASSERT_EQ(found, "");
    ++compared_;
  }

  std::string any_tree(Transaction& txn) {
    const auto names = txn.list_trees();
    return names.ok() && !names->empty() ? (*names)[prng_.below(names->size())] : "t0";
  }
  std::string any_key() { return "k" + std::to_string(prng_.below(150)); }

#define MAY_STOP(expression)                               \
  do {                                                     \
    const Status may_stop = (expression);                  \
    if (!may_stop.ok() && source_.disk->stopped()) return; \
    if (may_stop.is(StatusCode::kConflict)) return;        \
    ASSERT_OK(may_stop);                                   \
  } while (false)

  void transaction() {
    Result<Transaction> begun =
        source_.db->begin({.mode = static_cast<TxnMode>(prng_.below(3)),
                           .isolation = static_cast<Isolation>(prng_.below(2))});
    MAY_STOP(begun.status());
    Transaction txn = std::move(*begun);
    std::optional<Savepoint> savepoint;
    const bool big = prng_.one_in(12);
    for (uint64_t left = prng_.between(1, 8); left > 0; --left) {
      Status status;
      write(txn, big, &status);
      MAY_STOP(status);
      if (prng_.one_in(5)) savepoint = txn.savepoint().value();
      if (savepoint.has_value() && prng_.one_in(6)) MAY_STOP(txn.rollback_to(*savepoint));
    }
    if (prng_.one_in(8)) return txn.abort();
    MAY_STOP(txn.commit(static_cast<Durability>(prng_.between(1, 3))));
    if (prng_.one_in(3)) snapshots_.push_back(source_.db->snapshot());
  }
  void write(Transaction& txn, bool big, Status* status) {
    const std::string name = any_tree(txn);
    Result<Tree> found = txn.find_tree(name);
    if (!found.ok()) {
      *status = found.status();
      return;
    }
    const Tree tree = *found;
    const bool ends = name.starts_with("e");
    const bool merges = name.starts_with("m");
    const bool several = name.starts_with("s");
    switch (prng_.below(8)) {
      case 0:
        *status = txn.del(tree, any_key());
        return;
      case 1:
        *status = txn.delete_range(tree, any_key(), any_key());
        return;
      case 2:
        if (merges) {
          *status = txn.merge(tree, any_key(), std::to_string(prng_.below(100)));
          return;
        }
        break;
      case 3:
        if (ends) {
          *status = txn.put(tree, any_key(), "ends", Expiry::after_ms(1'000'000'000));
          return;
        }
        break;
      case 4:
        if (!several) {
          *status = txn.put(tree, any_key(), value_of(prng_.next(), 66'000 + prng_.below(90'000)));
          return;
        }
        break;
      case 5:
        for (int i = 0; i < (big ? 2000 : 60) && status->ok(); ++i) {
          *status = txn.put(tree, "n" + std::to_string(prng_.below(3000)),
                            value_of(prng_.next(), several ? 20 : 400));
        }
        return;
      default:
        break;
    }
    *status = txn.put(tree, any_key(), value_of(prng_.next(), prng_.below(200)));
  }

  void trees() {
    Result<Transaction> begun = source_.db->begin(TxnMode::kOptimistic);
    MAY_STOP(begun.status());
    Transaction txn = std::move(*begun);
    const std::string from = any_tree(txn);
    const std::string kinds = "tesm";
    const char kind = kinds[prng_.below(4)];
    const std::string number = std::to_string(++last_tree_);
    bool gives = false;
    switch (prng_.below(4)) {
      case 0:
        if (from.starts_with("m")) return txn.abort();
        MAY_STOP(txn.clone_tree(from, from.substr(0, 1) + number).status());
        break;
      case 1:
        if (from == "t0") return txn.abort();
        MAY_STOP(txn.drop_tree(from));
        break;
      case 2:
        if (from == "t0") return txn.abort();
        MAY_STOP(txn.rename_tree(from, from.substr(0, 1) + number));
        break;
      default: {
        TreeOptions with;
        with.expires = kind == 'e';
        with.multi_value = kind == 's';
        if (prng_.one_in(2)) with.order = "reverse";
        MAY_STOP(txn.tree(std::string(1, kind) + number, with).status());
        gives = kind == 'm';
      }
    }
    MAY_STOP(txn.commit());
    if (!gives) return;
    const Tree tree = source_.db->find_tree("m" + number).value();
    MAY_STOP(source_.db->set_merge_operator(tree, "append:,"));
  }

  void prepared() {
    const auto open = source_.db->prepared();
    if (open.ok() && !open->empty()) {
      const std::string id = open->front().id;
      MAY_STOP(prng_.one_in(3) ? source_.db->rollback_prepared(id)
                               : source_.db->commit_prepared(id));
      return;
    }
    Result<Transaction> begun = source_.db->begin(TxnMode::kOptimistic);
    MAY_STOP(begun.status());
    Transaction txn = std::move(*begun);
    Result<Tree> tree = txn.find_tree("t0");
    MAY_STOP(tree.status());
    for (int i = 0; i < 20; ++i) {
      MAY_STOP(txn.put(*tree, "p" + std::to_string(prng_.below(50)), value_of(prng_.next(), 500)));
    }
    MAY_STOP(txn.prepare("p" + std::to_string(++last_prepared_)));
    // It must not stand in the way of the others for long.
    MAY_STOP(source_.db->flush());
    ASSERT_NO_FATAL_FAILURE(follow(2));
    if (prng_.one_in(3)) {
      txn = Transaction();
      ASSERT_NO_FATAL_FAILURE(crash_source_now());
    }
    const auto left = source_.db->prepared().value();
    for (const PreparedTransaction& one : left) {
      MAY_STOP(prng_.one_in(4) ? source_.db->rollback_prepared(one.id)
                               : source_.db->commit_prepared(one.id));
    }
  }
  void crash_source_now() {
    ++crashes_;
    snapshots_.clear();
    auto after = source_.disk->crash(prng_.next(), static_cast<CrashKind>(prng_.below(3)));
    feed_.reset();
    source_.db.reset();
    source_.disk = std::move(after);
    ASSERT_NO_FATAL_FAILURE(open_source());
  }

  Prng prng_;
  Side source_;
  Side target_;
  std::unique_ptr<Replica> replica_;
  std::optional<Feed> feed_;
  std::vector<Snapshot> snapshots_;
  uint64_t last_ = 0;
  uint64_t durable_position_ = 0;
  uint64_t last_tree_ = 0;
  uint64_t last_prepared_ = 0;
  uint64_t compared_ = 0;
  uint64_t crashes_ = 0;
  bool stopping_ = false;
};

TEST(FeedModel, random_histories) {
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  const uint64_t count = only != 0 ? 1 : scaled(3);
  constexpr uint64_t kEnough = 5;
  constexpr uint64_t kCountMax = 30;
  uint64_t compared = 0;
  uint64_t crashes = 0;
  // As many as are to be, and then until enough was seen.
  const auto enough = [&] { return only != 0 || (compared > kEnough && crashes > kEnough); };
  for (uint64_t i = 1; i <= count || (!enough() && i <= kCountMax); ++i) {
    const uint64_t seed = only != 0 ? only : i;
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
    FeedModel model(seed);
    model.run(environment_number("HAWTHORN_OPERATIONS", 130));
    if (::testing::Test::HasFailure()) return;
    compared += model.compared();
    crashes += model.crashes();
  }
  EXPECT_TRUE(enough()) << compared << " comparisons, " << crashes << " crashes";
}

}  // namespace
}  // namespace hawthorn::tests
