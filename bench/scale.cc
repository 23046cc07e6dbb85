#include "bench/scale.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/interrupt.h"
#include "bench/machine.h"
#include "bench/record.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kCompared = 10'000;  // values that are compared to the last byte afterwards
constexpr uint64_t kKeysOfView = 256;   // keys that a reader asks for before it looks again
constexpr size_t kRoundsOfEnds = 10;    // the first and the last rounds have figures of their own
constexpr uint64_t kScaleSampleEvery = 16;  // one single get in so many is timed by itself

// What one reader found out. The count is read by the writer while it runs.
struct alignas(128) Reads {
  std::atomic<uint64_t> keys{0};
  Histogram calls;
  uint64_t wrong = 0;
};

struct Round {
  uint64_t keys = 0;
  double seconds = 0;
  uint64_t reads = 0;
};

class Scale {
 public:
  Scale(const RunContext& run, const ScaleOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        reads_(options.readers) {}

  void run();

 private:
  uint64_t record_bytes() const { return kKeyBytes + options_.value_bytes; }
  uint64_t keys_wanted() const;
  bool ends_now();
  void write();
  bool run_round(Writer& writer, uint64_t keys);
  void commit_batch(Writer& writer, uint64_t count);
  void keep_rate();
  void read(unsigned thread);
  void read_keys(Reader& reader, uint64_t committed, uint64_t& random, Reads& mine);
  uint64_t reads_now() const;
  void report_writes();
  void report_reads();
  double rate(size_t first, size_t end, bool of_reads) const;
  void verify();

  const RunContext& run_;
  Report& report_;
  const ScaleOptions& options_;
  Engine& engine_;
  std::optional<Record> record_;
  std::atomic<uint64_t> committed_{0};  // sequence numbers below this one are in the database
  std::atomic<bool> over_{false};
  std::vector<Reads> reads_;
  uint64_t start_ticks_ = 0;
  double seconds_ = 0;
  Histogram commits_;
  RateWindows windows_;
  std::vector<Round> rounds_;
  std::string limit_;
};

uint64_t Scale::keys_wanted() const {
  uint64_t keys = ~uint64_t{0};
  if (options_.rounds != 0) keys = options_.rounds * options_.items;
  if (options_.size_bytes != 0) {
    keys = std::min(keys, (options_.size_bytes + record_bytes() - 1) / record_bytes());
  }
  return keys;
}

bool Scale::ends_now() {
  return interrupted() || over_ ||
         (options_.seconds != 0 &&
          Ticks::seconds(Ticks::now() - start_ticks_) >= static_cast<double>(options_.seconds));
}

// Waits until the next batch may begin without the rate being exceeded since the start.
void Scale::keep_rate() {
  if (options_.write_rate == 0) return;
  const double due = static_cast<double>(committed_) / static_cast<double>(options_.write_rate);
  const double now = Ticks::seconds(Ticks::now() - start_ticks_);
  if (due > now) std::this_thread::sleep_for(std::chrono::duration<double>(due - now));
}

void Scale::commit_batch(Writer& writer, uint64_t count) {
  const uint64_t before = Ticks::now();
  writer.begin(WriteIntent::kBlind);
  const uint64_t first = committed_.load(std::memory_order_relaxed);
  for (uint64_t sequence = first; sequence < first + count; ++sequence) {
    record_->make(sequence);
    writer.put(record_->key(), record_->value());
  }
  writer.commit();
  committed_.store(first + count, std::memory_order_release);
  const uint64_t now = Ticks::now();
  commits_.record(Ticks::ns(now - before));
  windows_.add(Ticks::ns(now - start_ticks_), count);
}

// False when the run ended in the middle: then it is no round.
bool Scale::run_round(Writer& writer, uint64_t keys) {
  const uint64_t start = Ticks::now();
  const uint64_t reads = reads_now();
  for (uint64_t done = 0; done < keys;) {
    if (ends_now()) return false;
    keep_rate();
    const uint64_t count = std::min(options_.batch, keys - done);
    commit_batch(writer, count);
    done += count;
  }
  rounds_.push_back({keys, Ticks::seconds(Ticks::now() - start), reads_now() - reads});
  const Round& round = rounds_.back();
  const double writes_per_s = static_cast<double>(keys) / round.seconds;
  const double reads_per_s = static_cast<double>(round.reads) / round.seconds;
  const uint64_t on_disk = disk_bytes(run_.config.path);
  report_.csv(print_text("scale,%s,%zu,%lu,%.0f,%.0f,%lu", run_.engine_name.c_str(), rounds_.size(),
                         committed_.load(), writes_per_s, reads_per_s, on_disk));
  progress(run_, print_text("round %zu: %s inserts/s, %s reads/s, %s on disk", rounds_.size(),
                            short_number(writes_per_s).c_str(), short_number(reads_per_s).c_str(),
                            size_text(static_cast<double>(on_disk)).c_str()));
  return true;
}

void Scale::write() {
  const std::unique_ptr<Writer> writer = engine_.writer();
  const uint64_t wanted = keys_wanted();
  try {
    while (committed_ < wanted) {
      if (free_disk_bytes(run_.config.path) < options_.free_disk_bytes_min) {
        limit_ = "the disk is nearly full";
        break;
      }
      if (!run_round(*writer, std::min(options_.items, wanted - committed_))) break;
    }
  } catch (const EngineError& error) {
    if (!error.full()) throw;
    limit_ = error.what();
  }
}

void Scale::read_keys(Reader& reader, uint64_t committed, uint64_t& random, Reads& mine) {
  const size_t together = options_.keys_per_read;
  Record record(kKeyBytes, options_.value_bytes, run_.fill);
  if (together == 1) {
    for (uint64_t i = 0; i < kKeysOfView; ++i) {
      record.make_key_of(scale(mix64(++random), committed));
      const uint64_t before = i % kScaleSampleEvery == 0 ? Ticks::now() : 0;
      std::string_view value;
      const bool found = reader.get(record.key(), value);
      mine.wrong += found && record.is_value(value) ? 0 : 1;
      if (before != 0) mine.calls.record(Ticks::ns(Ticks::now() - before));
    }
    mine.keys.fetch_add(kKeysOfView, std::memory_order_relaxed);
    return;
  }
  std::vector<uint64_t> words(together);
  std::vector<std::string_view> keys(together);
  std::vector<std::string_view> values(together);
  for (uint64_t done = 0; done < kKeysOfView; done += together) {
    for (size_t i = 0; i < together; ++i) {
      words[i] = random_key(scale(mix64(++random), committed));
      keys[i] = {reinterpret_cast<const char*>(&words[i]), sizeof words[i]};
    }
    const uint64_t before = Ticks::now();
    reader.multi_get(keys, values);
    mine.calls.record(Ticks::ns(Ticks::now() - before));
    for (size_t i = 0; i < together; ++i) {
      const bool right = values[i].size() == options_.value_bytes &&
                         load64(values[i].data()) == stamp(words[i], 0);
      mine.wrong += right ? 0 : 1;
    }
    mine.keys.fetch_add(together, std::memory_order_relaxed);
  }
}

void Scale::read(unsigned thread) {
  const std::unique_ptr<Reader> reader = engine_.reader();
  uint64_t random = mix64(options_.seed + thread);
  while (!over_) {
    // What is committed now is in any view that begins later.
    const uint64_t committed = committed_.load(std::memory_order_acquire);
    if (committed == 0) {
      std::this_thread::yield();
      continue;
    }
    reader->begin(View::kLatest);
    read_keys(*reader, committed, random, reads_[thread]);
    reader->end();
  }
}

uint64_t Scale::reads_now() const {
  uint64_t sum = 0;
  for (const Reads& one : reads_) sum += one.keys.load(std::memory_order_relaxed);
  return sum;
}

// The mean rate of some rounds: that of their time, not of their rates.
double Scale::rate(size_t first, size_t end, bool of_reads) const {
  double seconds = 0;
  double count = 0;
  for (size_t i = first; i < end; ++i) {
    seconds += rounds_[i].seconds;
    count += static_cast<double>(of_reads ? rounds_[i].reads : rounds_[i].keys);
  }
  return seconds > 0 ? count / seconds : 0;
}

void Scale::report_writes() {
  const uint64_t committed = committed_;
  report_.add("insert", "ops_per_s", static_cast<double>(committed) / seconds_);
  report_.add_latencies("insert", commits_);
  report_rate_parts(report_, "insert", windows_, seconds_);
  report_.note(print_text("%zu rounds, %s keys in %.1f s%s", rounds_.size(),
                          with_commas(committed).c_str(), seconds_,
                          interrupted() ? ", ended by an interrupt" : ""));
  if (options_.write_rate != 0) {
    report_.note(print_text("the writer was bounded to %s keys/s and came to %.1f%% of it",
                            with_commas(options_.write_rate).c_str(),
                            100 * static_cast<double>(committed) / seconds_ /
                                static_cast<double>(options_.write_rate)));
  }
  const size_t rounds = rounds_.size();
  const size_t ends = std::min(kRoundsOfEnds, rounds);
  if (ends == 0) return;
  report_.add("insert", "first_ten_rounds_ops_per_s", rate(0, ends, false));
  report_.add("insert", "last_ten_rounds_ops_per_s", rate(rounds - ends, rounds, false));
  if (options_.readers == 0) return;
  report_.add("read", "first_ten_rounds_ops_per_s", rate(0, ends, true));
  report_.add("read", "last_ten_rounds_ops_per_s", rate(rounds - ends, rounds, true));
}

void Scale::report_reads() {
  if (options_.readers == 0) return;
  Histogram calls;
  uint64_t wrong = 0;
  std::string text;
  for (const Reads& one : reads_) {
    calls.merge(one.calls);
    wrong += one.wrong;
    if (!text.empty()) text += ", ";
    text += short_number(static_cast<double>(one.keys) / seconds_);
  }
  const double all = static_cast<double>(reads_now()) / seconds_;
  report_.add("read", "ops_per_s", all);
  report_.add("read", "per_thread_ops_per_s", all / options_.readers);
  report_.add_latencies("read", calls);
  report_.note("reads/s of each thread: " + text);
  if (wrong != 0) {
    report_.fail(
        print_text("%s reads missed a key, or found a wrong value", with_commas(wrong).c_str()));
  }
}

void Scale::verify() {
  progress(run_, "verify");
  const uint64_t committed = committed_;
  if (committed == 0) return;
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kSnapshot);
  StampSink sink(options_.value_bytes);
  reader->iterate_batch(sink);
  if (sink.errors() != 0 || sink.entries() != committed) {
    report_.fail(print_text("the scan found %s entries of %s and %s errors",
                            with_commas(sink.entries()).c_str(), with_commas(committed).c_str(),
                            with_commas(sink.errors()).c_str()));
  }
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < std::min(kCompared, committed); ++i) {
    record_->make_key_of(scale(mix64(i), committed));
    std::string_view value;
    wrong += reader->get(record_->key(), value) && record_->is_whole_value(value) ? 0 : 1;
  }
  reader->end();
  if (wrong != 0) {
    report_.fail(print_text("%s values of a sample are wrong", with_commas(wrong).c_str()));
  }
}

