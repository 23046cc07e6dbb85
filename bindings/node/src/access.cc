// Reads, writes and batches: of a database or within a transaction.

#include "addon.h"

namespace hawthorn_node {
namespace {

// (sync, target, tree, key, snapshot, in memory only, for update)
napi_value get(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  std::string key = args.bytes();
  hawthorn_snapshot* const snapshot = args.snapshot();
  const bool in_memory = args.flag();
  const bool for_update = args.flag();
  auto value = std::make_shared<Value>(hawthorn_value_create());
  auto found = std::make_shared<bool>(false);
  return args.submit(
      for_update ? Lane::kOwn : Lane::kRead,
      [=, key = std::move(key)](hawthorn_error** error) {
        hawthorn_code code = HAWTHORN_OK;
        if (for_update) {
          code =
              hawthorn_txn_get_for_update(at.txn, tree, key.data(), key.size(), value->ptr, error);
        } else if (at.txn) {
          code = hawthorn_txn_get(at.txn, tree, key.data(), key.size(), value->ptr, error);
        } else {
          const auto call = in_memory ? hawthorn_db_get_in_memory : hawthorn_db_get;
          code = call(at.db, tree, key.data(), key.size(), snapshot, value->ptr, error);
        }
        return absent(code, error, found.get());
      },
      [value, found](napi_env e) {
        if (!*found) return undefined(e);
        size_t size = 0;
        const void* data = hawthorn_value_data(value->ptr, &size);
        napi_value out = buffer(e, data, size);
        hawthorn_value_release(value->ptr);
        return out;
      });
}

napi_value changed_since(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  hawthorn_tree* const tree = args.tree();
  std::string key = args.bytes();
  hawthorn_snapshot* const since = args.snapshot();
  auto out = std::make_shared<int>(0);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return hawthorn_db_changed_since(db, tree, key.data(), key.size(), since, out.get(), error);
      },
      [out](napi_env e) { return boolean(e, *out != 0); });
}

// Of an entry: undefined where it is not there, 0 where it never ends.
napi_value expires_at(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  hawthorn_tree* const tree = args.tree();
  std::string key = args.bytes();
  hawthorn_snapshot* const snapshot = args.snapshot();
  auto out = std::make_shared<std::pair<uint64_t, bool>>(0, false);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return absent(
            hawthorn_db_expires_at(db, tree, key.data(), key.size(), snapshot, &out->first, error),
            error, &out->second);
      },
      [out](napi_env e) { return out->second ? number(e, out->first) : undefined(e); });
}

napi_value count(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  Bytes low = args.bytes_or_null();
  Bytes high = args.bytes_or_null();
  hawthorn_snapshot* const snapshot = args.snapshot();
  auto out = std::make_shared<uint64_t>(0);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return at.txn ? hawthorn_txn_count(at.txn, tree, low.ptr(), low.size(), high.ptr(),
                                           high.size(), out.get(), error)
                      : hawthorn_db_count(at.db, tree, low.ptr(), low.size(), high.ptr(),
                                          high.size(), snapshot, out.get(), error);
      },
      [out](napi_env e) { return number(e, *out); });
}

napi_value estimate(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  hawthorn_tree* const tree = args.tree();
  Bytes low = args.bytes_or_null();
  Bytes high = args.bytes_or_null();
  auto out = std::make_shared<std::pair<uint64_t, uint64_t>>(0, 0);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return hawthorn_db_estimate(db, tree, low.ptr(), low.size(), high.ptr(), high.size(),
                                    &out->first, &out->second, error);
      },
      [out](napi_env e) {
        napi_value object = new_object(e);
        set(e, object, "entries", number(e, out->first));
        set(e, object, "bytes", number(e, out->second));
        return object;
      });
}

napi_value explain(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  hawthorn_tree* const tree = args.tree();
  std::string key = args.bytes();
  hawthorn_snapshot* const snapshot = args.snapshot();
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return hawthorn_db_explain(db, tree, key.data(), key.size(), snapshot, &out->ptr, error);
      },
      [out](napi_env e) { return rows(e, out->ptr); });
}

