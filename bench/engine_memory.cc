#include "bench/engine_memory.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace hawthorn::bench {

class MemoryWriter : public Writer {
 public:
  explicit MemoryWriter(MemoryEngine& engine) : engine_(engine) {}

  void begin(WriteIntent) override { pending_.clear(); }

  bool get(std::string_view key, std::string_view& value) override {
    const auto own = pending_.find(key);
    if (own != pending_.end() && engine_.fault_ != Fault::kHidesOwnWrites) {
      if (!own->second) return false;
      value = *own->second;
      return true;
    }
    const std::shared_lock lock(engine_.mutex_);
    const auto found = engine_.entries_.find(key);
    if (found == engine_.entries_.end()) return false;
    copy_ = found->second;
    value = copy_;
    return true;
  }

  void put(std::string_view key, std::string_view value) override {
    pending_.insert_or_assign(std::string(key), std::string(value));
  }
  void del(std::string_view key) override {
    pending_.insert_or_assign(std::string(key), std::nullopt);
  }

  void commit() override {
    const std::unique_lock lock(engine_.mutex_);
    engine_.apply(pending_);
  }

 private:
  MemoryEngine& engine_;
  MemoryEngine::Pending pending_;
  std::string copy_;
};

class MemoryTxnClient : public TxnClient {
 public:
  explicit MemoryTxnClient(MemoryEngine& engine)
      : engine_(engine), lock_(engine.mutex_, std::defer_lock) {}

  void begin() override {
    lock_.lock();
    pending_.clear();
  }

  TxnAnswer commit() override {
    constexpr uint64_t kRefuseEvery = 64;
    const bool refused = ++engine_.transactions_ % kRefuseEvery == 0;
    if (!refused) engine_.apply(pending_);
    lock_.unlock();
    return refused ? TxnAnswer::kConflict : TxnAnswer::kDone;
  }

  TxnAnswer get(std::string_view key, std::string_view& value) override {
    if (const auto own = pending_.find(key); own != pending_.end()) {
      value = *own->second;
      return TxnAnswer::kDone;
    }
    const auto found = engine_.entries_.find(key);
    if (found == engine_.entries_.end()) return TxnAnswer::kMissing;
    value = found->second;
    return TxnAnswer::kDone;
  }
  TxnAnswer get_for_update(std::string_view key, std::string_view& value) override {
    return get(key, value);
  }

  TxnAnswer put(std::string_view key, std::string_view value) override {
    pending_.insert_or_assign(std::string(key), std::string(value));
    return TxnAnswer::kDone;
  }

 private:
  MemoryEngine& engine_;
  std::unique_lock<std::shared_mutex> lock_;
  MemoryEngine::Pending pending_;
};

class MemoryClone : public Clone {
 public:
  using Entries = std::map<std::string, std::string, std::less<>>;
  explicit MemoryClone(const Entries& entries) : entries_(entries) {}

  uint64_t count() override { return entries_.size(); }
  bool get(std::string_view key, std::string_view& value) override {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return false;
    value = found->second;
    return true;
  }
  void put(std::string_view key, std::string_view value) override {
    entries_.insert_or_assign(std::string(key), std::string(value));
  }
  void drop() override { entries_.clear(); }

 private:
  Entries entries_;
};

class MemoryBackups : public Backups {
 public:
  explicit MemoryBackups(MemoryEngine& engine) : engine_(engine) {}

  uint64_t make(uint64_t) override {
    const std::shared_lock lock(engine_.mutex_);
    newest_.clear();
    uint64_t bytes = 0;
    for (const auto& [key, value] : engine_.entries_) {
      if (engine_.strikes(Fault::kSkipsInBackup)) continue;
      newest_.emplace(key, value);
      bytes += key.size() + value.size();
    }
    return bytes;
  }
  void verify() override {}
  void restore(const std::string& directory) override { engine_.closed_[directory] = newest_; }
  void remove() override { newest_.clear(); }

 private:
  MemoryEngine& engine_;
  MemoryEngine::Entries newest_;
};

class MemoryReader : public ReaderOf<MemoryReader> {
 public:
  explicit MemoryReader(MemoryEngine& engine)
      : engine_(engine), lock_(engine.mutex_, std::defer_lock) {}

