#pragma once
// The unflushed part of a container: an ordered in-memory map from keys to chains of versions.
//
// A B+ tree whose nodes carry a version counter each: one writer at a time (under the container
// latch), any number of readers that validate what they read and start again when a node changed
// under them. All memory comes from the delta's own chunks of the arena and is given back as a
// whole when the delta is destroyed, so readers never touch freed memory.
//
// Not here: transactions, timestamps, flushing. Used by tree/container and tree/merge.
// Threads: writers hold the container latch; readers hold an epoch guard, or a pin on the delta.
//
// 1. Entries are never removed; an entry without versions reads as absent.
// 2. Heads are the 8 key bytes after `skip`; all keys of a delta share their first `skip` bytes.
// 3. Memory of a version unlinked by prune is used again only when no reader can hold it: its epoch
// has passed and the
//    delta carries no pins.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>

#include "os/arena.h"
#include "tree/version.h"

namespace hawthorn::tree {

class Delta {
 public:
  Delta(os::Arena* arena, uint32_t skip);
  ~Delta();
  Delta(const Delta&) = delete;
  Delta& operator=(const Delta&) = delete;

  // ---- One writer, under the container latch.

  // The entry of a key, made when missing. nullptr: the arena has no memory left (nothing changed).
  DeltaEntry* find_or_add(std::string_view key, uint64_t head);
  // A version with room for `size` bytes, not linked yet; nullptr: no memory.
  Version* new_version(uint32_t size);
  // Links it as the newest in its chain.
  void link(DeltaEntry* entry, Version* version);
  // Takes a version out of its chain; its memory is used again later. False when it is not in the
  // chain.
  bool unlink(DeltaEntry* entry, Version* version);
  // Gives back a version that was never linked.
  void discard(Version* version);

  // ---- Any thread, inside an epoch guard.

  DeltaEntry* find(std::string_view key, uint64_t head) const;
  // A filter in front of find: false means surely absent. REQUIRES !empty().
  bool may_contain(uint64_t head) const {
    const uint64_t hash = filter_hash(head);
    const uint64_t word = filter_[hash & (kFilterWords - 1)].load(std::memory_order_relaxed);
    const uint64_t bits = filter_bits(hash);
    return (word & bits) == bits;
  }
  void prefetch_filter(uint64_t head) const {
    __builtin_prefetch(&filter_[filter_hash(head) & (kFilterWords - 1)]);
  }
  void prefetch_root() const { __builtin_prefetch(root_.load(std::memory_order_relaxed)); }

  // Copies up to out.size() entries in key order into `out`; returns how many. ge/gt: the first
  // entries with a key
  // >= key / > key; le/lt: the last ones with a key <= key / < key, in descending order.
  enum class Seek : uint8_t { kGreaterEqual, kGreater, kLessEqual, kLess };
  size_t collect(Seek seek, std::string_view key, uint64_t head, std::span<DeltaEntry*> out) const;
  size_t collect_first(std::span<DeltaEntry*> out) const;
  size_t collect_last(std::span<DeltaEntry*> out) const;

  // Acquire: may_contain relies on what the first insert made.
  bool empty() const { return entries_.load(std::memory_order_acquire) == 0; }
  uint32_t entries() const { return entries_.load(std::memory_order_relaxed); }
  uint64_t versions() const { return versions_.load(std::memory_order_relaxed); }
  // Bytes taken from the arena.
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Bytes of keys and values that were added and not unlinked.
  size_t live_bytes() const { return live_bytes_.load(std::memory_order_relaxed); }
  uint32_t skip() const { return skip_; }

  void pin() { pins_.fetch_add(1, std::memory_order_acquire); }
  void unpin() { pins_.fetch_sub(1, std::memory_order_release); }
  uint32_t pins() const { return pins_.load(std::memory_order_acquire); }

  // Containers and descriptors share a delta by counting references; the last one retires it.
  void ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  bool unref() { return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  // Unlike an address, never used again in a process.
  const uint64_t id;

  // The first lsn that may hold a record of this delta; set at the first insert (L(F) of R8). Under
  // the latch.
  Lsn first_lsn = format::kLsnMax;

 private:
  static constexpr uint32_t kLeafEntries = 24;
  static constexpr uint32_t kInnerChildren = 32;
  static constexpr uint32_t kFilterWords = 256;  // 2 KB
  static constexpr uint32_t kLevelsMax = 12;
  static constexpr size_t kReuseBatch = 64;

  struct Node;
  struct Leaf;
  struct Inner;
  struct Chunk;
  struct Retired {
    Version* version;
    uint64_t epoch;
  };

  static uint64_t filter_hash(uint64_t head) {
    uint64_t h = head * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
  }
  static uint64_t filter_bits(uint64_t hash) {
    return (uint64_t{1} << ((hash >> 8) & 63)) | (uint64_t{1} << ((hash >> 14) & 63)) |
           (uint64_t{1} << ((hash >> 20) & 63));
  }

  char* allocate(size_t size);
  char* allocate_slow(size_t size);
  Version* reuse(uint32_t want);
  static int compare(const DeltaEntry* entry, std::string_view key, uint64_t head);
  static uint32_t leaf_lower_bound(const Leaf* leaf, uint32_t count, std::string_view key,
                                   uint64_t head);
  static uint32_t child_index(const Inner* inner, uint32_t count, std::string_view key,
                              uint64_t head, bool strict);
  template <typename T>
  T* new_node();
  bool prepare();
  bool insert(DeltaEntry* entry);
  bool insert_child(Inner** path, uint32_t levels, DeltaEntry* separator, Node* child);
  static bool read_begin(const Node* node, uint32_t* version);
  static bool read_valid(const Node* node, uint32_t version);
  const Leaf* descend(std::string_view key, uint64_t head, bool strict, uint32_t* version,
                      const DeltaEntry** next_separator) const;
  // One attempt; false when a node changed while it was read.
  bool try_collect(Seek seek, std::string_view key, uint64_t head, std::span<DeltaEntry*> out,
                   size_t* count, const DeltaEntry** next_separator) const;

  os::Arena* const arena_;
  const uint32_t skip_;
  std::atomic<Node*> root_{nullptr};
  std::atomic<uint32_t> entries_{0};
  std::atomic<uint32_t> pins_{0};
  std::atomic<uint32_t> refs_{1};
  std::atomic<uint64_t> versions_{0};
  std::atomic<size_t> bytes_{0};
  std::atomic<size_t> live_bytes_{0};
  std::atomic<uint64_t>* filter_ = nullptr;
  Chunk* chunks_ = nullptr;
  char* free_ = nullptr;
  char* free_end_ = nullptr;
  std::unique_ptr<std::deque<Retired>> retired_;  // made at the first unlink
  uint64_t passed_epoch_ = 0;                     // nobody sees what was retired up to it
  size_t ask_at_ = kReuseBatch;                   // versions to gather before asking again
};

}  // namespace hawthorn::tree
