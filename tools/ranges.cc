// scan and count: key ranges.

#include <algorithm>
#include <optional>
#include <string>

#include "tools/command.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

// Writes entries as lines of text or of JSON.
class EntryPrinter {
 public:
  EntryPrinter(const CommonOptions& common, bool keys_only)
      : common_(common), keys_only_(keys_only), output_(Output::to_stdout()) {}

  void print(std::string_view key, std::string_view value) {
    if (common_.json) {
      print_json(key, value);
    } else {
      print_text(key, value);
    }
  }
  bool to_terminal() const { return output_.is_terminal(); }
  bool ok() const { return output_.status().ok(); }
  Status finish() { return output_.finish(); }

 private:
  void print_text(std::string_view key, std::string_view value) {
    line_.clear();
    append_encoded(line_, common_.encoding(), key);
    if (!keys_only_) {
      line_ += '\t';
      append_encoded(line_, common_.encoding(), value);
    }
    line_ += '\n';
    output_.write(line_);
  }

  void print_json(std::string_view key, std::string_view value) {
    json_.clear();
    json_.begin_object();
    add_bytes("key", key);
    if (!keys_only_) add_bytes("value", value);
    json_.end_object();
    output_.write(json_.text());
    output_.write("\n");
  }

  void add_bytes(const std::string& name, std::string_view bytes) {
    if (common_.hex) {
      json_.field(name + "_hex", std::string_view(encode(Encoding::kHex, bytes)));
    } else {
      json_.bytes(name, bytes);
    }
  }

  const CommonOptions& common_;
  const bool keys_only_;
  Output output_;
  std::string line_;
  Json json_;
};

}  // namespace

Status run_scan(const CommonOptions& common, const ScanCommandOptions& options) {
  Result<KeyRange> range = resolve_range(common, options.range);
  if (!range.ok()) return range.status();
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kRead);
  if (!db.ok()) return db.status();
  Result<Tree> tree = (*db)->find_tree(common.tree);
  if (!tree.ok()) return tree.status();

  EntryPrinter printer(common, options.keys_only);
  Cursor cursor = (*db)->cursor(*tree, {.lower = range->lower,
                                        .upper = range->upper,
                                        .snapshot = nullptr,
                                        .key_only = options.keys_only});
  std::optional<Progress> progress(std::in_place, "printed", Progress::Unit::kEntries,
                                   common.show_beside(printer.to_terminal()));
  uint64_t total = 0;
  if (progress->shown()) {
    std::optional<std::string_view> upper;
    if (range->upper) upper = *range->upper;
    const Result<RangeEstimate> estimate = (*db)->estimate(*tree, range->lower, upper);
    if (estimate.ok()) total = std::min(estimate->entries, options.limit);
  }
  uint64_t left = options.limit;
  for (bool more = options.reverse ? cursor.last() : cursor.first();
       more && left > 0 && printer.ok(); more = options.reverse ? cursor.prev() : cursor.next()) {
    printer.print(cursor.key(), cursor.value());
    --left;
    progress->update(options.limit - left, total);
  }
  progress.reset();
  // What was read before an error is printed before the error is.
  Status printed = printer.finish();
  Status status = cursor.status();
  return status.ok() ? printed : status;
}

Status run_count(const CommonOptions& common, const RangeOptions& range_options) {
  Result<KeyRange> range = resolve_range(common, range_options);
  if (!range.ok()) return range.status();
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kRead);
  if (!db.ok()) return db.status();
  Result<Tree> tree = (*db)->find_tree(common.tree);
  if (!tree.ok()) return tree.status();

  uint64_t count = 0;
  {
    Progress progress("counted", Progress::Unit::kEntries, common.show());
    const auto add = [&](std::span<const Entry> entries) {
      count += entries.size();
      progress.update(count, 0);
      return true;
    };
    std::optional<std::string_view> upper;
    if (range->upper) upper = *range->upper;
    Status status = (*db)->scan(*tree, range->lower, upper, add, {.key_only = true});
    if (!status.ok()) return status;
  }
  if (!common.json) return print_line(std::to_string(count));
  Json json;
  json.begin_object().field("count", count).end_object();
  return print_line(json.text());
}

}  // namespace hawthorn::tools
