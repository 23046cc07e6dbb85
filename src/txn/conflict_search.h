#pragma once
// Looks for newer commits of a list of keys: from memory alone as often as need be, and from disk
// in between for what memory does not tell.
//
// Used for what a transaction wrote (transaction.h) and read (read_set.h). Not here: when.
// Threads: one at a time.
//
// 1. A run never changes, so what it was found not to hold counts for as long as its container has
//    it, in memory or not. So kMustRead comes again only when a container was flushed in between
//    and its new run evicted: who meets that time after time gives up.

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tree/tree.h"
#include "txn/sequencer.h"

namespace hawthorn::txn {

struct CheckedKey {
  const tree::TreeState* tree;
  std::string_view key;
  Lsn floor;  // commits above it count
};

class ConflictSearch {
 public:
  static constexpr uint32_t kReadsAheadMax = 32;

  // `at(i)` gives the CheckedKey number i, the same each time.
  template <typename At>
  CommitCheck::Verdict validate(size_t count, At at, TxnId own) const {
    auto known = searched_.begin();
    for (size_t i = 0; i < count; ++i) {
      const bool searched = known != searched_.end() && known->of == i;
      const CheckedKey checked = at(i);
      switch (checked.tree->newer_commit(checked.key, checked.floor, own,
                                         searched ? known->run.get() : nullptr, nullptr)) {
        case tree::TreeState::Newer::kYes:
          return CommitCheck::Verdict::kConflict;
        case tree::TreeState::Newer::kNeedRun:
          return CommitCheck::Verdict::kMustRead;
        case tree::TreeState::Newer::kNo:
          break;
      }
      if (searched) ++known;
    }
    return CommitCheck::Verdict::kValid;
  }

  // False: there is a newer commit, or it was tried too often.
  template <typename At>
  Result<bool> read_ahead(size_t count, At at, TxnId own, tree::Residency& residency) {
    if (++reads_ahead_ > kReadsAheadMax) return false;
    std::vector<Searched> before = std::exchange(searched_, std::vector<Searched>());
    auto known = before.begin();
    for (size_t i = 0; i < count; ++i) {
      while (known != before.end() && known->of < i) ++known;
      const bool searched = known != before.end() && known->of == i;
      const tree::RunFile* file = searched ? known->run.get() : nullptr;
      Result<bool> valid = read_one(i, at(i), own, file, residency);
      if (!valid.ok() || !*valid) return valid;
    }
    return true;
  }

  size_t bytes() const { return searched_.capacity() * sizeof(Searched); }
  void clear() {
    if (searched_.capacity() > 0) searched_ = std::vector<Searched>();
    reads_ahead_ = 0;
  }

 private:
  // Runs that hold no newer commit of key number `of`, in its order.
  struct Searched {
    size_t of;
    tree::RunFileRef run;
  };

  Result<bool> read_one(size_t number, const CheckedKey& checked, TxnId own,
                        const tree::RunFile* file, tree::Residency& residency) {
    for (;;) {
      // Pinned, so that it is still there when it is looked at after it was loaded.
      tree::PinnedRunFile run;
      tree::TreeState::Newer newer =
          checked.tree->newer_commit(checked.key, checked.floor, own, file, &run);
      if (newer == tree::TreeState::Newer::kNeedRun) {
        if (Status s = residency.load_for_conflicts(run.get()); !s.ok()) return s;
        newer = checked.tree->newer_commit(checked.key, checked.floor, own, file, nullptr);
      }
      if (newer == tree::TreeState::Newer::kYes) return false;
      if (newer == tree::TreeState::Newer::kNeedRun) continue;
      if (run.get() != nullptr) searched_.push_back({number, tree::RunFileRef(run.get())});
      return true;
    }
  }

  std::vector<Searched> searched_;
  uint32_t reads_ahead_ = 0;
};

}  // namespace hawthorn::txn
