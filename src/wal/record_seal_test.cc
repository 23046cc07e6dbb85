// The log of an encrypted database: what is in it comes back and stands nowhere readable; what was
// changed, with checksums that fit, is told.
#include "wal/record_seal.h"

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "os/data_keys.h"
#include "testing/sim_machine.h"
#include "wal/wal_test_support.h"

namespace hawthorn::wal {
namespace {

using format::RecordHeader;
using test::kSmall;
using test::Record;
using test::Replayed;
using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;

LogEpoch sealed_epoch(uint64_t number, Lsn start) {
  LogEpoch epoch = test::epoch_at(number, start);
  epoch.key = 1;
  return epoch;
}

class RecordSealTest : public ::testing::Test {
 protected:
  RecordSealTest() {
    keys_.add(1, *SecretKey::from_bytes(std::string(32, 'k')), true);
    machine_ = sim_.machine();
    machine_.keys = &keys_;
  }
  std::string segment(const std::string& name) {
    auto file = disk_.open_file("/" + name, {.read_only = true});
    EXPECT_OK(file.status());
    std::string bytes(*(*file)->size(), '\0');
    EXPECT_OK((*file)->read_at(0, bytes));
    return bytes;
  }
  void write(const std::string& name, uint64_t at, std::string_view bytes) {
    auto file = disk_.open_file("/" + name, {});
    ASSERT_OK(file.status());
    ASSERT_OK((*file)->write_at(at, bytes));
  }
  // As the writer would, but without its key.
  static std::string with_checksums(RecordHeader header, std::string_view payload, uint64_t salt) {
    header.payload_checksum = checksum64(payload.data(), header.payload_bytes, 0);
    format::seal(header, salt);
    std::string record(reinterpret_cast<const char*>(&header), sizeof(header));
    return record.append(payload);
  }

