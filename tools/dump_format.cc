#include "tools/dump_format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>

#include "hawthorn/stats.h"

namespace hawthorn::tools {
namespace {

constexpr std::string_view kFileHeader = "#hawthorn-dump";
constexpr std::string_view kTreeHeader = "#tree";
constexpr std::string_view kSubtreeHeader = "#subtree";
constexpr std::string_view kValueHeader = "#value";
constexpr std::string_view kTreeEnd = "#end";
constexpr std::string_view kFileEnd = "#end-of-dump";

// Every byte of the longest key and inline value escaped as \xNN, and the tab.
size_t line_bytes_max() {
  const Limits limits;
  return 4 * (limits.key_bytes_max + limits.batch_value_bytes_max) + 1;
}

std::string_view encoding_name(Encoding encoding) {
  return encoding == Encoding::kBase64 ? "base64" : "escaped";
}

// Takes "NAME=VALUE " from the front of a header's fields, or nothing when it does not stand there.
std::optional<std::string_view> take_field(std::string_view& fields, std::string_view name) {
  if (!fields.starts_with(name) || fields.substr(name.size(), 1) != "=") return std::nullopt;
  const size_t begin = name.size() + 1;
  const size_t end = std::min(fields.find(' ', begin), fields.size());
  const std::string_view value = fields.substr(begin, end - begin);
  fields.remove_prefix(std::min(end + 1, fields.size()));
  return value;
}

// As take_field, for the last field, whose value may contain spaces.
std::optional<std::string_view> take_last_field(std::string_view fields, std::string_view name) {
  if (!fields.starts_with(name) || fields.substr(name.size(), 1) != "=") return std::nullopt;
  return fields.substr(name.size() + 1);
}

std::optional<uint64_t> to_number(std::optional<std::string_view> text) {
  uint64_t number = 0;
  if (!text) return std::nullopt;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (text->empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// The fields behind a header's word, or nothing when the line begins with another word.
std::optional<std::string_view> fields_of(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return std::nullopt;
  if (line.size() == word.size()) return std::string_view();
  if (line[word.size()] != ' ') return std::nullopt;
  return line.substr(word.size() + 1);
}

// A field that is not the last one: without spaces.
std::string encode_word(std::string_view bytes) {
  std::string word;
  for (const char c : encode(Encoding::kEscaped, bytes)) {
    if (c == ' ') {
      word += "\\x20";
    } else {
      word += c;
    }
  }
  return word;
}

bool tree_has_options(const TreeOptions& options) {
  return options.multi_value || options.expires || options.subtrees || options.order != "bytewise";
}

}  // namespace

uint32_t dump_version_for(const TreeOptions& options) {
  if (options.subtrees) return 3;
  return tree_has_options(options) ? 2 : 1;
}

struct LineChecksum::State {
  XXH3_state_t xxh3;
};

LineChecksum::LineChecksum() : state_(std::make_unique<State>()) { reset(); }
LineChecksum::~LineChecksum() = default;
void LineChecksum::reset() { XXH3_64bits_reset(&state_->xxh3); }
void LineChecksum::add(std::string_view bytes) {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}
std::string LineChecksum::hex() const {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(XXH3_64bits_digest(&state_->xxh3)));
  return digits;
}

DumpWriter::DumpWriter(Output& output, Encoding encoding, uint32_t version)
    : output_(output), encoding_(encoding) {
  output_.write(std::string(kFileHeader) + " version=" + std::to_string(version) +
                " encoding=" + std::string(encoding_name(encoding)) + "\n");
}

void DumpWriter::append_data(std::string_view bytes) {
  if (encoding_ == Encoding::kEscaped && line_.empty() && bytes.starts_with('#')) {
    line_ += "\\x23";
    bytes.remove_prefix(1);
  }
  append_encoded(line_, encoding_, bytes);
}

void DumpWriter::write_counted(std::string_view line) {
  output_.write(line);
  checksum_.add(line);
}

void DumpWriter::begin_tree(std::string_view name, const TreeOptions& options) {
  begin_section(std::string(kTreeHeader), options, " name=" + encode(Encoding::kEscaped, name));
}

void DumpWriter::begin_subtree(uint64_t section, std::string_view key, const TreeOptions& options) {
  begin_section(std::string(kSubtreeHeader) + " in=" + std::to_string(section), options,
                " key=" + encode(Encoding::kEscaped, key));
}

void DumpWriter::begin_section(std::string header, const TreeOptions& options,
                               const std::string& last) {
  entries_ = 0;
  checksum_.reset();
  if (tree_has_options(options)) header += " order=" + encode_word(options.order);
  if (options.multi_value) header += " values=" + encode_word(options.value_order);
  expires_ = options.expires;
  if (expires_) header += " expires=" + std::to_string(options.ttl_ms);
  if (options.subtrees) header += " subtrees=1";
  output_.write(header + last + "\n");
}

void DumpWriter::entry(std::string_view key, std::string_view value, uint64_t expires_at) {
  line_.clear();
  append_data(key);
  line_ += '\t';
  append_encoded(line_, encoding_, value);
  if (expires_) line_ += '\t' + std::to_string(expires_at);
  line_ += '\n';
  write_counted(line_);
  ++entries_;
}

void DumpWriter::begin_value(std::string_view key, uint64_t bytes, uint64_t expires_at) {
  line_ = std::string(kValueHeader) + " bytes=" + std::to_string(bytes);
  if (expires_) line_ += " expires=" + std::to_string(expires_at);
  line_ += " key=";
  append_data(key);
  line_ += '\n';
  write_counted(line_);
  ++entries_;
}

void DumpWriter::value_part(std::string_view bytes) {
  line_.clear();
  append_data(bytes);
  line_ += '\n';
  write_counted(line_);
}

void DumpWriter::end_tree() {
  output_.write(std::string(kTreeEnd) + " entries=" + std::to_string(entries_) +
                " xxh3=" + checksum_.hex() + "\n");
  ++trees_;
}

void DumpWriter::finish() {
  output_.write(std::string(kFileEnd) + " trees=" + std::to_string(trees_) + "\n");
}

DumpReader::DumpReader(Input& input) : input_(input) {}

Status DumpReader::error(std::string_view what, StatusCode code) const {
  return Status(
      code, input_.name() + ":" + std::to_string(input_.line_number()) + ": " + std::string(what));
}

Result<bool> DumpReader::next_line() { return input_.next_line(line_, line_bytes_max()); }

void DumpReader::count_line() {
  checksum_.add(line_);
  checksum_.add("\n");
}

Status DumpReader::decode_field(std::string_view text, std::string& bytes) const {
  bytes.clear();
  Status status = append_decoded(bytes, encoding_, text);
  return status.ok() ? status : error(status.message());
}

Result<DumpReader::Event> DumpReader::next() {
  if (value_bytes_left_ > 0 || part_at_ < part_.size()) {
    return error("the large value was not read to its end", StatusCode::kInvalidArgument);
  }
  if (!in_file_) {
    Status status = read_header();
    if (!status.ok()) return status;
    in_file_ = true;
  }
  Result<bool> more = next_line();
  if (!more.ok()) return more.status();
  if (!*more) {
    return error(in_tree_ ? "the file ends inside a tree, without its #end line"
                          : "the file ends without its #end-of-dump line");
  }
  Event event = Event::kEntry;
  Status status;
  if (in_tree_ && !line_.starts_with('#')) {
    status = read_entry();
  } else if (in_tree_ && fields_of(line_, kValueHeader)) {
    event = Event::kLargeValue;
    status = read_value_header();
  } else if (in_tree_ && fields_of(line_, kTreeEnd)) {
    event = Event::kTreeEnd;
    status = read_tree_end();
  } else if (!in_tree_ && fields_of(line_, kTreeHeader)) {
    event = Event::kTree;
    status = read_tree_header();
  } else if (!in_tree_ && version_ >= 3 && fields_of(line_, kSubtreeHeader)) {
    event = Event::kSubtree;
    status = read_subtree_header();
  } else if (!in_tree_ && fields_of(line_, kFileEnd)) {
    event = Event::kEnd;
    status = read_file_end();
  } else {
    status =
        error(in_tree_ ? "expected an entry, #value or #end" : "expected #tree or #end-of-dump");
  }
  if (!status.ok()) return status;
  return event;
}

Status DumpReader::read_header() {
  Result<bool> more = next_line();
  if (!more.ok()) return more.status();
  std::optional<std::string_view> fields;
  if (*more) fields = fields_of(line_, kFileHeader);
  if (!fields) return error("no dump file: it does not begin with #hawthorn-dump");
  const std::optional<uint64_t> version = to_number(take_field(*fields, "version"));
  if (!version || *version == 0) return error("expected version=NUMBER, 1 or more");
  version_ = static_cast<uint32_t>(std::min<uint64_t>(*version, UINT32_MAX));
  if (*version > kDumpVersion) {
    return error("format version " + std::to_string(*version) + " is newer than this program's " +
                     std::to_string(kDumpVersion),
                 StatusCode::kNotSupported);
  }
  const std::optional<std::string_view> encoding = take_field(*fields, "encoding");
  if (encoding == "escaped") {
    encoding_ = Encoding::kEscaped;
  } else if (encoding == "base64") {
    encoding_ = Encoding::kBase64;
  } else {
    return error("expected encoding=escaped or encoding=base64");
  }
  return {};
}

Status DumpReader::read_tree_header() {
  hangs_in_ = 0;
  return begin_section(*fields_of(line_, kTreeHeader), "name");
}

Status DumpReader::read_subtree_header() {
  std::string_view fields = *fields_of(line_, kSubtreeHeader);
  const std::optional<uint64_t> in = to_number(take_field(fields, "in"));
  if (!in || *in == 0 || *in > trees_) {
    return error("expected #subtree in=NUMBER key=KEY, with the number of a tree before it");
  }
  hangs_in_ = *in;
  return begin_section(fields, "key");
}

Status DumpReader::begin_section(std::string_view fields, std::string_view last) {
  tree_options_.reset();
  if (version_ >= 2) {
    if (Status s = read_tree_options(fields); !s.ok()) return s;
  }
  const std::optional<std::string_view> name = take_last_field(fields, last);
  if (!name) return error("expected " + std::string(last) + "=" + (last == "key" ? "KEY" : "NAME"));
  tree_.clear();
  Status status = append_decoded(tree_, Encoding::kEscaped, *name);
  if (!status.ok()) return error(status.message());
  in_tree_ = true;
  entries_ = 0;
  checksum_.reset();
  return {};
}

Status DumpReader::read_tree_options(std::string_view& fields) {
  const std::optional<std::string_view> order = take_field(fields, "order");
  if (!order) return {};
  TreeOptions options;
  Status status = append_decoded(options.order, Encoding::kEscaped, *order);
  if (const auto values = take_field(fields, "values"); values && status.ok()) {
    options.multi_value = true;
    status = append_decoded(options.value_order, Encoding::kEscaped, *values);
  }
  if (const auto expires = take_field(fields, "expires"); expires && status.ok()) {
    const std::optional<uint64_t> ttl_ms = to_number(expires);
    if (!ttl_ms) return error("expected expires=MILLISECONDS");
    options.expires = true;
    options.ttl_ms = *ttl_ms;
  }
  if (version_ >= 3) {
    const auto subtrees = take_field(fields, "subtrees");
    if (subtrees && *subtrees != "1") return error("expected subtrees=1");
    options.subtrees = subtrees.has_value();
  }
  if (!status.ok()) return error(status.message());
  tree_options_ = std::move(options);
  return {};
}

Status DumpReader::read_entry() {
  const size_t tab = line_.find('\t');
  if (tab == std::string_view::npos) return error("no tab between key and value");
  std::string_view value = line_.substr(tab + 1);
  expires_at_ = 0;
  if (tree_expires()) {
    const size_t end = value.rfind('\t');
    std::optional<uint64_t> at;
    if (end != std::string_view::npos) at = to_number(value.substr(end + 1));
    if (!at) return error("expected a tab and when the entry ends behind its value");
    expires_at_ = *at;
    value = value.substr(0, end);
  }
  if (value.find('\t') != std::string_view::npos) {
    return error("more than one tab; a tab inside a key or value is \\t");
  }
  Status status = decode_field(line_.substr(0, tab), key_);
  if (status.ok()) status = decode_field(value, value_);
  count_line();
  ++entries_;
  return status;
}

Status DumpReader::read_value_header() {
  std::string_view fields = *fields_of(line_, kValueHeader);
  const std::optional<uint64_t> bytes = to_number(take_field(fields, "bytes"));
  expires_at_ = 0;
  if (tree_expires()) {
    const std::optional<uint64_t> at = to_number(take_field(fields, "expires"));
    if (!at) return error("expected #value bytes=NUMBER expires=NUMBER key=KEY");
    expires_at_ = *at;
  }
  const std::optional<std::string_view> key = take_last_field(fields, "key");
  if (!bytes || !key) return error("expected #value bytes=NUMBER key=KEY");
  if (*bytes > Limits().stream_value_bytes_max) return error("a value above the limit of 4 GB");
  value_bytes_ = *bytes;
  value_bytes_left_ = *bytes;
  part_.clear();
  part_at_ = 0;
  count_line();
  ++entries_;
  return decode_field(*key, key_);
}

Status DumpReader::read_part() {
  Result<bool> more = next_line();
  if (!more.ok()) return more.status();
  if (!*more) return error("the file ends inside a value");
  if (line_.starts_with('#')) {
    return error("a value that ends " + std::to_string(value_bytes_left_) + " bytes too early");
  }
  Status status = decode_field(line_, part_);
  if (!status.ok()) return status;
  part_at_ = 0;
  count_line();
  if (part_.size() > value_bytes_left_) return error("a value longer than its header says");
  value_bytes_left_ -= part_.size();
  return {};
}

Result<size_t> DumpReader::read_value(std::span<char> buffer) {
  size_t filled = 0;
  while (filled < buffer.size()) {
    if (part_at_ == part_.size()) {
      if (value_bytes_left_ == 0) break;
      Status status = read_part();
      if (!status.ok()) return status;
    }
    const size_t bytes = std::min(buffer.size() - filled, part_.size() - part_at_);
    std::memcpy(buffer.data() + filled, part_.data() + part_at_, bytes);
    filled += bytes;
    part_at_ += bytes;
  }
  return filled;
}

Status DumpReader::read_tree_end() {
  std::string_view fields = *fields_of(line_, kTreeEnd);
  const std::optional<uint64_t> entries = to_number(take_field(fields, "entries"));
  if (!entries) return error("expected #end entries=NUMBER");
  if (*entries != entries_) {
    return error("tree " + tree_ + " has " + std::to_string(entries_) + " entries, its end says " +
                 std::to_string(*entries));
  }
  // A file that was written by hand may leave the checksum out.
  const std::optional<std::string_view> checksum = take_field(fields, "xxh3");
  if (checksum && *checksum != checksum_.hex()) {
    return error("tree " + tree_ + " has the checksum " + checksum_.hex() + ", its end says " +
                 std::string(*checksum));
  }
  if (!fields.empty()) return error("unknown fields: " + std::string(fields));
  in_tree_ = false;
  ++trees_;
  return {};
}

Status DumpReader::read_file_end() {
  std::string_view fields = *fields_of(line_, kFileEnd);
  const std::optional<uint64_t> trees = to_number(take_field(fields, "trees"));
  if (!trees) return error("expected #end-of-dump trees=NUMBER");
  if (*trees != trees_) {
    return error("the file has " + std::to_string(trees_) + " trees, its end says " +
                 std::to_string(*trees));
  }
  Result<bool> more = next_line();
  if (!more.ok()) return more.status();
  return *more ? error("something follows the end of the dump") : Status();
}

}  // namespace hawthorn::tools
