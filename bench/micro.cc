#include "bench/micro.h"

#include <algorithm>
#include <array>
#include <vector>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// One call in so many is timed by itself: two clock reads cost as much as a fast get.
constexpr uint64_t kSampleEvery = 64;

struct KeyBytes {
  char bytes[kKeyBytes];
  KeyBytes() = default;
  explicit KeyBytes(uint64_t word) { store64(bytes, word); }
  operator std::string_view() const { return {bytes, sizeof bytes}; }  // NOLINT
};

class Micro {
 public:
  Micro(const RunContext& run, const MicroOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        value_(options.value_bytes, '\0'),
        stride_(kStride % options.items) {}

  void run();

 private:
  bool wanted(const std::string& phase) const {
    return options_.phases.empty() || options_.phases.contains(phase);
  }
  uint64_t key_of(uint64_t item) const {
    return options_.sequential ? big_endian(item) : random_key(item);
  }
  // Whether the item is of the part that was overwritten.
  bool is_dirty(uint64_t item) const {
    return dirty_below_ != 0 && mix64(item ^ 0xd1e7) < dirty_below_;
  }
  uint8_t version_of(uint64_t item) const { return is_dirty(item) ? 1 : 0; }
  // The item at a place of a random order of all items.
  uint64_t shuffled(uint64_t place) const { return place * stride_ % options_.items; }

  void load();
  void overwrite();
  void warm();
  void get(const std::string& phase);
  void get_chain();
  void multi_get();
  void lower_bound();
  void iterate(const std::string& phase);
  void remove();
  struct Writes {
    double seconds = 0;
    Histogram commits;
    RateWindows windows;
  };
  template <class F>
  Writes write_batches(uint64_t count, F&& write_one);
  void report_writes(const std::string& phase, uint64_t count, const Writes& writes);
  void report_reads(const std::string& phase, uint64_t count, double seconds,
                    const Histogram& samples, uint64_t wrong);
  bool value_is_right(uint64_t item, uint64_t key, std::string_view value) const {
    return value.size() == options_.value_bytes &&
           load64(value.data()) == stamp(key, version_of(item));
  }

  // A prime: its multiples visit all items, however many there are.
  static constexpr uint64_t kStride = 11400714819323198549ULL;

  const RunContext& run_;
  Report& report_;
  const MicroOptions& options_;
  Engine& engine_;
  std::string value_;
  const uint64_t stride_;
  uint64_t dirty_below_ = 0;
  uint64_t live_ = 0;
  uint64_t greatest_ = 0;  // key, as a big-endian number
};

// Runs write_one(writer, i) for each i below count in batches.
template <class F>
Micro::Writes Micro::write_batches(uint64_t count, F&& write_one) {
  Writes writes;
  const std::unique_ptr<Writer> writer = engine_.writer();
  const uint64_t start = Ticks::now();
  uint64_t commit_start = start;
  for (uint64_t done = 0; done < count;) {
    const uint64_t end = std::min(count, done + options_.batch);
    writer->begin(WriteIntent::kBlind);
    for (uint64_t i = done; i < end; ++i) write_one(*writer, i);
    writer->commit();
    const uint64_t now = Ticks::now();
    writes.commits.record(Ticks::ns(now - commit_start));
    writes.windows.add(Ticks::ns(now - start), end - done);
    commit_start = now;
    done = end;
  }
  writes.seconds = Ticks::seconds(Ticks::now() - start);
  return writes;
}

void Micro::report_writes(const std::string& phase, uint64_t count, const Writes& writes) {
  report_.add(phase, "ops_per_s", static_cast<double>(count) / writes.seconds);
  report_.add_latencies(phase, writes.commits);
  if (const double worst = writes.windows.worst_second(); worst > 0) {
    report_.add(phase, "worst_second_ops_per_s", worst);
  }
}

void Micro::load() {
  progress(run_, "load");
  const Writes writes = write_batches(options_.items, [&](Writer& writer, uint64_t item) {
    const uint64_t key = key_of(item);
    greatest_ = std::max(greatest_, big_endian(key));
    make_value(key, 0, value_.data(), value_.size(), run_.fill);
    if (options_.sequential) {
      writer.append(KeyBytes(key), value_);
    } else {
      writer.put(KeyBytes(key), value_);
    }
  });
  report_writes("load", options_.items, writes);
  const Stopwatch watch;
  engine_.drain();
  report_.add("drain", "ops_per_s",
              static_cast<double>(options_.items) / (writes.seconds + watch.seconds()));
  live_ = options_.items;
}

void Micro::overwrite() {
  progress(run_, "overwrite");
  dirty_below_ =
      options_.dirty < 1 ? static_cast<uint64_t>(options_.dirty * 0x1.0p64) : ~uint64_t{0};
  std::vector<uint64_t> items;
  for (uint64_t place = 0; place < options_.items; ++place) {
    if (const uint64_t item = shuffled(place); is_dirty(item)) items.push_back(item);
  }
  write_batches(items.size(), [&](Writer& writer, uint64_t i) {
    const uint64_t key = key_of(items[i]);
    make_value(key, 1, value_.data(), value_.size(), run_.fill);
    writer.put(KeyBytes(key), value_);
  });
  report_.note(print_text("%s of %s values overwritten, not drained",
                          with_commas(items.size()).c_str(), with_commas(options_.items).c_str()));
}

void Micro::warm() {
  progress(run_, "warm");
  const std::unique_ptr<Reader> reader = engine_.reader();
  StampSink sink(options_.value_bytes);
  reader->begin(View::kSnapshot);
  reader->iterate(sink);
  reader->end();
}

void Micro::report_reads(const std::string& phase, uint64_t count, double seconds,
                         const Histogram& samples, uint64_t wrong) {
  report_.add(phase, "ops_per_s", static_cast<double>(count) / seconds);
  report_.add_latencies(phase, samples);
  if (wrong != 0) {
    report_.fail(print_text("%s: %s of %s answers are wrong", phase.c_str(),
                            with_commas(wrong).c_str(), with_commas(count).c_str()));
  }
}

void Micro::get(const std::string& phase) {
  progress(run_, phase);
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kLatest);
  Histogram samples;
  uint64_t wrong = 0;
  uint64_t random = options_.seed;
  const auto get_one = [&] {
    const uint64_t item = scale(mix64(++random), options_.items);
    const uint64_t key = key_of(item);
    std::string_view value;
    const bool right = reader->get(KeyBytes(key), value) && value_is_right(item, key, value);
    wrong += right ? 0 : 1;
  };
  const Stopwatch watch;
  for (uint64_t i = 0; i < options_.gets; ++i) {
    if (i % kSampleEvery != 0) {
      get_one();
      continue;
    }
    const uint64_t start = Ticks::now();
    get_one();
    samples.record(Ticks::ns(Ticks::now() - start));
  }
  const double seconds = watch.seconds();
  reader->end();
  report_reads(phase, options_.gets, seconds, samples, wrong);
}

