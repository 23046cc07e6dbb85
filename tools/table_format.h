#pragma once
// Entries as lines for other programs: CSV, and JSON lines (an object a line). Both hold any bytes.
//
//   key,value                                  {"key":"ada","value":"1815"}
//   ada,1815                                   {"key_base64":"/w==","value":"line\nline"}
//   "a,b",line\nline\xff
//
// Not here: databases (tables.cc), whole trees with their options (dump_format.h).
// Threads: one object, one thread.
//
// 1. What a writer writes, a reader reads as the same bytes.
// 2. An error of a reader names file, line and column (in bytes, from 1), and what is wrong there.
// 3. CSV is as RFC 4180 says: fields in quotes may hold commas, quotes (twice) and ends of lines.
//    The columns are named by the first line, or by the caller: `key` and `value` are text with the
//    escapes of text.h, `key_text` and `value_text` are bytes as they stand, `_hex` and `_base64`
//    as in JSON, `expires_at` is in milliseconds since 1970, and `-` is passed over.
// 4. JSON lines have the members key, or key_hex, or key_base64, the same of value, and expires_at.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hawthorn/status.h"
#include "tools/stream.h"
#include "tools/text.h"

namespace hawthorn::tools {

enum class TableFormat : uint8_t { kCsv, kJsonLines };

struct TableEntry {
  std::string key;
  std::string value;
  std::optional<uint64_t> expires_at;
};

class TableWriter {
 public:
  // `form`: of all keys and values; none: escaped in CSV, and in JSON text, or base64 where it is
  // no UTF-8.
  TableWriter(Output& output, TableFormat format, std::optional<Encoding> form, bool expires);
  void entry(std::string_view key, std::string_view value, uint64_t expires_at);

 private:
  void csv_field(std::string_view bytes);

  Output& output_;
  const TableFormat format_;
  const std::optional<Encoding> form_;
  const bool expires_;
  std::string line_;
  std::string field_;
};

class TableReader {
 public:
  // `columns` of CSV, with commas between: the file has no line that names them. Empty: it has.
  TableReader(Input& input, TableFormat format, std::string columns);

  // False: the end. Errors: kCorruption for what is malformed; kInvalidArgument for a column
  // that has no meaning; those of the input.
  Result<bool> next(TableEntry& entry);
  // An error at the line in which the last entry begins.
  Status error(std::string_view what, StatusCode code) const;

 private:
  enum class Field : uint8_t { kKey, kValue, kExpires, kSkip };
  struct Column {
    Field field = Field::kSkip;
    std::optional<Encoding> form = {};  // none: bytes as they stand
  };
  static std::optional<Column> column_named(std::string_view name, bool json);

  Result<bool> next_line();
  Status at(uint64_t line, size_t column, std::string_view what,
            StatusCode code = StatusCode::kCorruption) const;
  Status here(size_t offset, std::string_view what) const {
    return at(line_number_, offset + 1, what);
  }
  Status take(const Column& column, std::string_view text, uint64_t line, size_t offset,
              TableEntry& entry) const;

  Result<bool> next_csv(TableEntry& entry);
  Result<bool> read_record();
  Status read_quoted(size_t* from);
  Status read_columns();

  Result<bool> next_json(TableEntry& entry);
  Status read_object(TableEntry& entry);
  Status read_member(TableEntry& entry, size_t* from, std::vector<Field>* seen) const;
  Status read_string(size_t* from, std::string* to) const;
  Status read_escape(size_t* from, std::string* to) const;
  bool read_hex4(size_t from, uint32_t* number) const;
  void skip_spaces(size_t* from) const;

  Input& input_;
  const TableFormat format_;
  const std::string given_columns_;
  std::vector<Column> columns_;
  std::string_view line_;     // the present one, without its end
  uint64_t line_number_ = 0;  // of it
  uint64_t begin_line_ = 0;   // of the present entry
  struct Part {
    std::string text;
    uint64_t line;
    size_t offset;
  };
  std::vector<Part> record_;
};

}  // namespace hawthorn::tools
