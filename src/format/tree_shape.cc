#include "format/tree_shape.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/made_once.h"
#include "format/operation.h"

namespace hawthorn::format {

namespace {
constexpr char kShapeVersion = 1;
constexpr char kSeveralValues = 1;
constexpr char kExpires = 2;
constexpr char kSubtrees = 4;
constexpr char kCompared = 8;
constexpr char kValuesCompared = 16;
constexpr char kFlags = kSeveralValues | kExpires | kSubtrees | kCompared | kValuesCompared;
constexpr size_t kNotePrefix = 1 + sizeof(uint64_t);  // before the key of its entry
constexpr char kEscaped = '\xff';  // behind a zero that is a byte of the sort key

// ---- The orders that come with the library

class Reverse : public KeyOrder {
 public:
  std::string_view name() const override { return "reverse"; }
  // The complement of what 2 of tree_shape.h says: a key comes behind those that it begins.
  bool encode(std::string_view key, std::string* sort_key) const override {
    for (const char byte : key) {
      sort_key->push_back(static_cast<char>(~byte));
      if (byte == 0) sort_key->push_back('\0');
    }
    sort_key->append(2, '\xff');
    return true;
  }
  bool decode(std::string_view sort_key, std::string* key) const override {
    for (size_t i = 0; i + 1 < sort_key.size(); ++i) {
      if (sort_key[i] != '\xff') {
        key->push_back(static_cast<char>(~sort_key[i]));
        continue;
      }
      ++i;
      if (sort_key[i] != 0) return sort_key[i] == '\xff' && i + 1 == sort_key.size();
      key->push_back('\0');
    }
    return false;
  }
};

class FromEnd : public KeyOrder {
 public:
  std::string_view name() const override { return "from_end"; }
  bool encode(std::string_view key, std::string* sort_key) const override {
    sort_key->append(key.rbegin(), key.rend());
    return true;
  }
  bool decode(std::string_view sort_key, std::string* key) const override {
    key->append(sort_key.rbegin(), sort_key.rend());
    return true;
  }
};

static_assert(std::endian::native == std::endian::little);

// Big-endian; of signed ones the sign is turned, so that negative ones come first.
class Number : public KeyOrder {
 public:
  Number(std::string_view name, size_t bytes, bool is_signed)
      : name_(name), bytes_(bytes), sign_(is_signed ? '\x80' : '\0') {}
  std::string_view name() const override { return name_; }
  size_t fixed_bytes() const override { return bytes_; }
  bool encode(std::string_view key, std::string* sort_key) const override {
    if (key.size() != bytes_) return false;
    const size_t at = sort_key->size();
    sort_key->append(key.rbegin(), key.rend());
    (*sort_key)[at] = static_cast<char>((*sort_key)[at] ^ sign_);
    return true;
  }
  bool decode(std::string_view sort_key, std::string* key) const override {
    if (sort_key.size() != bytes_) return false;
    key->append(sort_key.rbegin(), sort_key.rend());
    key->back() = static_cast<char>(key->back() ^ sign_);
    return true;
  }

 private:
  const std::string_view name_;
  const size_t bytes_;
  const char sign_;
};

Status no_key(const KeyOrder& order, std::string_view what, size_t size) {
  return Status(StatusCode::kInvalidArgument, std::string(what) + " of " + std::to_string(size) +
                                                  " bytes is none in the order \"" +
                                                  std::string(order.name()) + "\"");
}

Status too_long(size_t size) {
  return Status(StatusCode::kInvalidArgument,
                "a key takes " + std::to_string(size) +
                    " bytes as the tree stores it, over the limit of " +
                    std::to_string(kKeyBytesMax));
}

Status damaged(std::string_view what) {
  return Status(StatusCode::kCorruption, "a stored key is none of its tree: " + std::string(what));
}

void append_big_endian(std::string& to, uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) to.push_back(static_cast<char>(number >> shift));
}

// Errors: kInvalidArgument; those of ComparedSortKeys.
Status sort(const TreeShape::Order& order, std::string_view what, std::string_view bytes,
            TreeShape::Use use, std::string* sorted) {
  if (order.compared != nullptr) return order.compared->find(bytes, use, sorted);
  if (order.encoded == nullptr) {
    sorted->append(bytes);
    return {};
  }
  const size_t before = sorted->size();
  if (!order.encoded->encode(bytes, sorted)) return no_key(*order.encoded, what, bytes.size());
  const size_t fixed = order.fixed_bytes();
  if (fixed != 0 && sorted->size() - before != fixed) {
    return no_key(*order.encoded, what, bytes.size());
  }
  return {};
}

// Replaces *bytes.
Status unsort(const TreeShape::Order& order, std::string_view sorted, std::string* bytes) {
  bytes->clear();
  if (order.bytewise()) {
    bytes->assign(sorted);
    return {};
  }
  if (order.compared != nullptr) {
    return order.compared->decode(sorted, bytes) ? Status() : damaged("it has no label");
  }
  return order.encoded->decode(sorted, bytes) ? Status() : damaged(order.encoded->name());
}

struct LibraryOrders {
  const Reverse reverse;
  const FromEnd from_end;
  const std::array<Number, 4> numbers = {Number("uint32", 4, false), Number("uint64", 8, false),
                                         Number("int32", 4, true), Number("int64", 8, true)};
};
}  // namespace

