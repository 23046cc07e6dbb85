#include "bench/instructions/table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hawthorn::bench {
namespace {

const std::vector<size_t> kAllShapes = {0, 1, 2, 3};

CountedTable sample() {
  CountedTable table;
  for (size_t shape = 0; shape < kShapes.size(); ++shape) {
    add_cell(table, {"native", "get", "flushed", {}, ""}, shape, 1000 + 10.0 * shape);
    add_cell(table, {"native", "Cursor::next", "flushed", {}, ""}, shape, 83.456);
    add_cell(table, {"rocksdb", "insert", "flushed", {}, ""}, shape, 1234567.8);
  }
  table[0].reason = "checksums of values";
  return table;
}

std::string document(const CountedTable& table) {
  return "# Benchmarks\n\nText | with a bar.\n\n" + print_markdown(table) + "\nWhat follows.\n";
}

double& cell(CountedTable& table, size_t row, size_t shape) { return *table.at(row).cells[shape]; }

TEST(CountedTable, prints_counts) {
  EXPECT_EQ(print_count(0), "0");
  EXPECT_EQ(print_count(18), "18");
  EXPECT_EQ(print_count(83.456), "83.46");
  EXPECT_EQ(print_count(99.999), "100");
  EXPECT_EQ(print_count(999.5), "1,000");
  EXPECT_EQ(print_count(1234567.8), "1,234,568");
  EXPECT_EQ(print_count(650635939), "650,635,939");
}

TEST(CountedTable, is_read_from_a_document_as_it_was_printed) {
  const CountedTable table = parse_table(document(sample()));
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[0].program, "native");
  EXPECT_EQ(table[0].operation, "get");
  EXPECT_EQ(table[0].state, "flushed");
  EXPECT_EQ(table[0].reason, "checksums of values");
  EXPECT_EQ(table[0].cells[3], 1030);
  EXPECT_EQ(table[1].cells[0], 83.46);
  EXPECT_EQ(table[2].cells[1], 1234568);
  EXPECT_EQ(document(table), document(sample()));
  EXPECT_EQ(replace_table(document(sample()), table), document(sample()));
}

TEST(CountedTable, refuses_what_it_does_not_understand) {
  EXPECT_THROW(parse_table("# Benchmarks\n"), std::runtime_error);
  EXPECT_THROW(replace_table("# Benchmarks\n", sample()), std::runtime_error);
  const std::string good = document(sample());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_THROW(parse_table(with("1,010", "many")), std::runtime_error);
  EXPECT_THROW(parse_table(with("1,010", "-1")), std::runtime_error);
  EXPECT_THROW(parse_table(with("1,010 |", "")), std::runtime_error);
  EXPECT_THROW(parse_table(with("1,010 |", "1,010 | 7 |")), std::runtime_error);
  EXPECT_THROW(parse_table(with("Cursor::next", "get")), std::runtime_error);  // twice
  EXPECT_THROW(parse_table(with("|---|", "|x|")), std::runtime_error);
}

TEST(CountedTable, a_cell_is_counted_once) {
  CountedTable table = sample();
  EXPECT_THROW(add_cell(table, {"native", "get", "flushed", {}, ""}, 1, 5), std::runtime_error);
}

TEST(CountedTable, a_rise_above_three_percent_fails) {
  const CountedTable expected = parse_table(document(sample()));
  const std::vector<std::string> programs = {"native", "rocksdb"};
  EXPECT_TRUE(compare(expected, sample(), programs, kAllShapes).failures.empty());

  CountedTable counted = sample();
  cell(counted, 0, 0) = 1030;  // exactly three
  EXPECT_TRUE(compare(expected, counted, programs, kAllShapes).failures.empty());
  cell(counted, 0, 0) = 1031;
  Comparison comparison = compare(expected, counted, programs, kAllShapes);
  ASSERT_EQ(comparison.failures.size(), 1u);
  EXPECT_EQ(comparison.failures[0],
            "native, get, flushed, 8+8: 1,031, the table has 1,000 (+3.1%)");
  EXPECT_TRUE(comparison.notes.empty());
  // It is not among the shapes that were counted.
  EXPECT_TRUE(compare(expected, counted, programs, {1, 2, 3}).failures.empty());
}

