#include "tools/top.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace hawthorn::tools {
namespace {

Counters look(uint64_t second, uint64_t commits, uint64_t syncs, uint64_t sync_us) {
  using enum Counter::Kind;
  using enum Counter::Unit;
  Counters made;
  made.pid = 7;
  made.alive = true;
  made.opened_us = 1'000'000;
  made.updated_us = second * 1'000'000;
  made.entries = {{"memory_budget_bytes", kAmount, kBytes, 1000},
                  {"memory_used_bytes", kAmount, kBytes, 500},
                  {"commits", kCount, kNumber, commits},
                  {"log_syncs", kCount, kNumber, syncs},
                  {"log_sync_us", kCount, kMicroseconds, sync_us}};
  return made;
}

// The first one behind `after`.
std::string line_of(const std::string& page, const std::string& title,
                    const std::string& after = "") {
  const size_t at = page.find("\n  " + title, page.find(after));
  if (at == std::string::npos) return "no line " + title + " in\n" + page;
  return page.substr(at + 1, page.find('\n', at + 1) - at - 1);
}

TEST(Top, RatesAreOfTheLastLookAndOfAll) {
  const std::vector<Counters> looks = {look(10, 0, 0, 0), look(11, 100, 0, 0), look(12, 500, 0, 0)};
  EXPECT_EQ(line_of(top_page("/db", looks, 100), "commits"),
            "  commits                        400/s       250/s   ▃█");
}

TEST(Top, MeansAreOfWhatHappened) {
  const std::vector<Counters> looks = {look(10, 0, 0, 0), look(11, 1, 10, 20'000),
                                       look(12, 2, 11, 50'000)};
  EXPECT_EQ(line_of(top_page("/db", looks, 100), "  each takes", "syncs of"),
            "    each takes                   30 ms     4.55 ms");
  const std::vector<Counters> none = {look(10, 0, 0, 0), look(11, 1, 0, 0)};
  EXPECT_EQ(line_of(top_page("/db", none, 100), "  each takes", "syncs of"),
            "    each takes                       -           -");
}

// Two looks, a second apart: in it ten of what is counted took so many microseconds.
std::string mean_line(const std::string& count, const std::string& time, uint64_t us) {
  using enum Counter::Kind;
  using enum Counter::Unit;
  std::vector<Counters> looks = {look(10, 0, 0, 0), look(11, 0, 0, 0)};
  looks[0].entries = {{count, kCount, kNumber, 5}, {time, kCount, kMicroseconds, 1000}};
  looks[1].entries = {{count, kCount, kNumber, 15}, {time, kCount, kMicroseconds, 1000 + us}};
  const std::string page = top_page("/db", looks, 60);
  const size_t at = page.find("        10/s        10/s");
  if (at == std::string::npos) return page;
  const size_t begin = page.find('\n', at) + 1;
  return page.substr(begin, page.find('\n', begin) - begin);
}

TEST(Top, LatenciesStandBelowWhatTheyAreOf) {
  EXPECT_EQ(mean_line("disk_reads", "disk_read_us", 823),
            "    each takes                   82 us       82 us");
  EXPECT_EQ(mean_line("disk_read_batches", "disk_read_batch_us", 12'340),
            "    each takes                 1234 us     1234 us");
  EXPECT_EQ(mean_line("commit_waits", "commit_wait_us", 15'000),
            "    each waits for             1.50 ms     1.50 ms");
  EXPECT_EQ(mean_line("flushes", "flush_us", 250'000),
            "    each merges for              25 ms       25 ms");
  EXPECT_EQ(mean_line("manifest_batches", "manifest_batch_us", 70'000),
            "    each takes                 7.00 ms     7.00 ms");
}

TEST(Top, OneLookHasNoRates) {
  const std::vector<Counters> looks = {look(10, 100, 1, 1)};
  EXPECT_EQ(line_of(top_page("/db", looks, 100), "commits"),
            "  commits                          0/s         0/s   ");
}

TEST(Top, AnotherProcessThatBeganAnewHasNoRateBelowNothing) {
  const std::vector<Counters> looks = {look(10, 900, 0, 0), look(11, 5, 0, 0)};
  EXPECT_NE(line_of(top_page("/db", looks, 100), "commits").find(" 0/s "), std::string::npos);
}

TEST(Top, LinesEndAtTheScreensEdge) {
  const std::vector<Counters> looks = {look(10, 0, 0, 0), look(11, 100, 0, 0)};
  const std::string page = top_page("/db", looks, 40);
  size_t from = 0;
  for (size_t end = page.find('\n'); end != std::string::npos; end = page.find('\n', from)) {
    const std::string line = page.substr(from, end - from);
    EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }),
              40)
        << line;
    from = end + 1;
  }
}

TEST(Top, MemoryIsABar) {
  const std::vector<Counters> looks = {look(10, 0, 0, 0)};
  EXPECT_EQ(line_of(top_page("/db", looks, 100), "memory"),
            "  memory                         500 B  of 1.00 kB   "
            "###############...............");
}

TEST(Top, TellsWhoHasIt) {
  std::vector<Counters> looks = {look(62, 0, 0, 0)};
  EXPECT_EQ(top_page("/db", looks, 100).substr(0, 31), "/db  process 7, open for 1:01\n\n");
  looks[0].closed = true;
  EXPECT_NE(top_page("/db", looks, 100).find("process 7, which has closed it\n"),
            std::string::npos);
}

}  // namespace
}  // namespace hawthorn::tools
