// A snapshot shows one moment for as long as it is held, in all trees; cursors walk over it in both
// directions while writers go on.

#include <string>

#include "must.h"

using hawthorn::Cursor;
using hawthorn::Snapshot;
using hawthorn::Tree;

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree stock = must(db->tree("stock"));
  for (const char* fruit : {"apple", "banana", "cherry", "date"}) must(db->put(stock, fruit, "10"));

  {
    const Snapshot before = db->snapshot();
    must(db->put(stock, "apple", "0"));
    must(db->del(stock, "banana"));

    std::string then;
    Cursor cursor = db->cursor(stock, {.snapshot = &before});
    for (bool more = cursor.first(); more; more = cursor.next()) {
      then += std::string(cursor.key()) + "=" + std::string(cursor.value()) + " ";
    }
    must(cursor.status());  // the end of the tree is no error; damage would be one
    must(then == "apple=10 banana=10 cherry=10 date=10 ");

    // Without a snapshot a cursor takes its own. Bounds hold in both directions.
    std::string now;
    Cursor backward = db->cursor(stock, {.lower = "a", .upper = "d"});
    for (bool more = backward.last(); more; more = backward.prev()) {
      now += std::string(backward.key()) + "=" + std::string(backward.value()) + " ";
    }
    must(backward.status());
    must(now == "cherry=10 apple=0 ");

    must(backward.seek("b") && backward.key() == "cherry");          // the first >= b
    must(backward.seek_for_prev("b") && backward.key() == "apple");  // the last <= b
    std::printf("then: %s\nnow, from the end: %s\n", then.c_str(), now.c_str());
  }

  // One with a name is there tomorrow, too.
  must(db->create_snapshot("inventory"));
  must(db->put(stock, "cherry", "3"));
  must(db->close());
  db.reset();
  db = must(hawthorn::Db::open(argc > 1 ? argv[1] : "example.db", {}));
  {
    const Snapshot inventory = must(db->open_snapshot("inventory"));
    hawthorn::Value cherries;
    must(db->get(must(db->find_tree("stock")), "cherry", cherries, {.snapshot = &inventory}));
    must(cherries.view() == "10");
  }
  must(db->drop_snapshot("inventory"));
  must(db->close());
}
