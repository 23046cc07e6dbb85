// The C API of listeners, and of what they are told.

#include "rocksdb/listener.h"
#include "shims/rocksdb/src/c_types.h"

// What is told lives as long as the call.
struct rocksdb_flushjobinfo_t {
  const rocksdb::FlushJobInfo& rep;
};
struct rocksdb_compactionjobinfo_t {
  const rocksdb::CompactionJobInfo& rep;
};
struct rocksdb_subcompactionjobinfo_t {
  const rocksdb::SubcompactionJobInfo& rep;
};
struct rocksdb_externalfileingestioninfo_t {
  const rocksdb::ExternalFileIngestionInfo& rep;
};
struct rocksdb_writestallinfo_t {
  const rocksdb::WriteStallInfo& rep;
};
struct rocksdb_memtableinfo_t {
  const rocksdb::MemTableInfo& rep;
};
struct rocksdb_status_ptr_t {
  rocksdb::Status* rep;
};

// Callbacks that are null are not called.
struct rocksdb_eventlistener_t final : rocksdb::EventListener {
  ~rocksdb_eventlistener_t() override {
    if (destructor != nullptr) destructor(state);
  }

  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override {
    if (flush_begin != nullptr) with(db, rocksdb_flushjobinfo_t{info}, flush_begin);
  }
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override {
    if (flush_completed != nullptr) with(db, rocksdb_flushjobinfo_t{info}, flush_completed);
  }
  void OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& info) override {
    if (compaction_begin != nullptr) with(db, rocksdb_compactionjobinfo_t{info}, compaction_begin);
  }
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& info) override {
    if (compaction_completed == nullptr) return;
    with(db, rocksdb_compactionjobinfo_t{info}, compaction_completed);
  }
  void OnExternalFileIngested(rocksdb::DB* db,
                              const rocksdb::ExternalFileIngestionInfo& info) override {
    if (ingested != nullptr) with(db, rocksdb_externalfileingestioninfo_t{info}, ingested);
  }
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override {
    rocksdb_status_ptr_t status{error};
    if (background_error != nullptr) {
      background_error(state, static_cast<uint32_t>(reason), &status);
    }
  }
  void OnStallConditionsChanged(const rocksdb::WriteStallInfo& info) override {
    const rocksdb_writestallinfo_t told{info};
    if (stall_changed != nullptr) stall_changed(state, &told);
  }

  void* state = nullptr;
  void (*destructor)(void* state) = nullptr;
  on_flush_begin_cb flush_begin = nullptr;
  on_flush_completed_cb flush_completed = nullptr;
  on_compaction_begin_cb compaction_begin = nullptr;
  on_compaction_completed_cb compaction_completed = nullptr;
  on_external_file_ingested_cb ingested = nullptr;
  on_background_error_cb background_error = nullptr;
  on_stall_conditions_changed_cb stall_changed = nullptr;

 private:
  template <typename Info, typename Callback>
  void with(rocksdb::DB* db, const Info& info, Callback callback) const {
    // It is not the callback's.
    rocksdb_t shown{std::unique_ptr<rocksdb::DB>(db)};
    callback(state, &shown, &info);
    static_cast<void>(shown.rep.release());
  }
};

namespace {

const char* shown(const std::string& text, size_t* size) {
  *size = text.size();
  return text.data();
}

// A list of paths, which may be shorter.
const char* shown_at(const std::vector<std::string>& list, size_t index, size_t* size) {
  *size = 0;
  return index < list.size() ? shown(list[index], size) : nullptr;
}

}  // namespace

