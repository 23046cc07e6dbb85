#pragma once
// The files of a database in memory, to be changed as somebody would who wants to do harm: with
// checksums that are right again.
//
// Not here: which changes (image_changes.h). Used by the target `directory` of fuzz/ and by
// tests/faults/hostile_directory_test.cc. Threads: one.
//
// 1. What a function changes is sealed when it returns, all the way up: a block of a run in the
//    run's header, that in the manifest, each record of the manifest in its batch, the log's in
//    their headers.
// 2. It never fails for what it finds: where there is no such thing nothing is changed.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "format/log_record.h"
#include "format/manifest_layout.h"
#include "os/file.h"

namespace hawthorn::testing {

class DatabaseImage {
 public:
  static Result<DatabaseImage> read(os::FileSystem& files, const std::string& directory);
  // Makes those files of the directory what they are here, and removes the others.
  Status write(os::FileSystem& files, const std::string& directory) const;

  std::map<std::string, std::string>& files() { return files_; }
  std::string* file(const std::string& name);

  void seal_superblock();

  // Records of the current manifest, begins and commits of batches among them.
  struct Record {
    format::ManifestRecordType type;
    std::string payload;
  };
  std::vector<Record>& manifest() { return records_; }
  // Puts them into the file, numbered and sealed. What commits say of their batches is made right,
  // but in an encrypted database, where only who has its keys can.
  void seal_manifest();
  // The records of a type.
  std::vector<Record*> records_of(format::ManifestRecordType type);

  // The index run of the container of that record, as it lies on disk: `edit` changes it, its
  // blocks' checksums, its header's and the record are made right. False: the record has none.
  using Edit = std::function<void(std::string& bytes)>;
  bool edit_run(Record& container, const Edit& edit);
  // The same of value extent `extent` of it.
  bool edit_values(Record& container, uint32_t extent, const Edit& edit);

  // Records of the log that lie in one piece, by lsn: the header, and the payload in all copies of
  // it (ring and segment). `edit` may change fields of the header, and the payload, whose size
  // stays.
  size_t log_count() const { return log_.size(); }
  using LogEdit = std::function<void(format::RecordHeader& header, std::string& payload)>;
  bool edit_log(size_t number, const LogEdit& edit);
  // One more behind the last, where the log goes on.
  bool append_log(format::RecordType type, uint32_t operations, std::string_view payload);

 private:
  struct Place {
    std::string file;
    size_t offset;
  };
  struct LogRecord {
    uint64_t salt;
    std::vector<Place> places;
  };
  // The file that has so many bytes there; null: it was removed since, or cut off.
  std::string* file_with(const Place& place, size_t bytes);
  void find_manifest();
  void find_log();
  void look_for_records(const std::string& name, bool ring, uint64_t first_lsn);
  std::string* extent_bytes(uint32_t file);

  std::map<std::string, std::string> files_;
  std::string manifest_name_;
  uint64_t manifest_salt_ = 0;
  std::vector<Record> records_;
  std::map<uint64_t, LogRecord> log_;  // by lsn
};

}  // namespace hawthorn::testing
