// Walks: entry by entry, in batches, into columns.

#include "addon.h"

namespace hawthorn_node {
namespace {

// (sync, target, tree, keys only, lower, upper, snapshot)
napi_value open(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  const bool keys_only = args.flag();
  Bytes lower = args.bytes_or_null();
  Bytes upper = args.bytes_or_null();
  hawthorn_snapshot* const snapshot = args.snapshot();
  Env* const self = args.env();
  const CoreRef core = args.core();
  const StrandRef strand = at.txn ? args.strand() : std::make_shared<Strand>();
  auto state = std::make_shared<std::unique_ptr<CursorState>>(new CursorState);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        hawthorn_cursor_options options = HAWTHORN_CURSOR_OPTIONS_INIT;
        options.keys_only = keys_only;
        options.lower = lower.ptr(), options.lower_size = lower.size();
        options.upper = upper.ptr(), options.upper_size = upper.size();
        options.snapshot = snapshot;
        return at.txn ? hawthorn_txn_cursor(at.txn, tree, &options, &(*state)->cursor, error)
                      : hawthorn_db_cursor(at.db, tree, &options, &(*state)->cursor, error);
      },
      [=](napi_env) {
        return wrap(self,
                    new_handle(
                        self, Kind::kCursor, state->release(),
                        [](void* ptr) { delete static_cast<CursorState*>(ptr); }, core, strand));
      });
}

enum Move : uint32_t {
  kFirst,
  kLast,
  kNext,
  kPrev,
  kNextKey,
  kPrevKey,
  kNextValue,
  kPrevValue,
  kFirstValue,
  kLastValue,
  kSeek,
  kSeekForPrev,
  kSeekValue,
  kSkip,
  kSeekRandom
};

hawthorn_code make_move(uint32_t which, hawthorn_cursor* cursor, const Bytes& key,
                        const Bytes& value, int64_t number, int* found, hawthorn_error** error) {
  using Simple = hawthorn_code (*)(hawthorn_cursor*, int*, hawthorn_error**);
  static constexpr Simple kSimple[] = {hawthorn_cursor_first,       hawthorn_cursor_last,
                                       hawthorn_cursor_next,        hawthorn_cursor_prev,
                                       hawthorn_cursor_next_key,    hawthorn_cursor_prev_key,
                                       hawthorn_cursor_next_value,  hawthorn_cursor_prev_value,
                                       hawthorn_cursor_first_value, hawthorn_cursor_last_value};
  const char* const data = key.data.data();
  switch (which) {
    case kSeek:
      return hawthorn_cursor_seek(cursor, data, key.size(), found, error);
    case kSeekForPrev:
      return hawthorn_cursor_seek_for_prev(cursor, data, key.size(), found, error);
    case kSeekValue:
      return hawthorn_cursor_seek_value(cursor, data, key.size(), value.data.data(), value.size(),
                                        found, error);
    case kSkip:
      return hawthorn_cursor_skip(cursor, number, found, error);
    case kSeekRandom:
      return hawthorn_cursor_seek_random(cursor, static_cast<uint64_t>(number), found, error);
    default:
      return kSimple[which](cursor, found, error);
  }
}

// (sync, cursor, move, key, value, number, negative): key and value where it stands then.
napi_value move(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef handle = args.handle(Kind::kCursor);
  const uint32_t which = args.u32();
  Bytes key = args.bytes_or_null();
  Bytes value = args.bytes_or_null();
  const uint64_t amount = args.u64();
  const bool negative = args.flag();
  if (which > kSeekRandom) args.fail("no such move");
  if (which != kSeekRandom && amount > INT64_MAX) args.fail("a number is too large");
  const int64_t number = negative ? -static_cast<int64_t>(amount) : static_cast<int64_t>(amount);
  auto found = std::make_shared<int>(0);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return make_move(which, handle->as<CursorState>()->cursor, key, value, number, found.get(),
                         error);
      },
      [=](napi_env e) {
        if (*found == 0) return undefined(e);
        hawthorn_cursor* const cursor = handle->as<CursorState>()->cursor;
        size_t size = 0;
        napi_value list = new_array(e, 2);
        const void* data = hawthorn_cursor_key(cursor, &size);
        set_at(e, list, 0, buffer(e, data, size));
        data = hawthorn_cursor_value(cursor, &size);
        set_at(e, list, 1, buffer(e, data, size));
        return list;
      });
}

