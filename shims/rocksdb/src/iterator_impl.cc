#include "shims/rocksdb/src/iterator_impl.h"

#include <algorithm>
#include <cstring>
#include <ctime>

#include "rocksdb/slice_transform.h"
#include "shims/rocksdb/src/convert.h"

namespace hawthorn::rocks {

namespace {

constexpr size_t kBlockBytes = size_t{32} << 10;

std::optional<std::string> copied(const rocksdb::Slice* bound) {
  if (bound == nullptr) return std::nullopt;
  return bound->ToString();
}

bool same(const std::optional<std::string>& had, const rocksdb::Slice* bound) {
  if (!had.has_value() || bound == nullptr) return had.has_value() == (bound != nullptr);
  return view(*bound) == *had;
}

}  // namespace

IteratorImpl::IteratorImpl(hawthorn::Db* db, std::shared_ptr<Family> family,
                           const rocksdb::ReadOptions& options, HeldSnapshot snapshot)
    : db_(db),
      family_(std::move(family)),
      mark_(family_->mark.get()),
      options_(options),
      plain_(!options.pin_data && !options.prefix_same_as_start),
      bounded_(options.iterate_lower_bound != nullptr || options.iterate_upper_bound != nullptr),
      tails_(options.tailing && options.snapshot == nullptr),
      extractor_(options.prefix_same_as_start ? family_->prefix_extractor() : nullptr),
      snapshot_(std::move(snapshot)) {
  if (bounded_ && snapshot_.view() == nullptr) {
    // The same view for all cursors.
    const auto* taken = new SnapshotImpl(db_->snapshot(), 0);
    snapshot_ = HeldSnapshot(taken);
    taken->let_go();
  }
  open();
}

void IteratorImpl::open() {
  lower_ = copied(options_.iterate_lower_bound);
  upper_ = copied(options_.iterate_upper_bound);
  hawthorn::CursorOptions cursor_options{.snapshot = snapshot_.view()};
  // An empty lower bound is none, as it is for the engine, but for orders in which it is not the
  // first key.
  cursor_options.lower = lower_;
  cursor_options.upper = upper_;
  cursor_ = db_->cursor(family_->tree, cursor_options);
}

void IteratorImpl::next_of_tailing() {
  last_ = key_.ToString();
  stand(cursor_.next());
  if (!valid_) next_of_now();
}

void IteratorImpl::prepare() {
  valid_ = false;
  damaged_ = rocksdb::Status::OK();
  prefix_.reset();
  if (tails_) {
    // The rest of what it returns cannot fail.
    Refresh(nullptr).PermitUncheckedError();
    return;
  }
  if (!bounded_) return;
  if (!same(lower_, options_.iterate_lower_bound) || !same(upper_, options_.iterate_upper_bound)) {
    open();
  }
}

// The key is that of the last entry, which the cursor has left: `last_` has a copy of it.
void IteratorImpl::next_of_now() {
  const std::optional<std::string> prefix = prefix_;
  prepare();
  prefix_ = prefix;
  bool found = cursor_.seek(last_);
  if (found && family_->options.comparator->Compare(slice(cursor_.key()), last_) == 0) {
    found = cursor_.next();
  }
  stand(found);
}

rocksdb::Status IteratorImpl::Refresh(const rocksdb::Snapshot* snapshot) {
  valid_ = false;
  damaged_ = rocksdb::Status::OK();
  cursor_ = hawthorn::Cursor();  // before the view that it reads
  snapshot_ = HeldSnapshot(snapshot);
  if (bounded_ && snapshot == nullptr) {
    const auto* taken = new SnapshotImpl(db_->snapshot(), 0);
    snapshot_ = HeldSnapshot(taken);
    taken->let_go();
  }
  open();
  return to_status(cursor_.status());
}

void IteratorImpl::SeekToFirst() {
  prepare();
  const bool found = cursor_.first();
  if (found && options_.prefix_same_as_start) take_prefix(slice(cursor_.key()));
  stand(found);
}

void IteratorImpl::SeekToLast() {
  prepare();
  const bool found = cursor_.last();
  if (found && options_.prefix_same_as_start) take_prefix(slice(cursor_.key()));
  stand(found);
}

void IteratorImpl::Seek(const rocksdb::Slice& target) {
  prepare();
  take_prefix(target);
  stand(cursor_.seek(view(target)));
}

void IteratorImpl::SeekForPrev(const rocksdb::Slice& target) {
  prepare();
  take_prefix(target);
  stand(cursor_.seek_for_prev(view(target)));
}

void IteratorImpl::take_prefix(const rocksdb::Slice& target) {
  if (extractor_ != nullptr && extractor_->InDomain(target)) {
    prefix_ = extractor_->Transform(target).ToString();
  }
}

void IteratorImpl::stand_specially() {
  if (prefix_.has_value()) {
    if (!extractor_->InDomain(key_) || view(extractor_->Transform(key_)) != *prefix_) {
      valid_ = false;
      return;
    }
  }
  if (!options_.pin_data) return;
  key_ = slice(pinned(view(key_)));
  value_ = slice(pinned(view(value_)));
}

void IteratorImpl::take_content() {
  const Content content = mark_->content(view(value_));
  value_ = slice(content.bytes);
  is_entity_ = content.entity;
  if (!is_entity_ || !valid_) return;
  damaged_ = decode_columns(content.bytes, &columns_);
  valid_ = damaged_.ok();
  if (valid_) value_ = default_of(columns_);
}

const rocksdb::WideColumns& IteratorImpl::columns() const {
  if (!is_entity_) columns_.assign(1, {rocksdb::kDefaultWideColumnName, value_});
  return columns_;
}

std::string_view IteratorImpl::pinned(std::string_view bytes) {
  if (bytes.empty()) return {"", 0};
  if (bytes.size() > block_left_) {
    block_left_ = std::max(bytes.size(), kBlockBytes);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_left_));
  }
  // A block is filled from its end, so that what is left is all that is to be known of it.
  block_left_ -= bytes.size();
  char* const at = blocks_.back().get() + block_left_;
  std::memcpy(at, bytes.data(), bytes.size());
  return {at, bytes.size()};
}

