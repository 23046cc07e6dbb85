// How many entries a range has, exactly or about, without reading it; pages of a list by their
// number; entries at random.

#include <map>
#include <random>
#include <string>

#include "must.h"

using hawthorn::Cursor;
using hawthorn::RangeEstimate;
using hawthorn::Snapshot;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::TxnMode;

namespace {
std::string order(int day, int number) {
  char key[32];
  std::snprintf(key, sizeof(key), "2024-03-%02d/%06d", day, number);
  return key;
}
}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree orders = must(db->tree("orders"));
  for (int day = 1; day <= 30; ++day) {
    hawthorn::WriteBatch batch;
    for (int i = 0; i < day * 100; ++i) batch.put(orders, order(day, i), "open");
    must(db->write(batch));
  }
  must(db->flush());

  must(must(db->count(orders, "", {})) == 46'500);
  must(must(db->count(orders, "2024-03-10", "2024-03-12")) == 1000 + 1100);
  // Good enough to choose between two ways to answer a query.
  const RangeEstimate about = must(db->estimate(orders, "2024-03-10", "2024-03-12"));
  must(about.entries > 1500 && about.entries < 2700);

  {
    const Snapshot before = db->snapshot();
    must(db->del(orders, order(10, 3)));
    must(must(db->count(orders, "2024-03-10", "2024-03-11")) == 999);
    must(must(db->count(orders, "2024-03-10", "2024-03-11", {.snapshot = &before})) == 1000);

    // A transaction counts what it has written, too.
    Transaction txn = must(db->begin(TxnMode::kOptimistic));
    must(txn.put(orders, order(10, 3), "again"));
    must(must(txn.count(orders, "2024-03-10", "2024-03-11")) == 1000);
  }

  {
    // Page 7 of the orders of one day, 50 to a page.
    Cursor page = db->cursor(orders, {.lower = "2024-03-20", .upper = "2024-03-21"});
    must(page.first() && page.skip(7 * 50));
    must(page.key() == order(20, 350));
    must(!page.skip(100'000) && page.status().ok());  // behind the last one
  }
  {
    // A sample: of which days are orders?
    std::mt19937_64 random(7);
    std::map<std::string, int> days;
    Cursor sample = db->cursor(orders, {.key_only = true});
    for (int i = 0; i < 1000; ++i) {
      must(sample.seek_random(random()));
      ++days[std::string(sample.key().substr(0, 10))];
    }
    must(days["2024-03-30"] > days["2024-03-02"]);
    std::printf("of 1000 orders %d are of the 30th, %d of the 2nd\n", days["2024-03-30"],
                days["2024-03-02"]);
  }
  must(db->close());
}