// Writes that take a key and perhaps a value: (sync, target, tree, key, value, write options)
template <class OfTxn, class OfDb>
napi_value write_one(Args& args, OfTxn of_txn, OfDb of_db) {
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  std::string key = args.bytes();
  Bytes value = args.bytes_or_null();
  hawthorn_write_options options = args.write_options();
  return args.submit(Lane::kWrite,
                     [=, key = std::move(key), value = std::move(value)](hawthorn_error** error) {
                       return at.txn ? of_txn(at.txn, tree, key, value, options, error)
                                     : of_db(at.db, tree, key, value, options, error);
                     });
}

#define HAWTHORN_NODE_ONE(NAME, TXN_CALL, DB_CALL)                                       \
  napi_value NAME(napi_env env, napi_callback_info info) {                               \
    Args args(env, info);                                                                \
    return write_one(                                                                    \
        args,                                                                            \
        [](hawthorn_txn* txn, hawthorn_tree* tree, const std::string& k, const Bytes& v, \
           const hawthorn_write_options& o, hawthorn_error** error) {                    \
          (void)v, (void)o;                                                              \
          return TXN_CALL;                                                               \
        },                                                                               \
        [](hawthorn_db* db, hawthorn_tree* tree, const std::string& k, const Bytes& v,   \
           const hawthorn_write_options& o, hawthorn_error** error) {                    \
          (void)v;                                                                       \
          return DB_CALL;                                                                \
        });                                                                              \
  }
HAWTHORN_NODE_ONE(put,
                  hawthorn_txn_put(txn, tree, k.data(), k.size(), v.data.data(), v.size(), &o,
                                   error),
                  hawthorn_db_put(db, tree, k.data(), k.size(), v.data.data(), v.size(), &o, error))
HAWTHORN_NODE_ONE(del, hawthorn_txn_del(txn, tree, k.data(), k.size(), error),
                  hawthorn_db_del(db, tree, k.data(), k.size(), &o, error))
HAWTHORN_NODE_ONE(del_value,
                  hawthorn_txn_del_value(txn, tree, k.data(), k.size(), v.data.data(), v.size(),
                                         error),
                  hawthorn_db_del_value(db, tree, k.data(), k.size(), v.data.data(), v.size(), &o,
                                        error))
HAWTHORN_NODE_ONE(delete_range,
                  hawthorn_txn_delete_range(txn, tree, k.data(), k.size(), v.ptr(), v.size(),
                                            error),
                  hawthorn_db_delete_range(db, tree, k.data(), k.size(), v.ptr(), v.size(), &o,
                                           error))
HAWTHORN_NODE_ONE(merge,
                  hawthorn_txn_merge(txn, tree, k.data(), k.size(), v.data.data(), v.size(), error),
                  hawthorn_db_merge(db, tree, k.data(), k.size(), v.data.data(), v.size(), &o,
                                    error))
#undef HAWTHORN_NODE_ONE

