#include "tests/crash/kill_copies.h"

#include <filesystem>
#include <utility>

#include "tests/crash/copy_looks.h"

namespace hawthorn::tests {
namespace {

std::string copy_of(const std::string& root) { return root + "/copy"; }
std::string restored_of(const std::string& root) { return root + "/restored"; }
std::string repository_of(const std::string& root) { return root + "/repository"; }

// By another name first: what a kill leaves of a removal is no copy.
void remove_copy(const std::string& root, const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(root + "/old", ignored);
  std::filesystem::rename(path, root + "/old", ignored);
  std::filesystem::remove_all(root + "/old", ignored);
}

void store(std::atomic<uint64_t> (&to)[kWriters], const Numbers& numbers) {
  for (uint32_t w = 0; w < kWriters; ++w) to[w].store(numbers[w]);
}

Numbers load(const std::atomic<uint64_t> (&from)[kWriters]) {
  Numbers numbers = {};
  for (uint32_t w = 0; w < kWriters; ++w) numbers[w] = from[w].load();
  return numbers;
}

class Copier {
 public:
  Copier(Db& db, const os::Machine& machine, std::string root, KillSwitch& killer,
         CopyFloors& floors, const std::function<Numbers()>& acknowledged)
      : db_(db),
        machine_(machine),
        root_(std::move(root)),
        killer_(killer),
        floors_(floors),
        acknowledged_(acknowledged) {}

  Status make(KillState state) {
    if (state == KillState::kCheckpoint) return checkpoint();
    if (repository_ == nullptr) {
      auto opened = BackupRepository::open_on(machine_, repository_of(root_));
      if (!opened.ok()) return opened.status();
      repository_ = std::move(*opened);
    }
    if (Status s = backup(); !s.ok()) return s;
    if (state == KillState::kRestore) return restore();
    // Later ones refer to parts of those that go.
    return remove(state == KillState::kRemoveBackup ? 1 : 3);
  }

 private:
  template <typename Do>
  Status in(KillState state, Do what) {
    killer_.copies(state);
    const Status status = what();
    killer_.copies(KillState::kAnyTime);
    return status;
  }

  Status checkpoint() {
    remove_copy(root_, copy_of(root_));
    store(floors_.copy, acknowledged_());
    return in(KillState::kCheckpoint, [&] { return db_.checkpoint(copy_of(root_)); });
  }

  Status backup() {
    const Numbers before = acknowledged_();
    return in(KillState::kBackup, [&] {
      const Result<BackupInfo> made = db_.backup(*repository_);
      if (made.ok()) newest_ = made->id;
      if (made.ok()) newest_has_ = before;
      return made.status();
    });
  }

  Status restore() {
    remove_copy(root_, restored_of(root_));
    store(floors_.restored, newest_has_);
    return in(KillState::kRestore,
              [&] { return repository_->restore(newest_, restored_of(root_)); });
  }

  Status remove(uint64_t kept) {
    Result<std::vector<BackupInfo>> list = repository_->list();
    if (!list.ok()) return list.status();
    for (size_t i = 0; i + kept < list->size(); ++i) {
      const Status status =
          in(KillState::kRemoveBackup, [&] { return repository_->remove((*list)[i].id); });
      if (!status.ok()) return status;
    }
    return {};
  }

  Db& db_;
  const os::Machine& machine_;
  const std::string root_;
  KillSwitch& killer_;
  CopyFloors& floors_;
  const std::function<Numbers()>& acknowledged_;
  std::unique_ptr<BackupRepository> repository_;
  uint64_t newest_ = 0;
  Numbers newest_has_ = {};
};

class Looker {
 public:
  Looker(Db& db, std::string root, uint64_t seed, const Numbers& found)
      : db_(db), root_(std::move(root)), seed_(seed), found_(found) {}

