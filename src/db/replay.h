#pragma once
// The log on its way back into the trees, when a database is opened.
//
// The pass that finds where the log ends applies commits as it meets them: most logs are read once.
// It stops applying at the first part of a transaction that was logged in chunks, whose outcome
// stands further on, and where memory gets short: to make room is to flush, for which the log must
// be durable (R7) and every extent that it alone names be known (R22). finish() goes on from there.
//
// Prepared transactions without an outcome are found by the scan, and put back when everything that
// is committed is there: restore(). What they have in the log stays there, under the id that they
// had, until it is moved (txn/reappender.h) or they end. Of several that were prepared under one id
// the last one counts: it is the same one, moved.
//
// Operations are applied by the batch, so that the misses of one overlap those of the others.
//
// Not here: reading the log (wal::Recovery), the order of opening (db/impl.h). One thread.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/scheduler.h"
#include "tree/tree.h"
#include "txn/transaction.h"
#include "wal/log.h"

namespace hawthorn::db {

class Replay {
 public:
  using FindTree = std::function<tree::TreeState*(uint32_t)>;
  // A put into the catalog, of the commit at `cts`, which begins in the log at `first_lsn`: from
  // here on its tree is found.
  using NameTree =
      std::function<Status(const format::Operation&, format::Lsn cts, format::Lsn first_lsn)>;

  // A tree for a layer of this one.
  using MakeLayer = std::function<Result<tree::TreeState*>(const tree::TreeState*)>;

  // `epochs`: of the log; `layers`: the commits whose layers the manifest has.
  Replay(tree::Store* store, Scheduler* scheduler, FindTree find_tree, NameTree name_tree,
         MakeLayer make_layer, std::vector<format::LogEpoch> epochs, std::set<format::Lsn> layers,
         bool read_only);
  // Before scan: the path of the manifest that was read, for errors.
  void goes_on_from(std::string manifest) { manifest_ = std::move(manifest); }
  // Before scan: they have what the log above their positions names.
  void keep_for(Feeds* feeds);
  // The log may know more than the manifest that was read: what only a newer one tells makes scan
  // and finish answer kTooOld.
  void beside_writer() { beside_writer_ = true; }
  // Finds the end of the log, the outcomes of transactions in chunks and the extents that only the
  // log names; applies what it can. Errors: kCorruption; kNotSupported; those of reading.
  Status scan(wal::Recovery& recovery, format::Lsn from);
  // Applies the rest. After scan; unless read only, the log is durable and flushes are possible.
  // Errors: those of a flush; kOutOfMemory when it is read only and the budget too small.
  Status finish(wal::Recovery& recovery);

  // The newest commit of the log, known after scan; 0: none.
  format::Lsn newest() const { return newest_; }
  // Those without an outcome, known after scan.
  std::vector<txn::FoundPrepared> prepared() const;
  // Makes each of them anew; `trees` are complete, no other thread is at work. `make`: one that was
  // not begun. Errors: kCorruption; those of Txn::install_found.
  using MakeTxn = std::function<std::unique_ptr<txn::Txn>()>;
  Status restore(wal::Recovery& recovery, const MakeTxn& make,
                 std::vector<std::unique_ptr<txn::Txn>>* restored);

 private:
  static constexpr size_t kBatch = 256;
  static constexpr size_t kKeptBytes = size_t{128} << 10;

  using ChunkedKey = std::pair<uint64_t, uint64_t>;  // start of the epoch, id
  struct ChunkedOutcome {
    format::Lsn cts = 0;        // 0: no commit seen
    format::Lsn from = 0;       // chunks below do not count: they were logged again
    format::Lsn first_lsn = 0;  // of those that are there, the first one that counts
    // Operations with a seq >= .second that were logged before .first do not count. Both go up.
    std::vector<std::pair<format::Lsn, uint32_t>> masks;
    // The operations [.first, .second) were met, in this pass over the log: one whose transaction
    // committed while it was being logged again stands in two chunks. None touch.
    std::map<uint32_t, uint32_t> met;
    std::set<uint32_t> layered;  // the trees whose operations went to layers
    // The last large value of a key in those, which stays: and so does what is written above it.
    std::map<std::pair<uint32_t, std::string>, uint32_t> large;
    uint32_t next_seq = 0;
    std::map<uint32_t, std::shared_ptr<tree::Layer>> layers;  // by tree
    // Of a prepared one: what its records say, and those of the next ones that were met so far.
    txn::FoundPrepared found;
    std::string held;
    uint32_t parts = 0;
    bool prepared = false;  // and has no outcome
  };
  // One that is put back. Its chunks may stand out of order: those that come too early wait.
  struct Restoring {
    std::unique_ptr<txn::Txn> txn;
    uint32_t next_seq = 0;
    uint32_t met = 0;
    std::map<uint32_t, std::string> early;  // encoded operations, by their number
  };
  // A record some of whose operations wait in the batch.
  struct Source {
    format::Lsn lsn = 0;
    std::string_view operations;
  };

