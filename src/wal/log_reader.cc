#include "wal/log_reader.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/bytes.h"

namespace hawthorn::wal {

namespace {

constexpr size_t kWindowBytes = size_t{4} << 20;

}  // namespace

LogReader::LogReader(const LogDirectory& directory, std::vector<uint64_t> segments, size_t size_max)
    : directory_(directory),
      segments_(std::move(segments)),
      capacity_(align_up(std::max(kWindowBytes, 2 * size_max) + os::kBlockBytes, os::kBlockBytes)),
      window_(static_cast<char*>(std::aligned_alloc(os::kBlockBytes, capacity_))) {}

LogReader::~LogReader() { std::free(window_); }

bool LogReader::present(uint64_t segment) const {
  return std::binary_search(segments_.begin(), segments_.end(), segment);
}

void LogReader::forget_segment(uint64_t number) {
  std::erase(segments_, number);
  if (opened_ == number) file_.reset();
  filled_ = 0;
}

Lsn LogReader::end() const {
  return segments_.empty() ? 0 : (segments_.back() + 1) * directory_.segment_bytes();
}

Status LogReader::view(Lsn lsn, size_t size, const char** bytes) {
  *bytes = nullptr;
  HAWTHORN_ASSERT(size <= capacity_ - os::kBlockBytes);
  if (lsn < start_ || lsn + size > start_ + filled_) {
    // A window that ends where a segment is missing needs no second look.
    const bool known = lsn >= start_ && lsn < start_ + filled_ && filled_ < capacity_;
    if (known || !present(directory_.segment_of(lsn))) return Status();
    if (Status s = fill(lsn / os::kBlockBytes * os::kBlockBytes); !s.ok()) return s;
    if (lsn + size > start_ + filled_) return Status();
  }
  *bytes = window_ + (lsn - start_);
  return Status();
}

Status LogReader::fill(Lsn from) {
  if (window_ == nullptr) return Status(StatusCode::kOutOfMemory, "no memory to read the log");
  start_ = from;
  filled_ = 0;
  const size_t segment_bytes = directory_.segment_bytes();
  while (filled_ < capacity_) {
    const Lsn at = start_ + filled_;
    const uint64_t number = directory_.segment_of(at);
    if (!present(number)) return Status();
    const uint64_t offset = at % segment_bytes;
    const size_t size =
        static_cast<size_t>(std::min<uint64_t>(capacity_ - filled_, segment_bytes - offset));
    if (Status s = read(number, offset, {window_ + filled_, size}); !s.ok()) {
      filled_ = 0;
      return s;
    }
    filled_ += size;
  }
  return Status();
}

Status LogReader::read(uint64_t number, uint64_t offset, std::span<char> data) {
  if (file_ == nullptr || opened_ != number) {
    file_.reset();
    Result<std::unique_ptr<os::File>> file = directory_.open_segment(number, false);
    if (!file.ok()) return file.status();
    file_ = std::move(*file);
    opened_ = number;
  }
  return file_->read_at(offset, data);
}

}  // namespace hawthorn::wal
