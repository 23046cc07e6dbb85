// Change feeds, replicas and followers.

#include "addon.h"

namespace hawthorn_node {
namespace {

// One commit as a feed has delivered it: kept for the thread of JavaScript.
struct Change {
  hawthorn_change c = HAWTHORN_CHANGE_INIT;
  std::string tree, key, value, high, other;
  bool has_high = false;
};
struct Commit {
  int found = 0;
  uint64_t timestamp = 0, previous = 0;
  std::vector<Change> changes;
  std::vector<std::string> pieces;
};

std::string copy(const void* data, size_t size) {
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

// (sync, database, name or null, position)
napi_value feed_open(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  Bytes name = args.bytes_or_null();
  const uint64_t position = args.u64();
  Env* const self = args.env();
  const CoreRef core = args.core();
  auto out = std::make_shared<Owned<hawthorn_feed, hawthorn_feed_free>>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error) {
        return name.there ? hawthorn_feed_open(db, name.data.data(), name.size(), &out->ptr, error)
                          : hawthorn_feed_open_at(db, position, &out->ptr, error);
      },
      [=](napi_env) {
        return wrap(self, new_handle(self, Kind::kFeed, out->take(),
                                     free_as<hawthorn_feed_free, hawthorn_feed*>, core,
                                     std::make_shared<Strand>()));
      });
}

// Waits in short turns, so that the thread of JavaScript may end, or the feed be closed, meanwhile.
hawthorn_code wait_next(Env* env, const HandleRef& feed, uint64_t timeout_ms, int* found,
                        hawthorn_error** error) {
  constexpr uint64_t kTurnMs = 50;
  for (;;) {
    const uint64_t turn = std::min(timeout_ms, kTurnMs);
    const hawthorn_code code = hawthorn_feed_next(feed->as<hawthorn_feed>(), turn, found, error);
    timeout_ms -= turn;
    if (code != HAWTHORN_OK || *found || timeout_ms == 0 || env->closing || feed->closed) {
      return code;
    }
  }
}

hawthorn_code read_changes(hawthorn_feed* feed, Commit* commit, hawthorn_error** error) {
  for (;;) {
    Change change;
    int more = 0;
    const hawthorn_code code = hawthorn_feed_next_change(feed, &change.c, &more, error);
    if (code != HAWTHORN_OK || !more) return code;
    const hawthorn_change& c = change.c;
    change.tree = copy(c.tree_name, c.tree_name_size);
    change.key = copy(c.key, c.key_size);
    change.value = copy(c.value, c.value_size);
    change.high = copy(c.high, c.high_size);
    change.has_high = c.high != nullptr;
    change.other = copy(c.other_name, c.other_name_size);
    if (c.streamed) {  // one value at a time can be read, the one that was shown last
      change.value.resize(c.value_bytes);
      for (uint64_t at = 0; at < c.value_bytes;) {
        size_t got = 0;
        const hawthorn_code read = hawthorn_feed_read_value(feed, at, change.value.data() + at,
                                                            c.value_bytes - at, &got, error);
        if (read != HAWTHORN_OK) return read;
        if (got == 0) break;
        at += got;
      }
    }
    commit->changes.push_back(std::move(change));
  }
}

hawthorn_code read_pieces(hawthorn_feed* feed, Commit* commit, hawthorn_error** error) {
  for (;;) {
    const void* data = nullptr;
    size_t size = 0;
    int more = 0;
    const hawthorn_code code = hawthorn_feed_encode(feed, &data, &size, &more, error);
    if (code != HAWTHORN_OK || !more) return code;
    commit->pieces.push_back(copy(data, size));
  }
}

napi_value object_of(napi_env env, const Change& change) {
  static const char* const kinds[] = {"",           "put",         "delete",     "deleteValue",
                                      "merge",      "deleteRange", "createTree", "dropTree",
                                      "renameTree", "cloneTree"};
  napi_value object = new_object(env);
  const uint32_t type = change.c.type;
  const char* kind = type <= HAWTHORN_CHANGE_CLONE_TREE ? kinds[type] : "";
  set(env, object, "type", text(env, kind, std::strlen(kind)));
  set(env, object, "tree", text(env, change.tree.data(), change.tree.size()));
  set(env, object, "treeId", number(env, change.c.tree_id));
  if (type <= HAWTHORN_CHANGE_DELETE_RANGE) {
    set(env, object, "key", buffer(env, change.key.data(), change.key.size()));
  }
  if (type == HAWTHORN_CHANGE_PUT || type == HAWTHORN_CHANGE_DELETE_VALUE ||
      type == HAWTHORN_CHANGE_MERGE) {
    set(env, object, "value", buffer(env, change.value.data(), change.value.size()));
  }
  if (type == HAWTHORN_CHANGE_PUT)
    set(env, object, "expiresAt", number(env, change.c.expires_at_ms));
  if (type == HAWTHORN_CHANGE_DELETE_RANGE && change.has_high) {
    set(env, object, "high", buffer(env, change.high.data(), change.high.size()));
  }
  if (type == HAWTHORN_CHANGE_RENAME_TREE || type == HAWTHORN_CHANGE_CLONE_TREE) {
    set(env, object, "otherName", text(env, change.other.data(), change.other.size()));
  }
  return object;
}

// (sync, feed, timeout, what): the next commit; 0 its changes, 1 its pieces, 2 neither.
napi_value feed_next(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef feed = args.handle(Kind::kFeed);
  const uint64_t timeout = args.u64();
  const uint32_t what = args.u32();
  Env* const self = args.env();
  auto out = std::make_shared<Commit>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error) {
        hawthorn_feed* const from = feed->as<hawthorn_feed>();
        const hawthorn_code code = wait_next(self, feed, timeout, &out->found, error);
        if (code != HAWTHORN_OK || !out->found) return code;
        out->timestamp = hawthorn_feed_commit_timestamp(from);
        out->previous = hawthorn_feed_commit_previous(from);
        if (what == 0) return read_changes(from, out.get(), error);
        return what == 1 ? read_pieces(from, out.get(), error) : hawthorn_code{HAWTHORN_OK};
      },
      [=](napi_env e) {
        if (!out->found) return undefined(e);
        napi_value object = new_object(e);
        set(e, object, "timestamp", big(e, out->timestamp));
        set(e, object, "previous", big(e, out->previous));
        napi_value list = new_array(e, 0);
        uint32_t i = 0;
        for (const Change& change : out->changes) {
          set_at(e, list, i++, object_of(e, change));
        }
        for (const std::string& piece : out->pieces) {
          set_at(e, list, i++, buffer(e, piece.data(), piece.size()));
        }
        if (what != 2) set(e, object, what == 0 ? "changes" : "pieces", list);
        return object;
      });
}

