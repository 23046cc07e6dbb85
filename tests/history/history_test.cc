// The textual form of histories.
#include "tests/history/history.h"

#include <gtest/gtest.h>

#include "tests/support/engine_test.h"

namespace hawthorn::history {
namespace {

History sample() {
  History history;
  history.last_read = 3;
  history.transactions = {
      {1,
       7,
       Outcome::kCommitted,
       1,
       4,
       {Operation::append(5, 11), Operation::read(5, {11}), Operation::append(5, 12)}},
      {2, 8, Outcome::kAborted, 2, 3, {}},
      {4, 9, Outcome::kUnknown, 5, kNever, {Operation::append(~Key{0}, ~Element{0})}},
      {3,
       7,
       Outcome::kCommitted,
       6,
       9,
       {Operation::range(4, {{}, {11, 12}, {}}), Operation::range(4, {}), Operation::read(6, {})}},
  };
  return history;
}

TEST(HistoryText, is_readable) {
  EXPECT_EQ(to_text(sample()),
            "history 1\n"
            "last 3\n"
            "1 process 7 committed 1 4: append 5 11; read 5 [11]; append 5 12\n"
            "2 process 8 aborted 2 3:\n"
            "4 process 9 unknown 5 never: append 18446744073709551615 18446744073709551615\n"
            "3 process 7 committed 6 9: range 4..7 [] [11 12] []; range 4..4; read 6 []\n");
}

TEST(HistoryText, comes_back_from_a_file) {
  const tests::TempDirectory directory;
  const std::string path = directory / "history";
  std::string error;
  for (const History& history : {sample(), History()}) {
    ASSERT_TRUE(write_file(history, path, &error)) << error;
    History found;
    ASSERT_TRUE(read_file(path, &found, &error)) << error;
    EXPECT_EQ(found, history);
  }
  History found;
  EXPECT_FALSE(read_file(path + ".missing", &found, &error));
  EXPECT_EQ(error, path + ".missing: cannot be read");
  EXPECT_FALSE(write_file(sample(), path + "/no/such", &error));
}

TEST(HistoryText, names_the_line_that_is_wrong) {
  const std::string begin = "history 1\n1 process 7 committed 1 4: append 5 11\n";
  for (const char* line : {
           "process 7 committed 1 4:",
           "2 committed 1 4:",
           "2 process 7 lost 1 4:",
           "2 process 7 committed 1:",
           "2 process 7 committed 1 4",
           "2 process 7 committed 1 -4:",
           "2 process 7 committed 1 99999999999999999999:",
           "2 process 7 committed 1 4: write 5 1",
           "2 process 7 committed 1 4: append 5",
           "2 process 7 committed 1 4: append 5 1 2",
           "2 process 7 committed 1 4: append 5 1;",
           "2 process 7 committed 1 4: read 5",
           "2 process 7 committed 1 4: read 5 [1",
           "2 process 7 committed 1 4: read 5 [1] [2]",
           "2 process 7 committed 1 4: range 5..7 [1]",
           "2 process 7 committed 1 4: range 7..5",
           "last 1",
       }) {
    History history;
    std::string error;
    EXPECT_FALSE(from_text(begin + line + "\n", &history, &error)) << line;
    EXPECT_EQ(error.find("line 3: wanted "), 0u) << line << ": " << error;
  }
  History history;
  std::string error;
  for (const char* text :
       {"", "histories 1\n", "history 2\n", "history 1\nlast\n", "history 1\nlast 1 2\n"}) {
    EXPECT_FALSE(from_text(text, &history, &error)) << text;
    EXPECT_NE(error, "");
  }
}

}  // namespace
}  // namespace hawthorn::history
