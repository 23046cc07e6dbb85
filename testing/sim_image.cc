#include "testing/sim_image.h"

#include <algorithm>
#include <cstring>

namespace hawthorn::testing {

uint64_t SimImage::holes(uint64_t offset, uint64_t size) const {
  if (size == 0) return 0;
  const uint64_t first = offset / kSimBlockBytes;
  const uint64_t last = (offset + size - 1) / kSimBlockBytes;
  uint64_t present = 0;
  for (auto it = blocks_.lower_bound(first); it != blocks_.end() && it->first <= last; ++it) {
    ++present;
  }
  return last - first + 1 - present;
}

void SimImage::read(uint64_t offset, std::span<char> to) const {
  while (!to.empty()) {
    const uint64_t within = offset % kSimBlockBytes;
    const size_t here = std::min<size_t>(to.size(), kSimBlockBytes - within);
    const auto found = blocks_.find(offset / kSimBlockBytes);
    if (found == blocks_.end()) {
      std::memset(to.data(), 0, here);
    } else {
      std::memcpy(to.data(), found->second->data() + within, here);
    }
    offset += here;
    to = to.subspan(here);
  }
}

void SimImage::write(uint64_t offset, std::span<const char> data) {
  while (!data.empty()) {
    const uint64_t within = offset % kSimBlockBytes;
    const size_t here = std::min<size_t>(data.size(), kSimBlockBytes - within);
    std::memcpy(writable(offset / kSimBlockBytes).data() + within, data.data(), here);
    offset += here;
    data = data.subspan(here);
  }
}

void SimImage::apply(const SimChange& change) {
  const uint64_t end = change.offset + change.size;
  switch (change.kind) {
    case SimChange::Kind::kWrite:
    case SimChange::Kind::kPage:
      write(change.offset, change.data);
      break;
    case SimChange::Kind::kSize:
      size_ = change.offset;
      cut();
      break;
    case SimChange::Kind::kAllocate:
      for (uint64_t block = change.offset / kSimBlockBytes; block * kSimBlockBytes < end; ++block) {
        writable(block);
      }
      break;
    case SimChange::Kind::kPunch: {
      // Whole blocks become holes, the edges are zeroed.
      const uint64_t first = (change.offset + kSimBlockBytes - 1) / kSimBlockBytes;
      const uint64_t last = end / kSimBlockBytes;
      if (first < last) {
        blocks_.erase(blocks_.lower_bound(first), blocks_.lower_bound(last));
      }
      const std::string zeros(kSimBlockBytes, '\0');
      const uint64_t head_end = std::min(end, first * kSimBlockBytes);
      if (change.offset < head_end && blocks_.contains(change.offset / kSimBlockBytes)) {
        write(change.offset, {zeros.data(), static_cast<size_t>(head_end - change.offset)});
      }
      const uint64_t tail = std::max(last * kSimBlockBytes, head_end);
      if (tail < end && blocks_.contains(tail / kSimBlockBytes)) {
        write(tail, {zeros.data(), static_cast<size_t>(end - tail)});
      }
      break;
    }
  }
}

void SimImage::apply_torn(const SimChange& change, Prng& prng) {
  if (change.kind != SimChange::Kind::kWrite && change.kind != SimChange::Kind::kPage) {
    apply(change);
    return;
  }
  const std::span<const char> data = change.data;
  for (size_t at = 0; at < data.size();) {
    const uint64_t offset = change.offset + at;
    const size_t here =
        std::min<size_t>(data.size() - at, kSimSectorBytes - offset % kSimSectorBytes);
    if (prng.one_in(2)) write(offset, data.subspan(at, here));
    at += here;
  }
}

void SimImage::cut() {
  const uint64_t within = size_ % kSimBlockBytes;
  const uint64_t first = size_ / kSimBlockBytes + (within != 0 ? 1 : 0);
  blocks_.erase(blocks_.lower_bound(first), blocks_.end());
  if (within == 0) return;
  const auto last = blocks_.find(size_ / kSimBlockBytes);
  if (last != blocks_.end()) {
    std::memset(writable(last->first).data() + within, 0, kSimBlockBytes - within);
  }
}

void SimImage::flip_bit(uint64_t offset, unsigned bit) {
  char byte = 0;
  read(offset, {&byte, 1});
  byte = static_cast<char>(byte ^ (1 << bit));
  write(offset, {&byte, 1});
}

SimImage::Block& SimImage::writable(uint64_t block) {
  std::shared_ptr<Block>& place = blocks_[block];
  if (place == nullptr) {
    place = std::make_shared<Block>();
  } else if (place.use_count() > 1) {
    place = std::make_shared<Block>(*place);
  }
  return *place;
}

}  // namespace hawthorn::testing