  SimDisk disk_{1};
  SimMachine sim_{disk_, 1};
  os::DataKeys keys_;
  os::Machine machine_;
};

constexpr Lsn kStart = 128 << 10;
constexpr char kSegment[] = "wal.0000000000000001";

TEST_F(RecordSealTest, records_come_back) {
  ASSERT_OK(disk_.make_directory("/"));
  const LogEpoch epoch = sealed_epoch(1, kStart);
  std::vector<Record> written;
  uint64_t seed = 1;
  {
    auto log = test::start_log(machine_, "/", kSmall, epoch);
    Prng prng(1);
    for (uint64_t i = 1; i < 700; ++i) {
      written.push_back(
          test::append_record(*log, i, prng.one_in(20) ? prng.below(7000) : prng.below(300)));
      if (prng.one_in(30)) ASSERT_OK(log->wait_durable(log->head()));
      if (prng.one_in(50)) ASSERT_OK(log->drain_now());
    }
    EXPECT_EQ(log->payload_bytes_max(), kSmall.ring_bytes / 8 - sizeof(RecordHeader) - kTagBytes);
    written.push_back(test::append_record(*log, 700, log->payload_bytes_max()));
    Status refused;
    EXPECT_EQ(test::append(*log, std::string(log->payload_bytes_max() + 1, 'x'), &refused), 0u);
    EXPECT_TRUE(refused.is(StatusCode::kInvalidArgument));
    ASSERT_OK(log->wait_durable(log->head()));
    for (uint64_t i = 701; i < 720; ++i) written.push_back(test::append_record(*log, i, 50));
    log->hold_drain(log->durable());
  }
  for (const CrashKind kind : {CrashKind::kProcessKill, CrashKind::kPowerLoss}) {
    auto after = disk_.after_crash(++seed, kind);
    SimMachine other(*after, 2);
    os::Machine machine = other.machine();
    machine.keys = &keys_;
    const Replayed found = test::recover(machine, "/", kSmall, {epoch});
    ASSERT_OK(found.status);
    ASSERT_GE(found.records.size(), 700u);
    ASSERT_LE(found.records.size(), written.size());
    for (size_t i = 0; i < found.records.size(); ++i) ASSERT_EQ(found.records[i], written[i]) << i;
  }
}

TEST_F(RecordSealTest, keys_belong_to_epochs) {
  LogEpoch epoch = sealed_epoch(1, kStart);
  {
    auto log = test::start_log(machine_, "/", kSmall, epoch);
    test::append_record(*log, 1, 100);
    ASSERT_OK(log->wait_durable(log->head()));
  }
  EXPECT_TRUE(
      test::recover(sim_.machine(), "/", kSmall, {epoch}).status.is(StatusCode::kCorruption));
  os::DataKeys others;
  others.add(1, *SecretKey::from_bytes(std::string(32, 'K')), true);
  os::Machine machine = machine_;
  machine.keys = &others;
  EXPECT_TRUE(test::recover(machine, "/", kSmall, {epoch}).status.is(StatusCode::kCorruption));
  epoch.key = 2;
  EXPECT_TRUE(test::recover(machine_, "/", kSmall, {epoch}).status.is(StatusCode::kCorruption));
  epoch.key = 0;
  EXPECT_TRUE(test::recover(machine_, "/", kSmall, {epoch}).status.is(StatusCode::kCorruption));
  EXPECT_FALSE(Log::start(machine_, "/", kSmall, epoch, format::kLsnMax, 0).ok());
  epoch.key = 1;
  EXPECT_OK(test::recover(machine_, "/", kSmall, {epoch}).status);
}

// Somebody changes records, and makes all checksums right.
TEST_F(RecordSealTest, what_was_changed_is_told) {
  const LogEpoch epoch = sealed_epoch(1, kStart);
  std::vector<Record> written;
  {
    auto log = test::start_log(machine_, "/", kSmall, epoch);
    for (uint64_t i = 1; i <= 5; ++i) written.push_back(test::append_record(*log, i, 104));
    ASSERT_OK(log->wait_durable(log->head()));
  }
  ASSERT_OK(disk_.remove("/wal.ring"));
  const std::string good = segment(kSegment);
  ASSERT_OK(test::recover(machine_, "/", kSmall, {epoch}).status);
  const auto header_at = [&](Lsn lsn) {
    RecordHeader header;
    std::memcpy(&header, good.data() + (lsn - kStart), sizeof(header));
    return header;
  };
  const auto payload_at = [&](Lsn lsn) {
    return good.substr(lsn - kStart + sizeof(RecordHeader), header_at(lsn).payload_bytes);
  };
  const auto expect_told = [&](Lsn lsn, const RecordHeader& header, std::string_view payload,
                               const char* what) {
    write(kSegment, lsn - kStart, with_checksums(header, payload, epoch.salt));
    const Replayed found = test::recover(machine_, "/", kSmall, {epoch});
    EXPECT_TRUE(found.status.is(StatusCode::kCorruption)) << what << found.status.to_string();
    EXPECT_NE(found.status.message().find(kSegment), std::string_view::npos) << what;
    for (size_t i = 0; i < found.records.size(); ++i) EXPECT_EQ(found.records[i], written[i]);
    write(kSegment, 0, good);
  };
  const Lsn lsn = written[2].lsn;
  const std::string payload = payload_at(lsn);
  RecordHeader header = header_at(lsn);
  expect_told(lsn, header, payload_at(written[3].lsn), "the payload of another record");
  std::string changed = payload;
  changed[50] = static_cast<char>(changed[50] ^ 1);
  expect_told(lsn, header, changed, "a bit of the payload");
  header.operations ^= 1;
  expect_told(lsn, header, payload, "the number of operations");
  header = header_at(lsn);
  header.type = static_cast<uint8_t>(RecordType::kAbort);
  expect_told(lsn, header, payload, "the type");
  header = header_at(lsn);
  header.durable_lsn = lsn;
  expect_told(lsn, header, payload, "what was durable");
  header = header_at(lsn);
  header.type = static_cast<uint8_t>(RecordType::kPad);
  header.operations = 0;
  expect_told(lsn, header, std::string(payload.size(), '\0'), "a pad in its place");
  const Lsn pad = written[4].lsn + header_at(written[4].lsn).length;
  header = header_at(pad);
  ASSERT_EQ(header.type, static_cast<uint8_t>(RecordType::kPad));
  std::string zeros = payload_at(pad);
  zeros[0] = static_cast<char>(zeros[0] ^ 1);
  expect_told(pad, header, zeros, "another pad");
}

// Attack 52: two records that say the same, in one epoch.
TEST_F(RecordSealTest, equal_records_look_different) {
  auto log = test::start_log(machine_, "/", kSmall, sealed_epoch(1, kStart));
  const std::string payload(1000, 'a');
  Status status;
  const Lsn one = test::append(*log, payload, &status);
  const Lsn other = test::append(*log, payload, &status);
  ASSERT_OK(log->wait_durable(log->head()));
  const std::string bytes = segment(kSegment);
  const auto sealed = [&](Lsn lsn) {
    return bytes.substr(lsn - kStart + sizeof(RecordHeader), payload.size());
  };
  ASSERT_NE(one, other);
  size_t equal = 0;
  for (size_t i = 0; i < payload.size(); ++i) equal += sealed(one)[i] == sealed(other)[i] ? 1 : 0;
  EXPECT_LT(equal, 40u);
}

// The same lsn in an epoch after it, as where a directory is copied and both go on.
TEST_F(RecordSealTest, epochs_have_their_own_keys) {
  const LogEpoch first = sealed_epoch(1, kStart);
  LogEpoch second = sealed_epoch(2, kStart);
  const auto bytes_of = [&](const LogEpoch& epoch) {
    auto log = test::start_log(machine_, "/", kSmall, epoch);
    test::append_record(*log, 1, 1000);
    EXPECT_OK(log->wait_durable(log->head()));
    // Behind the pad that a sealed epoch begins with.
    return segment(kSegment).substr(os::kBlockBytes + sizeof(RecordHeader), 1000);
  };
  const std::string one = bytes_of(first);
  const std::string path = "/wal.0000000000000001";
  ASSERT_OK(disk_.remove(path));
  const std::string other = bytes_of(second);
  EXPECT_NE(one, other);
  size_t equal = 0;
  for (size_t i = 0; i < one.size(); ++i) equal += one[i] == other[i] ? 1 : 0;
  EXPECT_LT(equal, 40u);
}

// Without a manifest the first record says what opens the others; nothing else does so by chance.
TEST_F(RecordSealTest, an_epoch_begins_with_what_it_is) {
  const LogEpoch epoch = sealed_epoch(7, kStart);
  {
    auto log = test::start_log(machine_, "/", kSmall, epoch);
    EXPECT_EQ(log->head(), kStart + os::kBlockBytes);
    test::append_record(*log, 1, 1000);
    EXPECT_OK(log->wait_durable(log->head()));
  }
  const std::string bytes = segment(kSegment);
  RecordHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::string_view payload =
      std::string_view(bytes).substr(sizeof(header), header.payload_bytes);
  LogEpoch told = RecordSeal::epoch_of_pad(header, payload);
  EXPECT_EQ(told.number, 7u);
  EXPECT_EQ(told.salt, epoch.salt);
  EXPECT_EQ(told.key, 1u);
  EXPECT_TRUE(format::valid(header, kStart, told.salt));
  std::string opened;
  auto seal = RecordSeal::make(machine_, told);
  ASSERT_OK(seal.status());
  EXPECT_TRUE((*seal)->open(header, payload, &opened));
  // Of another one the tag proves nothing.
  told.number = 8;
  auto other = RecordSeal::make(machine_, told);
  ASSERT_OK(other.status());
  EXPECT_FALSE((*other)->open(header, payload, &opened));
  EXPECT_EQ(RecordSeal::epoch_of_pad(header, payload.substr(0, 39)).key, 0u);
  header.type = static_cast<uint8_t>(format::RecordType::kCommit);
  EXPECT_EQ(RecordSeal::epoch_of_pad(header, payload).key, 0u);
}

}  // namespace
}  // namespace hawthorn::wal
