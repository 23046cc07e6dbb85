// Databases: opening, closing, sharing, snapshots, what is done to them as a whole.

#include "addon.h"

namespace hawthorn_node {

namespace {

// Databases that other threads of JavaScript may attach to.
std::mutex shared_mutex;
std::map<uint64_t, std::weak_ptr<DbCore>> shared;
uint64_t next_token = 1;

napi_value wrap_database(Env* env, CoreRef core) {
  // The handle's `ptr` says that it is there; the database itself belongs to the core.
  HandleRef handle = new_handle(env, Kind::kDatabase, core.get(), [](void*) {}, core);
  return wrap(env, std::move(handle));
}

// What a database tells of its work goes to one function, as a kind and an object.
struct Listener {
  Env* env;
  napi_ref function;
  std::atomic<int> uses{0};
  void tell(std::function<void(napi_env, std::vector<napi_value>&)> arguments) {
    env->notice({function, std::move(arguments)});
  }
};

// Options as pairs of name and value, one behind the other.
struct Pairs {
  std::vector<std::pair<std::string, std::string>> list;
  bool log = false, events = false, expiry = false, commits = false;
};

Pairs read_pairs(Args& args, napi_env env) {
  Pairs pairs;
  napi_value list = args.any();
  bool is = false;
  napi_is_array(env, list, &is);
  if (!is) return pairs;
  uint32_t count = 0;
  napi_get_array_length(env, list, &count);
  for (uint32_t i = 0; i + 1 < count; i += 2) {
    std::string both[2];
    for (uint32_t k = 0; k < 2; ++k) {
      napi_value one = nullptr;
      napi_get_element(env, list, i + k, &one);
      size_t size = 0;
      if (napi_get_value_string_utf8(env, one, nullptr, 0, &size) != napi_ok) {
        args.fail("an option is not a string");
        return pairs;
      }
      both[k].resize(size);
      napi_get_value_string_utf8(env, one, both[k].data(), size + 1, &size);
      if (both[k].find('\0') != std::string::npos) args.fail("an option has a zero byte");
    }
    pairs.list.emplace_back(both[0], both[1]);
  }
  return pairs;
}

hawthorn_code fill(const Pairs& pairs, hawthorn_options* options, hawthorn_error** error) {
  for (const auto& [name, value] : pairs.list) {
    const hawthorn_code code = hawthorn_options_set(options, name.c_str(), value.c_str(), error);
    if (code != HAWTHORN_OK) return code;
  }
  return HAWTHORN_OK;
}

void on_log(void* context, hawthorn_log_level level, const char* message, size_t size) {
  static_cast<Listener*>(context)->tell(
      [level, words = std::string(message, size)](napi_env env, std::vector<napi_value>& out) {
        static const char* const names[] = {"info", "warning", "error"};
        napi_value object = new_object(env);
        const char* name = names[level <= 2 ? level : 2];
        set(env, object, "level", text(env, name, std::strlen(name)));
        set(env, object, "message", text(env, words.data(), words.size()));
        out = {text(env, "log", 3), object};
      });
}

// Fields of an event, kept for the thread of JavaScript.
struct Fields {
  struct One {
    std::string name, bytes;
    hawthorn_field_type type;
    uint64_t number;
  };
  std::vector<One> list;
};

void on_event(void* context, hawthorn_event event, const hawthorn_records* fields) {
  Fields kept;
  const size_t count = hawthorn_records_field_count(fields, 0);
  for (size_t i = 0; i < count; ++i) {
    hawthorn_field field;
    if (hawthorn_records_field(fields, 0, i, &field, nullptr) != HAWTHORN_OK) continue;
    std::string bytes;
    if (field.type == HAWTHORN_FIELD_BYTES) {
      bytes.assign(static_cast<const char*>(field.data), field.size);
    }
    kept.list.push_back({field.name, std::move(bytes), field.type, field.number});
  }
  static_cast<Listener*>(context)->tell(
      [event, kept = std::move(kept)](napi_env env, std::vector<napi_value>& out) {
        napi_value object = new_object(env);
        for (const Fields::One& one : kept.list) {
          napi_value value = null(env);
          if (one.type == HAWTHORN_FIELD_NUMBER) value = number(env, one.number);
          if (one.type == HAWTHORN_FIELD_FLAG) value = boolean(env, one.number != 0);
          if (one.type == HAWTHORN_FIELD_BYTES) {
            value = text(env, one.bytes.data(), one.bytes.size());
          }
          set(env, object, one.name.c_str(), value);
        }
        const char* name = hawthorn_event_name(event);
        set(env, object, "event", text(env, name, std::strlen(name)));
        out = {text(env, "event", 5), object};
      });
}

void on_expiry(void* context, const char* tree, size_t tree_size, const void* key, size_t key_size,
               const void* value, size_t value_size) {
  static_cast<Listener*>(context)->tell(
      [tree = std::string(tree, tree_size),
       key = std::string(static_cast<const char*>(key), key_size),
       value = std::string(static_cast<const char*>(value), value_size)](
          napi_env env, std::vector<napi_value>& out) {
        napi_value object = new_object(env);
        set(env, object, "tree", text(env, tree.data(), tree.size()));
        set(env, object, "key", buffer(env, key.data(), key.size()));
        set(env, object, "value", buffer(env, value.data(), value.size()));
        out = {text(env, "expiry", 6), object};
      });
}

void on_commit(void* context, uint64_t operations, hawthorn_durability durability,
               uint64_t timestamp, hawthorn_code code, const hawthorn_error*) {
  static_cast<Listener*>(context)->tell(
      [operations, durability, timestamp, code](napi_env env, std::vector<napi_value>& out) {
        static const char* const names[] = {"default", "none", "async", "full"};
        const char* name = names[durability <= 3 ? durability : 0];
        const char* words = hawthorn_code_name(code);
        napi_value object = new_object(env);
        set(env, object, "operations", number(env, operations));
        set(env, object, "durability", text(env, name, std::strlen(name)));
        set(env, object, "timestamp", big(env, timestamp));
        set(env, object, "outcome", text(env, words, std::strlen(words)));
        out = {text(env, "commit", 6), object};
      });
}

// Given back by each of its uses; the last one frees it on the thread of JavaScript.
void give_back(void* context) {
  Listener* const listener = static_cast<Listener*>(context);
  if (--listener->uses > 0) return;
  Env* const env = listener->env;
  env->post([listener](napi_env napi) {
    napi_delete_reference(napi, listener->function);
    delete listener;
  });
}

hawthorn_code listen(const Pairs& pairs, hawthorn_options* options, Listener* listener,
                     hawthorn_error** error) {
  const bool wanted[4] = {pairs.log, pairs.events, pairs.expiry, pairs.commits};
  for (int i = 0; i < 4; ++i) {
    if (!wanted[i]) continue;
    ++listener->uses;
    hawthorn_code code = HAWTHORN_OK;
    if (i == 0) code = hawthorn_options_set_log(options, on_log, listener, give_back, error);
    if (i == 1) code = hawthorn_options_add_listener(options, on_event, listener, give_back, error);
    if (i == 2) {
      code = hawthorn_options_set_on_expiry(options, on_expiry, listener, give_back, error);
    }
    if (i == 3) {
      code =
          hawthorn_options_add_commit_hook(options, nullptr, on_commit, listener, give_back, error);
    }
    if (code != HAWTHORN_OK) {
      give_back(listener);
      return code;
    }
  }
  return HAWTHORN_OK;
}

// (sync, path, pairs, function, log, events, expiry, commits)
napi_value open(napi_env env, napi_callback_info info) {
  Args args(env, info);
  std::string path = args.string();
  Pairs pairs = read_pairs(args, env);
  napi_ref function = args.function_or_null();
  pairs.log = args.flag(), pairs.events = args.flag();
  pairs.expiry = args.flag(), pairs.commits = args.flag();
  Env* const self = args.env();
  Listener* listener = nullptr;
  if (function != nullptr && args.ok()) {
    listener = new Listener{self, function, {1}};  // one use is this call's
  }
  auto core = std::make_shared<DbCore>();
  return args.submit(
      Lane::kOwn,
      [path, pairs, core, listener](hawthorn_error** error) {
        Options options(hawthorn_options_create());
        hawthorn_code code = fill(pairs, options.ptr, error);
        if (code == HAWTHORN_OK && listener) code = listen(pairs, options.ptr, listener, error);
        if (code == HAWTHORN_OK)
          code = hawthorn_db_open(path.c_str(), options.ptr, &core->db, error);
        if (listener) give_back(listener);
        return code;
      },
      [core, self](napi_env) { return wrap_database(self, core); });
}

// (sync, database, force)
napi_value close(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef handle = args.handle(Kind::kDatabase);
  const bool force = args.flag();
  const bool sync = args.sync();
  auto held = std::make_shared<std::vector<HandleRef>>();  // goes with the job, on this thread
  CoreRef core = handle ? handle->core : nullptr;
  if (args.ok() && force) {
    for (Handle* one : args.env()->handles) {
      if (one->core != core || !one->is_closed_by_force()) continue;
      one->closed = true;
      held->push_back(one->shared_from_this());
    }
    std::lock_guard<std::mutex> lock(core->mutex);
    core->forced_by = args.env();
  }
  args.no_core();
  return args.submit(
      Lane::kOwn,
      [core, held, sync](hawthorn_error** error) { return core->close(!sync, held.get(), error); },
      [handle](napi_env e) {
        handle->closed = true;
        return undefined(e);
      });
}

// Ends the use of any object. Calls that are under way come to their end.
napi_value dispose(napi_env env, napi_callback_info info) {
  static constexpr napi_type_tag kTag = {0x8f2c4be1d0a94c55, 0x9a60d23f7b1e8c07};
  size_t count = 1;
  napi_value value = nullptr;
  napi_get_cb_info(env, info, &count, &value, nullptr, nullptr);
  bool tagged = false;
  void* data = nullptr;
  napi_valuetype type = napi_undefined;
  if (count == 1) napi_typeof(env, value, &type);
  if (type == napi_object) napi_check_object_type_tag(env, value, &kTag, &tagged);
  if (tagged) napi_unwrap(env, value, &data);
  if (data == nullptr) return undefined(env);
  HandleRef& handle = *static_cast<HandleRef*>(data);
  handle->closed = true;
  HandleRef stub = new_handle(env_of(env), handle->kind, nullptr, handle->free);
  stub->closed = true;
  handle = std::move(stub);
  return undefined(env);
}

napi_value share(napi_env env, napi_callback_info info) {
  Args args(env, info, false);
  const HandleRef handle = args.handle(Kind::kDatabase);
  if (!args.ok()) return args.refuse();
  std::lock_guard<std::mutex> lock(shared_mutex);
  if (handle->core->token == 0) {
    handle->core->token = next_token++;
    shared[handle->core->token] = handle->core;
  }
  return big(env, handle->core->token);
}

napi_value attach(napi_env env, napi_callback_info info) {
  Args args(env, info, false);
  const uint64_t token = args.u64();
  CoreRef core;
  {
    std::lock_guard<std::mutex> lock(shared_mutex);
    const auto found = shared.find(token);
    if (found != shared.end()) core = found->second.lock();
  }
  if (!core) args.fail("no database of this process has this token", HAWTHORN_NOT_FOUND);
  if (!args.ok()) return args.refuse();
  return wrap_database(args.env(), core);
}

napi_value path(napi_env env, napi_callback_info info) {
  Args args(env, info, false);
  const HandleRef handle = args.handle(Kind::kDatabase);
  if (!args.ok()) return args.refuse();
  const char* words = hawthorn_db_path(handle->core->db);
  return text(env, words ? words : "", words ? std::strlen(words) : 0);
}

napi_value id(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  auto out = std::make_shared<std::string>(33, '\0');
  return args.submit(
      Lane::kRead, [=](hawthorn_error** error) { return hawthorn_db_id(db, out->data(), error); },
      [out](napi_env e) { return text(e, out->data(), 32); });
}

// (sync, database, which)
napi_value maintain(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  const uint32_t which = args.u32();
  static constexpr hawthorn_code (*kCalls[])(hawthorn_db*, hawthorn_error**) = {
      hawthorn_db_sync,  hawthorn_db_flush,   hawthorn_db_compact,
      hawthorn_db_drain, hawthorn_db_warm_up, hawthorn_db_rotate_data_key};
  if (which >= 6) args.fail("no such call");
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) { return kCalls[which](db, error); });
}