void Micro::get_chain() {
  progress(run_, "get_chain");
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kLatest);
  Histogram samples;
  uint64_t wrong = 0;
  uint64_t item = options_.seed % options_.items;
  uint64_t last_sample = 0;
  const Stopwatch watch;
  for (uint64_t i = 0; i < options_.gets; ++i) {
    const uint64_t key = key_of(item);
    std::string_view value;
    if (!reader->get(KeyBytes(key), value) || !value_is_right(item, key, value)) {
      ++wrong;
      item = scale(mix64(i), options_.items);
      continue;
    }
    // The place in the chain joins in, or the chain would run in a short circle.
    item = scale(mix64(load64(value.data()) + i), options_.items);
    if ((i + 1) % kSampleEvery == 0) {
      const uint64_t now = Ticks::now();
      if (last_sample != 0) samples.record(Ticks::ns(now - last_sample) / kSampleEvery);
      last_sample = now;
    }
  }
  const double seconds = watch.seconds();
  reader->end();
  report_reads("get_chain", options_.gets, seconds, samples, wrong);
}

void Micro::multi_get() {
  progress(run_, "multi_get");
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kLatest);
  std::array<uint64_t, kMultiGetKeys> items;
  std::array<KeyBytes, kMultiGetKeys> bytes;
  std::array<std::string_view, kMultiGetKeys> keys;
  std::array<std::string_view, kMultiGetKeys> values;
  Histogram calls;
  uint64_t wrong = 0;
  uint64_t random = options_.seed + 1;
  uint64_t count = 0;
  const Stopwatch watch;
  for (; count < options_.gets; count += kMultiGetKeys) {
    for (size_t i = 0; i < kMultiGetKeys; ++i) {
      items[i] = scale(mix64(++random), options_.items);
      bytes[i] = KeyBytes(key_of(items[i]));
      keys[i] = bytes[i];
    }
    const uint64_t start = Ticks::now();
    reader->multi_get(keys, values);
    calls.record(Ticks::ns(Ticks::now() - start));
    for (size_t i = 0; i < kMultiGetKeys; ++i) {
      const bool right = values[i].data() != nullptr &&
                         value_is_right(items[i], load64(bytes[i].bytes), values[i]);
      wrong += right ? 0 : 1;
    }
  }
  const double seconds = watch.seconds();
  reader->end();
  report_reads("multi_get", count, seconds, calls, wrong);
}

