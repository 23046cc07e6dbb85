// /api/entries: a page of a tree's entries, from any place, in both directions.

#include <algorithm>

#include "tools/json.h"
#include "tools/web_api.h"
#include "tools/web_request.h"

namespace hawthorn::tools {
namespace {

constexpr uint64_t kPageBytesMax = uint64_t{1} << 20;

struct Place {
  std::optional<std::string> from;
  std::optional<std::string> from_value;  // where a key may have several
  uint64_t skip = 0;                      // from there on
  uint64_t limit = 0;
  uint64_t preview = 0;  // bytes of each value
  bool reverse = false;
};

Result<Place> place_of(const HttpRequest& request) {
  Place place;
  Result<std::optional<std::string>> from = bytes_parameter(request, "from");
  if (!from.ok()) return from.status();
  place.from = *std::move(from);
  Result<std::optional<std::string>> from_value = bytes_parameter(request, "from_value");
  if (!from_value.ok()) return from_value.status();
  place.from_value = *std::move(from_value);
  const struct {
    const char* name;
    uint64_t otherwise, least, most;
    uint64_t* to;
  } numbers[] = {{"skip", 0, 0, 1'000'000'000, &place.skip},
                 {"limit", 50, 1, 500, &place.limit},
                 {"preview", 256, 0, 65536, &place.preview}};
  for (const auto& [name, otherwise, least, most, to] : numbers) {
    const Result<uint64_t> number = number_parameter(request, name, otherwise, least, most);
    if (!number.ok()) return number.status();
    *to = *number;
  }
  const Result<uint64_t> reverse = number_parameter(request, "reverse", 0, 0, 1);
  if (!reverse.ok()) return reverse.status();
  place.reverse = *reverse == 1;
  return place;
}

// Stands on the first entry of the page, where there is one.
bool go_to(Cursor& cursor, const Place& place) {
  if (!place.from) return place.reverse ? cursor.last() : cursor.first();
  if (!place.from_value) {
    return place.reverse ? cursor.seek_for_prev(*place.from) : cursor.seek(*place.from);
  }
  if (!cursor.seek_value(*place.from, *place.from_value)) {
    // The key has none from there on, or is gone.
    if (!cursor.status().ok()) return false;
    if (place.reverse) return cursor.seek_for_prev(*place.from);
    if (!cursor.seek(*place.from)) return false;
    return cursor.key() == *place.from ? cursor.next_key() : true;
  }
  return place.reverse && cursor.value() != *place.from_value ? cursor.prev() : true;
}

// What is read of a value stands on its own, so that one which cannot be read hides no other.
uint64_t append_value(Json& json, Db& db, const Tree& tree, std::string_view key,
                      const Place& place, const ReadOptions& now) {
  const auto fail = [&json](const Status& status) {
    json.field("error", status.to_string());
    return uint64_t{0};
  };
  const Result<uint64_t> bytes = db.size_of(tree, key, now);
  if (!bytes.ok()) return fail(bytes.status());
  std::string preview(std::min(place.preview, *bytes), '\0');
  if (!preview.empty()) {
    const Result<size_t> got = db.read_part(tree, key, 0, preview, now);
    if (!got.ok()) return fail(got.status());
    preview.resize(*got);
  }
  json.field("value_bytes", *bytes).field("value", hex_of(preview));
  return preview.size();
}

}  // namespace

Result<std::string> WebApi::entries(Db& db, const HttpRequest& request) const {
  const Result<Place> place = place_of(request);
  if (!place.ok()) return place.status();
  const Snapshot snapshot = db.snapshot();
  const ReadOptions now{.snapshot = &snapshot};
  const Result<Tree> tree = tree_parameter(db, request, now);
  if (!tree.ok()) return tree.status();
  const Result<TreeOptions> options = db.tree_options(*tree);
  if (!options.ok()) return options.status();
  if (place->from_value && !options->multi_value) {
    return Status(StatusCode::kInvalidArgument, "from_value: a key of this tree has one value");
  }

  Cursor cursor = db.cursor(*tree, {.snapshot = &snapshot, .key_only = !options->multi_value});
  bool more = go_to(cursor, *place);
  if (more && place->skip != 0) {
    const auto skip = static_cast<int64_t>(place->skip);
    more = cursor.skip(place->reverse ? -skip : skip);
  }
  Json json;
  json.begin_object().begin_array("entries");
  uint64_t bytes = 0;
  uint64_t shown = 0;
  for (; more && shown < place->limit && bytes < kPageBytesMax; ++shown) {
    json.begin_object().field("key", hex_of(cursor.key()));
    bytes += cursor.key().size();
    const Result<bool> subtree = options->subtrees ? cursor.is_subtree() : Result<bool>(false);
    if (subtree.ok() && *subtree) {
      json.field("subtree", true);
    } else if (options->multi_value) {
      const std::string_view value = cursor.value();
      json.field("value_bytes", value.size());
      json.field("value", hex_of(value.substr(0, place->preview)));
      bytes += std::min<uint64_t>(value.size(), place->preview);
    } else {
      bytes += append_value(json, db, *tree, cursor.key(), *place, now);
    }
    if (const uint64_t end = cursor.expires_at(); end != 0) json.field("expires_at", end);
    json.end_object();
    more = place->reverse ? cursor.prev() : cursor.next();
  }
  if (!cursor.status().ok() && shown == 0) return cursor.status();
  json.end_array();
  json.field("multi_value", options->multi_value).field("reverse", place->reverse);
  if (!cursor.status().ok()) json.field("error", cursor.status().to_string());
  if (more) {
    json.begin_object("next");
    const bool fits = cursor.key().size() + cursor.value().size() <= kAddressKeyBytesMax;
    if (fits) {
      json.field("from", hex_of(cursor.key()));
      if (options->multi_value) json.field("from_value", hex_of(cursor.value()));
    } else {
      if (place->from) json.field("from", hex_of(*place->from));
      if (place->from_value) json.field("from_value", hex_of(*place->from_value));
      json.field("skip", place->skip + shown);
    }
    json.end_object();
  }
  return json.end_object().text();
}

}  // namespace hawthorn::tools
