// Operations of the public API, chosen by the input, against a model; one thread, no background
// threads: an input always does the same.
//
// The model is the value of each key of a pool, as a number; one such state for each snapshot,
// cursor and transaction, and one for each commit that a power loss may take back. Checked: reads
// of all kinds, at all of these; which transactions must conflict (R18), and which may; after a
// killed process everything is there, after a power loss a prefix of the commits that is not
// shorter than what was durable.
#include <array>
#include <list>
#include <optional>

#include "fuzz/database.h"

using hawthorn::fuzz::Bytes;
using hawthorn::fuzz::key;
using hawthorn::fuzz::kKeys;
using namespace hawthorn;  // NOLINT: a program

namespace {

using State = std::array<uint32_t, kKeys>;  // numbers of values; 0: no such key
constexpr int kOperationsMax = 300;
constexpr int kLivesMax = 4;
constexpr int kRangesMax = 30;  // fewer than wait to be erased before writes wait for them
constexpr int kLargeMax = 4;

struct Range {
  int from = 0;
  int to = 0;
  bool covers(int rank) const { return from <= rank && rank < to; }
};

// What a transaction did: of each key the value, or nothing.
using Own = std::array<std::optional<uint32_t>, kKeys>;

struct Txn {
  Transaction txn;
  State base;
  uint64_t began = 0;
  bool serializable = false;
  bool erased = false;  // a range, even if it was rolled back
  Own own = {};
  std::vector<Range> ranges;
  struct Mark {
    Savepoint savepoint;
    Own own;
  };
  std::vector<Mark> marks;

  State view() const {
    State seen = base;
    for (size_t i = 0; i < seen.size(); ++i) seen[i] = own[i].value_or(seen[i]);
    return seen;
  }
};

struct Walk {
  Cursor cursor;
  State view;
  Range bounds;
  int at = -1;
};

struct Kept {
  Snapshot snapshot;
  State state;
};

class Run {
 public:
  explicit Run(Bytes in) : in_(in), db_(false) { history_.push_back(now_); }

  void run() {
    const bool reopens = in_.byte() % 4 == 0;  // which takes as long as all else in a short input
    for (int i = 0; i < kOperationsMax && !in_.empty(); ++i) step();
    compare(now_);
    close_all();
    if (!reopens) return;
    db_.reopen();
    compare(now_);
    db_.expect_whole();
  }

 private:
  void step() {
    const uint8_t what = in_.byte();
    switch (what % 20) {
      case 0:
      case 1:
      case 2:
        return put();
      case 3:
        return del();
      case 4:
        return delete_range();
      case 5:
        return fill();
      case 6:
        return get();
      case 7:
        return count();
      case 8:
        return scan();
      case 9:
        return begin();
      case 10:
      case 11:
        return use_txn();
      case 12:
        return mark();
      case 13:
        return end_txn();
      case 14:
        return snapshot();
      case 15:
        return walk();
      case 16:
        FUZZ_OK(db_->flush());
        return;
      case 17:
        if (in_.byte() % 2 == 0) {
          FUZZ_OK(db_->compact());
        } else {
          FUZZ_OK(db_->drain());
        }
        return;
      case 18:
        FUZZ_OK(db_->sync());
        history_ = {now_};
        return;
      default:
        return end_life();
    }
  }

  int rank() { return in_.byte(); }
  Range range() {
    const int from = rank();
    return {from, std::min(kKeys, from + 1 + in_.byte() % (in_.byte() % 2 == 0 ? 8 : kKeys))};
  }
  // kKeys: there is no end.
  static std::optional<std::string_view> end_of(const Range& range) {
    if (range.to == kKeys) return std::nullopt;
    return key(range.to);
  }
  uint32_t new_value() {
    uint8_t byte = in_.byte();
    if (byte == 255 && ++large_ > kLargeMax) byte = 20;
    sizes_.push_back(fuzz::size_of(byte));
    return static_cast<uint32_t>(sizes_.size() - 1);
  }
  std::string bytes_of(uint32_t number) const { return fuzz::value_of(number, sizes_[number]); }
  Durability level() { return static_cast<Durability>(1 + in_.byte() % 3); }

