// Large values that versions in deltas name, a part of the check of a container. Where the log
// alone tells of them, nobody else would meet their damage before a read.

#include "base/bytes.h"
#include "db/check_container.h"
#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn::db {

using format::ExtentAddress;
using Kind = CheckItem::Kind;

namespace {
// How long a merge that is under way may take until what it merges counts as named.
constexpr int kMergeAttempts = 1000;
constexpr uint64_t kMergeAgainUs = 2000;

template <typename Look>
void each_large(const tree::DeltaEntry& entry, Look look) {
  for (const tree::Version* v = entry.newest.load(std::memory_order_acquire); v != nullptr;
       v = v->older.load(std::memory_order_acquire)) {
    if (v->kind == tree::VersionKind::kLarge) look(*v);
  }
}

bool names(const tree::Delta* delta, std::string_view key, std::string_view encoded) {
  if (delta == nullptr) return false;
  const tree::DeltaEntry* const entry = delta->find(key, tree::Delta::hash(key));
  bool found = false;
  if (entry == nullptr) return found;
  each_large(*entry, [&](const tree::Version& v) { found = found || v.value() == encoded; });
  return found;
}

// kMerging: it may be gone already, as far as the disk is concerned.
enum class Named : uint8_t { kNo, kYes, kMerging };

Named named_now(tree::TreeState& tree, std::string_view key, std::string_view encoded) {
  for (;;) {
    const os::epoch::Guard guard;
    tree::Container* const container = tree.directory().find(key);
    // No version of a large value leaves a delta that stays but under the latch.
    const os::MutexLock lock(container->latch);
    if (tree.dropped.load(std::memory_order_acquire)) return Named::kNo;
    if (container->dead) continue;
    const tree::Descriptor& present = *container->descriptor.load(std::memory_order_acquire);
    if (names(present.active, key, encoded)) return Named::kYes;
    if (!names(present.frozen, key, encoded)) return Named::kNo;
    return container->flushing.load(std::memory_order_acquire) ? Named::kMerging : Named::kYes;
  }
}
}  // namespace

// Those of committed versions; each delta may have keys of other containers, too.
std::vector<ContainerCheck::Unflushed> ContainerCheck::unflushed_in(const CheckTarget& target) {
  std::vector<Unflushed> found;
  const tree::TxnSlots& slots = *target.tree->store()->slots;
  const auto take = [&](const tree::DeltaEntry& entry) {
    each_large(entry, [&](const tree::Version& v) {
      // What was moved stands in the active delta.
      if ((v.flags.load(std::memory_order_acquire) & tree::kMoved) != 0) return;
      if (resolve(&v, slots).outcome != tree::TxnSlots::Outcome::kCommitted) return;
      found.push_back({std::string(entry.key()), std::string(v.value())});
    });
  };
  for (const HeldDelta& held : target.deltas) {
    const tree::Delta* const delta = held.get();
    if (delta == nullptr || delta->empty()) continue;
    tree::DeltaEntry* entries[64];
    size_t count = delta->collect(tree::Delta::Seek::kGreaterEqual, target.low,
                                  key_head(target.low, delta->skip()), entries);
    while (count > 0) {
      for (size_t i = 0; i < count; ++i) {
        if (target.has_high && entries[i]->key() >= target.high) break;
        take(*entries[i]);
      }
      const tree::DeltaEntry* const last = entries[count - 1];
      if (target.has_high && last->key() >= target.high) break;
      count = delta->collect(tree::Delta::Seek::kGreater, last->key(), last->head, entries);
    }
  }
  return found;
}

// Whether a mismatch in it counts: nobody else can have come to use its extents meanwhile.
bool ContainerCheck::still_named(const Unflushed& one) {
  for (int attempt = 0; attempt < kMergeAttempts; ++attempt) {
    const Named named = named_now(*target_->tree, one.key, one.encoded);
    if (named != Named::kMerging) return named == Named::kYes;
    if (pace_.stopped()) break;
    database_.machine_.clock->sleep_us(kMergeAgainUs);
  }
  return true;
}

// Of one that has left the deltas, as who reads the key now would find it: its timestamp keeps the
// extents. What only older readers need, or was moved, is looked at with its run, the next time.
void ContainerCheck::read_flushed(const Unflushed& one, const format::LargeValue& value,
                                  std::vector<CheckItem>* found) {
  const Snapshot now = database_.snapshot();
  Value present;
  bool large = false;
  const Status status =
      target_->tree->get_encoded(one.key, {now.timestamp(), 0}, true, present, &large);
  if (!status.ok() || !large || present.view() != one.encoded) return;
  read_large_value(value, found);
}

void ContainerCheck::check_unflushed(const Unflushed& one) {
  const std::string of = ", of key " + tree::quoted_key(one.key) + ", which is not flushed yet";
  const Result<format::LargeValue> value = format::decode_large_value(one.encoded);
  if (!value.ok()) {
    return tell_failed(item(Kind::kStructure, "what refers to a large value" + of), value.status());
  }
  sink_.large_values.fetch_add(1, std::memory_order_relaxed);
  std::vector<ExtentAddress> unseen;
  for (const ExtentAddress& address : value->extents) {
    if (!large_seen_.contains(address)) unseen.push_back(address);
  }
  std::vector<CheckItem> found;
  read_large_value(*value, &found);
  if (found.empty() || ended_) return;
  HAWTHORN_TEST_POINT("check.unflushed_mismatch");
  if (!still_named(one)) {
    found.clear();
    for (const ExtentAddress& address : unseen) {
      large_seen_.erase(address);
      whole_seen_.erase(address);
    }
    read_flushed(one, *value, &found);
    if (ended_) return;
  }
  for (CheckItem& wrong : found) {
    wrong.what += of;
    tell(std::move(wrong));
  }
}

}  // namespace hawthorn::db
