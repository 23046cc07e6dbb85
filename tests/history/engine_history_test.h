#pragma once
// What the tests of the engine's isolation share: recordings in a temporary directory, the ways to
// begin, and a verdict on a history that keeps the file of a wrong one.
//
// Not here: the clients (history_client.h). Used by tests/history only.

#include <unistd.h>

#include <memory>
#include <string>
#include <thread>

#include "tests/history/checker.h"
#include "tests/history/history_client.h"
#include "tests/support/engine_test.h"

namespace hawthorn::history {

// What the engine promises: begin sees every commit that was acknowledged before, of all threads,
// and what a transaction reads is one state, whether it commits or not.
inline constexpr CheckOptions kStrong{.real_time = true, .aborted_reads = true};

inline Result<hawthorn::Transaction> begin_optimistic(Db& db) {
  return db.begin(TxnMode::kOptimistic);
}
inline Result<hawthorn::Transaction> begin_exclusive(Db& db) {
  return db.begin(TxnMode::kExclusive);
}
inline Result<hawthorn::Transaction> begin_serializable(Db& db) {
  return db.begin({.isolation = Isolation::kSerializable});
}
inline Result<hawthorn::Transaction> begin_pessimistic(Db& db) {
  return db.begin({.mode = TxnMode::kPessimistic, .isolation = Isolation::kSnapshot});
}
inline Result<hawthorn::Transaction> begin_locking(Db& db) {
  return db.begin({.mode = TxnMode::kPessimistic, .isolation = Isolation::kReadCommitted});
}
// Each of those that are serializable, side by side.
inline Result<hawthorn::Transaction> begin_any_serializable(Db& db) {
  thread_local Prng prng(std::hash<std::thread::id>()(std::this_thread::get_id()));
  const TxnMode modes[] = {TxnMode::kOptimistic, TxnMode::kPessimistic, TxnMode::kOptimistic,
                           TxnMode::kPessimistic, TxnMode::kExclusive};
  return db.begin({.mode = modes[prng.below(5)], .isolation = Isolation::kSerializable});
}

// So small that flushes and evictions happen all the time.
inline Options small_options() {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  return options;
}

inline std::unique_ptr<Recording> make_recording(const tests::TempDirectory& directory,
                                                 const ClientOptions& options) {
  std::string error;
  auto recording = Recording::create(directory / "recording", options.threads,
                                     (uint64_t{4} << 20) + options.transactions * 200, &error);
  EXPECT_NE(recording, nullptr) << error;
  return recording;
}

// Nothing was found. Otherwise the history is kept in a file, which the message names.
inline ::testing::AssertionResult allowed(const History& history, Level level,
                                          const CheckOptions& options) {
  const std::vector<Anomaly> found = check(history, level, options);
  if (found.empty()) return ::testing::AssertionSuccess();
  std::string path = ::testing::TempDir() + "hawthorn-wrong-history-XXXXXX";
  const int file = mkstemp(path.data());  // one that no other test has
  if (file >= 0) close(file);
  std::string error;
  const bool kept = write_file(history, path, &error);
  return ::testing::AssertionFailure()
         << to_text(found) << (kept ? "the history is kept in " + path : error);
}

inline bool has(const std::vector<Anomaly>& anomalies, AnomalyKind kind) {
  for (const Anomaly& anomaly : anomalies) {
    if (anomaly.kind == kind) return true;
  }
  return false;
}

inline uint64_t count_of(const History& history, Outcome outcome) {
  uint64_t count = 0;
  for (const Transaction& transaction : history.transactions) {
    count += transaction.outcome == outcome ? 1 : 0;
  }
  return count;
}

}  // namespace hawthorn::history
