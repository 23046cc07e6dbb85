#pragma once
// All trees of a database: the objects, by id, and where they hang, by a name or at a key of
// another tree, which stands in tree 0.
//
//   name ──tree 0──> id ──> TreeState ──> containers          manifest: ids and containers
//
// Making, naming, renaming, moving and dropping trees are writes of a transaction: entries of tree
// 0, committed, logged and replayed like any other. What a tree has in the manifest is made before
// the commit and taken away after it, in the background; open does the rest of what a crash cut
// short.
//
// Not here: who may drop what (txn/tree_changes.h), the public functions (db.cc, transactions.cc).
// Threads: every function from any thread, but those of opening.
//
// 1. A tree's record is in a batch of the manifest before any record of its containers, and before
//    its entry is logged. So what a durable entry names is in the manifest, or not older than what
//    the manifest knows: then replay makes it (adopt).
// 2. A dropped tree keeps its data until no registered timestamp lies below its end, and is taken
//    out of the manifest after the log is durable up to there: an entry never names what is gone.
// 3. The manifest's names follow behind, and serve only where the catalog is damaged.
// 4. Ids are never used again. What was taken out of the manifest is let go: no handle, name or id
//    leads to its TreeState, which goes when the last one who uses it has ended (tree/tree_ref.h).
// 5. A tree hangs in one place: whoever takes it away deletes the entry of tree 0 that says so, and
//    puts the new one in the same transaction. No tree hangs below itself.
// 6. Where a subtree hangs at a key, the parent has an entry there; whoever changes the one changes
//    the other in the same transaction, but for parents that are dropped themselves.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/publisher.h"
#include "format/catalog_entry.h"
#include "tree/tree.h"
#include "txn/transaction.h"

namespace hawthorn::db {

class Catalog : public txn::TreeKeeper {
 public:
  // Of a tree in the manifest, with its first container.
  static constexpr uint64_t kTreeRecordBytes = 1024;

  Catalog(tree::Store* store, Publisher* publisher) : store_(store), publisher_(publisher) {}
  ~Catalog() override;

  // ---- Opening

  // Makes the trees that the manifest names, and the catalog where it has none yet: then also in
  // `state`. Errors: kCorruption; kNotSupported; kInvalidArgument where a tree's merge operator or
  // order is not among the options'.
  Status build(format::ManifestState& state);
  // An entry of the log, by the commit at cts, which begins there at first_lsn.
  struct Logged {
    std::string_view key;
    std::string_view value;
    format::Lsn cts;
    format::Lsn first_lsn;
  };
  // Clones of clones: so deep they can be made, and so deep they are opened. Each is a level of the
  // stack of who reads.
  static constexpr size_t kCloneDepthMade = 256;
  static constexpr size_t kCloneDepthMax = 1024;
  // How many trees a clone of this one reads from.
  static size_t clone_depth(const tree::TreeState* source);
  // Makes its tree, and adds it to `state`, unless the manifest has or had it; of a clone the
  // commit is the moment that it shows. Errors: kCorruption.
  Status adopt(const Logged& logged, format::ManifestState& state);
  // The log is replayed. Copies the names of older databases, and finds what no name leads to.
  // Trees that had a name at one of the timestamps `kept` stay. Errors: those of a commit.
  Status finish_open(const txn::Services& services, bool read_only, std::vector<format::Lsn> kept);
  std::function<void()> tell_layers = [] {};   // that some are committed
  std::function<void()> tell_expires = [] {};  // that a tree's entries end
  // The one of this name among the options', or null.
  std::function<const MergeOperator*(std::string_view)> merge_operator;
  // The order of this name, among the options' or the library's, or null.
  // The order of this name, a comparison or not, whose labels begin with the byte `rows`. Errors:
  // kInvalidArgument.
  std::function<Result<format::TreeShape::Order>(std::string_view name, bool compared, char rows)>
      key_order;

  // ---- Trees

  // Tree 0.
  tree::TreeState* names() const { return names_; }
  // Null: there is none, or it was dropped. Never tree 0.
  tree::TreeState* find(uint32_t id) const;
  // As replay needs it: also tree 0.
  tree::TreeState* any(uint32_t id) const;
  // Those that have data, tree 0 and what is dropped but still read among them.
  std::vector<tree::TreeRef> all() const;
  // Of those the ones in which something is to be done (tree/active_trees.h).
  std::vector<tree::TreeRef> active() const { return store_->active.list(); }
  // How many have none any more, and are still used, or about to be freed.
  size_t gone() const;
  // Whether the manifest knows the moments of all clones. While no transaction is open.
  bool clones_kept() const;
  // What the log is needed for by all of them.
  format::Lsn log_needed(uint64_t durable_batch) const;

  // ---- Names

