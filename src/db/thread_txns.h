#pragma once
// What a thread keeps from one call to the next, so that single writes and short transactions take
// no memory.
//
// Not here: transactions (txn/transaction.h). Used by single writes and by transactions. Threads:
// each has its own.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "format/operation.h"
#include "os/thread_end.h"
#include "txn/transaction.h"

namespace hawthorn::db {

struct ThreadTxns {
  struct Kept {
    uint64_t instance = 0;  // of the database
    std::unique_ptr<txn::Txn> txn;
  };
  Kept single;  // for single writes
  Kept spare;   // that it used last, with its buffers
  std::string operation;

  // Errors: std::bad_alloc.
  static ThreadTxns& mine() { return os::OfThread<ThreadTxns>::get(); }
};

// A single write as the log stores it, built in memory that the thread keeps.
class OperationText {
 public:
  OperationText() : text_(ThreadTxns::mine().operation) { text_.clear(); }
  ~OperationText() {
    if (text_.capacity() > kKept) std::string().swap(text_);
  }
  OperationText(const OperationText&) = delete;
  OperationText& operator=(const OperationText&) = delete;

  void append(const format::Operation& operation) { format::append_operation(text_, operation); }
  std::string_view view() const { return text_; }

 private:
  static constexpr size_t kKept = size_t{16} << 10;
  std::string& text_;
};

}  // namespace hawthorn::db
