#include "db/events.h"

#include <exception>
#include <string>
#include <utility>

namespace hawthorn::db {

namespace {
thread_local const Events* delivering = nullptr;

template <typename... Calls>
struct Overloaded : Calls... {
  using Calls::operator()...;
};

void tell(EventListener& to, const os::Event& event) {
  std::visit(Overloaded{
                 [&](const FlushBegun& e) { to.on_flush_begun(e); },
                 [&](const FlushCompleted& e) { to.on_flush_completed(e); },
                 [&](const LogSegmentBegun& e) { to.on_log_segment_begun(e); },
                 [&](const LogWaited& e) { to.on_log_waited(e); },
                 [&](const WriteStallBegun& e) { to.on_write_stall_begun(e); },
                 [&](const WriteStallEnded& e) { to.on_write_stall_ended(e); },
                 [&](const BackgroundError& e) { to.on_background_error(e); },
                 [&](const DamageFound& e) { to.on_damage_found(e); },
                 [&](const DataFileCreated& e) { to.on_data_file_created(e); },
                 [&](const DataFileRemoved& e) { to.on_data_file_removed(e); },
                 [&](const TreeChanged& e) { to.on_tree_changed(e); },
                 [&](const SnapshotChanged& e) { to.on_snapshot_changed(e); },
                 [&](const ManifestRewritten& e) { to.on_manifest_rewritten(e); },
                 [&](const Opened& e) { to.on_opened(e); },
                 [&](const Closed& e) { to.on_closed(e); },
             },
             event);
}

// Of the heap, about: keys are what may be long.
size_t bytes_of(const os::Event& event) {
  const auto text = Overloaded{
      [](const FlushBegun& e) { return e.low_key.size(); },
      [](const FlushCompleted& e) { return e.low_key.size() + e.status.message().size(); },
      [](const LogWaited& e) { return e.status.message().size(); },
      [](const BackgroundError& e) { return e.status.message().size(); },
      [](const DamageFound& e) {
        return e.low_key.size() + e.high_key.value_or("").size() + e.status.message().size();
      },
      [](const TreeChanged& e) { return e.name.size() + e.former_name.size(); },
      [](const SnapshotChanged& e) { return e.name.size(); },
      [](const auto&) { return size_t{0}; },
  };
  return sizeof(os::Event) + std::visit(text, event);
}

// What there are few of, and nobody must miss.
bool always_told(const os::Event& event) {
  return std::holds_alternative<Closed>(event) || std::holds_alternative<BackgroundError>(event);
}
}  // namespace

Events::Events(Listeners listeners, std::function<void(LogLevel, std::string_view)> log)
    : listeners_(std::move(listeners)), log_(std::move(log)) {}

Events::~Events() { stop(); }

Status Events::start() {
  return thread_.start("hw-events", [this] { run(); }, true);
}

void Events::post(os::Event event) {
  const size_t bytes = bytes_of(event);
  {
    os::MutexLock lock(mutex_);
    if (stopping_) return;
    uint64_t& dropped = queue_.empty() ? dropped_first_ : queue_.back().dropped;
    const bool full = queue_.size() >= kEventsMax || queue_bytes_ + bytes > kEventBytesMax;
    if (full && !always_told(event)) {
      ++dropped;
      return;
    }
    try {
      queue_.push_back({std::move(event), bytes});
    } catch (const std::bad_alloc&) {
      ++dropped;
      return;
    }
    queue_bytes_ += bytes;
  }
  wake_.notify_one();
}

Status Events::pause() {
  if (delivering == this) {
    return Status(StatusCode::kInvalidArgument,
                  "a callback of an event cannot close the database that tells it");
  }
  os::MutexLock lock(mutex_);
  paused_ = true;
  while (calling_) idle_.wait(mutex_);
  return {};
}

void Events::resume() {
  {
    os::MutexLock lock(mutex_);
    paused_ = false;
  }
  wake_.notify_one();
}

void Events::stop() {
  {
    os::MutexLock lock(mutex_);
    stopping_ = true;
    paused_ = false;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Events::run() {
  delivering = this;
  for (;;) {
    Waiting next;
    uint64_t dropped = 0;
    {
      os::MutexLock lock(mutex_);
      calling_ = false;
      idle_.notify_all();
      while (paused_ || (queue_.empty() && dropped_first_ == 0 && !stopping_)) wake_.wait(mutex_);
      if (queue_.empty() && dropped_first_ == 0) return;
      calling_ = true;
      dropped = std::exchange(dropped_first_, 0);
      if (dropped == 0) {
        next = std::move(queue_.front());
        queue_.pop_front();
        queue_bytes_ -= next.bytes;
        dropped_first_ = next.dropped;
      }
    }
    if (dropped > 0) {
      call([dropped](EventListener& to) { to.on_events_dropped(dropped); });
    } else {
      deliver(next);
    }
  }
}

void Events::deliver(Waiting& waiting) {
  if (complete) complete(waiting.event);
  call([&](EventListener& to) { tell(to, waiting.event); });
}

template <typename Call>
void Events::call(Call call) {
  for (const std::shared_ptr<EventListener>& listener : listeners_) {
    std::string what;
    try {
      call(*listener);
      continue;
    } catch (const std::exception& e) {
      what = e.what();
    } catch (...) {
      what = "something that is no std::exception";
    }
    if (log_) log_(LogLevel::kWarning, "an event listener threw " + what);
  }
}

void WriteStalls::enter(const os::Machine& machine, uint64_t used_bytes, uint64_t quota_bytes) {
  if (machine.events == nullptr) return;
  os::MutexLock lock(mutex_);
  ++writers_;
  if (inside_++ > 0) return;
  since_us_ = machine.clock->monotonic_us();
  machine.events->post(WriteStallBegun{used_bytes, quota_bytes});
}

void WriteStalls::leave(const os::Machine& machine) {
  if (machine.events == nullptr) return;
  os::MutexLock lock(mutex_);
  if (--inside_ > 0) return;
  machine.events->post(
      WriteStallEnded{machine.clock->monotonic_us() - since_us_, std::exchange(writers_, 0)});
}

}  // namespace hawthorn::db
