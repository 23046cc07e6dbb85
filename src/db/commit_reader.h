#pragma once
// Reads commits out of the log, in the order of their timestamps: of each its operations, one by
// one, in the order of their numbers, wherever its chunks stand.
//
//   chunk T1 | commit T2 | chunk T1 | rollback T1 | chunk T1 | commit T1
//     noted ────────────────noted──────noted─────────noted──────> read again, where they count
//
// Not here: what operations mean to a program (feed_impl.h), what keeps the log (feeds.h).
// Threads: one at a time.
//
// 1. Of all open transactions it remembers where their chunks are, never what is in them.
// 2. A transaction that has a chunk below where the reading began is not whole: kTooOld.
// 3. Commits that bring layers into their trees are passed over: what they write was committed
//    before (docs/transactions.md).

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/operation.h"
#include "wal/tail.h"

namespace hawthorn::db {

using format::Lsn;

class CommitReader {
 public:
  struct Source {
    os::Machine machine;
    std::string directory;
    wal::LogOptions options;
    std::vector<format::LogEpoch> epochs;
  };
  // Delivers commits above `position`; the log is read from `from` on. Errors: those of Tail.
  static Result<std::unique_ptr<CommitReader>> open(Source source, Lsn from, Lsn position);

  // Goes to the next commit; false: below `below`, up to where the log is whole, there is none.
  // Errors: kTooOld; kNotSupported where it attaches containers; those of Tail.
  Result<bool> next(Lsn below);
  Lsn cts() const { return cts_; }
  // All commits up to here were looked at.
  Lsn passed() const { return passed_; }
  // The next operation of that commit; false: there is none. Lifetime: until the next call.
  Result<bool> next_operation(format::Operation* operation);
  // Begins with its first one again.
  void rewind();

 private:
  using Key = std::pair<Lsn, uint64_t>;  // start of the epoch, id
  struct Chunk {
    Lsn lsn;
    uint32_t first_seq;
    uint32_t end_seq;
  };
  struct Open {
    std::vector<Chunk> chunks;
    std::vector<std::pair<Lsn, uint32_t>> masks;  // below .first, from .second on; go up
  };
  // The operations [begin, end) of the record at lsn, which begins with first_seq.
  struct Piece {
    Lsn lsn;
    uint32_t first_seq;
    uint32_t begin;
    uint32_t end;
  };

  explicit CommitReader(Source source) : source_(std::move(source)) {}
  Key key_of(Lsn of_epoch, std::string_view payload) const;
  Result<bool> take(const wal::RecordView& record);
  Result<bool> take_chunked(const wal::RecordView& record);
  void put_together(Open open, Lsn from, const Chunk& own);
  Status load_piece();

  const Source source_;
  std::unique_ptr<wal::Tail> tail_;
  std::unique_ptr<wal::Tail> chunks_;  // made at first need
  std::map<Key, Open> open_;
  Lsn from_ = 0;
  Lsn position_ = 0;
  Lsn passed_ = 0;

  Lsn cts_ = 0;
  std::string_view own_;  // operations of the commit record
  std::vector<Piece> pieces_;
  size_t piece_ = 0;
  const char* at_ = nullptr;  // in the piece that is loaded; null: none is
  const char* end_ = nullptr;
  uint32_t seq_ = 0;
};

}  // namespace hawthorn::db
