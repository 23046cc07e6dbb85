#include "bench/soak_threads.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kSingles = 10;     // puts that are commits of their own, in a row
constexpr uint64_t kGetsOfView = 32;  // that are made before the reader looks anew
constexpr uint64_t kKeysOfMultiGet = 64;
constexpr uint64_t kItemsOfRange = 1000;  // at most
constexpr uint64_t kItemsOfSnapshot = 2000;
constexpr uint64_t kChecksAtOnce = 64;  // of a snapshot that is held
constexpr uint64_t kRestMs = 20;
constexpr uint64_t kPauseShare = 5;  // of the time that a snapshot is held, before the next one

// Of a writer's steps, in thousandths; the rest are upserts.
constexpr uint64_t kIngests = 5;
constexpr uint64_t kSteps = 1000;
constexpr uint64_t kSinglesEnd = 100;
constexpr uint64_t kOverwritesEnd = 500;

class Watch {
 public:
  uint64_t ns() const { return Ticks::ns(Ticks::now() - start_); }

 private:
  const uint64_t start_ = Ticks::now();
};

}  // namespace

void SoakShared::wrong(const std::string& what, Team& team) {
  team.stop();
  if (wrong_answers.fetch_add(1) != 0) return;
  const std::lock_guard lock(mutex);
  first_wrong = what;
}

// ---- Writers

SoakWriter::SoakWriter(SoakShared& shared, Team& team, unsigned number)
    : shared_(shared),
      team_(team),
      number_(number),
      tally_(shared.tallies[number]),
      random_(shared.options.seed + number),
      record_(shared.model),
      writer_(shared.engine.writer()) {
  for (uint64_t n = 0; n < shared.model.strips_of_writer(); ++n) {
    const uint64_t first = shared.model.strip(number, n);
    for (uint64_t item = first; item < first + shared.model.items_of_strip(); ++item) {
      live_items_ += shared.model.state(item).present() ? 1 : 0;
    }
  }
}

uint64_t SoakWriter::any_item() {
  const uint64_t first =
      shared_.model.strip(number_, random_.below(shared_.model.strips_of_writer()));
  return first + random_.below(shared_.model.items_of_strip());
}

bool SoakWriter::change(uint64_t item, bool present) {
  const ItemState before = shared_.model.state(item);
  if (before.under_way()) return false;
  shared_.model.begin_write(item);
  changes_.push_back({item, before, before.next(present)});
  return true;
}

void SoakWriter::put_last() {
  record_.make(changes_.back().item, changes_.back().next.version());
  writer_->put(record_.key(), record_.value());
}

// Puts what changed, which is committed now, into the model and the counts.
void SoakWriter::settle() {
  int64_t items = 0;
  int64_t bytes = 0;
  uint64_t put = 0;
  for (const Change& change : changes_) {
    shared_.model.end_write(change.item, change.next);
    if (change.before.present()) {
      --items;
      bytes -= static_cast<int64_t>(shared_.model.bytes(change.item, change.before.version()));
    }
    if (!change.next.present()) continue;
    const uint64_t added = shared_.model.bytes(change.item, change.next.version());
    ++items;
    bytes += static_cast<int64_t>(added);
    put += added;
  }
  live_items_ += items;
  written_ += changes_.size();
  shared_.live_items += items;
  shared_.live_bytes += bytes;
  shared_.bytes_put += put;
  shared_.keys_written += changes_.size();
  changes_.clear();
}

void SoakWriter::commit(SoakKind kind, uint64_t before) {
  writer_->commit();
  tally_.add(kind, changes_.size(), Ticks::ns(Ticks::now() - before));
  settle();
}

void SoakWriter::load() {
  // In an order that looks random, as bulk loads go.
  std::vector<uint64_t> order(shared_.model.strips_of_writer());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
  for (const uint64_t n : order) {
    const uint64_t first = shared_.model.strip(number_, n);
    const uint64_t end = first + shared_.model.items_of_strip();
    for (uint64_t item = first; item < end && !team_.stopped();) {
      const uint64_t before = Ticks::now();
      writer_->begin(WriteIntent::kBlind);
      for (; item < end && changes_.size() < shared_.options.batch; ++item) {
        if (!SoakModel::is_loaded(item)) continue;
        change(item, true);
        put_last();
      }
      commit(SoakKind::kUpsert, before);
    }
  }
}

