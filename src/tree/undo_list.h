#pragma once
// What a transaction has installed, in the order in which it did: a list that grows by chunks of
// the arena, so that a large transaction is counted as it grows and nothing is ever copied.
//
// Not here: what an entry means (tree.h). Threads: one at a time; entries that were added before
// may be read by others while more are added to chunks that are there (grow changes more).
//
// 1. The first few entries lie on the heap, and stay there: the list of a small transaction takes
//    nothing of the arena, and an empty list holds none of it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "format/manifest_state.h"
#include "os/arena.h"

namespace hawthorn::tree {

class TreeState;
struct Container;
struct DeltaEntry;
struct Version;

// One installed intent, as its transaction remembers it.
struct Undo {
  TreeState* tree = nullptr;
  Container* container = nullptr;  // valid while the tree's structure version is `structure`
  uint64_t structure = 0;
  uint64_t delta = 0;  // id of the delta that holds `version`
  Version* version = nullptr;
  DeltaEntry* entry = nullptr;
  std::string_view key;  // in memory of the transaction
  uint32_t seq = 0;
};

class UndoList {
 public:
  // Without an arena, all of it comes from the heap.
  explicit UndoList(os::Arena* arena = nullptr) : arena_(arena) {}
  ~UndoList() { resize(0); }
  UndoList(const UndoList&) = delete;
  UndoList& operator=(const UndoList&) = delete;

  bool full() const { return size_ == kFirst + chunks_.size() * kChunk; }
  // Makes room for another entry where it is full. False: the arena has no memory.
  bool grow(bool beyond_budget = false);
  // Takes what a full list needs also beyond the budget.
  void push_back(const Undo& undo) {
    if (full()) static_cast<void>(grow(true));
    ++size_;
    (*this)[size_ - 1] = undo;
  }
  // To fewer entries: gives back the chunks that are not needed any more.
  void resize(size_t size);
  void clear() { resize(0); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Undo& operator[](size_t index) { return *at(index); }
  const Undo& operator[](size_t index) const { return *at(index); }

 private:
  static constexpr size_t kFirst = 128;
  static constexpr size_t kChunk = 512;
  static constexpr size_t kChunkBytes = kChunk * sizeof(Undo);

  Undo* at(size_t index) const {
    if (index < kFirst) return first_.get() + index;
    index -= kFirst;
    return chunks_[index / kChunk] + index % kChunk;
  }

  os::Arena* const arena_;
  std::unique_ptr<Undo[]> first_ = std::make_unique<Undo[]>(kFirst);
  std::vector<Undo*> chunks_;
  size_t size_ = 0;
};

}  // namespace hawthorn::tree
