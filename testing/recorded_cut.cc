#include "testing/recorded_cut.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "os/posix_file.h"

namespace hawthorn::testing {
namespace {

constexpr size_t kSectorBytes = 512;
constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr const char* kDirectory = "directory";

// Hears from a disk what a power cut made of each change.
class Fates : public SimDiskFaults {
 public:
  explicit Fates(CutStates* states) : states_(states) {}
  Status meet(SimOp, const std::string&) override { return {}; }
  WriteFate fate_of_write(const Write&, uint64_t*) override { return WriteFate::kWritten; }
  void crashed(const std::string& path, bool name, CrashFate fate) override {
    if (fate == CrashFate::kOlder) return;  // which was told as kept
    CutState state = CutState::kTorn;
    if (fate == CrashFate::kKept) state = name ? CutState::kNameKept : CutState::kKept;
    if (fate == CrashFate::kLost) state = name ? CutState::kNameLost : CutState::kLost;
    (*states_)[file_class(path)].insert(state);
  }

 private:
  CutStates* const states_;
};

class Replay {
 public:
  Replay(const Recording& recording, const Cut& cut, CutStates* states)
      : recording_(recording),
        cut_(cut),
        states_(states),
        dice_(cut.seed),
        disk_(std::make_unique<SimDisk>(cut.seed)) {}

  Result<std::unique_ptr<SimDisk>> run() {
    // At each moment a call begins or ends, or nothing of a call happens.
    std::vector<const RecordedCall*> begins(recording_.moments, nullptr);
    std::vector<const RecordedCall*> ends(recording_.moments, nullptr);
    for (const RecordedCall& call : recording_.calls) {
      if (call.begin < begins.size()) begins[call.begin] = &call;
      if (call.end < ends.size()) ends[call.end] = &call;
    }
    const uint64_t until = std::min(cut_.moment, recording_.moments);
    for (uint64_t moment = 0; moment < until; ++moment) {
      // A sync counts from where it began, but only if it ended in time.
      const RecordedCall* const begun = begins[moment];
      Status status;
      if (begun != nullptr && is_sync(begun->op) && begun->end < until) status = sync(*begun);
      const RecordedCall* const ended = ends[moment];
      if (status.ok() && ended != nullptr && !is_sync(ended->op)) status = apply(*ended);
      if (!status.ok()) return contradiction(moment, status);
    }
    for (const RecordedCall& call : recording_.calls) {
      if (call.begin >= until || call.end < until) continue;
      if (Status s = apply_under_way(call); !s.ok()) return contradiction(call.begin, s);
    }
    return crashed();
  }

 private:
  static Status contradiction(uint64_t moment, const Status& status) {
    return Status(StatusCode::kCorruption, "the recording contradicts itself at moment " +
                                               std::to_string(moment) + ": " + status.to_string());
  }

  Result<std::unique_ptr<SimDisk>> crashed() {
    if (cut_.kind == CutKind::kPrefix) return std::move(disk_);
    Fates fates(states_);
    disk_->set_faults(&fates);
    auto after =
        disk_->crash(dice_.next(), cut_.kind == CutKind::kSynced ? CrashKind::kPowerLossDrop
                                                                 : CrashKind::kPowerLoss);
    after->set_faults(nullptr);
    return after;
  }

  Result<os::File*> file_of(const RecordedCall& call) {
    const auto found = files_.find(call.file);
    if (found != files_.end()) return found->second.get();
    return Status(StatusCode::kNotFound, call.path + ": is not open");
  }

  Status open(const RecordedCall& call) {
    auto file = disk_->open_file(call.path, {.create = call.creates});
    if (!file.ok()) return file.status();
    files_[call.file] = std::move(*file);
    return {};
  }

  // As map_shared does: all of it has space, and is synced where it had none.
  Status map(const RecordedCall& call, bool syncs) {
    if (Status s = open(call); !s.ok()) return s;
    if (!call.creates) return {};
    os::File& file = *files_[call.file];
    const Result<uint64_t> size = file.size();
    if (!size.ok()) return size.status();
    if (*size == call.size) return {};
    if (*size > call.size) {
      if (Status s = file.truncate(call.size); !s.ok()) return s;
    }
    if (Status s = file.allocate(0, call.size); !s.ok()) return s;
    return syncs ? file.sync_data() : Status();
  }

