// The flushes of a tree: cuts, and the installation of what a merge, a division or a join has made.

#include <algorithm>
#include <utility>

#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/tree.h"

namespace hawthorn::tree {

namespace {
constexpr size_t kFlushMovedMax = 2048;  // open or late versions that a division or a join copies
}  // namespace

// Copies what transactions still have open in `entries` (of the delta that a cut at `cut` freezes)
// into the new active delta of `target`, and counts it there. `from_first`: of what is frozen.
// False: no memory; the entries are back in the container then.
bool TreeState::move_open(std::vector<DeltaEntry*> entries, Lsn cut, Lsn logged, Lsn from_first,
                          Delta* to, Container* target, std::vector<Version*>* moved) {
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  Moved found;
  if (!copy_unflushed(entries, *to, cut, *store_->slots, &found)) return false;
  // What asks for memory comes before anything of the container changes.
  ThinVector<DeltaEntry*> copies;
  copies.assign(found.copies.begin(), found.copies.end());
  moved->insert(moved->end(), found.versions.begin(), found.versions.end());
  // What moved is not committed at the cut, so its record lies at `logged` or above; but for chunks
  // logged before (R8).
  if (!to->empty()) to->needs_log_from(logged);
  for (const TxnId id : found.intents) {
    to->needs_log_from(store_->slots->first_lsn(id));
  }
  if (found.replayed > 0) to->needs_log_from(from_first);
  target->intents = static_cast<uint32_t>(found.intents.size()) + found.replayed;
  if (target->intents == 0) copies.clear();
  target->open_entries = std::move(copies);
  return true;
}

// visible_ts; *logged: no record of a commit above it stands below that. A commit moves both in one
// step, under the log's mutex.
Lsn TreeState::visible_now(Lsn* logged) const {
  if (store_->log == nullptr) {
    const Lsn visible = store_->visible->load(std::memory_order_acquire);
    *logged = visible + 1;
    return visible;
  }
  os::MutexLock lock(store_->log->mutex());
  *logged = store_->log->head();
  return store_->visible->load(std::memory_order_acquire);
}

TreeState::Cut::Cut(Cut&& other) noexcept
    : container(std::exchange(other.container, nullptr)),
      frozen(std::exchange(other.frozen, nullptr)),
      file(std::exchange(other.file, nullptr)),
      cut(other.cut) {}

TreeState::Cut& TreeState::Cut::operator=(Cut&& other) noexcept {
  std::swap(container, other.container);
  std::swap(frozen, other.frozen);
  std::swap(file, other.file);
  std::swap(cut, other.cut);
  return *this;
}

TreeState::Cut::~Cut() {
  if (frozen != nullptr && frozen->unref()) delete frozen;
  if (file != nullptr) file->unref();
}

// Each commit up to the cut had its layers in the list before it was visible.
MergeInput TreeState::merge_input(const Cut& cut) const {
  const Container& container = *cut.container;
  std::optional<std::string_view> high;
  if (container.has_high) high = container.high;
  // Keys that have come from a layer since are hidden as well, from those who go on reading that.
  const Lsn layered = layers_.oldest_committed();
  return {.container = &container,
          .delta = cut.frozen,
          .file = cut.file,
          .merge_operator = merge_operator(),
          .keeps_deletes = base_ != nullptr,
          .pins = pins_.copy(),
          .layered = layered,
          .deleted = layers_.deleted(std::min(cut.file->record.cut, layered), cut.cut,
                                     container.low, high)};
}

namespace {
// While the log is replayed, what was open becomes visible by the passing of its commit record
// alone. Under the latch.
void recount_open(Container* container, Lsn visible) {
  ThinVector<DeltaEntry*>& open = container->open_entries;
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  container->intents = 0;
  const auto settled = [&](const DeltaEntry* entry) {
    const uint32_t before = container->intents;
    for (const Version* v = entry->newest.load(std::memory_order_relaxed); v != nullptr;
         v = v->older.load(std::memory_order_relaxed)) {
      if (v->stamp.load(std::memory_order_relaxed) > visible) ++container->intents;
    }
    return container->intents == before;
  };
  open.erase(std::remove_if(open.begin(), open.end(), settled), open.end());
}
}  // namespace

// Makes the active delta the frozen one. Under the latch. False: no memory.
bool TreeState::freeze(Container* container, Lsn cut, Lsn logged, Cut* result) {
  Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
  Delta* active = descriptor->active;
  auto* fresh = new Delta(store_->arena, container->skip, active->entries());
  // What is being replayed has no other way to get memory than this flush.
  fresh->must_fit = store_->replaying && container->intents < active->versions();
  std::vector<Version*> moved;
  const ThinVector<DeltaEntry*>& open = container->open_entries;
  if (container->intents > 0 && !move_open({open.begin(), open.end()}, cut, logged,
                                           active->first_lsn(), fresh, container, &moved)) {
    delete fresh;
    return false;
  }
  fresh->must_fit = false;
  HAWTHORN_TEST_POINT("tree.cut.before_install");
  active->ref();
  descriptor->run->ref();
  container->frozen_cut = cut;
  container->install(new Descriptor{fresh, active, descriptor->run});
  for (Version* version : moved) version->flags.fetch_or(kMoved, std::memory_order_release);
  result->frozen = active;
  return true;
}

namespace {
// Whether a cut would carry on more than it lets go. What was unlinked (rolled back, moved to a
// layer) goes with the delta, too.
bool mostly_open(const Container& container, const Delta& active) {
  return container.intents > 0 && container.intents * 2 > active.versions() &&
         container.intents * 2 > active.links();
}
}  // namespace

std::optional<TreeState::Cut> TreeState::cut(Container* container, bool force) {
  if (container->flushing.exchange(true, std::memory_order_seq_cst)) return std::nullopt;
  Cut result;
  {
    os::MutexLock lock(container->latch);
    Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
    if (container->dead) {
      container->flushing.store(false, std::memory_order_release);
      return std::nullopt;
    }
    result.container = container;
    if (descriptor->frozen != nullptr) {
      // Left by a merge that failed: it goes first, alone.
      result.cut = container->frozen_cut;
      result.frozen = descriptor->frozen;
    } else {
      Delta* active = descriptor->active;
      // Whatever is stamped was visible before; unstamped versions are the business of
      // copy_unflushed.
      Lsn logged = 0;
      const Lsn visible = container->intents > 0 ? visible_now(&logged)
                                                 : store_->visible->load(std::memory_order_acquire);
      result.cut = std::max(visible, descriptor->run->record.cut);
      if (store_->replaying) recount_open(container, result.cut);
      if (!active->empty()) {
        if (!force && mostly_open(*container, *active)) {
          container->large.store(false, std::memory_order_relaxed);  // the next write asks again
          container->flushing.store(false, std::memory_order_release);
          return std::nullopt;
        }
        if (!freeze(container, result.cut, logged, &result)) {
          container->flushing.store(false, std::memory_order_release);
          return std::nullopt;
        }
      }
    }
    result.file = container->descriptor.load(std::memory_order_relaxed)->run;
    if (result.frozen != nullptr) result.frozen->ref();
    result.file->ref();
    container->large.store(false, std::memory_order_relaxed);
  }
  return result;
}

std::optional<TreeState::Cut> TreeState::cut_to_divide(Container* container, size_t bytes) {
  if (container->flushing.exchange(true, std::memory_order_seq_cst)) return std::nullopt;
  Cut result;
  os::MutexLock lock(container->latch);
  const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
  if (container->dead || descriptor->frozen != nullptr || descriptor->active->bytes() <= bytes ||
      container->intents > kFlushMovedMax) {
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

namespace {
void unmark(std::span<Container* const> containers) {
  for (Container* container : containers) {
    container->flushing.store(false, std::memory_order_release);
  }
}
}  // namespace

std::vector<TreeState::Cut> TreeState::cut_to_join(std::span<Container* const> containers) {
  std::vector<Cut> cuts;
  size_t marked = 0;
  while (marked < containers.size() &&
         !containers[marked]->flushing.exchange(true, std::memory_order_seq_cst)) {
    ++marked;
  }
  // Who is not marked may be dead, or stand here twice: only then may all latches be held together.
  // In key order; nobody else holds more than one.
  if (marked < containers.size()) {
    unmark(containers.first(marked));
    return {};
  }
  for (Container* container : containers) container->latch.lock();
  bool possible = true;
  Lsn logged = 0;
  const Lsn cut = visible_now(&logged);
  for (const Container* container : containers) {
    const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
    // A run can be newer than what is visible while the log is replayed: the others' commits up to
    // its cut come later (R12).
    possible = possible && !container->dead && descriptor->frozen == nullptr &&
               container->intents <= kFlushMovedMax && descriptor->run->record.cut <= cut &&
               // What an ingest has attached can be joined when nobody reads below it.
               descriptor->run->since <= store_->snapshots->oldest(cut);
  }
  for (size_t i = 0; possible && i < containers.size(); ++i) {
    Container* container = containers[i];
    Cut made;
    const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
    // After a failure what is frozen waits for a flush.
    possible = descriptor->active->empty() || freeze(container, cut, logged, &made);
    if (!possible) break;
    made.container = container;
    made.cut = cut;
    made.file = descriptor->run;
    made.file->ref();
    if (made.frozen != nullptr) made.frozen->ref();
    cuts.push_back(std::move(made));
  }
  for (Container* container : containers) container->latch.unlock();
  if (possible) return cuts;
  unmark(containers);
  return {};
}

bool TreeState::drop_empty(Cut& cut) {
  Container* container = cut.container;
  if (cut.frozen == nullptr) return false;
  DeltaEntry* first[1];
  const std::string& low = container->low;
  const size_t found = cut.frozen->collect(Delta::Seek::kGreaterEqual, low,
                                           key_head(low, cut.frozen->skip()), first);
  if (found > 0 && (!container->has_high || first[0]->key() < container->high)) return false;
  os::MutexLock lock(container->latch);
  const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
  descriptor->active->ref();
  descriptor->run->ref();
  container->install(new Descriptor{descriptor->active, nullptr, descriptor->run});
  container->flushing.store(false, std::memory_order_release);
  return true;
}

void TreeState::give_up(Cut& cut) {
  cut.container->flushing.store(false, std::memory_order_release);
}

namespace {
// In the frozen deltas of containers that can be found now: nobody may flush these before.
void mark_moved(std::span<Version* const> moved, std::span<Container* const> found) {
  for (Version* version : moved) version->flags.fetch_or(kMoved, std::memory_order_release);
  unmark(found);
}
}  // namespace

// What was frozen is not durable before the batch.
void TreeState::settle(Container* target, const Cut& cut, uint64_t batch) {
  if (cut.frozen != nullptr) target->unpublished.add(batch, cut.frozen->first_lsn());
}

void TreeState::install(Cut& cut, MergeOutput& output, uint64_t batch) noexcept {
  Container* container = cut.container;
  for (ExtentRef& extent : output.fresh) extent->dropped.store(false, std::memory_order_release);
  // A run that stays as it was is attached once more for its new file; pinned, so that it cannot be
  // evicted meanwhile.
  PinnedRunFile pinned(cut.file);
  for (MergePiece& piece : output.pieces) {
    if (piece.unchanged_run && piece.file->image) {
      piece.run = store_->residency->attach_again(piece.file);
    }
  }
  if (output.pieces.size() == 1) {
    MergePiece& piece = output.pieces.front();
    store_->residency->adopt(piece.file, std::move(piece.run));
    os::MutexLock lock(container->latch);
    Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
    descriptor->active->ref();
    piece.file->ref();
    settle(container, cut, batch);
    note_active();
    container->install(new Descriptor{descriptor->active, nullptr, piece.file});
    container->flushing.store(false, std::memory_order_release);
    return;
  }

  os::MutexLock structure_lock(structure_mutex_);
  std::vector<Container*> fresh;
  for (size_t i = 0; i < output.pieces.size(); ++i) {
    MergePiece& piece = output.pieces[i];
    const bool bounded = i + 1 < output.pieces.size() || container->has_high;
    std::string high =
        i + 1 < output.pieces.size() ? output.pieces[i + 1].low : std::string(container->high);
    store_->residency->adopt(piece.file, std::move(piece.run));
    piece.file->ref();
    fresh.push_back(
        make_container(store_, piece.file->record, std::move(high), bounded, piece.file));
  }
  {
    // replace() retires the old container, which is read and unlocked after it.
    os::epoch::Guard guard;
    os::MutexLock lock(container->latch);
    Delta* active = container->descriptor.load(std::memory_order_relaxed)->active;
    // What was written during the merge stays where it is: the old active delta becomes the frozen
    // one of all parts, each of which will flush its own range of it. Only what transactions have
    // open moves on.
    Lsn logged = 0;
    const Lsn second_cut = std::max(visible_now(&logged), cut.cut);
    std::vector<Version*> moved;
    std::vector<DeltaEntry*> open(container->open_entries.begin(), container->open_entries.end());
    container->open_entries = {};
    for (Container* part : fresh) {
      Descriptor* own = part->descriptor.load(std::memory_order_relaxed);
      std::vector<DeltaEntry*> mine;
      for (DeltaEntry* entry : open) {
        if (part->covers(entry->key())) mine.push_back(entry);
      }
      // These few bytes must not fail: the edit that names the parts is under way.
      own->active->must_fit = true;
      static_cast<void>(move_open(std::move(mine), second_cut, logged, active->first_lsn(),
                                  own->active, part, &moved));
      own->active->must_fit = false;
      if (!active->empty()) {
        active->ref();
        own->frozen = active;
        part->frozen_cut = second_cut;
      }
      part->unpublished = container->unpublished;
      settle(part, cut, batch);
    }
    note_active();
    container->dead = true;
    Container* const old_one[] = {container};
    // Before the replacement retires the old one: an undo that still names it looks its key up from
    // now on.
    structure_.fetch_add(1, std::memory_order_release);
    for (Container* part : fresh) part->flushing.store(true, std::memory_order_relaxed);
    directory_.replace(old_one, fresh);
    HAWTHORN_TEST_POINT("tree.install.before_moved");
    mark_moved(moved, fresh);
  }
}

bool TreeState::few_open(const Cut& cut) {
  os::MutexLock lock(cut.container->latch);
  return cut.container->intents <= kFlushMovedMax;
}

bool TreeState::few_written(std::span<const Cut> cuts) {
  size_t versions = 0;
  os::epoch::Guard guard;
  for (const Cut& cut : cuts) {
    versions += cut.container->descriptor.load(std::memory_order_acquire)->active->versions();
  }
  return versions <= kFlushMovedMax;
}

namespace {
// Copies what is settled at or below `cut` into `to`; the latches of both are held.
void copy_settled(const Delta& from, Lsn cut, Delta* to) {
  std::vector<const Version*> chain;
  DeltaEntry* batch[32];
  for (size_t count = from.collect_first(batch); count > 0;
       count = from.collect(Delta::Seek::kGreater, batch[count - 1]->key(), batch[count - 1]->head,
                            batch)) {
    for (size_t i = 0; i < count; ++i) {
      chain.clear();
      for (const Version* v = batch[i]->newest.load(std::memory_order_acquire); v != nullptr;
           v = v->older.load(std::memory_order_acquire)) {
        const uint64_t stamp = v->stamp.load(std::memory_order_acquire);
        if ((stamp & kIntentBit) == 0 && stamp <= cut) chain.push_back(v);
      }
      if (chain.empty()) continue;
      // Oldest first: then each is the newest where it is linked.
      std::sort(chain.begin(), chain.end(), [](const Version* a, const Version* b) {
        const uint64_t one = a->stamp.load(std::memory_order_relaxed);
        const uint64_t two = b->stamp.load(std::memory_order_relaxed);
        return one != two ? one < two : a->seq < b->seq;
      });
      DeltaEntry* entry = to->find_or_add(batch[i]->key(), key_head(batch[i]->key(), to->skip()));
      for (const Version* v : chain) {
        // `to` must fit.
        static_cast<void>(
            copy_version(*v, v->stamp.load(std::memory_order_relaxed), 0, entry, *to));
      }
    }
  }
  to->needs_log_from(from.first_lsn());
}
}  // namespace

void TreeState::install_joined(std::span<Cut> cuts, MergeOutput& output, uint64_t batch) noexcept {
  for (ExtentRef& extent : output.fresh) extent->dropped.store(false, std::memory_order_release);
  MergePiece& piece = output.pieces.front();
  const Container* last = cuts.back().container;
  store_->residency->adopt(piece.file, std::move(piece.run));
  piece.file->ref();
  Container* joined =
      make_container(store_, piece.file->record, last->high, last->has_high, piece.file);
  Descriptor* own = joined->descriptor.load(std::memory_order_relaxed);
  auto* late = new Delta(store_->arena, joined->skip);

  os::MutexLock structure_lock(structure_mutex_);
  os::epoch::Guard guard;  // replace() retires what is unlocked after it
  for (const Cut& cut : cuts) cut.container->latch.lock();
  // As in a split, what was written meanwhile becomes the frozen delta, and what is open moves on.
  // These few bytes must not fail: the edit that names the joined container is under way.
  Lsn logged = 0;
  const Lsn second_cut = std::max(visible_now(&logged), cuts.front().cut);
  std::vector<Version*> moved;
  std::vector<DeltaEntry*> open;
  std::vector<Container*> old_ones;
  Lsn first_lsn = format::kLsnMax;
  for (const Cut& cut : cuts) {
    Container* container = cut.container;
    open.insert(open.end(), container->open_entries.begin(), container->open_entries.end());
    first_lsn = std::min(first_lsn, container->descriptor.load()->active->first_lsn());
    joined->unpublished.add(container->unpublished);
    settle(joined, cut, batch);
    old_ones.push_back(container);
  }
  own->active->must_fit = true;
  late->must_fit = true;
  static_cast<void>(
      move_open(std::move(open), second_cut, logged, first_lsn, own->active, joined, &moved));
  for (const Container* container : old_ones) {
    copy_settled(*container->descriptor.load(std::memory_order_relaxed)->active, second_cut, late);
  }
  own->active->must_fit = false;
  late->must_fit = false;
  if (late->empty()) {
    delete late;
  } else {
    own->frozen = late;
    joined->frozen_cut = second_cut;
  }
  note_active();
  for (Container* container : old_ones) {
    container->dead = true;
    Delta* const active = container->descriptor.load(std::memory_order_relaxed)->active;
    if (!active->is_none()) active->replaced.store(true, std::memory_order_release);
  }
  structure_.fetch_add(1, std::memory_order_release);
  Container* const new_one[] = {joined};
  joined->flushing.store(true, std::memory_order_relaxed);
  directory_.replace(old_ones, new_one);
  HAWTHORN_TEST_POINT("tree.install.before_moved");
  mark_moved(moved, new_one);
  for (Container* container : old_ones) container->latch.unlock();
}

Lsn TreeState::log_needed(uint64_t durable_batch, bool* rests, SpaceUse* use) {
  HAWTHORN_TEST_POINT("tree.looked_at");
  Lsn needed = layers_.log_needed();
  if (base_) needed = std::min(needed, base_->log_from.load(std::memory_order_acquire));
  bool busy = !layers_.rest();
  os::MutexLock structure_lock(structure_mutex_);
  os::epoch::Guard guard;
  for (Container* container : directory_.all()) {
    os::MutexLock lock(container->latch);
    needed = std::min(needed, container->unpublished.needed_after(durable_batch));
    const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
    for (const Delta* delta : {descriptor->active, descriptor->frozen}) {
      // Entries without versions are what rolled-back transactions leave.
      if (delta != nullptr && delta->versions() > 0) needed = std::min(needed, delta->first_lsn());
      busy = busy || (delta != nullptr && !delta->empty());
    }
    if (use == nullptr) continue;
    use->add(descriptor->run->space_use());
    give_back_delta(container);
  }
  if (rests != nullptr) *rests = !busy && needed == format::kLsnMax;
  return needed;
}

bool TreeState::flushed_to(Lsn cts, uint64_t durable_batch) {
  os::MutexLock structure_lock(structure_mutex_);
  os::epoch::Guard guard;
  for (Container* container : directory_.all()) {
    os::MutexLock lock(container->latch);
    if (container->unpublished.needed_after(durable_batch) <= cts) return false;
    const Descriptor* descriptor = container->descriptor.load(std::memory_order_relaxed);
    // Behind a split what is frozen can all be newer.
    const Delta* const frozen = descriptor->frozen;
    if (frozen != nullptr && frozen->versions() > 0 && frozen->first_lsn() <= cts) return false;
    const Delta& active = *descriptor->active;
    const bool may_hold = active.versions() > 0 && active.first_lsn() <= cts;
    if (may_hold && descriptor->run->record.cut < cts) return false;
  }
  return true;
}

}  // namespace hawthorn::tree
