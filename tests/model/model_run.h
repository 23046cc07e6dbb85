#pragma once
// Random operations against a database and against the model of versions.h, compared at every step.
//
// One thread calls; several transactions, snapshots and cursors are open at any time. Conflicts of
// optimistic transactions are expected exactly (R18), snapshots see their commit for as long as
// they are kept (R14, R15), cursors of transactions see the transaction's own writes. Not here:
// concurrency (tests/concurrency), crashes (tests/crash).

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/model/model_operator.h"
#include "tests/model/versions.h"

namespace hawthorn::tests {

// A key in messages.
inline std::string shown(std::string_view key) {
  return ::testing::PrintToString(std::string(key.substr(0, 40))) + " of " +
         std::to_string(key.size()) + " bytes";
}

struct ModelOptions {
  uint64_t seed = 1;
  uint64_t operations = 100'000;
  uint64_t keys = 20'000;
  size_t budget_bytes = size_t{16} << 20;
  bool large = true;      // values over 64 KB
  bool counters = false;  // keys of 8 bytes, and most values
  bool encrypted = false;
  bool batches = false;  // cursors hand them out, too
};

class ModelRun {
 public:
  using Opener = std::function<Result<std::unique_ptr<Db>>(const Options&)>;
  ModelRun(const ModelOptions& options, Opener opener);

  // Runs until a fatal failure or the end; then compares everything.
  void run();

  // Bulk ingests that were finished; of those, the ones that attached containers; the containers.
  struct Ingests {
    uint64_t finished = 0;
    uint64_t attaching = 0;
    uint64_t containers = 0;
  };
  const Ingests& ingests() const { return ingests_; }
  // Transactions that were prepared.
  uint64_t prepared() const { return prepared_count_; }

 private:
  struct OpenTree {
    std::string name;
    Tree handle;
    std::shared_ptr<ModelTree> model;
    uint64_t id = 0;
    bool merges = false;  // it has the model's merge operator
    // The last commit whose writes may have gone to layers: all who began before it may find a
    // conflict on any key of the tree (docs/transactions.md, "Larger than memory").
    uint64_t spilled = 0;
  };
  struct Write {
    OpenTree* tree = nullptr;
    Rank rank = 0;
    ModelValue value;
  };
  using Writes = std::map<uint64_t, Overlay>;  // by tree id
  // What must not change between a commit and that of the transaction: keys [from, to) of a tree.
  struct ReadRange {
    uint64_t tree = 0;
    Rank from = 0;
    Rank to = 0;
    uint64_t since = 0;
  };
  struct Mark {
    Savepoint savepoint;
    Writes own;
  };
  struct OpenTxn {
    uint64_t number = 0;
    Transaction txn;
    Isolation level = Isolation::kSnapshot;
    uint64_t began = 0;
    Writes own;
    std::vector<Mark> marks;
    std::vector<ReadRange> reads;

    void note_range(uint64_t tree, Rank from, Rank to) {
      if (level == Isolation::kSerializable) reads.push_back({tree, from, to, began});
    }
    void note_read(uint64_t tree, Rank rank) { note_range(tree, rank, rank + 1); }
    // A move of a cursor over [low, high) from a place (high: the end) to what it shows, or
    // nothing.
    void note_walk(uint64_t tree, Rank low, Rank high, Rank from, Rank shown, bool forward) {
      if (from == kNoRank) return;
      const Rank end = shown != kNoRank ? shown : forward ? high : low;
      const Rank last = std::max(from, end);
      note_range(tree, std::min(from, end), std::min(last + 1, high));
    }
  };
  // Waits for its outcome, across restarts.
  struct PreparedTxn {
    std::string id;
    Transaction txn;  // or gone
    Writes own;
    std::vector<ReadRange> reads;
  };
  struct OpenCursor {
    Cursor cursor;
    uint64_t tree = 0;
    uint64_t commit = 0;
    uint64_t txn = 0;  // number of its transaction, or 0
    Rank lower = 0;
    Rank upper = 0;
    bool key_only = false;
    bool own_snapshot = false;
    Rank at = kNoRank;
    Rank behind = kNoRank;  // where the next batch begins, unless it stands on an entry
  };
  struct OpenSnapshot {
    Snapshot snapshot;
    uint64_t commit = 0;
  };

