#include "testing/sim_files.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace hawthorn::testing {
namespace {

constexpr int kDescriptor = 1'000'000;  // no file's: queues hand reads to the pool for it
constexpr uint64_t kSyncLatencies = 10;
constexpr uint64_t kWriteBackPeriod = 50;  // operations
constexpr uint64_t kRottenBitsMax = 3;     // of what is mapped, at once

std::string_view base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

class TracedFile : public os::File {
 public:
  TracedFile(SimFiles* files, std::unique_ptr<os::File> file)
      : files_(files), file_(std::move(file)) {}

  Status read_at(uint64_t offset, std::span<char> data) override {
    files_->before_read(path(), offset, data.size());
    const Status status = file_->read_at(offset, data);
    return files_->end(path(), status, status.ok() ? data : std::span<char>());
  }
  Status write_at(uint64_t offset, std::span<const char> data) override {
    files_->begin("write", path(), files_->latency_us());
    return files_->end(path(), file_->write_at(offset, data), data);
  }
  Status sync_data() override {
    files_->begin("sync", path(), kSyncLatencies * files_->latency_us());
    return files_->end(path(), file_->sync_data());
  }
  Result<uint64_t> size() override { return file_->size(); }
  Result<uint64_t> allocated_bytes() override { return file_->allocated_bytes(); }
  Status truncate(uint64_t size) override {
    files_->begin("truncate", path(), files_->latency_us());
    return files_->end(path(), file_->truncate(size));
  }
  Status allocate(uint64_t offset, uint64_t size) override {
    files_->begin("allocate", path(), files_->latency_us());
    return files_->end(path(), file_->allocate(offset, size));
  }
  Status punch_hole(uint64_t offset, uint64_t size) override {
    files_->begin("punch", path(), files_->latency_us());
    return files_->end(path(), file_->punch_hole(offset, size));
  }
  Status lock_exclusive() override { return file_->lock_exclusive(); }
  Status lock_byte(uint64_t offset) override { return file_->lock_byte(offset); }
  Status unlock_byte(uint64_t offset) override { return file_->unlock_byte(offset); }
  bool direct() const override { return file_->direct(); }
  const std::string& path() const override { return file_->path(); }
  int descriptor() const override { return kDescriptor; }

 private:
  SimFiles* const files_;
  const std::unique_ptr<os::File> file_;
};

class TracedMapping : public os::MappedFile {
 public:
  TracedMapping(SimFiles* files, std::string path, std::unique_ptr<os::MappedFile> file)
      : files_(files), path_(std::move(path)), file_(std::move(file)) {}
  char* data() override { return file_->data(); }
  size_t size() const override { return file_->size(); }
  Status sync() override {
    files_->begin("sync of a mapping", path_, kSyncLatencies * files_->latency_us());
    return files_->end(path_, file_->sync());
  }
  bool mirrored() const override { return file_->mirrored(); }

 private:
  SimFiles* const files_;
  const std::string path_;
  const std::unique_ptr<os::MappedFile> file_;
};

}  // namespace

const char* sim_fault_name(SimFaultKind kind) {
  constexpr const char* kNames[kSimFaultKinds] = {
      "open fails",         "read fails",        "short read",        "write fails",
      "no space",           "sync fails",        "name change fails", "directory sync fails",
      "write dropped",      "write forgotten",   "write misdirected", "bit rot",
      "unsynced kept",      "unsynced lost",     "unsynced torn",     "older page kept",
      "unsynced name kept", "unsynced name lost"};
  return kNames[static_cast<size_t>(kind)];
}

const char* sim_file_class_name(SimFileClass file) {
  constexpr const char* kNames[kSimFileClasses] = {"superblock", "manifest", "segment",  "ring",
                                                   "data",       "other",    "directory"};
  return kNames[static_cast<size_t>(file)];
}

SimFileClass sim_file_class(const std::string& path) {
  const std::string_view name = base_name(path);
  if (name.starts_with("superblock")) return SimFileClass::kSuperblock;
  if (name.starts_with("manifest")) return SimFileClass::kManifest;
  if (name == "wal.ring") return SimFileClass::kRing;
  if (name.starts_with("wal.")) return SimFileClass::kSegment;
  if (name.starts_with("data.")) return SimFileClass::kData;
  return SimFileClass::kOther;
}

