// The public Cursor.

#include <algorithm>
#include <utility>

#include "base/out_of_memory.h"
#include "db/cursor_impl.h"
#include "db/expiry_job.h"
#include "db/stored_key.h"
#include "tree/estimate.h"

namespace hawthorn {

namespace {
std::string behind(std::string_view key) { return std::string(key) + '\0'; }
}  // namespace

Cursor::Impl::Impl(Db::Impl* db, Snapshot own, tree::TreeState* state, const tree::ReadView& view,
                   const CursorOptions& options, txn::ReadSet* reads, uint64_t now_ms,
                   std::shared_ptr<tree::LayeredDead> layered_dead)
    : db_(db),
      own_(std::move(own)),
      now_ms_(now_ms),
      expires_(db::expires(*state)),
      key_only_(options.key_only),
      large_as_empty_(options.large_as_empty),
      tree_(state),
      lower_(options.lower.value_or(std::string())),
      upper_(options.upper),
      view_(view),
      reads_(reads),
      cursor_(state, view,
              {.lower = options.lower,
               .upper = options.upper,
               .key_only = options.key_only && !expires_,
               .layered_dead = std::move(layered_dead)}) {
  db_->hold();
  if (reads_ != nullptr) reads_->begin_walk(this);
}

Cursor::Impl::~Impl() {
  if (reads_ != nullptr) {
    fold();
    reads_->end_walk(this);
  }
  db_->let_go();
}

bool Cursor::Impl::first() {
  begin_seek();
  const bool found = cursor_.first();
  begin_walk(true, lower_, {});
  return settle(found, true);
}

bool Cursor::Impl::last() {
  begin_seek();
  const bool found = cursor_.last();
  begin_walk(false, {}, upper_);
  return settle(found, false);
}

bool Cursor::Impl::seek(std::string_view key) {
  begin_seek();
  const bool found = cursor_.seek(key);
  begin_walk(true, std::max<std::string_view>(key, lower_), {});
  return settle(found, true);
}

bool Cursor::Impl::seek_for_prev(std::string_view key) {
  begin_seek();
  const bool found = cursor_.seek_for_prev(key);
  const std::string end = behind(key);
  const bool inside = !upper_.has_value() || end < *upper_;
  begin_walk(false, {}, inside ? end : *upper_);
  return settle(found, false);
}

bool Cursor::Impl::turn(bool forward) {
  if (forward != forward_) extend();
  forward_ = forward;
  if (forward ? cursor_.next() : cursor_.prev()) return true;
  end_walk(forward);
  return false;
}

// There is nothing up to the end, or nobody knows.
void Cursor::Impl::end_walk(bool forward) {
  if (forward) {
    high_ = upper_;
  } else {
    low_ = lower_;
  }
}

bool Cursor::Impl::skip(int64_t n) {
  if (expires_) {
    bool found = cursor_.valid();
    for (; n > 0 && found; --n) found = next();
    for (; n < 0 && found; ++n) found = prev();
    return found;
  }
  if (walking_) extend();
  forward_ = n > 0;
  const bool found = cursor_.skip(n);
  if (walking_ && !found) end_walk(forward_);
  return found;
}

// Where that leads depends on all of the range.
bool Cursor::Impl::seek_random(uint64_t random) {
  begin_seek();
  const bool found = cursor_.seek_random(random);
  walking_ = reads_ != nullptr;
  low_ = lower_;
  high_ = upper_;
  return settle(found, true) || (expires_ && cursor_.status().ok() && first());
}

Status db::next_entries(tree::TreeCursor& cursor, const tree::TreeState& tree, uint64_t now_ms,
                        bool key_only, std::string* loaded, std::span<Entry>* entries) {
  const std::span<Entry> room = *entries;
  do {
    *entries = room.first(cursor.next_batch(room));
    if (entries->empty() || tree.shape() == nullptr) return {};
    if (Status s = load_entries(tree, now_ms, entries, loaded); !s.ok()) return s;
  } while (entries->empty());
  if (key_only && !tree.shape()->multi_value()) {
    for (Entry& entry : *entries) entry.value = {};
  }
  return {};
}

size_t Cursor::Impl::next_batch(std::span<Entry> out, bool stands) {
  if (reads_ != nullptr) return next_alone(out.data(), stands);
  wrong_ = db::next_entries(cursor_, *tree_, now_ms_, key_only_, &loaded_, &out);
  return wrong_.ok() ? out.size() : 0;
}

// What was read is a walk from entry to entry (1).
size_t Cursor::Impl::next_alone(Entry* out, bool stands) {
  if (!stands && !(batching_ && next())) return batching_ = false, 0;
  if (!status().ok() && !large_as_empty_) return batching_ = false, 0;
  batching_ = true;
  if (shape() != nullptr) return load(&out->key, &out->value) ? 1 : 0;
  *out = {cursor_.key(), cursor_.value()};
  return 1;
}

// Behind a seek: from here to what is shown, or to the end of the cursor's range; backwards, the
// other way round.
void Cursor::Impl::begin_walk(bool forward, std::string_view from,
                              std::optional<std::string_view> to) {
  if (reads_ == nullptr || !cursor_.status().ok()) return;
  walking_ = true;
  forward_ = forward;
  const bool found = cursor_.valid();
  if (forward) {
    low_ = from;
    high_ = found ? std::optional(behind(cursor_.key())) : upper_;
  } else {
    low_ = found ? cursor_.key() : std::string_view(lower_);
    high_.reset();
    if (to.has_value()) high_.emplace(*to);
  }
}

// By the key that is shown, which the walk has come to since.
void Cursor::Impl::extend() {
  if (!cursor_.valid()) return;
  const std::string_view key = cursor_.key();
  if (key < low_) low_ = key;
  if (high_.has_value() && key >= *high_) high_ = behind(key);
}

void Cursor::Impl::fold() {
  if (!walking_ || reads_ == nullptr) return;
  extend();
  reads_->add_range(tree_, low_, high_, view_.ts);
  walking_ = false;
}

Result<uint64_t> count_range(tree::TreeState* state, const tree::ReadView& view,
                             std::string_view lo, std::optional<std::string_view> hi,
                             uint64_t now_ms) {
  tree::TreeCursor::Options options;
  options.lower = std::string(lo);
  if (hi.has_value()) options.upper = std::string(*hi);
  options.key_only = true;
  Result<uint64_t> all = tree::TreeCursor(state, view, std::move(options)).count();
  if (!all.ok() || !db::expires(*state)) return all;
  const Result<uint64_t> ended = db::count_ended(state, view, lo, hi, now_ms);
  return ended.ok() ? Result<uint64_t>(*all - *ended) : ended;
}

Cursor::Cursor() = default;
Cursor::Cursor(Status error) : error_(std::move(error)) {}
Cursor::Cursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cursor::~Cursor() {
  // What it holds in a child of fork is the parent's.
  if (impl_ != nullptr && impl_->inherited()) static_cast<void>(impl_.release());
}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&& other) noexcept {
  Cursor before = std::move(*this);
  impl_ = std::move(other.impl_);
  error_ = std::move(other.error_);
  key_ = other.key_;
  value_ = other.value_;
  valid_ = other.valid_;
  return *this;
}

