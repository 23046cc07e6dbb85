#include "bench/nvme.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/machine.h"
#include "bench/record.h"
#include "bench/team.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// How many reads a stream takes before it lets go of its view: a view that is held long keeps some
// engines from reusing space.
constexpr uint64_t kReadsOfView = 4096;

struct Tier {
  const char* phase;
  uint64_t entries_min;
  uint64_t entries_max;
};
constexpr std::array<Tier, 3> kTiers = {{
    {"range_small", 1, 100},
    {"range_medium", 512, 1024},
    {"range_large", 114'688, 131'072},
}};

// What one thread found out; padded, since neighbours are written by other threads.
struct alignas(128) NvmeTally {
  Histogram reads;
  Histogram writes;
  uint64_t wrong = 0;
  uint64_t entries = 0;
};

class Nvme {
 public:
  Nvme(const RunContext& run, const NvmeOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        team_(options.threads) {
    if (options_.gets == 0) options_.gets = options_.records;
  }

  void run();

 private:
  class Stream;

  bool wanted(const char* phase) const {
    return options_.phases.empty() || options_.phases.contains(phase);
  }
  uint64_t record_bytes() const { return options_.key_bytes + options_.value_bytes; }
  uint64_t deadline(uint64_t start) const {
    return start + static_cast<uint64_t>(static_cast<double>(options_.seconds) * 1e9 /
                                         Ticks::ns_per_tick());
  }
  uint64_t share(uint64_t count, unsigned thread) const {
    return count * (thread + 1) / team_.threads() - count * thread / team_.threads();
  }

  bool load();
  void reopen();
  void read(uint64_t depth);
  void mix(uint64_t depth);
  void range(const Tier& tier);
  void verify();
  void begin_phase(const std::string& phase);
  void end_phase(const std::string& phase, const NvmeTally& sum);
  NvmeTally sum_of(const std::vector<NvmeTally>& tallies) const;

  const RunContext& run_;
  Report& report_;
  NvmeOptions options_;
  Engine& engine_;
  Team team_;
  std::atomic<uint64_t> next_record_{0};  // of those that the mix adds
  uint64_t written_ = 0;
  uint64_t greatest_ = 0;  // key, as a big-endian number
};

// The random reads of one thread, with puts between them in the mix.
class Nvme::Stream : public ReadStream {
 public:
  Stream(Nvme& nvme, uint64_t seed, uint64_t count, uint64_t deadline, Writer* writer,
         NvmeTally& tally)
      : nvme_(nvme),
        random_(mix64(seed)),
        left_(count),
        deadline_(deadline),
        writer_(writer),
        record_(nvme.options_.key_bytes, nvme.options_.value_bytes, nvme.run_.fill),
        tally_(tally) {}

  bool ended() const { return ended_; }
  void begin_view() { left_of_view_ = kReadsOfView; }

  bool next(size_t slot, std::string_view& key) override {
    for (;; --left_) {
      if (left_ == 0 || late_ || nvme_.team_.stopped()) {
        ended_ = true;
        return false;
      }
      if (left_of_view_ == 0) return false;
      // The coin and the key come from different bits.
      const uint64_t draw = mix64(++random_);
      if (writer_ == nullptr || (mix64(draw) & 1) == 0) {
        --left_;
        --left_of_view_;
        Read& read = reads_[slot];
        read.word = random_key(scale(draw, nvme_.options_.records));
        make_key(read.word, read.key, nvme_.options_.key_bytes);
        key = {read.key, nvme_.options_.key_bytes};
        return true;
      }
      put();
    }
  }

  void start(size_t slot) override { reads_[slot].start = Ticks::now(); }

  void done(size_t slot, std::string_view value) override {
    const Read& read = reads_[slot];
    const uint64_t now = Ticks::now();
    late_ = now >= deadline_;
    tally_.reads.record(Ticks::ns(now - read.start));
    const bool right =
        value.size() == nvme_.options_.value_bytes && load64(value.data()) == stamp(read.word, 0);
    tally_.wrong += right ? 0 : 1;
  }

 private:
  struct Read {
    uint64_t word;
    uint64_t start;
    char key[kKeyBytesMax];
  };

  void put() {
    record_.make(nvme_.next_record_.fetch_add(1, std::memory_order_relaxed));
    const uint64_t start = Ticks::now();
    writer_->put_now(record_.key(), record_.value());
    tally_.writes.record(Ticks::ns(Ticks::now() - start));
  }

