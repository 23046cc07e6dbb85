#pragma once
// One data file as everybody sees it: its os::File, which may be taken away when the file is
// removed while somebody may still hold this object.
//
// Not here: when that may be (space.cc). Used by data_files.cc only.
// Threads: the calls of os::File from any thread; open and close by one thread at a time.
//
// 1. close returns when no call is inside the file any more; calls after it answer kCorruption.

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "os/file.h"
#include "os/sync.h"

namespace hawthorn::space {

class DataFile : public os::File {
 public:
  explicit DataFile(std::string path) : path_(std::move(path)) {}

  void open(std::unique_ptr<os::File> file) {
    file_ = std::move(file);
    closed_.store(false, std::memory_order_seq_cst);
  }
  void close() {
    closed_.store(true, std::memory_order_seq_cst);
    // A user counts itself before it looks whether the file is closed: one of the two sees the
    // other.
    os::SpinWait wait;
    while (users_.load(std::memory_order_seq_cst) != 0) wait.once();
    file_.reset();
  }

  Status read_at(uint64_t offset, std::span<char> data) override {
    const Use use(*this);
    return use.file != nullptr ? use.file->read_at(offset, data) : removed();
  }
  Status write_at(uint64_t offset, std::span<const char> data) override {
    const Use use(*this);
    return use.file != nullptr ? use.file->write_at(offset, data) : removed();
  }
  Status sync_data() override {
    const Use use(*this);
    return use.file != nullptr ? use.file->sync_data() : removed();
  }
  Result<uint64_t> size() override {
    const Use use(*this);
    return use.file != nullptr ? use.file->size() : Result<uint64_t>(removed());
  }
  Result<uint64_t> allocated_bytes() override {
    const Use use(*this);
    return use.file != nullptr ? use.file->allocated_bytes() : Result<uint64_t>(removed());
  }
  Status truncate(uint64_t size) override {
    const Use use(*this);
    return use.file != nullptr ? use.file->truncate(size) : removed();
  }
  Status allocate(uint64_t offset, uint64_t size) override {
    const Use use(*this);
    return use.file != nullptr ? use.file->allocate(offset, size) : removed();
  }
  Status punch_hole(uint64_t offset, uint64_t size) override {
    const Use use(*this);
    return use.file != nullptr ? use.file->punch_hole(offset, size) : removed();
  }
  Status lock_exclusive() override {
    const Use use(*this);
    return use.file != nullptr ? use.file->lock_exclusive() : removed();
  }
  bool direct() const override {
    const Use use(*this);
    return use.file != nullptr && use.file->direct();
  }
  // For reads of extents that somebody holds: the file cannot be closed before they are released.
  int descriptor() const override {
    const Use use(*this);
    return use.file != nullptr ? use.file->descriptor() : -1;
  }
  const std::string& path() const override { return path_; }

 private:
  struct Use {
    explicit Use(const DataFile& used) : users(used.users_) {
      users.fetch_add(1, std::memory_order_seq_cst);
      if (!used.closed_.load(std::memory_order_seq_cst)) file = used.file_.get();
    }
    ~Use() { users.fetch_sub(1, std::memory_order_seq_cst); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    std::atomic<uint64_t>& users;
    os::File* file = nullptr;
  };
  Status removed() const {
    return Status(StatusCode::kCorruption, path_ + ": was removed, nothing in it was in use");
  }

  const std::string path_;
  std::unique_ptr<os::File> file_;
  std::atomic<bool> closed_{true};
  mutable std::atomic<uint64_t> users_{0};
};

}  // namespace hawthorn::space
