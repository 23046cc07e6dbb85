#pragma once
// Numbers, texts and orders of the SQL workload, all of which follow from a seed.
//
// Used by sql_plan.h. Threads: any; a generator in one at a time.

#include <cstdint>
#include <string>
#include <vector>

namespace hawthorn::bench {

class SqlRandom {
 public:
  // Generators of different streams have nothing to do with each other.
  SqlRandom(uint64_t seed, uint64_t stream);
  uint64_t next();
  // From first to last, both included.
  int64_t between(int64_t first, int64_t last);

 private:
  uint64_t state_;
};

// A number of at least 0 and less than 10^12 as it is spoken: "twelve thousand three hundred four".
std::string number_in_words(int64_t number);

// All numbers from 1 to count, in an order that looks random.
std::vector<int64_t> shuffled_numbers(SqlRandom& random, int64_t count);

}  // namespace hawthorn::bench