bool Cursor::publish(bool found) {
  valid_ = found;
  if (found && impl_->shape() != nullptr) [[unlikely]] {
    return publish_shaped() && (!value_.empty() || publish_empty());
  }
  key_ = found ? impl_->at().key() : std::string_view();
  value_ = found ? impl_->at().value() : std::string_view();
  return found && (!value_.empty() || publish_empty());
}

// Empty, or too large to be read: then the error stays, since no move goes on from there.
bool Cursor::publish_empty() {
  valid_ = impl_->large_as_empty() || impl_->status().ok();
  if (!valid_) key_ = {};
  return valid_;
}

// Where it stands is not known any more, so nothing goes on from there.
bool Cursor::end_without_memory() {
  impl_.reset();
  error_ = out_of_memory();
  key_ = value_ = {};
  valid_ = false;
  return false;
}

bool Cursor::first() try {
  return impl_ != nullptr && publish(impl_->first());
} catch (const std::bad_alloc&) {
  return end_without_memory();
}
bool Cursor::last() try {
  return impl_ != nullptr && publish(impl_->last());
} catch (const std::bad_alloc&) {
  return end_without_memory();
}
bool Cursor::seek(std::string_view key) try {
  if (impl_ == nullptr) return false;
  return publish(impl_->shape() == nullptr ? impl_->seek(key) : impl_->seek_shaped(key));
} catch (const std::bad_alloc&) {
  return end_without_memory();
}
bool Cursor::seek_for_prev(std::string_view key) try {
  if (impl_ == nullptr) return false;
  return publish(impl_->shape() == nullptr ? impl_->seek_for_prev(key)
                                           : impl_->seek_for_prev_shaped(key));
} catch (const std::bad_alloc&) {
  return end_without_memory();
}
bool Cursor::next() try { return valid_ && publish(impl_->next()); } catch (const std::bad_alloc&) {
  return end_without_memory();
}
bool Cursor::prev() try { return valid_ && publish(impl_->prev()); } catch (const std::bad_alloc&) {
  return end_without_memory();
}
bool Cursor::skip(int64_t n) try {
  return valid_ && publish(impl_->skip(n));
} catch (const std::bad_alloc&) {
  return end_without_memory();
}
bool Cursor::seek_random(uint64_t random) try {
  return impl_ != nullptr && publish(impl_->seek_random(random));
} catch (const std::bad_alloc&) {
  return end_without_memory();
}
size_t Cursor::next_batch(std::span<Entry> out) try {
  if (impl_ == nullptr || out.empty()) return 0;
  const bool stands = std::exchange(valid_, false);
  key_ = value_ = {};
  if (!stands && !impl_->status().ok() && !impl_->large_as_empty()) return 0;
  return impl_->next_batch(out, stands);
} catch (const std::bad_alloc&) {
  return end_without_memory();
}
const Status& Cursor::status() const { return impl_ != nullptr ? impl_->status() : error_; }

