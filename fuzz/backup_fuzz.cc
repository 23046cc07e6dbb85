// Backups: indexes of repositories, streams, and a repository with two backups of which files are
// changed. Checksums are computed over what the input says, or left as they are. All of it also of
// an encrypted database, whose seals the input cannot make.
//
// What must hold: what is decoded is encoded as it was; a stream that verifies is restored, as the
// files that its records describe, and no other one is; where nobody computed checksums anew, a
// changed repository gives what was backed up, or an error that says what and where. With a key
// that is so whoever computed checksums anew: what has a seal and is not what was sealed is
// refused.
#include <map>

#include "base/checksum.h"
#include "format/backup_layout.h"
#include "format/backup_stream_layout.h"
#include "fuzz/database.h"
#include "os/data_keys.h"
#include "testing/sample_databases.h"
#include "testing/seeded_random.h"
#include "testing/string_stream.h"

namespace format = hawthorn::format;
using hawthorn::fuzz::Bytes;
using hawthorn::testing::SimDisk;
using hawthorn::testing::SimMachine;
using namespace hawthorn;  // NOLINT: a program

namespace {

constexpr char kRepository[] = "/repository";
constexpr char kTarget[] = "/target";
constexpr uint64_t kDiskBytes = uint64_t{64} << 20;
constexpr int kRecordsMax = 40;

// Pieces of the input at offsets that it names.
void lay_over(std::string& bytes, Bytes& in) {
  for (int left = 1 + in.byte() % 4; left > 0 && !bytes.empty(); --left) {
    const size_t offset = in.number<uint32_t>() % bytes.size();
    const std::string_view piece = in.take(1 + in.byte() % 8);
    bytes.replace(offset, std::min(piece.size(), bytes.size() - offset),
                  piece.substr(0, bytes.size() - offset));
  }
}

// The input's last bytes, to change what its first ones have made.
Bytes split(Bytes& in) {
  const std::string_view all = in.rest();
  const size_t size = std::min<size_t>(all.size() / 2, 16);
  const auto* const from = reinterpret_cast<const uint8_t*>(all.data());
  in = Bytes(from, all.size() - size);
  return {from + all.size() - size, size};
}

uint64_t any_number(Bytes& in) {
  const uint8_t how = in.byte();
  if (how % 4 == 0) return in.number<uint64_t>();
  return how % 4 == 1 ? in.number<uint32_t>() : how % 4 == 2 ? in.number<uint16_t>() : how / 4;
}

std::string any_name(Bytes& in) {
  static const char* const kNames[] = {"superblock", "manifest.1", "data.0",   "data.1",
                                       "wal.1",      "keys",       "counters", "copy.incomplete",
                                       "lock",       "../data.0",  "",         "parts.1"};
  const uint8_t which = in.byte();
  if (which < 240) return kNames[which % std::size(kNames)];
  return std::string(in.take(in.byte()));
}

std::string file_bytes(SimDisk& disk, const std::string& path) {
  auto file = disk.open_file(path, {.read_only = true});
  FUZZ_OK(file.status());
  std::string bytes((*file)->size().value(), '\0');
  FUZZ_OK((*file)->read_at(0, bytes));
  return bytes;
}
void write_file(SimDisk& disk, const std::string& path, std::string_view bytes) {
  auto file = disk.open_file(path, {.create = true});
  FUZZ_OK(file.status());
  FUZZ_OK((*file)->truncate(bytes.size()));
  FUZZ_OK((*file)->write_at(0, bytes));
}

bool told(const Status& status) {
  if (status.ok()) return true;
  FUZZ_CHECK(!status.message().empty());
  return false;
}

// ---- The files of a repository

void header(Bytes& in) {
  std::string bytes = format::encode_repository(7);
  const bool sealed = in.byte() % 2 == 0;
  lay_over(bytes, in);
  if (sealed) {
    const size_t at = offsetof(format::RepositoryHeader, checksum);
    store(bytes.data() + at, checksum64(bytes.data(), at, 0));
  }
  bytes.resize(in.byte() % 8 == 0 ? in.byte() : bytes.size());
  const auto salt = format::decode_repository(bytes);
  if (!told(salt.status())) return;
  if (load<uint32_t>(bytes.data() + 12) != 0) return;  // reserved, not looked at
  FUZZ_CHECK(format::encode_repository(*salt) == bytes);
}

// Files and parts as the input says, some of which cannot be.
format::BackupIndex any_index(Bytes& in) {
  format::BackupIndex index;
  index.header.id = any_number(in);
  index.header.bytes = any_number(in);
  index.header.incremental = in.byte();
  while (!in.empty() && index.files.size() < 8) {
    format::BackupFile file;
    file.name = any_name(in);
    file.reserve = in.byte() % 2 == 0;
    file.bytes = any_number(in);
    uint64_t offset = 0;
    for (int left = in.byte() % 4; left > 0; --left) {
      format::BackupPart part{};
      part.offset = offset + any_number(in);
      part.backup = in.byte() % 4;
      part.place = any_number(in);
      part.bytes = static_cast<uint32_t>(any_number(in));
      part.reserved = in.byte() == 0 ? 1 : 0;
      offset = part.offset + part.bytes;
      file.parts.push_back(part);
    }
    index.files.push_back(std::move(file));
  }
  return index;
}

void expect_possible(const format::BackupIndex& index) {
  for (const format::BackupFile& file : index.files) {
    FUZZ_CHECK(format::is_backup_file_name(file.name));
    FUZZ_CHECK(file.name.find('/') == std::string::npos && file.name.front() != '.');
    uint64_t end = 0;
    for (const format::BackupPart& part : file.parts) {
      FUZZ_CHECK(part.offset >= end && part.bytes > 0);
      FUZZ_CHECK(part.bytes <= format::kBackupPartBytesMax);
      end = part.offset + part.bytes;
      FUZZ_CHECK(end <= file.bytes && part.backup <= index.header.id);
    }
  }
}

void index(Bytes& in) {
  const uint8_t how = in.byte();
  Bytes change = split(in);
  format::BackupIndex made = any_index(in);
  std::string bytes = format::encode_backup(made);
  if (how % 2 == 0) {
    lay_over(bytes, change);
    if (how % 4 == 0) {
      const size_t at = offsetof(format::BackupHeader, checksum);
      store(bytes.data() + at, checksum64(bytes.data(), at, 0));
      const size_t end = bytes.size() - sizeof(uint64_t);
      store(bytes.data() + end, checksum64(bytes.data(), end, 0));
    }
  }
  (void)told(format::decode_backup_header(bytes).status());
  auto decoded = format::decode_backup(bytes);
  if (!told(decoded.status())) return;
  expect_possible(*decoded);
  if (decoded->seal.has_value()) return;  // its tag follows from a key
  FUZZ_CHECK(format::encode_backup(*decoded) == bytes);
  FUZZ_CHECK(!format::decode_backup(std::string_view(bytes).substr(0, bytes.size() - 1)).ok());
}

std::unique_ptr<Aead> aead_of(const format::BackupSeal& seal) {
  static os::DataKeys keys;
  for (const uint32_t number : {1, 2}) {
    if (keys.has(number)) continue;
    keys.add(number, *SecretKey::from_bytes(std::string(32, static_cast<char>(number))), false);
  }
  auto made = keys.make(seal.key, seal.salt);
  if (!made.ok()) return nullptr;
  return std::move(*made);
}

// One that is sealed, and changed by somebody who computes its checksums anew.
void sealed_index(Bytes& in) {
  const uint8_t how = in.byte();
  const uint64_t salt = in.byte();
  format::BackupSeal seal{.key = 1 + how / 2 % 2u, .salt = {}, .tag = {}};
  seal.salt[0] = static_cast<unsigned char>(how);
  Bytes change = split(in);
  format::BackupIndex made = any_index(in);
  made.seal = seal;
  const auto encoded = format::encode_sealed_backup(made, aead_of(seal), salt);
  FUZZ_OK(encoded.status());
  std::string bytes = *encoded;
  if (how % 2 == 0) lay_over(bytes, change);
  const size_t at = offsetof(format::BackupHeader, checksum);
  store(bytes.data() + at, checksum64(bytes.data(), at, 0));
  const size_t end = bytes.size() - sizeof(uint64_t);
  store(bytes.data() + end, checksum64(bytes.data(), end, 0));
  const auto decoded = format::decode_backup(bytes);
  if (!told(decoded.status())) return;
  expect_possible(*decoded);
  if (!decoded->seal.has_value()) return;
  std::unique_ptr<Aead> aead = aead_of(*decoded->seal);
  if (aead == nullptr) return;
  const uint64_t other = salt ^ (how / 4 % 4 == 3 ? 1 : 0);
  FUZZ_CHECK(format::backup_seal_holds(bytes, std::move(aead), other) ==
             (bytes == *encoded && other == salt));
}

// ---- Streams

class Text : public BackupSource {
 public:
  explicit Text(std::string_view text) : text_(text) {}
  Result<size_t> read(std::span<char> bytes) override {
    // In pieces, as of a pipe.
    const size_t size = std::min({bytes.size(), text_.size() - at_, size_t{777}});
    text_.copy(bytes.data(), size, at_);
    at_ += size;
    return size;
  }

