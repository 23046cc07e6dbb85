// Change feeds.

#include "c/feed.h"

#include <algorithm>

#include "c/read.h"
#include "c/stats.h"
#include "c/trees.h"

namespace hawthorn::c {

FeedCommit* commit_of(hawthorn_feed* feed, Status* status) {
  if (feed == nullptr) {
    *status = invalid("the feed is NULL");
    return nullptr;
  }
  if (feed->commit == nullptr) *status = invalid("the feed stands on no commit");
  return feed->commit;
}

namespace {

void leave_commit(hawthorn_feed* feed) {
  feed->commit = nullptr;
  feed->change = {};
}

void show_change(const FeedChange& change, hawthorn_change* out) {
  const size_t struct_size = out->struct_size;
  *out = {};
  out->struct_size = struct_size;
  out->type = static_cast<hawthorn_change_type>(change.type);
  if (change.tree != nullptr) {
    out->tree_id = change.tree->id;
    out->tree_name = change.tree->name.c_str();
    out->tree_name_size = change.tree->name.size();
  }
  out->key = change.key.data();
  out->key_size = change.key.size();
  out->value = change.value.data();
  out->value_size = change.value.size();
  if (change.high.has_value()) {
    out->high = change.high->data() != nullptr ? change.high->data() : "";
    out->high_size = change.high->size();
  }
  out->other_name = change.other_name.data();
  out->other_name_size = change.other_name.size();
  out->expires_at_ms = change.expires_at_ms;
  out->value_bytes = change.value_bytes;
  out->streamed = change.streamed ? 1 : 0;
}

Status hand_out_feed(const std::shared_ptr<Db>& db, Result<Feed> opened, hawthorn_feed** out) {
  if (!opened.ok()) return opened.status();
  auto feed = std::make_unique<hawthorn_feed>();
  feed->db = db;
  feed->feed = std::move(*opened);
  *out = feed.release();
  return {};
}

}  // namespace

}  // namespace hawthorn::c

using hawthorn::Status;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::commit_of;
using hawthorn::c::DbGiven;
using hawthorn::c::Given;
using hawthorn::c::need;

hawthorn_code hawthorn_feed_open(hawthorn_db* db, const char* name, size_t name_size,
                                 hawthorn_feed** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes bytes(name, name_size, "name");
    if (Status s = need(DbGiven(db), bytes, Given(out, "out")); !s.ok()) return s;
    return hawthorn::c::hand_out_feed(db->db, db->db->open_feed(bytes), out);
  });
}

hawthorn_code hawthorn_feed_open_at(hawthorn_db* db, uint64_t position, hawthorn_feed** out,
                                    hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(DbGiven(db), Given(out, "out")); !s.ok()) return s;
    return hawthorn::c::hand_out_feed(db->db, db->db->open_feed_at(position), out);
  });
}

void hawthorn_feed_free(hawthorn_feed* feed) { delete feed; }

uint64_t hawthorn_feed_position(const hawthorn_feed* feed) {
  return feed != nullptr ? feed->feed.position() : 0;
}
const char* hawthorn_feed_source_id(const hawthorn_feed* feed) {
  return feed != nullptr ? feed->feed.source_id().c_str() : nullptr;
}

hawthorn_code hawthorn_feed_next(hawthorn_feed* feed, uint64_t timeout_ms, int* found,
                                 hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(feed, "the feed"), Given(found, "found")); !s.ok()) return s;
    *found = 0;
    hawthorn::c::leave_commit(feed);
    const auto commit = feed->feed.next(timeout_ms);
    if (!commit.ok()) return commit.status();
    feed->commit = *commit;
    *found = feed->commit != nullptr ? 1 : 0;
    return {};
  });
}

uint64_t hawthorn_feed_commit_timestamp(const hawthorn_feed* feed) {
  return feed != nullptr && feed->commit != nullptr ? feed->commit->cts() : 0;
}
uint64_t hawthorn_feed_commit_previous(const hawthorn_feed* feed) {
  return feed != nullptr && feed->commit != nullptr ? feed->commit->previous() : 0;
}

hawthorn_code hawthorn_feed_next_change(hawthorn_feed* feed, hawthorn_change* change, int* found,
                                        hawthorn_error** error) {
  return call(error, [&]() -> Status {
    Status s = need(Given(found, "found"));
    if (s.ok()) s = hawthorn::c::take_out(change, "hawthorn_change");
    if (!s.ok()) return s;
    *found = 0;
    hawthorn::FeedCommit* const commit = commit_of(feed, &s);
    if (commit == nullptr) return s;
    feed->change = {};
    const auto more = commit->next(&feed->change);
    if (!more.ok()) return more.status();
    if (!*more) {
      feed->change = {};
      return {};
    }
    hawthorn::c::show_change(feed->change, change);
    *found = 1;
    return {};
  });
}

hawthorn_code hawthorn_feed_change_tree(hawthorn_feed* feed, hawthorn_records** out,
                                        hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(feed, "the feed"), Given(out, "out")); !s.ok()) return s;
    const hawthorn::FeedTree* const tree = feed->change.tree;
    if (tree == nullptr) return hawthorn::c::invalid("the feed stands on no change");
    hawthorn_records records;
    hawthorn::c::Row& row = records.add();
    row.number("id", tree->id).bytes("name", std::string_view(tree->name));
    hawthorn::c::show_tree_options(tree->options, &row);
    row.bytes("compression", hawthorn::c::compression_name(tree->compression))
        .bytes("merge_operator", std::string_view(tree->merge_operator));
    hawthorn::c::hand_out_records(out, std::move(records));
    return {};
  });
}

hawthorn_code hawthorn_feed_read_value(hawthorn_feed* feed, uint64_t offset, void* buffer,
                                       size_t capacity, size_t* size, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const hawthorn::c::Room room(buffer, capacity);
    Status s = need(room, Given(size, "size"));
    if (!s.ok()) return s;
    hawthorn::FeedCommit* const commit = commit_of(feed, &s);
    if (commit == nullptr) return s;
    return hawthorn::c::hand_out_value(commit->read_value(offset, room.span()), size);
  });
}

hawthorn_code hawthorn_feed_encode(hawthorn_feed* feed, const void** data, size_t* size, int* found,
                                   hawthorn_error** error) {
  return call(error, [&]() -> Status {
    Status s = need(Given(data, "data"), Given(size, "size"), Given(found, "found"));
    if (!s.ok()) return s;
    *found = 0;
    hawthorn::FeedCommit* const commit = commit_of(feed, &s);
    if (commit == nullptr) return s;
    const auto more = commit->encode(&feed->piece);
    if (!more.ok()) return more.status();
    if (!*more) return {};
    *data = feed->piece.data();
    *size = feed->piece.size();
    *found = 1;
    return {};
  });
}

hawthorn_code hawthorn_feed_acknowledge(hawthorn_feed* feed, uint64_t timestamp,
                                        hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(feed, "the feed")); !s.ok()) return s;
    return feed->feed.acknowledge(timestamp);
  });
}
