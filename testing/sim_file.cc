#include <algorithm>
#include <cstring>
#include <utility>

#include "testing/sim_state.h"

namespace hawthorn::testing {
namespace {

class SimFile : public os::File {
 public:
  SimFile(std::shared_ptr<SimDisk::State> state, std::shared_ptr<SimNode> node, std::string path,
          os::OpenFlags flags)
      : state_(std::move(state)), node_(std::move(node)), path_(std::move(path)), flags_(flags) {}

  ~SimFile() override {
    os::MutexLock lock(state_->mutex);
    --node_->handles;
    if (node_->lock_holder == this) node_->lock_holder = nullptr;
    std::erase_if(node_->byte_locks, [this](const auto& held) { return held.second == this; });
  }

  Status read_at(uint64_t offset, std::span<char> data) override {
    os::MutexLock lock(state_->mutex);
    if (Status s = check_direct(offset, data.data(), data.size()); !s.ok()) return s;
    const Status fault = state_->begin(SimOp::kRead, path_);
    if (!fault.ok() && !fault.is(StatusCode::kCorruption)) return fault;
    state_->gather_stores(*node_);
    const uint64_t size = node_->now.size();
    uint64_t present = offset < size ? std::min<uint64_t>(size - offset, data.size()) : 0;
    if (!fault.ok()) present = std::min<uint64_t>(present, data.size() / 2);
    node_->now.read(offset, data.first(static_cast<size_t>(present)));
    state_->counters.bytes_read += present;
    if (present == data.size()) return Status();
    return Status(StatusCode::kCorruption, path_ + ": ends at " + std::to_string(offset + present) +
                                               ", " + std::to_string(data.size() - present) +
                                               " bytes short");
  }

  Status write_at(uint64_t offset, std::span<const char> data) override {
    os::MutexLock lock(state_->mutex);
    if (Status s = check_direct(offset, data.data(), data.size()); !s.ok()) return s;
    if (Status s = check_writable(); !s.ok()) return s;
    Status fault = state_->begin(SimOp::kWrite, path_);
    if (state_->stopped) return fault;
    if (fault.ok()) fault = state_->reserve(*node_, offset, data.size(), path_);
    if (!fault.ok()) {
      // What a failed write leaves behind: some of its sectors from the front, or none.
      const size_t sectors = data.size() / kSimSectorBytes;
      data = data.first(static_cast<size_t>(state_->prng.below(sectors + 1)) * kSimSectorBytes);
      if (!state_->reserve(*node_, offset, data.size(), path_).ok()) return fault;
    }
    if (data.empty()) return fault;
    state_->gather_stores(*node_);
    state_->counters.bytes_written += data.size();
    state_->write(*node_, path_, offset, data);
    return fault;
  }

  Status sync_data() override {
    os::MutexLock lock(state_->mutex);
    const Status fault = state_->begin(SimOp::kSync, path_);
    if (state_->stopped) return fault;
    if (fault.ok()) {
      state_->sync(*node_);
    } else {
      state_->fail_sync(*node_);
    }
    return fault;
  }

  Result<uint64_t> size() override {
    os::MutexLock lock(state_->mutex);
    if (state_->stopped) return state_->begin(SimOp::kAny, path_);
    return node_->now.size();
  }

  Result<uint64_t> allocated_bytes() override {
    os::MutexLock lock(state_->mutex);
    if (state_->stopped) return state_->begin(SimOp::kAny, path_);
    return node_->now.allocated_bytes();
  }

  Status truncate(uint64_t size) override {
    os::MutexLock lock(state_->mutex);
    if (Status s = check_writable(); !s.ok()) return s;
    if (Status s = state_->begin(SimOp::kAllocate, path_); !s.ok()) return s;
    state_->gather_stores(*node_);
    state_->change(*node_, {SimChange::Kind::kSize, size, 0, ""});
    return Status();
  }

  Status allocate(uint64_t offset, uint64_t size) override {
    os::MutexLock lock(state_->mutex);
    if (Status s = check_writable(); !s.ok()) return s;
    if (Status s = state_->begin(SimOp::kAllocate, path_); !s.ok()) return s;
    if (size == 0) return Status();
    if (Status s = state_->reserve(*node_, offset, size, path_); !s.ok()) return s;
    state_->change(*node_, {SimChange::Kind::kAllocate, offset, size, ""});
    extend(offset + size);
    return Status();
  }

  Status punch_hole(uint64_t offset, uint64_t size) override {
    os::MutexLock lock(state_->mutex);
    if (Status s = check_writable(); !s.ok()) return s;
    if (Status s = state_->begin(SimOp::kAllocate, path_); !s.ok()) return s;
    state_->gather_stores(*node_);
    state_->change(*node_, {SimChange::Kind::kPunch, offset, size, ""});
    return Status();
  }