 private:
  const std::string_view text_;
  size_t at_ = 0;
};

// Records, and the files that they describe.
struct Stream {
  std::string bytes;
  std::map<std::string, std::string> files;
  bool large = false;  // a file of a size that is not compared
};

Stream any_stream(Bytes& in) {
  constexpr uint64_t kSalt = 99;
  Stream made;
  made.bytes = format::encode_stream_header(1, kSalt, false);
  uint64_t sequence = 0;
  uint64_t sum = 0;
  std::string name;
  const auto record = [&](format::StreamRecordType type, uint64_t number,
                          std::string_view payload) {
    made.bytes += format::encode_stream_record(type, sequence++, number, payload, kSalt);
    made.bytes += payload;
  };
  for (int i = 0; i < kRecordsMax && !in.empty(); ++i) {
    const uint8_t how = in.byte();
    if (how % 4 == 0) {
      name = any_name(in);
      const uint64_t size = any_number(in);
      record(
          how % 8 == 0 ? format::StreamRecordType::kFile : format::StreamRecordType::kReservedFile,
          size, name);
      if (size > 100'000) {
        made.large = true;
      } else {
        made.files[name] = std::string(size, '\0');
      }
    } else if (how % 4 < 3) {
      const uint64_t offset = any_number(in);
      const std::string_view payload = in.take(in.byte());
      record(format::StreamRecordType::kPart, offset, payload);
      sum += payload.size();
      std::string& file = made.files[name];
      if (offset <= file.size() && payload.size() <= file.size() - offset) {
        file.replace(offset, payload.size(), payload);
      }
    } else if (how % 16 == 3) {
      record(static_cast<format::StreamRecordType>(in.byte() % 8), any_number(in),
             in.take(in.byte()));
    }
  }
  const uint8_t end = in.byte();
  if (end % 8 != 7) record(format::StreamRecordType::kEnd, end % 8 == 6 ? sum + 1 : sum, {});
  if (end / 8 % 4 == 3) made.bytes += "behind the end";
  return made;
}

void stream(Bytes& in) {
  const bool changed = in.byte() % 4 == 0;
  Stream made;
  if (changed) {
    // The input's last bytes change what its first ones made.
    Bytes tail(reinterpret_cast<const uint8_t*>(in.rest().data()) + in.rest().size() / 2,
               in.rest().size() - in.rest().size() / 2);
    Bytes head(reinterpret_cast<const uint8_t*>(in.rest().data()), in.rest().size() / 2);
    made = any_stream(head);
    const std::string before = made.bytes;
    lay_over(made.bytes, tail);
    if (made.bytes != before) {
      Text first(before);
      Text source(made.bytes);
      const auto info = verify_backup(source);
      // All of it is behind checksums, but what follows the end.
      const auto intact = verify_backup(first);
      if (!told(info.status())) return;
      FUZZ_CHECK(intact.ok() && info->bytes_stored == intact->bytes_stored);
      FUZZ_CHECK(std::string_view(before).substr(0, info->bytes_stored) ==
                 std::string_view(made.bytes).substr(0, info->bytes_stored));
    }
  } else {
    made = any_stream(in);
  }
  Text source(made.bytes);
  const auto verified = verify_backup(source);
  (void)told(verified.status());
  SimDisk disk(1);
  disk.set_capacity(kDiskBytes);
  const SimMachine machine(disk, 1);
  Text again(made.bytes);
  const auto restored = restore_backup_on(machine.machine(), again, kTarget);
  if (!told(restored.status())) {
    FUZZ_CHECK(disk.exists(kTarget + std::string("/copy.incomplete")).value() ||
               disk.list(kTarget)->empty());
    return;
  }
  FUZZ_CHECK(verified.ok() && verified->bytes == restored->bytes);
  const auto names = disk.list(kTarget);
  FUZZ_OK(names.status());
  for (const std::string& name : *names) {
    if (name == "lock" || made.large) continue;
    FUZZ_CHECK(made.files.contains(name));
    FUZZ_CHECK(file_bytes(disk, kTarget + ("/" + name)) == made.files[name]);
  }
}

// ---- A whole repository

struct Made {
  std::unique_ptr<SimDisk> disk;
  std::vector<std::string> contents;  // of the backups 1 and 2
  std::string stream;                 // another one
};

std::string contents_of(Db& db) {
  std::string all;
  const auto names = db.list_trees();
  FUZZ_OK(names.status());
  for (const std::string& name : *names) {
    all += name + ":";
    FUZZ_OK(db.scan(*db.find_tree(name), "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) all.append(entry.key).append("=").append(entry.value);
      return true;
    }));
  }
  return all;
}

