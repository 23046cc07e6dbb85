#include "tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace hawthorn::tools {
namespace {

constexpr uint32_t kCallsPerLook = 64;             // between two looks at the clock
constexpr std::chrono::milliseconds kShort(2000);  // what takes no longer shows nothing

std::string format(const char* pattern, double number, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof(text), pattern, number, unit);
  return text;
}

// Three digits and the largest of the units, each 1,000 times the one before.
std::string with_unit(double number, const char* const (&units)[5]) {
  size_t unit = 0;
  while (number >= 999.5 && unit + 1 < 5) {
    number /= 1000;
    ++unit;
  }
  if (unit == 0 || number >= 99.95) return format("%.0f %s", number, units[unit]);
  return format(number >= 9.995 ? "%.1f %s" : "%.2f %s", number, units[unit]);
}

}  // namespace

std::string short_count(double count) { return with_unit(count, {"", "k", "M", "G", "T"}); }

std::string short_bytes(double bytes) { return with_unit(bytes, {"B", "kB", "MB", "GB", "TB"}); }

std::string short_time(double seconds) {
  const auto whole = static_cast<unsigned long long>(std::clamp(seconds, 0.0, 1e9));
  char text[48];
  if (whole >= 3600) {
    std::snprintf(text, sizeof(text), "%llu:%02llu:%02llu", whole / 3600, whole / 60 % 60,
                  whole % 60);
  } else {
    std::snprintf(text, sizeof(text), "%llu:%02llu", whole / 60, whole % 60);
  }
  return text;
}

Progress::Progress(std::string_view verb, Unit unit, ProgressShow show)
    : verb_(verb),
      unit_(unit),
      terminal_(::isatty(STDERR_FILENO) == 1),
      asked_for_(show == ProgressShow::kAlways),
      shown_(show != ProgressShow::kNever && (asked_for_ || terminal_)),
      start_(Clock::now()),
      next_(start_ + first_after()) {}

std::chrono::milliseconds Progress::period() const {
  return std::chrono::milliseconds(terminal_ ? 200 : 1000);
}

std::chrono::milliseconds Progress::first_after() const { return asked_for_ ? period() : kShort; }

Progress::~Progress() {
  if (line_open_) std::fputs("\r\x1b[K", stderr);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::look(uint64_t done, uint64_t total) {
  // Containers are large: each call is worth a look.
  calls_until_look_ = unit_ == Unit::kContainers ? 1 : kCallsPerLook;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + period();

  const double elapsed = seconds();
  const double rate = static_cast<double>(done) / elapsed;
  const auto amount = [this](double number) {
    if (unit_ == Unit::kBytes) return short_bytes(number);
    return short_count(number) + (unit_ == Unit::kEntries ? "entries" : "containers");
  };
  std::string line = verb_ + " " + amount(static_cast<double>(done));
  if (total > 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    line += format(" (%.0f%%%s)", share * 100, "");
  }
  line += ", " + amount(rate) + "/s, " + short_time(elapsed);
  if (total > done && done > 0) {
    line += ", " + short_time(static_cast<double>(total - done) / rate) + " left";
  }
  if (terminal_) {
    std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
    line_open_ = true;
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::fflush(stderr);
}

PolledProgress::PolledProgress(std::string_view verb, Progress::Unit unit, ProgressShow show,
                               std::function<Point()> ask)
    : progress_(verb, unit, show), ask_(std::move(ask)) {
  if (progress_.shown()) thread_ = std::thread([this] { run(); });
}

PolledProgress::~PolledProgress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void PolledProgress::run() {
  std::unique_lock lock(mutex_);
  for (auto wait = progress_.first_after(); !ends_.wait_for(lock, wait, [this] { return ended_; });
       wait = progress_.period()) {
    const Point point = ask_();
    progress_.update_step(point.done, point.total);
  }
}

}  // namespace hawthorn::tools