  static Status damaged(const wal::RecordView& record, std::string_view what);
  // A transaction's id is its own within an epoch of the log: that with the record at this lsn.
  ChunkedKey chunked_key(format::Lsn of_epoch, uint64_t id) const;
  ChunkedOutcome* chunked(const wal::RecordView& record);
  Status scan_prepare(const wal::RecordView& record);
  Status scan_prepared_outcome(const wal::RecordView& record);
  void decide_prepared();
  Status restore_chunk(const wal::RecordView& record, const ChunkedOutcome& outcome,
                       Restoring* restoring);
  Status restore_early(Restoring* restoring, bool all);
  Status restore_operation(Restoring* restoring, const format::Operation& operation, uint32_t seq);
  static uint32_t rolled_back_from(const ChunkedOutcome& outcome, format::Lsn lsn);
  static void roll_back(ChunkedOutcome* outcome, format::Lsn lsn, uint32_t seq);
  static bool counts(const ChunkedOutcome& outcome, format::Lsn lsn, uint32_t seq);
  static void meet(ChunkedOutcome* outcome, format::Lsn lsn, uint32_t first_seq, uint32_t end);
  Status scan_record(const wal::RecordView& record);
  Status scan_operations(const wal::RecordView& record, std::string_view operations,
                         uint32_t first_seq, format::Lsn cts, ChunkedOutcome* outcome);
  Status look_at_early();
  Status note(const format::Operation& operation, format::Lsn cts, format::Lsn first_lsn);
  Status mark_extents(tree::TreeState* tree, const format::Operation& operation, format::Lsn cts);
  Status hold_for_feeds(const format::Operation& operation, format::Lsn cts);
  Status mark_attached(const format::Operation& operation);
  Status finish_record(const wal::RecordView& record);
  Status add(const wal::RecordView& record, std::string_view operations, uint32_t first_seq,
             format::Lsn cts, ChunkedOutcome* outcome);
  Status attach(tree::TreeState* tree, const format::Operation& operation, format::Lsn cts,
                format::Lsn first_lsn);
  Status apply();
  static bool goes_to_layer(const ChunkedOutcome* outcome, const format::Operation& operation,
                            uint32_t seq);
  static void hide_range(tree::TreeState* tree, const format::Operation& operation, format::Lsn cts,
                         format::Lsn first_lsn, bool at_record);
  static bool erased(const tree::TreeState& tree, const tree::KeyRange& range, format::Lsn cts);
  static Status scan_layered(const wal::RecordView& record, ChunkedOutcome* outcome);
  static std::string_view operations_of_commit(const wal::RecordView& record);
  Status to_layer(const wal::RecordView& record, bool late, ChunkedOutcome* outcome,
                  tree::Replayed* replayed);
  Status make_room(size_t next, uint32_t attempt, uint32_t* futile);
  void hold(const Source& source, std::string_view next);
  Status reached(format::Lsn lsn);
  tree::TreeState* find_tree(uint32_t id);

  tree::Store* const store_;
  Scheduler* const scheduler_;
  const FindTree find_tree_;
  const NameTree name_tree_;
  const MakeLayer make_layer_;
  const std::vector<format::LogEpoch> epochs_;
  const bool read_only_;
  Feeds* feeds_ = nullptr;
  format::Lsn fed_ = format::kLsnMax;  // the smallest position of a feed
  std::string manifest_;
  bool beside_writer_ = false;
  const size_t scan_bytes_max_;  // of memory in use, while the scan applies

  std::map<ChunkedKey, ChunkedOutcome> chunked_;
  // Operations with extents, of trees that chunks may name which were not looked at yet.
  std::vector<std::pair<std::string, format::Lsn>> early_;
  std::set<format::Lsn> kept_layers_;           // commits whose layers are gone, or in the manifest
  std::map<std::string, ChunkedKey> prepared_;  // the last one of each id
  format::Lsn first_chunk_ = format::kLsnMax;
  format::Lsn newest_ = 0;

  bool scanning_ = true;
  format::Lsn resume_ = format::kLsnMax;  // where finish() begins: the first that scan left out
  format::Lsn held_ = 0;                  // the record that a flush found half applied

  tree::TreeState* last_tree_ = nullptr;
  std::vector<tree::Replayed> batch_;
  std::vector<Source> sources_;
  std::unique_ptr<char[]> kept_;  // operations of small records, which a batch may outlive
  size_t kept_used_ = 0;
  std::deque<std::string> layer_entries_;  // that the batch holds
};

}  // namespace hawthorn::db
