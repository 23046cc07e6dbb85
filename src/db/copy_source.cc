#include "db/copy_source.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "db/impl.h"
#include "db/manifest_files.h"
#include "os/test_point.h"
#include "wal/log_directory.h"

namespace hawthorn::db {
namespace {

constexpr size_t kBlock = os::kBlockBytes;

struct FreeBuffer {
  void operator()(char* buffer) const { std::free(buffer); }
};

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
                  "the disk of the database is full, so that the copy's extents were given to "
                  "writers: the copy was given up");
  }

 private:
  Publisher* const publisher_;
  uint64_t pin_ = 0;
};

class Copier {
 public:
  Copier(Db::Impl& db, CopySink& sink, CopyPace& pace)
      : db_(db),
        sink_(sink),
        pace_(pace),
        pinned_(db.publisher_.get()),
        buffer_(static_cast<char*>(std::aligned_alloc(kBlock, kCopyPieceBytes))) {}

  Status run(const std::string& stage, bool keep_stage);

 private:
  Status copy_log(const Moment& moment);
  Status copy_segment(const wal::LogDirectory& directory, uint64_t number, uint64_t from,
                      uint64_t to);
  Status copy_data();
  Status copy_manifest(Moment moment, const std::string& stage, bool keep_stage);
  Status copy_range(os::File& file, uint64_t from, uint64_t to);

  Db::Impl& db_;
  CopySink& sink_;
  CopyPace& pace_;
  Pinned pinned_;
  const std::unique_ptr<char, FreeBuffer> buffer_;
};

// from is a multiple of the block size; what is read is so, too, and what is written ends at `to`.
Status Copier::copy_range(os::File& file, uint64_t from, uint64_t to) {
  while (from < to) {
    const uint64_t border = (from / kCopyPieceBytes + 1) * kCopyPieceBytes;
    const auto size = static_cast<size_t>(std::min(border, to) - from);
    const size_t read = file.direct() ? align_up(size, kBlock) : size;
    if (Status s = file.read_at(from, {buffer_.get(), read}); !s.ok()) return s;
    HAWTHORN_TEST_POINT("copy.part_read");
    if (Status s = pinned_.check(); !s.ok()) return s;
    if (Status s = sink_.write(from, {buffer_.get(), size}); !s.ok()) return s;
    pace_.count(size);
    from += size;
  }
  return {};
}

Status Copier::copy_segment(const wal::LogDirectory& directory, uint64_t number, uint64_t from,
                            uint64_t to) {
  const uint64_t begin = number * directory.segment_bytes();
  Result<std::unique_ptr<os::File>> file = directory.open_segment(number, false);
  if (!file.ok()) return file.status();
  if (Status s = sink_.begin(wal::segment_name(number), directory.segment_bytes(), true); !s.ok()) {
    return s;
  }
  if (Status s = copy_range(**file, (from - begin) / kBlock * kBlock, to - begin); !s.ok()) {
    return s;
  }
  return sink_.end();
}

// Of each segment what lies in an epoch, above the trim and below the end.
Status Copier::copy_log(const Moment& moment) {
  const wal::LogDirectory directory(db_.machine_, db_.path_, db_.log_options_);
  const uint64_t segment_bytes = directory.segment_bytes();
  uint64_t next = 0;
  for (const format::LogEpoch& epoch : moment.state.epochs) {
    const format::Lsn from = std::max(epoch.start, moment.state.log_trim);
    const format::Lsn to = std::min(epoch.end, moment.end);
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

Status Copier::copy_data() {
  const std::vector<format::ExtentAddress> ranges = db_.space_->used_ranges();
  for (size_t i = 0; i < ranges.size();) {
    const uint32_t number = ranges[i].file;
    size_t end = i;
    while (end < ranges.size() && ranges[end].file == number) ++end;
    const format::ExtentAddress& last = ranges[end - 1];
    const uint64_t bytes = (uint64_t{last.block} + last.blocks) * kBlock;
    if (Status s = sink_.begin(space::data_file_name(number), bytes, false); !s.ok()) return s;
    for (; i < end; ++i) {
      const uint64_t from = uint64_t{ranges[i].block} * kBlock;
      const uint64_t to = from + uint64_t{ranges[i].blocks} * kBlock;
      if (Status s = copy_range(*db_.space_->file(number), from, to); !s.ok()) return s;
    }
    if (Status s = sink_.end(); !s.ok()) return s;
  }
  return {};
}

// A manifest of its own, with an identity of its own: two databases must not be taken for one.
Status Copier::copy_manifest(Moment moment, const std::string& stage, bool keep_stage) {
  LoadedManifest loaded;
  loaded.state = std::move(moment.state);
  loaded.features = moment.features;
  os::Machine machine = db_.machine_;
  machine.events = nullptr;
  Result<std::unique_ptr<Manifest>> made = Manifest::start(machine, stage, std::move(loaded), true);
  if (!made.ok()) return made.status();
  const uint64_t bytes = (*made)->bytes();
  const std::string name = manifest_name((*made)->number());
  made->reset();
  if (keep_stage) return {};
  os::FileSystem& files = *machine.files;
  for (const std::string& each : {name, std::string(kSuperblockName)}) {
    auto file = files.open_file(join(stage, each), {.read_only = true});
    if (!file.ok()) return file.status();
    const uint64_t size = each == name ? bytes : uint64_t{format::kSuperblockBytes};
    if (Status s = sink_.begin(each, size, false); !s.ok()) return s;
    if (Status s = copy_range(**file, 0, size); !s.ok()) return s;
    if (Status s = sink_.end(); !s.ok()) return s;
    file->reset();
    if (Status s = files.remove(join(stage, each)); !s.ok()) return s;
  }
  Status spare = files.remove(join(stage, kManifestSpareName));
  return spare.is_not_found() ? Status() : spare;
}

Status Copier::run(const std::string& stage, bool keep_stage) {
  if (buffer_ == nullptr) return Status(StatusCode::kOutOfMemory, "no memory for a copy's buffer");
  Result<Moment> moment = pinned_.take();
  if (!moment.ok()) return moment.status();
  if (moment->end > db_.log_->trimmed() && moment->end > 0) {
    if (Status s = db_.log_->wait_durable(moment->end - 1); !s.ok()) return s;
  }
  if (Status s = copy_log(*moment); !s.ok()) return s;
  pinned_.release_log();
  HAWTHORN_TEST_POINT("copy.log_copied");
  if (Status s = copy_data(); !s.ok()) return s;
  return copy_manifest(std::move(*moment), stage, keep_stage);
}

}  // namespace

Status copy_database(Db::Impl& db, CopySink& sink, CopyPace& pace, const std::string& stage,
                     bool keep_stage) {
  if (Status s = db.writable(); !s.ok()) return s;
  if (db.devices_ != nullptr) {
    return Status(StatusCode::kNotSupported,
                  db.path_ + ": copies of a database on devices are not supported; dump it");
  }
  Copier copier(db, sink, pace);
  return copier.run(stage, keep_stage);
}

}  // namespace hawthorn::db