SimFiles::SimFiles(SimDisk* disk, SimScheduler* scheduler, SimTrace* trace, SimCoverage* coverage,
                   uint64_t seed)
    : disk_(disk), scheduler_(scheduler), trace_(trace), coverage_(coverage), prng_(seed) {
  disk_->set_faults(this);
}

SimFiles::~SimFiles() { disk_->set_faults(nullptr); }

void SimFiles::set_disk(SimDisk* disk) {
  renamed_.clear();
  disk_ = disk;
  disk_->set_faults(this);
}

// ---- Faults

bool SimFiles::draw(SimFaultKind kind) {
  const uint64_t period = plan_.period[static_cast<size_t>(kind)];
  if (period == 0 || faults_ >= plan_.faults_max || !prng_.one_in(period)) return false;
  ++faults_;
  return true;
}

void SimFiles::count(SimFaultKind kind, const std::string& path) {
  ++(*coverage_)[static_cast<size_t>(kind)][static_cast<size_t>(sim_file_class(path))];
}

// Of data that one call writes alone, a value or a bulk load, the call alone fails; a data file
// that is made is tried again, and the spare of the manifest done without.
bool SimFiles::final(SimFaultKind kind, const std::string& path) const {
  const bool syncs = kind == SimFaultKind::kSyncFails;
  if (!path.starts_with("/db/") || (!syncs && kind != SimFaultKind::kWriteFails)) return false;
  switch (sim_file_class(path)) {
    case SimFileClass::kSegment:
      return true;
    case SimFileClass::kManifest:
      return !path.ends_with("spare");
    case SimFileClass::kData:
      return syncs && written_.contains(path);
    default:
      return false;
  }
}

Status SimFiles::meet(SimOp op, const std::string& path) {
  using Kind = SimFaultKind;
  const bool writes = (plan_.errors_of >> static_cast<size_t>(sim_file_class(path)) & 1) != 0;
  const auto fails = [&](Kind kind, StatusCode code) {
    if (kind == Kind::kDirectorySyncFails) {
      ++(*coverage_)[static_cast<size_t>(kind)][static_cast<size_t>(SimFileClass::kDirectory)];
    } else {
      count(kind, path);
    }
    ++errors_;
    final_errors_ += final(kind, path) ? 1 : 0;
    if (kind == Kind::kShortRead || kind == Kind::kWriteFails) harm(name_now(path));
    trace_->text(sim_fault_name(kind));
    return Status(code, path + ": injected: " + sim_fault_name(kind));
  };
  switch (op) {
    case SimOp::kOpen:
      if (draw(Kind::kOpenFails)) return fails(Kind::kOpenFails, StatusCode::kIoError);
      break;
    case SimOp::kRead:
      if (draw(Kind::kReadFails)) return fails(Kind::kReadFails, StatusCode::kIoError);
      if (draw(Kind::kShortRead)) return fails(Kind::kShortRead, StatusCode::kCorruption);
      break;
    case SimOp::kWrite:
      if (writes && draw(Kind::kWriteFails)) return fails(Kind::kWriteFails, StatusCode::kIoError);
      break;
    case SimOp::kAllocate:
      if (draw(Kind::kNoSpace)) return fails(Kind::kNoSpace, StatusCode::kNoSpace);
      break;
    case SimOp::kSync:
      if (writes && draw(Kind::kSyncFails)) return fails(Kind::kSyncFails, StatusCode::kIoError);
      break;
    case SimOp::kName:
      if (draw(Kind::kNameFails)) return fails(Kind::kNameFails, StatusCode::kIoError);
      break;
    case SimOp::kSyncDirectory:
      if (draw(Kind::kDirectorySyncFails)) {
        return fails(Kind::kDirectorySyncFails, StatusCode::kIoError);
      }
      break;
    case SimOp::kAny:
      break;
  }
  return {};
}

const std::string& SimFiles::name_now(const std::string& path) const {
  const auto found = renamed_.find(path);
  return found == renamed_.end() ? path : found->second;
}

void SimFiles::harm(const std::string& path) {
  harmed_ever_.insert(path);
  harmed_in_life_.insert(path);
}

void SimFiles::damage(SimFaultKind kind, const std::string& path, uint64_t offset, uint64_t size) {
  trace_->number(sim_fault_name(kind), offset, size);
  if (plan_.secret) return;
  harm(path);
  damaged_since_.insert(path);
  damage_.push_back({kind, path, offset, offset + size});
}