  void begin(View view) override {
    if (view == View::kSnapshot && engine_.fault_ != Fault::kMovesSnapshots) lock_.lock();
  }
  void end() override {
    if (lock_.owns_lock()) lock_.unlock();
  }

  bool get(std::string_view key, std::string_view& value) override {
    const Shared shared(*this);
    const auto found = engine_.entries_.find(key);
    if (found == engine_.entries_.end()) return false;
    copy_ = found->second;
    value = copy_;
    return true;
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    const Shared shared(*this);
    copies_.resize(std::max(copies_.size(), keys.size()));
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto found = engine_.entries_.find(keys[i]);
      values[i] = {};
      if (found != engine_.entries_.end()) values[i] = copies_[i] = found->second;
    }
  }

  bool reads_together() const override { return true; }

  uint64_t count(std::string_view lower, std::optional<std::string_view> upper) override {
    const Shared shared(*this);
    uint64_t count = 0;
    for (auto at = engine_.entries_.lower_bound(lower); at != engine_.entries_.end(); ++at) {
      if (upper && at->first >= *upper) break;
      count += engine_.strikes(Fault::kSkipsInScan) ? 0 : 1;
    }
    return count;
  }

  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    const Shared shared(*this);
    auto at = engine_.entries_.lower_bound(key);
    for (size_t i = 0; i <= count && at != engine_.entries_.end(); ++i, ++at) {
      sink.add(at->first, at->second);
    }
  }

  template <class Sink>
  void walk(Sink& sink) {
    const Shared shared(*this);
    for (const auto& [key, value] : engine_.entries_) {
      if (!engine_.strikes(Fault::kSkipsInScan)) sink.add(key, value);
    }
  }

 private:
  // The lock for one call, unless the snapshot holds it already.
  class Shared {
   public:
    explicit Shared(MemoryReader& reader) : mutex_(reader.engine_.mutex_), mine_(!reader.lock_) {
      if (mine_) mutex_.lock_shared();
    }
    ~Shared() {
      if (mine_) mutex_.unlock_shared();
    }

   private:
    std::shared_mutex& mutex_;
    const bool mine_;
  };

  MemoryEngine& engine_;
  std::shared_lock<std::shared_mutex> lock_;
  std::string copy_;
  std::vector<std::string> copies_;
};

std::unique_ptr<Writer> MemoryEngine::writer() { return std::make_unique<MemoryWriter>(*this); }
std::unique_ptr<Reader> MemoryEngine::reader() { return std::make_unique<MemoryReader>(*this); }

std::unique_ptr<TxnClient> MemoryEngine::transactions(TxnKind) {
  return std::make_unique<MemoryTxnClient>(*this);
}

std::unique_ptr<Backups> MemoryEngine::backups(const std::string&) {
  return std::make_unique<MemoryBackups>(*this);
}

std::unique_ptr<Clone> MemoryEngine::clone(const std::string&, SyncMode) {
  const std::shared_lock lock(mutex_);
  return std::make_unique<MemoryClone>(entries_);
}

void MemoryEngine::apply(Pending& pending) {
  if (strikes(Fault::kLosesCommit)) return;
  for (auto& [key, value] : pending) {
    if (!value) {
      if (!strikes(Fault::kKeepsRemoved)) entries_.erase(key);
      continue;
    }
    if (strikes(Fault::kLosesPut)) continue;
    if (strikes(Fault::kCorruptsValue)) value->back() ^= 1;
    entries_.insert_or_assign(key, std::move(*value));
  }
}

uint64_t MemoryEngine::ingest(const EntrySource& source) {
  MemoryWriter writer(*this);
  writer.begin(WriteIntent::kBlind);
  std::string_view key;
  std::string_view value;
  while (source(key, value)) writer.put(key, value);
  writer.commit();
  return 0;
}

uint64_t MemoryEngine::reachable_bytes() {
  uint64_t bytes = 0;
  for (const auto& [key, value] : entries_) bytes += key.size() + value.size();
  return bytes;
}

}  // namespace hawthorn::bench
