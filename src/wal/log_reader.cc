#include "wal/log_reader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/bytes.h"

namespace hawthorn::wal {

namespace {

constexpr size_t kWindowBytesMin = size_t{2} << 20;
constexpr size_t kRequestBytes = size_t{512} << 10;

}  // namespace

struct LogReader::Window {
  Window(size_t headroom, size_t size)
      : memory(static_cast<char*>(std::aligned_alloc(os::kBlockBytes, headroom + size))),
        data(memory + headroom) {}
  ~Window() {
    static_cast<void>(group.wait());  // the requests refer to the memory
    std::free(memory);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  Lsn end() const { return start + filled; }
  bool holds(Lsn lsn, size_t size) const { return lsn >= first && lsn + size <= end(); }
  const char* at(Lsn lsn) const { return data + (static_cast<int64_t>(lsn - start)); }

  char* const memory;
  char* const data;
  Lsn first = 0;  // below start by what was copied into the headroom
  Lsn start = 0;
  size_t filled = 0;
  Status status;  // of opening its files
  std::vector<std::unique_ptr<os::File>> files;
  os::IoGroup group;
};

LogReader::LogReader(const LogDirectory& directory, std::vector<uint64_t> segments, size_t size_max)
    : directory_(directory),
      segments_(std::move(segments)),
      headroom_(align_up(size_max, os::kBlockBytes)),
      window_bytes_(std::max(kWindowBytesMin, 2 * headroom_)),
      current_(std::make_unique<Window>(headroom_, window_bytes_)),
      ahead_(std::make_unique<Window>(headroom_, window_bytes_)) {}

LogReader::~LogReader() = default;

bool LogReader::present(uint64_t segment) const {
  return std::binary_search(segments_.begin(), segments_.end(), segment);
}

std::optional<uint64_t> LogReader::next_present(uint64_t segment) const {
  const auto found = std::lower_bound(segments_.begin(), segments_.end(), segment);
  return found == segments_.end() ? std::nullopt : std::optional(*found);
}

Lsn LogReader::end() const {
  return segments_.empty() ? 0 : (segments_.back() + 1) * directory_.segment_bytes();
}

void LogReader::forget() {
  for (Window* window : {current_.get(), ahead_.get()}) {
    static_cast<void>(window->group.wait());
    window->filled = 0;
    window->first = window->start;
  }
}

void LogReader::forget_segment(uint64_t number) {
  forget();
  std::erase(segments_, number);
}

void LogReader::set_segments(std::vector<uint64_t> numbers) {
  forget();
  segments_ = std::move(numbers);
}

Status LogReader::view(Lsn lsn, size_t size, const char** bytes) {
  HAWTHORN_ASSERT(size <= headroom_);
  *bytes = nullptr;
  if (!current_->holds(lsn, size)) {
    const bool near = lsn >= current_->first && lsn < current_->end();
    // A window that is not full ends where a segment is missing: there is nothing to be read.
    if (near && current_->filled < window_bytes_) return Status();
    if (!near && !present(directory_.segment_of(lsn))) return Status();
    const bool next = near || (current_->filled != 0 && lsn == current_->end());
    if (Status s = next ? advance(lsn) : load(lsn / os::kBlockBytes * os::kBlockBytes); !s.ok()) {
      return s;
    }
    if (!current_->holds(lsn, size)) return Status();
  }
  *bytes = current_->at(lsn);
  return Status();
}

void LogReader::start(Window& window, Lsn from) {
  static_cast<void>(window.group.wait());
  window.files.clear();
  window.first = window.start = from;
  window.filled = 0;
  window.status = Status();
  const size_t segment_bytes = directory_.segment_bytes();
  std::vector<os::IoRequest> requests;
  while (window.filled < window_bytes_) {
    const uint64_t number = directory_.segment_of(window.end());
    const uint64_t offset = window.end() % segment_bytes;
    if (!present(number)) break;
    if (window.files.empty() || offset == 0) {
      Result<std::unique_ptr<os::File>> file = directory_.open_segment(number, false);
      if (!file.ok()) {
        window.status = file.status();
        break;
      }
      window.files.push_back(std::move(*file));
    }
    const size_t size = static_cast<size_t>(
        std::min<uint64_t>({window_bytes_ - window.filled, segment_bytes - offset, kRequestBytes}));
    requests.push_back({.op = os::IoRequest::Op::kRead,
                        .file = window.files.back().get(),
                        .offset = offset,
                        .data = window.data + window.filled,
                        .size = size,
                        .group = &window.group});
    window.filled += size;
  }
  if (!requests.empty()) directory_.machine().io->submit(requests);
}

Status LogReader::load(Lsn from) {
  if (current_->memory == nullptr || ahead_->memory == nullptr) {
    return Status(StatusCode::kOutOfMemory, "no memory to read the log");
  }
  start(*current_, from);
  Status status = current_->group.wait();
  if (status.ok()) status = current_->status;
  if (!status.ok()) current_->filled = 0;
  ahead_->first = ahead_->start = 0;
  if (status.ok() && current_->filled == window_bytes_) start(*ahead_, current_->end());
  return status;
}

Status LogReader::advance(Lsn from) {
  if (ahead_->start != current_->end()) start(*ahead_, current_->end());
  Status status = ahead_->group.wait();
  if (status.ok()) status = ahead_->status;
  if (!status.ok()) {
    ahead_->first = ahead_->start = 0;
    ahead_->filled = 0;
    return status;
  }
  const size_t rest = current_->end() - from;
  HAWTHORN_ASSERT(rest <= headroom_);  // less than the view that was asked for
  std::memcpy(ahead_->data - rest, current_->at(from), rest);
  ahead_->first = ahead_->start - rest;
  std::swap(current_, ahead_);
  if (current_->filled == window_bytes_) start(*ahead_, current_->end());
  return Status();
}

}  // namespace hawthorn::wal
