#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/team.h"
#include "bench/text.h"
#include "bench/txn.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kBatch = 1000;
constexpr uint64_t kLateEvery = 1000;    // one place of so many stays empty until the snapshot
constexpr uint64_t kWholesPerPart = 10;  // ranges that are counted for each count of the whole
constexpr uint8_t kPasses = 2;

// All places in an order that looks random: a bijection of the numbers below a power of two, taken
// again where it leads beyond the last place.
class Shuffle {
 public:
  explicit Shuffle(uint64_t count)
      : count_(count),
        half_(std::max(1, (static_cast<int>(std::bit_width(count - 1)) + 1) / 2)),
        mask_((uint64_t{1} << (2 * half_)) - 1) {}

  uint64_t operator()(uint64_t number) const {
    do {
      for (const uint64_t odd : {0x9e3779b97f4a7c15ULL, 0xbf58476d1ce4e5b9ULL}) {
        number = (number * odd + 0x94d049bb133111ebULL) & mask_;
        number ^= number >> half_;
      }
    } while (number >= count_);
    return number;
  }

 private:
  const uint64_t count_;
  const int half_;  // of the bits
  const uint64_t mask_;
};

// The keys in their order, each by its place, and what happens to each.
class Places {
 public:
  explicit Places(const CountOptions& options)
      : seed_(options.seed),
        count_(options.keys),
        step_(~uint64_t{0} / options.keys),
        overwritten_below_(static_cast<uint64_t>(options.overwritten * 0x1.0p32)) {}

  uint64_t count() const { return count_; }
  // A number at random of those that are the place's own.
  uint64_t number_of(uint64_t place) const { return place * step_ + mix64(seed_ ^ place) % step_; }

  static bool is_late(uint64_t place) { return place % kLateEvery == kLateEvery - 1; }
  // How many keys there are below a place.
  static uint64_t below(uint64_t place, bool with_late) {
    return with_late ? place : place - place / kLateEvery;
  }
  // Whether a pass puts the key. The last one brings those that are late.
  bool is_put_by(uint8_t pass, uint64_t place) const {
    if (is_late(place)) return pass == kPasses;
    return mix64(mix64(seed_ + pass) ^ place) >> 32 < overwritten_below_;
  }
  uint8_t last_version(uint64_t place) const {
    for (uint8_t pass = kPasses; pass > 0; --pass) {
      if (is_put_by(pass, place)) return pass;
    }
    return 0;
  }

 private:
  const uint64_t seed_;
  const uint64_t count_;
  const uint64_t step_;
  const uint64_t overwritten_below_;
};

// A key and its value.
class PlaceRecord {
 public:
  PlaceRecord(const Places& places, uint64_t value_bytes, Fill fill)
      : places_(places), fill_(fill), value_(value_bytes, '\0') {}

  void make(uint64_t place, uint8_t version) {
    const uint64_t word = big_endian(places_.number_of(place));
    store64(key_, word);
    make_value(word, version, value_.data(), value_.size(), fill_);
  }
  std::string_view key() const { return {key_, sizeof key_}; }
  std::string_view value() const { return value_; }

 private:
  const Places& places_;
  const Fill fill_;
  char key_[kKeyBytes];
  std::string value_;
};

// One end of a range.
class Bound {
 public:
  // Before the key of a place: at it, or `close` behind the one before.
  void set(const Places& places, uint64_t place, bool close) {
    if (place == 0 && close) {
      key_.clear();
      return;
    }
    key_.resize(kKeyBytes);
    const uint64_t number = close || place == places.count() ? places.number_of(place - 1) + 1
                                                             : places.number_of(place);
    store64(key_.data(), big_endian(number));
  }
  std::string_view key() const { return key_; }

 private:
  std::string key_;
};

// All entries, each at its place, to their last byte.
class PlaceSink : public EntrySink {
 public:
  PlaceSink(const Places& places, uint64_t value_bytes, Fill fill)
      : places_(places), record_(places, value_bytes, fill) {}

