#pragma once
// The ordered index of a tree's containers: which one covers a key.
//
// Two levels of immutable sorted arrays, replaced by copy: a root over leaves, leaves of up to 256
// containers. Searched by 8-byte heads behind the common prefix of a node's low keys.
//
// Not here: what a container holds. Threads: find inside an epoch guard, no lock; replace by one
// thread at a time (the caller's lock).
//
// 1. The containers of a directory cover all keys without gap or overlap; the first one's low key
// is empty.
// 2. A reader may find a container that was just replaced: it is dead, or its descriptor is the
// last it had.
// 3. A leaf sums what its containers hold (node_sums.h). While one is replaced its containers go to
//    the new one, each under its latch.

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "tree/container.h"

namespace hawthorn::tree {

class Directory {
 public:
  // Walks over its nodes (count.h, estimate.cc).
  friend class NodeWalk;
  friend class NodeEstimate;

  // Takes over the containers, in key order.
  explicit Directory(std::vector<Container*> containers);
  ~Directory();  // deletes the containers
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  // The container that covers the key.
  Container* find(std::string_view key) const;
  // The container before the one that begins with `low`; null for the first.
  Container* before(std::string_view low) const;
  Container* last() const;

  // Replaces neighbouring containers (in order) by others that cover the same range. The old ones
  // are retired; the caller holds their latches, and none of another container.
  void replace(std::span<Container* const> old_ones, std::span<Container* const> new_ones);

  // All containers, in order. Inside an epoch guard for as long as the pointers are used.
  std::vector<Container*> all() const;
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kLeafMax = 256;

  // What several children are searched by: heads behind as many bytes as all but the first share.
  struct Search {
    std::string_view prefix;  // of the second low key: those bytes
    uint64_t* heads;          // behind the children
    std::string_view* lows;   // behind them; point into the containers
  };

  // Children by their sorted low keys. All in one piece of memory; of one child there is nothing to
  // search, as in most of very many trees.
  template <typename Child, typename Sums>
  struct Node {
    static Node* make(std::span<Child* const> children);
    static void operator delete(Node* node, std::destroying_delete_t);

    std::span<Child* const> children() const {
      return {reinterpret_cast<Child* const*>(this + 1), count};
    }
    size_t find(std::string_view key) const;  // the last child whose low key is <= key; else 0
    // Of several children: it stands before the node.
    const Search& search() const { return reinterpret_cast<const Search*>(this)[-1]; }

    [[no_unique_address]] Sums sums;
    uint32_t count = 0;
    uint32_t skip = 0;
  };
  struct NoSums {};
  using Leaf = Node<Container, NodeSums>;
  using Root = Node<Leaf, NoSums>;
  static Leaf* make_leaf(std::span<Container* const> containers);

  std::atomic<Root*> root_;
  std::atomic<size_t> size_{0};
};

}  // namespace hawthorn::tree
