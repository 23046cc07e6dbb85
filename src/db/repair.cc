// Db::repair: reads what is left of a database and makes another one of it, with the same ids, lsns
// and places, which is then opened as any other.

#include <algorithm>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/out_of_memory.h"
#include "db/impl.h"
#include "db/incomplete.h"
#include "db/manifest.h"
#include "db/repair_impl.h"
#include "format/manifest_record.h"
#include "space/space.h"
#include "wal/log_directory.h"

namespace hawthorn::db {

RepairLoss& Repair::lose(RepairLoss::Kind kind, std::string what) {
  RepairLoss& loss = report_.losses.emplace_back();
  loss.kind = kind;
  loss.what = std::move(what);
  return loss;
}

void Repair::lose_range(const format::ContainerRecord& record, const RepairGap& gap,
                        const std::string* high) {
  RepairLoss& loss = lose(RepairLoss::Kind::kKeyRange, gap.what);
  loss.tree_id = record.tree;
  loss.container = record.id;
  loss.low = gap.low;
  loss.high = gap.high;
  if (!loss.high.has_value() && high != nullptr) loss.high = *high;
  loss.entries = gap.entries;
  loss.file = gap.file;
  loss.offset = gap.offset;
  loss.bytes = kRepairBlock;
  if (record.tree == format::kCatalogTree) catalog_damaged_ = true;
}

void Repair::note_entries(const format::ContainerRecord& record, bool damaged) {
  RepairedTree& tree = trees_[record.tree];
  ++tree.containers;
  tree.containers_damaged += damaged ? 1 : 0;
  tree.entries += record.entries;
}

// Whether the target would be made in the source, whatever its path looks like: where one of the
// directories above it is the source, the source's lock, which this process has, is held there.
bool Repair::is_inside_source() const {
  const auto plain = [](const std::string& path) {
    std::string result = path.starts_with('/') ? "" : ".";
    for (size_t at = 0; at < path.size();) {
      const size_t end = std::min(path.find('/', at), path.size());
      const std::string part = path.substr(at, end - at);
      const size_t last = result.rfind('/');
      if (part == ".." && last != std::string::npos && result.substr(last) != "/..") {
        result.resize(last);
      } else if (!part.empty() && part != ".") {
        result.append("/").append(part);
      }
      at = end + 1;
    }
    return result + "/";
  };
  if (plain(target_).starts_with(plain(source_.directory()))) return true;
  // From each directory that is there upwards: links lead elsewhere than they look like.
  constexpr int kDepthMax = 40;
  std::string path = target_.starts_with('/') ? target_ : "./" + target_;
  for (size_t slash = path.rfind('/'); slash != std::string::npos; slash = path.rfind('/')) {
    path.resize(slash);
    std::string above = path + "/";
    for (int depth = 0; depth < kDepthMax; ++depth, above += "../") {
      auto lock = machine_.files->open_file(above + kLockName, {.read_only = true, .locks = true});
      if (lock.ok() && (*lock)->lock_exclusive().is(StatusCode::kBusy)) return true;
    }
  }
  return false;
}

Status Repair::begin() {
  os::FileSystem& files = *machine_.files;
  const Result<bool> there = files.exists(target_);
  if (!there.ok()) return there.status();
  if (*there) return Status(StatusCode::kInvalidArgument, target_ + " exists");
  if (Status s = source_.list(); !s.ok()) return s;
  const bool any =
      std::any_of(source_.names().begin(), source_.names().end(), [](const std::string& name) {
        return is_manifest_file(name) || space::is_data_file(name) || wal::is_log_file(name);
      });
  if (!any) return Status(StatusCode::kNotFound, source_.directory() + " holds no database");
  if (Status s = refuse_incomplete(machine_, source_.directory()); !s.ok()) return s;
  auto lock =
      files.open_file(join(source_.directory(), kLockName), {.read_only = true, .locks = true});
  if (lock.ok()) {
    if (Status s = (*lock)->lock_exclusive(); !s.ok()) return s;
    lock_ = std::move(lock).value();
  }
  if (is_inside_source()) {
    return Status(StatusCode::kInvalidArgument,
                  target_ + " lies in " + source_.directory() + ", or in another open database");
  }
  if (Status s = open_keys(); !s.ok()) return s;
  if (Status s = read_manifest_for_repair(source_, memory_max_, &manifest_, &report_); !s.ok()) {
    return s;
  }
  if (Status s = open_devices(); !s.ok()) return s;
  for (const auto& [id, record] : manifest_.state.dictionaries) {
    auto made = format::Dictionary::make(id, record.bytes);
    if (made != nullptr) dictionaries_[id] = std::move(made);
  }
  const bool whole = manifest_.superblock_read && manifest_.whole && !manifest_.torn;
  if (options_.ignore_manifest && whole) {
    if (Status s = confirm_manifest(); !s.ok()) return s;
  }
  scanned_ = (options_.ignore_manifest && !confirmed_) || !manifest_.whole ||
             (manifest_.torn && is_outdated());
  uint32_t new_file = source_.data_files().empty() ? 0 : source_.data_files().back() + 1;
  const auto keep_away = [&](const format::ExtentAddress& address) {
    if (address.file < format::kDeviceFilesFirst) new_file = std::max(new_file, address.file + 1);
  };
  for (const auto& [id, record] : manifest_.state.containers) {
    keep_away(record.run);
    for (const auto& value : record.values) keep_away(value.address);
    for (const auto& large : record.large) keep_away(large);
  }
  if (on_devices_) new_file = format::kDeviceFilesFirst + devices_;
  data_ = std::make_unique<RepairTarget>(source_, target_, new_file);
  if (Status s = data_->begin(); !s.ok()) return s;
  return repeat_keys();
}

// Of a manifest whose last batch does not validate: whether that was durable. Then what it replaced
// may have been written over, and what it said can be found by a scan alone.
bool Repair::is_outdated() {
  for (const auto& [id, record] : manifest_.state.containers) {
    if (record.run.blocks == 0) continue;
    const auto known = manifest_.known_runs.find({record.run.file, record.run.block});
    if (known != manifest_.known_runs.end() && known->second.run_checksum != record.run_checksum) {
      return true;
    }
    const format::RunFront front = format::run_front(record);
    const size_t bytes = size_t{front.header_blocks} * kRepairBlock;
    if (bytes == 0 || bytes > memory_max_) return true;
    RepairBuffer area(bytes);
    std::string why;
    if (!area.ok() || !read_run_header(source_, record, {area.data(), bytes}, &why) ||
        checksum64(area.data(), bytes, 0) != record.run_checksum) {
      return true;
    }
  }
  return false;
}

// ---- Containers that the manifest names

// Of a layer: what stands where the tree that it is of, which was taken before, has lost something
// is what a transaction wrote first, and may have written again since. True where there is any.
bool Repair::drop_superseded(uint32_t tree, std::vector<RepairEntry>* entries) const {
  const std::optional<format::TreeRecord> layer = manifest_.state.trees.get(tree);
  if (!layer.has_value() || layer->layer_of == 0) return false;
  const size_t before = entries->size();
  for (const RepairLoss& loss : report_.losses) {
    if (loss.kind != RepairLoss::Kind::kKeyRange || loss.tree_id != layer->layer_of) continue;
    std::erase_if(*entries, [&](const RepairEntry& entry) {
      return entry.key >= loss.low && (!loss.high.has_value() || entry.key < *loss.high);
    });
  }
  return entries->size() != before;
}

Status Repair::take_container(const format::ContainerRecord& record, const std::string* high) {
  ++report_.containers;
  RepairRun run(source_, dictionaries_, memory_max_);
  const bool header = run.read(record);
  if (record.tree == format::kCatalogTree) note_catalog(run.entries());
  std::vector<RepairEntry> entries = run.take_entries();
  const bool superseded = drop_superseded(record.tree, &entries);
  if (record.run.blocks == 0 || (header && run.whole() && !superseded && data_->free(record))) {
    note_entries(record, false);
    state_.containers.set(record);
    large_.insert(record.large.begin(), record.large.end());
    return data_->copy(record);
  }
  ++report_.containers_damaged;
  if (!header) {
    RepairGap gap;
    gap.low = record.low;
    gap.entries = record.entries;
    gap.file = space::data_file_name(record.run.file);
    gap.offset = uint64_t{record.run.block} * kRepairBlock;
    gap.what = run.why();
    lose_range(record, gap, high);
  }
  for (const RepairGap& gap : run.gaps()) lose_range(record, gap, high);
  if (header && run.gaps().empty() && !run.whole()) {
    // Blocks that no entry needs, as those of old values are.
    RepairLoss& loss = lose(RepairLoss::Kind::kOther, "blocks without entries are damaged");
    loss.tree_id = record.tree;
    loss.container = record.id;
  }
  std::vector<format::ContainerRecord> made;
  Status s = data_->build(record, entries, &state_.next_container, &made);
  for (format::ContainerRecord& one : made) {
    note_entries(one, true);
    large_.insert(one.large.begin(), one.large.end());
    state_.containers.set(one);
  }
  return s;
}

// Files that the manifest names and that are missing, or end too early.
void Repair::look_for_files() {
  std::map<uint32_t, uint64_t> blocks;
  const auto need = [&](const format::ExtentAddress& address) {
    uint64_t& of = blocks[address.file];
    of = std::max(of, uint64_t{address.block} + address.blocks);
  };
  for (const auto& [id, record] : manifest_.state.containers) {
    if (record.run.blocks != 0) need(record.run);
    for (const auto& value : record.values) need(value.address);
    for (const auto& large : record.large) need(large);
  }
  for (const auto& [file, end] : blocks) {
    const std::string name = space::data_file_name(file);
    const uint64_t size = source_.size_of(name);
    if (size >= end * kRepairBlock) continue;
    RepairLoss& loss = lose(RepairLoss::Kind::kDataFile,
                            source_.file(name) == nullptr ? "it is missing" : "it is too short");
    loss.file = name;
    loss.offset = size;
    loss.bytes = end * kRepairBlock - size;
  }
}

Status Repair::take_containers() {
  std::map<std::pair<uint32_t, std::string>, format::ContainerRecord> ordered;
  for (const auto& [id, record] : manifest_.state.containers) {
    ordered[{record.tree, record.low}] = record;
  }
  look_for_files();
  uint64_t done = 0;
  for (auto at = ordered.begin(); at != ordered.end(); ++at) {
    const auto next = std::next(at);
    const bool bounded = next != ordered.end() && next->first.first == at->first.first;
    const Status s = take_container(at->second, bounded ? &next->first.second : nullptr);
    if (!s.ok()) return s;
    if (options_.progress) options_.progress(++done, ordered.size());
  }
  return {};
}

// ---- The log

void Repair::tell_gaps() {
  for (const RepairLog::Gap& gap : log_->gaps()) {
    RepairLoss& loss =
        lose(RepairLoss::Kind::kLogGap,
             gap.sealed   ? "records are sealed, and what opens them stood in the manifest"
             : gap.at_end ? "the last record is damaged, or was never finished"
                          : "records are missing or damaged; what follows them is replayed");
    loss.file = wal::segment_name(gap.from / log_->segment_bytes());
    loss.offset = gap.from;
    loss.bytes = gap.to - gap.from;
  }
  for (const RepairLog::Unreadable& unreadable : log_->unreadable()) {
    RepairLoss& loss = lose(RepairLoss::Kind::kOther,
                            "a part of the log cannot be read: where no other file has it, the "
                            "newest commits are lost");
    loss.file = unreadable.file;
    loss.offset = unreadable.offset;
    loss.bytes = unreadable.bytes;
  }
}

Status Repair::read_log() {
  log_ = std::make_unique<RepairLog>(source_);
  format::Lsn flushed = 0;
  if (manifest_.whole) {
    for (const auto& [id, record] : manifest_.state.containers) {
      flushed = std::max(flushed, record.cut);
    }
  }
  // A process makes one manifest and one epoch, so what can be read of it has all of them.
  const bool known = manifest_.current && (!options_.ignore_manifest || confirmed_);
  Status s = log_->find(known ? manifest_.state.epochs : std::vector<format::LogEpoch>(),
                        known ? manifest_.state.log_trim : 0, flushed);
  if (!s.ok()) return s;
  if (!scanned_ && manifest_.torn && log_->missing(0, flushed + 1)) scanned_ = true;
  tell_gaps();
  report_.log_records = log_->records().size();
  if (!log_->records().empty()) {
    report_.log_begin = log_->records().front().lsn;
    report_.log_end = log_->end();
  }
  return look_at_log();
}

// What is needed before any container is taken.
Status Repair::look_at_log() {
  using Keep = RepairWalk::Keep;
  for (const auto& [id, tree] : manifest_.state.trees) {
    if (tree.layer_cts != 0) layers_.insert(tree.layer_cts);
  }
  RepairWalk walk(*log_, &report_);
  Status status = walk.run(
      [&](const format::Operation& operation) {
        if (operation.type == format::OperationType::kAttach) return Keep::kAll;
        return scanned_ ? Keep::kKey : Keep::kNothing;
      },
      [&](const RepairTransaction& transaction, std::string* why) {
        for (const RepairOperation& operation : transaction.operations) {
          if (operation.type == format::OperationType::kAttach) {
            format::ContainerRecord record;
            if (format::decode_container(operation.value, record).ok()) {
              attached_[record.id] = transaction.cts;
            }
          }
          if (scanned_) logged_keys_[operation.tree].push_back(operation.key);
        }
        if (scanned_ && transaction.type == format::RecordType::kAttachingCommit) {
          *why =
              "a bulk ingest: its containers are looked for in the data files, and what it "
              "logged is not replayed";
          return false;
        }
        return true;
      });
  for (auto& [tree, keys] : logged_keys_) std::sort(keys.begin(), keys.end());
  return status;
}

format::Lsn Repair::cut_of(uint32_t tree, const std::string& key) {
  if (cuts_.empty()) {
    for (const auto& [id, record] : state_.containers) {
      cuts_[record.tree].emplace_back(record.low, record.cut);
    }
    for (auto& [id, lows] : cuts_) std::sort(lows.begin(), lows.end());
  }
  const auto of = cuts_.find(tree);
  if (of == cuts_.end()) return 0;
  const auto behind =
      std::upper_bound(of->second.begin(), of->second.end(), key,
                       [](const std::string& a, const std::pair<std::string, format::Lsn>& b) {
                         return a < b.first;
                       });
  return behind == of->second.begin() ? 0 : std::prev(behind)->second;
}

// ---- The target

Status Repair::finish() {
  RepairWalk walk(*log_, &report_);
  Status status = walk.run(
      [](const format::Operation& operation) {
        const bool all = operation.tree == format::kCatalogTree ||
                         operation.type == format::OperationType::kAttach ||
                         operation.type == format::OperationType::kPutLarge;
        return all ? RepairWalk::Keep::kAll : RepairWalk::Keep::kNothing;
      },
      [&](const RepairTransaction& transaction, std::string* why) {
        if (!judge(transaction, why)) return false;
        if (transaction.type == format::RecordType::kPrepare) return true;
        RepairTransaction catalog;
        catalog.cts = transaction.cts;
        for (const RepairOperation& operation : transaction.operations) {
          if (operation.tree == format::kCatalogTree) catalog.operations.push_back(operation);
        }
        if (!catalog.operations.empty()) catalog_writes_.push_back(std::move(catalog));
        return true;
      });
  if (!status.ok()) return status;
  if (!copied_.ok()) return copied_;
  read_catalog();
  make_trees();
  mend_trees();
  std::string operations;
  uint32_t count = 0;
  name_trees(&operations, &count);
  hang_trees(&operations, &count);
  pass_on_losses();
  if (Status s = data_->sync(); !s.ok()) return s;
  format::Lsn behind = std::max(state_.lsn_reserved, log_->end());
  for (const auto& [id, record] : state_.containers) behind = std::max(behind, record.cut);
  for (const auto& [id, tree] : state_.trees) {
    behind = std::max({behind, tree.layer_cts, tree.clone_ts});
  }
  for (const auto& [name, snapshot] : state_.snapshots) {
    behind = std::max(behind, snapshot.timestamp);
  }
  auto epochs = log_->write(source_.machine(), target_, behind, operations, count);
  if (!epochs.ok()) return epochs.status();
  state_.epochs = *epochs;
  state_.log_trim = epochs->front().start;
  state_.lsn_reserved = epochs->back().end;
  if (Status s = machine_.files->sync_directory(target_); !s.ok()) return s;
  LoadedManifest loaded;
  loaded.uuid_low = uuid_low_;
  loaded.uuid_high = uuid_high_;
  loaded.features = manifest_.features;
  if (!manifest_.superblock_read) {
    loaded.features.incompatible = format::kFeaturesKnown.incompatible &
                                   ~(format::kFeatureDevices | format::kFeatureEncryption);
  }
  if (key_store_ != nullptr) loaded.features.incompatible |= format::kFeatureEncryption;
  loaded.state = std::move(state_);
  if (Status s = make_devices(&loaded); !s.ok()) return s;
  auto written = Manifest::start(source_.machine(), target_, std::move(loaded), true);
  if (!written.ok()) return written.status();
  written->reset();
  return data_->finish();
}

Status Repair::open_target() {
  Options options = options_.database;
  options.read_only = false;
  options.create_if_missing = false;
  options.error_if_exists = false;
  options.devices.clear();
  Result<std::unique_ptr<Db>> db = Db::open_on(machine_, target_, options);
  if (!db.ok()) {
    report_.open_error = db.status().to_string();
    return db.status().is(StatusCode::kInvalidArgument) ? Status() : db.status();
  }
  if (Status s = (*db)->flush(); !s.ok()) {
    // All is there and in its log; devices have to be added.
    if (!on_devices_ || !s.is(StatusCode::kNoSpace)) return s;
    report_.open_error = s.to_string();
    return (*db)->close();
  }
  const Result<CheckReport> checked = (*db)->check();
  if (!checked.ok()) return checked.status();
  for (const std::string& error : checked->errors) {
    lose(RepairLoss::Kind::kOther, "the target: " + error);
  }
  report_.opened = true;
  return (*db)->close();
}

Result<RepairReport> Repair::run() {
  if (Status s = begin(); !s.ok()) return s;
  state_ = manifest_.state;
  state_.containers.clear();
  state_.epochs.clear();
  if (!state_.feeds.empty()) {
    lose(RepairLoss::Kind::kOther, "feeds: the target is another database, and has none");
    state_.feeds.clear();
  }
  if (Status s = read_log(); !s.ok()) return s;
  report_.scanned = scanned_ || confirmed_;
  report_.resurrected_possible = scanned_;
  if (Status s = scanned_ ? scan() : take_containers(); !s.ok()) return s;
  if (Status s = finish(); !s.ok()) return s;
  for (RepairLoss& loss : report_.losses) {
    const auto tree = trees_.find(loss.tree_id);
    const bool of_tree = loss.container != 0 || loss.kind == RepairLoss::Kind::kTree ||
                         loss.kind == RepairLoss::Kind::kKeyRange;
    if (of_tree && tree != trees_.end()) loss.tree = tree->second.name;
  }
  for (const auto& [id, tree] : trees_) {
    report_.trees.push_back(tree);
    report_.entries += tree.entries;
  }
  report_.bytes_copied = data_->bytes_copied();
  if (Status s = open_target(); !s.ok()) return s;
  return std::move(report_);
}

}  // namespace hawthorn::db

namespace hawthorn {

std::string_view repair_loss_name(RepairLoss::Kind kind) {
  switch (kind) {
    case RepairLoss::Kind::kSuperblock:
      return "superblock";
    case RepairLoss::Kind::kManifest:
      return "manifest";
    case RepairLoss::Kind::kKeyRange:
      return "key range";
    case RepairLoss::Kind::kDataFile:
      return "data file";
    case RepairLoss::Kind::kLogGap:
      return "log gap";
    case RepairLoss::Kind::kTransaction:
      return "transaction";
    case RepairLoss::Kind::kTree:
      return "tree";
    case RepairLoss::Kind::kOther:
      return "other";
  }
  return "unknown";
}

Result<RepairReport> Db::repair(const std::string& source, const std::string& target,
                                const RepairOptions& options) try {
  return repair_on(os::real_machine(), source, target, options);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<RepairReport> Db::repair_on(const os::Machine& machine, const std::string& source,
                                   const std::string& target, const RepairOptions& options) try {
  const Result<std::string> from = machine.files->absolute(source);
  if (!from.ok()) return from.status();
  const Result<std::string> to = machine.files->absolute(target);
  if (!to.ok()) return to.status();
  return db::Repair(machine, *from, *to, options).run();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
