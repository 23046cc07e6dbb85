#include "tools/table_format.h"

#include <algorithm>
#include <charconv>

#include "hawthorn/db.h"
#include "tools/json.h"

namespace hawthorn::tools {
namespace {

// A byte takes up to six as \u00NN.
size_t table_line_bytes_max() {
  const Limits limits = Db::limits();
  return 6 * (limits.batch_value_bytes_max + limits.key_bytes_max) + 1024;
}

bool parse_number(std::string_view digits, uint64_t* number) {
  const char* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, *number);
  return error == std::errc() && at == end;
}

const char* suffix_of(std::optional<Encoding> form) {
  if (form == Encoding::kHex) return "_hex";
  return form == Encoding::kBase64 ? "_base64" : "";
}

}  // namespace

// ---- Writing

TableWriter::TableWriter(Output& output, TableFormat format, std::optional<Encoding> form,
                         bool expires)
    : output_(output), format_(format), form_(form), expires_(expires) {
  if (format_ != TableFormat::kCsv) return;
  const std::string suffix = suffix_of(form_);
  output_.write("key" + suffix + ",value" + suffix + (expires_ ? ",expires_at\n" : "\n"));
}

void TableWriter::csv_field(std::string_view bytes) {
  field_.clear();
  append_encoded(field_, form_.value_or(Encoding::kEscaped), bytes);
  const bool plain = field_.find_first_of(",\"") == std::string::npos &&
                     (field_.empty() || (field_.front() != ' ' && field_.back() != ' '));
  if (plain) {
    line_ += field_;
    return;
  }
  line_ += '"';
  for (const char c : field_) {
    if (c == '"') line_ += '"';
    line_ += c;
  }
  line_ += '"';
}

void TableWriter::entry(std::string_view key, std::string_view value, uint64_t expires_at) {
  if (format_ == TableFormat::kCsv) {
    line_.clear();
    csv_field(key);
    line_ += ',';
    csv_field(value);
    if (expires_) line_ += ',' + std::to_string(expires_at);
    line_ += '\n';
    return output_.write(line_);
  }
  Json json;
  json.begin_object();
  const auto add = [&](const char* name, std::string_view bytes) {
    if (form_.has_value()) {
      json.field(std::string(name) + suffix_of(form_), std::string_view(encode(*form_, bytes)));
    } else {
      json.bytes(name, bytes);
    }
  };
  add("key", key);
  add("value", value);
  if (expires_) json.field("expires_at", expires_at);
  json.end_object();
  output_.write(json.text());
  output_.write("\n");
}

// ---- Reading

TableReader::TableReader(Input& input, TableFormat format, std::string columns)
    : input_(input), format_(format), given_columns_(std::move(columns)) {}

Result<bool> TableReader::next(TableEntry& entry) {
  entry.key.clear();
  entry.value.clear();
  entry.expires_at.reset();
  return format_ == TableFormat::kCsv ? next_csv(entry) : next_json(entry);
}

Status TableReader::at(uint64_t line, size_t column, std::string_view what, StatusCode code) const {
  return Status(code, input_.name() + ":" + std::to_string(line) + ":" + std::to_string(column) +
                          ": " + std::string(what));
}

Status TableReader::error(std::string_view what, StatusCode code) const {
  return at(begin_line_, 1, what, code);
}

Result<bool> TableReader::next_line() {
  Result<bool> more = input_.next_line(line_, table_line_bytes_max());
  if (!more.ok() || !*more) return more;
  line_number_ = input_.line_number();
  if (line_number_ == 1 && line_.starts_with("\xef\xbb\xbf")) line_.remove_prefix(3);
  return true;
}

std::optional<TableReader::Column> TableReader::column_named(std::string_view name, bool json) {
  if (name == "expires_at") return Column{Field::kExpires};
  if (name == "-" && !json) return Column{Field::kSkip};
  const size_t end = std::min(name.find('_'), name.size());
  Column column;
  if (name.substr(0, end) == "key") {
    column.field = Field::kKey;
  } else if (name.substr(0, end) == "value") {
    column.field = Field::kValue;
  } else {
    return std::nullopt;
  }
  const std::string_view form = name.substr(end);
  if (form == "_hex") {
    column.form = Encoding::kHex;
  } else if (form == "_base64") {
    column.form = Encoding::kBase64;
  } else if (form.empty() && !json) {
    column.form = Encoding::kEscaped;
  } else if (!form.empty() && (form != "_text" || json)) {
    return std::nullopt;
  }
  return column;
}

