#pragma once
// What the tests of bulk ingests share: reading a whole tree, and ingesting a map.
//
// Used by the folders of tests/ only.

#include <map>
#include <string>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {

using Contents = std::map<std::string, std::string>;

inline Contents read_all(Db& db, const Tree& tree, const Snapshot* snapshot = nullptr) {
  Contents contents;
  Cursor cursor = db.cursor(tree, {.snapshot = snapshot});
  for (bool more = cursor.first(); more; more = cursor.next()) {
    contents.emplace(cursor.key(), cursor.value());
  }
  EXPECT_OK(cursor.status());
  return contents;
}

// Maps are too large to be printed.
inline ::testing::AssertionResult same(const Contents& found, const Contents& expected) {
  if (found == expected) return ::testing::AssertionSuccess();
  ::testing::AssertionResult result = ::testing::AssertionFailure();
  result << found.size() << " entries, " << expected.size() << " expected";
  for (const auto& [key, value] : expected) {
    const auto at = found.find(key);
    if (at != found.end() && at->second == value) continue;
    return result << "; first difference at " << ::testing::PrintToString(key.substr(0, 40))
                  << (at == found.end() ? ": missing" : ": another value");
  }
  return result << "; the first differences are entries too many";
}

inline Status ingest_all(Db& db, const Tree& tree, const Contents& entries,
                         IngestStats* stats = nullptr, const IngestOptions& options = {}) {
  Result<Ingest> ingest = db.ingest(tree, options);
  if (!ingest.ok()) return ingest.status();
  for (const auto& [key, value] : entries) {
    if (Status s = ingest->add(key, value); !s.ok()) return s;
  }
  Status status = ingest->finish();
  if (stats != nullptr) *stats = ingest->stats();
  return status;
}

// `count` entries with keys from `first` on, `step` apart.
inline Contents numbered(uint64_t first, uint64_t count, size_t value_bytes, uint64_t step = 1) {
  Contents entries;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t number = first + i * step;
    entries.emplace_hint(entries.end(), big_endian(number), value_of(number, value_bytes));
  }
  return entries;
}

}  // namespace hawthorn::tests
