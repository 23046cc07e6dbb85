// Values that are made where they belong, and values that stay where they are: for programs that
// were written for memory maps.

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "must.h"

using hawthorn::Transaction;
using hawthorn::Tree;

namespace {
struct Point {
  double x;
  double y;
};
}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree lines = must(db->tree("lines"));
  {
    Transaction t = must(db->begin({}));
    // Filled by the caller; the next call of the transaction, here commit, writes it.
    const std::span<std::byte> room = must(t.put_reserve(lines, "diagonal", 3 * sizeof(Point)));
    for (size_t i = 0; i < 3; ++i) {
      const Point point{static_cast<double>(i), static_cast<double>(i)};
      std::memcpy(room.data() + i * sizeof(Point), &point, sizeof(Point));
    }
    must(t.commit());
  }
  must(db->put(lines, "note", "three points"));

  Transaction t = must(db->begin({.read_only = true}));
  // Both stay until the transaction ends, whatever else it reads and others write.
  const std::string_view diagonal = must(t.get_pinned(lines, "diagonal"));
  const std::string_view note = must(t.get_pinned(lines, "note"));
  must(db->del(lines, "diagonal"));
  must(db->flush());
  must(diagonal.size() == 3 * sizeof(Point));
  Point last{};
  std::memcpy(&last, diagonal.data() + 2 * sizeof(Point), sizeof(Point));
  must(last.x == 2 && last.y == 2);
  must(note == "three points");
  std::printf("%.*s, the last at %g, %g\n", static_cast<int>(note.size()), note.data(), last.x,
              last.y);
}
