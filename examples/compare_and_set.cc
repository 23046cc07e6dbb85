// A lease and a counter without transactions: each call is one, and exact whoever else writes.

#include <string>

#include "must.h"

using hawthorn::Tree;
using hawthorn::Value;

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree tree = must(db->tree("locks"));

  // Only one of many gets it, and only who has it gives it back.
  must(must(db->insert(tree, "lease", "worker 1")));
  must(!must(db->insert(tree, "lease", "worker 2")));
  must(!must(db->remove_if(tree, "lease", "worker 2")));
  must(must(db->remove_if(tree, "lease", "worker 1")));

  // Only what was seen is replaced; without an expected value, what is absent.
  must(must(db->replace(tree, "count", std::nullopt, "1")));
  for (int tries = 0; tries < 9; ++tries) {
    Value seen;
    must(db->get(tree, "count", seen));
    const std::string next = std::to_string(std::stoi(seen.to_string()) + 1);
    must(must(db->replace(tree, "count", seen.view(), next)));
  }
  must(!must(db->update(tree, "nobody", "x")));
  Value value;
  must(db->get(tree, "count", value));
  must(value.view() == "10");
  value.reset();
  must(db->close());
}
