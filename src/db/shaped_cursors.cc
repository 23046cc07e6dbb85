// Cursors over trees with a shape: stored keys become keys and values, and a key may have several.

#include "base/out_of_memory.h"
#include "db/cursor_impl.h"
#include "db/stored_key.h"

namespace hawthorn {
Result<CursorOptions> stored_options(const tree::TreeState& tree, const CursorOptions& options,
                                     format::TreeShape::Use use) {
  std::optional<std::string_view> high;
  if (options.upper.has_value()) high = *options.upper;
  const db::StoredRange range(tree, options.lower.value_or(std::string()), high, use);
  if (!range.ok()) return range.status();
  CursorOptions stored = options;
  stored.lower = range.low();
  if (range.high().has_value()) stored.upper = *range.high();
  if (db::several_values(tree)) stored.key_only = true;  // they are in the stored key
  return stored;
}

bool Cursor::Impl::refuse(Status why) {
  wrong_ = std::move(why);
  return false;
}

bool Cursor::Impl::load(std::string_view* key, std::string_view* value) {
  if (Status s = shape()->load(cursor_.key(), &key_, &value_); !s.ok()) return refuse(std::move(s));
  *key = key_;
  *value = cursor_.value();
  if (expires_ && !value->empty()) value->remove_prefix(format::TreeShape::kMomentBytes);
  if (expires_ && key_only_) *value = {};
  if (shape()->multi_value()) *value = value_;
  return true;
}

// Those too large to be shown do not tell; there are none in such trees.
bool Cursor::Impl::settle_expiring(bool forward) {
  for (bool found = true; found; found = step(forward)) {
    const Result<bool> ended = db::has_ended(cursor_.value(), now_ms_);
    if (!ended.ok()) return refuse(cursor_.status().ok() ? ended.status() : cursor_.status());
    if (!*ended) return true;
  }
  return false;
}

uint64_t Cursor::Impl::expires_at() const {
  if (!expires_) return 0;
  const Result<uint64_t> moment = format::TreeShape::moment_of(cursor_.value());
  return moment.ok() ? *moment : 0;
}

bool Cursor::Impl::seek_shaped(std::string_view key) {
  std::string stored;
  if (Status s = shape()->store_key(key, &stored, use()); !s.ok()) return refuse(std::move(s));
  return seek(stored);
}

bool Cursor::Impl::seek_for_prev_shaped(std::string_view key) {
  std::string stored;
  if (Status s = shape()->store_key(key, &stored, use()); !s.ok()) return refuse(std::move(s));
  return shape()->multi_value() ? seek_below(format::TreeShape::behind(stored))
                                : seek_for_prev(stored);
}

// ---- Several values

// To the last entry before `end`.
bool Cursor::Impl::seek_below(const std::optional<std::string>& end) {
  if (!end.has_value()) return last();
  if (!seek_for_prev(*end)) return false;
  return cursor_.key() != *end || prev();
}

bool Cursor::Impl::take_head(std::string* head) {
  const Result<size_t> bytes = shape()->head_bytes(cursor_.key());
  if (!bytes.ok()) return refuse(bytes.status());
  head->assign(cursor_.key().substr(0, *bytes));
  return true;
}

bool Cursor::Impl::next_key() {
  if (!db::several_values(*tree_)) return next();
  std::string head;
  if (!take_head(&head)) return false;
  const std::optional<std::string> end = format::TreeShape::behind(head);
  if (end.has_value()) return seek(*end);
  return last() && next();
}

bool Cursor::Impl::prev_key() {
  if (!db::several_values(*tree_)) return prev();
  std::string head;
  return take_head(&head) && seek_below(head);
}

bool Cursor::Impl::turn_value(bool forward) {
  if (!db::several_values(*tree_)) return false;
  std::string head;
  if (!take_head(&head)) return false;
  const std::string here(cursor_.key());
  if ((forward ? next() : prev()) && cursor_.key().starts_with(head)) return true;
  if (cursor_.status().ok()) static_cast<void>(seek(here));
  return false;
}

bool Cursor::Impl::first_value() {
  if (!db::several_values(*tree_)) return true;
  std::string head;
  return take_head(&head) && seek(head);
}

bool Cursor::Impl::last_value() {
  if (!db::several_values(*tree_)) return true;
  std::string head;
  return take_head(&head) && seek_below(format::TreeShape::behind(head));
}

bool Cursor::Impl::seek_value(std::string_view key, std::string_view value) {
  if (!db::several_values(*tree_)) {
    return refuse(Status(StatusCode::kNotSupported, "a key of this tree has one value"));
  }
  std::string head;
  std::string stored;
  Status status = shape()->store_key(key, &head, use());
  if (status.ok()) status = shape()->store_pair(key, value, &stored, use());
  if (!status.ok()) return refuse(std::move(status));
  return seek(stored) && cursor_.key().starts_with(head);
}

Result<uint64_t> Cursor::Impl::count_values() {
  if (!db::several_values(*tree_)) return uint64_t{1};
  std::string head;
  if (!take_head(&head)) return wrong_;
  const std::optional<std::string> end = format::TreeShape::behind(head);
  if (reads_ != nullptr) reads_->add_range(tree_, head, end, view_.ts);
  return count_range(tree_, view_, head, end, now_ms_);
}

// ---- The public functions

bool Cursor::publish_shaped() {
  valid_ = impl_->load(&key_, &value_);
  if (!valid_) key_ = value_ = {};
  return valid_;
}

uint64_t Cursor::expires_at() const { return valid_ ? impl_->expires_at() : 0; }

bool Cursor::next_key() try {
  return valid_ && publish(impl_->next_key());
} catch (const std::bad_alloc&) {
  return end_without_memory();
}
bool Cursor::prev_key() try {
  return valid_ && publish(impl_->prev_key());
} catch (const std::bad_alloc&) {
  return end_without_memory();
}
bool Cursor::first_value() try {
  return valid_ && publish(impl_->first_value());
} catch (const std::bad_alloc&) {
  return end_without_memory();
}
bool Cursor::last_value() try {
  return valid_ && publish(impl_->last_value());
} catch (const std::bad_alloc&) {
  return end_without_memory();
}

bool Cursor::next_value() try {
  if (!valid_) return false;
  const bool moved = impl_->next_value();
  return publish(impl_->at().valid()) && moved;
} catch (const std::bad_alloc&) {
  return end_without_memory();
}

bool Cursor::prev_value() try {
  if (!valid_) return false;
  const bool moved = impl_->prev_value();
  return publish(impl_->at().valid()) && moved;
} catch (const std::bad_alloc&) {
  return end_without_memory();
}

bool Cursor::seek_value(std::string_view key, std::string_view value) try {
  return impl_ != nullptr && publish(impl_->seek_value(key, value));
} catch (const std::bad_alloc&) {
  return end_without_memory();
}

Result<uint64_t> Cursor::count_values() try {
  if (valid_) return impl_->count_values();
  Status status = this->status();
  // What a move was refused is no answer to this.
  if (!status.ok() && !status.is(StatusCode::kNotSupported)) return status;
  return Status(StatusCode::kInvalidArgument, "the cursor stands on no entry");
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
