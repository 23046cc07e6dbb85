// Trees by name, changed by transactions: a table gets a new shape while others go on reading the
// old one, and takes its place at one moment.

#include <string>

#include "must.h"

using hawthorn::Cursor;
using hawthorn::Snapshot;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::Value;

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree users = must(db->tree("users"));
  must(db->put(users, "ada", "1815"));
  must(db->put(users, "grace", "1906"));

  Snapshot before = db->snapshot();
  {
    Transaction change = must(db->begin(hawthorn::TxnMode::kOptimistic));
    const Tree by_year = must(change.tree("users by year"));
    Cursor each = change.cursor(users);
    for (bool there = each.first(); there; there = each.next()) {
      must(change.put(by_year, each.value(), each.key()));
    }
    must(each.status());
    must(change.drop_tree("users"));
    must(change.rename_tree("users by year", "users"));
    // Nobody else sees any of it yet.
    must(must(db->list_trees()) == std::vector<std::string>{"users"});
    must(must(db->find_tree("users")).id() == users.id());
    each = Cursor();
    must(change.commit());
  }

  Value value;
  must(db->get(must(db->find_tree("users")), "1906", value));
  must(value.view() == "grace");
  // The old tree is there for as long as somebody reads its time, and no longer.
  must(db->get(users, "ada", value, {.snapshot = &before}));
  must(value.view() == "1815");
  must(db->put(users, "alan", "1912").is(hawthorn::StatusCode::kInvalidArgument));
  value.reset();
  before.reset();
  must(db->close());
}
