// Makes long chains of operands short: what no registered timestamp separates becomes one version,
// a value where that stands below in the chain, else one operand of those that can be combined.
//
//   newest ─> intent ─> op 9 ─> op 8 ─> op 7 ─> put 5        registered: nothing
//   newest ─> intent ─> put 9                                the put 9 has the rank of op 9
//
// 1. The operator is called under no latch and in no guard (R14): operands are copied first, and
//    nothing is replaced unless the chain still has exactly what was copied, by stamp and number.
// 2. What is replaced stands in the chain one behind the other, in the order of ranks, and no other
//    version of the key ranks in between. One store takes it out and puts the new version in, so
//    that a reader, who goes from one version to the next, meets all of the old ones or the new
//    one.
// 3. Only what is visible is folded, and below the horizon of the view that says which timestamps
//    are registered: a cut, which is made at what is visible, never falls in between (R10).

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/operands.h"
#include "tree/tree.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kVersionsMax = size_t{1} << 16;  // that are looked at
constexpr uint16_t kWritesBetweenFolds = 64;
constexpr uint16_t kWritesBetweenRefusals = 1 << 14;
constexpr size_t kFoldedBytesMax = 64 << 10;  // a larger value is not for a delta

// One version of a chain, as it was seen.
struct Link {
  Version* version;
  uint64_t stamp;
  Lsn cts;  // kLsnMax: it is open, and will be committed above everything that is now
  uint32_t seq;
  VersionKind kind;
  uint8_t flags;
  bool foldable;  // committed, stamped, visible, below the horizon
  bool aborted;   // about to be taken out
};

bool above(const Link& a, const Link& b) { return a.cts != b.cts ? a.cts > b.cts : a.seq > b.seq; }

// Versions [first, last] of a chain that become one.
struct Group {
  size_t first = 0;
  size_t last = 0;
  bool has_value = false;  // the last is one, or a tombstone
  bool takes_value = false;
  bool alone_below = false;  // nothing below it but what is stamped and ranks lower
};

struct Fold {
  std::vector<Link> links;            // that are replaced
  std::vector<std::string> operands;  // newest first
  std::optional<std::string> existing;
  bool has_value = false;
  uint8_t flags = 0;
  VersionKind kind = VersionKind::kPut;
  std::string result;
};

// Whether no version outside of the group ranks among it.
bool apart(const std::vector<Link>& chain, bool whole, Group* group) {
  const Link& top = chain[group->first];
  const Link& bottom = chain[group->last];
  for (size_t i = 0; i < group->first; ++i) {
    if (!chain[i].aborted && !above(chain[i], top)) return false;
  }
  group->alone_below = whole || (bottom.flags & kUnordered) == 0;
  for (size_t i = group->last + 1; i < chain.size(); ++i) {
    const bool open = chain[i].cts == format::kLsnMax;
    if (!chain[i].aborted && !open && !above(bottom, chain[i])) return false;
    group->alone_below = group->alone_below && (chain[i].stamp & kIntentBit) == 0;
  }
  return whole || (bottom.flags & kUnordered) == 0;
}

std::vector<Group> groups_of(const std::vector<Link>& chain, bool whole, const PruneView& view) {
  std::vector<Group> groups;
  for (size_t i = 0; i < chain.size();) {
    if (!chain[i].foldable || chain[i].kind != VersionKind::kMerge) {
      ++i;
      continue;
    }
    Group group{.first = i, .last = i};
    while (group.last + 1 < chain.size()) {
      const Link& newer = chain[group.last];
      const Link& older = chain[group.last + 1];
      if (!older.foldable || !above(newer, older)) break;
      const bool joined = newer.cts == older.cts || view.dead(older.cts, newer.cts);
      if (older.kind == VersionKind::kMerge) {
        if (!joined) break;
        ++group.last;
        continue;
      }
      group.has_value = older.kind != VersionKind::kLarge;
      group.takes_value = group.has_value && joined;
      if (group.takes_value) ++group.last;
      break;
    }
    if (group.last > group.first && apart(chain, whole, &group)) groups.push_back(group);
    i = group.last + 1;
  }
  return groups;
}

// What is in the chain, newest link first. False: it cannot be folded now. *whole: all of it.
bool copy_chain(const DeltaEntry* entry, const TxnSlots& slots, Lsn limit, bool* whole,
                std::vector<Link>* chain) {
  Version* v = entry->newest.load(std::memory_order_acquire);
  for (; v != nullptr && chain->size() < kVersionsMax;
       v = v->older.load(std::memory_order_acquire)) {
    const uint8_t flags = v->flags.load(std::memory_order_acquire);
    if ((flags & kMoved) != 0) return false;
    const uint64_t stamp = v->stamp.load(std::memory_order_acquire);
    Link link{v, stamp, stamp, v->seq, v->kind, flags, false, false};
    if ((stamp & kIntentBit) == 0) {
      link.foldable = stamp <= limit;
    } else {
      const Resolved r = resolve(v, slots);
      if (r.outcome == TxnSlots::Outcome::kGone) return false;
      link.cts = r.outcome == TxnSlots::Outcome::kCommitted ? r.cts : format::kLsnMax;
      link.aborted = r.outcome == TxnSlots::Outcome::kAborted;
    }
    chain->push_back(link);
  }
  *whole = v == nullptr;
  return true;
}

