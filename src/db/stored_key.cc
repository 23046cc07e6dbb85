#include "db/stored_key.h"

#include <algorithm>

#include "format/operation.h"
#include "os/machine.h"
#include "tree/value_access.h"

namespace hawthorn::db {

Status not_with_several_values() {
  return Status(StatusCode::kNotSupported,
                "a key of this tree may have several values, for which this does not exist");
}

Status not_without_several_values() {
  return Status(StatusCode::kInvalidArgument, "a key of this tree has one value");
}

void StoredKey::store(const format::TreeShape& shape, std::string_view key, Use use) {
  status_ = shape.multi_value() ? not_with_several_values() : shape.store_key(key, &own_, use);
  view_ = own_;
}

void StoredKeys::store(const format::TreeShape& shape, std::span<const std::string_view>* keys,
                       Use use) {
  if (shape.multi_value()) {
    status_ = not_with_several_values();
    return;
  }
  std::vector<size_t> ends;
  for (const std::string_view key : *keys) {
    if (status_ = shape.store_key(key, &own_, use); !status_.ok()) return;
    ends.push_back(own_.size());
  }
  size_t from = 0;
  for (const size_t end : ends) {
    views_.push_back(std::string_view(own_).substr(from, end - from));
    from = end;
  }
  *keys = views_;
}

void StoredPair::store(const tree::TreeState& tree, const Expiry* expiry) {
  if (expiry != nullptr && !expires(tree)) {
    status_ = Status(StatusCode::kInvalidArgument, "the entries of this tree do not end");
    return;
  }
  const format::TreeShape& shape = *tree.shape();
  const std::string_view value = value_;
  if (shape.multi_value()) {
    status_ = shape.store_pair(key_, value_, &own_);
    value_ = {};
  } else {
    status_ = shape.store_key(key_, &own_);
  }
  key_ = own_;
  if (!shape.expires() || !status_.ok()) return;
  const uint64_t now = expiry_now(*tree.store());
  const Expiry otherwise = shape.ttl_ms() == 0 ? Expiry::never() : Expiry::after_ms(shape.ttl_ms());
  const uint64_t moment = (expiry != nullptr ? *expiry : otherwise).moment_ms(now);
  format::TreeShape::append_moment(own_value_, moment);
  if (!shape.multi_value()) own_value_ += value;
  value_ = own_value_;
  if (own_value_.size() > format::kValueBytesMax) {
    status_ = Status(StatusCode::kInvalidArgument,
                     "a value of " + std::to_string(value.size()) +
                         " bytes is over the limit of trees whose entries end, " +
                         std::to_string(format::kValueBytesMax - format::TreeShape::kMomentBytes));
  }
  if (moment != 0) note_ = format::TreeShape::note_of(own_, moment);
}

void StoredRange::store(const format::TreeShape& shape, Use use) {
  if (!low_.empty()) {
    status_ = shape.store_key(low_, &own_low_, use);
    low_ = own_low_;
  }
  if (high_.has_value() && status_.ok()) {
    status_ = shape.store_key(*high_, &own_high_, use);
    high_ = own_high_;
  }
  if (!shape.framed()) return;
  if (low_.empty()) low_ = format::TreeShape::kEntries;
  if (!high_.has_value()) high_ = format::TreeShape::kEntriesEnd;
}

Status load_entries(const tree::TreeState& tree, uint64_t now_ms, std::span<Entry>* entries,
                    std::string* loaded) {
  struct Sizes {
    size_t key;
    size_t value;
  };
  std::vector<Sizes> sizes;
  std::string key;
  std::string value;
  loaded->clear();
  for (const Entry& entry : *entries) {
    std::string_view stored = entry.value;
    if (expires(tree)) {
      const Result<bool> ended = has_ended(stored, now_ms);
      if (!ended.ok()) return ended.status();
      if (*ended) continue;
      stored.remove_prefix(format::TreeShape::kMomentBytes);
    }
    if (Status s = tree.shape()->load(entry.key, &key, &value); !s.ok()) return s;
    (*entries)[sizes.size()].value = stored;
    sizes.push_back({key.size(), value.size()});
    *loaded += key;
    *loaded += value;
  }
  *entries = entries->first(sizes.size());
  const char* at = loaded->data();
  for (size_t i = 0; i < sizes.size(); ++i) {
    Entry& entry = (*entries)[i];
    entry.key = {at, sizes[i].key};
    if (tree.shape()->multi_value()) entry.value = {at + sizes[i].key, sizes[i].value};
    at += sizes[i].key + sizes[i].value;
  }
  return {};
}

// ---- Entries that end

uint64_t expiry_now(tree::Store& store) {
  const uint64_t wall = store.machine->clock->wall_us() / 1000;
  uint64_t now = store.now_ms.load(std::memory_order_acquire);
  while (now < wall && !store.now_ms.compare_exchange_weak(now, wall, std::memory_order_acq_rel)) {
  }
  return std::max(now, wall);
}

Result<bool> has_ended(std::string_view stored_value, uint64_t now_ms) {
  const Result<uint64_t> moment = format::TreeShape::moment_of(stored_value);
  if (!moment.ok()) return moment.status();
  return *moment != 0 && *moment <= now_ms;
}

Status take_moment(const tree::TreeState& tree, uint64_t now_ms, Value* value) {
  if (!expires(tree)) return {};
  const Result<bool> ended = has_ended(value->view(), now_ms);
  if (ended.ok() && !*ended) {
    internal::ValueAccess::skip(*value, format::TreeShape::kMomentBytes);
    return {};
  }
  value->reset();
  return ended.ok() ? Status::not_found() : ended.status();
}

Status take_moments(const tree::TreeState& tree, uint64_t now_ms, ReadBatch* batch) {
  if (!expires(tree)) return {};
  for (BatchItem& item : internal::ValueAccess::items(*batch)) {
    if (!item.found()) continue;
    const Result<bool> ended = has_ended(item.value, now_ms);
    if (!ended.ok()) return ended.status();
    if (*ended) {
      item = BatchItem{};
    } else {
      item.value.remove_prefix(format::TreeShape::kMomentBytes);
    }
  }
  return {};
}

Result<StoredValues> stored_values(const tree::TreeState& tree, std::string_view key, Use use) {
  StoredValues values;
  if (Status s = tree.shape()->store_key(key, &values.head, use); !s.ok()) return s;
  values.end = format::TreeShape::behind(values.head);
  return values;
}

}  // namespace hawthorn::db
