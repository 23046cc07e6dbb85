// The manifest: the walk through a file's bytes, and the loading of a directory. What loads can be
// written and loads again as the same, and a batch that is decoded is encoded as the same.
//
// Input: flags (1: the rest is a file as it is; 2: what is read is not loaded), then records: type,
// u16 size, payload. They get their headers, sequence and checksums; begin and commit records also
// what they must hold, so that a changed input still reaches what is behind. Type & 128: they do
// not.
#include "base/bytes.h"
#include "base/checksum.h"
#include "db/manifest.h"
#include "format/manifest_reader.h"
#include "format/superblock.h"
#include "fuzz/fuzz.h"
#include "hawthorn/version.h"
#include "testing/sim_machine.h"

namespace db = hawthorn::db;
namespace format = hawthorn::format;
using format::ManifestRecordType;
using hawthorn::StatusCode;
using hawthorn::fuzz::Bytes;

namespace {

constexpr format::ManifestIdentity kIdentity = {1, 2, 1, 0x5a17};

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// Records as ManifestEncoder lays them out, whatever they hold.
class RawManifest {
 public:
  std::string made(Bytes& in) {
    bytes_ = format::encode_manifest_header(kIdentity);
    while (!in.empty()) {
      const uint8_t type = in.byte();
      const std::string_view payload = in.take(in.number<uint16_t>());
      const auto known = static_cast<ManifestRecordType>(type & 127);
      if ((type & 128) == 0 && known == ManifestRecordType::kBatchBegin) {
        begin(payload.empty() ? 0 : static_cast<uint8_t>(payload.front()));
      } else if ((type & 128) == 0 && known == ManifestRecordType::kBatchCommit) {
        commit();
      } else {
        add(type & 127, std::string(payload));
      }
    }
    return std::move(bytes_);
  }

 private:
  void begin(uint8_t skip) {
    number_ += first_ ? 1 : 1 + skip / 128;
    records_ = 0;
    checksum_ = kIdentity.salt;
    const format::BatchBeginPayload payload = {number_, first_ ? uint32_t{1} : skip % 2, 0};
    first_ = false;
    add(static_cast<uint8_t>(ManifestRecordType::kBatchBegin), std::string(bytes_of(payload)));
  }
  void commit() {
    const format::BatchCommitPayload payload = {number_, checksum_, records_};
    std::string filled(bytes_of(payload));
    const size_t end = bytes_.size() + sizeof(format::ManifestRecordHeader) + filled.size();
    filled.resize(filled.size() + hawthorn::align_up(end, format::kManifestBlockBytes) - end);
    add(static_cast<uint8_t>(ManifestRecordType::kBatchCommit), filled);
  }
  void add(uint8_t type, std::string payload) {
    format::ManifestRecordHeader header = {};
    header.payload_bytes = static_cast<uint32_t>(payload.size());
    header.sequence = sequence_++;
    header.type = type;
    payload.resize(hawthorn::align_up(payload.size(), format::kManifestRecordAlign));
    std::string record = std::string(bytes_of(header)) + payload;
    hawthorn::store(record.data(),
                    hawthorn::checksum32(record.data() + 4, record.size() - 4, kIdentity.salt));
    checksum_ = hawthorn::checksum64(record.data(), record.size(), checksum_);
    ++records_;
    bytes_ += record;
  }

  std::string bytes_;
  bool first_ = true;
  uint64_t sequence_ = 0;
  uint64_t number_ = 4;
  uint64_t records_ = 0;
  uint64_t checksum_ = 0;
};

// Reads the batch that this one is encoded as.
void encode_again(const format::DecodedBatch& batch) {
  if (batch.number == 0 || batch.number > format::Lsn{1} << 40) return;
  format::ManifestEncoder encoder(kIdentity.salt);
  encoder.begin(batch.number - 1, format::ManifestBatchKind::kSnapshot);
  encoder.set_counters(1, 1);
  encoder.commit();
  encoder.add_batch(batch.number, batch.changes);
  const std::string file = format::encode_manifest_header(kIdentity) + encoder.take();
  format::ManifestReader reader("again");
  std::string_view rest = file;
  for (int i = 0; i < 2; ++i) {
    const auto step = reader.next(rest, true);
    FUZZ_OK(step.status());
    FUZZ_CHECK(*step == format::ManifestReader::Step::kBatch);
  }
  FUZZ_CHECK(reader.batch().changes == batch.changes && reader.batch().number == batch.number);
}

void walk(std::string_view file, size_t piece) {
  format::ManifestReader reader("fuzz");
  size_t end = 0;  // of what is there already
  std::string_view bytes;
  for (;;) {
    const size_t before = bytes.size();
    const auto step = reader.next(bytes, end == file.size());
    if (!step.ok()) {
      FUZZ_CHECK(step.status().is(StatusCode::kCorruption) ||
                 step.status().is(StatusCode::kNotSupported));
      return;
    }
    FUZZ_CHECK(bytes.size() <= before);
    if (*step == format::ManifestReader::Step::kEnd) {
      FUZZ_CHECK(reader.end_offset() <= file.size());
      return;
    }
    if (*step == format::ManifestReader::Step::kBatch) {
      encode_again(reader.batch());
      continue;
    }
    FUZZ_CHECK(end < file.size());
    const size_t begin = end - bytes.size();
    end = std::min(file.size(), std::max(begin + reader.wanted_bytes(), end + piece));
    bytes = file.substr(begin, end - begin);
  }
}

void put_file(hawthorn::testing::SimDisk& disk, const std::string& path, std::string_view bytes) {
  auto file = disk.open_file(path, {.create = true});
  FUZZ_OK(file.status());
  FUZZ_OK((*file)->write_at(0, bytes));
}

void load(std::string_view bytes) {
  hawthorn::testing::SimDisk disk(1);
  hawthorn::testing::SimMachine machine(disk, 1);
  FUZZ_OK(disk.make_directory("/db"));
  put_file(disk, "/db/manifest.1", bytes);
  std::string superblock;
  for (const uint64_t generation : {2, 3}) {
    superblock += format::encode_superblock({.format_version = hawthorn::kFormatVersion,
                                             .uuid_low = kIdentity.uuid_low,
                                             .uuid_high = kIdentity.uuid_high,
                                             .generation = generation,
                                             .manifest_number = kIdentity.number,
                                             .features = format::kFeaturesKnown});
  }
  put_file(disk, "/db/superblock", superblock);
  std::string warning;
  auto loaded = db::Manifest::load(machine.machine(), "/db", &warning);
  if (!loaded.ok()) {
    FUZZ_CHECK(loaded.status().is(StatusCode::kCorruption) ||
               loaded.status().is(StatusCode::kNotSupported));
    return;
  }
  const format::ManifestState state = loaded->state;
  auto started = db::Manifest::start(machine.machine(), "/db", *std::move(loaded), false);
  FUZZ_OK(started.status());
  started->reset();
  auto again = db::Manifest::load(machine.machine(), "/db", &warning);
  FUZZ_OK(again.status());
  FUZZ_CHECK(again->state == state);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const uint8_t flags = in.byte();
  const std::string file = (flags & 1) != 0 ? std::string(in.rest()) : RawManifest().made(in);
  walk(file, size_t{flags} * 16);
  if ((flags & 2) == 0) load(file);
  return 0;
}
