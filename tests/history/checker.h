#pragma once
// Whether a history (history.h) is one that an isolation level allows, as Adya defines the levels
// and as Elle finds violations: reads of lists give the order of each key's versions, that gives
// the dependencies between transactions, and a level forbids certain cycles of them.
//
//   ww   T2 appended right after T1
//   wr   T2 read the version that T1 made
//   rw   T1 read the version that T2 replaced: T1 comes before T2
//   rt   T1 had ended before T2 began (CheckOptions::real_time)
//   so   T1 came before T2 in one process (CheckOptions::session_order)
//
// Not here: the search for cycles (graph.h), the orders of keys (orders.h). It knows nothing of the
// engine. Used by tests/history only. Threads: pure functions.
//
// 1. Sound: what is reported, no execution at that level can have shown to its clients. A
//    transaction of unknown outcome counts as committed when a transaction that counts read its
//    appends, else not at all; a committed append that nobody read lies behind those that were.
// 2. Complete up to what clients saw: if the dependencies that the reads tell break the level,
//    something is reported. Not each cycle is: one of each kind, the shortest that is found, for
//    each strongly connected component, and at most CheckOptions::per_kind_max of a kind.
// 3. Costs: about linear in operations and elements read, O(n log n) for sorting.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/history/history.h"

namespace hawthorn::history {

enum class Level : uint8_t {
  kReadCommitted,  // no G0, G1a, G1b, G1c
  kSnapshot,       // also: every cycle has two rw edges in a row; own appends are seen
  kSerializable,   // no cycle
};

enum class AnomalyKind : uint8_t {
  // At every level, and first of all.
  kMalformed,          // no history: an element appended twice, an id twice, an end before a begin
  kDuplicateElement,   // twice in one list
  kUnwrittenElement,   // read, but never appended to that key
  kIncompatibleOrder,  // two reads of a key, neither a prefix of the other; or elements of one
                       // transaction in another order than its own
  kLostElement,        // committed, but the last read has it not
  // From kReadCommitted on.
  kAbortedRead,       // G1a
  kIntermediateRead,  // G1b
  kG0,                // a cycle of ww
  kG1c,               // a cycle of ww and wr
  // From kSnapshot on.
  kInternal,      // a read does not end with the transaction's own appends
  kLostUpdate,    // two transactions read one version of a key, and both appended to it
  kGSingle,       // a cycle with one rw: stale, fractured and unrepeatable reads
  kGNonadjacent,  // a cycle with several rw, no two of them in a row
  // At kSerializable.
  kG2Item,  // a cycle with two rw in a row, of reads of single keys: write skew
  kG2,      // the same, where an rw is of a range: phantoms
};

struct Anomaly {
  AnomalyKind kind = AnomalyKind::kMalformed;
  // As in the literature, such as "G1c"; "G1c-realtime" or "G1c-session" where the cycle needs
  // these orders.
  std::string name;
  // Names transactions, keys and elements, and every edge of a cycle.
  std::string explanation;
};

struct CheckOptions {
  // What had ended before a transaction began comes before it: strict serializability, strong
  // snapshot isolation.
  bool real_time = false;
  // The same for transactions of one process only: strong session levels.
  bool session_order = false;
  // What aborted transactions read counts as what a transaction without appends read. True of
  // engines that read from snapshots; at kSerializable it asks for more than the level does.
  bool aborted_reads = false;
  size_t per_kind_max = 8;
};

std::string_view name_of(AnomalyKind kind);

// Empty: the history is allowed. A malformed one yields only kMalformed.
std::vector<Anomaly> check(const History& history, Level level, const CheckOptions& options = {});

// For messages: a line for each.
std::string to_text(const std::vector<Anomaly>& anomalies);

}  // namespace hawthorn::history
