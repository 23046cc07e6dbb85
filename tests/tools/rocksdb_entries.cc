// Writes databases through RocksDB's API, and prints what is in them. Compiled twice, for RocksDB
// and for hawthorn-rocksdb, so that the tests of import and export can compare the two.
//
//   rocksdb_entries write DIR SEED      all kinds of families and entries; what was written last is
//                                       in the log alone
//   rocksdb_entries load DIR ENTRIES    one family with so many entries of 1 KB
//   rocksdb_entries large DIR key|value one that is larger than Hawthorn takes
//   rocksdb_entries foreign DIR WHAT    a family with a comparator or a merge operator of its own
//   rocksdb_entries hold DIR            keeps it open for writing until standard input ends
//   rocksdb_entries print DIR           families with their comparators, then all entries

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/version.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using Descriptors = std::vector<rocksdb::ColumnFamilyDescriptor>;

constexpr size_t kPrintedBytesMax = 64;
constexpr bool kMergesEntities = ROCKSDB_MAJOR >= 8;

// RocksDB comes with one of this name.
class AddNumbers final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "UInt64AddOperator"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& operand,
             std::string* result, rocksdb::Logger*) const override {
    const uint64_t sum = number(existing) + number(&operand);
    result->assign(reinterpret_cast<const char*>(&sum), sizeof(sum));
    return true;
  }

 private:
  static uint64_t number(const rocksdb::Slice* bytes) {
    uint64_t number = 0;
    if (bytes != nullptr && bytes->size() == sizeof(number)) {
      std::memcpy(&number, bytes->data(), sizeof(number));
    }
    return number;
  }
};

class LastOperand final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "tests.LastOperand"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice*, const rocksdb::Slice& operand,
             std::string* result, rocksdb::Logger*) const override {
    *result = operand.ToString();
    return true;
  }
};

class ByLength final : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "tests.ByLength"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

