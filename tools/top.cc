#include "tools/top.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <thread>

#include "tools/progress.h"
#include "tools/stream.h"
#include "tools/watch.h"

namespace hawthorn::tools {
namespace {

constexpr size_t kLooks = 61;  // a minute of seconds
constexpr size_t kBarColumns = 30;
constexpr size_t kGraphColumns = 30;

double number(const Counters& counters, std::string_view name) {
  return static_cast<double>(counters.value(name).value_or(0));
}

// ---- What a page is made of

class Page {
 public:
  Page(std::span<const Counters> looks, size_t columns) : looks_(looks), columns_(columns) {}

  const Counters& now() const { return looks_.back(); }

  // In a second, by the last two looks or by all of them.
  double rate(std::string_view name) const {
    return looks_.size() < 2 ? 0 : rate_between(looks_[looks_.size() - 2], now(), name);
  }
  double long_rate(std::string_view name) const {
    return rate_between(looks_.front(), now(), name);
  }

  void line(const std::string& text) {
    // By characters, not by bytes: bars and graphs have three bytes each.
    size_t end = 0;
    for (size_t shown = 0; end < text.size() && shown < columns_; ++shown) {
      do {
        ++end;
      } while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80);
    }
    text_.append(text, 0, end).append("\n");
  }
  void heading(const char* title) {
    char text[96];
    std::snprintf(text, sizeof(text), "%-26s%12s%12s", title, "now", "average");
    line(text);
  }
  void rates(const char* title, std::string_view name, bool bytes) {
    const auto shown = [&](double figure) {
      return amount(figure, bytes ? Counter::Unit::kBytes : Counter::Unit::kNumber) + "/s";
    };
    char text[96];
    std::snprintf(text, sizeof(text), "  %-24s%12s%12s   ", title, shown(rate(name)).c_str(),
                  shown(long_rate(name)).c_str());
    line(text + graph(name));
  }
  // Of two that grow, how much of the first there is for each of the second.
  void quotient(const char* title, std::string_view name, std::string_view of, double scale,
                const char* unit) {
    const auto shown = [&](double above, double below) -> std::string {
      if (below == 0) return "-";
      char text[48];
      std::snprintf(text, sizeof(text), "%.*f %s", above / below * scale < 10 ? 2 : 0,
                    above / below * scale, unit);
      return text;
    };
    char text[96];
    std::snprintf(text, sizeof(text), "  %-24s%12s%12s", title, shown(rate(name), rate(of)).c_str(),
                  shown(long_rate(name), long_rate(of)).c_str());
    line(text);
  }
  void share(const char* title, double part, double whole, const std::string& more) {
    const double full = whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
    const auto filled = static_cast<size_t>(full * kBarColumns + 0.5);
    char text[96];
    std::snprintf(text, sizeof(text), "  %-24s%12s%12s   ", title, short_bytes(part).c_str(),
                  ("of " + short_bytes(whole)).c_str());
    line(text + std::string(filled, '#') + std::string(kBarColumns - filled, '.') + more);
  }

  std::string take() { return std::move(text_); }

 private:
  static double rate_between(const Counters& before, const Counters& now, std::string_view name) {
    for (const Counter& counter : now.entries) {
      if (counter.name == name) return rate_of(counter, before, now).value_or(0);
    }
    return 0;
  }

  std::string graph(std::string_view name) const {
    static constexpr std::array<const char*, 8> kSteps = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::vector<double> points;
    for (size_t i = looks_.size() > kGraphColumns ? looks_.size() - kGraphColumns : 1;
         i < looks_.size(); ++i) {
      points.push_back(rate_between(looks_[i - 1], looks_[i], name));
    }
    const double most = points.empty() ? 0 : *std::max_element(points.begin(), points.end());
    std::string text;
    for (const double point : points) {
      const double level = most > 0 ? point / most * (kSteps.size() - 1) : 0;
      text += kSteps[static_cast<size_t>(level + 0.5)];
    }
    return text;
  }