bool SimFiles::rot(const std::string& path, uint64_t at) {
  if (!disk_->flip_bit(path, at, static_cast<unsigned>(prng_.below(8)))) return false;
  damage(SimFaultKind::kBitRot, path, at, 1);
  return true;
}

SimDiskFaults::WriteFate SimFiles::fate_of_write(const Write& write, uint64_t* elsewhere) {
  using Kind = SimFaultKind;
  const auto& [opened, offset, size, file_size, repeats] = write;
  const std::string path = name_now(opened);
  if (sim_file_class(path) == SimFileClass::kData) written_.insert(path);
  // What is written whole is as it should be again, unless it was read and is written as it was.
  const uint64_t end = offset + size;
  std::erase_if(damage_, [&](const Damage& one) {
    return one.path == path && one.begin >= write.offset && one.end <= end &&
           !write.repeats(one.begin, one.end);
  });
  if ((plan_.lies_about >> static_cast<size_t>(sim_file_class(path)) & 1) == 0) {
    return WriteFate::kWritten;
  }
  if (draw(Kind::kDroppedWrite)) {
    damage(Kind::kDroppedWrite, path, offset, size);
    return WriteFate::kDropped;
  }
  if (draw(Kind::kForgottenWrite)) {
    damage(Kind::kForgottenWrite, path, offset, size);
    return WriteFate::kForgotten;
  }
  if (file_size >= 2 * size && draw(Kind::kMisdirectedWrite)) {
    const uint64_t places = (file_size - size) / os::kBlockBytes + 1;
    *elsewhere = prng_.below(places) * os::kBlockBytes;
    if (*elsewhere == offset) return WriteFate::kWritten;
    damage(Kind::kMisdirectedWrite, path, offset, size);
    damage(Kind::kMisdirectedWrite, path, *elsewhere, size);
    return WriteFate::kMisdirected;
  }
  return WriteFate::kWritten;
}

void SimFiles::crashed(const std::string& path, bool name, CrashFate fate) {
  using Kind = SimFaultKind;
  Kind kind = Kind::kTornUnsynced;
  if (fate == CrashFate::kKept) kind = name ? Kind::kNameKept : Kind::kKeptUnsynced;
  if (fate == CrashFate::kOlder) kind = Kind::kOlderPage;
  if (fate == CrashFate::kLost) kind = name ? Kind::kNameLost : Kind::kLostUnsynced;
  count(kind, path);
}

void SimFiles::before_read(const std::string& opened, uint64_t offset, size_t size) {
  begin("read", opened, latency_us());
  const std::string path = name_now(opened);
  if (size > 0 && draw(SimFaultKind::kBitRot)) {
    static_cast<void>(rot(path, offset + prng_.below(size)));
  }
  for (const Damage& one : damage_) {
    if (one.path == path && one.begin < offset + size && one.end > offset) count(one.kind, path);
  }
}

std::set<std::string> SimFiles::damaged_files() const {
  std::set<std::string> files;
  for (const Damage& one : damage_) files.insert(one.path);
  return files;
}

void SimFiles::begin_life() {
  errors_ = final_errors_ = 0;
  harmed_in_life_ = damaged_files();
}

void SimFiles::forget_harm() { damaged_since_ = damaged_files(); }

bool SimFiles::names_harmed(std::string_view text, bool ever) const {
  const std::set<std::string>& files = ever ? harmed_ever_ : harmed_in_life_;
  const auto part_of_name = [text](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0);
  };
  return std::any_of(files.begin(), files.end(), [&](const std::string& path) {
    const std::string_view name = base_name(path);
    const std::string_view directory = std::string_view(path).substr(0, path.size() - name.size());
    for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
      if (part_of_name(at + name.size()) || (at > 0 && part_of_name(at - 1))) continue;
      if (at == 0 || text[at - 1] != '/' || text.substr(0, at).ends_with(directory)) return true;
    }
    return false;
  });
}

bool SimFiles::harmed(const std::string& directory, SimFileClass file) const {
  return std::any_of(damaged_since_.begin(), damaged_since_.end(), [&](const std::string& path) {
    return path.starts_with(directory + "/") && sim_file_class(path) == file;
  });
}

