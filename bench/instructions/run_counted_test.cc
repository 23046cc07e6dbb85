#include "bench/instructions/run_counted.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hawthorn::bench {
namespace {

std::string dump(uint64_t totals) {
  return "# callgrind format\nversion: 1\nevents: Ir\nsummary: 18446744073707553625\n\nfn=(1) get\n"
         "12 7\n\ntotals: " +
         std::to_string(totals) + "\n";
}

TEST(RunCounted, reads_the_totals_of_a_dump) {
  EXPECT_EQ(parse_callgrind_totals(dump(3347400)), 3347400u);
  EXPECT_THROW(parse_callgrind_totals("events: Ir\n"), std::runtime_error);
  EXPECT_THROW(parse_callgrind_totals("\ntotals: -5\n"), std::runtime_error);
}

TEST(RunCounted, gives_each_count_the_next_dump) {
  CountedTable table;
  add_counts(table, 2,
             "count\tnative\tget\tflushed\t2000\n"
             "value\tnative\tclosing\tsyncs\t7\n"
             "count\tnative\topening\tflushed\t1\n",
             [](uint64_t number) { return dump(number == 1 ? 3000000 : 500); });
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[0].operation, "get");
  EXPECT_EQ(table[0].cells[2], 1500);
  EXPECT_FALSE(table[0].cells[0].has_value());
  EXPECT_EQ(table[1].cells[2], 7);
  EXPECT_EQ(table[1].state, "syncs");
  EXPECT_EQ(table[2].cells[2], 500);
}

TEST(RunCounted, refuses_other_lines) {
  CountedTable table;
  const auto none = [](uint64_t) { return dump(1); };
  EXPECT_THROW(add_counts(table, 0, "hello\n", none), std::runtime_error);
  EXPECT_THROW(add_counts(table, 0, "count\ta\tb\tc\t0\n", none), std::runtime_error);
  EXPECT_THROW(add_counts(table, 0, "count\ta\tb\tc\tmany\n", none), std::runtime_error);
}

TEST(RunCounted, a_program_that_is_missing_is_named) {
  CountedTable table;
  try {
    run_counted("/nonexistent/hawthorn-counted-native", 0, "/tmp", table);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/hawthorn-counted-native"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace hawthorn::bench