  // Counts as a write; takes space, since what it shares may come to differ.
  Status clone_from(uint64_t offset, os::File& from, uint64_t from_offset, uint64_t size) override {
    os::MutexLock lock(state_->mutex);
    auto* const source = dynamic_cast<SimFile*>(&from);
    if (!state_->clones_supported || source == nullptr || source->state_ != state_) {
      return Status(StatusCode::kNotSupported, path_ + ": no clones");
    }
    if (offset % os::kBlockBytes != 0 || from_offset % os::kBlockBytes != 0 ||
        size % os::kBlockBytes != 0 || from_offset + size > source->node_->now.size()) {
      return Status(StatusCode::kInvalidArgument, path_ + ": such a range cannot be cloned");
    }
    if (Status s = check_writable(); !s.ok()) return s;
    Status fault = state_->begin(SimOp::kWrite, path_);
    if (fault.ok()) fault = state_->reserve(*node_, offset, size, path_);
    if (!fault.ok()) return fault;
    std::string bytes(size, '\0');
    source->node_->now.read(from_offset, bytes);
    state_->counters.bytes_cloned += size;
    state_->change(*node_, {SimChange::Kind::kWrite, offset, size, std::move(bytes)});
    extend(offset + size);
    return {};
  }

  Status lock_exclusive() override {
    os::MutexLock lock(state_->mutex);
    if (Status s = state_->begin(SimOp::kAny, path_); !s.ok()) return s;
    if (node_->lock_holder != nullptr && node_->lock_holder != this) {
      return Status(StatusCode::kBusy, path_ + ": lock: held by another open of the file");
    }
    node_->lock_holder = this;
    return Status();
  }

  Status lock_byte(uint64_t offset) override {
    os::MutexLock lock(state_->mutex);
    if (Status s = check_writable(); !s.ok()) return s;
    if (Status s = state_->begin(SimOp::kAny, path_); !s.ok()) return s;
    const auto [held, taken] = node_->byte_locks.try_emplace(offset, this);
    if (taken || held->second == this) return Status();
    return Status(StatusCode::kBusy, path_ + ": byte " + std::to_string(offset) + " is locked");
  }

  Status unlock_byte(uint64_t offset) override {
    os::MutexLock lock(state_->mutex);
    const auto held = node_->byte_locks.find(offset);
    if (held != node_->byte_locks.end() && held->second == this) node_->byte_locks.erase(held);
    return Status();
  }

  bool direct() const override { return flags_.direct; }
  const std::string& path() const override { return path_; }

 private:
  void extend(uint64_t end) REQUIRES(state_->mutex) {
    if (end > node_->now.size()) {
      state_->change(*node_, {SimChange::Kind::kSize, end, 0, ""});
    }
  }

  Status check_direct(uint64_t offset, const char* data, size_t size) const {
    const bool aligned = offset % os::kBlockBytes == 0 && size % os::kBlockBytes == 0 &&
                         reinterpret_cast<uintptr_t>(data) % os::kBlockBytes == 0;
    if (!flags_.direct || aligned) return Status();
    return Status(StatusCode::kInvalidArgument,
                  path_ + ": direct I/O at " + std::to_string(offset) + " is not aligned");
  }

  Status check_writable() const {
    if (!flags_.read_only) return Status();
    return Status(StatusCode::kReadOnly, path_ + ": was opened read-only");
  }

  const std::shared_ptr<SimDisk::State> state_;
  const std::shared_ptr<SimNode> node_;
  const std::string path_;
  const os::OpenFlags flags_;
};

class SimMappedFile : public os::MappedFile {
 public:
  SimMappedFile(std::shared_ptr<SimDisk::State> state, std::shared_ptr<SimNode> node,
                std::shared_ptr<SimMemory> memory, std::string path, char* data)
      : state_(std::move(state)),
        node_(std::move(node)),
        memory_(std::move(memory)),
        path_(std::move(path)),
        data_(data) {}

  ~SimMappedFile() override {
    os::MutexLock lock(state_->mutex);
    if (!state_->stopped) state_->gather_stores(*node_);
    --node_->handles;
    os::unmap_mirrored(data_, memory_->size());
  }

  char* data() override { return data_; }
  size_t size() const override { return memory_->size(); }
  Status sync() override {
    os::MutexLock lock(state_->mutex);
    const Status fault = state_->begin(SimOp::kSync, path_);
    if (state_->stopped) return fault;
    if (fault.ok()) {
      state_->sync(*node_);
    } else {
      state_->fail_sync(*node_);
    }
    return fault;
  }
  bool mirrored() const override { return true; }

 private:
  const std::shared_ptr<SimDisk::State> state_;
  const std::shared_ptr<SimNode> node_;
  const std::shared_ptr<SimMemory> memory_;
  const std::string path_;
  char* const data_;
};

}  // namespace

std::unique_ptr<os::File> make_sim_file(std::shared_ptr<SimDisk::State> state,
                                        std::shared_ptr<SimNode> node, std::string path,
                                        os::OpenFlags flags) {
  ++node->handles;
  return std::make_unique<SimFile>(std::move(state), std::move(node), std::move(path), flags);
}

std::unique_ptr<os::MappedFile> make_sim_mapped_file(std::shared_ptr<SimDisk::State> state,
                                                     std::shared_ptr<SimNode> node,
                                                     std::shared_ptr<SimMemory> memory,
                                                     std::string path, bool read_only) {
  char* const data = memory->map(read_only);
  if (data == nullptr) return nullptr;
  ++node->handles;
  return std::make_unique<SimMappedFile>(std::move(state), std::move(node), std::move(memory),
                                         std::move(path), data);
}

}  // namespace hawthorn::testing
