#include "shims/mdbx/src/tables.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "shims/of_process.h"

namespace hawthorn::mdbx {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view kRecordMagic = "HTHNTBL1";
constexpr std::string_view kIntegerOrder = "mdbx.integer";
constexpr uint32_t kKeysCompared = 1;
constexpr uint32_t kValuesCompared = 2;

int sign(int64_t difference) { return difference < 0 ? -1 : difference > 0 ? 1 : 0; }

int by_length(const MDBX_val* a, const MDBX_val* b) {
  return a->iov_len < b->iov_len ? -1 : a->iov_len > b->iov_len ? 1 : 0;
}

int bytewise(const MDBX_val* a, const MDBX_val* b) noexcept {
  const size_t common = std::min(a->iov_len, b->iov_len);
  const int order = common == 0 ? 0 : memcmp(a->iov_base, b->iov_base, common);
  return order != 0 ? order : by_length(a, b);
}

int from_end(const MDBX_val* a, const MDBX_val* b) noexcept {
  const auto* const first = static_cast<const unsigned char*>(a->iov_base);
  const auto* const second = static_cast<const unsigned char*>(b->iov_base);
  for (size_t i = 1; i <= std::min(a->iov_len, b->iov_len); ++i) {
    const int order = int{first[a->iov_len - i]} - int{second[b->iov_len - i]};
    if (order != 0) return order;
  }
  return by_length(a, b);
}

uint64_t number(const MDBX_val* value) {
  uint64_t result = 0;
  memcpy(&result, value->iov_base, std::min<size_t>(value->iov_len, sizeof(result)));
  return result;
}

int by_number(const MDBX_val* a, const MDBX_val* b) noexcept {
  if (a->iov_len != b->iov_len) return by_length(a, b);
  const uint64_t first = number(a);
  const uint64_t second = number(b);
  return first < second ? -1 : first > second ? 1 : 0;
}

// Of values that are not sorted: whether they are the same is all that matters.
int length_first(const MDBX_val* a, const MDBX_val* b) noexcept {
  const int order = by_length(a, b);
  return order != 0 || a->iov_len == 0 ? order : memcmp(a->iov_base, b->iov_base, a->iov_len);
}

class IntegerOrder : public KeyOrder {
 public:
  std::string_view name() const override { return kIntegerOrder; }
  bool encode(std::string_view key, std::string* sort_key) const override {
    return turn(key, sort_key);
  }
  bool decode(std::string_view sort_key, std::string* key) const override {
    return turn(sort_key, key);
  }

 private:
  static bool turn(std::string_view from, std::string* to) {
    if (from.size() != sizeof(uint32_t) && from.size() != sizeof(uint64_t)) return false;
    to->append(from.rbegin(), from.rend());
    return true;
  }
};

}  // namespace

size_t key_max(unsigned flags) {
  if (flags & MDBX_INTEGERKEY) return sizeof(uint64_t);
  return flags & MDBX_DUPSORT ? kMultiKeyMax : kKeyMax;
}

size_t value_max(unsigned flags) {
  if (flags & MDBX_INTEGERDUP) return sizeof(uint64_t);
  return flags & MDBX_DUPSORT ? kMultiValueMax : kValueMax;
}

bool flags_are_valid(unsigned flags) {
  if (flags & ~kPersistentFlags) return false;
  if ((flags & MDBX_REVERSEKEY) && (flags & MDBX_INTEGERKEY)) return false;
  if ((flags & (MDBX_DUPFIXED | MDBX_INTEGERDUP | MDBX_REVERSEDUP)) && !(flags & MDBX_DUPSORT)) {
    return false;
  }
  return !(flags & MDBX_INTEGERDUP) || (flags & MDBX_DUPFIXED);
}

Compare key_compare(unsigned flags) {
  if (flags & MDBX_INTEGERKEY) return by_number;
  return flags & MDBX_REVERSEKEY ? from_end : bytewise;
}

