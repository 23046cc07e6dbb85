// Copies of a database in use: a checkpoint is a database itself, a repository holds several
// backups and stores once what they have in common, and a stream goes wherever its bytes are sent.

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "must.h"

using hawthorn::BackupInfo;
using hawthorn::Db;
using hawthorn::Tree;

namespace {

std::string balance_in(const std::string& directory) {
  auto db = must(Db::open(directory, {}));
  hawthorn::Value value;
  must(db->get(must(db->find_tree("accounts")), "ada", value));
  return value.to_string();
}

// A stream is whatever takes the bytes and gives them back: here a file.
class FileSink : public hawthorn::BackupSink {
 public:
  explicit FileSink(const std::string& path) : file_(path, std::ios::binary) {}
  hawthorn::Status write(std::string_view bytes) override {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (file_.flush()) return {};
    return hawthorn::Status(hawthorn::StatusCode::kIoError, "the backup's file");
  }

 private:
  std::ofstream file_;
};

class FileSource : public hawthorn::BackupSource {
 public:
  explicit FileSource(const std::string& path) : file_(path, std::ios::binary) {}
  hawthorn::Result<size_t> read(std::span<char> bytes) override {
    file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (file_.bad()) return hawthorn::Status(hawthorn::StatusCode::kIoError, "the backup's file");
    return static_cast<size_t>(file_.gcount());
  }

 private:
  std::ifstream file_;
};

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const std::string base = db->path();
  for (const char* end : {".copy", ".backups", ".restored", ".stream"}) {
    std::filesystem::remove_all(base + end);
  }
  const Tree accounts = must(db->tree("accounts"));
  for (int i = 0; i < 10'000; ++i) {
    must(db->put(accounts, "account " + std::to_string(i), std::string(100, 'x'),
                 hawthorn::Durability::kNone));
  }
  must(db->put(accounts, "ada", "100"));
  must(db->flush());

  // Writers need not stop for any of these.
  must(db->checkpoint(base + ".copy"));
  auto repository = must(hawthorn::BackupRepository::open(base + ".backups"));
  const BackupInfo monday = must(db->backup(*repository));
  must(db->put(accounts, "ada", "70"));
  const auto tell = [](uint64_t bytes) {
    std::printf("%llu MB copied\n", static_cast<unsigned long long>(bytes >> 20));
    return hawthorn::Status();  // an error would end the backup
  };
  const BackupInfo tuesday =
      must(db->backup(*repository, {.bytes_per_second = uint64_t{500} << 20, .progress = tell}));
  must(tuesday.incremental && tuesday.bytes_stored < monday.bytes_stored);

  must(repository->verify(tuesday.id));
  must(repository->restore(monday.id, base + ".restored"));
  must(balance_in(base + ".copy") == "100");
  must(balance_in(base + ".restored") == "100");

  // What the second one shares with the first one stays.
  must(repository->remove(monday.id));
  std::filesystem::remove_all(base + ".restored");
  must(repository->restore(tuesday.id, base + ".restored"));
  must(balance_in(base + ".restored") == "70");
  for (const BackupInfo& info : must(repository->list())) {
    std::printf("backup %llu: %llu bytes, of which it stored %llu\n",
                static_cast<unsigned long long>(info.id),
                static_cast<unsigned long long>(info.bytes),
                static_cast<unsigned long long>(info.bytes_stored));
  }

  // The same through a stream, whose checksums tell when it was damaged or cut off.
  {
    FileSink sink(base + ".stream");
    must(db->backup_to(sink));
  }
  FileSource check(base + ".stream");
  must(hawthorn::verify_backup(check));
  std::filesystem::remove_all(base + ".restored");
  FileSource source(base + ".stream");
  must(hawthorn::restore_backup(source, base + ".restored"));
  must(balance_in(base + ".restored") == "70");
  must(db->close());
}
