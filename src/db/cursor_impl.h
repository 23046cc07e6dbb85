#pragma once
// What is behind a public Cursor; where its transaction must know what was read, it tells (R19).
//
// Not here: the walk itself (tree/cursor.h). Threads: one at a time, its transaction's.
//
// 1. A walk is the range between the keys that were shown and asked for since the last seek. It is
//    told as a whole: when another begins, when the cursor is destroyed, or when the transaction
//    asks. In between, moves in one direction cost nothing.

#include <optional>
#include <string>
#include <string_view>

#include "db/impl.h"
#include "hawthorn/cursor.h"
#include "tree/cursor.h"
#include "txn/read_set.h"

namespace hawthorn {

class Cursor::Impl : public txn::OpenWalk {
 public:
  // `reads`: null where nobody asks. `own`: the snapshot that the cursor itself holds, if any.
  Impl(Db::Impl* db, Snapshot own, tree::TreeState* state, const tree::ReadView& view,
       const CursorOptions& options, txn::ReadSet* reads);
  ~Impl() override;

  bool first();
  bool last();
  bool seek(std::string_view key);
  bool seek_for_prev(std::string_view key);
  bool next() { return walking_ ? turn(true) : cursor_.next(); }
  bool prev() { return walking_ ? turn(false) : cursor_.prev(); }
  bool skip(int64_t n);
  bool seek_random(uint64_t random);
  const tree::TreeCursor& at() const { return cursor_; }

  void fold() override;
  void forget() override { reads_ = nullptr; }

 private:
  void begin_walk(bool forward, std::string_view from, std::optional<std::string_view> to);
  void extend();
  bool turn(bool forward);
  void end_walk(bool forward);

  Db::Impl* const db_;
  const Snapshot own_;
  tree::TreeState* const tree_;
  const std::string lower_;
  const std::optional<std::string> upper_;
  const format::Lsn floor_;
  txn::ReadSet* reads_;
  tree::TreeCursor cursor_;
  bool walking_ = false;
  bool forward_ = true;
  std::string low_;
  std::optional<std::string> high_;
};

// How many entries a range has for a registered view.
Result<uint64_t> count_range(tree::TreeState* state, const tree::ReadView& view,
                             std::string_view lo, std::optional<std::string_view> hi);

Result<std::vector<std::string>> name_list(Result<std::vector<db::Catalog::Name>> names);

}  // namespace hawthorn
