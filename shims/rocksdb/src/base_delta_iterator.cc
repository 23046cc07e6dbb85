#include "shims/rocksdb/src/base_delta_iterator.h"

#include "rocksdb/options.h"
#include "shims/rocksdb/src/entities.h"

namespace hawthorn::rocks {

using rocksdb::Slice;

BaseDeltaIterator::BaseDeltaIterator(rocksdb::ColumnFamilyHandle* handle, rocksdb::Iterator* base,
                                     const FamilyIndex& delta, const rocksdb::ReadOptions* options)
    : handle_(handle),
      base_(base),
      delta_(delta),
      lower_(options == nullptr ? nullptr : options->iterate_lower_bound),
      upper_(options == nullptr ? nullptr : options->iterate_upper_bound),
      at_(delta.entries().end()) {}

void BaseDeltaIterator::SeekToFirst() {
  forward_ = true;
  base_->SeekToFirst();
  at_ = lower_ == nullptr ? delta_.entries().begin()
                          : delta_.entries().lower_bound(FamilyIndex::Probe{*lower_});
  settle();
}

void BaseDeltaIterator::SeekToLast() {
  forward_ = false;
  base_->SeekToLast();
  delta_before(upper_ == nullptr ? delta_.entries().end()
                                 : delta_.entries().lower_bound(FamilyIndex::Probe{*upper_}));
  settle();
}

void BaseDeltaIterator::Seek(const Slice& target) {
  forward_ = true;
  base_->Seek(target);
  seek_delta(target);
  settle();
}

void BaseDeltaIterator::SeekForPrev(const Slice& target) {
  forward_ = false;
  base_->SeekForPrev(target);
  seek_delta_for_prev(target);
  settle();
}

void BaseDeltaIterator::seek_delta(const Slice& target) {
  const bool outside = lower_ != nullptr && delta_.compare(target, *lower_) < 0;
  at_ = delta_.entries().lower_bound(FamilyIndex::Probe{outside ? *lower_ : target});
}

void BaseDeltaIterator::seek_delta_for_prev(const Slice& target) {
  const bool outside = upper_ != nullptr && delta_.compare(target, *upper_) >= 0;
  delta_before(outside ? delta_.entries().lower_bound(FamilyIndex::Probe{*upper_})
                       : delta_.entries().upper_bound(FamilyIndex::Probe{target}));
}

void BaseDeltaIterator::delta_before(Place place) {
  if (place == delta_.entries().begin()) {
    at_ = delta_.entries().end();
    return;
  }
  at_ = delta_.entries().lower_bound(FamilyIndex::Probe{delta_.key_of(*--place)});
}

void BaseDeltaIterator::next_delta() {
  if (forward_) {
    at_ = delta_.entries().upper_bound(FamilyIndex::Probe{delta_.key_of(*at_)});
  } else {
    delta_before(at_);
  }
}

bool BaseDeltaIterator::has_delta() const {
  if (at_ == delta_.entries().end()) return false;
  if (forward_) return upper_ == nullptr || delta_.compare(delta_.key_of(*at_), *upper_) < 0;
  return lower_ == nullptr || delta_.compare(delta_.key_of(*at_), *lower_) >= 0;
}

void BaseDeltaIterator::step() {
  if (!shows_base_) next_delta();
  if (shows_base_ || both_) forward_ ? base_->Next() : base_->Prev();
}

// False: neither side has the key any more, and what is shown next is where they stand.
bool BaseDeltaIterator::turn(bool forward) {
  const std::string shown = key().ToString();
  forward_ = forward;
  if (forward) {
    base_->Seek(shown);
    seek_delta(shown);
  } else {
    base_->SeekForPrev(shown);
    seek_delta_for_prev(shown);
  }
  const bool in_base = base_->Valid() && delta_.compare(base_->key(), shown) == 0;
  shows_base_ = at_ == delta_.entries().end() || delta_.compare(delta_.key_of(*at_), shown) != 0;
  both_ = in_base && !shows_base_;
  return in_base || !shows_base_;
}

void BaseDeltaIterator::move(bool forward) {
  if (!valid_) return;
  if (forward != forward_) {
    if (turn(forward)) step();
  } else {
    if (entries_ != delta_.entries().size()) renew_delta();
    step();
  }
  settle();
}

// Merges may have been added to the key on which the side of the batch stands.
void BaseDeltaIterator::renew_delta() {
  if (at_ != delta_.entries().end()) {
    at_ = delta_.entries().lower_bound(FamilyIndex::Probe{delta_.key_of(*at_)});
  }
}

void BaseDeltaIterator::settle() {
  valid_ = false;
  entries_ = delta_.entries().size();
  status_ = rocksdb::Status::OK();
  for (;; step()) {
    const bool in_base = base_->Valid();
    if (!in_base && !base_->status().ok()) return;
    const bool in_delta = has_delta();
    if (!in_base && !in_delta) return;
    int order = in_delta ? -1 : 1;
    if (in_base && in_delta) {
      order = delta_.compare(delta_.key_of(*at_), base_->key());
      if (!forward_) order = -order;
    }
    shows_base_ = order > 0;
    both_ = order == 0;
    if (shows_base_) break;
    const BatchRead read = BatchIndex::read(delta_, at_);
    if (read.found == BatchRead::Found::kDeleted) continue;
    if (read.found == BatchRead::Found::kMerges) {
      const rocksdb::WideColumns* const below = both_ ? &base_->columns() : nullptr;
      status_ = fold(handle_, delta_.key_of(*at_), read, below, &shown_);
    } else {
      status_ = show(read, &shown_);
    }
    if (!status_.ok()) return;
    break;
  }
  valid_ = true;
}

Slice BaseDeltaIterator::key() const { return shows_base_ ? base_->key() : delta_.key_of(*at_); }

Slice BaseDeltaIterator::value() const {
  return shows_base_ ? base_->value() : default_of(shown_.columns());
}

const rocksdb::WideColumns& BaseDeltaIterator::columns() const {
  return shows_base_ ? base_->columns() : shown_.columns();
}

rocksdb::Status BaseDeltaIterator::status() const {
  return status_.ok() ? base_->status() : status_;
}

}  // namespace hawthorn::rocks
