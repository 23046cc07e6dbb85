// stats, counters and check: what a database says about itself, and whether it is true.

#include <array>
#include <cstdio>
#include <ctime>
#include <string>

#include "hawthorn/counters.h"
#include "tools/command.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/stream.h"
#include "tools/watch.h"

namespace hawthorn::tools {
namespace {

enum class Kind : uint8_t { kBytes, kCount };

struct Figure {
  const char* name;
  Kind kind;
  uint64_t value;
};

// Every number of Stats once, in the order in which both forms of output show them.
std::vector<Figure> figures_of(const Stats& s) {
  return {{"memory_budget_bytes", Kind::kBytes, s.memory_budget_bytes},
          {"memory_used_bytes", Kind::kBytes, s.memory_used_bytes},
          {"memory_delta_bytes", Kind::kBytes, s.memory_delta_bytes},
          {"memory_index_bytes", Kind::kBytes, s.memory_index_bytes},
          {"memory_value_bytes", Kind::kBytes, s.memory_value_bytes},
          {"memory_settled_bytes", Kind::kBytes, s.memory_settled_bytes},
          {"memory_frame_bytes", Kind::kBytes, s.memory_frame_bytes},
          {"memory_pinned_bytes", Kind::kBytes, s.memory_pinned_bytes},
          {"memory_resident_bytes", Kind::kBytes, s.memory_resident_bytes},
          {"memory_huge_page_bytes", Kind::kBytes, s.memory_huge_page_bytes},
          {"disk_bytes_reachable", Kind::kBytes, s.disk_bytes_reachable},
          {"disk_bytes_allocated", Kind::kBytes, s.disk_bytes_allocated},
          {"log_bytes", Kind::kBytes, s.log_bytes},
          {"commits", Kind::kCount, s.commits},
          {"operations", Kind::kCount, s.operations},
          {"conflicts", Kind::kCount, s.conflicts},
          {"flushes", Kind::kCount, s.flushes},
          {"flush_us", Kind::kCount, s.flush_us},
          {"reclusters", Kind::kCount, s.reclusters},
          {"splits", Kind::kCount, s.splits},
          {"joins", Kind::kCount, s.joins},
          {"manifest_batches", Kind::kCount, s.manifest_batches},
          {"manifest_batch_us", Kind::kCount, s.manifest_batch_us},
          {"log_syncs", Kind::kCount, s.log_syncs},
          {"log_sync_us", Kind::kCount, s.log_sync_us},
          {"commit_waits", Kind::kCount, s.commit_waits},
          {"commit_wait_us", Kind::kCount, s.commit_wait_us},
          {"bytes_written_log", Kind::kBytes, s.bytes_written_log},
          {"bytes_written_data", Kind::kBytes, s.bytes_written_data},
          {"bytes_read", Kind::kBytes, s.bytes_read},
          {"disk_reads", Kind::kCount, s.disk_reads},
          {"disk_read_us", Kind::kCount, s.disk_read_us},
          {"disk_read_batches", Kind::kCount, s.disk_read_batches},
          {"disk_read_batch_us", Kind::kCount, s.disk_read_batch_us},
          {"frame_hits", Kind::kCount, s.frame_hits},
          {"frame_misses", Kind::kCount, s.frame_misses},
          {"frame_ghost_hits", Kind::kCount, s.frame_ghost_hits},
          {"write_waits", Kind::kCount, s.write_waits},
          {"write_wait_us", Kind::kCount, s.write_wait_us},
          {"quarantined_containers", Kind::kCount, s.quarantined_containers},
          {"scrub_bytes", Kind::kBytes, s.scrub_bytes},
          {"scrub_containers", Kind::kCount, s.scrub_containers},
          {"scrub_rounds", Kind::kCount, s.scrub_rounds},
          {"scrub_errors", Kind::kCount, s.scrub_errors},
          {"background_io_bytes_per_second", Kind::kBytes, s.background_io_bytes_per_second},
          {"background_io_bytes", Kind::kBytes, s.background_io_bytes},
          {"background_io_urgent_bytes", Kind::kBytes, s.background_io_urgent_bytes},
          {"background_io_wait_us", Kind::kCount, s.background_io_wait_us},
          {"filter_seen", Kind::kCount, s.filter_seen},
          {"filter_removed", Kind::kCount, s.filter_removed},
          {"filter_changed", Kind::kCount, s.filter_changed},
          {"visible_timestamp", Kind::kCount, s.visible_timestamp},
          {"oldest_snapshot_timestamp", Kind::kCount, s.oldest_snapshot_timestamp},
          {"snapshots", Kind::kCount, s.snapshots},
          {"oldest_snapshot_seconds", Kind::kCount, s.oldest_snapshot_seconds},
          {"bytes_old_versions", Kind::kBytes, s.bytes_old_versions},
          {"layers", Kind::kCount, s.layers},
          {"bytes_layers", Kind::kBytes, s.bytes_layers},
          {"subtrees", Kind::kCount, s.subtrees},
          {"bytes_subtrees", Kind::kBytes, s.bytes_subtrees},
          {"trees_unreachable", Kind::kCount, s.trees_unreachable},
          {"data_files_removed", Kind::kCount, s.data_files_removed},
          {"followers", Kind::kCount, s.followers.size()},
          {"follower_bytes_held", Kind::kBytes, s.follower_bytes_held}};
}

std::vector<Figure> figures_of(const TreeStats& t) {
  return {{"entries_flushed", Kind::kCount, t.entries_flushed},
          {"delta_records", Kind::kCount, t.delta_records},
          {"containers", Kind::kCount, t.containers},
          {"bytes_index", Kind::kBytes, t.bytes_index},
          {"bytes_values", Kind::kBytes, t.bytes_values},
          {"bytes_garbage", Kind::kBytes, t.bytes_garbage},
          {"bytes_uncompressed", Kind::kBytes, t.bytes_uncompressed},
          {"subtrees", Kind::kCount, t.subtrees}};
}

const char* name_of(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kLz4:
      return "lz4";
    case Compression::kZstd:
      return "zstd";
  }
  return "unknown";
}

std::string json_of(const std::string& path, const Stats& stats) {
  Json json;
  json.begin_object().bytes("path", path).field("direct_io", stats.direct_io);
  json.bytes("read_backend", std::string(stats.read_backend));
  for (const Figure& figure : figures_of(stats)) json.field(figure.name, figure.value);
  json.begin_array("trees");
  for (const TreeStats& tree : stats.trees) {
    json.begin_object().bytes("name", tree.name);
    json.bytes("compression", name_of(tree.compression));
    json.field("compression_dictionary", tree.compression_dictionary);
    for (const Figure& figure : figures_of(tree)) json.field(figure.name, figure.value);
    json.end_object();
  }
  return json.end_array().end_object().text();
}

void append_figures(std::string& text, const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) {
    char line[96];
    std::snprintf(line, sizeof(line), "  %-26s %20llu", figure.name,
                  static_cast<unsigned long long>(figure.value));
    text += line;
    if (figure.kind == Kind::kBytes && figure.value >= 1000) {
      text += "  (" + short_bytes(static_cast<double>(figure.value)) + ")";
    }
    text += '\n';
  }
}

