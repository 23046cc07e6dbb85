// Orders of keys: newest first, numbers as the machine has them, the program's own; and trees whose
// keys have several values.

#include <cctype>
#include <cstdint>
#include <cstring>
#include <string>

#include "must.h"

using hawthorn::Cursor;
using hawthorn::KeyComparator;
using hawthorn::KeyOrder;
using hawthorn::Tree;

namespace {
std::string bytes_of(uint64_t number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

// Names without regard to case: sorted by their small letters, and where these are the same by
// themselves.
class NoCase : public KeyOrder {
 public:
  std::string_view name() const override { return "no_case"; }
  bool encode(std::string_view key, std::string* sort_key) const override {
    if (key.find('\0') != std::string_view::npos) return false;
    for (const char c : key) {
      sort_key->push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
    sort_key->push_back('\0');
    sort_key->append(key);
    return true;
  }
  bool decode(std::string_view sort_key, std::string* key) const override {
    const size_t end = sort_key.find('\0');
    if (end == std::string_view::npos) return false;
    key->append(sort_key.substr(end + 1));
    return true;
  }
};

// Versions such as 1.10.2, number by number: where there is nothing but a comparison, it is slower.
class Versions : public KeyComparator {
 public:
  std::string_view name() const override { return "versions"; }
  int compare(std::string_view a, std::string_view b) const override {
    while (!a.empty() && !b.empty()) {
      const uint64_t x = take(&a);
      const uint64_t y = take(&b);
      if (x != y) return x < y ? -1 : 1;
    }
    return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
  }

 private:
  static uint64_t take(std::string_view* rest) {
    uint64_t number = 0;
    while (!rest->empty() && rest->front() != '.') {
      number = number * 10 + static_cast<uint64_t>(rest->front() - '0');
      rest->remove_prefix(1);
    }
    if (!rest->empty()) rest->remove_prefix(1);
    return number;
  }
};
}  // namespace

int main(int argc, char** argv) {
  hawthorn::Options options;
  options.key_orders = {std::make_shared<NoCase>()};
  options.key_comparators = {std::make_shared<Versions>()};
  auto db = fresh_database(argc, argv, options);

  // Newest first: what is read most comes first.
  const Tree events = must(db->tree("events", {.order = "reverse"}));
  for (const char* day : {"2026-01-31", "2026-02-01", "2025-12-24"}) {
    must(db->put(events, day, "something"));
  }
  Cursor cursor = db->cursor(events);
  must(cursor.first() && cursor.key() == "2026-02-01");
  must(cursor.seek("2026-01-31") && cursor.next() && cursor.key() == "2025-12-24");

  const Tree names = must(db->tree("names", {.order = "no_case"}));
  for (const char* name : {"bob", "Alice", "carol"}) must(db->put(names, name, ""));
  cursor = db->cursor(names);
  must(cursor.first() && cursor.key() == "Alice");

  const Tree releases = must(db->tree("releases", {.order = "versions"}));
  for (const char* version : {"1.10", "1.9", "1.9.1"}) must(db->put(releases, version, ""));
  cursor = db->cursor(releases);
  must(cursor.last() && cursor.key() == "1.10");
  must(must(db->count(releases, "1", "1.10")) == 2);

  // Several values to a key: who follows whom.
  const Tree follows =
      must(db->tree("follows", {.order = "uint64", .multi_value = true, .value_order = "uint64"}));
  for (const uint64_t other : {7, 300, 12}) {
    must(db->put(follows, bytes_of(1), bytes_of(other)));
  }
  must(db->put(follows, bytes_of(256), bytes_of(1)));
  must(!must(db->insert(follows, bytes_of(1), bytes_of(7))));  // it is there already
  cursor = db->cursor(follows);
  must(cursor.seek(bytes_of(1)) && cursor.value() == bytes_of(7));
  must(must(cursor.count_values()) == 3);
  must(cursor.seek_value(bytes_of(1), bytes_of(13)) && cursor.value() == bytes_of(300));
  must(!cursor.next_value());
  must(cursor.next_key() && cursor.key() == bytes_of(256));
  must(db->del_value(follows, bytes_of(1), bytes_of(12)));
  must(must(db->count(follows, bytes_of(1), bytes_of(2))) == 2);
  must(db->del(follows, bytes_of(1)));  // all of them
  must(must(db->count(follows, "", std::nullopt)) == 1);

  // A tree keeps its order, and is never read in another.
  must(must(db->tree_options(must(db->find_tree("events")))).order == "reverse");
  must(db->tree("events", {.order = "bytewise"}).status().code() ==
       hawthorn::StatusCode::kInvalidArgument);
  cursor = Cursor();
  must(db->close());
}
