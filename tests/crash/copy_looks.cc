#include "tests/crash/copy_looks.h"

#include <filesystem>

namespace hawthorn::tests {

std::string look_for_copy(const std::string& path, const Options& options, CopyIs* is) {
  *is = CopyIs::kMissing;
  if (std::filesystem::exists(path + "/copy.incomplete")) {
    *is = CopyIs::kIncomplete;
    const Result<std::unique_ptr<Db>> refused = Db::open(path, options);
    if (refused.status().is(StatusCode::kCorruption)) return {};
    return path + " is incomplete, and is opened: " + refused.status().to_string();
  }
  if (std::filesystem::exists(path + "/superblock")) *is = CopyIs::kWhole;
  return {};
}

std::string look_at_restored(BackupRepository& repository, uint64_t id, const std::string& target,
                             const LookAt& look) {
  std::error_code ignored;
  std::filesystem::remove_all(target, ignored);
  if (Status s = repository.restore(id, target); !s.ok()) {
    return "restore of backup " + std::to_string(id) + ": " + s.to_string();
  }
  std::string error = look(target);
  if (error.empty()) std::filesystem::remove_all(target, ignored);
  return error;
}

}  // namespace hawthorn::tests
