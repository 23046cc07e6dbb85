// repair: a new database of what is readable of a damaged one.

#include "hawthorn/repair.h"

#include <cstdio>

#include "tools/command.h"
#include "tools/json.h"
#include "tools/keys.h"
#include "tools/progress.h"

namespace hawthorn::tools {
namespace {

std::string json_of(const RepairReport& report) {
  Json json;
  json.begin_object().field("ok", report.ok());
  json.field("superblock_read", report.superblock_read)
      .field("manifest_read", report.manifest_read)
      .field("scanned", report.scanned)
      .field("resurrected_possible", report.resurrected_possible)
      .field("uncommitted_possible", report.uncommitted_possible)
      .field("opened", report.opened);
  json.bytes("open_error", report.open_error);
  json.field("containers", report.containers)
      .field("containers_damaged", report.containers_damaged)
      .field("entries", report.entries)
      .field("bytes_copied", report.bytes_copied)
      .field("log_records", report.log_records)
      .field("log_begin", report.log_begin)
      .field("log_end", report.log_end)
      .field("transactions_dropped", report.transactions_dropped);
  json.begin_array("trees");
  for (const RepairedTree& tree : report.trees) {
    json.begin_object().bytes("name", tree.name).field("id", uint64_t{tree.id});
    json.field("named", tree.named)
        .field("containers", tree.containers)
        .field("containers_damaged", tree.containers_damaged)
        .field("entries", tree.entries);
    json.end_object();
  }
  json.end_array().begin_array("losses");
  for (const RepairLoss& loss : report.losses) {
    json.begin_object().bytes("kind", std::string(repair_loss_name(loss.kind)));
    json.bytes("tree", loss.tree).field("tree_id", uint64_t{loss.tree_id});
    json.field("container", loss.container);
    json.bytes("low", loss.low);
    if (loss.high.has_value()) json.bytes("high", *loss.high);
    json.field("entries", loss.entries).bytes("file", loss.file);
    json.field("offset", loss.offset).field("bytes", loss.bytes).bytes("what", loss.what);
    json.end_object();
  }
  return json.end_array().end_object().text();
}

std::string text_of(const RepairLoss& loss) {
  std::string text = "lost: " + std::string(repair_loss_name(loss.kind));
  if (!loss.tree.empty()) text += ", tree " + encode(Encoding::kEscaped, loss.tree);
  if (loss.kind == RepairLoss::Kind::kKeyRange) {
    text += ", keys from \"" + encode(Encoding::kEscaped, loss.low) + "\"";
    text += loss.high.has_value() ? " below \"" + encode(Encoding::kEscaped, *loss.high) + "\""
                                  : std::string(" to the end");
    text += ", " + std::to_string(loss.entries) + " entries";
  }
  if (loss.kind == RepairLoss::Kind::kLogGap || loss.kind == RepairLoss::Kind::kTransaction) {
    text += ", lsn " + std::to_string(loss.offset) + ", " + std::to_string(loss.bytes) + " bytes";
  } else if (!loss.file.empty()) {
    text += ", " + loss.file + " at " + std::to_string(loss.offset);
  }
  return text + ": " + loss.what + "\n";
}

std::string text_of(const RepairReport& report) {
  std::string text;
  for (const RepairLoss& loss : report.losses) text += text_of(loss);
  if (report.resurrected_possible) {
    text +=
        "in doubt: the containers were found without a manifest, so entries that were deleted "
        "may be back, and older values in place of lost ones\n";
  }
  if (report.uncommitted_possible) {
    text += "in doubt: entries of a bulk ingest that may not have been committed\n";
  }
  if (!report.opened) text += "the target was not opened: " + report.open_error + "\n";
  for (const RepairedTree& tree : report.trees) {
    text += "tree " + encode(Encoding::kEscaped, tree.name) + ": " +
            std::to_string(tree.containers) + " containers, " +
            std::to_string(tree.containers_damaged) + " of them damaged, " +
            std::to_string(tree.entries) + " entries\n";
  }
  return text + std::to_string(report.containers) + " containers, " +
         std::to_string(report.containers_damaged) + " damaged, " +
         std::to_string(report.log_records) + " records of the log, " +
         std::to_string(report.losses.size()) + " losses";
}

}  // namespace

Status run_repair(const CommonOptions& common, const RepairCommandOptions& options) {
  RepairOptions repair;
  repair.ignore_manifest = options.ignore_manifest;
  repair.database.memory_budget_bytes = common.memory_bytes;
  repair.database.devices = options.devices;
  Result<Encryption> encryption = encryption_of(common.key, common.key_id);
  if (!encryption.ok()) return encryption.status();
  repair.database.encryption = *std::move(encryption);
  repair.database.log = [&common](LogLevel level, std::string_view message) {
    if (level == LogLevel::kInfo && !common.verbose) return;
    std::fprintf(stderr, "hawthorn: %.*s\n", static_cast<int>(message.size()), message.data());
  };
  const Result<RepairReport> report = [&] {
    Progress progress("looked at", Progress::Unit::kContainers, common.show());
    repair.progress = [&progress](uint64_t done, uint64_t all) { progress.update(done, all); };
    return Db::repair(common.directory, options.target, repair);
  }();
  if (!report.ok()) return report.status();
  const Status printed = print_line(common.json ? json_of(*report) : text_of(*report));
  if (!printed.ok() || report->ok()) return printed;
  return Status(StatusCode::kCorruption, common.directory + ": the repair has made " +
                                             options.target + ", and not everything is in it");
}

}  // namespace hawthorn::tools
