#include "db/backup_repository.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/out_of_memory.h"
#include "db/copy_directory.h"
#include "db/make_directory.h"
#include "db/manifest_files.h"
#include "db/sealed_copy.h"

namespace hawthorn {
namespace {

constexpr std::string_view kHeaderName = "repository";
constexpr std::string_view kHeaderNewName = "repository.new";
constexpr std::string_view kIndexNewName = "backup.new";
constexpr std::string_view kBackupPrefix = "backup.";
constexpr std::string_view kPartsPrefix = "parts.";
constexpr size_t kWriteBytes = size_t{1} << 20;

bool is_ours(std::string_view name) {
  return name == kHeaderName || name == kHeaderNewName || name == kIndexNewName ||
         name == db::kLockName || db::number_in_name(name, kBackupPrefix) != 0 ||
         db::number_in_name(name, kPartsPrefix) != 0;
}

BackupInfo info_of(const format::BackupHeader& header) {
  return {header.id,
          header.created_us,
          header.bytes,
          header.bytes_stored,
          header.bytes_read,
          header.incremental != 0,
          format::is_sealed_backup(header)};
}

Status in_file(const std::string& path, const Status& status) {
  return Status(status.code(), path + " " + std::string(status.message()));
}

// No more than the first bytes_max of it; `size`: what it has.
Result<std::string> read_file(os::FileSystem& files, const std::string& path, uint64_t bytes_max,
                              uint64_t* size) {
  auto file = files.open_file(path, {.read_only = true});
  if (!file.ok()) return file.status();
  Result<uint64_t> found = (*file)->size();
  if (!found.ok()) return found.status();
  *size = *found;
  std::string bytes(static_cast<size_t>(std::min(*found, bytes_max)), '\0');
  if (Status s = (*file)->read_at(0, bytes); !s.ok()) return s;
  return bytes;
}

// Durable under its own name when it returns.
Status write_file(os::FileSystem& files, const std::string& directory, const std::string& temporary,
                  const std::string& path, std::string_view bytes) {
  auto file = files.open_file(temporary, {.create = true});
  if (!file.ok()) return file.status();
  Status status = (*file)->truncate(0);
  if (status.ok()) status = (*file)->write_at(0, bytes);
  if (status.ok()) status = (*file)->sync_data();
  file->reset();
  if (status.ok()) status = files.rename(temporary, path);
  if (status.ok()) status = files.sync_directory(directory);
  return status;
}

Status remove_if_there(os::FileSystem& files, const std::string& path) {
  Status status = files.remove(path);
  return status.is_not_found() ? Status() : status;
}

}  // namespace

namespace db {
std::string backup_name(uint64_t id) { return std::string(kBackupPrefix) + std::to_string(id); }
std::string parts_name(uint64_t id) { return std::string(kPartsPrefix) + std::to_string(id); }
}  // namespace db

// ---- The directory

Status BackupRepository::Impl::open_header(bool empty) {
  os::FileSystem& files = *machine.files;
  const std::string path = path_of(kHeaderName);
  uint64_t size = 0;
  Result<std::string> bytes = read_file(files, path, 4096, &size);
  if (bytes.ok()) {
    Result<uint64_t> found = format::decode_repository(*bytes);
    if (!found.ok()) return in_file(path, found.status());
    salt = *found;
    return {};
  }
  if (!bytes.status().is_not_found()) return bytes.status();
  if (!empty) {
    return Status(StatusCode::kCorruption,
                  path +
                      " is missing, but backups are there: restore that file, or begin anew in "
                      "another directory");
  }
  salt = machine.random->next();
  return write_file(files, directory, path_of(kHeaderNewName), path,
                    format::encode_repository(salt));
}

Status BackupRepository::Impl::open(bool create) {
  os::FileSystem& files = *machine.files;
  if (create) {
    if (Status s = db::make_durable_directory(files, directory); !s.ok()) return s;
  }
  if (Status s = home->hold(); !s.ok() && !s.is_not_found()) return s;
  if (!create) {
    const Result<bool> there = files.exists(path_of(kHeaderName));
    if (!there.ok()) return there.status();
    if (!*there) return Status(StatusCode::kNotFound, directory + " is no backup repository");
  }
  Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  bool empty = true;
  for (const std::string& name : *names) {
    const bool made = name == db::kLockName || name == kHeaderNewName;
    if (!is_ours(name)) {
      return Status(StatusCode::kInvalidArgument,
                    directory + " is no backup repository: it holds " + name);
    }
    empty &= made;
  }
  auto file = files.open_file(path_of(db::kLockName), {.create = true, .locks = true});
  if (!file.ok()) return file.status();
  if (Status s = (*file)->lock_exclusive(); !s.ok()) {
    if (!s.is(StatusCode::kBusy)) return s;
    return Status(StatusCode::kBusy, directory + " is open in another process, or in this one");
  }
  lock = std::move(*file);
  if (Status s = open_header(empty); !s.ok()) return s;
  return clean();
}

Status BackupRepository::Impl::ids(std::vector<uint64_t>* backups, std::vector<uint64_t>* parts) {
  Result<std::vector<std::string>> names = machine.files->list(directory);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (const uint64_t id = db::number_in_name(name, kBackupPrefix); id != 0)
      backups->push_back(id);
    if (const uint64_t id = db::number_in_name(name, kPartsPrefix); id != 0) parts->push_back(id);
  }
  std::sort(backups->begin(), backups->end());
  std::sort(parts->begin(), parts->end());
  return {};
}

