// The smallest program: open, write, read, delete, close.

#include "must.h"

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const hawthorn::Tree users = must(db->tree("users"));

  must(db->put(users, "ada", "1815"));  // durable when it returns: the default is kFull
  must(db->put(users, "grace", "1906", hawthorn::Durability::kNone));  // survives kill -9

  {
    hawthorn::Value value;  // keeps the bytes in place: no copy
    must(db->get(users, "ada", value));
    std::printf("ada: %s\n", value.to_string().c_str());
    must(value.view() == "1815");

    must(db->del(users, "ada"));
    must(db->get(users, "ada", value).is_not_found());
  }
  must(db->close());
}