  void open();
  void step();
  void write_one();
  void write_batch();
  void wave();
  void ingest();
  void rename(OpenTree& tree);
  void count_dropped(const OpenTree& tree, const OpenSnapshot& snapshot);
  void clear(OpenTree& tree, Rank from, Rank to);
  void delete_range(OpenTree& tree, Rank from, uint64_t count);
  void write_all(const std::vector<Write>& writes);
  void read();
  void multi_get();
  void get_async(const OpenTree& tree, const std::vector<Rank>& ranks, uint64_t commit,
                 const ReadOptions& options);
  void scan();
  void count();
  void begin();
  void use_txn();
  void end_txn(size_t index, bool commit);
  void exclusive();
  void locking();
  void prepare_and_end();
  void prepare_txn(size_t index, bool keeps_object);
  void meet_prepared();
  void end_prepared(size_t index);
  bool has_intent(uint64_t tree, Rank rank, const OpenTxn* but = nullptr) const;
  bool read_by_prepared(uint64_t tree, Rank rank) const;
  void mark_or_roll_back(OpenTxn& txn);
  void nest(OpenTxn& txn);
  void compare_and_set();
  // One of the forms with arguments of its own; what it wrote is in *written.
  template <typename In>
  Result<bool> compare_and_set_in(In& in, const OpenTree& tree, Rank rank,
                                  const ModelValue& present, bool* matches, ModelValue* written);
  // What a transaction sees of others.
  uint64_t seen_by(const OpenTxn& txn) const {
    return txn.level == Isolation::kReadCommitted ? commit_ : txn.began;
  }
  // Whether [from, to) was changed since a commit; *perhaps: only in a way that leaves no trace.
  bool loses(const OpenTxn& txn, bool* perhaps) const;
  bool changed_since(const OpenTree& tree, Rank from, Rank to, uint64_t since, bool* perhaps) const;
  void take_over(const Writes& own);
  // After a commit with at least so many writes to these; of fewer none goes to a layer.
  static constexpr size_t kMayHaveSpilled = 16;
  void note_spilled(const std::set<uint64_t>& trees);
  void open_cursor();
  void move_cursor();
  Rank skip(OpenCursor& c, const ModelView& expected, bool* found, bool* forward);
  Rank seek_random(OpenCursor& c, const ModelView& expected, bool* found);
  void take_batches(OpenCursor& c, const ModelView& expected, OpenTxn* txn);
  void manage_snapshots();
  void upkeep();
  void reopen();
  void trees();
  void compare_all();

  OpenTree& any_tree() { return trees_[prng_.below(trees_.size())]; }
  OpenTree* tree_by_id(uint64_t id);
  const OpenTree* tree_by_id(uint64_t id) const;
  OpenTxn* txn_by_number(uint64_t number);
  Rank any_key();
  // A key near one of the pool; *rank: the first of the pool that is >= it.
  std::string any_seek(Rank* rank);
  ModelValue any_value();
  Compression any_compression();
  Durability any_level();
  uint64_t oldest() const;
  ModelView view(const OpenTree& tree, uint64_t commit, const OpenTxn* txn = nullptr) const;
  void close_readers();
  void expect_value(const Status& status, std::string_view bytes, const ModelValue& expected,
                    const std::string& what);
  // `below`: what is there for the transaction now; null: not known.
  Status write_in(Transaction& txn, const OpenTree& tree, Rank rank, const ModelValue& value,
                  const ModelValue* below);
  // What a transaction would merge into, if that is sure to be there when it commits.
  const ModelValue* below(const OpenTxn& txn, const OpenTree& tree, Rank rank) const;
  void give_operator(OpenTree& tree);

  const ModelOptions options_;
  const Opener opener_;
  const KeyPool pool_;
  Prng prng_;
  std::unique_ptr<Db> db_;
  size_t budget_ = 0;
  uint64_t done_ = 0;    // operations
  uint64_t commit_ = 0;  // number of the last commit
  uint64_t last_id_ = 0;
  size_t renewed_ = 0;  // of trees_: the last that was dropped and made again
  Ingests ingests_;
  std::vector<OpenTree> trees_;
  std::vector<OpenSnapshot> snapshots_;
  std::vector<OpenTxn> txns_;
  std::vector<PreparedTxn> prepared_;
  uint64_t prepared_count_ = 0;
  std::vector<OpenCursor> cursors_;
  // Reused, as programs do.
  Value value_;
  ReadBatch batch_;
};

}  // namespace hawthorn::tests
