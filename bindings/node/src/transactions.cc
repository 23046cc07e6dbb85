// Transactions: begin and end, savepoints, two phases, locks, streams.

#include "addon.h"

namespace hawthorn_node {
namespace {

napi_value wrap_txn(Env* env, hawthorn_txn* txn, const CoreRef& core, StrandRef strand) {
  return wrap(env, new_handle(env, Kind::kTransaction, txn,
                              free_as<hawthorn_txn_free, hawthorn_txn*>, core, std::move(strand)));
}

// (sync, database, mode, isolation, read only, has timeout, timeout, snapshot)
napi_value begin(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  hawthorn_txn_options options = HAWTHORN_TXN_OPTIONS_INIT;
  options.mode = args.u32();
  options.isolation = args.u32();
  options.read_only = args.flag();
  options.has_lock_timeout = args.flag();
  options.lock_timeout_ms = args.u64();
  options.snapshot = args.snapshot();
  Env* const self = args.env();
  const CoreRef core = args.core();
  auto out = std::make_shared<Owned<hawthorn_txn, hawthorn_txn_free>>();
  auto strand = std::make_shared<Strand>();
  if (!args.sync() && args.ok() && options.mode == HAWTHORN_TXN_EXCLUSIVE) {
    strand->runner = std::make_unique<Runner>(self);
    args.run_on(strand);
  }
  return args.submit(
      Lane::kRead,  // only exclusive ones wait for others
      [=](hawthorn_error** error) { return hawthorn_txn_begin(db, &options, &out->ptr, error); },
      [=](napi_env) { return wrap_txn(self, out->take(), core, strand); });
}

napi_value begin_nested(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  Env* const self = args.env();
  const CoreRef core = args.core();
  const StrandRef strand = args.strand();
  auto out = std::make_shared<Owned<hawthorn_txn, hawthorn_txn_free>>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) { return hawthorn_txn_begin_nested(at.txn, &out->ptr, error); },
      [=](napi_env) { return wrap_txn(self, out->take(), core, strand); });
}

napi_value commit(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef txn = args.handle(Kind::kTransaction);
  const uint32_t durability = args.u32();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return hawthorn_txn_commit(txn->as<hawthorn_txn>(), durability, error);
  });
}

napi_value abort(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef txn = args.handle(Kind::kTransaction);
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return hawthorn_txn_abort(txn->as<hawthorn_txn>(), error);
  });
}

napi_value is_open(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef txn = args.handle(Kind::kTransaction);
  auto out = std::make_shared<int>(0);
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error**) {
        *out = hawthorn_txn_is_open(txn->as<hawthorn_txn>());
        return hawthorn_code{HAWTHORN_OK};
      },
      [out](napi_env e) { return boolean(e, *out != 0); });
}

// A savepoint is two numbers.
napi_value savepoint(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef txn = args.handle(Kind::kTransaction);
  auto out = std::make_shared<hawthorn_savepoint>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return hawthorn_txn_savepoint(txn->as<hawthorn_txn>(), out.get(), error);
      },
      [out](napi_env e) {
        napi_value list = new_array(e, 2);
        set_at(e, list, 0, big(e, out->words[0]));
        set_at(e, list, 1, big(e, out->words[1]));
        return list;
      });
}

// (sync, transaction, word, word, release)
napi_value to_savepoint(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef txn = args.handle(Kind::kTransaction);
  hawthorn_savepoint point;
  point.words[0] = args.u64();
  point.words[1] = args.u64();
  const bool release = args.flag();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    const auto call = release ? hawthorn_txn_release : hawthorn_txn_rollback_to;
    return call(txn->as<hawthorn_txn>(), &point, error);
  });
}

napi_value prepare(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef txn = args.handle(Kind::kTransaction);
  std::string id = args.bytes();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return hawthorn_txn_prepare(txn->as<hawthorn_txn>(), id.data(), id.size(), error);
  });
}

// (sync, database, id, commit, durability)
napi_value end_prepared(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  std::string id = args.bytes();
  const bool commit = args.flag();
  const uint32_t durability = args.u32();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return commit ? hawthorn_db_commit_prepared(db, id.data(), id.size(), durability, error)
                  : hawthorn_db_rollback_prepared(db, id.data(), id.size(), error);
  });
}

// (sync, transaction, tree, key, lock, has timeout, timeout)
napi_value lock(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef txn = args.handle(Kind::kTransaction);
  hawthorn_tree* const tree = args.tree();
  std::string key = args.bytes();
  const uint32_t kind = args.u32();
  const bool has_timeout = args.flag();
  const uint64_t given = args.u64();
  const uint64_t timeout = has_timeout ? given : HAWTHORN_TIMEOUT_DEFAULT;
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return hawthorn_txn_lock(txn->as<hawthorn_txn>(), tree, key.data(), key.size(), kind, timeout,
                             error);
  });
}

}  // namespace

void add_transactions(std::vector<Function>& all) {
  all.insert(all.end(), {{"begin", begin},
                         {"beginNested", begin_nested},
                         {"commit", commit},
                         {"abort", abort},
                         {"isOpen", is_open},
                         {"savepoint", savepoint},
                         {"toSavepoint", to_savepoint},
                         {"prepare", prepare},
                         {"endPrepared", end_prepared},
                         {"lock", lock}});
}

}  // namespace hawthorn_node
