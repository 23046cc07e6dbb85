#pragma once
// Files and directories: the seam through which every byte reaches the disk. The real machine
// (posix_file.cc) and the simulated disk of testing/ stand behind the same interface.
//
// Not here: when to sync (wal, db), what the bytes mean (format).
// Threads: every function may be called from any thread; reads and writes of one File may overlap.
//
// 1. A write is durable only after sync_data of its file returned OK; a created, renamed or removed
//    name only after sync_directory of its directory.
// 2. A failed sync is final for the caller: what was not synced before may be lost (no second try).
// 3. A File opened direct needs offset, size and address in units of kBlockBytes.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hawthorn/status.h"

namespace hawthorn::os {

inline constexpr size_t kBlockBytes = 4096;

class File {
 public:
  virtual ~File() = default;
  // Reads exactly data.size() bytes; fewer is kCorruption ("ends at ...") and names the file.
  virtual Status read_at(uint64_t offset, std::span<char> data) = 0;
  virtual Status write_at(uint64_t offset, std::span<const char> data) = 0;
  virtual Status sync_data() = 0;
  virtual Result<uint64_t> size() = 0;
  // Bytes that the file takes on disk (holes excluded).
  virtual Result<uint64_t> allocated_bytes() = 0;
  virtual Status truncate(uint64_t size) = 0;
  // Reserves disk space for [offset, offset + size) and extends the file to cover it. kNoSpace when
  // there is none.
  virtual Status allocate(uint64_t offset, uint64_t size) = 0;
  // Gives the disk space of [offset, offset + size) back; it reads as zeros.
  virtual Status punch_hole(uint64_t offset, uint64_t size) = 0;
  // Takes the exclusive lock of the file; kBusy when another process (or another open of it) holds
  // it.
  virtual Status lock_exclusive() = 0;
  // Takes the lock of one byte of the file, which needs not be there, or gives it back. kBusy:
  // another open of the file has it, in this process or another one. A lock goes with this File,
  // however its process ends. Needs a file that is open for writing. kNotSupported: the system has
  // none.
  virtual Status lock_byte(uint64_t offset);
  virtual Status unlock_byte(uint64_t offset);
  // Lets [offset, offset + size) be what `from` has at from_offset, in the same blocks of the disk
  // until one of the two is written (a reflink); extends the file. Nothing is read or written, but
  // what is dirty of `from`. Offsets and size in units of the file system's blocks. kNotSupported:
  // the file system has no such thing, or not between these two files: copy instead.
  virtual Status clone_from(uint64_t offset, File& from, uint64_t from_offset, uint64_t size);
  // Whether a name leads to it still. A lock of a file without one keeps nobody out.
  virtual Result<bool> has_name() { return true; }
  virtual bool direct() const = 0;
  virtual const std::string& path() const = 0;
  // The system's descriptor, for the queues of io_queue.h, whose reads do what read_at does; -1
  // when there is none. Lifetime: the file's.
  virtual int descriptor() const { return -1; }
};

// A file mapped shared: what is stored in it survives the process at once (of a copy, once it is
// written back), a power loss only after sync().
class MappedFile {
 public:
  virtual ~MappedFile() = default;
  virtual char* data() = 0;
  virtual size_t size() const = 0;
  virtual Status sync() = 0;
  // True where stores into the file's own pages could end the process for lack of space: data() is
  // a copy of it then, which only write_back brings to the file.
  virtual bool is_copy() const { return false; }
  // [offset, offset + bytes) of a copy, beginning anew behind the end as the mapping does. Errors:
  // those of writing; then some of it may be in the file.
  virtual Status write_back(size_t /*offset*/, size_t /*bytes*/) { return {}; }
  // True when the mapping repeats behind itself: data()[size() + i] is data()[i].
  virtual bool mirrored() const = 0;
};

inline Status File::lock_byte(uint64_t) {
  return Status(StatusCode::kNotSupported, path() + ": locks of bytes");
}
inline Status File::clone_from(uint64_t, File&, uint64_t, uint64_t) {
  return Status(StatusCode::kNotSupported, path() + ": clones of ranges");
}
inline Status File::unlock_byte(uint64_t) { return lock_byte(0); }

struct OpenFlags {
  bool create = false;     // create when missing
  bool exclusive = false;  // with create: fail (kInvalidArgument) when it exists
  bool read_only = false;
  bool direct = false;  // fails with kNotSupported where the file system cannot
  // A block device, or a file of fixed size that stands for one; not created. For writing a device
  // is opened exclusively: kBusy when it is mounted or otherwise in use. kInvalidArgument when the
  // path is neither.
  bool device = false;
  // Its locks will be taken: a child of fork has something else under its descriptor, so that no
  // lock outlives its owner there.
  bool locks = false;
  // With create: written over in place again and again, so where the file system would put that
  // elsewhere, and has a mark against it (btrfs: no copy on write), a new file gets the mark.
  bool in_place = false;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // The path from the root, as it is meant now: it stays the same after a chdir. No link is
  // followed. Errors: kInvalidArgument for an empty path; those of a working directory that is
  // gone.
  virtual Result<std::string> absolute(const std::string& path) const { return path; }
  // A file system for the use of one directory, whose path is absolute(); what it makes has this
  // mode (posix_file.h). Null: names mean the same here for ever, so this one does as well.
  virtual std::unique_ptr<FileSystem> of_directory(const std::string&,
                                                   uint32_t /*file_mode*/) const {
    return nullptr;
  }
  // Of what of_directory gave: from here on paths in the directory are looked for in that very
  // directory, also when it is renamed or something is mounted on it. Errors: kNotFound where it is
  // missing; those of opening it. No other call may run meanwhile.
  virtual Status hold() { return {}; }
  // Of the directory that is held; -1: none is.
  virtual int held_descriptor() const { return -1; }
  // kNotFound when missing and not created; kPermissionDenied; kReadOnly when the medium is
  // read-only and the file is opened for writing.
  virtual Result<std::unique_ptr<File>> open_file(const std::string& path, OpenFlags flags) = 0;
  // Maps a file of exactly `size` bytes (a multiple of 64 KB), creating and filling it with zeros
  // when it is missing or shorter, so that no page of it can fault for lack of space (R9); a copy
  // where that is not enough. Mapped twice in a row.
  virtual Result<std::unique_ptr<MappedFile>> map_shared(const std::string& path, size_t size,
                                                         bool read_only) = 0;
  virtual Result<bool> exists(const std::string& path) = 0;
  // Fine when it exists; kNotFound where its parent does not.
  virtual Status make_directory(const std::string& path) = 0;
  virtual Status remove_directory(const std::string& path) = 0;  // must be empty
  // Names, not paths; sorted.
  virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;
  virtual Status sync_directory(const std::string& directory) = 0;
  virtual Result<uint64_t> free_bytes(const std::string& directory) = 0;
};

}  // namespace hawthorn::os
