// Reads: of one key, of many, iterators and snapshots.

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "shims/of_thread.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/iterator_impl.h"
#include "shims/rocksdb/src/measure.h"
#include "shims/rocksdb/src/watched_iterator.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

// Values of fewer bytes are copied once more in place of being kept by an object of their own.
constexpr size_t kCopiedBytesMax = 1024;

// What of the options is refused, or over already. Nothing of it is set in nearly all reads.
bool is_special(const rocksdb::ReadOptions& options) {
  return options.timestamp != nullptr || options.iter_start_ts != nullptr ||
         options.deadline.count() != 0 || options.managed ||
         (options.read_tier != rocksdb::kReadAllTier &&
          options.read_tier != rocksdb::kPersistedTier) ||
         options.merge_operand_count_threshold.has_value() || options.table_filter != nullptr;
}

S check_special(const rocksdb::ReadOptions& options) {
  if (options.timestamp != nullptr || options.iter_start_ts != nullptr) {
    return S::NotSupported("user timestamps");
  }
  if (options.managed) return S::NotSupported("ReadOptions::managed");
  if (options.merge_operand_count_threshold.has_value()) {
    return S::NotSupported("ReadOptions::merge_operand_count_threshold");
  }
  if (options.table_filter != nullptr) return S::NotSupported("ReadOptions::table_filter");
  if (options.read_tier == rocksdb::kMemtableTier) return S::NotSupported("kMemtableTier");
  if (options.deadline.count() != 0) {
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    if (now >= options.deadline) return S::TimedOut("the deadline has passed");
  }
  return S::OK();
}

S check(const rocksdb::ReadOptions& options) {
  return is_special(options) ? check_special(options) : S::OK();
}

bool from_memory(const rocksdb::ReadOptions& options) {
  return options.read_tier == rocksdb::kBlockCacheTier;
}

// Of iterators.
S check_walk(const rocksdb::ReadOptions& options) {
  if (from_memory(options)) return S::NotSupported("iterators over what is in memory alone");
  return check(options);
}

const hawthorn::Snapshot* view_of(const rocksdb::ReadOptions& options) {
  if (options.snapshot == nullptr) return nullptr;
  return &static_cast<const SnapshotImpl*>(options.snapshot)->view();
}

// Reads keep their memory between calls.
hawthorn::Value& value_of_thread() { return OfThread<hawthorn::Value>::get(); }

struct Batch {
  hawthorn::ReadBatch answers;
  std::vector<std::string_view> keys;
};
Batch& batch_of_thread() { return OfThread<Batch>::get(); }

void delete_value(void* value, void*) { delete static_cast<hawthorn::Value*>(value); }

// `part` of what was read.
void hand_over(hawthorn::Value& read, std::string_view part, rocksdb::PinnableSlice* to) {
  to->Reset();
  if (part.size() <= kCopiedBytesMax) {
    to->PinSelf(slice(part));
    read.reset();
    return;
  }
  const auto at = static_cast<size_t>(part.data() - read.view().data());
  auto* const kept = new hawthorn::Value(std::move(read));
  to->PinSlice(slice(kept->view().substr(at, part.size())), delete_value, kept, nullptr);
}

// A copy of what one of many keys has.
S show(const EntityMark& mark, std::string_view stored, rocksdb::PinnableSlice* to) {
  to->Reset();
  std::string_view value;
  S s = plain_of(mark, stored, &value);
  if (s.ok()) to->PinSelf(slice(value));
  return s;
}

S show(const EntityMark& mark, std::string_view stored, rocksdb::PinnableWideColumns* to) {
  const Content content = mark.content(stored);
  if (content.entity) return to->SetWideColumnValue(slice(content.bytes));
  to->SetPlainValue(slice(content.bytes));
  return S::OK();
}

void count_read(const Measured& call, size_t bytes) {
  call.count(rocksdb::BYTES_READ, bytes);
  call.size(rocksdb::BYTES_PER_READ, bytes);
}

S no_place(const char* what) {
  return S::InvalidArgument("an entity cannot be read without", what);
}

}  // namespace

hawthorn::Status DBImpl::read(const Family& family, std::string_view key,
                              const hawthorn::Snapshot* snapshot, bool from_memory,
                              hawthorn::Value& value) {
  if (from_memory) [[unlikely]] {
    return db_->get_in_memory(family.tree, key, value, {.snapshot = snapshot});
  }
  return db_->get(family.tree, key, value, {.snapshot = snapshot});
}