void Scale::run() {
  open_engine(run_, engine_);
  record_.emplace(kKeyBytes, options_.value_bytes, run_.fill);
  WriteMeter meter(run_);
  std::exception_ptr error;
  std::atomic<bool> reader_failed{false};
  std::exception_ptr reader_error;
  start_ticks_ = Ticks::now();
  {
    std::vector<std::jthread> readers;
    for (unsigned thread = 0; thread < options_.readers; ++thread) {
      readers.emplace_back([&, thread] {
        try {
          read(thread);
        } catch (...) {
          if (!reader_failed.exchange(true)) reader_error = std::current_exception();
          over_ = true;
        }
      });
    }
    try {
      write();
    } catch (...) {
      error = std::current_exception();
    }
    over_ = true;
  }
  seconds_ = Ticks::seconds(Ticks::now() - start_ticks_);
  if (error) std::rethrow_exception(error);
  if (reader_error) std::rethrow_exception(reader_error);
  if (!limit_.empty()) {
    report_.limited(
        print_text("%s after %s keys", limit_.c_str(), with_commas(committed_).c_str()));
  }
  report_writes();
  report_reads();
  progress(run_, "drain");
  const Stopwatch drain;
  engine_.drain();
  report_drain(report_, committed_, seconds_, drain.seconds());
  report_.add("verify", "rss_bytes", static_cast<double>(peak_rss_bytes()));
  const uint64_t bytes_raw = committed_ * record_bytes();
  meter.report(engine_, bytes_raw);
  verify();
  finish_run(run_, engine_, bytes_raw);
}

}  // namespace

void run_scale(const RunContext& run, const ScaleOptions& options, Engine& engine) {
  Scale(run, options, engine).run();
}

}  // namespace hawthorn::bench
