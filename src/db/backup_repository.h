#pragma once
// The directory of a backup repository: which backups there are, their parts, and what nobody needs
// any more.
//
//   repository    a salt              backup.<id>   index: a backup exists as soon as this does
//   lock          who has it open     parts.<id>    what this backup was the first to store
//   backup.new                        of a backup under way
//
// Not here: what a backup holds (copy_source.h), encoding (format/backup_layout.h).
// Threads: under BackupRepository's mutex, one at a time.
//
// 1. The parts of a backup are durable before its index is renamed to its name.
// 2. Parts go only when no index refers to them any more, and that is durable.
// 3. A backup refers to parts of earlier ones only where their files are as long as that; of an
//    encrypted database only where the database's own data keys prove their indexes.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/copy_sink.h"
#include "format/backup_layout.h"
#include "hawthorn/backup.h"
#include "os/place.h"
#include "os/sync.h"

namespace hawthorn {

struct BackupRepository::Impl {
  explicit Impl(std::unique_ptr<os::Place> where) : home(std::move(where)) {}

  Status open(bool create);
  // Ascending.
  Status ids(std::vector<uint64_t>* backups, std::vector<uint64_t>* parts);
  Result<BackupInfo> info(uint64_t id);
  Result<format::BackupIndex> index(uint64_t id);
  // The same; nothing where these keys do not prove that it is what was written: it is of another
  // database, or of none that is encrypted, or was changed.
  Result<std::optional<format::BackupIndex>> proven_index(uint64_t id, os::DataKeys& keys);
  // The same for reading the backup. With a key it opens its data keys, which prove the index.
  // Errors: also kInvalidArgument for a wrong key and for a backup that is not encrypted.
  Result<format::BackupIndex> index(uint64_t id, const Encryption& encryption);
  // Reads all of a backup, each part compared; into the sink if there is one. With a key also as
  // db/sealed_copy.h does.
  Status read(const format::BackupIndex& index, db::CopySink* sink, const Encryption& encryption,
              db::CopyPace& pace);
  // What an interrupted backup has left, and parts without a backup that nobody refers to.
  Status clean();
  // Removes each parts.<n> that no backup refers to. With `holes`, of those whose own backup is
  // gone also what nobody needs any more, which reads and writes every one of them.
  Status collect(bool holes);
  // Whether parts.<id> has all of the part. Looks once at each file.
  bool has(const format::BackupPart& part, std::map<uint64_t, uint64_t>* sizes);
  std::string path_of(std::string_view name) const { return directory + "/" + std::string(name); }

  const std::unique_ptr<os::Place> home;
  const os::Machine& machine = home->machine();
  const std::string& directory = home->path();
  os::Mutex mutex;
  std::unique_ptr<os::File> lock;
  uint64_t salt = 0;

 private:
  using Ranges = std::map<uint64_t, uint64_t>;                      // place -> end
  using PartFiles = std::map<uint64_t, std::unique_ptr<os::File>>;  // of which backup
  Result<std::string> header_bytes(uint64_t id, uint64_t* file_bytes);
  Result<std::string> index_bytes(uint64_t id);
  Result<format::BackupIndex> decode_index(uint64_t id, std::string_view bytes);
  Status copy_file(const format::BackupFile& file, PartFiles* open, std::string* buffer,
                   db::CopySink* sink, db::CopyPace& pace);
  Status read_part(const format::BackupFile& of, const format::BackupPart& part, PartFiles* open,
                   std::span<char> data);
  Status open_header(bool empty);
  Status find_used(const std::vector<uint64_t>& backups, std::map<uint64_t, Ranges>* used);
  Status free_unused(uint64_t id, const Ranges& used);
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
  Status seal_with(std::shared_ptr<os::DataKeys> keys) override;
  Status begin(std::string_view name, uint64_t bytes, bool reserve) override;
  bool take_known(const CopyPart& part) override;
  Status write(const CopyPart& part, std::span<const char> data) override;
  Status end() override;
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
  struct HashMark {
    size_t operator()(const Checksum128& mark) const { return static_cast<size_t>(mark.low); }
  };
  static Sum sum_of(const format::BackupPart& part) {
    return {part.sum_low, part.sum_high, part.salted, part.bytes};
  }
  void add(format::BackupPart part, const CopyPart& as);
  Status write_pending();
  Result<std::string> encode_index();

  BackupRepository::Impl& repository_;
  std::shared_ptr<os::DataKeys> keys_;  // null: not encrypted
  format::BackupIndex index_;
  // Only where a part stands and what it is are of use here.
  std::unordered_map<Sum, format::BackupPart, HashSum> known_;
  std::unordered_map<Checksum128, format::BackupPart, HashMark> marked_;
  std::map<uint64_t, uint64_t> sizes_;  // of the files of parts
  std::unique_ptr<os::File> parts_;
  std::string pending_;  // to be written at the end of parts.<id>
  uint64_t end_ = 0;     // behind that
};

}  // namespace db
}  // namespace hawthorn
