#include "tree/layered_dead.h"

#include <algorithm>
#include <utility>

namespace hawthorn::tree {

namespace {
constexpr size_t kNodeBytes = 128;  // of the map, about

size_t bytes_of(const std::string& low, const std::optional<std::string>& high) {
  return kNodeBytes + low.size() + (high ? high->size() : 0);
}
}  // namespace

// The end where there is none.
LayeredDead::At LayeredDead::covering(Tree& tree, std::string_view key) {
  At at = tree.stretches.upper_bound(key);
  if (at == tree.stretches.begin()) return tree.stretches.end();
  --at;
  return !at->second || key < *at->second ? at : tree.stretches.end();
}

LayeredDead::Stretch LayeredDead::take(Tree& tree, At at) {
  tree.bytes -= bytes_of(at->first, at->second);
  auto node = tree.stretches.extract(at);
  return {std::move(node.key()), std::move(node.mapped())};
}

void LayeredDead::put(Tree& tree, Stretch stretch) {
  if (stretch.high && stretch.low >= *stretch.high) return;
  tree.bytes += bytes_of(stretch.low, stretch.high);
  tree.stretches.emplace(std::move(stretch.low), std::move(stretch.high));
}

bool LayeredDead::find(uint32_t tree, const Moment& moment, std::string_view key, Stretch* out) {
  if (!any_.load(std::memory_order_acquire)) return false;
  os::MutexLock lock(mutex_);
  const auto of = trees_.find(tree);
  if (of == trees_.end() || of->second.moment != moment) return false;
  const At at = covering(of->second, key);
  if (at == of->second.stretches.end()) return false;
  *out = {at->first, at->second};
  return true;
}

void LayeredDead::add(uint32_t tree, const Moment& moment, Stretch stretch) {
  os::MutexLock lock(mutex_);
  Tree& of = trees_[tree];
  if (of.moment != moment || of.bytes > kBytesMax) of = Tree();
  of.moment = moment;
  // Together with those that it meets.
  if (const At before = covering(of, stretch.low); before != of.stretches.end()) {
    stretch.low = before->first;
  }
  for (At at = of.stretches.lower_bound(stretch.low);
       at != of.stretches.end() && (!stretch.high || at->first <= *stretch.high);
       at = of.stretches.lower_bound(stretch.low)) {
    const Stretch met = take(of, at);
    if (!met.high || (stretch.high && *stretch.high < *met.high)) stretch.high = met.high;
  }
  put(of, std::move(stretch));
  any_.store(true, std::memory_order_release);
}

void LayeredDead::spilled(uint32_t tree, uint64_t before, uint64_t after) {
  os::MutexLock lock(mutex_);
  const auto of = trees_.find(tree);
  if (of != trees_.end() && of->second.moment.state == before) of->second.moment.state = after;
}

void LayeredDead::revive(uint32_t tree, std::string_view key) {
  if (!any_.load(std::memory_order_acquire)) return;
  os::MutexLock lock(mutex_);
  const auto of = trees_.find(tree);
  if (of == trees_.end()) return;
  const At at = covering(of->second, key);
  if (at == of->second.stretches.end()) return;
  Stretch parted = take(of->second, at);
  put(of->second, {std::string(key) + '\0', std::move(parted.high)});
  put(of->second, {std::move(parted.low), std::string(key)});
}

void LayeredDead::clear() {
  os::MutexLock lock(mutex_);
  trees_.clear();
  any_.store(false, std::memory_order_release);
}

}  // namespace hawthorn::tree
