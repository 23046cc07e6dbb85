#pragma once
// The file `counters`: figures of an open database for programs that watch it. Pure: no I/O.
//
// Not here: which figures there are, and when they are written (db/counters_file.h); reading them
// (hawthorn/counters.h). Threads: pure.
//
// The file is of the process that has the database open, and means nothing to the database: it is
// made anew by each open, never synced, and never read by who writes it.
//
// 1. sequence is odd while anything behind it is being changed, and another even number afterwards.
//    Whoever reads takes it before and behind the rest, and begins again where the two differ or
//    are odd.
// 2. Names, kinds and places of entries stay as they are for as long as the file is.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/counters.h"

namespace hawthorn::format {

inline constexpr char kCountersMagic[] = "HAWTCNTR";  // without the final zero on disk
inline constexpr uint32_t kCountersVersion = 1;
inline constexpr size_t kCountersFileBytes = 8192;

// OFFSET SIZE FIELD
//      0    8 magic          "HAWTCNTR"
//      8    4 version        1
//     12    4 header_bytes   where the entries begin: 128
//     16    8 sequence       odd while the rest is being written
//     24    8 uuid_low       of the database, as in the superblock
//     32    8 uuid_high
//     40    8 pid            of the process that writes
//     48    8 process_start  field 22 of /proc/<pid>/stat; the same pid with another is another
//     56    8 opened_us      microseconds since 1970
//     64    8 updated_us
//     72    4 state          1 open, 2 closed
//     76    4 entry_count
//     80    4 entry_bytes    from one entry to the next: 64
//     84   44 reserved       zero
struct CountersHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t sequence;
  uint64_t uuid_low;
  uint64_t uuid_high;
  uint64_t pid;
  uint64_t process_start;
  uint64_t opened_us;
  uint64_t updated_us;
  uint32_t state;
  uint32_t entry_count;
  uint32_t entry_bytes;
  uint8_t reserved[44];
};
static_assert(sizeof(CountersHeader) == 128);

// OFFSET SIZE FIELD
//      0   48 name   text, zeros behind it
//     48    4 kind   0 an amount, 1 a count that only grows
//     52    4 unit   0 a number, 1 bytes, 2 microseconds
//     56    8 value
struct CountersEntry {
  char name[48];
  uint32_t kind;
  uint32_t unit;
  uint64_t value;
};
static_assert(sizeof(CountersEntry) == 64);

inline constexpr uint32_t kCountersOpen = 1;
inline constexpr uint32_t kCountersClosed = 2;
inline constexpr size_t kCountersEntriesMax =
    (kCountersFileBytes - sizeof(CountersHeader)) / sizeof(CountersEntry);

// The whole file. Names longer than an entry's are an error of ours.
std::string encode_counters(const CountersHeader& header, const std::vector<Counter>& entries);

// Errors: kCorruption for what is no such file, or was cut off; kNotSupported for a newer version;
// kBusy where it was being written (read it again).
Result<Counters> decode_counters(std::string_view file);

}  // namespace hawthorn::format
