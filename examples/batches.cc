// Loading with batches and reading in bulk: the two fast ways through many entries.

#include <cinttypes>
#include <cstdint>
#include <span>
#include <string>

#include "must.h"

using hawthorn::Durability;
using hawthorn::Entry;
using hawthorn::Tree;
using hawthorn::WriteBatch;

namespace {

constexpr uint64_t kEntryCount = 100000;
constexpr uint64_t kBatchCount = 1000;

// Keys are ordered as bytes: numbers of one length, in decimal, keep their order.
std::string key_of(uint64_t number) {
  char key[16];
  std::snprintf(key, sizeof(key), "%010" PRIu64, number);
  return key;
}

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree squares = must(db->tree("squares"));

  WriteBatch batch;
  for (uint64_t i = 0; i < kEntryCount; ++i) {
    batch.put(squares, key_of(i), std::to_string(i * i));
    if (batch.count() == kBatchCount) {
      must(db->write(batch, Durability::kNone));  // all of the batch or nothing
      batch.clear();
    }
  }
  must(db->sync());  // one sync for all of them

  uint64_t count = 0;
  uint64_t sum = 0;
  // Called with hundreds of entries at a time, in order; false would end the scan.
  const auto add = [&](std::span<const Entry> entries) {
    count += entries.size();
    for (const Entry& entry : entries) sum += std::stoull(std::string(entry.value));
    return true;
  };
  must(db->scan(squares, key_of(10), key_of(20), add));
  must(count == 10 && sum == 2185);

  count = 0;
  must(db->scan(squares, "", std::nullopt, add, {.key_only = false}));
  std::printf("%" PRIu64 " entries\n", count);
  must(count == kEntryCount);
  must(db->close());
}