  Nvme& nvme_;
  uint64_t random_;
  uint64_t left_;
  const uint64_t deadline_;
  Writer* const writer_;
  uint64_t left_of_view_ = 0;
  bool late_ = false;
  bool ended_ = false;
  Record record_;
  std::array<Read, 64> reads_;
  NvmeTally& tally_;
};

void Nvme::begin_phase(const std::string& phase) {
  progress(run_, phase);
  // What the heap keeps of an earlier phase is none of this one's memory.
  malloc_trim(0);
  reset_peak_rss();
}

void Nvme::end_phase(const std::string& phase, const NvmeTally& sum) {
  report_.add(phase, "rss_bytes", static_cast<double>(peak_rss_bytes()));
  if (sum.wrong != 0) {
    report_.fail(
        print_text("%s: %s answers are wrong", phase.c_str(), with_commas(sum.wrong).c_str()));
  }
}

NvmeTally Nvme::sum_of(const std::vector<NvmeTally>& tallies) const {
  NvmeTally sum;
  for (const NvmeTally& tally : tallies) {
    sum.reads.merge(tally.reads);
    sum.writes.merge(tally.writes);
    sum.wrong += tally.wrong;
    sum.entries += tally.entries;
  }
  return sum;
}

// False when the engine ran full.
bool Nvme::load() {
  begin_phase("load");
  WriteMeter meter(run_);
  std::vector<NvmeTally> tallies(team_.threads());
  std::vector<RateWindows> windows(team_.threads());
  std::vector<uint64_t> greatest(team_.threads(), 0);
  std::atomic<uint64_t> done{0};
  std::string limit;
  const Stopwatch watch;
  double seconds = 0;
  try {
    seconds = team_.run([&](unsigned thread, uint64_t start) {
      const std::unique_ptr<Writer> writer = engine_.writer();
      Record record(options_.key_bytes, options_.value_bytes, run_.fill);
      uint64_t count = 0;
      uint64_t before = Ticks::now();
      try {
        for (uint64_t i = thread; i < options_.records && !team_.stopped(); i += team_.threads()) {
          const uint64_t word = record.make(i);
          writer->put_now(record.key(), record.value());
          ++count;
          greatest[thread] = std::max(greatest[thread], big_endian(word));
          // From one put's end to the next's: what a caller waits, with a few ns for the record.
          const uint64_t now = Ticks::now();
          tallies[thread].writes.record(Ticks::ns(now - before));
          windows[thread].add(Ticks::ns(now - start), 1);
          before = now;
        }
      } catch (...) {
        done += count;
        throw;
      }
      done += count;
    });
  } catch (const EngineError& error) {
    if (!error.full()) throw;
    limit = error.what();
    seconds = watch.seconds();
  }
  written_ = done;
  next_record_ = options_.records;
  greatest_ = *std::max_element(greatest.begin(), greatest.end());
  for (unsigned thread = 1; thread < team_.threads(); ++thread) windows[0].merge(windows[thread]);
  if (!limit.empty()) {
    report_.limited(print_text("%s after %s records", limit.c_str(), with_commas(done).c_str()));
  }
  report_.add("load", "ops_per_s", static_cast<double>(written_) / seconds);
  const NvmeTally sum = sum_of(tallies);
  report_.add_latencies("load", sum.writes);
  report_rate_parts(report_, "load", windows[0], seconds);
  const Stopwatch drain;
  engine_.drain();
  report_drain(report_, written_, seconds, drain.seconds());
  meter.report(engine_, written_ * record_bytes());
  end_phase("load", sum);
  return limit.empty();
}

void Nvme::reopen() {
  engine_.settle();
  engine_.close();
  EngineConfig config = run_.config;
  const Stopwatch opening;
  engine_.open(config);
  engine_.warm_up();
  report_.add("open", "seconds", opening.seconds());
}

void Nvme::read(uint64_t depth) {
  const std::string phase = print_text("read_%lu", depth);
  begin_phase(phase);
  std::vector<NvmeTally> tallies(team_.threads());
  const double seconds = team_.run([&](unsigned thread, uint64_t start) {
    const std::unique_ptr<Reader> reader = engine_.reader();
    Stream stream(*this, options_.seed + depth * team_.threads() + thread,
                  share(options_.gets, thread), deadline(start), nullptr, tallies[thread]);
    while (!stream.ended()) {
      stream.begin_view();
      reader->begin(View::kLatest);
      reader->read_many(stream, depth);
      reader->end();
    }
  });
  const NvmeTally sum = sum_of(tallies);
  report_.add(phase, "ops_per_s", static_cast<double>(sum.reads.count()) / seconds);
  report_.add_latencies(phase, sum.reads);
  end_phase(phase, sum);
}

void Nvme::mix(uint64_t depth) {
  const std::string phase = print_text("mix_%lu", depth);
  begin_phase(phase);
  std::vector<NvmeTally> tallies(team_.threads());
  const double seconds = team_.run([&](unsigned thread, uint64_t start) {
    const std::unique_ptr<Reader> reader = engine_.reader();
    const std::unique_ptr<Writer> writer = engine_.writer();
    Stream stream(*this, options_.seed + (depth + 1000) * team_.threads() + thread,
                  share(options_.gets, thread), deadline(start), writer.get(), tallies[thread]);
    while (!stream.ended()) {
      stream.begin_view();
      reader->begin(View::kLatest);
      reader->read_many(stream, depth);
      reader->end();
    }
  });
  const NvmeTally sum = sum_of(tallies);
  written_ += sum.writes.count();
  const std::string reads = print_text("mix_read_%lu", depth);
  const std::string writes = print_text("mix_write_%lu", depth);
  report_.add(phase, "ops_per_s",
              static_cast<double>(sum.reads.count() + sum.writes.count()) / seconds);
  report_.add(reads, "ops_per_s", static_cast<double>(sum.reads.count()) / seconds);
  report_.add_latencies(reads, sum.reads);
  report_.add(writes, "ops_per_s", static_cast<double>(sum.writes.count()) / seconds);
  report_.add_latencies(writes, sum.writes);
  end_phase(phase, sum);
  // The next one starts as this one did.
  engine_.drain();
}

void Nvme::range(const Tier& tier) {
  begin_phase(tier.phase);
  std::vector<NvmeTally> tallies(team_.threads());
  const double seconds = team_.run([&](unsigned thread, uint64_t start) {
    const std::unique_ptr<Reader> reader = engine_.reader();
    NvmeTally& tally = tallies[thread];
    StampSink sink(options_.value_bytes, options_.key_bytes);
    uint64_t random = mix64(options_.seed + tier.entries_max + thread);
    const uint64_t end = deadline(start);
    const uint64_t count = share(options_.gets, thread);
    for (uint64_t i = 0; i < count && !team_.stopped() && Ticks::now() < end; ++i) {
      const uint64_t word = random_key(scale(mix64(++random), options_.records));
      char key[kKeyBytesMax];
      make_key(word, key, options_.key_bytes);
      const uint64_t wanted =
          tier.entries_min + scale(mix64(++random), tier.entries_max - tier.entries_min + 1);
      sink.restart();
      const uint64_t before = Ticks::now();
      reader->begin(View::kLatest);
      reader->range({key, options_.key_bytes}, wanted, sink);
      reader->end();
      tally.reads.record(Ticks::ns(Ticks::now() - before));
      tally.entries += sink.entries();
      const bool whole =
          sink.entries() == wanted || (sink.entries() < wanted && sink.last() == greatest_);
      tally.wrong += sink.entries() != 0 && whole && sink.first() == big_endian(word) ? 0 : 1;
    }
    tally.wrong += sink.errors();
  });
  const NvmeTally sum = sum_of(tallies);
  report_.add(tier.phase, "ops_per_s", static_cast<double>(sum.reads.count()) / seconds);
  report_.add(tier.phase, "entries_per_s", static_cast<double>(sum.entries) / seconds);
  report_.add_latencies(tier.phase, sum.reads);
  end_phase(tier.phase, sum);
}

void Nvme::verify() {
  progress(run_, "verify");
  const std::unique_ptr<Reader> reader = engine_.reader();
  StampSink sink(options_.value_bytes, options_.key_bytes);
  reader->begin(View::kSnapshot);
  reader->iterate_batch(sink);
  reader->end();
  if (sink.errors() != 0 || sink.entries() != written_) {
    report_.fail(print_text("the scan found %s entries of %s and %s errors",
                            with_commas(sink.entries()).c_str(), with_commas(written_).c_str(),
                            with_commas(sink.errors()).c_str()));
  }
}

void Nvme::run() {
  open_engine(run_, engine_);
  if (load()) {
    reopen();
    if (wanted("read")) {
      for (const uint64_t depth : options_.depths) read(depth);
    }
    if (wanted("range")) {
      for (const Tier& tier : kTiers) range(tier);
    }
    if (wanted("mix")) {
      for (const uint64_t depth : options_.depths) mix(depth);
    }
  }
  verify();
  finish_run(run_, engine_, written_ * record_bytes());
}

}  // namespace

void run_nvme(const RunContext& run, const NvmeOptions& options, Engine& engine) {
  Nvme(run, options, engine).run();
}

}  // namespace hawthorn::bench
