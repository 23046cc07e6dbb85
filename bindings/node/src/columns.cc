// Many entries in one call: answers to many keys, batches of walks, bulk puts.

#include "addon.h"

namespace hawthorn_node {

hawthorn_columns ColumnMemory::view() {
  hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
  columns.rows_capacity = key_offsets.size() - 1;
  columns.key_bytes = keys.data();
  columns.key_bytes_capacity = keys.size();
  columns.key_offsets = key_offsets.data();
  columns.value_bytes = values.data();
  columns.value_bytes_capacity = values.size();
  columns.value_offsets = value_offsets.data();
  columns.found = found.empty() ? nullptr : found.data();
  return columns;
}

napi_value float64_array(napi_env env, const int64_t* data, size_t count) {
  void* to = nullptr;
  napi_value value = new_typedarray(env, napi_float64_array, count, sizeof(double), &to);
  if (value == nullptr) return value;
  for (size_t i = 0; i < count; ++i) static_cast<double*>(to)[i] = static_cast<double>(data[i]);
  return value;
}

// Row counts below zero do not exist: what a row would take tells that none has fit.
napi_value too_small(napi_env env, const hawthorn_columns& columns) {
  napi_value object = new_object(env);
  set(env, object, "keyBytesNeeded", number(env, columns.key_bytes_needed));
  set(env, object, "valueBytesNeeded", number(env, columns.value_bytes_needed));
  return object;
}

namespace {

napi_value outside(napi_env env, const HandleRef& handle, void* data, size_t size,
                   napi_typedarray_type type, size_t element) {
  napi_value memory = nullptr;
  napi_value array = nullptr;
  auto kept = std::make_unique<HandleRef>(handle);
  const bool made = did(napi_create_external_arraybuffer(
      env, data, size, [](napi_env, void*, void* hint) { delete static_cast<HandleRef*>(hint); },
      kept.get(), &memory));
  if (!made) return nullptr;
  static_cast<void>(kept.release());
  did(napi_create_typedarray(env, type, size / element, memory, 0, &array));
  return array;
}

// (rows, bytes of keys, bytes of values)
napi_value columns_create(napi_env env, napi_callback_info info) {
  Args args(env, info, false);
  const uint32_t rows = args.u32();
  const uint32_t key_bytes = args.u32();
  const uint32_t value_bytes = args.u32();
  if (rows == 0 || key_bytes == 0 || value_bytes == 0) args.fail("columns without room");
  if (!args.ok()) return args.refuse();
  auto* memory = new ColumnMemory;
  memory->keys.resize(key_bytes);
  memory->values.resize(value_bytes);
  memory->key_offsets.resize(rows + 1);
  memory->value_offsets.resize(rows + 1);
  memory->found.resize(rows);
  HandleRef handle = new_handle(args.env(), Kind::kColumns, memory,
                                [](void* ptr) { delete static_cast<ColumnMemory*>(ptr); });
  napi_value object = new_object(env);
  const size_t offsets = (rows + 1) * sizeof(int64_t);
  set(env, object, "keyBytes",
      outside(env, handle, memory->keys.data(), key_bytes, napi_uint8_array, 1));
  set(env, object, "keyOffsets",
      outside(env, handle, memory->key_offsets.data(), offsets, napi_bigint64_array, 8));
  set(env, object, "valueBytes",
      outside(env, handle, memory->values.data(), value_bytes, napi_uint8_array, 1));
  set(env, object, "valueOffsets",
      outside(env, handle, memory->value_offsets.data(), offsets, napi_bigint64_array, 8));
  set(env, object, "found", outside(env, handle, memory->found.data(), rows, napi_uint8_array, 1));
  set(env, object, "handle", wrap(args.env(), handle));
  return object;
}

// (sync, target, tree, keys, snapshot): values in one buffer, their offsets, and which were found.
napi_value multi_get(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  std::string bytes = args.bytes();
  std::vector<int64_t> offsets = args.offsets(bytes.size());
  hawthorn_snapshot* const snapshot = args.snapshot();
  auto batch = std::make_shared<ReadBatch>(hawthorn_read_batch_create());
  const size_t count = offsets.size() - 1;
  return args.submit(
      Lane::kRead,
      [=, bytes = std::move(bytes), offsets = std::move(offsets)](hawthorn_error** error) {
        std::vector<hawthorn_bytes> keys(count);
        for (size_t i = 0; i < count; ++i) {
          keys[i].data = bytes.data() + offsets[i];
          keys[i].size = static_cast<size_t>(offsets[i + 1] - offsets[i]);
        }
        return at.txn ? hawthorn_txn_multi_get(at.txn, tree, keys.data(), count, batch->ptr, error)
                      : hawthorn_db_multi_get(at.db, tree, keys.data(), count, snapshot, batch->ptr,
                                              error);
      },
      [=](napi_env e) {
        void* to = nullptr;
        napi_value list = new_array(e, 3);
        napi_value values = new_buffer(e, hawthorn_read_batch_value_bytes(batch->ptr), &to);
        if (values == nullptr) return values;
        std::vector<int64_t> ends(count + 1);
        std::string found(count, '\0');
        size_t end = 0;
        for (size_t i = 0; i < count; ++i) {
          size_t size = 0;
          const void* data = hawthorn_read_batch_value(batch->ptr, i, &size);
          found[i] = data != nullptr;
          if (data != nullptr && size > 0) std::memcpy(static_cast<char*>(to) + end, data, size);
          if (data != nullptr) end += size;
          ends[i + 1] = static_cast<int64_t>(end);
        }
        hawthorn_read_batch_release(batch->ptr);
        set_at(e, list, 0, values);
        set_at(e, list, 1, float64_array(e, ends.data(), ends.size()));
        set_at(e, list, 2, buffer(e, found.data(), found.size()));
        return list;
      });
}

// (sync, target, tree, bytes, offsets, snapshot, columns): the number of rows, or what it takes.
napi_value multi_get_columns(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  std::string bytes = args.bytes();
  std::vector<int64_t> offsets = args.offsets(bytes.size());
  hawthorn_snapshot* const snapshot = args.snapshot();
  const HandleRef into = args.handle(Kind::kColumns);
  const size_t count = offsets.size() - 1;
  auto columns = std::make_shared<hawthorn_columns>();
  auto small = std::make_shared<bool>(false);
  return args.submit(
      Lane::kRead,
      [=, bytes = std::move(bytes), offsets = std::move(offsets)](hawthorn_error** error) {
        *columns = into->as<ColumnMemory>()->view();
        columns->key_offsets = nullptr;
        ReadBatch batch(hawthorn_read_batch_create());
        hawthorn_code code =
            at.txn ? hawthorn_txn_multi_get_columns(at.txn, tree, bytes.data(), offsets.data(),
                                                    count, batch.ptr, columns.get(), error)
                   : hawthorn_db_multi_get_columns(at.db, tree, bytes.data(), offsets.data(), count,
                                                   snapshot, batch.ptr, columns.get(), error);
        if (code == HAWTHORN_BUFFER_TOO_SMALL) {
          hawthorn_error_free(*error);
          *error = nullptr;
          *small = true;
          code = HAWTHORN_OK;
        }
        return code;
      },
      [=](napi_env e) { return *small ? too_small(e, *columns) : number(e, columns->rows); });
}

struct Given {
  std::string key_bytes, value_bytes;
  std::vector<int64_t> key_offsets, value_offsets;
  hawthorn_columns view() {
    hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
    columns.rows_capacity = columns.rows = key_offsets.size() - 1;
    columns.key_bytes = key_bytes.data();
    columns.key_bytes_capacity = key_bytes.size();
    columns.key_offsets = key_offsets.data();
    columns.value_bytes = value_bytes.data();
    columns.value_bytes_capacity = value_bytes.size();
    columns.value_offsets = value_offsets.data();
    return columns;
  }
};

Given read_given(Args& args) {
  Given given;
  given.key_bytes = args.bytes();
  given.key_offsets = args.offsets(given.key_bytes.size());
  given.value_bytes = args.bytes();
  given.value_offsets = args.offsets(given.value_bytes.size());
  if (given.key_offsets.size() != given.value_offsets.size()) {
    args.fail("keys and values have another number of offsets");
  }
  return given;
}

napi_value batch_put_columns(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef batch = args.handle(Kind::kBatch);
  hawthorn_tree* const tree = args.tree();
  Given given = read_given(args);
  return args.submit(Lane::kRead, [&](hawthorn_error** error) {
    const hawthorn_columns columns = given.view();
    return hawthorn_batch_put_columns(batch->as<hawthorn_batch>(), tree, &columns, error);
  });
}

napi_value ingest_add_columns(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef ingest = args.handle(Kind::kIngest);
  Given given = read_given(args);
  return args.submit(
      Lane::kOwn, [ingest, given = std::move(given)](hawthorn_error** error) mutable {
        const hawthorn_columns columns = given.view();
        return hawthorn_ingest_add_columns(ingest->as<hawthorn_ingest>(), &columns, error);
      });
}

}  // namespace

void add_columns(std::vector<Function>& all) {
  all.insert(all.end(), {{"columnsCreate", columns_create},
                         {"multiGet", multi_get},
                         {"multiGetColumns", multi_get_columns},
                         {"batchPutColumns", batch_put_columns},
                         {"ingestAddColumns", ingest_add_columns}});
}

}  // namespace hawthorn_node
