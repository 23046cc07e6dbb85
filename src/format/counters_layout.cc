#include "format/counters_layout.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace hawthorn::format {

std::string encode_counters(const CountersHeader& header, const std::vector<Counter>& entries) {
  HAWTHORN_ASSERT(entries.size() <= kCountersEntriesMax);
  std::string file(kCountersFileBytes, '\0');
  CountersHeader filled = header;
  std::memcpy(filled.magic, kCountersMagic, sizeof(filled.magic));
  filled.version = kCountersVersion;
  filled.header_bytes = sizeof(CountersHeader);
  filled.entry_count = static_cast<uint32_t>(entries.size());
  filled.entry_bytes = sizeof(CountersEntry);
  std::memcpy(file.data(), &filled, sizeof(filled));
  size_t at = sizeof(CountersHeader);
  for (const Counter& counter : entries) {
    CountersEntry entry{};
    HAWTHORN_ASSERT(counter.name.size() < sizeof(entry.name));
    std::memcpy(entry.name, counter.name.data(), counter.name.size());
    entry.kind = static_cast<uint32_t>(counter.kind);
    entry.unit = static_cast<uint32_t>(counter.unit);
    entry.value = counter.value;
    std::memcpy(file.data() + at, &entry, sizeof(entry));
    at += sizeof(entry);
  }
  return file;
}

Result<Counters> decode_counters(std::string_view file) {
  CountersHeader header;
  if (file.size() < sizeof(header)) {
    return Status(StatusCode::kCorruption, "counters: the file is too short");
  }
  std::memcpy(&header, file.data(), sizeof(header));
  if (std::memcmp(header.magic, kCountersMagic, sizeof(header.magic)) != 0) {
    return Status(StatusCode::kCorruption, "counters: the file is no file of counters");
  }
  if (header.version > kCountersVersion) {
    return Status(StatusCode::kNotSupported,
                  "counters: version " + std::to_string(header.version) + " is a newer one");
  }
  if (header.sequence % 2 != 0) {
    return Status(StatusCode::kBusy, "counters: the file is being written");
  }
  const bool fits =
      header.header_bytes >= sizeof(header) && header.entry_bytes >= sizeof(CountersEntry) &&
      header.entry_count <= file.size() / sizeof(CountersEntry) &&
      header.header_bytes + uint64_t{header.entry_count} * header.entry_bytes <= file.size();
  if (!fits)
    return Status(StatusCode::kCorruption, "counters: the entries lie outside of the file");
  Counters counters;
  counters.uuid_low = header.uuid_low;
  counters.uuid_high = header.uuid_high;
  counters.pid = header.pid;
  counters.process_start = header.process_start;
  counters.opened_us = header.opened_us;
  counters.updated_us = header.updated_us;
  counters.closed = header.state != kCountersOpen;
  for (uint32_t i = 0; i < header.entry_count; ++i) {
    CountersEntry entry;
    std::memcpy(&entry, file.data() + header.header_bytes + uint64_t{i} * header.entry_bytes,
                sizeof(entry));
    Counter& counter = counters.entries.emplace_back();
    counter.name.assign(entry.name, std::find(entry.name, std::end(entry.name), '\0'));
    counter.kind = entry.kind == 1 ? Counter::Kind::kCount : Counter::Kind::kAmount;
    counter.unit = entry.unit == 1   ? Counter::Unit::kBytes
                   : entry.unit == 2 ? Counter::Unit::kMicroseconds
                                     : Counter::Unit::kNumber;
    counter.value = entry.value;
  }
  return counters;
}

}  // namespace hawthorn::format
