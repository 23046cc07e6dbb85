#include "bench/bank.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <latch>
#include <numeric>
#include <optional>
#include <thread>

#include "bench/bank_reader.h"
#include "bench/clock.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kRounds = 10;  // stretches of a phase whose rates are told one by one
// Larger commits take so long that a second holds few of them.
constexpr uint64_t kWindowBatchMax = 10'000;

struct PhaseSpec {
  std::string name;
  uint64_t seed = 0;
  uint64_t attempts = 0;
  bool zero_amounts = false;
  bool with_reader = false;
};

struct ThreadResult {
  uint64_t attempts = 0;
  uint64_t missing = 0;
  Histogram commits;
  RateWindows windows;
  std::vector<double> round_ends;  // seconds
  std::exception_ptr error;
};

struct PhaseResult {
  double seconds = 0;
  uint64_t attempts = 0;
  uint64_t succeeded = 0;
  uint64_t missing = 0;
  Histogram commits;
  RateWindows windows;
  std::vector<double> round_ends;  // of the first thread
  ReaderResult reads;

  double rate() const { return static_cast<double>(attempts) / seconds; }
};

// The accounts and attempts of a phase that one thread has.
struct Share {
  uint64_t first_account;
  uint64_t accounts;
  uint64_t attempts;
};

Share share_of(const BankOptions& options, uint64_t attempts, unsigned thread) {
  const uint64_t first = options.accounts * thread / options.threads;
  const uint64_t end = options.accounts * (thread + 1) / options.threads;
  const uint64_t tries =
      attempts * (thread + 1) / options.threads - attempts * thread / options.threads;
  return {first, end - first, tries};
}

class Bank {
 public:
  Bank(const RunContext& run, const BankOptions& options, const AccountNames& names, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        names_(names),
        engine_(engine),
        histories_(options.threads),
        logged_(options.threads) {}

  void run();

 private:
  PhaseResult run_phase(const PhaseSpec& spec);
  void run_writer(const PhaseSpec& spec, unsigned thread, std::latch& start, ThreadResult& result);
  void write_beside_backups(double rate_alone);
  void report_phase(const std::string& phase, const PhaseResult& result);
  double drain();
  void load();
  void scan();
  void verify();

  const RunContext& run_;
  Report& report_;
  const BankOptions& options_;
  const AccountNames& names_;
  Engine& engine_;
  std::vector<ThreadHistory> histories_;
  std::vector<uint64_t> logged_;
  uint64_t bytes_raw_ = 0;
};

void Bank::run_writer(const PhaseSpec& spec, unsigned thread, std::latch& start,
                      ThreadResult& result) {
  const Share share = share_of(options_, spec.attempts, thread);
  TransferSource source(spec.seed + thread, share.first_account, share.accounts,
                        options_.initial_balance);
  if (!spec.zero_amounts) histories_[thread].stretches.push_back({source, share.attempts});
  bool arrived = false;
  try {
    BankWriter writer(engine_, options_, names_, thread, spec.zero_amounts);
    if (!spec.zero_amounts) writer.set_logged(logged_[thread]);
    TransferFeed feed(source, names_);
    arrived = true;
    start.arrive_and_wait();

    const uint64_t start_ticks = Ticks::now();
    uint64_t commit_start = start_ticks;
    uint64_t commits = 0;
    uint64_t next_round = std::max<uint64_t>(1, share.attempts / kRounds);
    while (result.attempts < share.attempts) {
      const uint64_t tried = writer.run_batch(feed, share.attempts - result.attempts);
      if (options_.sync_every != 0 && ++commits % options_.sync_every == 0) engine_.sync();
      const uint64_t now = Ticks::now();
      result.commits.record(Ticks::ns(now - commit_start));
      result.windows.add(Ticks::ns(now - start_ticks), tried);
      commit_start = now;
      result.attempts += tried;
      if (result.attempts >= next_round) {
        result.round_ends.push_back(Ticks::seconds(now - start_ticks));
        next_round = std::max(result.attempts + 1, next_round + share.attempts / kRounds);
      }
    }
    result.missing = writer.missing_accounts();
    if (!spec.zero_amounts) logged_[thread] = writer.logged();
  } catch (...) {
    result.error = std::current_exception();
    if (!arrived) start.count_down();
  }
}

PhaseResult Bank::run_phase(const PhaseSpec& spec) {
  progress(run_, spec.name);
  PhaseResult phase;
  const uint64_t logged_before = std::accumulate(logged_.begin(), logged_.end(), uint64_t{0});
  std::vector<ThreadResult> results(options_.threads);
  std::latch start(options_.threads);
  BankReader reader(engine_, options_, names_, spec.seed + 999);
  if (spec.with_reader) reader.start();
  const Stopwatch watch;
  {
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < options_.threads; ++t) {
      others.emplace_back([&, t] { run_writer(spec, t, start, results[t]); });
    }
    run_writer(spec, 0, start, results[0]);
  }
  phase.seconds = watch.seconds();
  if (spec.with_reader) phase.reads = reader.stop();
  for (ThreadResult& result : results) {
    if (result.error) std::rethrow_exception(result.error);
    phase.attempts += result.attempts;
    phase.missing += result.missing;
    phase.commits.merge(result.commits);
    phase.windows.merge(result.windows);
  }
  phase.round_ends = std::move(results[0].round_ends);
  phase.succeeded = std::accumulate(logged_.begin(), logged_.end(), uint64_t{0}) - logged_before;
  if (phase.missing != 0) {
    report_.fail(print_text("%s: %s accounts were not found", spec.name.c_str(),
                            with_commas(phase.missing).c_str()));
  }
  return phase;
}

