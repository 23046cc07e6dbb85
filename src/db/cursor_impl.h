#pragma once
// What is behind a public Cursor; where its transaction must know what was read, it tells (R19).
//
// Not here: the walk itself (tree/cursor.h). Threads: one at a time, its transaction's.
//
// 1. A walk is the range between the keys that were shown and asked for since the last seek. It is
//    told as a whole: when another begins, when the cursor is destroyed, or when the transaction
//    asks. In between, moves in one direction cost nothing.

#include <optional>
#include <span>
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
  // The options' keys are stored ones.
  // What ends up to now_ms has ended.
  Impl(Db::Impl* db, Snapshot own, tree::TreeState* state, const tree::ReadView& view,
       const CursorOptions& options, txn::ReadSet* reads, uint64_t now_ms,
       std::shared_ptr<tree::LayeredDead> layered_dead = nullptr);
  ~Impl() override;
  bool inherited() const { return db_->inherited(); }

  bool first();
  bool last();
  bool seek(std::string_view key);
  bool seek_for_prev(std::string_view key);
  bool next() { return settle(step(true), true); }
  bool prev() { return settle(step(false), false); }
  bool skip(int64_t n);
  bool seek_random(uint64_t random);
  // `stands`: on an entry, which no batch has handed out.
  size_t next_batch(std::span<Entry> out, bool stands);
  const tree::TreeCursor& at() const { return cursor_; }
  const format::TreeShape* shape() const { return tree_->shape(); }
  bool large_as_empty() const { return large_as_empty_; }

  // Where the tree has a shape: moves to what the caller calls keys and values.
  bool seek_shaped(std::string_view key);
  bool seek_for_prev_shaped(std::string_view key);
  uint64_t expires_at() const;
  Result<bool> is_subtree() const;
  // Whether the entry could be decoded.
  bool load(std::string_view* key, std::string_view* value);
  const Status& status() const { return wrong_.ok() ? cursor_.status() : wrong_; }
  // The last move was one that does not exist, or asked for what is no key.
  bool refuse(Status why);

  // Of the key on which it stands, where there may be several values.
  bool next_key();
  bool prev_key();
  bool next_value() { return turn_value(true); }
  bool prev_value() { return turn_value(false); }
  bool first_value();
  bool last_value();
  bool seek_value(std::string_view key, std::string_view value);
  Result<uint64_t> count_values();

  void fold() override;
  void forget() override { reads_ = nullptr; }

 private:
  bool step(bool forward) {
    if (walking_) return turn(forward);
    return forward ? cursor_.next() : cursor_.prev();
  }
  // Passes over what has ended.
  bool settle(bool found, bool forward) {
    return expires_ && found ? settle_expiring(forward) : found;
  }
  bool settle_expiring(bool forward);
  // What was sought is validated by its stored key.
  format::TreeShape::Use use() const {
    return reads_ != nullptr ? format::TreeShape::Use::kStore : format::TreeShape::Use::kSeek;
  }
  void begin_seek() {
    batching_ = false;
    fold();
    if (!wrong_.ok()) wrong_ = Status();
  }
  void begin_walk(bool forward, std::string_view from, std::optional<std::string_view> to);
  void extend();
  bool turn(bool forward);
  void end_walk(bool forward);
  bool turn_value(bool forward);
  bool seek_below(const std::optional<std::string>& end);
  bool take_head(std::string* head);
  size_t next_alone(Entry* out, bool stands);

  Db::Impl* const db_;
  const Snapshot own_;
  const uint64_t now_ms_;
  const bool expires_;
  const bool key_only_;
  const bool large_as_empty_;
  const tree::TreeRef tree_;
  const std::string lower_;
  const std::optional<std::string> upper_;
  const tree::ReadView view_;
  txn::ReadSet* reads_;
  tree::TreeCursor cursor_;
  bool batching_ = false;  // on the entry that was handed out last, one at a time
  bool walking_ = false;
  bool forward_ = true;
  std::string low_;
  std::optional<std::string> high_;
  Status wrong_;
  std::string key_;  // decoded, as value_
  std::string value_;
  std::string loaded_;  // decoded, of a batch
};

// What the tree stores for the ends of a cursor. Errors: kInvalidArgument.
Result<CursorOptions> stored_options(const tree::TreeState& tree, const CursorOptions& options,
                                     format::TreeShape::Use use);

namespace db {
// The cursor's next batch, as the caller knows its entries: *entries is the room for it, and what
// of that was filled; nothing at the end, and where the cursor's status tells an error. What was
// decoded is in *loaded. Errors: kCorruption.
Status next_entries(tree::TreeCursor& cursor, const tree::TreeState& tree, uint64_t now_ms,
                    bool key_only, std::string* loaded, std::span<Entry>* entries);
}  // namespace db

// How many entries a range has for a registered view.
Result<uint64_t> count_range(tree::TreeState* state, const tree::ReadView& view,
                             std::string_view lo, std::optional<std::string_view> hi,
                             uint64_t now_ms);

// In a transaction of its own, durable when it returns.
Result<Tree> make_tree(Db& db, const Db::Impl& impl,
                       const std::function<Result<Tree>(Transaction&)>& make);

Result<std::vector<std::string>> name_list(Result<std::vector<db::Catalog::Name>> names);

}  // namespace hawthorn
