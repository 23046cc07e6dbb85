// What a delta holds, read in key order, beside whoever settles new entries into its tree.

#include <algorithm>
#include <vector>

#include "os/sync.h"
#include "os/test_point.h"
#include "tree/delta_nodes.h"

namespace hawthorn::tree {

bool Delta::read_begin(const Node* node, uint32_t* version) {
  *version = node->version.load(std::memory_order_acquire);
  return (*version & 1) == 0;
}

bool Delta::read_valid(const Node* node, uint32_t version) {
  std::atomic_thread_fence(std::memory_order_acquire);
  return node->version.load(std::memory_order_relaxed) == version;
}

// The leaf that a key belongs to, with the node version under which it was reached; nullptr: try
// again. next_separator: the entry that the leaf behind it begins with, or null for the last leaf.
const Delta::Leaf* Delta::descend(std::string_view key, uint64_t head, bool strict,
                                  uint32_t* version, const DeltaEntry** next_separator) const {
  const Node* node = root_.load(std::memory_order_acquire);
  if (!read_begin(node, version)) return nullptr;
  if (node != root_.load(std::memory_order_acquire)) return nullptr;
  if (next_separator != nullptr) *next_separator = nullptr;
  while (!node->leaf) {
    const auto* inner = static_cast<const Inner*>(node);
    const uint32_t count =
        std::min<uint32_t>(inner->count.load(std::memory_order_relaxed), kInnerChildren);
    const uint32_t index = child_index(inner, count, key, head, strict);
    const Node* child = inner->children[index].load(std::memory_order_acquire);
    const DeltaEntry* next =
        index + 1 < count ? inner->separators[index + 1].load(std::memory_order_acquire) : nullptr;
    if (!read_valid(node, *version)) return nullptr;
    uint32_t child_version;
    if (!read_begin(child, &child_version)) return nullptr;
    if (!read_valid(node, *version)) return nullptr;
    if (next_separator != nullptr && next != nullptr) *next_separator = next;
    node = child;
    *version = child_version;
  }
  return static_cast<const Leaf*>(node);
}

bool Delta::try_collect(Seek seek, std::string_view key, uint64_t head, std::span<DeltaEntry*> out,
                        size_t* found, const DeltaEntry** next_separator) const {
  uint32_t version;
  const Leaf* leaf = descend(key, head, seek == Seek::kLess, &version, next_separator);
  if (leaf == nullptr) return false;
  const uint32_t count =
      std::min<uint32_t>(leaf->count.load(std::memory_order_relaxed), kLeafEntries);
  uint32_t at = leaf_lower_bound(leaf, count, key, head);
  bool equal = false;
  if (at < count) {
    const DeltaEntry* entry = leaf->entries[at].load(std::memory_order_acquire);
    equal = entry != nullptr && compare(entry, key, head) == 0;
  }
  size_t taken = 0;
  if (seek == Seek::kGreaterEqual || seek == Seek::kGreater) {
    if (equal && seek == Seek::kGreater) ++at;
    for (; at < count && taken < out.size(); ++at)
      out[taken++] = leaf->entries[at].load(std::memory_order_acquire);
  } else {
    uint32_t end = equal && seek == Seek::kLessEqual ? at + 1 : at;
    for (; end > 0 && taken < out.size(); --end) {
      out[taken++] = leaf->entries[end - 1].load(std::memory_order_acquire);
    }
  }
  if (!read_valid(leaf, version)) return false;
  *found = taken;
  return true;
}

size_t Delta::collect(Seek seek, std::string_view key, uint64_t head,
                      std::span<DeltaEntry*> out) const {
  settle();
  if (root_.load(std::memory_order_acquire) == nullptr || out.empty()) return 0;
  const bool forward = seek == Seek::kGreaterEqual || seek == Seek::kGreater;
  for (os::SpinWait wait;;) {
    size_t found = 0;
    const DeltaEntry* next = nullptr;
    if (!try_collect(seek, key, head, out, &found, &next)) {
      wait.once();
      continue;
    }
    if (found > 0 || !forward || next == nullptr) return found;
    // The leaf ends before the key; the next one starts at its separator, which is an entry.
    seek = Seek::kGreaterEqual;
    key = next->key();
    head = next->head;
  }
}

size_t Delta::sample(std::span<DeltaEntry*> out) const {
  settle();
  auto* self = const_cast<Delta*>(this);
  os::MutexLock lock(self->settle_mutex_);  // so that no node changes
  struct Part {
    DeltaEntry* first;  // null: everything before the next one
    const Node* node;
  };
  std::vector<Part> parts;
  if (const Node* root = root_.load(std::memory_order_acquire); root != nullptr) {
    parts.push_back({nullptr, root});
  }
  // Level by level, until there are enough to choose from.
  while (!parts.empty() && !parts.front().node->leaf && parts.size() < 4 * out.size()) {
    std::vector<Part> below;
    for (const Part& part : parts) {
      const auto* inner = static_cast<const Inner*>(part.node);
      const uint32_t count = inner->count.load(std::memory_order_relaxed);
      for (uint32_t i = 0; i < count; ++i) {
        below.push_back({i == 0 ? part.first : inner->separators[i].load(std::memory_order_relaxed),
                         inner->children[i].load(std::memory_order_relaxed)});
      }
    }
    parts = std::move(below);
  }
  if (parts.size() < 2) return 0;
  const size_t taken = std::min(out.size(), parts.size() - 1);
  for (size_t i = 0; i < taken; ++i) out[i] = parts[(i + 1) * parts.size() / (taken + 1)].first;
  return taken;
}

size_t Delta::collect_first(std::span<DeltaEntry*> out) const {
  return collect(Seek::kGreaterEqual, std::string_view(), 0, out);
}

size_t Delta::collect_last(std::span<DeltaEntry*> out) const {
  // The last child of every level: heads are at most ~0, and a key of the greatest head may still
  // be followed by longer ones, so the walk goes by position.
  settle();
  if (root_.load(std::memory_order_acquire) == nullptr || out.empty()) return 0;
  for (os::SpinWait wait;; wait.once()) {
    const Node* node = root_.load(std::memory_order_acquire);
    HAWTHORN_TEST_POINT("delta.collect_last.after_root");
    uint32_t version;
    bool torn = !read_begin(node, &version) || node != root_.load(std::memory_order_acquire);
    while (!torn && !node->leaf) {
      const auto* inner = static_cast<const Inner*>(node);
      const uint32_t count =
          std::clamp<uint32_t>(inner->count.load(std::memory_order_relaxed), 1, kInnerChildren);
      const Node* child = inner->children[count - 1].load(std::memory_order_acquire);
      uint32_t child_version = 0;
      torn = !read_valid(node, version) || !read_begin(child, &child_version) ||
             !read_valid(node, version);
      node = child;
      version = child_version;
    }
    if (torn) continue;
    const auto* leaf = static_cast<const Leaf*>(node);
    const uint32_t count =
        std::min<uint32_t>(leaf->count.load(std::memory_order_relaxed), kLeafEntries);
    size_t taken = 0;
    for (uint32_t end = count; end > 0 && taken < out.size(); --end) {
      out[taken++] = leaf->entries[end - 1].load(std::memory_order_acquire);
    }
    if (read_valid(leaf, version)) return taken;
  }
}

}  // namespace hawthorn::tree
