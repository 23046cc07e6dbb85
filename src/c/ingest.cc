// Bulk loading.

#include "c/columns.h"
#include "c/handles.h"
#include "c/read.h"
#include "c/records.h"
#include "hawthorn/c/copies.h"

struct hawthorn_ingest {
  std::shared_ptr<hawthorn::Db> db;
  hawthorn::Ingest ingest;
};

using hawthorn::Status;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::Given;
using hawthorn::c::need;

hawthorn_code hawthorn_db_ingest(hawthorn_db* db, const hawthorn_tree* tree,
                                 const hawthorn_ingest_options* options, hawthorn_ingest** out,
                                 hawthorn_error** error) {
  return call(error, [&]() -> Status {
    hawthorn_ingest_options taken;
    Status s = need(hawthorn::c::TreeOf(db, tree), Given(out, "out"));
    if (s.ok()) s = hawthorn::c::take(options, "hawthorn_ingest_options", &taken);
    if (!s.ok()) return s;
    const hawthorn::c::DurabilityOf level(taken.durability);
    if (s = need(level); !s.ok()) return s;
    auto begun = db->db->ingest(tree->tree, {.sorted = taken.unsorted == 0,
                                             .sort_memory_bytes = taken.sort_memory_bytes,
                                             .durability = level.get()});
    if (!begun.ok()) return begun.status();
    *out = new hawthorn_ingest{db->db, std::move(*begun)};
    return {};
  });
}

hawthorn_code hawthorn_ingest_add(hawthorn_ingest* ingest, const void* key, size_t key_size,
                                  const void* value, size_t value_size, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes k(key, key_size, "key");
    const Bytes v(value, value_size, "value");
    if (Status s = need(Given(ingest, "the ingest"), k, v); !s.ok()) return s;
    return ingest->ingest.add(k, v);
  });
}

hawthorn_code hawthorn_ingest_add_columns(hawthorn_ingest* ingest, const hawthorn_columns* columns,
                                          hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(ingest, "the ingest")); !s.ok()) return s;
    return hawthorn::c::for_each_row(
        columns, [&](std::string_view k, std::string_view v) { return ingest->ingest.add(k, v); });
  });
}

hawthorn_code hawthorn_ingest_add_stream(hawthorn_ingest* ingest, const void* key, size_t key_size,
                                         uint64_t size, hawthorn_stream_source source,
                                         void* context, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes k(key, key_size, "key");
    const hawthorn::c::GivenCall given(source, "source");
    if (Status s = need(Given(ingest, "the ingest"), k, given); !s.ok()) return s;
    return ingest->ingest.add_stream(k, size, hawthorn::c::source_of(source, context));
  });
}

hawthorn_code hawthorn_ingest_finish(hawthorn_ingest* ingest, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(ingest, "the ingest")); !s.ok()) return s;
    return ingest->ingest.finish();
  });
}

hawthorn_code hawthorn_ingest_finish_with(hawthorn_ingest* ingest,
                                          hawthorn_ingest_progress progress, void* context,
                                          hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(ingest, "the ingest")); !s.ok()) return s;
    if (progress == nullptr) return ingest->ingest.finish();
    return ingest->ingest.finish([progress, context](uint64_t done, uint64_t entries) {
      return hawthorn::c::take_error(progress(context, done, entries));
    });
  });
}

hawthorn_code hawthorn_ingest_stats(const hawthorn_ingest* ingest, hawthorn_records** out,
                                    hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(ingest, "the ingest"), Given(out, "out")); !s.ok()) return s;
    const hawthorn::IngestStats stats = ingest->ingest.stats();
    hawthorn_records records;
    records.add()
        .number("entries", stats.entries)
        .number("entries_attached", stats.entries_attached)
        .number("entries_logged", stats.entries_logged)
        .number("containers", stats.containers)
        .size("bytes_written", stats.bytes_written);
    hawthorn::c::hand_out_records(out, std::move(records));
    return {};
  });
}

int hawthorn_ingest_is_open(const hawthorn_ingest* ingest) {
  return ingest != nullptr && ingest->ingest.open() ? 1 : 0;
}

void hawthorn_ingest_free(hawthorn_ingest* ingest) { delete ingest; }
