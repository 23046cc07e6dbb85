#pragma once
// A transaction: reads from one snapshot, sees its own writes, commits all of them at one moment or
// none.
//
//   kOptimistic  any number at a time, in any threads; the first committer wins: put, del or commit
//   return kConflict
//                when another transaction committed one of the keys after this one began. Then
//                abort and try again.
//   kExclusive   one at a time: begin waits for the previous one, and commits of all others wait
//   until it ends. Never
//                conflicts. The mode for programs that were written for a single-writer store.
//
// Isolation is snapshot isolation: no dirty, fuzzy or phantom reads and no lost updates; write skew
// between two optimistic transactions is possible.
//
// Threads: one object from one thread at a time (it may move between threads).
// Lifetime: end every transaction before its Db is closed. Destroying an open one aborts it.
// Durable: as the level given to commit says; nothing of an aborted or unfinished transaction
// survives a restart.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "hawthorn/cursor.h"
#include "hawthorn/export.h"
#include "hawthorn/options.h"
#include "hawthorn/status.h"
#include "hawthorn/value.h"

namespace hawthorn {

class Tree;

enum class TxnMode : uint8_t { kOptimistic = 0, kExclusive = 1 };

// Fills the buffer with the next bytes of a streamed value and returns how many it wrote; 0 ends
// the stream.
using StreamSource = std::function<Result<size_t>(std::span<char>)>;

// Reads and writes of one snapshot, committed together. One thread at a time; it must not outlive
// its Db.
class HAWTHORN_EXPORT Transaction {
 public:
  class HAWTHORN_HIDDEN Impl;
  Transaction();
  explicit Transaction(std::unique_ptr<Impl> impl);
  ~Transaction();
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) noexcept;

  // Reads a key. Errors: kNotFound; kCorruption; kIoError.
  Status get(const Tree& tree, std::string_view key, Value& value);
  Status multi_get(const Tree& tree, std::span<const std::string_view> keys, ReadBatch& out);
  Cursor cursor(const Tree& tree, const CursorOptions& options = {});
  // How many entries [lo, hi) has for this transaction, its own writes among them; without hi, to
  // the end. As Db::count.
  Result<uint64_t> count(const Tree& tree, std::string_view lo, std::optional<std::string_view> hi);

  // Writes become visible to others at commit. Errors: kConflict (optimistic); kInvalidArgument for
  // sizes over the limits; kNoSpace (deletes only when what is logged of the transaction fills the
  // log); kReadOnly. After an error the transaction can go on with other keys, or abort; where
  // kNoSpace met one that had logged much already, commit answers the same and writes nothing.
  Status put(const Tree& tree, std::string_view key, std::string_view value);
  Status del(const Tree& tree, std::string_view key);
  // Writes a value of up to 4 GB from a source that is called until it has given `size` bytes.
  Status put_stream(const Tree& tree, std::string_view key, uint64_t size,
                    const StreamSource& source);

  // Ends the transaction. Errors: kConflict (nothing was written); kUnknownOutcome when the sync of
  // a kFull commit failed. The object is finished in every case. A transaction without writes
  // commits at no cost.
  Status commit(Durability durability = Durability::kDefault);
  // Ends the transaction; nothing of it remains.
  void abort();

  // Whether begin succeeded and neither commit nor abort was called.
  bool open() const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawthorn
