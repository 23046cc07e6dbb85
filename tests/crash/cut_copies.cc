#include "tests/crash/cut_copies.h"

#include <algorithm>
#include <filesystem>

#include "tests/crash/copy_looks.h"
#include "tests/support/encryption_test.h"

namespace hawthorn::tests {
namespace {

constexpr const char* kRepository = "/repository";
constexpr uint64_t kBackupsMax = 3;
constexpr uint64_t kAnyNumber = 100'000;  // more than any recording has

std::string path_of(const std::string& root, CutCopyKind kind, uint64_t number) {
  return root + (kind == CutCopyKind::kCheckpoint ? "/copy." : "/restored.") +
         std::to_string(number);
}

class CutLooker {
 public:
  CutLooker(const std::string& root, uint64_t seed, const CutPromise& promise, Db* source,
            const CutFound& found, CopiesMet* met)
      : root_(root), seed_(seed), promise_(promise), source_(source), found_(found), met_(met) {}

  std::string look() {
    for (const auto& [id, copy] : promise_.copies) {
      if (id.first == CutCopyKind::kBackup) continue;
      if (std::string error = at(id.first, id.second, copy); !error.empty()) return error;
    }
    if (!std::filesystem::exists(root_ + kRepository)) {
      for (const auto& [id, copy] : promise_.copies) {
        if (id.first == CutCopyKind::kBackup && copy.ended) return "the repository is lost";
      }
      return {};
    }
    return backups();
  }

 private:
  std::string at(CutCopyKind kind, uint64_t number, const CutCopy& copy) {
    const std::string path = path_of(root_, kind, number);
    Options options = cut_options(seed_);
    options.create_if_missing = false;
    CopyIs is = CopyIs::kMissing;
    if (std::string error = look_for_copy(path, options, &is); !error.empty()) return error;
    if (is != CopyIs::kWhole && copy.ended) return path + " had ended, and is not whole";
    met_->whole += is == CopyIs::kWhole ? 1 : 0;
    met_->incomplete += is == CopyIs::kIncomplete ? 1 : 0;
    if (is == CopyIs::kWhole) return whole(path, copy);
    if (source_ == nullptr || kind != CutCopyKind::kCheckpoint) return {};
    if (Status s = source_->checkpoint(path, copied_); !s.ok()) {
      return path + ", made again: " + s.to_string();
    }
    return whole(path, present());
  }

  std::string backups() {
    auto repository = BackupRepository::open(root_ + kRepository);
    if (!repository.ok()) return "repository: " + repository.status().to_string();
    const Result<std::vector<BackupInfo>> list = (*repository)->list();
    if (!list.ok()) return "list of backups: " + list.status().to_string();
    VerifyOptions options;
    if (features_of(seed_).encrypted) options.encryption = encryption_of();
    for (const BackupInfo& info : *list) {
      ++met_->backups;
      if (Status s = (*repository)->verify(info.id, options); !s.ok()) {
        return "backup " + std::to_string(info.id) + ": " + s.to_string();
      }
    }
    for (const auto& [id, copy] : promise_.copies) {
      const bool there = std::any_of(list->begin(), list->end(),
                                     [&](const BackupInfo& info) { return info.id == id.second; });
      if (id.first != CutCopyKind::kBackup || !copy.ended || copy.goes || there) continue;
      return "backup " + std::to_string(id.second) + " is lost";
    }
    if (!list->empty()) {
      // The oldest one has parts that those behind it share.
      for (const uint64_t id : {list->front().id, list->back().id}) {
        const auto made = promise_.copies.find({CutCopyKind::kBackup, id});
        const CutCopy copy = made == promise_.copies.end() ? of_before() : made->second;
        if (std::string error = restores(**repository, id, copy); !error.empty()) return error;
        if (list->size() == 1) break;
      }
    }
    if (source_ == nullptr) return {};
    const Result<BackupInfo> next = source_->backup(**repository);
    if (!next.ok()) return "the next backup: " + next.status().to_string();
    return restores(**repository, next->id, present());
  }

  std::string restores(BackupRepository& repository, uint64_t id, const CutCopy& copy) {
    return look_at_restored(repository, id, root_ + "/again",
                            [&](const std::string& path) { return whole(path, copy); });
  }

