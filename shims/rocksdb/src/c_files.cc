// The C API of files: checkpoints, files of a database, the log.
// Not here: backups (c_backups.cc), files that are taken in (c_ingest.cc).

#include <memory>
#include <string>

#include "rocksdb/convenience.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/options_util.h"
#include "shims/rocksdb/src/c_types.h"

struct rocksdb_checkpoint_t {
  std::unique_ptr<rocksdb::Checkpoint> rep;
};
// Of one family; files have no names here.
struct rocksdb_column_family_metadata_t {
  std::string name;
  uint64_t bytes = 0;
  size_t files = 0;
};
// Of none: see above.
struct rocksdb_livefiles_t {};

struct rocksdb_sst_file_manager_t {
  int64_t delete_rate_bytes_per_second = 0;
  double max_trash_db_ratio = 0.25;
};

namespace {

using hawthorn::rocks::failed;
using hawthorn::rocks::refuse;
using Handle = rocksdb_column_family_handle_t;

rocksdb_column_family_metadata_t* metadata_of(rocksdb_t* db, rocksdb::ColumnFamilyHandle* family) {
  auto metadata = std::make_unique<rocksdb_column_family_metadata_t>();
  metadata->name = family->GetName();
  static_cast<void>(db->rep->GetIntProperty(family, rocksdb::DB::Properties::kLiveSstFilesSize,
                                            &metadata->bytes));
  std::string files;
  if (db->rep->GetProperty(family, rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &files)) {
    metadata->files = std::stoull(files);
  }
  return metadata.release();
}

// Before version 9 the function had a flag in front of errptr, which it stands in place of.
bool is_a_flag(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) <= 0xff; }

}  // namespace

