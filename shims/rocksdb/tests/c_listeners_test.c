// Listeners in the C API: what they are called with.

#define _XOPEN_SOURCE 700

#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "shims/rocksdb/tests/c_api_test.h"

typedef struct {
  int flushes_begun, flushes, compactions_begun, compactions, ingests, errors, gone;
  uint64_t micros, bytes;
  atomic_int stalls;
} Told;

// The size is read behind the call that tells it.
static int is_default(const char* name, const size_t* size) {
  return *size == 7 && memcmp(name, "default", *size) == 0;
}

static void go(void* state) { ++((Told*)state)->gone; }

static void flush_begins(void* state, rocksdb_t* db, const rocksdb_flushjobinfo_t* info) {
  size_t size = 0;
  CHECK(db != NULL);
  CHECK(is_default(rocksdb_flushjobinfo_cf_name(info, &size), &size));
  ++((Told*)state)->flushes_begun;
}

static void flush_ends(void* state, rocksdb_t* db, const rocksdb_flushjobinfo_t* info) {
  size_t size = 7;
  uint64_t snapshots = 7;
  CHECK(rocksdb_property_int(db, "rocksdb.num-snapshots", &snapshots) == 0 && snapshots == 0);
  rocksdb_flushjobinfo_file_path(info, &size);
  CHECK(size == 0);
  CHECK(rocksdb_flushjobinfo_triggered_writes_slowdown(info) <= 1);
  CHECK(rocksdb_flushjobinfo_triggered_writes_stop(info) == 0);
  CHECK(rocksdb_flushjobinfo_largest_seqno(info) == 0);
  CHECK(rocksdb_flushjobinfo_smallest_seqno(info) == 0);
  CHECK(rocksdb_flushjobinfo_flush_reason(info) == 0);
  ++((Told*)state)->flushes;
}

static void compaction_begins(void* state, rocksdb_t* db, const rocksdb_compactionjobinfo_t* info) {
  size_t size = 0;
  CHECK(db != NULL);
  CHECK(is_default(rocksdb_compactionjobinfo_cf_name(info, &size), &size));
  ++((Told*)state)->compactions_begun;
}

static void compaction_ends(void* state, rocksdb_t* db, const rocksdb_compactionjobinfo_t* info) {
  char* error = NULL;
  size_t size = 7;
  CHECK(db != NULL);
  rocksdb_compactionjobinfo_status(info, &error);
  CHECK_OK(error);
  CHECK(rocksdb_compactionjobinfo_input_files_count(info) == 0);
  CHECK(rocksdb_compactionjobinfo_input_file_at(info, 0, &size) == NULL && size == 0);
  CHECK(rocksdb_compactionjobinfo_output_files_count(info) == 0);
  CHECK(rocksdb_compactionjobinfo_output_file_at(info, 0, &size) == NULL && size == 0);
  CHECK(rocksdb_compactionjobinfo_num_corrupt_keys(info) == 0);
  CHECK(rocksdb_compactionjobinfo_base_input_level(info) == 0);
  CHECK(rocksdb_compactionjobinfo_output_level(info) == 0);
  CHECK(rocksdb_compactionjobinfo_input_records(info) == 0);
  CHECK(rocksdb_compactionjobinfo_output_records(info) == 0);
  CHECK(rocksdb_compactionjobinfo_total_input_bytes(info) == 0);
  CHECK(rocksdb_compactionjobinfo_compaction_reason(info) == 0);
  CHECK(rocksdb_compactionjobinfo_num_input_files(info) > 0);
  CHECK(rocksdb_compactionjobinfo_num_input_files_at_output_level(info) > 0);
  // One may find that there is nothing to do.
  ((Told*)state)->micros += rocksdb_compactionjobinfo_elapsed_micros(info);
  ((Told*)state)->bytes += rocksdb_compactionjobinfo_total_output_bytes(info);
  ++((Told*)state)->compactions;
}

static void ingested(void* state, rocksdb_t* db, const rocksdb_externalfileingestioninfo_t* info) {
  size_t size = 0;
  CHECK(db != NULL);
  CHECK(is_default(rocksdb_externalfileingestioninfo_cf_name(info, &size), &size));
  rocksdb_externalfileingestioninfo_internal_file_path(info, &size);
  CHECK(size == 0);
  ++((Told*)state)->ingests;
}

static void has_failed(void* state, uint32_t reason, rocksdb_status_ptr_t* status) {
  char* error = NULL;
  CHECK(reason == 0);
  rocksdb_status_ptr_get_error(status, &error);
  CHECK(error != NULL);
  rocksdb_free(error);
  error = NULL;
  rocksdb_reset_status(status);
  rocksdb_status_ptr_get_error(status, &error);
  CHECK_OK(error);
  ++((Told*)state)->errors;
}

