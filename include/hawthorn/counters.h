#pragma once
// The figures of a database that some process has open, without opening it: the file `counters` in
// its directory (docs/format.md describes it for other programs), written anew each second or so.
//
//   auto counters = hawthorn::read_counters("/var/lib/app/db");
//   if (counters.ok() && counters->alive) print(counters->value("commits"));
//
// Not here: figures of trees (Db::stats, of the process that has it open).
// Threads: every function from any thread. Nothing is locked, and nothing is written.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/export.h"
#include "hawthorn/status.h"

namespace hawthorn {

// As the field of Stats of that name.
struct Counter {
  enum class Kind : uint8_t { kAmount = 0, kCount = 1 };  // a count only grows while it is open
  enum class Unit : uint8_t { kNumber = 0, kBytes = 1, kMicroseconds = 2 };
  std::string name;
  Kind kind = Kind::kAmount;
  Unit unit = Unit::kNumber;
  uint64_t value = 0;
  bool operator==(const Counter&) const = default;
};

struct Counters {
  uint64_t uuid_low = 0;  // of the database
  uint64_t uuid_high = 0;
  uint64_t pid = 0;            // of the process that has, or had, it open
  uint64_t process_start = 0;  // as /proc tells it: another process may have the pid by now
  uint64_t opened_us = 0;      // microseconds since 1970
  uint64_t updated_us = 0;
  bool closed = false;
  // Not closed, and the process is there (as far as this one can see: not from another pid
  // namespace, for which a recent updated_us speaks).
  bool alive = false;
  std::vector<Counter> entries;

  std::optional<uint64_t> value(std::string_view name) const {
    for (const Counter& counter : entries) {
      if (counter.name == name) return counter.value;
    }
    return std::nullopt;
  }
};

// Errors: kNotFound when no process has opened the database for writing yet; kCorruption when the
// file is no file of counters, or who wrote it died while it did; kNotSupported for a newer one.
HAWTHORN_EXPORT Result<Counters> read_counters(const std::string& directory);

}  // namespace hawthorn
