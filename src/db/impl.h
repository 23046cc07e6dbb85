#pragma once
// What is behind a Db: all parts of an open database, and how they are put together.
//
//   Db::Impl ── catalog ── trees ── containers    arena, space, residency, slots (tree::Store)
//      ├── sequencer ── log                scheduler ──flushes──> publisher ──batches──> manifest
//
// Not here: what the parts do. Threads: the members are set by open and taken apart by close; in
// between every part is thread-safe by itself.
//
// 1. Order of opening: lock, manifest, space, log scanned and applied as far as that goes, log made
// durable, manifest N+1, log epoch, the rest of the log, threads (R7).
// 2. Order of closing: flush, publish, log removed from the manifest, log files, space trimmed.
// With prepared transactions the log stays, and is made durable.

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/catalog.h"
#include "db/counters_file.h"
#include "db/events.h"
#include "db/expiry_job.h"
#include "db/feeds.h"
#include "db/filter_job.h"
#include "db/follower_registry.h"
#include "db/key_store.h"
#include "db/layer_merger.h"
#include "db/manifest.h"
#include "db/named_snapshots.h"
#include "db/prepared.h"
#include "db/publisher.h"
#include "db/scheduler.h"
#include "db/stored_key.h"
#include "db/view.h"
#include "hawthorn/db.h"
#include "os/epoch.h"
#include "os/fork.h"
#include "os/io_limit.h"
#include "os/memory_reserve.h"
#include "space/devices.h"
#include "txn/transaction.h"

namespace hawthorn {

// What a handle leads to, and the call in which it does: nothing takes it away before this goes.
class FoundTree {
 public:
  template <typename Find>
  [[gnu::always_inline]] explicit FoundTree(Find find) : state_(find()) {}
  FoundTree(const FoundTree&) = delete;
  FoundTree& operator=(const FoundTree&) = delete;

  tree::TreeState* get() const { return state_; }
  tree::TreeState* operator->() const { return state_; }
  tree::TreeState& operator*() const { return *state_; }
  operator tree::TreeState*() const& { return state_; }
  operator tree::TreeState*() const&& = delete;  // the call would be over

 private:
  const os::epoch::Call call_;
  tree::TreeState* const state_;
};

struct TreeAccess {
  static const tree::TreeCell* cell(const Tree& tree) {
    return static_cast<const tree::TreeCell*>(tree.impl_);
  }
  // Of a tree whose database is open; null: it has gone. Inside a call.
  static tree::TreeState* state(const Tree& tree) {
    return tree.impl_ == nullptr ? nullptr : cell(tree)->find(tree.id_);
  }
  static bool shaped(const Tree& tree) { return tree.shaped_; }
  static Tree make(tree::TreeState* state) {
    Tree tree;
    tree.impl_ = state->cell();
    tree.id_ = state->id();
    tree.shaped_ = state->shape() != nullptr;
    return tree;
  }
};

namespace db {
class Scrub;
}

inline Status tree_was_dropped() {
  return Status(StatusCode::kInvalidArgument, "the tree was dropped");
}

class Db::Impl {
 public:
  Impl(const os::Machine& machine, std::string path, Options options);
  ~Impl();

