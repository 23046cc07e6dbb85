#include "space/free_map.h"

#include <algorithm>
#include <iterator>

namespace hawthorn::space {
namespace {

uint64_t end_of(const ExtentAddress& range) { return uint64_t{range.block} + range.blocks; }

}  // namespace

void FreeMap::insert(uint64_t position, uint32_t blocks) {
  by_position_.emplace(position, blocks);
  by_size_.emplace(blocks, position);
  blocks_ += blocks;
}

void FreeMap::erase(std::map<uint64_t, uint32_t>::iterator at) {
  blocks_ -= at->second;
  by_size_.erase({at->second, at->first});
  by_position_.erase(at);
}

bool FreeMap::overlaps(const ExtentAddress& range) const {
  auto next = by_position_.upper_bound(position_of(range.file, range.block));
  if (next != by_position_.end()) {
    const ExtentAddress after = range_of(next->first, next->second);
    if (after.file == range.file && after.block < end_of(range)) return true;
  }
  if (next == by_position_.begin()) return false;
  const auto at = std::prev(next);
  const ExtentAddress before = range_of(at->first, at->second);
  return before.file == range.file && end_of(before) > range.block;
}

bool FreeMap::add(const ExtentAddress& range) {
  if (range.blocks == 0) return true;
  if (overlaps(range)) return false;
  uint64_t position = position_of(range.file, range.block);
  uint32_t blocks = range.blocks;
  const auto next = by_position_.lower_bound(position);
  if (next != by_position_.begin()) {
    const auto before = std::prev(next);
    const ExtentAddress left = range_of(before->first, before->second);
    if (left.file == range.file && end_of(left) == range.block) {
      position = before->first;
      blocks += left.blocks;
      erase(before);
    }
  }
  if (next != by_position_.end()) {
    const ExtentAddress right = range_of(next->first, next->second);
    if (right.file == range.file && right.block == end_of(range)) {
      blocks += right.blocks;
      erase(next);
    }
  }
  insert(position, blocks);
  return true;
}

void FreeMap::absorb(const FreeMap& other) {
  for (const auto& [position, blocks] : other.by_position_) add(range_of(position, blocks));
}

std::optional<ExtentAddress> FreeMap::take(uint32_t blocks) {
  const auto best = by_size_.lower_bound({blocks, 0});
  if (blocks == 0 || best == by_size_.end()) return std::nullopt;
  const ExtentAddress range = range_of(best->second, best->first);
  const ExtentAddress taken = {range.file, range.block, blocks};
  erase(by_position_.find(best->second));
  if (range.blocks > blocks) {
    insert(position_of(range.file, range.block + blocks), range.blocks - blocks);
  }
  return taken;
}

uint64_t FreeMap::blocks_in(uint32_t least, uint64_t enough) const {
  uint64_t sum = 0;
  for (auto at = by_size_.rbegin(); at != by_size_.rend() && sum < enough; ++at) {
    if (at->first < least) break;
    sum += at->first;
  }
  return std::min(sum, enough);
}

bool FreeMap::carve(const ExtentAddress& range) {
  if (range.blocks == 0) return true;
  auto at = by_position_.upper_bound(position_of(range.file, range.block));
  if (at == by_position_.begin()) return false;
  --at;
  const ExtentAddress whole = range_of(at->first, at->second);
  if (whole.file != range.file || end_of(whole) < end_of(range)) return false;
  erase(at);
  if (range.block > whole.block) {
    insert(position_of(whole.file, whole.block), range.block - whole.block);
  }
  if (end_of(whole) > end_of(range)) {
    insert(position_of(whole.file, range.block + range.blocks),
           static_cast<uint32_t>(end_of(whole) - end_of(range)));
  }
  return true;
}

std::vector<ExtentAddress> FreeMap::take_file(uint32_t file) {
  std::vector<ExtentAddress> ranges;
  auto at = by_position_.lower_bound(position_of(file, 0));
  while (at != by_position_.end() && at->first >> 32 == file) {
    ranges.push_back(range_of(at->first, at->second));
    erase(at++);
  }
  return ranges;
}

uint32_t FreeMap::largest() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

std::vector<ExtentAddress> FreeMap::at_least(uint32_t blocks) const {
  std::vector<ExtentAddress> ranges;
  for (auto at = by_size_.lower_bound({blocks, 0}); at != by_size_.end(); ++at) {
    ranges.push_back(range_of(at->second, at->first));
  }
  return ranges;
}

void FreeMap::for_each(const std::function<void(const ExtentAddress&)>& fn) const {
  for (const auto& [position, blocks] : by_position_) fn(range_of(position, blocks));
}

}  // namespace hawthorn::space
