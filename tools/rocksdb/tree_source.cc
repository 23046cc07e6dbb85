#include "tools/rocksdb/tree_source.h"

#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>

#include <algorithm>
#include <utility>

#include "hawthorn/merge_operator.h"
#include "tools/rocksdb/rocks_source.h"

namespace hawthorn::tools {
namespace {

constexpr char kNoOperator[] = "none";

Status not_supported(const std::string& family, const std::string& what) {
  return in_family(family, Status(StatusCode::kNotSupported, what));
}

// Without compression where RocksDB's library was built without the codec.
rocksdb::CompressionType compression_of(uint32_t kept) {
  rocksdb::CompressionType type = rocksdb::kNoCompression;
  if (kept == static_cast<uint32_t>(Compression::kLz4)) type = rocksdb::kLZ4Compression;
  if (kept == static_cast<uint32_t>(Compression::kZstd)) type = rocksdb::kZSTD;
  const std::vector<rocksdb::CompressionType> has = rocksdb::GetSupportedCompressions();
  return std::find(has.begin(), has.end(), type) != has.end() ? type : rocksdb::kNoCompression;
}

// Of "FAMILY=NAME", by family. A family's name may have a '=' in it, an operator's has none but
// behind a '{'.
Result<std::map<std::string, std::string>> by_family(const std::vector<std::string>& given) {
  std::map<std::string, std::string> names;
  for (const std::string& text : given) {
    const size_t equals = text.rfind('=', text.find('{'));
    if (equals == std::string::npos || equals + 1 == text.size()) {
      return Status(StatusCode::kInvalidArgument, "--merge-operator " + text +
                                                      ": it is FAMILY=NAME, such as "
                                                      "default=uint64add");
    }
    names[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return names;
}

}  // namespace

Result<std::unique_ptr<TreeSource>> TreeSource::open(const MigrateOptions& options) {
  auto source = std::make_unique<TreeSource>();
  Status status = source->open_engine(options);
  if (status.ok() && !options.trees.empty()) status = source->find_trees(options.trees);
  if (status.ok() && options.trees.empty()) {
    status = source->find_families(options.merge_operators);
  }
  if (!status.ok()) {
    return Status(status.code(), options.source + ": " + std::string(status.message()));
  }
  return source;
}

Status TreeSource::open_engine(const MigrateOptions& options) {
  Options engine;
  engine.memory_budget_bytes = options.memory_bytes;
  engine.read_only = true;
  engine.create_if_missing = false;
  engine.merge_operators = {uint64_add(), append_with(""), append_with(","), append_with("\n"),
                            bytewise_max()};
  slots_.tell(engine);
  Result<std::unique_ptr<Db>> opened = Db::open(options.source, engine);
  if (!opened.ok()) return opened.status();
  db_ = *std::move(opened);
  return {};
}

Status TreeSource::find_trees(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Result<Tree> tree = db_->find_tree(name);
    if (!tree.ok()) return Status(tree.status().code(), "it has no tree " + name);
    const Result<TreeOptions> made_with = db_->tree_options(*tree);
    if (!made_with.ok()) return made_with.status();
    if (made_with->multi_value || made_with->expires || made_with->subtrees) {
      return not_supported(name,
                           "RocksDB has no trees with several values to a key, entries that "
                           "end, or trees as values");
    }
    TreeFamily& family = families_.emplace_back();
    family.name = name;
    family.tree = *tree;
    if (made_with->order == "reverse") {
      family.options.comparator = rocksdb::ReverseBytewiseComparator();
    } else if (made_with->order != "bytewise") {
      return not_supported(name, "RocksDB does not come with its order " + made_with->order);
    }
  }
  return {};
}

Status TreeSource::find_families(const std::vector<std::string>& merge_operators) {
  const Result<rocks::FamilyRows> rows = rocks::FamilyRows::read(*db_);
  if (rows.status().is_not_found()) {
    return Status(StatusCode::kInvalidArgument,
                  "it has no column families, since hawthorn-rocksdb has not written it; --tree "
                  "exports trees");
  }
  if (!rows.ok()) return rows.status();
  Result<std::map<std::string, std::string>> named = by_family(merge_operators);
  if (!named.ok()) return named.status();
  for (const std::string& name : rows->names_by_id()) {
    if (Status s = add_family(name, rows->families().at(name), *named); !s.ok()) return s;
  }
  if (named->empty()) return {};
  return Status(StatusCode::kNotFound, "it has no column family " + named->begin()->first +
                                           ", for which --merge-operator is given");
}

// Takes the operator that it uses out of the list.
Status TreeSource::add_family(const std::string& name, const rocks::FamilyRow& row,
                              std::map<std::string, std::string>& merge_operators) {
  TreeFamily family;
  family.name = name;
  if (!row.mark.empty()) family.mark->set(row.mark);
  family.options.compression = compression_of(row.compression);
  if (row.order == "reverse") {
    family.options.comparator = rocksdb::ReverseBytewiseComparator();
  } else if (!row.order.empty()) {
    return not_supported(
        name, "its comparator is " + row.comparator + ", which only the program has that wrote it");
  }
  const auto named = merge_operators.find(name);
  if (named != merge_operators.end() && named->second != kNoOperator) {
    const rocksdb::Status s = rocksdb::MergeOperator::CreateFromString(
        rocksdb::ConfigOptions(), named->second, &family.options.merge_operator);
    if (!s.ok() || family.options.merge_operator == nullptr) {
      return not_supported(name, "RocksDB does not come with the merge operator " + named->second);
    }
  }
  if (row.merge_slot.has_value()) {
    if (named == merge_operators.end()) {
      return not_supported(name,
                           "it has a merge operator, and which one is not kept: say it with "
                           "--merge-operator " +
                               name + "=NAME, or NAME=none");
    }
    if (*row.merge_slot >= slots_.merges.size()) {
      return in_family(name, Status(StatusCode::kCorruption, "its row names no merge slot"));
    }
    const auto fold = [mark = family.mark](const auto& with, auto key, auto stored,
                                           const auto& operands, auto* result) {
      return rocks::full_merge_stored(*mark, with, key, stored, operands, nullptr, result);
    };
    slots_.merges[*row.merge_slot]->bind(family.options.merge_operator, !row.order.empty(), nullptr,
                                         nullptr, fold);
  }
  if (named != merge_operators.end()) merge_operators.erase(named);
  const Result<Tree> tree = db_->find_tree(rocks::tree_name(name, row));
  if (!tree.ok()) return in_family(name, tree.status());
  family.tree = *tree;
  families_.push_back(std::move(family));
  return {};
}

uint64_t TreeSource::entries() const {
  uint64_t entries = 0;
  for (const TreeFamily& family : families_) {
    const Result<RangeEstimate> estimate = db_->estimate(family.tree, "", std::nullopt);
    if (estimate.ok()) entries += estimate->entries;
  }
  return entries;
}

}  // namespace hawthorn::tools
