// The C API of files that are written, and taken in.

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/sst_file_writer.h"
#include "shims/rocksdb/src/c_types.h"

struct rocksdb_envoptions_t {
  rocksdb::EnvOptions rep;
};
struct rocksdb_ingestexternalfileoptions_t {
  rocksdb::IngestExternalFileOptions rep;
};
struct rocksdb_sstfilewriter_t {
  rocksdb::SstFileWriter rep;
};

namespace {

using hawthorn::rocks::failed;
using hawthorn::rocks::refuse;
using rocksdb::Slice;
using IngestOptions = rocksdb_ingestexternalfileoptions_t;
using Writer = rocksdb_sstfilewriter_t;

}  // namespace

extern "C" {

rocksdb_envoptions_t* rocksdb_envoptions_create() try {
  return new rocksdb_envoptions_t;
} catch (...) {
  return nullptr;
}
void rocksdb_envoptions_destroy(rocksdb_envoptions_t* options) { delete options; }

Writer* rocksdb_sstfilewriter_create(const rocksdb_envoptions_t* env,
                                     const rocksdb_options_t* options) try {
  return new Writer{{env->rep, options->rep}};
} catch (...) {
  return nullptr;
}
Writer* rocksdb_sstfilewriter_create_with_comparator(const rocksdb_envoptions_t* env,
                                                     const rocksdb_options_t* options,
                                                     const rocksdb_comparator_t*) {
  return rocksdb_sstfilewriter_create(env, options);
}
void rocksdb_sstfilewriter_open(Writer* writer, const char* name, char** errptr) try {
  failed(errptr, writer->rep.Open(name));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_sstfilewriter_add(Writer* writer, const char* key, size_t keylen, const char* val,
                               size_t vallen, char** errptr) try {
  failed(errptr, writer->rep.Put(Slice(key, keylen), Slice(val, vallen)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_sstfilewriter_put(Writer* writer, const char* key, size_t keylen, const char* val,
                               size_t vallen, char** errptr) try {
  failed(errptr, writer->rep.Put(Slice(key, keylen), Slice(val, vallen)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_sstfilewriter_put_with_ts(Writer*, const char*, size_t, const char*, size_t,
                                       const char*, size_t, char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_sstfilewriter_merge(Writer* writer, const char* key, size_t keylen, const char* val,
                                 size_t vallen, char** errptr) try {
  failed(errptr, writer->rep.Merge(Slice(key, keylen), Slice(val, vallen)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_sstfilewriter_delete(Writer* writer, const char* key, size_t keylen,
                                  char** errptr) try {
  failed(errptr, writer->rep.Delete(Slice(key, keylen)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_sstfilewriter_delete_with_ts(Writer*, const char*, size_t, const char*, size_t,
                                          char** errptr) {
  refuse(errptr, __func__);
}
void rocksdb_sstfilewriter_delete_range(Writer* writer, const char* begin_key, size_t begin_keylen,
                                        const char* end_key, size_t end_keylen, char** errptr) try {
  failed(errptr,
         writer->rep.DeleteRange(Slice(begin_key, begin_keylen), Slice(end_key, end_keylen)));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_sstfilewriter_finish(Writer* writer, char** errptr) try {
  failed(errptr, writer->rep.Finish());
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_sstfilewriter_file_size(Writer* writer, uint64_t* file_size) try {
  *file_size = writer->rep.FileSize();
} catch (...) {
  return;
}
void rocksdb_sstfilewriter_destroy(Writer* writer) { delete writer; }

IngestOptions* rocksdb_ingestexternalfileoptions_create() try {
  return new IngestOptions;
} catch (...) {
  return nullptr;
}
void rocksdb_ingestexternalfileoptions_set_move_files(IngestOptions* options, unsigned char value) {
  options->rep.move_files = value != 0;
}
void rocksdb_ingestexternalfileoptions_set_snapshot_consistency(IngestOptions* options,
                                                                unsigned char value) {
  options->rep.snapshot_consistency = value != 0;
}
void rocksdb_ingestexternalfileoptions_set_allow_global_seqno(IngestOptions* options,
                                                              unsigned char value) {
  options->rep.allow_global_seqno = value != 0;
}
void rocksdb_ingestexternalfileoptions_set_allow_blocking_flush(IngestOptions* options,
                                                                unsigned char value) {
  options->rep.allow_blocking_flush = value != 0;
}
void rocksdb_ingestexternalfileoptions_set_ingest_behind(IngestOptions* options,
                                                         unsigned char value) {
  options->rep.ingest_behind = value != 0;
}
void rocksdb_ingestexternalfileoptions_set_fail_if_not_bottommost_level(IngestOptions* options,
                                                                        unsigned char value) {
  options->rep.fail_if_not_bottommost_level = value != 0;
}
void rocksdb_ingestexternalfileoptions_destroy(IngestOptions* options) { delete options; }
void rocksdb_ingest_external_file(rocksdb_t* db, const char* const* file_list,
                                  const size_t list_len, const IngestOptions* options,
                                  char** errptr) try {
  const std::vector<std::string> files(file_list, file_list + list_len);
  failed(errptr, db->rep->IngestExternalFile(files, options->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
void rocksdb_ingest_external_file_cf(rocksdb_t* db, rocksdb_column_family_handle_t* handle,
                                     const char* const* file_list, const size_t list_len,
                                     const IngestOptions* options, char** errptr) try {
  const std::vector<std::string> files(file_list, file_list + list_len);
  failed(errptr, db->rep->IngestExternalFile(handle->rep, files, options->rep));
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

}  // extern "C"