rocksdb::Status DBImpl::Get(const rocksdb::ReadOptions& options, Handle* handle,
                            const rocksdb::Slice& key, rocksdb::PinnableSlice* value,
                            std::string* timestamp) {
  if (timestamp != nullptr) return S::NotSupported("user timestamps");
  if (S s = check(options); !s.ok()) return s;
  return get(options, handle, key, from_memory(options), value);
}

rocksdb::Status DBImpl::get(const rocksdb::ReadOptions& options, Handle* handle,
                            const rocksdb::Slice& key, bool from_memory,
                            rocksdb::PinnableSlice* value) {
  const Measured call(statistics(), rocksdb::DB_GET, nullptr,
                      &rocksdb::PerfContextBase::get_cpu_nanos);
  if (call) call.count(rocksdb::NUMBER_KEYS_READ, 1);
  hawthorn::Value& found = value_of_thread();
  const hawthorn::Status status =
      read(*family_of(handle), view(key), view_of(options), from_memory, found);
  if (!status.ok()) return told(status);
  std::string_view part;
  if (S s = plain_of(*family_of(handle)->mark, found.view(), &part); !s.ok()) return s;
  hand_over(found, part, value);
  perf_count(&rocksdb::PerfContextBase::get_read_bytes, value->size());
  if (call) count_read(call, value->size());
  return S::OK();
}

rocksdb::Status DBImpl::GetEntity(const rocksdb::ReadOptions& options, Handle* handle,
                                  const rocksdb::Slice& key,
                                  rocksdb::PinnableWideColumns* columns) {
  if (handle == nullptr) return no_place("a column family handle");
  if (columns == nullptr) return no_place("a PinnableWideColumns object");
  columns->Reset();
  if (S s = check(options); !s.ok()) return s;
  const Measured call(options_.statistics.get(), rocksdb::DB_GET);
  if (call) call.count(rocksdb::NUMBER_KEYS_READ, 1);
  hawthorn::Value& found = value_of_thread();
  const hawthorn::Status status =
      read(*family_of(handle), view(key), view_of(options), from_memory(options), found);
  if (!status.ok()) return told(status);
  const Content content = family_of(handle)->mark->content(found.view());
  rocksdb::PinnableSlice kept;
  hand_over(found, content.bytes, &kept);
  if (call) count_read(call, kept.size());
  if (content.entity) return columns->SetWideColumnValue(std::move(kept));
  columns->SetPlainValue(std::move(kept));
  return S::OK();
}

rocksdb::Status DBImpl::GetEntity(const rocksdb::ReadOptions& options, const rocksdb::Slice& key,
                                  rocksdb::PinnableAttributeGroups* result) {
  return get_entity_groups(*this, options, key, result);
}

rocksdb::Status get_entity_groups(rocksdb::DB& db, const rocksdb::ReadOptions& options,
                                  const rocksdb::Slice& key,
                                  rocksdb::PinnableAttributeGroups* result) {
  if (result == nullptr) return no_place("a PinnableAttributeGroups object");
  const bool whole = std::all_of(result->begin(), result->end(), [](const auto& group) {
    return group.column_family() != nullptr;
  });
  if (whole) {
    multi_get_entity_groups(db, options, 1, &key, result);
    return S::OK();
  }
  for (rocksdb::PinnableAttributeGroup& group : *result) {
    group.SetStatus(group.column_family() == nullptr
                        ? no_place("a column family handle")
                        : S::Incomplete("another group has no column family handle"));
  }
  return no_place("a column family handle of each group");
}

bool DBImpl::KeyMayExist(const rocksdb::ReadOptions& options, Handle* handle,
                         const rocksdb::Slice& key, std::string* value, bool* value_found) {
  if (value_found != nullptr) *value_found = false;
  rocksdb::PinnableSlice found;
  S s = check(options);
  if (s.ok()) s = get(options, handle, key, true, &found);
  // A family that cannot be asked so.
  if (s.IsNotSupported()) s = Get(options, handle, key, &found, nullptr);
  if (!s.ok()) return !s.IsNotFound();
  if (value_found != nullptr) *value_found = true;
  if (value != nullptr) value->assign(found.data(), found.size());
  return true;
}