// Takes what is to be folded out of the chain, by value.
Fold take(const std::vector<Link>& chain, const Group& group) {
  Fold fold;
  fold.links.assign(chain.begin() + static_cast<ptrdiff_t>(group.first),
                    chain.begin() + static_cast<ptrdiff_t>(group.last) + 1);
  for (const Link& link : fold.links) {
    if (link.kind == VersionKind::kMerge) fold.operands.emplace_back(link.version->value());
    if (!group.alone_below) fold.flags |= link.flags & kUnordered;
  }
  fold.has_value = group.has_value;
  if (group.has_value) {
    const Link& value = chain[group.takes_value ? group.last : group.last + 1];
    if (value.kind == VersionKind::kPut) fold.existing = std::string(value.version->value());
  }
  return fold;
}

bool compute(const MergeOperator* merge_operator, std::string_view key, Fold* fold) {
  if (fold->has_value) {
    const std::vector<std::string_view> oldest_first(fold->operands.rbegin(),
                                                     fold->operands.rend());
    fold->kind = VersionKind::kPut;
    return fold_operands(merge_operator, key, fold->existing, oldest_first, &fold->result) &&
           fold->result.size() <= kFoldedBytesMax;
  }
  fold->kind = VersionKind::kMerge;
  std::string left = fold->operands.back();
  for (size_t i = fold->operands.size() - 1; i > 0; --i) {
    if (!combine_operands(merge_operator, key, left, fold->operands[i - 1], &fold->result) ||
        fold->result.size() > kFoldedBytesMax) {
      return false;
    }
    left.swap(fold->result);
  }
  fold->result.swap(left);
  return true;
}

// Whether the chain still has these links, one behind the other.
bool unchanged(const DeltaEntry* entry, const std::vector<Link>& links) {
  const Version* v = entry->newest.load(std::memory_order_relaxed);
  while (v != nullptr && v != links.front().version) v = v->older.load(std::memory_order_relaxed);
  for (const Link& link : links) {
    if (v != link.version || v->stamp.load(std::memory_order_relaxed) != link.stamp ||
        v->seq != link.seq || v->kind != link.kind ||
        (v->flags.load(std::memory_order_relaxed) & kMoved) != 0) {
      return false;
    }
    v = v->older.load(std::memory_order_relaxed);
  }
  return true;
}
}  // namespace

void TreeState::fold_chain(std::string_view key) {
  const MergeOperator* merge_operator = this->merge_operator();
  if (merge_operator == nullptr) return;
  std::vector<Fold> folds;
  uint64_t delta_id = 0;
  {
    os::epoch::Guard guard;
    const PruneView& view = *store_->snapshots->view();
    const Lsn limit = std::min(view.horizon, store_->visible->load(std::memory_order_acquire));
    const Container* container = directory_.find(key);
    const Delta* delta = container->descriptor.load(std::memory_order_acquire)->active;
    delta_id = delta->id;
    const DeltaEntry* entry = delta->find(key, Delta::hash(key));
    std::vector<Link> chain;
    bool whole = false;
    if (entry == nullptr || !copy_chain(entry, *store_->slots, limit, &whole, &chain)) return;
    for (const Group& group : groups_of(chain, whole, view)) folds.push_back(take(chain, group));
  }
  if (folds.empty()) return;
  HAWTHORN_TEST_POINT("fold_chain.before_fold");
  std::erase_if(folds, [&](Fold& fold) { return !compute(merge_operator, key, &fold); });
  HAWTHORN_TEST_POINT("fold_chain.before_replace");
  os::epoch::Guard guard;
  Container* container = lock_container(key);
  Delta* delta = container->descriptor.load(std::memory_order_relaxed)->active;
  DeltaEntry* entry = delta->id == delta_id ? delta->find(key, Delta::hash(key)) : nullptr;
  // Not as many as the chain was long before; but to try in vain again and again costs that.
  if (entry != nullptr) {
    entry->writes_to_prune = folds.empty() ? kWritesBetweenRefusals : kWritesBetweenFolds;
  }
  for (const Fold& fold : folds) {
    if (entry == nullptr || !unchanged(entry, fold.links)) break;
    Version* version = delta->new_version(entry, static_cast<uint32_t>(fold.result.size()));
    if (version == nullptr) break;  // no memory: the chain stays as it is
    version->stamp.store(fold.links.front().stamp, std::memory_order_relaxed);
    version->seq = fold.links.front().seq;
    version->kind = fold.kind;
    version->flags.store(fold.flags, std::memory_order_relaxed);
    if (!fold.result.empty()) copy_bytes(version->bytes(), fold.result);
    delta->replace(entry, fold.links.front().version, fold.links.back().version, version);
    HAWTHORN_TEST_POINT("fold_chain.replaced");
  }
  container->latch.unlock();
}

}  // namespace hawthorn::tree
