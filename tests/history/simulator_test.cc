// Random executions: right ones pass, those of a store with a bug are caught at the level that the
// bug breaks and pass below it, and for small random histories the checker says what a search
// through all executions says.
#include "tests/history/simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/history/checker.h"
#include "tests/support/engine_test.h"

namespace hawthorn::history {
namespace {

using tests::environment_number;

uint64_t first_seed() { return environment_number("HAWTHORN_SEED", 1); }

constexpr CheckOptions kAll{.real_time = true, .session_order = true, .aborted_reads = true};
constexpr CheckOptions kCommits{.real_time = true, .session_order = true};

std::set<std::string> names(const std::vector<Anomaly>& anomalies) {
  std::set<std::string> set;
  for (const Anomaly& anomaly : anomalies) set.insert(anomaly.name);
  return set;
}

TEST(Simulator, serial_executions_pass) {
  for (uint64_t seed = first_seed(); seed < first_seed() + 20; ++seed) {
    const History history = Simulator({.seed = seed, .transactions = 300, .processes = 1}).run();
    EXPECT_EQ(to_text(check(history, Level::kSerializable, kAll)), "") << "seed " << seed;
  }
}

TEST(Simulator, serializable_executions_pass) {
  for (uint64_t seed = first_seed(); seed < first_seed() + 20; ++seed) {
    const History history = Simulator({.seed = seed, .serializable = true}).run();
    EXPECT_EQ(to_text(check(history, Level::kSerializable, kCommits)), "") << "seed " << seed;
    EXPECT_EQ(to_text(check(history, Level::kSnapshot, kAll)), "") << "seed " << seed;
  }
}

TEST(Simulator, snapshot_isolation_passes_as_such_only) {
  for (uint64_t seed = first_seed(); seed < first_seed() + 20; ++seed) {
    const History history = Simulator({.seed = seed}).run();
    EXPECT_EQ(to_text(check(history, Level::kReadCommitted, kAll)), "") << "seed " << seed;
    EXPECT_EQ(to_text(check(history, Level::kSnapshot, kAll)), "") << "seed " << seed;
    for (const std::string& name : names(check(history, Level::kSerializable))) {
      EXPECT_TRUE(name == "G2" || name == "G2-item") << name << ", seed " << seed;
    }
    EXPECT_FALSE(check(history, Level::kSerializable).empty()) << "seed " << seed;
  }
}

struct BugCase {
  Bug bug = Bug::kNone;
  bool serializable = false;
  Level breaks = Level::kReadCommitted;
  bool real_time = false;         // only then
  std::set<std::string> expects;  // one of these
};

TEST(Simulator, bugs_are_caught) {
  const BugCase cases[] = {
      {Bug::kNoValidation, true, Level::kSerializable, false, {"G2-item", "G2"}},
      {Bug::kPhantoms, true, Level::kSerializable, false, {"G2"}},
      {Bug::kLateAppends, false, Level::kSnapshot, false, {"lost-update"}},
      {Bug::kManySnapshots, false, Level::kSnapshot, false, {"G-single"}},
      {Bug::kHalfCommit, false, Level::kSnapshot, false, {"G-single"}},
      {Bug::kOwnUnseen, false, Level::kSnapshot, false, {"internal"}},
      {Bug::kOldSnapshot, false, Level::kSnapshot, true, {"G-single-realtime"}},
      {Bug::kDirtyReads, false, Level::kReadCommitted, false, {"G1a"}},
      {Bug::kOverwrites, false, Level::kReadCommitted, false, {"lost-element"}},
      {Bug::kLosesCommits, false, Level::kReadCommitted, false, {"lost-element"}},
  };
  for (const BugCase& one : cases) {
    for (uint64_t seed = first_seed(); seed < first_seed() + 5; ++seed) {
      SCOPED_TRACE("bug " + std::to_string(static_cast<int>(one.bug)) + ", seed " +
                   std::to_string(seed));
      const History history =
          Simulator({.seed = seed, .serializable = one.serializable, .bug = one.bug}).run();
      for (const Level level : {Level::kReadCommitted, Level::kSnapshot, Level::kSerializable}) {
        const auto found = check(history, level, {.real_time = one.real_time});
        const std::set<std::string> found_names = names(found);
        if (level < one.breaks) {
          EXPECT_EQ(to_text(found), "");
        } else {
          EXPECT_TRUE(std::any_of(one.expects.begin(), one.expects.end(), [&](const auto& name) {
            return found_names.contains(name);
          })) << to_text(found);
        }
      }
      if (one.real_time) {
        EXPECT_EQ(to_text(check(history, one.breaks)), "");
      }
    }
  }
}

TEST(Simulator, histories_come_back_from_text) {
  const History history = Simulator({.bug = Bug::kDirtyReads}).run();
  History found;
  std::string error;
  ASSERT_TRUE(from_text(to_text(history), &found, &error)) << error;
  EXPECT_EQ(found, history);
}

TEST(Simulator, long_histories) {
  const uint64_t transactions = tests::scaled(100'000);
  const History right = Simulator({.transactions = transactions, .serializable = true}).run();
  EXPECT_EQ(to_text(check(right, Level::kSnapshot, kAll)), "");
  EXPECT_EQ(to_text(check(right, Level::kSerializable, kCommits)), "");
  const History skewed = Simulator({.transactions = transactions}).run();
  EXPECT_EQ(to_text(check(skewed, Level::kSnapshot, kAll)), "");
  EXPECT_FALSE(check(skewed, Level::kSerializable, kCommits).empty());
  // One component of nearly everything.
  const History wrong = Simulator({.transactions = 100'000, .bug = Bug::kManySnapshots}).run();
  EXPECT_FALSE(check(wrong, Level::kSerializable, kCommits).empty());
}

// Histories so small that all executions can be tried. A transaction reads and appends at two keys;
// the last read makes the orders known.
constexpr uint32_t kSmall = 4;
constexpr Key kSmallKeys = 2;

History small_history(Prng& prng) {
  History history;
  std::vector<List> orders(kSmallKeys);
  std::vector<std::vector<Operation>> plans(kSmall);
  Element element = 0;
  for (uint32_t t = 0; t < kSmall; ++t) {
    for (uint64_t i = prng.between(1, 3); i > 0; --i) {
      const Key key = prng.below(kSmallKeys);
      if (prng.one_in(2)) {
        plans[t].push_back(Operation::read(key, {}));
      } else {
        plans[t].push_back(Operation::append(key, ++element));
        orders[key].push_back(element);
      }
    }
  }
  // Those that did not run are of unknown outcome; so are some that did.
  std::vector<bool> ran(kSmall);
  for (uint32_t t = 0; t < kSmall; ++t) ran[t] = !prng.one_in(8);
  // Appends of one transaction stay together and in order; the transactions' order is random.
  std::vector<uint32_t> turns(kSmall);
  for (uint32_t t = 0; t < kSmall; ++t) turns[t] = t;
  for (Key key = 0; key < kSmallKeys; ++key) {
    if (key == 0 || prng.one_in(4)) std::shuffle(turns.begin(), turns.end(), prng);
    orders[key].clear();
    for (const uint32_t t : turns) {
      for (const Operation& operation : plans[t]) {
        if (operation.kind == Operation::Kind::kAppend && operation.key == key && ran[t]) {
          orders[key].push_back(operation.element);
        }
      }
    }
  }
  for (uint32_t t = 0; t < kSmall; ++t) {
    Transaction transaction;
    transaction.id = t + 1;
    transaction.process = t;
    if (!ran[t] || prng.one_in(8)) transaction.outcome = Outcome::kUnknown;
    transaction.begin = prng.below(20) * 10 + t;
    transaction.end = transaction.begin + 5 + prng.below(20) * 10;
    std::vector<List> own(kSmallKeys);
    for (Operation& operation : plans[t]) {
      if (operation.kind == Operation::Kind::kAppend) {
        own[operation.key].push_back(operation.element);
      } else {
        // Some prefix of the order, without what is the transaction's own, and behind it its own.
        const List& order = orders[operation.key];
        size_t end = prng.below(order.size() + 1);
        for (size_t i = 0; i < end; ++i) {
          const auto is_own = [&](const Operation& other) {
            return other.kind == Operation::Kind::kAppend && other.element == order[i];
          };
          if (std::any_of(plans[t].begin(), plans[t].end(), is_own)) end = i;
        }
        List& list = operation.lists[0];
        list.assign(order.begin(), order.begin() + static_cast<ptrdiff_t>(end));
        list.insert(list.end(), own[operation.key].begin(), own[operation.key].end());
      }
      transaction.operations.push_back(operation);
    }
    history.transactions.push_back(std::move(transaction));
  }
  Transaction last{kSmall + 1, kSmall, Outcome::kCommitted, 1000, 1001, {}};
  last.operations.push_back(Operation::range(0, orders));
  history.transactions.push_back(std::move(last));
  history.last_read = kSmall + 1;
  return history;
}

struct Execution {
  const History& history;
  bool serial = false;
  bool real_time = false;
  uint32_t ran = 0;  // a bit for each transaction
  std::vector<uint32_t> events = {};
};

// Whether running begins and commits in this order gives what the history says. Event 2t: begin of
// transaction t; 2t + 1: its commit.
bool explains(const Execution& execution) {
  const History& history = execution.history;
  std::vector<List> now(kSmallKeys);
  std::vector<std::vector<List>> snapshots(kSmall);
  std::vector<std::vector<uint64_t>> read_versions(kSmall);
  std::vector<uint64_t> versions(kSmallKeys);
  std::vector<bool> committed(kSmall);
  for (const uint32_t event : execution.events) {
    const uint32_t t = event / 2;
    if ((execution.ran >> t & 1) == 0) continue;
    const Transaction& transaction = history.transactions[t];
    if (event % 2 == 0) {
      for (uint32_t other = 0; execution.real_time && other < kSmall; ++other) {
        const bool before = (execution.ran >> other & 1) != 0 &&
                            history.transactions[other].end < transaction.begin;
        if (before && !committed[other]) return false;
      }
      snapshots[t] = now;
      read_versions[t] = versions;
      continue;
    }
    std::vector<List>& seen = snapshots[t];
    std::vector<bool> appended(kSmallKeys);
    for (const Operation& operation : transaction.operations) {
      if (operation.kind == Operation::Kind::kAppend) {
        seen[operation.key].push_back(operation.element);
        appended[operation.key] = true;
      } else if (operation.lists[0] != seen[operation.key]) {
        return false;
      }
    }
    for (Key key = 0; key < kSmallKeys; ++key) {
      if (!appended[key]) continue;
      if (versions[key] != read_versions[t][key]) return false;
      now[key] = seen[key];
      ++versions[key];
    }
    committed[t] = true;
  }
  return !history.last_read.has_value() || now == history.transactions.back().operations[0].lists;
}

// Tries all orders of the events that go on from those that the execution has; serial ones: each
// commit follows its begin.
bool possible(Execution& execution, uint32_t used = 0) {
  std::vector<uint32_t>& events = execution.events;
  if (events.size() == 2 * kSmall) return explains(execution);
  for (uint32_t event = 0; event < 2 * kSmall; ++event) {
    if ((used >> event & 1) != 0) continue;
    if (event % 2 == 1 && (used >> (event - 1) & 1) == 0) continue;
    const bool is_open = !events.empty() && events.back() % 2 == 0;
    if (execution.serial && is_open && event != events.back() + 1) continue;
    events.push_back(event);
    const bool found = possible(execution, used | 1u << event);
    events.pop_back();
    if (found) return true;
  }
  return false;
}

// The same for every choice of outcomes that are unknown.
bool possible(const History& history, Level level, bool real_time) {
  for (uint32_t ran = 0; ran < 1u << kSmall; ++ran) {
    bool chosen = true;
    for (uint32_t t = 0; t < kSmall; ++t) {
      const bool known = history.transactions[t].outcome == Outcome::kCommitted;
      if (known && (ran >> t & 1) == 0) chosen = false;
    }
    Execution execution{history, level == Level::kSerializable, real_time, ran};
    if (chosen && possible(execution)) return true;
  }
  return false;
}

TEST(Checker, agrees_with_a_search_through_all_executions) {
  const uint64_t seed = first_seed();
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  const uint64_t rounds = tests::scaled(1000);
  std::map<std::string, uint64_t> counts;
  for (uint64_t round = 0; round < rounds; ++round) {
    History history = small_history(prng);
    // Without the last read less is known: what is possible must pass, not the other way round.
    const bool complete = !prng.one_in(4);
    if (!complete) {
      history.last_read.reset();
      history.transactions.pop_back();
    }
    for (const bool real_time : {false, true}) {
      for (const Level level : {Level::kSnapshot, Level::kSerializable}) {
        const bool expected = possible(history, level, real_time);
        const auto found = check(history, level, {.real_time = real_time});
        ASSERT_TRUE(found.empty() == expected || (found.empty() && !complete))
            << "round " << round << ", level " << static_cast<int>(level) << ", real time "
            << real_time << "\n"
            << to_text(history) << to_text(found);
        ++counts[(level == Level::kSnapshot ? "snapshot " : "serializable ") +
                 std::to_string(real_time) + (expected ? " yes" : " no")];
      }
    }
  }
  // Of both answers there were enough.
  ASSERT_EQ(counts.size(), 8u);
  for (const auto& [name, count] : counts) EXPECT_GT(count, rounds / 100) << name;
}

}  // namespace
}  // namespace hawthorn::history