template <typename Value>
hawthorn::Status DBImpl::multi_get(const Family& family, const hawthorn::Snapshot* snapshot,
                                   const rocksdb::ReadOptions& options, size_t count,
                                   const size_t* places, const rocksdb::Slice* keys, Value* values,
                                   rocksdb::Status* statuses, uint64_t* bytes) {
  const Measured call(options_.statistics.get(), rocksdb::DB_MULTIGET);
  const uint64_t bytes_before = *bytes;
  uint64_t found = 0;
  const auto place = [places](size_t i) { return places == nullptr ? i : places[i]; };
  const auto answer = [&](size_t at, const hawthorn::Status& status, std::string_view stored) {
    if (!status.ok()) {
      statuses[at] = told(status);
    } else if (*bytes > options.value_size_soft_limit) {
      statuses[at] = S::Aborted();
    } else {
      *bytes += stored.size();
      ++found;
      statuses[at] = show(*family.mark, stored, &values[at]);
    }
  };
  hawthorn::Status status;
  if (from_memory(options)) {
    const hawthorn::Snapshot now = snapshot == nullptr ? db_->snapshot() : hawthorn::Snapshot();
    hawthorn::Value& value = value_of_thread();
    for (size_t i = 0; i < count; ++i) {
      const size_t at = place(i);
      const hawthorn::Status one =
          read(family, view(keys[at]), snapshot == nullptr ? &now : snapshot, true, value);
      answer(at, one, value.view());
    }
    value.reset();
  } else {
    Batch& batch = batch_of_thread();
    batch.keys.clear();
    for (size_t i = 0; i < count; ++i) batch.keys.push_back(view(keys[place(i)]));
    status = db_->multi_get(family.tree, batch.keys, batch.answers, {.snapshot = snapshot});
    for (size_t i = 0; i < count; ++i) {
      if (!status.ok()) {
        statuses[place(i)] = told(status);
        continue;
      }
      const hawthorn::BatchItem& item = batch.answers[i];
      answer(place(i), hawthorn::Status(item.code), item.value);
    }
    batch.answers.reset();
  }
  perf_count(&rocksdb::PerfContextBase::multiget_read_bytes, *bytes - bytes_before);
  if (call) {
    call.count(rocksdb::NUMBER_MULTIGET_CALLS, 1);
    call.count(rocksdb::NUMBER_MULTIGET_KEYS_READ, count);
    call.count(rocksdb::NUMBER_MULTIGET_KEYS_FOUND, found);
    call.count(rocksdb::NUMBER_MULTIGET_BYTES_READ, *bytes - bytes_before);
    call.size(rocksdb::BYTES_PER_MULTIGET, *bytes - bytes_before);
  }
  return status;
}

void DBImpl::MultiGet(const rocksdb::ReadOptions& options, Handle* handle, size_t num_keys,
                      const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                      rocksdb::Status* statuses, bool /*sorted_input*/) {
  const S s = check(options);
  if (!s.ok()) {
    std::fill_n(statuses, num_keys, s);
    return;
  }
  uint64_t bytes = 0;
  static_cast<void>(multi_get(*family_of(handle), view_of(options), options, num_keys, nullptr,
                              keys, values, statuses, &bytes));
}

void DBImpl::MultiGet(const rocksdb::ReadOptions& options, size_t num_keys, Handle** handles,
                      const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                      std::string* timestamps, rocksdb::Status* statuses, bool /*sorted_input*/) {
  const S s = timestamps != nullptr ? S::NotSupported("user timestamps") : check(options);
  if (!s.ok()) {
    std::fill_n(statuses, num_keys, s);
    return;
  }
  multi_get_of_families(options, num_keys, handles, keys, values, statuses);
}

void DBImpl::MultiGetEntity(const rocksdb::ReadOptions& options, Handle* handle, size_t num_keys,
                            const rocksdb::Slice* keys, rocksdb::PinnableWideColumns* results,
                            rocksdb::Status* statuses, bool /*sorted_input*/) {
  S s = check(options);
  if (handle == nullptr) s = no_place("a column family handle");
  if (keys == nullptr || results == nullptr) s = no_place("keys and PinnableWideColumns objects");
  if (!s.ok()) {
    std::fill_n(statuses, num_keys, s);
    return;
  }
  uint64_t bytes = 0;
  static_cast<void>(multi_get(*family_of(handle), view_of(options), options, num_keys, nullptr,
                              keys, results, statuses, &bytes));
}

void DBImpl::MultiGetEntity(const rocksdb::ReadOptions& options, size_t num_keys, Handle** handles,
                            const rocksdb::Slice* keys, rocksdb::PinnableWideColumns* results,
                            rocksdb::Status* statuses, bool /*sorted_input*/) {
  S s = check(options);
  if (handles == nullptr) s = no_place("column family handles");
  if (keys == nullptr || results == nullptr) s = no_place("keys and PinnableWideColumns objects");
  if (!s.ok()) {
    std::fill_n(statuses, num_keys, s);
    return;
  }
  multi_get_of_families(options, num_keys, handles, keys, results, statuses);
}

void DBImpl::MultiGetEntity(const rocksdb::ReadOptions& options, size_t num_keys,
                            const rocksdb::Slice* keys, rocksdb::PinnableAttributeGroups* results) {
  multi_get_entity_groups(*this, options, num_keys, keys, results);
}

