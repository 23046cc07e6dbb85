#include "space/data_files.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "os/event_sink.h"

namespace hawthorn::space {
namespace {

constexpr std::string_view kDataPrefix = "data.";
constexpr std::string_view kProbeName = "data.probe";
constexpr uint64_t kLockWaitUs = 1000;
constexpr int kLockAttemptsMax = 10000;

// Stands for a file that could not be opened: the error comes where the file is used.
class FailedFile : public os::File {
 public:
  FailedFile(std::string path, Status error) : path_(std::move(path)), error_(std::move(error)) {}
  Status read_at(uint64_t, std::span<char>) override { return error_; }
  Status write_at(uint64_t, std::span<const char>) override { return error_; }
  Status sync_data() override { return error_; }
  Result<uint64_t> size() override { return error_; }
  Result<uint64_t> allocated_bytes() override { return error_; }
  Status truncate(uint64_t) override { return error_; }
  Status allocate(uint64_t, uint64_t) override { return error_; }
  Status punch_hole(uint64_t, uint64_t) override { return error_; }
  Status lock_exclusive() override { return error_; }
  bool direct() const override { return false; }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_;
  const Status error_;
};

}  // namespace

std::string data_file_name(uint32_t number) {
  if (number >= kFilesMax) return "device " + std::to_string(number - kFilesMax);
  return std::string(kDataPrefix) + std::to_string(number);
}

bool parse_data_file_name(std::string_view name, uint32_t* number) {
  if (!name.starts_with(kDataPrefix)) return false;
  const std::string_view digits = name.substr(kDataPrefix.size());
  if (digits.empty() || digits.size() > 5 || (digits.front() == '0' && digits.size() > 1)) {
    return false;
  }
  uint32_t value = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return false;
    value = value * 10 + static_cast<uint32_t>(digit - '0');
  }
  if (value >= kFilesMax) return false;
  *number = value;
  return true;
}

bool is_data_file(std::string_view name) {
  uint32_t number = 0;
  return name == kProbeName || parse_data_file_name(name, &number);
}

DataFiles::DataFiles(const os::Machine& machine, std::string directory, const SpaceOptions& options)
    : machine_(machine),
      directory_(std::move(directory)),
      options_(options),
      direct_(options.devices != nullptr ? options.devices->direct() : options.direct),
      open_files_(std::make_unique<std::atomic<DataFile*>[]>(kFilesMax)),
      written_(std::make_unique<std::atomic<bool>[]>(kFilesMax)) {}

DataFiles::~DataFiles() = default;