void SoakWriter::upsert_some() {
  const uint64_t before = Ticks::now();
  writer_->begin(WriteIntent::kBlind);
  for (uint64_t i = 0; i < shared_.options.batch; ++i) {
    if (change(any_item(), true)) put_last();
  }
  commit(SoakKind::kUpsert, before);
}

void SoakWriter::put_singles() {
  for (uint64_t i = 0; i < kSingles; ++i) {
    change(any_item(), true);
    record_.make(changes_.back().item, changes_.back().next.version());
    const Watch watch;
    writer_->put_now(record_.key(), record_.value());
    tally_.add(SoakKind::kUpsert, 1, watch.ns());
    settle();
  }
}

void SoakWriter::check_old(const Change& change, bool found, std::string_view value) {
  if (shared_.model.fits(change.item, change.before, change.before, found, value)) return;
  shared_.wrong(
      "a get in a batch: " + shared_.model.describe(change.item, change.before, change.before),
      team_);
}

// Overwrites what is there, each time behind a look at the old value; and looks once at its own
// write.
void SoakWriter::overwrite_some() {
  const uint64_t before = Ticks::now();
  writer_->begin(WriteIntent::kReadWrite);
  std::string_view value;
  for (uint64_t i = 0; i < shared_.options.batch; ++i) {
    const uint64_t item = any_item();
    const ItemState state = shared_.model.state(item);
    if (state.under_way()) continue;
    record_.make_key(item);
    const bool found = writer_->get(record_.key(), value);
    check_old({item, state, {}}, found, value);
    if (!state.present()) continue;
    change(item, true);
    put_last();
  }
  if (!changes_.empty()) {
    const Change& last = changes_.back();
    record_.make_key(last.item);
    const bool found = writer_->get(record_.key(), value);
    check_old({last.item, last.next, {}}, found, value);
  }
  commit(SoakKind::kOverwrite, before);
}

void SoakWriter::remove_strip(uint64_t first) {
  const uint64_t end = first + shared_.model.items_of_strip();
  for (uint64_t item = first; item < end;) {
    const uint64_t before = Ticks::now();
    writer_->begin(WriteIntent::kBlind);
    for (; item < end && changes_.size() < shared_.options.batch; ++item) {
      if (!shared_.model.state(item).present()) continue;
      change(item, false);
      record_.make_key(item);
      writer_->del(record_.key());
    }
    commit(SoakKind::kRemove, before);
  }
}

// Fills a strip anew, behind a removal of what was there.
void SoakWriter::ingest_strip() {
  const uint64_t first =
      shared_.model.strip(number_, random_.below(shared_.model.strips_of_writer()));
  const uint64_t end = first + shared_.model.items_of_strip();
  remove_strip(first);
  for (uint64_t item = first; item < end; ++item) change(item, true);
  size_t at = 0;
  const Watch watch;
  shared_.entries_attached +=
      shared_.engine.ingest([&](std::string_view& key, std::string_view& value) {
        if (at == changes_.size()) return false;
        record_.make(changes_[at].item, changes_[at].next.version());
        ++at;
        key = record_.key();
        value = record_.value();
        return true;
      });
  tally_.add(SoakKind::kIngest, changes_.size(), watch.ns());
  ++shared_.ingests;
  shared_.entries_ingested += changes_.size();
  settle();
}

// Waits until the next step may begin without the rate being exceeded since the start.
void SoakWriter::keep_rate(uint64_t start) {
  if (shared_.options.write_rate == 0) return;
  const double due = static_cast<double>(written_) * shared_.options.writers /
                     static_cast<double>(shared_.options.write_rate);
  while (!team_.stopped()) {
    const double wait = due - Ticks::seconds(Ticks::now() - start);
    if (wait <= 0) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(wait, 0.1)));
  }
}