const KeyOrder* library_order(std::string_view name) {
  const LibraryOrders& orders = made_once<[] { return LibraryOrders(); }>();
  if (name == orders.reverse.name()) return &orders.reverse;
  if (name == orders.from_end.name()) return &orders.from_end;
  const auto number = std::find_if(orders.numbers.begin(), orders.numbers.end(),
                                   [&](const Number& order) { return order.name() == name; });
  return number == orders.numbers.end() ? nullptr : &*number;
}

// ---- As stored with the tree

std::string encode_tree_shape(const TreeShapeNames& names) {
  const int flags = (names.multi_value ? kSeveralValues : 0) | (names.expires ? kExpires : 0) |
                    (names.subtrees ? kSubtrees : 0) | (names.compared ? kCompared : 0) |
                    (names.values_compared ? kValuesCompared : 0);
  std::string bytes = {kShapeVersion, static_cast<char>(flags)};
  const bool plain_values = names.value_order == kBytewiseOrder;
  for (const std::string& name : {names.order, plain_values ? std::string() : names.value_order}) {
    bytes.push_back(static_cast<char>(name.size()));
    bytes += name;
  }
  if (names.expires) append(bytes, names.ttl_ms);
  return bytes;
}

std::optional<TreeShapeNames> decode_tree_shape(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != kShapeVersion || (bytes[1] & ~kFlags) != 0)
    return std::nullopt;
  TreeShapeNames names;
  names.multi_value = (bytes[1] & kSeveralValues) != 0;
  names.expires = (bytes[1] & kExpires) != 0;
  names.subtrees = (bytes[1] & kSubtrees) != 0;
  names.compared = (bytes[1] & kCompared) != 0;
  names.values_compared = (bytes[1] & kValuesCompared) != 0;
  if (names.subtrees && (names.multi_value || names.expires || names.compared)) return std::nullopt;
  bytes.remove_prefix(2);
  for (std::string* name : {&names.order, &names.value_order}) {
    const size_t size = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front());
    if (bytes.size() < 1 + size) return std::nullopt;
    name->assign(bytes.substr(1, size));
    bytes.remove_prefix(1 + size);
  }
  if (names.expires && bytes.size() == sizeof(names.ttl_ms)) {
    names.ttl_ms = hawthorn::load<uint64_t>(bytes.data());
    bytes = {};
  } else if (names.expires) {
    return std::nullopt;
  }
  if (!bytes.empty() || names.order.empty()) return std::nullopt;
  if (names.value_order.empty()) names.value_order = kBytewiseOrder;
  if (!names.multi_value && names.value_order != kBytewiseOrder) return std::nullopt;
  const bool plain = names.order == kBytewiseOrder;
  const bool plain_values = names.value_order == kBytewiseOrder;
  if ((names.compared && plain) || (names.values_compared && plain_values)) return std::nullopt;
  return names;
}

// ---- Storing

Status TreeShape::check_size(size_t stored_bytes) const {
  // A note is longer than its entry's key, and so is the catalog's key of a subtree.
  const size_t beside = expires() ? kNotePrefix - 1 : subtrees() ? kSubtreeKeyPrefix : 0;
  const size_t size = stored_bytes + beside;
  return size > kKeyBytesMax ? too_long(size) : Status();
}