  void add(std::string_view key, std::string_view value) override {
    if (entries_ < places_.count()) {
      record_.make(entries_, places_.last_version(entries_));
      errors_ += key == record_.key() && value == record_.value() ? 0 : 1;
    }
    ++entries_;
  }
  uint64_t entries() const { return entries_; }
  uint64_t errors() const { return errors_; }

 private:
  const Places& places_;
  PlaceRecord record_;
  uint64_t entries_ = 0;
  uint64_t errors_ = 0;
};

class CountRun {
 public:
  CountRun(const RunContext& run, const CountOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        places_(options),
        shuffle_(options.keys) {}

  void run();

 private:
  template <class Put>
  double write(bool ascending, Put&& put);
  void load();
  void overwrite(uint8_t pass);
  void measure(const std::string& phase, View view, bool with_late);
  void measure(const std::string& phase, Reader& reader, bool with_late);
  void measure_held();
  template <class Next>
  Histogram time_counts(const std::string& phase, Reader& reader, uint64_t counts, Next&& next);
  void count_first();

  const RunContext& run_;
  Report& report_;
  const CountOptions& options_;
  Engine& engine_;
  const Places places_;
  const Shuffle shuffle_;
};

// Puts, from all threads, what put(place) gives a version; returns the seconds.
template <class Put>
double CountRun::write(bool ascending, Put&& put) {
  Team team(options_.threads);
  return team.run([&](unsigned thread, uint64_t) {
    const std::unique_ptr<Writer> writer = engine_.writer();
    PlaceRecord record(places_, options_.value_bytes, run_.fill);
    uint64_t at = options_.keys * thread / team.threads();
    const uint64_t end = options_.keys * (thread + 1) / team.threads();
    while (at < end && !team.stopped()) {
      writer->begin(WriteIntent::kBlind);
      for (uint64_t puts = 0; at < end && puts < kBatch; ++at) {
        const uint64_t place = ascending ? at : shuffle_(at);
        const std::optional<uint8_t> version = put(place);
        if (!version) continue;
        record.make(place, *version);
        writer->put(record.key(), record.value());
        ++puts;
      }
      writer->commit();
    }
  });
}

void CountRun::load() {
  progress(run_, "load");
  const double seconds = write(options_.ascending, [](uint64_t place) {
    return Places::is_late(place) ? std::nullopt : std::optional<uint8_t>(0);
  });
  const auto keys = static_cast<double>(Places::below(options_.keys, false));
  report_.add("load", "ops_per_s", keys / seconds);
  engine_.settle();
}

void CountRun::overwrite(uint8_t pass) {
  progress(run_, print_text("overwrite, pass %u", pass));
  write(false, [this, pass](uint64_t place) {
    return places_.is_put_by(pass, place) ? std::optional<uint8_t>(pass) : std::nullopt;
  });
}

// Times counts of what next(lower, upper) sets, which returns how many entries that has.
template <class Next>
Histogram CountRun::time_counts(const std::string& phase, Reader& reader, uint64_t counts,
                                Next&& next) {
  Histogram latencies;
  uint64_t wrong = 0;
  Bound lower;
  Bound upper;
  const Stopwatch watch;
  for (uint64_t i = 0; i < counts; ++i) {
    const auto limit = static_cast<double>(options_.seconds);
    if (i != 0 && limit != 0 && watch.seconds() > limit) {
      report_.note(print_text("%s: %s counts in %lu seconds, of %s", phase.c_str(),
                              with_commas(i).c_str(), options_.seconds,
                              with_commas(counts).c_str()));
      break;
    }
    bool to_end = false;
    const uint64_t expected = next(lower, upper, to_end);
    const uint64_t start = Ticks::now();
    const uint64_t count =
        reader.count(lower.key(), to_end ? std::nullopt : std::optional(upper.key()));
    latencies.record(Ticks::ns(Ticks::now() - start));
    if (count == expected) continue;
    if (wrong++ != 0) continue;
    report_.fail(print_text("%s: a range of %s keys was counted as %s", phase.c_str(),
                            with_commas(expected).c_str(), with_commas(count).c_str()));
  }
  if (wrong > 1) {
    report_.fail(print_text("%s: %s counts were wrong", phase.c_str(), with_commas(wrong).c_str()));
  }
  return latencies;
}

// Of the whole, and of ranges. `with_late`: whether the keys are there that come late.
void CountRun::measure(const std::string& phase, Reader& reader, bool with_late) {
  progress(run_, phase);
  const auto whole = [&](Bound& lower, Bound&, bool& to_end) {
    lower.set(places_, 0, true);
    to_end = true;
    return Places::below(options_.keys, with_late);
  };
  const uint64_t wholes = options_.counts / kWholesPerPart + 1;
  report_.add_latencies(phase, time_counts(phase, reader, wholes, whole));

  // As many of each order of magnitude.
  const double magnitude = std::log2(static_cast<double>(options_.keys));
  uint64_t random = mix64(options_.seed ^ 0xc0);
  const auto range = [&](Bound& lower, Bound& upper, bool& to_end) {
    const double part = static_cast<double>(mix64(++random) >> 11) * 0x1.0p-53;
    const uint64_t width = std::clamp<uint64_t>(
        static_cast<uint64_t>(std::exp2(magnitude * part)) + 1, 1, options_.keys);
    const uint64_t first = scale(mix64(++random), options_.keys - width + 1);
    const uint64_t coins = mix64(++random);
    lower.set(places_, first, (coins & 1) != 0);
    upper.set(places_, first + width, (coins & 2) != 0);
    to_end = first + width == options_.keys && (coins & 4) != 0;
    return Places::below(first + width, with_late) - Places::below(first, with_late);
  };
  const std::string ranges = phase + "_range";
  report_.add_latencies(ranges, time_counts(ranges, reader, options_.counts, range));
}

void CountRun::measure(const std::string& phase, View view, bool with_late) {
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(view);
  measure(phase, *reader, with_late);
  reader->end();
}

void CountRun::measure_held() {
  const std::unique_ptr<Reader> held = engine_.reader();
  held->begin(View::kSnapshot);
  overwrite(2);
  engine_.settle();
  measure("count_held", *held, false);
  measure("count_now", View::kLatest, true);
  held->end();
}

// Behind an open. What the first one reads, the others find in memory.
void CountRun::count_first() {
  progress(run_, "count_opened");
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kLatest);
  const Stopwatch watch;
  const uint64_t count = reader->count({}, std::nullopt);
  report_.add("count_first", "avg_us", watch.seconds() * 1e6);
  if (count != options_.keys) {
    report_.fail(print_text("the first count behind an open found %s keys of %s",
                            with_commas(count).c_str(), with_commas(options_.keys).c_str()));
  }
  measure("count_opened", *reader, true);
  reader->end();
}

void CountRun::run() {
  open_engine(run_, engine_);
  load();
  measure("count_flushed", View::kLatest, false);
  overwrite(1);
  measure("count_unflushed", View::kLatest, false);
  engine_.settle();
  measure("count_overwritten", View::kLatest, false);
  measure_held();
  engine_.drain();
  add_process_figures(report_);
  verify_walk(run_, engine_, PlaceSink(places_, options_.value_bytes, run_.fill), options_.keys);
  const auto opened = [this] {
    count_first();
    return uint64_t{0};
  };
  finish_run(run_, engine_, options_.keys * (kKeyBytes + options_.value_bytes), opened);
}

}  // namespace

void run_txn_count(const RunContext& run, const CountOptions& options, Engine& engine) {
  CountRun(run, options, engine).run();
}

}  // namespace hawthorn::bench
