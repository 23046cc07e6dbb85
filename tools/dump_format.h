#pragma once
// The text format of `hawthorn dump` and `hawthorn load`; docs/dump-format.md is its description.
//
// Not here: databases (dump.cc, load.cc). Threads: one object, one thread.
//
// 1. A file is: its header, a section for each tree, its trailer; those of subtrees somewhere
// behind
//    the one in which they hang. A section is: its header, entries
//    in key order, a trailer with their number and a checksum. A file that was cut off anywhere
//    therefore ends in an error, and so does one whose bytes changed.
// 2. Lines that begin with '#' are not entries: an encoded key or value part that would begin with
//    one has it escaped.
// 3. Reader and writer hold at most one entry of up to kInlineValueBytesMax, or one part of a
//    larger value, in memory; the reader takes inline values of up to limits().

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hawthorn/key_order.h"
#include "hawthorn/status.h"
#include "tools/stream.h"
#include "tools/text.h"

namespace hawthorn::tools {

// 1: as 2, without fields for tree options; 2: as 3, without subtrees.
inline constexpr uint32_t kDumpVersion = 3;
inline constexpr size_t kInlineValueBytesMax = size_t{1} << 20;  // larger values come in parts
inline constexpr size_t kValuePartBytes = size_t{48} << 10;      // of one line, before encoding

// The version that a tree needs, and all below it. As Db::tree_options gives them.
uint32_t dump_version_for(const TreeOptions& options);

// A running checksum over the lines of a section.
class LineChecksum {
 public:
  LineChecksum();
  ~LineChecksum();
  LineChecksum(const LineChecksum&) = delete;
  LineChecksum& operator=(const LineChecksum&) = delete;
  void reset();
  void add(std::string_view bytes);
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class DumpWriter {
 public:
  // Older readers know the smaller ones.
  DumpWriter(Output& output, Encoding encoding, uint32_t version);

  void begin_tree(std::string_view name, const TreeOptions& options);
  // It hangs in the tree of this section, at this key. Sections are counted from 1.
  void begin_subtree(uint64_t section, std::string_view key, const TreeOptions& options);
  // `expires_at`: in milliseconds since 1970, 0 for never; written where the tree's entries end.
  void entry(std::string_view key, std::string_view value, uint64_t expires_at = 0);
  // A value above kInlineValueBytesMax: its size, then all of its bytes in parts of at most
  // kValuePartBytes, each but the last of exactly that size.
  void begin_value(std::string_view key, uint64_t bytes, uint64_t expires_at = 0);
  void value_part(std::string_view bytes);
  void end_tree();
  void finish();
  uint64_t sections() const { return trees_; }  // that have ended

 private:
  void begin_section(std::string header, const TreeOptions& options, const std::string& last);
  void append_data(std::string_view bytes);
  void write_counted(std::string_view line);

  Output& output_;
  Encoding encoding_;
  bool expires_ = false;  // of the tree
  std::string line_;
  LineChecksum checksum_;
  uint64_t entries_ = 0;
  uint64_t trees_ = 0;
};

class DumpReader {
 public:
  explicit DumpReader(Input& input);

  enum class Event : uint8_t { kTree, kSubtree, kEntry, kLargeValue, kTreeEnd, kEnd };
  // The next thing in the file. A large value has to be read to its end before.
  // Errors: kCorruption as "FILE:LINE: what is wrong"; kNotSupported for a newer version; kIoError.
  Result<Event> next();

  // Its name; of a subtree the key at which it hangs.
  const std::string& tree() const { return tree_; }
  uint64_t section() const { return trees_ + 1; }  // between kTree or kSubtree and kTreeEnd
  uint64_t hangs_in() const { return hangs_in_; }  // the section of its parent, of a subtree
  // What it was made with; nothing where the file does not say.
  const std::optional<TreeOptions>& tree_options() const { return tree_options_; }
  const std::string& key() const { return key_; }
  const std::string& value() const { return value_; }
  uint64_t value_bytes() const { return value_bytes_; }
  uint64_t expires_at() const { return expires_at_; }  // 0: never
  uint64_t entries() const { return entries_; }        // of this tree, so far
  // The next bytes of a large value: fills the buffer unless the value ends before.
  Result<size_t> read_value(std::span<char> buffer);
  // An error that names file and line, for what the caller finds wrong with the entry at hand.
  Status error(std::string_view what, StatusCode code = StatusCode::kCorruption) const;

 private:
  Result<bool> next_line();
  Status read_header();
  Status read_tree_header();
  Status read_subtree_header();
  Status begin_section(std::string_view fields, std::string_view last);
  Status read_tree_options(std::string_view& fields);
  Status read_entry();
  Status read_value_header();
  Status read_tree_end();
  Status read_file_end();
  Status read_part();
  bool tree_expires() const { return tree_options_ && tree_options_->expires; }
  Status decode_field(std::string_view text, std::string& bytes) const;
  void count_line();

  Input& input_;
  Encoding encoding_ = Encoding::kEscaped;
  std::string_view line_;
  bool in_file_ = false;
  bool in_tree_ = false;
  uint32_t version_ = 0;
  std::string tree_;
  uint64_t hangs_in_ = 0;
  std::optional<TreeOptions> tree_options_;
  std::string key_;
  std::string value_;
  uint64_t value_bytes_ = 0;
  uint64_t expires_at_ = 0;
  uint64_t value_bytes_left_ = 0;  // not yet read from the file
  std::string part_;
  size_t part_at_ = 0;  // bytes of part_ that were handed out
  LineChecksum checksum_;
  uint64_t entries_ = 0;
  uint64_t trees_ = 0;
};

}  // namespace hawthorn::tools
