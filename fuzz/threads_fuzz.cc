// Two threads on one database, each with a half of the input and keys of its own, beside
// background work. What a thread has written it alone changes, so it knows what it
// must read; what the other one writes it sees whole or not at all.
//
// An input does the same operations each time, but not in the same order between the threads.
// Checked: reads and cursors of a thread's own keys against a model; in snapshots, that the other's
// two counters, which it changes in one commit, are the same, and that the accounts between which
// both move amounts under row locks add up; at the end the sum that both merged into; that all is
// there after a killed process.
#include <map>
#include <optional>
#include <thread>

#include "fuzz/database.h"

using hawthorn::fuzz::Bytes;
using namespace hawthorn;  // NOLINT: a program

namespace {

constexpr int kOperationsMax = 150;
constexpr int kAccounts = 4;
constexpr int64_t kEach = 1000;
using Contents = std::map<std::string, std::string>;

std::string eight_bytes(uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}
uint64_t number_of(std::string_view bytes) {
  FUZZ_CHECK(bytes.size() == sizeof(uint64_t));
  return load<uint64_t>(bytes.data());
}

// What both use.
void make_shared(Db& db) {
  FUZZ_OK(db.tree("sum").status());
  FUZZ_OK(db.set_merge_operator(*db.find_tree("sum"), "uint64_add"));
  FUZZ_OK(db.tree("nest", {.subtrees = true}).status());
  const auto bank = db.tree("bank");
  FUZZ_OK(bank.status());
  for (int i = 0; i < kAccounts; ++i) FUZZ_OK(db.put(*bank, std::to_string(i), eight_bytes(kEach)));
}

class Client {
 public:
  Client(fuzz::Database& db, Bytes in, char own, char other)
      : db_(db), in_(in), own_(1, own), other_(1, other) {}

  void run() {
    bank_ = *db_->find_tree("bank");
    sum_ = *db_->find_tree("sum");
    nest_ = *db_->find_tree("nest");
    for (int i = 0; i < kOperationsMax && !in_.empty(); ++i) step();
    compare();
  }
  // Everything of this thread, by a scan of its keys.
  void compare() const {
    auto at = contents_.begin();
    FUZZ_OK(db_->scan(db_.tree(), own_, end(), [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) {
        FUZZ_CHECK(at != contents_.end() && at->first == entry.key && at->second == entry.value);
        ++at;
      }
      return true;
    }));
    FUZZ_CHECK(at == contents_.end());
  }
  uint64_t added() const { return added_; }

 private:
  std::string end() const { return std::string(1, static_cast<char>(own_[0] + 1)); }
  std::string key() { return own_ + "k" + std::to_string(in_.byte() % 100); }
  std::string value() {
    const size_t size = fuzz::size_of(in_.byte());
    return fuzz::value_of(++number_, std::min<size_t>(size, 5000));
  }
  Durability level() { return static_cast<Durability>(1 + in_.byte() % 3); }

  void step() {
    switch (in_.byte() % 18) {
      case 0:
      case 1: {
        const std::string key = this->key();
        const std::string value = this->value();
        FUZZ_OK(db_->put(db_.tree(), key, value, level()));
        contents_[key] = value;
        return;
      }
      case 2: {
        const std::string key = this->key();
        FUZZ_OK(db_->del(db_.tree(), key, level()));
        contents_.erase(key);
        return;
      }
      case 3: {
        const std::string low = key();
        const std::string high = key();
        if (low >= high || ++ranges_ > 10) return;
        // It notes the range when no row at all is locked.
        const Status status = db_->delete_range(db_.tree(), low, high, level());
        if (status.is(StatusCode::kTimedOut)) return;
        FUZZ_OK(status);
        contents_.erase(contents_.lower_bound(low), contents_.lower_bound(high));
        return;
      }
      case 4: {
        const std::string key = this->key();
        Value found;
        const Status status = db_->get(db_.tree(), key, found);
        const auto known = contents_.find(key);
        FUZZ_CHECK(known == contents_.end() ? status.is_not_found()
                                            : status.ok() && found.view() == known->second);
        return;
      }
      case 5:
        return transaction();
      case 6:
        return count_up();
      case 7:
      case 8:
        return read_other();
      case 9:
        return walk();
      case 10:
        FUZZ_OK(in_.byte() % 4 == 0 ? db_->compact() : db_->flush());
        return;
      case 11:
        FUZZ_OK(db_->sync());
        return;
      case 12: {
        const uint64_t number = in_.byte();
        FUZZ_OK(db_->merge(sum_, "total", eight_bytes(number), level()));
        added_ += number;
        return;
      }
      case 13:
        return transfer();
      case 14:
        return look_at_bank();
      case 15:
        return ingest();
      case 16:
        return subtree();
      default:
        return two_phases();
    }
  }

