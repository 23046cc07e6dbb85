#pragma once
// Tickers that are figures of the engine, which grow there.
//
// Used by DBImpl, of whose engine they are, and StatisticsImpl. Threads: any.

#include <hawthorn/stats.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

#include "rocksdb/statistics.h"

namespace hawthorn::rocks {

class EngineTickers {
 public:
  static bool has(uint32_t ticker) {
    return std::any_of(kAll.begin(), kAll.end(),
                       [ticker](const Figure& figure) { return figure.ticker == ticker; });
  }
  // What they have grown by since the last time.
  void report(const hawthorn::Stats& stats, rocksdb::Statistics& to) {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < kAll.size(); ++i) {
      const uint64_t now = stats.*kAll[i].figure;
      // An engine that is closed says 0.
      if (now > last_[i]) to.recordTick(kAll[i].ticker, now - std::exchange(last_[i], now));
    }
  }

 private:
  struct Figure {
    rocksdb::Tickers ticker;
    uint64_t hawthorn::Stats::* figure;
  };
  static constexpr std::array kAll = {
      Figure{rocksdb::BLOCK_CACHE_HIT, &Stats::frame_hits},
      Figure{rocksdb::BLOCK_CACHE_MISS, &Stats::frame_misses},
      Figure{rocksdb::BLOCK_CACHE_ADD, &Stats::frame_misses},
      Figure{rocksdb::COMPACTION_KEY_DROP_USER, &Stats::filter_removed},
      Figure{rocksdb::STALL_MICROS, &Stats::write_wait_us},
      Figure{rocksdb::WAL_FILE_SYNCED, &Stats::log_syncs},
      Figure{rocksdb::WAL_FILE_BYTES, &Stats::bytes_written_log},
      Figure{rocksdb::FILES_DELETED_IMMEDIATELY, &Stats::data_files_removed},
  };

  std::mutex mutex_;
  std::array<uint64_t, kAll.size()> last_{};
};

}  // namespace hawthorn::rocks
