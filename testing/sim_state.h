#pragma once
// What a simulated disk consists of: a tree of nodes, their unsynced changes, and the faults.
//
// Not here: the interfaces of os/file.h (sim_disk.cc, sim_file.cc). Used by those two only.
// Threads: everything is guarded by the mutex of the State.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "os/mirrored_mapping.h"
#include "os/sync.h"
#include "testing/sim_disk.h"
#include "testing/sim_image.h"

namespace hawthorn::testing {

// Memory behind a mapped file, shared by all mappings of it.
class SimMemory {
 public:
  // nullptr when the system refuses.
  static std::shared_ptr<SimMemory> create(size_t size);
  ~SimMemory();
  SimMemory(const SimMemory&) = delete;
  SimMemory& operator=(const SimMemory&) = delete;

  char* data() { return data_; }
  size_t size() const { return size_; }
  // Twice in a row; nullptr when the system refuses. os::unmap_mirrored takes it back.
  char* map(bool read_only) { return os::map_mirrored(fd_, size_, read_only); }

 private:
  SimMemory(int fd, char* data, size_t size) : fd_(fd), data_(data), size_(size) {}
  const int fd_;
  char* const data_;
  const size_t size_;
};

struct SimNode {
  bool directory = false;
  // A directory: what it holds now, and what a power loss cannot take away.
  std::map<std::string, std::shared_ptr<SimNode>> names;
  std::map<std::string, std::shared_ptr<SimNode>> durable_names;
  // A file.
  SimImage now;
  SimImage durable;
  std::vector<SimChange> unsynced;
  std::weak_ptr<SimMemory> memory;
  const void* lock_holder = nullptr;
  std::map<uint64_t, const void*> byte_locks;  // their holders, by offset
  uint32_t handles = 0;
  uint32_t links = 0;  // in `names`: 0 or 1
};

struct SimNameChange {
  enum class Kind : uint8_t { kCreate, kRemove, kRename };
  Kind kind = Kind::kCreate;
  std::shared_ptr<SimNode> directory;
  std::string name;
  std::shared_ptr<SimNode> to_directory;  // kRename
  std::string to_name;
  std::shared_ptr<SimNode> node;
};

struct SimFault {
  SimOp op = SimOp::kAny;
  std::string path_part;
  uint64_t nth = 1;  // counts down
  StatusCode code = StatusCode::kIoError;
  bool forever = false;
  bool stop = false;
};

struct SimDisk::State {
  using Node = std::shared_ptr<SimNode>;

  explicit State(uint64_t seed) : prng(seed), root(std::make_shared<SimNode>()) {
    root->directory = true;
    root->links = 1;
  }

  mutable os::Mutex mutex;
  Prng prng GUARDED_BY(mutex);
  Node root GUARDED_BY(mutex);
  std::vector<std::weak_ptr<SimNode>> files GUARDED_BY(mutex);
  std::vector<SimNameChange> name_changes GUARDED_BY(mutex);
  std::vector<SimFault> faults GUARDED_BY(mutex);
  SimCounters counters GUARDED_BY(mutex);
  uint64_t capacity GUARDED_BY(mutex) = 0;
  bool direct_supported GUARDED_BY(mutex) = true;
  bool clones_supported GUARDED_BY(mutex) = false;
  bool stopped GUARDED_BY(mutex) = false;
  SimDiskFaults* asked GUARDED_BY(mutex) = nullptr;

  // Counts an operation; the error that it has to answer with, if any.
  Status begin(SimOp op, const std::string& path) REQUIRES(mutex);
  void stop_now() REQUIRES(mutex);

  Node find(const std::string& path) REQUIRES(mutex);
  // The directory that holds the path's last name; nullptr when missing.
  Node find_parent(const std::string& path, std::string* name) REQUIRES(mutex);
  Node create(const Node& parent, const std::string& name, bool directory) REQUIRES(mutex);
  void unlink(const Node& parent, const std::string& name) REQUIRES(mutex);
  void change_names(const SimNameChange& change) REQUIRES(mutex);

  uint64_t used_bytes() REQUIRES(mutex);
  uint64_t free_bytes() REQUIRES(mutex);
  // kNoSpace when the holes in the range do not fit.
  Status reserve(const SimNode& node, uint64_t offset, uint64_t size, const std::string& path)
      REQUIRES(mutex);
  // As a journal is committed before what it frees is given to others.
  void make_frees_durable() REQUIRES(mutex);
  void change(SimNode& node, SimChange change) REQUIRES(mutex);
  // A write, to the place and for the time that its fate allows.
  void write(SimNode& node, const std::string& path, uint64_t offset, std::span<const char> data)
      REQUIRES(mutex);
  // Turns stores into mapped memory since the last call into unsynced changes, page by page.
  void gather_stores(SimNode& node) REQUIRES(mutex);
  void gather_all_stores() REQUIRES(mutex);
  void sync(SimNode& node) REQUIRES(mutex);
  void fail_sync(SimNode& node) REQUIRES(mutex);

  std::shared_ptr<State> after_crash(uint64_t seed, CrashKind kind) REQUIRES(mutex);
};

std::unique_ptr<os::File> make_sim_file(std::shared_ptr<SimDisk::State> state,
                                        std::shared_ptr<SimNode> node, std::string path,
                                        os::OpenFlags flags);
std::unique_ptr<os::MappedFile> make_sim_mapped_file(std::shared_ptr<SimDisk::State> state,
                                                     std::shared_ptr<SimNode> node,
                                                     std::shared_ptr<SimMemory> memory,
                                                     std::string path, bool read_only);

}  // namespace hawthorn::testing
