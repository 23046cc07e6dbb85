#pragma once
// The unflushed part of a container: an ordered in-memory map from keys to chains of versions.
//
// A hash table for point lookups, and a B+ tree for order. Writers add to the table only: new
// entries wait on a list, and whoever next asks for keys in order puts them into the tree first,
// sorted. A delta that is written and flushed never pays for order twice, and never on the writer's
// time.
//
// The tree's nodes carry a version counter each: one writer at a time (under the container
// latch), any number of readers that validate what they read and start again when a node changed
// under them. All memory comes from the delta's own chunks of the arena and is given back as a
// whole when the delta is destroyed, so readers never touch freed memory.
//
// A database may have very many trees with little in each: so a delta begins with a small piece of
// memory, and where nothing is expected one serves all, which is never written (none()).
//
// Not here: transactions, timestamps, flushing. Used by tree/container and tree/merge.
// Threads: writers hold the container latch; readers hold an epoch guard, or a pin on the delta.
//
// 1. Entries are never removed; an entry without versions reads as absent.
// 2. Heads are the 8 key bytes after `skip`; all keys of a delta share their first `skip` bytes.
// 3. Memory of a version unlinked by prune is used again only when no reader can hold it: its epoch
// has passed and the
//    delta carries no pins.
// 4. Where none() is the active delta of a container, nothing is frozen in it.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>

#include "os/arena.h"
#include "os/small_objects.h"
#include "os/sync.h"
#include "tree/dead_stretches.h"
#include "tree/version.h"

namespace hawthorn::tree {

// A delta above this is flushed, and its container split, whatever the budget says.
inline constexpr size_t kLargeDeltaBytes = size_t{6} << 20;

class alignas(64) Delta : public os::InHugePages {
  struct Table;
  // What lookups need comes first, so that one prefetch brings it.
  std::atomic<Table*> table_{nullptr};
  std::atomic<uint32_t> entries_{0};

 public:
  // `expected_entries`: how many the table is made for at first.
  Delta(os::Arena* arena, uint32_t skip, uint32_t expected_entries = 0);
  ~Delta();
  Delta(const Delta&) = delete;
  Delta& operator=(const Delta&) = delete;

  // The one without entries, for containers that are not being written; a reference to it.
  static Delta* none();
  bool is_none() const { return arena_ == nullptr; }
  // Whether none() may stand in its place until the next write: there is no use for its table.
  bool is_small() const { return expected_entries_ <= kFewEntries && bytes() == 0; }

  // ---- One writer, under the container latch.

  // The entry of a key, made when missing. nullptr: the arena has no memory left (nothing changed).
  DeltaEntry* find_or_add(std::string_view key, uint64_t head);
  // A version for this entry with room for `size` bytes, not linked yet; nullptr: no memory.
  Version* new_version(DeltaEntry* entry, uint32_t size);
  // Links it as the newest in its chain.
  void link(DeltaEntry* entry, Version* version);
  // Takes a version out of its chain; its memory is used again later. False when it is not in the
  // chain.
  bool unlink(DeltaEntry* entry, Version* version);
  // Links `version` in the place of those from `first` to `last`, which stand in the chain one
  // behind the other: a reader comes to them, or to it, never to both. No new link for links().
  void replace(DeltaEntry* entry, Version* first, Version* last, Version* version);
  // A version of the key was taken back: it may be there again.
  void revive(const DeltaEntry* entry) {
    if (DeadStretches* dead = dead_.load(std::memory_order_relaxed)) dead->revive(entry->key());
  }
  // The container has got a run that has keys which it did not have.
  void revive_all() {
    if (DeadStretches* dead = dead_.load(std::memory_order_relaxed)) dead->clear();
  }
  void add_dead(DeadStretch stretch);
  // Counts a delete that is written, or committed. Whether there are so many by now that nothing
  // may be left of a container whose run has `run_entries`; of more of them, now and then.
  bool note_delete(uint64_t run_entries) { return written_.note(run_entries); }
  bool note_committed_delete(uint64_t run_entries) { return committed_.note(run_entries); }

  // ---- Any thread, inside an epoch guard.

