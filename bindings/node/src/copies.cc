// Checkpoints, backups, bulk loading, checks and repairs; and values that JavaScript gives by
// pieces.

#include "addon.h"

namespace hawthorn_node {
namespace {

// Callbacks of the library that ask JavaScript, on the thread of the job.
struct Asking {
  Env* env = nullptr;
  Job* job = nullptr;
  std::string piece;  // what the source has given, as far as it is not taken
  size_t taken = 0;
  std::string message;  // why it has failed
};

hawthorn_error* failed(Asking* asking, const std::string& message) {
  asking->message = message;
  return hawthorn_error_create(HAWTHORN_INTERNAL, message.data(), message.size());
}

int64_t source(void* context, void* to, size_t capacity, hawthorn_error** error) {
  Asking* const asking = static_cast<Asking*>(context);
  while (asking->taken == asking->piece.size()) {
    std::string answer;
    if (!asking->env->ask(asking->job, "read", nullptr, 0, capacity, &answer)) {
      *error = failed(asking, answer);
      return -1;
    }
    if (answer.empty()) return 0;
    asking->piece = std::move(answer);
    asking->taken = 0;
  }
  const size_t size = std::min(capacity, asking->piece.size() - asking->taken);
  std::memcpy(to, asking->piece.data() + asking->taken, size);
  asking->taken += size;
  return static_cast<int64_t>(size);
}

hawthorn_error* sink(void* context, const void* data, size_t size) {
  Asking* const asking = static_cast<Asking*>(context);
  std::string answer;
  if (asking->env->ask(asking->job, "write", data, size, 0, &answer)) return nullptr;
  return failed(asking, answer);
}

hawthorn_error* copy_progress(void* context, uint64_t bytes) {
  Asking* const asking = static_cast<Asking*>(context);
  std::string answer;
  if (asking->env->ask(asking->job, "progress", nullptr, 0, bytes, &answer)) return nullptr;
  return failed(asking, answer);
}

struct Copy {
  hawthorn_copy_options c = HAWTHORN_COPY_OPTIONS_INIT;
  OptionList database;  // of which encryption counts
  bool progress = false;

  hawthorn_code get(Asking* asking, Options* options, hawthorn_error** error) {
    if (progress) {
      c.progress = copy_progress;
      c.context = asking;
    }
    if (database.empty()) return HAWTHORN_OK;
    options->ptr = hawthorn_options_create();
    c.encryption = options->ptr;
    return fill_options(database, options->ptr, error);
  }
};

// (bytes per second, copy blocks, full, options of a database, function, progress)
Copy read_copy(Args& args, napi_env env) {
  Copy copy;
  copy.c.bytes_per_second = args.u64();
  copy.c.copy_blocks = args.flag();
  copy.c.full = args.flag();
  copy.database = take_options(args, env);
  args.ask_by(args.function_or_null());
  copy.progress = args.flag();
  return copy;
}

// Runs a copy that may ask JavaScript, and returns rows.
template <class Run>
napi_value submit_copy(Args& args, Copy copy, Run run) {
  Env* const self = args.env();
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error, Job* job) mutable {
        Asking asking;
        asking.env = self;
        asking.job = job;
        Options options;
        const hawthorn_code code = copy.get(&asking, &options, error);
        return code != HAWTHORN_OK ? code : run(copy.c, &asking, &out->ptr, error);
      },
      [out](napi_env e) { return rows(e, out->ptr); });
}

napi_value checkpoint(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  std::string directory = args.string();
  Copy copy = read_copy(args, env);
  return submit_copy(
      args, std::move(copy),
      [=](hawthorn_copy_options& options, Asking*, hawthorn_records**, hawthorn_error** error) {
        return hawthorn_db_checkpoint(db, directory.c_str(), &options, error);
      });
}

napi_value repository_open(napi_env env, napi_callback_info info) {
  Args args(env, info);
  std::string directory = args.string();
  Env* const self = args.env();
  auto out = std::make_shared<Owned<hawthorn_repository, hawthorn_repository_free>>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error) {
        return hawthorn_repository_open(directory.c_str(), &out->ptr, error);
      },
      [=](napi_env) {
        return wrap(self, new_handle(self, Kind::kRepository, out->take(),
                                     free_as<hawthorn_repository_free, hawthorn_repository*>));
      });
}

