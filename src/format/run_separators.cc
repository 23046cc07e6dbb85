#include "format/run_separators.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace hawthorn::format {

namespace {

Status bad(const char* what) {
  return Status(StatusCode::kCorruption, std::string("index run: ") + what);
}

size_t common(std::string_view a, std::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  size_t same = 0;
  while (same < most && a[same] == b[same]) ++same;
  return same;
}

bool restarts(uint32_t number) { return number % kSeparatorsPerRestart == 0; }

}  // namespace

std::string_view RunSeparators::own(uint32_t number, uint32_t* shared) const {
  const char* const begin = bytes + (number == 0 ? 0 : ends[number - 1]);
  const char* const end = bytes + ends[number];
  const char* const from = get_varint32(begin, end, shared);
  HAWTHORN_ASSERT(from != nullptr);
  return {from, static_cast<size_t>(end - from)};
}

RunSeparators RunSeparators::moved(const char* to) const {
  RunSeparators copy;
  copy.count = count;
  copy.heads = reinterpret_cast<const uint64_t*>(to);
  copy.entries = reinterpret_cast<const uint32_t*>(copy.heads + count);
  copy.ends = copy.entries + count;
  copy.bytes = reinterpret_cast<const char*>(copy.ends + count);
  return copy;
}

bool RunSeparators::before(uint32_t entry) const {
  return std::binary_search(entries, entries + count, entry);
}

void RunSeparators::narrow(uint64_t head, std::string_view tail, uint32_t* begin,
                           uint32_t* end) const {
  const auto first = static_cast<uint32_t>(std::lower_bound(heads, heads + count, head) - heads);
  const auto last =
      static_cast<uint32_t>(std::upper_bound(heads + first, heads + count, head) - heads);
  if (first == last) return;
  uint32_t shared = 0;
  if (own(first, &shared) > tail) {
    *end = entries[first];
    return;
  }
  // The last one that stands by itself and is not above the tail.
  uint32_t at = first;
  uint32_t low = first / kSeparatorsPerRestart + 1;
  uint32_t high = (last + kSeparatorsPerRestart - 1) / kSeparatorsPerRestart;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (own(middle * kSeparatorsPerRestart, &shared) > tail) {
      high = middle;
    } else {
      at = middle * kSeparatorsPerRestart;
      low = middle + 1;
    }
  }
  // From there on by what each shares with the one before it, which is not above the tail either.
  size_t same = common(own(at, &shared), tail);
  for (uint32_t next = at + 1; next < last && !restarts(next); at = next++) {
    const std::string_view rest = own(next, &shared);
    if (shared > same) continue;
    if (shared < same) break;
    const std::string_view left = tail.substr(same);
    if (rest > left) break;
    same += common(rest, left);
  }
  *begin = entries[at];
  if (at + 1 < last) *end = entries[at + 1];
}

Status parse_separators(const char* area, size_t area_bytes, uint32_t count, uint32_t own_bytes,
                        uint32_t run_entries, RunSeparators* out) {
  const uint64_t used = separators_bytes(count, own_bytes);
  if (count == 0 || used > area_bytes) return bad("the separators do not fill their blocks");
  RunSeparators found;
  found.count = count;
  found = found.moved(area);
  uint32_t entry = 0;
  uint32_t end = 0;
  uint64_t size = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const bool first = i == 0 || found.heads[i] != found.heads[i - 1];
    if (found.entries[i] <= entry || found.entries[i] >= run_entries || found.ends[i] <= end ||
        found.ends[i] > own_bytes || (i != 0 && found.heads[i] < found.heads[i - 1])) {
      return bad("the separators contradict each other");
    }
    uint32_t shared = 0;
    const char* const begin = found.bytes + end;
    const char* const rest = get_varint32(begin, found.bytes + found.ends[i], &shared);
    if (rest == nullptr || shared > size || ((first || restarts(i)) && shared != 0)) {
      return bad("a separator is malformed");
    }
    size = shared + static_cast<uint64_t>(found.bytes + found.ends[i] - rest);
    entry = found.entries[i];
    end = found.ends[i];
  }
  if (end != own_bytes || !all_zero(area + used, area_bytes - used)) {
    return bad("the rest of the separators is not zero");
  }
  *out = found;
  return {};
}

void SeparatorWriter::clear() {
  heads_.clear();
  entries_.clear();
  ends_.clear();
  bytes_.clear();
}

void SeparatorWriter::release() { *this = SeparatorWriter(); }

void SeparatorWriter::add(uint64_t head, uint32_t entry, std::string_view before,
                          std::string_view tail) {
  const std::string_view separator = tail.substr(0, common(before, tail) + 1);
  HAWTHORN_ASSERT(before < separator);
  const bool alone = restarts(count()) || heads_.back() != head;
  const size_t shared = alone ? 0 : common(last_, separator);
  char number[kVarintBytesMax];
  bytes_.append(number, static_cast<size_t>(put_varint(number, shared) - number));
  bytes_ += separator.substr(shared);
  last_ = separator;
  heads_.push_back(head);
  entries_.push_back(entry);
  ends_.push_back(static_cast<uint32_t>(bytes_.size()));
}

void SeparatorWriter::write(char* to) const {
  const size_t numbers = entries_.size() * sizeof(uint32_t);
  std::memcpy(to, heads_.data(), 2 * numbers);
  to += 2 * numbers;
  std::memcpy(to, entries_.data(), numbers);
  std::memcpy(to + numbers, ends_.data(), numbers);
  std::memcpy(to + 2 * numbers, bytes_.data(), bytes_.size());
}

}  // namespace hawthorn::format