// What is mapped is read without a call: what has rotted is met when it is mapped.
void SimFiles::rot_before_map(const std::string& path, size_t size) {
  if (plan_.period[static_cast<size_t>(SimFaultKind::kBitRot)] == 0 || !prng_.one_in(2)) return;
  for (uint64_t bits = prng_.between(1, kRottenBitsMax); bits > 0; --bits) {
    if (faults_ >= plan_.faults_max) return;
    if (!rot(path, prng_.below(size))) return;
    ++faults_;
    count(SimFaultKind::kBitRot, path);
  }
}

std::string SimFiles::describe_damage() const {
  std::string text;
  for (const Damage& one : damage_) {
    text += std::string(text.empty() ? "" : ", ") + sim_fault_name(one.kind) + ": " + one.path +
            " at " + std::to_string(one.begin) + " to " + std::to_string(one.end);
  }
  return text;
}

// ---- Operations

void SimFiles::begin(const char* what, const std::string& path, uint64_t latency_us) {
  trace_->text(path);
  if (prng_.one_in(kWriteBackPeriod)) disk_->write_back_pages();
  // A dead machine waits for nothing.
  if (latency_us > 0 && !disk_->stopped()) {
    scheduler_->pause(1 + prng_.below(latency_us));
  } else {
    scheduler_->point(what);
  }
}

Status SimFiles::end(const std::string& path, const Status& status, std::span<const char> data) {
  trace_->bytes(status.ok() ? std::string_view(path) : status.message(), data);
  return status;
}

Result<std::unique_ptr<os::File>> SimFiles::open_file(const std::string& path,
                                                      os::OpenFlags flags) {
  begin("open", path, latency_us());
  renamed_.erase(path);
  Result<std::unique_ptr<os::File>> file = disk_->open_file(path, flags);
  static_cast<void>(end(path, file.status()).ok());
  if (!file.ok()) return file;
  return std::unique_ptr<os::File>(std::make_unique<TracedFile>(this, std::move(*file)));
}

Result<std::unique_ptr<os::MappedFile>> SimFiles::map_shared(const std::string& path, size_t size,
                                                             bool read_only) {
  begin("map", path, latency_us());
  rot_before_map(path, size);
  Result<std::unique_ptr<os::MappedFile>> file = disk_->map_shared(path, size, read_only);
  static_cast<void>(end(path, file.status()).ok());
  if (!file.ok()) return file;
  return std::unique_ptr<os::MappedFile>(
      std::make_unique<TracedMapping>(this, path, std::move(*file)));
}

Result<bool> SimFiles::exists(const std::string& path) { return disk_->exists(path); }

Status SimFiles::make_directory(const std::string& path) {
  begin("make directory", path, latency_us());
  return end(path, disk_->make_directory(path));
}

Status SimFiles::remove_directory(const std::string& path) {
  begin("remove directory", path, latency_us());
  return end(path, disk_->remove_directory(path));
}

Result<std::vector<std::string>> SimFiles::list(const std::string& directory) {
  return disk_->list(directory);
}

Status SimFiles::rename(const std::string& from, const std::string& to) {
  begin("rename", from, latency_us());
  const Status status = end(from, disk_->rename(from, to));
  if (!status.ok()) return status;
  for (auto& [opened, name] : renamed_) {
    if (name == from) name = to;
  }
  renamed_.erase(to);
  renamed_[from] = to;
  // A crash may take the name back.
  for (std::set<std::string>* files : {&harmed_ever_, &harmed_in_life_, &damaged_since_}) {
    if (files->contains(from)) files->insert(to);
  }
  std::erase_if(damage_, [&](const Damage& one) { return one.path == to; });
  for (Damage& one : damage_) {
    if (one.path == from) one.path = to;
  }
  return status;
}

Status SimFiles::remove(const std::string& path) {
  begin("remove", path, latency_us());
  written_.erase(path);
  return end(path, disk_->remove(path));
}

Status SimFiles::sync_directory(const std::string& directory) {
  begin("sync directory", directory, kSyncLatencies * latency_us());
  return end(directory, disk_->sync_directory(directory));
}

Result<uint64_t> SimFiles::free_bytes(const std::string& directory) {
  return disk_->free_bytes(directory);
}

}  // namespace hawthorn::testing