Status TableReader::take(const Column& column, std::string_view text, uint64_t line, size_t offset,
                         TableEntry& entry) const {
  if (column.field == Field::kSkip) return {};
  if (column.field == Field::kExpires) {
    uint64_t moment = 0;
    if (!parse_number(text, &moment)) return at(line, offset + 1, "expires_at: no number");
    entry.expires_at = moment;
    return {};
  }
  std::string& to = column.field == Field::kKey ? entry.key : entry.value;
  if (!column.form.has_value()) {
    to = text;
    return {};
  }
  Status status = append_decoded(to, *column.form, text);
  if (status.ok()) return {};
  const char* what = column.field == Field::kKey ? "key: " : "value: ";
  return at(line, offset + 1, what + std::string(status.message()));
}

// ---- CSV

Status TableReader::read_columns() {
  const auto bad = [this](const Part& part, const std::string& what) {
    if (!given_columns_.empty()) return Status(StatusCode::kInvalidArgument, "columns: " + what);
    return at(part.line, part.offset + 1, what, StatusCode::kInvalidArgument);
  };
  bool has_key = false;
  bool has_value = false;
  for (const Part& part : record_) {
    const std::optional<Column> column = column_named(part.text, false);
    if (!column) {
      return bad(part, "no column is named \"" + encode(Encoding::kEscaped, part.text) +
                           "\": key, value, these with _text, _hex or _base64, expires_at, -");
    }
    for (const Column& other : columns_) {
      if (column->field != Field::kSkip && other.field == column->field) {
        return bad(part, "a second column for the same, \"" + part.text + "\"");
      }
    }
    has_key = has_key || column->field == Field::kKey;
    has_value = has_value || column->field == Field::kValue;
    columns_.push_back(*column);
  }
  if (!has_key || !has_value) return bad(record_.front(), "there must be a key and a value");
  return {};
}

Result<bool> TableReader::next_csv(TableEntry& entry) {
  if (columns_.empty()) {
    if (given_columns_.empty()) {
      Result<bool> more = read_record();
      if (!more.ok() || !*more) return more;
    } else {
      for (size_t from = 0; from <= given_columns_.size();) {
        const size_t end = std::min(given_columns_.find(',', from), given_columns_.size());
        record_.push_back({given_columns_.substr(from, end - from), 0, from});
        from = end + 1;
      }
    }
    if (Status s = read_columns(); !s.ok()) return s;
  }
  Result<bool> more = read_record();
  if (!more.ok() || !*more) return more;
  if (record_.size() != columns_.size()) {
    return error(std::to_string(record_.size()) + " fields, where there are " +
                     std::to_string(columns_.size()) + " columns",
                 StatusCode::kCorruption);
  }
  for (size_t i = 0; i < record_.size(); ++i) {
    const Part& part = record_[i];
    if (Status s = take(columns_[i], part.text, part.line, part.offset, entry); !s.ok()) return s;
  }
  return true;
}

// One record to record_, of one line or more. Lines with nothing in them are passed over.
Result<bool> TableReader::read_record() {
  record_.clear();
  do {
    Result<bool> more = next_line();
    if (!more.ok() || !*more) return more;
  } while (line_.empty() || line_ == "\r");
  begin_line_ = line_number_;
  for (size_t from = 0;;) {
    if (from < line_.size() && line_[from] == '"') {
      if (Status s = read_quoted(&from); !s.ok()) return s;
    } else {
      const size_t end = std::min(line_.find(',', from), line_.size());
      std::string_view text = line_.substr(from, end - from);
      if (end == line_.size() && text.ends_with('\r')) text.remove_suffix(1);
      if (const size_t quote = text.find('"'); quote != std::string_view::npos) {
        return here(from + quote, "a quote in a field that does not begin with one");
      }
      record_.push_back({std::string(text), line_number_, from});
      from = end;
    }
    if (from == line_.size()) return true;
    ++from;  // the comma
  }
}

// A field that begins with a quote at *from; to behind the quote that ends it.
Status TableReader::read_quoted(size_t* from) {
  const uint64_t begin_line = line_number_;
  const size_t begin = *from;
  std::string text;
  for (++*from;;) {
    const size_t quote = line_.find('"', *from);
    if (quote == std::string_view::npos) {
      text.append(line_.substr(*from));
      text += '\n';  // the end of the line is a part of the field
      if (text.size() > table_line_bytes_max())
        return at(begin_line, begin + 1, "too long a field");
      const Result<bool> more = next_line();
      if (!more.ok()) return more.status();
      if (!*more) return at(begin_line, begin + 1, "a quote that nothing ends");
      *from = 0;
      continue;
    }
    text.append(line_.substr(*from, quote - *from));
    *from = quote + 1;
    if (*from < line_.size() && line_[*from] == '"') {
      text += '"';
      ++*from;
      continue;
    }
    if (line_.substr(*from) == "\r") *from = line_.size();
    if (*from < line_.size() && line_[*from] != ',') {
      return here(*from, "something behind the quote that ends a field");
    }
    record_.push_back({std::move(text), begin_line, begin + 1});
    return {};
  }
}

// ---- JSON lines