  void committed(const State& state, Durability level) {
    ++commits_;
    for (size_t i = 0; i < state.size(); ++i) {
      if (state[i] != now_[i]) changed_[i] = commits_;
    }
    now_ = state;
    if (level == Durability::kFull) history_.clear();
    history_.push_back(now_);
  }
  // A write of keys that open transactions are deleting a range of waits, here no time.
  bool refused(const Status& status, const Range& range, const Txn* but = nullptr) const {
    if (!status.is(StatusCode::kTimedOut)) return false;
    for (const Txn& txn : txns_) {
      if (&txn == but) continue;
      for (const Range& one : txn.ranges) {
        if (one.from < range.to && range.from < one.to) return true;
      }
    }
    return false;
  }
  // Commits as well where nothing was there to be changed: then it may be seen, or not.
  void touched(int rank) { touched_[static_cast<size_t>(rank)] = commits_; }

  void put() {
    const int at = rank();
    const uint32_t number = new_value();
    const Durability level = this->level();
    const Status status = db_->put(db_.tree(), key(at), bytes_of(number), level);
    if (refused(status, {at, at + 1})) return;
    FUZZ_OK(status);
    State next = now_;
    next[static_cast<size_t>(at)] = number;
    committed(next, level);
  }

  void del() {
    const int at = rank();
    const Durability level = this->level();
    const Status status = db_->del(db_.tree(), key(at), level);
    if (refused(status, {at, at + 1})) return;
    FUZZ_OK(status);
    State next = now_;
    next[static_cast<size_t>(at)] = 0;
    committed(next, level);
    touched(at);
  }

  void delete_range() {
    if (++ranges_ > kRangesMax) return;
    const Range which = range();
    const Durability level = this->level();
    const Status status = db_->delete_range(db_.tree(), key(which.from), end_of(which), level);
    if (refused(status, which)) return;
    FUZZ_OK(status);
    State next = now_;
    std::fill(next.begin() + which.from, next.begin() + which.to, 0);
    committed(next, level);
    for (int at = which.from; at < which.to; ++at) touched(at);
  }

  // Many keys at once.
  void fill() {
    const Range which = range();
    const uint32_t number = new_value();
    const Durability level = this->level();
    const std::string value = bytes_of(number);
    if (value.size() > 1000) return;
    WriteBatch batch;
    State next = now_;
    for (int at = which.from; at < which.to; ++at) {
      batch.put(db_.tree(), key(at), value);
      next[static_cast<size_t>(at)] = number;
    }
    const Status status = db_->write(batch, level);
    if (refused(status, which)) return;
    FUZZ_OK(status);
    committed(next, level);
  }

  // One of the states that can be looked at; *snapshot or *txn says where.
  State any_view(const Snapshot** snapshot, Txn** txn) {
    const uint8_t pick = in_.byte();
    if (pick % 3 == 1 && !kept_.empty()) {
      const Kept& kept = kept_[pick / 3 % kept_.size()];
      *snapshot = &kept.snapshot;
      return kept.state;
    }
    if (pick % 3 == 2) {
      *txn = any_txn();
      if (*txn != nullptr) return (*txn)->view();
    }
    return now_;
  }
  Txn* any_txn() {
    if (txns_.empty()) return nullptr;
    auto at = txns_.begin();
    std::advance(at, in_.byte() % txns_.size());
    return &*at;
  }

  void expect(const Status& status, std::string_view value, uint32_t number) const {
    if (number == 0) {
      FUZZ_CHECK(status.is_not_found());
      return;
    }
    FUZZ_OK(status);
    FUZZ_CHECK(value == bytes_of(number));
  }

  void get() {
    const Snapshot* snapshot = nullptr;
    Txn* txn = nullptr;
    const State view = any_view(&snapshot, &txn);
    const int at = rank();
    Value value;
    const Status status = txn != nullptr
                              ? txn->txn.get(db_.tree(), key(at), value)
                              : db_->get(db_.tree(), key(at), value, {.snapshot = snapshot});
    expect(status, status.ok() ? value.view() : std::string_view(), view[static_cast<size_t>(at)]);
    if (txn != nullptr) return;
    ReadBatch batch;
    std::vector<std::string_view> keys;
    for (int i = at; i < std::min(at + 5, kKeys); ++i) keys.push_back(key(i));
    FUZZ_OK(db_->multi_get(db_.tree(), keys, batch, {.snapshot = snapshot}));
    for (size_t i = 0; i < keys.size(); ++i) {
      expect(Status(batch[i].code, ""), batch[i].value, view[static_cast<size_t>(at) + i]);
    }
  }