Result<std::vector<uint32_t>> DataFiles::list() const {
  if (options_.devices != nullptr) return std::vector<uint32_t>();
  Result<std::vector<std::string>> names = machine_.files->list(directory_);
  if (!names.ok()) return names.status();
  std::vector<uint32_t> numbers;
  uint32_t number = 0;
  for (const std::string& name : *names) {
    if (parse_data_file_name(name, &number)) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Status DataFiles::probe_direct(const std::vector<uint32_t>& present) {
  if (!options_.direct || options_.devices != nullptr) return {};
  const bool make_one = present.empty();
  if (make_one && options_.read_only) return {};
  const std::string path =
      make_one ? directory_ + "/" + std::string(kProbeName) : path_of(present.front());
  const auto probe = [&] {
    return machine_.files
        ->open_file(path, {.create = make_one, .read_only = !make_one, .direct = true})
        .status();
  };
  Status status = probe();
  // A failure that passes must not leave it unknown.
  if (!status.ok() && !status.is(StatusCode::kNotSupported)) status = probe();
  if (make_one && status.ok()) static_cast<void>(machine_.files->remove(path).ok());
  // Any other error says nothing about direct I/O, and comes again where it matters.
  if (!status.is(StatusCode::kNotSupported)) return {};
  if (options_.direct_required) return status;
  direct_ = false;
  return {};
}

Result<std::unique_ptr<os::File>> DataFiles::open(uint32_t number, bool wait) {
  const std::string path = path_of(number);
  auto file = machine_.files->open_file(
      path, {.read_only = options_.read_only, .direct = direct_, .locks = !options_.read_only});
  if (!file.ok()) {
    if (!file.status().is_not_found()) return file.status();
    return Status(StatusCode::kCorruption, data_file_name(number) + " is missing");
  }
  if (options_.read_only) return file;
  // The database's own lock keeps other processes out. A lock that is still held here belongs to a
  // killed process with writes in flight, and goes with them.
  for (int attempt = 1;; ++attempt) {
    Status status = (*file)->lock_exclusive();
    if (status.ok()) return file;
    if (!status.is(StatusCode::kBusy) || !wait || attempt >= kLockAttemptsMax) return status;
    machine_.clock->sleep_us(kLockWaitUs);
  }
}

Result<uint64_t> DataFiles::free_bytes() const {
  if (options_.devices != nullptr) return uint64_t{0};
  return machine_.files->free_bytes(directory_);
}

os::File* DataFiles::file(uint32_t number) {
  if (number >= kFilesMax && options_.devices != nullptr &&
      number - kFilesMax < options_.devices->count()) {
    return options_.devices->file(number - kFilesMax);
  }
  if (number < kFilesMax) {
    os::File* const present = open_files_[number].load(std::memory_order_acquire);
    if (present != nullptr) return present;
  }
  os::MutexLock lock(open_mutex_);
  const auto failed_before = failed_files_.find(number);
  Status error;
  if (number < kFilesMax) {
    os::File* const present = open_files_[number].load(std::memory_order_relaxed);
    if (present != nullptr) return present;
    Result<std::unique_ptr<os::File>> opened = open(number, failed_before == failed_files_.end());
    if (opened.ok()) {
      return keep(number, *std::move(opened));
    }
    error = opened.status();
  } else {
    error = Status(StatusCode::kCorruption, data_file_name(number) + ": no such file number");
  }
  if (failed_before != failed_files_.end()) return failed_before->second.get();
  auto failed = std::make_unique<FailedFile>(path_of(number), std::move(error));
  return failed_files_.emplace(number, std::move(failed)).first->second.get();
}

Status DataFiles::open_now(uint32_t number) {
  if (number >= kFilesMax || open_files_[number].load(std::memory_order_acquire) != nullptr) {
    return {};
  }
  return file(number)->size().status();
}

Status DataFiles::make(os::File& file, uint64_t bytes_min, uint64_t* bytes) {
  if (Status status = file.lock_exclusive(); !status.ok()) return status;
  for (;;) {
    Status status = file.allocate(0, *bytes);
    if (status.ok()) break;
    if (!status.is(StatusCode::kNoSpace) || *bytes <= bytes_min) return status;
    // What a failed attempt took goes back first.
    if (Status cut = file.truncate(0); !cut.ok()) return cut;
    *bytes = std::max(bytes_min, align_up(*bytes / 2, os::kBlockBytes));
  }
  if (Status status = file.sync_data(); !status.ok()) return status;
  return machine_.files->sync_directory(directory_);
}

Status DataFiles::create(uint32_t number, uint64_t bytes_min, uint64_t* bytes) {
  const std::string path = path_of(number);
  bool in_the_way = false;
  {
    os::MutexLock lock(open_mutex_);
    in_the_way = left_over_.contains(number);
  }
  if (in_the_way) {
    const Status status = machine_.files->remove(path);
    if (!status.ok() && !status.is_not_found()) return status;
    os::MutexLock lock(open_mutex_);
    left_over_.erase(number);
  }
  auto file = machine_.files->open_file(
      path,
      {.create = true, .exclusive = true, .direct = direct_, .locks = true, .in_place = true});
  if (!file.ok()) return file.status();
  if (Status status = make(**file, bytes_min, bytes); !status.ok()) {
    file->reset();
    if (!machine_.files->remove(path).ok()) {
      os::MutexLock lock(open_mutex_);
      left_over_.insert(number);
    }
    return status;
  }
  {
    os::MutexLock lock(open_mutex_);
    keep(number, *std::move(file));
  }
  if (machine_.events != nullptr) machine_.events->post(DataFileCreated{number, *bytes});
  return {};
}

DataFile* DataFiles::keep(uint32_t number, std::unique_ptr<os::File> file) {
  std::unique_ptr<DataFile>& owned = owned_[number];
  if (owned == nullptr) owned = std::make_unique<DataFile>(path_of(number));
  owned->open(std::move(file));
  if (files_end_.load(std::memory_order_relaxed) <= number) files_end_.store(number + 1);
  open_files_[number].store(owned.get(), std::memory_order_release);
  return owned.get();
}

Status DataFiles::remove(uint32_t number) {
  uint64_t bytes = 0;
  if (machine_.events != nullptr) bytes = file(number)->size().ok() ? *file(number)->size() : 0;
  os::MutexLock syncing(sync_mutex_);
  os::MutexLock lock(open_mutex_);
  if (Status status = machine_.files->remove(path_of(number)); !status.ok()) return status;
  DataFile* const file = open_files_[number].exchange(nullptr, std::memory_order_acq_rel);
  written_[number].store(false, std::memory_order_relaxed);
  if (file != nullptr) file->close();
  if (machine_.events != nullptr) machine_.events->post(DataFileRemoved{number, bytes});
  return {};
}

void DataFiles::close() {
  os::MutexLock lock(open_mutex_);
  for (const auto& [number, file] : owned_) {
    open_files_[number].store(nullptr, std::memory_order_release);
    file->close();
  }
}

void DataFiles::mark_written(uint32_t number) {
  if (number < kFilesMax) {
    written_[number].store(true, std::memory_order_release);
  } else if (options_.devices != nullptr) {
    options_.devices->mark_written(number - kFilesMax);
  }
}

Status DataFiles::sync() {
  os::MutexLock lock(sync_mutex_);
  if (!sync_error_.ok()) return sync_error_;
  if (options_.devices != nullptr) {
    if (Status status = options_.devices->sync(); !status.ok()) {
      return sync_error_ = std::move(status);
    }
  }
  const uint32_t end = files_end_.load(std::memory_order_acquire);
  for (uint32_t number = 0; number < end; ++number) {
    // Cleared before the sync: a write that completes during it is marked again.
    if (!written_[number].exchange(false, std::memory_order_acq_rel)) continue;
    DataFile* const file = open_files_[number].load(std::memory_order_acquire);
    if (file == nullptr) continue;
    if (Status status = file->sync_data(); !status.ok()) return sync_error_ = std::move(status);
  }
  return {};
}

}  // namespace hawthorn::space