// (sync, cursor): of the entry on which it stands.
napi_value entry_info(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef handle = args.handle(Kind::kCursor);
  const bool count_values = args.flag();
  struct Found {
    int subtree = 0;
    uint64_t values = 0, expires = 0;
  };
  auto out = std::make_shared<Found>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        hawthorn_cursor* const cursor = handle->as<CursorState>()->cursor;
        out->expires = hawthorn_cursor_expires_at(cursor);
        const hawthorn_code code = hawthorn_cursor_is_subtree(cursor, &out->subtree, error);
        return code == HAWTHORN_OK && count_values
                   ? hawthorn_cursor_count_values(cursor, &out->values, error)
                   : code;
      },
      [=](napi_env e) {
        napi_value object = new_object(e);
        set(e, object, "isSubtree", boolean(e, out->subtree != 0));
        set(e, object, "expiresAt", number(e, out->expires));
        if (count_values) set(e, object, "values", number(e, out->values));
        return object;
      });
}

hawthorn_code columns_of(hawthorn_cursor* cursor, bool reverse, hawthorn_columns* columns,
                         hawthorn_error** error) {
  return reverse ? hawthorn_cursor_prev_columns(cursor, columns, error)
                 : hawthorn_cursor_next_columns(cursor, columns, error);
}

// (sync, cursor, reverse, rows, bytes): keys and values in a buffer each, and their offsets; memory
// grows until at least one entry fits.
napi_value next_batch(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef handle = args.handle(Kind::kCursor);
  const bool reverse = args.flag();
  const uint32_t row_count = args.u32();
  const uint32_t bytes = args.u32();
  if (row_count == 0 || bytes == 0) args.fail("a batch without room");
  auto columns = std::make_shared<hawthorn_columns>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        CursorState* const state = handle->as<CursorState>();
        ColumnMemory& memory = state->memory;
        memory.key_offsets.resize(row_count + 1);
        memory.value_offsets.resize(row_count + 1);
        if (memory.keys.size() < bytes) memory.keys.resize(bytes);
        if (memory.values.size() < bytes) memory.values.resize(bytes);
        for (;;) {
          *columns = memory.view();
          const hawthorn_code code = columns_of(state->cursor, reverse, columns.get(), error);
          if (code != HAWTHORN_BUFFER_TOO_SMALL) return code;
          if (columns->key_bytes_needed <= memory.keys.size() &&
              columns->value_bytes_needed <= memory.values.size()) {
            return code;  // it would not help
          }
          hawthorn_error_free(*error);
          *error = nullptr;
          memory.keys.resize(std::max(memory.keys.size(), columns->key_bytes_needed));
          memory.values.resize(std::max(memory.values.size(), columns->value_bytes_needed));
        }
      },
      [=](napi_env e) {
        const size_t count = columns->rows;
        if (count == 0) return undefined(e);
        napi_value list = new_array(e, 5);
        set_at(e, list, 0, number(e, count));
        set_at(e, list, 1, buffer(e, columns->key_bytes, columns->key_offsets[count]));
        set_at(e, list, 2, float64_array(e, columns->key_offsets, count + 1));
        set_at(e, list, 3, buffer(e, columns->value_bytes, columns->value_offsets[count]));
        set_at(e, list, 4, float64_array(e, columns->value_offsets, count + 1));
        return list;
      });
}

// (sync, cursor, reverse, columns): the number of rows, or what one takes.
napi_value next_columns(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef handle = args.handle(Kind::kCursor);
  const bool reverse = args.flag();
  const HandleRef into = args.handle(Kind::kColumns);
  auto columns = std::make_shared<hawthorn_columns>();
  auto small = std::make_shared<bool>(false);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        *columns = into->as<ColumnMemory>()->view();
        columns->found = nullptr;
        hawthorn_code code =
            columns_of(handle->as<CursorState>()->cursor, reverse, columns.get(), error);
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

}  // namespace

void add_cursors(std::vector<Function>& all) {
  all.insert(all.end(), {{"cursor", open},
                         {"move", move},
                         {"entryInfo", entry_info},
                         {"nextBatch", next_batch},
                         {"nextColumns", next_columns}});
}

}  // namespace hawthorn_node