  void count() {
    const Snapshot* snapshot = nullptr;
    Txn* txn = nullptr;
    const State view = any_view(&snapshot, &txn);
    const Range which = range();
    const auto counted = txn != nullptr ? txn->txn.count(db_.tree(), key(which.from), end_of(which))
                                        : db_->count(db_.tree(), key(which.from), end_of(which),
                                                     {.snapshot = snapshot});
    FUZZ_OK(counted.status());
    const auto there = std::count_if(view.begin() + which.from, view.begin() + which.to,
                                     [](uint32_t number) { return number != 0; });
    FUZZ_CHECK(*counted == static_cast<uint64_t>(there));
  }

  // A cursor of its own, some moves.
  void scan() {
    const Snapshot* snapshot = nullptr;
    Txn* txn = nullptr;
    Walk made;
    made.view = any_view(&snapshot, &txn);
    open_cursor(made, snapshot, txn);
    move(made);
  }
  // The same, and it stays open while others write.
  void walk() {
    if (walks_.size() < 3 && in_.byte() % 2 == 0) {
      const Snapshot* snapshot = nullptr;
      Txn* txn = nullptr;
      Walk made;
      made.view = any_view(&snapshot, &txn);
      // A transaction's would see what is written later, and one of a snapshot must go with that.
      if (txn != nullptr || snapshot != nullptr) return;
      open_cursor(made, nullptr, nullptr);
      walks_.push_back(std::move(made));
    }
    if (!walks_.empty()) move(walks_[in_.byte() % walks_.size()]);
  }
  void open_cursor(Walk& walk, const Snapshot* snapshot, Txn* txn) {
    walk.bounds = {0, kKeys};
    CursorOptions options;
    options.snapshot = snapshot;
    if (in_.byte() % 2 == 0) {
      walk.bounds = range();
      options.lower = key(walk.bounds.from);
      if (walk.bounds.to < kKeys) options.upper = key(walk.bounds.to);
    }
    walk.cursor =
        txn != nullptr ? txn->txn.cursor(db_.tree(), options) : db_->cursor(db_.tree(), options);
  }
  // The first one there is from a rank on, or the last one below; -1: none.
  static int next(const Walk& walk, int from) {
    for (int at = std::max(from, walk.bounds.from); at < walk.bounds.to; ++at) {
      if (walk.view[static_cast<size_t>(at)] != 0) return at;
    }
    return -1;
  }
  static int previous(const Walk& walk, int below) {
    for (int at = std::min(below, walk.bounds.to) - 1; at >= walk.bounds.from; --at) {
      if (walk.view[static_cast<size_t>(at)] != 0) return at;
    }
    return -1;
  }
  void move(Walk& walk) {
    for (int moves = 1 + in_.byte() % 12; moves > 0; --moves) {
      const uint8_t how = in_.byte();
      Cursor& cursor = walk.cursor;
      bool found = false;
      if (how % 8 < 2) {
        // Also between two of the pool.
        std::string target = key(rank());
        if (in_.byte() % 2 == 0) target.push_back('\0');
        const int from = fuzz::rank_from(target);
        found = how % 8 == 0 ? cursor.seek(target) : cursor.seek_for_prev(target);
        const int below = from < kKeys && key(from) == target ? from + 1 : from;
        walk.at = how % 8 == 0 ? next(walk, from) : previous(walk, below);
      } else if (how % 8 == 2) {
        found = cursor.first();
        walk.at = next(walk, 0);
      } else if (how % 8 == 3) {
        found = cursor.last();
        walk.at = previous(walk, kKeys);
      } else if (how % 2 == 0) {
        found = cursor.next();
        walk.at = walk.at < 0 ? -1 : next(walk, walk.at + 1);
      } else {
        found = cursor.prev();
        walk.at = walk.at < 0 ? -1 : previous(walk, walk.at);
      }
      FUZZ_OK(cursor.status());
      FUZZ_CHECK(found == (walk.at >= 0) && cursor.valid() == found);
      if (!found) continue;
      FUZZ_CHECK(cursor.key() == key(walk.at));
      FUZZ_CHECK(cursor.value() == bytes_of(walk.view[static_cast<size_t>(walk.at)]));
    }
  }

