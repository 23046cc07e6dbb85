#pragma once
// What one transaction holds of the row locks: its keys, in the order in which it took and raised
// them, so that a savepoint is a number of entries, and going back to it is taking the last ones
// off.
//
// Not here: the locks (row_locks.h). Threads: belongs to its transaction, one thread at a time.
//
// 1. An entry is a lock taken or a mode raised; a call that found the key held as strong makes
//    none. Each entry knows what its row was held as before.
// 2. Keys that share a row by their hash have entries of their own: the row is held in the
//    strongest of their modes, and let go with the first of them.
// 3. Memory beyond kKept counts against the budget.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "os/arena.h"

namespace hawthorn::txn {

enum class LockMode : uint8_t { kShared, kUpgradable, kExclusive };  // each stronger than the last

struct RowHold;

class HeldLocks {
 public:
  explicit HeldLocks(os::Arena* arena) : arena_(arena) {}
  ~HeldLocks();  // released before
  HeldLocks(const HeldLocks&) = delete;
  HeldLocks& operator=(const HeldLocks&) = delete;

  bool empty() const { return entries_.empty(); }
  // How many entries there are: the mark of a savepoint.
  size_t size() const { return entries_.size(); }
  // Calls visit(tree, key, mode) once for each key, with the mode that it was taken in at last.
  // Lifetime of the key: the call.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (!entry.raised) visit(entry.tree, key_of(entry), entry.mode);
    }
  }

 private:
  friend class RowLocks;

  static constexpr size_t kKept = 8 << 10;
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Entry {
    RowHold* hold;
    uint64_t key_at;  // in keys_; an entry that raises names that of the entry before
    uint32_t key_size;
    uint32_t tree;
    uint32_t before;      // the entry of the same row before this one, or kNone
    LockMode mode;        // of the key
    LockMode row_before;  // of the row, if there was an entry before
    bool raises;          // a mode of a key that has an entry
    bool raised;          // by a later entry
  };

  std::string_view key_of(const Entry& entry) const {
    return {keys_.data() + entry.key_at, entry.key_size};
  }
  // Makes room for another entry, so that `add` cannot fail.
  void reserve(size_t key_size);
  // The row is held in `mode` or stronger now, and was in `row_before`.
  void add(RowHold* hold, LockMode row_before, uint32_t tree, std::string_view key, LockMode mode);
  Entry* newest_of_key(uint32_t entry, uint32_t tree, std::string_view key);
  Entry pop();
  // Takes out entries, each the only one of its row; `numbers` ascend. The rest is numbered anew.
  void take_out(const std::vector<uint32_t>& numbers);
  void count_memory();
  // Gives back most of what is not needed any more.
  void drop_memory();

  os::Arena* const arena_;
  std::vector<Entry> entries_;
  std::string keys_;
  size_t counted_bytes_ = 0;
};

}  // namespace hawthorn::txn