static void stall_changed(void* state, const rocksdb_writestallinfo_t* info) {
  enum { kDelayed = 0, kNormal = 2 };
  size_t size = 0;
  CHECK(is_default(rocksdb_writestallinfo_cf_name(info, &size), &size));
  const int now = *(const int*)rocksdb_writestallinfo_cur(info);
  const int before = *(const int*)rocksdb_writestallinfo_prev(info);
  CHECK(now == kDelayed ? before == kNormal : now == kNormal && before == kDelayed);
  atomic_fetch_add(&((Told*)state)->stalls, 1);
}

static rocksdb_eventlistener_t* new_listener(Told* told) {
  return rocksdb_eventlistener_create(told, go, flush_begins, flush_ends, compaction_begins,
                                      compaction_ends, NULL, NULL, ingested, has_failed,
                                      stall_changed, NULL);
}

static void fill(Database* of, int step) {
  char* const value = malloc(1000);
  char key[20];
  char* error = NULL;
  memset(value, 'v', 1000);
  for (int i = 0; i < 3000; i += step) {
    const int size = snprintf(key, sizeof(key), "%d", i);
    rocksdb_put(of->db, of->write, key, (size_t)size, value, 1000, &error);
    CHECK_OK(error);
  }
  free(value);
}

static void ingest_one(Database* of) {
  char* error = NULL;
  rocksdb_envoptions_t* const env = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* const writer = rocksdb_sstfilewriter_create(env, of->options);
  const char* const path = new_path();
  rocksdb_sstfilewriter_open(writer, path, &error);
  rocksdb_sstfilewriter_put(writer, "z", 1, "1", 1, &error);
  rocksdb_sstfilewriter_finish(writer, &error);
  CHECK_OK(error);
  rocksdb_ingestexternalfileoptions_t* const options = rocksdb_ingestexternalfileoptions_create();
  rocksdb_ingest_external_file(of->db, &path, 1, options, &error);
  CHECK_OK(error);
  rocksdb_ingestexternalfileoptions_destroy(options);
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);
}

static void test_work(void) {
  Told told = {0};
  Told other = {0};
  Database of = new_database();
  rocksdb_options_add_eventlistener(of.options, new_listener(&told));
  // Of one that wants nothing.
  rocksdb_options_add_eventlistener(
      of.options, rocksdb_eventlistener_create(&other, go, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                               NULL, NULL, NULL));
  open_database(&of);
  fill(&of, 1);
  char* error = NULL;
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flush(of.db, flush, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);
  fill(&of, 2);
  rocksdb_compact_range(of.db, NULL, 0, NULL, 0);
  ingest_one(&of);
  close_database(&of);
  CHECK(told.flushes > 0 && told.flushes == told.flushes_begun);
  CHECK(told.compactions > 0 && told.compactions == told.compactions_begun);
  CHECK(told.micros > 0 && told.bytes > 0);
  CHECK(told.ingests == 1);
  CHECK(told.errors == 0 && told.gone == 0);
  end_database(&of);
  CHECK(told.gone == 1 && other.gone == 1);
  rocksdb_eventlistener_destroy(new_listener(&told));
  CHECK(told.gone == 2);
}

static void test_stalls(void) {
  Told told = {0};
  Database of = new_database();
  rocksdb_options_add_eventlistener(of.options, new_listener(&told));
  rocksdb_options_set_write_buffer_size(of.options, 1 << 20);
  open_database(&of);
  int rounds = 0;
  for (; rounds < 1000 && atomic_load(&told.stalls) == 0; ++rounds) fill(&of, 1);
  CHECK(rounds < 1000);
  close_database(&of);
  CHECK(atomic_load(&told.stalls) % 2 == 0);
  end_database(&of);
}

static void test_errors_of_work(void) {
  Told told = {0};
  Database of = new_database();
  rocksdb_options_add_eventlistener(of.options, new_listener(&told));
  open_database(&of);
  put(&of, "a", "1");
  void (*const before)(int) = signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  struct rlimit small = limit;
  small.rlim_cur = 1;
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  char* error = NULL;
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flush(of.db, flush, &error);
  rocksdb_flushoptions_destroy(flush);
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  signal(SIGXFSZ, before);
  CHECK_FAILED(error, "IO error");
  close_database(&of);
  CHECK(told.errors > 0);
  end_database(&of);
}

void test_listeners(void) {
  test_work();
  test_stalls();
  test_errors_of_work();
}
