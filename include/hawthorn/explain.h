#pragma once
// Where one key of a database is, and what a read of it costs (Db::explain). For people who want to
// know why a read is slow, or what a layout of keys comes to.
//
//   auto told = db->explain(users, "ada");
//   if (told.ok()) print(told->place, told->value, told->now.reads);
//
// Not here: what all keys take together (stats.h).

#include <cstdint>
#include <optional>
#include <string>

namespace hawthorn {

struct KeyExplanation {
  // What decides what a read finds.
  enum class Place : uint8_t {
    kNowhere = 0,  // nothing is known of the key
    kMemory = 1,   // what was written since the container's last flush
    kRun = 2,      // the container's index run
    kLayer = 3,    // what a commit that was larger than memory, or deleted a range, has left to do
  };
  enum class Kind : uint8_t {
    kNone = 0,
    kInline = 1,     // the value stands in the index run, or in memory
    kSeparated = 2,  // in a value extent of its container
    kLarge = 3,      // in extents of its own
    kDeleted = 4,    // a delete, which is kept for snapshots or hides what is below
    kOperands = 5,   // of a merge operator: what they make is worked out by each read
  };
  // How much of an index run is in memory.
  enum class Resident : uint8_t {
    kNothing = 0,
    kOutline = 1,  // what tells in which blocks a key can be
    kIndex = 2,    // the places of all entries
    kAll = 3,
  };
  struct Extent {
    std::string file = {};  // in the directory ("data.0"), or "device 0"; empty: there is none
    uint64_t offset = 0;    // in bytes
    uint64_t bytes = 0;     // on disk
    bool operator==(const Extent&) const = default;
  };
  // Of one get: what it reads from disk. 0: memory tells.
  struct Cost {
    uint64_t reads = 0;
    uint64_t bytes = 0;
    bool operator==(const Cost&) const = default;
  };

  // The tree that was looked at last: of a clone perhaps what it was made of, and how many sources
  // that is away.
  uint32_t tree = 0;
  uint32_t clones_passed = 0;

  // The container that covers the key, with its range of stored keys: from `low_key` on, below
  // `high_key` where there is one.
  uint64_t container = 0;
  std::string stored_key = {};  // what the tree's order makes of the key
  std::string low_key = {};
  std::optional<std::string> high_key = {};
  uint64_t entries_unflushed = 0;  // of the container, in memory
  uint64_t entries_flushed = 0;    // in its index run
  Extent index = {};               // its index run, small values included
  Resident resident = Resident::kNothing;
  uint64_t extents_bytes = 0;      // its value extents, on disk
  uint64_t garbage_bytes = 0;      // of these about what no entry refers to any more

  // Versions of the key: in memory, those of open transactions included, and in the run.
  uint64_t versions_unflushed = 0;
  uint64_t versions_flushed = 0;

  Place place = Place::kNowhere;
  Kind kind = Kind::kNone;
  uint64_t timestamp = 0;  // of the commit; 0: older than all that anybody may still ask for
  // As stored: with 8 bytes more where entries end, also of one that has ended and is not removed
  // yet; of operands theirs, of a delete 0.
  uint64_t value_bytes = 0;
  // Of a separated value the extent that it is in; of a large one its first extent.
  Extent extent = {};
  bool value_resident = false;  // a read finds it in memory

  bool found() const { return kind != Kind::kNone && kind != Kind::kDeleted; }

  Cost now = {};   // with what is in memory now
  Cost cold = {};  // where nothing of what is on disk is
};

}  // namespace hawthorn
