#include "wal/log_directory.h"

#include <cstdio>
#include <utility>

namespace hawthorn::wal {

namespace {

constexpr std::string_view kPrefix = "wal.";
constexpr size_t kNumberDigits = 16;
constexpr size_t kRingUnitBytes = size_t{64} << 10;  // of os::FileSystem::map_shared

Status wrong_size(const std::string& path, uint64_t size, uint64_t wanted) {
  return Status(StatusCode::kCorruption,
                path + ": has " + std::to_string(size) + " bytes, not " + std::to_string(wanted));
}

}  // namespace

std::string segment_name(uint64_t number) {
  char name[kPrefix.size() + kNumberDigits + 1];
  std::snprintf(name, sizeof(name), "wal.%016llx", static_cast<unsigned long long>(number));
  return name;
}

std::optional<uint64_t> segment_number(std::string_view name) {
  if (name.size() != kPrefix.size() + kNumberDigits || !name.starts_with(kPrefix)) return {};
  uint64_t number = 0;
  for (const char c : name.substr(kPrefix.size())) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return {};
    number = number * 16 + static_cast<uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  return number;
}

bool is_log_file(std::string_view name) {
  return name == kRingName || name == kNewName || segment_number(name).has_value();
}

LogDirectory::LogDirectory(const os::Machine& machine, std::string path, const LogOptions& options)
    : machine_(machine), path_(std::move(path)), options_(options) {}

std::string LogDirectory::path_of(std::string_view name) const {
  std::string path = path_;
  if (path.empty() || path.back() != '/') path += '/';
  return path.append(name);
}

std::string LogDirectory::place_of(Lsn lsn) const {
  return path_of(segment_name(segment_of(lsn))) + " at " + std::to_string(lsn % segment_bytes());
}

Status LogDirectory::check_options() const {
  if (ring_bytes() == 0 || ring_bytes() % kRingUnitBytes != 0) {
    return Status(StatusCode::kInvalidArgument, "the log's ring has " +
                                                    std::to_string(ring_bytes()) +
                                                    " bytes; it must be a multiple of 64 KB");
  }
  if (segment_bytes() == 0 || segment_bytes() % os::kBlockBytes != 0) {
    return Status(StatusCode::kInvalidArgument, "log segments of " +
                                                    std::to_string(segment_bytes()) +
                                                    " bytes; they must be a multiple of 4 KB");
  }
  return Status();
}

Result<std::vector<uint64_t>> LogDirectory::segments() const {
  Result<std::vector<std::string>> names = files().list(path_);
  if (!names.ok()) return names.status();
  std::vector<uint64_t> numbers;
  for (const std::string& name : *names) {
    const auto number = segment_number(name);
    if (!number.has_value()) continue;
    if (*number > format::kLsnMax / segment_bytes() - 1) {
      return Status(StatusCode::kCorruption, path_of(name) + ": no log reaches to this number");
    }
    numbers.push_back(*number);
  }
  return numbers;  // names sort as their fixed-width numbers do
}

Result<std::unique_ptr<os::File>> LogDirectory::open(std::string_view name,
                                                     os::OpenFlags flags) const {
  flags.direct = options_.direct;
  Result<std::unique_ptr<os::File>> file = files().open_file(path_of(name), flags);
  if (!file.ok() && flags.direct && file.status().is(StatusCode::kNotSupported)) {
    flags.direct = false;
    file = files().open_file(path_of(name), flags);
  }
  return file;
}

Result<std::unique_ptr<os::File>> LogDirectory::open_segment(uint64_t number, bool writable) const {
  const std::string name = segment_name(number);
  Result<std::unique_ptr<os::File>> file = open(name, {.read_only = !writable, .locks = writable});
  if (!file.ok()) return file.status();
  Result<uint64_t> size = (*file)->size();
  if (!size.ok()) return size.status();
  if (*size != segment_bytes()) return wrong_size(path_of(name), *size, segment_bytes());
  if (writable) {
    if (Status s = (*file)->lock_exclusive(); !s.ok()) return s;
  }
  return std::move(file).value();
}

std::span<const char> zeros() {
  // Never written; const, it would stand in the library's file.
  alignas(os::kBlockBytes) static char bytes[size_t{256} << 10] = {};
  return bytes;
}

namespace {
Status fill_with_zeros(os::File& file, size_t size) {
  for (size_t at = 0; at < size; at += zeros().size()) {
    const size_t piece = std::min(zeros().size(), size - at);
    if (Status s = file.write_at(at, zeros().first(piece)); !s.ok()) return s;
  }
  return Status();
}
}  // namespace

Status LogDirectory::create_segment(uint64_t number) const {
  Result<std::unique_ptr<os::File>> file = open(kNewName, {});
  bool kept = false;  // by keep_as_new
  if (file.ok()) {
    const Result<uint64_t> size = (*file)->size();
    kept = size.ok() && *size == segment_bytes();
  }
  if (!kept) {
    if (Status s = remove(kNewName); !s.ok()) return s;
    file = open(kNewName, {.create = true, .in_place = true});
    if (!file.ok()) return file.status();
  }
  Status status = (*file)->allocate(0, segment_bytes());
  if (status.ok() && kept) status = fill_with_zeros(**file, segment_bytes());
  if (status.ok()) status = (*file)->sync_data();
  if (!status.ok()) {
    file->reset();
    // What could not be made must not keep the space that others need; the first error is the one
    // to tell.
    static_cast<void>(remove(kNewName));
    return status;
  }
  return finish_new(segment_name(number));
}

Status LogDirectory::keep_as_new(uint64_t number) const {
  if (Status s = remove(kNewName); !s.ok()) return s;
  return files().rename(path_of(segment_name(number)), path_of(kNewName));
}

Status LogDirectory::rename_segment(uint64_t from, uint64_t to) const {
  return files().rename(path_of(segment_name(from)), path_of(segment_name(to)));
}

Status LogDirectory::remove(std::string_view name) const {
  Status status = files().remove(path_of(name));
  return status.is_not_found() ? Status() : status;
}

Result<std::unique_ptr<os::MappedFile>> LogDirectory::map_ring(bool read_only, bool create) const {
  const std::string path = path_of(kRingName);
  Result<bool> there = files().exists(path);
  if (!there.ok()) return there.status();
  if (*there) {
    Result<std::unique_ptr<os::File>> file = files().open_file(path, {.read_only = true});
    if (!file.ok()) return file.status();
    Result<uint64_t> size = (*file)->size();
    if (!size.ok()) return size.status();
    if (*size != ring_bytes()) return wrong_size(path, *size, ring_bytes());
  } else if (!create) {
    return std::unique_ptr<os::MappedFile>();
  } else {
    if (Status s = remove(kNewName); !s.ok()) return s;
    {
      auto filled = files().map_shared(path_of(kNewName), ring_bytes(), false);
      if (!filled.ok()) return filled.status();
      if (Status s = (*filled)->sync(); !s.ok()) return s;
    }
    if (Status s = finish_new(kRingName); !s.ok()) return s;
  }
  Result<std::unique_ptr<os::MappedFile>> ring = files().map_shared(path, ring_bytes(), read_only);
  if (ring.ok() && !(*ring)->mirrored()) {
    return Status(StatusCode::kNotSupported, path + ": the ring needs a mirrored mapping");
  }
  return ring;
}

Status LogDirectory::finish_new(std::string_view name) const {
  if (Status s = files().rename(path_of(kNewName), path_of(name)); !s.ok()) return s;
  return files().sync_directory(path_);
}

}  // namespace hawthorn::wal
