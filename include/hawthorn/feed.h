#pragma once
// The change feed: what was committed since a position, commit by commit.
//
//   db->create_feed("search-index");
//   auto feed = db->open_feed("search-index").value();
//   while (auto* commit = feed.next(1000).value()) {
//     hawthorn::FeedChange change;
//     while (commit->next(&change).value()) index(change);
//     feed.acknowledge(commit->cts());
//   }
//
// A feed has a name and a position, the timestamp of the last commit that was acknowledged. Both
// survive restarts and crashes, and the log is kept from there on; so each commit behind the feed's
// creation is delivered at least once, in the order of timestamps, and only when it is durable:
// what was delivered is never lost by a crash. Who keeps the timestamp together with what he makes
// of a commit has each exactly once (replica.h does).
//
// Delivered is all that changes what a tree shows to its readers, as the program wrote it: removals
// of entries that have ended (TreeOptions::expires) and by flush filters as deletes, bulk ingests
// as puts (while there are feeds they write as transactions do). docs/feed.md has the details. Not
// together with trees that may hang in trees (TreeOptions::subtrees): whichever comes second is
// kNotSupported.
//
// Threads: one feed object, and the commit that it has handed out, from one thread at a time.
// Lifetime: destroy it before the Db is closed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hawthorn/export.h"
#include "hawthorn/key_order.h"
#include "hawthorn/options.h"
#include "hawthorn/status.h"

namespace hawthorn {

class Db;

struct FeedOptions {
  // How much log, and disk space of large values that only the log names, may be kept for it.
  // Beyond that the feed is lost, so that a reader who never returns does not fill the disk: its
  // reads return kTooOld, and the database goes on. It is looked at when flushes are published, so
  // it may be exceeded by as much as is logged in between. 0: no limit.
  uint64_t log_bytes_max = uint64_t{4} << 30;
};

struct FeedInfo {
  std::string name;
  uint64_t position = 0;  // timestamp of the last commit that was acknowledged, or of its creation
  uint64_t created_us = 0;  // wall clock, microseconds since 1970
  uint64_t log_bytes_max = 0;
  uint64_t log_bytes = 0;  // from where the log is kept for it to its end; feeds share what is kept
  bool lost = false;
  bool open = false;  // somebody reads it
};

enum class ChangeType : uint8_t {
  kPut = 1,          // key, value, expires_at_ms
  kDelete = 2,       // key
  kDeleteValue = 3,  // key, value: of a key that may have several
  kMerge = 4,        // key, value: an operand
  kDeleteRange = 5,  // key and high: all keys in between that were there before, key included
  kCreateTree = 6,   // tree
  kDropTree = 7,     // tree
  kRenameTree = 8,   // tree, with its old name; other_name: the new one
  kCloneTree = 9,    // tree; other_name: what it begins as a copy of
};

// A tree as it was at the moment of the change.
struct FeedTree {
  uint32_t id = 0;  // never used again for another tree
  std::string name;
  TreeOptions options;
  Compression compression = Compression::kNone;  // when it was made
  std::string merge_operator;  // its name, as of now: that is not a part of commits
};

struct FeedChange {
  ChangeType type = ChangeType::kPut;
  const FeedTree* tree = nullptr;
  std::string_view key;
  std::string_view value;  // empty where it is streamed
  // Of kDeleteRange: the first key that is not deleted; nothing: to the end of the tree.
  std::optional<std::string_view> high;
  uint64_t expires_at_ms = 0;  // since 1970; 0: never
  uint64_t value_bytes = 0;
  bool streamed = false;  // the value is to be read by read_value
  std::string_view other_name;
};

// One commit. Lifetime: until the next call of Feed::next, or until the feed goes.
class HAWTHORN_EXPORT FeedCommit {
 public:
  class HAWTHORN_HIDDEN Impl;
  explicit FeedCommit(Impl* impl) : impl_(impl) {}

  uint64_t cts() const;
  // Timestamp of the commit that was delivered before, or the feed's position when it was opened:
  // what was committed in between is nothing that a feed delivers.
  uint64_t previous() const;
  // The next change, in the order in which they were made; false: there is none left. What a key
  // shows is what its last change says, so they may be applied one by one. Views are valid until
  // the next call. Errors: kTooOld when the feed was lost meanwhile; kCorruption; kIoError.
  Result<bool> next(FeedChange* change);
  // Reads [offset, offset + buffer.size()) of the value of a change that is streamed; returns the
  // bytes read (less at its end). Errors: as next; kInvalidArgument where there is none.
  Result<size_t> read_value(uint64_t offset, std::span<char> buffer);

  // The same as bytes, for who sends commits elsewhere: replaces *piece by the next piece of the
  // commit, about 64 KB (more where a key or value is); false: that was the last. In place of
  // next(), not beside it. Pieces carry a version, their numbers and checksums, and the source's
  // id; Replica::apply takes them in the order in which they were made.
  Result<bool> encode(std::string* piece);

 private:
  friend class Replica;
  Impl* impl_;
};

class HAWTHORN_EXPORT Feed {
 public:
  class HAWTHORN_HIDDEN Impl;
  Feed();
  explicit Feed(std::unique_ptr<Impl> impl);
  ~Feed();
  Feed(Feed&& other) noexcept;
  Feed& operator=(Feed&& other) noexcept;

  // The next commit; null when none came within the time. Commits that did not ask to be durable
  // are made durable while this waits. Errors: kTooOld when the log does not reach back any more,
  // or the feed was lost; kNotSupported for a bulk ingest that attached containers (only behind
  // open_feed_at); kCorruption; kIoError.
  Result<FeedCommit*> next(uint64_t timeout_ms = 0);

  // Commits up to this timestamp, which must have been delivered, are not needed any more, durably
  // (one sync of the manifest: acknowledge many commits at once where they are small). Errors:
  // kInvalidArgument for a timestamp that was not delivered, and of feeds without a name; kTooOld
  // when it was lost; those of publishing.
  Status acknowledge(uint64_t cts);

  // What was acknowledged.
  uint64_t position() const;
  // Of the database: 32 digits, the same for its life.
  const std::string& source_id() const;
  bool valid() const { return impl_ != nullptr; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawthorn
