// Reads outside of transactions.

#include "c/read.h"

#include <algorithm>
#include <cstdlib>

namespace hawthorn::c {

Status copy_out(std::string_view value, void* buffer, size_t capacity, size_t* size) {
  *size = value.size();
  const size_t fits = std::min(value.size(), capacity);
  if (fits != 0) std::memcpy(buffer, value.data(), fits);
  if (fits == value.size()) return {};
  return Status(kBufferTooSmall, "the value has " + std::to_string(value.size()) +
                                     " bytes, the buffer " + std::to_string(capacity));
}

Status take_keys(const hawthorn_bytes* keys, size_t count, std::vector<std::string_view>* out) {
  if (keys == nullptr && count != 0) return invalid("keys is NULL");
  out->reserve(count);
  for (size_t index = 0; index < count; ++index) {
    const Bytes key(keys[index].data, keys[index].size, "a key");
    if (!key.fine()) return invalid("keys[" + std::to_string(index) + "]: " + key.problem());
    out->push_back(key.view());
  }
  return {};
}

Status take_keys(const void* bytes, const int64_t* offsets, size_t count,
                 std::vector<std::string_view>* out) {
  if (Status s = check_column(bytes, offsets, count, "key"); !s.ok()) return s;
  out->reserve(count);
  for (size_t index = 0; index < count; ++index) out->push_back(cell(bytes, offsets, index));
  return {};
}

void count_bytes(hawthorn_read_batch* batch) {
  batch->value_bytes = 0;
  for (const BatchItem& item : batch->batch.items()) batch->value_bytes += item.value.size();
}

Status fill_columns(const hawthorn_read_batch& batch, size_t first, hawthorn_columns* columns) {
  ColumnWriter writer(columns, false);
  if (Status s = writer.begin(); !s.ok()) return s;
  if (!writer.wants_values()) return invalid("columns.value_offsets is NULL");
  for (size_t index = first; index < batch.batch.size(); ++index) {
    const BatchItem& item = batch.batch[index];
    if (!writer.add({}, item.value, item.found())) return writer.end(nullptr, &item.value);
  }
  return writer.end(nullptr, nullptr);
}

StreamSink sink_of(hawthorn_stream_sink sink, void* context) {
  return [sink, context](std::string_view bytes) {
    return sink(context, bytes.data(), bytes.size()) != 0;
  };
}

Result<size_t> ask_source(hawthorn_stream_source source, void* context, std::span<char> buffer) {
  hawthorn_error* error = nullptr;
  const int64_t wrote = source(context, buffer.data(), buffer.size(), &error);
  if (Status s = take_error(error); !s.ok()) return s;
  if (wrote >= 0 && static_cast<uint64_t>(wrote) <= buffer.size()) {
    return static_cast<size_t>(wrote);
  }
  if (wrote < 0) return Status(kInternal, "the source has failed, and does not say why");
  return invalid("the source says that it wrote " + std::to_string(wrote) +
                 " bytes to a buffer of " + std::to_string(buffer.size()));
}

StreamSource source_of(hawthorn_stream_source source, void* context) {
  return [source, context](std::span<char> buffer) { return ask_source(source, context, buffer); };
}

namespace {
// Reads into the caller's value, which belongs to the database from then on.
template <typename Read>
hawthorn_code get_value(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                        size_t key_size, const hawthorn_snapshot* snapshot, hawthorn_value* value,
                        hawthorn_error** error, Read&& read) {
  return call(error, [&]() -> Status {
    const Bytes bytes(key, key_size, "key");
    const SnapshotOf at(db, snapshot);
    if (Status s = need(TreeOf(db, tree), bytes, at, Given(value, "value")); !s.ok()) return s;
    if (value->db != db->db) {
      value->value.reset();  // it may hold memory of the other one
      value->db = db->db;
    }
    Status s = read(*db->db, tree->tree, bytes.view(), value->value, at.options());
    if (!s.ok()) value->value.reset();
    return s;
  });
}

// Reads a value and does something with its bytes.
template <typename Use>
hawthorn_code get_and(hawthorn_db* db, const hawthorn_tree* tree, const void* key, size_t key_size,
                      const hawthorn_snapshot* snapshot, hawthorn_error** error, Use&& use) {
  return call(error, [&]() -> Status {
    const Bytes bytes(key, key_size, "key");
    const SnapshotOf at(db, snapshot);
    if (Status s = need(TreeOf(db, tree), bytes, at); !s.ok()) return s;
    return use(*db->db, tree->tree, bytes.view(), at.options());
  });
}
}  // namespace

}  // namespace hawthorn::c

