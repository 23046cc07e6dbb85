// An order of several lines in one transaction: a line that cannot be had is taken back, the others
// stay; and a step with a transaction of its own inside.

#include <string>

#include "must.h"

using hawthorn::Result;
using hawthorn::Savepoint;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::Value;

namespace {

// Takes one piece from the stock; false when there is none.
bool take(Transaction& transaction, const Tree& stock, const std::string& what) {
  Value value;
  must(transaction.get(stock, what, value));
  const int left = std::stoi(value.to_string());
  must(transaction.put(stock, what, std::to_string(left - 1)));
  return left > 0;
}

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree stock = must(db->tree("stock"));
  const Tree orders = must(db->tree("orders"));
  must(db->put(stock, "pen", "2"));
  must(db->put(stock, "ink", "0"));

  {
    Transaction order = must(db->begin(hawthorn::TxnMode::kOptimistic));
    for (const std::string what : {"pen", "ink", "pen"}) {
      const Savepoint before = must(order.savepoint());
      must(order.put(orders, "7/" + what, "one"));
      if (!take(order, stock, what)) must(order.rollback_to(before));
      must(order.release(before));
    }
    {
      // Its writes become the order's when it commits, and vanish when it does not.
      Transaction gift = must(order.begin_nested());
      must(gift.put(orders, "7/card", "free"));
      gift.abort();
    }
    must(order.commit());
  }

  Value value;
  must(db->get(orders, "7/ink", value).is_not_found());
  must(db->get(orders, "7/card", value).is_not_found());
  must(db->get(stock, "pen", value));
  must(value.view() == "0");
  must(db->get(stock, "ink", value));
  must(value.view() == "0");
  value.reset();
  must(db->close());
}