  std::span<const Counters> looks_;
  size_t columns_;
  std::string text_;
};

void show_memory(Page& page) {
  const Counters& now = page.now();
  page.share("memory", number(now, "memory_used_bytes"), number(now, "memory_budget_bytes"), "");
  std::string parts = "    ";
  for (const char* const part : {"delta", "index", "value", "frame", "pinned", "resident"}) {
    parts += std::string(part) + " " +
             short_bytes(number(now, "memory_" + std::string(part) + "_bytes")) + "  ";
  }
  page.line(parts);
}

void show_disk(Page& page) {
  const Counters& now = page.now();
  page.line("  disk " + short_bytes(number(now, "disk_bytes_allocated")) + ", of that log " +
            short_bytes(number(now, "log_bytes")) + "; snapshots " +
            short_count(number(now, "snapshots")) + ", the oldest open for " +
            short_time(number(now, "oldest_snapshot_seconds")) + "; followers " +
            short_count(number(now, "followers")));
}

// ---- The terminal

volatile std::sig_atomic_t asked_to_end = 0;

// While it is there a terminal shows what is drawn on a page of its own, and gives keys at once. Of
// anything else nothing changes.
class Screen {
 public:
  Screen() : there_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
    if (!there_ || ::tcgetattr(STDIN_FILENO, &before_) != 0) {
      there_ = false;
      return;
    }
    struct sigaction end = {};
    end.sa_handler = [](int) { asked_to_end = 1; };
    for (const int signal : {SIGTERM, SIGHUP}) ::sigaction(signal, &end, nullptr);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    std::fputs("\x1b[?1049h\x1b[?25l", stdout);
  }
  ~Screen() {
    if (!there_) return;
    std::fputs("\x1b[?25h\x1b[?1049l", stdout);
    std::fflush(stdout);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  size_t columns() const {
    const size_t columns = size().ws_col;
    return columns == 0 ? 100 : columns;
  }

  Status draw(const std::string& page) const {
    if (!there_) {
      Output output = Output::to_stdout();
      output.write(page + "\n");
      return output.finish();
    }
    // What is below its last line would move the rest up.
    size_t left = size().ws_row == 0 ? ~size_t{0} : size().ws_row;
    std::string text = "\x1b[H";
    for (const char c : page) {
      if (c != '\n') {
        text += c;
      } else if (--left == 0) {
        break;
      } else {
        text += "\x1b[K\n";
      }
    }
    std::fputs((text + "\x1b[J").c_str(), stdout);
    std::fflush(stdout);
    return {};
  }

  // Waits; whether to go on.
  bool wait(double seconds) const {
    if (!there_) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      return true;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (asked_to_end == 0) {
      const std::chrono::duration<double> left = until - std::chrono::steady_clock::now();
      if (left.count() <= 0) return true;
      pollfd keys = {STDIN_FILENO, POLLIN, 0};
      if (::poll(&keys, 1, static_cast<int>(left.count() * 1000) + 1) <= 0) continue;
      char key = 'q';  // also what the end of a terminal is
      if (::read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q' || key == 3) return false;
    }
    return false;
  }

 private:
  // Zeros where it has none.
  winsize size() const {
    winsize size = {};
    if (!there_ || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
    return size;
  }

  bool there_;
  termios before_ = {};
};

}  // namespace

std::string top_page(std::string_view directory, std::span<const Counters> looks, size_t columns) {
  Page page(looks, columns);
  const Counters& now = page.now();
  const double open_s =
      static_cast<double>(now.updated_us - std::min(now.opened_us, now.updated_us)) / 1e6;
  page.line(std::string(directory) + "  process " + std::to_string(now.pid) +
            (now.closed  ? ", which has closed it"
             : now.alive ? ", open for " + short_time(open_s)
                         : ", which is not there any more"));
  page.line("");
  show_memory(page);
  show_disk(page);
  page.line("");
  page.heading("");
  page.rates("commits", "commits", false);
  page.rates("operations", "operations", false);
  page.rates("conflicts", "conflicts", false);
  page.rates("read from disk", "bytes_read", true);
  page.rates("reads waited for", "disk_reads", false);
  page.quotient("  each takes", "disk_read_us", "disk_reads", 1, "us");
  page.rates("batches of reads", "disk_read_batches", false);
  page.quotient("  each takes", "disk_read_batch_us", "disk_read_batches", 1, "us");
  page.rates("written to the log", "bytes_written_log", true);
  page.rates("syncs of the log", "log_syncs", false);
  page.quotient("  each takes", "log_sync_us", "log_syncs", 1e-3, "ms");
  page.rates("commits that wait", "commit_waits", false);
  page.quotient("  each waits for", "commit_wait_us", "commit_waits", 1e-3, "ms");
  page.rates("commits slowed by pacing", "write_waits", false);
  page.quotient("  each waits for", "write_wait_us", "write_waits", 1e-3, "ms");
  page.rates("written to data", "bytes_written_data", true);
  page.rates("flushes", "flushes", false);
  page.quotient("  each merges for", "flush_us", "flushes", 1e-3, "ms");
  page.rates("batches of the manifest", "manifest_batches", false);
  page.quotient("  each takes", "manifest_batch_us", "manifest_batches", 1e-3, "ms");
  page.rates("background I/O", "background_io_bytes", true);
  page.rates("blocks found in frames", "frame_hits", false);
  page.rates("  read into frames", "frame_misses", false);
  return page.take();
}

Status run_top(const CommonOptions& common, const TopOptions& options) {
  if (common.json) {
    return Status(StatusCode::kInvalidArgument, "top has no JSON; `hawthorn stats --watch` has");
  }
  const Result<double> seconds = parse_seconds("--every", options.every_seconds);
  if (!seconds.ok()) return seconds.status();
  Result<Counters> first = read_open_counters(common.directory);
  if (!first.ok()) return first.status();
  std::deque<Counters> looks = {std::move(*first)};
  const Screen screen;
  for (uint64_t shown = 0; options.times == 0 || shown < options.times; ++shown) {
    if (!screen.wait(*seconds)) return {};
    Result<Counters> now = read_counters(common.directory);
    if (!now.ok()) return now.status();
    const bool ended = now->closed || !now->alive;
    if (now->process_start != looks.back().process_start) looks.clear();
    // Figures of the same moment say nothing of a rate.
    if (looks.empty() || now->updated_us > looks.back().updated_us) {
      looks.push_back(std::move(*now));
    } else {
      looks.back() = std::move(*now);
    }
    if (looks.size() > kLooks) looks.pop_front();
    const std::vector<Counters> all(looks.begin(), looks.end());
    if (Status s = screen.draw(top_page(common.directory, all, screen.columns())); !s.ok()) {
      return s;
    }
    if (ended) return {};
  }
  return {};
}

}  // namespace hawthorn::tools
