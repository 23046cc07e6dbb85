#pragma once
// What an index by a program's own collation is made of: nodes of a B+tree, each a value of the
// engine's tree `root/N`.
//
//   key 00                  the header
//   key 00, a number        a node, or a record that is too large for one; the number has 8 bytes,
//                           the high ones first
//
// No key of an index whose order is in its keys begins with 00 (record_key.h), and no row's key has
// these sizes: so an index tells by its header which of the two it is. A tree without entries has
// nothing at all.
//
//   header                        node                          cell
//   OFFSET SIZE FIELD             OFFSET SIZE FIELD             OFFSET SIZE FIELD
//   0      8    root's number     0      1    level, leaves 0   0      8    child; not in leaves
//   8      8    next free number  1      3    0                 0, 8   4    size * 2, 1 more where
//   16     8    entries           4      4    cells                         the record is elsewhere
//   24     4    height            8           the cells         4, 12       the record, or 8 bytes:
//   28     4    0                                                           the number of its value
//
// All numbers but those in keys have their low bytes first. Not here: the order, and what a change
// does to nodes (collated.h).
//
// 1. Bytes are input: parse() and decode() say no to whatever is not as above, and nothing outside
//    of them is read.
// 2. In an inner node the record of a cell is not greater than those below its child, and greater
//    than those below the child before. That of its first cell is empty.
// 3. Behind each record kSlackBytes can be read, which SQLite's comparison does with damaged ones.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hawthorn::sqlite {

constexpr size_t kSlackBytes = 24;
constexpr uint32_t kCollatedHeightMax = 32;
constexpr char kCollatedHeaderKeyByte = '\0';
constexpr std::string_view kCollatedHeaderKey(&kCollatedHeaderKeyByte, 1);

// A record of one's own, with slack.
class PaddedRecord {
 public:
  PaddedRecord() : PaddedRecord(std::string_view()) {}
  explicit PaddedRecord(std::string_view record) : bytes_(record) { pad(); }

  std::string_view view() const { return {bytes_.data(), bytes_.size() - kSlackBytes}; }
  // What `read` puts into a string, where it returns 0.
  template <typename Read>
  int fill(const Read& read) {
    const int code = read(&bytes_);
    if (code != 0) bytes_.clear();
    pad();
    return code;
  }

 private:
  void pad() { bytes_.append(kSlackBytes, '\0'); }

  std::string bytes_;
};

std::string collated_node_key(uint64_t number);
// Nothing: it is not the key of a node or of a record.
std::optional<uint64_t> collated_node_number(std::string_view key);

struct CollatedHeader {
  uint64_t root = 0;
  uint64_t next_number = 1;
  uint64_t entries = 0;
  uint32_t height = 0;  // 1: the root is a leaf

  std::string encode() const;
  static std::optional<CollatedHeader> decode(std::string_view bytes);
};

// A record as a cell has it.
struct CollatedKey {
  std::string_view encoded;  // with its size
  bool elsewhere = false;
  uint64_t number = 0;     // where it is
  std::string_view bytes;  // where it is here
  size_t size = 0;
};

// A copy of one, for a new cell.
std::string encode_collated_key(std::string_view record);
std::string encode_collated_key_elsewhere(uint64_t number, size_t size);
std::string encode_collated_child(uint64_t child, std::string_view encoded_key);
// Of the first cell of an inner node.
std::string encode_collated_first_child(uint64_t child);

class CollatedNode {
 public:
  CollatedNode() : CollatedNode(0) {}
  explicit CollatedNode(unsigned level);

  // False: it is no node, and this one means nothing.
  bool parse(std::string_view bytes);
  std::string_view bytes() const { return {bytes_.data(), bytes_.size() - kSlackBytes}; }

  unsigned level() const { return static_cast<unsigned char>(bytes_[0]); }
  bool is_leaf() const { return level() == 0; }
  size_t cells() const { return starts_.size() - 1; }
  CollatedKey key(size_t cell) const;
  uint64_t child(size_t cell) const;

  // Puts cells in the place of some.
  void replace(size_t from, size_t count, std::string_view cells);
  // The first cell of an inner node gets an empty record.
  void empty_first_key();
  // Takes the cells from `from` on away.
  CollatedNode split(size_t from);
  // Where both halves have about as many bytes. Of at least two cells.
  size_t middle() const;
  std::string_view all_cells() const;

 private:
  bool find_cells();

  std::string bytes_;             // with slack
  std::vector<uint32_t> starts_;  // of cells, and the end
};

}  // namespace hawthorn::sqlite
