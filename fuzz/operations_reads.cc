// Reads of all kinds, at the present, in snapshots and in transactions.
#include "fuzz/operations_run.h"

namespace hawthorn::fuzz {

Run::Look Run::any_look() {
  const uint8_t pick = in_.byte();
  Look look;
  look.view = present();
  if (pick % 3 == 1 && !kept_.empty()) {
    const Kept& kept = kept_[pick / 3 % kept_.size()];
    look.snapshot = &kept.snapshot;
    look.view = kept.view;
  } else if (pick % 3 == 2) {
    look.txn = any_txn();
    if (look.txn != nullptr) look.view = seen_by(*look.txn);
  }
  look.tree = any_tree(in_.byte(), look.view.state);
  if (look.txn != nullptr && look.tree >= kNest) look.txn->updates = true;
  look.handle = handle(*db_, look.view.state, look.tree, look.snapshot, look.txn);
  return look;
}

void Run::expect(const Status& status, std::string_view value, int cell, uint32_t number) const {
  if (number == 0) {
    FUZZ_CHECK(status.is_not_found());
    return;
  }
  FUZZ_OK(status);
  FUZZ_CHECK(value == bytes_of(cell, number));
}

// The first value that the key has; else the cell itself.
int Run::first_in_row(const View& view, int cell) const {
  const Span row = row_of(cell);
  for (int i = row.from; i < row.to; ++i) {
    if (number_in(view, i) != 0) return i;
  }
  return cell;
}

void Run::get() {
  const Look look = any_look();
  const int cell = first_in_row(look.view, cell_of(look.tree));
  const std::string& key = cell_key(cell);
  const uint32_t number = number_in(look.view, cell);
  Value value;
  const Status status = look.txn != nullptr ? look.txn->txn.get(look.handle, key, value)
                                            : db_->get(look.handle, key, value, look.options());
  expect(status, status.ok() ? value.view() : std::string_view(), cell, number);
  if (look.txn != nullptr && look.tree != kPairs && in_.byte() % 4 == 0) {
    const auto pinned = look.txn->txn.get_pinned(look.handle, key);
    expect(pinned.status(), pinned.ok() ? *pinned : std::string_view(), cell, number);
    if (in_.byte() % 2 == 0) look.txn->txn.release_pinned();
  }
  if (look.tree == kPairs) return;
  ReadBatch batch;
  std::vector<std::string_view> keys;
  for (int i = cell; i < std::min(cell + 5, cells_of(look.tree).to); ++i)
    keys.push_back(cell_key(i));
  FUZZ_OK(look.txn != nullptr ? look.txn->txn.multi_get(look.handle, keys, batch)
                              : db_->multi_get(look.handle, keys, batch, look.options()));
  for (size_t i = 0; i < keys.size(); ++i) {
    const int one = cell + static_cast<int>(i);
    expect(Status(batch[i].code, ""), batch[i].value, one, number_in(look.view, one));
  }
}

void Run::read_parts() {
  const Look look = any_look();
  const int cell = cell_of(look.tree);
  const auto place = in_.number<uint16_t>();
  const auto size = in_.number<uint16_t>();
  if (look.tree == kPairs) return;
  const std::string& key = cell_key(cell);
  const uint32_t number = number_in(look.view, cell);
  if (number >= kHangs) return;
  const std::string& bytes = values_.bytes(number);
  const uint64_t offset = bytes.size() > 60'000 ? place * uint64_t{2} : place % 300;
  std::string part(size, '\0');
  std::string rest;
  const auto sink = [&rest](std::string_view piece) {
    rest += piece;
    return true;
  };
  Db& db = *db_;
  Transaction* const txn = look.txn != nullptr ? &look.txn->txn : nullptr;
  const auto read = txn != nullptr ? txn->read_part(look.handle, key, offset, part)
                                   : db.read_part(look.handle, key, offset, part, look.options());
  const auto whole = txn != nullptr ? txn->size_of(look.handle, key)
                                    : db.size_of(look.handle, key, look.options());
  const Status streamed = txn != nullptr
                              ? txn->read_stream(look.handle, key, sink, offset)
                              : db.read_stream(look.handle, key, sink, offset, look.options());
  if (number == 0) {
    FUZZ_CHECK(read.status().is_not_found() && whole.status().is_not_found() &&
               streamed.is_not_found());
    return;
  }
  FUZZ_OK(read.status());
  FUZZ_OK(whole.status());
  FUZZ_OK(streamed);
  const std::string_view expected =
      std::string_view(bytes).substr(std::min<size_t>(offset, bytes.size()));
  FUZZ_CHECK(*whole == bytes.size());
  FUZZ_CHECK(std::string_view(part).substr(0, *read) == expected.substr(0, size));
  FUZZ_CHECK(rest == expected);
  if (look.tree != kEnding || txn != nullptr) return;
  const auto ends = db.expires_at(look.handle, key, look.options());
  FUZZ_OK(ends.status());
  FUZZ_CHECK(*ends == moment_ms(values_.ends(number)));
}

void Run::count() {
  const Look look = any_look();
  const Span which = range_of(look.tree);
  const auto counted =
      look.txn != nullptr
          ? look.txn->txn.count(look.handle, cell_key(which.from), end_of(which))
          : db_->count(look.handle, cell_key(which.from), end_of(which), look.options());
  FUZZ_OK(counted.status());
  uint64_t there = 0;
  for (int cell = which.from; cell < which.to; ++cell) {
    there += number_in(look.view, cell) != 0 ? 1 : 0;
  }
  FUZZ_CHECK(*counted == there);
}

// Which trees there are, and which hang where.
void Run::names() {
  const Look look = any_look();
  std::set<std::string> expected;
  for (int tree = 0; tree < kTrees; ++tree) {
    if (tree < kFixedTrees || at(look.view.state, name_cell(tree)) != 0) {
      expected.insert(name_of(tree));
    }
  }
  if (look.txn != nullptr) look.txn->updates = true;
  const auto there =
      look.txn != nullptr ? look.txn->txn.list_trees() : db_->list_trees(look.options());
  FUZZ_OK(there.status());
  FUZZ_CHECK(std::set<std::string>(there->begin(), there->end()) == expected);
  if (!can_nest(look.tree)) return;
  std::vector<std::string> hanging;
  const Span cells = cells_of(look.tree);
  for (int cell = cells.from; cell < cells.to; ++cell) {
    if (at(look.view.state, cell) >= kHangs) hanging.push_back(cell_key(cell));
  }
  const auto found = look.txn != nullptr ? look.txn->txn.list_subtrees(look.handle)
                                         : db_->list_subtrees(look.handle, look.options());
  FUZZ_OK(found.status());
  FUZZ_CHECK(*found == hanging);
}

// A cursor of its own, some moves.
void Run::scan() {
  const Look look = any_look();
  Walk made;
  open_cursor(made, look);
  move(made);
}
// The same, and it stays open while others write.
void Run::walk() {
  if (walks_.size() < 3 && in_.byte() % 2 == 0) {
    const Look look = any_look();
    // A transaction's would see what is written later, and one of a snapshot must go with that.
    if (look.txn != nullptr || look.snapshot != nullptr) return;
    Walk made;
    open_cursor(made, look);
    walks_.push_back(std::move(made));
  }
  if (!walks_.empty()) move(walks_[in_.byte() % walks_.size()]);
}
void Run::open_cursor(Walk& walk, const Look& look) {
  walk.view = look.view;
  walk.tree = look.tree;
  walk.bounds = cells_of(look.tree);
  CursorOptions options;
  options.snapshot = look.snapshot;
  if (in_.byte() % 2 == 0) {
    walk.bounds = range_of(look.tree);
    options.lower = cell_key(walk.bounds.from);
    options.upper = end_of(walk.bounds);
  }
  walk.cursor = look.txn != nullptr ? look.txn->txn.cursor(look.handle, options)
                                    : db_->cursor(look.handle, options);
}

// The first one there is from a cell on, or the last one below; -1: none.
int Run::next(const Walk& walk, int from) const {
  for (int cell = std::max(from, walk.bounds.from); cell < walk.bounds.to; ++cell) {
    if (number_in(walk.view, cell) != 0) return cell;
  }
  return -1;
}
int Run::previous(const Walk& walk, int below) const {
  for (int cell = std::min(below, walk.bounds.to) - 1; cell >= walk.bounds.from; --cell) {
    if (number_in(walk.view, cell) != 0) return cell;
  }
  return -1;
}

bool Run::seek(Walk& walk, uint8_t how) {
  const int cell = cell_of(walk.tree);
  std::string target = cell_key(cell);
  Span there = row_of(cell);
  if (in_.byte() % 2 == 0 && (walk.tree == kPlain || is_clone(walk.tree))) {
    // Also between two of the pool.
    target.push_back('\0');
    const int first = first_of(walk.tree);
    const int from = rank_from(target);
    const int to = from < kKeys && key(from) == target ? from + 1 : from;
    there = {first + from, first + to};
  }
  const bool found = how % 8 == 0 ? walk.cursor.seek(target) : walk.cursor.seek_for_prev(target);
  walk.at = how % 8 == 0 ? next(walk, there.from) : previous(walk, there.to);
  return found;
}
// By several steps, or anywhere.
bool Run::jump(Walk& walk, uint8_t how) {
  Cursor& cursor = walk.cursor;
  if (how / 8 % 3 == 0) {
    const bool found = cursor.seek_random(mix64(how));
    walk.at = -1;
    FUZZ_CHECK(found == (next(walk, 0) >= 0));
    if (!found) return false;
    for (int cell = walk.bounds.from; cell < walk.bounds.to; ++cell) {
      if (number_in(walk.view, cell) == 0 || cursor.key() != cell_key(cell)) continue;
      if (walk.tree != kPairs || cursor.value() == pair_value(cell)) walk.at = cell;
    }
    return true;
  }
  if (how / 8 % 3 == 1 && walk.tree == kPairs && walk.at >= 0) {
    const Span row = row_of(walk.at);
    const bool found = how / 24 % 2 == 0 ? cursor.next_key() : cursor.prev_key();
    walk.at = how / 24 % 2 == 0 ? next(walk, row.to) : previous(walk, row.from);
    return found;
  }
  const int steps = static_cast<int>(in_.byte() % 32) - 16;
  const bool found = cursor.skip(steps);
  for (int i = 0; i < std::abs(steps) && walk.at >= 0; ++i) {
    walk.at = steps > 0 ? next(walk, walk.at + 1) : previous(walk, walk.at);
  }
  return found;
}

void Run::move(Walk& walk) {
  for (int moves = 1 + in_.byte() % 12; moves > 0; --moves) {
    const uint8_t how = in_.byte();
    Cursor& cursor = walk.cursor;
    bool found = false;
    switch (how % 8) {
      case 0:
      case 1:
        found = seek(walk, how);
        break;
      case 2:
        found = cursor.first();
        walk.at = next(walk, 0);
        break;
      case 3:
        found = cursor.last();
        walk.at = previous(walk, kCells);
        break;
      case 4:
      case 6:
        found = cursor.next();
        walk.at = walk.at < 0 ? -1 : next(walk, walk.at + 1);
        break;
      case 5:
        found = cursor.prev();
        walk.at = walk.at < 0 ? -1 : previous(walk, walk.at);
        break;
      default:
        found = jump(walk, how);
        break;
    }
    FUZZ_OK(cursor.status());
    FUZZ_CHECK(found == (walk.at >= 0) && cursor.valid() == found);
    if (!found) continue;
    const uint32_t number = number_in(walk.view, walk.at);
    FUZZ_CHECK(cursor.key() == cell_key(walk.at));
    FUZZ_CHECK(cursor.value() == bytes_of(walk.at, number));
    if (walk.tree == kEnding) FUZZ_CHECK(cursor.expires_at() == moment_ms(values_.ends(number)));
  }
}

void Run::compare_tree(Db& db, const View& view, int tree, const Tree& handle,
                       const Snapshot* snapshot) {
  const Span cells = cells_of(tree);
  int at = cells.from;
  const auto skip = [&] {
    while (at < cells.to && number_in(view, at) == 0) ++at;
  };
  skip();
  const auto look = [&](std::span<const Entry> entries) {
    for (const Entry& entry : entries) {
      FUZZ_CHECK(at < cells.to && entry.key == cell_key(at));
      FUZZ_CHECK(entry.value == bytes_of(at, number_in(view, at)));
      ++at;
      skip();
    }
    return true;
  };
  FUZZ_OK(db.scan(handle, "", std::nullopt, look, {.snapshot = snapshot}));
  FUZZ_CHECK(at == cells.to);
}

void Run::compare(Db& db, const View& view, const Snapshot* snapshot) {
  for (int tree = 0; tree < kTrees; ++tree) {
    if (!exists(view.state, tree)) continue;
    compare_tree(db, view, tree, handle(db, view.state, tree, snapshot, nullptr), snapshot);
  }
}

}  // namespace hawthorn::fuzz
