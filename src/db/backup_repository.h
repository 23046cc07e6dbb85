#pragma once
// The directory of a backup repository: which backups there are, their parts, and what nobody needs
// any more.
//
//   repository    a salt              backup.<id>   index: a backup exists as soon as this does
//   lock          who has it open     parts.<id>    what this backup was the first to store
//   backup.new, superblock, manifest.*              of a backup under way
//
// Not here: what a backup holds (copy_source.h), encoding (format/backup_layout.h).
// Threads: under BackupRepository's mutex, one at a time.
//
// 1. The parts of a backup are durable before its index is renamed to its name.
// 2. Parts go only when no index refers to them any more, and that is durable.

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/copy_source.h"
#include "format/backup_layout.h"
#include "hawthorn/backup.h"
#include "os/machine.h"
#include "os/sync.h"

namespace hawthorn {

struct BackupRepository::Impl {
  Impl(const os::Machine& on, std::string where) : machine(on), directory(std::move(where)) {}

  Status open();
  // Ascending.
  Status ids(std::vector<uint64_t>* backups, std::vector<uint64_t>* parts);
  Result<format::BackupIndex> index(uint64_t id);
  // Reads all of a backup, each part compared; into the sink if there is one.
  Status read(uint64_t id, db::CopySink* sink, uint64_t bytes_per_second);
  // What an interrupted backup has left, and parts without a backup that nobody refers to.
  Status clean();
  // Removes parts.<n>, or parts of it, that no backup refers to.
  Status collect();
  std::string path_of(std::string_view name) const { return directory + "/" + std::string(name); }

  const os::Machine machine;
  const std::string directory;
  os::Mutex mutex;
  std::unique_ptr<os::File> lock;
  uint64_t salt = 0;

 private:
  Status open_header(bool empty);
};

namespace db {

std::string backup_name(uint64_t id);
std::string parts_name(uint64_t id);

// Receives a backup under way.
class BackupWriter : public CopySink {
 public:
  BackupWriter(BackupRepository::Impl& repository, uint64_t id);
  // Whose parts need not be stored again.
  void know(const format::BackupIndex& index);
  Status start();
  Status begin(std::string_view name, uint64_t bytes, bool reserve) override;
  Status write(uint64_t offset, std::span<const char> data) override;
  Status end() override { return {}; }
  Result<BackupInfo> finish();

 private:
  struct Sum {
    uint64_t low;
    uint64_t high;
    uint64_t salted;
    uint64_t bytes;
    bool operator==(const Sum&) const = default;
  };
  struct HashSum {
    size_t operator()(const Sum& sum) const { return static_cast<size_t>(sum.salted); }
  };
  struct Place {
    uint64_t backup;
    uint64_t place;
  };
  static Sum sum_of(const format::BackupPart& part) {
    return {part.sum_low, part.sum_high, part.salted, part.bytes};
  }

  BackupRepository::Impl& repository_;
  format::BackupIndex index_;
  std::unordered_map<Sum, Place, HashSum> known_;
  std::unique_ptr<os::File> parts_;
  uint64_t end_ = 0;
};

}  // namespace db
}  // namespace hawthorn