// (sync, database, which, bytes)
napi_value limit(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  const bool memory = args.flag();
  const uint64_t bytes = args.u64();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return memory ? hawthorn_db_set_memory_budget(db, bytes, error)
                  : hawthorn_db_set_background_io_limit(db, bytes, error);
  });
}

napi_value rotate_key(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  std::string name = args.bytes();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return hawthorn_db_rotate_key(db, name.data(), name.size(), error);
  });
}

// Lists that need the database alone: (sync, database)
template <hawthorn_code (*Call)(hawthorn_db*, hawthorn_records**, hawthorn_error**)>
napi_value list(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kRead, [=](hawthorn_error** error) { return Call(db, &out->ptr, error); },
      [out](napi_env e) { return rows(e, out->ptr); });
}

napi_value stat(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  std::string name = args.string();
  auto out = std::make_shared<uint64_t>(0);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) { return hawthorn_db_stat(db, name.c_str(), out.get(), error); },
      [out](napi_env e) { return number(e, *out); });
}

napi_value read_counters(napi_env env, napi_callback_info info) {
  Args args(env, info);
  std::string directory = args.string();
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return hawthorn_read_counters(directory.c_str(), &out->ptr, error);
      },
      [out](napi_env e) { return rows(e, out->ptr); });
}

// (sync, path, pairs)
napi_value destroy_database(napi_env env, napi_callback_info info) {
  Args args(env, info);
  std::string where = args.string();
  Pairs pairs = read_pairs(args, env);
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    Options options(hawthorn_options_create());
    const hawthorn_code code = fill(pairs, options.ptr, error);
    return code != HAWTHORN_OK ? code
                               : hawthorn_destroy_database(where.c_str(), options.ptr, error);
  });
}

