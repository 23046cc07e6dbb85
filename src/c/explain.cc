// Where a key is: hawthorn_db_explain and hawthorn_db_explain_stored.

#include <array>

#include "c/read.h"
#include "c/records.h"

namespace hawthorn::c {

namespace {

constexpr std::array<std::string_view, 4> kPlaces = {"nowhere", "memory", "run", "layer"};
constexpr std::array<std::string_view, 6> kValueKinds = {"none",  "inline",  "separated",
                                                         "large", "deleted", "operands"};
constexpr std::array<std::string_view, 4> kResidents = {"nothing", "outline", "index", "all"};

hawthorn_records show_explanation(const KeyExplanation& told) {
  hawthorn_records records;
  records.add()
      .flag("found", told.found())
      .bytes("place", kPlaces.at(static_cast<size_t>(told.place)))
      .bytes("kind", kValueKinds.at(static_cast<size_t>(told.kind)))
      .size("value_bytes", told.value_bytes)
      .flag("value_resident", told.value_resident)
      .number("timestamp", told.timestamp)
      .number("tree", told.tree)
      .number("clones_passed", told.clones_passed)
      .number("container", told.container)
      .bytes("stored_key", std::string_view(told.stored_key))
      .bytes("low_key", std::string_view(told.low_key))
      .bytes("high_key", told.high_key)
      .number("entries_unflushed", told.entries_unflushed)
      .number("entries_flushed", told.entries_flushed)
      .size("extents_bytes", told.extents_bytes)
      .size("garbage_bytes", told.garbage_bytes)
      .number("versions_unflushed", told.versions_unflushed)
      .number("versions_flushed", told.versions_flushed)
      .bytes("resident", kResidents.at(static_cast<size_t>(told.resident)))
      .bytes("index_file", std::string_view(told.index.file))
      .size("index_offset", told.index.offset)
      .size("index_bytes", told.index.bytes)
      .bytes("extent_file", std::string_view(told.extent.file))
      .size("extent_offset", told.extent.offset)
      .size("extent_bytes", told.extent.bytes)
      .number("now_reads", told.now.reads)
      .size("now_bytes", told.now.bytes)
      .number("cold_reads", told.cold.reads)
      .size("cold_bytes", told.cold.bytes);
  return records;
}

using Explain = Result<KeyExplanation> (Db::*)(const Tree&, std::string_view, const ReadOptions&);

hawthorn_code explain(Explain how, hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                      size_t key_size, const hawthorn_snapshot* snapshot, hawthorn_records** out,
                      hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes wanted(key, key_size, "key");
    const SnapshotOf at(db, snapshot);
    if (Status s = need(TreeOf(db, tree), wanted, at, Given(out, "out")); !s.ok()) return s;
    const Result<KeyExplanation> told = (db->db.get()->*how)(tree->tree, wanted, at.options());
    if (!told.ok()) return told.status();
    hand_out_records(out, show_explanation(*told));
    return {};
  });
}

}  // namespace

}  // namespace hawthorn::c

hawthorn_code hawthorn_db_explain(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                  size_t key_size, const hawthorn_snapshot* snapshot,
                                  hawthorn_records** out, hawthorn_error** error) {
  return hawthorn::c::explain(&hawthorn::Db::explain, db, tree, key, key_size, snapshot, out,
                              error);
}
hawthorn_code hawthorn_db_explain_stored(hawthorn_db* db, const hawthorn_tree* tree,
                                         const void* key, size_t key_size,
                                         const hawthorn_snapshot* snapshot, hawthorn_records** out,
                                         hawthorn_error** error) {
  return hawthorn::c::explain(&hawthorn::Db::explain_stored, db, tree, key, key_size, snapshot, out,
                              error);
}
