// Opening and closing, snapshots, and what is done to a database as a whole.

#include <algorithm>

#include "c/handles.h"
#include "c/options.h"
#include "c/records.h"

namespace hawthorn::c {

namespace {
// Functions that only pass on to one of Db.
template <typename Body>
hawthorn_code on_db(hawthorn_db* db, hawthorn_error** error, Body&& body) {
  return call(error, [&]() -> Status {
    if (Status s = need(DbGiven(db)); !s.ok()) return s;
    return body(*db->db);
  });
}
template <typename Body>
hawthorn_code on_name(hawthorn_db* db, const char* name, size_t name_size, hawthorn_error** error,
                      Body&& body) {
  return call(error, [&]() -> Status {
    const Bytes bytes(name, name_size, "name");
    if (Status s = need(DbGiven(db), bytes); !s.ok()) return s;
    return body(*db->db, bytes.view());
  });
}

void hand_out_snapshot(const std::shared_ptr<Db>& db, Snapshot snapshot, hawthorn_snapshot** out) {
  auto held = std::make_shared<SnapshotHeld>();
  held->db = db;
  held->snapshot = std::move(snapshot);
  hand_out(out, std::move(held));
}
}  // namespace

}  // namespace hawthorn::c

using hawthorn::Db;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::c::call;
using hawthorn::c::DbGiven;
using hawthorn::c::Given;
using hawthorn::c::need;

hawthorn_code hawthorn_db_open(const char* path, const hawthorn_options* options, hawthorn_db** out,
                               hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(path, "path"), Given(out, "out")); !s.ok()) return s;
    auto opened = Db::open(path, options != nullptr ? options->options : hawthorn::Options{});
    if (!opened.ok()) return opened.status();
    hawthorn::c::hand_out(out, std::shared_ptr<Db>(std::move(*opened)));
    return {};
  });
}

hawthorn_code hawthorn_db_close(hawthorn_db* db, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(DbGiven(db)); !s.ok()) return s;
    if (db->view) return hawthorn::c::invalid("a follower's view is freed, not closed");
    return db->db->close();
  });
}

void hawthorn_db_free(hawthorn_db* db) { delete db; }

hawthorn_code hawthorn_destroy_database(const char* path, const hawthorn_options* options,
                                        hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(path, "path")); !s.ok()) return s;
    return Db::destroy(path, hawthorn::c::encryption_of(options));
  });
}

const char* hawthorn_db_path(const hawthorn_db* db) {
  return db != nullptr ? db->db->path().c_str() : nullptr;
}

hawthorn_code hawthorn_db_id(hawthorn_db* db, char id[33], hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(DbGiven(db), Given(id, "id")); !s.ok()) return s;
    const std::string text = db->db->id();
    const size_t size = std::min<size_t>(text.size(), 32);
    std::copy_n(text.data(), size, id);
    id[size] = '\0';
    return {};
  });
}

// ---- Snapshots

hawthorn_code hawthorn_db_snapshot(hawthorn_db* db, hawthorn_snapshot** out,
                                   hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(DbGiven(db), Given(out, "out")); !s.ok()) return s;
    hawthorn::Snapshot snapshot = db->db->snapshot();
    if (!snapshot.valid()) {
      const Status s = hawthorn::c::usable(*db->db);
      return s.ok() ? Status(StatusCode::kClosed, "the database is closed") : s;
    }
    hawthorn::c::hand_out_snapshot(db->db, std::move(snapshot), out);
    return {};
  });
}

uint64_t hawthorn_snapshot_timestamp(const hawthorn_snapshot* snapshot) {
  return snapshot != nullptr ? snapshot->held->snapshot.timestamp() : 0;
}
uint64_t hawthorn_snapshot_now_ms(const hawthorn_snapshot* snapshot) {
  return snapshot != nullptr ? snapshot->held->snapshot.now_ms() : 0;
}
void hawthorn_snapshot_free(hawthorn_snapshot* snapshot) { delete snapshot; }