void SoakWriter::write(uint64_t start) {
  const auto items_of_strip = static_cast<int64_t>(shared_.model.items_of_strip());
  const auto level =
      static_cast<int64_t>(shared_.options.records / shared_.options.writers) + items_of_strip;
  const bool ingests = shared_.engine.ingests();
  while (!team_.stopped()) {
    keep_rate(start);
    if (live_items_ > level) {
      remove_strip(shared_.model.strip(number_, random_.below(shared_.model.strips_of_writer())));
      continue;
    }
    const uint64_t pick = random_.below(kSteps);
    if (pick < kIngests && ingests) {
      ingest_strip();
    } else if (pick < kSinglesEnd) {
      put_singles();
    } else if (pick < kOverwritesEnd) {
      overwrite_some();
    } else {
      upsert_some();
    }
  }
}

// ---- Readers

SoakReader::SoakReader(SoakShared& shared, Team& team, unsigned number)
    : shared_(shared),
      team_(team),
      tally_(shared.tallies[shared.options.writers + number]),
      random_(shared.options.seed + 1000 + number),
      record_(shared.model),
      sink_(shared.model),
      reader_(shared.engine.reader()) {}

void SoakReader::choose(uint64_t count) {
  items_.resize(count);
  for (uint64_t& item : items_) item = random_.below(shared_.model.items());
}

// Before the view begins: it may show one moment.
void SoakReader::look_before() {
  before_.clear();
  for (const uint64_t item : items_) before_.push_back(shared_.model.state(item));
}

void SoakReader::get_some() {
  choose(kGetsOfView);
  look_before();
  reader_->begin(View::kLatest);
  for (size_t i = 0; i < items_.size(); ++i) {
    record_.make_key(items_[i]);
    std::string_view value;
    const Watch watch;
    const bool found = reader_->get(record_.key(), value);
    tally_.add(SoakKind::kGet, 1, watch.ns());
    const ItemState after = shared_.model.state(items_[i]);
    if (!shared_.model.fits(items_[i], before_[i], after, found, value)) {
      shared_.wrong("a get: " + shared_.model.describe(items_[i], before_[i], after), team_);
    }
  }
  reader_->end();
}

void SoakReader::multi_get_some() {
  choose(kKeysOfMultiGet);
  look_before();
  keys_.clear();
  for (const uint64_t item : items_) {
    record_.make_key(item);
    keys_.emplace_back(record_.key());
  }
  key_views_.assign(keys_.begin(), keys_.end());
  values_.assign(keys_.size(), {});
  reader_->begin(View::kLatest);
  const Watch watch;
  reader_->multi_get(key_views_, values_);
  tally_.add(SoakKind::kMultiGet, keys_.size(), watch.ns());
  for (size_t i = 0; i < items_.size(); ++i) {
    const ItemState after = shared_.model.state(items_[i]);
    const bool found = values_[i].data() != nullptr;
    if (!shared_.model.fits(items_[i], before_[i], after, found, values_[i])) {
      shared_.wrong("a multi_get: " + shared_.model.describe(items_[i], before_[i], after), team_);
    }
  }
  reader_->end();
}

void SoakReader::range() {
  choose(1 + random_.below(kItemsOfRange));
  const uint64_t first = items_.front();
  items_.resize(std::min<uint64_t>(items_.size(), shared_.model.items() - first));
  std::iota(items_.begin(), items_.end(), first);
  look_before();
  const auto wanted = static_cast<size_t>(std::count_if(
      before_.begin(), before_.end(), [](ItemState state) { return state.present(); }));
  if (wanted == 0) return;
  record_.make_key(first);
  sink_.restart();
  reader_->begin(View::kLatest);
  const Watch watch;
  reader_->range(record_.key(), wanted, sink_);
  tally_.add(SoakKind::kRange, sink_.found().size(), watch.ns());
  reader_->end();
  after_.clear();
  for (const uint64_t item : items_) after_.push_back(shared_.model.state(item));
  if (sink_.errors() != 0 ||
      !shared_.model.fits_range(first, before_, after_, sink_.found(), wanted)) {
    shared_.wrong(print_text("a range of %zu entries from item %lu on: %zu found, %lu damaged",
                             wanted, first, sink_.found().size(), sink_.errors()),
                  team_);
  }
}

