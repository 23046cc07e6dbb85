#include "tree/compression.h"

#include <algorithm>
#include <utility>

namespace hawthorn::tree {

namespace {
// Of one tree. Of less than thirty times the dictionary's size training makes poor ones; it takes
// about ten times the samples for a moment.
constexpr size_t kSampleBytes = 32 * Compression::kDictionaryBytes;
// So many trees are sampled at once; one that was offered nothing for so long makes way.
constexpr size_t kSampledTrees = 4;
constexpr uint64_t kOffersPatience = 64;
}  // namespace

Compression::Compression(os::Arena* arena) : arena_(arena) {}

void Compression::set_codec(uint32_t tree, format::Codec codec) {
  os::MutexLock lock(mutex_);
  if (codec == format::Codec::kNone && !trees_.contains(tree)) return;
  State& state = trees_[tree];
  state.codec = codec;
  state.sampling = codec == format::Codec::kZstd && state.dictionary == nullptr;
  if (!state.sampling) drop_samples(tree);
}

void Compression::forget_tree(uint32_t tree) {
  os::MutexLock lock(mutex_);
  const auto at = trees_.find(tree);
  if (at == trees_.end()) return;
  drop_samples(tree);
  trees_.erase(at);
  std::erase_if(dictionaries_, [this, tree](const auto& one) {
    if (one.second.tree != tree) return false;
    arena_->charge(os::Quota::kOther,
                   -static_cast<ptrdiff_t>(one.second.dictionary->memory_bytes()));
    return true;
  });
}

Compression::Plan Compression::plan(uint32_t tree) const {
  os::MutexLock lock(mutex_);
  const auto at = trees_.find(tree);
  return at == trees_.end() ? Plan() : Plan{at->second.codec, at->second.dictionary};
}

void Compression::drop_samples(uint32_t tree) {
  if (sampled_.erase(tree) == 0) return;
  arena_->charge(os::Quota::kOther, -static_cast<ptrdiff_t>(kSampleBytes));
}

bool Compression::add_dictionary(uint32_t tree, uint32_t id, std::string_view bytes) {
  std::unique_ptr<format::Dictionary> made = format::Dictionary::make(id, bytes);
  if (made == nullptr) return false;
  os::MutexLock lock(mutex_);
  State& state = trees_[tree];
  state.dictionary = made.get();
  state.sampling = false;
  drop_samples(tree);
  arena_->charge(os::Quota::kOther, static_cast<ptrdiff_t>(made->memory_bytes()));
  next_dictionary_ = std::max(next_dictionary_, id + 1);
  dictionaries_.insert_or_assign(id, Owned{tree, std::move(made)});
  return true;
}

const format::Dictionary* Compression::dictionary(uint32_t id) const {
  if (id == 0) return nullptr;
  os::MutexLock lock(mutex_);
  const auto at = dictionaries_.find(id);
  return at == dictionaries_.end() ? nullptr : at->second.dictionary.get();
}

// Whether another tree may be sampled.
bool Compression::find_place() {
  if (sampled_.size() < kSampledTrees) return true;
  const auto stalest = std::min_element(
      sampled_.begin(), sampled_.end(),
      [](const auto& a, const auto& b) { return a.second.offered < b.second.offered; });
  if (offers_ - stalest->second.offered < kOffersPatience) return false;
  drop_samples(stalest->first);
  return true;
}

void Compression::offer_sample(uint32_t tree, const char* content, size_t bytes) {
  os::MutexLock lock(mutex_);
  const auto at = trees_.find(tree);
  if (at == trees_.end() || !at->second.sampling) return;
  ++offers_;
  if (!sampled_.contains(tree)) {
    if (!find_place()) return;
    sampled_[tree].bytes.reserve(kSampleBytes);
    arena_->charge(os::Quota::kOther, static_cast<ptrdiff_t>(kSampleBytes));
  }
  Sampled& sampled = sampled_[tree];
  sampled.offered = offers_;
  sampled.bytes.append(content, std::min(bytes, kSampleBytes - sampled.bytes.size()));
}

bool Compression::take_samples(Samples* samples) {
  os::MutexLock lock(mutex_);
  for (const auto& [tree, sampled] : sampled_) {
    if (sampled.bytes.size() < kSampleBytes) continue;
    trees_[tree].sampling = false;
    *samples = {tree, next_dictionary_++, sampled.bytes};
    drop_samples(samples->tree);
    return true;
  }
  return false;
}

}  // namespace hawthorn::tree
