// Attaching what a bulk ingest has built: containers are carved out of others, claimed, and given
// their run.

#include <algorithm>

#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/tree.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kMovedMax = 2048;  // open versions that a carve copies

// Whether a version of the chain counts for somebody: that of an open transaction does not yet.
bool holds_commit(const DeltaEntry* entry, const TxnSlots& slots) {
  for (const Version* v = entry->newest.load(std::memory_order_acquire); v != nullptr;
       v = v->older.load(std::memory_order_acquire)) {
    if ((v->flags.load(std::memory_order_acquire) & kMoved) != 0) continue;
    const TxnSlots::Outcome outcome = resolve(v, slots).outcome;
    if (outcome != TxnSlots::Outcome::kActive && outcome != TxnSlots::Outcome::kAborted) {
      return true;
    }
  }
  return false;
}

bool any_commit(const Delta* delta, const Container& container, const TxnSlots& slots) {
  if (delta == nullptr || delta->versions() == 0) return false;
  DeltaEntry* batch[32];
  const std::string& low = container.low;
  size_t count =
      delta->collect(Delta::Seek::kGreaterEqual, low, key_head(low, delta->skip()), batch);
  while (count > 0) {
    for (size_t i = 0; i < count; ++i) {
      // A delta that a split shared out reaches further.
      if (container.has_high && batch[i]->key() >= container.high) return false;
      if (holds_commit(batch[i], slots)) return true;
    }
    count = delta->collect(Delta::Seek::kGreater, batch[count - 1]->key(), batch[count - 1]->head,
                           batch);
  }
  return false;
}
}  // namespace

std::optional<TreeState::Cut> TreeState::cut_to_carve(Container* container) {
  if (container->flushing.exchange(true, std::memory_order_seq_cst)) return std::nullopt;
  Cut result;
  os::MutexLock lock(container->latch);
  const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
  if (container->dead || descriptor->frozen != nullptr || container->intents > kMovedMax) {
    container->flushing.store(false, std::memory_order_release);
    return std::nullopt;
  }
  result.container = container;
  result.file = descriptor->run;
  result.file->ref();
  result.cut = result.file->record.cut;
  container->large.store(false, std::memory_order_relaxed);
  return result;
}

TreeState::Claim TreeState::claim(Attachment& attachment) {
  // What is in a layer may lie in its range. Deleted ranges say nothing of it: it comes later.
  if (layers_.have_entries()) return Claim::kOccupied;
  // The manifest would not tell a clone's moment that it came later.
  if (pins_.any()) return Claim::kOccupied;
  os::epoch::Guard guard;
  Container* container = directory_.find(attachment.record.low);
  if (container->low != attachment.record.low || container->has_high != attachment.has_high ||
      container->high != attachment.high) {
    return Claim::kOccupied;
  }
  if (container->flushing.exchange(true, std::memory_order_seq_cst)) return Claim::kBusy;
  Claim result = Claim::kBusy;
  {
    os::MutexLock lock(container->latch);
    const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
    if (!container->dead) {
      const bool free = descriptor->run->empty() &&
                        descriptor->run->record.id == attachment.record.id &&
                        !any_commit(descriptor->frozen, *container, *store_->slots) &&
                        !any_commit(descriptor->active, *container, *store_->slots);
      result = free ? Claim::kClaimed : Claim::kOccupied;
    }
  }
  if (result != Claim::kClaimed) {
    container->flushing.store(false, std::memory_order_release);
    return result;
  }
  attachment.claimed = container;
  return result;
}

void TreeState::release(Attachment& attachment) {
  if (attachment.claimed == nullptr) return;
  attachment.claimed->flushing.store(false, std::memory_order_release);
  attachment.claimed = nullptr;
}

uint64_t TreeState::container_id(const std::string& low) const {
  os::epoch::Guard guard;
  const Container* container = directory_.find(low);
  if (container->low != low) return kNoContainer;
  return container->descriptor.load(std::memory_order_acquire)->run->record.id;
}

RunFile* TreeState::file_of(const Attachment& attachment) const {
  auto* file = new RunFile;
  file->record = attachment.record;
  // Each of its keys came once, with a value.
  file->set_live(file->record.entries, 0);
  file->image = attachment.image;
  file->values.assign(attachment.values.begin(), attachment.values.end());
  if (file->image) {
    file->image->dropped.store(false, std::memory_order_release);
    const bool found = file->find_front();
    HAWTHORN_ASSERT(found);
    static_cast<void>(found);
  }
  for (const ExtentRef& value : file->values) {
    value->dropped.store(false, std::memory_order_release);
  }
  for (const ExtentAddress& address : attachment.record.large) {
    ExtentRef large = store_->large->take(address);
    HAWTHORN_ASSERT(large);
    file->large.push_back(std::move(large));
  }
  return file;
}

// What is open there commits later, and its transaction has not seen what is attached: it looks
// again when it commits (R18).
void TreeState::attach(Attachment& attachment, Lsn first_lsn, uint64_t batch) {
  Container* container = attachment.claimed;
  RunFile* file = file_of(attachment);
  const Lsn cts = attachment.record.cut;
  os::epoch::Guard guard;
  os::MutexLock lock(container->latch);
  const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
  file->date(cts, descriptor->run);
  store_->residency->adopt(file, nullptr);
  descriptor->active->ref();
  descriptor->active->revive_all();
  note_active();
  container->unpublished.add(batch, first_lsn);
  for (const DeltaEntry* entry : container->open_entries) {
    for (const Version* v = entry->newest.load(std::memory_order_acquire); v != nullptr;
         v = v->older.load(std::memory_order_acquire)) {
      const uint64_t stamp = v->stamp.load(std::memory_order_acquire);
      if ((stamp & kIntentBit) == 0) continue;
      if (store_->slots->find(stamp & ~kIntentBit).outcome == TxnSlots::Outcome::kActive) {
        store_->slots->mark_contended(stamp & ~kIntentBit);
      }
    }
  }
  HAWTHORN_TEST_POINT("tree.attach.before_install");
  container->install(new Descriptor{descriptor->active, nullptr, file});
}

Status TreeState::attach_replayed(const Attachment& attachment, Lsn first_lsn, uint64_t batch) {
  os::epoch::Guard guard;
  Container* container = directory_.find(attachment.record.low);
  os::MutexLock lock(container->latch);
  const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
  const RunFile& present = *descriptor->run;
  if (container->low != attachment.record.low || present.record.id != attachment.record.id ||
      !present.empty()) {
    return Status(StatusCode::kCorruption,
                  container->range_text() + ": the log attaches container " +
                      std::to_string(attachment.record.id) + " where there is another one");
  }
  RunFile* file = file_of(attachment);
  store_->residency->adopt(file, nullptr);
  descriptor->active->ref();
  descriptor->active->revive_all();
  if (descriptor->frozen != nullptr) descriptor->frozen->ref();
  note_active();
  container->unpublished.add(batch, first_lsn);
  container->install(new Descriptor{descriptor->active, descriptor->frozen, file});
  return {};
}

}  // namespace hawthorn::tree