  // Point lookups go by a hash table beside the tree: one line of it, then the entry. Callers that
  // look a key up in two deltas, or prefetch, hash it once.
  static uint64_t hash(std::string_view key);
  DeltaEntry* find(std::string_view key, uint64_t hash) const;
  void prefetch(uint64_t hash) const {
    const Table* table = table_.load(std::memory_order_acquire);
    if (table != nullptr) __builtin_prefetch(&table->slots[hash & table->mask]);
  }
  // An entry that may be the key's, null: surely absent. Touches the table only.
  const DeltaEntry* candidate(uint64_t hash) const;
  bool may_contain(uint64_t hash) const { return candidate(hash) != nullptr; }

  // Copies up to out.size() entries in key order into `out`; returns how many. ge/gt: the first
  // entries with a key
  // >= key / > key; le/lt: the last ones with a key <= key / < key, in descending order.
  enum class Seek : uint8_t { kGreaterEqual, kGreater, kLessEqual, kLess };
  size_t collect(Seek seek, std::string_view key, uint64_t head, std::span<DeltaEntry*> out) const;
  size_t collect_first(std::span<DeltaEntry*> out) const;
  size_t collect_last(std::span<DeltaEntry*> out) const;
  // Up to out.size() entries, in key order, with about as many entries between each two and before
  // the first; fewer when there are not that many to choose from. Looks at inner nodes only.
  size_t sample(std::span<DeltaEntry*> out) const;
  // Puts new entries into the tree now: a delta that grows for long pays for order by and by.
  void keep_order() const { settle(); }

  bool empty() const { return entries_.load(std::memory_order_acquire) == 0; }
  uint32_t entries() const { return entries_.load(std::memory_order_relaxed); }
  uint64_t versions() const { return versions_.load(std::memory_order_relaxed); }
  // How often a version was linked: while it stays the same, so do the chains, but for what is
  // unlinked or stamped.
  uint64_t links() const { return links_.load(std::memory_order_acquire); }
  // Keys of its container of which nothing is left; null: none are known.
  const DeadStretches* dead() const { return dead_.load(std::memory_order_acquire); }
  // Whether an operand of a merge operator was ever linked.
  bool has_operands() const { return has_operands_.load(std::memory_order_acquire); }
  // Bytes taken from the arena.
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // The part of one of those that share it.
  size_t bytes_each() const {
    return bytes() / std::max<uint32_t>(1, refs_.load(std::memory_order_relaxed));
  }
  // Bytes of keys and values that were added and not unlinked.
  size_t live_bytes() const { return live_bytes_.load(std::memory_order_relaxed); }
  uint32_t skip() const { return skip_; }

  void pin() { pins_.fetch_add(1, std::memory_order_acquire); }
  void unpin() { pins_.fetch_sub(1, std::memory_order_release); }
  uint32_t pins() const { return pins_.load(std::memory_order_acquire); }

