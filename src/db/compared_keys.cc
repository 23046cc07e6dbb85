#include "db/compared_keys.h"

#include <algorithm>

#include "db/impl.h"
#include "os/test_point.h"
#include "tree/cursor.h"

namespace hawthorn::db {

namespace {
constexpr int kCommitAttemptsMax = 100;  // of a commit that others had to do with

std::string_view without_first_byte(std::string_view row) { return row.substr(1); }
}  // namespace

ComparedKeys::ComparedKeys(Db::Impl* db, const KeyComparator* comparator, char rows)
    : db_(db), comparator_(comparator), rows_(rows), cache_(Less{comparator}) {}

ComparedKeys::~ComparedKeys() {
  os::MutexLock lock(cache_mutex_);
  db_->store_.arena->charge(os::Quota::kPins, -static_cast<ptrdiff_t>(cached_bytes_));
}

bool ComparedKeys::decode(std::string_view sort_key, std::string* key) const {
  const std::optional<size_t> label = format::label_bytes(sort_key);
  if (!label.has_value()) return false;
  key->append(sort_key.substr(*label));
  return true;
}

Status ComparedKeys::find(std::string_view key, Use use, std::string* sort_key) {
  // Its row has one byte more than what is looked for.
  if (key.size() >= format::kKeyBytesMax) {
    return Status(StatusCode::kInvalidArgument,
                  "a key of " + std::to_string(key.size()) +
                      " bytes is too long for a tree whose order is a comparison");
  }
  Place place;
  if (Status s = locate(key, &place); !s.ok()) return s;
  if (!place.sort_key.empty()) {
    sort_key->append(place.sort_key);
    return {};
  }
  if (use == Use::kSeek || db_->options_.read_only) {
    *sort_key += format::label_between(place.before, place.behind, format::LabelNear::kMiddle);
    *sort_key += key;
    return {};
  }
  for (;;) {
    bool again = false;
    Status status = make_row(key, sort_key, &again);
    if (!again) return status;
    // Waits until nobody is exclusive.
    format::Lsn moment = 0;
    if (status = db_->sequencer_->pass_moment(0, &moment); !status.ok()) return status;
  }
}

// ---- Looking

bool ComparedKeys::look_in_cache(std::string_view key, Place* place) {
  os::MutexLock lock(cache_mutex_);
  const auto behind = cache_.lower_bound(key);
  if (behind != cache_.end()) {
    if (comparator_->compare(key, behind->first) == 0) {
      place->sort_key = behind->second + behind->first;
      return true;
    }
    place->behind = behind->second;
  }
  if (behind != cache_.begin()) place->before = std::prev(behind)->second;
  return false;
}

Status ComparedKeys::locate(std::string_view key, Place* place) {
  if (look_in_cache(key, place)) return {};
  const tree::HeldSnapshot held(*db_->snapshots_, db_->sequencer_->visible());
  const std::string first(1, rows_);
  const std::string end(1, static_cast<char>(rows_ + 1));
  tree::TreeCursor cursor(tree_, {held.ts(), 0}, {first, end, true});
  for (;;) {
    const std::string middle = format::label_middle(place->before, place->behind);
    bool found = cursor.seek(first + middle);
    const auto is_below = [&](const std::string& limit) {
      return without_first_byte(cursor.key()).substr(0, limit.size()) < limit;
    };
    const auto is_above = [&](const std::string& limit) {
      return without_first_byte(cursor.key()).substr(0, limit.size()) > limit;
    };
    if (found && !place->behind.empty()) found = is_below(place->behind);
    if (found && !place->before.empty()) found = is_above(place->before);
    if (!found && cursor.status().ok()) {
      // Nothing from the middle on: the last one before.
      found = place->behind.empty() ? cursor.last() : cursor.seek_for_prev(first + place->behind);
      // The row of the empty key is no more than its label.
      if (found && !place->behind.empty() && !is_below(place->behind)) found = cursor.prev();
      if (found && !place->before.empty()) found = is_above(place->before);
    }
    if (!cursor.status().ok()) return cursor.status();
    if (!found) return {};
    const std::string_view sort_key = without_first_byte(cursor.key());
    const std::optional<size_t> label = format::label_bytes(sort_key);
    if (!label.has_value()) {
      return Status(StatusCode::kCorruption,
                    "a row of a tree whose order is a comparison has no label");
    }
    keep(sort_key, *label);
    const int compared = comparator_->compare(key, sort_key.substr(*label));
    if (compared == 0) {
      place->sort_key = sort_key;
      return {};
    }
    (compared < 0 ? place->behind : place->before) = sort_key.substr(0, *label);
  }
}

void ComparedKeys::keep(std::string_view sort_key, size_t label_bytes) {
  os::MutexLock lock(cache_mutex_);
  const bool is_new = cache_
                          .emplace(std::string(sort_key.substr(label_bytes)),
                                   std::string(sort_key.substr(0, label_bytes)))
                          .second;
  if (!is_new) return;
  const size_t bytes = sort_key.size() + kCachedOverhead;
  cached_bytes_ += bytes;
  db_->store_.arena->charge(os::Quota::kPins, static_cast<ptrdiff_t>(bytes));
  if (cached_bytes_ > kCachedBytes) halve_cache();
}

// Every second one stays: what is left still divides the others evenly.
void ComparedKeys::halve_cache() {
  bool stays = true;
  size_t freed = 0;
  for (auto row = cache_.begin(); row != cache_.end(); stays = !stays) {
    if (stays) {
      ++row;
      continue;
    }
    freed += row->first.size() + row->second.size() + kCachedOverhead;
    row = cache_.erase(row);
  }
  cached_bytes_ -= freed;
  db_->store_.arena->charge(os::Quota::kPins, -static_cast<ptrdiff_t>(freed));
}

// ---- Making

Status ComparedKeys::make_row(std::string_view key, std::string* sort_key, bool* again) {
  os::MutexLock lock(making_);
  Place place;
  if (Status s = locate(key, &place); !s.ok()) return s;
  if (place.sort_key.empty()) {
    format::LabelNear near = format::LabelNear::kMiddle;
    if (!last_made_.empty() && place.before == last_made_) near = format::LabelNear::kBefore;
    if (!last_made_.empty() && place.behind == last_made_) near = format::LabelNear::kBehind;
    std::string label = format::label_between(place.before, place.behind, near);
    place.sort_key = label + std::string(key);
    HAWTHORN_TEST_POINT("compared_keys.before_row");
    const Status status = commit_row(rows_ + place.sort_key);
    *again = status.is(StatusCode::kBusy);
    if (!status.ok()) return status;
    keep(place.sort_key, label.size());
    last_made_ = std::move(label);
  }
  sort_key->append(place.sort_key);
  return {};
}

// Nobody else writes it, so only what befalls the whole tree can be in the way.
Status ComparedKeys::commit_row(std::string_view row) {
  Status status;
  if (!published_ && !tree_->stands()) {
    // The log has this row before the commit that makes the tree: a replay must know it from the
    // manifest.
    if (status = db_->publisher_->publish(); !status.ok()) return status;
  }
  published_ = true;
  for (int attempt = 0; attempt < kCommitAttemptsMax; ++attempt) {
    const std::unique_ptr<txn::Txn> txn = db_->new_txn();
    if (status = txn->begin({.mode = txn::Mode::kBlind, .aside = true}); !status.ok()) break;
    status = txn->write(tree_, format::OperationType::kPut, row, {});
    if (!status.ok()) {
      txn->abort();
    } else {
      status = txn->commit(Durability::kNone);
    }
    if (!status.is_conflict() && !status.is(StatusCode::kTimedOut)) break;
  }
  return status;
}

}  // namespace hawthorn::db
