#include "db/copy_source.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "db/copy_devices.h"
#include "db/copy_extents.h"
#include "db/copy_reader.h"
#include "db/impl.h"
#include "db/manifest_files.h"
#include "db/manifest_image.h"
#include "format/backup_layout.h"
#include "os/file.h"
#include "os/test_point.h"
#include "space/device_image.h"
#include "wal/log_directory.h"

namespace hawthorn::db {
namespace {

constexpr uint64_t kPartBytes = format::kBackupPartBytesMax;

// Keeps the moment while it is being copied.
class Pinned {
 public:
  explicit Pinned(Publisher* publisher) : publisher_(publisher) {}
  ~Pinned() {
    if (pin_ != 0) publisher_->unpin(pin_);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  Result<Moment> take() { return publisher_->pin(&pin_); }
  void release_log() { publisher_->release_log(pin_); }
  Status check() const {
    if (publisher_->still_pinned(pin_)) return {};
    return Status(StatusCode::kNoSpace,
                  "the disk of the database is full, so that what the copy had not read yet was "
                  "given to writers: the copy was given up");
  }

 private:
  Publisher* const publisher_;
  uint64_t pin_ = 0;
};

// [from, to) of a file, without marks.
std::vector<CopyPart> parts_of(uint64_t from, uint64_t to) {
  std::vector<CopyPart> parts;
  for (; from < to; from += parts.back().bytes) {
    parts.push_back({from, static_cast<uint32_t>(std::min(kPartBytes, to - from)), {}});
  }
  return parts;
}

class Copier {
 public:
  Copier(Db::Impl& db, CopySink& sink, CopyPace& pace)
      : db_(db),
        sink_(sink),
        pace_(pace),
        pinned_(db.publisher_.get()),
        reader_(db.machine_),
        uuid_low_(db.machine_.random->next()),
        uuid_high_(db.machine_.random->next()),
        may_clone_(db.devices_ == nullptr) {}

  Status run();

 private:
  Status take_moment();
  Status copy_log();
  Status copy_segment(const wal::LogDirectory& directory, uint64_t number, uint64_t from,
                      uint64_t to);
  Status copy_data();
  Status copy_data_file(std::span<const format::ExtentAddress> ranges, MarkedExtents& marked);
  Status copy_device(const format::DeviceRecord& image,
                     std::span<const format::ExtentAddress> ranges, MarkedExtents& marked);
  Status copy_ranges(os::File& file, std::span<const format::ExtentAddress> ranges,
                     MarkedExtents& marked);
  Status clone_ranges(os::File& file, std::span<const format::ExtentAddress> ranges);
  Status copy_manifest();
  Status put_file(std::string_view name, std::string_view bytes);
  Status put_bytes(std::string_view bytes);
  Status copy_parts(os::File& file, std::span<const CopyPart> parts);

