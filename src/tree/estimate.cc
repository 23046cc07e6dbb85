#include "tree/estimate.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/prng.h"
#include "os/epoch.h"
#include "os/file.h"
#include "tree/count.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kSamples = 64;
constexpr size_t kSmallDelta = 64;
constexpr size_t kChangeSamples = 256;
constexpr uint32_t kRunSamples = 1024;
// What a container with a delta counts beside its run where its leaf is weighed as a whole.
constexpr uint64_t kDirtyEntries = 256;

// Of the entries with one head, those between two keys that have it, too: nobody knows.
constexpr double kShareOfSameHeads = 0.25;

// A part of a container's range.
struct Part {
  std::string_view low;
  std::string_view high;
  bool has_high = false;
  bool low_inside = false;   // it begins behind the container's low key
  bool high_inside = false;  // it ends before the container's end
  bool whole() const { return !low_inside && !high_inside; }
  bool has(std::string_view key) const { return key >= low && (!has_high || key < high); }
};

Part part_of(const Container& container, std::string_view lower,
             const std::optional<std::string>& upper) {
  Part part{container.low, container.high, container.has_high};
  if (lower > container.low) {
    part.low = lower;
    part.low_inside = true;
  }
  if (upper && (!container.has_high || *upper < container.high)) {
    part.high = *upper;
    part.has_high = true;
    part.high_inside = true;
  }
  return part;
}

// How much of [low, high) lies before a key, as if keys were spread evenly over it.
double spread_before(double low, double high, double at) {
  return high <= low ? 0.5 : std::clamp((at - low) / (high - low), 0.0, 1.0);
}

// The same of a part, by nothing but the container's range.
double spread_share(const Container& container, const Part& part, const format::TreeShape* shape) {
  using format::TreeShape;
  const auto head = [&](std::string_view key) {
    return static_cast<double>(key_head(key, container.skip));
  };
  double low = head(container.low);
  double high = container.has_high ? head(container.high) : 0x1p64;
  double share = 1;
  // Keys of entries begin alike, so that it is their part of the range over which they are spread.
  // What stands beside them is made with them, one for each at most.
  if (shape != nullptr && shape->framed()) {
    double beside = 0;
    if (container.low < TreeShape::kEntries) {
      low = head(TreeShape::kEntries);
      beside += shape->expires() ? 1 : 0;
    }
    if (!container.has_high || container.high > TreeShape::kEntriesEnd) {
      high = head(TreeShape::kEntriesEnd);
      beside += (shape->names().compared ? 1 : 0) + (shape->names().values_compared ? 1 : 0);
    }
    if (high <= low) return 0;  // it has no entries
    share = 1 / (1 + beside);
  }
  const double from = part.low_inside ? spread_before(low, high, head(part.low)) : 0;
  const double to = part.high_inside ? spread_before(low, high, head(part.high)) : 1;
  return std::max(0.0, to - from) * share;
}

// The part of a run's entries that lies between the bounds of a part, as far as memory tells.
double run_share(const Container& container, const RunFile& file, const Part& part,
                 const format::TreeShape* shape) {
  const Run* run = file.run.load(std::memory_order_acquire);
  if (run == nullptr) run = file.outline.load(std::memory_order_acquire);
  if (run == nullptr || run->entries() == 0) {
    return spread_share(container, part, shape);
  }
  const uint32_t entries = run->entries();
  // Without records, the entries that have the head of a key may all come before or behind it.
  const auto before = [&](std::string_view key) -> Run::Range {
    if (run->heap() == nullptr) return run->range_of(key);
    const uint32_t at = run->seek(key);
    return {at, at};
  };
  const Run::Range from = part.low_inside ? before(part.low) : Run::Range{0, 0};
  const Run::Range to = part.high_inside ? before(part.high) : Run::Range{entries, entries};
  const double middle = (static_cast<double>(from.begin) + from.end) / 2;
  const double share = (static_cast<double>(to.begin) + to.end) / 2 - middle;
  const bool same_heads = from.begin == to.begin && from.end > from.begin;
  const double guessed = same_heads ? (from.end - from.begin) * kShareOfSameHeads : share;
  return std::max(0.0, guessed / entries);
}

// What a delta's newest version of a key says; nothing: it has no version that counts.
std::optional<bool> there_in(const DeltaEntry& entry) {
  const Version* newest = entry.newest.load(std::memory_order_acquire);
  if (newest == nullptr) return {};
  return newest->kind != VersionKind::kTombstone;
}

// Whether the run has a key, as far as memory tells: by its head where that is all there is.
bool run_has(const Run* run, std::string_view key) {
  if (run == nullptr || run->entries() == 0) return false;
  if (run->heap() == nullptr) return !run->range_of(key).empty();
  const uint32_t at = run->seek(key);
  if (at == run->entries() || !run->has_key(at, key)) return false;
  return run->kind(at) != EntryKind::kTombstone;
}