const Made& made(bool encrypted) {
  const auto make = [](bool sealed) {
    fuzz::shrink_sizes();
    hawthorn::testing::seed_random(1);
    Made made;
    made.disk = std::make_unique<SimDisk>(1);
    const SimMachine machine(*made.disk, 1);
    std::unique_ptr<Db> db;
    FUZZ_OK(hawthorn::testing::make_sample(
        machine.machine(), "/db", hawthorn::testing::Sample::kPlain, &db,
        sealed ? hawthorn::testing::sample_encryption() : Encryption()));
    auto repository = BackupRepository::open_on(machine.machine(), kRepository);
    FUZZ_OK(repository.status());
    for (int i = 0; i < 2; ++i) {
      FUZZ_OK(db->backup(**repository).status());
      made.contents.push_back(contents_of(*db));
      FUZZ_OK(db->put(*db->find_tree("t"), "between", "two backups"));
    }
    repository->reset();
    hawthorn::testing::StringStream sink;
    FUZZ_OK(db->backup_to(sink).status());
    made.stream = std::move(sink.bytes);
    db.reset();
    return made;
  };
  static const Made kPlain = make(false);
  static const Made kSealed = make(true);
  return encrypted ? kSealed : kPlain;
}

// The stream of an encrypted database, with other records, or the same in another order.
void sealed_stream(Bytes& in) {
  const std::string& text = made(true).stream;
  const auto header =
      format::decode_stream_header(std::string_view(text).substr(0, sizeof(format::StreamHeader)));
  FUZZ_OK(header.status());
  struct Record {
    format::StreamRecord head;
    std::string payload;
  };
  std::vector<Record> records;
  for (size_t at = sizeof(*header); at < text.size();) {
    const auto head = format::decode_stream_record(
        std::string_view(text).substr(at, sizeof(format::StreamRecord)), records.size(),
        header->salt);
    FUZZ_OK(head.status());
    records.push_back({*head, text.substr(at + sizeof(*head), head->payload_bytes)});
    at += sizeof(*head) + head->payload_bytes;
  }
  for (int left = in.byte() % 3; left > 0 && !records.empty(); --left) {
    const auto one = records.begin() + in.byte() % static_cast<ptrdiff_t>(records.size());
    const auto other = records.begin() + in.byte() % static_cast<ptrdiff_t>(records.size());
    const uint8_t how = in.byte();
    if (how % 6 == 0) one->head.number = any_number(in);
    if (how % 6 == 1) one->head.type = in.byte() % 8;
    if (how % 6 == 2) lay_over(one->payload, in);
    if (how % 6 == 3) std::swap(*one, *other);
    if (how % 6 == 4) *one = Record(*other);
    if (how % 6 == 5) records.erase(one);
  }
  const uint64_t created_us = header->created_us + (in.byte() % 8 == 7 ? 1 : 0);
  std::string bytes = format::encode_stream_header(created_us, header->salt, in.byte() % 8 != 7);
  uint64_t sequence = 0;
  for (const Record& record : records) {
    bytes +=
        format::encode_stream_record(static_cast<format::StreamRecordType>(record.head.type),
                                     sequence++, record.head.number, record.payload, header->salt);
    bytes += record.payload;
  }
  Text source(bytes);
  const auto info = verify_backup(source, {.encryption = hawthorn::testing::sample_encryption()});
  FUZZ_CHECK(told(info.status()) == (bytes == text));
  Text without(bytes);
  (void)told(verify_backup(without).status());
}

