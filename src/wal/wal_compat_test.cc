// The log of format version 1, kept in tests/compat/v1/log: it must open for ever, and today's code
// must write the same bytes. A new format version gets a new folder beside it; this one stays.
//
// HAWTHORN_WRITE_COMPAT=<directory> writes the files anew (for a new version only).
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "testing/source_tree.h"
#include "wal/wal_test_support.h"

namespace hawthorn::wal {
namespace {

using test::append;
using test::payload_of;
using test::Record;
using test::Replayed;
using test::TempDirectory;

constexpr LogOptions kOptions{.ring_bytes = size_t{64} << 10,
                              .segment_bytes = size_t{64} << 10,
                              .direct = false,
                              .async_sync_ms = 5};
constexpr LogEpoch kClosed{.number = 1, .start = 65536, .end = 69632, .salt = 0x1122334455667788};
constexpr LogEpoch kOpen{.number = 2, .start = 196608, .end = format::kLsnMax, .salt = 42};

std::string kept_directory() { return testing::source_tree() + "/tests/compat/v1/log"; }

os::Machine machine_without_threads() {
  os::Machine machine = os::real_machine();
  machine.background_threads = false;
  return machine;
}

// Two epochs; the second one's last records are in the ring only.
std::vector<Record> write_log(const std::string& directory, const os::Machine& machine) {
  std::vector<Record> written;
  const auto add = [&](Log& log, RecordType type, size_t size) {
    const uint64_t number = written.size() + 1;
    Record record{.type = type,
                  .operations = static_cast<uint32_t>(number),
                  .payload = payload_of(number, size)};
    record.lsn = append(log, record.payload, nullptr, type, record.operations);
    written.push_back(record);
  };
  {
    auto log = test::start_log(machine, directory, kOptions, kClosed);
    for (const size_t size : {0, 1, 8, 100, 777}) add(*log, RecordType::kCommit, size);
    EXPECT_OK(log->wait_durable(log->head()));
    EXPECT_EQ(log->head(), kClosed.end);
  }
  auto log = test::start_log(machine, directory, kOptions, kOpen);
  add(*log, RecordType::kChunk, 500);
  add(*log, RecordType::kRollbackTo, 12);
  add(*log, RecordType::kChunkedCommit, 30);
  EXPECT_OK(log->wait_durable(log->head()));
  add(*log, RecordType::kAbort, 8);
  add(*log, RecordType::kCommit, 5000);  // lies across two blocks, in neither segment
  log->hold_drain(log->durable());       // as if killed now
  return written;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(WalCompat, version_1_opens_and_is_still_written) {
  const os::Machine machine = machine_without_threads();
  const TempDirectory directory;
  const std::vector<Record> written = write_log(directory.path(), machine);
  if (const char* const wish = getenv("HAWTHORN_WRITE_COMPAT")) {
    std::filesystem::copy(directory.path(), wish, std::filesystem::copy_options::recursive);
  }
  const Replayed found =
      test::recover(machine, kept_directory(), kOptions, {kClosed, kOpen}, kClosed.start, true);
  EXPECT_OK(found.status);
  EXPECT_TRUE(found.records == written);
  size_t file_count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    const std::string name = entry.path().filename().string();
    const bool same =
        contents_of(entry.path().string()) == contents_of(kept_directory() + "/" + name);
    EXPECT_TRUE(same) << name;
    ++file_count;
  }
  EXPECT_EQ(file_count, 3u);
}

}  // namespace
}  // namespace hawthorn::wal
