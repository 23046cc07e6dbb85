#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "bench/clock.h"
#include "bench/histogram.h"
#include "bench/team.h"
#include "bench/text.h"
#include "bench/txn.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kPointLoadBatch = 1000;
constexpr uint64_t kPointSamples = 10'000;     // keys whose last commit is looked for afterwards
constexpr uint64_t kPointWarmUpPart = 10;      // of a round, which one before the first is made of
constexpr uint64_t kTransactionsOfALook = 64;  // transactions between two looks at the team
constexpr size_t kCountAt = kStampBytes;       // of a value: how often its key was put
constexpr std::array<TxnKind, 2> kKinds = {TxnKind::kSnapshot, TxnKind::kSerializable};
constexpr std::array<const char*, 2> kPointPhases = {"txn_snapshot", "txn_serializable"};

// A key and its values: the stamp and all bytes follow from the key and the count.
class PointRecord {
 public:
  PointRecord(size_t value_bytes, Fill fill) : fill_(fill), value_(value_bytes, '\0') {}

  void make_key_of(uint64_t item) {
    word_ = random_key(item);
    store64(key_, word_);
  }
  void set_key(std::string_view key) {
    word_ = load64(key.data());
    store64(key_, word_);
  }
  void make(uint32_t count) {
    make_value(word_, static_cast<uint8_t>(count), value_.data(), value_.size(), fill_);
    store64(value_.data() + kCountAt, count);
  }
  // Whether a value can be that of the key; how often it says that the key was put.
  bool fits(std::string_view value, uint64_t& count) const {
    if (value.size() != value_.size()) return false;
    count = load64(value.data() + kCountAt);
    return load64(value.data()) == stamp(word_, static_cast<uint8_t>(count));
  }

  std::string_view key() const { return {key_, sizeof key_}; }
  std::string_view value() const { return value_; }

 private:
  const Fill fill_;
  uint64_t word_ = 0;
  char key_[kKeyBytes];
  std::string value_;
};

// All entries, to their last byte.
class PointSink : public EntrySink {
 public:
  PointSink(size_t value_bytes, Fill fill) : record_(value_bytes, fill) {}

  void add(std::string_view key, std::string_view value) override {
    ++entries_;
    uint64_t count = 0;
    if (key.size() != kKeyBytes) {
      ++errors_;
      return;
    }
    record_.set_key(key);
    if (!record_.fits(value, count)) {
      ++errors_;
      return;
    }
    record_.make(static_cast<uint32_t>(count));
    errors_ += value == record_.value() ? 0 : 1;
    sum_ += count;
  }
  uint64_t entries() const { return entries_; }
  uint64_t errors() const { return errors_; }
  uint64_t sum() const { return sum_; }

 private:
  PointRecord record_;
  uint64_t entries_ = 0;
  uint64_t errors_ = 0;
  uint64_t sum_ = 0;
};

// What one thread did of one kind.
struct alignas(128) PointTally {
  Histogram latencies;
  uint64_t commits = 0;
  uint64_t conflicts = 0;
  uint64_t wrong = 0;
};

// What all threads did of one kind, in the rounds that count.
struct PointSum {
  Histogram latencies;
  uint64_t commits = 0;
  uint64_t conflicts = 0;
  double seconds = 0;
  double rate() const { return static_cast<double>(commits) / seconds; }
};

