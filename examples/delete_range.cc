// Ranges: a month of measurements goes at once, however many there are, in one commit with the note
// of it, while a report still reads them.

#include <string>

#include "must.h"

using hawthorn::Snapshot;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::WriteBatch;

namespace {
std::string measurement(int month, int number) {
  const std::string digits = std::to_string(1'000'000 + number);
  return "2026-0" + std::to_string(month) + "/" + digits.substr(1);
}
}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree measurements = must(db->tree("measurements"));
  const Tree notes = must(db->tree("notes"));
  for (int month = 1; month <= 3; ++month) {
    WriteBatch batch;
    for (int i = 0; i < 20'000; ++i) batch.put(measurements, measurement(month, i), "21.5");
    must(db->write(batch));
  }
  const auto count = [&](int month, const Snapshot* at) {
    return must(db->count(measurements, measurement(month, 0), measurement(month + 1, 0),
                          {.snapshot = at}));
  };

  {
    const Snapshot report = db->snapshot();
    Transaction retention = must(db->begin({}));
    must(retention.delete_range(measurements, "2026-01", "2026-02"));
    must(retention.put(notes, "2026-01", "deleted"));
    must(retention.commit());

    must(count(1, nullptr) == 0 && count(2, nullptr) == 20'000);
    must(count(1, &report) == 20'000);
  }
  // Alone; without an end it takes all that follows.
  must(db->delete_range(measurements, "2026-03"));
  must(must(db->count(measurements, "", std::nullopt)) == 20'000);

  // Space returns in the background; drain waits for that.
  must(db->drain());
  must(db->stats().deleted_ranges == 0);
  must(db->close());
}
