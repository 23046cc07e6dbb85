// A value that is changed where it is: a log in one value, grown by appends, and a table of records
// in another, of which single ones are overwritten. What is written follows what is changed; a
// snapshot goes on seeing the value as it was.

#include <cstdint>
#include <string>
#include <string_view>

#include "must.h"

using hawthorn::Snapshot;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::TxnMode;

namespace {
constexpr uint64_t kRecords = 100'000;
constexpr uint64_t kRecordBytes = 40;

std::string record(uint64_t number, char mark) {
  std::string text = mark + std::to_string(number);
  text.resize(kRecordBytes, ' ');
  return text;
}
}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree files = must(db->tree("files"));

  // A key that is not there is an empty value. Zeros take no space.
  must(db->resize(files, "table", kRecords * kRecordBytes));
  must(must(db->size_of(files, "table")) == kRecords * kRecordBytes);

  const Snapshot before = db->snapshot();
  for (uint64_t number = 0; number < kRecords; number += 1000) {
    must(db->write_part(files, "table", number * kRecordBytes, record(number, '#')));
  }

  // Several parts in one commit, of several values. It conflicts with whoever else changes them.
  Transaction transaction = must(db->begin(TxnMode::kOptimistic));
  must(transaction.write_part(files, "table", 7000 * kRecordBytes, record(7000, '!')));
  const uint64_t at = must(transaction.append(files, "log", "7000 was changed\n"));
  must(at == 0);
  must(transaction.commit());

  std::string found(kRecordBytes, '\0');
  must(must(db->read_part(files, "table", 7000 * kRecordBytes, found)) == kRecordBytes);
  must(found == record(7000, '!'));
  must(must(db->read_part(files, "table", 7001 * kRecordBytes, found)) == kRecordBytes);
  must(found == std::string(kRecordBytes, '\0'));
  must(must(db->read_part(files, "table", 7000 * kRecordBytes, found, {.snapshot = &before})) ==
       kRecordBytes);
  must(found == std::string(kRecordBytes, '\0'));

  // All of it, piece by piece.
  uint64_t bytes = 0;
  must(db->read_stream(files, "table", [&bytes](std::string_view piece) {
    bytes += piece.size();
    return true;
  }));
  must(bytes == kRecords * kRecordBytes);
  std::printf("%s\n", must(db->append(files, "log", "and read\n")) == 17 ? "appended" : "lost");
}
