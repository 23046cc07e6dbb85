#pragma once
// A commit of a feed as bytes: pieces, each with a header, so that a program can send them one by
// one over whatever it has, and a replica takes them as they come.
//
//   piece:   header | payload            payload: items, some of which change the next
//
// Not here: where changes come from (feed_impl.h) and go to (replica.cc).
// Threads: one at a time.
//
// OFFSET SIZE FIELD                       of the header; integers are little-endian
//      0    4 magic            "HWFC"
//      4    2 version          1
//      6    2 flags            1: the last piece of its commit
//      8    8 cts              of the commit
//     16    8 previous         FeedCommit::previous
//     24   16 source           id of the source, as two numbers, the low one first
//     40    4 number           of the piece in its commit, from 0
//     44    4 payload_bytes
//     48    8 payload_checksum checksum64, no salt
//     56    8 header_checksum  checksum64 of bytes [0, 56), no salt
//
// An item is u8 kind, then
//   tree (100)   varint id, name, order, value order, merge operator (each varint size and bytes),
//                u8 flags (1: several values, 2: expires), u8 compression, varint ttl in ms: what
//                the items behind mean by this id
//   data (101)   varint size, bytes: the next ones of the last put
//   a change     its ChangeType, varint tree id, u8 flags (1: high is there, 2: the value follows
//   as
//                data), key, value, high or else other name (each varint size and bytes), varint
//                expires_at_ms, varint value_bytes
//
// 1. An item lies in one piece.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "hawthorn/feed.h"
#include "hawthorn/replica.h"

namespace hawthorn::db {

// The changes of one commit.
class ChangeSource {
 public:
  virtual ~ChangeSource() = default;
  virtual Result<bool> next(FeedChange* change) = 0;
  virtual Result<size_t> read_value(uint64_t offset, std::span<char> buffer) = 0;
};

class PieceWriter {
 public:
  PieceWriter(std::string_view source_id, uint64_t cts, uint64_t previous);
  // As FeedCommit::encode.
  Result<bool> next(ChangeSource& changes, std::string* piece);

 private:
  void add(const FeedChange& change);
  void add_tree(const FeedTree& tree);
  Status add_data(ChangeSource& changes);

  const std::string source_id_;
  const uint64_t cts_;
  const uint64_t previous_;
  uint32_t number_ = 0;
  bool ended_ = false;
  std::map<uint32_t, std::string> trees_;  // as they were written last
  std::string payload_;
  uint64_t value_done_ = 0;
  uint64_t value_bytes_ = 0;
  bool streaming_ = false;
};

// Reads them back. read_value must be called in order, without gaps.
class PieceReader : public ChangeSource {
 public:
  explicit PieceReader(const FeedPieceSource& pieces) : pieces_(pieces) {}
  // Takes the first piece. Errors: kCorruption; kNotSupported for a later version; those of the
  // source.
  Status open();
  uint64_t cts() const { return cts_; }
  uint64_t previous() const { return previous_; }
  const std::string& source_id() const { return source_id_; }
  Result<bool> next(FeedChange* change) override;
  Result<size_t> read_value(uint64_t offset, std::span<char> buffer) override;

 private:
  Status take_piece();
  Result<bool> at_end();
  Result<bool> take_item(FeedChange* change);
  Status take_tree();
  Status take_change(uint8_t kind, FeedChange* change);
  bool take_number(uint64_t* number);
  bool take_bytes(std::string_view* bytes);
  static Status damaged();

  const FeedPieceSource& pieces_;
  uint64_t cts_ = 0;
  uint64_t previous_ = 0;
  std::string source_id_;
  uint32_t number_ = 0;
  bool last_ = false;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::map<uint32_t, FeedTree> trees_;
  std::string_view data_;  // of the last data item, what was not read yet
  uint64_t value_left_ = 0;
  uint64_t value_at_ = 0;
};

}  // namespace hawthorn::db
