#pragma once
// The files of a damaged database, read only: what cannot be read is told, and never an error.
//
// Not here: what the bytes mean. Used by db/repair*.cc. Threads: one at a time.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/manifest_state.h"
#include "hawthorn/repair.h"
#include "os/machine.h"

namespace hawthorn::db {

inline constexpr size_t kRepairBlock = 4096;

// Memory at a multiple of 4096 bytes, zeros at first. Of size 0 where there is none to be had: who
// makes one of a size that the source says looks at that.
class RepairBuffer {
 public:
  explicit RepairBuffer(size_t bytes);
  ~RepairBuffer();
  RepairBuffer(RepairBuffer&& other) noexcept;
  RepairBuffer& operator=(RepairBuffer&& other) noexcept;
  char* data() { return data_; }
  const char* data() const { return data_; }
  size_t size() const { return bytes_; }
  bool ok() const { return data_ != nullptr; }

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

class RepairSource {
 public:
  RepairSource(const os::Machine& machine, std::string directory)
      : machine_(machine), directory_(std::move(directory)) {}

  // With the data keys of an encrypted source.
  const os::Machine& machine() const { return machine_; }
  // Lifetime: this object's. Null: it is not encrypted.
  void set_keys(os::DataKeys* keys) { machine_.keys = keys; }
  os::DataKeys* keys() const { return machine_.keys; }
  const std::string& directory() const { return directory_; }
  // Null where the file cannot be opened.
  os::File* file(const std::string& name);
  // 0 where there is none.
  uint64_t size_of(const std::string& name);
  // A device is a data file, whose number comes behind those of files.
  void add_device(uint32_t index, std::unique_ptr<os::File> file);
  bool has_device(uint32_t index) const;
  // The numbers of the data files that are there, ascending.
  const std::vector<uint32_t>& data_files() const { return data_files_; }
  Status list();
  const std::vector<std::string>& names() const { return names_; }

  // Whether all of the blocks lie in a data file that is there.
  bool holds(const format::ExtentAddress& address);
  // Reads blocks of a data file. What cannot be read is zeros, and false in `readable`.
  void read_blocks(const format::ExtentAddress& address, char* to, std::vector<bool>* readable);
  // Bytes [begin, end) of an extent, whose contents these are, should be zero: where they are not,
  // copies have zeros there, which `mend` makes of what was read of these blocks.
  void fill_with_zeros(const format::ExtentAddress& extent, uint64_t begin, uint64_t end,
                       const char* contents);
  void mend(const format::ExtentAddress& blocks, char* contents) const;
  // All of it, or false. What fails is tried again a few times.
  bool read(const std::string& name, uint64_t offset, std::span<char> data);

 private:
  os::Machine machine_;
  const std::string directory_;
  std::vector<std::string> names_;
  std::vector<uint32_t> data_files_;
  std::map<std::string, std::unique_ptr<os::File>> files_;
  struct Fill {
    uint32_t file;
    uint64_t begin;  // in the file
    uint64_t end;
  };
  std::vector<Fill> fills_;  // that are not zero
};

}  // namespace hawthorn::db