// Indexes get their checksums where `sealed` says so: then a backup may be of other files, of parts
// of which the sums are right.
void change_index(SimDisk& disk, const std::string& path, Bytes& in) {
  auto decoded = format::decode_backup(file_bytes(disk, path));
  if (!decoded.ok()) return;
  for (int left = 1 + in.byte() % 3; left > 0; --left) {
    if (decoded->files.empty()) break;
    format::BackupFile& file = decoded->files[in.byte() % decoded->files.size()];
    const uint8_t how = in.byte();
    if (how % 6 == 0) file.name = any_name(in);
    if (how % 6 == 1) file.bytes = any_number(in);
    if (how % 6 == 2) decoded->header.id = in.byte() % 4;
    if (how % 6 == 3) decoded->files.push_back(file);
    if (how % 6 < 4 || file.parts.empty()) continue;
    format::BackupPart& part = file.parts[in.byte() % file.parts.size()];
    if (how % 6 == 4) part.place = any_number(in);
    if (how / 6 % 3 == 0) part.offset = any_number(in);
    if (how / 6 % 3 == 1) part.backup = in.byte() % 4;
    if (how / 6 % 3 == 2) part.bytes = static_cast<uint32_t>(any_number(in));
  }
  write_file(disk, path, format::encode_backup(*decoded));
}