  // Errors: kNotFound; those of a read.
  Result<tree::TreeState*> find(std::string_view name, const tree::ReadView& view, bool registered);
  // In no order. `view` must be registered.
  struct Name {
    std::string name;
    uint32_t id;
  };
  Result<std::vector<Name>> list(const tree::ReadView& view);
  static Status check_name(std::string_view name);
  // What the manifest calls it.
  std::string manifest_name(uint32_t id) const;
  // Changes what the manifest says of a tree, durably. Errors: kInvalidArgument where the tree is
  // gone; those of publishing; then it says what it did.
  Status change_record(uint32_t id, const std::function<void(format::TreeRecord&)>& change);

  // Where a tree hangs, or is to hang.
  struct Place {
    std::string_view key;               // without a parent its name, else a stored key
    tree::TreeState* parent = nullptr;  // one that may hold subtrees
  };
  // Makes a tree and its entries as writes of this transaction; `shape`: encoded, or empty. Errors:
  // those of a write; kInvalidArgument for an order that nobody knows.
  Result<tree::TreeState*> create(txn::Txn& txn, const Place& place, format::Codec codec,
                                  std::string shape);
  // Makes a tree that shows what the source holds when the transaction commits. Errors: those of a
  // write; kConflict where the source was dropped meanwhile.
  Result<tree::TreeState*> clone(txn::Txn& txn, const Place& place, tree::TreeState* source,
                                 std::string_view source_name);
  // The tree that hangs here, as the transaction sees it, is dropped when it commits, with all that
  // hangs below it. Errors: those of a write and of a read; then nothing of it is left.
  Status drop(txn::Txn& txn, const Place& place, tree::TreeState* tree);
  // The same tree at another place, where the transaction sees nothing. Errors: as drop.
  Status move(txn::Txn& txn, const Place& from, const Place& to, tree::TreeState* tree);

  // ---- Subtrees (catalog_places.cc). Keys are stored ones.

  // Errors: kNotFound; those of a read.
  Result<tree::TreeState*> find_subtree(const tree::TreeState& parent, std::string_view key,
                                        const tree::ReadView& view, bool registered);
  struct Subtree {
    std::string key;
    tree::TreeState* tree = nullptr;
  };
  // Those that hang from `low` on, below `high`, in the order of their keys. `view` must be
  // registered.
  Result<std::vector<Subtree>> subtrees(const tree::TreeState& parent, std::string_view low,
                                        std::optional<std::string_view> high,
                                        const tree::ReadView& view);
  // All that there are; as above.
  struct Hanging {
    uint32_t parent = 0;
    std::string key;
    uint32_t id = 0;
  };
  Result<std::vector<Hanging>> all_subtrees(const tree::ReadView& view);
  // What hangs in a range, as the transaction sees it, is dropped when it commits, with all below;
  // the entries of the parent are the caller's. Errors: as drop.
  Status drop_subtrees(txn::Txn& txn, tree::TreeState* parent, std::string_view low,
                       std::optional<std::string_view> high);
  // OK where the tree may come to hang in `parent` when the transaction commits. Errors:
  // kInvalidArgument where that hangs in the tree, at whatever depth; those of a read.
  Status check_no_circle(txn::Txn& txn, const tree::TreeState* tree, const tree::TreeState* parent);

  void unmade(tree::TreeState* tree) override;
  void ended(tree::TreeState* tree) override;
  void moved() override;
  Result<tree::TreeState*> make_layer(const tree::TreeState* of) override;
  void layers_committed() override { tell_layers(); }
  // The manifest knows these layers from here on, or `kept` false: does not, durably. Errors: those
  // of publishing.
  // With entries: deleted ranges are in the log alone.
  struct CommittedLayer {
    tree::TreeRef of;
    std::shared_ptr<tree::Layer> layer;
  };
  Status keep_layers(std::span<const CommittedLayer> layers, bool kept);
  // The commits whose layers build has found.
  std::set<format::Lsn> layers_of_manifest() const;
  // All that are committed, in the order of their commits.
  std::vector<CommittedLayer> committed_layers() const;
  // A piece of background work: takes away what dropped trees have on disk, as far as nobody reads
  // them any more, and tells the manifest of new names.
  // Without `wait` nothing of a tree that is being flushed. Errors: those of publishing.
  Status remove_ended(bool wait);

