// A whole small database, changed by somebody who computes checksums anew: superblock, batches of
// the manifest, blocks of index runs and of values, records of the log, or bytes and sizes of any
// file as they are. Then everything that a program may do with it (testing/sample_databases.h):
// errors that say something, or what is read stays as it is.
//
// One sample is encrypted: who changes that has no key, and so makes no seals.
//
// The first byte says of which sample; then come changes, one behind the other.
#include <array>

#include "base/bytes.h"
#include "fuzz/database.h"
#include "testing/database_image.h"
#include "testing/sample_databases.h"
#include "testing/seeded_random.h"

using hawthorn::fuzz::Bytes;
using hawthorn::testing::DatabaseImage;
using hawthorn::testing::Sample;
using hawthorn::testing::SimDisk;
using hawthorn::testing::SimMachine;
using namespace hawthorn;  // NOLINT: a program

namespace {

constexpr char kDirectory[] = "/db";
constexpr int kChangesMax = 8;
constexpr size_t kBlockBytes = 4096;
constexpr size_t kFileBytesMax = size_t{8} << 20;
constexpr uint64_t kDiskBytes = uint64_t{128} << 20;

// What each of them is, made once: the samples, and one more, which is encrypted.
struct Made {
  std::unique_ptr<SimDisk> disk;
  DatabaseImage image;
  Encryption encryption;
};
const Made& made(size_t number) {
  static const std::array<Made, hawthorn::testing::kSamples + 1> all = [] {
    fuzz::shrink_sizes();
    std::array<Made, hawthorn::testing::kSamples + 1> samples;
    for (size_t i = 0; i < samples.size(); ++i) {
      SimDisk disk(i + 1);
      const SimMachine machine(disk, i + 1);
      std::unique_ptr<Db> open;
      Sample sample = static_cast<Sample>(i);
      if (i == hawthorn::testing::kSamples) {
        hawthorn::testing::seed_random(i);
        sample = Sample::kValues;
        samples[i].encryption = hawthorn::testing::sample_encryption();
      }
      FUZZ_OK(hawthorn::testing::make_sample(machine.machine(), kDirectory, sample, &open,
                                             samples[i].encryption));
      samples[i].disk = disk.after_crash(1, hawthorn::testing::CrashKind::kProcessKill);
      auto image = DatabaseImage::read(*samples[i].disk, kDirectory);
      FUZZ_OK(image.status());
      samples[i].image = *std::move(image);
    }
    return samples;
  }();
  return all[number % all.size()];
}

// Numbers at which something may go over.
uint64_t any_number(Bytes& in) {
  static constexpr uint64_t kNumbers[] = {0,
                                          1,
                                          2,
                                          0x7f,
                                          0xff,
                                          0x1000,
                                          0xffff,
                                          0x10000,
                                          0x7fffffff,
                                          0x80000000,
                                          0xfffffffe,
                                          0xffffffff,
                                          0x100000000,
                                          (uint64_t{1} << 62) - 1,
                                          uint64_t{1} << 62,
                                          uint64_t{1} << 63,
                                          ~uint64_t{0}};
  return kNumbers[in.byte() % std::size(kNumbers)];
}

// Bytes of the input, a number, or a small difference to what stands there.
void change(std::string& bytes, size_t offset, Bytes& in) {
  if (bytes.empty()) return;
  offset %= bytes.size();
  const uint8_t how = in.byte();
  const size_t width = size_t{1} << (how / 4 % 4);
  const size_t room = std::min(width, bytes.size() - offset);
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + offset, room);
  switch (how % 4) {
    case 0: {
      const std::string_view taken = in.take(how / 4).substr(0, bytes.size() - offset);
      bytes.replace(offset, taken.size(), taken);
      return;
    }
    case 1:
      number = any_number(in);
      break;
    case 2:
      number += static_cast<uint64_t>(static_cast<int8_t>(in.byte()));
      break;
    default:
      number ^= uint64_t{1} << (in.byte() % 64);
      break;
  }
  std::memcpy(bytes.data() + offset, &number, room);
}

class Changes {
 public:
  Changes(DatabaseImage& image, Bytes& in) : image_(image), in_(in) {}

  void one() {
    const uint8_t what = in_.byte();
    if (what % 16 < 7) return of_manifest(what % 16);
    switch (what % 16) {
      case 7:
        if (std::string* const superblock = image_.file("superblock")) {
          // Both slots alike, so that none is preferred.
          const size_t offset = in_.byte();
          const Bytes same = in_;
          change(*superblock, offset, in_);
          in_ = same;
          change(*superblock, 4096 + offset, in_);
          image_.seal_superblock();
        }
        return;
      case 8:
      case 9: {
        DatabaseImage::Record* const container = any_container();
        if (container == nullptr) return;
        const size_t offset = in_.number<uint16_t>();
        image_.edit_run(*container, [&](std::string& run) { change(run, offset, in_); });
        return;
      }
      case 10: {
        DatabaseImage::Record* const container = any_container();
        if (container == nullptr) return;
        const size_t offset = in_.number<uint16_t>();
        image_.edit_values(*container, in_.byte() % 4,
                           [&](std::string& values) { change(values, offset, in_); });
        return;
      }
      case 11:
      case 12: {
        const size_t number = in_.number<uint16_t>();
        const size_t offset = in_.number<uint16_t>();
        image_.edit_log(number, [&](format::RecordHeader&, std::string& payload) {
          change(payload, offset, in_);
        });
        return;
      }
      case 13:
        return of_log_headers();
      default:
        return of_files(what / 16);
    }
  }

