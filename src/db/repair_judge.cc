// Which transactions of a damaged log may stay: the data that they name must be there, whole, and
// nothing else may have its place.

#include <algorithm>

#include "db/repair_impl.h"
#include "format/manifest_record.h"
#include "space/space.h"

namespace hawthorn::db {

namespace {
std::string place_of(const format::ExtentAddress& address) {
  return space::data_file_name(address.file) + " at " +
         std::to_string(uint64_t{address.block} * kRepairBlock);
}
}  // namespace

// Of an id that the manifest knew the tree is there, or was dropped since.
bool Repair::has_tree(uint32_t id) const {
  return scanned_ || state_.trees.contains(id) || id >= manifest_.state.next_tree;
}

// Copies it, unless this transaction has named it before: one that was logged again while it
// committed has.
bool Repair::take_logged(const format::ExtentAddress& extent, std::string* why) {
  if (extent.blocks == 0) return true;
  if (std::find(fresh_.begin(), fresh_.end(), extent) != fresh_.end()) return true;
  if (!data_->free(extent)) {
    *why = "something else lies where it has its data: " + place_of(extent);
    return false;
  }
  fresh_.push_back(extent);
  return true;
}

bool Repair::judge_large(const RepairOperation& operation, std::string* why) {
  const Result<format::LargeValue> value = format::decode_large_value(operation.value);
  format::ExtentAddress bad;
  if (!value.ok() || !verify_large_value(source_, *value, &bad)) {
    *why = "a large value of it is damaged: " + place_of(bad);
    return false;
  }
  for (const format::ExtentAddress& extent : format::fresh_extents(*value)) {
    if (!take_logged(extent, why)) return false;
  }
  for (const format::ExtentAddress& extent : value->extents) {
    if (large_.contains(extent) ||
        std::find(fresh_.begin(), fresh_.end(), extent) != fresh_.end()) {
      continue;
    }
    *why = "a large value of it has parts of a version that is lost: " + place_of(extent);
    return false;
  }
  return true;
}

bool Repair::judge_attached(const RepairOperation& operation, std::string* why) {
  format::ContainerRecord record;
  RepairRun run(source_, dictionaries_, memory_max_);
  if (!format::decode_container(operation.value, record).ok() || !run.read(record) ||
      !run.whole()) {
    *why = "a container of a bulk ingest is damaged: " + place_of(record.run);
    return false;
  }
  bool taken = take_logged(record.run, why);
  for (const auto& value : record.values) taken = taken && take_logged(value.address, why);
  for (const auto& large : record.large) taken = taken && take_logged(large, why);
  return taken;
}

// After a scan the log may begin in the middle of a transaction: then its other parts have to be in
// containers already, with all of it.
bool Repair::judge_parts(const RepairTransaction& transaction, std::string* why) {
  if (transaction.complete) return true;
  if (!transaction.layered.empty() && layers_.contains(transaction.cts)) return true;
  if (transaction.layered.empty()) {
    for (const auto& [tree, of] : transaction.touched) {
      if (!has_tree(tree) || cut_of(tree, of.low) >= transaction.cts) continue;
      *why = "the log has a part of it alone";
      return false;
    }
    return true;
  }
  *why =
      "it was larger than memory, and which trees hold its parts stood in the manifest: among "
      "those "
      "that have lost their names are some";
  return false;
}

bool Repair::judge(const RepairTransaction& transaction, std::string* why) {
  fresh_.clear();
  if (scanned_ && !judge_parts(transaction, why)) return false;
  for (const RepairOperation& operation : transaction.operations) {
    if (!has_tree(operation.tree)) continue;
    if (transaction.cts <= cut_of(operation.tree, operation.key)) continue;
    const bool good =
        operation.type == format::OperationType::kPutLarge ? judge_large(operation, why)
        : operation.type == format::OperationType::kAttach ? judge_attached(operation, why)
                                                           : true;
    if (!good) return false;
  }
  for (const format::ExtentAddress& extent : fresh_) {
    if (copied_.ok()) copied_ = data_->copy(extent);
    large_.insert(extent);
  }
  return true;
}

}  // namespace hawthorn::db
