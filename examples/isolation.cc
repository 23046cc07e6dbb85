// Two doctors want to go off duty; one of them must stay. Each transaction reads both rows and
// writes its own: under snapshot isolation both succeed (write skew), under serializable one must
// try again, and then sees that it may not.

#include <string>

#include "must.h"

using hawthorn::Cursor;
using hawthorn::Db;
using hawthorn::Isolation;
using hawthorn::Status;
using hawthorn::Transaction;
using hawthorn::Tree;

namespace {

int on_duty(Transaction& transaction, const Tree& doctors) {
  int count = 0;
  Cursor cursor = transaction.cursor(doctors);
  for (bool more = cursor.first(); more; more = cursor.next()) count += cursor.value() == "on";
  must(cursor.status());
  return count;
}

// Both begin before one of them commits. Returns what the second commit said.
Status both_leave(Db& db, const Tree& doctors, Isolation isolation) {
  must(db.put(doctors, "ada", "on"));
  must(db.put(doctors, "grace", "on"));
  Transaction first = must(db.begin({.isolation = isolation}));
  Transaction second = must(db.begin({.isolation = isolation}));
  if (on_duty(first, doctors) > 1) must(first.put(doctors, "ada", "off"));
  if (on_duty(second, doctors) > 1) must(second.put(doctors, "grace", "off"));
  must(first.commit());
  return second.commit();
}

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree doctors = must(db->tree("doctors"));

  must(both_leave(*db, doctors, Isolation::kSnapshot));
  {
    Transaction check = must(db->begin({.read_only = true}));
    must(on_duty(check, doctors) == 0);  // nobody is there
  }
  must(both_leave(*db, doctors, Isolation::kSerializable).is_conflict());
  {
    Transaction again = must(db->begin({.isolation = Isolation::kSerializable}));
    must(on_duty(again, doctors) == 1);  // so grace stays
  }
  must(db->close());
}
