// Clones: a branch of a whole tree, made in no time, that both sides then change; and one to look
// at while the original goes on.

#include <string>

#include "must.h"

using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::Value;
using hawthorn::WriteBatch;

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree prices = must(db->tree("prices"));
  WriteBatch batch;
  for (int i = 0; i < 10'000; ++i) batch.put(prices, "item " + std::to_string(i), "10");
  must(db->write(batch));

  // A branch for an experiment. It takes the same time for ten entries and for ten million.
  const Tree trial = must(db->clone_tree("prices", "trial"));
  must(db->put(trial, "item 7", "9"));
  must(db->del(trial, "item 8"));
  must(db->put(prices, "item 7", "11"));

  Value value;
  must(db->get(trial, "item 7", value));
  must(value.view() == "9");
  must(db->get(trial, "item 9", value));  // as it was when the clone was made
  must(value.view() == "10");
  must(must(db->count(trial, "", std::nullopt)) == 9'999);
  must(db->get(prices, "item 8", value));  // the original knows nothing of it

  // The experiment went well: the branch takes the place of the original, at one moment. What it
  // still shows of that stays on disk.
  {
    Transaction change = must(db->begin(hawthorn::TxnMode::kOptimistic));
    must(change.drop_tree("prices"));
    must(change.rename_tree("trial", "prices"));
    must(change.commit());
  }
  const Tree now = must(db->find_tree("prices"));
  must(db->get(now, "item 7", value));
  must(value.view() == "9");
  must(must(db->count(now, "", std::nullopt)) == 9'999);

  // As of the commit of a transaction: with all that it has written.
  {
    Transaction closing = must(db->begin(hawthorn::TxnMode::kOptimistic));
    must(closing.put(now, "item 10000", "12"));
    const Tree year = must(closing.clone_tree("prices", "prices of the year"));
    must(closing.put(year, "closed", "yes"));
    must(closing.commit());
  }
  const Tree year = must(db->find_tree("prices of the year"));
  must(db->put(now, "item 10000", "13"));
  must(db->get(year, "item 10000", value));
  must(value.view() == "12");
  must(db->close());
}