// (sync, target, tree, which, key, expected, value, write options): 0 insert, 1 update, 2 replace,
// 3 remove if.
napi_value compare_and_set(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  const uint32_t which = args.u32();
  std::string k = args.bytes();
  Bytes x = args.bytes_or_null();
  Bytes v = args.bytes_or_null();
  hawthorn_write_options o = args.write_options();
  auto done = std::make_shared<int>(0);
  return args.submit(
      Lane::kWrite,
      [=](hawthorn_error** error) {
        const char* const value = v.data.data();
        int* const out = done.get();
        if (at.txn) {
          switch (which) {
            case 0:
              return hawthorn_txn_insert(at.txn, tree, k.data(), k.size(), value, v.size(), out,
                                         error);
            case 1:
              return hawthorn_txn_update(at.txn, tree, k.data(), k.size(), value, v.size(), out,
                                         error);
            case 2:
              return hawthorn_txn_replace(at.txn, tree, k.data(), k.size(), x.ptr(), x.size(),
                                          value, v.size(), out, error);
            default:
              return hawthorn_txn_remove_if(at.txn, tree, k.data(), k.size(), x.ptr(), x.size(),
                                            out, error);
          }
        }
        switch (which) {
          case 0:
            return hawthorn_db_insert(at.db, tree, k.data(), k.size(), value, v.size(), &o, out,
                                      error);
          case 1:
            return hawthorn_db_update(at.db, tree, k.data(), k.size(), value, v.size(), &o, out,
                                      error);
          case 2:
            return hawthorn_db_replace(at.db, tree, k.data(), k.size(), x.ptr(), x.size(), value,
                                       v.size(), &o, out, error);
          default:
            return hawthorn_db_remove_if(at.db, tree, k.data(), k.size(), x.ptr(), x.size(), &o,
                                         out, error);
        }
      },
      [done](napi_env e) { return boolean(e, *done != 0); });
}

// (sync, target, tree, key, offset, size, snapshot): undefined where the key is not there.
napi_value read_part(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  std::string key = args.bytes();
  const uint64_t offset = args.u64();
  const uint64_t size = args.u64();
  hawthorn_snapshot* const snapshot = args.snapshot();
  if (size > hawthorn_limit_value_bytes()) args.fail("a part has more than 64 MB");
  auto out = std::make_shared<std::string>();
  auto found = std::make_shared<bool>(false);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        size_t got = 0;
        out->resize(size);
        const hawthorn_code code =
            at.txn ? hawthorn_txn_read_part(at.txn, tree, key.data(), key.size(), offset,
                                            out->data(), size, &got, error)
                   : hawthorn_db_read_part(at.db, tree, key.data(), key.size(), offset, out->data(),
                                           size, snapshot, &got, error);
        out->resize(got);
        return absent(code, error, found.get());
      },
      [=](napi_env e) { return *found ? buffer(e, out->data(), out->size()) : undefined(e); });
}

napi_value size_of(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  std::string key = args.bytes();
  hawthorn_snapshot* const snapshot = args.snapshot();
  auto out = std::make_shared<std::pair<uint64_t, bool>>(0, false);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        const hawthorn_code code =
            at.txn ? hawthorn_txn_size_of(at.txn, tree, key.data(), key.size(), &out->first, error)
                   : hawthorn_db_size_of(at.db, tree, key.data(), key.size(), snapshot, &out->first,
                                         error);
        return absent(code, error, &out->second);
      },
      [out](napi_env e) { return out->second ? number(e, out->first) : undefined(e); });
}

// (sync, target, tree, key, offset, bytes, write options); no offset: at the end, and where that
// was is returned.
napi_value write_part(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  std::string key = args.bytes();
  const bool append = args.flag();
  const uint64_t offset = args.u64();
  std::string data = args.bytes();
  hawthorn_write_options options = args.write_options();
  auto out = std::make_shared<uint64_t>(offset);
  return args.submit(
      Lane::kWrite,
      [=, data = std::move(data)](hawthorn_error** error) {
        if (append) {
          return at.txn ? hawthorn_txn_append(at.txn, tree, key.data(), key.size(), data.data(),
                                              data.size(), out.get(), error)
                        : hawthorn_db_append(at.db, tree, key.data(), key.size(), data.data(),
                                             data.size(), &options, out.get(), error);
        }
        return at.txn ? hawthorn_txn_write_part(at.txn, tree, key.data(), key.size(), offset,
                                                data.data(), data.size(), error)
                      : hawthorn_db_write_part(at.db, tree, key.data(), key.size(), offset,
                                               data.data(), data.size(), &options, error);
      },
      [out](napi_env e) { return number(e, *out); });
}