Result<bool> TableReader::next_json(TableEntry& entry) {
  size_t from = 0;
  do {
    Result<bool> more = next_line();
    if (!more.ok() || !*more) return more;
    from = 0;
    skip_spaces(&from);
  } while (from == line_.size());
  begin_line_ = line_number_;
  if (Status s = read_object(entry); !s.ok()) return s;
  return true;
}

void TableReader::skip_spaces(size_t* from) const {
  *from = std::min(line_.find_first_not_of(" \t\r", *from), line_.size());
}

Status TableReader::read_object(TableEntry& entry) {
  size_t from = 0;
  const auto next = [&] {
    skip_spaces(&from);
    return from < line_.size() ? line_[from] : '\0';
  };
  if (next() != '{') return here(from, "an object was expected: {\"key\":...,\"value\":...}");
  ++from;
  std::vector<Field> seen;
  while (next() != '}' || !seen.empty()) {
    if (Status s = read_member(entry, &from, &seen); !s.ok()) return s;
    if (next() == '}') break;
    if (from == line_.size() || line_[from] != ',') return here(from, "a , or a } was expected");
    ++from;
  }
  const size_t end = from++;
  next();
  if (from != line_.size()) return here(from, "something behind the object");
  for (const auto& [field, name] : {std::pair(Field::kKey, "key"), {Field::kValue, "value"}}) {
    if (std::find(seen.begin(), seen.end(), field) == seen.end()) {
      return here(end, std::string("there is no ") + name);
    }
  }
  return {};
}

Status TableReader::read_member(TableEntry& entry, size_t* from, std::vector<Field>* seen) const {
  skip_spaces(from);
  const size_t name_at = *from;
  std::string name;
  if (Status s = read_string(from, &name); !s.ok()) return s;
  const std::optional<Column> column = column_named(name, true);
  if (!column) return here(name_at, "no member has the name \"" + name + "\"");
  if (std::find(seen->begin(), seen->end(), column->field) != seen->end()) {
    return here(name_at, "a second member for the same, \"" + name + "\"");
  }
  seen->push_back(column->field);
  skip_spaces(from);
  if (*from == line_.size() || line_[*from] != ':') return here(*from, "a : was expected");
  ++*from;
  skip_spaces(from);
  const size_t text_at = *from;
  std::string text;
  if (column->field == Field::kExpires) {
    const size_t end = std::min(line_.find_first_not_of("0123456789", *from), line_.size());
    text = line_.substr(*from, end - *from);
    *from = end;
    return take(*column, text, line_number_, text_at, entry);
  }
  if (Status s = read_string(from, &text); !s.ok()) return s;
  return take(*column, text, line_number_, text_at + 1, entry);
}

Status TableReader::read_string(size_t* from, std::string* to) const {
  const size_t begin = *from;
  if (begin == line_.size() || line_[begin] != '"') return here(begin, "a string was expected");
  for (++*from; *from < line_.size();) {
    const auto c = static_cast<unsigned char>(line_[*from]);
    if (c == '"') {
      ++*from;
      return {};
    }
    if (c == '\\') {
      if (Status s = read_escape(from, to); !s.ok()) return s;
    } else if (c < 0x20) {
      return here(*from, "a control character in a string");
    } else if (c < 0x80) {
      *to += line_[(*from)++];
    } else {
      const size_t length = utf8_sequence(line_, *from);
      if (length == 0) return here(*from, "no UTF-8");
      to->append(line_.substr(*from, length));
      *from += length;
    }
  }
  return here(begin, "a string that nothing ends");
}

bool TableReader::read_hex4(size_t from, uint32_t* number) const {
  if (line_.size() < from + 4) return false;
  const char* at = line_.data() + from;
  const auto [end, error] = std::from_chars(at, at + 4, *number, 16);
  return error == std::errc() && end == at + 4;
}

Status TableReader::read_escape(size_t* from, std::string* to) const {
  const size_t begin = *from;
  const char kind = begin + 1 < line_.size() ? line_[begin + 1] : '\0';
  *from += 2;
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kBytes = "\"\\/\b\f\n\r\t";
  if (const size_t at = kNames.find(kind); kind != '\0' && at != std::string_view::npos) {
    *to += kBytes[at];
    return {};
  }
  uint32_t code = 0;
  if (kind != 'u' || !read_hex4(*from, &code)) {
    return here(begin, "a backslash that is followed by none of \" \\ / b f n r t uNNNN");
  }
  *from += 4;
  if (code >= 0xd800 && code < 0xe000) {
    uint32_t low = 0;
    const bool pair = code < 0xdc00 && line_.substr(*from, 2) == "\\u" &&
                      read_hex4(*from + 2, &low) && low >= 0xdc00 && low < 0xe000;
    if (!pair) return here(begin, "half a surrogate pair");
    *from += 6;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(*to, code);
  return {};
}

}  // namespace hawthorn::tools
