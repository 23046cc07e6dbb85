#include "testing/sim_disk.h"

#include <utility>

#include "base/checksum.h"
#include "testing/sim_state.h"

namespace hawthorn::testing {
namespace {

constexpr size_t kMappingUnitBytes = size_t{64} << 10;

Status missing(const std::string& path) {
  return Status(StatusCode::kNotFound, path + ": no such file or directory");
}

uint64_t hash_of(const SimNode& node) {
  uint64_t hash = node.now.size();
  std::string block(kSimBlockBytes, '\0');
  for (uint64_t offset = 0; offset < node.now.size(); offset += kSimBlockBytes) {
    node.now.read(offset, block);
    hash = mix64(hash ^ checksum64(block.data(), block.size(), offset));
  }
  for (const auto& [name, child] : node.names) {
    hash = mix64(hash ^ checksum64(name.data(), name.size(), 0) ^ mix64(hash_of(*child)));
  }
  return hash;
}

}  // namespace

SimDisk::SimDisk(uint64_t seed) : state_(std::make_shared<State>(seed)) {}
SimDisk::SimDisk(std::shared_ptr<State> state) : state_(std::move(state)) {}
SimDisk::~SimDisk() = default;

std::unique_ptr<SimDisk> SimDisk::crash(uint64_t seed, CrashKind kind) {
  os::MutexLock lock(state_->mutex);
  state_->stop_now();
  return std::unique_ptr<SimDisk>(new SimDisk(state_->after_crash(seed, kind)));
}

std::unique_ptr<SimDisk> SimDisk::after_crash(uint64_t seed, CrashKind kind) {
  os::MutexLock lock(state_->mutex);
  return std::unique_ptr<SimDisk>(new SimDisk(state_->after_crash(seed, kind)));
}

void SimDisk::stop() {
  os::MutexLock lock(state_->mutex);
  state_->stop_now();
}

void SimDisk::stop_at(SimOp op, uint64_t nth) {
  os::MutexLock lock(state_->mutex);
  state_->faults.push_back({.op = op, .path_part = "", .nth = nth, .stop = true});
}

bool SimDisk::stopped() const {
  os::MutexLock lock(state_->mutex);
  return state_->stopped;
}

void SimDisk::fail(SimOp op, uint64_t nth, StatusCode code, bool forever) {
  fail_path("", op, nth, code, forever);
}

void SimDisk::fail_path(const std::string& part, SimOp op, uint64_t nth, StatusCode code,
                        bool forever) {
  os::MutexLock lock(state_->mutex);
  state_->faults.push_back(
      {.op = op, .path_part = part, .nth = nth, .code = code, .forever = forever});
}

void SimDisk::clear_faults() {
  os::MutexLock lock(state_->mutex);
  state_->faults.clear();
}

void SimDisk::set_faults(SimDiskFaults* faults) {
  os::MutexLock lock(state_->mutex);
  state_->asked = faults;
}

void SimDisk::set_capacity(uint64_t bytes) {
  os::MutexLock lock(state_->mutex);
  state_->capacity = bytes;
}

void SimDisk::set_clones_supported(bool supported) {
  os::MutexLock lock(state_->mutex);
  state_->clones_supported = supported;
}

void SimDisk::set_direct_supported(bool supported) {
  os::MutexLock lock(state_->mutex);
  state_->direct_supported = supported;
}

void SimDisk::write_back_pages() {
  os::MutexLock lock(state_->mutex);
  if (!state_->stopped) state_->gather_all_stores();
}

bool SimDisk::flip_bit(const std::string& path, uint64_t offset, unsigned bit) {
  os::MutexLock lock(state_->mutex);
  const State::Node node = state_->find(path);
  if (node == nullptr || node->directory || offset >= node->now.size() || bit > 7) return false;
  state_->gather_stores(*node);
  node->now.flip_bit(offset, bit);
  // The medium rots, whatever is on its way to it: a later sync does not heal the byte.
  if (offset < node->durable.size()) node->durable.flip_bit(offset, bit);
  if (const auto memory = node->memory.lock(); memory != nullptr && offset < memory->size()) {
    memory->data()[offset] = static_cast<char>(memory->data()[offset] ^ (1 << bit));
  }
  return true;
}

SimCounters SimDisk::counters() const {
  os::MutexLock lock(state_->mutex);
  return state_->counters;
}

uint64_t SimDisk::used_bytes() const {
  os::MutexLock lock(state_->mutex);
  return state_->used_bytes();
}

uint64_t SimDisk::image_hash() const {
  os::MutexLock lock(state_->mutex);
  if (!state_->stopped) state_->gather_all_stores();
  return hash_of(*state_->root);
}

uint64_t SimDisk::unsynced_changes() const {
  os::MutexLock lock(state_->mutex);
  if (!state_->stopped) state_->gather_all_stores();
  uint64_t total = state_->name_changes.size();
  for (const auto& file : state_->files) {
    const State::Node node = file.lock();
    if (node != nullptr && node->links > 0) total += node->unsynced.size();
  }
  return total;
}

Result<std::unique_ptr<os::File>> SimDisk::open_file(const std::string& path, os::OpenFlags flags) {
  os::MutexLock lock(state_->mutex);
  if (Status s = state_->begin(SimOp::kOpen, path); !s.ok()) return s;
  std::string name;
  const State::Node parent = state_->find_parent(path, &name);
  if (parent == nullptr) return missing(path);
  State::Node node = state_->find(path);
  if (node != nullptr && node->directory) {
    return Status(StatusCode::kIoError, path + ": open: is a directory");
  }
  if (node != nullptr && flags.create && flags.exclusive) {
    return Status(StatusCode::kInvalidArgument, path + ": open: exists");
  }
  if (node == nullptr && !flags.create) return missing(path);
  if (flags.direct && !state_->direct_supported) {
    return Status(StatusCode::kNotSupported, path + ": the file system has no direct I/O");
  }
  if (node == nullptr) {
    if (Status s = state_->begin(SimOp::kName, path); !s.ok()) return s;
    node = state_->create(parent, name, false);
  }
  return make_sim_file(state_, node, path, flags);
}

Result<std::unique_ptr<os::MappedFile>> SimDisk::map_shared(const std::string& path, size_t size,
                                                            bool read_only) {
  os::MutexLock lock(state_->mutex);
  if (size == 0 || size % kMappingUnitBytes != 0) {
    return Status(StatusCode::kInvalidArgument, path + ": mapping is not a multiple of 64 KB");
  }
  if (Status s = state_->begin(SimOp::kOpen, path); !s.ok()) return s;
  std::string name;
  const State::Node parent = state_->find_parent(path, &name);
  State::Node node = state_->find(path);
  if (parent == nullptr || (node == nullptr && read_only)) return missing(path);
  if (node == nullptr) {
    if (Status s = state_->begin(SimOp::kName, path); !s.ok()) return s;
    node = state_->create(parent, name, false);
  }
  if (read_only && node->now.size() < size) {
    return Status(StatusCode::kCorruption, path + ": ends at " + std::to_string(node->now.size()) +
                                               ", " + std::to_string(size - node->now.size()) +
                                               " bytes short");
  }
  std::shared_ptr<SimMemory> memory = node->memory.lock();
  if (memory != nullptr && memory->size() != size) {
    return Status(StatusCode::kBusy, path + ": is mapped with another size");
  }
  const bool fill = !read_only && (node->now.size() != size || node->now.holes(0, size) > 0);
  if (fill) {
    if (Status s = state_->begin(SimOp::kWrite, path); !s.ok()) return s;
    if (Status s = state_->reserve(*node, 0, size, path); !s.ok()) return s;
    state_->change(*node, {SimChange::Kind::kAllocate, 0, size, ""});
    state_->change(*node, {SimChange::Kind::kSize, size, 0, ""});
    const Status synced = state_->begin(SimOp::kSync, path);
    if (state_->stopped) return synced;
    if (!synced.ok()) {
      state_->fail_sync(*node);
      return synced;
    }
    state_->sync(*node);
  }
  if (memory == nullptr) {
    memory = SimMemory::create(size);
    if (memory == nullptr) return Status(StatusCode::kOutOfMemory, path + ": no memory to map");
    node->now.read(0, {memory->data(), size});
    node->memory = memory;
  }
  auto mapped = make_sim_mapped_file(state_, node, memory, path, read_only);
  if (mapped == nullptr) return Status(StatusCode::kOutOfMemory, path + ": no memory to map");
  return mapped;
}

Result<bool> SimDisk::exists(const std::string& path) {
  os::MutexLock lock(state_->mutex);
  if (Status s = state_->begin(SimOp::kAny, path); !s.ok()) return s;
  return state_->find(path) != nullptr;
}

Status SimDisk::make_directory(const std::string& path) {
  os::MutexLock lock(state_->mutex);
  const State::Node node = state_->find(path);
  if (node != nullptr && !node->directory) {
    return Status(StatusCode::kInvalidArgument, path + ": make directory: a file is there");
  }
  if (node == nullptr) {
    if (Status s = state_->begin(SimOp::kName, path); !s.ok()) return s;
    std::string name;
    const State::Node parent = state_->find_parent(path, &name);
    if (parent == nullptr) return missing(path);
    state_->create(parent, name, true);
  }
  return state_->stopped ? state_->begin(SimOp::kName, path) : Status();
}

Status SimDisk::remove_directory(const std::string& path) {
  os::MutexLock lock(state_->mutex);
  if (Status s = state_->begin(SimOp::kName, path); !s.ok()) return s;
  std::string name;
  const State::Node node = state_->find(path);
  const State::Node parent = state_->find_parent(path, &name);
  if (node == nullptr || parent == nullptr) return missing(path);
  if (!node->directory) return Status(StatusCode::kIoError, path + ": is no directory");
  if (!node->names.empty()) {
    return Status(StatusCode::kInvalidArgument, path + ": remove directory: not empty");
  }
  state_->unlink(parent, name);
  return Status();
}

Result<std::vector<std::string>> SimDisk::list(const std::string& directory) {
  os::MutexLock lock(state_->mutex);
  if (Status s = state_->begin(SimOp::kAny, directory); !s.ok()) return s;
  const State::Node node = state_->find(directory);
  if (node == nullptr) return missing(directory);
  if (!node->directory) return Status(StatusCode::kIoError, directory + ": is no directory");
  std::vector<std::string> names;
  for (const auto& [name, child] : node->names) names.push_back(name);
  return names;
}

Status SimDisk::rename(const std::string& from, const std::string& to) {
  os::MutexLock lock(state_->mutex);
  if (Status s = state_->begin(SimOp::kName, from); !s.ok()) return s;
  std::string from_name;
  std::string to_name;
  const State::Node node = state_->find(from);
  const State::Node from_parent = state_->find_parent(from, &from_name);
  const State::Node to_parent = state_->find_parent(to, &to_name);
  if (node == nullptr || from_parent == nullptr) return missing(from);
  if (to_parent == nullptr) return missing(to);
  const State::Node replaced = state_->find(to);
  if (replaced == node) return Status();
  if (replaced != nullptr && replaced->directory) {
    return Status(StatusCode::kBusy, to + ": rename: a directory is there");
  }
  if (replaced != nullptr) replaced->links = 0;
  from_parent->names.erase(from_name);
  to_parent->names[to_name] = node;
  state_->name_changes.push_back(
      {SimNameChange::Kind::kRename, from_parent, from_name, to_parent, to_name, node});
  return Status();
}

Status SimDisk::remove(const std::string& path) {
  os::MutexLock lock(state_->mutex);
  if (Status s = state_->begin(SimOp::kName, path); !s.ok()) return s;
  std::string name;
  const State::Node node = state_->find(path);
  const State::Node parent = state_->find_parent(path, &name);
  if (node == nullptr || parent == nullptr) return missing(path);
  if (node->directory) return Status(StatusCode::kIoError, path + ": remove: is a directory");
  state_->unlink(parent, name);
  return Status();
}

Status SimDisk::sync_directory(const std::string& directory) {
  os::MutexLock lock(state_->mutex);
  if (Status s = state_->begin(SimOp::kSyncDirectory, directory); !s.ok()) return s;
  const State::Node node = state_->find(directory);
  if (node == nullptr) return missing(directory);
  const auto covered = [&node](const SimNameChange& change) {
    return change.directory == node || change.to_directory == node;
  };
  for (const SimNameChange& change : state_->name_changes) {
    if (covered(change)) state_->change_names(change);
  }
  std::erase_if(state_->name_changes, covered);
  return Status();
}

Result<uint64_t> SimDisk::free_bytes(const std::string& directory) {
  os::MutexLock lock(state_->mutex);
  if (Status s = state_->begin(SimOp::kAny, directory); !s.ok()) return s;
  return state_->free_bytes();
}

}  // namespace hawthorn::testing
