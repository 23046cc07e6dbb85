// Trees, and trees as values: of a database or within a transaction.

#include "addon.h"

namespace hawthorn_node {
namespace {

struct TreeOptions {
  bool there = false;
  std::string order, value_order;
  hawthorn_tree_options c = HAWTHORN_TREE_OPTIONS_INIT;
  const hawthorn_tree_options* get() {
    if (!there) return nullptr;
    c.order = order.c_str();
    c.value_order = value_order.c_str();
    return &c;
  }
};

// (there, order, value order, multi value, expires, subtrees, ttl)
TreeOptions read_options(Args& args) {
  TreeOptions options;
  options.there = args.flag();
  options.order = args.string();
  options.value_order = args.string();
  options.c.multi_value = args.flag();
  options.c.expires = args.flag();
  options.c.subtrees = args.flag();
  options.c.ttl_ms = args.u64();
  return options;
}

// Submits what makes a handle of a tree.
template <class Run>
napi_value submit_tree(Args& args, Lane lane, Run run) {
  Env* const self = args.env();
  const CoreRef core = args.core();
  auto out = std::make_shared<Owned<hawthorn_tree, hawthorn_tree_free>>();
  return args.submit(
      lane, [=](hawthorn_error** error) mutable { return run(&out->ptr, error); },
      [=](napi_env) {
        return wrap(self, new_handle(self, Kind::kTree, out->take(),
                                     free_as<hawthorn_tree_free, hawthorn_tree*>, core));
      });
}

napi_value tree(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  std::string name = args.bytes();
  TreeOptions options = read_options(args);
  return submit_tree(args, Lane::kWrite, [=](hawthorn_tree** out, hawthorn_error** error) mutable {
    return at.txn ? hawthorn_txn_tree(at.txn, name.data(), name.size(), options.get(), out, error)
                  : hawthorn_db_tree(at.db, name.data(), name.size(), options.get(), out, error);
  });
}

napi_value find_tree(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  std::string name = args.bytes();
  hawthorn_snapshot* const snapshot = args.snapshot();
  return submit_tree(args, Lane::kRead, [=](hawthorn_tree** out, hawthorn_error** error) {
    return at.txn ? hawthorn_txn_find_tree(at.txn, name.data(), name.size(), out, error)
                  : hawthorn_db_find_tree(at.db, name.data(), name.size(), snapshot, out, error);
  });
}

napi_value clone_tree(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  std::string from = args.bytes();
  std::string to = args.bytes();
  const uint32_t durability = args.u32();
  return submit_tree(args, Lane::kWrite, [=](hawthorn_tree** out, hawthorn_error** error) {
    return at.txn ? hawthorn_txn_clone_tree(at.txn, from.data(), from.size(), to.data(), to.size(),
                                            out, error)
                  : hawthorn_db_clone_tree(at.db, from.data(), from.size(), to.data(), to.size(),
                                           durability, out, error);
  });
}

napi_value create_subtree(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const parent = args.tree();
  std::string key = args.bytes();
  const uint32_t durability = args.u32();
  TreeOptions options = read_options(args);
  return submit_tree(args, Lane::kWrite, [=](hawthorn_tree** out, hawthorn_error** error) mutable {
    return at.txn ? hawthorn_txn_create_subtree(at.txn, parent, key.data(), key.size(),
                                                options.get(), out, error)
                  : hawthorn_db_create_subtree(at.db, parent, key.data(), key.size(), options.get(),
                                               durability, out, error);
  });
}

napi_value subtree(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const parent = args.tree();
  std::string key = args.bytes();
  hawthorn_snapshot* const snapshot = args.snapshot();
  return submit_tree(args, Lane::kRead, [=](hawthorn_tree** out, hawthorn_error** error) {
    return at.txn
               ? hawthorn_txn_subtree(at.txn, parent, key.data(), key.size(), out, error)
               : hawthorn_db_subtree(at.db, parent, key.data(), key.size(), snapshot, out, error);
  });
}

napi_value clone_subtree(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const parent = args.tree();
  std::string key = args.bytes();
  std::string to = args.bytes();
  const uint32_t durability = args.u32();
  return submit_tree(args, Lane::kWrite, [=](hawthorn_tree** out, hawthorn_error** error) {
    return at.txn ? hawthorn_txn_clone_subtree(at.txn, parent, key.data(), key.size(), to.data(),
                                               to.size(), out, error)
                  : hawthorn_db_clone_subtree(at.db, parent, key.data(), key.size(), to.data(),
                                              to.size(), durability, out, error);
  });
}

napi_value list_trees(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_snapshot* const snapshot = args.snapshot();
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return at.txn ? hawthorn_txn_list_trees(at.txn, &out->ptr, error)
                      : hawthorn_db_list_trees(at.db, snapshot, &out->ptr, error);
      },
      [out](napi_env e) { return rows(e, out->ptr); });
}