  void begin() {
    if (txns_.size() >= 4) return;
    Txn made;
    made.serializable = in_.byte() % 3 == 0;
    made.base = now_;
    made.began = commits_;
    auto txn = db_->begin(
        {.isolation = made.serializable ? Isolation::kSerializable : Isolation::kSnapshot});
    FUZZ_OK(txn.status());
    made.txn = std::move(*txn);
    txns_.push_back(std::move(made));
  }

  void use_txn() {
    Txn* const txn = any_txn();
    if (txn == nullptr) return;
    const uint8_t how = in_.byte();
    Range which = range();
    if (how % 4 != 0) which.to = which.from + 1;
    Status status;
    uint32_t number = 0;
    if (how % 4 == 0) {
      if (++ranges_ > kRangesMax) return;
      status = txn->txn.delete_range(db_.tree(), key(which.from), end_of(which));
      txn->erased = true;
      // Whether it was noted, or done key by key, is not known; and it stays where it is rolled
      // back.
      if (status.ok()) txn->ranges.push_back(which);
    } else if (how % 4 == 1) {
      status = txn->txn.del(db_.tree(), key(which.from));
    } else {
      number = new_value();
      status = txn->txn.put(db_.tree(), key(which.from), bytes_of(number));
    }
    if (refused(status, which, txn)) return;
    if (status.is_conflict()) {
      FUZZ_CHECK(commits_ > txn->began);
      return;
    }
    FUZZ_OK(status);
    if (how % 4 != 0) {
      txn->own[static_cast<size_t>(which.from)] = number;
      return;
    }
    // What is not there is not deleted: of a range without keys nothing is written.
    const State seen = txn->view();
    for (auto at = static_cast<size_t>(which.from); at < static_cast<size_t>(which.to); ++at) {
      if (seen[at] != 0) txn->own[at] = 0;
    }
  }

  void mark() {
    Txn* const txn = any_txn();
    if (txn == nullptr) return;
    const uint8_t how = in_.byte();
    if (how % 3 == 0 || txn->marks.empty()) {
      if (txn->marks.size() >= 5) return;
      const auto savepoint = txn->txn.savepoint();
      FUZZ_OK(savepoint.status());
      txn->marks.push_back({*savepoint, txn->own});
      return;
    }
    const size_t at = how / 3 % txn->marks.size();
    if (how % 3 == 1) {
      FUZZ_OK(txn->txn.rollback_to(txn->marks[at].savepoint));
      txn->own = txn->marks[at].own;
      txn->marks.resize(at + 1);
    } else {
      FUZZ_OK(txn->txn.release(txn->marks[at].savepoint));
      txn->marks.resize(at);
    }
  }

  void end_txn() {
    if (txns_.empty()) return;
    auto at = txns_.begin();
    std::advance(at, in_.byte() % txns_.size());
    if (in_.byte() % 4 == 0) {
      at->txn.abort();
    } else {
      commit(*at);
    }
    txns_.erase(at);
  }
  void commit(Txn& txn) {
    bool must = false;  // conflict
    bool may = (txn.serializable || txn.erased) && commits_ > txn.began;
    bool writes = false;
    State next = now_;
    for (size_t i = 0; i < next.size(); ++i) {
      if (!txn.own[i].has_value()) continue;
      writes = true;
      next[i] = *txn.own[i];
      // What came and went in between, or was deleted while it was not there, leaves no trace.
      const bool traceless = txn.base[i] == 0 && now_[i] == 0;
      must |= changed_[i] > txn.began && !traceless;
      may |= changed_[i] > txn.began || touched_[i] > txn.began;
    }
    const Durability level = this->level();
    const Status status = txn.txn.commit(level);
    FUZZ_CHECK(!txn.txn.open());
    if (status.is_conflict()) {
      FUZZ_CHECK(may);
      return;
    }
    FUZZ_OK(status);
    FUZZ_CHECK(!must);
    if (!writes) return;
    committed(next, level);
    for (size_t i = 0; i < next.size(); ++i) {
      if (txn.own[i].has_value()) touched_[i] = commits_;
    }
  }

