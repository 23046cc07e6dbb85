#pragma once
// The writes of one unfinished batch, for engines whose write batches cannot be read: an open hash
// table over keys and values in one buffer. Clearing costs what was used.
//
// Used by the adapters of RocksDB and LevelDB, which hand its entries to the engine at commit, each
// key once however often it was written. Threads: one object in one thread.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bench/stamp.h"

namespace hawthorn::bench {

class Overlay {
 public:
  struct Entry {
    uint64_t hash;
    size_t key_at;
    size_t value_at;
    uint32_t key_bytes;
    uint32_t value_bytes;
    bool deleted;
  };

  Overlay() : slots_(kSlotsMin, 0) {}

  void put(std::string_view key, std::string_view value) { write(key, value, false); }
  void del(std::string_view key) { write(key, {}, true); }

  // Null when the batch did not write the key. Lifetime: until the next write.
  const Entry* find(std::string_view key) const {
    if (entries_.empty()) return nullptr;
    const uint64_t hash = hash_of(key);
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      if (slots_[at] == 0) return nullptr;
      const Entry& entry = entries_[slots_[at] - 1];
      if (entry.hash == hash && key_of(entry) == key) return &entry;
    }
  }

  std::string_view key_of(const Entry& entry) const {
    return {bytes_.data() + entry.key_at, entry.key_bytes};
  }
  std::string_view value_of(const Entry& entry) const {
    return {bytes_.data() + entry.value_at, entry.value_bytes};
  }
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  void clear() {
    if (entries_.size() * 8 < slots_.size()) {
      for (const Entry& entry : entries_) {
        // A linear probe from each hash finds every slot that this batch filled.
        for (size_t at = entry.hash & mask(); slots_[at] != 0; at = (at + 1) & mask())
          slots_[at] = 0;
      }
    } else {
      slots_.assign(slots_.size(), 0);
    }
    entries_.clear();
    bytes_.clear();
  }

 private:
  static constexpr size_t kSlotsMin = 1024;

  size_t mask() const { return slots_.size() - 1; }

  static uint64_t hash_of(std::string_view key) {
    uint64_t hash = key.size();
    size_t at = 0;
    for (; at + 8 <= key.size(); at += 8) hash = mix64(hash ^ load64(key.data() + at));
    uint64_t rest = 0;
    if (at < key.size()) std::memcpy(&rest, key.data() + at, key.size() - at);
    return mix64(hash ^ rest);
  }

  void write(std::string_view key, std::string_view value, bool deleted) {
    const uint64_t hash = hash_of(key);
    size_t at = hash & mask();
    for (; slots_[at] != 0; at = (at + 1) & mask()) {
      Entry& entry = entries_[slots_[at] - 1];
      if (entry.hash != hash || key_of(entry) != key) continue;
      if (value.size() > entry.value_bytes) {
        entry.value_at = bytes_.size();
        bytes_.append(value);
      } else if (!value.empty()) {
        std::memcpy(bytes_.data() + entry.value_at, value.data(), value.size());
      }
      entry.value_bytes = static_cast<uint32_t>(value.size());
      entry.deleted = deleted;
      return;
    }
    const size_t key_at = bytes_.size();
    bytes_.append(key).append(value);
    entries_.push_back({hash, key_at, key_at + key.size(), static_cast<uint32_t>(key.size()),
                        static_cast<uint32_t>(value.size()), deleted});
    slots_[at] = static_cast<uint32_t>(entries_.size());
    if (entries_.size() * 2 > slots_.size()) grow();
  }

  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (size_t i = 0; i < entries_.size(); ++i) {
      size_t at = entries_[i].hash & mask();
      while (slots_[at] != 0) at = (at + 1) & mask();
      slots_[at] = static_cast<uint32_t>(i + 1);
    }
  }

  std::vector<uint32_t> slots_;  // 1 + index into entries_, 0 for none
  std::vector<Entry> entries_;
  std::string bytes_;
};

}  // namespace hawthorn::bench
