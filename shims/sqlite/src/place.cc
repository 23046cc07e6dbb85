#include "shims/sqlite/src/place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <vector>

#include "hawthorn/db.h"
#include "shims/sqlite/src/intent.h"

namespace hawthorn::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstLine = "Hawthorn database for SQLite\n";
constexpr size_t kFileBytesMax = 512;
constexpr size_t kSuffixDigits = 12;

std::string parent_of(const std::string& path) { return fs::path(path).parent_path().string(); }
std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

Status failed(const std::string& what) {
  return Status(StatusCode::kIoError, what + ": " + strerror(errno));
}

bool is_suffix(std::string_view text) {
  return text.size() == kSuffixDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return isxdigit(c) != 0; });
}

}  // namespace

Status sync_directory(const std::string& path) {
  const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return failed(path);
  const bool synced = fsync(directory) == 0;
  ::close(directory);
  return synced ? Status() : failed(path);
}

Found look_at(const std::string& path, std::string* directory) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return Found::kNothing;
  if (!S_ISREG(info.st_mode)) return Found::kOther;
  if (info.st_size == 0) return Found::kEmptyFile;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Found::kOther;
  char bytes[kFileBytesMax];
  const ssize_t size = pread(file, bytes, sizeof(bytes), 0);
  ::close(file);
  std::string_view text(bytes, size > 0 ? static_cast<size_t>(size) : 0);
  if (!text.starts_with(kFirstLine) || text.back() != '\n') return Found::kOther;
  text.remove_prefix(kFirstLine.size());
  if (text.empty()) return Found::kOther;
  text.remove_suffix(1);
  // A name, and not a path to anywhere else.
  if (text.empty() || text.find('/') != std::string_view::npos || text == "." || text == "..") {
    return Found::kOther;
  }
  *directory = parent_of(path) + "/" + std::string(text);
  return Found::kOurs;
}

std::string new_directory(const std::string& path) {
  std::random_device random;
  for (;;) {
    char digits[kSuffixDigits + 1];
    const uint64_t number = (uint64_t{random()} << 32 | random()) & ((uint64_t{1} << 48) - 1);
    snprintf(digits, sizeof(digits), "%012llx", static_cast<unsigned long long>(number));
    std::string directory = path + "-" + digits;
    if (access(directory.c_str(), F_OK) != 0) return directory;
  }
}

void remove_deleted(const std::string& path) {
  const std::string prefix = name_of(path) + "-";
  std::vector<std::string> left;
  std::vector<std::string> named;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent_of(path), error)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(error)) {
      if (name.starts_with(prefix) && is_suffix(std::string_view(name).substr(prefix.size()))) {
        left.push_back(entry.path().string());
      }
    } else if (std::string directory; look_at(entry.path().string(), &directory) == Found::kOurs) {
      named.push_back(name_of(directory));
    }
  }
  for (const std::string& directory : left) {
    if (std::find(named.begin(), named.end(), name_of(directory)) != named.end()) continue;
    // One that is open says kBusy. What was not finished when its process ended is no database yet.
    const Status gone = Db::destroy(directory);
    if (gone.ok() || gone.is_not_found()) remove_intent(directory);
    if (!gone.is_not_found()) continue;
    if (fs::is_empty(directory, error) || fs::exists(directory + "/lock", error)) {
      fs::remove_all(directory, error);
    }
  }
}

Status write_file(const std::string& path, const std::string& directory) {
  const std::string text = std::string(kFirstLine) + name_of(directory) + "\n";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return failed(path);
  const bool written =
      pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
      fsync(file) == 0;
  const Status status = written ? Status() : failed(path);
  ::close(file);
  return status.ok() ? sync_directory(parent_of(path)) : status;
}

}  // namespace hawthorn::sqlite