using hawthorn::Db;
using hawthorn::ReadOptions;
using hawthorn::Status;
using hawthorn::Tree;
using hawthorn::Value;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::Given;
using hawthorn::c::GivenCall;
using hawthorn::c::need;
using hawthorn::c::Room;
using hawthorn::c::SnapshotOf;
using hawthorn::c::TreeOf;

hawthorn_code hawthorn_db_get(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                              size_t key_size, const hawthorn_snapshot* snapshot,
                              hawthorn_value* value, hawthorn_error** error) {
  return hawthorn::c::get_value(db, tree, key, key_size, snapshot, value, error,
                                [](Db& on, const Tree& in, std::string_view k, Value& v,
                                   const ReadOptions& how) { return on.get(in, k, v, how); });
}

hawthorn_code hawthorn_db_get_in_memory(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                        size_t key_size, const hawthorn_snapshot* snapshot,
                                        hawthorn_value* value, hawthorn_error** error) {
  return hawthorn::c::get_value(
      db, tree, key, key_size, snapshot, value, error,
      [](Db& on, const Tree& in, std::string_view k, Value& v, const ReadOptions& how) {
        return on.get_in_memory(in, k, v, how);
      });
}

hawthorn_code hawthorn_db_get_into(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                   size_t key_size, const hawthorn_snapshot* snapshot, void* buffer,
                                   size_t capacity, size_t* size, hawthorn_error** error) {
  return hawthorn::c::get_and(
      db, tree, key, key_size, snapshot, error,
      [&](Db& on, const Tree& in, std::string_view k, const ReadOptions& how) -> Status {
        if (Status s = need(Room(buffer, capacity), Given(size, "size")); !s.ok()) return s;
        Value value;
        if (Status s = on.get(in, k, value, how); !s.ok()) return s;
        return hawthorn::c::copy_out(value.view(), buffer, capacity, size);
      });
}

hawthorn_code hawthorn_db_get_copy(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                   size_t key_size, const hawthorn_snapshot* snapshot, void** out,
                                   size_t* size, hawthorn_error** error) {
  return hawthorn::c::get_and(
      db, tree, key, key_size, snapshot, error,
      [&](Db& on, const Tree& in, std::string_view k, const ReadOptions& how) -> Status {
        if (Status s = need(Given(out, "out"), Given(size, "size")); !s.ok()) return s;
        Value value;
        if (Status s = on.get(in, k, value, how); !s.ok()) return s;
        auto* const copy = static_cast<char*>(std::malloc(value.size() + 1));
        if (copy == nullptr) throw std::bad_alloc();
        if (!value.empty()) std::memcpy(copy, value.view().data(), value.size());
        copy[value.size()] = '\0';
        *out = copy;
        *size = value.size();
        return {};
      });
}

hawthorn_code hawthorn_db_changed_since(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                        size_t key_size, const hawthorn_snapshot* since, int* out,
                                        hawthorn_error** error) {
  return hawthorn::c::get_and(
      db, tree, key, key_size, since, error,
      [&](Db& on, const Tree& in, std::string_view k, const ReadOptions& how) -> Status {
        if (Status s = need(Given(since, "since"), Given(out, "out")); !s.ok()) return s;
        return hawthorn::c::hand_out_value(on.changed_since(in, k, *how.snapshot), out);
      });
}