  // Under row locks, which both take in the same order.
  void transfer() {
    int from = in_.byte() % kAccounts;
    int to = in_.byte() % kAccounts;
    const uint64_t amount = in_.byte();
    if (from == to) return;
    auto txn = db_->begin({.mode = TxnMode::kPessimistic, .isolation = Isolation::kReadCommitted});
    FUZZ_OK(txn.status());
    uint64_t found[2];
    const int order[2] = {std::min(from, to), std::max(from, to)};
    for (int i = 0; i < 2; ++i) {
      Value value;
      const Status status = txn->get_for_update(bank_, std::to_string(order[i]), value);
      if (status.is(StatusCode::kTimedOut)) return txn->abort();
      FUZZ_OK(status);
      found[i] = number_of(value.view());
    }
    for (int i = 0; i < 2; ++i) {
      const uint64_t next = order[i] == from ? found[i] - amount : found[i] + amount;
      FUZZ_OK(txn->put(bank_, std::to_string(order[i]), eight_bytes(next)));
    }
    FUZZ_OK(txn->commit(level()));
  }
  void look_at_bank() {
    const Snapshot snapshot = db_->snapshot();
    uint64_t all = 0;
    for (int i = 0; i < kAccounts; ++i) {
      Value value;
      FUZZ_OK(db_->get(bank_, std::to_string(i), value, {.snapshot = &snapshot}));
      all += number_of(value.view());
    }
    FUZZ_CHECK(all == uint64_t{kAccounts} * kEach);
  }

  void ingest() {
    auto ingest = db_->ingest(db_.tree(), {.durability = level()});
    FUZZ_OK(ingest.status());
    Contents next = contents_;
    const std::string value = this->value();
    const int count = in_.byte() % 50;
    for (int i = 0; i < count; ++i) {
      const std::string key = own_ + "i" + std::to_string(100 + i);
      FUZZ_OK(ingest->add(key, value));
      next[key] = value;
    }
    // What it attaches it attaches when no row at all is locked.
    const Status status = ingest->finish();
    if (status.is(StatusCode::kTimedOut)) return;
    FUZZ_OK(status);
    contents_ = std::move(next);
  }

  // A tree that hangs at a key of its own, and what it holds, until it is dropped.
  void subtree() {
    const std::string key = this->key();
    const auto made = db_->create_subtree(nest_, key);
    FUZZ_OK(made.status());
    const std::string value = this->value();
    FUZZ_OK(db_->put(*made, key, value, level()));
    const auto found = db_->subtree(nest_, key);
    FUZZ_OK(found.status());
    Value there;
    FUZZ_OK(db_->get(*found, key, there));
    FUZZ_CHECK(there.view() == value);
    there.reset();
    FUZZ_OK(db_->del(nest_, key, level()));
    FUZZ_CHECK(db_->subtree(nest_, key).status().is_not_found());
  }

  void two_phases() {
    auto txn = db_->begin(TxnMode::kOptimistic);
    FUZZ_OK(txn.status());
    const std::string key = this->key();
    const std::string value = this->value();
    FUZZ_OK(txn->put(db_.tree(), key, value));
    const std::string id = own_ + std::to_string(++prepared_);
    const Status status = txn->prepare(id);
    // While a range is being deleted nobody takes the first lock.
    if (status.is(StatusCode::kTimedOut)) return txn->abort();
    FUZZ_OK(status);
    if (in_.byte() % 3 == 0) {
      FUZZ_OK(db_->rollback_prepared(id));
      return;
    }
    FUZZ_OK(db_->commit_prepared(id, level()));
    contents_[key] = value;
  }