// By how much an entry of a delta changes what is there below it: the run, and where `delta` is the
// active one, the frozen one.
int change_of(const DeltaEntry& entry, const Delta* delta, const Descriptor& present,
              const Run* run) {
  const std::optional<bool> there = there_in(entry);
  if (!there) return 0;
  const std::string_view key = entry.key();
  const uint64_t hash = Delta::hash(key);
  if (delta == present.frozen && present.active->find(key, hash) != nullptr) return 0;
  std::optional<bool> before;
  if (delta == present.active && present.frozen != nullptr) {
    const DeltaEntry* frozen = present.frozen->find(key, hash);
    if (frozen != nullptr) before = there_in(*frozen);
  }
  return *there - before.value_or(run_has(run, key));
}

// What the unflushed writes of a part add to what its run has, and how many those are.
struct Unflushed {
  double change = 0;
  double entries = 0;
};

Unflushed unflushed_in(const Delta* delta, const Part& part, const Descriptor& present,
                       const Run* run) {
  Unflushed sum;
  if (delta == nullptr || delta->empty()) return sum;
  std::array<DeltaEntry*, kChangeSamples> samples;
  size_t count = 0;
  double each = 1;
  if (delta->entries() > kChangeSamples) count = delta->sample(samples);
  if (count > 0) {
    each = static_cast<double>(delta->entries()) / static_cast<double>(count + 1);
  } else {
    count = delta->collect(Delta::Seek::kGreaterEqual, part.low, key_head(part.low, delta->skip()),
                           samples);
  }
  for (size_t i = 0; i < count; ++i) {
    if (!part.has(samples[i]->key())) continue;
    sum.entries += each;
    sum.change += each * change_of(*samples[i], delta, present, run);
  }
  return sum;
}

// How many keys a run has, of which nobody has counted them: by some of its entries.
double keys_of(const RunFile& file, const Run* run) {
  const auto stored = static_cast<double>(file.record.entries);
  if (run == nullptr || run->heap() == nullptr || !run->has_versions()) return stored;
  const uint32_t entries = run->entries();
  const uint32_t step = std::max<uint32_t>(1, entries / kRunSamples);
  uint32_t looked = 0;
  uint32_t newest = 0;
  for (uint32_t i = 0; i < entries; i += step, ++looked) {
    if (i > 0 && run->same_key_as_next(i - 1)) continue;
    newest += run->kind(i) != EntryKind::kTombstone ? 1 : 0;
  }
  return stored * newest / std::max<uint32_t>(1, looked);
}

// A frozen delta that parts of a split share reaches beyond the container.
double delta_entries(const Delta* delta, const Part& part, bool shared) {
  if (delta == nullptr || delta->empty()) return 0;
  const double entries = delta->entries();
  if (part.whole() && !shared) return entries;
  std::array<DeltaEntry*, kSamples> samples;
  size_t count = 0;
  double each = 1;
  if (delta->entries() > kSmallDelta) count = delta->sample(samples);
  if (count > 0) {
    each = entries / static_cast<double>(count + 1);
  } else {
    count = delta->collect(Delta::Seek::kGreaterEqual, part.low, key_head(part.low, delta->skip()),
                           samples);
  }
  double inside = 0;
  for (size_t i = 0; i < count; ++i) inside += part.has(samples[i]->key()) ? each : 0;
  // Between two samples there may be some.
  return each > 1 ? std::max(inside, each / 2) : inside;
}

struct Amount {
  double entries = 0;
  double bytes = 0;
  double unflushed = 0;  // entries of deltas
  bool in_memory = true;
};

// `stored`: counts all that its run has, else only what is known to be there for new readers.
Amount amount_of(const Container& container, const Part& part, bool stored,
                 const format::TreeShape* shape) {
  const Descriptor& present = *container.descriptor.load(std::memory_order_acquire);
  const RunFile& file = *present.run;
  const double share = part.whole() ? 1 : run_share(container, file, part, shape);
  const uint64_t live = file.live.load(std::memory_order_acquire);
  const Run* run = file.run.load(std::memory_order_acquire);
  Amount amount;
  if (stored) {
    amount.entries = share * static_cast<double>(file.record.entries);
    // Some may be there, though heads do not tell.
    if (file.record.entries > 0) amount.entries = std::max(amount.entries, 1.0);
    amount.entries += delta_entries(present.active, part, false);
    amount.entries += delta_entries(present.frozen, part, true);
  } else {
    const bool counted = live < RunFile::kHasVersions;
    amount.entries = share * (counted ? static_cast<double>(live) : keys_of(file, run));
    for (const Delta* delta : {present.active, present.frozen}) {
      const Unflushed unflushed = unflushed_in(delta, part, present, run);
      amount.entries += unflushed.change;
      amount.unflushed += unflushed.entries;
    }
    amount.entries = std::max(amount.entries, 0.0);
    const bool settled = part.whole() && counted && amount.unflushed == 0;
    amount.in_memory = settled || file.empty() || (run != nullptr && run->heap() != nullptr);
  }
  amount.bytes = share * static_cast<double>(file.disk_blocks()) * os::kBlockBytes;
  return amount;
}

}  // namespace

