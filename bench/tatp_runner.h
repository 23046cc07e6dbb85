#pragma once
// Runs the transactions of TATP on one connection, and checks every answer.
//
// Used by tatp.cc. Errors: EngineError, but of kind kBusy, which is an outcome. Threads: a runner
// in one; those of several threads share a model.
//
// 1. What cannot change must be exactly what the population says; of what can, each value, and that
//    a row is there or not, must be of a version from the one that was committed before the
//    transaction to the one that was begun when it ended (tatp_model.h).
// 2. Whether a transaction that writes succeeds follows from what is there under its lock, and is
//    compared with that. One that does not is rolled back.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/histogram.h"
#include "bench/tatp_database.h"
#include "bench/tatp_model.h"
#include "bench/tatp_source.h"

namespace hawthorn::bench {

// What became of transactions of one kind.
struct TatpTally {
  Histogram latencies;  // of all of them, from BEGIN to the end of COMMIT or ROLLBACK
  uint64_t done = 0;
  uint64_t failed = 0;  // as the rules have it: a row was missing, or there already
  uint64_t busy = 0;    // waited for a lock longer than busy_timeout, and were rolled back

  void merge(const TatpTally& other);
};
using TatpTallies = std::array<TatpTally, kTatpKinds.size()>;

class TatpRunner {
 public:
  TatpRunner(const TatpPopulation& population, TatpModel& model,
             std::unique_ptr<TatpClient> client);

  void run(const TatpCall& call);

  // Since the last clear().
  const TatpTallies& tallies() const { return tallies_; }
  void clear() { tallies_ = {}; }

  uint64_t wrong() const { return wrong_; }
  const std::string& first_wrong() const { return first_wrong_; }

 private:
  struct Pending {
    size_t item;
    uint16_t version;
  };

  // Each returns whether the transaction is done; if not, it failed by the rules.
  bool run_kind();
  bool get_subscriber_data();
  bool get_new_destination();
  bool get_access_data();
  bool update_subscriber_data();
  bool update_location();
  bool insert_call_forwarding();
  bool delete_call_forwarding();

  void commit_read();
  void begin_write();
  // Of an item that the open transaction changes: the version that it gets.
  uint16_t next_version(size_t item) const;
  // Tells the model of it, before the commit.
  void change(size_t item);
  bool commit_write();
  bool roll_back();

  void find_subscriber();
  // Those of the call, by the versions that were committed before it.
  void check_destinations(const std::array<uint16_t, kStartTimes>& first);
  void wrong(const std::string& text);

  const TatpPopulation& population_;
  TatpModel& model_;
  const std::unique_ptr<TatpClient> client_;

  TatpCall call_;                 // under way
  bool inside_ = false;           // TatpModel::enter
  std::vector<Pending> pending_;  // changed by the open transaction
  uint64_t end_ = 0;  // of the transaction, in ticks: what is checked later is not timed

  SubscriberRow subscriber_;
  AccessRow access_;
  std::vector<Digits> destinations_;

  TatpTallies tallies_;
  uint64_t wrong_ = 0;
  std::string first_wrong_;
};

}  // namespace hawthorn::bench