Status TreeShape::store_key(std::string_view key, std::string* stored, Use use) const {
  const size_t before = stored->size();
  if (framed()) *stored += kEntries;
  if (!multi_value() || order_.fixed_bytes() != 0) {
    if (Status s = sort(order_, "a key", key, use, stored); !s.ok()) return s;
  } else {
    std::string sorted;
    if (!order_.bytewise()) {
      if (Status s = sort(order_, "a key", key, use, &sorted); !s.ok()) return s;
      key = sorted;
    }
    for (const char byte : key) {
      stored->push_back(byte);
      if (byte == 0) stored->push_back(kEscaped);
    }
    stored->append(2, '\0');
  }
  return check_size(stored->size() - before);
}

Status TreeShape::store_pair(std::string_view key, std::string_view value, std::string* stored,
                             Use use) const {
  const size_t before = stored->size();
  if (Status s = store_key(key, stored, use); !s.ok()) return s;
  if (Status s = sort(value_order_, "a value", value, use, stored); !s.ok()) return s;
  return check_size(stored->size() - before);
}

std::optional<std::string> TreeShape::behind(std::string_view head) {
  const size_t last = head.find_last_not_of('\xff');
  if (last == std::string_view::npos) return std::nullopt;
  std::string end(head.substr(0, last + 1));
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

// ---- Entries that end

void TreeShape::append_moment(std::string& to, uint64_t moment_ms) { append(to, moment_ms); }

Result<uint64_t> TreeShape::moment_of(std::string_view stored_value) {
  if (stored_value.size() >= kMomentBytes) return hawthorn::load<uint64_t>(stored_value.data());
  return Status(StatusCode::kCorruption, "a stored value does not tell when it ends");
}

uint64_t TreeShape::round_up(uint64_t moment_ms) {
  constexpr uint64_t kBelow = kNoteMs - 1;
  return moment_ms > UINT64_MAX - kBelow ? UINT64_MAX : (moment_ms + kBelow) / kNoteMs * kNoteMs;
}

std::string TreeShape::note_of(std::string_view stored_key, uint64_t moment_ms) {
  std::string note(1, '\0');
  append_big_endian(note, round_up(moment_ms));
  note += stored_key.substr(kEntries.size());
  return note;
}

std::string TreeShape::notes_until(uint64_t moment_ms) {
  if (moment_ms == UINT64_MAX) return std::string(kEntries);
  std::string end(1, '\0');
  append_big_endian(end, moment_ms + 1);
  return end;
}

Result<uint64_t> TreeShape::load_note(std::string_view note, std::string* stored_key) {
  if (note.size() < kNotePrefix || note.front() != 0) return damaged("it is no note");
  stored_key->clear();
  stored_key->append(kEntries);
  *stored_key += note.substr(kNotePrefix);
  uint64_t moment = 0;
  for (size_t i = 1; i < kNotePrefix; ++i) {
    moment = moment << 8 | static_cast<unsigned char>(note[i]);
  }
  return moment;
}

// ---- Loading

Result<size_t> TreeShape::head_bytes(std::string_view stored) const {
  const size_t begin = framed() ? kEntries.size() : 0;
  if (const size_t fixed = order_.fixed_bytes(); fixed != 0) {
    if (stored.size() < begin + fixed) return damaged("it is too short");
    return begin + fixed;
  }
  for (size_t at = begin;;) {
    at = stored.find('\0', at);
    if (at == std::string_view::npos || at + 1 == stored.size()) {
      return damaged("it has no end of a key");
    }
    if (stored[at + 1] == 0) return at + 2;
    if (stored[at + 1] != kEscaped) return damaged("a zero byte in it means nothing");
    at += 2;
  }
}

Status TreeShape::load_head(std::string_view stored, std::string* key) const {
  const size_t begin = framed() ? kEntries.size() : 0;
  if (!is_entry(stored)) return damaged("it is no entry's");
  if (!multi_value()) return unsort(order_, stored.substr(begin), key);
  const Result<size_t> head = head_bytes(stored);
  if (!head.ok()) return head.status();
  std::string_view sort_key = stored.substr(begin, *head - begin);
  std::string unescaped;
  if (order_.fixed_bytes() == 0) {
    for (size_t i = 0; i + 2 < sort_key.size(); ++i) {
      unescaped.push_back(sort_key[i]);
      if (sort_key[i] == 0) ++i;
    }
    sort_key = unescaped;
  }
  return unsort(order_, sort_key, key);
}

Status TreeShape::load(std::string_view stored, std::string* key, std::string* value) const {
  if (Status s = load_head(stored, key); !s.ok() || !multi_value()) return s;
  const Result<size_t> head = head_bytes(stored);
  return head.ok() ? unsort(value_order_, stored.substr(*head), value) : head.status();
}

}  // namespace hawthorn::format
