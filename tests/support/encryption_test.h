#pragma once
// What tests of encrypted databases share: keys known from their ids, and a file system that looks
// at every byte that is written.
//
// Not here: tests. Used by the folders of tests/ only. Threads: any.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hawthorn/encryption.h"
#include "os/file.h"
#include "os/sync.h"
#include "testing/forwarded_files.h"

namespace hawthorn::tests {

inline SecretKey key_of_id(std::string_view id) {
  std::string bytes(id.substr(0, SecretKey::kBytes));
  bytes.resize(SecretKey::kBytes, '#');
  return *SecretKey::from_bytes(bytes);
}

// Of a database whose key has this id; any id has its key.
inline Encryption encryption_of(std::string_view id = "first") {
  return {.key = [](std::string_view asked) -> Result<SecretKey> { return key_of_id(asked); },
          .key_id = std::string(id)};
}

// Which of these texts were written to some file, and to which one.
class Sightings {
 public:
  // `common`: what all of them begin with.
  Sightings(std::vector<std::string> texts, std::string common)
      : texts_(std::move(texts)), common_(std::move(common)) {}
  void look(const std::string& file, std::string_view bytes) {
    if (bytes.find(common_) == std::string_view::npos) return;
    for (const std::string& text : texts_) {
      if (bytes.find(text) == std::string_view::npos) continue;
      os::MutexLock lock(mutex_);
      seen_[text].insert(file);
    }
  }
  std::map<std::string, std::set<std::string>> seen() const {
    os::MutexLock lock(mutex_);
    return seen_;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  const std::vector<std::string> texts_;
  const std::string common_;
  mutable os::Mutex mutex_;
  std::map<std::string, std::set<std::string>> seen_ GUARDED_BY(mutex_);
};

class WatchedFile : public os::File {
 public:
  WatchedFile(std::unique_ptr<os::File> file, Sightings* sightings)
      : file_(std::move(file)), sightings_(sightings) {}
  Status read_at(uint64_t offset, std::span<char> data) override {
    return file_->read_at(offset, data);
  }
  Status write_at(uint64_t offset, std::span<const char> data) override {
    sightings_->look(file_->path(), {data.data(), data.size()});
    return file_->write_at(offset, data);
  }
  Status sync_data() override { return file_->sync_data(); }
  Result<uint64_t> size() override { return file_->size(); }
  Result<uint64_t> allocated_bytes() override { return file_->allocated_bytes(); }
  Status truncate(uint64_t size) override { return file_->truncate(size); }
  Status allocate(uint64_t offset, uint64_t size) override { return file_->allocate(offset, size); }
  Status punch_hole(uint64_t offset, uint64_t size) override {
    return file_->punch_hole(offset, size);
  }
  Status lock_exclusive() override { return file_->lock_exclusive(); }
  Status lock_byte(uint64_t offset) override { return file_->lock_byte(offset); }
  Status unlock_byte(uint64_t offset) override { return file_->unlock_byte(offset); }
  bool direct() const override { return file_->direct(); }
  const std::string& path() const override { return file_->path(); }

 private:
  const std::unique_ptr<os::File> file_;
  Sightings* const sightings_;
};

// A file system of which each write is looked at, and mapped files when somebody asks.
class WatchedFiles : public testing::ForwardedFiles {
 public:
  WatchedFiles(os::FileSystem* files, Sightings* sightings)
      : ForwardedFiles(*files), sightings_(sightings) {}
  // All that the files of a directory hold.
  void look_at_all(const std::string& directory) {
    const auto names = files_.list(directory);
    if (!names.ok()) return;
    for (const std::string& name : *names) {
      auto file = files_.open_file(directory + "/" + name, {.read_only = true});
      if (!file.ok()) continue;
      std::string bytes(*(*file)->size(), '\0');
      if ((*file)->read_at(0, bytes).ok()) sightings_->look(directory + "/" + name, bytes);
      sightings_->look("the name of a file", name);
    }
  }
  Result<std::unique_ptr<os::File>> open_file(const std::string& path,
                                              os::OpenFlags flags) override {
    auto file = files_.open_file(path, flags);
    if (!file.ok()) return file.status();
    return std::unique_ptr<os::File>(std::make_unique<WatchedFile>(std::move(*file), sightings_));
  }

 private:
  Sightings* const sightings_;
};

}  // namespace hawthorn::tests