  // Nobody else writes these keys: it commits.
  void transaction() {
    auto txn = db_->begin(TxnMode::kOptimistic);
    FUZZ_OK(txn.status());
    Contents next = contents_;
    std::optional<std::pair<Savepoint, Contents>> mark;
    for (int i = in_.byte() % 8; i > 0; --i) {
      const uint8_t how = in_.byte();
      const std::string key = this->key();
      if (how % 4 == 0) {
        FUZZ_OK(txn->del(db_.tree(), key));
        next.erase(key);
      } else if (how % 4 == 1) {
        if (mark.has_value()) {
          FUZZ_OK(txn->rollback_to(mark->first));
          next = mark->second;
        } else {
          mark.emplace(txn->savepoint().value(), next);
        }
      } else {
        const std::string value = this->value();
        FUZZ_OK(txn->put(db_.tree(), key, value));
        next[key] = value;
      }
      Value found;
      const Status status = txn->get(db_.tree(), key, found);
      const auto known = next.find(key);
      FUZZ_CHECK(known == next.end() ? status.is_not_found()
                                     : status.ok() && found.view() == known->second);
    }
    if (in_.byte() % 4 == 0) return txn->abort();
    FUZZ_OK(txn->commit(level()));
    contents_ = std::move(next);
  }

  // Two keys far from each other, in one commit.
  void count_up() {
    const std::string value = std::to_string(++counted_);
    WriteBatch batch;
    batch.put(db_.tree(), own_ + "a", value);
    batch.put(db_.tree(), own_ + "z", value);
    FUZZ_OK(db_->write(batch, level()));
    contents_[own_ + "a"] = contents_[own_ + "z"] = value;
  }
  void read_other() {
    const Snapshot snapshot = db_->snapshot();
    Value first;
    Value second;
    const ReadOptions options{.snapshot = &snapshot};
    const Status one = db_->get(db_.tree(), other_ + "a", first, options);
    const Status two = db_->get(db_.tree(), other_ + "z", second, options);
    FUZZ_CHECK(one.ok() == two.ok() && (one.ok() || one.is_not_found()));
    if (!one.ok()) {
      FUZZ_CHECK(seen_ == 0);
      return;
    }
    FUZZ_CHECK(first.view() == second.view());
    // Time does not go back.
    const uint64_t number = std::strtoull(first.to_string().c_str(), nullptr, 10);
    FUZZ_CHECK(number >= seen_);
    seen_ = number;
  }

  void walk() {
    Cursor cursor = db_->cursor(db_.tree(), {.lower = own_, .upper = end()});
    const std::string from = key();
    bool found = cursor.seek(from);
    auto at = contents_.lower_bound(from);
    for (int moves = in_.byte() % 20; moves >= 0; --moves) {
      FUZZ_OK(cursor.status());
      FUZZ_CHECK(found == (at != contents_.end()));
      if (!found) return;
      FUZZ_CHECK(cursor.key() == at->first && cursor.value() == at->second);
      if (in_.byte() % 3 != 0) {
        found = cursor.next();
        ++at;
      } else {
        found = cursor.prev();
        at = at == contents_.begin() ? contents_.end() : std::prev(at);
      }
    }
  }

  fuzz::Database& db_;
  Bytes in_;
  const std::string own_;
  const std::string other_;
  Contents contents_;
  uint32_t number_ = 0;
  uint64_t counted_ = 0;
  uint64_t seen_ = 0;
  int ranges_ = 0;
  int prepared_ = 0;
  uint64_t added_ = 0;
  Tree bank_;
  Tree sum_;
  Tree nest_;
};

void expect_sum(fuzz::Database& db, uint64_t expected) {
  const auto sum = db->find_tree("sum");
  FUZZ_OK(sum.status());
  Value value;
  const Status status = db->get(*sum, "total", value);
  if (!status.is_not_found()) FUZZ_OK(status);
  FUZZ_CHECK(expected == (status.ok() ? number_of(value.view()) : 0));
}

}  // namespace

extern "C" const char* __asan_default_options() { return fuzz::kAsanOptions; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const bool crashes = in.byte() % 4 == 0;
  const size_t half = in.rest().size() / 2;
  const uint8_t* const begin = data + (size - in.rest().size());
  fuzz::Database db({.background_threads = true, .make = make_shared});
  Client one(db, Bytes(begin, half), 'A', 'M');
  Client two(db, Bytes(begin + half, in.rest().size() - half), 'M', 'A');
  std::thread other([&] { two.run(); });
  one.run();
  other.join();
  one.compare();
  two.compare();
  expect_sum(db, one.added() + two.added());
  if (!crashes) return 0;
  db.crash(1, hawthorn::testing::CrashKind::kProcessKill);
  db.open_crashed();
  one.compare();
  two.compare();
  expect_sum(db, one.added() + two.added());
  db.expect_whole();
  return 0;
}