Result<std::string> BackupRepository::Impl::header_bytes(uint64_t id, uint64_t* file_bytes) {
  Result<std::string> bytes = read_file(*machine.files, path_of(db::backup_name(id)),
                                        sizeof(format::BackupHeader), file_bytes);
  if (!bytes.status().is_not_found()) return bytes;
  return Status(StatusCode::kNotFound,
                directory + " has no backup " + std::to_string(id) + ", or it was interrupted");
}

Result<BackupInfo> BackupRepository::Impl::info(uint64_t id) {
  uint64_t size = 0;
  const Result<std::string> bytes = header_bytes(id, &size);
  if (!bytes.ok()) return bytes.status();
  const Result<format::BackupHeader> header = format::decode_backup_header(*bytes);
  if (!header.ok()) return in_file(path_of(db::backup_name(id)), header.status());
  return info_of(*header);
}

Result<std::string> BackupRepository::Impl::index_bytes(uint64_t id) {
  const std::string path = path_of(db::backup_name(id));
  uint64_t size = 0;
  const Result<std::string> bytes = header_bytes(id, &size);
  if (!bytes.ok()) return bytes.status();
  // Before memory is taken for it: a file of another size is not read.
  const Result<format::BackupHeader> header = format::decode_backup_header(*bytes);
  if (!header.ok()) return in_file(path, header.status());
  if (header->index_bytes != size || size > format::kBackupIndexBytesMax) {
    return Status(StatusCode::kCorruption, path + " at " + std::to_string(size) +
                                               ": it has another size than its header says");
  }
  return read_file(*machine.files, path, size, &size);
}

Result<format::BackupIndex> BackupRepository::Impl::decode_index(uint64_t id,
                                                                 std::string_view bytes) {
  const std::string path = path_of(db::backup_name(id));
  Result<format::BackupIndex> index = format::decode_backup(bytes);
  if (!index.ok()) return in_file(path, index.status());
  if (index->header.id != id) {
    return Status(StatusCode::kCorruption,
                  path + " at 16: it is backup " + std::to_string(index->header.id));
  }
  return index;
}

Result<format::BackupIndex> BackupRepository::Impl::index(uint64_t id) {
  const Result<std::string> bytes = index_bytes(id);
  if (!bytes.ok()) return bytes.status();
  return decode_index(id, *bytes);
}

Result<std::optional<format::BackupIndex>> BackupRepository::Impl::proven_index(
    uint64_t id, os::DataKeys& keys) {
  const Result<std::string> bytes = index_bytes(id);
  if (!bytes.ok()) return bytes.status();
  Result<format::BackupIndex> index = decode_index(id, *bytes);
  if (!index.ok()) return index.status();
  std::optional<format::BackupIndex> proven;
  if (!index->seal.has_value() || !keys.has(index->seal->key)) return proven;
  Result<std::unique_ptr<Aead>> aead = keys.make(index->seal->key, index->seal->salt);
  if (!aead.ok()) return aead.status();
  if (format::backup_seal_holds(*bytes, std::move(*aead), salt)) proven = std::move(*index);
  return proven;
}

Status BackupRepository::Impl::clean() {
  os::FileSystem& files = *machine.files;
  Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (name != kIndexNewName && name != kHeaderNewName) continue;
    if (Status s = remove_if_there(files, path_of(name)); !s.ok()) return s;
  }
  std::vector<uint64_t> backups;
  std::vector<uint64_t> parts;
  if (Status s = ids(&backups, &parts); !s.ok()) return s;
  if (std::includes(backups.begin(), backups.end(), parts.begin(), parts.end())) return {};
  // Where a backup is damaged nobody knows what it needs: all stays, and what reads it tells.
  Status status = collect(false);
  return status.is(StatusCode::kCorruption) ? Status() : status;
}

