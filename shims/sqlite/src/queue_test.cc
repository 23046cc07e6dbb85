// Tables that are emptied and filled again, and queues, beside SQLite's own storage: what was
// deleted is passed over by other ways than in ordinary walks.

#include <random>
#include <string>

#include "shims/sqlite/src/engine_pair_test_support.h"

namespace hawthorn::sqlite::queue_test {
namespace {

class QueueTest : public EnginePairTest {
 protected:
  uint64_t below(uint64_t bound) { return random_() % bound; }

  std::string fill() {
    const std::string from = std::to_string(1 + below(400));
    const std::string rows = std::to_string(1 + below(150));
    return "WITH RECURSIVE n(i) AS (SELECT " + from + " UNION ALL SELECT i + 1 FROM n LIMIT " +
           rows + ") INSERT OR REPLACE INTO q SELECT i, i * 7 % 5, 'entry ' || i FROM n";
  }
  std::string some_end() {
    switch (below(5)) {
      case 0:
        return "SELECT max(id) FROM q";
      case 1:
        return "SELECT id FROM q WHERE state = 3 ORDER BY id LIMIT 1";
      case 2:
        return "SELECT id FROM q WHERE state = 1 ORDER BY id DESC LIMIT 1";
      case 3:
        return "SELECT id FROM q WHERE id > 100 ORDER BY id LIMIT 1";
      default:
        return "SELECT min(id) FROM q";
    }
  }
  bool take() {
    const std::string end = some_end();
    const bool moves = below(4) == 0;
    for (uint64_t left = below(40); left > 0; --left) {
      if (!both(end)) return false;
      if (!both((moves ? "UPDATE q SET state = 4 WHERE id = (" : "DELETE FROM q WHERE id = (") +
                end + ")")) {
        return false;
      }
    }
    return true;
  }
  bool look() {
    return both("SELECT count(*), min(id), max(id) FROM q") &&
           both("SELECT * FROM q ORDER BY id") &&
           both("SELECT id FROM q INDEXED BY q_state WHERE state >= 0 ORDER BY state DESC, id");
  }

  void history(uint64_t seed) {
    seed_ = seed;
    random_.seed(seed);
    open("queue" + std::to_string(seed) + ".db", "UTF-8");
    both("CREATE TABLE q(id INTEGER PRIMARY KEY, state INT, t TEXT)");
    both("CREATE INDEX q_state ON q(state, id)");
    both("CREATE INDEX q_t ON q(t)");
    bool good = true;
    for (int step = 0; step < 80 && good && !HasFailure(); ++step) {
      switch (below(12)) {
        case 0:
        case 1:
        case 2:
          good = both(fill());
          break;
        case 3:
          good = both("DELETE FROM q");
          break;
        case 4:
          good = both(sqlite3_get_autocommit(stock_.get()) != 0 ? "BEGIN" : "SAVEPOINT s");
          break;
        case 5:
          if (sqlite3_get_autocommit(stock_.get()) != 0) break;
          good = both(below(3) == 0 ? "ROLLBACK" : "COMMIT");
          break;
        case 6:
          good = both("SAVEPOINT s") && both("DELETE FROM q") && both(fill()) && take() &&
                 both("ROLLBACK TO s") && both("RELEASE s");
          break;
        case 7:
          good = look();
          break;
        default:
          good = take();
          break;
      }
    }
    if (good) look();
  }

  std::mt19937_64 random_;
};

TEST_F(QueueTest, RandomHistories) {
  for (uint64_t seed = 1; seed <= 12 && !HasFailure(); ++seed) history(seed);
}

}  // namespace
}  // namespace hawthorn::sqlite::queue_test
