#pragma once
// The text in which mdb_dump, mdbx_dump and Berkeley DB's db_dump write tables: for each of them a
// header of NAME=VALUE lines up to HEADER=END, then a line for each key and each value, which
// begins with a space, then DATA=END.
//
// Not here: databases (dump.cc, load.cc). Threads: one object, one thread.
//
// 1. Each error of a reader is Corruption and names the file and the line.
// 2. What a writer has written, LMDB's and libmdbx's own programs load, but for lines of the header
//    that only the other one knows, which they pass over. Their flag for MDBX_DUPFIXED has two
//    names, and both are written.
// 3. A writer that prints escapes a leading space: libmdbx takes a second space in a line for its
//    short form, in which the key is that of the entry before. A reader takes the short form of
//    bytes; as printed text it could as well be a key that begins with a space.

#include <mdbx.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/stream.h"

namespace hawthorn::tools {

struct TableHeader {
  std::optional<std::string> name;  // nothing: the main table
  bool printable = false;
  unsigned flags = 0;  // of MDBX_db_flags, those that a table keeps
  uint64_t sequence = 0;
  std::optional<MDBX_canary> canary;
  uint64_t line_number = 0;  // of its last line, where it was read
};

// What the first header says of the environment. Only written: here it has no meaning.
struct EnvironmentHeader {
  MDBX_envinfo info{};
  uint64_t bytes_max = 0;
};

// The flags by the names that headers have for them, as in "dupsort, integerkey"; "none".
std::string describe_table_flags(unsigned flags);

// Whether a line of a header can hold it.
bool is_writable_name(std::string_view name);

class TableTextReader {
 public:
  enum class Event : uint8_t { kTable, kEntry, kTableEnd, kEnd };
  // Told of what is passed over, with file and line.
  using Note = std::function<void(const std::string& text)>;

  // `plain`: no headers, lines are whole, without the space, and printed; one table.
  TableTextReader(Input& input, bool plain, Note note);

  Result<Event> next();
  const TableHeader& header() const { return header_; }
  const std::string& key() const { return key_; }
  const std::string& value() const { return value_; }

  uint64_t line_number() const { return input_.line_number(); }
  // With the file and the line that was read last.
  Status error(std::string_view what, StatusCode code = StatusCode::kCorruption) const;

 private:
  Result<bool> next_line();
  Result<Event> read_header();
  Status read_header_line(std::string_view name, std::string_view value);
  Result<bool> read_flag(std::string_view name, std::string_view value);
  Status settle_flags();
  Result<Event> read_entry();
  Status read_value();
  Status decode(std::string_view text, std::string& bytes) const;
  void note(const std::string& what) const;

  Input& input_;
  const bool plain_;
  Note note_;
  bool in_table_ = false;
  bool any_table_ = false;
  bool any_entry_ = false;  // of this table
  std::string_view line_;
  TableHeader header_;
  std::string key_;
  std::string value_;
};

class TableTextWriter {
 public:
  TableTextWriter(Output& output, bool printable) : output_(output), printable_(printable) {}

  // `environment`: for the first table; else null.
  void begin(const TableHeader& header, const EnvironmentHeader* environment);
  void entry(std::string_view key, std::string_view value);
  void end();

 private:
  void append_line(std::string_view bytes);

  Output& output_;
  const bool printable_;
  std::string lines_;
};

}  // namespace hawthorn::tools
