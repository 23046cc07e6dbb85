#pragma once
// An engine that is a std::map: the test double of the driver. It keeps nothing on disk, but
// remembers by its path what it had in another place, and what it restored.
//
// Tests derive broken engines from it: `Fault` says what goes wrong, so that they can show that the
// workloads notice. Threads: as engine.h; a reader with a snapshot holds back commits, no more; a
// transaction holds back everything, and one in 64 is refused, so that it is tried again.

#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>

#include "bench/engine.h"

namespace hawthorn::bench {

// What a broken double does once in every kFaultPeriod chances.
enum class Fault {
  kNone,
  kLosesPut,        // a put of a batch never arrives
  kHidesOwnWrites,  // reads in a batch see the state before it
  kCorruptsValue,   // a bit of a value flips on its way in
  kLosesCommit,     // a whole batch vanishes
  kMovesSnapshots,  // a reader's snapshot shows later commits
  kSkipsInScan,     // a walk leaves an entry out
  kKeepsRemoved,    // a removed key stays
  kSkipsInBackup,   // a backup leaves an entry out
};

class MemoryEngine : public Engine {
 public:
  explicit MemoryEngine(Fault fault = Fault::kNone, uint64_t period = 1000)
      : fault_(fault), period_(period) {}

  std::string version() const override { return "std::map"; }
  std::string settings() const override { return "keeps nothing on disk"; }
  void open(const EngineConfig& config) override {
    if (config.path != config_.path) {
      closed_[config_.path] = std::move(entries_);
      entries_ = std::move(closed_[config.path]);
    }
    config_ = config;
  }
  void close() override {}
  std::unique_ptr<Writer> writer() override;
  std::unique_ptr<Reader> reader() override;
  void sync() override {}
  void drain() override {}
  uint64_t reachable_bytes() override;
  bool ingests() const override { return true; }
  uint64_t ingest(const EntrySource& source) override;
  bool offers(TxnKind) const override { return true; }
  std::unique_ptr<TxnClient> transactions(TxnKind kind) override;
  bool counts() const override { return true; }
  bool compares() const override { return true; }
  std::unique_ptr<Writer> compared_writer() override { return compared().writer(); }
  std::unique_ptr<Reader> compared_reader() override { return compared().reader(); }
  bool backs_up() const override { return true; }
  std::unique_ptr<Backups> backups(const std::string& directory) override;
  bool clones() const override { return true; }
  std::unique_ptr<Clone> clone(const std::string& name, SyncMode sync) override;

 private:
  friend class MemoryWriter;
  friend class MemoryReader;
  friend class MemoryTxnClient;
  friend class MemoryBackups;

  using Entries = std::map<std::string, std::string, std::less<>>;
  // The writes of a batch; nothing stands for a removal.
  using Pending = std::map<std::string, std::optional<std::string>, std::less<>>;
  // Commits them. Call with the lock held exclusively.
  void apply(Pending& pending);

  // What the entries of the second tree are in: their order is the same.
  MemoryEngine& compared() {
    if (compared_ == nullptr) compared_ = std::make_unique<MemoryEngine>(fault_, period_);
    return *compared_;
  }

  // Whether something goes wrong this time. Call with the lock held exclusively, or from one
  // thread.
  bool strikes(Fault fault) { return fault == fault_ && ++chances_ % period_ == 0; }

  const Fault fault_;
  const uint64_t period_;
  uint64_t chances_ = 0;
  uint64_t transactions_ = 0;
  EngineConfig config_;
  std::unique_ptr<MemoryEngine> compared_;
  std::shared_mutex mutex_;
  Entries entries_;
  std::map<std::string, Entries> closed_;
};

}  // namespace hawthorn::bench
