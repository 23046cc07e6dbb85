#include "tools/web_api.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hawthorn/counters.h"
#include "tools/explain.h"
#include "tools/json.h"
#include "tools/web_files.h"
#include "tools/web_request.h"

namespace hawthorn::tools {
namespace {

constexpr uint64_t kPartBytesMax = uint64_t{1} << 20;

void append_options(Json& json, const TreeOptions& options) {
  json.field("order", options.order.empty() ? "bytewise" : options.order);
  json.field("multi_value", options.multi_value);
  if (options.multi_value) {
    json.field("value_order", options.value_order.empty() ? "bytewise" : options.value_order);
  }
  json.field("expires", options.expires).field("subtrees", options.subtrees);
  if (options.expires) json.field("ttl_ms", options.ttl_ms);
}

void append_figures(Json& json, const TreeStats& stats) {
  json.field("containers", stats.containers).field("entries_flushed", stats.entries_flushed);
  json.field("delta_records", stats.delta_records).field("bytes_index", stats.bytes_index);
  json.field("bytes_values", stats.bytes_values).field("bytes_garbage", stats.bytes_garbage);
  json.field("bytes_uncompressed", stats.bytes_uncompressed);
  json.field("subtrees_inside", stats.subtrees);
}

const char* type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  return name.ends_with(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
}

}  // namespace

HttpResponse WebApi::answer(const HttpRequest& request) const {
  const std::string_view path = request.path;
  const std::string_view asked = path == "/" ? "/index.html" : path;
  for (const WebFile& file : web_files()) {
    if (asked.starts_with('/') && asked.substr(1) == file.name) {
      return {.type = type_of(file.name), .body = std::string(file.bytes)};
    }
  }
  static const std::pair<std::string_view, Answer> kAnswers[] = {
      {"/api/trees", &WebApi::trees},     {"/api/entries", &WebApi::entries},
      {"/api/value", &WebApi::value},     {"/api/containers", &WebApi::containers},
      {"/api/explain", &WebApi::explain}, {"/api/metrics", nullptr}};
  for (const auto& [name, function] : kAnswers) {
    if (path != name) continue;
    std::shared_ptr<Db> db = database_.db;
    Status gone_on;
    if (database_.follower) {
      // Where it cannot go on now, what it has shown until now is better than nothing; metrics says
      // so.
      gone_on = database_.follower->refresh();
      db = database_.follower->view();
    }
    Result<std::string> body =
        function == nullptr ? metrics(*db, gone_on) : (this->*function)(*db, request);
    return body.ok() ? HttpResponse{.body = *std::move(body)} : error_response(body.status());
  }
  return error_response(Status(StatusCode::kNotFound, "no such page"));
}

Result<std::string> WebApi::trees(Db& db, const HttpRequest& request) const {
  const Result<std::optional<std::string>> from = bytes_parameter(request, "from");
  if (!from.ok()) return from.status();
  const Result<uint64_t> limit = number_parameter(request, "limit", 200, 1, 1000);
  if (!limit.ok()) return limit.status();
  Result<std::vector<std::string>> names = db.list_trees();
  if (!names.ok()) return names.status();
  std::sort(names->begin(), names->end());
  const Stats stats = db.stats();
  std::map<std::string_view, const TreeStats*> figures;
  for (const TreeStats& tree : stats.trees) figures[tree.name] = &tree;

  Json json;
  json.begin_object().field("trees_count", names->size()).begin_array("trees");
  auto at = std::lower_bound(names->begin(), names->end(), from->value_or(""));
  for (uint64_t shown = 0; at != names->end() && shown < *limit; ++at, ++shown) {
    const Result<Tree> tree = db.find_tree(*at);
    if (!tree.ok()) continue;  // dropped since
    json.begin_object().field("name", hex_of(*at));
    const Result<TreeOptions> options = db.tree_options(*tree);
    if (options.ok()) append_options(json, *options);
    Result<RangeEstimate> about = db.estimate(*tree, "", std::nullopt);
    const auto known = figures.find(*at);
    if (known != figures.end()) {
      const TreeStats& all = *known->second;
      append_figures(json, all);
      // Beside its entries such a tree has those that tell when they end, among which an estimate
      // is a guess until the index is in memory.
      if (options.ok() && options->expires) {
        about = RangeEstimate{all.entries_flushed + all.delta_records,
                              all.bytes_index + all.bytes_values};
      }
    }
    if (about.ok()) json.field("entries_estimated", about->entries).field("bytes", about->bytes);
    json.end_object();
  }
  json.end_array();
  if (at != names->end()) json.field("next", hex_of(*at));
  return json.end_object().text();
}

Result<std::string> WebApi::value(Db& db, const HttpRequest& request) const {
  const Snapshot snapshot = db.snapshot();
  const ReadOptions now{.snapshot = &snapshot};
  const Result<std::string> key = needed_bytes(request, "key");
  if (!key.ok()) return key.status();
  const Result<uint64_t> offset = number_parameter(request, "offset", 0, 0, ~uint64_t{0});
  if (!offset.ok()) return offset.status();
  const Result<uint64_t> size = number_parameter(request, "size", 64 << 10, 0, kPartBytesMax);
  if (!size.ok()) return size.status();
  const Result<Tree> tree = tree_parameter(db, request, now);
  if (!tree.ok()) return tree.status();
  const Result<TreeOptions> options = db.tree_options(*tree);
  if (!options.ok()) return options.status();
  if (options->multi_value) {
    return Status(StatusCode::kNotSupported,
                  "a key of this tree may have several values: /api/entries has them");
  }
  const Result<uint64_t> bytes = db.size_of(*tree, *key, now);
  if (!bytes.ok()) return bytes.status();
  std::string part(std::min(*size, *bytes - std::min(*offset, *bytes)), '\0');
  if (!part.empty()) {
    const Result<size_t> got = db.read_part(*tree, *key, *offset, part, now);
    if (!got.ok()) return got.status();
    part.resize(*got);
  }
  Json json;
  json.begin_object().field("key", hex_of(*key)).field("value_bytes", *bytes);
  if (options->expires) {
    const Result<uint64_t> end = db.expires_at(*tree, *key, now);
    if (end.ok() && *end != 0) json.field("expires_at", *end);
  }
  json.field("offset", *offset).field("value", hex_of(part));
  return json.end_object().text();
}

Result<std::string> WebApi::explain(Db& db, const HttpRequest& request) const {
  const Result<std::string> key = needed_bytes(request, "key");
  if (!key.ok()) return key.status();
  const Result<Tree> tree = tree_parameter(db, request, {});
  if (!tree.ok()) return tree.status();
  const Result<KeyExplanation> told = db.explain(*tree, *key);
  if (!told.ok()) return told.status();
  Json json;
  json.begin_object().field("key", hex_of(*key)).field("found", told->found());
  json.field("place", place_name(told->place)).field("kind", kind_name(told->kind));
  json.field("value_bytes", told->value_bytes).field("value_resident", told->value_resident);
  json.field("timestamp", told->timestamp);
  json.field("versions_unflushed", told->versions_unflushed);
  json.field("versions_flushed", told->versions_flushed);
  json.field("tree_id", told->tree).field("clones_passed", told->clones_passed);
  json.field("container", told->container).field("stored_key", hex_of(told->stored_key));
  json.field("low_key", hex_of(told->low_key));
  if (told->high_key) json.field("high_key", hex_of(*told->high_key));
  json.field("entries_unflushed", told->entries_unflushed);
  json.field("entries_flushed", told->entries_flushed);
  json.field("extents_bytes", told->extents_bytes).field("garbage_bytes", told->garbage_bytes);
  json.field("resident", resident_name(told->resident));
  const auto add_extent = [&json](const char* name, const KeyExplanation::Extent& extent) {
    if (extent.file.empty()) return;
    json.begin_object(name).field("file", extent.file).field("offset", extent.offset);
    json.field("bytes", extent.bytes).end_object();
  };
  add_extent("index", told->index);
  add_extent("extent", told->extent);
  const auto add_cost = [&json](const char* name, const KeyExplanation::Cost& cost) {
    json.begin_object(name).field("reads", cost.reads).field("bytes", cost.bytes).end_object();
  };
  add_cost("now", told->now);
  add_cost("cold", told->cold);
  return json.end_object().text();
}

Result<std::string> WebApi::metrics(Db& db, const Status& gone_on) const {
  Json json;
  json.begin_object().field("path", db.path());
  json.field("mode", database_.follower ? "follower" : "read_only");
  if (!gone_on.ok()) json.field("behind", gone_on.to_string());
  const Result<Counters> counters = read_counters(db.path());
  if (counters.ok()) {
    json.begin_object("process").field("pid", counters->pid).field("alive", counters->alive);
    json.field("closed", counters->closed).field("opened_us", counters->opened_us);
    json.field("updated_us", counters->updated_us).begin_array("counters");
    for (const Counter& counter : counters->entries) {
      const char* unit = counter.unit == Counter::Unit::kBytes          ? "bytes"
                         : counter.unit == Counter::Unit::kMicroseconds ? "us"
                                                                        : "";
      json.begin_object().field("name", counter.name).field("value", counter.value);
      json.field("unit", unit).field("grows", counter.kind == Counter::Kind::kCount).end_object();
    }
    json.end_array().end_object();
  }
  const std::string stats = stats_json(db.path(), db.stats());
  return json.text() + ",\"stats\":" + stats + "}";
}

}  // namespace hawthorn::tools