void must(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

rocksdb::ColumnFamilyOptions options_of(const std::string& family) {
  static const ByLength by_length;
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = 1 << 20;
  options.compression = rocksdb::kNoCompression;
  if (family.find("reverse") == 0) options.comparator = rocksdb::ReverseBytewiseComparator();
  if (family.find("counter") != std::string::npos) {
    options.merge_operator = std::make_shared<AddNumbers>();
  }
  if (family == "compressed") options.compression = rocksdb::kZSTD;
  if (family == "comparator") options.comparator = &by_length;
  if (family == "merge operator") options.merge_operator = std::make_shared<LastOperand>();
  return options;
}

struct Database {
  explicit Database(const std::string& directory, const std::vector<std::string>& names,
                    bool read_only = false) {
    Descriptors descriptors;
    for (const std::string& name : names) descriptors.emplace_back(name, options_of(name));
    rocksdb::DBOptions options;
    options.create_if_missing = !read_only;
    options.create_missing_column_families = !read_only;
    options.avoid_flush_during_shutdown = true;
    rocksdb::DB* opened = nullptr;
    must(read_only
             ? rocksdb::DB::OpenForReadOnly(options, directory, descriptors, &families, &opened)
             : rocksdb::DB::Open(options, directory, descriptors, &families, &opened));
    db.reset(opened);
  }
  ~Database() {
    for (rocksdb::ColumnFamilyHandle* family : families) {
      must(db->DestroyColumnFamilyHandle(family));
    }
    must(db->Close());
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::ColumnFamilyHandle* family(const std::string& name) const {
    for (rocksdb::ColumnFamilyHandle* family : families) {
      if (family->GetName() == name) return family;
    }
    std::abort();
  }

  std::vector<rocksdb::ColumnFamilyHandle*> families;
  std::unique_ptr<rocksdb::DB> db;
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  size_t below(size_t limit) { return engine_() % limit; }
  std::string bytes(size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(engine_());
    return bytes;
  }

 private:
  std::mt19937_64 engine_;
};

std::string number_bytes(uint64_t number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

void write_round(const Database& to, Random& random) {
  const rocksdb::WriteOptions options;
  const auto put = [&](const std::string& family, const std::string& key,
                       const std::string& value) {
    must(to.db->Put(options, to.family(family), key, value));
  };
  for (int i = 0; i < 1500; ++i) {
    put("default", random.bytes(1 + random.below(30)), random.bytes(random.below(300)));
    put("reverse", random.bytes(1 + random.below(8)), random.bytes(random.below(40)));
    put("compressed", "key " + std::to_string(random.below(3000)),
        std::string(200, static_cast<char>('a' + random.below(26))));
    for (const char* family : {"counters", "reverse counters"}) {
      must(to.db->Merge(options, to.family(family), "counter " + std::to_string(random.below(200)),
                        number_bytes(random.below(1000))));
    }
  }
  for (int i = 0; i < 300; ++i) {
    const std::string key = "row " + std::to_string(random.below(500));
    const std::string first = random.bytes(random.below(20));
    const std::string second = random.bytes(random.below(100));
    for (const char* family : {"entities", "counters of entities"}) {
      rocksdb::ColumnFamilyHandle* const to_family = to.family(family);
      switch (random.below(4)) {
        case 0:
          must(to.db->Put(options, to_family, key, number_bytes(random.below(1000))));
          break;
        case 1:
          must(
              to.db->PutEntity(options, to_family, key,
                               {{rocksdb::kDefaultWideColumnName, number_bytes(random.below(1000))},
                                {"first", first}}));
          break;
        default:
          must(to.db->PutEntity(options, to_family, key, {{"second", second}, {"first", first}}));
      }
    }
    must(to.db->Merge(options, to.family("counters of entities"),
                      kMergesEntities ? "row " + std::to_string(random.below(500)) : "sum",
                      number_bytes(random.below(1000))));
  }
  put("default", "empty value", "");
  put("default", random.bytes(5), random.bytes((3 << 20) + random.below(1 << 20)));
  put("default", random.bytes(3000), "of a long key");
  put("a \"name\" with = and \xc3\xa4", std::string("\0\xff", 2), std::string("\0", 1));
  for (int i = 0; i < 300; ++i) {
    must(to.db->Delete(options, to.family("compressed"),
                       "key " + std::to_string(random.below(3000))));
  }
  const std::string from = "key " + std::to_string(random.below(3000));
  must(to.db->DeleteRange(options, to.family("compressed"), from, from + "9"));
}

void write(const std::string& directory, uint64_t seed) {
  const std::vector<std::string> names = {"default",
                                          "counters",
                                          "reverse",
                                          "dropped",
                                          "empty",
                                          "compressed",
                                          "reverse counters",
                                          "a \"name\" with = and \xc3\xa4",
                                          "entities",
                                          "counters of entities"};
  Database database(directory, names);
  must(database.db->DropColumnFamily(database.family("dropped")));
  Random random(seed);
  for (int round = 0; round < 3; ++round) {
    if (round > 0) {
      for (const std::string& name : names) {
        if (name != "dropped") {
          must(database.db->Flush(rocksdb::FlushOptions(), database.family(name)));
        }
      }
    }
    write_round(database, random);
  }
}

void load(const std::string& directory, int entries) {
  Database database(directory, {"default"});
  Random random(1);
  for (int i = 0; i < entries; ++i) {
    must(database.db->Put(rocksdb::WriteOptions(), number_bytes(static_cast<uint64_t>(i)),
                          random.bytes(1000)));
  }
  must(database.db->Flush(rocksdb::FlushOptions()));
}

void large(const std::string& directory, const std::string& what) {
  const Database database(directory, {"default"});
  const std::string key = what == "key" ? std::string(70000, 'k') : "large";
  const std::string value(what == "key" ? 1 : (65 << 20), 'v');
  must(database.db->Put(rocksdb::WriteOptions(), key, value));
}

void foreign(const std::string& directory, const std::string& what) {
  Database database(directory, {"default", what});
  must(database.db->Put(rocksdb::WriteOptions(), database.family(what), "key", "value"));
}

std::string hex(const rocksdb::Slice& bytes) {
  if (bytes.size() <= kPrintedBytesMax) return bytes.ToString(true);
  char text[64];
  std::snprintf(text, sizeof(text), "%zu bytes, hash %016zx", bytes.size(),
                std::hash<std::string>()(bytes.ToString()));
  return text;
}

void print(const std::string& directory) {
  std::vector<std::string> names;
  must(rocksdb::DB::ListColumnFamilies(rocksdb::DBOptions(), directory, &names));
  const Database database(directory, names, true);
  for (rocksdb::ColumnFamilyHandle* family : database.families) {
    std::printf("family %s, %s\n", family->GetName().c_str(), family->GetComparator()->Name());
  }
  for (rocksdb::ColumnFamilyHandle* family : database.families) {
    std::printf("entries of %s\n", family->GetName().c_str());
    const std::unique_ptr<rocksdb::Iterator> at(
        database.db->NewIterator(rocksdb::ReadOptions(), family));
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
      std::printf("%s %s", hex(at->key()).c_str(), hex(at->value()).c_str());
      for (const rocksdb::WideColumn& column : at->columns()) {
        if (column.name() == rocksdb::kDefaultWideColumnName) continue;
        std::printf(" %s=%s", hex(column.name()).c_str(), hex(column.value()).c_str());
      }
      std::printf("\n");
    }
    must(at->status());
  }
}

void hold(const std::string& directory) {
  std::vector<std::string> names;
  must(rocksdb::DB::ListColumnFamilies(rocksdb::DBOptions(), directory, &names));
  const Database database(directory, names);
  std::puts("open");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[1] : "";
  const std::string directory = argc > 2 ? argv[2] : "";
  const std::string argument = argc > 3 ? argv[3] : "";
  if (command == "print") {
    print(directory);
  } else if (command == "hold") {
    hold(directory);
  } else if (command == "write" && argc > 3) {
    write(directory, std::strtoull(argument.c_str(), nullptr, 10));
  } else if (command == "load" && argc > 3) {
    load(directory, std::atoi(argument.c_str()));
  } else if (command == "large" && argc > 3) {
    large(directory, argument);
  } else if (command == "foreign" && argc > 3) {
    foreign(directory, argument);
  } else {
    std::fprintf(stderr, "rocksdb_entries write|load|large|foreign|hold|print DIR [ARGUMENT]\n");
    return 2;
  }
  return 0;
}
