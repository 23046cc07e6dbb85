// Replicas and followers.

#include "c/feed.h"
#include "c/handles.h"
#include "c/options.h"

struct hawthorn_replica {
  std::shared_ptr<hawthorn::Db> target;
  std::unique_ptr<hawthorn::Replica> replica;
};

struct hawthorn_follower {
  std::unique_ptr<hawthorn::Follower> follower;
};

namespace hawthorn::c {
namespace {

class ReplicaGiven : public Given {
 public:
  explicit ReplicaGiven(const hawthorn_replica* replica) : Given(replica, "the replica") {}
};
class FollowerGiven : public Given {
 public:
  explicit FollowerGiven(const hawthorn_follower* follower) : Given(follower, "the follower") {}
};

}  // namespace
}  // namespace hawthorn::c

using hawthorn::Status;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::DbGiven;
using hawthorn::c::DurabilityOf;
using hawthorn::c::FollowerGiven;
using hawthorn::c::Given;
using hawthorn::c::need;
using hawthorn::c::ReplicaGiven;

hawthorn_code hawthorn_replica_open(hawthorn_db* target, hawthorn_replica** out,
                                    hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(DbGiven(target), Given(out, "out")); !s.ok()) return s;
    auto opened = hawthorn::Replica::open(*target->db);
    if (!opened.ok()) return opened.status();
    *out = new hawthorn_replica{target->db, std::move(*opened)};
    return {};
  });
}

void hawthorn_replica_free(hawthorn_replica* replica) { delete replica; }

hawthorn_code hawthorn_replica_copy(hawthorn_replica* replica, hawthorn_db* source,
                                    hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(ReplicaGiven(replica), DbGiven(source)); !s.ok()) return s;
    if (source->db == replica->target) {
      return hawthorn::c::invalid("a database cannot be a replica of itself");
    }
    return replica->replica->copy(*source->db);
  });
}

hawthorn_code hawthorn_replica_begin_at(hawthorn_replica* replica, const char* source_id,
                                        size_t source_id_size, uint64_t timestamp,
                                        hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes id(source_id, source_id_size, "source_id");
    if (Status s = need(ReplicaGiven(replica), id); !s.ok()) return s;
    return replica->replica->begin_at(id, timestamp);
  });
}

uint64_t hawthorn_replica_position(const hawthorn_replica* replica) {
  return replica != nullptr ? replica->replica->position() : 0;
}
const char* hawthorn_replica_source_id(const hawthorn_replica* replica) {
  return replica != nullptr ? replica->replica->source_id().c_str() : nullptr;
}

hawthorn_code hawthorn_replica_apply(hawthorn_replica* replica, hawthorn_feed* feed,
                                     hawthorn_durability durability, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const DurabilityOf level(durability);
    Status s = need(ReplicaGiven(replica), level);
    if (!s.ok()) return s;
    hawthorn::FeedCommit* const commit = hawthorn::c::commit_of(feed, &s);
    return commit != nullptr ? replica->replica->apply(*commit, level.get()) : s;
  });
}

hawthorn_code hawthorn_replica_apply_pieces(hawthorn_replica* replica, hawthorn_piece_source pieces,
                                            void* context, hawthorn_durability durability,
                                            hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const DurabilityOf level(durability);
    Status s = need(ReplicaGiven(replica), hawthorn::c::GivenCall(pieces, "pieces"), level);
    if (!s.ok()) return s;
    const auto next = [&]() -> hawthorn::Result<std::string_view> {
      const void* data = nullptr;
      size_t size = 0;
      if (Status told = hawthorn::c::take_error(pieces(context, &data, &size)); !told.ok()) {
        return told;
      }
      const Bytes piece(data, size, "a piece");
      if (Status wrong = need(piece); !wrong.ok()) return wrong;
      return piece.view();
    };
    return replica->replica->apply(next, level.get());
  });
}

// ---- Followers

hawthorn_code hawthorn_follower_open(const char* path, const hawthorn_options* options,
                                     hawthorn_follower** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(path, "path"), Given(out, "out")); !s.ok()) return s;
    const hawthorn::Options given = options != nullptr ? options->options : hawthorn::Options{};
    auto opened = hawthorn::Follower::open(path, hawthorn::FollowerOptions::of(given));
    if (!opened.ok()) return opened.status();
    *out = new hawthorn_follower{std::move(*opened)};
    return {};
  });
}

void hawthorn_follower_free(hawthorn_follower* follower) { delete follower; }

hawthorn_code hawthorn_follower_refresh(hawthorn_follower* follower, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(FollowerGiven(follower)); !s.ok()) return s;
    return follower->follower->refresh();
  });
}

hawthorn_code hawthorn_follower_rebuild(hawthorn_follower* follower, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(FollowerGiven(follower)); !s.ok()) return s;
    return follower->follower->rebuild();
  });
}

hawthorn_code hawthorn_follower_view(hawthorn_follower* follower, hawthorn_db** out,
                                     hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(FollowerGiven(follower), Given(out, "out")); !s.ok()) return s;
    *out = new hawthorn_db{follower->follower->view(), true};
    return {};
  });
}

hawthorn_code hawthorn_follower_latest(hawthorn_follower* follower, hawthorn_db** out,
                                       hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(FollowerGiven(follower), Given(out, "out")); !s.ok()) return s;
    auto view = follower->follower->latest();
    if (!view.ok()) return view.status();
    *out = new hawthorn_db{std::move(*view), true};
    return {};
  });
}