  void snapshot() {
    const uint8_t how = in_.byte();
    if (kept_.size() < 4 && how % 3 != 0) {
      kept_.push_back({db_->snapshot(), now_});
    } else if (!kept_.empty()) {
      kept_.erase(kept_.begin() + static_cast<ptrdiff_t>(how / 3 % kept_.size()));
    }
  }

  void close_all() {
    walks_.clear();
    txns_.clear();
    kept_.clear();
  }

  void end_life() {
    const uint8_t how = in_.byte();
    if (++lives_ > kLivesMax) return;
    if (how % 4 == 0) {
      close_all();
      db_.reopen();
      history_ = {now_};
      compare(now_);
      return;
    }
    // In the middle of something that changes nothing of what is there.
    if (how / 4 % 2 == 0) {
      db_.disk().stop_at(testing::SimOp::kAny, 1 + in_.byte() % 64);
      (void)(how / 8 % 2 == 0 ? db_->flush() : db_->compact());
    }
    const auto kind = static_cast<testing::CrashKind>(how % 4 - 1);
    db_.crash(how, kind);
    close_all();
    db_.open_crashed();
    if (kind == testing::CrashKind::kProcessKill) history_ = {now_};
    now_ = recovered();
    history_ = {now_};
    compare(now_);
  }
  // Which of the states that may be there is.
  State recovered() {
    const State found = contents();
    for (const State& state : history_) {
      bool same = true;
      for (size_t i = 0; i < state.size() && same; ++i) {
        same = found[i] == state[i] ||
               (found[i] != 0 && state[i] != 0 && bytes_of(found[i]) == bytes_of(state[i]));
      }
      if (same) return state;
    }
    FUZZ_CHECK(!"what is there is no prefix of the commits that keeps what was durable");
    return found;
  }
  // The newest number that gives the bytes that are there.
  State contents() {
    State found = {};
    FUZZ_OK(db_->scan(db_.tree(), "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) {
        const int at = fuzz::rank_from(std::string(entry.key));
        FUZZ_CHECK(at < kKeys && key(at) == entry.key);
        uint32_t number = static_cast<uint32_t>(sizes_.size() - 1);
        while (number > 0 &&
               (sizes_[number] != entry.value.size() || bytes_of(number) != entry.value)) {
          --number;
        }
        FUZZ_CHECK(number > 0);
        found[static_cast<size_t>(at)] = number;
      }
      return true;
    }));
    return found;
  }
  void compare(const State& state) {
    int at = 0;
    const auto skip = [&] {
      while (at < kKeys && state[static_cast<size_t>(at)] == 0) ++at;
    };
    skip();
    FUZZ_OK(db_->scan(db_.tree(), "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) {
        FUZZ_CHECK(at < kKeys && entry.key == key(at));
        FUZZ_CHECK(entry.value == bytes_of(state[static_cast<size_t>(at)]));
        ++at;
        skip();
      }
      return true;
    }));
    FUZZ_CHECK(at == kKeys);
  }

  Bytes in_;
  fuzz::Database db_;
  State now_ = {};
  std::vector<State> history_;  // from the last commit that is surely durable on
  uint64_t commits_ = 0;
  std::array<uint64_t, kKeys> changed_ = {};  // the last commit that did
  std::array<uint64_t, kKeys> touched_ = {};  // the same of those that changed nothing, too
  std::vector<size_t> sizes_ = {0};           // by number
  int large_ = 0;
  int ranges_ = 0;
  int lives_ = 0;
  std::vector<Kept> kept_;
  std::list<Txn> txns_;
  std::vector<Walk> walks_;
};

}  // namespace

extern "C" const char* __asan_default_options() { return fuzz::kAsanOptions; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Run(Bytes(data, size)).run();
  return 0;
}