napi_value list_subtrees(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const parent = args.tree();
  hawthorn_snapshot* const snapshot = args.snapshot();
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) {
        return at.txn ? hawthorn_txn_list_subtrees(at.txn, parent, &out->ptr, error)
                      : hawthorn_db_list_subtrees(at.db, parent, snapshot, &out->ptr, error);
      },
      [out](napi_env e) { return rows(e, out->ptr); });
}

napi_value drop_tree(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  std::string name = args.bytes();
  return args.submit(Lane::kWrite, [=](hawthorn_error** error) {
    return at.txn ? hawthorn_txn_drop_tree(at.txn, name.data(), name.size(), error)
                  : hawthorn_db_drop_tree(at.db, name.data(), name.size(), error);
  });
}

napi_value rename_tree(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  std::string from = args.bytes();
  std::string to = args.bytes();
  return args.submit(Lane::kWrite, [=](hawthorn_error** error) {
    return at.txn ? hawthorn_txn_rename_tree(at.txn, from.data(), from.size(), to.data(), to.size(),
                                             error)
                  : hawthorn_db_rename_tree(at.db, from.data(), from.size(), to.data(), to.size(),
                                            error);
  });
}

// (sync, target, parent, key, name, durability, take off)
napi_value attach_tree(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const parent = args.tree();
  std::string key = args.bytes();
  std::string name = args.bytes();
  const uint32_t durability = args.u32();
  const bool off = args.flag();
  return args.submit(Lane::kWrite, [=](hawthorn_error** error) {
    if (at.txn) {
      const auto call = off ? hawthorn_txn_detach : hawthorn_txn_attach;
      return call(at.txn, parent, key.data(), key.size(), name.data(), name.size(), error);
    }
    const auto call = off ? hawthorn_db_detach : hawthorn_db_attach;
    return call(at.db, parent, key.data(), key.size(), name.data(), name.size(), durability, error);
  });
}

napi_value move_subtree(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const Target at = args.target();
  hawthorn_tree* const parent = args.tree();
  std::string key = args.bytes();
  hawthorn_tree* const to = args.tree();
  std::string to_key = args.bytes();
  const uint32_t durability = args.u32();
  return args.submit(Lane::kWrite, [=](hawthorn_error** error) {
    return at.txn ? hawthorn_txn_move_subtree(at.txn, parent, key.data(), key.size(), to,
                                              to_key.data(), to_key.size(), error)
                  : hawthorn_db_move_subtree(at.db, parent, key.data(), key.size(), to,
                                             to_key.data(), to_key.size(), durability, error);
  });
}

napi_value tree_options(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  hawthorn_tree* const of = args.tree();
  auto out = std::make_shared<Records>();
  return args.submit(
      Lane::kRead,
      [=](hawthorn_error** error) { return hawthorn_db_tree_options(db, of, &out->ptr, error); },
      [out](napi_env e) { return rows(e, out->ptr); });
}

napi_value tree_id(napi_env env, napi_callback_info info) {
  Args args(env, info, false);
  hawthorn_tree* const of = args.tree();
  if (!args.ok()) return args.refuse();
  return number(env, hawthorn_tree_id(of));
}

napi_value set_compression(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  hawthorn_tree* const of = args.tree();
  const uint32_t compression = args.u32();
  return args.submit(Lane::kWrite, [=](hawthorn_error** error) {
    return hawthorn_db_set_compression(db, of, compression, error);
  });
}

napi_value set_merge_operator(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  hawthorn_tree* const of = args.tree();
  std::string name = args.bytes();
  return args.submit(Lane::kWrite, [=](hawthorn_error** error) {
    return hawthorn_db_set_merge_operator(db, of, name.data(), name.size(), error);
  });
}

}  // namespace

void add_trees(std::vector<Function>& all) {
  all.insert(all.end(), {{"tree", tree},
                         {"findTree", find_tree},
                         {"cloneTree", clone_tree},
                         {"createSubtree", create_subtree},
                         {"subtree", subtree},
                         {"cloneSubtree", clone_subtree},
                         {"listTrees", list_trees},
                         {"listSubtrees", list_subtrees},
                         {"dropTree", drop_tree},
                         {"renameTree", rename_tree},
                         {"attachTree", attach_tree},
                         {"moveSubtree", move_subtree},
                         {"treeOptions", tree_options},
                         {"treeId", tree_id},
                         {"setCompression", set_compression},
                         {"setMergeOperator", set_merge_operator}});
}

}  // namespace hawthorn_node
