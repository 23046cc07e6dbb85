#include "tools/mdbx/table_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "hawthorn/stats.h"

namespace hawthorn::tools {
namespace {

constexpr std::string_view kHeaderEnd = "HEADER=END";
constexpr std::string_view kDataEnd = "DATA=END";

struct FlagName {
  std::string_view name;
  unsigned flag;
};
// In the order in which they are written. The last ones are other names of a flag before.
constexpr std::array<FlagName, 8> kFlagNames = {{{"reversekey", MDBX_REVERSEKEY},
                                                 {"dupsort", MDBX_DUPSORT},
                                                 {"integerkey", MDBX_INTEGERKEY},
                                                 {"dupfixed", MDBX_DUPFIXED},
                                                 {"integerdup", MDBX_INTEGERDUP},
                                                 {"reversedup", MDBX_REVERSEDUP},
                                                 {"dupfix", MDBX_DUPFIXED},
                                                 {"duplicates", MDBX_DUPSORT}}};
constexpr size_t kOtherNames = 2;
constexpr unsigned kOfValues = MDBX_DUPFIXED | MDBX_INTEGERDUP | MDBX_REVERSEDUP;

// About the files of an environment, and nothing that a database here has.
constexpr std::string_view kWithoutMeaning[] = {"mapsize", "mapaddr",     "maxreaders",
                                                "txnid",   "db_pagesize", "geometry"};

// Every byte of the longest value escaped, and the space.
size_t line_bytes_max() { return 3 * Limits().batch_value_bytes_max + 1; }

std::optional<uint64_t> to_number(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// "v4,x1,y2,z3"
std::optional<MDBX_canary> to_canary(std::string_view text) {
  MDBX_canary canary{};
  const std::pair<char, uint64_t*> fields[] = {
      {'v', &canary.v}, {'x', &canary.x}, {'y', &canary.y}, {'z', &canary.z}};
  for (const auto& [letter, field] : fields) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma == 0 || text[0] != letter) return std::nullopt;
    const std::optional<uint64_t> number = to_number(text.substr(1, comma - 1));
    if (!number) return std::nullopt;
    *field = *number;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return text.empty() ? std::optional(canary) : std::nullopt;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte of the two digits at `at`, or -1.
int hex_byte(std::string_view text, size_t at) {
  if (at + 2 > text.size()) return -1;
  const int high = hex_digit(text[at]);
  const int low = hex_digit(text[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

void append_hex(std::string& to, char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  to += kDigits[static_cast<unsigned char>(byte) / 16];
  to += kDigits[static_cast<unsigned char>(byte) % 16];
}

}  // namespace

std::string describe_table_flags(unsigned flags) {
  std::string text;
  for (size_t i = 0; i < kFlagNames.size() - kOtherNames; ++i) {
    if ((flags & kFlagNames[i].flag) == 0) continue;
    if (!text.empty()) text += ", ";
    text += kFlagNames[i].name;
  }
  return text.empty() ? "none" : text;
}

bool is_writable_name(std::string_view name) {
  return !name.empty() && name.find('\n') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

TableTextReader::TableTextReader(Input& input, bool plain, Note note)
    : input_(input), plain_(plain), note_(std::move(note)) {}

Status TableTextReader::error(std::string_view what, StatusCode code) const {
  return Status(
      code, input_.name() + ":" + std::to_string(input_.line_number()) + ": " + std::string(what));
}

void TableTextReader::note(const std::string& what) const {
  if (note_) {
    note_(input_.name() + ":" + std::to_string(header_.line_number) + ": " + what);
  }
}

Result<bool> TableTextReader::next_line() { return input_.next_line(line_, line_bytes_max()); }

Result<TableTextReader::Event> TableTextReader::next() {
  if (in_table_) return read_entry();
  if (!plain_) return read_header();
  if (any_table_) return Event::kEnd;
  header_ = TableHeader();
  header_.printable = true;
  in_table_ = any_table_ = true;
  return Event::kTable;
}

Result<TableTextReader::Event> TableTextReader::read_header() {
  header_ = TableHeader();
  for (bool first = true;; first = false) {
    const Result<bool> more = next_line();
    if (!more.ok()) return more.status();
    header_.line_number = input_.line_number();
    if (!*more && !first) return error("the file ends inside a header, before HEADER=END");
    if (!*more && !any_table_) return error("the file is empty: no dump of a table");
    if (!*more) return Event::kEnd;
    if (line_ == kHeaderEnd) break;
    const size_t equals = line_.find('=');
    if (line_.starts_with(' ') || equals == std::string_view::npos) {
      return error("expected NAME=VALUE, up to HEADER=END");
    }
    const Status status = read_header_line(line_.substr(0, equals), line_.substr(equals + 1));
    if (!status.ok()) return status;
  }
  if (Status s = settle_flags(); !s.ok()) return s;
  in_table_ = any_table_ = true;
  any_entry_ = false;
  return Event::kTable;
}

Status TableTextReader::read_header_line(std::string_view name, std::string_view value) {
  if (name == "VERSION") {
    return value == "3" ? Status()
                        : error("VERSION=" + std::string(value) + ", while this reads 3",
                                StatusCode::kNotSupported);
  }
  if (name == "format") {
    if (value != "print" && value != "bytevalue") {
      return error("expected format=bytevalue or format=print");
    }
    header_.printable = value == "print";
    return {};
  }
  if (name == "database") {
    header_.name = value.empty() ? std::nullopt : std::optional<std::string>(value);
    return {};
  }
  if (name == "type") return value == "btree" ? Status() : error("expected type=btree");
  if (name == "sequence") {
    const std::optional<uint64_t> number = to_number(value);
    if (!number) return error("expected sequence=NUMBER");
    header_.sequence = *number;
    return {};
  }
  if (name == "canary") {
    header_.canary = to_canary(value);
    return header_.canary ? Status() : error("expected canary=vNUMBER,xNUMBER,yNUMBER,zNUMBER");
  }
  const Result<bool> is_flag = read_flag(name, value);
  if (!is_flag.ok()) return is_flag.status();
  const bool known = *is_flag || std::find(std::begin(kWithoutMeaning), std::end(kWithoutMeaning),
                                           name) != std::end(kWithoutMeaning);
  if (!known) note("passed over: " + std::string(line_));
  return {};
}

Result<bool> TableTextReader::read_flag(std::string_view name, std::string_view value) {
  for (const FlagName& flag : kFlagNames) {
    if (name != flag.name) continue;
    if (value != "0" && value != "1") return error("expected " + std::string(name) + "=0 or 1");
    if (value == "1") header_.flags |= flag.flag;
    return true;
  }
  return false;
}

// LMDB keeps flags that do not go together, and heeds those that are left here.
Status TableTextReader::settle_flags() {
  unsigned& flags = header_.flags;
  const unsigned before = flags;
  if (!(flags & MDBX_DUPSORT)) flags &= ~kOfValues;
  if ((flags & MDBX_REVERSEKEY) && (flags & MDBX_INTEGERKEY)) flags &= ~unsigned{MDBX_INTEGERKEY};
  if (const unsigned gone = before & ~flags; gone != 0) {
    note("without a meaning beside the other flags, and passed over: " +
         describe_table_flags(gone));
  }
  if (flags & MDBX_INTEGERDUP) flags |= MDBX_DUPFIXED;
  return {};
}

Result<TableTextReader::Event> TableTextReader::read_entry() {
  const Result<bool> more = next_line();
  if (!more.ok()) return more.status();
  if (!*more && !plain_) return error("the file ends inside a table, before DATA=END");
  if (!*more || (!plain_ && line_ == kDataEnd)) {
    in_table_ = false;
    return Event::kTableEnd;
  }
  if (!plain_ && !line_.starts_with(' ')) {
    return error("expected a key, behind a space, or DATA=END");
  }
  if (!plain_ && !header_.printable && line_.starts_with("  ")) {
    if (!any_entry_) return error("a value without a key");
    const Status status = decode(line_.substr(2), value_);
    if (!status.ok()) return status;
    return Event::kEntry;
  }
  if (Status s = decode(line_.substr(plain_ ? 0 : 1), key_); !s.ok()) return s;
  if (Status s = read_value(); !s.ok()) return s;
  any_entry_ = true;
  return Event::kEntry;
}

Status TableTextReader::read_value() {
  const Result<bool> more = next_line();
  if (!more.ok()) return more.status();
  if (!*more) return error("the file ends behind a key, without its value");
  if (!plain_ && !line_.starts_with(' ')) {
    return error(line_ == kDataEnd ? "a key without its value"
                                   : "expected a value, behind a space");
  }
  return decode(line_.substr(plain_ ? 0 : 1), value_);
}

Status TableTextReader::decode(std::string_view text, std::string& bytes) const {
  bytes.clear();
  for (size_t at = 0; at < text.size();) {
    const bool escaped = header_.printable && text[at] == '\\';
    if (header_.printable && !escaped) {
      const size_t end = std::min(text.find('\\', at), text.size());
      bytes.append(text, at, end - at);
      at = end;
      continue;
    }
    if (escaped && text.substr(at + 1).starts_with('\\')) {
      bytes += '\\';
      at += 2;
      continue;
    }
    if (escaped) ++at;
    const int byte = hex_byte(text, at);
    if (byte < 0) {
      return error("no two hexadecimal digits at byte " + std::to_string(at + (plain_ ? 1 : 2)) +
                   " of the line");
    }
    bytes += static_cast<char>(byte);
    at += 2;
  }
  return {};
}

void TableTextWriter::begin(const TableHeader& header, const EnvironmentHeader* environment) {
  lines_ = "VERSION=3\n";
  if (environment != nullptr) {
    const MDBX_envinfo& info = environment->info;
    const auto number = [](uint64_t value) { return std::to_string(value); };
    lines_ += "geometry=l" + number(info.mi_geo.lower) + ",u" + number(environment->bytes_max) +
              ",s" + number(info.mi_geo.shrink) + ",g" + number(info.mi_geo.grow) + "\n";
    lines_ += "mapsize=" + number(environment->bytes_max) + "\n";
    if (header.canary) {
      lines_ += "canary=v" + number(header.canary->v) + ",x" + number(header.canary->x) + ",y" +
                number(header.canary->y) + ",z" + number(header.canary->z) + "\n";
    }
  }
  lines_ += printable_ ? "format=print\n" : "format=bytevalue\n";
  if (header.name) lines_ += "database=" + *header.name + "\n";
  lines_ += "type=btree\n";
  if (environment != nullptr) {
    lines_ += "db_pagesize=" + std::to_string(environment->info.mi_dxb_pagesize) + "\n";
  }
  for (const FlagName& flag : kFlagNames) {
    if (header.flags & flag.flag) lines_ += std::string(flag.name) + "=1\n";
  }
  if (header.sequence != 0) lines_ += "sequence=" + std::to_string(header.sequence) + "\n";
  output_.write(lines_ + std::string(kHeaderEnd) + "\n");
}

void TableTextWriter::entry(std::string_view key, std::string_view value) {
  lines_.clear();
  append_line(key);
  append_line(value);
  output_.write(lines_);
}

void TableTextWriter::append_line(std::string_view bytes) {
  lines_ += ' ';
  const size_t start = lines_.size();
  for (const char c : bytes) {
    const bool as_it_is = c > ' ' && c <= '~' && c != '\\';
    if (printable_ && (as_it_is || (c == ' ' && lines_.size() > start))) {
      lines_ += c;
      continue;
    }
    if (printable_) lines_ += '\\';
    append_hex(lines_, c);
  }
  lines_ += '\n';
}

void TableTextWriter::end() { output_.write(std::string(kDataEnd) + "\n"); }

}  // namespace hawthorn::tools
