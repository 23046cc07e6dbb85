#pragma once
// Random steps of cursors and transactions on a table, each against the model of oracle_model.h.
//
// Used by oracle_test.cc, which has the steps. Threads: one.

#include <algorithm>
#include <array>
#include <random>

#include "shims/mdbx/src/mdbx_test_support.h"
#include "shims/mdbx/src/oracle_model.h"

namespace hawthorn::mdbx {

class Oracle : public Environments {
 protected:
  using Spot = ModelCursor::Spot;
  static constexpr size_t kCursors = 4;
  static constexpr size_t kDepthMax = 3;

  struct Level {
    MDBX_txn* txn;
    ModelTable table;
    std::array<ModelCursor, kCursors> spots{};  // when it began
  };

  void run(unsigned shape, uint64_t seed, int steps) {
    shape_ = shape;
    random_.seed(seed);
    log_.clear();
    MDBX_txn* const txn = begin();
    const std::string name = std::to_string(shape) + "-" + std::to_string(seed);
    dbi_ = table(txn, name.c_str(), shape | MDBX_CREATE);
    const auto flags = static_cast<MDBX_db_flags_t>(shape);
    levels_.push_back({txn,
                       ModelTable((shape & MDBX_DUPSORT) != 0, {mdbx_get_keycmp(flags)},
                                  {mdbx_get_datacmp(flags)}),
                       {}});
    committed_.emplace(model());
    dbi_committed_ = false;
    open_cursors();
    for (int i = 0; i < steps && !HasFailure(); ++i) {
      step();
      if (i % 64 == 0) compare_all();
    }
    compare_all();
    while (!levels_.empty()) {
      if (levels_.size() == 1) close_cursors();
      EXPECT_DONE(mdbx_txn_abort(levels_.back().txn));
      levels_.pop_back();
    }
    MDBX_txn* const drop = begin();
    MDBX_dbi dbi = 0;
    if (mdbx_dbi_open(drop, name.c_str(), MDBX_DB_ACCEDE, &dbi) == MDBX_SUCCESS) {
      EXPECT_DONE(mdbx_drop(drop, dbi, true));
    }
    EXPECT_DONE(mdbx_txn_commit(drop));
    if (!HasFailure()) return;
    std::string all = "shape " + std::to_string(shape) + " seed " + std::to_string(seed) + ":\n";
    for (const std::string& line : log_) all += line + "\n";
    ADD_FAILURE() << all;
  }

  unsigned below(size_t end) { return static_cast<unsigned>(random_() % end); }
  MDBX_txn* txn() { return levels_.back().txn; }
  ModelTable& model() { return levels_.back().table; }
  bool multi() { return (shape_ & MDBX_DUPSORT) != 0; }

  static std::string number(uint64_t value, size_t size) {
    return std::string(reinterpret_cast<const char*>(&value), size);
  }
  std::string any_key() {
    static constexpr const char* kKeys[] = {"", "a", "b", "aa", "ab", "ba", "abc", "cba"};
    if (shape_ & MDBX_INTEGERKEY) return number(uint64_t{below(8)} * 77777, 8);
    return kKeys[below(std::size(kKeys))];
  }
  std::string any_value() {
    static constexpr const char* kValues[] = {"", "1", "2", "12", "21", "123"};
    if (shape_ & MDBX_INTEGERDUP) return number(below(7) * 300, 4);
    if (shape_ & MDBX_DUPFIXED) return std::string(1, static_cast<char>('a' + below(7))) + "xy";
    if (multi()) return kValues[below(std::size(kValues))];
    return std::string(below(5), static_cast<char>('a' + below(3)));
  }
  static std::string shown(const std::string& bytes) {
    std::string result;
    for (const char c : bytes) {
      const bool plain = c > ' ' && c < 127;
      result += plain ? std::string(1, c) : "\\" + std::to_string(static_cast<unsigned char>(c));
    }
    return "'" + result + "'";
  }
  void note(const std::string& line) { log_.push_back(line); }

  void open_cursors() {
    for (auto& cursor : cursors_) {
      EXPECT_DONE(mdbx_cursor_open(txn(), dbi_, &cursor));
    }
    spots_ = {};
  }
  void close_cursors() {
    for (auto& cursor : cursors_) mdbx_cursor_close(std::exchange(cursor, nullptr));
  }