void Bank::report_phase(const std::string& phase, const PhaseResult& result) {
  report_.add(phase, "tx_per_s", result.rate());
  report_.add_latencies(phase, result.commits);
  if (options_.batch_size <= kWindowBatchMax) {
    if (const double worst = result.windows.worst_second(); worst > 0) {
      report_.add(phase, "worst_second_ops_per_s", worst);
    }
  }
  report_.note(print_text("%s: %s of %s transfers found the money", phase.c_str(),
                          with_commas(result.succeeded).c_str(),
                          with_commas(result.attempts).c_str()));
  const uint64_t share = share_of(options_, result.attempts, 0).attempts;
  double before = 0;
  for (size_t round = 0; round < result.round_ends.size(); ++round) {
    const uint64_t attempts = share * (round + 1) / kRounds - share * round / kRounds;
    const double seconds = result.round_ends[round] - before;
    before = result.round_ends[round];
    report_.csv(print_text("bank,%s,%lu,%s,%zu,%.0f", run_.engine_name.c_str(), options_.batch_size,
                           phase.c_str(), round + 1,
                           static_cast<double>(attempts * options_.threads) / seconds));
  }
}

double Bank::drain() {
  const Stopwatch watch;
  engine_.drain();
  return watch.seconds();
}

void Bank::load() {
  progress(run_, "load");
  const Stopwatch watch;
  load_accounts(engine_, options_, names_);
  report_.add("load", "ops_per_s", static_cast<double>(names_.count()) / watch.seconds());
  drain();
}

void Bank::scan() {
  progress(run_, "scan");
  // The first pass warms what it can; the median of the rest counts.
  constexpr int kPasses = 3;
  for (const bool by_cursor : {true, false}) {
    std::vector<double> rates;
    BankSink last;
    for (int pass = 0; pass <= kPasses; ++pass) {
      BankSink sink;
      const std::unique_ptr<Reader> reader = engine_.reader();
      const Stopwatch watch;
      reader->begin(View::kSnapshot);
      if (by_cursor) {
        reader->iterate(sink);
      } else {
        reader->iterate_batch(sink);
      }
      reader->end();
      if (pass != 0) rates.push_back(static_cast<double>(sink.entries()) / watch.seconds());
      last = sink;
    }
    std::sort(rates.begin(), rates.end());
    report_.add(by_cursor ? "iterate" : "scan", "entries_per_s", rates[rates.size() / 2]);

    const uint64_t log_entries = std::accumulate(logged_.begin(), logged_.end(), uint64_t{0});
    if (last.balance_sum() != options_.accounts * options_.initial_balance) {
      report_.fail(print_text("the balances sum up to %s, not %s",
                              with_commas(last.balance_sum()).c_str(),
                              with_commas(options_.accounts * options_.initial_balance).c_str()));
    }
    if (last.accounts() != options_.accounts || last.log_entries() != log_entries) {
      report_.fail(
          print_text("%s accounts and %s log entries, not %s and %s",
                     with_commas(last.accounts()).c_str(), with_commas(last.log_entries()).c_str(),
                     with_commas(options_.accounts).c_str(), with_commas(log_entries).c_str()));
    }
  }
}

void Bank::verify() {
  progress(run_, "verify");
  const Stopwatch watch;
  if (const auto error = compare_bank(engine_, options_, names_, histories_, bytes_raw_)) {
    report_.fail(*error);
  }
  report_.note(print_text("%s: every entry compared in %.1f s", report_.ok() ? "PASS" : "FAIL",
                          watch.seconds()));
}

// The writers beside backups, and what that costs them.
void Bank::write_beside_backups(double rate_alone) {
  const std::string directory = run_.config.path + ".backups";
  std::atomic<bool> stop{false};
  std::exception_ptr error;
  uint64_t bytes = 0;
  uint64_t made = 0;
  const auto back_up = [&] {
    try {
      const std::unique_ptr<Backups> backups = engine_.backups(directory);
      while (!stop.load(std::memory_order_relaxed)) {
        bytes += backups->make(options_.backup_rate);
        ++made;
        if (stop.load(std::memory_order_relaxed)) backups->verify();
        backups->remove();
      }
    } catch (...) {
      error = std::current_exception();
    }
  };
  const Stopwatch watch;
  std::thread copier(back_up);
  std::optional<PhaseResult> result;
  try {
    result = run_phase({"write_backup", options_.seed + 2 * options_.threads, options_.transactions,
                        false, false});
  } catch (...) {
    stop = true;
    copier.join();
    throw;
  }
  stop = true;
  copier.join();
  const double seconds = watch.seconds();
  std::filesystem::remove_all(directory);
  if (error) std::rethrow_exception(error);
  report_phase("write_backup", *result);
  report_.add("write_backup", "writer_loss", 1.0 - result->rate() / rate_alone);
  report_.add("write_backup", "bytes_per_s", static_cast<double>(bytes) / seconds);
  report_.note(print_text("write_backup: %s backups", with_commas(made).c_str()));
  drain();
}