napi_value snapshot(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef handle = args.handle(Kind::kDatabase);
  CoreRef core = handle ? handle->core : nullptr;
  Bytes name = args.bytes_or_null();  // none: of now
  Env* const self = args.env();
  auto out = std::make_shared<Owned<hawthorn_snapshot, hawthorn_snapshot_free>>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return name.there ? hawthorn_db_open_snapshot(core->db, name.data.data(), name.size(),
                                                      &out->ptr, error)
                          : hawthorn_db_snapshot(core->db, &out->ptr, error);
      },
      [=](napi_env) {
        return wrap(self, new_handle(self, Kind::kSnapshot, out->take(),
                                     free_as<hawthorn_snapshot_free, hawthorn_snapshot*>, core));
      });
}

// (sync, database, drop, name)
napi_value name_snapshot(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  const bool drop = args.flag();
  std::string name = args.bytes();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return drop ? hawthorn_db_drop_snapshot(db, name.data(), name.size(), error)
                : hawthorn_db_create_snapshot(db, name.data(), name.size(), error);
  });
}

napi_value snapshot_info(napi_env env, napi_callback_info info) {
  Args args(env, info, false);
  const HandleRef handle = args.handle(Kind::kSnapshot);
  if (!args.ok()) return args.refuse();
  napi_value object = new_object(env);
  set(env, object, "timestamp",
      big(env, hawthorn_snapshot_timestamp(handle->as<hawthorn_snapshot>())));
  set(env, object, "nowMs", number(env, hawthorn_snapshot_now_ms(handle->as<hawthorn_snapshot>())));
  return object;
}

