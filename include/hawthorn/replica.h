#pragma once
// A second database that is kept equal to a first one by its change feed (feed.h).
//
//   source->create_feed("replica");
//   auto replica = hawthorn::Replica::open(*target).value();
//   replica->copy(*source);
//   auto feed = source->open_feed("replica").value();
//   while (auto* commit = feed.next(1000).value()) {
//     replica->apply(*commit);
//     feed.acknowledge(commit->cts());
//   }
//
// Each commit of the source becomes one commit of the target, together with the position: after a
// crash of either side the feed delivers some commits again, which are passed over. So the target
// always shows the source as it was at replica->position(). Equal is what reads show: trees, names,
// options, entries and when they end; not ids, timestamps, named snapshots or feeds.
//
// The position stands in a tree of the target, kReplicaTree. Whatever else is written to the target
// is the program's own affair: it is not detected, and what the source changes later overwrites it.
// Its options must name the merge operators and orders that the source's trees have. The target
// removes entries that have ended by itself, too: it and the source show them as ended from the
// same moment on, by their clocks.
//
// Threads: one at a time. Lifetime: the databases outlive it.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "hawthorn/db.h"
#include "hawthorn/export.h"
#include "hawthorn/feed.h"
#include "hawthorn/status.h"

namespace hawthorn {

inline constexpr std::string_view kReplicaTree = "hawthorn.replica";

// Gives the next piece of a commit (FeedCommit::encode). Lifetime: until the next call.
using FeedPieceSource = std::function<Result<std::string_view>()>;

class HAWTHORN_EXPORT Replica {
 public:
  class HAWTHORN_HIDDEN Impl;
  // Of a database that is one already, or that holds no tree. Errors: kInvalidArgument where it
  // holds something else; kReadOnly.
  static Result<std::unique_ptr<Replica>> open(Db& target);
  ~Replica();

  // The first copy, as of now, after the feed was made: reads a snapshot of the source. Cut short,
  // by a crash or an error, it is begun anew by the next call. Errors: kInvalidArgument where there
  // is a copy already; kNotSupported where a tree of the source is called kReplicaTree; those of
  // reading and of writing.
  Status copy(Db& source);
  // In its place, where the program has brought a copy here by other means: the target holds what
  // the source with this id (Db::id) had at this timestamp. kInvalidArgument where there is one.
  Status begin_at(std::string_view source_id, uint64_t timestamp);

  // The target holds all commits of the source up to here; 0: no copy yet.
  uint64_t position() const;
  // Empty: no copy yet.
  const std::string& source_id() const;

  // Applies a commit, or passes over it where it is there already. Durable as the target's options
  // say, or as asked. Errors: kInvalidArgument for a commit of another source, one behind a gap, or
  // where there is no copy yet; those of the commit's reading, and of writing: then nothing of it
  // was applied, and it may be tried again, from a new delivery. Clones of trees are clones here.
  Status apply(FeedCommit& commit, Durability durability = Durability::kDefault);
  // The same from pieces, which `pieces` hands over one by one. Errors: also kCorruption for bytes
  // that are not those of a piece, kInvalidArgument for one out of its order.
  Status apply(const FeedPieceSource& pieces, Durability durability = Durability::kDefault);

 private:
  explicit Replica(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawthorn
