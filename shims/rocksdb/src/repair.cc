// RepairDB: the engine makes a database of what is left (hawthorn/repair.h), beside the damaged
// one; then the two change places in one step.
//
//   NAME.repair is made ── exchanged with NAME ── NAME.repair, the damaged one, becomes NAME.lost
//
// 1. At each moment there is one of the two under NAME, as a whole, also after a crash.
// 2. What a crash has left as NAME.repair is removed where it is marked as not finished, and else
//    kept as NAME.lost: it may be the damaged one.

#include <fcntl.h>
#include <hawthorn/repair.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "rocksdb/db.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/files.h"
#include "shims/rocksdb/src/option_map.h"
#include "shims/rocksdb/src/options_file.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using Descriptors = DBImpl::Descriptors;

constexpr size_t kBudgetMin = size_t{64} << 20;  // of a repair

S failed(const std::string& path, const std::error_code& error) {
  return S::IOError(path, error.message());
}

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// To the first of NAME.lost, NAME.lost.1 and so on that is not there.
S keep_as_lost(const std::string& from, const std::string& name) {
  std::string to = name + ".lost";
  for (int number = 1; exists(to); ++number) to = name + ".lost." + std::to_string(number);
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    return failed(from, std::error_code(errno, std::generic_category()));
  }
  return sync_directory(directory_of(name));
}

S remove_all(const std::string& directory) {
  std::error_code error;
  std::filesystem::remove_all(directory, error);
  return error ? failed(directory, error) : S::OK();
}

S clear_place(const std::string& place, const std::string& name) {
  if (!exists(place)) return S::OK();
  return exists(place + "/copy.incomplete") ? remove_all(place) : keep_as_lost(place, name);
}

S error_of(const hawthorn::Status& status, const std::string& name) {
  if (status.is(StatusCode::kBusy))
    return S::IOError("lock " + name + "/LOCK", slice(status.message()));
  if (status.is_not_found()) return S::Corruption(name, "there is nothing to repair");
  return to_status(status);
}

// Whether it has its families; those that are not among `kept` are dropped.
S settle_families(const std::string& path, const hawthorn::Options& options,
                  const Descriptors* kept, bool* dropped) {
  const auto opened = hawthorn::Db::open(path, options);
  if (!opened.ok()) return to_status(opened.status());
  const hawthorn::Result<FamilyRows> rows = FamilyRows::read(**opened);
  if (!rows.ok()) return S::Corruption("what column families there are is lost", path);
  for (const auto& [family, row] : rows->families()) {
    const auto is_it = [&name = family](const auto& known) { return known.name == name; };
    if (kept == nullptr || std::any_of(kept->begin(), kept->end(), is_it)) continue;
    auto in = (*opened)->begin(hawthorn::TxnMode::kOptimistic);
    hawthorn::Status status = in.ok() ? drop_family(*in, family, row) : in.status();
    if (status.ok()) status = in->commit(hawthorn::Durability::kFull);
    if (status.ok()) status = erase_dropped(**opened, row.id);
    if (!status.ok()) return to_status(status);
    *dropped = true;
  }
  return to_status((*opened)->close());
}

// The options are as readable as they were.
S keep_newest_options(const std::string& from, const std::string& to) {
  std::vector<std::string> names;
  if (!list_options_files(from, &names).ok()) return S::OK();
  std::string text;
  S s = read_whole_file(from + "/" + names.front(), &text);
  return s.ok() ? write_options_file(to, text) : s;
}

S exchange(const std::string& made, const std::string& name) {
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, name.c_str(), RENAME_EXCHANGE) != 0) {
    const std::error_code error(errno, std::generic_category());
    if (error.value() == EINVAL) return S::NotSupported(name, "the file system does not exchange");
    return failed(name, error);
  }
  return S::OK();
}

// kept: null for all families.
S repair(const std::string& path, const rocksdb::DBOptions& options, const Descriptors& families,
         const Descriptors* kept) {
  // Where it is, and not a link to it.
  std::error_code error;
  const std::string found = std::filesystem::canonical(path, error).string();
  const std::string name = error ? path : found;
  if (S s = DBImpl::check_open(options, name, families); !s.ok()) return s;
  std::vector<const rocksdb::ColumnFamilyOptions*> family_options;
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    family_options.push_back(&family.options);
  }
  const Slots slots;
  hawthorn::RepairOptions repairing;
  repairing.database = engine_options(options, false);
  repairing.database.create_if_missing = repairing.database.error_if_exists = false;
  repairing.database.memory_budget_bytes =
      std::max(memory_budget(options, family_options), kBudgetMin);
  slots.tell(repairing.database);
  const std::string made = name + ".repair";
  if (S s = clear_place(made, name); !s.ok()) return s;
  const auto report = hawthorn::Db::repair(name, made, repairing);
  if (!report.ok()) {
    remove_all(made).PermitUncheckedError();
    return error_of(report.status(), name);
  }
  for (const hawthorn::RepairLoss& loss : report->losses) {
    if (repairing.database.log == nullptr) break;
    repairing.database.log(LogLevel::kWarning, "lost of " + loss.tree + ": " + loss.what);
  }
  bool dropped = false;
  S s = report->opened ? settle_families(made, repairing.database, kept, &dropped)
                       : S::Corruption(name, report->open_error);
  if (s.ok()) s = keep_newest_options(name, made);
  if (s.ok()) s = exchange(made, name);
  if (!s.ok()) {
    remove_all(made).PermitUncheckedError();
    return s;
  }
  if (s = sync_directory(directory_of(name)); !s.ok()) return s;
  // A database of which nothing is missing leaves nothing, but for what else was in its directory.
  if (report->ok() && !dropped) {
    s = to_status(hawthorn::Db::destroy(made));
    if (s.ok()) s = remove_options_files(made);
  }
  return exists(made) ? keep_as_lost(made, name) : s;
}

}  // namespace
}  // namespace hawthorn::rocks

namespace rocksdb {

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families) {
  return hawthorn::rocks::repair(dbname, db_options, column_families, &column_families);
}

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                const ColumnFamilyOptions&) {
  return hawthorn::rocks::repair(dbname, db_options, column_families, nullptr);
}

Status RepairDB(const std::string& dbname, const Options& options) {
  return hawthorn::rocks::repair(dbname, options, {{kDefaultColumnFamilyName, options}}, nullptr);
}

}  // namespace rocksdb
