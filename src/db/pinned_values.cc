#include "db/pinned_values.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace hawthorn::db {

namespace {
constexpr size_t kQuotaPart = 8;  // of the budget
constexpr size_t kBlockBytesMin = size_t{16} << 10;
constexpr size_t kPinnedBlockBytesMax = size_t{1} << 20;
constexpr size_t kFileBytesMin = size_t{1} << 20;
constexpr size_t kFileBytesMax = size_t{64} << 20;
}  // namespace

Result<std::string_view> PinnedValues::add(std::string_view bytes) {
  if (bytes.empty()) return std::string_view();
  if (bytes.size() > left_) {
    if (Status s = add_block(bytes.size()); !s.ok()) return s;
  }
  std::memcpy(at_, bytes.data(), bytes.size());
  const std::string_view copy(at_, bytes.size());
  at_ += bytes.size();
  left_ -= bytes.size();
  return copy;
}

// Blocks grow with what there is, so that a transaction that pins little takes little.
Status PinnedValues::add_block(size_t bytes) {
  size_t size = std::clamp(kBlockBytesMin << std::min<size_t>(blocks_.size(), 6), kBlockBytesMin,
                           kPinnedBlockBytesMax);
  size = align_up(std::max(size, bytes), 4096);
  Block block{nullptr, size, nullptr};
  if (mapped_bytes_ == 0 &&
      arena_->used(os::Quota::kPins) + size <= arena_->budget() / kQuotaPart) {
    block.memory = residency_->allocate(os::Quota::kPins, size);
  }
  if (block.memory == nullptr && residency_->machine().keys != nullptr) {
    return {StatusCode::kOutOfMemory,
            "all pinned values take an eighth of the budget, and in an encrypted database no more: "
            "a file would hold them as they are"};
  }
  if (block.memory == nullptr) {
    block.bytes =
        align_up(std::max(std::clamp(mapped_bytes_, kFileBytesMin, kFileBytesMax), bytes), 4096);
    Result<std::unique_ptr<os::TemporaryMapping>> file =
        os::TemporaryMapping::create(files_.held_descriptor(), block.bytes);
    if (!file.ok()) return file.status();
    if (!blocks_.empty() && blocks_.back().file != nullptr) blocks_.back().file->let_go();
    block.file = std::move(*file);
    block.memory = block.file->data();
    mapped_bytes_ += block.bytes;
  }
  at_ = block.memory;
  left_ = block.bytes;
  blocks_.push_back(std::move(block));
  return {};
}

void PinnedValues::clear() {
  for (const Block& block : blocks_) {
    if (block.file == nullptr) residency_->release(os::Quota::kPins, block.memory, block.bytes);
  }
  blocks_.clear();
  known_.clear();
  at_ = nullptr;
  left_ = 0;
  mapped_bytes_ = 0;
}

const std::string& PinnedValues::name_of(uint32_t tree, std::string_view key) {
  name_.assign(reinterpret_cast<const char*>(&tree), sizeof(tree));
  return name_.append(key);
}

const std::string_view* PinnedValues::find(uint32_t tree, std::string_view key) {
  if (known_.empty() || key.size() > kKnownKeyMax) return nullptr;
  const auto at = known_.find(name_of(tree, key));
  return at == known_.end() ? nullptr : &at->second;
}

void PinnedValues::remember(uint32_t tree, std::string_view key, std::string_view value) {
  if (key.size() > kKnownKeyMax) return;
  if (known_.size() >= kKnownMax) known_.clear();
  known_.insert_or_assign(name_of(tree, key), value);
}

}  // namespace hawthorn::db
