// The whole program with the in-memory double, in its child processes.

#include "bench/program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "bench/bank_kill.h"
#include "bench/engine_memory.h"
#include "bench/runner.h"
#include "bench/text.h"
#include "testing/temp_directory.h"

namespace hawthorn::bench {
namespace {

// Of a program's own form, so that what a killed test leaves is removed by the next program; not
// one that another process uses at the same time.
std::string group_name() { return print_text("hawthorn-bench.%d.test", getpid()); }

class ProgramTest : public ::testing::Test {
 protected:
  int run(std::vector<std::string> arguments) {
    if (arguments.size() > 1) {
      for (const char* more : {"--quiet", "--pretouch", "0", "--db-path"})
        arguments.push_back(more);
      arguments.push_back((directory_ / "db").string());
    }
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return run_program(static_cast<int>(argv.size()), argv.data());
  }
  std::string read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(directory_ / name).rdbuf();
    return text.str();
  }

  const hawthorn::testing::TempDirectory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};

TEST_F(ProgramTest, RunsTheBankOfSeveralBatchSizesAndRepeats) {
  EXPECT_EQ(run({"hawthorn-bench", "bank", "--engines", "memory", "--num-accounts", "500",
                 "--num-transactions", "2k", "--batch-size", "1,100", "--repeat", "2", "--json",
                 (directory_ / "out.json").string()}),
            0);
  const std::string json = read("out.json");
  EXPECT_NE(json.find("\"workload\": \"bank:batch=100\""), std::string::npos);
  EXPECT_NE(json.find("\"repeat\": 1"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "db"));
}

TEST_F(ProgramTest, TakesTheFlagsOfTheDocuments) {
  // The names of the programs choose engine and workload; `memory` stands for ours.
  EXPECT_EQ(run({"bank-bench-memory", "--num-accounts=1000", "--num-transactions=3000",
                 "--batch-size=100", "--sync-every=100", "--sync-mode=none", "--seed=12345",
                 "--initial-balance=1000000", "--reads-per-tx=100"}),
            0);
  for (const std::string mode : {"trie", "buffered", "latest"}) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(run({"bank-bench-memory", "--num-accounts=1000", "--num-transactions=3000",
                   "--read-mode", mode}),
              0);
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(told.find("always of the latest commit") != std::string::npos, mode != "latest");
  }
  EXPECT_EQ(run({"/some/where/dwal-bench", "--rounds", "2", "--items", "3000", "--batch", "100",
                 "--value-size", "256", "--mode", "upsert-rand", "--engine", "memory",
                 "--pinned-cache", "256"}),
            0);
}

TEST_F(ProgramTest, AnswersMistakesWithCodeTwo) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run({"hawthorn-bench", "bank", "--engines", "nosuch"}), 2);
  // In this build or not: it has no atomic batches.
  EXPECT_EQ(run({"hawthorn-bench", "bank", "--engines", "hedgedb"}), 2);
  EXPECT_EQ(run({"hawthorn-bench", "bank", "--engines", "memory", "--batch-size", "0"}), 2);
  EXPECT_EQ(run({"hawthorn-bench", "micro", "--engines", "memory", "--phases", "nosuch"}), 2);
  EXPECT_EQ(run({"hawthorn-bench", "upsert", "--engines", "memory", "--value-size", "7"}), 2);
  EXPECT_EQ(run({"hawthorn-bench", "txn", "--engines", "memory", "--value-size", "8"}), 2);
  EXPECT_EQ(run({"hawthorn-bench", "txn", "--engines", "memory", "--order", "nosuch"}), 2);
  EXPECT_EQ(run({"hawthorn-bench"}), 2);
  ::testing::internal::GetCapturedStderr();
}

TEST_F(ProgramTest, DeletesNothingThatIsNotItsOwn) {
  std::filesystem::create_directories(directory_ / "db" / "memory");
  std::ofstream(directory_ / "db" / "memory" / "precious") << "data";
  EXPECT_THROW(
      run({"hawthorn-bench", "upsert", "--engines", "memory", "--rounds", "1", "--items", "100"}),
      std::runtime_error);
  EXPECT_TRUE(std::filesystem::exists(directory_ / "db" / "memory" / "precious"));
}