napi_value feed_acknowledge(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef feed = args.handle(Kind::kFeed);
  const uint64_t timestamp = args.u64();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return hawthorn_feed_acknowledge(feed->as<hawthorn_feed>(), timestamp, error);
  });
}

napi_value feed_info(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef feed = args.handle(Kind::kFeed);
  return args.submit(
      Lane::kRead, [](hawthorn_error**) { return hawthorn_code{HAWTHORN_OK}; },
      [=](napi_env e) {
        napi_value object = new_object(e);
        const char* id = hawthorn_feed_source_id(feed->as<hawthorn_feed>());
        set(e, object, "position", big(e, hawthorn_feed_position(feed->as<hawthorn_feed>())));
        set(e, object, "sourceId", text(e, id ? id : "", id ? std::strlen(id) : 0));
        return object;
      });
}

// (sync, database, drop, name, bytes of the log or the default)
napi_value name_feed(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  const bool drop = args.flag();
  std::string name = args.bytes();
  const bool has_limit = args.flag();
  const uint64_t given = args.u64();
  const uint64_t limit = has_limit ? given : HAWTHORN_FEED_LOG_DEFAULT;
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return drop ? hawthorn_db_drop_feed(db, name.data(), name.size(), error)
                : hawthorn_db_create_feed(db, name.data(), name.size(), limit, error);
  });
}

napi_value replica_open(napi_env env, napi_callback_info info) {
  Args args(env, info);
  hawthorn_db* const db = args.db();
  Env* const self = args.env();
  const CoreRef core = args.core();
  auto out = std::make_shared<Owned<hawthorn_replica, hawthorn_replica_free>>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error) { return hawthorn_replica_open(db, &out->ptr, error); },
      [=](napi_env) {
        return wrap(self, new_handle(self, Kind::kReplica, out->take(),
                                     free_as<hawthorn_replica_free, hawthorn_replica*>, core,
                                     std::make_shared<Strand>()));
      });
}

// (sync, replica, core of the source): the handle of another database needs arguments of its own.
napi_value replica_copy(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef replica = args.handle(Kind::kReplica);
  const HandleRef source = args.other(Kind::kDatabase);
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    if (!source->core->enter()) {
      static const char kMessage[] = "the source was closed";
      *error = hawthorn_error_create(HAWTHORN_CLOSED, kMessage, sizeof(kMessage) - 1);
      return hawthorn_code{HAWTHORN_CLOSED};
    }
    const hawthorn_code code =
        hawthorn_replica_copy(replica->as<hawthorn_replica>(), source->core->db, error);
    source->core->leave();
    return code;
  });
}