Status BackupRepository::Impl::find_used(const std::vector<uint64_t>& backups,
                                         std::map<uint64_t, Ranges>* used) {
  for (const uint64_t id : backups) {
    Result<format::BackupIndex> found = index(id);
    if (!found.ok()) {
      // Of a backup that is gone meanwhile nothing is needed; here it is there, and damaged.
      return Status(StatusCode::kCorruption, std::string(found.status().message()));
    }
    for (const format::BackupFile& file : found->files) {
      for (const format::BackupPart& part : file.parts) {
        uint64_t& end = (*used)[part.backup][part.place];
        end = std::max(end, part.place + part.bytes);
      }
    }
  }
  return {};
}

// A file system that cannot punch holes keeps the space until the file can go.
Status BackupRepository::Impl::free_unused(uint64_t id, const Ranges& used) {
  auto file = machine.files->open_file(path_of(db::parts_name(id)), {});
  if (!file.ok()) return file.status();
  Result<uint64_t> size = (*file)->size();
  if (!size.ok()) return size.status();
  uint64_t at = 0;
  bool punches = true;
  for (const auto& [place, end] : used) {
    const uint64_t hole_end = std::min(place, *size);
    if (punches && hole_end > at) punches = (*file)->punch_hole(at, hole_end - at).ok();
    at = std::max(at, end);
  }
  return *size > at ? (*file)->truncate(at) : Status();
}

Status BackupRepository::Impl::collect(bool holes) {
  os::FileSystem& files = *machine.files;
  std::vector<uint64_t> backups;
  std::vector<uint64_t> parts;
  if (Status s = ids(&backups, &parts); !s.ok()) return s;
  std::map<uint64_t, Ranges> used;
  if (Status s = find_used(backups, &used); !s.ok()) return s;
  bool removed = false;
  for (const uint64_t id : parts) {
    const auto ranges = used.find(id);
    if (ranges == used.end()) {
      if (Status s = remove_if_there(files, path_of(db::parts_name(id))); !s.ok()) return s;
      removed = true;
    } else if (holes && !std::binary_search(backups.begin(), backups.end(), id)) {
      if (Status s = free_unused(id, ranges->second); !s.ok()) return s;
    }
  }
  return removed ? files.sync_directory(directory) : Status();
}

bool BackupRepository::Impl::has(const format::BackupPart& part,
                                 std::map<uint64_t, uint64_t>* sizes) {
  const auto [found, added] = sizes->try_emplace(part.backup, 0);
  if (added) {
    auto file = machine.files->open_file(path_of(db::parts_name(part.backup)), {.read_only = true});
    const Result<uint64_t> size = file.ok() ? (*file)->size() : file.status();
    if (size.ok()) found->second = *size;
  }
  return part.place + part.bytes <= found->second;
}

// ---- Reading

Status BackupRepository::Impl::read_part(const format::BackupFile& of,
                                         const format::BackupPart& part, PartFiles* open,
                                         std::span<char> data) {
  std::unique_ptr<os::File>& file = (*open)[part.backup];
  if (file == nullptr) {
    const std::string path = path_of(db::parts_name(part.backup));
    auto opened = machine.files->open_file(path, {.read_only = true});
    if (opened.status().is_not_found()) {
      return Status(StatusCode::kCorruption, path + " at 0: the file is missing");
    }
    if (!opened.ok()) return opened.status();
    file = std::move(*opened);
  }
  const auto damaged = [&](const std::string& why) {
    return Status(StatusCode::kCorruption,
                  file->path() + " at " + std::to_string(part.place) + ": " + why);
  };
  Status status = file->read_at(part.place, data);
  if (status.is(StatusCode::kCorruption)) return damaged("the file ends before this part");
  if (!status.ok()) return status;
  if (checksum128(data.data(), data.size()) == Checksum128{part.sum_low, part.sum_high}) return {};
  return damaged("a part of " + of.name + " has another checksum");
}

Status BackupRepository::Impl::copy_file(const format::BackupFile& file, PartFiles* open,
                                         std::string* buffer, db::CopySink* sink,
                                         db::CopyPace& pace) {
  if (sink != nullptr) {
    if (Status s = sink->begin(file.name, file.bytes, file.reserve); !s.ok()) return s;
  }
  for (const format::BackupPart& part : file.parts) {
    const std::span<char> data(buffer->data(), part.bytes);
    if (Status s = read_part(file, part, open, data); !s.ok()) return s;
    if (sink != nullptr) {
      const db::CopyPart copied = {part.offset, part.bytes, {}};
      if (Status s = sink->write(copied, data); !s.ok()) return s;
    }
    if (Status s = pace.count(part.bytes); !s.ok()) return s;
  }
  return sink == nullptr ? Status() : sink->end();
}

