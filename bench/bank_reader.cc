#include "bench/bank_reader.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/bank.h"
#include "bench/clock.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// Accounts are drawn beforehand and read over and over; that many do not fit a cache level that
// the accounts themselves would not fill.
constexpr size_t kPicks = size_t{1} << 20;
// Names are fetched this many reads ahead.
constexpr size_t kAhead = 16;

}  // namespace

BankReader::~BankReader() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void BankReader::start() {
  thread_ = std::thread([this] {
    try {
      run();
    } catch (...) {
      error_ = std::current_exception();
    }
    running_ = true;
    running_.notify_all();
  });
  running_.wait(false);
}

ReaderResult BankReader::stop() {
  stopping_ = true;
  thread_.join();
  if (error_) std::rethrow_exception(error_);
  return result_;
}

void BankReader::run() {
  const std::vector<uint32_t> picks = pareto_accounts(names_.count(), seed_, kPicks);
  const std::unique_ptr<Reader> reader = engine_.reader();
  running_ = true;
  running_.notify_all();

  const uint64_t per_snapshot = std::clamp<uint64_t>(options_.reads_per_tx, 1, kPicks);
  const Stopwatch watch;
  size_t at = 0;
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (at + per_snapshot > picks.size()) at = 0;
    read_snapshot(*reader, picks.data() + at);
    at += per_snapshot;
  }
  result_.seconds = watch.seconds();
}

void BankReader::read_snapshot(Reader& reader, const uint32_t* accounts) {
  const uint64_t count = std::clamp<uint64_t>(options_.reads_per_tx, 1, kPicks);
  reader.begin(View::kSnapshot);
  uint64_t first_balance = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) names_.prefetch(accounts[i + kAhead]);
    const uint64_t balance = read_balance(reader, accounts[i]);
    if (i == 0) first_balance = balance;
  }
  if (read_balance(reader, accounts[0]) != first_balance) {
    complain("a balance changed within a snapshot");
  }
  reader.end();
  result_.reads += count;
}

uint64_t BankReader::read_balance(Reader& reader, uint32_t account) {
  std::string_view value;
  if (!reader.get(names_[account], value)) {
    complain(print_text("account %u is missing", account));
    return 0;
  }
  if (value.size() != sizeof(uint64_t)) {
    complain(print_text("the balance of account %u has %zu bytes", account, value.size()));
    return 0;
  }
  const uint64_t balance = load64(value.data());
  if (balance > options_.initial_balance * options_.accounts) {
    complain(print_text("account %u holds %lu, more than the bank", account, balance));
  }
  return balance;
}

void BankReader::complain(const std::string& text) {
  if (result_.errors++ == 0) result_.first_error = text;
}

}  // namespace hawthorn::bench