void multi_get_entity_groups(rocksdb::DB& db, const rocksdb::ReadOptions& options, size_t num_keys,
                             const rocksdb::Slice* keys,
                             rocksdb::PinnableAttributeGroups* results) {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  std::vector<rocksdb::Slice> all_keys;
  for (size_t i = 0; i < num_keys; ++i) {
    for (const rocksdb::PinnableAttributeGroup& group : results[i]) {
      handles.push_back(group.column_family());
      all_keys.push_back(keys[i]);
    }
  }
  std::vector<rocksdb::PinnableWideColumns> columns(handles.size());
  std::vector<S> statuses(handles.size());
  db.MultiGetEntity(options, handles.size(), handles.data(), all_keys.data(), columns.data(),
                    statuses.data(), false);
  size_t at = 0;
  for (size_t i = 0; i < num_keys; ++i) {
    for (rocksdb::PinnableAttributeGroup& group : results[i]) {
      group.Reset();
      group.SetStatus(statuses[at]);
      group.SetColumns(std::move(columns[at++]));
    }
  }
}

template <typename Value>
void DBImpl::multi_get_of_families(const rocksdb::ReadOptions& options, size_t num_keys,
                                   Handle** handles, const rocksdb::Slice* keys, Value* values,
                                   rocksdb::Status* statuses) {
  // Families one after another, all of one moment.
  std::vector<size_t> order(num_keys);
  for (size_t i = 0; i < num_keys; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [handles](size_t a, size_t b) {
    return std::pair(handles[a]->GetID(), a) < std::pair(handles[b]->GetID(), b);
  });
  const hawthorn::Snapshot* snapshot = view_of(options);
  hawthorn::Snapshot taken;
  if (snapshot == nullptr && num_keys > 0 &&
      handles[order.front()]->GetID() != handles[order.back()]->GetID()) {
    taken = db_->snapshot();
    snapshot = &taken;
  }
  uint64_t bytes = 0;
  for (size_t begin = 0; begin < num_keys;) {
    Handle* const handle = handles[order[begin]];
    size_t end = begin + 1;
    while (end < num_keys && handles[order[end]]->GetID() == handle->GetID()) ++end;
    static_cast<void>(multi_get(*family_of(handle), snapshot, options, end - begin,
                                order.data() + begin, keys, values, statuses, &bytes));
    begin = end;
  }
}

rocksdb::Iterator* DBImpl::NewIterator(const rocksdb::ReadOptions& options, Handle* handle) {
  if (S s = check_walk(options); !s.ok()) return rocksdb::NewErrorIterator(s);
  return new_iterator(family_of(handle), options, options.snapshot);
}

rocksdb::Iterator* DBImpl::new_iterator(const std::shared_ptr<Family>& family,
                                        const rocksdb::ReadOptions& options,
                                        const rocksdb::Snapshot* snapshot) {
  auto made = std::make_unique<IteratorImpl>(db_.get(), family, options, HeldSnapshot(snapshot));
  if (statistics() == nullptr && perf_of_thread.counts == nullptr) return made.release();
  return new WatchedIterator(std::move(made), statistics());
}

rocksdb::Status DBImpl::NewIterators(const rocksdb::ReadOptions& options, const Handles& handles,
                                     std::vector<rocksdb::Iterator*>* iterators) {
  iterators->clear();
  if (S s = check_walk(options); !s.ok()) return s;
  const SnapshotImpl* taken = nullptr;
  if (options.snapshot == nullptr) taken = new SnapshotImpl(db_->snapshot(), 0);
  const rocksdb::Snapshot* const shown = taken == nullptr ? options.snapshot : taken;
  for (Handle* handle : handles) {
    iterators->push_back(new_iterator(family_of(handle), options, shown));
  }
  if (taken != nullptr) taken->let_go();
  return S::OK();
}

const rocksdb::Snapshot* DBImpl::GetSnapshot() {
  hawthorn::Snapshot taken = db_->snapshot();
  if (!taken.valid()) return nullptr;
  const auto* const snapshot = new SnapshotImpl(std::move(taken), std::time(nullptr));
  snapshots_.add(snapshot);
  return snapshot;
}

void DBImpl::ReleaseSnapshot(const rocksdb::Snapshot* snapshot) {
  if (snapshot == nullptr || inherited()) return;
  const auto* const released = static_cast<const SnapshotImpl*>(snapshot);
  snapshots_.remove(released);
  released->let_go();
}

rocksdb::SequenceNumber DBImpl::GetLatestSequenceNumber() const {
  return db_->snapshot().timestamp();
}

}  // namespace hawthorn::rocks
