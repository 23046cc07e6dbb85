#pragma once
// Files that the shim keeps beside the engine's: written as a whole, durable, and read.
//
// Not here: what stands in them. Used by backups and files of entries. Threads: one object from
// one thread; functions from any. Errors: PathNotFound; NoSpace; IOError naming the file.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace hawthorn::rocks {

// Numbers as they stand in such files: little-endian, of their size.
template <typename T>
void append_fixed(T number, std::string* to) {
  to->append(reinterpret_cast<const char*>(&number), sizeof(number));
}
template <typename T>
T fixed_at(std::string_view bytes, size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

// A file that is written from its beginning to its end.
class FileWriter {
 public:
  FileWriter() = default;
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // What stands there is written over.
  rocksdb::Status open(const std::string& path);
  rocksdb::Status append(std::string_view bytes);
  // Durable when it returns, but for its name (sync_directory).
  rocksdb::Status close();
  bool is_open() const { return descriptor_ >= 0; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

class FileReader {
 public:
  FileReader() = default;
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  rocksdb::Status open(const std::string& path);
  uint64_t bytes() const { return bytes_; }
  // Corruption where the file ends before.
  rocksdb::Status read(uint64_t offset, size_t size, std::string* bytes) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
};

rocksdb::Status sync_directory(const std::string& directory);
// Of names below it: what is behind the last slash is cut off; "." where there is none.
std::string directory_of(const std::string& path);
// The file is there as a whole, or as it was before, also after a crash.
rocksdb::Status replace_file(const std::string& path, std::string_view bytes);
rocksdb::Status read_whole_file(const std::string& path, std::string* bytes);
// OK where it is not there.
rocksdb::Status remove_file(const std::string& path);

// One name for a place, whether it is there or not.
std::string canonical_path(const std::string& path);

}  // namespace hawthorn::rocks