hawthorn_code hawthorn_db_expires_at(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                     size_t key_size, const hawthorn_snapshot* snapshot,
                                     uint64_t* out, hawthorn_error** error) {
  return hawthorn::c::get_and(
      db, tree, key, key_size, snapshot, error,
      [&](Db& on, const Tree& in, std::string_view k, const ReadOptions& how) -> Status {
        if (Status s = need(Given(out, "out")); !s.ok()) return s;
        return hawthorn::c::hand_out_value(on.expires_at(in, k, how), out);
      });
}

hawthorn_code hawthorn_db_count(hawthorn_db* db, const hawthorn_tree* tree, const void* low,
                                size_t low_size, const void* high, size_t high_size,
                                const hawthorn_snapshot* snapshot, uint64_t* out,
                                hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes from(low, low_size, "low");
    const Bytes to(high, high_size, "high");
    const SnapshotOf at(db, snapshot);
    if (Status s = need(TreeOf(db, tree), from, to, at, Given(out, "out")); !s.ok()) return s;
    return hawthorn::c::hand_out_value(db->db->count(tree->tree, from, to.optional(), at.options()),
                                       out);
  });
}

hawthorn_code hawthorn_db_estimate(hawthorn_db* db, const hawthorn_tree* tree, const void* low,
                                   size_t low_size, const void* high, size_t high_size,
                                   uint64_t* entries, uint64_t* bytes, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes from(low, low_size, "low");
    const Bytes to(high, high_size, "high");
    if (Status s = need(TreeOf(db, tree), from, to, Given(entries, "entries")); !s.ok()) return s;
    const auto estimate = db->db->estimate(tree->tree, from, to.optional());
    if (!estimate.ok()) return estimate.status();
    *entries = estimate->entries;
    if (bytes != nullptr) *bytes = estimate->bytes;
    return {};
  });
}

// ---- Many keys

hawthorn_read_batch* hawthorn_read_batch_create(void) {
  return hawthorn::c::make_or_null<hawthorn_read_batch>();
}
size_t hawthorn_read_batch_count(const hawthorn_read_batch* batch) {
  return batch != nullptr ? batch->batch.size() : 0;
}

const void* hawthorn_read_batch_value(const hawthorn_read_batch* batch, size_t index,
                                      size_t* size) {
  if (size != nullptr) *size = 0;
  if (index >= hawthorn_read_batch_count(batch)) return nullptr;
  const hawthorn::BatchItem& item = batch->batch[index];
  if (!item.found()) return nullptr;
  if (size != nullptr) *size = item.value.size();
  return item.value.data() != nullptr ? item.value.data() : "";
}

uint64_t hawthorn_read_batch_value_bytes(const hawthorn_read_batch* batch) {
  return batch != nullptr ? batch->value_bytes : 0;
}

hawthorn_code hawthorn_read_batch_columns(const hawthorn_read_batch* batch, size_t first,
                                          hawthorn_columns* columns, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(batch, "batch")); !s.ok()) return s;
    if (first >= batch->batch.size()) return Status::not_found();
    return hawthorn::c::fill_columns(*batch, first, columns);
  });
}

void hawthorn_read_batch_release(hawthorn_read_batch* batch) {
  if (batch == nullptr) return;
  batch->batch.reset();
  batch->value_bytes = 0;
  batch->db.reset();
}
void hawthorn_read_batch_free(hawthorn_read_batch* batch) { delete batch; }

namespace hawthorn::c {
namespace {
Status read_many(hawthorn_db* db, const hawthorn_tree* tree, std::span<const std::string_view> keys,
                 const SnapshotOf& at, hawthorn_read_batch* batch) {
  batch->batch.reset();
  batch->value_bytes = 0;
  belong_to(batch, db->db);
  Status s = db->db->multi_get(tree->tree, keys, batch->batch, at.options());
  if (s.ok()) {
    count_bytes(batch);
  } else {
    batch->batch.reset();
  }
  return s;
}
}  // namespace
}  // namespace hawthorn::c

