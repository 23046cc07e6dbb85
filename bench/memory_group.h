#pragma once
// A control group of the memory controller that bounds one child process, page cache included;
// versions 1 and 2 of the interface.
//
// Not here: which limit a run gets (runner.h). Used by runner.h and bank_kill.cc. Linux only, root
// or a delegated group needed. Threads: one object in one thread.
//
// 1. The group is removed with the object; its processes must have ended.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace hawthorn::bench {

// What a group used up to now.
struct MemoryUse {
  uint64_t peak_bytes = 0;  // page cache included; 0 where the kernel does not tell
  uint64_t limit_hits = 0;  // how often the limit made the kernel reclaim
  uint64_t oom_kills = 0;

  void merge(const MemoryUse& other);
};

// What the group that this process is in is charged with now, page cache included; nothing where
// that cannot be told.
std::optional<uint64_t> own_group_bytes();

class MemoryGroup {
 public:
  // Creates a group with that limit. On failure valid() is false and error() says why.
  MemoryGroup(const std::string& name, size_t limit_bytes);
  ~MemoryGroup();
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  bool valid() const { return !directory_.empty(); }
  const std::string& error() const { return error_; }
  // Moves this process into the group.
  bool enter() const;
  MemoryUse use() const;

 private:
  std::string directory_;
  std::string error_;
  bool version1_ = false;
};

}  // namespace hawthorn::bench
