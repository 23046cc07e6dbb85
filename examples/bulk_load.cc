// Bulk ingests: many entries straight into the data files, all of them at one moment.

#include <cinttypes>
#include <cstdint>
#include <string>
#include <utility>

#include "must.h"

using hawthorn::Durability;
using hawthorn::Entry;
using hawthorn::Ingest;
using hawthorn::IngestOptions;
using hawthorn::Result;
using hawthorn::Tree;
using hawthorn::Value;

namespace {

constexpr uint64_t kEntryCount = 200000;

std::string key_of(uint64_t number) {
  char key[16];
  std::snprintf(key, sizeof(key), "%010" PRIu64, number);
  return key;
}

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree squares = must(db->tree("squares"));
  Value value;

  // Keys in ascending order, as an export of another database has them.
  Ingest ingest = must(db->ingest(squares));
  for (uint64_t i = 0; i < kEntryCount; ++i) must(ingest.add(key_of(i), std::to_string(i * i)));
  must(db->get(squares, key_of(7), value).is_not_found());  // nothing before finish
  must(ingest.finish());                                    // all of it, durable
  must(db->get(squares, key_of(7), value));
  must(value.view() == "49");
  std::printf("%" PRIu64 " entries in %" PRIu64 " new containers\n", ingest.stats().entries,
              ingest.stats().containers);

  // In any order: sorted on the way. Of equal keys the last one counts, and all replace what is
  // there.
  uint64_t number = 0;
  std::pair<std::string, std::string> entry;
  const auto source = [&](Entry* next) -> Result<bool> {
    if (number == 1000) return false;
    entry = {key_of(number * 7919 % 1000), "again"};
    ++number;
    *next = {entry.first, entry.second};
    return true;
  };
  must(db->ingest(squares, source, IngestOptions{.sorted = false}));
  must(db->get(squares, key_of(7), value));
  must(value.view() == "again");

  // Entries out of order are an error, and nothing of that ingest is there.
  Ingest wrong = must(db->ingest(squares));
  must(wrong.add("b", ""));
  must(wrong.add("a", "").is(hawthorn::StatusCode::kInvalidArgument));
  must(db->get(squares, "b", value).is_not_found());

  ingest = Ingest();  // before the database is closed
  wrong = Ingest();
  value.reset();
  must(db->close());
}