  Status sync(const RecordedCall& call) {
    const std::string what = call.op == FileOp::kSyncDirectory ? kDirectory : file_class(call.path);
    if (!cut_.without_syncs_of.empty() && what.starts_with(cut_.without_syncs_of) &&
        call.begin >= recording_.first_moment) {
      return {};
    }
    if (call.op == FileOp::kSyncDirectory) return disk_->sync_directory(call.path);
    const Result<os::File*> file = file_of(call);
    return file.ok() ? (*file)->sync_data() : file.status();
  }

  Status apply(const RecordedCall& call) {
    switch (call.op) {
      case FileOp::kOpen:
        return open(call);
      case FileOp::kMap:
        return map(call, true);
      case FileOp::kClose:
      case FileOp::kUnmap:
        files_.erase(call.file);
        return {};
      case FileOp::kRename:
        return disk_->rename(call.path, call.to);
      case FileOp::kRemove:
        return disk_->remove(call.path);
      case FileOp::kMakeDirectory:
        return disk_->make_directory(call.path);
      case FileOp::kRemoveDirectory:
        return disk_->remove_directory(call.path);
      default:
        break;
    }
    const Result<os::File*> file = file_of(call);
    if (!file.ok()) return file.status();
    if (call.op == FileOp::kWrite) return (*file)->write_at(call.offset, call.data);
    if (call.op == FileOp::kTruncate) return (*file)->truncate(call.offset);
    if (call.op == FileOp::kAllocate) return (*file)->allocate(call.offset, call.size);
    return (*file)->punch_hole(call.offset, call.size);
  }

  Status apply_under_way(const RecordedCall& call) {
    if (call.op == FileOp::kClose || call.op == FileOp::kUnmap) return {};
    if (is_sync(call.op)) {
      const bool names = call.op == FileOp::kSyncDirectory;
      (*states_)[names ? kDirectory : file_class(call.path)].insert(CutState::kInSync);
      return {};
    }
    if (call.op == FileOp::kOpen && !call.creates) return {};
    const bool writes = call.op == FileOp::kWrite;
    (*states_)[file_class(call.path)].insert(writes ? CutState::kInWrite : CutState::kInOther);
    if (!writes) {
      if (dice_.one_in(2)) return {};
      return call.op == FileOp::kMap ? map(call, false) : apply(call);
    }
    const Result<os::File*> file = file_of(call);
    return file.ok() ? write_in_part(**file, call) : file.status();
  }

  // Its front, any of its sectors, or all of it.
  Status write_in_part(os::File& file, const RecordedCall& call) {
    const std::string_view data = call.data;
    const uint64_t pick = dice_.below(3);
    if (pick == 0) return file.write_at(call.offset, data);
    if (pick == 1) {
      const size_t front = dice_.below(data.size() / kSectorBytes + 1) * kSectorBytes;
      return front == 0 ? Status() : file.write_at(call.offset, data.substr(0, front));
    }
    for (size_t at = 0; at < data.size();) {
      const size_t here =
          std::min(kSectorBytes - (call.offset + at) % kSectorBytes, data.size() - at);
      if (dice_.one_in(2)) {
        if (Status s = file.write_at(call.offset + at, data.substr(at, here)); !s.ok()) return s;
      }
      at += here;
    }
    return {};
  }