hawthorn_code hawthorn_db_create_snapshot(hawthorn_db* db, const char* name, size_t name_size,
                                          hawthorn_error** error) {
  return hawthorn::c::on_name(db, name, name_size, error, [](Db& on, std::string_view text) {
    return on.create_snapshot(text);
  });
}

hawthorn_code hawthorn_db_open_snapshot(hawthorn_db* db, const char* name, size_t name_size,
                                        hawthorn_snapshot** out, hawthorn_error** error) {
  return hawthorn::c::on_name(db, name, name_size, error,
                              [&](Db& on, std::string_view text) -> Status {
                                if (Status s = need(Given(out, "out")); !s.ok()) return s;
                                auto snapshot = on.open_snapshot(text);
                                if (!snapshot.ok()) return snapshot.status();
                                hawthorn::c::hand_out_snapshot(db->db, std::move(*snapshot), out);
                                return {};
                              });
}

hawthorn_code hawthorn_db_drop_snapshot(hawthorn_db* db, const char* name, size_t name_size,
                                        hawthorn_error** error) {
  return hawthorn::c::on_name(db, name, name_size, error,
                              [](Db& on, std::string_view text) { return on.drop_snapshot(text); });
}

hawthorn_code hawthorn_db_list_snapshots(hawthorn_db* db, hawthorn_records** out,
                                         hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [&](Db& on) -> Status {
    const auto snapshots = on.list_snapshots();
    if (!snapshots.ok()) return snapshots.status();
    hawthorn_records records;
    for (const hawthorn::NamedSnapshot& snapshot : *snapshots) {
      records.add()
          .bytes("name", std::string_view(snapshot.name))
          .number("timestamp", snapshot.timestamp)
          .us("created_us", snapshot.created_us);
    }
    hawthorn::c::hand_out_records(out, std::move(records));
    return {};
  });
}

// ---- The database as a whole

hawthorn_code hawthorn_db_sync(hawthorn_db* db, hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [](Db& on) { return on.sync(); });
}
hawthorn_code hawthorn_db_flush(hawthorn_db* db, hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [](Db& on) { return on.flush(); });
}
hawthorn_code hawthorn_db_compact(hawthorn_db* db, hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [](Db& on) { return on.compact(); });
}
hawthorn_code hawthorn_db_compact_with(hawthorn_db* db, const hawthorn_compact_options* options,
                                       hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [options](Db& on) -> Status {
    hawthorn_compact_options taken;
    if (Status s = hawthorn::c::take(options, "hawthorn_compact_options", &taken); !s.ok())
      return s;
    hawthorn::CompactOptions how;
    if (taken.progress != nullptr) {
      how.progress = [&taken](uint64_t done, uint64_t all) {
        return hawthorn::c::take_error(taken.progress(taken.context, done, all));
      };
    }
    return on.compact(how);
  });
}
hawthorn_code hawthorn_db_drain(hawthorn_db* db, hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [](Db& on) { return on.drain(); });
}
hawthorn_code hawthorn_db_warm_up(hawthorn_db* db, hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [](Db& on) { return on.warm_up(); });
}
hawthorn_code hawthorn_db_set_memory_budget(hawthorn_db* db, uint64_t bytes,
                                            hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [&](Db& on) { return on.set_memory_budget(bytes); });
}
hawthorn_code hawthorn_db_set_background_io_limit(hawthorn_db* db, uint64_t bytes_per_second,
                                                  hawthorn_error** error) {
  return hawthorn::c::on_db(db, error,
                            [&](Db& on) { return on.set_background_io_limit(bytes_per_second); });
}

