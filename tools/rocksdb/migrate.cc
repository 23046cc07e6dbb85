#include "tools/rocksdb/migrate.h"

#include "tools/command.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/text.h"

namespace hawthorn::tools {
namespace {

constexpr size_t kShownBytesMax = 100;

Status differs(const std::string& family, std::string_view key, const std::string& how) {
  return in_family(family, Status(StatusCode::kCorruption, "key " + shown(key) + " " + how));
}

}  // namespace

std::string shown(std::string_view key) {
  std::string text = "\"" + encode(Encoding::kEscaped, key.substr(0, kShownBytesMax)) + "\"";
  return key.size() > kShownBytesMax ? text + " and so on" : text;
}

Status in_family(const std::string& family, const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(), "column family " + encode(Encoding::kEscaped, family) + ": " +
                                   std::string(status.message()));
}

Copier::Copier(const MigrateOptions& options, std::string_view verb, uint64_t total)
    : options_(options),
      verb_(verb),
      total_(total),
      progress_(verb_, Progress::Unit::kEntries, progress_show(options.progress, options.quiet)) {}

Status Copier::copy(const std::string& family, Walk& from, const PutEntry& put) {
  CopiedFamily& copied = families_.emplace_back();
  copied.name = family;
  for (; from.valid() && from.status().ok(); from.next()) {
    const Content content = from.content();
    if (Status s = put(from.key(), content); !s.ok()) {
      return in_family(
          family, Status(s.code(), "key " + shown(from.key()) + ": " + std::string(s.message())));
    }
    ++copied.entries;
    copied.bytes += from.key().size() + content.bytes.size();
    progress_.update(++all_.entries, total_);
  }
  all_.bytes += copied.bytes;
  return in_family(family, from.status());
}

Status compare_entries(Walk& source, Walk& copy, const std::string& family) {
  for (; source.valid() && copy.valid(); source.next(), copy.next()) {
    if (source.key() != copy.key()) {
      return differs(family, source.key(), "is followed by " + shown(copy.key()) + " in the copy");
    }
    const Content one = source.content();
    const Content other = copy.content();
    if (one.entity != other.entity || one.bytes != other.bytes) {
      return differs(family, source.key(), "has another value");
    }
  }
  if (Status s = source.status(); !s.ok()) return in_family(family, s);
  if (Status s = copy.status(); !s.ok()) return in_family(family, s);
  if (source.valid()) return differs(family, source.key(), "is missing in the copy");
  if (copy.valid()) return differs(family, copy.key(), "is in the copy alone");
  return {};
}

Status compare_counts(const CopiedFamily& family, uint64_t found) {
  if (family.entries == found) return {};
  return in_family(family.name, Status(StatusCode::kCorruption,
                                       std::to_string(family.entries) + " entries were copied, " +
                                           std::to_string(found) + " are there"));
}

Status Copier::report() const {
  Json json;
  json.begin_object().begin_array("families");
  std::string text;
  for (const CopiedFamily& family : families_) {
    json.begin_object().bytes("name", family.name).field("entries", family.entries);
    json.field("bytes", family.bytes).end_object();
    text += encode(Encoding::kEscaped, family.name) + "\t" + std::to_string(family.entries) + "\n";
  }
  json.end_array().field("entries", all_.entries).field("bytes", all_.bytes);
  json.field("seconds", progress_.seconds()).field("verified", options_.verify).end_object();
  text += verb_ + " " + std::to_string(families_.size()) + " column families, " +
          std::to_string(all_.entries) + " entries, " +
          short_bytes(static_cast<double>(all_.bytes)) + " in " + short_time(progress_.seconds()) +
          "; " + (options_.verify ? "each entry was compared" : "counts were compared");
  return print_line(options_.json ? json.text() : text);
}

}  // namespace hawthorn::tools