class NodeEstimate {
 public:
  // For each leaf from the one with `lower` to the one with `upper`: whole(leaf) or
  // partly(leaf, first container, the one behind the last).
  template <typename Whole, typename Partly>
  static void each_leaf(const Directory& directory, std::string_view lower,
                        const std::optional<std::string>& upper, Whole whole, Partly partly) {
    const Directory::Root& root = *directory.root_.load(std::memory_order_acquire);
    const size_t first = root.find(lower);
    const size_t last = upper ? root.find(*upper) : root.children().size() - 1;
    for (size_t l = first; l <= last; ++l) {
      const Directory::Leaf& leaf = *root.children()[l];
      const size_t size = leaf.children().size();
      const size_t from = l == first ? leaf.find(lower) : 0;
      size_t to = l == last && upper ? leaf.find(*upper) + 1 : size;
      if (to > from && upper && leaf.children()[to - 1]->low >= *upper) --to;
      const bool low_inside = l == first && leaf.children().front()->low < lower;
      if (!low_inside && from == 0 && (!upper || l < last)) {
        whole(leaf.sums, leaf.children());
      } else if (from < to) {
        partly(leaf.children().subspan(from, to - from));
      }
    }
  }
};

Estimate estimate(const Directory& directory, std::string_view lower,
                  const std::optional<std::string>& upper, const format::TreeShape* shape) {
  if (upper && lower >= *upper) return {};
  const os::epoch::Guard guard;
  Amount sum;
  const auto add = [&](std::span<Container* const> containers) {
    for (const Container* container : containers) {
      const Part part = part_of(*container, lower, upper);
      const Amount amount = amount_of(*container, part, false, shape);
      sum.entries += amount.entries;
      sum.bytes += amount.bytes;
      sum.unflushed += amount.unflushed;
      sum.in_memory = sum.in_memory && amount.in_memory;
    }
  };
  NodeEstimate::each_leaf(
      directory, lower, upper,
      [&](const NodeSums& sums, std::span<Container* const> containers) {
        if (sums.dirty.load(std::memory_order_acquire) != 0) return add(containers);
        sum.entries += static_cast<double>(sums.live.load(std::memory_order_relaxed));
        sum.bytes +=
            static_cast<double>(sums.blocks.load(std::memory_order_relaxed)) * os::kBlockBytes;
      },
      add);
  return {static_cast<uint64_t>(sum.entries + 0.5), static_cast<uint64_t>(sum.bytes + 0.5),
          static_cast<uint64_t>(sum.unflushed + 0.5), sum.in_memory};
}

namespace {
// The place of a weight in a list of them that `random` chooses; sizes must not all be 0.
size_t choose(const std::vector<double>& weights, uint64_t random) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double at = static_cast<double>(random >> 11) * 0x1p-53 * sum;
  size_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    if (at < weights[i]) return i;
    at -= weights[i];
  }
  return last;
}
}  // namespace

std::optional<std::string> choose_container(const Directory& directory,
                                            const std::optional<std::string>& lower,
                                            const std::optional<std::string>& upper,
                                            uint64_t random, const format::TreeShape* shape) {
  const std::string_view low = lower ? std::string_view(*lower) : std::string_view();
  if (upper && low >= *upper) return {};
  const os::epoch::Guard guard;
  std::vector<double> weights;
  std::vector<std::span<Container* const>> nodes;
  const auto weigh = [&](const Container& container) {
    return amount_of(container, part_of(container, low, upper), true, shape).entries;
  };
  NodeEstimate::each_leaf(
      directory, low, upper,
      [&](const NodeSums& sums, std::span<Container* const> containers) {
        // In this order: what a flush takes out of a delta is in `stored` before.
        const uint64_t dirty = sums.dirty.load(std::memory_order_acquire);
        const uint64_t stored = sums.stored.load(std::memory_order_relaxed);
        weights.push_back(static_cast<double>(stored + dirty * kDirtyEntries));
        nodes.emplace_back(containers);
      },
      [&](std::span<Container* const> containers) {
        double sum = 0;
        for (const Container* container : containers) sum += weigh(*container);
        weights.push_back(sum);
        nodes.push_back(containers);
      });
  const auto nothing = [&] {
    return std::all_of(weights.begin(), weights.end(), [](double weight) { return weight <= 0; });
  };
  if (nothing()) return {};
  const std::span<Container* const> node = nodes[choose(weights, random)];
  weights.clear();
  for (const Container* container : node) weights.push_back(weigh(*container));
  if (nothing()) return node.front()->low;  // its deltas have entries of nobody
  return node[choose(weights, mix64(random))]->low;
}

}  // namespace hawthorn::tree