Status BackupRepository::Impl::read(const format::BackupIndex& index, db::CopySink* sink,
                                    const Encryption& encryption, db::CopyPace& pace) {
  db::SealedCopy sealed(encryption, sink);
  const bool opens = encryption.key != nullptr;
  PartFiles open;
  std::string buffer(format::kBackupPartBytesMax, '\0');
  for (const format::BackupFile& each : index.files) {
    if (Status s = copy_file(each, &open, &buffer, opens ? &sealed : sink, pace); !s.ok()) return s;
  }
  return opens ? sealed.finish() : Status();
}

Result<format::BackupIndex> BackupRepository::Impl::index(uint64_t id,
                                                          const Encryption& encryption) {
  Result<format::BackupIndex> found = index(id);
  if (!found.ok() || encryption.key == nullptr) return found;
  if (!found->seal.has_value() || found->files.empty()) return db::copy_is_not_encrypted();
  db::CopyPace pace(machine, 0, nullptr);
  db::SealedCopy sealed(encryption, nullptr);
  PartFiles open;
  std::string buffer(format::kBackupPartBytesMax, '\0');
  if (Status s = copy_file(found->files.front(), &open, &buffer, &sealed, pace); !s.ok()) return s;
  auto proven = proven_index(id, *sealed.keys());
  if (!proven.ok()) return proven.status();
  if (proven->has_value()) return std::move(**proven);
  return Status(
      StatusCode::kCorruption,
      path_of(db::backup_name(id)) + " at 0: it is not what was written there: its seal is broken");
}

// ---- Writing

namespace db {

BackupWriter::BackupWriter(BackupRepository::Impl& repository, uint64_t id)
    : repository_(repository) {
  index_.header.id = id;
  index_.header.created_us = repository.machine.clock->wall_us();
}

void BackupWriter::know(const format::BackupIndex& index) {
  for (const format::BackupFile& file : index.files) {
    for (const format::BackupPart& part : file.parts) {
      // What is missing is stored again, and those that had it are as damaged as before.
      if (!repository_.has(part, &sizes_)) continue;
      known_[sum_of(part)] = part;
      const Checksum128 mark = {part.mark_low, part.mark_high};
      if (mark != Checksum128{}) marked_[mark] = part;
    }
  }
}

Status BackupWriter::start() {
  auto file = repository_.machine.files->open_file(
      repository_.path_of(parts_name(index_.header.id)), {.create = true, .exclusive = true});
  if (!file.ok()) return file.status();
  parts_ = std::move(*file);
  return {};
}

Status BackupWriter::seal_with(std::shared_ptr<os::DataKeys> keys) {
  keys_ = std::move(keys);
  return {};
}

Status BackupWriter::begin(std::string_view name, uint64_t bytes, bool reserve) {
  index_.files.push_back({std::string(name), reserve, bytes, {}});
  return {};
}

void BackupWriter::add(format::BackupPart part, const CopyPart& as) {
  part.offset = as.offset;
  part.mark_low = as.mark.low;
  part.mark_high = as.mark.high;
  index_.header.bytes += part.bytes;
  if (part.backup != index_.header.id) index_.header.incremental = 1;
  index_.files.back().parts.push_back(part);
}

bool BackupWriter::take_known(const CopyPart& part) {
  const auto found = marked_.find(part.mark);
  if (found == marked_.end() || found->second.bytes != part.bytes) return false;
  add(found->second, part);
  return true;
}

Status BackupWriter::write(const CopyPart& as, std::span<const char> data) {
  const Checksum128 sum = checksum128(data.data(), data.size());
  format::BackupPart part{};
  part.bytes = static_cast<uint32_t>(data.size());
  part.sum_low = sum.low;
  part.sum_high = sum.high;
  part.salted = checksum64(data.data(), data.size(), repository_.salt);
  part.backup = index_.header.id;
  part.place = end_;
  index_.header.bytes_read += data.size();
  const auto [found, added] = known_.try_emplace(sum_of(part), part);
  add(found->second, as);
  if (!added) return {};
  end_ += data.size();
  pending_.append(data.data(), data.size());
  return pending_.size() >= kWriteBytes ? write_pending() : Status();
}

Status BackupWriter::write_pending() {
  Status status = parts_->write_at(end_ - pending_.size(), pending_);
  pending_.clear();
  return status;
}

// What was known stands before what was written.
Status BackupWriter::end() {
  std::vector<format::BackupPart>& parts = index_.files.back().parts;
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return {};
}

Result<std::string> BackupWriter::encode_index() {
  if (keys_ == nullptr) return format::encode_backup(index_);
  const Result<Salt> salt = os::DataKeys::new_salt();
  if (!salt.ok()) return salt.status();
  index_.seal = format::BackupSeal{keys_->current(), *salt, {}};
  Result<std::unique_ptr<Aead>> aead = keys_->make(index_.seal->key, *salt);
  if (!aead.ok()) return aead.status();
  return format::encode_sealed_backup(index_, std::move(*aead), repository_.salt);
}

Result<BackupInfo> BackupWriter::finish() {
  if (Status s = write_pending(); !s.ok()) return s;
  if (Status s = parts_->sync_data(); !s.ok()) return s;
  parts_.reset();
  os::FileSystem& files = *repository_.machine.files;
  // The parts' name must not come later than the index's.
  if (Status s = files.sync_directory(repository_.directory); !s.ok()) return s;
  index_.header.bytes_stored = end_;
  const Result<std::string> bytes = encode_index();
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() > format::kBackupIndexBytesMax) {
    return Status(StatusCode::kNotSupported, repository_.directory +
                                                 ": the index of a backup would have " +
                                                 std::to_string(bytes->size()) + " bytes");
  }
  const format::BackupHeader& header = index_.header;
  if (Status s = write_file(files, repository_.directory, repository_.path_of(kIndexNewName),
                            repository_.path_of(backup_name(header.id)), *bytes);
      !s.ok()) {
    return s;
  }
  return info_of(header);
}

}  // namespace db

