#pragma once
// What each of the soak's threads does. Their common state, and one class for each kind of thread.
//
// Used by soak.cc. Threads: one object of a class in one thread; SoakShared in all.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "bench/clock.h"
#include "bench/engine.h"
#include "bench/soak.h"
#include "bench/soak_model.h"
#include "bench/soak_samples.h"
#include "bench/team.h"

namespace hawthorn::bench {

struct SoakShared {
  SoakShared(const SoakOptions& soak_options, Fill fill, Engine& used)
      : options(soak_options),
        engine(used),
        model(options.records, options.value_bytes, options.writers, fill),
        tallies(options.writers + options.readers + 1) {}

  // Takes note of a wrong answer, the first in words, and ends the run.
  void wrong(const std::string& what, Team& team);

  const SoakOptions& options;
  Engine& engine;
  SoakModel model;
  std::vector<SoakTally> tallies;  // writers, readers, the holder of snapshots
  std::atomic<int64_t> live_items{0};
  std::atomic<int64_t> live_bytes{0};
  std::atomic<uint64_t> bytes_put{0};
  std::atomic<uint64_t> keys_written{0};
  std::atomic<uint64_t> ingests{0};
  std::atomic<uint64_t> entries_ingested{0};
  std::atomic<uint64_t> entries_attached{0};
  std::atomic<uint64_t> wrong_answers{0};

  std::mutex mutex;
  std::string first_wrong;
};

// Random numbers of one thread.
class SoakRandom {
 public:
  explicit SoakRandom(uint64_t seed) : state_(mix64(seed)) {}
  uint64_t below(uint64_t limit) { return scale(mix64(++state_), limit); }

 private:
  uint64_t state_;
};

class SoakWriter {
 public:
  SoakWriter(SoakShared& shared, Team& team, unsigned number);
  // Writes what the load does, in its strips.
  void load();
  // Goes on until the team stops; `start`: of the phase.
  void write(uint64_t start);

 private:
  struct Change {
    uint64_t item = 0;
    ItemState before;
    ItemState next;
  };

  uint64_t any_item();
  // Notes what the open batch will do; false where it does that to the item already.
  bool change(uint64_t item, bool present);
  void put_last();
  void commit(SoakKind kind, uint64_t before);
  void settle();
  void upsert_some();
  void put_singles();
  void overwrite_some();
  void check_old(const Change& change, bool found, std::string_view value);
  void remove_strip(uint64_t first);
  void ingest_strip();
  void keep_rate(uint64_t start);

  SoakShared& shared_;
  Team& team_;
  const unsigned number_;
  SoakTally& tally_;
  SoakRandom random_;
  SoakRecord record_;
  std::unique_ptr<Writer> writer_;
  std::vector<Change> changes_;
  int64_t live_items_ = 0;  // of its strips
  uint64_t written_ = 0;
};

class SoakReader {
 public:
  SoakReader(SoakShared& shared, Team& team, unsigned number);
  void read();

 private:
  void choose(uint64_t count);
  void look_before();
  void get_some();
  void multi_get_some();
  void range();

  SoakShared& shared_;
  Team& team_;
  SoakTally& tally_;
  SoakRandom random_;
  SoakRecord record_;
  SoakSink sink_;
  std::unique_ptr<Reader> reader_;
  std::vector<uint64_t> items_;
  std::vector<ItemState> before_;
  std::vector<ItemState> after_;
  std::vector<std::string> keys_;
  std::vector<std::string_view> key_views_;
  std::vector<std::string_view> values_;
};

// Holds one snapshot after the other, and reads what it has to show until it goes.
class SoakHolder {
 public:
  SoakHolder(SoakShared& shared, Team& team);
  void hold_snapshots();

 private:
  struct Known {
    uint64_t item = 0;
    ItemState state;
  };

  void hold();
  void begin();
  void check_items(size_t from, size_t end);
  void check_range();
  void rest(uint64_t ms);

  SoakShared& shared_;
  Team& team_;
  SoakTally& tally_;
  SoakRandom random_;
  SoakRecord record_;
  SoakSink sink_;
  std::unique_ptr<Reader> reader_;
  std::vector<Known> known_;
  uint64_t range_first_ = 0;
  std::vector<ItemState> range_;  // a write was under way in those that are not known
};

}  // namespace hawthorn::bench
