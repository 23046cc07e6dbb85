// /api/containers: the map of a tree's containers. Db::explain_stored tells of the one that covers
// a key, and where the next one begins.

#include <chrono>

#include "tools/explain.h"
#include "tools/json.h"
#include "tools/web_api.h"
#include "tools/web_request.h"

namespace hawthorn::tools {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);  // each one takes the read of an index

void append(Json& json, const KeyExplanation& told) {
  json.begin_object().field("container", told.container).field("low_key", hex_of(told.low_key));
  if (told.high_key) json.field("high_key", hex_of(*told.high_key));
  json.field("entries_flushed", told.entries_flushed);
  json.field("entries_unflushed", told.entries_unflushed);
  json.field("extents_bytes", told.extents_bytes).field("garbage_bytes", told.garbage_bytes);
  json.field("bytes", told.index.bytes + told.extents_bytes);
  if (!told.index.file.empty()) {
    json.begin_object("index").field("file", told.index.file);
    json.field("offset", told.index.offset).field("bytes", told.index.bytes).end_object();
  }
  json.field("resident", resident_name(told.resident)).field("clones_passed", told.clones_passed);
  json.end_object();
}

}  // namespace

Result<std::string> WebApi::containers(Db& db, const HttpRequest& request) const {
  const Result<std::optional<std::string>> from = bytes_parameter(request, "from");
  if (!from.ok()) return from.status();
  const Result<uint64_t> limit = number_parameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return limit.status();
  const Result<Tree> tree = tree_parameter(db, request, {});
  if (!tree.ok()) return tree.status();
  const Result<TreeOptions> options = db.tree_options(*tree);
  if (!options.ok()) return options.status();
  const bool as_they_are =
      !options->multi_value && (options->order.empty() || options->order == "bytewise");

  Json json;
  json.begin_object().field("keys_as_they_are", as_they_are).begin_array("containers");
  std::optional<std::string> key = from->value_or("");
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (uint64_t shown = 0; key && shown < *limit; ++shown) {
    if (shown != 0 && std::chrono::steady_clock::now() > end) break;
    const Result<KeyExplanation> told = db.explain_stored(*tree, *key);
    if (!told.ok() && shown == 0) return told.status();
    if (!told.ok()) {
      // What is damaged ends the map here; where it is, the error says.
      json.end_array().field("error", told.status().to_string());
      return json.end_object().text();
    }
    append(json, *told);
    if (told->high_key && *told->high_key <= *key) {
      return Status(StatusCode::kCorruption, "a container ends before its key");
    }
    key = told->high_key;
  }
  json.end_array();
  if (key && key->size() > kAddressKeyBytesMax) {
    json.field("error", "the next one begins with a key that is too long for an address");
  } else if (key) {
    json.field("next", hex_of(*key));
  }
  return json.end_object().text();
}

}  // namespace hawthorn::tools