hawthorn_code hawthorn_db_encryption(hawthorn_db* db, hawthorn_records** out,
                                     hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [&](Db& on) -> Status {
    const hawthorn::EncryptionInfo info = on.encryption();
    hawthorn_records records;
    records.add()
        .flag("encrypted", info.encrypted)
        .bytes("key_id", std::string_view(info.key_id))
        .number("generation", info.generation)
        .number("data_keys", info.data_keys)
        .number("data_key", info.data_key);
    hawthorn::c::hand_out_records(out, std::move(records));
    return {};
  });
}

hawthorn_code hawthorn_db_rotate_key(hawthorn_db* db, const char* key_id, size_t key_id_size,
                                     hawthorn_error** error) {
  return hawthorn::c::on_name(db, key_id, key_id_size, error,
                              [](Db& on, std::string_view id) { return on.rotate_key(id); });
}
hawthorn_code hawthorn_db_rotate_data_key(hawthorn_db* db, hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [](Db& on) { return on.rotate_data_key(); });
}

// ---- Feeds are made and dropped by the database; c/feed.cc reads them

hawthorn_code hawthorn_db_create_feed(hawthorn_db* db, const char* name, size_t name_size,
                                      uint64_t log_bytes_max, hawthorn_error** error) {
  return hawthorn::c::on_name(db, name, name_size, error, [&](Db& on, std::string_view text) {
    hawthorn::FeedOptions options;
    if (log_bytes_max != HAWTHORN_FEED_LOG_DEFAULT) options.log_bytes_max = log_bytes_max;
    return on.create_feed(text, options);
  });
}
hawthorn_code hawthorn_db_drop_feed(hawthorn_db* db, const char* name, size_t name_size,
                                    hawthorn_error** error) {
  return hawthorn::c::on_name(db, name, name_size, error,
                              [](Db& on, std::string_view text) { return on.drop_feed(text); });
}

hawthorn_code hawthorn_db_list_feeds(hawthorn_db* db, hawthorn_records** out,
                                     hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [&](Db& on) -> Status {
    const auto feeds = on.list_feeds();
    if (!feeds.ok()) return feeds.status();
    hawthorn_records records;
    for (const hawthorn::FeedInfo& feed : *feeds) {
      records.add()
          .bytes("name", std::string_view(feed.name))
          .number("position", feed.position)
          .us("created_us", feed.created_us)
          .size("log_bytes_max", feed.log_bytes_max)
          .size("log_bytes", feed.log_bytes)
          .flag("lost", feed.lost)
          .flag("open", feed.open);
    }
    hawthorn::c::hand_out_records(out, std::move(records));
    return {};
  });
}

// ---- Prepared transactions

hawthorn_code hawthorn_db_prepared(hawthorn_db* db, hawthorn_records** out,
                                   hawthorn_error** error) {
  return hawthorn::c::on_db(db, error, [&](Db& on) -> Status {
    const auto prepared = on.prepared();
    if (!prepared.ok()) return prepared.status();
    hawthorn_records records;
    for (const hawthorn::PreparedTransaction& transaction : *prepared) {
      records.add()
          .bytes("id", std::string_view(transaction.id))
          .number("operations", transaction.operations)
          .number("timestamp", transaction.timestamp)
          .us("prepared_at_us", transaction.prepared_at_us);
    }
    hawthorn::c::hand_out_records(out, std::move(records));
    return {};
  });
}
hawthorn_code hawthorn_db_commit_prepared(hawthorn_db* db, const char* id, size_t id_size,
                                          hawthorn_durability durability, hawthorn_error** error) {
  return hawthorn::c::on_name(db, id, id_size, error, [&](Db& on, std::string_view text) -> Status {
    const hawthorn::c::DurabilityOf level(durability);
    if (Status s = need(level); !s.ok()) return s;
    return on.commit_prepared(text, level.get());
  });
}
hawthorn_code hawthorn_db_rollback_prepared(hawthorn_db* db, const char* id, size_t id_size,
                                            hawthorn_error** error) {
  return hawthorn::c::on_name(db, id, id_size, error, [](Db& on, std::string_view text) {
    return on.rollback_prepared(text);
  });
}
