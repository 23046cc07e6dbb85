#include "testing/watched_files.h"

#include <utility>

namespace hawthorn::testing {
namespace {

using Verdict = FileWatcher::Verdict;

template <typename Do>
Status watched(FileWatcher& watcher, FileCall call, Do what) {
  const Verdict verdict = watcher.before(call);
  const Status status = verdict == Verdict::kSkip ? Status() : what(verdict);
  watcher.after(call, status);
  return status;
}

class WatchedFile : public os::File {
 public:
  WatchedFile(std::unique_ptr<os::File> file, FileWatcher& watcher, uint64_t number)
      : file_(std::move(file)), watcher_(watcher), number_(number) {}
  ~WatchedFile() override {
    static_cast<void>(
        watched(watcher_, call(FileOp::kClose), [](Verdict) { return Status(); }).ok());
  }

  Status read_at(uint64_t offset, std::span<char> data) override {
    return watched(watcher_, call(FileOp::kRead, offset, data.size()),
                   [&](Verdict) { return file_->read_at(offset, data); });
  }
  Status write_at(uint64_t offset, std::span<const char> data) override {
    FileCall write = call(FileOp::kWrite, offset, data.size());
    write.data = data;
    return watched(watcher_, std::move(write), [&](Verdict verdict) {
      if (verdict == Verdict::kDo) return file_->write_at(offset, data);
      const size_t half = data.size() / 2 / os::kBlockBytes * os::kBlockBytes;
      return half == 0 ? Status() : file_->write_at(offset, data.first(half));
    });
  }
  Status sync_data() override {
    return watched(watcher_, call(FileOp::kSync), [&](Verdict) { return file_->sync_data(); });
  }
  Result<uint64_t> size() override { return file_->size(); }
  Result<uint64_t> allocated_bytes() override { return file_->allocated_bytes(); }
  Status truncate(uint64_t size) override {
    return watched(watcher_, call(FileOp::kTruncate, size),
                   [&](Verdict) { return file_->truncate(size); });
  }
  Status allocate(uint64_t offset, uint64_t size) override {
    return watched(watcher_, call(FileOp::kAllocate, offset, size),
                   [&](Verdict) { return file_->allocate(offset, size); });
  }
  Status punch_hole(uint64_t offset, uint64_t size) override {
    return watched(watcher_, call(FileOp::kPunch, offset, size),
                   [&](Verdict) { return file_->punch_hole(offset, size); });
  }
  Status lock_exclusive() override { return file_->lock_exclusive(); }
  Status lock_byte(uint64_t offset) override { return file_->lock_byte(offset); }
  Status unlock_byte(uint64_t offset) override { return file_->unlock_byte(offset); }
  bool direct() const override { return file_->direct(); }
  const std::string& path() const override { return file_->path(); }
  int descriptor() const override { return file_->descriptor(); }

 private:
  FileCall call(FileOp op, uint64_t offset = 0, uint64_t size = 0) const {
    FileCall made;
    made.op = op;
    made.path = file_->path();
    made.file = number_;
    made.offset = offset;
    made.size = size;
    return made;
  }

  const std::unique_ptr<os::File> file_;
  FileWatcher& watcher_;
  const uint64_t number_;
};

class WatchedMapping : public os::MappedFile {
 public:
  WatchedMapping(std::unique_ptr<os::MappedFile> mapping, FileWatcher& watcher, FileCall call)
      : mapping_(std::move(mapping)), watcher_(watcher), call_(std::move(call)) {}
  ~WatchedMapping() override {
    call_.op = FileOp::kUnmap;
    static_cast<void>(watched(watcher_, call_, [](Verdict) { return Status(); }).ok());
  }

  char* data() override { return mapping_->data(); }
  size_t size() const override { return mapping_->size(); }
  bool mirrored() const override { return mapping_->mirrored(); }
  bool is_copy() const override { return mapping_->is_copy(); }
  Status write_back(size_t offset, size_t bytes) override {
    return mapping_->write_back(offset, bytes);
  }
  Status sync() override {
    FileCall call = call_;
    call.op = FileOp::kSyncMapped;
    return watched(watcher_, std::move(call), [&](Verdict) { return mapping_->sync(); });
  }

 private:
  const std::unique_ptr<os::MappedFile> mapping_;
  FileWatcher& watcher_;
  FileCall call_;
};

FileCall of_name(FileOp op, const std::string& path, const std::string& to = {}) {
  FileCall made;
  made.op = op;
  made.path = path;
  made.to = to;
  return made;
}

}  // namespace

Result<std::unique_ptr<os::File>> WatchedFiles::open_file(const std::string& path,
                                                          os::OpenFlags flags) {
  FileCall call = of_name(FileOp::kOpen, path);
  call.flags = flags;
  call.file = last_file_.fetch_add(1) + 1;
  watcher_.before(call);
  Result<std::unique_ptr<os::File>> file = files_.open_file(path, flags);
  watcher_.after(call, file.status());
  if (!file.ok()) return file.status();
  return std::unique_ptr<os::File>(new WatchedFile(std::move(*file), watcher_, call.file));
}

Result<std::unique_ptr<os::MappedFile>> WatchedFiles::map_shared(const std::string& path,
                                                                 size_t size, bool read_only) {
  FileCall call = of_name(FileOp::kMap, path);
  call.file = last_file_.fetch_add(1) + 1;
  call.size = size;
  call.flags.read_only = read_only;
  watcher_.before(call);
  Result<std::unique_ptr<os::MappedFile>> mapping = files_.map_shared(path, size, read_only);
  if (mapping.ok()) call.mapping = mapping->get();
  watcher_.after(call, mapping.status());
  if (!mapping.ok()) return mapping.status();
  return std::unique_ptr<os::MappedFile>(
      new WatchedMapping(std::move(*mapping), watcher_, std::move(call)));
}

Status WatchedFiles::make_directory(const std::string& path) {
  return watched(watcher_, of_name(FileOp::kMakeDirectory, path),
                 [&](Verdict) { return files_.make_directory(path); });
}

Status WatchedFiles::remove_directory(const std::string& path) {
  return watched(watcher_, of_name(FileOp::kRemoveDirectory, path),
                 [&](Verdict) { return files_.remove_directory(path); });
}

Status WatchedFiles::rename(const std::string& from, const std::string& to) {
  return watched(watcher_, of_name(FileOp::kRename, from, to),
                 [&](Verdict) { return files_.rename(from, to); });
}

Status WatchedFiles::remove(const std::string& path) {
  return watched(watcher_, of_name(FileOp::kRemove, path),
                 [&](Verdict) { return files_.remove(path); });
}

Status WatchedFiles::sync_directory(const std::string& directory) {
  return watched(watcher_, of_name(FileOp::kSyncDirectory, directory),
                 [&](Verdict) { return files_.sync_directory(directory); });
}

}  // namespace hawthorn::testing
