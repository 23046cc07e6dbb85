// explain: where a key is, and what a read of it costs. Of a database that this process has just
// opened: of what is on disk nothing is in memory then, and what was in the log is.

#include "tools/explain.h"

#include <string>

#include "tools/command.h"
#include "tools/json.h"
#include "tools/progress.h"

namespace hawthorn::tools {
const char* place_name(KeyExplanation::Place place) {
  switch (place) {
    case KeyExplanation::Place::kNowhere:
      return "nowhere";
    case KeyExplanation::Place::kMemory:
      return "memory";
    case KeyExplanation::Place::kRun:
      return "run";
    case KeyExplanation::Place::kLayer:
      return "layer";
  }
  return "unknown";
}

const char* kind_name(KeyExplanation::Kind kind) {
  switch (kind) {
    case KeyExplanation::Kind::kNone:
      return "none";
    case KeyExplanation::Kind::kInline:
      return "inline";
    case KeyExplanation::Kind::kSeparated:
      return "separated";
    case KeyExplanation::Kind::kLarge:
      return "large";
    case KeyExplanation::Kind::kDeleted:
      return "deleted";
    case KeyExplanation::Kind::kOperands:
      return "operands";
  }
  return "unknown";
}

const char* resident_name(KeyExplanation::Resident resident) {
  switch (resident) {
    case KeyExplanation::Resident::kNothing:
      return "nothing";
    case KeyExplanation::Resident::kOutline:
      return "outline";
    case KeyExplanation::Resident::kIndex:
      return "index";
    case KeyExplanation::Resident::kAll:
      return "all";
  }
  return "unknown";
}

namespace {

std::string json_of(const CommonOptions& common, const std::string& key,
                    const KeyExplanation& told) {
  Json json;
  json.begin_object().bytes("key", key).bytes("tree", common.tree);
  json.field("found", told.found()).field("place", place_name(told.place));
  json.field("kind", kind_name(told.kind)).field("value_bytes", told.value_bytes);
  json.field("value_resident", told.value_resident).field("timestamp", told.timestamp);
  json.field("versions_unflushed", told.versions_unflushed);
  json.field("versions_flushed", told.versions_flushed);
  json.field("tree_id", told.tree).field("clones_passed", told.clones_passed);
  json.field("container", told.container).bytes("stored_key", told.stored_key);
  json.bytes("low_key", told.low_key);
  if (told.high_key) json.bytes("high_key", *told.high_key);
  json.field("entries_unflushed", told.entries_unflushed);
  json.field("entries_flushed", told.entries_flushed);
  json.field("extents_bytes", told.extents_bytes).field("garbage_bytes", told.garbage_bytes);
  json.field("resident", resident_name(told.resident));
  const auto add_extent = [&json](const char* name, const KeyExplanation::Extent& extent) {
    if (extent.file.empty()) return;
    json.begin_object(name).bytes("file", extent.file).field("offset", extent.offset);
    json.field("bytes", extent.bytes).end_object();
  };
  add_extent("index", told.index);
  add_extent("extent", told.extent);
  const auto add_cost = [&json](const char* name, const KeyExplanation::Cost& cost) {
    json.begin_object(name).field("reads", cost.reads).field("bytes", cost.bytes).end_object();
  };
  add_cost("now", told.now);
  add_cost("cold", told.cold);
  return json.end_object().text();
}

std::string counted(uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string place_text(const KeyExplanation::Extent& extent) {
  return extent.file + " at " + std::to_string(extent.offset) + ", " +
         short_bytes(static_cast<double>(extent.bytes));
}

std::string value_text(const KeyExplanation& told) {
  const std::string bytes = counted(told.value_bytes, "byte");
  const std::string memory = told.value_resident ? ", in memory" : ", not in memory";
  switch (told.kind) {
    case KeyExplanation::Kind::kNone:
      return "there is none";
    case KeyExplanation::Kind::kInline:
      return told.place == KeyExplanation::Place::kRun ? bytes + ", in the index run" + memory
                                                       : bytes + memory;
    case KeyExplanation::Kind::kSeparated:
      return bytes + ", apart from its key, in " + place_text(told.extent) + memory;
    case KeyExplanation::Kind::kLarge:
      return bytes + ", in extents of its own, the first in " + place_text(told.extent);
    case KeyExplanation::Kind::kDeleted:
      return "deleted";
    case KeyExplanation::Kind::kOperands:
      return bytes + " of operands, which a read merges";
  }
  return "unknown";
}

std::string cost_text(const KeyExplanation::Cost& cost) {
  if (cost.reads == 0) return "no read";
  return counted(cost.reads, "read") + ", " + short_bytes(static_cast<double>(cost.bytes));
}

std::string text_of(const CommonOptions& common, const std::string& key,
                    const KeyExplanation& told) {
  const auto quoted = [&](std::string_view bytes) {
    return "\"" + encode(common.encoding(), bytes) + "\"";
  };
  std::string text = quoted(key) + " in tree " + encode(Encoding::kEscaped, common.tree) +
                     (told.found() ? "" : ": not found") + "\n";
  const auto line = [&text](const char* name, const std::string& what) {
    text += "  " + std::string(name) + std::string(12 - std::string_view(name).size(), ' ') + what +
            "\n";
  };
  line("container", std::to_string(told.container) + ", from " + quoted(told.low_key) + " to " +
                        (told.high_key ? quoted(*told.high_key) : "the end") + ", " +
                        std::to_string(told.entries_flushed) + " entries on disk" + ", " +
                        std::to_string(told.entries_unflushed) + " in memory");
  if (told.clones_passed > 0) {
    line("clone", "it is found in what the clone was made of, tree " + std::to_string(told.tree));
  }
  if (!told.index.file.empty()) {
    line("index run", place_text(told.index) + ", in memory: " + resident_name(told.resident));
  }
  if (told.extents_bytes > 0) {
    line("extents", short_bytes(static_cast<double>(told.extents_bytes)) + " of values, about " +
                        short_bytes(static_cast<double>(told.garbage_bytes)) + " of it garbage");
  }
  line("value", value_text(told));
  if (told.place != KeyExplanation::Place::kNowhere) {
    const char* where = told.place == KeyExplanation::Place::kMemory ? "memory, not flushed yet"
                        : told.place == KeyExplanation::Place::kRun  ? "the index run"
                                                                     : "a commit's layer";
    line("found in", std::string(where) + ", timestamp " + std::to_string(told.timestamp));
  }
  line("versions", std::to_string(told.versions_unflushed) + " in memory, " +
                       std::to_string(told.versions_flushed) + " on disk");
  line("get now", cost_text(told.now));
  line("get cold", cost_text(told.cold));
  text.pop_back();
  return text;
}

}  // namespace

Status run_explain(const CommonOptions& common, const std::string& key_text) {
  Result<std::string> key = decode_argument(common, "key", key_text);
  if (!key.ok()) return key.status();
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kRead);
  if (!db.ok()) return db.status();
  Result<Tree> tree = (*db)->find_tree(common.tree);
  if (!tree.ok()) return tree.status();
  const Result<KeyExplanation> told = (*db)->explain(*tree, *key);
  if (!told.ok()) return told.status();
  Status status =
      print_line(common.json ? json_of(common, *key, *told) : text_of(common, *key, *told));
  if (!status.ok() || told->found()) return status;
  return Status(StatusCode::kNotFound, "no key " + encode(Encoding::kEscaped, *key) + " in tree " +
                                           encode(Encoding::kEscaped, common.tree));
}

}  // namespace hawthorn::tools