// What the library says of itself.
napi_value library(napi_env env, napi_callback_info) {
  napi_value object = new_object(env);
  napi_value names = new_array(env, 0);
  for (uint32_t i = 0; hawthorn_options_name(i) != nullptr; ++i) {
    const char* name = hawthorn_options_name(i);
    set_at(env, names, i, text(env, name, std::strlen(name)));
  }
  set(env, object, "options", names);
  set(env, object, "version", text(env, hawthorn_version(), std::strlen(hawthorn_version())));
  set(env, object, "formatVersion", number(env, hawthorn_format_version()));
  set(env, object, "abiVersion", number(env, hawthorn_abi_version()));
  set(env, object, "keyBytesMax", number(env, hawthorn_limit_key_bytes()));
  set(env, object, "valueBytesMax", number(env, hawthorn_limit_value_bytes()));
  set(env, object, "streamValueBytesMax", number(env, hawthorn_limit_stream_value_bytes()));
  set(env, object, "treeNameBytesMax", number(env, hawthorn_limit_tree_name_bytes()));
  set(env, object, "memoryBudgetBytesMin", number(env, hawthorn_limit_memory_budget_bytes_min()));
  return object;
}

napi_value generate_key(napi_env env, napi_callback_info info) {
  Args args(env, info);
  auto out = std::make_shared<std::string>(32, '\0');
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return hawthorn_generate_key(reinterpret_cast<uint8_t*>(out->data()), error);
      },
      [out](napi_env e) { return buffer(e, out->data(), 32); });
}

}  // namespace

hawthorn_code fill_options(const std::vector<std::pair<std::string, std::string>>& list,
                           hawthorn_options* options, hawthorn_error** error) {
  Pairs pairs;
  pairs.list = list;
  return fill(pairs, options, error);
}
std::vector<std::pair<std::string, std::string>> take_options(Args& args, napi_env env) {
  return read_pairs(args, env).list;
}
napi_value wrap_view(Env* env, hawthorn_db* db) {
  auto core = std::make_shared<DbCore>();
  core->db = db;
  return wrap_database(env, core);
}

void add_database(std::vector<Function>& all) {
  all.insert(all.end(), {{"open", open},
                         {"close", close},
                         {"dispose", dispose},
                         {"share", share},
                         {"attach", attach},
                         {"path", path},
                         {"id", id},
                         {"maintain", maintain},
                         {"limit", limit},
                         {"rotateKey", rotate_key},
                         {"stats", list<hawthorn_db_stats>},
                         {"encryption", list<hawthorn_db_encryption>},
                         {"listSnapshots", list<hawthorn_db_list_snapshots>},
                         {"prepared", list<hawthorn_db_prepared>},
                         {"listFeeds", list<hawthorn_db_list_feeds>},
                         {"stat", stat},
                         {"readCounters", read_counters},
                         {"destroyDatabase", destroy_database},
                         {"snapshot", snapshot},
                         {"nameSnapshot", name_snapshot},
                         {"snapshotInfo", snapshot_info},
                         {"library", library},
                         {"generateKey", generate_key}});
}

}  // namespace hawthorn_node