  // Containers and descriptors share a delta by counting references; the last one retires it.
  void ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  bool unref() { return refs_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  // While set, memory is taken even beyond the budget: for copies that a split must not fail to
  // make.
  bool must_fit = false;

  // A container has put a run in its place: only readers that came before need it (a hint; where
  // parts of a split share it, others may still have it).
  std::atomic<bool> replaced{false};

  // Unlike an address, never used again in a process.
  const uint64_t id;

  // The first lsn that may hold a record of this delta; set at the first insert (L(F) of R8).
  Lsn first_lsn() const { return first_lsn_.load(std::memory_order_relaxed); }
  // Lowers it to that at most. Under the latch.
  void needs_log_from(Lsn lsn) {
    if (lsn < first_lsn()) first_lsn_.store(lsn, std::memory_order_relaxed);
  }

 private:
  struct Chunk;
  // Memory of one owner: chunks of the arena, handed out from the front.
  struct Pool {
    Chunk* chunks = nullptr;
    size_t bytes = 0;  // of all chunks
    char* free = nullptr;
    char* free_end = nullptr;
  };

  struct Deletes {
    uint32_t count = 0;
    uint32_t due = 0;  // 0: when as many are deleted as the run has
    bool note(uint64_t run_entries) {
      const uint64_t first = std::max<uint64_t>(run_entries, dead_stretch_min);
      if (++count < (due != 0 ? due : first)) return false;
      due = count + dead_looks_again;
      return true;
    }
  };

  static constexpr uint32_t kLeafEntries = 24;
  static constexpr uint32_t kInnerChildren = 32;
  static constexpr uint32_t kFewEntries = 32;  // of a delta that begins with a small piece
  static constexpr uint64_t kTableSlotsMin = 4;
  static constexpr uint64_t kTableSlotsFirst = 16 << 10;  // whatever is expected
  static constexpr uint32_t kLevelsMax = 12;
  static constexpr uint32_t kReuseBatch = 64;

  struct Node;
  struct Leaf;
  struct Inner;
  struct Retired {
    Version* version;
    uint32_t unlink;
  };

  // Open addressing; a slot is 0 or an entry's address with 16 bits of its hash above. It grows
  // into a new one, to which every insert moves a few slots: what is not found there is in
  // `previous`, which stays as it is.
  struct Table {
    uint64_t mask;
    std::atomic<uint64_t>* slots;
    std::atomic<const Table*> previous;  // null once everything has been moved
    uint64_t moved;                      // slots of it that have been; of the writer
  };

  char* allocate(Pool& pool, size_t size, bool must);
  char* allocate_slow(Pool& pool, size_t size, bool must);
  void release(Pool& pool);
  void settle() const;
  Version* reuse(DeltaEntry* entry, uint32_t want);
  void note_unlink();
  void retire(DeltaEntry* entry, Version* version);
  static int compare(const DeltaEntry* entry, std::string_view key, uint64_t head);
  static uint32_t leaf_lower_bound(const Leaf* leaf, uint32_t count, std::string_view key,
                                   uint64_t head);
  static uint32_t child_index(const Inner* inner, uint32_t count, std::string_view key,
                              uint64_t head, bool strict);
  template <typename T>
  T* new_node() REQUIRES(settle_mutex_);
  bool reserve_slot();
  static void move_slots(Table& table);
  static DeltaEntry* probe(const Table& table, std::string_view key, uint64_t hash);
  static const DeltaEntry* probe_tag(const Table& table, uint64_t hash);
  static void place(const Table& table, uint64_t hash, const DeltaEntry* entry);
  void insert(DeltaEntry* entry) REQUIRES(settle_mutex_);
  void insert_child(Inner** path, uint32_t levels, DeltaEntry* separator, Node* child)
      REQUIRES(settle_mutex_);
  static bool read_begin(const Node* node, uint32_t* version);
  static bool read_valid(const Node* node, uint32_t version);
  const Leaf* descend(std::string_view key, uint64_t head, bool strict, uint32_t* version,
                      const DeltaEntry** next_separator) const;
  // One attempt; false when a node changed while it was read.
  bool try_collect(Seek seek, std::string_view key, uint64_t head, std::span<DeltaEntry*> out,
                   size_t* count, const DeltaEntry** next_separator) const;

  os::Arena* const arena_;
  const uint32_t skip_;
  const uint32_t expected_entries_;
  std::atomic<Node*> root_{nullptr};
  std::atomic<uint32_t> settled_{0};  // of entries_, those in the tree
  std::atomic<uint32_t> pins_{0};
  std::atomic<uint32_t> refs_{1};
  std::atomic<uint64_t> versions_{0};
  std::atomic<uint64_t> links_{0};
  std::atomic<bool> has_operands_{false};
  std::atomic<DeadStretches*> dead_{nullptr};  // owned
  std::atomic<Lsn> first_lsn_{format::kLsnMax};
  std::atomic<size_t> bytes_{0};
  std::atomic<size_t> live_bytes_{0};
  Pool pool_;                                  // entries, versions, tables: of the writer
  std::atomic<DeltaEntry*> pending_{nullptr};  // a stack; not in the tree yet
  mutable os::Mutex settle_mutex_;             // whoever brings the tree up to date
  Pool node_pool_ GUARDED_BY(settle_mutex_);
  Leaf* last_leaf_ GUARDED_BY(settle_mutex_) = nullptr;  // where appended keys go
  std::unique_ptr<std::deque<Retired>> retired_;         // made at the first unlink
  // Unlinks are numbered from 1. Nobody sees what was unlinked up to `passed_unlinks_`; the ones up
  // to `asked_unlinks_` were made before `asked_epoch_`.
  uint32_t unlinks_ = 0;
  uint32_t passed_unlinks_ = 0;
  uint32_t asked_unlinks_ = 0;
  uint64_t asked_epoch_ = 0;
  uint32_t ask_at_ = kReuseBatch;
  Deletes written_;
  Deletes committed_;
};

}  // namespace hawthorn::tree
