#include <algorithm>
#include <array>
#include <string>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/record.h"
#include "bench/team.h"
#include "bench/text.h"
#include "bench/txn.h"
#include "bench/whole_sink.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kKeysOfALoad = 1000;
constexpr uint64_t kGets = 16;  // of each clone

struct Durable {
  const char* phase;
  SyncMode sync;
};
constexpr std::array<Durable, 2> kDurable = {
    {{"clone_none", SyncMode::kNone}, {"clone_full", SyncMode::kFull}}};

class CloneRun {
 public:
  CloneRun(const RunContext& run, const CloneOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        record_(kKeyBytes, options.value_bytes, run.fill) {}

  void run();

 private:
  void load();
  void time_clones();
  void check(Clone& clone, uint64_t number);
  void check_apart();
  bool clone_shows(Clone& clone, uint64_t item, uint8_t version);

  const RunContext& run_;
  Report& report_;
  const CloneOptions& options_;
  Engine& engine_;
  Record record_;
  uint64_t wrong_ = 0;
};

void CloneRun::load() {
  progress(run_, "load");
  Team team(options_.threads);
  const double seconds = team.run([&](unsigned thread, uint64_t) {
    const std::unique_ptr<Writer> writer = engine_.writer();
    Record record(kKeyBytes, options_.value_bytes, run_.fill);
    const uint64_t end = options_.keys * (thread + 1) / team.threads();
    for (uint64_t at = options_.keys * thread / team.threads(); at < end && !team.stopped();) {
      const uint64_t batch_end = std::min(end, at + kKeysOfALoad);
      writer->begin(WriteIntent::kBlind);
      for (; at < batch_end; ++at) {
        record.make(at);
        writer->put(record.key(), record.value());
      }
      writer->commit();
    }
  });
  report_.add("load", "ops_per_s", static_cast<double>(options_.keys) / seconds);
  engine_.settle();
}

bool CloneRun::clone_shows(Clone& clone, uint64_t item, uint8_t version) {
  record_.make_key_of(item);
  std::string_view value;
  return clone.get(record_.key(), value) && record_.is_whole_value(value, version);
}

void CloneRun::check(Clone& clone, uint64_t number) {
  wrong_ += clone.count() == options_.keys ? 0 : 1;
  for (uint64_t i = 0; i < kGets; ++i) {
    const uint64_t random = mix64(options_.seed + number * kGets + i);
    wrong_ += clone_shows(clone, scale(random, options_.keys), 0) ? 0 : 1;
  }
  record_.make_key_of(options_.keys + number);
  std::string_view value;
  wrong_ += clone.get(record_.key(), value) ? 1 : 0;
}

void CloneRun::time_clones() {
  progress(run_, "clone");
  std::array<Histogram, kDurable.size()> clones;
  Histogram drops;
  for (uint64_t i = 0; i < options_.clones * kDurable.size(); ++i) {
    const size_t which = i % kDurable.size();
    const std::string name = print_text("clone.%lu", i);
    const uint64_t start = Ticks::now();
    const std::unique_ptr<Clone> clone = engine_.clone(name, kDurable[which].sync);
    clones[which].record(Ticks::ns(Ticks::now() - start));
    check(*clone, i);
    const uint64_t drop_start = Ticks::now();
    clone->drop();
    drops.record(Ticks::ns(Ticks::now() - drop_start));
  }
  for (size_t which = 0; which < kDurable.size(); ++which) {
    report_.add_latencies(kDurable[which].phase, clones[which]);
  }
  report_.add_latencies("drop", drops);
  if (wrong_ != 0) {
    report_.fail(print_text("clones gave %s wrong answers", with_commas(wrong_).c_str()));
  }
}

// One more clone, which is written to, as its source is.
void CloneRun::check_apart() {
  const std::unique_ptr<Clone> clone = engine_.clone("clone.apart", SyncMode::kNone);
  const uint64_t half = options_.keys / 2;
  const uint64_t count = std::min(kGets, half);
  {
    const std::unique_ptr<Writer> writer = engine_.writer();
    for (uint64_t item = 0; item < count; ++item) {
      record_.make(item, 1);
      clone->put(record_.key(), record_.value());
      record_.make(half + item, 2);
      writer->put_now(record_.key(), record_.value());
    }
  }
  uint64_t wrong = clone->count() == options_.keys ? 0 : 1;
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kLatest);
  const auto source_shows = [&](uint64_t item, uint8_t version) {
    record_.make_key_of(item);
    std::string_view value;
    return reader->get(record_.key(), value) && record_.is_whole_value(value, version);
  };
  for (uint64_t item = 0; item < count; ++item) {
    wrong += clone_shows(*clone, item, 1) && clone_shows(*clone, half + item, 0) ? 0 : 1;
    wrong += source_shows(item, 0) && source_shows(half + item, 2) ? 0 : 1;
  }
  reader->end();
  clone->drop();
  if (wrong != 0) {
    report_.fail(print_text("a clone and its source show %s wrong answers after writes to both",
                            with_commas(wrong).c_str()));
  }
}

void CloneRun::run() {
  open_engine(run_, engine_);
  load();
  time_clones();
  check_apart();
  engine_.drain();
  add_process_figures(report_);
  verify_walk(run_, engine_, WholeSink(options_.value_bytes, run_.fill), options_.keys);
  finish_run(run_, engine_, options_.keys * record_.bytes());
}

}  // namespace

void run_txn_clone(const RunContext& run, const CloneOptions& options, Engine& engine) {
  CloneRun(run, options, engine).run();
}

}  // namespace hawthorn::bench