  Status open();
  // As a follower's view: read-only, beside whoever writes. Errors: also kTooOld, and kNotFound or
  // kCorruption where that was in the way: it is to be tried again.
  Status open_view(std::unique_ptr<db::FollowerClaim> claim);
  Status close();
  Snapshot snapshot();
  // Of a timestamp that is registered already, for this one.
  Snapshot hand_out(const tree::Snapshots::Registration& registration, uint64_t now_ms);
  // What has ended for a snapshot, or now.
  uint64_t now_of(const Snapshot* snapshot) {
    return snapshot != nullptr ? snapshot->now_ms() : db::expiry_now_if_used(store_);
  }
  // As Db::put; `expiry` may be null.
  Status put(const Tree& tree, std::string_view key, std::string_view value, const Expiry* expiry,
             Durability durability);
  // A transaction that was not begun.
  std::unique_ptr<txn::Txn> new_txn();
  // `number`: as PreparedTransactions::add has given it, or kAny. Errors: kNotFound; those of
  // Txn::commit_prepared and abort_prepared.
  Status end_prepared(std::string_view id, uint64_t number, bool commit, Durability durability);
  // In microseconds, also of times that are as good as for ever.
  static uint64_t timeout_us_of(uint64_t timeout_ms) {
    return std::min(timeout_ms, uint64_t{1} << 50) * 1000;
  }
  // How single writes, batches and ingests begin.
  txn::Begin blind() const;
  const std::vector<std::shared_ptr<CommitHook>>* hooks() const {
    return options_.commit_hooks.empty() ? nullptr : &options_.commit_hooks;
  }
  std::string id() const;
  // Among the options' and the library's. Errors: kInvalidArgument, where there is none, or one of
  // the other kind.
  Result<format::TreeShape::Order> key_order(std::string_view name, bool compared, char rows);
  // Among the options'; null: none.
  const KeyComparator* comparator(std::string_view name) const;
  // Whether this process is a child of the one that opened it.
  bool inherited() const { return fork_generation_ != os::fork_generation(); }
  // OK, or why no call may run: kForked, kClosed; of a view kTooOld.
  Status usable() const;
  // What a read tells that has ended so: of a view, bytes that were given away are no damage.
  Status told(Status status) const;
  Status writable() const;
  // The tree behind a handle; null with *status set when it is none of ours, or was dropped before
  // `ts`.
  [[gnu::always_inline]] FoundTree find(const Tree& tree, Status* status,
                                        format::Lsn ts = format::kLsnMax) const {
    return FoundTree([&]()
                         __attribute__((always_inline)) { return find_in_call(tree, status, ts); });
  }
  [[gnu::always_inline]] FoundTree find(const Tree& tree, const Snapshot* snapshot,
                                        Status* status) const {
    return find(tree, status, snapshot == nullptr ? format::kLsnMax : snapshot->timestamp());
  }
  // The same inside a call that lasts as long as what is found is used.
  [[gnu::always_inline]] tree::TreeState* find_in_call(const Tree& tree, Status* status,
                                                       format::Lsn ts = format::kLsnMax) const {
    tree::TreeState* const state = present(tree);
    if (state != nullptr && state->stands()) [[likely]] {
      return state;
    }
    return find_ended(tree, status, ts);
  }
  // Null: the handle is none of ours, or its tree has gone.
  [[gnu::always_inline]] tree::TreeState* present(const Tree& tree) const {
    const tree::TreeCell* const cell = TreeAccess::cell(tree);
    return cell != nullptr && cell->store == &store_ ? cell->find(tree.id()) : nullptr;
  }
  tree::TreeState* find_ended(const Tree& tree, Status* status, format::Lsn ts) const;
  // As that, without a look at whether it stands.
  tree::TreeState* own(const Tree& tree, Status* status) const {
    tree::TreeState* const state = present(tree);
    if (state == nullptr) *status = why_absent(tree);
    return state;
  }
  Status set_compression(tree::TreeState* tree, Compression compression);
  // Gives the tree the operator of this name, and remembers it.
  // Errors: as Transaction::clone_tree. `source` must not go meanwhile.
  Result<tree::TreeState*> clone_tree(txn::Txn& txn, std::string_view to, tree::TreeState* source,
                                      std::string_view from);
  Status set_merge_operator(tree::TreeState* tree, std::string_view name);
  // OK where the key and the operand may be merged into the tree.
  Status check_merge(const tree::TreeState& tree, std::string_view key,
                     std::string_view operand) const;
  // Trains the dictionary of a tree that has enough samples by now, if there is one.
  void train_dictionary();
  void log(LogLevel level, std::string_view message) const;
  // Of Stats, what needs no look at trees, containers and files.
  void figures(Stats* stats) const;
  Status check_sizes(std::string_view key, uint64_t value_bytes) const;
  // `large`: some values are over the limit of those in containers.
  // Inside a call. *looks: some tree is one that is written by transactions only (subtrees.h), and
  // nothing was.
  Status write_operations(std::string_view operations, uint32_t count, bool large,
                          Durability durability, bool* looks = nullptr);
  // A put of such a value, which is not copied.
  Status write_large(uint32_t tree, std::string_view key, std::string_view value,
                     Durability durability);
  Durability level(Durability asked) const {
    return asked == Durability::kDefault ? options_.durability : asked;
  }
  // One more or one less that keeps close() from closing.
  void hold() { held_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() { held_.fetch_sub(1, std::memory_order_relaxed); }

  const os::MemoryReserve memory_reserve_;  // before all that takes memory
  std::unique_ptr<os::FileSystem> files_;  // of the directory, and of its mode; null: the machine's
  std::unique_ptr<db::Events> events_;     // null: nobody listens; before all that tells
  os::IoLimit background_io_;
  const std::unique_ptr<os::DataKeys> keys_;  // null: not encrypted
  const os::Machine machine_;                 // with the hooks of this database
  const std::string path_;
  Options options_;
  os::Mutex key_mutex_;
  // Null: not encrypted.
  std::unique_ptr<db::KeyStore> key_store_ GUARDED_BY(key_mutex_);
  std::unique_ptr<os::File> lock_;
  std::unique_ptr<os::Arena> arena_;
  std::unique_ptr<space::Devices> devices_;  // null: data files
  std::unique_ptr<space::Space> space_;
  std::unique_ptr<db::Feeds> feeds_;  // the residency gives it what is dropped
  std::unique_ptr<tree::Residency> residency_;
  std::unique_ptr<tree::TxnSlots> slots_;
  std::unique_ptr<tree::Snapshots> snapshots_;
  std::unique_ptr<tree::LargeExtents> large_;
  tree::Store store_;
  std::unique_ptr<txn::Sequencer> sequencer_;
  std::unique_ptr<txn::Reappender> reappender_;
  std::unique_ptr<txn::RowLocks> row_locks_;
  std::unique_ptr<db::Catalog> catalog_;
  std::unique_ptr<db::NamedSnapshots> named_snapshots_;
  std::unique_ptr<db::Manifest> manifest_;
  std::unique_ptr<wal::Log> log_;
  wal::LogOptions log_options_;
  std::vector<format::LogEpoch> epochs_;  // of the log as it was opened, the present one among them
  std::unique_ptr<db::FollowerRegistry> followers_;  // null: read-only, or nobody can follow
  std::unique_ptr<db::Publisher> publisher_;
  std::unique_ptr<db::Scheduler> scheduler_;
  std::unique_ptr<db::FilterJob> filters_;  // null: there are none
  std::unique_ptr<db::ExpiryJob> expiry_;
  std::unique_ptr<db::Scrub> scrub_;            // null: there is none
  std::unique_ptr<db::CountersFile> counters_;  // null: read-only
  std::unique_ptr<db::LayerMerger> layer_merger_;
  txn::Services services_;
  std::unique_ptr<db::View> view_;  // null: it is not one of a follower
  db::PreparedTransactions prepared_;
  db::OutcomeReserve outcome_reserve_;
  bool opened_ = false;
  std::atomic<bool> closed_{false};
  std::atomic<uint64_t> held_{0};
  std::atomic<uint64_t> operations_{0};
  std::atomic<uint64_t> next_ingest_file_{1};
  os::Mutex ingest_mutex_;    // one ingest commits at a time
  os::Mutex log_walk_mutex_;  // one check walks through the log at a time: it takes much memory
  uint64_t uuid_low_ = 0;
  uint64_t uuid_high_ = 0;
  uint64_t fork_generation_ = 0;
  const uint64_t instance_;

 private:
  Status why_absent(const Tree& tree) const;
  Status open_all(Opened* opened);
  Status check_no_remains(bool beginning) const;
  Status close_all();
  void complete_event(os::Event& event) const;
  os::Machine with_hooks(const os::Machine& machine);
  Status lock_directory(bool exists);
  Status open_keys(bool exists, db::LoadedManifest* loaded) EXCLUDES(key_mutex_);
  Status load_keys(bool exists, db::LoadedManifest* loaded) REQUIRES(key_mutex_);
  Status open_devices(db::LoadedManifest& loaded, bool exists);
  Status label_devices(db::LoadedManifest& loaded, bool exists);
  txn::Txn& thread_txn();
  Status commit_operations(txn::Txn& txn, const Status& prepared, std::string_view operations,
                           uint32_t count, Durability durability, bool* looks = nullptr);
  Status write_large_values(std::string_view operations, txn::Txn& txn, std::string* rewritten);
  void start_counters();
  Status start_jobs();
  void close_counters();
  void remove_ingest_files();
  Status check_merge_operators() const;
  const MergeOperator* merge_operator(std::string_view name) const;
  Status check_key_orders() const;
  const KeyOrder* encoded_order(std::string_view name) const;
  Status close_log();
  bool space_is_scarce() const;
  Status present_ring_bytes(size_t* bytes);
  size_t segment_bytes(const std::vector<format::LogEpoch>& epochs) const;

  os::Mutex training_mutex_;  // one dictionary is trained at a time; before settings_mutex_
  os::Mutex settings_mutex_;  // of one tree they change at a time
};

}  // namespace hawthorn