void Bank::run() {
  open_engine(run_, engine_);
  load();

  const uint64_t warm_up = std::min<uint64_t>(options_.transactions / 10, 100'000);
  if (warm_up != 0) {
    const PhaseResult result = run_phase({"warm_up", options_.seed ^ 0xDEAD, warm_up, true, false});
    report_.add("warm_up", "tx_per_s", result.rate());
  }
  drain();

  const PhaseResult write =
      run_phase({"write", options_.seed, options_.transactions, false, false});
  report_phase("write", write);
  report_.add("drain", "tx_per_s", static_cast<double>(write.attempts) / (write.seconds + drain()));

  if (options_.with_reader) {
    // Seeds of threads are neighbours: the second phase starts beyond those of the first.
    const PhaseResult both = run_phase(
        {"write_read", options_.seed + options_.threads, options_.transactions, false, true});
    report_phase("write_read", both);
    report_.add("write_read", "reads_per_s", both.reads.rate());
    report_.add("write_read", "writer_loss", 1.0 - both.rate() / write.rate());
    if (both.reads.errors != 0) {
      report_.fail(print_text("%s wrong reads beside the writer: %s",
                              with_commas(both.reads.errors).c_str(),
                              both.reads.first_error.c_str()));
    }
    drain();
  }
  if (options_.backup_rate != 0) {
    if (!engine_.backs_up()) throw EngineError("no backups");
    write_beside_backups(write.rate());
  }
  add_process_figures(report_);
  scan();
  verify();
  finish_run(run_, engine_, bytes_raw_);
}

}  // namespace

BankWriter::BankWriter(Engine& engine, const BankOptions& options, const AccountNames& names,
                       unsigned thread, bool zero_amounts)
    : writer_(engine.writer()),
      options_(options),
      names_(names),
      thread_(thread),
      zero_amounts_(zero_amounts) {}

uint64_t BankWriter::run_batch(TransferFeed& feed, uint64_t attempts_left) {
  const uint64_t attempts = std::min(attempts_left, options_.batch_size);
  writer_->begin(WriteIntent::kReadWrite);
  for (uint64_t i = 0; i < attempts; ++i) {
    if (transfer(feed.next())) ++logged_;
  }
  writer_->commit();
  return attempts;
}

bool BankWriter::transfer(const Transfer& transfer) {
  const std::string_view source = names_[transfer.source];
  const std::string_view target = names_[transfer.target];
  const uint64_t amount = zero_amounts_ ? 0 : transfer.amount;
  std::string_view value;
  if (!writer_->get_for_update(0, source, value) || value.size() != sizeof(uint64_t)) {
    ++missing_;
    return false;
  }
  const uint64_t source_balance = load64(value.data());
  if (source_balance < amount) return false;
  if (!writer_->get_for_update(1, target, value) || value.size() != sizeof(uint64_t)) {
    ++missing_;
    return false;
  }
  const uint64_t target_balance = load64(value.data());

  char balance[sizeof(uint64_t)];
  store64(balance, source_balance - amount);
  writer_->update(0, source, {balance, sizeof balance});
  store64(balance, target_balance + amount);
  writer_->update(1, target, {balance, sizeof balance});
  writer_->insert_next(LogKey(log_sequence(thread_, logged_ + 1)),
                       LogValue(source, target, amount));
  return true;
}

void load_accounts(Engine& engine, const BankOptions& options, const AccountNames& names) {
  // One batch, in the shuffled order of the names, as the document has it.
  const std::unique_ptr<Writer> writer = engine.writer();
  char balance[sizeof(uint64_t)];
  store64(balance, options.initial_balance);
  writer->begin(WriteIntent::kBlind);
  for (uint64_t i = 0; i < names.count(); ++i) writer->put(names[i], {balance, sizeof balance});
  writer->commit();
}

std::optional<std::string> compare_bank(Engine& engine, const BankOptions& options,
                                        const AccountNames& names,
                                        std::vector<ThreadHistory> histories, uint64_t& bytes_raw) {
  BankComparer comparer(names, options.initial_balance, std::move(histories));
  const std::unique_ptr<Reader> reader = engine.reader();
  reader->begin(View::kSnapshot);
  reader->iterate(comparer);
  reader->end();
  bytes_raw = comparer.bytes();
  return comparer.finish();
}

void run_bank(const RunContext& run, const BankOptions& options, const AccountNames& names,
              Engine& engine) {
  Bank(run, options, names, engine).run();
}

}  // namespace hawthorn::bench
