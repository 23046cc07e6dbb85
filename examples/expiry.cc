// Entries that end: sessions that last an hour unless they say otherwise.

#include <string>

#include "must.h"

using hawthorn::Expiry;
using hawthorn::Tree;
using hawthorn::Value;

int main(int argc, char** argv) {
  hawthorn::Options options;
  int told = 0;
  options.on_expiry = [&told](std::string_view tree, std::string_view, std::string_view value) {
    if (tree == "sessions" && value == "short") ++told;
  };
  auto db = fresh_database(argc, argv, options);
  const Tree sessions = must(db->tree("sessions", {.expires = true, .ttl_ms = 3'600'000}));

  must(db->put(sessions, "ada", "an hour"));
  must(db->put(sessions, "grace", "a day", Expiry::after_ms(24 * 3'600'000)));
  must(db->put(sessions, "root", "for ever", Expiry::never()));
  must(db->put(sessions, "bob", "short", Expiry::after_ms(0)));

  // What has ended is gone at once, for everybody who begins to read now.
  Value value;
  must(db->get(sessions, "bob", value).is_not_found());
  must(must(db->count(sessions, "", std::nullopt)) == 3);
  must(must(db->insert(sessions, "bob", "again")));
  must(must(db->expires_at(sessions, "root")) == 0);
  must(must(db->expires_at(sessions, "grace")) > must(db->expires_at(sessions, "ada")));

  // The disk forgets it in the background, and the program is told, once.
  must(db->put(sessions, "eve", "short", Expiry::at_ms(1)));
  must(db->compact());
  must(db->stats().expired == 1);
  must(db->close());
  must(told == 1);
}