 private:
  DatabaseImage::Record* any_container() {
    const auto containers = image_.records_of(format::ManifestRecordType::kContainerSet);
    return containers.empty() ? nullptr : containers[in_.byte() % containers.size()];
  }

  void of_manifest(uint8_t what) {
    std::vector<DatabaseImage::Record>& records = image_.manifest();
    if (records.empty()) return;
    const size_t at = in_.number<uint16_t>() % records.size();
    const auto place = records.begin() + static_cast<ptrdiff_t>(at);
    switch (what) {
      case 0:
      case 1:
      case 2: {
        const size_t offset = in_.byte();
        change(records[at].payload, offset, in_);
        break;
      }
      case 3:
        records.erase(place);
        break;
      case 4: {
        const DatabaseImage::Record copy = records[in_.number<uint16_t>() % records.size()];
        records.insert(place, copy);
        break;
      }
      case 5: {
        const auto type = static_cast<format::ManifestRecordType>(in_.byte() % 24);
        records.insert(place, {type, std::string(in_.take(in_.byte()))});
        break;
      }
      default: {
        std::string& payload = records[at].payload;
        payload.resize(std::min<size_t>(in_.number<uint16_t>() % 600, payload.size() + 64), 'x');
        break;
      }
    }
    image_.seal_manifest();
  }

  void of_log_headers() {
    const uint8_t how = in_.byte();
    if (how % 2 == 0) {
      const auto type = static_cast<format::RecordType>(in_.byte() % 16);
      const uint32_t operations = in_.byte();
      image_.append_log(type, operations, in_.take(in_.byte()));
      return;
    }
    image_.edit_log(in_.number<uint16_t>(), [&](format::RecordHeader& header, std::string&) {
      if (how / 2 % 3 == 0) header.type = in_.byte() % 16;
      if (how / 2 % 3 == 1) header.operations = static_cast<uint32_t>(any_number(in_));
      if (how / 2 % 3 == 2) header.durable_lsn += in_.number<uint32_t>();
    });
  }

  // As they are: mostly found by checksums.
  void of_files(uint8_t what) {
    if (image_.files().empty()) return;
    auto file = image_.files().begin();
    std::advance(file, in_.byte() % image_.files().size());
    switch (what % 5) {
      case 0: {
        const size_t offset = in_.number<uint32_t>();
        change(file->second, offset, in_);
        return;
      }
      case 1:
        file->second.resize(in_.number<uint32_t>() % kFileBytesMax);
        return;
      case 2:
        image_.files().erase(file);
        return;
      case 3: {
        const std::string bytes = file->second;
        auto other = image_.files().begin();
        std::advance(other, in_.byte() % image_.files().size());
        other->second = bytes;
        return;
      }
      default: {
        // A block that stood elsewhere, in this file or another one.
        auto other = image_.files().begin();
        std::advance(other, in_.byte() % image_.files().size());
        const size_t from = in_.number<uint16_t>() % (file->second.size() / kBlockBytes + 1);
        const size_t to = in_.number<uint16_t>() % (other->second.size() / kBlockBytes + 1);
        const std::string bytes = file->second.substr(from * kBlockBytes, kBlockBytes);
        other->second.replace(to * kBlockBytes, bytes.size(), bytes);
        return;
      }
    }
  }

  DatabaseImage& image_;
  Bytes& in_;
};

// The whole disk again is more than what was changed.
std::unique_ptr<SimDisk> disk_of(const Made& from, DatabaseImage& image) {
  auto disk = from.disk->after_crash(1, hawthorn::testing::CrashKind::kProcessKill);
  disk->set_capacity(kDiskBytes);
  DatabaseImage before = from.image;
  for (const auto& [name, bytes] : before.files()) {
    if (!image.files().contains(name)) FUZZ_OK(disk->remove(kDirectory + ("/" + name)));
  }
  for (const auto& [name, bytes] : image.files()) {
    const std::string* const old = before.file(name);
    if (old != nullptr && *old == bytes) continue;
    auto file = disk->open_file(kDirectory + ("/" + name), {.create = true});
    FUZZ_OK(file.status());
    FUZZ_OK((*file)->truncate(bytes.size()));
    FUZZ_OK((*file)->write_at(0, bytes));
  }
  return disk;
}

}  // namespace

extern "C" const char* __asan_default_options() { return fuzz::kAsanOptions; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const uint8_t first = in.byte();
  const Made& from = made(first % 16);
  hawthorn::testing::seed_random(first);
  DatabaseImage image = from.image;
  for (int i = 0; i < kChangesMax && !in.empty(); ++i) Changes(image, in).one();
  const auto disk = disk_of(from, image);
  const SimMachine machine(*disk, 1);
  const hawthorn::testing::Exercised found = hawthorn::testing::exercise(
      machine.machine(), kDirectory, first / 16 % 4 == 0, from.encryption);
  if (!found.violated.empty()) fuzz::fail(__FILE__, __LINE__, "exercise", found.violated);
  if (size <= 1) {
    FUZZ_OK(found.read);
    FUZZ_OK(found.written);
    FUZZ_CHECK(found.reports == 0);
  }
  return 0;
}
