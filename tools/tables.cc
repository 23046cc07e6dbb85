// import and export: one tree from and to lines of CSV or JSON (table_format.h).

#include <optional>
#include <utility>

#include "tools/command.h"
#include "tools/db_progress.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/stream.h"
#include "tools/table_format.h"

namespace hawthorn::tools {
namespace {

constexpr size_t kImportBatchBytes = size_t{1} << 20;
constexpr size_t kImportBatchOperations = 4096;

Result<TableFormat> format_of(const TableOptions& options) {
  if (options.format) return *options.format;
  const std::string_view name = options.file;
  if (name.ends_with(".csv")) return TableFormat::kCsv;
  if (name.ends_with(".jsonl") || name.ends_with(".ndjson")) return TableFormat::kJsonLines;
  return Status(StatusCode::kInvalidArgument,
                "--format csv or --format jsonl is needed where the file's name does not end with "
                ".csv, .jsonl or .ndjson");
}

class Importer {
 public:
  Importer(Db& db, const Tree& tree, bool expires, Input& input, TableFormat format,
           const CommonOptions& common, const TableOptions& options)
      : db_(db),
        tree_(tree),
        expires_(expires),
        input_(input),
        options_(options),
        show_(common.show()),
        reader_(input, format, options.columns),
        progress_("imported", Progress::Unit::kBytes, common.show()) {}

  Status run() {
    if (options_.bulk) {
      IngestOptions ingest_options;
      ingest_options.sorted = false;
      ingest_options.durability = options_.durability;
      Result<Ingest> ingest = db_.ingest(tree_, ingest_options);
      if (!ingest.ok()) return ingest.status();
      ingest_ = std::move(*ingest);
    }
    for (TableEntry entry;;) {
      Result<bool> more = reader_.next(entry);
      if (!more.ok()) return with_count(more.status());
      if (!*more) break;
      if (Status s = add(entry); !s.ok()) return with_count(s);
      ++entries_;
      progress_.update(input_.bytes_read(), input_.size());
    }
    Status status = options_.bulk ? finish_shown(ingest_, show_) : write_batch();
    return status.ok() ? db_.sync() : status;
  }

  uint64_t entries() const { return entries_; }
  double seconds() const { return progress_.seconds(); }

 private:
  Status add(const TableEntry& entry) {
    const Limits limits = Db::limits();
    if (entry.key.size() > limits.key_bytes_max) {
      return reader_.error("a key of " + std::to_string(entry.key.size()) +
                               " bytes; the limit is " + std::to_string(limits.key_bytes_max),
                           StatusCode::kInvalidArgument);
    }
    if (entry.value.size() > limits.batch_value_bytes_max) {
      return reader_.error("a value of " + std::to_string(entry.value.size()) +
                               " bytes; the limit is " +
                               std::to_string(limits.batch_value_bytes_max),
                           StatusCode::kInvalidArgument);
    }
    // What is never to end needs no tree for it.
    const bool ends = entry.expires_at.value_or(0) != 0;
    if (ends && (!expires_ || options_.bulk)) {
      return reader_.error(expires_ ? "an entry that ends, which --bulk does not take"
                                    : "an entry that ends, and the tree has none that do",
                           StatusCode::kInvalidArgument);
    }
    if (options_.bulk) {
      Status status = ingest_.add(entry.key, entry.value);
      return status.ok() ? status : reader_.error(status.message(), status.code());
    }
    if (expires_ && entry.expires_at) {
      batch_.put(tree_, entry.key, entry.value, Expiry::at_ms(*entry.expires_at));
    } else {
      batch_.put(tree_, entry.key, entry.value);
    }
    const bool full =
        batch_.bytes() >= kImportBatchBytes || batch_.count() >= kImportBatchOperations;
    return full ? write_batch() : Status();
  }

  Status write_batch() {
    if (batch_.count() == 0) return {};
    Status status = db_.write(batch_, options_.durability);
    if (status.ok()) written_ += batch_.count();
    batch_.clear();
    return status;
  }

  // In bulk nothing is there yet. Else what was read before the error is, as it says.
  Status with_count(const Status& status) {
    if (!options_.bulk) {
      if (Status s = write_batch(); !s.ok()) return s;
      if (Status s = db_.sync(); !s.ok()) return s;
    }
    return Status(status.code(), std::string(status.message()) + "; " + std::to_string(written_) +
                                     " entries before it were imported");
  }

