#pragma once
// The bank's reader: a thread that looks accounts up, so and so many under one snapshot, for as
// long as the writer runs.
//
// Used by bank.h. Threads: start and stop from one thread; it runs one of its own.
//
// 1. Each read finds its account, with a balance that the bank can hold.
// 2. At the end of a snapshot its first account is read once more, uncounted: it holds what it
// held.

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>

#include "bench/bank_data.h"
#include "bench/engine.h"

namespace hawthorn::bench {

struct BankOptions;

struct ReaderResult {
  uint64_t reads = 0;
  uint64_t errors = 0;
  double seconds = 0;
  std::string first_error;

  double rate() const { return seconds > 0 ? static_cast<double>(reads) / seconds : 0; }
};

class BankReader {
 public:
  BankReader(Engine& engine, const BankOptions& options, const AccountNames& names, uint64_t seed)
      : engine_(engine), options_(options), names_(names), seed_(seed) {}
  ~BankReader();

  void start();
  // Rethrows what the engine threw.
  ReaderResult stop();

 private:
  void run();
  void read_snapshot(Reader& reader, const uint32_t* accounts);
  uint64_t read_balance(Reader& reader, uint32_t account);
  void complain(const std::string& text);

  Engine& engine_;
  const BankOptions& options_;
  const AccountNames& names_;
  const uint64_t seed_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> running_{false};
  std::thread thread_;
  ReaderResult result_;
  std::exception_ptr error_;
};

}  // namespace hawthorn::bench
