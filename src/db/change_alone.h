#pragma once
// A change in a transaction of its own, tried again while it loses to others.
//
// Used for the forms of Db that are those of Transaction, in one commit. Threads: any.

#include "db/impl.h"
#include "os/sync.h"

namespace hawthorn {

namespace db {
// Whether a transaction ended so because of others: what it did may be done again.
inline bool lost_to_another(const Status& status) {
  return status.is_conflict() || status.is(StatusCode::kTimedOut) ||
         status.is(StatusCode::kDeadlock);
}
}  // namespace db

// `change` answers whether there is something to commit; each try sees what the last one lost to.
// Errors: those of begin, of `change` and of commit; kConflict with what a prepared transaction
// has read, once Options::lock_timeout_ms have passed.
template <typename Change>
Result<bool> change_alone(Db& db, const Db::Impl& impl, Durability durability, Change change,
                          const TxnOptions& how = {}) {
  os::Clock& clock = *impl.machine_.clock;
  const uint64_t began = clock.monotonic_us();
  for (os::SpinWait wait;;) {
    Result<Transaction> transaction = db.begin(how);
    if (!transaction.ok()) return transaction.status();
    Result<bool> changed = change(*transaction);
    if (changed.ok() && !*changed) return changed;
    Status status = changed.ok() ? transaction->commit(durability) : changed.status();
    if (status.is_conflict()) {
      if (!impl.sequencer_->fenced()) continue;
      // Perhaps with what is prepared, which may last.
      wait.once();
      const uint64_t most_us = Db::Impl::timeout_us_of(impl.options_.lock_timeout_ms);
      if (clock.monotonic_us() - began < most_us && !os::interrupted()) continue;
    }
    return status.ok() ? Result<bool>(true) : Result<bool>(std::move(status));
  }
}

}  // namespace hawthorn
