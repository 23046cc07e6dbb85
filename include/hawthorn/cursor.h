#pragma once
// An ordered walk over a tree, in both directions, over one consistent snapshot.
//
//   Cursor cursor = db->cursor(tree, {.lower = "a", .upper = "b"});
//   for (bool more = cursor.first(); more; more = cursor.next()) use(cursor.key(), cursor.value());
//   if (!cursor.status().ok()) ...
//
// A cursor of a transaction sees the transaction's own writes, also those made after the cursor was
// opened. Errors: a move returns false at the end and after an error; status() tells which, and an
// error stays until first, last or a seek. A corrupt container gives kCorruption and names its key
// range, a value over 64 MB kNotSupported (CursorOptions::large_as_empty). Threads: one object from
// one thread at a time. An open cursor never blocks writers. Lifetime: key() and value() are valid
// until the next move of this cursor. Destroy cursors before their Db or Transaction, and before
// the Snapshot that they read: without it what they show is of no one moment any more. A cursor
// that is kept open for long keeps old versions alive; stats() names the oldest.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hawthorn/export.h"
#include "hawthorn/status.h"

namespace hawthorn {

class Snapshot;
struct Entry;

struct CursorOptions {
  std::optional<std::string> lower = {};  // first key that the cursor may show; default: none
  std::optional<std::string> upper = {};  // first key that it may not show; default: none
  const Snapshot* snapshot = nullptr;     // default: a snapshot taken when the cursor is opened
  bool key_only = false;                  // value() stays empty, values are not read
  // A value over 64 MB, which no walk hands out: false ends the walk there with kNotSupported, as
  // any other error does. true shows its key with an empty value, and status() is kNotSupported
  // until the next move: for who reads it by parts (Db::read_part) and goes on.
  bool large_as_empty = false;
};

class HAWTHORN_EXPORT Cursor {
 public:
  class HAWTHORN_HIDDEN Impl;
  Cursor();
  explicit Cursor(Status error);
  explicit Cursor(std::unique_ptr<Impl> impl);
  ~Cursor();
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;

  // Each move returns whether the cursor stands on an entry.
  bool first();
  bool last();
  bool seek(std::string_view key);           // the first entry >= key
  bool seek_for_prev(std::string_view key);  // the last entry <= key
  bool next();                               // invalid before: stays invalid
  bool prev();
  // As n calls of next, or of prev for a negative n, in much less time: what is flushed is not
  // looked at one by one. 0 stays where it is.
  bool skip(int64_t n);
  // To an entry of the cursor's range, each about as likely as the others where `random` is one of
  // 2^64 equally likely numbers. The same number leads to the same entry as long as nothing is
  // written, flushed or ingested. False, without an error, where the range is empty.
  bool seek_random(uint64_t random);

  // Where a key may have several values (key_order.h), each is an entry: first and seek come to a
  // key's first value, last and seek_for_prev to its last.
  bool next_key();  // to the first value of the next key
  bool prev_key();  // to the last value of the key before
  // Within the key; false, and the cursor stays where it is, where there is none.
  bool next_value();
  bool prev_value();
  bool first_value();
  bool last_value();
  // To the first value of this key that is not before `value`, in the order of values. False where
  // the key has none, and with kNotSupported in trees of one value to a key.
  bool seek_value(std::string_view key, std::string_view value);
  // How many the key has: 1 in trees of one value to a key. Errors: kInvalidArgument where the
  // cursor stands on no entry; those of the move that left it so, and of a count.
  Result<uint64_t> count_values();

  // Whether the entry is a subtree (Db::create_subtree): then its value is empty. Costs a look into
  // the catalog where the value is empty, or not read. Errors: kInvalidArgument where the cursor
  // stands on no entry; those of a read.
  Result<bool> is_subtree() const;

  // Hands out entries in ascending order, in a fraction of the time that next takes for each: from
  // the one on which the cursor stands, or from behind the last batch, as many as fit `out` or
  // fewer. Returns how many. Afterwards the cursor stands nowhere: what follows is another batch,
  // or a seek. 0: the end, or an error, which status() tells, and which stays; with large_as_empty
  // a value over 64 MB gives kNotSupported, and the next batch leaves it out. Cursors of a
  // transaction that notes what it has read give one entry at a time. Lifetime: what is handed out,
  // until the next call of this cursor; behind a batch the cursor holds on to the memory that it
  // reads, so it is not to be kept for long.
  size_t next_batch(std::span<Entry> out);

  // When the entry ends, in milliseconds since 1970 (TreeOptions::expires); 0: never.
  uint64_t expires_at() const;

  bool valid() const { return valid_; }
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  // kOk at the ends of the range too; kInvalidArgument where it was to be opened, or to seek, with
  // what is no key in the tree's order.
  // kOutOfMemory, which stays, where the system gave no memory for a move: then another cursor is
  // to be opened. Valid until the next call of the cursor.
  const Status& status() const;

 private:
  std::unique_ptr<Impl> impl_;
  Status error_;  // of a cursor that could not be opened
  std::string_view key_;
  std::string_view value_;
  bool valid_ = false;
  bool publish(bool found);
  bool publish_shaped();
  bool publish_empty();
  HAWTHORN_HIDDEN bool end_without_memory();
};

}  // namespace hawthorn
