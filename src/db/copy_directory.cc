#include "db/copy_directory.h"

#include <algorithm>
#include <utility>

#include "db/manifest.h"
#include "db/manifest_files.h"
#include "space/space.h"
#include "wal/log.h"

namespace hawthorn::db {
namespace {
constexpr char kLockName[] = "lock";

bool may_remove(const std::string& name) {
  return name == kIncompleteName || name == kLockName || is_manifest_file(name) ||
         space::is_data_file(name) || wal::is_log_file(name);
}
}  // namespace

Status refuse_incomplete(const os::Machine& machine, const std::string& directory) {
  Result<bool> marked = machine.files->exists(join(directory, kIncompleteName));
  if (!marked.ok()) return marked.status();
  if (!*marked) return {};
  return Status(StatusCode::kCorruption,
                directory +
                    " is what an interrupted checkpoint or restore has left: it has a file "
                    "`copy.incomplete`. Make it again; it is no database");
}

Status make_durable_directory(os::FileSystem& files, const std::string& directory) {
  if (Status s = files.make_directory(directory); !s.ok()) return s;
  const size_t last = directory.find_last_not_of('/');
  const size_t slash = last == std::string::npos ? last : directory.rfind('/', last);
  if (slash == std::string::npos) return files.sync_directory(".");
  return files.sync_directory(directory.substr(0, std::max<size_t>(slash, 1)));
}

Status CopyDirectory::prepare() {
  os::FileSystem& files = *machine_.files;
  if (Status s = make_durable_directory(files, directory_); !s.ok()) return s;
  const std::string marker = join(directory_, kIncompleteName);
  Result<bool> marked = files.exists(marker);
  if (!marked.ok()) return marked.status();
  Result<std::vector<std::string>> names = files.list(directory_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (*marked && may_remove(name)) continue;
    return Status(StatusCode::kInvalidArgument, directory_ + " is not empty: it holds " + name);
  }
  auto file = files.open_file(marker, {.create = true});
  if (!file.ok()) return file.status();
  if (Status s = (*file)->lock_exclusive(); !s.ok()) return s;
  marker_ = std::move(*file);
  if (Status s = marker_->sync_data(); !s.ok()) return s;
  if (Status s = files.sync_directory(directory_); !s.ok()) return s;
  for (const std::string& name : *names) {
    if (name == kIncompleteName) continue;
    if (Status s = files.remove(join(directory_, name)); !s.ok()) return s;
  }
  return names->empty() ? Status() : files.sync_directory(directory_);
}

Status CopyDirectory::begin(std::string_view name, uint64_t bytes, bool reserve) {
  auto file =
      machine_.files->open_file(join(directory_, name), {.create = true, .exclusive = true});
  if (!file.ok()) return file.status();
  file_ = std::move(*file);
  bytes_ = bytes;
  return reserve ? file_->allocate(0, bytes) : file_->truncate(bytes);
}

Status CopyDirectory::write(uint64_t offset, std::span<const char> data) {
  return file_->write_at(offset, data);
}

Status CopyDirectory::end() {
  Status status = file_->sync_data();
  file_.reset();
  return status;
}

Status CopyDirectory::finish() {
  os::FileSystem& files = *machine_.files;
  auto lock = files.open_file(join(directory_, kLockName), {.create = true});
  if (!lock.ok()) return lock.status();
  lock->reset();
  if (Status s = files.sync_directory(directory_); !s.ok()) return s;
  if (Status s = files.remove(join(directory_, kIncompleteName)); !s.ok()) return s;
  return files.sync_directory(directory_);
}

}  // namespace hawthorn::db
