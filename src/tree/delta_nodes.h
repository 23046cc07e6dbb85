#pragma once
// The nodes of a delta's tree; see delta.h. Used by delta.cc, which writes them, and
// delta_order.cc, which reads them.
//
// Not here: the hash table. Threads: one writer, under the settle mutex; readers validate the
// version of every node that they read.

#include <atomic>
#include <cstdint>

#include "tree/delta.h"

namespace hawthorn::tree {

struct Delta::Node {
  std::atomic<uint32_t> version{0};  // odd while the writer changes the node
  std::atomic<uint16_t> count{0};
  bool leaf;

  explicit Node(bool is_leaf) : leaf(is_leaf) {}

  void write_begin() {
    version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  void write_end() {
    version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
};

struct Delta::Leaf : Node {
  Leaf() : Node(true) {}
  std::atomic<uint64_t> heads[kLeafEntries];
  std::atomic<DeltaEntry*> entries[kLeafEntries];
};

// Child i holds the keys from separator i (child 0: all before separator 1). Separators are
// entries, so ties of heads are settled by whole keys.
struct Delta::Inner : Node {
  Inner() : Node(false) {}
  std::atomic<uint64_t> heads[kInnerChildren];
  std::atomic<DeltaEntry*> separators[kInnerChildren];
  std::atomic<Node*> children[kInnerChildren];
};

}  // namespace hawthorn::tree
