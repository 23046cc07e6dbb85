#include "tree/undo_list.h"

#include <new>
#include <type_traits>

namespace hawthorn::tree {

static_assert(std::is_trivially_destructible_v<Undo>);

bool UndoList::grow(bool beyond_budget) {
  if (!full()) return true;
  if (chunks_.size() == chunks_.capacity()) chunks_.reserve(2 * chunks_.size() + 4);
  void* memory = arena_ == nullptr
                     ? ::operator new(kChunkBytes)
                     : arena_->allocate(os::Quota::kOther, kChunkBytes, beyond_budget);
  if (memory == nullptr && beyond_budget) throw std::bad_alloc();  // no address space is left
  if (memory == nullptr) return false;
  auto* entries = static_cast<Undo*>(memory);
  for (size_t i = 0; i < kChunk; ++i) new (entries + i) Undo;
  chunks_.push_back(entries);
  return true;
}

void UndoList::resize(size_t size) {
  size_ = size;
  const size_t needed = size <= kFirst ? 0 : (size - kFirst + kChunk - 1) / kChunk;
  while (chunks_.size() > needed) {
    if (arena_ == nullptr) {
      ::operator delete(chunks_.back());
    } else {
      arena_->release(os::Quota::kOther, reinterpret_cast<char*>(chunks_.back()), kChunkBytes);
    }
    chunks_.pop_back();
  }
  if (chunks_.empty()) chunks_ = std::vector<Undo*>();
}

}  // namespace hawthorn::tree