TEST_F(ProgramTest, RunsTheWorkloadsOfLargeDatabases) {
  const std::vector<std::vector<std::string>> commands = {
      {"scale", "--rounds", "2", "--items", "2k", "--readers", "2", "--multi-get", "64"},
      {"insert", "--records", "5k", "--record-size", "128,512", "--threads", "2", "--batch", "10"},
      {"counters", "--counters", "1k", "--steps", "5k", "--threads", "2"},
      {"nvme", "--records", "2k", "--threads", "2", "--depths", "4", "--gets", "500", "--seconds",
       "2", "--compressible"},
      {"overwrite", "--size", "1M", "--passes", "2"},
      {"soak", "--size", "1M", "--seconds", "2", "--hold-ms", "10"},
      {"txn", "--keys", "1k", "--transactions", "2k", "--rounds", "1", "--steps", "5k", "--threads",
       "2", "--clones", "2", "--gets", "2k"}};
  for (const std::vector<std::string>& command : commands) {
    std::vector<std::string> arguments = {"hawthorn-bench"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    for (const std::string& more : {std::string("--engines"), std::string("memory"),
                                    std::string("--csv"), (directory_ / "csv").string()}) {
      arguments.push_back(more);
    }
    EXPECT_EQ(run(arguments), 0) << command[0];
    EXPECT_TRUE(read("csv").starts_with("workload,engine,")) << command[0];
    EXPECT_NE(read("csv").find("\n" + command[0]), std::string::npos) << read("csv");
  }
}

TEST_F(ProgramTest, RunsTheRoundsOfTransactions) {
  EXPECT_EQ(run({"hawthorn-bench", "txn", "--engines", "memory", "--case", "counters", "--case",
                 "point", "--keys", "1k", "--transactions", "1k", "--steps", "2k", "--rounds", "2",
                 "--json", (directory_ / "json").string()}),
            0);
  const std::string json = read("json");
  for (const char* text : {"\"txn:point:threads=1\"", "\"txn:point:threads=8\"", "\"cost\"",
                           "\"txn:counters\"", "\"repeat\": 1"}) {
    EXPECT_NE(json.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(json.find("txn:clone"), std::string::npos);
  // Its snapshots hold writers off.
  EXPECT_THROW(run({"hawthorn-bench", "txn", "--engines", "memory", "--case", "snapshots"}),
               std::runtime_error);
  EXPECT_THROW(run({"hawthorn-bench", "txn", "--engines", "memory", "--case", "count"}),
               std::runtime_error);
}

// Ctrl+C goes to the program and to the child that runs: the summary is that of what was done.
TEST_F(ProgramTest, EndsAtCtrlCWithASummary) {
  const std::string json = (directory_ / "json").string();
  int progress[2];
  ASSERT_EQ(pipe(progress), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setpgid(0, 0);
    dup2(progress[1], STDERR_FILENO);
    close(progress[0]);
    close(progress[1]);
    const std::string database = (directory_ / "db").string();
    const std::vector<const char*> arguments = {"hawthorn-bench", "scale",
                                                "--engines",      "memory,memory",
                                                "--items",        "1k",
                                                "--readers",      "1",
                                                "--json",         json.c_str(),
                                                "--pretouch",     "0",
                                                "--db-path",      database.c_str()};
    _exit(run_program(static_cast<int>(arguments.size()), arguments.data()));
  }
  close(progress[1]);
  // It is in the middle of its rounds when it has told of the first.
  std::string told;
  bool interrupted = false;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(progress[0], part, sizeof(part))) > 0;) {
    told.append(part, static_cast<size_t>(got));
    if (interrupted || told.find("round 1:") == std::string::npos) continue;
    interrupted = true;
    EXPECT_EQ(kill(-child, SIGINT), 0);
  }
  close(progress[0]);
  EXPECT_TRUE(interrupted) << told;
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(read("json").find("\"last_ten_rounds_ops_per_s\""), std::string::npos);
}

// The soak looks at its own group each second.
TEST_F(ProgramTest, SoaksUnderAMemoryCap) {
  if (!MemoryGroup(group_name(), 64 << 20).valid()) GTEST_SKIP() << "no control groups";
  EXPECT_EQ(
      run({"hawthorn-bench", "soak", "--engines", "memory", "--memory-cap", "100M", "--records",
           "10k", "--seconds", "2", "--hold-ms", "10", "--csv", (directory_ / "csv").string()}),
      0);
  const std::string csv = read("csv");
  std::istringstream lines(csv);
  std::string head;
  std::string first;
  ASSERT_TRUE(std::getline(lines, head));
  ASSERT_TRUE(std::getline(lines, first));
  const std::vector<std::string> names = split(head, ',');
  const std::vector<std::string> fields = split(first, ',');
  ASSERT_EQ(names.size(), fields.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "cap_bytes") {
      EXPECT_EQ(fields[i], "100000000");
    }
    if (names[i] == "group_bytes") {
      EXPECT_GT(std::stoull(fields[i]), 0U);
      EXPECT_LE(std::stoull(fields[i]), 100'000'000U);
    }
  }
}

