#pragma once
// What a follower's view has beside a database that is opened read-only: its claim in the registry,
// and the tail of the log, by which it goes on.
//
//   opened: manifest ── log up to its end ──────────> a state at one commit
//   go_on:                  tail ── plain commits ──> put into its deltas, each as a whole
//                             └─── anything else ───> a view is to be made anew
//
// Not here: who makes views, and when (follower.cc); opening (open.cc). Used by impl.h.
// Threads: go_on by one thread at a time, beside any number of readers of the database.
//
// 1. What a commit has written gets its timestamp when it is put into the deltas, above visible_ts,
//    so that nobody sees it; then visible_ts moves to it. So each state that a reader sees is that
//    of one commit, and the next one is a later one.
// 2. Nothing is flushed: containers' cuts are those of the manifest, below all that comes.
// 3. A commit that was put into the deltas in part is never visible: there is no going on from it.

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/follower_registry.h"
#include "db/manifest.h"
#include "hawthorn/db.h"
#include "tree/tree.h"
#include "wal/tail.h"

namespace hawthorn::db {

class View {
 public:
  View(Db::Impl* db, std::unique_ptr<FollowerClaim> claim) : db_(db), claim_(std::move(claim)) {}

  // Whether the process that writes knows of followers, and has left the manifest alone that was
  // read. Errors: kNotSupported; kTooOld.
  Status check_writer(const LoadedManifest& loaded) const;
  // All is there up to `end` of the log, where there is one.
  Status begin(LoadedManifest loaded, const wal::LogOptions& options, format::Lsn end);
  // Puts what has been committed since into the deltas. False: that goes no further, and a view has
  // to be made anew. Errors: those of the disk; kCorruption.
  Result<bool> go_on();
  // Of the superblock that it was made from.
  uint64_t generation() const { return loaded_.generation; }
  bool revoked() const { return claim_ != nullptr && claim_->revoked(); }
  static Status too_old();
  // Nobody reads it any more.
  void end() { claim_.reset(); }

 private:
  struct TreeEnd {
    tree::TreeState* tree;
    format::Lsn cts;
  };
  Result<bool> take(const wal::RecordView& record);
  Result<bool> take_names(const wal::RecordView& record);
  Result<bool> take_operation(const wal::RecordView& record, const format::Operation& operation,
                              uint32_t seq);
  bool apply();
  bool make_visible();
  Result<bool> log_stands() const;
  Status look_for_ring();
  Result<bool> log_is_open() const;

  static constexpr size_t kBatch = 256;
  static constexpr size_t kKeptBytes = size_t{4} << 20;

  Db::Impl* const db_;
  std::unique_ptr<FollowerClaim> claim_;
  LoadedManifest loaded_;
  wal::LogOptions log_options_;
  std::unique_ptr<wal::Tail> tail_;  // null: there is no log
  bool has_ring_ = false;            // it had one when it was opened
  size_t delta_bytes_ = 0;           // when it was made
  bool stuck_ = false;
  bool overtaken_ = false;  // what go_on could not follow is more than a record
  // Read and not visible yet.
  format::Lsn newest_ = 0;
  std::vector<tree::Replayed> batch_;
  std::deque<std::string> records_;  // that these point into
  size_t record_bytes_ = 0;
  std::vector<TreeEnd> ends_;
  bool names_changed_ = false;
};

}  // namespace hawthorn::db