Compare value_compare(unsigned flags) {
  if (!(flags & MDBX_DUPSORT)) return length_first;
  if (flags & MDBX_INTEGERDUP) return by_number;
  return flags & MDBX_REVERSEDUP ? from_end : bytewise;
}

int Table::order_of_keys(std::string_view a, std::string_view b) const {
  const MDBX_val first = val(a);
  const MDBX_val second = val(b);
  return compare_keys(&first, &second);
}

int Table::order_of_values(std::string_view a, std::string_view b) const {
  const MDBX_val first = val(a);
  const MDBX_val second = val(b);
  return compare_values(&first, &second);
}

std::string TableRecord::encode() const {
  std::string bytes(kRecordMagic);
  const auto add = [&](const auto& field) { bytes.append(stored(field)); };
  add(id);
  add(sequence);
  add(flags);
  add(key_bytes);
  add(value_bytes);
  add(comparators);
  add(slot);
  add(reserved);
  add(txnid);
  return bytes;
}

std::optional<TableRecord> TableRecord::decode(std::string_view bytes) {
  TableRecord record;
  if (bytes.size() != record.encode().size() || !bytes.starts_with(kRecordMagic)) {
    return std::nullopt;
  }
  bytes.remove_prefix(kRecordMagic.size());
  const auto take = [&](auto& field) {
    memcpy(&field, bytes.data(), sizeof(field));
    bytes.remove_prefix(sizeof(field));
  };
  take(record.id);
  take(record.sequence);
  take(record.flags);
  take(record.key_bytes);
  take(record.value_bytes);
  take(record.comparators);
  take(record.slot);
  take(record.reserved);
  take(record.txnid);
  if (!flags_are_valid(record.flags) || record.slot >= kComparatorSlots) return std::nullopt;
  return record;
}

std::string record_key(std::string_view name, bool main) {
  return main ? std::string(kMainKey) : std::string(kTablePrefix) + std::string(name);
}

std::string tree_name(uint64_t id) { return std::string(kTablePrefix) + std::to_string(id); }

TreeOptions tree_options(const TableRecord& record) {
  TreeOptions options;
  const std::string slot = std::to_string(record.slot);
  if (record.comparators & kKeysCompared) {
    options.order = "mdbx.keys." + slot;
  } else if (record.flags & MDBX_INTEGERKEY) {
    options.order = kIntegerOrder;
  } else if (record.flags & MDBX_REVERSEKEY) {
    options.order = "from_end";
  }
  if (!(record.flags & MDBX_DUPSORT)) return options;
  options.multi_value = true;
  if (record.comparators & kValuesCompared) {
    options.value_order = "mdbx.values." + slot;
  } else if (record.flags & MDBX_INTEGERDUP) {
    options.value_order = kIntegerOrder;
  } else if (record.flags & MDBX_REVERSEDUP) {
    options.value_order = "from_end";
  }
  return options;
}

int ComparatorSlot::compare(std::string_view a, std::string_view b) const {
  const MDBX_val first = val(a);
  const MDBX_val second = val(b);
  const Compare function = function_.load(std::memory_order_acquire);
  return sign((function != nullptr ? function : bytewise)(&first, &second));
}

Comparators::Comparators() {
  for (size_t i = 0; i < kComparatorSlots; ++i) {
    keys[i] = std::make_shared<ComparatorSlot>("mdbx.keys." + std::to_string(i));
    values[i] = std::make_shared<ComparatorSlot>("mdbx.values." + std::to_string(i));
  }
}

std::vector<std::shared_ptr<const KeyComparator>> Comparators::all() const {
  std::vector<std::shared_ptr<const KeyComparator>> result(keys.begin(), keys.end());
  result.insert(result.end(), values.begin(), values.end());
  return result;
}

std::shared_ptr<const KeyOrder> integer_order() {
  // Of all environments: nobody owns it.
  return {std::shared_ptr<void>(), &MadeOnce<IntegerOrder>::get()};
}

}  // namespace hawthorn::mdbx
