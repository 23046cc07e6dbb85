#include "tree/delta.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/made_once.h"
#include "os/arena_block.h"
#include "os/epoch.h"
#include "os/sync.h"
#include "os/test_point.h"
#include "tree/delta_nodes.h"

namespace hawthorn::tree {

// A chunk of arena memory; the header stands at its start.
struct Delta::Chunk {
  Chunk* next;
  size_t size;
};

namespace {
// The next chunk is a part of what a delta has, so that small ones differ by what is in them, and
// the fuller one is flushed first.
constexpr size_t kPageBytes = 4096;
constexpr size_t kChunkPart = 4;
constexpr size_t kChunkBytesMax = 64 << 10;
constexpr size_t kReuseTries = 4;
constexpr size_t kLineBytes = 64;
constexpr size_t kWriteAheadBytes = 256;
constexpr std::array<size_t, 3> kPieces = os::ArenaPieces::kSizes;
constexpr uint64_t kMoveSlots = 16;  // that an insert moves to a table that has grown
}  // namespace

static std::atomic<uint64_t> next_delta_id{1};

Delta::Delta(os::Arena* arena, uint32_t skip, uint32_t expected_entries)
    : id(next_delta_id.fetch_add(1, std::memory_order_relaxed)),
      arena_(arena),
      skip_(skip),
      expected_entries_(expected_entries) {
  if (arena_ != nullptr) arena_->charge(os::Quota::kOther, sizeof(Delta));
}

Delta* Delta::none() {
  Delta& shared = made_once<[] { return Delta(nullptr, 0); }>();
  shared.ref();
  return &shared;
}

Delta::~Delta() {
  if (arena_ != nullptr) arena_->charge(os::Quota::kOther, -ptrdiff_t{sizeof(Delta)});
  delete dead_.load(std::memory_order_relaxed);
  release(pool_);
  os::MutexLock lock(settle_mutex_);
  release(node_pool_);
}

void Delta::release(Pool& pool) {
  for (Chunk* chunk = pool.chunks; chunk != nullptr;) {
    Chunk* next = chunk->next;
    const auto kind = std::find(kPieces.begin(), kPieces.end(), chunk->size);
    if (kind != kPieces.end()) {
      arena_->pieces().release(static_cast<size_t>(kind - kPieces.begin()),
                               reinterpret_cast<char*>(chunk));
    } else {
      arena_->release(os::Quota::kDelta, reinterpret_cast<char*>(chunk), chunk->size);
    }
    chunk = next;
  }
  pool = Pool();
}

char* Delta::allocate(Pool& pool, size_t size, bool must) {
  size = align_up(size, 8);
  if (static_cast<size_t>(pool.free_end - pool.free) < size) return allocate_slow(pool, size, must);
  pool.free += size;
  __builtin_prefetch(pool.free + kWriteAheadBytes, 1);
  return pool.free - size;
}

char* Delta::allocate_slow(Pool& pool, size_t size, bool must) {
  const size_t grown =
      std::clamp(pool.bytes / kChunkPart / kPageBytes * kPageBytes, kPageBytes, kChunkBytesMax);
  size_t want = std::max(grown, align_up(size + sizeof(Chunk), kPageBytes));
  // The first ones of a delta that may stay small: each piece is larger than all before it.
  const auto piece = std::find_if(kPieces.begin(), kPieces.end(), [&](size_t bytes) {
    return bytes > pool.bytes && bytes >= size + sizeof(Chunk);
  });
  char* memory = nullptr;
  if (expected_entries_ <= kFewEntries && piece != kPieces.end()) {
    want = *piece;
    memory = arena_->pieces().allocate(static_cast<size_t>(piece - kPieces.begin()), must);
  } else {
    memory = arena_->allocate(os::Quota::kDelta, want, must);
  }
  if (memory == nullptr) return nullptr;
  Chunk* chunk = new (memory) Chunk{pool.chunks, want};
  pool.chunks = chunk;
  pool.bytes += want;
  bytes_.fetch_add(want, std::memory_order_relaxed);
  pool.free = memory + sizeof(Chunk) + size;
  pool.free_end = memory + want;
  return memory + sizeof(Chunk);
}

// Nodes are taken beyond the budget if need be: whoever reads in order must not fail for it, and
// they are a tenth of what the entries took.
template <typename T>
T* Delta::new_node() {
  return new (allocate(node_pool_, sizeof(T), true)) T;
}

// ---- The table

namespace {
constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 1;

uint64_t slot_of(const void* entry, uint64_t hash) {
  return (hash & ~kAddressMask) | reinterpret_cast<uint64_t>(entry);
}
}  // namespace

uint64_t Delta::hash(std::string_view key) {
  // Seeded by where the program was loaded, so that nobody can choose keys that collide.
  return checksum64(key.data(), key.size(), reinterpret_cast<uint64_t>(&next_delta_id));
}

void Delta::place(const Table& table, uint64_t hash, const DeltaEntry* entry) {
  uint64_t at = hash & table.mask;
  while (table.slots[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & table.mask;
  table.slots[at].store(slot_of(entry, hash), std::memory_order_release);
}

// Moves the next slots of the table before, whose entries were fetched by the call before this one.
void Delta::move_slots(Table& table) {
  const Table& previous = *table.previous.load(std::memory_order_relaxed);
  const uint64_t size = previous.mask + 1;
  const uint64_t end = std::min(table.moved + kMoveSlots, size);
  for (uint64_t i = end; i < std::min(end + kMoveSlots, size); ++i) {
    const uint64_t slot = previous.slots[i].load(std::memory_order_relaxed) & kAddressMask;
    if (slot != 0) __builtin_prefetch(reinterpret_cast<const void*>(slot));
  }
  for (; table.moved < end; ++table.moved) {
    const uint64_t slot = previous.slots[table.moved].load(std::memory_order_relaxed);
    if (slot == 0) continue;
    const auto* entry = reinterpret_cast<const DeltaEntry*>(slot & kAddressMask);
    place(table, hash(entry->key()), entry);
  }
  if (table.moved == size) table.previous.store(nullptr, std::memory_order_release);
}

// Keeps the table at most three quarters full. False: no memory, and nothing changed.
bool Delta::reserve_slot() {
  Table* table = table_.load(std::memory_order_relaxed);
  const bool moving =
      table != nullptr && table->previous.load(std::memory_order_relaxed) != nullptr;
  if (moving) move_slots(*table);
  const uint64_t needed = (uint64_t{entries()} + 1) * 4 / 3;
  if (table != nullptr && needed <= table->mask + 1) return true;
  // A table is filled by as many inserts as a quarter of its slots, of which each moved many more.
  HAWTHORN_ASSERT(table == nullptr || table->previous.load(std::memory_order_relaxed) == nullptr);
  // At first for half of what is expected: most of the moving is saved, and little memory wasted.
  const uint64_t slots = table == nullptr ? std::clamp(std::bit_ceil(uint64_t{expected_entries_}),
                                                       kTableSlotsMin, kTableSlotsFirst)
                                          : (table->mask + 1) * 2;
  char* memory = allocate(pool_, sizeof(Table) + slots * sizeof(uint64_t), must_fit);
  if (memory == nullptr) return false;
  auto* words = reinterpret_cast<std::atomic<uint64_t>*>(memory + sizeof(Table));
  for (uint64_t i = 0; i < slots; ++i) new (&words[i]) std::atomic<uint64_t>(0);
  auto* grown = new (memory) Table{slots - 1, words, table, 0};
  if (table != nullptr) move_slots(*grown);
  table_.store(grown, std::memory_order_release);
  return true;
}

DeltaEntry* Delta::probe(const Table& table, std::string_view key, uint64_t key_hash) {
  for (uint64_t at = key_hash & table.mask;; at = (at + 1) & table.mask) {
    const uint64_t slot = table.slots[at].load(std::memory_order_acquire);
    if (slot == 0) return nullptr;
    if (((slot ^ key_hash) & ~kAddressMask) != 0) continue;
    auto* entry = reinterpret_cast<DeltaEntry*>(slot & kAddressMask);
    // The first version often lies behind the key.
    __builtin_prefetch(reinterpret_cast<const char*>(entry) + 64);
    if (equal_bytes(entry->key(), key)) return entry;
  }
}

DeltaEntry* Delta::find(std::string_view key, uint64_t key_hash) const {
  const Table* table = table_.load(std::memory_order_acquire);
  if (table == nullptr) return nullptr;
  // Before the probe: when it is null, everything was in the table already.
  const Table* previous = table->previous.load(std::memory_order_acquire);
  DeltaEntry* found = probe(*table, key, key_hash);
  return found == nullptr && previous != nullptr ? probe(*previous, key, key_hash) : found;
}

const DeltaEntry* Delta::probe_tag(const Table& table, uint64_t key_hash) {
  for (uint64_t at = key_hash & table.mask;; at = (at + 1) & table.mask) {
    const uint64_t slot = table.slots[at].load(std::memory_order_acquire);
    if (slot != 0 && ((slot ^ key_hash) & ~kAddressMask) != 0) continue;
    return reinterpret_cast<const DeltaEntry*>(slot & kAddressMask);
  }
}

const DeltaEntry* Delta::candidate(uint64_t key_hash) const {
  const Table* table = table_.load(std::memory_order_acquire);
  if (table == nullptr) return nullptr;
  const Table* previous = table->previous.load(std::memory_order_acquire);
  const DeltaEntry* found = probe_tag(*table, key_hash);
  return found == nullptr && previous != nullptr ? probe_tag(*previous, key_hash) : found;
}

// ---- The tree

int Delta::compare(const DeltaEntry* entry, std::string_view key, uint64_t head) {
  if (entry->head != head) return entry->head < head ? -1 : 1;
  return entry->key().compare(key);
}

uint32_t Delta::leaf_lower_bound(const Leaf* leaf, uint32_t count, std::string_view key,
                                 uint64_t head) {
  uint32_t low = 0;
  uint32_t size = count;
  while (size > 0) {
    const uint32_t half = size / 2;
    const bool below = leaf->heads[low + half].load(std::memory_order_relaxed) < head;
    low = below ? low + half + 1 : low;
    size = below ? size - half - 1 : half;
  }
  while (low < count && leaf->heads[low].load(std::memory_order_relaxed) == head) {
    const DeltaEntry* entry = leaf->entries[low].load(std::memory_order_acquire);
    if (entry == nullptr || entry->key().compare(key) >= 0) break;
    ++low;
  }
  return low;
}

uint32_t Delta::child_index(const Inner* inner, uint32_t count, std::string_view key, uint64_t head,
                            bool strict) {
  uint32_t low = 1;
  uint32_t size = count > 0 ? count - 1 : 0;
  while (size > 0) {
    const uint32_t half = size / 2;
    const bool below = inner->heads[low + half].load(std::memory_order_relaxed) < head;
    low = below ? low + half + 1 : low;
    size = below ? size - half - 1 : half;
  }
  while (low < count && inner->heads[low].load(std::memory_order_relaxed) == head) {
    const DeltaEntry* separator = inner->separators[low].load(std::memory_order_acquire);
    if (separator == nullptr) break;
    const int order = separator->key().compare(key);
    if (strict ? order >= 0 : order > 0) break;
    ++low;
  }
  return low - 1;
}

DeltaEntry* Delta::find_or_add(std::string_view key, uint64_t head) {
  const uint64_t key_hash = hash(key);
  if (DeltaEntry* found = find(key, key_hash); found != nullptr) return found;
  if (!reserve_slot()) return nullptr;
  // In one line where it fits into one: a lookup needs all of it.
  const size_t size = sizeof(DeltaEntry) + key.size();
  const size_t rest = kLineBytes - reinterpret_cast<uintptr_t>(pool_.free) % kLineBytes;
  const auto room = static_cast<size_t>(pool_.free_end - pool_.free);
  if (size > rest && size <= kLineBytes && room >= rest + size) pool_.free += rest;
  char* memory = allocate(pool_, size, must_fit);
  if (memory == nullptr) return nullptr;
  auto* entry = new (memory) DeltaEntry;
  entry->newest.store(nullptr, std::memory_order_relaxed);
  entry->head = head;
  entry->spare = nullptr;
  entry->spare_unlink = 0;
  entry->key_size = static_cast<uint16_t>(key.size());
  entry->writes_to_prune = 0;
  copy_bytes(memory + sizeof(DeltaEntry), key);
  entry->next_pending = pending_.load(std::memory_order_relaxed);
  // Against settle(), which takes the whole list.
  while (!pending_.compare_exchange_weak(entry->next_pending, entry, std::memory_order_release,
                                         std::memory_order_relaxed)) {
  }
  place(*table_.load(std::memory_order_relaxed), key_hash, entry);
  entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  live_bytes_.fetch_add(key.size(), std::memory_order_relaxed);
  return entry;
}

// Puts what was added since the last time into the tree.
void Delta::settle() const {
  // Counted, not by the list: somebody may have taken it and not be done.
  if (settled_.load(std::memory_order_acquire) == entries_.load(std::memory_order_acquire)) return;
  auto* self = const_cast<Delta*>(this);
  os::MutexLock lock(self->settle_mutex_);
  // Sorted by the first 16 bytes, which stand beside the pointers: entries are all over memory.
  struct Item {
    uint64_t head;
    uint64_t next;  // the 8 bytes behind
    DeltaEntry* entry;
  };
  os::ArenaVector<Item> entries{os::ArenaAllocator<Item>(arena_)};
  // An entry is on the list before it is counted.
  const uint32_t settled = settled_.load(std::memory_order_relaxed);
  entries.reserve(std::max(entries_.load(std::memory_order_relaxed), settled) - settled);
  for (DeltaEntry* entry = self->pending_.exchange(nullptr, std::memory_order_acquire);
       entry != nullptr; entry = entry->next_pending) {
    entries.push_back({entry->head, key_head(entry->key(), size_t{skip_} + 8), entry});
  }
  // The last one added came first: appended keys are in order when that is turned around.
  std::reverse(entries.begin(), entries.end());
  const auto before = [](const Item& a, const Item& b) {
    if (a.head != b.head) return a.head < b.head;
    return a.next != b.next ? a.next < b.next : a.entry->key() < b.entry->key();
  };
  if (!std::is_sorted(entries.begin(), entries.end(), before)) {
    std::sort(entries.begin(), entries.end(), before);
  }
  for (const Item& item : entries) self->insert(item.entry);
  self->settled_.store(
      settled_.load(std::memory_order_relaxed) + static_cast<uint32_t>(entries.size()),
      std::memory_order_release);
}

void Delta::insert(DeltaEntry* entry) {
  if (last_leaf_ == nullptr) {
    last_leaf_ = new_node<Leaf>();
    root_.store(last_leaf_, std::memory_order_release);
  }
  // Appended keys need no way down.
  const uint32_t last_count = last_leaf_->count.load(std::memory_order_relaxed);
  if (last_count > 0 && last_count < kLeafEntries &&
      compare(last_leaf_->entries[last_count - 1].load(std::memory_order_relaxed), entry->key(),
              entry->head) < 0) {
    last_leaf_->write_begin();
    last_leaf_->heads[last_count].store(entry->head, std::memory_order_relaxed);
    last_leaf_->entries[last_count].store(entry, std::memory_order_release);
    last_leaf_->count.store(static_cast<uint16_t>(last_count + 1), std::memory_order_relaxed);
    last_leaf_->write_end();
    return;
  }
  Inner* path[kLevelsMax];
  uint32_t levels = 0;
  bool rightmost = true;
  Node* node = root_.load(std::memory_order_relaxed);
  while (!node->leaf) {
    auto* inner = static_cast<Inner*>(node);
    const uint32_t count = inner->count.load(std::memory_order_relaxed);
    const uint32_t child = child_index(inner, count, entry->key(), entry->head, false);
    rightmost = rightmost && child + 1 == count;
    HAWTHORN_ASSERT(levels < kLevelsMax);
    path[levels++] = inner;
    node = inner->children[child].load(std::memory_order_relaxed);
  }
  auto* leaf = static_cast<Leaf*>(node);
  uint32_t count = leaf->count.load(std::memory_order_relaxed);
  uint32_t position = leaf_lower_bound(leaf, count, entry->key(), entry->head);

  if (count == kLeafEntries) {
    // Appending at the right edge starts a fresh leaf; elsewhere the upper half moves out.
    const uint32_t keep = rightmost && position == count ? count : count / 2;
    Leaf* right = new_node<Leaf>();
    for (uint32_t i = keep; i < count; ++i) {
      right->heads[i - keep].store(leaf->heads[i].load(std::memory_order_relaxed),
                                   std::memory_order_relaxed);
      right->entries[i - keep].store(leaf->entries[i].load(std::memory_order_relaxed),
                                     std::memory_order_relaxed);
    }
    uint32_t right_count = count - keep;
    const bool to_right = position >= keep && (position > keep || keep == count);
    if (to_right || keep == count) {
      // The new entry goes right: place it before the leaf is published.
      const uint32_t at = position - keep;
      for (uint32_t i = right_count; i > at; --i) {
        right->heads[i].store(right->heads[i - 1].load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
        right->entries[i].store(right->entries[i - 1].load(std::memory_order_relaxed),
                                std::memory_order_relaxed);
      }
      right->heads[at].store(entry->head, std::memory_order_relaxed);
      right->entries[at].store(entry, std::memory_order_relaxed);
      ++right_count;
    }
    right->count.store(static_cast<uint16_t>(right_count), std::memory_order_release);
    // Readers that reach the left leaf between the two changes still find the moved entries in it:
    // its count is cut only after the parent knows the right leaf.
    insert_child(path, levels, right->entries[0].load(std::memory_order_relaxed), right);
    if (rightmost) last_leaf_ = right;
    HAWTHORN_TEST_POINT("delta.insert.between_leaves");
    if (keep < count) {
      leaf->write_begin();
      leaf->count.store(static_cast<uint16_t>(keep), std::memory_order_relaxed);
      leaf->write_end();
    }
    if (to_right || keep == count) return;
    count = keep;
  }

  leaf->write_begin();
  for (uint32_t i = count; i > position; --i) {
    leaf->heads[i].store(leaf->heads[i - 1].load(std::memory_order_relaxed),
                         std::memory_order_relaxed);
    leaf->entries[i].store(leaf->entries[i - 1].load(std::memory_order_relaxed),
                           std::memory_order_release);
  }
  leaf->heads[position].store(entry->head, std::memory_order_relaxed);
  leaf->entries[position].store(entry, std::memory_order_release);
  leaf->count.store(static_cast<uint16_t>(count + 1), std::memory_order_relaxed);
  leaf->write_end();
}

// Puts `child` behind `separator` into the lowest node of the path, splitting upwards as needed.
// Nodes that are split stay locked until the one above knows their right half: a reader that came
// down before must not take what is left in them for all.
void Delta::insert_child(Inner** path, uint32_t levels, DeltaEntry* separator, Node* child) {
  uint32_t splits = 0;
  while (splits < levels &&
         path[levels - 1 - splits]->count.load(std::memory_order_relaxed) == kInnerChildren)
    ++splits;
  Inner* fresh[kLevelsMax + 1];
  const uint32_t needed = splits + (splits == levels ? 1 : 0);
  for (uint32_t i = 0; i < needed; ++i) {
    fresh[i] = new_node<Inner>();
  }

  for (uint32_t level = 0;; ++level) {
    if (level == levels) {
      Inner* root = fresh[level];
      root->heads[0].store(0, std::memory_order_relaxed);
      root->separators[0].store(nullptr, std::memory_order_relaxed);
      root->children[0].store(root_.load(std::memory_order_relaxed), std::memory_order_relaxed);
      root->heads[1].store(separator->head, std::memory_order_relaxed);
      root->separators[1].store(separator, std::memory_order_relaxed);
      root->children[1].store(child, std::memory_order_relaxed);
      root->count.store(2, std::memory_order_relaxed);
      root_.store(root, std::memory_order_release);
      break;
    }
    Inner* inner = path[levels - 1 - level];
    const uint32_t count = inner->count.load(std::memory_order_relaxed);
    const uint32_t at = child_index(inner, count, separator->key(), separator->head, false) + 1;
    const auto place = [](Inner* to, uint32_t size, uint32_t position, DeltaEntry* key,
                          Node* node) {
      for (uint32_t i = size; i > position; --i) {
        to->heads[i].store(to->heads[i - 1].load(std::memory_order_relaxed),
                           std::memory_order_relaxed);
        to->separators[i].store(to->separators[i - 1].load(std::memory_order_relaxed),
                                std::memory_order_release);
        to->children[i].store(to->children[i - 1].load(std::memory_order_relaxed),
                              std::memory_order_release);
      }
      to->heads[position].store(key->head, std::memory_order_relaxed);
      to->separators[position].store(key, std::memory_order_release);
      to->children[position].store(node, std::memory_order_release);
      to->count.store(static_cast<uint16_t>(size + 1), std::memory_order_relaxed);
    };
    if (count < kInnerChildren) {
      inner->write_begin();
      place(inner, count, at, separator, child);
      inner->write_end();
      break;
    }
    // Split: the upper part moves to a new node, whose first separator goes up.
    Inner* right = fresh[level];
    const uint32_t keep = at == count ? count - 1 : count / 2;
    for (uint32_t i = keep; i < count; ++i) {
      right->heads[i - keep].store(inner->heads[i].load(std::memory_order_relaxed),
                                   std::memory_order_relaxed);
      right->separators[i - keep].store(inner->separators[i].load(std::memory_order_relaxed),
                                        std::memory_order_relaxed);
      right->children[i - keep].store(inner->children[i].load(std::memory_order_relaxed),
                                      std::memory_order_relaxed);
    }
    right->count.store(static_cast<uint16_t>(count - keep), std::memory_order_relaxed);
    DeltaEntry* up = right->separators[0].load(std::memory_order_relaxed);
    if (at > keep) place(right, count - keep, at - keep, separator, child);
    inner->write_begin();
    inner->count.store(static_cast<uint16_t>(keep), std::memory_order_relaxed);
    if (at <= keep) place(inner, keep, at, separator, child);
    separator = up;
    child = right;
    HAWTHORN_TEST_POINT("delta.insert.between_levels");
  }
  for (uint32_t i = splits; i > 0; --i) path[levels - i]->write_end();
}

// Numbers an unlink; for many of them at once asks whether nobody can see the earlier ones any
// more: that costs a barrier on all threads.
void Delta::note_unlink() {
  ++unlinks_;
  if (unlinks_ < ask_at_) return;
  ask_at_ = unlinks_ + kReuseBatch;
  if (asked_epoch_ != 0) {
    if (!os::epoch::passed(asked_epoch_)) return;
    passed_unlinks_ = asked_unlinks_;
  }
  asked_unlinks_ = unlinks_;
  asked_epoch_ = os::epoch::stamp();
}

// An unlinked version that nobody can see any more, with room for `want` bytes in all.
Version* Delta::reuse(DeltaEntry* entry, uint32_t want) {
  // After the epoch: a reader pins inside of its guard, so one that pinned later cannot have come
  // to a version that was unlinked before.
  if (passed_unlinks_ == 0 || pins() != 0) return nullptr;
  const auto fits = [&](const Version* version) {
    return version->allocated >= want && version->allocated <= 2 * want;
  };
  if (Version* spare = entry->spare; spare != nullptr && entry->spare_unlink <= passed_unlinks_) {
    entry->spare = nullptr;
    if (fits(spare)) return spare;
    if (retired_ == nullptr) retired_ = std::make_unique<std::deque<Retired>>();
    retired_->push_back({spare, entry->spare_unlink});
  }
  if (retired_ == nullptr) return nullptr;
  for (size_t tried = std::min(kReuseTries, retired_->size()); tried > 0; --tried) {
    const Retired front = retired_->front();
    if (front.unlink > passed_unlinks_) return nullptr;
    retired_->pop_front();
    if (fits(front.version)) return front.version;
    retired_->push_back(front);
  }
  return nullptr;
}

Version* Delta::new_version(DeltaEntry* entry, uint32_t size) {
  const auto want = static_cast<uint32_t>(align_up(sizeof(Version) + size, 8));
  if (Version* version = reuse(entry, want); version != nullptr) {
    version->size = size;
    return version;
  }
  char* memory = allocate(pool_, want, must_fit);
  if (memory == nullptr) return nullptr;
  auto* version = new (memory) Version;
  version->size = size;
  version->allocated = want;
  version->unused = 0;
  return version;
}

void Delta::link(DeltaEntry* entry, Version* version) {
  if (version->kind == VersionKind::kMerge) has_operands_.store(true, std::memory_order_release);
  version->older.store(entry->newest.load(std::memory_order_relaxed), std::memory_order_relaxed);
  entry->newest.store(version, std::memory_order_release);
  versions_.store(versions_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (version->kind != VersionKind::kTombstone) revive(entry);
  // Last: whoever reads the number sees as many versions, and no stretch that they have ended.
  links_.store(links_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  live_bytes_.fetch_add(version->size, std::memory_order_relaxed);
}

void Delta::add_dead(DeadStretch stretch) {
  if (is_none()) return;
  DeadStretches* dead = dead_.load(std::memory_order_relaxed);
  if (dead == nullptr) {
    dead = new DeadStretches;
    dead_.store(dead, std::memory_order_release);
  }
  dead->add(std::move(stretch));
}

bool Delta::unlink(DeltaEntry* entry, Version* version) {
  std::atomic<Version*>* link = &entry->newest;
  while (Version* at = link->load(std::memory_order_relaxed)) {
    if (at == version) {
      link->store(version->older.load(std::memory_order_relaxed), std::memory_order_release);
      versions_.store(versions_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
      retire(entry, version);
      return true;
    }
    link = &at->older;
  }
  return false;
}

// Of a version that is in no chain any more.
void Delta::retire(DeltaEntry* entry, Version* version) {
  live_bytes_.fetch_sub(version->size, std::memory_order_relaxed);
  // Past the last number nothing is used again until the next flush.
  if (unlinks_ == std::numeric_limits<uint32_t>::max()) return;
  note_unlink();
  if (entry->spare == nullptr) {
    entry->spare = version;
    entry->spare_unlink = unlinks_;
  } else {
    if (retired_ == nullptr) retired_ = std::make_unique<std::deque<Retired>>();
    retired_->push_back({version, unlinks_});
  }
}

void Delta::replace(DeltaEntry* entry, Version* first, Version* last, Version* version) {
  std::atomic<Version*>* link = &entry->newest;
  for (Version* at = link->load(std::memory_order_relaxed); at != first;) {
    HAWTHORN_ASSERT(at != nullptr);
    link = &at->older;
    at = link->load(std::memory_order_relaxed);
  }
  version->older.store(last->older.load(std::memory_order_relaxed), std::memory_order_relaxed);
  link->store(version, std::memory_order_release);
  live_bytes_.fetch_add(version->size, std::memory_order_relaxed);
  versions_.store(versions_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // Those that are replaced keep their links: a reader among them goes on from one to the next.
  for (Version* at = first;;) {
    Version* older = at->older.load(std::memory_order_relaxed);
    versions_.store(versions_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    retire(entry, at);
    if (at == last) return;
    at = older;
  }
}

}  // namespace hawthorn::tree