 private:
  using Shape = std::unique_ptr<const format::TreeShape>;
  tree::TreeState* add(uint32_t id, std::vector<tree::Container*> containers,
                       tree::TreeState* clone_of = nullptr, Shape shape = nullptr);
  Result<Shape> shape_of(std::string_view name, std::string_view encoded) const;
  format::ContainerRecord add_to(format::ManifestState& state, uint32_t id, std::string_view name,
                                 uint32_t flags);
  Status open_containers(const std::vector<format::ContainerRecord>& records,
                         std::vector<tree::Container*>* containers);
  Status look_through() REQUIRES(removing_);
  template <typename Each>
  Status read_names(const tree::ReadView& view, Each each);
  Status read_subtrees(
      const tree::ReadView& view, std::string begin, std::string end,
      const std::function<Status(const format::SubtreePlace&, std::string_view value)>& each);
  // What is made beside its name and codec.
  struct Kind {
    uint32_t layer_of = 0;
    tree::TreeState* clone_of = nullptr;
    std::string shape = {};
  };
  Status check_memory() const;
  Result<tree::TreeState*> make(std::string_view name, format::Codec codec, const Kind& kind);
  Result<tree::TreeState*> hang_made(txn::Txn& txn, const Place& place, tree::TreeState* made,
                                     TreeChanged change);
  Status hang(txn::Txn& txn, const Place& place, const tree::TreeState* tree);
  Status take_off(txn::Txn& txn, const Place& place, const tree::TreeState* tree);
  Status drop_hanging(txn::Txn& txn, tree::TreeState* parent, std::string_view low,
                      std::optional<std::string_view> high, std::vector<tree::TreeState*>* dropped);
  Status drop_below(txn::Txn& txn, std::vector<tree::TreeState*> dropped);
  std::string entry_of(const tree::TreeState* tree) const;
  Status note_end(txn::Txn& txn, std::string_view name, const format::CatalogNote& note);
  Status keep_clones() REQUIRES(removing_);
  Status remove_all(bool wait) REQUIRES(removing_);
  Result<bool> remove_some(bool wait) REQUIRES(removing_);
  void drop_layers_of(tree::TreeState* tree);
  tree::TreeCell* take_cell() REQUIRES(mutex_);
  void let_go(uint32_t id) REQUIRES(mutex_);
  void free_gone() REQUIRES(removing_);
  void relieve();
  Result<tree::TreeState*> salvage(std::string_view name, Status damage) const;
  Result<tree::TreeState*> tree_of(std::string_view name, std::string_view value) const;
  Result<tree::TreeState*> tree_of_newest(std::string_view name, std::string_view key,
                                          const tree::ReadView& view, bool registered,
                                          Value& value);
  void give_layer(tree::TreeState* data, const format::TreeRecord& record);
  static void show_clone(tree::TreeState* tree, const Logged& logged);
  void end_clones();
  Status give_operator(tree::TreeState* tree, const format::TreeRecord& record) const;
  void take_memory(tree::TreeState* tree);
  Status migrate(const txn::Services& services);

  tree::Store* const store_;
  Publisher* const publisher_;
  tree::TreeState* names_ = nullptr;
  uint32_t known_trees_ = 0;  // ids below were in the manifest that was opened, or before it
  // Those of the manifest of a database from before the catalog, until they are copied to it; in
  // one that is open read-only, for good.
  std::map<std::string, uint32_t, std::less<>> old_names_;

  std::atomic<bool> has_work_{false};  // for remove_ended

  mutable os::Mutex mutex_;
  std::map<uint32_t, std::unique_ptr<tree::TreeState>> trees_ GUARDED_BY(mutex_);
  std::vector<tree::TreeState*> list_ GUARDED_BY(mutex_);  // of those whose data are on disk
  uint32_t next_tree_ GUARDED_BY(mutex_) = 1;
  std::vector<tree::TreeState*> ended_ GUARDED_BY(mutex_);
  struct Gone {
    std::unique_ptr<tree::TreeState> tree;
    uint64_t stamp;  // when it was let go (os/epoch.h)
  };
  std::vector<Gone> gone_ GUARDED_BY(mutex_);
  static constexpr size_t kLeftMax = 256;  // in ended_, before those who make trees take some away
  size_t relieve_at_ GUARDED_BY(mutex_) = kLeftMax;
  std::deque<tree::TreeCell> cells_ GUARDED_BY(mutex_);  // all there ever were at once
  std::vector<tree::TreeCell*> free_cells_ GUARDED_BY(mutex_);
  // In the manifest, or soon.
  format::RecordMap<uint32_t, format::TreeRecord> records_ GUARDED_BY(mutex_);
  bool moved_ GUARDED_BY(mutex_) = false;   // since they were last looked through
  bool cloned_ GUARDED_BY(mutex_) = false;  // of some clone only the log tells the moment
  os::Mutex making_;                        // ids come into the manifest in their order
  os::Mutex removing_;                      // one removes, or changes records, at a time
  // Of the log: clones of trees that were not found yet.
  struct Orphan {
    std::string key;
    std::string value;
    format::Lsn cts;
    format::Lsn first_lsn;
  };
  Status adopt_one(const Logged& logged, format::ManifestState& state, std::vector<Orphan>* next);
  std::multimap<uint32_t, Orphan> orphans_;  // by what they are clones of
  std::vector<tree::TreeState*> untold_;     // sources of clones whose moments the log may tell
  std::vector<uint32_t> opened_;             // until somebody looks which of them have no name
  std::vector<format::Lsn> kept_;            // timestamps of named snapshots, until then
};

}  // namespace hawthorn::db