  Db& db_;
  const Tree tree_;
  const bool expires_;
  Input& input_;
  const TableOptions& options_;
  const ProgressShow show_;
  TableReader reader_;
  Progress progress_;
  WriteBatch batch_;
  Ingest ingest_;
  uint64_t entries_ = 0;
  uint64_t written_ = 0;
};

Status report_moved(const CommonOptions& common, uint64_t entries, uint64_t bytes, double seconds) {
  if (!common.json) return {};
  Json json;
  json.begin_object().field("entries", entries).field("bytes", bytes);
  json.field("seconds", seconds).end_object();
  return print_line(json.text());
}

Status export_entries(Cursor& cursor, TableWriter& writer, Output& output, bool subtrees,
                      Progress& progress, uint64_t total, uint64_t* entries) {
  for (bool more = cursor.first(); more; more = cursor.next()) {
    if (cursor.value().empty()) {
      // Empty, or too large to be shown, or a tree.
      if (Status s = cursor.status(); !s.ok()) {
        return Status(s.code(), encode(Encoding::kEscaped, cursor.key()) + ": " +
                                    std::string(s.message()) + "; dump writes such a value");
      }
      const Result<bool> tree = subtrees ? cursor.is_subtree() : Result<bool>(false);
      if (!tree.ok()) return tree.status();
      if (*tree) {
        return Status(StatusCode::kNotSupported, "a tree hangs at " +
                                                     encode(Encoding::kEscaped, cursor.key()) +
                                                     ", which no line holds; dump writes it");
      }
    }
    writer.entry(cursor.key(), cursor.value(), cursor.expires_at());
    if (!output.status().ok()) return output.status();
    progress.update(++*entries, total);
  }
  return cursor.status();
}

}  // namespace

Status run_import(const CommonOptions& common, const TableOptions& options) {
  const Result<TableFormat> format = format_of(options);
  if (!format.ok()) return format.status();
  if (!options.columns.empty() && *format != TableFormat::kCsv) {
    return Status(StatusCode::kInvalidArgument, "--columns is for CSV alone");
  }
  Result<Input> input = Input::open(options.file);
  if (!input.ok()) return input.status();
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kCreate);
  if (!db.ok()) return db.status();
  const Result<Tree> tree = (*db)->tree(common.tree);
  if (!tree.ok()) return tree.status();
  const Result<TreeOptions> has = (*db)->tree_options(*tree);
  if (!has.ok()) return has.status();
  uint64_t entries = 0;
  double seconds = 0;
  {
    Importer importer(**db, *tree, has->expires, *input, *format, common, options);
    if (Status s = importer.run(); !s.ok()) return s;
    entries = importer.entries();
    seconds = importer.seconds();
  }
  if (Status s = close_shown(**db, common.show()); !s.ok()) return s;
  return report_moved(common, entries, input->bytes_read(), seconds);
}

Status run_export(const CommonOptions& common, const TableOptions& options) {
  const Result<TableFormat> format = format_of(options);
  if (!format.ok()) return format.status();
  const bool to_stdout = options.file.empty() || options.file == "-";
  if (common.json && to_stdout) {
    return Status(StatusCode::kInvalidArgument,
                  "export --json needs a FILE: standard output cannot take both");
  }
  Result<KeyRange> range = resolve_range(common, options.range);
  if (!range.ok()) return range.status();
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kRead);
  if (!db.ok()) return db.status();
  const Result<Tree> tree = (*db)->find_tree(common.tree);
  if (!tree.ok()) return tree.status();
  const Result<TreeOptions> has = (*db)->tree_options(*tree);
  if (!has.ok()) return has.status();
  Result<Output> output = to_stdout ? Output::to_stdout() : Output::to_file(options.file);
  if (!output.ok()) return output.status();

  std::optional<std::string_view> upper;
  if (range->upper) upper = *range->upper;
  const Result<RangeEstimate> total = (*db)->estimate(*tree, range->lower, upper);
  if (!total.ok()) return total.status();
  std::optional<Encoding> form;
  if (common.hex) form = Encoding::kHex;
  if (options.base64) form = Encoding::kBase64;
  uint64_t entries = 0;
  double seconds = 0;
  {
    Progress progress("exported", Progress::Unit::kEntries,
                      common.show_beside(output->is_terminal()));
    TableWriter writer(*output, *format, form, has->expires);
    Cursor cursor = (*db)->cursor(
        *tree, {.lower = range->lower, .upper = range->upper, .large_as_empty = true});
    Status status =
        export_entries(cursor, writer, *output, has->subtrees, progress, total->entries, &entries);
    if (!status.ok()) return status;
    seconds = progress.seconds();
  }
  if (Status s = output->finish(); !s.ok()) return s;
  return report_moved(common, entries, output->bytes(), seconds);
}

}  // namespace hawthorn::tools
