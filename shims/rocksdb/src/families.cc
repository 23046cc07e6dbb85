#include "shims/rocksdb/src/families.h"

#include <algorithm>
#include <charconv>

#include "rocksdb/db.h"

namespace hawthorn::rocks {
namespace {

constexpr std::string_view kErased = "rocksdb_erased";
constexpr std::string_view kFamily = "family/";
constexpr std::string_view kDropped = "dropped/";
constexpr std::string_view kNextFamily = "next_family";

hawthorn::Status damaged(std::string_view row) {
  return {StatusCode::kCorruption, "the row \"" + std::string(row) + "\" of the tree \"" +
                                       std::string(kRowsTree) + "\" cannot be read"};
}

template <typename Number>
bool parse(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// Fields end with a zero byte, which no name of a comparator or an order has.
std::string encode(const FamilyRow& row) {
  std::string text;
  const auto add = [&text](std::string_view field) { text.append(field).push_back('\0'); };
  add(std::to_string(row.id));
  add(row.comparator);
  add(row.order);
  add(row.merge_slot ? std::to_string(*row.merge_slot) : std::string());
  add(std::to_string(row.compression));
  // Those that few have are told apart by their first letter.
  if (row.filter_slot) add("f" + std::to_string(*row.filter_slot));
  if (!row.mark.empty()) add("m" + rocksdb::Slice(row.mark).ToString(true));
  return text;
}

bool decode_more(std::string_view field, FamilyRow* row) {
  const std::string_view rest = field.substr(std::min<size_t>(field.size(), 1));
  if (field.starts_with('f')) {
    uint32_t slot = 0;
    if (!parse(rest, &slot)) return false;
    row->filter_slot = slot;
    return true;
  }
  return field.starts_with('m') && rocksdb::Slice(rest).DecodeHex(&row->mark) &&
         row->mark.size() == EntityMark::kBytes;
}

bool decode(std::string_view text, FamilyRow* row) {
  std::vector<std::string_view> fields;
  for (size_t end; (end = text.find('\0')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    fields.push_back(text.substr(0, end));
  }
  if (fields.size() < 5 || fields.size() > 7 || !text.empty()) return false;
  row->comparator = fields[1];
  row->order = fields[2];
  uint32_t slot = 0;
  if (!fields[3].empty()) {
    if (!parse(fields[3], &slot)) return false;
    row->merge_slot = slot;
  }
  for (size_t i = 5; i < fields.size(); ++i) {
    if (!decode_more(fields[i], row)) return false;
  }
  return parse(fields[0], &row->id) && parse(fields[4], &row->compression);
}

std::string family_key(std::string_view name) { return std::string(kFamily).append(name); }
std::string dropped_key(uint32_t id) { return std::string(kDropped) + std::to_string(id); }

hawthorn::Status put_next_id(hawthorn::Transaction& in, const hawthorn::Tree& rows, uint32_t id) {
  return in.put(rows, kNextFamily, std::to_string(id));
}

}  // namespace

std::string tree_name(const std::string& family, const FamilyRow& row) {
  return row.filter_slot ? filtered_tree_name(*row.filter_slot) : std::string(kFamilyTree) + family;
}
std::string filtered_tree_name(uint32_t slot) {
  return std::string(kFilteredTree) + std::to_string(slot);
}
std::string dropped_tree_name(uint32_t id) {
  return std::string(kDroppedTree) + std::to_string(id);
}

hawthorn::Result<FamilyRows> FamilyRows::read(hawthorn::Db& db) {
  const hawthorn::Result<hawthorn::Tree> rows = db.find_tree(kRowsTree);
  if (!rows.ok()) return rows.status();
  FamilyRows result;
  hawthorn::Cursor cursor = db.cursor(*rows);
  for (bool more = cursor.first(); more; more = cursor.next()) {
    const std::string_view key = cursor.key();
    bool good = false;
    FamilyRow row;
    if (key.starts_with(kFamily)) {
      good = decode(cursor.value(), &row);
      result.families_[std::string(key.substr(kFamily.size()))] = row;
    } else if (key.starts_with(kDropped)) {
      good = decode(cursor.value(), &row);
      result.dropped_.push_back(row);
    } else if (key == kNextFamily) {
      good = parse(cursor.value(), &result.next_id_);
    }
    if (!good) return damaged(key);
  }
  if (!cursor.status().ok()) return cursor.status();
  if (!result.families_.contains(rocksdb::kDefaultColumnFamilyName)) {
    return damaged(family_key(rocksdb::kDefaultColumnFamilyName));
  }
  return result;
}

std::vector<std::string> FamilyRows::names_by_id() const {
  std::vector<std::string> names;
  for (const auto& [name, row] : families_) names.push_back(name);
  std::sort(names.begin(), names.end(), [this](const std::string& a, const std::string& b) {
    return families_.at(a).id < families_.at(b).id;
  });
  return names;
}

hawthorn::Status put_family_row(hawthorn::Transaction& in, const std::string& name,
                                const FamilyRow& row) {
  const hawthorn::Result<hawthorn::Tree> rows = in.find_tree(kRowsTree);
  return rows.ok() ? in.put(*rows, family_key(name), encode(row)) : rows.status();
}

hawthorn::Status make_family(hawthorn::Transaction& in, const std::string& name,
                             const FamilyRow& row) {
  const hawthorn::Result<hawthorn::Tree> rows = in.find_tree(kRowsTree);
  if (!rows.ok()) return rows.status();
  const hawthorn::Result<hawthorn::Tree> tree =
      in.tree(tree_name(name, row), hawthorn::TreeOptions{.order = row.order});
  if (!tree.ok()) return tree.status();
  hawthorn::Status status = in.put(*rows, family_key(name), encode(row));
  return status.ok() ? put_next_id(in, *rows, row.id + 1) : status;
}

hawthorn::Status drop_family(hawthorn::Transaction& in, const std::string& name,
                             const FamilyRow& row) {
  const hawthorn::Result<hawthorn::Tree> rows = in.find_tree(kRowsTree);
  if (!rows.ok()) return rows.status();
  hawthorn::Status status = in.rename_tree(tree_name(name, row), dropped_tree_name(row.id));
  if (status.ok()) status = in.del(*rows, family_key(name));
  return status.ok() ? in.put(*rows, dropped_key(row.id), encode(row)) : status;
}

hawthorn::Status erase_dropped(hawthorn::Db& db, uint32_t id) {
  hawthorn::Result<hawthorn::Transaction> in = db.begin(hawthorn::TxnMode::kOptimistic);
  if (!in.ok()) return in.status();
  const hawthorn::Result<hawthorn::Tree> rows = in->find_tree(kRowsTree);
  if (!rows.ok()) return rows.status();
  const hawthorn::Result<hawthorn::Tree> tree = in->find_tree(dropped_tree_name(id));
  if (!tree.ok()) return tree.status();
  const hawthorn::Result<hawthorn::Tree> erased = in->tree(kErased);
  if (!erased.ok()) return erased.status();
  hawthorn::Value row;
  hawthorn::Status status = in->get(*rows, dropped_key(id), row);
  if (status.ok()) status = in->put(*erased, std::to_string(tree->id()), row.view());
  row.reset();
  if (status.ok()) status = in->drop_tree(dropped_tree_name(id));
  if (status.ok()) status = in->del(*rows, dropped_key(id));
  return status.ok() ? in->commit(hawthorn::Durability::kFull) : status;
}

hawthorn::Status each_erased_family(
    hawthorn::Db& db, const std::function<void(uint32_t tree, const FamilyRow& row)>& show) {
  const hawthorn::Result<hawthorn::Tree> erased = db.find_tree(kErased);
  if (!erased.ok()) {
    return erased.status().is_not_found() ? hawthorn::Status() : erased.status();
  }
  hawthorn::Cursor cursor = db.cursor(*erased);
  for (bool more = cursor.first(); more; more = cursor.next()) {
    uint32_t tree = 0;
    FamilyRow row;
    if (!parse(cursor.key(), &tree) || !decode(cursor.value(), &row)) return damaged(cursor.key());
    show(tree, row);
  }
  return cursor.status();
}

hawthorn::Status make_rows(hawthorn::Db& db, const FamilyRow& default_family) {
  hawthorn::Result<hawthorn::Transaction> in = db.begin(hawthorn::TxnMode::kOptimistic);
  if (!in.ok()) return in.status();
  const hawthorn::Result<hawthorn::Tree> rows = in->tree(kRowsTree);
  if (!rows.ok()) return rows.status();
  hawthorn::Status status = make_family(*in, rocksdb::kDefaultColumnFamilyName, default_family);
  return status.ok() ? in->commit(hawthorn::Durability::kFull) : status;
}

hawthorn::Compression compression_of(const rocksdb::ColumnFamilyOptions& options) {
  rocksdb::CompressionType type = options.compression;
  if (!options.compression_per_level.empty()) type = options.compression_per_level.back();
  if (options.bottommost_compression != rocksdb::kDisableCompressionOption) {
    type = options.bottommost_compression;
  }
  switch (type) {
    case rocksdb::kSnappyCompression:
    case rocksdb::kLZ4Compression:
    case rocksdb::kLZ4HCCompression:
      return hawthorn::Compression::kLz4;
    case rocksdb::kZlibCompression:
    case rocksdb::kBZip2Compression:
    case rocksdb::kZSTD:
      return hawthorn::Compression::kZstd;
    default:
      return hawthorn::Compression::kNone;
  }
}

}  // namespace hawthorn::rocks
