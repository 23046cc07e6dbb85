// Containers without a manifest: every block of every data file is looked at for the begin of a
// run. Where two runs of a tree overlap the one with the newer cut counts: of older ones what lies
// outside of all newer ones is taken, which may have been deleted since.

#include <algorithm>

#include "base/bytes.h"
#include "db/repair_impl.h"
#include "space/space.h"

namespace hawthorn::db {

namespace {
constexpr uint32_t kScanBlocks = 256;

using Spans = std::map<std::string, std::pair<std::string, format::Lsn>>;

// The span that has the key, or null.
const std::pair<const std::string, std::pair<std::string, format::Lsn>>* span_of(
    const Spans& spans, const std::string& key) {
  auto behind = spans.upper_bound(key);
  if (behind == spans.begin()) return nullptr;
  --behind;
  return key <= behind->second.first ? &*behind : nullptr;
}

bool covered(const Spans& spans, const RepairGap& gap) {
  const auto* span = span_of(spans, gap.low);
  return span != nullptr && gap.high.has_value() && *gap.high <= span->second.first + '\0';
}
}  // namespace

// Whether a record of the manifest is of this very run.
bool Repair::vouched(const Found& found) const {
  const auto known = manifest_.known_runs.find({found.file, found.block});
  return known != manifest_.known_runs.end() &&
         known->second.run_checksum == found.record.run_checksum;
}

// Whether one says that another header stood there, of the same container as of the same commit: a
// bit of it is turned then, of which nobody knows what it says.
bool Repair::contradicted(const Found& found) const {
  const auto known = manifest_.known_runs.find({found.file, found.block});
  if (known == manifest_.known_runs.end()) return false;
  const format::ContainerRecord& record = known->second;
  if (record.run_checksum == found.record.run_checksum) return false;
  const int same =
      (record.id == found.record.id ? 1 : 0) + (record.tree == found.record.tree ? 1 : 0) +
      (record.cut == found.record.cut ? 1 : 0) + (record.run == found.record.run ? 1 : 0);
  return same >= 3;
}

// Errors: where all that is found is sealed, and there are no keys.
Status Repair::find_runs() {
  if (found_all_) return {};
  found_all_ = true;
  bool any_sealed = false;
  uint64_t blocks_all = 0;
  uint64_t done = 0;
  for (const uint32_t file : source_.data_files()) {
    blocks_all += source_.size_of(space::data_file_name(file)) / kRepairBlock;
  }
  RepairBuffer buffer(size_t{kScanBlocks} * kRepairBlock);
  std::vector<bool> readable;
  for (const uint32_t file : source_.data_files()) {
    const std::string name = space::data_file_name(file);
    const auto blocks = static_cast<uint32_t>(
        std::min<uint64_t>(source_.size_of(name) / kRepairBlock, format::kFileBlocksMax));
    for (uint32_t at = 0; at < blocks; at += kScanBlocks) {
      const uint32_t count = std::min(kScanBlocks, blocks - at);
      source_.read_blocks({file, at, count}, buffer.data(), &readable);
      for (uint32_t i = 0; i < count; ++i) {
        const auto head = load<format::RunHeader>(buffer.data() + size_t{i} * kRepairBlock);
        if (head.magic != format::kRunMagic) continue;
        any_sealed = any_sealed || head.cipher != 0;
        Found one;
        one.file = file;
        one.block = at + i;
        RepairRun run(source_, dictionaries_, memory_max_);
        const bool readable_run = run.find(file, at + i, blocks, &one.record);
        if (!readable_run || contradicted(one)) {
          if (readable_run) contradicted_ = true;
          RepairLoss& loss = lose(RepairLoss::Kind::kOther,
                                  "what looks like an index run, which may have been replaced "
                                  "long ago: " +
                                      run.why());
          loss.file = name;
          loss.offset = uint64_t{at + i} * kRepairBlock;
          loss.bytes = kRepairBlock;
          continue;
        }
        one.vouched = vouched(one);
        one.whole = run.whole();
        one.any = !run.entries().empty();
        if (one.any) {
          one.first = run.entries().front().key;
          one.last = run.entries().back().key;
        }
        found_.push_back(std::move(one));
      }
      done += count;
      if (options_.progress) options_.progress(done, blocks_all);
    }
  }
  const bool lost_keys = found_.empty() && any_sealed && source_.keys() == nullptr;
  return lost_keys ? keys_are_missing(source_.directory()) : Status();
}

Status Repair::take_found(const Found& found, Spans* spans) {
  format::ContainerRecord record = found.record;
  RepairRun run(source_, dictionaries_, memory_max_);
  format::ContainerRecord again;
  const auto blocks = static_cast<uint32_t>(std::min<uint64_t>(
      source_.size_of(space::data_file_name(found.file)) / kRepairBlock, format::kFileBlocksMax));
  if (!run.find(found.file, found.block, blocks, &again) ||
      again.run_checksum != record.run_checksum) {
    return Status(StatusCode::kIoError, source_.directory() + "/" +
                                            space::data_file_name(found.file) +
                                            " could be read, and cannot any more; make the repair "
                                            "again");
  }
  for (const RepairGap& gap : run.gaps()) {
    if (!covered(*spans, gap)) lose_range(record, gap, nullptr);
  }
  const std::vector<RepairEntry>& entries = run.entries();
  record.large.assign(run.large().begin(), run.large().end());
  // Pieces that no newer run spans, each a container.
  std::vector<std::pair<size_t, size_t>> pieces;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (span_of(*spans, entries[i].key) != nullptr) continue;
    const bool joins = !pieces.empty() && pieces.back().second == i &&
                       spans->lower_bound(entries[i - 1].key) == spans->lower_bound(entries[i].key);
    if (!joins) pieces.emplace_back(i, i);
    pieces.back().second = i + 1;
  }
  if (pieces.empty()) return {};
  ++report_.containers;
  if (!found.vouched) ++report_.containers_unvouched;
  if (!run.whole()) ++report_.containers_damaged;
  const auto add = [&](format::ContainerRecord one) {
    if (one.tree == format::kCatalogTree) note_catalog(entries);
    note_entries(one, !run.whole());
    large_.insert(one.large.begin(), one.large.end());
    state_.containers.set(one);
  };
  const bool all = pieces.size() == 1 && pieces[0].second - pieces[0].first == entries.size();
  for (const auto& [from, to] : pieces) {
    const std::string first = entries[from].key;
    (*spans)[first] = {entries[to - 1].key, record.cut};
    record.low = first;
    if (state_.containers.contains(record.id)) record.id = state_.next_container++;
    if (all && run.whole() && data_->free(record)) {
      if (Status s = data_->copy(record); !s.ok()) return s;
      add(record);
      continue;
    }
    std::vector<format::ContainerRecord> made;
    const std::span<const RepairEntry> piece(entries.data() + from, to - from);
    if (Status s = data_->build(record, piece, &state_.next_container, &made); !s.ok()) return s;
    for (format::ContainerRecord& one : made) add(std::move(one));
  }
  return {};
}

