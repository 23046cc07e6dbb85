#include "tree/directory.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/epoch.h"

namespace hawthorn::tree {

void Directory::Keys::build() {
  skip = 0;
  prefix = {};
  if (lows.size() > 1) {
    skip = static_cast<uint32_t>(common_prefix(lows[1], lows.back()));
    prefix = lows[1].substr(0, skip);
  }
  if (lows.size() == 1)
    std::vector<std::string_view>().swap(lows);  // nothing to search, as in most of very many trees
  heads.resize(lows.size());
  for (size_t i = 0; i < lows.size(); ++i) heads[i] = i == 0 ? 0 : key_head(lows[i], skip);
}

size_t Directory::Keys::find(std::string_view key) const {
  const size_t count = heads.size();
  if (count == 0) return 0;
  if (skip > 0 && key.substr(0, skip) != prefix) return key < prefix ? 0 : count - 1;
  const uint64_t head = key_head(key, skip);
  const uint64_t* base = heads.data();
  // The last one of [1, count) that is <= head, without branches: each would be a guess.
  const uint64_t* from = base + 1;
  for (size_t size = count - 1; size > 1;) {
    const size_t half = size / 2;
    from += half * static_cast<size_t>(from[half - 1] <= head);
    size -= half;
  }
  size_t at = static_cast<size_t>(from - base) - static_cast<size_t>(*from > head);
  while (at > 0 && base[at] == head && lows[at] > key) --at;
  return at;
}

Directory::Leaf* Directory::make_leaf(std::span<Container* const> containers) {
  auto* leaf = new Leaf;
  leaf->containers.assign(containers.begin(), containers.end());
  for (const Container* container : containers) leaf->keys.lows.push_back(container->low);
  leaf->keys.build();
  count_leaf(leaf);
  return leaf;
}

// Who holds several latches (a cut of neighbours to be joined) waits for none of those whose
// replacement comes through here, as they are being flushed; so latches taken one by one beside
// theirs lead to no circle.
void Directory::count_leaf(Leaf* leaf) {
  constexpr size_t kAhead = 8;
  const std::vector<Container*>& containers = leaf->containers;
  for (size_t i = 0; i < containers.size(); ++i) {
    if (i + kAhead < containers.size()) __builtin_prefetch(&containers[i + kAhead]->latch, 1);
    os::MutexLock lock(containers[i]->latch);
    containers[i]->count_in(&leaf->sums);
  }
}

Directory::Root* Directory::make_root(std::vector<Leaf*> leaves) {
  auto* root = new Root;
  root->leaves = std::move(leaves);
  for (const Leaf* leaf : root->leaves) root->keys.lows.push_back(leaf->containers.front()->low);
  root->keys.build();
  return root;
}

Directory::Directory(std::vector<Container*> containers) {
  std::vector<Leaf*> leaves;
  for (size_t i = 0; i < containers.size(); i += kLeafMax / 2) {
    const size_t count = std::min(kLeafMax / 2, containers.size() - i);
    leaves.push_back(make_leaf(std::span(containers).subspan(i, count)));
  }
  size_.store(containers.size(), std::memory_order_relaxed);
  root_.store(make_root(std::move(leaves)), std::memory_order_release);
}

Directory::~Directory() {
  Root* root = root_.load(std::memory_order_relaxed);
  for (Leaf* leaf : root->leaves) {
    for (Container* container : leaf->containers) delete container;
    delete leaf;
  }
  delete root;
}

Container* Directory::find(std::string_view key) const {
  const Root* root = root_.load(std::memory_order_acquire);
  const Leaf* leaf = root->leaves[root->keys.find(key)];
  return leaf->containers[leaf->keys.find(key)];
}

Container* Directory::before(std::string_view low) const {
  const Root* root = root_.load(std::memory_order_acquire);
  size_t l = root->keys.find(low);
  const size_t at = root->leaves[l]->keys.find(low);
  // `low` may have stopped being a boundary: then its container is the one that reaches below it.
  if (root->leaves[l]->containers[at]->low < low) return root->leaves[l]->containers[at];
  if (at > 0) return root->leaves[l]->containers[at - 1];
  return l > 0 ? root->leaves[l - 1]->containers.back() : nullptr;
}

Container* Directory::last() const {
  return root_.load(std::memory_order_acquire)->leaves.back()->containers.back();
}

void Directory::replace(std::span<Container* const> old_ones,
                        std::span<Container* const> new_ones) {
  Root* root = root_.load(std::memory_order_relaxed);
  const size_t first = root->keys.find(old_ones.front()->low);
  const size_t last = root->keys.find(old_ones.back()->low);
  std::vector<Container*> merged;
  for (size_t l = first; l <= last; ++l) {
    const std::vector<Container*>& containers = root->leaves[l]->containers;
    merged.insert(merged.end(), containers.begin(), containers.end());
  }
  const auto at = std::find(merged.begin(), merged.end(), old_ones.front());
  HAWTHORN_ASSERT(at != merged.end() && std::equal(old_ones.begin(), old_ones.end(), at));
  const auto position = merged.erase(at, at + static_cast<ptrdiff_t>(old_ones.size()));
  merged.insert(position, new_ones.begin(), new_ones.end());

  // Before its first container goes to another leaf (node_sums.h, 3).
  for (size_t l = first; l <= last; ++l) {
    root->leaves[l]->sums.dirty.fetch_add(1, std::memory_order_relaxed);
  }
  for (Container* container : old_ones) container->sums = nullptr;
  std::vector<Leaf*> leaves(root->leaves.begin(),
                            root->leaves.begin() + static_cast<ptrdiff_t>(first));
  const size_t pieces = (merged.size() + kLeafMax - 1) / kLeafMax;
  for (size_t piece = 0; piece < pieces; ++piece) {
    const size_t from = merged.size() * piece / pieces;
    const size_t to = merged.size() * (piece + 1) / pieces;
    leaves.push_back(make_leaf(std::span(merged).subspan(from, to - from)));
  }
  leaves.insert(leaves.end(), root->leaves.begin() + static_cast<ptrdiff_t>(last) + 1,
                root->leaves.end());
  root_.store(make_root(std::move(leaves)), std::memory_order_release);
  size_.store(size_.load(std::memory_order_relaxed) + new_ones.size() - old_ones.size(),
              std::memory_order_relaxed);

  for (size_t l = first; l <= last; ++l) os::epoch::retire(root->leaves[l]);
  os::epoch::retire(root);
  for (Container* container : old_ones) os::epoch::retire(container);
}

std::vector<Container*> Directory::all() const {
  std::vector<Container*> result;
  const Root* root = root_.load(std::memory_order_acquire);
  for (const Leaf* leaf : root->leaves) {
    result.insert(result.end(), leaf->containers.begin(), leaf->containers.end());
  }
  return result;
}

}  // namespace hawthorn::tree
