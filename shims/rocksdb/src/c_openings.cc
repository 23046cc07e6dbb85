// The C API of databases that are opened in special ways, and of what is to be opened again.

#include <memory>
#include <string>

#include "rocksdb/utilities/db_ttl.h"
#include "shims/rocksdb/src/c_types.h"

namespace {

using hawthorn::rocks::descriptors_of;
using hawthorn::rocks::failed;
using hawthorn::rocks::incomplete;
using hawthorn::rocks::NewHandles;
using Handle = rocksdb_column_family_handle_t;
using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;

// Takes over what was opened, in what was made for it before.
rocksdb_t* opened(char** errptr, const rocksdb::Status& status, std::unique_ptr<rocksdb_t> holder,
                  rocksdb::DB* db) {
  if (failed(errptr, status)) return nullptr;
  holder->rep.reset(db);
  return holder.release();
}

}  // namespace

extern "C" {

rocksdb_t* rocksdb_open_as_secondary(const rocksdb_options_t* options, const char* name,
                                     const char* secondary_path, char** errptr) try {
  if (incomplete(options, errptr)) return nullptr;
  auto holder = std::make_unique<rocksdb_t>();
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenAsSecondary(options->rep, name, secondary_path, &db);
  return opened(errptr, status, std::move(holder), db);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_t* rocksdb_open_as_secondary_column_families(const rocksdb_options_t* options,
                                                     const char* name, const char* secondary_path,
                                                     int family_count, const char* const* names,
                                                     const rocksdb_options_t* const* family_options,
                                                     Handle** handles, char** errptr) try {
  if (incomplete(options, family_count, family_options, errptr)) return nullptr;
  auto holder = std::make_unique<rocksdb_t>();
  rocksdb::DB* db = nullptr;
  NewHandles made(static_cast<size_t>(family_count));
  Handles families;
  const rocksdb::Status status = rocksdb::DB::OpenAsSecondary(
      options->rep, name, secondary_path, descriptors_of(family_count, names, family_options),
      &families, &db);
  if (status.ok()) made.hand_out(families, handles);
  return opened(errptr, status, std::move(holder), db);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_try_catch_up_with_primary(rocksdb_t* db, char** errptr) try {
  failed(errptr, db->rep->TryCatchUpWithPrimary());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

rocksdb_t* rocksdb_open_with_ttl(const rocksdb_options_t* options, const char* name, int ttl,
                                 char** errptr) try {
  if (incomplete(options, errptr)) return nullptr;
  auto holder = std::make_unique<rocksdb_t>();
  rocksdb::DBWithTTL* db = nullptr;
  const rocksdb::Status status = rocksdb::DBWithTTL::Open(options->rep, name, &db, ttl);
  return opened(errptr, status, std::move(holder), db);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

rocksdb_t* rocksdb_open_column_families_with_ttl(const rocksdb_options_t* options, const char* name,
                                                 int family_count, const char* const* names,
                                                 const rocksdb_options_t* const* family_options,
                                                 Handle** handles, const int* ttls,
                                                 char** errptr) try {
  if (incomplete(options, family_count, family_options, errptr)) return nullptr;
  auto holder = std::make_unique<rocksdb_t>();
  rocksdb::DBWithTTL* db = nullptr;
  NewHandles made(static_cast<size_t>(family_count));
  Handles families;
  const rocksdb::Status status = rocksdb::DBWithTTL::Open(
      options->rep, name, descriptors_of(family_count, names, family_options), &families, &db,
      std::vector<int32_t>(ttls, ttls + family_count));
  if (status.ok()) made.hand_out(families, handles);
  return opened(errptr, status, std::move(holder), db);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

Handle* rocksdb_create_column_family_with_ttl(rocksdb_t* db,
                                              const rocksdb_options_t* family_options,
                                              const char* name, int ttl, char** errptr) try {
  auto* const with_ttl = dynamic_cast<rocksdb::DBWithTTL*>(db->rep.get());
  if (incomplete(family_options, errptr)) return nullptr;
  auto handle = std::make_unique<Handle>();
  const rocksdb::Status status =
      with_ttl == nullptr
          ? rocksdb::Status::InvalidArgument("the database was not opened with a ttl")
          : with_ttl->CreateColumnFamilyWithTtl(family_options->rep, name, &handle->rep, ttl);
  return failed(errptr, status) ? nullptr : handle.release();
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}

void rocksdb_repair_db(const rocksdb_options_t* options, const char* name, char** errptr) try {
  failed(errptr, rocksdb::RepairDB(name, options->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

}  // extern "C"