// Where the log has keys that no container spans, whichever container spanned them once: there
// nothing counts as flushed.
void Repair::fill_ranges(const std::map<uint32_t, Spans>& spans) {
  const auto add_empty = [&](uint32_t tree, std::string low) {
    format::ContainerRecord record;
    record.id = state_.next_container++;
    record.tree = tree;
    record.low = std::move(low);
    state_.containers.set(record);
  };
  for (const auto& [tree, of] : spans) {
    if (of.empty() || !of.begin()->first.empty()) add_empty(tree, "");
    const auto logged = logged_keys_.find(tree);
    if (logged == logged_keys_.end()) continue;
    const std::vector<std::string>& keys = logged->second;
    for (auto span = of.begin(); span != of.end(); ++span) {
      const auto next = std::next(span);
      const std::string low = span->second.first + '\0';
      const auto key = std::lower_bound(keys.begin(), keys.end(), low);
      if (key != keys.end() && (next == of.end() || *key < next->first)) add_empty(tree, low);
    }
  }
}

// Of a manifest that is to be ignored: whether the data files say what it says. Then nothing is in
// doubt, and containers are taken as it names them.
Status Repair::confirm_manifest() {
  const size_t losses = report_.losses.size();
  if (Status s = find_runs(); !s.ok()) return s;
  RepairLog log(source_);
  if (Status s = log.find({}, 0, 0); !s.ok()) return s;
  // A later process, or this one, has no lsn at or above the bound that this manifest reserves.
  confirmed_ = !contradicted_ && log.end() <= manifest_.state.lsn_reserved && confirms_manifest();
  // What looks like a run, and the manifest does not name, was replaced.
  if (confirmed_) report_.losses.resize(losses);
  return {};
}

// Each run that it names is there and whole, and none that it does not name is newer than the
// containers in whose range that lies. A manifest of another time would lack newer runs, or name
// what was written over.
bool Repair::confirms_manifest() const {
  std::map<std::pair<uint32_t, std::string>, format::Lsn> cuts;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> named;  // with their checksums
  for (const auto& [id, record] : manifest_.state.containers) {
    cuts[{record.tree, record.low}] = record.cut;
    if (record.run.blocks != 0) {
      named[{record.run.file, record.run.block}] = record.run_checksum;
    }
  }
  size_t there = 0;
  for (const Found& one : found_) {
    const auto at = named.find({one.file, one.block});
    if (at != named.end()) {
      if (at->second != one.record.run_checksum || !one.whole) return false;
      ++there;
      continue;
    }
    if (one.record.tree >= manifest_.state.next_tree) return false;
    // Of a bulk ingest: the log tells whether it was committed.
    if (one.record.cut == 0 && one.record.id >= manifest_.state.next_container) return false;
    if (!one.any) continue;
    auto covers = cuts.upper_bound({one.record.tree, one.first});
    if (covers != cuts.begin()) --covers;
    for (; covers != cuts.end() && covers->first <= std::pair(one.record.tree, one.last);
         ++covers) {
      const bool same_tree = covers->first.first == one.record.tree;
      if (same_tree && covers->second < one.record.cut) return false;
    }
  }
  return there == named.size();
}

Status Repair::scan() {
  if (Status s = find_runs(); !s.ok()) return s;
  std::vector<Found> found = std::move(found_);
  for (Found& one : found) {
    if (one.record.cut != 0) continue;
    const auto commit = attached_.find(one.record.id);
    if (commit != attached_.end()) one.record.cut = commit->second;
    if (one.record.cut == 0 && one.any) report_.uncommitted_possible = true;
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    if (a.record.cut != b.record.cut) return a.record.cut > b.record.cut;
    return std::pair(a.file, a.block) < std::pair(b.file, b.block);
  });
  std::map<uint32_t, Spans> spans;
  for (const Found& one : found) {
    state_.next_container = std::max(state_.next_container, one.record.id + 1);
    spans[one.record.tree];
  }
  for (const Found& one : found) {
    if (Status s = take_found(one, &spans[one.record.tree]); !s.ok()) return s;
  }
  fill_ranges(spans);
  state_.snapshots.clear();
  lose(RepairLoss::Kind::kOther,
       "named snapshots, merge operators and dictionaries of trees, which stood in the manifest, "
       "but for what could be read of it");
  return {};
}

}  // namespace hawthorn::db
