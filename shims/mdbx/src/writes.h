#pragma once
// Puts and deletes, with the flags that say what is there before.
//
// Threads: as of the transaction.

#include <string_view>

#include "shims/mdbx/src/common.h"
#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/transaction.h"

namespace hawthorn::mdbx {

// A write to a table. `cursor`, if there is one, stands on the entry that was
// put, or where the deleted one was.
class Write {
 public:
  Write(MDBX_txn* txn, TxnTable* table, MDBX_cursor* cursor)
      : txn_(txn), table_(table), cursor_(cursor) {}
  // What was handed out before may go now, but not what this write gives back.
  ~Write() {
    if (!hands_out_) txn_->let_copies_go();
  }
  Write(const Write&) = delete;
  Write& operator=(const Write&) = delete;

  int put(const MDBX_val* key, MDBX_val* value, unsigned flags);
  // All values of the key; with `value`, that one.
  int del(std::string_view key, const std::string_view* value);
  // What the cursor stands on.
  int del_current(unsigned flags);

 private:
  bool multi() const { return table_->table->multi(); }
  int check_sizes(std::string_view key, std::string_view value);
  int check_append(std::string_view key);
  int check_append_value(std::string_view key, std::string_view value);
  void settle_gaps();
  int replace_only(std::string_view key, std::string_view value);
  int replace_current(const MDBX_val* key, MDBX_val* value, unsigned flags);
  int put_single(const MDBX_val* key, MDBX_val* value, unsigned flags);
  int put_multi(const MDBX_val* key, std::string_view value, MDBX_val* value_io, unsigned flags);
  int put_several(const MDBX_val* key, MDBX_val* values, unsigned flags);
  int name_of_a_table(std::string_view key);
  int look_for(std::string_view key);
  int done(std::string_view key, std::string_view value);

  MDBX_txn* txn_;
  TxnTable* table_;
  MDBX_cursor* cursor_;
  bool hands_out_ = false;
  std::optional<int64_t> more_;  // entries, by what is put
};

}  // namespace hawthorn::mdbx
