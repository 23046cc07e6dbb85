#include "txn/held_locks.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "txn/lock_shard.h"

namespace hawthorn::txn {

namespace {
constexpr size_t kEntriesFirst = 16;
constexpr size_t kSpareMax = 4;  // times what is used may stay allocated
}  // namespace

HeldLocks::~HeldLocks() { HAWTHORN_ASSERT(entries_.empty() && counted_bytes_ == 0); }

void HeldLocks::reserve(size_t key_size) {
  const size_t entries = entries_.capacity();
  const size_t keys = keys_.capacity();
  if (entries_.size() == entries) entries_.reserve(std::max(kEntriesFirst, 2 * entries));
  if (keys_.size() + key_size > keys) keys_.reserve(std::max(keys_.size() + key_size, 2 * keys));
  if (entries_.capacity() != entries || keys_.capacity() != keys) count_memory();
}

// The newest entry of a key, looked for from an entry of its row on.
HeldLocks::Entry* HeldLocks::newest_of_key(uint32_t entry, uint32_t tree, std::string_view key) {
  while (entry != kNone) {
    Entry& candidate = entries_[entry];
    if (candidate.tree == tree && key_of(candidate) == key) return &candidate;
    entry = candidate.before;
  }
  return nullptr;
}

void HeldLocks::add(RowHold* hold, LockMode row_before, uint32_t tree, std::string_view key,
                    LockMode mode) {
  Entry* older = newest_of_key(hold->newest_entry, tree, key);
  if (older != nullptr && older->mode >= mode) return;
  HAWTHORN_ASSERT(entries_.size() < std::min<size_t>(entries_.capacity(), kNone));
  Entry entry{.hold = hold,
              .key_at = older != nullptr ? older->key_at : keys_.size(),
              .key_size = static_cast<uint32_t>(key.size()),
              .tree = tree,
              .before = hold->newest_entry,
              .mode = mode,
              .row_before = row_before,
              .raises = older != nullptr,
              .raised = false};
  if (older != nullptr) {
    older->raised = true;
  } else {
    keys_.append(key);
  }
  hold->newest_entry = static_cast<uint32_t>(entries_.size());
  entries_.push_back(entry);
}

HeldLocks::Entry HeldLocks::pop() {
  const Entry entry = entries_.back();
  if (entry.raises) {
    newest_of_key(entry.before, entry.tree, key_of(entry))->raised = false;
  } else {
    keys_.resize(entry.key_at);
  }
  entries_.pop_back();
  entry.hold->newest_entry = entry.before;
  return entry;
}

void HeldLocks::take_out(const std::vector<uint32_t>& numbers) {
  const auto renumbered = [&numbers](uint32_t number) {
    const auto at = std::lower_bound(numbers.begin(), numbers.end(), number);
    return number - static_cast<uint32_t>(at - numbers.begin());
  };
  const std::string keys = std::exchange(keys_, {});
  std::vector<Entry> entries = std::exchange(entries_, {});
  entries_.reserve(entries.size() - numbers.size());
  size_t next_out = 0;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (next_out < numbers.size() && numbers[next_out] == i) {
      ++next_out;
      continue;
    }
    Entry& entry = entries[i];
    const std::string_view key(keys.data() + entry.key_at, entry.key_size);
    if (entry.before != kNone) entry.before = renumbered(entry.before);
    if (entry.raises) {
      entry.key_at = newest_of_key(entry.before, entry.tree, key)->key_at;
    } else {
      entry.key_at = keys_.size();
      keys_.append(key);
    }
    entry.hold->newest_entry = static_cast<uint32_t>(entries_.size());
    entries_.push_back(entry);
  }
  count_memory();
}

void HeldLocks::count_memory() {
  const size_t heap = entries_.capacity() * sizeof(Entry) + keys_.capacity();
  const size_t bytes = heap > kKept ? heap : 0;
  if (bytes == counted_bytes_) return;
  arena_->charge(os::Quota::kOther,
                 static_cast<ptrdiff_t>(bytes) - static_cast<ptrdiff_t>(counted_bytes_));
  counted_bytes_ = bytes;
}

void HeldLocks::drop_memory() {
  if (counted_bytes_ == 0) return;
  if (entries_.size() <= entries_.capacity() / kSpareMax) entries_.shrink_to_fit();
  if (keys_.size() <= keys_.capacity() / kSpareMax) keys_.shrink_to_fit();
  count_memory();
}

}  // namespace hawthorn::txn