Cursor Db::cursor(const Tree& tree, const CursorOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return Cursor(std::move(status));
  const FoundTree state = impl_->find(tree, options.snapshot, &status);
  if (state == nullptr) return Cursor(std::move(status));
  Snapshot own;
  if (options.snapshot == nullptr) own = snapshot();
  const Snapshot& shown = options.snapshot != nullptr ? *options.snapshot : own;
  const tree::ReadView view{shown.timestamp(), 0};
  const uint64_t now_ms = shown.now_ms();
  if (state->shape() == nullptr) {
    return Cursor(std::make_unique<Cursor::Impl>(impl_.get(), std::move(own), state, view, options,
                                                 nullptr, now_ms));
  }
  const Result<CursorOptions> stored = stored_options(*state, options, db::Use::kSeek);
  if (!stored.ok()) return Cursor(stored.status());
  return Cursor(std::make_unique<Cursor::Impl>(impl_.get(), std::move(own), state, view, *stored,
                                               nullptr, now_ms));
} catch (const std::bad_alloc&) {
  return Cursor(out_of_memory());
}

Result<RangeEstimate> Db::estimate(const Tree& tree, std::string_view lo,
                                   std::optional<std::string_view> hi) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, &status);
  if (state == nullptr) return status;
  const db::StoredRange range(*state, lo, hi, db::Use::kSeek);
  if (!range.ok()) return range.status();
  std::optional<std::string> upper;
  if (range.high().has_value()) upper.emplace(*range.high());
  RangeEstimate all;
  // A count looks at what is not flushed, and is worth it up to so many entries, without a read.
  // (They are estimated, too, so these are some more than what is promised.)
  constexpr uint64_t kLooksMax = 12'000;
  uint64_t looks = 0;
  for (const tree::TreeState* of = state; of != nullptr;) {
    const tree::Estimate found = tree::estimate(of->directory(), range.low(), upper, of->shape());
    all.entries += found.entries;
    all.bytes += found.bytes;
    looks += found.unflushed + (of->base() == nullptr ? 0 : found.entries);
    if (!found.in_memory || of->layers().have_entries()) looks += kLooksMax;
    of = of->base() == nullptr ? nullptr : of->base()->source.get();
  }
  if (looks < kLooksMax) {
    // What cannot be read is met by who reads it.
    if (const Result<uint64_t> exact = count(tree, lo, hi); exact.ok()) all.entries = *exact;
  }
  return all;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