std::string text_of(const std::string& path, const Stats& stats) {
  std::string text = path + (stats.direct_io ? ", direct I/O\n" : ", buffered I/O\n");
  append_figures(text, figures_of(stats));
  for (const TreeStats& tree : stats.trees) {
    text += "tree " + encode(Encoding::kEscaped, tree.name);
    if (tree.compression != Compression::kNone) {
      text += std::string(", compressed: ") + name_of(tree.compression);
      if (tree.compression_dictionary) text += " with a dictionary";
    }
    text += "\n";
    append_figures(text, figures_of(tree));
  }
  text.pop_back();
  return text;
}

}  // namespace

std::string stats_json(const std::string& path, const Stats& stats) { return json_of(path, stats); }

Status run_stats(const CommonOptions& common, const StatsOptions& options) {
  if (!options.watch_seconds.empty()) return watch_counters(common, options);
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kRead);
  if (!db.ok()) return db.status();
  const Stats stats = (*db)->stats();
  return print_line(common.json ? json_of((*db)->path(), stats) : text_of((*db)->path(), stats));
}

namespace {
std::string time_text(uint64_t us) {
  const auto seconds = static_cast<std::time_t>(us / 1'000'000);
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0) {
    return std::to_string(us) + " us";
  }
  return text;
}

std::string text_of(const std::string& path, const Counters& counters) {
  std::string text = path + ": ";
  const std::string process = "process " + std::to_string(counters.pid);
  if (counters.closed) {
    text += "closed by " + process;
  } else {
    text += (counters.alive ? "open in " : "left open by ") + process;
    if (!counters.alive) text += ", which is not there any more";
  }
  text += "\nopened " + time_text(counters.opened_us) + ", these figures are of " +
          time_text(counters.updated_us) + "\n";
  std::vector<Figure> figures;
  for (const Counter& counter : counters.entries) {
    const bool bytes = counter.unit == Counter::Unit::kBytes;
    figures.push_back({counter.name.c_str(), bytes ? Kind::kBytes : Kind::kCount, counter.value});
  }
  append_figures(text, figures);
  text.pop_back();
  return text;
}

