// dump: trees of one snapshot into a dump file, in constant memory but for a list
// of subtrees that are not written yet.

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "tools/command.h"
#include "tools/dump_format.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

class Dumper {
 public:
  Dumper(Db& db, Output& output, const CommonOptions& common, const DumpOptions& options)
      : db_(db),
        output_(output),
        snapshot_(db.snapshot()),
        encoding_(options.base64 ? Encoding::kBase64 : Encoding::kEscaped),
        progress_("dumped", Progress::Unit::kEntries, common.show_beside(output.is_terminal())),
        buffer_(kValuePartBytes) {}

  Status run(const std::vector<std::string>& names) {
    uint64_t total = 0;
    for (const TreeStats& tree : db_.stats().trees) {
      const bool wanted = std::find(names.begin(), names.end(), tree.name) != names.end();
      if (wanted) total += tree.entries_flushed + tree.delta_records;
    }
    std::vector<Section> trees;
    uint32_t version = 1;
    for (const std::string& name : names) {
      const Result<Tree> tree = db_.find_tree(name, {.snapshot = &snapshot_});
      if (!tree.ok()) return tree.status();
      Result<TreeOptions> has = db_.tree_options(*tree);
      if (!has.ok()) return has.status();
      version = std::max(version, dump_version_for(*has));
      trees.push_back({*tree, std::move(*has), name, 0});
    }
    writer_.emplace(output_, encoding_, version);
    for (const Section& tree : trees) {
      writer_->begin_tree(tree.at, tree.options);
      Status status = dump_tree(tree, total);
      // All that hangs below it, level by level.
      while (status.ok() && !hanging_.empty()) {
        const Section next = std::move(hanging_.front());
        hanging_.pop_front();
        writer_->begin_subtree(next.in, next.at, next.options);
        status = dump_tree(next, total);
      }
      if (!status.ok()) return status;
    }
    writer_->finish();
    return output_.finish();
  }

  uint64_t entries() const { return entries_; }
  double seconds() const { return progress_.seconds(); }

 private:
  struct Section {
    Tree tree;
    TreeOptions options;
    std::string at;  // its name, or the key at which it hangs
    uint64_t in;     // the number of the section in whose tree it hangs
  };

  Status dump_tree(const Section& section, uint64_t total) {
    const Tree& tree = section.tree;
    Cursor cursor = db_.cursor(tree, {.snapshot = &snapshot_, .large_as_empty = true});
    for (bool more = cursor.first(); more; more = cursor.next()) {
      Result<bool> hangs = section.options.subtrees ? cursor.is_subtree() : Result<bool>(false);
      if (!hangs.ok()) return hangs.status();
      Status status = *hangs ? keep_subtree(tree, cursor.key()) : dump_entry(tree, cursor);
      if (!status.ok()) return status;
      if (!output_.status().ok()) return output_.status();
      progress_.update(++entries_, total);
    }
    writer_->end_tree();
    return cursor.status();
  }

  // For when the tree in which it hangs is written.
  Status keep_subtree(const Tree& tree, std::string_view key) {
    const Result<Tree> subtree = db_.subtree(tree, key, {.snapshot = &snapshot_});
    if (!subtree.ok()) return subtree.status();
    Result<TreeOptions> options = db_.tree_options(*subtree);
    if (!options.ok()) return options.status();
    hanging_.push_back({*subtree, std::move(*options), std::string(key), writer_->sections() + 1});
    return {};
  }

  Status dump_entry(const Tree& tree, const Cursor& cursor) {
    const std::string_view key = cursor.key();
    const std::string_view value = cursor.value();
    if (value.empty()) {
      // Empty, or too large to be shown as a whole; then the cursor says so and goes on.
      Status status = cursor.status();
      if (status.is(StatusCode::kNotSupported)) return dump_in_parts(tree, key);
      if (!status.ok()) return status;
    }
    if (value.size() <= kInlineValueBytesMax) {
      writer_->entry(key, value, cursor.expires_at());
      return {};
    }
    writer_->begin_value(key, value.size(), cursor.expires_at());
    for (size_t offset = 0; offset < value.size(); offset += kValuePartBytes) {
      writer_->value_part(value.substr(offset, kValuePartBytes));
    }
    return {};
  }

  Status dump_in_parts(const Tree& tree, std::string_view key) {
    Result<uint64_t> bytes = value_bytes(tree, key);
    if (!bytes.ok()) return bytes.status();
    writer_->begin_value(key, *bytes);
    for (uint64_t offset = 0; offset < *bytes; offset += kValuePartBytes) {
      Result<size_t> got = read(tree, key, offset, kValuePartBytes);
      if (!got.ok()) return got.status();
      writer_->value_part(std::string_view(buffer_.data(), *got));
      if (!output_.status().ok()) return output_.status();
    }
    return {};
  }

  Result<size_t> read(const Tree& tree, std::string_view key, uint64_t offset, size_t bytes) {
    return db_.read_part(tree, key, offset, std::span<char>(buffer_).first(bytes),
                         {.snapshot = &snapshot_});
  }

  // The size of a value, found by probing for its last byte: a read at an offset gives a byte
  // exactly when the value is longer than that.
  Result<uint64_t> value_bytes(const Tree& tree, std::string_view key) {
    uint64_t size = 0;
    for (uint64_t bit = std::bit_floor(Db::limits().stream_value_bytes_max); bit > 0; bit /= 2) {
      Result<size_t> got = read(tree, key, size + bit - 1, 1);
      if (!got.ok()) return got.status();
      if (*got == 1) size += bit;
    }
    return size;
  }

  Db& db_;
  Output& output_;
  const Snapshot snapshot_;
  const Encoding encoding_;
  std::optional<DumpWriter> writer_;
  std::deque<Section> hanging_;
  Progress progress_;
  std::vector<char> buffer_;
  uint64_t entries_ = 0;
};

}  // namespace

Status run_dump(const CommonOptions& common, const DumpOptions& options) {
  const bool to_stdout = options.file.empty() || options.file == "-";
  if (common.json && to_stdout) {
    return Status(StatusCode::kInvalidArgument,
                  "dump --json needs a FILE: standard output cannot take both");
  }
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kRead);
  if (!db.ok()) return db.status();
  std::vector<std::string> names = options.trees;
  if (names.empty()) {
    Result<std::vector<std::string>> all = (*db)->list_trees();
    if (!all.ok()) return all.status();
    names = std::move(*all);
  }
  Result<Output> output = to_stdout ? Output::to_stdout() : Output::to_file(options.file);
  if (!output.ok()) return output.status();
  Dumper dumper(**db, *output, common, options);
  Status status = dumper.run(names);
  if (!status.ok() || !common.json) return status;
  Json json;
  json.begin_object().field("trees", names.size()).field("entries", dumper.entries());
  json.field("bytes", output->bytes()).field("seconds", dumper.seconds()).end_object();
  return print_line(json.text());
}

}  // namespace hawthorn::tools