rocksdb::Status IteratorImpl::status() const {
  if (valid_) return rocksdb::Status::OK();
  return damaged_.ok() ? to_status(cursor_.status()) : damaged_;
}

rocksdb::Status IteratorImpl::GetProperty(std::string prop_name, std::string* prop) {
  if (prop_name == "rocksdb.iterator.is-key-pinned" ||
      prop_name == "rocksdb.iterator.is-value-pinned") {
    if (!valid_) return rocksdb::Status::InvalidArgument("the iterator is not valid");
    *prop = options_.pin_data ? "1" : "0";
    return rocksdb::Status::OK();
  }
  if (prop_name == "rocksdb.iterator.internal-key") {
    if (!valid_) return rocksdb::Status::InvalidArgument("the iterator is not valid");
    *prop = key_.ToString();
    return rocksdb::Status::OK();
  }
  return Iterator::GetProperty(prop_name, prop);
}

}  // namespace hawthorn::rocks

namespace rocksdb {

namespace {

class NoEntries final : public Iterator {
 public:
  explicit NoEntries(const Status& status) : status_(status) {}
  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override {}
  void Prev() override {}
  Slice key() const override { return {}; }
  Slice value() const override { return {}; }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

Status Iterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop_name != "rocksdb.iterator.super-version-number") {
    return Status::InvalidArgument("Unidentified property.");
  }
  *prop = "0";
  return Status::OK();
}

Iterator* NewEmptyIterator() { return new NoEntries(Status::OK()); }
Iterator* NewErrorIterator(const Status& status) { return new NoEntries(status); }

}  // namespace rocksdb
