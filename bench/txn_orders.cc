#include <algorithm>
#include <array>
#include <vector>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/record.h"
#include "bench/text.h"
#include "bench/txn.h"
#include "bench/whole_sink.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kParts = 10;  // of the inserts, each of which both orders do before the next
constexpr uint64_t kOrdersSampleEvery = 64;  // gets whose latency is looked at
constexpr uint64_t kWarmUpPart = 10;         // of a round, which one before the first is made of
constexpr std::array<const char*, 2> kInserts = {"insert_bytewise", "insert_compared"};
constexpr std::array<const char*, 2> kOrderGets = {"get_bytewise", "get_compared"};

// What one order did in all rounds that count.
struct Sum {
  Histogram samples;
  uint64_t operations = 0;
  double seconds = 0;
  void add(const Sum& other) {
    samples.merge(other.samples);
    operations += other.operations;
    seconds += other.seconds;
  }
  double rate() const { return static_cast<double>(operations) / seconds; }
};

class OrdersRun {
 public:
  OrdersRun(const RunContext& run, const OrdersOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        record_(kKeyBytes, options.value_bytes, run.fill) {}

  void run();

 private:
  std::unique_ptr<Writer> writer_of(size_t order) {
    return order == 0 ? engine_.writer() : engine_.compared_writer();
  }
  std::unique_ptr<Reader> reader_of(size_t order) {
    return order == 0 ? engine_.reader() : engine_.compared_reader();
  }

  void insert();
  void insert_part(Writer& writer, uint64_t part, Sum& sum);
  void get();
  void get_some(size_t order, uint64_t gets, uint64_t round, Sum& sum);
  void report_both(const std::array<const char*, 2>& phases, const std::array<Sum, 2>& sums);
  uint64_t verify(size_t order);

  const RunContext& run_;
  Report& report_;
  const OrdersOptions& options_;
  Engine& engine_;
  Record record_;
};

void OrdersRun::report_both(const std::array<const char*, 2>& phases,
                            const std::array<Sum, 2>& sums) {
  for (size_t order = 0; order < 2; ++order) {
    report_.add(phases[order], "ops_per_s", sums[order].rate());
    report_.add_latencies(phases[order], sums[order].samples);
  }
  report_.add(phases[1], "cost", sums[0].rate() / sums[1].rate());
}

void OrdersRun::insert_part(Writer& writer, uint64_t part, Sum& sum) {
  uint64_t at = options_.keys * part / kParts;
  const uint64_t end = options_.keys * (part + 1) / kParts;
  sum.operations += end - at;
  const Stopwatch watch;
  while (at < end) {
    const uint64_t start = Ticks::now();
    const uint64_t batch_end = std::min(end, at + options_.batch);
    writer.begin(WriteIntent::kBlind);
    for (; at < batch_end; ++at) {
      record_.make(at);
      writer.put(record_.key(), record_.value());
    }
    writer.commit();
    sum.samples.record(Ticks::ns(Ticks::now() - start));
  }
  sum.seconds += watch.seconds();
}

void OrdersRun::insert() {
  std::array<Sum, 2> sums;
  {
    const std::array<std::unique_ptr<Writer>, 2> writers = {writer_of(0), writer_of(1)};
    for (uint64_t part = 0; part < kParts; ++part) {
      progress(run_, print_text("inserts, part %lu of %lu", part + 1, kParts));
      for (const size_t place : {size_t{0}, size_t{1}}) {
        const size_t order = (place + part) % 2;
        insert_part(*writers[order], part, sums[order]);
      }
    }
  }
  report_both(kInserts, sums);
  engine_.settle();
}

// Both orders get the same keys of a round.
void OrdersRun::get_some(size_t order, uint64_t gets, uint64_t round, Sum& sum) {
  const std::unique_ptr<Reader> reader = reader_of(order);
  reader->begin(View::kLatest);
  uint64_t random = mix64(options_.seed + round);
  uint64_t wrong = 0;
  Sum own;
  own.operations = gets;
  const Stopwatch watch;
  for (uint64_t i = 0; i < gets; ++i) {
    record_.make_key_of(scale(mix64(++random), options_.keys));
    const bool sampled = i % kOrdersSampleEvery == 0;
    const uint64_t start = sampled ? Ticks::now() : 0;
    std::string_view value;
    const bool right = reader->get(record_.key(), value) && record_.is_value(value);
    if (sampled) own.samples.record(Ticks::ns(Ticks::now() - start));
    wrong += right ? 0 : 1;
  }
  own.seconds = watch.seconds();
  reader->end();
  if (wrong != 0) {
    report_.fail(print_text("%s: %s gets showed a wrong value, or none", kOrderGets[order],
                            with_commas(wrong).c_str()));
  }
  sum.add(own);
  if (round == 0) return;
  report_.csv(print_text("txn,%s,orders,1,%s,%lu,%.0f", run_.engine_name.c_str(), kOrderGets[order],
                         round, own.rate()));
}

// Round 0 warms up.
void OrdersRun::get() {
  std::array<Sum, 2> sums;
  std::vector<double> costs;
  for (uint64_t round = 0; round <= options_.rounds; ++round) {
    progress(run_, round == 0 ? std::string("warm-up")
                              : print_text("round %lu of %lu", round, options_.rounds));
    const uint64_t gets = round == 0 ? options_.gets / kWarmUpPart + 1 : options_.gets;
    std::array<Sum, 2> ones;
    for (const size_t place : {size_t{0}, size_t{1}}) {
      const size_t order = (place + round) % 2;
      get_some(order, gets, round, ones[order]);
    }
    if (round == 0) continue;
    costs.push_back(ones[0].rate() / ones[1].rate());
    for (size_t order = 0; order < 2; ++order) sums[order].add(ones[order]);
  }
  report_both(kOrderGets, sums);
  std::sort(costs.begin(), costs.end());
  report_.note(
      print_text("of %zu rounds a get by comparisons cost %.2f to %.2f times a bytewise one, in "
                 "the middle %.2f",
                 costs.size(), costs.front(), costs.back(), costs[costs.size() / 2]));
}

// Returns the bytes of keys and values that are there.
uint64_t OrdersRun::verify(size_t order) {
  progress(run_, "verify");
  const std::unique_ptr<Reader> reader = reader_of(order);
  reader->begin(View::kSnapshot);
  WholeSink whole(options_.value_bytes, run_.fill);
  reader->iterate(whole);
  StampSink ordered(options_.value_bytes);
  reader->iterate(ordered);
  reader->end();
  if (whole.errors() != 0 || whole.versions() != 0 || ordered.errors() != 0 ||
      whole.entries() != options_.keys || ordered.entries() != options_.keys) {
    report_.fail(
        print_text("%s: the walks found %s and %s entries of %s, %s damaged, %s out of "
                   "order",
                   kOrderGets[order], with_commas(whole.entries()).c_str(),
                   with_commas(ordered.entries()).c_str(), with_commas(options_.keys).c_str(),
                   with_commas(whole.errors()).c_str(), with_commas(ordered.errors()).c_str()));
  }
  return whole.entries() * record_.bytes();
}

void OrdersRun::run() {
  open_engine(run_, engine_);
  insert();
  get();
  engine_.drain();
  add_process_figures(report_);
  verify(0);
  verify(1);
  finish_run(run_, engine_, 2 * options_.keys * record_.bytes(), [this] { return verify(1); });
}

}  // namespace

void run_txn_orders(const RunContext& run, const OrdersOptions& options, Engine& engine) {
  OrdersRun(run, options, engine).run();
}

}  // namespace hawthorn::bench
