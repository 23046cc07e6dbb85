// Writes seeds for the fuzz targets whose inputs encoders know: what a database of each kind
// (testing/sample_databases.h) has in its manifest, its log and its catalog, in the form in which
// each target takes it; and sequences that reach every operation. Usage: fuzz_seeds FOLDER, in
// which each target has a folder of its name.
#include <filesystem>
#include <fstream>
#include <set>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/prng.h"
#include "format/catalog_entry.h"
#include "format/operation.h"
#include "fuzz/database.h"
#include "testing/database_image.h"
#include "testing/sample_databases.h"

namespace fs = std::filesystem;
using hawthorn::testing::DatabaseImage;
using hawthorn::testing::Sample;
using hawthorn::testing::SimDisk;
using hawthorn::testing::SimMachine;
using namespace hawthorn;  // NOLINT: a program

namespace {

constexpr size_t kSeedBytesMax = 4096;
constexpr size_t kOfAKindMax = 6;

class Seeds {
 public:
  explicit Seeds(std::string folder) : folder_(std::move(folder)) {}

  // Named by what it holds, so that writing them again changes nothing.
  void add(const std::string& target, const std::string& kind, std::string_view bytes) {
    if (bytes.size() > kSeedBytesMax || bytes.empty()) return;
    if (!seen_[target].insert(std::string(bytes)).second) return;
    const size_t number = numbers_[target + " " + kind]++;
    if (number >= kOfAKindMax) return;
    fs::create_directories(folder_ + "/" + target);
    std::ofstream(folder_ + "/" + target + "/seed-" + kind + "-" + std::to_string(number),
                  std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  const std::string folder_;
  std::map<std::string, std::set<std::string>> seen_;
  std::map<std::string, size_t> numbers_;
};

template <typename T>
void append_number(std::string& to, T number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void of_manifest(Seeds& seeds, DatabaseImage& image) {
  std::string whole(1, '\0');
  for (const DatabaseImage::Record& record : image.manifest()) {
    const bool commit = record.type == format::ManifestRecordType::kBatchCommit;
    const std::string payload = commit || record.type == format::ManifestRecordType::kBatchBegin
                                    ? std::string(1, '\0')
                                    : record.payload;
    // A long name or dictionary is nothing that helps.
    if (payload.size() > 600) continue;
    whole.push_back(static_cast<char>(record.type));
    append_number(whole, static_cast<uint16_t>(payload.size()));
    whole += payload;
    if (commit) seeds.add("manifest", "batches", whole);
    if (record.type == format::ManifestRecordType::kContainerSet) {
      seeds.add("log", "container", "\4" + record.payload);
    }
  }
}

void of_operations(Seeds& seeds, std::string_view bytes) {
  const char* from = bytes.data();
  const char* const end = from + bytes.size();
  while (from < end) {
    format::Operation operation;
    from = format::decode_operation(from, end, &operation);
    if (from == nullptr) return;
    if (operation.tree == format::kCatalogTree) {
      seeds.add("catalog", "entry", std::string(1, '\0') + std::string(operation.value));
      seeds.add("catalog", "note", "\1" + std::string(operation.value));
      seeds.add("catalog", "place", "\2" + std::string(operation.key));
    }
    if (operation.type == format::OperationType::kPutLarge) {
      seeds.add("large_value", "reference", operation.value);
    }
  }
}

void of_log(Seeds& seeds, DatabaseImage& image) {
  for (size_t i = 0; i < image.log_count(); ++i) {
    image.edit_log(i, [&](format::RecordHeader& header, std::string& payload) {
      const auto type = static_cast<format::RecordType>(header.type);
      if (type == format::RecordType::kCommit) {
        seeds.add("log", "operations", "\1" + payload);
        of_operations(seeds, payload);
      } else if (type == format::RecordType::kPrepare) {
        seeds.add("log", "prepare", "\2" + payload);
      }
      std::string sealed("\0\0", 2);
      append_number(sealed, header);
      append_number(sealed, uint64_t{1});
      seeds.add("log", "header-" + std::to_string(header.type), sealed);
    });
  }
}

void of_feed(Seeds& seeds, Db& db) {
  Result<Feed> feed = db.open_feed("feed");
  FUZZ_OK(feed.status());
  for (;;) {
    const Result<FeedCommit*> commit = feed->next();
    FUZZ_OK(commit.status());
    if (*commit == nullptr) return;
    std::string pieces;
    for (;;) {
      std::string piece;
      const Result<bool> more = (*commit)->encode(&piece);
      FUZZ_OK(more.status());
      if (!*more || piece.size() > UINT16_MAX) break;
      pieces.push_back('\2');
      append_number(pieces, static_cast<uint16_t>(piece.size()));
      pieces += piece;
    }
    seeds.add("feed", "commit", pieces);
  }
}

// Each kind of change once, in each sample (directory_fuzz.cc).
void of_directory(Seeds& seeds) {
  for (int sample = 0; sample <= hawthorn::testing::kSamples; ++sample) {
    for (int kind = 0; kind < 64; ++kind) {
      std::string input(1, static_cast<char>(sample));
      input.push_back(static_cast<char>(kind));
      Prng prng(static_cast<uint64_t>(sample * 64 + kind));
      for (int i = 0; i < 12; ++i) input.push_back(static_cast<char>(prng.below(64)));
      seeds.add("directory", "sample-" + std::to_string(sample), input);
    }
    seeds.add("directory", "unchanged", std::string(1, static_cast<char>(sample)));
  }
}

// Each operation of operations_fuzz.cc behind a few entries and a transaction, with what chance
// makes of it; every other one in an encrypted database, and the copy in both.
void of_operations_target(Seeds& seeds) {
  constexpr int kOperations = 40;
  constexpr int kCopy = 32;
  for (int seed = 0; seed <= kOperations; ++seed) {
    const int operation = seed < kOperations ? seed : kCopy;
    const bool encrypted = seed % 2 != 0 || seed == kOperations;
    Prng prng(static_cast<uint64_t>(seed));
    const auto add = [&](std::string& to, int what) {
      to.push_back(static_cast<char>(what));
      for (int i = 0; i < 6; ++i) to.push_back(static_cast<char>(prng.next()));
    };
    std::string input(1, encrypted ? '\34' : '\0');
    for (const int before : {0, 4, 26, 17, 7, 8, 8}) add(input, before);
    for (int i = 0; i < 5; ++i) {
      add(input, operation);
      add(input, 8);
    }
    for (const int behind : {12, 25, 39, 35}) add(input, behind);
    seeds.add("operations", "operation-" + std::to_string(seed), input);
  }
}

// A name, a size, parts, an end (backup_fuzz.cc); and changes of a repository.
void of_backups(Seeds& seeds) {
  std::string stream("\3\1", 2);  // a stream that is not changed
  for (const char* file : {"\0\0\15\0\4", "\4\2\2\0\1"}) {
    stream.append(file, 5);
    for (int part = 0; part < 2; ++part) {
      stream.append("\1\3\4some", 7);
    }
  }
  seeds.add("backup", "stream", stream);
  // An index of one file without parts: changed in its time, in its seal's salt, not at all, and of
  // another repository.
  for (const char* how : {"\0\30", "\0\166", "\1\0", "\15\0"}) {
    std::string index("\31", 1);
    index.append(how, 1).append(1, '\7');
    index.append("\7\3\0\0\1\3\0", 7).append(1, '\0').append(how + 1, 1).append("\0\0\0\0x", 5);
    seeds.add("backup", "sealed-index", index);
  }
  // A sealed index in a repository, of which a file gets another name.
  for (const char file : {'\1', '\2'}) {
    std::string input("\36\0\0\0\0", 5);
    input.append(1, file).append("\0\3", 2);
    seeds.add("backup", "sealed-repository", input);
  }
  // Behind the first eight those of an encrypted database.
  for (int kind : {0, 1, 2, 3, 4, 5, 6, 7, 25, 27, 30}) {
    for (uint64_t number = 0; number < 5; ++number) {
      Prng prng(number * 8 + static_cast<uint64_t>(kind));
      std::string input(1, static_cast<char>(kind));
      const uint64_t size = 20 + prng.below(100);
      for (uint64_t i = 0; i < size; ++i) input.push_back(static_cast<char>(prng.next()));
      seeds.add("backup", "kind-" + std::to_string(kind), input);
    }
  }
}

// Of operations chance alone is no worse.
void of_sequences(Seeds& seeds) {
  for (uint64_t i = 0; i < 4; ++i) {
    for (const char* target : {"options"}) {
      Prng prng(i);
      std::string input;
      for (int bytes = 0; bytes < 400; ++bytes) input.push_back(static_cast<char>(prng.next()));
      seeds.add(target, "random", input);
    }
  }
}

// Blocks of records as the shim's files of entries have them; see entries_fuzz.cc.
void of_entries(Seeds& seeds) {
  using namespace std::string_view_literals;
  constexpr char kPut = 0x1;
  constexpr char kMerge = 0x2;
  constexpr char kDelete = 0x0;
  constexpr char kRange = 0xF;
  constexpr char kEntity = 0x16;
  const auto record = [](char tag, std::string_view key, std::string_view value) {
    std::string bytes(1, tag);
    bytes += static_cast<char>(key.size());
    bytes += key;
    if (tag == kDelete) return bytes;
    bytes += static_cast<char>(value.size());
    return bytes += value;
  };
  const auto file = [](char entries, char ranges, char others, const std::string& blocks) {
    return std::string{'\1', entries, ranges, others} + blocks;
  };
  const auto block = [](const std::string& records) {
    return static_cast<char>(records.size() - 1) + records;
  };
  const std::string columns = record(kEntity, "c",
                                     "\1\2\0\1\1x\1"
                                     "12"sv);
  seeds.add(
      "entries", "puts",
      file(3, 0, 0,
           block(record(kPut, "a", "1") + record(kPut, "b", "2")) + block(record(kPut, "c", "3"))));
  seeds.add("entries", "all",
            file(5, 1, 3,
                 block(record(kDelete, "a", "") + record(kMerge, "b", "2")) +
                     block(record(kRange, "a", "z")) + block(columns + record(kPut, "d", "4"))));
  seeds.add("entries", "disorder",
            file(2, 0, 0, block(record(kPut, "b", "1") + record(kPut, "a", "2"))));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  fuzz::shrink_sizes();
  Seeds seeds(argv[1]);
  for (int i = 0; i < hawthorn::testing::kSamples; ++i) {
    SimDisk disk(1);
    const SimMachine machine(disk, 1);
    std::unique_ptr<Db> db;
    FUZZ_OK(hawthorn::testing::make_sample(machine.machine(), "/db", static_cast<Sample>(i), &db));
    const auto killed = disk.after_crash(1, hawthorn::testing::CrashKind::kProcessKill);
    auto image = DatabaseImage::read(*killed, "/db");
    FUZZ_OK(image.status());
    of_manifest(seeds, *image);
    of_log(seeds, *image);
    if (static_cast<Sample>(i) == Sample::kValues) of_feed(seeds, *db);
  }
  of_directory(seeds);
  of_operations_target(seeds);
  of_backups(seeds);
  of_sequences(seeds);
  of_entries(seeds);
  return 0;
}