void Micro::lower_bound() {
  progress(run_, "lower_bound");
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kLatest);
  StampSink sink(options_.value_bytes);
  Histogram samples;
  uint64_t wrong = 0;
  uint64_t random = options_.seed + 2;
  const uint64_t seeks = std::max<uint64_t>(1, options_.gets / 4);
  const Stopwatch watch;
  for (uint64_t i = 0; i < seeks; ++i) {
    const uint64_t rank = big_endian(key_of(scale(mix64(++random), options_.items)));
    // The key just below an entry's: the seek must land on that entry.
    const KeyBytes below(big_endian(rank == 0 ? 0 : rank - 1));
    sink.restart();
    const uint64_t start = i % kSampleEvery == 0 ? Ticks::now() : 0;
    reader->seek(below, kEntriesAfterSeek, sink);
    if (start != 0) samples.record(Ticks::ns(Ticks::now() - start));
    const bool whole = sink.entries() == kEntriesAfterSeek + 1 || sink.last() == greatest_;
    const bool right =
        sink.entries() != 0 && whole && sink.first() <= rank && sink.first() + 1 >= rank;
    wrong += right ? 0 : 1;
  }
  const double seconds = watch.seconds();
  reader->end();
  report_reads("lower_bound", seeks, seconds, samples, wrong + sink.errors());
}

void Micro::iterate(const std::string& phase) {
  progress(run_, phase);
  constexpr int kPasses = 3;
  std::vector<double> rates;
  const std::unique_ptr<Reader> reader = engine_.reader();
  for (int pass = 0; pass < kPasses; ++pass) {
    StampSink sink(options_.value_bytes);
    const Stopwatch watch;
    reader->begin(View::kSnapshot);
    if (phase == "iterate") {
      reader->iterate(sink);
    } else {
      reader->iterate_batch(sink);
    }
    reader->end();
    rates.push_back(static_cast<double>(sink.entries()) / watch.seconds());
    if (sink.errors() != 0 || sink.entries() != live_) {
      report_.fail(print_text("%s: %s entries of %s, %s errors", phase.c_str(),
                              with_commas(sink.entries()).c_str(), with_commas(live_).c_str(),
                              with_commas(sink.errors()).c_str()));
    }
  }
  std::sort(rates.begin(), rates.end());
  report_.add(phase, "entries_per_s", rates[rates.size() / 2]);
}

void Micro::remove() {
  const auto count = static_cast<uint64_t>(options_.remove * static_cast<double>(options_.items));
  progress(run_, "remove");
  const Writes writes = write_batches(count, [&](Writer& writer, uint64_t place) {
    writer.del(KeyBytes(key_of(shuffled(place))));
  });
  report_writes("remove", count, writes);
  live_ -= count;

  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kSnapshot);
  StampSink sink(options_.value_bytes);
  reader->iterate(sink);
  uint64_t wrong = sink.errors() + (sink.entries() == live_ ? 0 : 1);
  for (uint64_t place = 0; place < std::min<uint64_t>(options_.items, 2 * count); ++place) {
    std::string_view value;
    const bool found = reader->get(KeyBytes(key_of(shuffled(place))), value);
    wrong += found == (place >= count) ? 0 : 1;
  }
  reader->end();
  if (wrong != 0)
    report_.fail(print_text("remove: %s answers are wrong", with_commas(wrong).c_str()));
}

void Micro::run() {
  open_engine(run_, engine_);
  load();
  engine_.settle();
  if (options_.dirty > 0) overwrite();
  warm();
  const std::string get_phase = options_.dirty > 0 ? "get_dirty" : "get";
  if (wanted(get_phase)) get(get_phase);
  if (wanted("get_chain")) get_chain();
  if (wanted("multi_get")) multi_get();
  if (wanted("lower_bound")) lower_bound();
  if (wanted("iterate")) iterate("iterate");
  if (wanted("iterate_batch")) iterate("iterate_batch");
  if (wanted("remove") && options_.remove > 0) remove();
  add_process_figures(report_);
  finish_run(run_, engine_, live_ * (kKeyBytes + options_.value_bytes));
}

}  // namespace

void run_micro(const RunContext& run, const MicroOptions& options, Engine& engine) {
  Micro(run, options, engine).run();
}

}  // namespace hawthorn::bench