napi_value replica_begin_at(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef replica = args.handle(Kind::kReplica);
  std::string id = args.bytes();
  const uint64_t timestamp = args.u64();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    return hawthorn_replica_begin_at(replica->as<hawthorn_replica>(), id.data(), id.size(),
                                     timestamp, error);
  });
}

napi_value replica_info(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef replica = args.handle(Kind::kReplica);
  return args.submit(
      Lane::kRead, [](hawthorn_error**) { return hawthorn_code{HAWTHORN_OK}; },
      [=](napi_env e) {
        napi_value object = new_object(e);
        hawthorn_replica* const of = replica->as<hawthorn_replica>();
        const char* id = hawthorn_replica_source_id(of);
        set(e, object, "position", big(e, hawthorn_replica_position(of)));
        set(e, object, "sourceId", text(e, id ? id : "", id ? std::strlen(id) : 0));
        return object;
      });
}

struct Pieces {
  std::vector<std::string> list;
  size_t next = 0;
};

hawthorn_error* next_piece(void* context, const void** data, size_t* size) {
  Pieces* const pieces = static_cast<Pieces*>(context);
  if (pieces->next >= pieces->list.size()) {
    static const char kMessage[] = "the pieces end within a commit";
    return hawthorn_error_create(HAWTHORN_INVALID_ARGUMENT, kMessage, sizeof(kMessage) - 1);
  }
  const std::string& piece = pieces->list[pieces->next++];
  *data = piece.data();
  *size = piece.size();
  return nullptr;
}

// (sync, replica, durability, bytes of all pieces, their offsets)
napi_value replica_apply(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef replica = args.handle(Kind::kReplica);
  const uint32_t durability = args.u32();
  std::string bytes = args.bytes();
  std::vector<int64_t> offsets = args.offsets(bytes.size());
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    Pieces pieces;
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      pieces.list.push_back(bytes.substr(offsets[i], offsets[i + 1] - offsets[i]));
    }
    return hawthorn_replica_apply_pieces(replica->as<hawthorn_replica>(), next_piece, &pieces,
                                         durability, error);
  });
}

// (sync, path, options)
napi_value follower_open(napi_env env, napi_callback_info info) {
  Args args(env, info);
  std::string path = args.string();
  OptionList list = take_options(args, env);
  Env* const self = args.env();
  auto out = std::make_shared<Owned<hawthorn_follower, hawthorn_follower_free>>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error) {
        Options options(hawthorn_options_create());
        const hawthorn_code code = fill_options(list, options.ptr, error);
        return code != HAWTHORN_OK
                   ? code
                   : hawthorn_follower_open(path.c_str(), options.ptr, &out->ptr, error);
      },
      [=](napi_env) {
        return wrap(self, new_handle(self, Kind::kFollower, out->take(),
                                     free_as<hawthorn_follower_free, hawthorn_follower*>));
      });
}

napi_value follower_refresh(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef follower = args.handle(Kind::kFollower);
  const bool rebuild = args.flag();
  return args.submit(Lane::kOwn, [=](hawthorn_error** error) {
    const auto call = rebuild ? hawthorn_follower_rebuild : hawthorn_follower_refresh;
    return call(follower->as<hawthorn_follower>(), error);
  });
}

napi_value follower_view(napi_env env, napi_callback_info info) {
  Args args(env, info);
  const HandleRef follower = args.handle(Kind::kFollower);
  const bool latest = args.flag();
  Env* const self = args.env();
  auto out = std::make_shared<Owned<hawthorn_db, hawthorn_db_free>>();
  return args.submit(
      Lane::kOwn,
      [=](hawthorn_error** error) {
        const auto call = latest ? hawthorn_follower_latest : hawthorn_follower_view;
        return call(follower->as<hawthorn_follower>(), &out->ptr, error);
      },
      [=](napi_env) { return wrap_view(self, out->take()); });
}

}  // namespace

void add_feeds(std::vector<Function>& all) {
  all.insert(all.end(), {{"feedOpen", feed_open},
                         {"feedNext", feed_next},
                         {"feedAcknowledge", feed_acknowledge},
                         {"feedInfo", feed_info},
                         {"nameFeed", name_feed},
                         {"replicaOpen", replica_open},
                         {"replicaCopy", replica_copy},
                         {"replicaBeginAt", replica_begin_at},
                         {"replicaInfo", replica_info},
                         {"replicaApply", replica_apply},
                         {"followerOpen", follower_open},
                         {"followerRefresh", follower_refresh},
                         {"followerView", follower_view}});
}

}  // namespace hawthorn_node