  void step() {
    const unsigned choice = below(100);
    const size_t which = below(kCursors);
    if (choice < 45) return relative(which);
    if (choice < 62) return absolute(which);
    if (choice < 72) return put();
    if (choice < 78) return put_at(which);
    if (choice < 86) return del_at(which);
    if (choice < 90) return del();
    if (choice < 93) return read();
    if (choice < 96) return copy(which, below(kCursors));
    transaction();
  }

  // The answer of a move against that of the model.
  void check_move(size_t which, int code, const MDBX_val& key, const MDBX_val& value,
                  const std::optional<ModelPair>& expected, bool by_last = false) {
    if (!expected) {
      EXPECT_TRUE(code == MDBX_NOTFOUND || code == MDBX_ENODATA) << code;
      return;
    }
    EXPECT_EQ(code, MDBX_SUCCESS);
    if (code != MDBX_SUCCESS) return;
    EXPECT_EQ(shown(text(key)), shown(expected->first));
    EXPECT_EQ(shown(text(value)), shown(expected->second));
    spots_[which].stand(expected, by_last && model().count(expected->first) == 1);
  }

  void relative(size_t which) {
    static constexpr std::pair<MDBX_cursor_op, const char*> kSteps[] = {
        {MDBX_NEXT, "NEXT"},
        {MDBX_PREV, "PREV"},
        {MDBX_NEXT_DUP, "NEXT_DUP"},
        {MDBX_PREV_DUP, "PREV_DUP"},
        {MDBX_NEXT_NODUP, "NEXT_NODUP"},
        {MDBX_PREV_NODUP, "PREV_NODUP"},
        {MDBX_GET_CURRENT, "GET_CURRENT"}};
    const auto [op, name] = kSteps[below(std::size(kSteps))];
    ModelCursor& spot = spots_[which];
    if (spot.spot == Spot::kUnknown) return;
    const bool current = op == MDBX_GET_CURRENT;
    if (current && (spot.spot == Spot::kEnd || spot.spot == Spot::kBehindValues)) return;
    const bool of_key = op == MDBX_NEXT_DUP || op == MDBX_PREV_DUP;
    if (of_key && spot.spot == Spot::kEnd) return;
    const auto expected = current ? spot.current(model()) : spot.step(model(), op);
    const bool forward = op == MDBX_NEXT || op == MDBX_NEXT_NODUP || op == MDBX_NEXT_DUP;
    if (!current && !spot.is_said(model(), expected, forward)) return;
    const bool by_last = spot.spot == Spot::kFresh && !forward;
    const bool stays = current && spot.at_end;
    note("cursor " + std::to_string(which) + " " + name);
    MDBX_val key;
    MDBX_val value;
    const int code = mdbx_cursor_get(cursors_[which], &key, &value, op);
    check_move(which, code, key, value, expected, by_last);
    if (stays && expected) spot.at_end = true;
    if (expected || current) return;
    if (!of_key && spot.spot != Spot::kFresh) spot.spot = Spot::kUnknown;
    if (of_key && spot.spot == Spot::kBehindValues && op == MDBX_NEXT_DUP) {
      spot.stand(ModelPair(spot.key, *model().keys.find(spot.key)->second.rbegin()));
    }
  }

  void absolute(size_t which);
  std::optional<ModelPair> sought(MDBX_cursor_op op, const std::string& key,
                                  const std::string& value, int* code);
  void put();
  void put_at(size_t which);
  void del_at(size_t which);
  void del();
  void read();
  void transaction();
  void compare_all();

  void copy(size_t from, size_t to) {
    if (from == to) return;
    note("cursor " + std::to_string(from) + " copied to " + std::to_string(to));
    EXPECT_DONE(mdbx_cursor_copy(cursors_[from], cursors_[to]));
    spots_[to] = spots_[from];
  }

  // All cursors learn of it.
  void pair_deleted(const std::string& key, const std::string* value) {
    for (ModelCursor& spot : spots_) spot.deleted(model(), key, value);
  }

  unsigned shape_ = 0;
  std::mt19937_64 random_;
  MDBX_dbi dbi_ = 0;
  std::vector<Level> levels_;
  std::array<MDBX_cursor*, kCursors> cursors_{};
  std::array<ModelCursor, kCursors> spots_;
  std::optional<ModelTable> committed_;
  bool dbi_committed_ = false;
  std::vector<std::string> log_;
};

}  // namespace hawthorn::mdbx