napi_value resize(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const tree = args.tree();
  std::string key = args.bytes();
  const uint64_t size = args.u64();
  hawthorn_write_options options = args.write_options();
  return args.submit(Lane::kWrite, [=](hawthorn_error** error) {
    return at.txn ? hawthorn_txn_resize(at.txn, tree, key.data(), key.size(), size, error)
                  : hawthorn_db_resize(at.db, tree, key.data(), key.size(), size, &options, error);
  });
}

napi_value batch_create(napi_env env, napi_callback_info info) {
  Args args(env, info, false);
  const HandleRef db = args.handle(Kind::kDatabase);
  if (!args.ok()) return args.refuse();
  return wrap(args.env(), new_handle(args.env(), Kind::kBatch, hawthorn_batch_create(),
                                     free_as<hawthorn_batch_free, hawthorn_batch*>, db->core,
                                     std::make_shared<Strand>()));
}

// (true, batch, which, tree, key, value, write options)
napi_value batch_add(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef handle = args.handle(Kind::kBatch);
  const uint32_t which = args.u32();
  hawthorn_tree* const tree = args.tree();
  std::string k = args.bytes();
  Bytes v = args.bytes_or_null();
  hawthorn_write_options o = args.write_options();
  return args.submit(Lane::kRead, [&](hawthorn_error** error) {
    hawthorn_batch* const batch = handle->as<hawthorn_batch>();
    const char* const value = v.data.data();
    switch (which) {
      case 0:
        return hawthorn_batch_put(batch, tree, k.data(), k.size(), value, v.size(), &o, error);
      case 1:
        return hawthorn_batch_del(batch, tree, k.data(), k.size(), error);
      case 2:
        return hawthorn_batch_del_value(batch, tree, k.data(), k.size(), value, v.size(), error);
      case 3:
        return hawthorn_batch_delete_range(batch, tree, k.data(), k.size(), v.ptr(), v.size(),
                                           error);
      default:
        return hawthorn_batch_merge(batch, tree, k.data(), k.size(), value, v.size(), error);
    }
  });
}

// (true, batch): the number of operations and their bytes; cleared where the flag says so.
napi_value batch_info(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef handle = args.handle(Kind::kBatch);
  const bool clear = args.flag();
  auto out = std::make_shared<std::pair<size_t, size_t>>(0, 0);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        hawthorn_batch* const batch = handle->as<hawthorn_batch>();
        if (clear) return hawthorn_batch_clear(batch, error);
        out->first = hawthorn_batch_count(batch);
        out->second = hawthorn_batch_bytes(batch);
        return hawthorn_code{HAWTHORN_OK};
      },
      [out](napi_env e) {
        napi_value object = new_object(e);
        set(e, object, "count", number(e, out->first));
        set(e, object, "bytes", number(e, out->second));
        return object;
      });
}

napi_value write(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  const HandleRef batch = args.handle(Kind::kBatch);
  hawthorn_write_options options = HAWTHORN_WRITE_OPTIONS_INIT;
  options.durability = args.u32();
  return args.submit(Lane::kWrite, [=](hawthorn_error** error) {
    return hawthorn_db_write(db, batch->as<hawthorn_batch>(), &options, error);
  });
}

}  // namespace

void add_access(std::vector<Function>& all) {
  all.insert(all.end(), {{"get", get},
                         {"changedSince", changed_since},
                         {"expiresAt", expires_at},
                         {"count", count},
                         {"estimate", estimate},
                         {"explain", explain},
                         {"put", put},
                         {"del", del},
                         {"delValue", del_value},
                         {"deleteRange", delete_range},
                         {"merge", merge},
                         {"compareAndSet", compare_and_set},
                         {"readPart", read_part},
                         {"sizeOf", size_of},
                         {"writePart", write_part},
                         {"resize", resize},
                         {"batchCreate", batch_create},
                         {"batchAdd", batch_add},
                         {"batchInfo", batch_info},
                         {"write", write}});
}

}  // namespace hawthorn_node