extern "C" {

// ---- Checkpoints

rocksdb_checkpoint_t* rocksdb_checkpoint_object_create(rocksdb_t* db, char** errptr) try {
  rocksdb::Checkpoint* checkpoint = nullptr;
  if (failed(errptr, rocksdb::Checkpoint::Create(db->rep.get(), &checkpoint))) return nullptr;
  return new rocksdb_checkpoint_t{std::unique_ptr<rocksdb::Checkpoint>(checkpoint)};
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}
void rocksdb_checkpoint_create(rocksdb_checkpoint_t* checkpoint, const char* checkpoint_dir,
                               uint64_t log_size_for_flush, char** errptr) try {
  failed(errptr, checkpoint->rep->CreateCheckpoint(checkpoint_dir, log_size_for_flush));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_checkpoint_object_destroy(rocksdb_checkpoint_t* checkpoint) { delete checkpoint; }

// ---- Families

rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata(rocksdb_t* db) try {
  return metadata_of(db, db->rep->DefaultColumnFamily());
} catch (...) {
  return nullptr;
}
rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf(rocksdb_t* db,
                                                                        Handle* column_family) try {
  return metadata_of(db, column_family->rep);
} catch (...) {
  return nullptr;
}
void rocksdb_column_family_metadata_destroy(rocksdb_column_family_metadata_t* metadata) {
  delete metadata;
}
uint64_t rocksdb_column_family_metadata_get_size(rocksdb_column_family_metadata_t* metadata) {
  return metadata->bytes;
}
char* rocksdb_column_family_metadata_get_name(rocksdb_column_family_metadata_t* metadata) try {
  return hawthorn::rocks::copy_of_words(metadata->name.c_str());
} catch (...) {
  return nullptr;
}
size_t rocksdb_column_family_metadata_get_file_count(rocksdb_column_family_metadata_t* metadata) {
  return metadata->files;
}
size_t rocksdb_column_family_metadata_get_level_count(rocksdb_column_family_metadata_t*) {
  return 0;
}
rocksdb_level_metadata_t* rocksdb_column_family_metadata_get_level_metadata(
    rocksdb_column_family_metadata_t*, size_t) {
  return nullptr;
}

// ---- Files of a database

void rocksdb_delete_file_in_range(rocksdb_t*, const char*, size_t, const char*, size_t, char**) {}
void rocksdb_delete_file_in_range_cf(rocksdb_t*, Handle*, const char*, size_t, const char*, size_t,
                                     char**) {}
void rocksdb_disable_file_deletions(rocksdb_t* db, char** errptr) try {
  failed(errptr, db->rep->DisableFileDeletions());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_enable_file_deletions(rocksdb_t* db, char** errptr) try {
  // For a program of before version 9 there is no way to tell it that this is refused.
  if (is_a_flag(errptr)) return;
  failed(errptr, db->rep->EnableFileDeletions());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

// Open refuses it, whatever it is.
void rocksdb_options_set_sst_file_manager(rocksdb_options_t* options,
                                          rocksdb_sst_file_manager_t*) try {
  static char some;
  options->rep.sst_file_manager = std::shared_ptr<rocksdb::SstFileManager>(
      std::shared_ptr<void>(), reinterpret_cast<rocksdb::SstFileManager*>(&some));
} catch (...) {
  options->short_of_memory = true;
}

// ---- What there is none of

rocksdb_t* rocksdb_open_and_trim_history(const rocksdb_options_t*, const char*, int,
                                         const char* const*, const rocksdb_options_t* const*,
                                         rocksdb_column_family_handle_t**, char*, size_t,
                                         char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_wal_iterator_t* rocksdb_get_updates_since(rocksdb_t* db, uint64_t seq_number,
                                                  const rocksdb_wal_readoptions_t*,
                                                  char** errptr) try {
  std::unique_ptr<rocksdb::TransactionLogIterator> found;
  if (failed(errptr, db->rep->GetUpdatesSince(seq_number, &found))) return nullptr;
  return new rocksdb_wal_iterator_t{std::move(found)};
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}
const rocksdb_livefiles_t* rocksdb_livefiles(rocksdb_t*) try {
  return new rocksdb_livefiles_t;
} catch (...) {
  return 0;
}
void rocksdb_wal_iter_next(rocksdb_wal_iterator_t* iterator) try {
  iterator->rep->Next();
} catch (...) {
  iterator->short_of_memory = true;
}
unsigned char rocksdb_wal_iter_valid(const rocksdb_wal_iterator_t* iterator) try {
  return !iterator->short_of_memory && iterator->rep->Valid() ? 1 : 0;
} catch (...) {
  return 0;
}
void rocksdb_wal_iter_status(const rocksdb_wal_iterator_t* iterator, char** errptr) try {
  if (hawthorn::rocks::incomplete(iterator, errptr)) return;
  failed(errptr, iterator->rep->status());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
rocksdb_writebatch_t* rocksdb_wal_iter_get_batch(const rocksdb_wal_iterator_t* iterator,
                                                 uint64_t* seq) try {
  rocksdb::BatchResult batch = iterator->rep->GetBatch();
  if (seq != nullptr) *seq = batch.sequence;
  return new rocksdb_writebatch_t{std::move(*batch.writeBatchPtr)};
} catch (...) {
  return nullptr;
}
void rocksdb_wal_iter_destroy(const rocksdb_wal_iterator_t* iterator) { delete iterator; }
void rocksdb_load_latest_options(const char* path, rocksdb_env_t* env, bool ignore_unknown_options,
                                 rocksdb_cache_t* cache, rocksdb_options_t** db_options,
                                 size_t* family_count, char*** names,
                                 rocksdb_options_t*** family_options, char** errptr) try {
  *db_options = nullptr;
  *family_count = 0;
  *names = nullptr;
  *family_options = nullptr;
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = ignore_unknown_options;
  config.env = env->rep;
  rocksdb::DBOptions database;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  if (failed(errptr, rocksdb::LoadLatestOptions(config, path, &database, &families,
                                                cache == nullptr ? nullptr : &cache->rep))) {
    return;
  }
  const size_t count = families.size();
  *names = static_cast<char**>(hawthorn::rocks::allocate(count * sizeof(char*)));
  *family_options = static_cast<rocksdb_options_t**>(
      hawthorn::rocks::allocate(count * sizeof(rocksdb_options_t*)));
  for (size_t i = 0; i < count; ++i) {
    (*names)[i] = hawthorn::rocks::copy_of_words(families[i].name.c_str());
    (*family_options)[i] = rocksdb_options_create();
    (*family_options)[i]->rep = rocksdb::Options(rocksdb::DBOptions(), families[i].options);
  }
  *family_count = count;
  *db_options = rocksdb_options_create();
  (*db_options)->rep = rocksdb::Options(database, rocksdb::ColumnFamilyOptions());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_load_latest_options_destroy(rocksdb_options_t* db_options, char** names,
                                         rocksdb_options_t** family_options, size_t size) {
  if (db_options != nullptr) rocksdb_options_destroy(db_options);
  for (size_t i = 0; i < size; ++i) {
    std::free(names[i]);
    rocksdb_options_destroy(family_options[i]);
  }
  std::free(names);
  std::free(static_cast<void*>(family_options));
}
rocksdb_sst_file_manager_t* rocksdb_sst_file_manager_create(rocksdb_env_t*) try {
  return new rocksdb_sst_file_manager_t;
} catch (...) {
  return nullptr;
}
void rocksdb_sst_file_manager_destroy(rocksdb_sst_file_manager_t* manager) { delete manager; }
void rocksdb_sst_file_manager_set_max_allowed_space_usage(rocksdb_sst_file_manager_t*, uint64_t) {}
void rocksdb_sst_file_manager_set_compaction_buffer_size(rocksdb_sst_file_manager_t*, uint64_t) {}
bool rocksdb_sst_file_manager_is_max_allowed_space_reached(rocksdb_sst_file_manager_t*) {
  return false;
}
bool rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(
    rocksdb_sst_file_manager_t*) {
  return false;
}
uint64_t rocksdb_sst_file_manager_get_total_size(rocksdb_sst_file_manager_t*) { return 0; }
int64_t rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(
    rocksdb_sst_file_manager_t* manager) {
  return manager->delete_rate_bytes_per_second;
}
void rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(rocksdb_sst_file_manager_t* manager,
                                                               int64_t value) {
  manager->delete_rate_bytes_per_second = value;
}
double rocksdb_sst_file_manager_get_max_trash_db_ratio(rocksdb_sst_file_manager_t* manager) {
  return manager->max_trash_db_ratio;
}
void rocksdb_sst_file_manager_set_max_trash_db_ratio(rocksdb_sst_file_manager_t* manager,
                                                     double value) {
  manager->max_trash_db_ratio = value;
}
uint64_t rocksdb_sst_file_manager_get_total_trash_size(rocksdb_sst_file_manager_t*) { return 0; }
int rocksdb_livefiles_count(const rocksdb_livefiles_t*) { return 0; }
const char* rocksdb_livefiles_column_family_name(const rocksdb_livefiles_t*, int) {
  return nullptr;
}
const char* rocksdb_livefiles_name(const rocksdb_livefiles_t*, int) { return nullptr; }
int rocksdb_livefiles_level(const rocksdb_livefiles_t*, int) { return 0; }
size_t rocksdb_livefiles_size(const rocksdb_livefiles_t*, int) { return 0; }
const char* rocksdb_livefiles_smallestkey(const rocksdb_livefiles_t*, int, size_t* size) {
  *size = 0;
  return nullptr;
}
const char* rocksdb_livefiles_largestkey(const rocksdb_livefiles_t*, int, size_t* size) {
  *size = 0;
  return nullptr;
}
uint64_t rocksdb_livefiles_entries(const rocksdb_livefiles_t*, int) { return 0; }
uint64_t rocksdb_livefiles_deletions(const rocksdb_livefiles_t*, int) { return 0; }
void rocksdb_livefiles_destroy(const rocksdb_livefiles_t* files) { delete files; }
void rocksdb_get_options_from_string(const rocksdb_options_t* base_options, const char* text,
                                     rocksdb_options_t* new_options, char** errptr) try {
  failed(errptr, rocksdb::GetOptionsFromString(base_options->rep, text, &new_options->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_level_metadata_destroy(rocksdb_level_metadata_t*) {}
int rocksdb_level_metadata_get_level(rocksdb_level_metadata_t*) { return 0; }
uint64_t rocksdb_level_metadata_get_size(rocksdb_level_metadata_t*) { return 0; }
size_t rocksdb_level_metadata_get_file_count(rocksdb_level_metadata_t*) { return 0; }
rocksdb_sst_file_metadata_t* rocksdb_level_metadata_get_sst_file_metadata(rocksdb_level_metadata_t*,
                                                                          size_t) {
  return nullptr;
}
void rocksdb_sst_file_metadata_destroy(rocksdb_sst_file_metadata_t*) {}
char* rocksdb_sst_file_metadata_get_relative_filename(rocksdb_sst_file_metadata_t*) {
  return nullptr;
}
char* rocksdb_sst_file_metadata_get_directory(rocksdb_sst_file_metadata_t*) { return nullptr; }
uint64_t rocksdb_sst_file_metadata_get_size(rocksdb_sst_file_metadata_t*) { return 0; }
char* rocksdb_sst_file_metadata_get_smallestkey(rocksdb_sst_file_metadata_t*, size_t* size) {
  *size = 0;
  return nullptr;
}
char* rocksdb_sst_file_metadata_get_largestkey(rocksdb_sst_file_metadata_t*, size_t* size) {
  *size = 0;
  return nullptr;
}
void rocksdb_delete_file(rocksdb_t*, const char*) {}
rocksdb_export_import_files_metadata_t* rocksdb_checkpoint_export_column_family(
    rocksdb_checkpoint_t*, rocksdb_column_family_handle_t*, const char*, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_column_family_handle_t* rocksdb_create_column_family_with_import(
    rocksdb_t*, rocksdb_options_t*, const char*, rocksdb_import_column_family_options_t*,
    rocksdb_export_import_files_metadata_t*, char** errptr) {
  refuse(errptr, __func__);
  return nullptr;
}
rocksdb_livefiles_t* rocksdb_livefiles_create() { return nullptr; }
const char* rocksdb_livefiles_directory(const rocksdb_livefiles_t*, int) { return nullptr; }
uint64_t rocksdb_livefiles_smallest_seqno(const rocksdb_livefiles_t*, int) { return 0; }
uint64_t rocksdb_livefiles_largest_seqno(const rocksdb_livefiles_t*, int) { return 0; }
rocksdb_livefile_t* rocksdb_livefile_create() { return nullptr; }
void rocksdb_livefile_set_column_family_name(rocksdb_livefile_t*, const char*) {}
void rocksdb_livefile_set_level(rocksdb_livefile_t*, int) {}
void rocksdb_livefile_set_name(rocksdb_livefile_t*, const char*) {}
void rocksdb_livefile_set_directory(rocksdb_livefile_t*, const char*) {}
void rocksdb_livefile_set_size(rocksdb_livefile_t*, size_t) {}
void rocksdb_livefile_set_smallest_key(rocksdb_livefile_t*, const char*, size_t) {}
void rocksdb_livefile_set_largest_key(rocksdb_livefile_t*, const char*, size_t) {}
void rocksdb_livefile_set_smallest_seqno(rocksdb_livefile_t*, uint64_t) {}
void rocksdb_livefile_set_largest_seqno(rocksdb_livefile_t*, uint64_t) {}
void rocksdb_livefile_set_num_entries(rocksdb_livefile_t*, uint64_t) {}
void rocksdb_livefile_set_num_deletions(rocksdb_livefile_t*, uint64_t) {}
void rocksdb_livefile_destroy(rocksdb_livefile_t*) {}
void rocksdb_livefiles_add(rocksdb_livefiles_t*, rocksdb_livefile_t*) {}
rocksdb_import_column_family_options_t* rocksdb_import_column_family_options_create() {
  return nullptr;
}
void rocksdb_import_column_family_options_set_move_files(rocksdb_import_column_family_options_t*,
                                                         unsigned char) {}
void rocksdb_import_column_family_options_destroy(rocksdb_import_column_family_options_t*) {}
rocksdb_export_import_files_metadata_t* rocksdb_export_import_files_metadata_create() {
  return nullptr;
}
char* rocksdb_export_import_files_metadata_get_db_comparator_name(
    rocksdb_export_import_files_metadata_t*) {
  return nullptr;
}
void rocksdb_export_import_files_metadata_set_db_comparator_name(
    rocksdb_export_import_files_metadata_t*, const char*) {}
rocksdb_livefiles_t* rocksdb_export_import_files_metadata_get_files(
    rocksdb_export_import_files_metadata_t*) {
  return nullptr;
}
void rocksdb_export_import_files_metadata_set_files(rocksdb_export_import_files_metadata_t*,
                                                    rocksdb_livefiles_t*) {}
void rocksdb_export_import_files_metadata_destroy(rocksdb_export_import_files_metadata_t*) {}

}  // extern "C"