void repository(Bytes& in, bool encrypted) {
  const Encryption key = encrypted ? hawthorn::testing::sample_encryption() : Encryption();
  const auto disk =
      made(encrypted).disk->after_crash(1, hawthorn::testing::CrashKind::kProcessKill);
  disk->set_capacity(kDiskBytes);
  bool sealed = false;
  for (int left = 1 + in.byte() % 3; left > 0; --left) {
    static const char* const kFiles[] = {"backup.1", "backup.2", "parts.1", "parts.2",
                                         "repository"};
    const uint8_t which = in.byte();
    const std::string path = kRepository + ("/" + std::string(kFiles[which % 5]));
    if (!disk->exists(path).value()) continue;
    const uint8_t how = in.byte();
    if (how % 4 == 0 && which % 5 < 2) {
      change_index(*disk, path, in);
      sealed = true;
    } else if (how % 16 == 1) {
      FUZZ_OK(disk->remove(path));
    } else {
      std::string bytes = file_bytes(*disk, path);
      if (how % 16 == 2) {
        bytes.resize(in.number<uint32_t>() % (bytes.size() + 2));
      } else {
        lay_over(bytes, in);
      }
      write_file(*disk, path, bytes);
    }
  }
  const SimMachine machine(*disk, 1);
  auto opened = BackupRepository::open_on(machine.machine(), kRepository);
  if (!told(opened.status())) return;
  (void)told((*opened)->list().status());
  for (const uint64_t id : {1, 2}) {
    const Status verified = (*opened)->verify(id, {.encryption = key});
    (void)told(verified);
    const std::string target = kTarget + std::to_string(id);
    const Status restored = (*opened)->restore(id, target, {.encryption = key});
    if (!told(restored)) continue;
    FUZZ_OK(verified);
    auto db = Db::open_on(machine.machine(), target, hawthorn::testing::sample_options(key));
    if (sealed && !encrypted) {
      (void)told(db.status());
      continue;
    }
    FUZZ_OK(db.status());
    FUZZ_CHECK(contents_of(**db) == made(encrypted).contents[id - 1]);
  }
  const bool second = (*opened)->verify(2).ok();
  (void)told((*opened)->remove(1));
  FUZZ_CHECK(!second || (*opened)->verify(2).ok());
}

}  // namespace

extern "C" const char* __asan_default_options() { return fuzz::kAsanOptions; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const uint8_t first = in.byte();
  const bool encrypted = first / 8 % 4 == 3;
  hawthorn::testing::seed_random(first);
  switch (first % 8) {
    case 0:
      header(in);
      break;
    case 1:
    case 2:
      encrypted ? sealed_index(in) : index(in);
      break;
    case 3:
    case 4:
    case 5:
      encrypted ? sealed_stream(in) : stream(in);
      break;
    default:
      repository(in, encrypted);
      break;
  }
  return 0;
}
