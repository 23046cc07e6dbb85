#pragma once
// What is behind a Feed and the commit that it has handed out.
//
//   CommitReader ──operations, as stored──> FeedCommit::Impl ──changes, as a program made them──>
//
// Not here: positions and what is kept (feeds.h), how commits become bytes (feed_code.h).
// Threads: one at a time. Lifetime: the database counts it as held.
//
// 1. A commit without a change for the program is passed over.
// 2. What the program has left of a commit is passed over before the next one: the trees follow.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/commit_reader.h"
#include "db/feed_code.h"
#include "db/feed_trees.h"
#include "db/impl.h"
#include "hawthorn/feed.h"

namespace hawthorn {

class FeedCommit::Impl : public db::ChangeSource {
 public:
  // `feed`: its name, or empty.
  Impl(Db::Impl* db, std::string feed);
  Status open(format::Lsn from, format::Lsn position);

  // Goes to the next commit that has a change; false: there is none below `below`.
  Result<bool> next_commit(format::Lsn below);
  format::Lsn passed() const { return reader_->passed(); }

  uint64_t cts() const { return reader_->cts(); }
  uint64_t previous() const { return previous_; }
  // Whether a change of the commit was asked for: those behind it are not all of the commit.
  bool begun() const { return begun_; }
  Result<bool> next(FeedChange* change) override;
  Result<size_t> read_value(uint64_t offset, std::span<char> buffer) override;
  Result<bool> encode(std::string* piece);
  const std::string& source_id() const { return source_id_; }

 private:
  Status find_trees(const db::CommitReader::Source& source, format::Lsn from, format::Lsn position);
  Result<bool> next_change(FeedChange* change);
  Result<bool> translate(const format::Operation& operation, FeedChange* change);
  Result<bool> translate_put(const db::FeedTrees::Known& tree, const format::Operation& operation,
                             FeedChange* change);
  Status load_key(const db::FeedTrees::Known& tree, std::string_view stored, FeedChange* change);
  Status load_range(const db::FeedTrees::Known& tree, const format::Operation& operation,
                    FeedChange* change);

  Db::Impl* const db_;
  const std::string feed_;
  const std::string source_id_;
  std::unique_ptr<db::CommitReader> reader_;
  db::FeedTrees trees_;
  uint64_t previous_ = 0;
  uint64_t before_ = 0;  // the commit before the one that is handed out
  bool drained_ = true;
  bool begun_ = false;
  std::optional<FeedChange> first_;  // looked at already
  std::string key_;
  std::string value_;
  std::string high_;
  format::LargeValue large_;
  uint64_t large_skip_ = 0;
  bool has_large_ = false;
  std::optional<db::PieceWriter> writer_;
};

class Feed::Impl {
 public:
  Impl(Db::Impl* db, std::string name) : db_(db), name_(std::move(name)), commit_(db, name_) {
    db_->hold();
  }
  ~Impl();
  // Errors: see Db::open_feed.
  Status open();
  Status open_at(format::Lsn position);
  Result<FeedCommit*> next(uint64_t timeout_ms);
  Status acknowledge(uint64_t cts);
  uint64_t position() const { return acknowledged_; }
  const std::string& source_id() const { return commit_.source_id(); }

 private:
  Status usable() const;
  bool may_pass() const { return delivered_ <= acknowledged_; }

  Db::Impl* const db_;
  const std::string name_;
  bool reading_ = false;
  FeedCommit::Impl commit_;
  FeedCommit handle_{&commit_};
  Status broken_;
  uint64_t delivered_ = 0;
  uint64_t acknowledged_ = 0;
};

}  // namespace hawthorn
