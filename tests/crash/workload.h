#pragma once
// What a database does while it is crashed, and what must be there afterwards: several writers,
// whose commits follow from their numbers, and a bank that they share.
//
// Each writer has two trees and a sum (its numbers, merged), a tree that it makes and drops, and a
// clone of the first that it makes and drops, and one for bulk ingests. Its commits are batches and
// transactions of all modes and levels, with large values, deleted ranges, waves that delete nearly
// everything, transactions of many chunks and such as spill, savepoints rolled back. Some are
// transfers in the bank: each takes the next ticket and writes it into a journal, which so has the
// order of all transfers.
//
// Not here: crashes, and when they come (kill_lives.h, cut_lives.h). Used by the folder
// tests/crash. Threads: run_writer one for each writer; the rest one.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hawthorn/hawthorn.h"

namespace hawthorn::tests {

inline constexpr uint32_t kWriters = 2;
using Numbers = std::array<uint64_t, kWriters>;

// What a writer tells while it runs.
class Witness {
 public:
  enum class Call : uint8_t { kCompact, kDrop, kFlush };
  virtual ~Witness() = default;
  // A commit, or a sync or flush of all that was committed (number 0). More than once where it is
  // tried again.
  virtual void begins(uint32_t writer, uint64_t number) = 0;
  virtual void ends(uint32_t writer, uint64_t number, bool durable) = 0;
  virtual void calls(Call /*call*/, bool /*begins*/) {}
};

// How often (once in so many commits) a writer does what no commit needs.
struct Upkeep {
  uint64_t flush = 120;
  uint64_t drain = 200;
  uint64_t compact = 200;
  uint64_t sync = 150;
};

// Another transaction was in the way: so many times at most a call is tried again.
inline constexpr uint32_t kTriesMax = 2000;
bool is_worth_another_try(const Status& status);

Options workload_options();
// For all databases of the process: small segments and data files, so that both come and go.
void set_small_sizes();

// Makes the trees that are always there, where they are missing; durable when it returns.
Status set_up(Db& db, uint64_t seed);

// The last commits that are there, behind set_up.
Result<Numbers> numbers_of(Db& db);

// Commits `from` to `until` of a writer, or until stop() says so.
Status run_writer(Db& db, uint64_t seed, uint32_t writer, uint64_t from, uint64_t until,
                  const Upkeep& upkeep, Witness& witness, const std::function<bool()>& stop);

struct Transfer {
  uint64_t from = 0;
  uint64_t to = 0;
  uint64_t amount = 0;
};

// What was found in a database, to compare later ones with.
struct Known {
  using Contents = std::map<std::string, std::string>;
  Numbers numbers = {};                                               // of the last commits
  std::array<std::map<std::string, Contents>, kWriters> trees = {};   // by name, the writer's own
  std::array<std::map<uint64_t, Transfer>, kWriters> transfers = {};  // by number
};

// As if commits up to these had been found.
void advance(Known& known, uint64_t seed, const Numbers& numbers);

// What is promised of a database.
struct Promise {
  bool set_up = false;    // set_up had returned
  Numbers at_least = {};  // the last commits that must be there
  Numbers at_most = {};   // the last that were begun
  // Trees that others have made, and look at.
  std::set<std::string> others = {};
};

// Reads all of the database, compares it with what the commits behind `known` make of that, and
// runs the checker. Changes `known` to what was found. The text says what is wrong; empty: nothing.
std::string verify(Db& db, uint64_t seed, const Promise& promise, Known& known);

}  // namespace hawthorn::tests
