#include "db/stored_key.h"

namespace hawthorn::db {

Status not_with_several_values() {
  return Status(StatusCode::kNotSupported,
                "a key of this tree may have several values, for which this does not exist");
}

Status not_without_several_values() {
  return Status(StatusCode::kInvalidArgument, "a key of this tree has one value");
}

void StoredKey::store(const format::TreeShape& shape, std::string_view key) {
  status_ = shape.multi_value() ? not_with_several_values() : shape.store_key(key, &own_);
  view_ = own_;
}

void StoredKeys::store(const format::TreeShape& shape, std::span<const std::string_view>* keys) {
  if (shape.multi_value()) {
    status_ = not_with_several_values();
    return;
  }
  std::vector<size_t> ends;
  for (const std::string_view key : *keys) {
    if (status_ = shape.store_key(key, &own_); !status_.ok()) return;
    ends.push_back(own_.size());
  }
  size_t from = 0;
  for (const size_t end : ends) {
    views_.push_back(std::string_view(own_).substr(from, end - from));
    from = end;
  }
  *keys = views_;
}

void StoredPair::store(const format::TreeShape& shape) {
  if (shape.multi_value()) {
    status_ = shape.store_pair(key_, value_, &own_);
    value_ = {};
  } else {
    status_ = shape.store_key(key_, &own_);
  }
  key_ = own_;
}

void StoredRange::store(const format::TreeShape& shape) {
  if (!low_.empty()) {
    status_ = shape.store_key(low_, &own_low_);
    low_ = own_low_;
  }
  if (high_.has_value() && status_.ok()) {
    status_ = shape.store_key(*high_, &own_high_);
    high_ = own_high_;
  }
}

Status load_entries(const tree::TreeState& tree, std::span<Entry> entries, std::string* loaded) {
  struct Sizes {
    size_t key;
    size_t value;
  };
  std::vector<Sizes> sizes;
  std::string key;
  std::string value;
  loaded->clear();
  for (const Entry& entry : entries) {
    if (Status s = tree.shape()->load(entry.key, &key, &value); !s.ok()) return s;
    sizes.push_back({key.size(), value.size()});
    *loaded += key;
    *loaded += value;
  }
  const char* at = loaded->data();
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].key = {at, sizes[i].key};
    if (tree.shape()->multi_value()) entries[i].value = {at + sizes[i].key, sizes[i].value};
    at += sizes[i].key + sizes[i].value;
  }
  return {};
}

Result<StoredValues> stored_values(const tree::TreeState& tree, std::string_view key) {
  StoredValues values;
  if (Status s = tree.shape()->store_key(key, &values.head); !s.ok()) return s;
  values.end = format::TreeShape::behind(values.head);
  return values;
}

}  // namespace hawthorn::db
