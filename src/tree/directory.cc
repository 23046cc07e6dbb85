#include "tree/directory.h"

#include <algorithm>
#include <memory>
#include <new>

#include "base/assert.h"
#include "base/bytes.h"
#include "os/epoch.h"

namespace hawthorn::tree {

namespace {
std::string_view low_of(const Container* container) { return container->low; }
template <typename Leaf>
std::string_view low_of(const Leaf* leaf) {
  return leaf->children().front()->low;
}
}  // namespace

template <typename Child, typename Sums>
Directory::Node<Child, Sums>* Directory::Node<Child, Sums>::make(std::span<Child* const> children) {
  const size_t count = children.size();
  const size_t node_bytes = sizeof(Node) + count * sizeof(Child*);
  if (count == 1) {
    Node* const node = new (::operator new(node_bytes)) Node;
    node->count = 1;
    new (node + 1) Child*(children.front());
    return node;
  }
  char* const memory = static_cast<char*>(::operator new(
      sizeof(Search) + node_bytes + count * (sizeof(uint64_t) + sizeof(std::string_view))));
  auto* const search = new (memory) Search;
  Node* const node = new (search + 1) Node;
  node->count = static_cast<uint32_t>(count);
  std::uninitialized_copy(children.begin(), children.end(), reinterpret_cast<Child**>(node + 1));
  search->heads = reinterpret_cast<uint64_t*>(memory + sizeof(Search) + node_bytes);
  search->lows = reinterpret_cast<std::string_view*>(search->heads + count);
  for (size_t i = 0; i < count; ++i) new (&search->lows[i]) std::string_view(low_of(children[i]));
  node->skip = static_cast<uint32_t>(common_prefix(search->lows[1], search->lows[count - 1]));
  search->prefix = search->lows[1].substr(0, node->skip);
  for (size_t i = 0; i < count; ++i) {
    new (&search->heads[i]) uint64_t(i == 0 ? 0 : key_head(search->lows[i], node->skip));
  }
  return node;
}

template <typename Child, typename Sums>
void Directory::Node<Child, Sums>::operator delete(Node* node, std::destroying_delete_t) {
  const size_t before = node->count == 1 ? 0 : sizeof(Search);
  node->~Node();
  ::operator delete(reinterpret_cast<char*>(node) - before);
}

template <typename Child, typename Sums>
size_t Directory::Node<Child, Sums>::find(std::string_view key) const {
  if (count == 1) return 0;
  const auto& [prefix, heads, lows] = search();
  if (skip > 0 && key.substr(0, skip) != prefix) return key < prefix ? 0 : count - 1;
  const uint64_t head = key_head(key, skip);
  // The last one of [1, count) that is <= head, without branches: each would be a guess.
  const uint64_t* from = heads + 1;
  for (size_t size = count - 1; size > 1;) {
    const size_t half = size / 2;
    from += half * static_cast<size_t>(from[half - 1] <= head);
    size -= half;
  }
  size_t at = static_cast<size_t>(from - heads) - static_cast<size_t>(*from > head);
  while (at > 0 && heads[at] == head && lows[at] > key) --at;
  return at;
}

// Who holds several latches (a cut of neighbours to be joined) waits for none of those whose
// replacement comes through here, as they are being flushed; so latches taken one by one beside
// theirs lead to no circle.
Directory::Leaf* Directory::make_leaf(std::span<Container* const> containers) {
  constexpr size_t kAhead = 8;
  Leaf* const leaf = Leaf::make(containers);
  for (size_t i = 0; i < containers.size(); ++i) {
    if (i + kAhead < containers.size()) __builtin_prefetch(&containers[i + kAhead]->latch, 1);
    os::MutexLock lock(containers[i]->latch);
    containers[i]->count_in(&leaf->sums);
  }
  return leaf;
}

Directory::Directory(std::vector<Container*> containers) {
  std::vector<Leaf*> leaves;
  for (size_t i = 0; i < containers.size(); i += kLeafMax / 2) {
    const size_t count = std::min(kLeafMax / 2, containers.size() - i);
    leaves.push_back(make_leaf(std::span(containers).subspan(i, count)));
  }
  size_.store(containers.size(), std::memory_order_relaxed);
  root_.store(Root::make(leaves), std::memory_order_release);
}

Directory::~Directory() {
  Root* root = root_.load(std::memory_order_relaxed);
  for (Leaf* leaf : root->children()) {
    for (Container* container : leaf->children()) delete container;
    delete leaf;
  }
  delete root;
}

Container* Directory::find(std::string_view key) const {
  const Root* root = root_.load(std::memory_order_acquire);
  const Leaf* leaf = root->children()[root->find(key)];
  return leaf->children()[leaf->find(key)];
}

Container* Directory::before(std::string_view low) const {
  const Root* root = root_.load(std::memory_order_acquire);
  size_t l = root->find(low);
  const size_t at = root->children()[l]->find(low);
  // `low` may have stopped being a boundary: then its container is the one that reaches below it.
  if (root->children()[l]->children()[at]->low < low) return root->children()[l]->children()[at];
  if (at > 0) return root->children()[l]->children()[at - 1];
  return l > 0 ? root->children()[l - 1]->children().back() : nullptr;
}

Container* Directory::last() const {
  return root_.load(std::memory_order_acquire)->children().back()->children().back();
}

void Directory::replace(std::span<Container* const> old_ones,
                        std::span<Container* const> new_ones) {
  Root* root = root_.load(std::memory_order_relaxed);
  const size_t first = root->find(old_ones.front()->low);
  const size_t last = root->find(old_ones.back()->low);
  std::vector<Container*> merged;
  for (size_t l = first; l <= last; ++l) {
    const std::span<Container* const> containers = root->children()[l]->children();
    merged.insert(merged.end(), containers.begin(), containers.end());
  }
  const auto at = std::find(merged.begin(), merged.end(), old_ones.front());
  HAWTHORN_ASSERT(at != merged.end() && std::equal(old_ones.begin(), old_ones.end(), at));
  const auto position = merged.erase(at, at + static_cast<ptrdiff_t>(old_ones.size()));
  merged.insert(position, new_ones.begin(), new_ones.end());

  // Before its first container goes to another leaf (node_sums.h, 3).
  for (size_t l = first; l <= last; ++l) {
    root->children()[l]->sums.dirty.fetch_add(1, std::memory_order_relaxed);
  }
  for (Container* container : old_ones) container->sums = nullptr;
  std::vector<Leaf*> leaves(root->children().begin(),
                            root->children().begin() + static_cast<ptrdiff_t>(first));
  const size_t pieces = (merged.size() + kLeafMax - 1) / kLeafMax;
  for (size_t piece = 0; piece < pieces; ++piece) {
    const size_t from = merged.size() * piece / pieces;
    const size_t to = merged.size() * (piece + 1) / pieces;
    leaves.push_back(make_leaf(std::span(merged).subspan(from, to - from)));
  }
  leaves.insert(leaves.end(), root->children().begin() + static_cast<ptrdiff_t>(last) + 1,
                root->children().end());
  root_.store(Root::make(leaves), std::memory_order_release);
  size_.store(size_.load(std::memory_order_relaxed) + new_ones.size() - old_ones.size(),
              std::memory_order_relaxed);

  for (size_t l = first; l <= last; ++l) os::epoch::retire(root->children()[l]);
  os::epoch::retire(root);
  for (Container* container : old_ones) os::epoch::retire(container);
}

std::vector<Container*> Directory::all() const {
  std::vector<Container*> result;
  const Root* root = root_.load(std::memory_order_acquire);
  for (const Leaf* leaf : root->children()) {
    result.insert(result.end(), leaf->children().begin(), leaf->children().end());
  }
  return result;
}

}  // namespace hawthorn::tree
