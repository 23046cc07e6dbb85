#pragma once
// What keeps the object of a tree, and how a handle leads to it.
//
//   Tree {cell, id} ──> TreeCell {id, state} ──> TreeState      while the ids are the same
//   TreeRef ─────────────────────────────────> TreeState      as long as it lives
//
// Not here: when a tree has no data any more and goes (db/catalog.h). Used by whatever keeps a tree
// for longer than a call: cursors, transactions, layers, clones, lists of the background.
// Threads: any; one TreeRef from one thread at a time.
//
// 1. A TreeState goes when its cell is empty, no call is left that began before (os/epoch.h), and
//    no TreeRef.
// 2. A TreeRef is made inside a call, or from another one.
// 3. A cell serves again, for another tree, only after the object that it led to has gone: inside a
//    call, a cell with the handle's id leads to that tree or to none. Ids are never used again.

#include <atomic>
#include <cstdint>
#include <utility>

namespace hawthorn::tree {

class TreeState;
struct Store;

class TreeRef {
 public:
  TreeRef() = default;
  explicit TreeRef(TreeState* tree);
  TreeRef(const TreeRef& other) : TreeRef(other.tree_) {}
  TreeRef(TreeRef&& other) noexcept : tree_(std::exchange(other.tree_, nullptr)) {}
  TreeRef& operator=(TreeRef other) noexcept {
    std::swap(tree_, other.tree_);
    return *this;
  }
  ~TreeRef() {
    if (tree_ != nullptr) let_go();
  }

  TreeState* get() const { return tree_; }
  TreeState* operator->() const { return tree_; }
  TreeState& operator*() const { return *tree_; }
  operator TreeState*() const& { return tree_; }
  operator TreeState*() const&& = delete;  // it would keep nothing

 private:
  void let_go();

  TreeState* tree_ = nullptr;
};

// Stays where it is until the database goes.
struct TreeCell {
  explicit TreeCell(const Store* of) : store(of) {}

  const Store* const store;
  std::atomic<uint32_t> id{0};  // 0: it is empty
  std::atomic<TreeState*> state{nullptr};

  // Inside a call. Null: the tree has gone.
  [[gnu::always_inline]] TreeState* find(uint32_t wanted) const {
    return id.load(std::memory_order_acquire) == wanted ? state.load(std::memory_order_acquire)
                                                        : nullptr;
  }
};

}  // namespace hawthorn::tree
