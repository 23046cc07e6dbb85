#pragma once
// What the engine tells, for a program's listeners (rocksdb/listener.h) and statistics.
//
// Not here: what the shim tells by itself, on the thread of the call (DBImpl, HandleImpl).
// Used by DBImpl. Threads: one of the engine calls on_...; start and stop, who opens and closes.
//
// 1. Nothing is told before start, which events wait for, nor behind stop. Both begin_to_close and
//    stop wait for the callback that runs.
// 2. Of a flush or compaction whose beginning was not told the end is not told either.

#include <hawthorn/events.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "rocksdb/listener.h"
#include "rocksdb/options.h"

namespace hawthorn::rocks {

class DBImpl;
struct Family;

template <typename Call>
void tell_listeners(const rocksdb::DBOptions& options, const Call& call) {
  for (const auto& listener : options.listeners) call(*listener);
}

class EngineEvents final : public hawthorn::EventListener {
 public:
  // Lifetime: the options outlive it.
  explicit EngineEvents(const rocksdb::DBOptions& options) : options_(options) {}

  static bool wanted(const rocksdb::DBOptions& options) {
    return !options.listeners.empty() || options.statistics != nullptr;
  }

  void start(DBImpl* db) { turn(db); }
  // From now on no callback gets the database: only errors, stalls and figures are told.
  void begin_to_close();
  void stop() { turn(nullptr); }

  // Background errors so far.
  uint64_t errors() const { return errors_; }

  void on_flush_begun(const FlushBegun& event) override;
  void on_flush_completed(const FlushCompleted& event) override;
  void on_write_stall_begun(const WriteStallBegun& event) override;
  void on_write_stall_ended(const WriteStallEnded& event) override;
  void on_background_error(const BackgroundError& event) override;
  void on_events_dropped(uint64_t count) override;

 private:
  struct Job {
    int id = 0;
    bool rewrite = false;
    bool of_family = false;  // listeners are told of no other
    uint32_t family_id = 0;
    std::string family;
    std::string comparator;
    rocksdb::CompressionType compression = rocksdb::kNoCompression;
  };
  // Of a container: its tree and lowest key.
  using Place = std::pair<uint32_t, std::string>;

  void turn(DBImpl* db);
  template <typename Call>
  void when_open(const Call& call);
  Job job_of(const FlushBegun& event);
  void stall_turned(bool stalls);
  rocksdb::FlushJobInfo flush_info(const Job& job) const;
  static rocksdb::CompactionJobInfo compaction_info(const Job& job);
  void count(const Job& job, const FlushCompleted& event);
  void flush_ended(const Job& job, const FlushCompleted& event);
  void rewrite_ended(const Job& job, const FlushCompleted& event);

  const rocksdb::DBOptions& options_;
  std::mutex mutex_;  // held while a callback runs; guards what follows
  bool closing_ = false;
  std::condition_variable turned_;
  bool open_or_gone_ = false;
  DBImpl* db_ = nullptr;
  std::atomic<uint64_t> errors_{0};
  int jobs_ = 0;
  bool stalls_ = false;
  std::multimap<Place, Job> under_way_;
};

}  // namespace hawthorn::rocks
