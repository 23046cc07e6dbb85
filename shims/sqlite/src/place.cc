#include "shims/sqlite/src/place.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

#include "hawthorn/db.h"
#include "shims/directory_entries.h"
#include "shims/sqlite/src/intent.h"
#include "shims/system_call.h"

namespace hawthorn::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstLine = "Hawthorn database for SQLite\n";
constexpr size_t kFileBytesMax = 512;
constexpr size_t kSuffixDigits = 12;

std::string parent_of(const std::string& path) { return fs::path(path).parent_path().string(); }
std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

Status failed(const std::string& what) { return call_failed(what, errno); }

bool is_suffix(std::string_view text) {
  return text.size() == kSuffixDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return isxdigit(c) != 0; });
}

// Where it reads; what cannot be read is no answer.
Found unknown(const std::string& path) {
  sqlite3_log(SQLITE_CANTOPEN, "hawthorn: %s: %s", path.c_str(), strerror(errno));
  return Found::kUnknown;
}

// What a process has left that ended while it made a database.
bool is_unfinished(const std::string& directory) {
  std::vector<std::string> names;
  if (list_directory(directory, &names) != 0) return false;
  return names.empty() || std::find(names.begin(), names.end(), "lock") != names.end();
}

struct Descriptor {
  const int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

// What was not finished when its process ended is no database yet. It becomes one, so that its lock
// says whether somebody is at it now.
Status finish(const std::string& directory) {
  Options options;
  options.memory_budget_bytes = Db::limits().memory_budget_bytes_min;
  const Result<std::unique_ptr<Db>> opened = Db::open(directory, options);
  return opened.ok() ? (*opened)->close() : opened.status();
}

}  // namespace

Status sync_directory(const std::string& path) {
  const Descriptor directory{open_uninterrupted(path, O_RDONLY | O_DIRECTORY)};
  if (directory.number < 0 || !sync_uninterrupted(directory.number)) return failed(path);
  return {};
}

Found look_at(const std::string& path, std::string* directory) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? Found::kNothing : unknown(path);
  }
  if (!S_ISREG(info.st_mode) || info.st_size > static_cast<off_t>(kFileBytesMax)) {
    return Found::kOther;
  }
  if (info.st_size == 0) return Found::kEmptyFile;
  const Descriptor file{open_uninterrupted(path, O_RDONLY)};
  if (file.number < 0) return errno == ENOENT ? Found::kNothing : unknown(path);
  char bytes[kFileBytesMax];
  const ssize_t size = uninterrupted([&] { return pread(file.number, bytes, sizeof(bytes), 0); });
  if (size < 0) return unknown(path);
  std::string_view text(bytes, static_cast<size_t>(size));
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
  const std::string parent = parent_of(path);
  const std::string prefix = name_of(path) + "-";
  std::vector<std::string> names;
  if (list_directory(parent, &names) != 0) return;
  std::vector<std::string> left;
  std::copy_if(names.begin(), names.end(), std::back_inserter(left), [&](const std::string& name) {
    return name.starts_with(prefix) && is_suffix(std::string_view(name).substr(prefix.size()));
  });
  if (left.empty()) return;
  for (const std::string& name : names) {
    std::string directory;
    const Found found = look_at(parent + "/" + name, &directory);
    if (found == Found::kUnknown) return;
    if (found == Found::kOurs) std::erase(left, name_of(directory));
  }
  for (const std::string& name : left) {
    const std::string directory = parent + "/" + name;
    // One that is open says kBusy.
    Status gone = Db::destroy(directory);
    if (gone.is_not_found() && is_unfinished(directory)) {
      gone = finish(directory);
      if (gone.ok()) gone = Db::destroy(directory);
    }
    if (gone.ok()) remove_intent(directory);
  }
}

Status Maker::begin(const std::string& path) {
  path_ = path;
  file_ = open_uninterrupted(path, O_WRONLY | O_CREAT, 0644);
  if (file_ < 0) return failed(path);
  if (set_lock(F_WRLCK) != 0) {
    // Not where a sandbox refuses the lock (EACCES): Linux says EAGAIN of one that another has.
    return errno == EAGAIN ? Status(StatusCode::kBusy, path + " is being made") : failed(path);
  }
  struct stat info{};
  if (fstat(file_, &info) != 0) return failed(path);
  // What is made of a file without a name nobody would find again.
  return info.st_nlink != 0 ? Status() : Status(StatusCode::kBusy, path + " was just removed");
}

Status Maker::finish(const std::string& directory) {
  const std::string text = std::string(kFirstLine) + name_of(directory) + "\n";
  Status status;
  if (!write_whole(file_, text) || !sync_uninterrupted(file_)) status = failed(path_);
  if (status.ok()) status = sync_directory(parent_of(path_));
  // One that names nothing stays one that anybody may fill.
  if (!status.ok() && ftruncate(file_, 0) != 0) {
    status = Status(status.code(), std::string(status.message()) + ", and it cannot be cut");
  }
  return status;
}

Maker::~Maker() {
  if (file_ < 0) return;
  // A child of fork has the descriptor, too.
  static_cast<void>(set_lock(F_UNLCK));
  ::close(file_);
}

int Maker::set_lock(short type) const {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return uninterrupted([&] { return fcntl(file_, F_OFD_SETLK, &lock); });
}

}  // namespace hawthorn::sqlite
