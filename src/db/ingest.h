#pragma once
// A bulk ingest from the inside: entries in, containers and one commit out.
//
//   add ──[external sort]──> ascending ─┬─ gap of the tree: container built and written ─┐
//                                       └─ else: kept for the transaction ───────────────┤
//   finish: carve containers for the gaps, publish and sync that ──> log what is attached, write
//   the transaction ──> [commits wait: claim, commit record, attach, visible_ts] ──> publish
//
// Not here: the public handle (ingest_api.cc), building containers (bulk_builder.h).
// Threads: one object, one thread at a time. finish() of several run one after the other.
//
// 1. The commit record in the log decides, as for any commit: it stands behind chunks that name
//    every container, and what they refer to is on disk before. Before it, no manifest names any of
//    it, so that it is free space after a crash; after it, replay attaches what the manifest lacks.
// 2. A container that is attached covers a range in which nothing was committed before: that is
// seen
//    while commits wait. So its cut is the commit (R10), and replay drops what the log has of the
//    range from before.
// 3. The empty containers that they replace are durable in the manifest before the commit record
//    is written, and nobody may change them in between: replay finds them by low key and id.
// 4. Nothing of the ingest's own transaction lies in a range that it attaches: those have the same
//    timestamp, and replay could not tell them apart from what the run holds.
// 5. Readers below the commit go on to see the range empty (tree/run_file.h).

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/bulk_builder.h"
#include "db/entry_file.h"
#include "db/external_sort.h"
#include "db/impl.h"
#include "hawthorn/ingest.h"
#include "tree/cursor.h"

namespace hawthorn::db {

// For the ingest's transaction, which is as large as it is.
class IngestAdmission : public txn::Admission {
 public:
  explicit IngestAdmission(Scheduler* scheduler) : scheduler_(scheduler) {}
  Status admit(size_t bytes, bool insert) override {
    return scheduler_->admit_beyond(bytes, insert);
  }
  Status relieve(uint32_t* futile) override { return scheduler_->relieve(futile); }
  bool stuck() const override { return scheduler_->stuck(); }
  Status free_log() override { return scheduler_->free_log(); }

 private:
  Scheduler* const scheduler_;
};

class IngestSession : private txn::Attaching {
 public:
  IngestSession(Db::Impl* db, tree::TreeState* tree, const IngestOptions& options);
  ~IngestSession() override;

  // The first error of add or finish is final.
  Status add(std::string_view key, std::string_view value);
  Status add_stream(std::string_view key, uint64_t size, const StreamSource& source);
  Status finish(const IngestProgress& progress);
  void abandon();
  bool open() const { return open_; }
  IngestStats stats() const;

 private:
  static constexpr uint32_t kSeeksOfView = 4096;

  Status add_stored(std::string_view key, uint64_t size, const StreamSource& source);

  // A range of keys in which the tree holds nothing, as far as was seen.
  struct Gap {
    std::string low;  // of the container that is being gathered
    std::optional<std::string> bound;
  };

  Status usable() const;
  Status check(std::string_view key, uint64_t value_bytes) const;
  Status keep(Status status);
  Status accept(const IngestEntry& entry);
  Status route(const IngestEntry& entry);
  Status find_gap(std::string_view key, bool* exists);
  void end_view();
  Status close_part(const std::string* high);
  Status spill_part();
  Status sort_all(const IngestProgress& progress);

  // ---- The commit (ingest_commit.cc)
  Status commit();
  Status carve();
  Status keep_all();
  Status move_misfits();
  Status unbuild(const tree::Attachment& part, bool again);
  Status write_kept(txn::Txn& txn);
  Status commit_once();
  Status claim() override;
  void attach(format::Lsn cts, format::Lsn first_lsn) override;
  void release() override;

  void forget_large(std::string_view encoded);
  void give_back();
  size_t target_bytes() const;
  std::string new_path();

  Db::Impl* const db_;
  const tree::TreeRef tree_;
  const IngestOptions options_;
  IngestAdmission admission_;
  bool open_ = true;
  Status failed_;
  IngestStats stats_;

  std::unique_ptr<ExternalSort> sort_;
  size_t sort_bytes_ = 0;                // counted against the budget
  std::optional<std::string> last_key_;  // that was added, in order
  std::set<std::string> large_;          // encoded: of the ingest until it is committed

  // Where the tree holds something. The view is renewed now and then.
  std::optional<std::string> routed_key_;
  tree::Snapshots::Registration registration_;
  std::unique_ptr<tree::TreeCursor> cursor_;
  uint32_t seeks_ = 0;
  std::optional<Gap> gap_;
  BulkBuilder builder_;

  std::vector<tree::Attachment> parts_;  // in key order, but for what was routed again
  bool routing_again_ = false;
  uint32_t rounds_ = 0;
  std::vector<std::unique_ptr<EntryFile>> kept_;  // for the transaction
  std::vector<size_t> misfits_;                   // of parts_: somebody has written there
};

}  // namespace hawthorn::db
