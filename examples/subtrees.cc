// Trees as values: a tree for each customer, at a key of one tree, and one for his orders below
// that. They come, move and go in transactions as values do.

#include <string>

#include "must.h"

using hawthorn::Cursor;
using hawthorn::Snapshot;
using hawthorn::StatusCode;
using hawthorn::Transaction;
using hawthorn::Tree;

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree customers = must(db->tree("customers", {.subtrees = true}));

  // What is made may be used at once, to hang others in it, too.
  Transaction t = must(db->begin(hawthorn::TxnMode::kOptimistic));
  const Tree ada = must(t.create_subtree(customers, "ada", {.subtrees = true}));
  must(t.put(ada, "name", "Ada Lovelace"));
  const Tree orders = must(t.create_subtree(ada, "orders"));
  for (int number = 1000; number < 2000; ++number) {
    must(t.put(orders, std::to_string(number), "a book"));
  }
  must(t.commit());

  // From key to key.
  const Tree found = must(db->subtree(must(db->subtree(customers, "ada")), "orders"));
  must(must(db->count(found, "", std::nullopt)) == 1000);
  Cursor cursor = db->cursor(ada);
  for (bool there = cursor.first(); there; there = cursor.next()) {
    must(must(cursor.is_subtree()) == (cursor.key() == "orders"));
  }
  must(cursor.status());
  cursor = Cursor();

  // In the time of a few puts, whatever it holds: out of the tree, with a name, and elsewhere.
  must(db->detach(ada, "orders", "ada's orders"));
  const Tree old = must(db->tree("old customers", {.subtrees = true}));
  must(db->attach(old, "ada", "ada's orders"));
  must(db->attach(old, "x", "old customers").is(StatusCode::kInvalidArgument));  // below itself

  // A key with a tree takes no value; deleting it drops the tree, and all that hangs below.
  must(db->put(old, "ada", "a value").is(StatusCode::kInvalidArgument));
  const Snapshot before = db->snapshot();
  must(db->del(old, "ada"));
  must(db->count(found, "", std::nullopt).status().is(StatusCode::kInvalidArgument));
  must(must(db->subtree(old, "ada", {.snapshot = &before})).id() == found.id());
  must(must(db->count(found, "", std::nullopt, {.snapshot = &before})) == 1000);
  return 0;
}