class Point {
 public:
  Point(const RunContext& run, const PointOptions& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        team_(options.threads),
        counts_(options.keys) {}

  void run();

 private:
  // Each key is put by one thread alone, which therefore knows what is there.
  bool puts(unsigned thread, uint64_t item) const { return item % team_.threads() == thread; }
  uint64_t own_item(unsigned thread, uint64_t random) const {
    const uint64_t own = (options_.keys - thread + team_.threads() - 1) / team_.threads();
    return scale(random, own) * team_.threads() + thread;
  }

  void load();
  double run_kind(size_t kind, uint64_t transactions, uint64_t round);
  void commit_some(size_t kind, unsigned thread, uint64_t transactions, PointTally& tally);
  bool get_is_right(TxnClient& client, PointRecord& record, unsigned thread, uint64_t item,
                    uint32_t least, TxnAnswer& answer) const;
  void report_rates();
  void verify();

  const RunContext& run_;
  Report& report_;
  const PointOptions& options_;
  Engine& engine_;
  Team team_;
  // How often each item was put and committed. Written by the thread that puts it, behind the
  // commit.
  std::vector<std::atomic<uint32_t>> counts_;
  std::array<PointSum, kKinds.size()> sums_;
  std::vector<double> costs_;  // of each round
  uint64_t commits_ = 0;       // of all transactions, the warm-up's too
  uint64_t runs_ = 0;          // so that each draws other numbers
};

void Point::load() {
  progress(run_, "load");
  const double seconds = team_.run([this](unsigned thread, uint64_t) {
    const std::unique_ptr<Writer> writer = engine_.writer();
    PointRecord record(options_.value_bytes, run_.fill);
    const uint64_t end = options_.keys * (thread + 1) / team_.threads();
    for (uint64_t at = options_.keys * thread / team_.threads(); at < end && !team_.stopped();) {
      const uint64_t batch_end = std::min(end, at + kPointLoadBatch);
      writer->begin(WriteIntent::kBlind);
      for (; at < batch_end; ++at) {
        record.make_key_of(at);
        record.make(0);
        writer->put(record.key(), record.value());
      }
      writer->commit();
    }
  });
  report_.add("load", "ops_per_s", static_cast<double>(options_.keys) / seconds);
  engine_.settle();
}

// Whether the key is there as its thread has left it. `least`: how often it had been put when the
// transaction was not begun yet.
bool Point::get_is_right(TxnClient& client, PointRecord& record, unsigned thread, uint64_t item,
                         uint32_t least, TxnAnswer& answer) const {
  record.make_key_of(item);
  std::string_view value;
  answer = client.get(record.key(), value);
  if (answer == TxnAnswer::kConflict) return true;
  uint64_t count = 0;
  if (answer == TxnAnswer::kMissing || !record.fits(value, count)) return false;
  // Another thread may have committed once more than it has told so far.
  const uint64_t most =
      uint64_t{counts_[item].load(std::memory_order_acquire)} + (puts(thread, item) ? 0 : 1);
  return least <= count && count <= most;
}

void Point::commit_some(size_t kind, unsigned thread, uint64_t transactions, PointTally& tally) {
  const std::unique_ptr<TxnClient> client = engine_.transactions(kKinds[kind]);
  PointRecord got(options_.value_bytes, run_.fill);
  PointRecord put(options_.value_bytes, run_.fill);
  uint64_t random = mix64(options_.seed + (runs_ << 16) + thread);
  uint64_t before = Ticks::now();
  for (uint64_t i = 0; i < transactions; ++i) {
    if (i % kTransactionsOfALook == 0 && team_.stopped()) return;
    const uint64_t item_got = scale(mix64(++random), options_.keys);
    const uint64_t item_put = own_item(thread, mix64(++random));
    const uint32_t count = counts_[item_put].load(std::memory_order_relaxed) + 1;
    put.make_key_of(item_put);
    put.make(count);
    for (TxnAnswer answer = TxnAnswer::kConflict;; ++tally.conflicts) {
      const uint32_t least = counts_[item_got].load(std::memory_order_acquire);
      client->begin();
      tally.wrong += get_is_right(*client, got, thread, item_got, least, answer) ? 0 : 1;
      if (answer == TxnAnswer::kConflict) continue;
      if (client->put(put.key(), put.value()) == TxnAnswer::kConflict) continue;
      if (client->commit() == TxnAnswer::kDone) break;
    }
    counts_[item_put].store(count, std::memory_order_release);
    ++tally.commits;
    const uint64_t now = Ticks::now();
    tally.latencies.record(Ticks::ns(now - before));
    before = now;
  }
}

// Returns the commits per second. Round 0 warms up.
double Point::run_kind(size_t kind, uint64_t transactions, uint64_t round) {
  ++runs_;
  std::vector<PointTally> tallies(team_.threads());
  const double seconds = team_.run([&](unsigned thread, uint64_t) {
    const uint64_t share =
        transactions * (thread + 1) / team_.threads() - transactions * thread / team_.threads();
    commit_some(kind, thread, share, tallies[thread]);
  });
  PointSum sum;
  uint64_t wrong = 0;
  for (const PointTally& tally : tallies) {
    sum.latencies.merge(tally.latencies);
    sum.commits += tally.commits;
    sum.conflicts += tally.conflicts;
    wrong += tally.wrong;
  }
  sum.seconds = seconds;
  commits_ += sum.commits;
  if (wrong != 0) {
    report_.fail(print_text("%s: %s gets showed a wrong value, or another time than their own",
                            kPointPhases[kind], with_commas(wrong).c_str()));
  }
  if (round == 0) return sum.rate();
  report_.csv(print_text("txn,%s,point,%u,%s,%lu,%.0f", run_.engine_name.c_str(), team_.threads(),
                         kPointPhases[kind], round, sum.rate()));
  PointSum& all = sums_[kind];
  all.latencies.merge(sum.latencies);
  all.commits += sum.commits;
  all.conflicts += sum.conflicts;
  all.seconds += seconds;
  return sum.rate();
}

void Point::report_rates() {
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    const PointSum& sum = sums_[kind];
    report_.add(kPointPhases[kind], "tx_per_s", sum.rate());
    report_.add_latencies(kPointPhases[kind], sum.latencies);
    report_.add(kPointPhases[kind], "conflicts", static_cast<double>(sum.conflicts));
  }
  report_.add("txn_serializable", "cost", sums_[0].rate() / sums_[1].rate());
  std::sort(costs_.begin(), costs_.end());
  report_.note(print_text(
      "of %zu rounds with %u %s a serializable transaction cost %.2f to %.2f times a snapshot one, "
      "in the middle %.2f",
      costs_.size(), team_.threads(), team_.threads() == 1 ? "thread" : "threads", costs_.front(),
      costs_.back(), costs_[costs_.size() / 2]));
}

