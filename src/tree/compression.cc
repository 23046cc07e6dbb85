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
  State& state = trees_[tree];
  state.codec = codec;
  state.sampling = codec == format::Codec::kZstd && state.dictionary == nullptr;
  if (!state.sampling) drop_samples(state);
}

void Compression::forget_tree(uint32_t tree) {
  os::MutexLock lock(mutex_);
  const auto at = trees_.find(tree);
  if (at == trees_.end()) return;
  drop_samples(at->second);
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

void Compression::drop_samples(State& state) {
  if (state.samples.empty()) return;
  std::string().swap(state.samples);  // an assignment would keep the capacity
  arena_->charge(os::Quota::kOther, -static_cast<ptrdiff_t>(kSampleBytes));
}

bool Compression::add_dictionary(uint32_t tree, uint32_t id, std::string_view bytes) {
  std::unique_ptr<format::Dictionary> made = format::Dictionary::make(id, bytes);
  if (made == nullptr) return false;
  os::MutexLock lock(mutex_);
  State& state = trees_[tree];
  state.dictionary = made.get();
  state.sampling = false;
  drop_samples(state);
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
  size_t sampled = 0;
  State* stalest = nullptr;
  for (auto& [tree, state] : trees_) {
    if (state.samples.empty()) continue;
    ++sampled;
    if (stalest == nullptr || state.offered < stalest->offered) stalest = &state;
  }
  if (sampled < kSampledTrees) return true;
  if (offers_ - stalest->offered < kOffersPatience) return false;
  drop_samples(*stalest);
  return true;
}

void Compression::offer_sample(uint32_t tree, const char* content, size_t bytes) {
  os::MutexLock lock(mutex_);
  const auto at = trees_.find(tree);
  if (at == trees_.end() || !at->second.sampling) return;
  State& state = at->second;
  ++offers_;
  if (state.samples.empty()) {
    if (!find_place()) return;
    state.samples.reserve(kSampleBytes);
    arena_->charge(os::Quota::kOther, static_cast<ptrdiff_t>(kSampleBytes));
  }
  state.offered = offers_;
  state.samples.append(content, std::min(bytes, kSampleBytes - state.samples.size()));
}

bool Compression::take_samples(Samples* samples) {
  os::MutexLock lock(mutex_);
  for (auto& [tree, state] : trees_) {
    if (!state.sampling || state.samples.size() < kSampleBytes) continue;
    state.sampling = false;
    *samples = {tree, next_dictionary_++, state.samples};
    drop_samples(state);
    return true;
  }
  return false;
}

}  // namespace hawthorn::tree