void SoakReader::read() {
  while (!team_.stopped()) {
    const uint64_t pick = random_.below(10);
    if (pick < 6) {
      get_some();
    } else if (pick < 9) {
      multi_get_some();
    } else {
      range();
    }
  }
}

// ---- Snapshots

SoakHolder::SoakHolder(SoakShared& shared, Team& team)
    : shared_(shared),
      team_(team),
      tally_(shared.tallies.back()),
      random_(shared.options.seed + 2000),
      record_(shared.model),
      sink_(shared.model),
      reader_(shared.engine.reader()) {}

void SoakHolder::rest(uint64_t ms) {
  if (!team_.stopped()) std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

// Begins a snapshot; known is what nobody wrote meanwhile.
void SoakHolder::begin() {
  const SoakModel& model = shared_.model;
  std::vector<Known> before;
  for (uint64_t i = 0; i < kItemsOfSnapshot; ++i) {
    const uint64_t item = random_.below(model.items());
    before.push_back({item, model.state(item)});
  }
  range_.clear();
  range_first_ = random_.below(model.items());
  const uint64_t end = std::min(model.items(), range_first_ + kItemsOfRange);
  for (uint64_t item = range_first_; item < end; ++item) range_.push_back(model.state(item));
  reader_->begin(View::kSnapshot);
  known_.clear();
  for (const Known& one : before) {
    if (!one.state.under_way() && one.state == model.state(one.item)) known_.push_back(one);
  }
  for (uint64_t item = range_first_; item < end; ++item) {
    ItemState& state = range_[item - range_first_];
    if (state != model.state(item)) state = ItemState(ItemState::kUnderWay);
  }
}

void SoakHolder::check_items(size_t from, size_t end) {
  for (size_t i = from; i < std::min(end, known_.size()); ++i) {
    const Known& one = known_[i];
    record_.make_key(one.item);
    std::string_view value;
    const Watch watch;
    const bool found = reader_->get(record_.key(), value);
    tally_.add(SoakKind::kSnapshot, 1, watch.ns());
    if (!shared_.model.fits(one.item, one.state, one.state, found, value)) {
      shared_.wrong(
          "a get under a snapshot: " + shared_.model.describe(one.item, one.state, one.state),
          team_);
    }
  }
}

void SoakHolder::check_range() {
  const auto wanted = static_cast<size_t>(
      std::count_if(range_.begin(), range_.end(), [](ItemState state) { return state.present(); }));
  if (wanted == 0) return;
  record_.make_key(range_first_);
  sink_.restart();
  const Watch watch;
  reader_->range(record_.key(), wanted, sink_);
  tally_.add(SoakKind::kSnapshot, sink_.found().size(), watch.ns());
  if (sink_.errors() != 0 ||
      !shared_.model.fits_range(range_first_, range_, range_, sink_.found(), wanted)) {
    shared_.wrong(print_text("a range of %zu entries from item %lu on under a snapshot: %zu found, "
                             "%lu damaged",
                             wanted, range_first_, sink_.found().size(), sink_.errors()),
                  team_);
  }
}

void SoakHolder::hold() {
  begin();
  const Watch held;
  for (size_t from = 0; !team_.stopped() && held.ns() < shared_.options.hold_ms * 1'000'000;) {
    check_items(from, from + kChecksAtOnce);
    from = from + kChecksAtOnce < known_.size() ? from + kChecksAtOnce : 0;
    check_range();
    rest(std::min(kRestMs, shared_.options.hold_ms / kPauseShare));
  }
  // As it was in the beginning.
  check_items(0, known_.size());
  check_range();
  reader_->end();
}

void SoakHolder::hold_snapshots() {
  while (!team_.stopped()) {
    if (shared_.options.hold_ms == 0) {
      rest(kRestMs);
      continue;
    }
    hold();
    const Watch paused;
    const uint64_t pause_ns = shared_.options.hold_ms * 1'000'000 / kPauseShare;
    while (!team_.stopped() && paused.ns() < pause_ns) {
      rest(std::min(kRestMs, shared_.options.hold_ms / kPauseShare + 1));
    }
  }
}

}  // namespace hawthorn::bench