hawthorn_code hawthorn_db_multi_get(hawthorn_db* db, const hawthorn_tree* tree,
                                    const hawthorn_bytes* keys, size_t key_count,
                                    const hawthorn_snapshot* snapshot, hawthorn_read_batch* batch,
                                    hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const SnapshotOf at(db, snapshot);
    std::vector<std::string_view> views;
    Status s = need(TreeOf(db, tree), at, Given(batch, "batch"));
    if (s.ok()) s = hawthorn::c::take_keys(keys, key_count, &views);
    return s.ok() ? hawthorn::c::read_many(db, tree, views, at, batch) : s;
  });
}

hawthorn_code hawthorn_db_multi_get_columns(hawthorn_db* db, const hawthorn_tree* tree,
                                            const void* key_bytes, const int64_t* key_offsets,
                                            size_t key_count, const hawthorn_snapshot* snapshot,
                                            hawthorn_read_batch* batch, hawthorn_columns* columns,
                                            hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const SnapshotOf at(db, snapshot);
    std::vector<std::string_view> views;
    Status s = need(TreeOf(db, tree), at, Given(batch, "batch"));
    if (s.ok()) s = hawthorn::c::take_keys(key_bytes, key_offsets, key_count, &views);
    if (s.ok()) s = hawthorn::c::read_many(db, tree, views, at, batch);
    return s.ok() ? hawthorn::c::fill_columns(*batch, 0, columns) : s;
  });
}

hawthorn_code hawthorn_db_scan(hawthorn_db* db, const hawthorn_tree* tree, const void* low,
                               size_t low_size, const void* high, size_t high_size,
                               const hawthorn_snapshot* snapshot, int keys_only,
                               hawthorn_scan_callback callback, void* context,
                               hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes from(low, low_size, "low");
    const Bytes to(high, high_size, "high");
    const SnapshotOf at(db, snapshot);
    if (Status s = need(TreeOf(db, tree), from, to, at, GivenCall(callback, "callback")); !s.ok()) {
      return s;
    }
    std::vector<hawthorn_entry> entries;
    const auto show = [&](std::span<const hawthorn::Entry> run) {
      entries.clear();
      for (const hawthorn::Entry& e : run) {
        entries.push_back({e.key.data(), e.key.size(), e.value.data(), e.value.size()});
      }
      return callback(context, entries.data(), entries.size()) != 0;
    };
    return db->db->scan(tree->tree, from, to.optional(), show,
                        {.snapshot = at.get(), .key_only = keys_only != 0});
  });
}

// ---- Values by parts

hawthorn_code hawthorn_db_read_part(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                    size_t key_size, uint64_t offset, void* buffer, size_t capacity,
                                    const hawthorn_snapshot* snapshot, size_t* size,
                                    hawthorn_error** error) {
  return hawthorn::c::get_and(
      db, tree, key, key_size, snapshot, error,
      [&](Db& on, const Tree& in, std::string_view k, const ReadOptions& how) -> Status {
        const Room room(buffer, capacity);
        if (Status s = need(room, Given(size, "size")); !s.ok()) return s;
        return hawthorn::c::hand_out_value(on.read_part(in, k, offset, room.span(), how), size);
      });
}

hawthorn_code hawthorn_db_size_of(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                  size_t key_size, const hawthorn_snapshot* snapshot, uint64_t* out,
                                  hawthorn_error** error) {
  return hawthorn::c::get_and(
      db, tree, key, key_size, snapshot, error,
      [&](Db& on, const Tree& in, std::string_view k, const ReadOptions& how) -> Status {
        if (Status s = need(Given(out, "out")); !s.ok()) return s;
        return hawthorn::c::hand_out_value(on.size_of(in, k, how), out);
      });
}

hawthorn_code hawthorn_db_read_stream(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                      size_t key_size, uint64_t offset,
                                      const hawthorn_snapshot* snapshot, hawthorn_stream_sink sink,
                                      void* context, hawthorn_error** error) {
  return hawthorn::c::get_and(
      db, tree, key, key_size, snapshot, error,
      [&](Db& on, const Tree& in, std::string_view k, const ReadOptions& how) -> Status {
        if (Status s = need(GivenCall(sink, "sink")); !s.ok()) return s;
        return on.read_stream(in, k, hawthorn::c::sink_of(sink, context), offset, how);
      });
}