void Point::verify() {
  progress(run_, "verify");
  const std::unique_ptr<Reader> reader = engine_.reader();
  reader->begin(View::kSnapshot);
  PointSink sink(options_.value_bytes, run_.fill);
  reader->iterate(sink);
  if (sink.errors() != 0 || sink.entries() != options_.keys || sink.sum() != commits_) {
    report_.fail(print_text("%s entries of %s sum up to %s after %s commits, %s are damaged",
                            with_commas(sink.entries()).c_str(), with_commas(options_.keys).c_str(),
                            with_commas(sink.sum()).c_str(), with_commas(commits_).c_str(),
                            with_commas(sink.errors()).c_str()));
  }
  uint64_t wrong = 0;
  PointRecord record(options_.value_bytes, run_.fill);
  for (uint64_t i = 0; i < std::min(kPointSamples, options_.keys); ++i) {
    const uint64_t item = scale(mix64(i), options_.keys);
    record.make_key_of(item);
    record.make(counts_[item]);
    std::string_view value;
    wrong += reader->get(record.key(), value) && value == record.value() ? 0 : 1;
  }
  reader->end();
  if (wrong != 0) {
    report_.fail(print_text("%s keys of a sample do not have the value of their last commit",
                            with_commas(wrong).c_str()));
  }
}

void Point::run() {
  open_engine(run_, engine_);
  load();
  for (uint64_t round = 0; round <= options_.rounds; ++round) {
    progress(run_, round == 0 ? std::string("warm-up")
                              : print_text("round %lu of %lu", round, options_.rounds));
    const uint64_t transactions =
        round == 0 ? options_.transactions / kPointWarmUpPart + 1 : options_.transactions;
    std::array<double, kKinds.size()> rates{};
    for (const size_t place : {size_t{0}, size_t{1}}) {
      const size_t kind = (place + round) % kKinds.size();
      rates[kind] = run_kind(kind, transactions, round);
    }
    if (round != 0) costs_.push_back(rates[0] / rates[1]);
  }
  report_rates();
  engine_.drain();
  add_process_figures(report_);
  verify();
  finish_run(run_, engine_, options_.keys * (kKeyBytes + options_.value_bytes));
}

}  // namespace

void run_txn_point(const RunContext& run, const PointOptions& options, Engine& engine) {
  Point(run, options, engine).run();
}

}  // namespace hawthorn::bench
