#include "db/copy_directory.h"

#include <utility>

#include "db/make_directory.h"
#include "db/manifest.h"
#include "db/manifest_files.h"
#include "format/key_file.h"
#include "os/test_point.h"
#include "space/device_image.h"
#include "space/space.h"
#include "wal/log.h"

namespace hawthorn::db {
namespace {
bool is_copied(std::string_view name) {
  return is_manifest_file(name) || space::is_data_file(name) || space::is_device_image(name) ||
         wal::is_log_file(name) || name == format::kKeyFileName;
}
}  // namespace

// Whether nothing is there that is not ours to remove; `lock` alone is what a copy leaves that was
// interrupted before it had its marker.
Status CopyDirectory::look(std::vector<std::string>* names) {
  Result<bool> marked = files().exists(join(directory_, kIncompleteName));
  if (!marked.ok()) return marked.status();
  Result<std::vector<std::string>> found = files().list(directory_);
  if (!found.ok()) return found.status();
  *names = std::move(*found);
  for (const std::string& name : *names) {
    if (name == kLockName || (*marked && (name == kIncompleteName || is_copied(name)))) continue;
    return Status(StatusCode::kInvalidArgument, directory_ + " is not empty: it holds " + name);
  }
  return {};
}

Status CopyDirectory::take_lock() {
  auto file = files().open_file(join(directory_, kLockName), {.create = true, .locks = true});
  if (!file.ok()) return file.status();
  Status locked = (*file)->lock_exclusive();
  if (!locked.ok() && !locked.is(StatusCode::kBusy)) return locked;
  // Who destroys a database removes the file while he has its lock.
  const Result<bool> named = (*file)->has_name();
  if (!named.ok()) return named.status();
  if (!locked.ok() || !*named) {
    return Status(StatusCode::kBusy, directory_ + " is in use by another process, or by this one");
  }
  lock_ = std::move(*file);
  return {};
}

Status CopyDirectory::prepare() {
  auto place = os::Place::of(machine_, directory_);
  if (!place.ok()) return place.status();
  place_ = *std::move(place);
  directory_ = place_->path();
  if (Status s = make_durable_directory(files(), directory_); !s.ok()) return s;
  if (Status s = place_->hold(); !s.ok()) return s;
  // The first look only spares a directory that is somebody else's a file named `lock`.
  std::vector<std::string> names;
  if (Status s = look(&names); !s.ok()) return s;
  HAWTHORN_TEST_POINT("copy.before_lock");
  if (Status s = take_lock(); !s.ok()) return s;
  if (Status s = look(&names); !s.ok()) return s;
  {
    auto marker = files().open_file(join(directory_, kIncompleteName), {.create = true});
    if (!marker.ok()) return marker.status();
    if (Status s = (*marker)->sync_data(); !s.ok()) return s;
  }
  if (Status s = files().sync_directory(directory_); !s.ok()) return s;
  bool removed = false;
  for (const std::string& name : names) {
    if (name == kIncompleteName || name == kLockName) continue;
    if (Status s = files().remove(join(directory_, name)); !s.ok()) return s;
    removed = true;
  }
  return removed ? files().sync_directory(directory_) : Status();
}

Status CopyDirectory::begin(std::string_view name, uint64_t bytes, bool reserve) {
  if (!is_copied(name)) {
    return Status(StatusCode::kCorruption,
                  "the backup has a file that no database has: " + std::string(name));
  }
  auto file = files().open_file(join(directory_, name),
                                {.create = true, .exclusive = true, .in_place = true});
  if (!file.ok()) return file.status();
  file_ = std::move(*file);
  return reserve ? file_->allocate(0, bytes) : file_->truncate(bytes);
}

Status CopyDirectory::clone(os::File& from, uint64_t offset, uint64_t bytes) {
  if (!share_) return CopySink::clone(from, offset, bytes);
  if (shared_ == nullptr) {
    // By its name: what others see of a data file is not the file system's own object.
    auto opened = machine_.files->open_file(from.path(), {.read_only = true});
    if (!opened.ok()) return opened.status();
    shared_ = std::move(*opened);
  }
  return file_->clone_from(offset, *shared_, offset, bytes);
}

Status CopyDirectory::write(const CopyPart& part, std::span<const char> data) {
  return file_->write_at(part.offset, data);
}

Status CopyDirectory::end() {
  Status status = file_->sync_data();
  file_.reset();
  shared_.reset();
  return status;
}

Status CopyDirectory::finish() {
  if (Status s = files().sync_directory(directory_); !s.ok()) return s;
  HAWTHORN_TEST_POINT("copy.before_unmark");
  if (Status s = files().remove(join(directory_, kIncompleteName)); !s.ok()) return s;
  if (Status s = files().sync_directory(directory_); !s.ok()) return s;
  lock_.reset();
  return {};
}

}  // namespace hawthorn::db