  const Recording& recording_;
  const Cut& cut_;
  CutStates* const states_;
  Prng dice_;
  std::unique_ptr<SimDisk> disk_;
  std::map<uint64_t, std::unique_ptr<os::File>> files_;  // before the disk goes
};

// Calls visit(path below the root, file; null: a directory) for all that is on the disk.
template <typename Visit>
Status walk(SimDisk& disk, const std::string& path, Visit& visit) {
  const Result<std::vector<std::string>> names = disk.list(path);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const std::string below = path == "/" ? "/" + name : path + "/" + name;
    if (disk.list(below).ok()) {
      if (Status s = visit(below, nullptr); !s.ok()) return s;
      if (Status s = walk(disk, below, visit); !s.ok()) return s;
      continue;
    }
    auto file = disk.open_file(below, {.read_only = true});
    if (!file.ok()) return file.status();
    if (Status s = visit(below, file->get()); !s.ok()) return s;
  }
  return {};
}

bool is_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

// Calls take(offset, bytes) for one chunk of the file after the other.
template <typename Take>
Status read_chunks(os::File& file, uint64_t size, Take take) {
  std::string chunk;
  for (uint64_t at = 0; at < size; at += chunk.size()) {
    chunk.resize(std::min<uint64_t>(kChunkBytes, size - at));
    if (Status s = file.read_at(at, chunk); !s.ok()) return s;
    if (Status s = take(at, std::string_view(chunk)); !s.ok()) return s;
  }
  return {};
}

// Decimal, or as segments of the log are numbered.
bool is_number(const std::string& text) {
  const bool decimal = text.find_first_not_of("0123456789") == std::string::npos;
  const bool hexadecimal =
      text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return !text.empty() && (decimal || hexadecimal);
}

}  // namespace

const char* name_of(CutState state) {
  static constexpr const char* kNames[kCutStates] = {
      "in write", "in sync", "in change", "kept", "torn", "lost", "name kept", "name lost"};
  return kNames[static_cast<size_t>(state)];
}

std::string file_class(const std::string& path) {
  std::string_view left = path;
  for (const std::string_view own : {"/", "db/"}) {
    if (left.starts_with(own)) left.remove_prefix(own.size());
  }
  std::string text;
  while (!left.empty()) {
    const size_t end = std::min(left.find_first_of("./"), left.size());
    const std::string part(left.substr(0, end));
    text += is_number(part) ? "N" : part;
    if (end < left.size()) text += left[end];
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return text;
}

Result<std::unique_ptr<SimDisk>> disk_after(const Recording& recording, const Cut& cut,
                                            CutStates* states) {
  return Replay(recording, cut, states).run();
}

Status write_out(SimDisk& disk, const std::string& directory) {
  os::FileSystem& files = os::posix_file_system();
  const auto make = [&](const std::string& path, os::File* from) -> Status {
    if (from == nullptr) return files.make_directory(directory + path);
    const Result<uint64_t> size = from->size();
    if (!size.ok()) return size.status();
    auto to = files.open_file(directory + path, {.create = true, .exclusive = true});
    if (!to.ok()) return to.status();
    if (Status s = (*to)->allocate(0, *size); !s.ok()) return s;
    return read_chunks(*from, *size, [&](uint64_t at, std::string_view bytes) {
      return is_zero(bytes) ? Status() : (*to)->write_at(at, bytes);
    });
  };
  return walk(disk, "/", make);
}

Result<std::string> difference(SimDisk& disk, const std::string& directory) {
  os::FileSystem& files = os::posix_file_system();
  std::string differs;
  std::map<std::string, std::set<std::string>> names;  // by directory
  const auto compare = [&](const std::string& path, os::File* recorded) -> Status {
    const size_t slash = path.rfind('/');
    names[path.substr(0, slash)].insert(path.substr(slash + 1));
    if (recorded == nullptr) {
      names[path];
      return {};
    }
    auto real = files.open_file(directory + path, {.read_only = true});
    if (!real.ok()) return real.status();
    const Result<uint64_t> size = recorded->size();
    const Result<uint64_t> real_size = (*real)->size();
    if (!size.ok() || !real_size.ok()) return size.ok() ? real_size.status() : size.status();
    if (*size != *real_size) {
      differs = path + " has " + std::to_string(*real_size) + " bytes, recorded are " +
                std::to_string(*size);
      return {};
    }
    std::string found;
    return read_chunks(*recorded, *size, [&](uint64_t at, std::string_view bytes) {
      found.resize(bytes.size());
      const Status status = (*real)->read_at(at, found);
      if (status.ok() && found != bytes) differs = path + " differs behind " + std::to_string(at);
      return status;
    });
  };
  names[""];
  if (Status s = walk(disk, "/", compare); !s.ok()) return s;
  for (const auto& [path, recorded] : names) {
    const Result<std::vector<std::string>> real = files.list(directory + path);
    if (!real.ok()) return real.status();
    for (const std::string& name : *real) {
      if (!recorded.contains(name)) differs = path + "/" + name + " is not recorded";
    }
  }
  return differs;
}

}  // namespace hawthorn::testing