  // One that may have been interrupted, and the same call again.
  std::string look(const std::string& path, const Numbers& at_least,
                   const std::function<Status()>& again, const Numbers& again_at_least) {
    if (!std::filesystem::exists(path)) return {};
    CopyIs is = CopyIs::kMissing;
    if (std::string error = look_for_copy(path, options(), &is); !error.empty()) return error;
    if (is == CopyIs::kWhole) return whole(path, at_least);
    if (Status s = again(); !s.ok()) return path + ", made again: " + s.to_string();
    return whole(path, again_at_least);
  }

  std::string copies(const CopyFloors& floors) {
    return look(
        copy_of(root_), load(floors.copy), [&] { return db_.checkpoint(copy_of(root_)); }, found_);
  }

  // The repository opens, each backup in it is whole, the newest one and the next one restore.
  std::string backups(const CopyFloors& floors) {
    if (!std::filesystem::exists(repository_of(root_))) return {};
    auto repository = BackupRepository::open(repository_of(root_));
    if (!repository.ok()) return "repository: " + repository.status().to_string();
    const Result<std::vector<BackupInfo>> list = (*repository)->list();
    if (!list.ok()) return "list of backups: " + list.status().to_string();
    for (const BackupInfo& info : *list) {
      if (Status s = (*repository)->verify(info.id); !s.ok()) {
        return "backup " + std::to_string(info.id) + ": " + s.to_string();
      }
    }
    if (!list->empty()) {
      const auto again = [&] {
        return (*repository)->restore(list->back().id, restored_of(root_));
      };
      const Numbers at_least = load(floors.restored);
      std::string error = look(restored_of(root_), at_least, again, at_least);
      // The oldest one has parts that those behind it share.
      if (error.empty()) error = restores(**repository, list->front().id, {});
      if (!error.empty()) return error;
    }
    const Result<BackupInfo> next = db_.backup(**repository);
    if (!next.ok()) return "the next backup: " + next.status().to_string();
    return restores(**repository, next->id, found_);
  }

 private:
  static Options options() {
    Options options = workload_options();
    options.create_if_missing = false;
    return options;
  }

  std::string restores(BackupRepository& repository, uint64_t id, const Numbers& at_least) {
    return look_at_restored(repository, id, root_ + "/again",
                            [&](const std::string& path) { return whole(path, at_least); });
  }

  // Of SIGKILL alone no source loses what a copy has.
  std::string whole(const std::string& path, const Numbers& at_least) {
    const Result<std::unique_ptr<Db>> db = Db::open(path, options());
    if (!db.ok()) return path + ": " + db.status().to_string();
    Promise promise;
    promise.set_up = true;
    promise.at_least = at_least;
    promise.at_most = found_;
    Known known;
    const std::string error = verify(**db, seed_, promise, known);
    return error.empty() ? error : path + ": " + error;
  }

  Db& db_;
  const std::string root_;
  const uint64_t seed_;
  const Numbers found_;
};

}  // namespace

bool is_copy_state(KillState state) {
  return state == KillState::kCheckpoint || state == KillState::kBackup ||
         state == KillState::kRestore || state == KillState::kRemoveBackup;
}

Status copy_for_ever(Db& db, const os::Machine& machine, const std::string& root, KillState state,
                     KillSwitch& killer, CopyFloors& floors,
                     const std::function<Numbers()>& acknowledged,
                     const std::function<bool()>& stop) {
  Copier copier(db, machine, root, killer, floors, acknowledged);
  while (!stop()) {
    if (Status s = copier.make(state); !s.ok()) {
      return Status(s.code(), std::string(name_of(state)) + ": " + s.to_string());
    }
  }
  return {};
}

std::string look_at_copies(Db& db, const std::string& root, uint64_t seed, const Numbers& found,
                           const CopyFloors& floors) {
  Looker looker(db, root, seed, found);
  std::string error = looker.copies(floors);
  return error.empty() ? looker.backups(floors) : error;
}

}  // namespace hawthorn::tests
