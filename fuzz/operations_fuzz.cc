// Operations of the public API against a model: see operations_run.h. Here: which operation each
// byte of the input is, and what a commit changes in the model.
#include "fuzz/operations_run.h"

namespace hawthorn::fuzz {
namespace {

constexpr int kOperationsMax = 300;
constexpr uint64_t kStepUs = 1'000'000'000;           // of the clock: more than an input takes
constexpr uint64_t kWallStartMs = 1'700'000'000'000;  // as the simulated machine's

}  // namespace

void make_trees(Db& db) {
  for (int tree = kPlain + 1; tree < kFixedTrees; ++tree) {
    FUZZ_OK(db.tree(name_of(tree), options_of(tree)).status());
  }
  FUZZ_OK(db.set_merge_operator(*db.find_tree(name_of(kSums)), "append:|"));
}

Run::Run(Bytes in)
    : in_(in),
      kind_(in_.byte()),
      encrypted_(kind_ / 4 % 8 == 7),
      db_({.encrypted = encrypted_, .make = make_trees}) {
  durable();
  reopened();
}

void Run::run() {
  for (int i = 0; i < kOperationsMax && !in_.empty(); ++i) step();
  compare(*db_, present());
  close_all();
  if (kind_ % 4 != 0) return;  // which takes as long as all else in a short input
  db_.reopen();
  reopened();
  compare(*db_, present());
  db_.expect_whole();
}

void Run::step() {
  using Operation = void (Run::*)();
  // Some more often than others.
  static constexpr Operation kOperations[] = {&Run::put,         &Run::put,
                                              &Run::put,         &Run::del,
                                              &Run::fill,        &Run::get,
                                              &Run::scan,        &Run::begin,
                                              &Run::use_txn,     &Run::use_txn,
                                              &Run::use_txn,     &Run::end_txn,
                                              &Run::end_txn,     &Run::mark,
                                              &Run::walk,        &Run::delete_range,
                                              &Run::batch,       &Run::merge,
                                              &Run::change_part, &Run::compare_and_set,
                                              &Run::ingest,      &Run::read_parts,
                                              &Run::count,       &Run::names,
                                              &Run::alone,       &Run::end_prepared,
                                              &Run::subtree,     &Run::subtree,
                                              &Run::clone,       &Run::set_compression,
                                              &Run::snapshot,    &Run::named_snapshot,
                                              &Run::copy,        &Run::rotate,
                                              &Run::pass_time,   &Run::end_life};
  constexpr size_t kKinds = std::size(kOperations);
  const uint8_t what = in_.byte();
  if (what % 40 < kKinds) return (this->*kOperations[what % 40])();
  switch (what % 40 - kKinds) {
    case 0:
    case 1:
      FUZZ_OK(db_->flush());
      return;
    case 2:
      if (in_.byte() % 2 == 0) {
        FUZZ_OK(db_->compact());
      } else {
        FUZZ_OK(db_->drain());
      }
      return;
    default:
      FUZZ_OK(db_->sync());
      return durable();
  }
}

// Of those that are there; mostly the one that has nothing special.
int Run::any_tree(uint8_t byte, const State& state) const {
  const int tree = std::max(0, byte % 24 - 12);
  return exists(state, tree) ? tree : kPlain;
}

// Of whole keys.
Span Run::range_of(int tree) {
  const Span all = cells_of(tree);
  int from = cell_of(tree);
  const int most = in_.byte();
  int to = from + 1 + most % (in_.byte() % 2 == 0 ? 8 : kKeys);
  if (tree == kPairs) {
    from -= (from - all.from) % kValuesOfKey;
    to = from + (to - from) * kValuesOfKey;
  }
  return {from, std::min(all.to, to)};
}
std::optional<std::string_view> Run::end_of(const Span& span) {
  if (span.to == cells_of(tree_of(span.from)).to) return std::nullopt;
  return cell_key(span.to);
}
// All that its key may have.
Span Run::row_of(int cell) {
  if (tree_of(cell) != kPairs) return {cell, cell + 1};
  const int first = cell - (cell - first_of(kPairs)) % kValuesOfKey;
  return {first, first + kValuesOfKey};
}

uint32_t Run::new_value(int tree) {
  uint8_t byte = in_.byte();
  if (tree == kPairs) return kPresent;
  if (byte == 255 && large_enough()) byte = 20;
  const uint32_t ends = tree == kEnding && byte % 2 == 0 ? step_ + 1 + byte / 2 % 3 : 0;
  return values_.add(value_of(values_.next(), size_of(byte)), ends);
}
// Of the same entry, which keeps its end.
uint32_t Run::changed_value(uint32_t number, std::string bytes) {
  return values_.add(std::move(bytes), values_.ends(number));
}
std::string Run::small_operand() { return value_of(values_.next(), in_.byte() % 40u); }

std::string Run::bytes_of(int cell, uint32_t number) const {
  if (tree_of(cell) == kPairs) return pair_value(cell);
  return number >= kHangs ? std::string() : values_.bytes(number);
}

uint64_t Run::moment_ms(uint32_t step) const {
  return step == 0 ? 0 : kWallStartMs + (step * kStepUs - kStepUs / 2) / 1000;
}
void Run::pass_time() {
  if (step_ >= 8) return;
  ++step_;
  db_.pass(kStepUs);
}

uint32_t Run::number_of(const State& state, uint32_t step, int cell) const {
  const uint32_t number = at(state, cell);
  const uint32_t ends = values_.ends(number);
  return ends != 0 && ends <= step ? 0 : number;
}
View Run::seen_by(const Txn& txn) const {
  View view = txn.committed_reads() ? present() : txn.base;
  for (size_t i = 0; i < view.state.size(); ++i) {
    view.state[i] = txn.own[i].value_or(view.state[i]);
  }
  return view;
}

// Of a tree that is there in this state, which the snapshot or the transaction sees.
Tree Run::handle(Db& db, const State& state, int tree, const Snapshot* snapshot, Txn* txn) {
  const ReadOptions options{.snapshot = snapshot};
  if (tree < kFixedTrees && &db == &*db_) return trees_[static_cast<size_t>(tree)];
  Result<Tree> found = Status(StatusCode::kNotFound);
  if (tree < kFixedTrees || at(state, name_cell(tree)) != 0) {
    found =
        txn != nullptr ? txn->txn.find_tree(name_of(tree)) : db.find_tree(name_of(tree), options);
  } else {
    const int place = place_of(state, tree);
    const Tree parent = handle(db, state, tree_of(place), snapshot, txn);
    found = txn != nullptr ? txn->txn.subtree(parent, cell_key(place))
                           : db.subtree(parent, cell_key(place), options);
  }
  FUZZ_OK(found.status());
  return *found;
}

void Run::committed(const State& state, Durability level) {
  ++commits_;
  for (size_t i = 0; i < state.size(); ++i) {
    if (state[i] != now_[i]) changed_[i] = commits_;
  }
  for (int tree = kSub0; tree < kTrees; ++tree) {
    if (exists(state, tree) != exists(now_, tree)) ++lives_of_[static_cast<size_t>(tree)];
  }
  now_ = state;
  if (level == Durability::kFull) history_.clear();
  history_.push_back({now_, prepared_});
}

}  // namespace hawthorn::fuzz

extern "C" const char* __asan_default_options() { return hawthorn::fuzz::kAsanOptions; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hawthorn::fuzz::Run(hawthorn::fuzz::Bytes(data, size)).run();
  return 0;
}