TEST(CountedTable, a_fall_is_a_note) {
  const CountedTable expected = parse_table(document(sample()));
  CountedTable counted = sample();
  cell(counted, 2, 1) = 1000000;
  const Comparison comparison = compare(expected, counted, {"native", "rocksdb"}, kAllShapes);
  EXPECT_TRUE(comparison.failures.empty());
  ASSERT_EQ(comparison.notes.size(), 1u);
  EXPECT_NE(comparison.notes[0].find("rocksdb, insert, flushed, 8+256"), std::string::npos);
}

TEST(CountedTable, rows_that_are_missing_or_extra_fail) {
  const CountedTable expected = parse_table(document(sample()));
  CountedTable counted = sample();
  counted.pop_back();
  // Nobody has counted that program.
  EXPECT_TRUE(compare(expected, counted, {"native"}, kAllShapes).failures.empty());
  Comparison comparison = compare(expected, counted, {"native", "rocksdb"}, kAllShapes);
  ASSERT_EQ(comparison.failures.size(), 4u);
  EXPECT_EQ(comparison.failures[0],
            "rocksdb, insert, flushed, 8+8: is in the table, and not counted");

  counted = sample();
  add_cell(counted, {"native", "put", "flushed", {}, ""}, 2, 5);
  comparison = compare(expected, counted, {"native", "rocksdb"}, kAllShapes);
  ASSERT_EQ(comparison.failures.size(), 1u);
  EXPECT_EQ(comparison.failures[0], "native, put, flushed, 24+8: is not in the table");
}

TEST(CountedTable, a_count_that_was_zero_may_not_rise) {
  CountedTable table;
  add_cell(table, {"native", "opening", "syncs", {}, ""}, 0, 0);
  CountedTable counted;
  add_cell(counted, {"native", "opening", "syncs", {}, ""}, 0, 1);
  EXPECT_EQ(compare(table, counted, {"native"}, {0}).failures.size(), 1u);
  EXPECT_TRUE(compare(table, table, {"native"}, {0}).failures.empty());
}

TEST(CountedTable, an_update_keeps_reasons_and_asks_for_new_ones) {
  const CountedTable present = parse_table(document(sample()));
  CountedTable counted;
  for (size_t shape = 0; shape < kShapes.size(); ++shape) {
    add_cell(counted, {"native", "get", "flushed", {}, ""}, shape, 1010);
    add_cell(counted, {"native", "Cursor::next", "flushed", {}, ""}, shape, 90);
    add_cell(counted, {"native", "put", "flushed", {}, ""}, shape, 7);
  }
  EXPECT_THROW(updated(present, counted, {"native"}, kAllShapes, ""), std::runtime_error);
  EXPECT_THROW(updated(present, counted, {"native"}, kAllShapes, "a | b"), std::runtime_error);
  const CountedTable table = updated(present, counted, {"native"}, kAllShapes, "prefetches");
  ASSERT_EQ(table.size(), 4u);
  EXPECT_EQ(table[0].reason, "checksums of values");
  EXPECT_EQ(table[0].cells[0], 1010);
  EXPECT_EQ(table[1].reason, "prefetches");
  EXPECT_EQ(table[2].operation, "put");
  EXPECT_EQ(table[3].program, "rocksdb");
  EXPECT_EQ(table[3].cells[0], 1234568);
}

TEST(CountedTable, an_update_of_some_shapes_leaves_the_others) {
  const CountedTable present = parse_table(document(sample()));
  CountedTable counted;
  add_cell(counted, {"native", "get", "flushed", {}, ""}, 1, 900);
  add_cell(counted, {"native", "Cursor::next", "flushed", {}, ""}, 1, 80);
  const CountedTable table = updated(present, counted, {"native"}, {1}, "");
  EXPECT_EQ(table[0].cells[0], 1000);
  EXPECT_EQ(table[0].cells[1], 900);
  EXPECT_EQ(table[0].reason, "");  // it was that of the count before
  EXPECT_EQ(table[1].cells[3], 83.46);
}

TEST(CountedTable, prints_json_and_text) {
  CountedTable table;
  add_cell(table, {"native", "get", "flushed", {}, ""}, 1, 1673.6541);
  EXPECT_EQ(print_json(table),
            "[\n {\"program\": \"native\", \"operation\": \"get\", \"state\": \"flushed\", "
            "\"shape\": \"8+256\", \"count\": 1673.654}\n]\n");
  EXPECT_EQ(print_text(table),
            "program  operation  state    8+8  8+256  24+8  24+256\n"
            "native   get        flushed       1,674\n");
}

}  // namespace
}  // namespace hawthorn::bench