  // What the source has now. A transaction that was prepared meanwhile may have ended.
  CutCopy present() const {
    CutCopy copy{.ended = true, .at_least = found_.most, .at_most = found_.most};
    copy.at_least[kOutcomes] = copy.at_least[kPrepares] = found_.least[kPrepares];
    copy.at_most[kOutcomes] = copy.at_most[kPrepares] = found_.most[kPrepares];
    return copy;
  }
  // A backup that an earlier recording has made may have what its source then lost.
  static CutCopy of_before() {
    CutCopy copy;
    copy.at_most.fill(kAnyNumber);
    return copy;
  }

  std::string whole(const std::string& path, const CutCopy& copy) {
    Options options = cut_options(seed_);
    options.create_if_missing = false;
    const Result<std::unique_ptr<Db>> db = Db::open(path, options);
    if (!db.ok()) return path + ": " + db.status().to_string();
    CutPromise promise;
    promise.set_up = true;
    promise.at_least = copy.at_least;
    promise.at_most = copy.at_most;
    CutFound found;
    std::string error = verify_cut(**db, seed_, promise, &found);
    if (error.empty()) error = end_prepared(**db, seed_, found);
    return error.empty() ? error : path + ": " + error;
  }

  // Blocks that files share are nothing that a recording has.
  const CheckpointOptions copied_{.share_blocks = false};
  const std::string& root_;
  const uint64_t seed_;
  const CutPromise& promise_;
  Db* const source_;
  const CutFound& found_;
  CopiesMet* const met_;
};

}  // namespace

Status CutCopier::make() {
  if (dice_.one_in(3)) return checkpoint();
  if (repository_ == nullptr) {
    auto opened = BackupRepository::open_on(machine_, root_ + kRepository);
    if (!opened.ok()) return opened.status();
    repository_ = std::move(*opened);
  }
  return backup();
}

Status CutCopier::checkpoint() {
  const auto path = [&](uint64_t n) { return path_of(root_, CutCopyKind::kCheckpoint, n); };
  uint64_t number = 1;
  while (std::filesystem::exists(path(number))) ++number;
  witness_.mark(CutMark::kCopyBegins, CutCopyKind::kCheckpoint, number);
  const Status status = db_.checkpoint(path(number), {.share_blocks = false});
  if (status.ok()) witness_.mark(CutMark::kCopied, CutCopyKind::kCheckpoint, number);
  return status;
}

Status CutCopier::backup() {
  const Result<std::vector<BackupInfo>> list = repository_->list();
  if (!list.ok()) return list.status();
  const uint64_t id = list->empty() ? 1 : list->back().id + 1;
  witness_.mark(CutMark::kCopyBegins, CutCopyKind::kBackup, id);
  const Result<BackupInfo> made = db_.backup(*repository_, {.full = dice_.one_in(5)});
  if (!made.ok()) return made.status();
  if (made->id != id) return Status(StatusCode::kCorruption, "a backup with another number");
  witness_.mark(CutMark::kCopied, CutCopyKind::kBackup, id);
  if (list->size() + 1 >= kBackupsMax) {
    witness_.mark(CutMark::kCopyGoes, CutCopyKind::kBackup, list->front().id);
    return repository_->remove(list->front().id);
  }
  if (!dice_.one_in(3)) return {};
  witness_.mark(CutMark::kCopyBegins, CutCopyKind::kRestore, id);
  const Status status = repository_->restore(id, path_of(root_, CutCopyKind::kRestore, id));
  if (status.ok()) witness_.mark(CutMark::kCopied, CutCopyKind::kRestore, id);
  return status;
}

std::string look_at_cut_copies(const std::string& root, uint64_t seed, const CutPromise& promise,
                               Db* source, const CutFound& found, CopiesMet* met) {
  return CutLooker(root, seed, promise, source, found, met).look();
}

void remove_cut_copies(const std::string& root) {
  std::error_code ignored;
  std::vector<std::filesystem::path> copies;
  for (const auto& entry : std::filesystem::directory_iterator(root, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("copy.") || name.starts_with("restored.")) copies.push_back(entry.path());
  }
  for (const auto& copy : copies) std::filesystem::remove_all(copy, ignored);
}

}  // namespace hawthorn::tests
