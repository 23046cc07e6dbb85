#pragma once
// What the tests of this layer share: records with contents known from their number, a log on any
// machine, replaying into a list.
//
// Not here: the simulated disk (testing/), which the tests include themselves.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "testing/temp_directory.h"
#include "wal/log.h"
#include "wal/log_directory.h"

namespace hawthorn::wal::test {

inline constexpr LogOptions kSmall{.ring_bytes = size_t{64} << 10,
                                   .segment_bytes = size_t{128} << 10,
                                   .direct = true,
                                   .async_sync_ms = 1};

#define ASSERT_OK(expression)                             \
  do {                                                    \
    const ::hawthorn::Status ok_status = (expression);    \
    ASSERT_TRUE(ok_status.ok()) << ok_status.to_string(); \
  } while (false)
#define EXPECT_OK(expression)                             \
  do {                                                    \
    const ::hawthorn::Status ok_status = (expression);    \
    EXPECT_TRUE(ok_status.ok()) << ok_status.to_string(); \
  } while (false)

// The payload of record `number`: its number and then bytes that follow from it.
inline std::string payload_of(uint64_t number, size_t size) {
  std::string payload(size, '\0');
  Prng prng(number);
  for (size_t i = 0; i < size; i += 8) {
    const uint64_t word = i == 0 ? number : prng.next();
    std::memcpy(payload.data() + i, &word, std::min<size_t>(8, size - i));
  }
  return payload;
}

using testing::TempDirectory;

struct Record {
  Lsn lsn = 0;
  RecordType type = RecordType::kCommit;
  uint32_t operations = 0;
  std::string payload;
  bool operator==(const Record&) const = default;
};

inline LogEpoch epoch_at(uint64_t number, Lsn start) {
  return {.number = number, .start = start, .end = format::kLsnMax, .salt = mix64(number)};
}

// Starts a log whose lsns are all reserved and whose older segments are all needed.
inline std::unique_ptr<Log> start_log(const os::Machine& machine, const std::string& directory,
                                      const LogOptions& options, const LogEpoch& epoch,
                                      Lsn keep = 0) {
  auto log = Log::start(machine, directory, options, epoch, format::kLsnMax, keep);
  EXPECT_TRUE(log.ok()) << log.status().to_string();
  return log.ok() ? std::move(*log) : nullptr;
}

// Appends, waiting for room as often as needed; 0 and *status when the log refuses.
inline Lsn append(Log& log, std::string_view payload, Status* status = nullptr,
                  RecordType type = RecordType::kCommit, uint32_t operations = 1) {
  const std::string_view pieces[] = {payload};
  const uint64_t checksum = Log::payload_checksum(pieces);
  while (true) {
    {
      os::MutexLock lock(log.mutex());
      if (const Lsn lsn = log.try_append(type, operations, pieces, checksum)) return lsn;
    }
    Status room = log.wait_room(payload.size());
    if (room.ok()) continue;
    if (status == nullptr) ADD_FAILURE() << room.to_string();
    if (status != nullptr) *status = room;
    return 0;
  }
}

inline Record append_record(Log& log, uint64_t number, size_t size) {
  Record record{.operations = static_cast<uint32_t>(number), .payload = payload_of(number, size)};
  record.lsn = append(log, record.payload, nullptr, record.type, record.operations);
  return record;
}

struct Replayed {
  Status status;
  std::vector<Record> records;
  Lsn end = 0;
};

inline Replayed replay(Recovery& recovery, Lsn from = 0) {
  Replayed result;
  result.status = recovery.replay(from, [&](const RecordView& record) {
    result.records.push_back(
        {record.lsn, record.type, record.operations, std::string(record.payload)});
    return Status();
  });
  result.end = recovery.end();
  return result;
}

inline Replayed recover(const os::Machine& machine, const std::string& directory,
                        const LogOptions& options, std::vector<LogEpoch> epochs, Lsn trimmed = 0,
                        bool read_only = true) {
  auto recovery =
      Recovery::open(machine, directory, options, std::move(epochs), trimmed, read_only);
  if (!recovery.ok()) return {recovery.status(), {}, 0};
  return replay(**recovery);
}

}  // namespace hawthorn::wal::test
