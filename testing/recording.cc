#include "testing/recording.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "os/posix_file.h"
#include "testing/live_memory.h"

namespace hawthorn::testing {
namespace {

constexpr char kMagic[] = "Hawthorn recording 1\n";
constexpr size_t kPageBytes = os::kBlockBytes;
// Stores are looked for at a write when none were for so many moments.
constexpr uint64_t kGatherMoments = 24;
// Files that were there already have numbers from here on.
constexpr uint64_t kFirstOldFile = uint64_t{1} << 40;
constexpr size_t kRecordingChunkBytes = size_t{1} << 20;

// A call that may fail without having done anything, as its caller may expect.
bool may_fail(const RecordedCall& call, const Status& status) {
  if (call.op == FileOp::kOpen || call.op == FileOp::kMap) return true;
  const bool name = call.op == FileOp::kRemove || call.op == FileOp::kRename ||
                    call.op == FileOp::kRemoveDirectory;
  return name && status.is_not_found();
}

class Writer {
 public:
  void number(uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void text(const std::string& value) {
    number(value.size());
    bytes_ += value;
  }
  void raw(std::string_view value) { bytes_ += value; }
  // In pieces: a recording may be large.
  Status flush(os::File& file) {
    const Status status = file.write_at(at_, bytes_);
    at_ += bytes_.size();
    bytes_.clear();
    return status;
  }
  bool is_long() const { return bytes_.size() >= kRecordingChunkBytes; }

 private:
  std::string bytes_;
  uint64_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t number() {
    uint64_t value = 0;
    if (take(sizeof(value))) std::memcpy(&value, bytes_.data() + at_ - sizeof(value), 8);
    return value;
  }
  std::string text() {
    const uint64_t size = number();
    return take(size) ? bytes_.substr(at_ - size, size) : std::string();
  }
  bool raw(std::string_view expected) {
    return take(expected.size()) &&
           bytes_.compare(at_ - expected.size(), expected.size(), expected) == 0;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && at_ == bytes_.size(); }

 private:
  bool take(uint64_t size) {
    ok_ = ok_ && size <= bytes_.size() - at_;
    if (ok_) at_ += size;
    return ok_;
  }
  const std::string bytes_;
  uint64_t at_ = 0;
  bool ok_ = true;
};

Result<std::string> read_file(const std::string& path) {
  Result<std::unique_ptr<os::File>> file =
      os::posix_file_system().open_file(path, {.read_only = true});
  if (!file.ok()) return file.status();
  const Result<uint64_t> size = (*file)->size();
  if (!size.ok()) return size.status();
  std::string bytes(*size, '\0');
  if (Status s = (*file)->read_at(0, bytes); !s.ok()) return s;
  return bytes;
}

}  // namespace

Status Recording::save(const std::string& path) const {
  Result<std::unique_ptr<os::File>> file =
      os::posix_file_system().open_file(path, {.create = true});
  if (!file.ok()) return file.status();
  if (Status s = (*file)->truncate(0); !s.ok()) return s;
  Writer writer;
  writer.raw(kMagic);
  for (const uint64_t number :
       {seed, first_moment, moments, uint64_t{marks.size()}, uint64_t{calls.size()}}) {
    writer.number(number);
  }
  for (const RecordedMark& mark : marks) {
    for (const uint64_t number :
         {mark.moment, uint64_t{mark.kind}, uint64_t{mark.who}, mark.number}) {
      writer.number(number);
    }
  }
  for (const RecordedCall& call : calls) {
    for (const uint64_t number : {static_cast<uint64_t>(call.op), call.file, call.offset, call.size,
                                  uint64_t{call.creates}, call.begin, call.end}) {
      writer.number(number);
    }
    for (const std::string* text : {&call.path, &call.to, &call.data}) writer.text(*text);
    if (!writer.is_long()) continue;
    if (Status s = writer.flush(**file); !s.ok()) return s;
  }
  return writer.flush(**file);
}

Result<Recording> Recording::load(const std::string& path) {
  Result<std::string> bytes = read_file(path);
  if (!bytes.ok()) return bytes.status();
  Reader reader(std::move(*bytes));
  const Status damaged(StatusCode::kCorruption, path + ": is no recording, or was cut off");
  if (!reader.raw(kMagic)) return damaged;
  Recording recording;
  recording.seed = reader.number();
  recording.first_moment = reader.number();
  recording.moments = reader.number();
  const uint64_t marks = reader.number();
  const uint64_t calls = reader.number();
  for (uint64_t i = 0; i < marks && reader.ok(); ++i) {
    RecordedMark& mark = recording.marks.emplace_back();
    mark.moment = reader.number();
    mark.kind = static_cast<uint32_t>(reader.number());
    mark.who = static_cast<uint32_t>(reader.number());
    mark.number = reader.number();
  }
  for (uint64_t i = 0; i < calls && reader.ok(); ++i) {
    RecordedCall& call = recording.calls.emplace_back();
    call.op = static_cast<FileOp>(reader.number());
    call.file = reader.number();
    call.offset = reader.number();
    call.size = reader.number();
    call.creates = reader.number() != 0;
    call.begin = reader.number();
    call.end = reader.number();
    call.path = reader.text();
    call.to = reader.text();
    call.data = reader.text();
  }
  if (!reader.at_end()) return damaged;
  return recording;
}

std::string Recorder::below_root(const std::string& path) {
  if (path == root_) return "/";
  if (path.starts_with(root_ + "/")) return path.substr(root_.size());
  if (broken_.ok()) {
    broken_ = Status(StatusCode::kInvalidArgument, path + ": is not below " + root_);
  }
  return path;
}

void Recorder::add_done(RecordedCall call) {
  call.begin = call.end = recording_.moments++;
  recording_.calls.push_back(std::move(call));
}

Status Recorder::begin_with_files() {
  os::MutexLock lock(mutex_);
  if (Status s = take_in("/"); !s.ok()) return s;
  recording_.first_moment = recording_.moments;
  return {};
}

Status Recorder::take_in(const std::string& path) {
  os::FileSystem& files = os::posix_file_system();
  const Result<std::vector<std::string>> names = files.list(root_ + path);
  if (!names.ok()) return names.status();
  const std::string prefix = path == "/" ? path : path + "/";
  for (const std::string& name : *names) {
    const std::string below = prefix + name;
    if (files.list(root_ + below).ok()) {
      add_done({.op = FileOp::kMakeDirectory, .path = below});
      if (Status s = take_in(below); !s.ok()) return s;
      continue;
    }
    Result<std::string> bytes = read_file(root_ + below);
    if (!bytes.ok()) return bytes.status();
    const uint64_t number = kFirstOldFile + recording_.calls.size();
    add_done({.op = FileOp::kOpen, .path = below, .file = number, .creates = true});
    RecordedCall write{.op = FileOp::kWrite, .path = below, .file = number, .size = bytes->size()};
    write.data = std::move(*bytes);
    add_done(std::move(write));
    add_done({.op = FileOp::kSync, .path = below, .file = number});
    add_done({.op = FileOp::kClose, .path = below, .file = number});
  }
  add_done({.op = FileOp::kSyncDirectory, .path = path});
  return {};
}

void Recorder::mark(uint32_t kind, uint32_t who, uint64_t number) {
  os::MutexLock lock(mutex_);
  recording_.marks.push_back({recording_.moments++, kind, who, number});
}

Result<Recording> Recorder::finish(uint64_t seed) {
  os::MutexLock lock(mutex_);
  gather_all();
  if (!broken_.ok()) return broken_;
  if (under_way_ > 0) {
    return Status(StatusCode::kBusy, root_ + ": calls are under way in the recording");
  }
  recording_.seed = seed;
  return std::move(recording_);
}

FileWatcher::Verdict Recorder::before(FileCall& call) {
  call.mark = 0;
  if (call.op == FileOp::kRead) return Verdict::kDo;
  RecordedCall made{.op = call.op, .file = call.file, .offset = call.offset, .size = call.size};
  made.creates = call.op == FileOp::kMap ? !call.flags.read_only : call.flags.create;
  made.data.assign(call.data.begin(), call.data.end());
  os::MutexLock lock(mutex_);
  made.path = below_root(call.path);
  if (!call.to.empty()) made.to = below_root(call.to);
  if (call.op == FileOp::kUnmap) {
    const auto mapping = mappings_.find(call.file);
    if (mapping != mappings_.end()) {
      gather(call.file, mapping->second);
      mappings_.erase(mapping);
    }
  } else if (is_sync(call.op) || recording_.moments - gathered_at_ > kGatherMoments) {
    gather_all();
  }
  made.begin = recording_.moments++;
  recording_.calls.push_back(std::move(made));
  call.mark = recording_.calls.size();
  ++under_way_;
  return Verdict::kDo;
}

void Recorder::after(FileCall& call, const Status& status) {
  if (call.mark == 0) return;
  os::MutexLock lock(mutex_);
  RecordedCall& made = recording_.calls[call.mark - 1];
  made.end = recording_.moments++;
  --under_way_;
  if (!status.ok()) {
    if (!may_fail(made, status) && broken_.ok()) broken_ = status;
    // Nothing was done: as if something that was closed had been closed.
    made.op = FileOp::kClose;
    made.file = 0;
    return;
  }
  if (call.op != FileOp::kMap || call.flags.read_only) return;
  Mapping& mapping = mappings_[call.file];
  mapping.memory = call.mapping;
  mapping.path = made.path;
  mapping.known.resize(call.mapping->size());
  copy_live(mapping.known.data(), call.mapping->data(), mapping.known.size());
}

void Recorder::gather_all() {
  for (auto& [number, mapping] : mappings_) gather(number, mapping);
  gathered_at_ = recording_.moments;
}

void Recorder::gather(uint64_t number, Mapping& mapping) {
  const char* const live = mapping.memory->data();
  for (uint64_t at = 0; at < mapping.known.size(); at += kPageBytes) {
    char* const known = mapping.known.data() + at;
    if (std::memcmp(known, live + at, kPageBytes) == 0) continue;
    copy_live(known, live + at, kPageBytes);
    RecordedCall write{.op = FileOp::kWrite,
                       .path = mapping.path,
                       .file = number,
                       .offset = at,
                       .size = kPageBytes};
    write.data.assign(known, kPageBytes);
    add_done(std::move(write));
  }
}

}  // namespace hawthorn::testing