napi_value backup(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  const HandleRef into = args.handle(Kind::kRepository);
  Copy copy = read_copy(args, env);
  return submit_copy(
      args, std::move(copy),
      [=](hawthorn_copy_options& options, Asking*, hawthorn_records** out, hawthorn_error** error) {
        return hawthorn_db_backup(db, into->as<hawthorn_repository>(), &options, out, error);
      });
}

napi_value repository_list(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef of = args.handle(Kind::kRepository);
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return hawthorn_repository_list(of->as<hawthorn_repository>(), &out->ptr, error);
      },
      [out](napi_env e) { return rows(e, out->ptr); });
}

napi_value repository_remove(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef of = args.handle(Kind::kRepository);
  const uint64_t id = args.u64();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return hawthorn_repository_remove(of->as<hawthorn_repository>(), id, error);
  });
}

// (sync, repository, id, target or null, copy options): without a target it is verified alone.
napi_value repository_restore(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef of = args.handle(Kind::kRepository);
  const uint64_t id = args.u64();
  const bool verify = args.flag();
  std::string target = args.string();
  Copy copy = read_copy(args, env);
  return submit_copy(
      args, std::move(copy),
      [=](hawthorn_copy_options& options, Asking*, hawthorn_records**, hawthorn_error** error) {
        hawthorn_repository* const repository = of->as<hawthorn_repository>();
        return verify
                   ? hawthorn_repository_verify(repository, id, &options, error)
                   : hawthorn_repository_restore(repository, id, target.c_str(), &options, error);
      });
}

napi_value backup_to(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  Copy copy = read_copy(args, env);
  return submit_copy(args, std::move(copy),
                     [=](hawthorn_copy_options& options, Asking* asking, hawthorn_records** out,
                         hawthorn_error** error) {
                       return hawthorn_db_backup_to(db, sink, asking, &options, out, error);
                     });
}

// (sync, verify, target, copy options)
napi_value restore_stream(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const bool verify = args.flag();
  std::string target = args.string();
  Copy copy = read_copy(args, env);
  return submit_copy(args, std::move(copy),
                     [=](hawthorn_copy_options& options, Asking* asking, hawthorn_records** out,
                         hawthorn_error** error) {
                       return verify ? hawthorn_verify_backup(source, asking, &options, out, error)
                                     : hawthorn_restore_backup(source, asking, target.c_str(),
                                                               &options, out, error);
                     });
}

// (sync, database, tree, unsorted, durability, memory)
napi_value ingest_open(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  hawthorn_tree* const tree = args.tree();
  hawthorn_ingest_options options = HAWTHORN_INGEST_OPTIONS_INIT;
  options.unsorted = args.flag();
  options.durability = args.u32();
  options.sort_memory_bytes = args.u64();
  Env* const self = args.env();
  const CoreRef core = args.core();
  auto out = std::make_shared<Owned<hawthorn_ingest, hawthorn_ingest_free>>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error) {
        return hawthorn_db_ingest(db, tree, &options, &out->ptr, error);
      },
      [=](napi_env) {
        return wrap(self, new_handle(self, Kind::kIngest, out->take(),
                                     free_as<hawthorn_ingest_free, hawthorn_ingest*>, core,
                                     std::make_shared<Strand>()));
      });
}

napi_value ingest_add(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef ingest = args.handle(Kind::kIngest);
  std::string key = args.bytes();
  std::string value = args.bytes();
  return args.submit(Lane::kOwn,
                     [=, key = std::move(key), value = std::move(value)](hawthorn_error** error) {
                       return hawthorn_ingest_add(ingest->as<hawthorn_ingest>(), key.data(),
                                                  key.size(), value.data(), value.size(), error);
                     });
}

// (false, ingest, key, size, function)
napi_value ingest_add_stream(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef ingest = args.handle(Kind::kIngest);
  std::string key = args.bytes();
  const uint64_t size = args.u64();
  args.ask_by(args.function_or_null());
  Env* const self = args.env();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error, Job* job) {
    Asking asking;
    asking.env = self;
    asking.job = job;
    return hawthorn_ingest_add_stream(ingest->as<hawthorn_ingest>(), key.data(), key.size(), size,
                                      source, &asking, error);
  });
}

