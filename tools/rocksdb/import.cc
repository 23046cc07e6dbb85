// import-rocksdb: each family in one sorted ingest.

#include <map>
#include <memory>
#include <utility>

#include "hawthorn/db.h"
#include "shims/rocksdb/src/families.h"
#include "tools/partial_directory.h"
#include "tools/rocksdb/migrate.h"
#include "tools/rocksdb/rocks_source.h"
#include "tools/rocksdb/tree_walk.h"

namespace hawthorn::tools {
namespace {

rocks::FamilyRow row_of(const SourceFamily& family) {
  rocks::FamilyRow row;
  row.id = family.handle->GetID();
  row.comparator = family.options.comparator->Name();
  // The only other one that a source may have.
  if (family.options.comparator != rocksdb::BytewiseComparator()) row.order = "reverse";
  row.compression = static_cast<uint32_t>(rocks::compression_of(family.options));
  return row;
}

class Import {
 public:
  Import(RocksSource& source, const MigrateOptions& options)
      : source_(source), options_(options), copier_(options, "imported", source.entries()) {}

  // Into a directory that is there, and empty.
  Status run(const std::string& directory) {
    Status status = open(directory, false);
    if (status.ok()) status = make_families();
    for (const SourceFamily& family : source_.families()) {
      if (status.ok()) status = ingest(family);
    }
    if (status.ok()) status = db_->close();
    db_.reset();
    // What is verified is what the files hold.
    if (status.ok()) status = open(directory, true);
    if (status.ok()) status = verify();
    db_.reset();
    return status;
  }

  const Copier& copier() const { return copier_; }

 private:
  Status open(const std::string& directory, bool read_only) {
    Options engine;
    engine.memory_budget_bytes = options_.memory_bytes;
    engine.read_only = read_only;
    Result<std::unique_ptr<Db>> opened = Db::open(directory, engine);
    if (!opened.ok()) return opened.status();
    db_ = *std::move(opened);
    return {};
  }

  // The default family has the lowest id, so it comes first.
  Status make_families() {
    const std::vector<SourceFamily>& families = source_.families();
    if (Status s = rocks::make_rows(*db_, row_of(families.front())); !s.ok()) return s;
    for (const SourceFamily& family : families) {
      const rocks::FamilyRow row = row_of(family);
      if (row.id == 0) continue;
      Result<Transaction> in = db_->begin(TxnMode::kOptimistic);
      if (!in.ok()) return in.status();
      Status status = rocks::make_family(*in, family.name, row);
      if (status.ok()) status = in->commit(Durability::kFull);
      if (!status.ok()) return in_family(family.name, status);
    }
    return {};
  }

  Status ingest(const SourceFamily& family) {
    const Result<Tree> tree = db_->find_tree(rocks::tree_name(family.name, {}));
    if (!tree.ok()) return in_family(family.name, tree.status());
    Status status = db_->set_compression(*tree, rocks::compression_of(family.options));
    if (!status.ok()) return in_family(family.name, status);
    Result<Ingest> ingest = db_->ingest(*tree, {.durability = Durability::kFull});
    if (!ingest.ok()) return in_family(family.name, ingest.status());
    const std::unique_ptr<Walk> walk = source_.walk(family);
    rocks::EntityMark& mark = marks_[family.name];
    std::string kept;
    const auto put = [&](std::string_view key, const Content& content) -> Status {
      if (!content.entity) return add(*ingest, key, mark.plain(content.bytes, &kept));
      if (mark.get() == nullptr) {
        if (Status s = make_mark(family, &mark); !s.ok()) return s;
      }
      kept = mark.entity(content.bytes);
      return add(*ingest, key, kept);
    };
    status = copier_.copy(family.name, *walk, put);
    return status.ok() ? in_family(family.name, ingest->finish()) : status;
  }

  // Before the first entity of the family.
  Status make_mark(const SourceFamily& family, rocks::EntityMark* mark) {
    rocks::FamilyRow row = row_of(family);
    row.mark = rocks::EntityMark::make();
    Result<Transaction> in = db_->begin(TxnMode::kOptimistic);
    if (!in.ok()) return in.status();
    Status status = rocks::put_family_row(*in, family.name, row);
    if (status.ok()) status = in->commit(Durability::kFull);
    if (status.ok()) mark->set(row.mark);
    return status;
  }

  // Larger values could be written here, but not read by programs.
  static Status add(Ingest& ingest, std::string_view key, std::string_view value) {
    const size_t max = Db::limits().batch_value_bytes_max;
    if (value.size() <= max) return ingest.add(key, value);
    return Status(StatusCode::kInvalidArgument, "a value of " + std::to_string(value.size()) +
                                                    " bytes; the limit is " + std::to_string(max));
  }

  Status verify() {
    for (size_t i = 0; i < source_.families().size(); ++i) {
      const SourceFamily& family = source_.families()[i];
      const Result<Tree> tree = db_->find_tree(rocks::tree_name(family.name, {}));
      if (!tree.ok()) return in_family(family.name, tree.status());
      const Result<uint64_t> count = db_->count(*tree, "", std::nullopt);
      if (!count.ok()) return in_family(family.name, count.status());
      Status status = compare_counts(copier_.families()[i], *count);
      if (status.ok() && options_.verify) {
        const std::unique_ptr<Walk> walk = source_.walk(family);
        TreeWalk copy(*db_, *tree, marks_[family.name]);
        status = compare_entries(*walk, copy, family.name);
      }
      if (!status.ok()) return status;
    }
    return {};
  }

  RocksSource& source_;
  const MigrateOptions& options_;
  Copier copier_;
  std::unique_ptr<Db> db_;
  std::map<std::string, rocks::EntityMark> marks_;  // by family
};

}  // namespace

Status run_import(const MigrateOptions& options) {
  Result<std::unique_ptr<RocksSource>> source = RocksSource::open(options);
  if (!source.ok()) return source.status();
  Result<PartialDirectory> target = PartialDirectory::make(options.target);
  if (!target.ok()) return target.status();
  Import import(**source, options);
  Status status = import.run(target->path());
  if (status.ok()) status = target->finish();
  return status.ok() ? import.copier().report() : status;
}

}  // namespace hawthorn::tools
