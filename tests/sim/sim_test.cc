// The simulator itself: some of its seeds, that a seed always gives the same run, that it finds
// what is planted, and that its checks can fail.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/sim/coverage.h"
#include "tests/sim/runner.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

std::string output_of(const std::string& options) {
  const std::string command = std::string(HAWTHORN_SIMULATE) + " " + options;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  char buffer[4096];
  for (size_t bytes; (bytes = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.append(buffer, bytes);
  }
  pclose(pipe);
  return output;
}

// A failing seed is replayed, and made smaller, by: simulate --first-seed N --seeds 1 --shrink.
TEST(Simulation, what_is_acknowledged_is_there) {
  const uint64_t first = environment_number("HAWTHORN_SEED", 1);
  std::vector<SimParameters> runs(240 * environment_number("HAWTHORN_SCALE", 1));
  for (size_t i = 0; i < runs.size(); ++i) runs[i].seed = first + i;
  SimResult sum;
  run_all(runs, os::processors(), [&](const SimParameters& run, const SimResult& result) {
    EXPECT_EQ(result.failure, "") << command_line(run);
    add(&sum, result);
  });
  EXPECT_GT(sum.commits, 20 * runs.size());
  EXPECT_GT(sum.lost, 0);
  EXPECT_GT(sum.poisoned, runs.size() / 10);
}

// In processes of their own, so that addresses differ, too.
TEST(Simulation, a_seed_gives_the_same_run) {
  const std::string options = "--first-seed 100 --seeds 12 --hashes --jobs 1";
  const std::string once = output_of(options);
  ASSERT_NE(once.find("seed 111: trace"), std::string::npos) << once;
  EXPECT_EQ(once, output_of(options));
}

// A disk that drops some of what it says to have written, or transactions that are less isolated
// than they should be, and a check that does not know. The others: nothing that was dropped was
// synced before, or nobody was in the way.
TEST(Simulation, planted_faults_are_found) {
  for (const auto& [planted, least] :
       {std::pair(SimPlanted::kLies, size_t{36}), std::pair(SimPlanted::kRaces, size_t{24})}) {
    std::vector<SimParameters> runs(40);
    for (size_t i = 0; i < runs.size(); ++i) runs[i] = {.seed = i + 1, .planted = planted};
    size_t found = 0;
    run_all(runs, os::processors(), [&](const SimParameters&, const SimResult& result) {
      found += result.failure.empty() ? 0 : 1;
    });
    EXPECT_GE(found, least) << static_cast<int>(planted);
  }
}

TEST(Simulation, a_planted_fault_is_found_and_made_small) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const SimParameters parameters = {.seed = seed, .planted = SimPlanted::kLies};
    const SimResult result = run_alone(parameters);
    if (result.failure.empty()) continue;
    const SimParameters small = shrink(parameters, result);
    const SimResult again = run_alone(small);
    EXPECT_NE(again.failure, "") << command_line(small);
    EXPECT_EQ(again.trace, run_alone(small).trace);
    return;
  }
  FAIL() << "none of the seeds finds it";
}

// ---- The check of a history

SimCommit put(uint64_t cts, const char* key, const char* value, bool durable) {
  return {.cts = cts,
          .what = "put " + std::to_string(cts),
          .writes = {{.tree = 0, .key = key, .value = value}},
          .acknowledged = cts,
          .durable = durable};
}

std::string checked(History history, const std::map<std::string, std::string>& found,
                    SimMayLose may_lose, size_t* lost) {
  SimFound all;
  all.contents[0] = found;
  return history.check(all, may_lose, lost);
}

TEST(SimHistory, what_may_be_lost) {
  History history;
  history.begin_life({});
  history.commits = {put(7, "b", "2", false), put(5, "a", "1", true), put(9, "c", "3", false)};
  size_t lost = 0;
  EXPECT_EQ(checked(history, {{"a", "1"}}, SimMayLose::kUnsynced, &lost), "");
  EXPECT_EQ(lost, 2);
  EXPECT_EQ(checked(history, {{"a", "1"}, {"b", "2"}}, SimMayLose::kUnsynced, &lost), "");
  EXPECT_EQ(lost, 1);
  EXPECT_EQ(checked(history, {}, SimMayLose::kSuffix, &lost), "");
  EXPECT_NE(checked(history, {}, SimMayLose::kUnsynced, &lost), "");
  EXPECT_NE(checked(history, {{"a", "1"}}, SimMayLose::kUnacknowledged, &lost), "");
  EXPECT_NE(checked(history, {{"a", "1"}, {"c", "3"}}, SimMayLose::kUnsynced, &lost), "");
  EXPECT_NE(checked(history, {{"a", "1"}, {"x", "3"}}, SimMayLose::kUnsynced, &lost), "");
  EXPECT_NE(checked(history, {{"a", "2"}}, SimMayLose::kUnsynced, &lost), "");
}

TEST(SimHistory, what_was_read_must_have_been_there) {
  History history;
  history.begin_life({});
  history.commits = {put(5, "a", "1", true), put(7, "a", "2", true)};
  const std::map<std::string, std::string> end = {{"a", "2"}};
  size_t lost = 0;
  History wrong = history;
  wrong.reads.push_back({.timestamp = 6, .what = "read", .read = {0, "a", "2"}});
  EXPECT_NE(checked(wrong, end, SimMayLose::kNothing, &lost), "");
  wrong = history;
  wrong.reads.push_back(
      {.timestamp = 6, .what = "walk", .read = {0, "", {}}, .range = true, .entries = {}});
  EXPECT_NE(checked(wrong, end, SimMayLose::kNothing, &lost), "");
  wrong = history;
  wrong.commits[1].reads.push_back({0, "a", std::nullopt});
  EXPECT_NE(checked(wrong, end, SimMayLose::kNothing, &lost), "");
  wrong = history;
  wrong.commits[1].unchanged_from = 4;
  EXPECT_NE(checked(wrong, end, SimMayLose::kNothing, &lost), "");
  history.reads.push_back({.timestamp = 6, .what = "read", .read = {0, "a", "1"}});
  history.reads.push_back({.timestamp = 7, .what = "read", .read = {0, "a", "2"}});
  history.commits[1].reads.push_back({0, "a", "1"});
  history.commits[1].unchanged_from = 5;
  EXPECT_EQ(checked(history, end, SimMayLose::kNothing, &lost), "");
}

}  // namespace
}  // namespace hawthorn::tests