std::string json_of(const Counters& counters) {
  Json json;
  json.begin_object().field("pid", counters.pid).field("alive", counters.alive);
  json.field("closed", counters.closed).field("opened_us", counters.opened_us);
  json.field("updated_us", counters.updated_us);
  json.begin_object("counters");
  for (const Counter& counter : counters.entries) json.field(counter.name, counter.value);
  return json.end_object().end_object().text();
}
}  // namespace

// Opens no database: another process has it.
Status run_counters(const CommonOptions& common) {
  const Result<Counters> counters = read_counters(common.directory);
  if (!counters.ok()) return counters.status();
  return print_line(common.json ? json_of(*counters) : text_of(common.directory, *counters));
}

namespace {
const char* name_of(CheckItem::Kind kind) {
  switch (kind) {
    case CheckItem::Kind::kChecksum:
      return "checksum";
    case CheckItem::Kind::kStructure:
      return "structure";
    case CheckItem::Kind::kCount:
      return "count";
    case CheckItem::Kind::kOverlap:
      return "overlap";
    case CheckItem::Kind::kReference:
      return "reference";
    case CheckItem::Kind::kUnchecked:
      return "unchecked";
  }
  return "unknown";
}

void append_item(Json& json, const CheckItem& item) {
  json.begin_object().field("kind", name_of(item.kind)).bytes("what", item.what);
  if (!item.file.empty()) {
    json.bytes("file", item.file).field("offset", item.offset).field("bytes", item.bytes);
  }
  if (item.container != 0) {
    json.field("container", item.container).field("tree", item.tree);
    json.bytes("tree_name", item.tree_name).bytes("low_key", item.low_key);
    if (item.high_key.has_value()) json.bytes("high_key", *item.high_key);
  }
  json.end_object();
}

std::string json_of(const CheckReport& report) {
  Json json;
  json.begin_object().field("ok", report.ok());
  json.field("trees", report.trees).field("containers", report.containers);
  json.field("subtrees", report.subtrees).field("entries", report.entries);
  json.field("large_values", report.large_values);
  json.field("bytes_verified", report.bytes_verified);
  json.field("blocks_verified", report.blocks_verified);
  json.field("log_records", report.log_records);
  json.field("manifest_batches", report.manifest_batches);
  json.field("bytes_unaccounted", report.bytes_unaccounted);
  json.field("errors_left_out", report.errors_left_out);
  json.begin_array("errors");
  for (const std::string& error : report.errors) json.item(error);
  json.end_array().begin_array("items");
  for (const CheckItem& item : report.items) append_item(json, item);
  return json.end_array().end_object().text();
}

std::string text_of(const CheckReport& report) {
  std::string text;
  for (const std::string& error : report.errors) text += "error: " + error + "\n";
  if (report.errors_left_out != 0) {
    text += "error: and " + std::to_string(report.errors_left_out) + " more\n";
  }
  const auto add = [&text](uint64_t count, const char* what) {
    text += std::to_string(count) + " " + what + ", ";
  };
  add(report.trees, "trees");
  add(report.containers, "containers");
  add(report.entries, "entries");
  add(report.large_values, "large values");
  add(report.manifest_batches, "manifest batches");
  add(report.log_records, "log records");
  return text + short_bytes(static_cast<double>(report.bytes_verified)) + " verified, " +
         std::to_string(report.items.size() + report.errors_left_out) + " errors";
}
}  // namespace

Status run_check(const CommonOptions& common, const CheckCommandOptions& options) {
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kRead);
  if (!db.ok()) return db.status();
  Result<CheckReport> report = [&] {
    Progress progress("checked", Progress::Unit::kContainers, common.show());
    CheckOptions check;
    check.verify_values = !options.indexes_only;
    check.bytes_per_second = options.bytes_per_second;
    check.threads = options.threads;
    check.progress = [&progress](uint64_t done, uint64_t all) { progress.update(done, all); };
    return (*db)->check(check);
  }();
  if (!report.ok()) return report.status();

  Status printed = print_line(common.json ? json_of(*report) : text_of(*report));
  if (!printed.ok() || report->ok()) return printed;
  bool damage = report->errors_left_out != 0;
  for (const CheckItem& item : report->items) {
    damage = damage || item.kind != CheckItem::Kind::kUnchecked;
  }
  const uint64_t count = report->items.size() + report->errors_left_out;
  return Status(damage ? StatusCode::kCorruption : StatusCode::kIoError,
                (*db)->path() + ": the check found " + std::to_string(count) + " errors");
}

}  // namespace hawthorn::tools
