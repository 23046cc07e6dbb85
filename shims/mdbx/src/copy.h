#pragma once
// Copies of environments: to a directory, which can be opened, or to a file descriptor, as a stream
// that `hawthorn restore` reads.
//
// Threads: any.

#include <string>

#include "shims/mdbx/src/common.h"
#include "shims/mdbx/src/transaction.h"

namespace hawthorn::mdbx {

// Of the present moment, while others read and write.
int copy_environment(MDBX_env& env, const char* target, unsigned flags);
int copy_environment(MDBX_env& env, int fd, unsigned flags);

// Of what a transaction reads: entry by entry where that is no longer the newest, else as above.
int copy_transaction(MDBX_txn* txn, const char* target, unsigned flags);
int copy_transaction(MDBX_txn* txn, int fd, unsigned flags);

// The id of the newest commit that a database has.
int newest_txnid(Db& db, uint64_t* txnid);

}  // namespace hawthorn::mdbx