  Db::Impl& db_;
  CopySink& sink_;
  CopyPace& pace_;
  Pinned pinned_;
  CopyReader reader_;
  Moment moment_;
  // Of the copy, which is a database of its own: two of them must not be taken for one.
  const uint64_t uuid_low_;
  const uint64_t uuid_high_;
  std::shared_ptr<os::DataKeys> keys_;  // null: not encrypted
  std::string key_file_;
  uint64_t log_bytes_ = 0;  // that were copied
  // Data files alone: a device is none, or lies on a file system of its own.
  bool may_clone_;
};

Status Copier::copy_parts(os::File& file, std::span<const CopyPart> parts) {
  return reader_.read(file, parts, [this](const CopyPart& part, std::span<const char> data) {
    HAWTHORN_TEST_POINT("copy.part_read");
    if (Status s = pinned_.check(); !s.ok()) return s;
    if (Status s = sink_.write(part, data); !s.ok()) return s;
    return pace_.count(part.bytes);
  });
}

// To the byte: what stands behind `to` in its block was committed later.
Status Copier::copy_segment(const wal::LogDirectory& directory, uint64_t number, uint64_t from,
                            uint64_t to) {
  const uint64_t begin = number * directory.segment_bytes();
  Result<std::unique_ptr<os::File>> file = directory.open_segment(number, false);
  // A segment that was given to writers may be gone.
  if (Status s = pinned_.check(); !s.ok()) return s;
  if (!file.ok()) return file.status();
  if (Status s = sink_.begin(wal::segment_name(number), directory.segment_bytes(), true); !s.ok()) {
    return s;
  }
  const std::vector<CopyPart> parts =
      parts_of((from - begin) / os::kBlockBytes * os::kBlockBytes, to - begin);
  log_bytes_ += to - from;
  if (Status s = copy_parts(**file, parts); !s.ok()) return s;
  return sink_.end();
}

// Of each segment what lies in an epoch, above the trim and below the end.
Status Copier::copy_log() {
  const wal::LogDirectory directory(db_.machine_, db_.path_, db_.log_options_);
  const uint64_t segment_bytes = directory.segment_bytes();
  uint64_t next = 0;
  for (const format::LogEpoch& epoch : moment_.state.epochs) {
    const format::Lsn from = std::max(epoch.start, moment_.state.log_trim);
    const format::Lsn to = std::min(epoch.end, moment_.end);
    if (from >= to) continue;
    // Each epoch begins in a segment of its own.
    for (uint64_t number = std::max(next, from / segment_bytes); number * segment_bytes < to;
         next = ++number) {
      const uint64_t begin = std::max(from, number * segment_bytes);
      const uint64_t end = std::min(to, (number + 1) * segment_bytes);
      if (Status s = copy_segment(directory, number, begin, end); !s.ok()) return s;
    }
  }
  return {};
}

// kNotSupported: some of them are to be copied, and what was cloned may be copied once more.
Status Copier::clone_ranges(os::File& file, std::span<const format::ExtentAddress> ranges) {
  for (const format::ExtentAddress& range : ranges) {
    const uint64_t bytes = uint64_t{range.blocks} * os::kBlockBytes;
    if (Status s = sink_.clone(file, uint64_t{range.block} * os::kBlockBytes, bytes); !s.ok())
      return s;
    HAWTHORN_TEST_POINT("copy.cloned");
    if (Status s = pinned_.check(); !s.ok()) return s;
  }
  return {};
}

Status Copier::copy_data_file(std::span<const format::ExtentAddress> ranges,
                              MarkedExtents& marked) {
  const uint32_t number = ranges.front().file;
  const format::ExtentAddress& last = ranges.back();
  const uint64_t bytes = (uint64_t{last.block} + last.blocks) * os::kBlockBytes;
  if (Status s = sink_.begin(space::data_file_name(number), bytes, false); !s.ok()) return s;
  return copy_ranges(*db_.space_->file(number), ranges, marked);
}

// Also one in which nothing is in use.
Status Copier::copy_device(const format::DeviceRecord& image,
                           std::span<const format::ExtentAddress> ranges, MarkedExtents& marked) {
  const uint64_t bytes = image.blocks * os::kBlockBytes;
  if (Status s = sink_.begin(image.path, bytes, false); !s.ok()) return s;
  if (Status s = put_bytes(image_labels(image, uuid_low_, uuid_high_)); !s.ok()) return s;
  return copy_ranges(*db_.devices_->file(image.index), ranges, marked);
}

// And ends the file.
Status Copier::copy_ranges(os::File& file, std::span<const format::ExtentAddress> ranges,
                           MarkedExtents& marked) {
  std::vector<CopyPart> parts;
  for (const format::ExtentAddress& range : ranges) marked.add_parts(range, &parts);
  if (may_clone_) {
    Status cloned = clone_ranges(file, ranges);
    if (cloned.ok()) return sink_.end();
    if (!cloned.is(StatusCode::kNotSupported)) return cloned;
    may_clone_ = false;
  }
  std::erase_if(parts,
                [this](const CopyPart& part) { return part.marked() && sink_.take_known(part); });
  if (Status s = copy_parts(file, parts); !s.ok()) return s;
  return sink_.end();
}

Status Copier::copy_data() {
  const std::vector<format::ExtentAddress> ranges = db_.space_->used_ranges();
  MarkedExtents marked(moment_);
  size_t next = 0;
  const auto take_file = [&](uint32_t number) {
    const size_t begin = next;
    while (next < ranges.size() && ranges[next].file == number) ++next;
    return std::span(ranges).subspan(begin, next - begin);
  };
  if (db_.devices_ != nullptr) {
    uint64_t bytes = 0;
    for (const format::ExtentAddress& range : ranges)
      bytes += uint64_t{range.blocks} * os::kBlockBytes;
    moment_.state.devices =
        image_records(db_.devices_->records(0), ranges, room_for_new(log_bytes_, bytes));
    for (const format::DeviceRecord& image : moment_.state.devices) {
      const auto used = take_file(format::kDeviceFilesFirst + image.index);
      if (Status s = copy_device(image, used, marked); !s.ok()) return s;
    }
  }
  while (next < ranges.size()) {
    if (Status s = copy_data_file(take_file(ranges[next].file), marked); !s.ok()) return s;
  }
  return marked.all_used();
}

Status Copier::put_file(std::string_view name, std::string_view bytes) {
  if (Status s = sink_.begin(name, bytes.size(), false); !s.ok()) return s;
  if (Status s = put_bytes(bytes); !s.ok()) return s;
  return sink_.end();
}

Status Copier::put_bytes(std::string_view bytes) {
  for (const CopyPart& part : parts_of(0, bytes.size())) {
    if (Status s = sink_.write(part, bytes.substr(part.offset, part.bytes)); !s.ok()) return s;
    if (Status s = pace_.count(part.bytes); !s.ok()) return s;
  }
  return {};
}

Status Copier::copy_manifest() {
  const Result<ManifestImage> image = make_manifest_image(
      *db_.machine_.random, moment_.state, moment_.features, uuid_low_, uuid_high_, keys_.get());
  if (!image.ok()) return image.status();
  if (Status s = put_file(image->name, image->manifest); !s.ok()) return s;
  return put_file(kSuperblockName, image->superblock);
}

// While the keys' mutex is held the data keys stay as they are, so that the copy has those with
// which what it copies is sealed: all up to the moment, and none that would be missing.
Status Copier::take_moment() {
  os::MutexLock lock(db_.key_mutex_);
  if (db_.key_store_ != nullptr) {
    keys_ = std::make_shared<os::DataKeys>();
    Result<std::string> file = db_.key_store_->copy_for(uuid_low_, uuid_high_, keys_.get());
    if (!file.ok()) return file.status();
    key_file_ = std::move(*file);
  }
  Result<Moment> moment = pinned_.take();
  if (!moment.ok()) return moment.status();
  moment_ = std::move(*moment);
  // The copy's log ends here, as the manifest says: nobody can cut it off unnoticed, nor let it go
  // on with what the source has logged since.
  if (!moment_.state.epochs.empty()) {
    format::LogEpoch& epoch = moment_.state.epochs.back();
    epoch.end = std::min(epoch.end, moment_.end);
  }
  return {};
}

Status Copier::run() {
  if (Status s = reader_.prepare(); !s.ok()) return s;
  if (Status s = take_moment(); !s.ok()) return s;
  HAWTHORN_TEST_POINT("copy.pinned");
  if (keys_ != nullptr) {
    if (Status s = sink_.seal_with(keys_); !s.ok()) return s;
    if (Status s = put_file(format::kKeyFileName, key_file_); !s.ok()) return s;
  }
  if (moment_.end > db_.log_->trimmed() && moment_.end > 0) {
    if (Status s = db_.log_->wait_durable(moment_.end - 1); !s.ok()) return s;
  }
  if (Status s = copy_log(); !s.ok()) return s;
  pinned_.release_log();
  HAWTHORN_TEST_POINT("copy.log_copied");
  if (Status s = copy_data(); !s.ok()) return s;
  // What comes now is in memory.
  return copy_manifest();
}

}  // namespace

Status copy_database(Db::Impl& db, CopySink& sink, CopyPace& pace) {
  if (Status s = db.writable(); !s.ok()) return s;
  Copier copier(db, sink, pace);
  return copier.run();
}

}  // namespace hawthorn::db
