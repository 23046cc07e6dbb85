// Asking and telling the program's hooks about its commits (hawthorn/commit_hook.h). Without locks:
// before anything of the commit is decided, and when it has ended.

#include "txn/transaction.h"

namespace hawthorn::txn {

Status Txn::ask_hooks(uint64_t more, Durability durability) const {
  if (hooks_ == nullptr) return {};
  const CommitInfo told = info(more, durability);
  for (const std::shared_ptr<CommitHook>& hook : *hooks_) {
    if (Status s = hook->before(told); !s.ok()) return s;
  }
  return {};
}

void Txn::tell_hooks(const CommitInfo& told, Lsn cts, const Status& outcome) const {
  if (hooks_ == nullptr) return;
  const bool committed = outcome.ok() || outcome.is(StatusCode::kUnknownOutcome);
  for (const std::shared_ptr<CommitHook>& hook : *hooks_) {
    hook->after(told, committed ? cts : 0, outcome);
  }
}

Status Txn::commit(Durability durability) {
  Lsn cts = 0;
  if (hooks_ == nullptr || !wrote()) [[likely]]
    return commit_now(durability, &cts);
  const CommitInfo told = info(0, durability);
  if (Status s = broken_.ok() ? ask_hooks(0, durability) : Status(); !s.ok()) {
    abort();
    return s;
  }
  const Status status = commit_now(durability, &cts);
  tell_hooks(told, cts, status);
  return status;
}

Status Txn::commit_attaching(std::string_view operations, uint32_t count, Attaching& attaching,
                             Durability durability) {
  Lsn cts = 0;
  const CommitInfo told = info(count, durability);
  const Status status = attach_now(operations, count, attaching, durability, &cts);
  // Of one that is tried again, others were told nothing.
  if (!status.is(StatusCode::kBusy) && !status.is(StatusCode::kConflict)) {
    tell_hooks(told, cts, status);
  }
  return status;
}

}  // namespace hawthorn::txn
