#pragma once
// Trees in which other trees may hang, for the public functions: every write looks first.
//
//   entry of the parent: key, empty value      seen by reads, cursors, counts, snapshots, conflicts
//   entries of the catalog: see catalog_entry.h     say that it is a subtree, and which one
//
// Not here: the entries of the catalog (catalog.h, invariants 5 and 6). docs/transactions.md argues
// why no subtree is lost or hangs twice. Threads: any.
//
// 1. Whoever writes such a tree does so in a transaction that has asked Transaction::Impl::hanging
//    for each key, or the catalog for the range: never blindly.

#include <string_view>

#include "db/change_alone.h"
#include "db/impl.h"

namespace hawthorn {

struct TransactionAccess {
  static Transaction::Impl& impl(Transaction& transaction) { return *transaction.impl_; }
};

namespace db {

// Whether writes of this tree look first.
inline bool writes_look(const Tree& tree) {
  if (!TreeAccess::shaped(tree)) return false;
  const os::epoch::Call call;
  const tree::TreeState* const state = TreeAccess::state(tree);
  return state != nullptr && holds_subtrees(*state);
}

// A write that loses only to those who hang or take off something where it writes.
template <typename Write>
Status write_looking(Db& db, const Db::Impl& impl, Durability durability, Write write) {
  return change_alone(db, impl, durability,
                      [&](Transaction& transaction) {
                        Status status = write(transaction);
                        return status.ok() ? Result<bool>(true) : Result<bool>(std::move(status));
                      },
                      {.isolation = Isolation::kReadCommitted})
      .status();
}

}  // namespace db
}  // namespace hawthorn
