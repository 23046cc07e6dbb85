// What a merge makes of operands: before anything is laid out, those of the delta become values
// wherever the operator says what they are, so that the rest of the merge meets ordinary versions.
//
//   put 5, op 7, op 9, nobody reads at 7        ─> put 5 (dropped later), value 9
//   the same, and somebody reads at 7           ─> put 5 (dropped later), value 7, value 9
//   the operator refuses, the value is large,
//   or on a full disk much larger than operands ─> what is below, operands 9
//
// Operands that stay are written as one record for each timestamp that is kept (format/operands.h),
// and whatever they need below them is kept with them; the next merge that has operands for the key
// tries again with all of them.

#include <algorithm>
#include <cstring>
#include <new>

#include "hawthorn/merge_operator.h"
#include "tree/merge_work.h"
#include "tree/operands.h"

namespace hawthorn::tree {

namespace {
// Larger results are left to reads: they would have to become large values.
constexpr size_t kMergedFoldBytesMax = 64 << 10;
// On a full disk values are written that are about as small as their operands: there is room for
// what was written, not for what it makes of larger values.
constexpr size_t kSmallBytes = 64;
// A run names places in its heap by 28 bits.
constexpr size_t kOperandBytesMax = size_t{64} << 20;
}  // namespace

// What stands below the delta's versions of a key, in the run.
struct Merger::Work::RunBase {
  struct List {
    Lsn cts;
    size_t operands;  // how many it has
  };
  bool looked = false;
  bool foldable = true;  // not a large value
  std::optional<std::string_view> existing;
  std::vector<List> lists;                 // newest first
  std::vector<std::string_view> operands;  // of all lists, oldest first
};

Status Merger::Work::fold_records(size_t from) {
  for (size_t r = from; r < records.size(); ++r) {
    const auto first = versions.begin() + records[r].first;
    const bool operands = std::any_of(first, first + records[r].count, [](const Kept& kept) {
      return kept.version->kind == VersionKind::kMerge;
    });
    if (!operands) continue;
    if (Status s = fold_record(&records[r]); !s.ok()) return s;
  }
  charge_codec();
  return {};
}

// Versions that are made of others live until the merge ends.
const Version* Merger::Work::make_version(VersionKind kind, uint8_t flags, std::string_view value) {
  folded.push_back(std::make_unique_for_overwrite<char[]>(sizeof(Version) + value.size()));
  auto* version = new (folded.back().get()) Version;
  version->older.store(nullptr, std::memory_order_relaxed);
  version->size = static_cast<uint32_t>(value.size());
  version->kind = kind;
  version->flags.store(flags, std::memory_order_relaxed);
  if (!value.empty()) std::memcpy(version->bytes(), value.data(), value.size());
  folded_bytes += sizeof(Version) + value.size();
  return version;
}

// Finds out what the run has of a key.
Status Merger::Work::look_at_run(std::string_view key, RunBase* base) {
  base->looked = true;
  if (run == nullptr) return {};
  uint32_t at = run->lower_bound(key, key_head(key, run->skip()));
  for (; at < run->entries() && run->has_key(at, key); ++at) {
    const RunEntry entry = run->entry(at);
    std::string_view rest = entry.inline_value;
    switch (entry.kind) {
      case EntryKind::kTombstone:
        return {};
      case EntryKind::kLarge:
        base->foldable = false;
        return {};
      case EntryKind::kInline:
        base->existing = entry.inline_value;
        return {};
      case EntryKind::kSeparated:
        if (Status s = load_values(uint32_t{1} << entry.extent); !s.ok()) return s;
        base->existing = std::string_view(
            old_file->bases[entry.extent].load(std::memory_order_acquire) + entry.offset,
            entry.size);
        return {};
      case EntryKind::kOperands:
        break;
    }
    std::vector<std::string_view> list;
    while (!rest.empty()) {
      // Checked when the run was attached.
      if (!format::take_operand(&rest, &list.emplace_back())) {
        return Status(StatusCode::kCorruption, "operands of a run are malformed");
      }
    }
    base->lists.push_back({entry.cts, list.size()});
    base->operands.insert(base->operands.begin(), list.begin(), list.end());
  }
  return {};
}

// A version that holds operands, oldest first; those that can be combined are one.
Result<const Version*> Merger::Work::make_operands(std::string_view key, uint8_t flags,
                                                   std::span<const std::string_view> operands) {
  std::string encoded;
  std::string one(operands.front());
  std::string combined;
  for (const std::string_view next : operands.subspan(1)) {
    if (one.size() + next.size() <= kMergedFoldBytesMax &&
        combine_operands(merge_operator, key, one, next, &combined) &&
        combined.size() <= kMergedFoldBytesMax) {
      one.swap(combined);
    } else {
      format::append_operand(encoded, one);
      one = next;
    }
  }
  format::append_operand(encoded, one);
  if (encoded.size() > kOperandBytesMax) {
    return Status(StatusCode::kNotSupported,
                  "tree " + std::to_string(container->tree) + ", key " + quoted_key(key) +
                      ": more than 64 MB of operands that cannot be folded: put a value there");
  }
  return make_version(VersionKind::kMerge, flags, encoded);
}

// Puts versions without operands in the place of a record's, as far as that goes. Full versions are
// passed on, needed or not: keep_versions tells.
Status Merger::Work::fold_record(Record* record) {
  const std::string_view key = record->key;
  RunBase run_base;
  bool on_run = true;     // nothing but operands so far
  bool foldable = false;  // what is below, where that is not the run
  std::optional<std::string_view> existing;
  std::vector<std::string_view> pending;  // oldest first
  std::vector<Kept> made;                 // oldest first
  std::string result;
  for (size_t i = record->count; i-- > 0;) {
    const Kept kept = versions[record->first + i];
    if (kept.version->kind != VersionKind::kMerge) {
      on_run = false;
      foldable = kept.version->kind != VersionKind::kLarge;
      existing.reset();
      if (kept.version->kind == VersionKind::kPut) existing = kept.version->value();
      pending.clear();
      made.push_back(kept);
      continue;
    }
    pending.push_back(kept.version->value());
    const Lsn newer = i > 0 ? versions[record->first + i - 1].cts : 0;
    if (i > 0 && (kept.cts == newer || view.dead(kept.cts, newer))) continue;
    if (on_run && !run_base.looked) {
      if (Status s = look_at_run(key, &run_base); !s.ok()) return s;
      foldable = run_base.foldable;
      existing = run_base.existing;
    }
    std::vector<std::string_view> operands;
    if (on_run) operands = run_base.operands;
    operands.insert(operands.end(), pending.begin(), pending.end());
    Kept folded_one{nullptr, 0, kept.cts};
    size_t most = kMergedFoldBytesMax;
    if (saves_space) {
      most = kSmallBytes;
      for (const std::string_view operand : pending) most += operand.size();
    }
    if (foldable && fold_operands(merge_operator, key, existing, operands, &result) &&
        result.size() <= most) {
      folded_one.version = make_version(VersionKind::kPut, 0, result);
      existing = folded_one.version->value();
    } else {
      // Lists of the run that nobody reads by themselves are taken over.
      size_t taken = 0;
      Lsn above = kept.cts;
      for (const RunBase::List& list : run_base.lists) {
        if (!on_run || !view.dead(list.cts, above)) break;
        taken += list.operands;
        above = list.cts;
      }
      const size_t left = operands.size() - pending.size() - taken;
      Result<const Version*> list = make_operands(key, taken > 0 ? kTakesOperands : uint8_t{0},
                                                  std::span(operands).subspan(left));
      if (!list.ok()) return list.status();
      folded_one.version = *list;
      foldable = false;
    }
    on_run = false;
    pending.clear();
    made.push_back(folded_one);
  }
  record->first = static_cast<uint32_t>(versions.size());
  record->count = static_cast<uint32_t>(made.size());
  versions.insert(versions.end(), made.rbegin(), made.rend());
  return {};
}

}  // namespace hawthorn::tree
