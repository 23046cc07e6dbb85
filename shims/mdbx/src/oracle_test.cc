// Random operations of several cursors, in nested transactions and tables of every shape, against
// the model in oracle_model.h.

#include "shims/mdbx/src/oracle_test_support.h"

namespace hawthorn::mdbx {

// What a move to a key or a pair finds.
std::optional<ModelPair> Oracle::sought(MDBX_cursor_op op, const std::string& key,
                                        const std::string& value, int* code) {
  const ModelTable& t = model();
  const bool has = t.has(key);
  const auto lower = t.keys.lower_bound(key);
  const auto upper = t.keys.upper_bound(key);
  const auto of_this_key = [&](std::optional<ModelPair> met) { return has ? met : std::nullopt; };
  *code = MDBX_SUCCESS;
  switch (op) {
    case MDBX_FIRST:
      return t.first_of(t.keys.begin());
    case MDBX_LAST:
      return t.last_before(t.keys.end());
    case MDBX_SET_KEY:
    case MDBX_TO_KEY_EQUAL:
      return of_this_key(t.first_of(lower));
    case MDBX_SET_RANGE:
    case MDBX_TO_KEY_GREATER_OR_EQUAL:
      return t.first_of(lower);
    case MDBX_TO_KEY_GREATER_THAN:
      return t.first_of(upper);
    case MDBX_TO_KEY_LESSER_THAN:
      return t.last_before(lower);
    case MDBX_TO_KEY_LESSER_OR_EQUAL:
      return has ? t.first_of(lower) : t.last_before(lower);
    case MDBX_GET_BOTH:
    case MDBX_TO_EXACT_KEY_VALUE_EQUAL:
    case MDBX_TO_PAIR_EQUAL:
      return t.has(key, value) ? t.value_from(key, value) : std::nullopt;
    case MDBX_GET_BOTH_RANGE:
    case MDBX_TO_EXACT_KEY_VALUE_GREATER_OR_EQUAL:
      return t.value_from(key, value);
    case MDBX_TO_EXACT_KEY_VALUE_GREATER_THAN:
      return t.value_from(key, value, true);
    case MDBX_TO_EXACT_KEY_VALUE_LESSER_THAN:
      return t.value_before(key, value);
    case MDBX_TO_EXACT_KEY_VALUE_LESSER_OR_EQUAL:
      return t.has(key, value) ? t.value_from(key, value) : t.value_before(key, value);
    case MDBX_TO_PAIR_GREATER_OR_EQUAL:
      return t.pair_from(key, value, false);
    case MDBX_TO_PAIR_GREATER_THAN:
      return t.pair_from(key, value, true);
    case MDBX_TO_PAIR_LESSER_THAN:
      return t.pair_before(key, value);
    case MDBX_TO_PAIR_LESSER_OR_EQUAL:
      return t.has(key, value) ? t.value_from(key, value) : t.pair_before(key, value);
    case MDBX_SET_LOWERBOUND: {
      const auto met = multi() ? t.pair_from(key, value, false) : t.first_of(lower);
      const bool exact =
          met && t.has(key) && met->first == key && (!multi() || met->second == value);
      *code = exact ? MDBX_SUCCESS : MDBX_RESULT_TRUE;
      return met;
    }
    case MDBX_SET_UPPERBOUND:
      return multi() ? t.pair_from(key, value, true) : t.first_of(upper);
    default:
      return std::nullopt;
  }
}

void Oracle::absolute(size_t which) {
  static constexpr MDBX_cursor_op kMoves[] = {
      MDBX_FIRST,
      MDBX_LAST,
      MDBX_SET_KEY,
      MDBX_SET_RANGE,
      MDBX_SET_LOWERBOUND,
      MDBX_SET_UPPERBOUND,
      MDBX_TO_KEY_LESSER_THAN,
      MDBX_TO_KEY_LESSER_OR_EQUAL,
      MDBX_TO_KEY_EQUAL,
      MDBX_TO_KEY_GREATER_OR_EQUAL,
      MDBX_TO_KEY_GREATER_THAN,
      MDBX_TO_EXACT_KEY_VALUE_LESSER_THAN,
      MDBX_TO_EXACT_KEY_VALUE_LESSER_OR_EQUAL,
      MDBX_TO_EXACT_KEY_VALUE_EQUAL,
      MDBX_TO_EXACT_KEY_VALUE_GREATER_OR_EQUAL,
      MDBX_TO_EXACT_KEY_VALUE_GREATER_THAN,
      MDBX_TO_PAIR_LESSER_THAN,
      MDBX_TO_PAIR_LESSER_OR_EQUAL,
      MDBX_TO_PAIR_EQUAL,
      MDBX_TO_PAIR_GREATER_OR_EQUAL,
      MDBX_TO_PAIR_GREATER_THAN,
      MDBX_GET_BOTH,
      MDBX_GET_BOTH_RANGE,
  };
  // A table whose keys have one value has no order of values.
  constexpr unsigned kByKeys = 11;
  const MDBX_cursor_op op = kMoves[below(multi() ? std::size(kMoves) : kByKeys)];
  const std::string asked_key = any_key();
  const std::string asked_value = any_value();
  note("cursor " + std::to_string(which) + " move " + std::to_string(op) + " to " +
       shown(asked_key) + "=" + shown(asked_value));
  int expected_code = MDBX_SUCCESS;
  const auto expected = sought(op, asked_key, asked_value, &expected_code);
  MDBX_val key = bytes(asked_key);
  MDBX_val value = bytes(asked_value);
  int code = mdbx_cursor_get(cursors_[which], &key, &value, op);
  if (expected) {
    EXPECT_EQ(code, expected_code);
    if (code == MDBX_RESULT_TRUE) code = MDBX_SUCCESS;
  }
  check_move(which, code, key, value, expected, op == MDBX_LAST);
  if (!expected) spots_[which].stand(std::nullopt);
}

void Oracle::put() {
  static constexpr std::pair<unsigned, const char*> kFlags[] = {
      {MDBX_UPSERT, "UPSERT"},           {MDBX_UPSERT, "UPSERT"},
      {MDBX_NOOVERWRITE, "NOOVERWRITE"}, {MDBX_NODUPDATA, "NODUPDATA"},
      {MDBX_CURRENT, "CURRENT"},         {MDBX_ALLDUPS, "ALLDUPS"},
      {MDBX_APPEND, "APPEND"},           {MDBX_APPENDDUP, "APPENDDUP"}};
  const auto [flags, name] = kFlags[below(std::size(kFlags))];
  const std::string key = any_key();
  const std::string value = any_value();
  ModelTable& t = model();
  const size_t count = t.count(key);
  int expected = MDBX_SUCCESS;
  if (flags == MDBX_NOOVERWRITE && count > 0) expected = MDBX_KEYEXIST;
  if (flags == MDBX_NODUPDATA && multi() && t.has(key, value)) expected = MDBX_KEYEXIST;
  if (flags == MDBX_CURRENT && count == 0) expected = MDBX_NOTFOUND;
  if (flags == MDBX_APPEND && !t.keys.empty() && t.keys.key_comp()(key, t.keys.rbegin()->first)) {
    expected = MDBX_EKEYMISMATCH;
  }
  if (flags == MDBX_APPENDDUP && multi() && count > 0) {
    // The last of several may be put again.
    if (t.value_from(key, value) && (count == 1 || t.value_from(key, value, true))) {
      expected = MDBX_EKEYMISMATCH;
    }
  }
  note(std::string("put ") + name + " " + shown(key) + "=" + shown(value));
  const MDBX_val k = bytes(key);
  MDBX_val v = bytes(value);
  EXPECT_EQ(mdbx_put(txn(), dbi_, &k, &v, static_cast<MDBX_put_flags_t>(flags)), expected);
  if (expected == MDBX_KEYEXIST && flags == MDBX_NOOVERWRITE) {
    EXPECT_EQ(text(v), t.first_of(t.keys.find(key))->second);
  }
  if (expected != MDBX_SUCCESS) return;
  const bool only = multi() && count == 1 && flags == MDBX_CURRENT;
  const bool all = multi() && count > 0 && (flags == MDBX_ALLDUPS || flags == MDBX_CURRENT);
  if (all) t.keys.erase(key);
  if (all && !only) pair_deleted(key, nullptr);
  t.add(key, value);
  if (!only) return;
  // Cursors on a value that is replaced are on the new one.
  for (ModelCursor& spot : spots_) {
    if (spot.spot != Spot::kOn && spot.spot != Spot::kBeforeValue &&
        spot.spot != Spot::kBehindValues) {
      continue;
    }
    if (spot.key != key) continue;
    if (spot.spot != Spot::kOn) spot.spot = Spot::kUnknown;
    spot.value = value;
  }
}

void Oracle::put_at(size_t which) {
  ModelCursor& spot = spots_[which];
  ModelTable& t = model();
  const bool current = spot.spot == Spot::kOn && !spot.at_end && below(2) == 0;
  const std::string key = current && below(4) > 0 ? spot.key : any_key();
  const std::string value = any_value();
  note("cursor " + std::to_string(which) + (current ? " put CURRENT " : " put ") + shown(key) +
       "=" + shown(value));
  const MDBX_val k = bytes(key);
  MDBX_val v = bytes(value);
  const int code = mdbx_cursor_put(cursors_[which], &k, &v, current ? MDBX_CURRENT : MDBX_UPSERT);
  if (current && key != spot.key) {
    EXPECT_EQ(code, MDBX_EKEYMISMATCH);
    return;
  }
  EXPECT_EQ(code, MDBX_SUCCESS);
  if (current && multi() && spot.value != value) {
    const std::string before = spot.value;
    const bool only = t.count(key) == 1;
    t.remove(key, before);
    if (only) {
      for (ModelCursor& other : spots_) {
        if (other.spot == Spot::kOn && other.key == key) other.value = value;
        if (other.spot == Spot::kBeforeValue || other.spot == Spot::kBehindValues) {
          if (other.key == key) other.spot = Spot::kUnknown;
        }
      }
    } else {
      pair_deleted(key, &before);
    }
  }
  t.add(key, value);
  spot.stand(ModelPair(key, value));
  if (!multi()) {
    for (ModelCursor& other : spots_) {
      if (other.spot == Spot::kOn && other.key == key) other.value = value;
    }
  }
}

void Oracle::del_at(size_t which) {
  ModelCursor& spot = spots_[which];
  if (spot.spot == Spot::kUnknown) return;
  const bool all = below(4) == 0;
  if (all && spot.spot == Spot::kBehindValues) return;
  const auto gone = spot.current(model());
  note("cursor " + std::to_string(which) + (all ? " del ALLDUPS" : " del"));
  const int code = mdbx_cursor_del(cursors_[which], all ? MDBX_ALLDUPS : MDBX_CURRENT);
  EXPECT_EQ(code, gone ? int{MDBX_SUCCESS} : int{MDBX_ENODATA});
  if (!gone) return;
  if (all) {
    model().keys.erase(gone->first);
  } else {
    model().remove(gone->first, gone->second);
  }
  pair_deleted(gone->first, all ? nullptr : &gone->second);
}

void Oracle::del() {
  const std::string key = any_key();
  const std::string value = any_value();
  const bool one = multi() && below(2) == 0;
  note("del " + shown(key) + (one ? "=" + shown(value) : ""));
  const bool there = one ? model().has(key, value) : model().has(key);
  const int code =
      one ? Environments::del(txn(), dbi_, key, value) : Environments::del(txn(), dbi_, key);
  EXPECT_EQ(code, there ? int{MDBX_SUCCESS} : int{MDBX_NOTFOUND});
  if (!there) return;
  if (one) {
    model().remove(key, value);
  } else {
    model().keys.erase(key);
  }
  pair_deleted(key, one ? &value : nullptr);
}

void Oracle::read() {
  const std::string key = any_key();
  note("get " + shown(key));
  MDBX_val k = bytes(key);
  MDBX_val v;
  size_t count = 0;
  const int code = mdbx_get_ex(txn(), dbi_, &k, &v, &count);
  EXPECT_EQ(count, model().count(key));
  EXPECT_EQ(code, model().has(key) ? int{MDBX_SUCCESS} : int{MDBX_NOTFOUND});
  if (code == MDBX_SUCCESS) {
    EXPECT_EQ(text(v), model().first_of(model().keys.find(key))->second);
  }
  for (size_t i = 0; i < kCursors; ++i) {
    if (spots_[i].spot != Spot::kOn) continue;
    EXPECT_DONE(mdbx_cursor_count(cursors_[i], &count));
    EXPECT_EQ(count, model().count(spots_[i].key)) << "cursor " << i;
  }
}

void Oracle::compare_all() {
  std::string expected;
  for (const auto& [key, values] : model().keys) {
    for (const std::string& value : values) expected += key + "=" + value + " ";
  }
  EXPECT_EQ(shown(all(txn(), dbi_)), shown(expected));
  MDBX_stat stat;
  EXPECT_DONE(mdbx_dbi_stat(txn(), dbi_, &stat, sizeof(stat)));
  EXPECT_EQ(stat.ms_entries, model().entries());
}

void Oracle::transaction() {
  if (levels_.size() < kDepthMax && below(2) == 0) {
    note("begin nested");
    MDBX_txn* const inner = begin(MDBX_TXN_READWRITE, txn());
    levels_.push_back({inner, model(), spots_});
    return;
  }
  // What would make the table is kept.
  const bool commit = !dbi_committed_ && levels_.size() == 1 ? true : below(2) == 0;
  note(commit ? "commit" : "abort");
  if (levels_.size() == 1) close_cursors();
  EXPECT_DONE(commit ? mdbx_txn_commit(txn()) : mdbx_txn_abort(txn()));
  Level ended = std::move(levels_.back());
  levels_.pop_back();
  if (levels_.empty()) {
    dbi_committed_ = true;
    if (commit) committed_ = std::move(ended.table);
    levels_.push_back({begin(MDBX_TXN_RDONLY), *committed_, {}});
    compare_all();
    EXPECT_DONE(mdbx_txn_abort(txn()));
    levels_.back().txn = begin();
    open_cursors();
    return;
  }
  // The nested one has used the cursors of this one.
  if (commit) {
    levels_.back().table = std::move(ended.table);
  } else {
    spots_ = std::move(ended.spots);
  }
}

namespace {

constexpr unsigned kOracleShapes[] = {
    MDBX_DB_DEFAULTS,
    MDBX_REVERSEKEY,
    MDBX_INTEGERKEY,
    MDBX_DUPSORT,
    MDBX_DUPSORT | MDBX_REVERSEKEY,
    MDBX_DUPSORT | MDBX_INTEGERKEY,
    MDBX_DUPSORT | MDBX_REVERSEDUP,
    MDBX_DUPSORT | MDBX_DUPFIXED,
    MDBX_DUPSORT | MDBX_DUPFIXED | MDBX_REVERSEDUP,
    MDBX_DUPSORT | MDBX_DUPFIXED | MDBX_INTEGERDUP,
    MDBX_INTEGERKEY | MDBX_DUPSORT | MDBX_DUPFIXED | MDBX_INTEGERDUP,
};

TEST_F(Oracle, CursorsDoWhatIsDocumented) {
  open(MDBX_UTTERLY_NOSYNC);
  for (const unsigned shape : kOracleShapes) {
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      run(shape, seed, 6000);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hawthorn::mdbx
