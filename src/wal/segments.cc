#include "wal/segments.h"

#include <utility>

#include "os/posix_error.h"

namespace hawthorn::wal {

using os::MutexLock;

Status Segments::start(uint64_t first, uint64_t keep) {
  MutexLock names(names_mutex_);
  Result<std::vector<uint64_t>> numbers = directory_.segments();
  if (!numbers.ok()) return numbers.status();
  std::vector<uint64_t> unneeded;
  for (const uint64_t number : *numbers) {
    if (number >= first) {
      // Of an epoch that was started and never recorded, or made ready by one that ended before it
      // got here.
      if (Status s = directory_.remove(segment_name(number)); !s.ok()) return s;
    } else if (number < keep) {
      unneeded.push_back(number);
    } else {
      MutexLock lock(map_mutex_);
      segments_[number] = nullptr;
    }
  }
  end_number_.store(first, std::memory_order_release);
  std::vector<std::shared_ptr<Segment>> ready;
  for (const uint64_t number : unneeded) {
    if (ready.size() > kSparesMax) {
      if (Status s = directory_.remove(segment_name(number)); !s.ok()) return s;
      continue;
    }
    Result<std::shared_ptr<Segment>> segment = recycle(number, first + ready.size());
    if (!segment.ok()) return segment.status();
    if (*segment != nullptr) ready.push_back(std::move(*segment));
  }
  if (Status s = directory_.files().sync_directory(directory_.path()); !s.ok()) return s;
  for (std::shared_ptr<Segment>& segment : ready) publish(std::move(segment));
  if (end_number() > first) return directory_.remove(kNewName);
  if (Status s = directory_.create_segment(first); !s.ok()) {
    return s.is(StatusCode::kNoSpace) ? Status() : s;
  }
  Result<std::unique_ptr<os::File>> file = directory_.open_segment(first, true);
  if (!file.ok()) return file.status();
  publish(std::make_shared<Segment>(std::move(*file)));
  return Status();
}

std::shared_ptr<Segment> Segments::find(uint64_t number) const {
  MutexLock lock(map_mutex_);
  const auto found = segments_.find(number);
  return found == segments_.end() ? nullptr : found->second;
}

Status Segments::prepare(uint64_t number) {
  MutexLock names(names_mutex_);
  while (end_number() <= number) {
    const uint64_t next = end_number();
    if (Status s = directory_.create_segment(next); !s.ok()) return os::as_no_space(std::move(s));
    Result<std::unique_ptr<os::File>> file = directory_.open_segment(next, true);
    if (!file.ok()) return os::as_no_space(file.status());
    publish(std::make_shared<Segment>(std::move(*file)));
  }
  return Status();
}

Status Segments::trim(uint64_t below, uint64_t writing) {
  HAWTHORN_ASSERT(below <= writing);
  MutexLock names(names_mutex_);
  Unneeded unneeded;
  {
    MutexLock lock(map_mutex_);
    while (!segments_.empty() && segments_.begin()->first < below) {
      unneeded.insert(segments_.extract(segments_.begin()));
    }
  }
  if (unneeded.empty()) return Status();
  std::vector<std::shared_ptr<Segment>> ready;
  Status status = take_out(unneeded, writing, &ready);
  {
    MutexLock lock(map_mutex_);
    segments_.merge(unneeded);
  }
  // The new names must be durable before a byte is written under them: else a power loss could
  // leave records of the new number in a file that is still named after the old one (R9).
  const Status synced = directory_.files().sync_directory(directory_.path());
  if (!synced.ok()) return os::as_no_space(synced);
  recycled_count_.fetch_add(ready.size(), std::memory_order_relaxed);
  for (std::shared_ptr<Segment>& segment : ready) publish(std::move(segment));
  return os::as_no_space(std::move(status));
}

Status Segments::take_out(Unneeded& unneeded, uint64_t writing,
                          std::vector<std::shared_ptr<Segment>>* ready) {
  while (!unneeded.empty()) {
    auto& [number, segment] = *unneeded.begin();
    const uint64_t to = end_number() + ready->size();
    if (to - writing > kSparesMax) {
      if (Status s = directory_.remove(segment_name(number)); !s.ok()) return s;
    } else if (segment != nullptr) {
      if (Status s = rename_or_remove(number, to, segment); !s.ok()) return s;
      if (segment != nullptr) ready->push_back(std::move(segment));
    } else {
      Result<std::shared_ptr<Segment>> recycled = recycle(number, to);
      if (!recycled.ok()) return recycled.status();
      if (*recycled != nullptr) ready->push_back(std::move(*recycled));
    }
    unneeded.erase(unneeded.begin());
  }
  return Status();
}

void Segments::close() {
  MutexLock names(names_mutex_);
  MutexLock lock(map_mutex_);
  segments_.clear();
}

Status Segments::remove_all() {
  MutexLock names(names_mutex_);
  Result<std::vector<uint64_t>> numbers = directory_.segments();
  if (!numbers.ok()) return numbers.status();
  for (const uint64_t number : *numbers) {
    if (Status s = directory_.remove(segment_name(number)); !s.ok()) return s;
  }
  return directory_.remove(kNewName);
}

Result<std::shared_ptr<Segment>> Segments::recycle(uint64_t from, uint64_t to) {
  Result<std::unique_ptr<os::File>> file = directory_.open_segment(from, true);
  if (!file.ok()) {
    if (file.status().is(StatusCode::kIoError)) return file.status();
    // Of another size, or locked by a process that is still about to die: of no use, and nobody
    // needs its bytes.
    if (Status s = directory_.remove(segment_name(from)); !s.ok()) return s;
    return std::shared_ptr<Segment>();
  }
  auto segment = std::make_shared<Segment>(std::move(*file));
  if (Status s = rename_or_remove(from, to, segment); !s.ok()) return s;
  return segment;
}

// A full disk may have no room for a name.
Status Segments::rename_or_remove(uint64_t from, uint64_t to, std::shared_ptr<Segment>& segment) {
  Status renamed = os::as_no_space(directory_.rename_segment(from, to));
  if (!renamed.is(StatusCode::kNoSpace)) return renamed;
  if (Status s = directory_.remove(segment_name(from)); !s.ok()) return s;
  segment = nullptr;
  return Status();
}

void Segments::publish(std::shared_ptr<Segment> segment) {
  MutexLock lock(map_mutex_);
  segments_[end_number()] = std::move(segment);
  end_number_.store(end_number() + 1, std::memory_order_release);
}

}  // namespace hawthorn::wal