extern "C" {

rocksdb_eventlistener_t* rocksdb_eventlistener_create(
    void* state, void (*destructor)(void*), on_flush_begin_cb on_flush_begin,
    on_flush_completed_cb on_flush_completed, on_compaction_begin_cb on_compaction_begin,
    on_compaction_completed_cb on_compaction_completed, on_subcompaction_begin_cb,
    on_subcompaction_completed_cb, on_external_file_ingested_cb on_external_file_ingested,
    on_background_error_cb on_background_error,
    on_stall_conditions_changed_cb on_stall_conditions_changed, on_memtable_sealed_cb) try {
  auto* const listener = new rocksdb_eventlistener_t;
  listener->state = state;
  listener->destructor = destructor;
  listener->flush_begin = on_flush_begin;
  listener->flush_completed = on_flush_completed;
  listener->compaction_begin = on_compaction_begin;
  listener->compaction_completed = on_compaction_completed;
  listener->ingested = on_external_file_ingested;
  listener->background_error = on_background_error;
  listener->stall_changed = on_stall_conditions_changed;
  return listener;
} catch (...) {
  return nullptr;
}
void rocksdb_eventlistener_destroy(rocksdb_eventlistener_t* listener) { delete listener; }
void rocksdb_options_add_eventlistener(rocksdb_options_t* options,
                                       rocksdb_eventlistener_t* listener) try {
  options->rep.listeners.emplace_back(listener);
} catch (...) {
  options->short_of_memory = true;
}

void rocksdb_reset_status(rocksdb_status_ptr_t* status) try {
  *status->rep = rocksdb::Status::OK();
} catch (...) {
  return;
}
void rocksdb_status_ptr_get_error(rocksdb_status_ptr_t* status, char** errptr) try {
  hawthorn::rocks::failed(errptr, *status->rep);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}

// ---- Flushes

const char* rocksdb_flushjobinfo_cf_name(const rocksdb_flushjobinfo_t* info, size_t* size) try {
  return shown(info->rep.cf_name, size);
} catch (...) {
  return nullptr;
}
const char* rocksdb_flushjobinfo_file_path(const rocksdb_flushjobinfo_t* info, size_t* size) try {
  return shown(info->rep.file_path, size);
} catch (...) {
  return nullptr;
}
unsigned char rocksdb_flushjobinfo_triggered_writes_slowdown(const rocksdb_flushjobinfo_t* info) {
  return info->rep.triggered_writes_slowdown;
}
unsigned char rocksdb_flushjobinfo_triggered_writes_stop(const rocksdb_flushjobinfo_t* info) {
  return info->rep.triggered_writes_stop;
}
uint64_t rocksdb_flushjobinfo_largest_seqno(const rocksdb_flushjobinfo_t* info) {
  return info->rep.largest_seqno;
}
uint64_t rocksdb_flushjobinfo_smallest_seqno(const rocksdb_flushjobinfo_t* info) {
  return info->rep.smallest_seqno;
}
uint32_t rocksdb_flushjobinfo_flush_reason(const rocksdb_flushjobinfo_t* info) {
  return static_cast<uint32_t>(info->rep.flush_reason);
}

// ---- Compactions

void rocksdb_compactionjobinfo_status(const rocksdb_compactionjobinfo_t* info, char** errptr) try {
  hawthorn::rocks::failed(errptr, info->rep.status);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
const char* rocksdb_compactionjobinfo_cf_name(const rocksdb_compactionjobinfo_t* info,
                                              size_t* size) try {
  return shown(info->rep.cf_name, size);
} catch (...) {
  return nullptr;
}
size_t rocksdb_compactionjobinfo_input_files_count(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.input_files.size();
}
const char* rocksdb_compactionjobinfo_input_file_at(const rocksdb_compactionjobinfo_t* info,
                                                    size_t index, size_t* size) try {
  return shown_at(info->rep.input_files, index, size);
} catch (...) {
  return nullptr;
}
size_t rocksdb_compactionjobinfo_output_files_count(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.output_files.size();
}
const char* rocksdb_compactionjobinfo_output_file_at(const rocksdb_compactionjobinfo_t* info,
                                                     size_t index, size_t* size) try {
  return shown_at(info->rep.output_files, index, size);
} catch (...) {
  return nullptr;
}
uint64_t rocksdb_compactionjobinfo_elapsed_micros(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.stats.elapsed_micros;
}
uint64_t rocksdb_compactionjobinfo_num_corrupt_keys(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.stats.num_corrupt_keys;
}
int rocksdb_compactionjobinfo_base_input_level(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.base_input_level;
}
int rocksdb_compactionjobinfo_output_level(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.output_level;
}
uint64_t rocksdb_compactionjobinfo_input_records(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.stats.num_input_records;
}
uint64_t rocksdb_compactionjobinfo_output_records(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.stats.num_output_records;
}
uint64_t rocksdb_compactionjobinfo_total_input_bytes(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.stats.total_input_bytes;
}
uint64_t rocksdb_compactionjobinfo_total_output_bytes(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.stats.total_output_bytes;
}
uint32_t rocksdb_compactionjobinfo_compaction_reason(const rocksdb_compactionjobinfo_t* info) {
  return static_cast<uint32_t>(info->rep.compaction_reason);
}
size_t rocksdb_compactionjobinfo_num_input_files(const rocksdb_compactionjobinfo_t* info) {
  return info->rep.stats.num_input_files;
}
size_t rocksdb_compactionjobinfo_num_input_files_at_output_level(
    const rocksdb_compactionjobinfo_t* info) {
  return info->rep.stats.num_input_files_at_output_level;
}
void rocksdb_subcompactionjobinfo_status(const rocksdb_subcompactionjobinfo_t* info,
                                         char** errptr) try {
  hawthorn::rocks::failed(errptr, info->rep.status);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
}
const char* rocksdb_subcompactionjobinfo_cf_name(const rocksdb_subcompactionjobinfo_t* info,
                                                 size_t* size) try {
  return shown(info->rep.cf_name, size);
} catch (...) {
  return nullptr;
}
uint64_t rocksdb_subcompactionjobinfo_thread_id(const rocksdb_subcompactionjobinfo_t* info) {
  return info->rep.thread_id;
}
int rocksdb_subcompactionjobinfo_base_input_level(const rocksdb_subcompactionjobinfo_t* info) {
  return info->rep.base_input_level;
}
int rocksdb_subcompactionjobinfo_output_level(const rocksdb_subcompactionjobinfo_t* info) {
  return info->rep.output_level;
}
uint32_t rocksdb_subcompactionjobinfo_compaction_reason(
    const rocksdb_subcompactionjobinfo_t* info) {
  return static_cast<uint32_t>(info->rep.compaction_reason);
}

// ---- Others

const char* rocksdb_externalfileingestioninfo_cf_name(
    const rocksdb_externalfileingestioninfo_t* info, size_t* size) try {
  return shown(info->rep.cf_name, size);
} catch (...) {
  return nullptr;
}
const char* rocksdb_externalfileingestioninfo_internal_file_path(
    const rocksdb_externalfileingestioninfo_t* info, size_t* size) try {
  return shown(info->rep.internal_file_path, size);
} catch (...) {
  return nullptr;
}
const char* rocksdb_writestallinfo_cf_name(const rocksdb_writestallinfo_t* info, size_t* size) try {
  return shown(info->rep.cf_name, size);
} catch (...) {
  return nullptr;
}
// A condition is read as a number, through the pointer.
const rocksdb_writestallcondition_t* rocksdb_writestallinfo_cur(
    const rocksdb_writestallinfo_t* info) {
  return reinterpret_cast<const rocksdb_writestallcondition_t*>(&info->rep.condition.cur);
}
const rocksdb_writestallcondition_t* rocksdb_writestallinfo_prev(
    const rocksdb_writestallinfo_t* info) {
  return reinterpret_cast<const rocksdb_writestallcondition_t*>(&info->rep.condition.prev);
}
const char* rocksdb_memtableinfo_cf_name(const rocksdb_memtableinfo_t* info, size_t* size) try {
  return shown(info->rep.cf_name, size);
} catch (...) {
  return nullptr;
}
uint64_t rocksdb_memtableinfo_first_seqno(const rocksdb_memtableinfo_t* info) {
  return info->rep.first_seqno;
}
uint64_t rocksdb_memtableinfo_earliest_seqno(const rocksdb_memtableinfo_t* info) {
  return info->rep.earliest_seqno;
}
uint64_t rocksdb_memtableinfo_num_entries(const rocksdb_memtableinfo_t* info) {
  return info->rep.num_entries;
}
uint64_t rocksdb_memtableinfo_num_deletes(const rocksdb_memtableinfo_t* info) {
  return info->rep.num_deletes;
}

}  // extern "C"
