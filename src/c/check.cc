// Checks and repairs.

#include "hawthorn/c/check.h"

#include <array>

#include "c/handles.h"
#include "c/options.h"
#include "c/records.h"

namespace hawthorn::c {

namespace {

constexpr std::array<std::string_view, 6> kItemKinds = {"checksum", "structure", "count",
                                                        "overlap",  "reference", "unchecked"};
constexpr std::array<std::string_view, 8> kLossKinds = {
    "superblock", "manifest", "key_range", "data_file", "log_gap", "transaction", "tree", "other"};

hawthorn_records show_items(const CheckReport& report) {
  hawthorn_records records;
  for (const CheckItem& item : report.items) {
    records.add()
        .bytes("kind", kItemKinds.at(static_cast<size_t>(item.kind)))
        .bytes("file", std::string_view(item.file))
        .size("offset", item.offset)
        .size("bytes", item.bytes)
        .number("container", item.container)
        .number("tree", item.tree)
        .bytes("tree_name", std::string_view(item.tree_name))
        .bytes("low_key", std::string_view(item.low_key))
        .bytes("high_key", item.high_key)
        .bytes("what", std::string_view(item.what))
        .bytes("text", std::string_view(item.to_string()));
  }
  return records;
}

hawthorn_records show_check(const CheckReport& report) {
  hawthorn_records records;
  records.add()
      .flag("ok", report.ok())
      .number("trees", report.trees)
      .number("containers", report.containers)
      .number("entries", report.entries)
      .number("subtrees", report.subtrees)
      .number("large_values", report.large_values)
      .size("bytes_verified", report.bytes_verified)
      .number("blocks_verified", report.blocks_verified)
      .number("log_records", report.log_records)
      .number("manifest_batches", report.manifest_batches)
      .size("bytes_unaccounted", report.bytes_unaccounted)
      .list("items", show_items(report))
      .list("errors", list_of("text", report.errors))
      .number("errors_left_out", report.errors_left_out);
  return records;
}

hawthorn_records show_repaired(const RepairReport& report) {
  hawthorn_records records;
  for (const RepairedTree& tree : report.trees) {
    records.add()
        .bytes("name", std::string_view(tree.name))
        .number("id", tree.id)
        .flag("named", tree.named)
        .number("containers", tree.containers)
        .number("containers_damaged", tree.containers_damaged)
        .number("entries", tree.entries);
  }
  return records;
}

hawthorn_records show_losses(const RepairReport& report) {
  hawthorn_records records;
  for (const RepairLoss& loss : report.losses) {
    records.add()
        .bytes("kind", kLossKinds.at(static_cast<size_t>(loss.kind)))
        .bytes("tree", std::string_view(loss.tree))
        .number("tree_id", loss.tree_id)
        .number("container", loss.container)
        .bytes("low", std::string_view(loss.low))
        .bytes("high", loss.high)
        .number("entries", loss.entries)
        .bytes("file", std::string_view(loss.file))
        .size("offset", loss.offset)
        .size("bytes", loss.bytes)
        .bytes("what", std::string_view(loss.what));
  }
  return records;
}

hawthorn_records show_repair(const RepairReport& report) {
  hawthorn_records records;
  records.add()
      .flag("ok", report.ok())
      .flag("superblock_read", report.superblock_read)
      .flag("manifest_read", report.manifest_read)
      .flag("scanned", report.scanned)
      .flag("resurrected_possible", report.resurrected_possible)
      .number("containers_unvouched", report.containers_unvouched)
      .flag("uncommitted_possible", report.uncommitted_possible)
      .list("trees", show_repaired(report))
      .list("losses", show_losses(report))
      .number("containers", report.containers)
      .number("containers_damaged", report.containers_damaged)
      .number("entries", report.entries)
      .size("bytes_copied", report.bytes_copied)
      .number("log_records", report.log_records)
      .number("log_begin", report.log_begin)
      .number("log_end", report.log_end)
      .number("transactions_dropped", report.transactions_dropped)
      .flag("opened", report.opened)
      .bytes("open_error", std::string_view(report.open_error));
  return records;
}

Status take_check_options(const hawthorn_check_options* given, CheckOptions* out) {
  hawthorn_check_options taken;
  if (Status s = take(given, "hawthorn_check_options", &taken); !s.ok()) return s;
  out->verify_values = taken.skip_values == 0;
  out->verify_files = taken.skip_files == 0;
  if (taken.threads != 0) out->threads = taken.threads;
  out->bytes_per_second = taken.bytes_per_second;
  if (taken.errors_max != 0) out->errors_max = taken.errors_max;
  if (taken.progress != nullptr) {
    out->progress = [told = taken.progress, context = taken.context](uint64_t done, uint64_t all) {
      told(context, done, all);
    };
  }
  return {};
}

}  // namespace

}  // namespace hawthorn::c

using hawthorn::Status;
using hawthorn::c::call;
using hawthorn::c::Given;
using hawthorn::c::need;

hawthorn_code hawthorn_db_check(hawthorn_db* db, const hawthorn_check_options* options,
                                hawthorn_records** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    hawthorn::CheckOptions taken;
    Status s = need(hawthorn::c::DbGiven(db), Given(out, "out"));
    if (s.ok()) s = hawthorn::c::take_check_options(options, &taken);
    if (!s.ok()) return s;
    const auto report = db->db->check(taken);
    if (!report.ok()) return report.status();
    hawthorn::c::hand_out_records(out, hawthorn::c::show_check(*report));
    return {};
  });
}

hawthorn_code hawthorn_repair(const char* source, const char* target,
                              const hawthorn_repair_options* options, hawthorn_records** out,
                              hawthorn_error** error) {
  return call(error, [&]() -> Status {
    hawthorn_repair_options taken;
    Status s = need(Given(source, "source"), Given(target, "target"), Given(out, "out"));
    if (s.ok()) s = hawthorn::c::take(options, "hawthorn_repair_options", &taken);
    if (!s.ok()) return s;
    hawthorn::RepairOptions how;
    if (taken.database != nullptr) how.database = taken.database->options;
    how.ignore_manifest = taken.ignore_manifest != 0;
    if (taken.progress != nullptr) {
      how.progress = [&taken](uint64_t done, uint64_t all) {
        taken.progress(taken.context, done, all);
      };
    }
    const auto report = hawthorn::Db::repair(source, target, how);
    if (!report.ok()) return report.status();
    hawthorn::c::hand_out_records(out, hawthorn::c::show_repair(*report));
    return {};
  });
}
