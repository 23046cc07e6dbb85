// Each anomaly has a smallest history that shows it: it must be caught at the level that forbids it
// and at those above, and pass at those below.
#include "tests/history/checker.h"

#include <gtest/gtest.h>

namespace hawthorn::history {
namespace {

constexpr Level kLevels[] = {Level::kReadCommitted, Level::kSnapshot, Level::kSerializable};

History history_of(const std::string& lines) {
  History history;
  std::string error;
  EXPECT_TRUE(from_text("history 1\n" + lines, &history, &error)) << error;
  return history;
}

bool has(const std::vector<Anomaly>& anomalies, const std::string& name) {
  for (const Anomaly& anomaly : anomalies) {
    if (anomaly.name == name) return true;
  }
  return false;
}

struct Canary {
  const char* test = nullptr;
  std::string name;  // of the anomaly
  Level from = Level::kReadCommitted;
  std::string lines;
  bool real_time = false;
  bool session_order = false;
  bool aborted_reads = false;
};

// Shown by GoogleTest.
void PrintTo(const Canary& canary, std::ostream* out) { *out << canary.test; }

class Canaries : public ::testing::TestWithParam<Canary> {};

TEST_P(Canaries, is_caught_where_it_is_forbidden) {
  const Canary& canary = GetParam();
  const History history = history_of(canary.lines);
  CheckOptions options;
  options.real_time = canary.real_time;
  options.session_order = canary.session_order;
  options.aborted_reads = canary.aborted_reads;
  for (const Level level : kLevels) {
    const std::vector<Anomaly> found = check(history, level, options);
    if (level < canary.from) {
      EXPECT_TRUE(found.empty()) << to_text(found);
    } else {
      EXPECT_TRUE(has(found, canary.name)) << "level " << static_cast<int>(level) << "\n"
                                           << to_text(found);
    }
    // Without the option that it needs it passes.
    if (canary.real_time || canary.session_order || canary.aborted_reads) {
      EXPECT_TRUE(check(history, level).empty());
    }
  }
}

const Canary kCanaries[] = {
    {"duplicate", "duplicate-element", Level::kReadCommitted,
     "1 process 1 committed 1 10: append 1 1\n"
     "2 process 2 committed 2 20: read 1 [1 1]\n"},
    {"never_written", "unwritten-element", Level::kReadCommitted,
     "1 process 1 committed 1 10: read 1 [7]\n"},
    {"of_another_key", "unwritten-element", Level::kReadCommitted,
     "1 process 1 committed 1 10: append 1 1\n"
     "2 process 2 committed 2 20: read 2 [1]\n"},
    {"two_orders", "incompatible-order", Level::kReadCommitted,
     "1 process 1 committed 1 10: append 1 1\n"
     "2 process 2 committed 2 20: append 1 2\n"
     "3 process 3 committed 3 30: read 1 [1]\n"
     "4 process 4 committed 4 40: read 1 [2]\n"},
    {"own_order", "incompatible-order", Level::kReadCommitted,
     "1 process 1 committed 1 10: append 1 1; append 1 2\n"
     "2 process 2 committed 2 20: read 1 [2 1]\n"},
    {"own_gap", "incompatible-order", Level::kReadCommitted,
     "1 process 1 committed 1 10: append 1 1; append 1 2; append 1 3\n"
     "2 process 2 committed 2 20: read 1 [1 3]\n"},
    {"lost_write", "lost-element", Level::kReadCommitted,
     "last 2\n"
     "1 process 1 committed 1 10: append 1 1\n"
     "2 process 2 committed 20 30: read 1 []\n"},
    {"lost_after_it_was_read", "lost-element", Level::kReadCommitted,
     "last 3\n"
     "1 process 1 committed 1 10: append 1 1\n"
     "2 process 2 committed 11 12: read 1 [1]\n"
     "3 process 3 committed 20 30: range 0..2 [] []\n"},
    {"aborted_read", "G1a", Level::kReadCommitted,
     "1 process 1 aborted 1 10: append 1 1\n"
     "2 process 2 committed 2 20: read 1 [1]\n"},
    {"intermediate_read", "G1b", Level::kReadCommitted,
     "1 process 1 committed 1 10: append 1 1; append 1 2\n"
     "2 process 2 committed 2 20: range 1..2 [1]\n"},
    {"dirty_write", "G0", Level::kReadCommitted,
     "1 process 1 committed 1 10: append 1 1; append 2 2\n"
     "2 process 2 committed 2 20: append 1 3; append 2 4\n"
     "3 process 3 committed 3 30: read 1 [1 3]; read 2 [4 2]\n"},
    {"interleaved_appends", "G0", Level::kReadCommitted,
     "1 process 1 committed 1 10: append 1 1; append 1 3\n"
     "2 process 2 committed 2 20: append 1 2\n"
     "3 process 3 committed 3 30: read 1 [1 2 3]\n"},
    {"circular_information", "G1c", Level::kReadCommitted,
     "1 process 1 committed 1 10: append 1 1; read 2 [2]\n"
     "2 process 2 committed 2 20: append 2 2; read 1 [1]\n"},
    {"read_from_the_future", "G1c-realtime", Level::kReadCommitted,
     "1 process 1 committed 1 2: read 1 [1]\n"
     "2 process 2 committed 3 4: append 1 1\n",
     true},
    {"written_before_what_had_ended", "G0-realtime", Level::kReadCommitted,
     "1 process 1 committed 1 2: append 1 1\n"
     "2 process 2 committed 3 4: append 1 2\n"
     "3 process 3 committed 5 6: read 1 [2 1]\n",
     true},
    {"own_append_unseen", "internal", Level::kSnapshot,
     "1 process 1 committed 1 10: append 1 1; read 1 []\n"},
    {"own_append_followed_by_another", "internal", Level::kSnapshot,
     "1 process 1 committed 1 10: append 1 1; read 1 [1 2]\n"
     "2 process 2 committed 2 20: append 1 2\n"},
    {"lost_update", "lost-update", Level::kSnapshot,
     "1 process 1 committed 1 10: read 1 []; append 1 1\n"
     "2 process 2 committed 2 20: read 1 []; append 1 2\n"
     "3 process 3 committed 3 30: read 1 [1 2]\n"},
    {"lost_update_as_a_cycle", "G-single", Level::kSnapshot,
     "1 process 1 committed 1 10: read 1 []; append 1 1\n"
     "2 process 2 committed 2 20: read 1 []; append 1 2\n"
     "3 process 3 committed 3 30: read 1 [1 2]\n"},
    {"lost_update_that_nobody_read", "lost-update", Level::kSnapshot,
     "1 process 1 committed 1 10: read 1 []; append 1 1\n"
     "2 process 2 committed 2 20: range 0..2 [] []; append 1 2\n"},
    {"fractured_read", "G-single", Level::kSnapshot,
     "1 process 1 committed 1 10: append 1 1; append 2 2\n"
     "2 process 2 committed 2 20: read 1 [1]; read 2 []\n"},
    {"unrepeatable_read", "G-single", Level::kSnapshot,
     "1 process 1 committed 1 10: append 1 1\n"
     "2 process 2 committed 2 20: read 1 []; read 1 [1]\n"},
    {"unrepeatable_range", "G-single", Level::kSnapshot,
     "1 process 1 committed 1 10: append 2 1\n"
     "2 process 2 committed 2 20: range 1..3 [] []; range 1..3 [] [1]\n"},
    {"effect_without_its_cause", "G-single", Level::kSnapshot,
     "1 process 1 committed 1 10: append 1 1\n"
     "2 process 2 committed 2 20: read 1 [1]; append 2 2\n"
     "3 process 3 committed 3 30: read 1 []; read 2 [2]\n"},
    {"long_fork", "G-nonadjacent", Level::kSnapshot,
     "1 process 1 committed 1 10: append 1 1\n"
     "2 process 2 committed 2 20: append 2 2\n"
     "3 process 3 committed 3 30: read 1 [1]; read 2 []\n"
     "4 process 4 committed 4 40: read 1 []; read 2 [2]\n"},
    {"stale_read", "G-single-realtime", Level::kSnapshot,
     "1 process 1 committed 1 2: append 1 1\n"
     "2 process 2 committed 3 4: read 1 []\n",
     true},
    {"reads_go_back", "G-single-realtime", Level::kSnapshot,
     "1 process 1 committed 1 20: append 1 1\n"
     "2 process 2 committed 2 3: read 1 [1]\n"
     "3 process 3 committed 4 5: read 1 []\n",
     true},
    {"stale_read_in_a_session", "G-single-session", Level::kSnapshot,
     "1 process 1 committed 1 2: append 1 1\n"
     "2 process 1 committed 3 4: read 1 []\n",
     false, true},
    {"comes_back_after_a_crash", "G-single-realtime", Level::kSnapshot,
     "1 process 1 unknown 1 2: append 1 1\n"
     "2 process 2 committed 3 4: read 1 []\n"
     "3 process 3 committed 5 6: read 1 [1]\n",
     true},
    {"unknown_and_half_seen", "G-single", Level::kSnapshot,
     "1 process 1 unknown 1 10: append 1 1; append 2 2\n"
     "2 process 2 committed 2 20: read 1 [1]; read 2 []\n"},
    {"unknown_known_through_another", "G-single", Level::kSnapshot,
     "1 process 1 unknown 1 10: append 1 1\n"
     "2 process 2 unknown 2 20: read 1 [1]; append 2 2\n"
     "3 process 3 committed 3 30: read 1 []; read 2 [2]\n"},
    {"fractured_read_of_an_aborted_one", "G-single", Level::kSnapshot,
     "1 process 1 committed 1 10: append 1 1; append 2 2\n"
     "2 process 2 aborted 2 20: read 1 [1]; read 2 []; append 3 3\n",
     false, false, true},
    {"dirty_read_of_an_aborted_one", "G1a", Level::kReadCommitted,
     "1 process 1 aborted 1 10: append 1 1\n"
     "2 process 2 aborted 2 20: read 1 [1]\n",
     false, false, true},
    {"write_skew", "G2-item", Level::kSerializable,
     "1 process 1 committed 1 10: read 1 []; append 2 1\n"
     "2 process 2 committed 2 20: read 2 []; append 1 2\n"},
    {"write_skew_that_was_read", "G2-item", Level::kSerializable,
     "1 process 1 committed 1 10: read 1 []; append 2 1\n"
     "2 process 2 committed 2 20: read 2 []; append 1 2\n"
     "3 process 3 committed 30 40: read 1 [2]; read 2 [1]\n"},
    {"phantom_write_skew", "G2", Level::kSerializable,
     "1 process 1 committed 1 10: range 1..3 [] []; append 1 1\n"
     "2 process 2 committed 2 20: range 1..3 [] []; append 2 2\n"},
    {"read_only_anomaly", "G2-item", Level::kSerializable,
     "1 process 1 committed 1 10: read 2 []; append 2 1\n"
     "2 process 2 committed 2 20: read 1 []; read 2 []; append 1 2\n"
     "3 process 3 committed 3 30: read 1 []; read 2 [1]\n"},
    {"write_skew_among_many_unread", "G2-item", Level::kSerializable,
     "1 process 1 committed 1 10: read 1 []; append 2 1\n"
     "2 process 2 committed 2 20: append 1 2\n"
     "3 process 3 committed 3 30: append 1 3\n"
     "4 process 4 committed 4 40: append 1 4\n"
     "5 process 5 committed 5 50: append 1 5\n"
     "6 process 6 committed 6 60: append 1 6\n"
     "7 process 7 committed 7 70: append 1 7\n"
     "8 process 8 committed 8 80: append 1 8; read 2 []\n"},
    {"not_in_the_order_of_time", "G2-item-realtime", Level::kSerializable,
     "1 process 1 committed 1 20: read 1 []; append 2 1\n"
     "2 process 2 committed 2 3: append 1 2\n"
     "3 process 3 committed 4 5: read 2 []; append 3 3\n",
     true},
};

INSTANTIATE_TEST_SUITE_P(Checker, Canaries, ::testing::ValuesIn(kCanaries),
                         [](const auto& one) { return std::string(one.param.test); });

std::vector<Anomaly> strictest(const std::string& lines) {
  CheckOptions options;
  options.real_time = true;
  options.session_order = true;
  options.aborted_reads = true;
  return check(history_of(lines), Level::kSerializable, options);
}

TEST(Checker, allows_what_is_allowed) {
  for (const char* lines : {
           "",
           // Own appends, an append without a read, a range with an empty key, an aborted one.
           "last 5\n"
           "1 process 1 committed 1 2: read 1 []; append 1 1; read 1 [1]; append 1 2; "
           "read 1 [1 2]\n"
           "2 process 1 committed 3 4: append 2 3; range 1..4 [1 2] [3] []\n"
           "3 process 1 aborted 5 6: append 1 4; read 1 [1 2 4]\n"
           "5 process 2 committed 7 8: range 0..4 [] [1 2] [3] []\n",
           // Nobody read it: it may have aborted.
           "last 2\n"
           "1 process 1 unknown 1 2: append 1 1; read 2 []\n"
           "2 process 2 committed 3 4: range 1..3 [] []\n",
           // It was read: it has committed.
           "last 2\n"
           "1 process 1 unknown 1 2: append 1 1; read 2 []\n"
           "2 process 2 committed 3 4: range 1..3 [1] []\n",
           // It may take effect at any later time.
           "1 process 1 unknown 1 never: append 1 1\n"
           "2 process 2 committed 3 4: read 1 []\n"
           "3 process 3 committed 5 6: read 1 [1]\n",
           // At the same time either order is right.
           "1 process 1 committed 1 20: append 1 1\n"
           "2 process 2 committed 2 3: read 1 [1]\n"
           "3 process 3 committed 4 5: read 1 [1]\n",
       }) {
    EXPECT_EQ(to_text(strictest(lines)), "") << lines;
  }
}

TEST(Checker, explains_a_cycle_edge_by_edge) {
  const std::vector<Anomaly> found = check(history_of("11 process 1 committed 1 2: append 5 1\n"
                                                      "12 process 2 committed 3 4: append 6 2\n"
                                                      "13 process 3 committed 5 6: read 6 [2]; "
                                                      "range 4..6 [] []\n"),
                                           Level::kSnapshot, {.real_time = true});
  EXPECT_EQ(to_text(found),
            "G-single-realtime: T11 -rt-> T13: T11 ended at 2, T13 began at 5; T13 -rw-> T11: T13 "
            "read a range, with key 5 empty, without what T11 appended and nobody read\n");
}

TEST(Checker, says_how_many_more_there_were) {
  std::string lines;
  for (uint64_t i = 1; i <= 20; ++i) {
    lines += std::to_string(i) + " process 1 committed 1 2: read 1 [" + std::to_string(i) + "]\n";
  }
  const auto found = check(history_of(lines), Level::kReadCommitted, {.per_kind_max = 3});
  ASSERT_EQ(found.size(), 3u) << to_text(found);
  EXPECT_NE(found.back().explanation.find("(and 17 more of this kind)"), std::string::npos);
}

TEST(Checker, refuses_what_is_no_history) {
  for (const char* lines : {
           "1 process 1 committed 1 2: append 1 1; append 1 1\n",
           "1 process 1 committed 1 2: append 1 1\n2 process 1 committed 3 4: append 2 1\n",
           "1 process 1 committed 1 2:\n1 process 1 committed 3 4:\n",
           "1 process 1 committed 2 2:\n",
           "1 process 1 committed 1 3:\n2 process 1 committed 2 4:\n",
           "last 2\n1 process 1 committed 1 3:\n",
           "last 1\n1 process 1 aborted 1 3:\n",
           "last 1\n1 process 1 committed 1 3: read 1 []\n2 process 2 committed 1 2: append 2 2\n",
       }) {
    const std::vector<Anomaly> found = strictest(lines);
    ASSERT_FALSE(found.empty()) << lines;
    EXPECT_EQ(found.front().kind, AnomalyKind::kMalformed) << lines << to_text(found);
  }
  History history;
  history.transactions.push_back({1, 1, Outcome::kCommitted, 1, 2, {Operation::read(1, {})}});
  history.transactions.back().operations.back().lists.clear();
  EXPECT_TRUE(has(check(history, Level::kReadCommitted), "malformed"));
}

}  // namespace
}  // namespace hawthorn::history
