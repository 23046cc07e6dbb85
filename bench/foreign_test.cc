// Engines that are programs of their own: what their lines become, and how they fail. Where TuplDB
// was given to the build, that its program makes the very transfers that ours makes.

#include "bench/foreign.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <sstream>

#include "bench/engine_registry.h"
#include "bench/program.h"

namespace hawthorn::bench {
namespace {

Report run_shell(const std::string& script) {
  Report report;
  run_foreign({"/bin/sh", "-c", script}, report);
  return report;
}

TEST(Foreign, TakesWhatTheProgramFoundOut) {
  const Report report = run_shell(
      "echo 'R insert ops_per_s 123.5'; echo 'N a note'; echo 'C insert,x,1'; echo 'L full';"
      "echo 'something else'");
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.value("insert", "ops_per_s"), 123.5);
  EXPECT_EQ(report.notes(), (std::vector<std::string>{"a note", "something else"}));
  EXPECT_EQ(report.csv_lines(), std::vector<std::string>{"insert,x,1"});
  EXPECT_EQ(report.limits(), std::vector<std::string>{"full"});
}

TEST(Foreign, FailsWithTheProgram) {
  EXPECT_EQ(run_shell("echo 'F a wrong value'").failures(),
            std::vector<std::string>{"a wrong value"});
  EXPECT_EQ(run_shell("exit 3").failures(), std::vector<std::string>{"/bin/sh ended with code 3"});
  EXPECT_NE(run_shell("kill -9 $$").failures().at(0).find("signal 9"), std::string::npos);
  Report report;
  run_foreign({"/nonexistent/program"}, report);
  EXPECT_EQ(report.failures(),
            std::vector<std::string>{"/nonexistent/program ended with code 127"});
}

TEST(Foreign, RefusesFiguresThatAreNotDocumented) {
  EXPECT_THROW(run_shell("echo 'R insert speed 1'"), std::logic_error);
}

TEST(Foreign, RefusesWorkloadsThatItsProgramDoesNotKnow) {
  const std::unique_ptr<Engine> engine = make_foreign("One 1.0");
  EXPECT_EQ(engine->version(), "One 1.0");
  EXPECT_THROW(engine->open({}), EngineError);
  EXPECT_THROW(engine->writer(), EngineError);
}

TEST(Foreign, TuplDBMakesTheSameTransfers) {
  if (find_engine("tupldb") == nullptr) GTEST_SKIP() << "the build was given no TuplDB";
  const std::string base = (std::filesystem::temp_directory_path() /
                            ("hawthorn_foreign_test." + std::to_string(getpid())))
                               .string();
  testing::internal::CaptureStdout();
  const char* const arguments[] = {
      "hawthorn-bench", "bank",      "--engines",    "memory,tupldb", "--num-accounts",     "1000",
      "--threads",      "2",         "--dictionary", "/nonexistent",  "--num-transactions", "4000",
      "--batch-size",   "10",        "--memory",     "64M",           "--pretouch",         "0",
      "--quiet",        "--db-path", base.c_str()};
  const int code = run_program(static_cast<int>(std::size(arguments)), arguments);
  std::istringstream lines(testing::internal::GetCapturedStdout());
  std::filesystem::remove_all(base);
  EXPECT_EQ(code, 0);
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("transfers found the money") != std::string::npos) found.push_back(line);
  }
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0], found[2]);
  EXPECT_EQ(found[1], found[3]);
}

}  // namespace
}  // namespace hawthorn::bench