napi_value ingest_finish(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef ingest = args.handle(Kind::kIngest);
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error) {
        const hawthorn_code code = hawthorn_ingest_finish(ingest->as<hawthorn_ingest>(), error);
        return code != HAWTHORN_OK
                   ? code
                   : hawthorn_ingest_stats(ingest->as<hawthorn_ingest>(), &out->ptr, error);
      },
      [out](napi_env e) { return rows(e, out->ptr); });
}

// (false, transaction, tree, which, key, offset, size, function): 0 put, 1 write part, 2 append
napi_value write_stream(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef txn = args.handle(Kind::kTransaction);
  hawthorn_tree* const tree = args.tree();
  const uint32_t which = args.u32();
  std::string key = args.bytes();
  const uint64_t offset = args.u64();
  const uint64_t size = args.u64();
  args.ask_by(args.function_or_null());
  Env* const self = args.env();
  auto out = std::make_shared<uint64_t>(offset);
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error, Job* job) {
        Asking asking;
        asking.env = self;
        asking.job = job;
        hawthorn_txn* const t = txn->as<hawthorn_txn>();
        if (which == 0) {
          return hawthorn_txn_put_stream(t, tree, key.data(), key.size(), size, source, &asking,
                                         error);
        }
        return which == 1 ? hawthorn_txn_write_part_stream(t, tree, key.data(), key.size(), offset,
                                                           size, source, &asking, error)
                          : hawthorn_txn_append_stream(t, tree, key.data(), key.size(), size,
                                                       source, &asking, out.get(), error);
      },
      [out](napi_env e) { return number(e, *out); });
}

// What is done, and of how much. What JavaScript throws is kept there, and ends nothing.
void check_progress(void* context, uint64_t done, uint64_t all) {
  Asking* const asking = static_cast<Asking*>(context);
  const uint64_t numbers[2] = {done, all};
  std::string answer;
  asking->env->ask(asking->job, "checked", numbers, sizeof(numbers), 0, &answer);
}

// (sync, database, skip values, skip files, threads, bytes per second, errors max, progress)
napi_value check(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  hawthorn_check_options options = HAWTHORN_CHECK_OPTIONS_INIT;
  options.skip_values = args.flag();
  options.skip_files = args.flag();
  options.threads = args.u32();
  options.bytes_per_second = args.u64();
  options.errors_max = args.u64();
  const napi_ref function = args.function_or_null();
  args.ask_by(function);
  Env* const self = args.env();
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error, Job* job) mutable {
        Asking asking;
        asking.env = self;
        asking.job = job;
        options.context = &asking;
        if (function != nullptr) options.progress = check_progress;
        return hawthorn_db_check(db, &options, &out->ptr, error);
      },
      [out](napi_env e) { return rows(e, out->ptr); });
}

// (sync, source, target, options of a database, ignore the manifest, progress)
napi_value repair(napi_env env, napi_callback_info info) {
  Args args(env, info);
  std::string from = args.string();
  std::string to = args.string();
  OptionList list = take_options(args, env);
  const bool ignore_manifest = args.flag();
  const napi_ref function = args.function_or_null();
  args.ask_by(function);
  Env* const self = args.env();
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error, Job* job) {
        Asking asking;
        asking.env = self;
        asking.job = job;
        Options database(hawthorn_options_create());
        hawthorn_code code = fill_options(list, database.ptr, error);
        if (code != HAWTHORN_OK) return code;
        hawthorn_repair_options options = HAWTHORN_REPAIR_OPTIONS_INIT;
        options.database = database.ptr;
        options.ignore_manifest = ignore_manifest;
        options.context = &asking;
        if (function != nullptr) options.progress = check_progress;
        return hawthorn_repair(from.c_str(), to.c_str(), &options, &out->ptr, error);
      },
      [out](napi_env e) { return rows(e, out->ptr); });
}

}  // namespace

void add_copies(std::vector<Function>& all) {
  all.insert(all.end(), {{"checkpoint", checkpoint},
                         {"repositoryOpen", repository_open},
                         {"backup", backup},
                         {"repositoryList", repository_list},
                         {"repositoryRemove", repository_remove},
                         {"repositoryRestore", repository_restore},
                         {"backupTo", backup_to},
                         {"restoreStream", restore_stream},
                         {"ingestOpen", ingest_open},
                         {"ingestAdd", ingest_add},
                         {"ingestAddStream", ingest_add_stream},
                         {"ingestFinish", ingest_finish},
                         {"writeStream", write_stream},
                         {"check", check},
                         {"repair", repair}});
}

}  // namespace hawthorn_node
