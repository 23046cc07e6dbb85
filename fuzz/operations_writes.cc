// Writes that are a commit of their own.
#include "fuzz/operations_run.h"

namespace hawthorn::fuzz {
namespace {

constexpr int kRangesMax = 30;  // fewer than wait to be erased before writes wait for them
constexpr size_t kSumBytesMax = 100'000;

}  // namespace

void Run::commit_alone(const Status& status, const Span& span, const State& next,
                       Durability level) {
  if (refused(status, span)) return;
  FUZZ_OK(status);
  if (span.to == span.from + 1) FUZZ_CHECK(!must_wait(span.from, nullptr));
  committed(next, level);
  // Commits as well where nothing was there to be changed: then it may be seen, or not.
  touched(span);
}

void Run::put() {
  const int tree = any_tree(in_.byte(), now_);
  const int cell = cell_of(tree);
  const uint32_t number = new_value(tree);
  const Durability level = this->level();
  const std::string bytes = bytes_of(cell, number);
  const Tree to = handle(tree);
  const Status status = values_.ends(number) != 0
                            ? db_->put(to, cell_key(cell), bytes,
                                       Expiry::at_ms(moment_ms(values_.ends(number))), level)
                            : db_->put(to, cell_key(cell), bytes, level);
  if (at(now_, cell) >= kHangs) {
    FUZZ_CHECK(status.is(StatusCode::kInvalidArgument) || tree_refused(status));
    return;
  }
  State next = now_;
  at(next, cell) = number;
  commit_alone(status, {cell, cell + 1}, next, level);
}

void Run::del() {
  const int tree = any_tree(in_.byte(), now_);
  const int cell = cell_of(tree);
  const Durability level = this->level();
  const bool one = tree == kPairs && in_.byte() % 2 == 0;
  const Span span = one ? Span{cell, cell + 1} : row_of(cell);
  const Tree to = handle(tree);
  const bool drops = at(now_, cell) >= kHangs;
  const Status status = one ? db_->del_value(to, cell_key(cell), pair_value(cell), level)
                            : db_->del(to, cell_key(cell), level);
  if (drops && tree_refused(status)) return;
  State next = now_;
  for (int i = span.from; i < span.to; ++i) clear_cell(next, i);
  commit_alone(status, span, next, level);
}

void Run::delete_range() {
  if (++ranges_ > kRangesMax) return;
  const int tree = any_tree(in_.byte(), now_);
  const Span which = range_of(tree);
  const Durability level = this->level();
  const Status status = db_->delete_range(handle(tree), cell_key(which.from), end_of(which), level);
  if (tree == kSums || is_clone(tree)) {
    FUZZ_CHECK(status.is(StatusCode::kNotSupported));
    return;
  }
  if (status.is(StatusCode::kTimedOut) && anything_locked(nullptr)) return;
  if (can_nest(tree) && tree_refused(status)) return;
  State next = now_;
  for (int cell = which.from; cell < which.to; ++cell) clear_cell(next, cell);
  commit_alone(status, which, next, level);
}

// Many keys at once.
void Run::fill() {
  const int tree = any_tree(in_.byte(), now_);
  const Span which = range_of(tree);
  const uint32_t number = new_value(tree);
  const Durability level = this->level();
  if (can_nest(tree) || (tree != kPairs && values_.bytes(number).size() > 1000)) return;
  const Tree to = handle(tree);
  WriteBatch batch;
  State next = now_;
  for (int cell = which.from; cell < which.to; ++cell) {
    if (values_.ends(number) != 0) {
      batch.put(to, cell_key(cell), bytes_of(cell, number),
                Expiry::at_ms(moment_ms(values_.ends(number))));
    } else {
      batch.put(to, cell_key(cell), bytes_of(cell, number));
    }
    at(next, cell) = number;
  }
  commit_alone(db_->write(batch, level), which, next, level);
}

// One operation of a batch on some tree; those on other cells than `all` had make it wider.
bool Run::add_to_batch(WriteBatch& batch, State& next, Span* all) {
  const int tree = any_tree(in_.byte(), now_);
  const uint8_t how = in_.byte();
  const int cell = cell_of(tree);
  if (can_nest(tree)) return false;
  const Tree to = handle(tree);
  Span span = {cell, cell + 1};
  if (how % 4 == 0) {
    if (tree == kPairs) {
      batch.del_value(to, cell_key(cell), pair_value(cell));
    } else {
      batch.del(to, cell_key(cell));
    }
    at(next, cell) = 0;
  } else if (how % 4 == 1 && tree == kSums) {
    const std::string operand = small_operand();
    const uint32_t before = at(next, cell);
    batch.merge(to, cell_key(cell), operand);
    at(next, cell) = values_.add(before == 0 ? operand : values_.bytes(before) + "|" + operand);
  } else if (how % 4 == 2 && tree != kSums && !is_clone(tree)) {
    if (++ranges_ > kRangesMax) return false;
    span = range_of(tree);
    batch.delete_range(to, cell_key(span.from), end_of(span));
    for (int i = span.from; i < span.to; ++i) at(next, i) = 0;
  } else {
    const uint32_t number = new_value(tree);
    if (tree != kPairs && (values_.ends(number) != 0 || values_.bytes(number).size() > 1000)) {
      return false;
    }
    batch.put(to, cell_key(cell), bytes_of(cell, number));
    at(next, cell) = number;
  }
  *all = {std::min(all->from, span.from), std::max(all->to, span.to)};
  return true;
}

void Run::batch() {
  WriteBatch batch;
  State next = now_;
  Span all = {kCells, 0};
  const int ranges_before = ranges_;
  for (int left = 1 + in_.byte() % 6; left > 0; --left) add_to_batch(batch, next, &all);
  const Durability level = this->level();
  if (batch.count() == 0) return;
  const Status status = db_->write(batch, level);
  if (ranges_ > ranges_before && status.is(StatusCode::kTimedOut) && anything_locked(nullptr)) {
    return;
  }
  if (refused(status, all)) return;
  FUZZ_OK(status);
  committed(next, level);
  touched(all);
}

void Run::merge() {
  const int cell = cell_of(kSums);
  const uint32_t before = at(now_, cell);
  const std::string operand = small_operand();
  const Durability level = this->level();
  if (before != 0 && values_.bytes(before).size() > kSumBytesMax) return;
  State next = now_;
  at(next, cell) = values_.add(before == 0 ? operand : values_.bytes(before) + "|" + operand);
  commit_alone(db_->merge(trees_[kSums], cell_key(cell), operand, level), {cell, cell + 1}, next,
               level);
}

// A change that writes something, of a value that does not become too large.
std::optional<Run::Part> Run::any_part(std::string_view bytes, bool there) {
  Part part;
  part.how = in_.byte() % 3;
  const auto number = in_.number<uint16_t>();
  const uint8_t size = in_.byte();
  part.result = bytes;
  if (part.how == 0) {
    part.bytes = value_of(values_.next(), 1 + size_of(size == 255 ? 20 : size));
    part.result += part.bytes;
  } else if (part.how == 1) {
    part.bytes = value_of(values_.next(), 1 + size_of(size == 255 ? 20 : size));
    part.offset = number % (bytes.size() + 100);
    part.result.resize(std::max(bytes.size(), part.offset + part.bytes.size()), '\0');
    part.result.replace(part.offset, part.bytes.size(), part.bytes);
  } else {
    part.offset = number % 4 == 0 ? number : bytes.size() * (number % 256) / 200;
    if (part.offset == bytes.size() && (there || part.offset == 0)) return std::nullopt;
    part.result.resize(part.offset, '\0');
  }
  // What is neither large nor fits a record of the small log would be refused.
  if (part.result.size() > 12'000 && part.result.size() < 66'000) return std::nullopt;
  if (part.result.size() > 150'000) return std::nullopt;
  if (part.result.size() > 60'000 && large_ > 30) return std::nullopt;
  if (part.result.size() > 60'000) ++large_;
  return part;
}

void Run::change_part() {
  const int tree = any_tree(in_.byte(), now_);
  const int cell = cell_of(tree);
  const uint32_t before = number_in(present(), cell);
  if (tree == kPairs || before >= kHangs) return;
  const std::optional<Part> part = any_part(values_.bytes(before), before != 0);
  const Durability level = this->level();
  if (!part.has_value()) return;
  const Tree to = handle(tree);
  Status status;
  if (part->how == 0) {
    const auto where = db_->append(to, cell_key(cell), part->bytes, level);
    status = where.status();
    if (where.ok()) FUZZ_CHECK(*where == values_.bytes(before).size());
  } else if (part->how == 1) {
    status = db_->write_part(to, cell_key(cell), part->offset, part->bytes, level);
  } else {
    status = db_->resize(to, cell_key(cell), part->offset, level);
  }
  State next = now_;
  at(next, cell) = changed_value(before, part->result);
  commit_alone(status, {cell, cell + 1}, next, level);
}

void Run::compare_and_set() {
  const int tree = any_tree(in_.byte(), now_);
  const uint8_t how = in_.byte();
  const int cell = cell_of(tree);
  const uint32_t before = at(now_, cell);
  const uint32_t number = new_value(tree);
  const Durability level = this->level();
  if (tree == kEnding || can_nest(tree)) return;
  const Tree to = handle(tree);
  const std::string& key = cell_key(cell);
  const std::string bytes = bytes_of(cell, number);
  const std::string old = before == 0 ? "what is not there" : bytes_of(cell, before);
  Result<bool> done = false;
  bool expected = before != 0;
  uint32_t after = number;
  if (how % 4 == 0 || (tree == kPairs && how % 4 < 3)) {
    done = db_->insert(to, key, bytes, level);
    expected = before == 0;
  } else if (how % 4 == 1) {
    done = db_->update(to, key, bytes, level);
  } else if (how % 4 == 2) {
    done = before == 0 && how % 8 == 2 ? db_->replace(to, key, std::nullopt, bytes, level)
                                       : db_->replace(to, key, old, bytes, level);
    expected |= how % 8 == 2;
  } else {
    done = db_->remove_if(to, key, old, level);
    after = 0;
  }
  if (refused(done.status(), {cell, cell + 1})) return;
  FUZZ_OK(done.status());
  FUZZ_CHECK(*done == expected);
  if (!*done) return;
  State next = now_;
  at(next, cell) = after;
  commit_alone({}, {cell, cell + 1}, next, level);
}

void Run::ingest() {
  const int tree = any_tree(in_.byte(), now_);
  const Span which = range_of(tree);
  const uint32_t number = new_value(tree);
  const uint8_t how = in_.byte();
  const Durability level = this->level();
  if (can_nest(tree) || values_.ends(number) != 0) return;
  if (tree != kPairs && values_.bytes(number).size() > 2000 && which.to - which.from > 2) return;
  auto ingest = db_->ingest(handle(tree), {.sorted = how % 2 == 0, .durability = level});
  FUZZ_OK(ingest.status());
  State next = now_;
  for (int i = which.from; i < which.to; ++i) {
    const int cell = how % 2 == 0 ? i : which.to - 1 - (i - which.from);
    if (how / 2 % 4 == 1 && cell % 3 == 0) continue;
    FUZZ_OK(ingest->add(cell_key(cell), bytes_of(cell, number)));
    at(next, cell) = number;
  }
  if (how / 2 % 8 == 7) return ingest->abandon();
  const Status status = ingest->finish();
  // What it attaches it attaches when no row at all is locked.
  if (status.is(StatusCode::kTimedOut) && anything_locked(nullptr)) return;
  if (refused(status, which)) return;
  FUZZ_OK(status);
  committed(next, level);
  touched(which);
}

}  // namespace hawthorn::fuzz