TEST_F(ProgramTest, RunsUnderAMemoryCap) {
  if (!MemoryGroup(group_name(), 64 << 20).valid()) GTEST_SKIP() << "no control groups";
  EXPECT_EQ(run({"hawthorn-bench", "upsert", "--engines", "memory", "--memory-cap", "100M",
                 "--size", "0.05x", "--items", "1k", "--json", (directory_ / "json").string()}),
            0);
  const std::string json = read("json");
  EXPECT_NE(json.find("\"group_peak_bytes\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"write_amplification\""), std::string::npos) << json;
  // 5 MB in rounds of 264 KB.
  EXPECT_NE(json.find("\"bytes_raw\", \"value\": 5.016e+06"), std::string::npos) << json;
}

TEST_F(ProgramTest, EndsAtItsMemoryCap) {
  if (!MemoryGroup(group_name(), 64 << 20).valid()) GTEST_SKIP() << "no control groups";
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run({"hawthorn-bench", "upsert", "--engines", "memory", "--memory-cap", "100M",
                 "--size", "3x", "--items", "100k"}),
            1);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("at its memory limit"), std::string::npos) << text;
}

TEST_F(ProgramTest, RefusesCapsAndSizesThatMakeNoSense) {
  ::testing::internal::CaptureStderr();
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"--size", "2x"},
                                             {"--size", "1G", "--rounds", "2"},
                                             {"--memory-cap", "1M"},
                                             {"--memory-cap", "1G", "--memory", "2G"},
                                             {"--memory-cap", "1G", "--no-cgroup"}}) {
    std::vector<std::string> arguments = {"hawthorn-bench", "upsert", "--engines", "memory"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run(arguments), 2) << options[0];
  }
  ::testing::internal::GetCapturedStderr();
}

TEST(Runner, ReportsAChildThatDies) {
  const Report report = run_in_child("test", {}, [](Report& child) {
    child.add("load", "ops_per_s", 5);
    raise(SIGKILL);
  });
  EXPECT_EQ(report.value("load", "ops_per_s"), 5);
  ASSERT_EQ(report.failures().size(), 1U);
  EXPECT_NE(report.failures()[0].find("signal 9"), std::string::npos);
}

TEST(Runner, ReportsAnEngineThatThrows) {
  const Report report =
      run_in_child("test", {}, [](Report&) { throw EngineError("no such file"); });
  ASSERT_EQ(report.failures().size(), 1U);
  EXPECT_EQ(report.failures()[0], "no such file");
}

// An engine that keeps nothing is what a killed run must catch.
TEST(KilledBank, CatchesAnEngineThatForgets) {
  const AccountNames names(1000, 12345, "/nonexistent");
  const EngineInfo info{"memory", MemoryLimit::kOwn, "",
                        [] { return std::make_unique<MemoryEngine>(); }};
  EngineConfig config;
  config.path = "/nonexistent";
  BankOptions options;
  options.accounts = names.count();
  options.batch_size = 10;
  const KillOptions kill{.rounds = 1, .run_ms_min = 10, .run_ms_max = 20};
  const Report report = run_killed_bank(info, config, options, kill, names, {});
  EXPECT_FALSE(report.ok());
}

}  // namespace
}  // namespace hawthorn::bench