// ---- The public class

BackupRepository::BackupRepository(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BackupRepository::~BackupRepository() = default;

Result<std::unique_ptr<BackupRepository>> BackupRepository::open(
    const std::string& directory, const RepositoryOptions& options) try {
  return open_on(os::real_machine(), directory, options);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::unique_ptr<BackupRepository>> BackupRepository::open_on(
    const os::Machine& machine, const std::string& directory,
    const RepositoryOptions& options) try {
  auto place = os::Place::of(machine, directory);
  if (!place.ok()) return place.status();
  auto impl = std::make_unique<Impl>(*std::move(place));
  if (Status s = impl->open(options.create_if_missing); !s.ok()) return s;
  return std::unique_ptr<BackupRepository>(new BackupRepository(std::move(impl)));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::vector<BackupInfo>> BackupRepository::list() try {
  os::MutexLock lock(impl_->mutex);
  std::vector<uint64_t> backups;
  std::vector<uint64_t> parts;
  if (Status s = impl_->ids(&backups, &parts); !s.ok()) return s;
  std::vector<BackupInfo> infos;
  for (const uint64_t id : backups) {
    const Result<BackupInfo> one = impl_->info(id);
    if (!one.ok()) return one.status();
    infos.push_back(*one);
  }
  return infos;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status BackupRepository::verify(uint64_t id, const VerifyOptions& options) try {
  os::MutexLock lock(impl_->mutex);
  const Result<format::BackupIndex> index = impl_->index(id, options.encryption);
  if (!index.ok()) return index.status();
  db::CopyPace pace(impl_->machine, 0, options.progress);
  return impl_->read(*index, nullptr, options.encryption, pace);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status BackupRepository::restore(uint64_t id, const std::string& target,
                                 const RestoreOptions& options) try {
  os::MutexLock lock(impl_->mutex);
  // Before the target is touched.
  const Result<format::BackupIndex> index = impl_->index(id, options.encryption);
  if (!index.ok()) return index.status();
  db::CopyDirectory directory(impl_->machine, target);
  if (Status s = directory.prepare(); !s.ok()) return s;
  db::CopyPace pace(impl_->machine, options.bytes_per_second, options.progress);
  if (Status s = impl_->read(*index, &directory, options.encryption, pace); !s.ok()) return s;
  return directory.finish();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status BackupRepository::remove(uint64_t id) try {
  os::MutexLock lock(impl_->mutex);
  os::FileSystem& files = *impl_->machine.files;
  const std::string path = impl_->path_of(db::backup_name(id));
  if (Status s = files.remove(path); !s.ok()) {
    if (!s.is_not_found()) return s;
    return Status(StatusCode::kNotFound, impl_->directory + " has no backup " + std::to_string(id));
  }
  if (Status s = files.sync_directory(impl_->directory); !s.ok()) return s;
  return impl_->collect(true);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
