// Who waits for whom, as one who waits for no time is told at once; and who may be refused else.
#include "fuzz/operations_run.h"

namespace hawthorn::fuzz {

// Writers wait for rows of pessimistic and of prepared transactions, and for ranges that are being
// deleted. Who locks rows waits for all others that have written them, too.
bool Run::may_wait(const Span& span, const Txn* actor) const {
  const bool locks = actor != nullptr && actor->pessimistic;
  for (const Txn& txn : txns_) {
    if (&txn == actor) continue;
    for (const Span& one : txn.ranges) {
      if (one.meets(span)) return true;
    }
    for (int cell = span.from; cell < span.to; ++cell) {
      if (txn.maybe_locked.contains(cell)) return true;
      if (locks && txn.own[static_cast<size_t>(cell)].has_value()) return true;
    }
  }
  for (const auto& one : prepared_) {
    for (int cell = span.from; cell < span.to; ++cell) {
      if (one->own[static_cast<size_t>(cell)].has_value() || one->locked.contains(cell))
        return true;
    }
  }
  return false;
}

// Who wants the row in this mode. Of subtrees not all is known: who writes one locks other rows.
bool Run::must_wait(int cell, const Txn* actor, RowLock mode) const {
  if (cell >= first_of(kNest)) return false;
  for (const Txn& txn : txns_) {
    if (&txn == actor || !txn.pessimistic) continue;
    if (txn.own[static_cast<size_t>(cell)].has_value()) return true;
    const auto held = txn.locks.find(cell);
    if (held == txn.locks.end()) continue;
    if (held->second != RowLock::kShared && mode != RowLock::kShared) return true;
    if (held->second == RowLock::kExclusive || mode == RowLock::kExclusive) return true;
  }
  return std::any_of(prepared_.begin(), prepared_.end(), [&](const auto& one) {
    return one->own[static_cast<size_t>(cell)].has_value();
  });
}

bool Run::anything_locked(const Txn* actor) const {
  if (!prepared_.empty()) return true;
  return std::any_of(txns_.begin(), txns_.end(), [&](const Txn& txn) {
    return &txn != actor && (txn.pessimistic || !txn.ranges.empty());
  });
}

bool Run::fenced() const {
  return std::any_of(prepared_.begin(), prepared_.end(),
                     [](const auto& one) { return one->fence; });
}

bool Run::refused(const Status& status, const Span& span, const Txn* actor) const {
  if (status.is(StatusCode::kTimedOut)) return may_wait(span, actor);
  return actor == nullptr && status.is_conflict() && fenced();
}

bool Run::tree_refused(const Status& status) const {
  return (status.is(StatusCode::kTimedOut) || status.is(StatusCode::kBusy) ||
          status.is_conflict()) &&
         anything_locked(nullptr);
}

}  // namespace hawthorn::fuzz
