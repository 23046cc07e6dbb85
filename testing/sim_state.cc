#include "testing/sim_state.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <unordered_map>
#include <utility>

#include "testing/live_memory.h"

namespace hawthorn::testing {
namespace {

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    if (!part.empty() && part != ".") parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

uint64_t* counter_of(SimCounters& counters, SimOp op) {
  switch (op) {
    case SimOp::kRead:
      return &counters.reads;
    case SimOp::kWrite:
      return &counters.writes;
    case SimOp::kSync:
      return &counters.syncs;
    case SimOp::kSyncDirectory:
      return &counters.directory_syncs;
    case SimOp::kOpen:
      return &counters.opens;
    case SimOp::kName:
      return &counters.names;
    case SimOp::kAllocate:
      return &counters.allocates;
    case SimOp::kAny:
      break;
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<SimMemory> SimMemory::create(size_t size) {
  const int fd = memfd_create("hawthorn-sim", MFD_CLOEXEC);
  if (fd < 0) return nullptr;
  void* const data = ftruncate(fd, static_cast<off_t>(size)) == 0
                         ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                         : MAP_FAILED;
  if (data == MAP_FAILED) {
    close(fd);
    return nullptr;
  }
  return std::shared_ptr<SimMemory>(new SimMemory(fd, static_cast<char*>(data), size));
}

SimMemory::~SimMemory() {
  munmap(data_, size_);
  close(fd_);
}

Status SimDisk::State::begin(SimOp op, const std::string& path) {
  if (stopped) return Status(StatusCode::kIoError, path + ": the simulated disk has stopped");
  if (uint64_t* const counter = counter_of(counters, op); counter != nullptr) ++*counter;
  Status status = asked == nullptr ? Status() : asked->meet(op, path);
  for (size_t i = 0; i < faults.size();) {
    SimFault& fault = faults[i];
    const bool meant = (fault.op == SimOp::kAny || fault.op == op) &&
                       path.find(fault.path_part) != std::string::npos;
    if (!meant || (fault.nth > 0 && --fault.nth > 0)) {
      ++i;
      continue;
    }
    ++counters.faults;
    if (fault.stop) {
      stop_now();
      return Status(StatusCode::kIoError, path + ": the simulated disk has stopped");
    }
    status = Status(fault.code, path + ": injected fault");
    if (fault.forever) {
      ++i;
    } else {
      faults.erase(faults.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return status;
}

void SimDisk::State::stop_now() {
  if (stopped) return;
  gather_all_stores();
  stopped = true;
}

SimDisk::State::Node SimDisk::State::find(const std::string& path) {
  Node node = root;
  for (const std::string& part : split(path)) {
    if (!node->directory) return nullptr;
    const auto found = node->names.find(part);
    if (found == node->names.end()) return nullptr;
    node = found->second;
  }
  return node;
}

SimDisk::State::Node SimDisk::State::find_parent(const std::string& path, std::string* name) {
  const std::vector<std::string> parts = split(path);
  if (parts.empty()) return nullptr;
  *name = parts.back();
  Node node = root;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto found = node->names.find(parts[i]);
    if (found == node->names.end() || !found->second->directory) return nullptr;
    node = found->second;
  }
  return node;
}

SimDisk::State::Node SimDisk::State::create(const Node& parent, const std::string& name,
                                            bool directory) {
  Node node = std::make_shared<SimNode>();
  node->directory = directory;
  node->links = 1;
  parent->names[name] = node;
  if (!directory) files.push_back(node);
  name_changes.push_back({SimNameChange::Kind::kCreate, parent, name, nullptr, "", node});
  return node;
}

void SimDisk::State::unlink(const Node& parent, const std::string& name) {
  const auto found = parent->names.find(name);
  found->second->links = 0;
  name_changes.push_back({SimNameChange::Kind::kRemove, parent, name, nullptr, "", found->second});
  parent->names.erase(found);
}

// Makes one change of names durable.
void SimDisk::State::change_names(const SimNameChange& change) {
  auto& names = change.directory->durable_names;
  switch (change.kind) {
    case SimNameChange::Kind::kCreate:
      names[change.name] = change.node;
      break;
    case SimNameChange::Kind::kRemove:
      if (const auto found = names.find(change.name);
          found != names.end() && found->second == change.node) {
        names.erase(found);
      }
      break;
    case SimNameChange::Kind::kRename: {
      // An earlier rename of the node may have been lost; it still has one name only.
      const std::function<void(SimNode&)> forget = [&](SimNode& directory) {
        std::erase_if(directory.durable_names,
                      [&](const auto& entry) { return entry.second == change.node; });
        for (const auto& [name, node] : directory.durable_names) {
          if (node->directory) forget(*node);
        }
      };
      forget(*root);
      std::erase_if(names, [&](const auto& entry) { return entry.second == change.node; });
      change.to_directory->durable_names[change.to_name] = change.node;
      break;
    }
  }
}

uint64_t SimDisk::State::used_bytes() {
  uint64_t total = 0;
  std::erase_if(files, [](const std::weak_ptr<SimNode>& file) { return file.expired(); });
  for (const std::weak_ptr<SimNode>& file : files) {
    const Node node = file.lock();
    if (node->links > 0 || node->handles > 0) total += node->now.allocated_bytes();
  }
  return total;
}

uint64_t SimDisk::State::free_bytes() {
  constexpr uint64_t kPlenty = uint64_t{1} << 40;
  const uint64_t limit = capacity == 0 ? kPlenty : capacity;
  const uint64_t used = used_bytes();
  return used < limit ? limit - used : 0;
}

Status SimDisk::State::reserve(const SimNode& node, uint64_t offset, uint64_t size,
                               const std::string& path) {
  if (capacity == 0) return Status();
  const uint64_t wanted = node.now.holes(offset, size) * kSimBlockBytes;
  if (wanted > free_bytes()) {
    return Status(StatusCode::kNoSpace,
                  path + ": no space at " + std::to_string(offset) + " on the simulated disk");
  }
  uint64_t held = 0;
  for (const std::weak_ptr<SimNode>& file : files) {
    if (const Node one = file.lock(); one != nullptr) {
      held += std::max(one->now.allocated_bytes(), one->durable.allocated_bytes());
    }
  }
  if (held + wanted > capacity) make_frees_durable();
  return Status();
}

void SimDisk::State::make_frees_durable() {
  for (const SimNameChange& change : name_changes) change_names(change);
  name_changes.clear();
  for (const std::weak_ptr<SimNode>& file : files) {
    const Node node = file.lock();
    if (node == nullptr) continue;
    const bool frees =
        std::any_of(node->unsynced.begin(), node->unsynced.end(), [](const SimChange& change) {
          return change.kind == SimChange::Kind::kPunch || change.kind == SimChange::Kind::kSize;
        });
    if (frees) sync(*node);
  }
}

void SimDisk::State::change(SimNode& node, SimChange change) {
  node.now.apply(change);
  node.unsynced.push_back(std::move(change));
}

void SimDisk::State::write(SimNode& node, const std::string& path, uint64_t offset,
                           std::span<const char> data) {
  using Fate = SimDiskFaults::WriteFate;
  uint64_t to = offset;
  Fate fate = Fate::kWritten;
  if (asked != nullptr) {
    const std::function<bool(uint64_t, uint64_t)> repeats = [&](uint64_t from, uint64_t until) {
      std::string there(until - from, '\0');
      node.now.read(from, there);
      return std::memcmp(there.data(), data.data() + (from - offset), there.size()) == 0;
    };
    fate = asked->fate_of_write({path, offset, data.size(), node.now.size(), repeats}, &to);
  }
  const uint64_t end = offset + data.size();
  if (fate == Fate::kForgotten) {
    node.now.write(offset, data);
  } else if (fate != Fate::kDropped) {
    change(node, {SimChange::Kind::kWrite, to, data.size(), std::string(data.begin(), data.end())});
  }
  if (end > node.now.size()) change(node, {SimChange::Kind::kSize, end, 0, ""});
  if (fate == Fate::kDropped) return;
  if (const auto memory = node.memory.lock(); memory != nullptr && to < memory->size()) {
    const size_t here = std::min<size_t>(data.size(), memory->size() - to);
    std::memcpy(memory->data() + to, data.data(), here);
  }
}

void SimDisk::State::gather_stores(SimNode& node) {
  const std::shared_ptr<SimMemory> memory = node.memory.lock();
  if (memory == nullptr) return;
  std::string page(kSimBlockBytes, '\0');
  std::string known(kSimBlockBytes, '\0');
  for (uint64_t offset = 0; offset < memory->size(); offset += kSimBlockBytes) {
    copy_live(page.data(), memory->data() + offset, kSimBlockBytes);
    node.now.read(offset, known);
    if (page == known) continue;
    change(node, {SimChange::Kind::kPage, offset, kSimBlockBytes, page});
  }
}

void SimDisk::State::gather_all_stores() {
  for (const std::weak_ptr<SimNode>& file : files) {
    if (const Node node = file.lock(); node != nullptr) gather_stores(*node);
  }
}

void SimDisk::State::sync(SimNode& node) {
  gather_stores(node);
  for (const SimChange& change : node.unsynced) node.durable.apply(change);
  node.unsynced.clear();
}

// The kernel drops what it could not write: whatever did not reach the disk now never will.
void SimDisk::State::fail_sync(SimNode& node) {
  gather_stores(node);
  for (const SimChange& change : node.unsynced) {
    if (prng.one_in(3)) {
      node.durable.apply(change);
    } else if (prng.one_in(2)) {
      node.durable.apply_torn(change, prng);
    }
  }
  node.unsynced.clear();
}

std::shared_ptr<SimDisk::State> SimDisk::State::after_crash(uint64_t seed, CrashKind kind)
    NO_THREAD_SAFETY_ANALYSIS {
  if (!stopped) gather_all_stores();
  Prng dice(seed);
  auto next = std::make_shared<State>(dice.next());
  next->capacity = capacity;
  next->asked = asked;
  using Fate = SimDiskFaults::CrashFate;
  const auto tell = [this](const std::string& path, bool name, Fate fate)
                        NO_THREAD_SAFETY_ANALYSIS {
                          if (asked != nullptr) asked->crashed(path, name, fate);
                        };
  next->direct_supported = direct_supported;
  next->clones_supported = clones_supported;

  // How much survives is drawn for the crash as a whole and for each file, so that "all of it" and
  // "nothing of it" come up as often as mixtures.
  const auto draw_percent = [&dice] { return dice.below(5) * 25; };
  const uint64_t names_percent = draw_percent();

  // Names are decided on a copy of the durable ones.
  struct Saved {
    Node directory;
    std::map<std::string, Node> names;
  };
  std::vector<Saved> saved;
  std::unordered_map<const SimNode*, std::string> directories;
  const std::function<void(const SimNode&, const std::string&)> walk =
      [&](const SimNode& node, const std::string& path) {
        if (!node.directory || !directories.try_emplace(&node, path).second) return;
        for (const auto* names : {&node.names, &node.durable_names}) {
          for (const auto& [name, child] : *names) walk(*child, path + "/" + name);
        }
      };
  walk(*root, "");
  const auto tell_name = [&](const SimNameChange& change, Fate fate) {
    tell(directories[change.directory.get()] + "/" + change.name, true, fate);
  };
  if (kind == CrashKind::kPowerLossDrop) {
    for (const SimNameChange& change : name_changes) tell_name(change, Fate::kLost);
  }
  if (kind == CrashKind::kPowerLoss) {
    std::vector<SimNameChange> kept;
    for (const SimNameChange& change : name_changes) {
      const bool keeps = dice.below(100) < names_percent;
      if (keeps) kept.push_back(change);
      tell_name(change, keeps ? Fate::kKept : Fate::kLost);
    }
    for (const SimNameChange& change : name_changes) {
      for (const Node& directory : {change.directory, change.to_directory}) {
        const auto same = [&](const Saved& other) { return other.directory == directory; };
        if (directory != nullptr && std::none_of(saved.begin(), saved.end(), same)) {
          saved.push_back({directory, directory->durable_names});
        }
      }
    }
    for (const SimNameChange& change : kept) change_names(change);
  }

  std::unordered_map<const SimNode*, Node> copies;
  std::vector<std::weak_ptr<SimNode>> copied_files;
  const std::function<Node(const SimNode&, const std::string&)> copy =
      [&](const SimNode& node, const std::string& path) -> Node {
    Node& made = copies[&node];
    if (made != nullptr) return made;
    const Node clone = std::make_shared<SimNode>();
    made = clone;
    clone->directory = node.directory;
    if (kind == CrashKind::kProcessKill) {
      clone->now = node.now;
      clone->durable = node.durable;
      clone->unsynced = node.unsynced;
      for (const auto& [name, child] : node.names)
        clone->names[name] = copy(*child, path + "/" + name);
      for (const auto& [name, child] : node.durable_names) {
        clone->durable_names[name] = copy(*child, path + "/" + name);
      }
    } else {
      clone->durable = node.durable;
      const uint64_t percent = kind == CrashKind::kPowerLossDrop ? 0 : draw_percent();
      const bool tears = dice.below(4) != 0;
      std::map<uint64_t, bool> older;  // pages that were kept: whether a later state was lost
      for (const SimChange& change : node.unsynced) {
        const bool page = change.kind == SimChange::Kind::kPage;
        if (dice.below(100) < percent) {
          clone->durable.apply(change);
          tell(path, false, Fate::kKept);
          if (page) older[change.offset] = false;
        } else if (percent > 0 && tears && dice.one_in(2)) {
          clone->durable.apply_torn(change, dice);
          tell(path, false, Fate::kTorn);
        } else {
          tell(path, false, Fate::kLost);
          if (page && older.contains(change.offset)) older[change.offset] = true;
        }
      }
      for (const auto& [offset, is] : older) {
        if (is) tell(path, false, Fate::kOlder);
      }
      clone->durable.cut();
      clone->now = clone->durable;
      for (const auto& [name, child] : node.durable_names) {
        clone->names[name] = copy(*child, path + "/" + name);
      }
      clone->durable_names = clone->names;
    }
    for (const auto& [name, child] : clone->names) child->links = 1;
    if (!clone->directory) copied_files.push_back(clone);
    return clone;
  };
  next->root = copy(*root, "");
  next->root->links = 1;
  if (kind == CrashKind::kProcessKill) {
    const auto copied = [&](const Node& node) {
      return node == nullptr ? nullptr : copy(*node, "");
    };
    for (const SimNameChange& change : name_changes) {
      next->name_changes.push_back({change.kind, copied(change.directory), change.name,
                                    copied(change.to_directory), change.to_name,
                                    copied(change.node)});
    }
  }
  next->files = std::move(copied_files);
  for (Saved& one : saved) one.directory->durable_names = std::move(one.names);
  return next;
}

}  // namespace hawthorn::testing
