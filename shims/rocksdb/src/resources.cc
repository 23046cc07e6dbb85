// Caches, rate limiters, and factories that are taken and not asked.

#include "shims/rocksdb/src/resources.h"

#include <algorithm>
#include <cstdio>

#include "rocksdb/memtablerep.h"

namespace hawthorn::rocks {

void CacheImpl::SetCapacity(size_t capacity) {
  capacity_ = capacity;
  subscribers_.each([](Subscriber& subscriber) { subscriber.memory_changed(); });
}

size_t CacheImpl::GetUsage() const {
  size_t bytes = 0;
  subscribers_.each([&bytes](Subscriber& subscriber) { bytes += subscriber.memory_used(); });
  return bytes;
}

size_t CacheImpl::GetPinnedUsage() const {
  size_t bytes = 0;
  subscribers_.each([&bytes](Subscriber& subscriber) { bytes += subscriber.memory_pinned(); });
  return bytes;
}

void RateLimiterImpl::SetBytesPerSecond(int64_t bytes_per_second) {
  bytes_per_second_ = bytes_per_second;
  subscribers_.each([](Subscriber& subscriber) { subscriber.rate_changed(); });
}

namespace {

template <typename T>
class Factory final : public rocksdb::TableFactory {
 public:
  Factory(const char* name, const T& options) : name_(name), options_(options) {}
  const char* Name() const override { return name_; }

 protected:
  void* OptionsNamed(const std::string& name) override {
    return name == T::kName() ? &options_ : nullptr;
  }

 private:
  const char* const name_;
  T options_;
};

class NamedFilter final : public rocksdb::FilterPolicy {
 public:
  NamedFilter(const char* name, double bits_per_key, const std::string& rest)
      : name_(name), id_(name + (":" + figure(bits_per_key)) + ":" + rest) {}
  const char* Name() const override { return name_; }
  std::string GetId() const override { return id_; }
  const char* CompatibilityName() const override { return "rocksdb.BuiltinBloomFilter"; }

 private:
  // With up to three digits behind the point, as RocksDB has it.
  static std::string figure(double bits) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.3f", std::clamp(bits, 0.0, 100.0));
    std::string result = text;
    result.erase(result.find_last_not_of('0') + 1);
    if (result.back() == '.') result.pop_back();
    return result;
  }

  const char* const name_;
  const std::string id_;
};

class MemTables final : public rocksdb::MemTableRepFactory {
 public:
  explicit MemTables(const char* name) : name_(name) {}
  const char* Name() const override { return name_; }

 private:
  const char* const name_;
};

}  // namespace

const rocksdb::BlockBasedTableOptions* block_options(const rocksdb::TableFactory* factory) {
  return factory == nullptr ? nullptr : factory->GetOptions<rocksdb::BlockBasedTableOptions>();
}

}  // namespace hawthorn::rocks

namespace rocksdb {

using hawthorn::rocks::CacheImpl;

std::shared_ptr<Cache> LRUCacheOptions::MakeSharedCache() const {
  return std::make_shared<CacheImpl>("LRUCache", capacity, strict_capacity_limit);
}

std::shared_ptr<Cache> HyperClockCacheOptions::MakeSharedCache() const {
  return std::make_shared<CacheImpl>("HyperClockCache", capacity, strict_capacity_limit);
}

RateLimiter* NewGenericRateLimiter(int64_t rate_bytes_per_sec, int64_t, int32_t, RateLimiter::Mode,
                                   bool, int64_t) {
  return new hawthorn::rocks::RateLimiterImpl(rate_bytes_per_sec);
}

TableFactory* NewBlockBasedTableFactory(const BlockBasedTableOptions& table_options) {
  return new hawthorn::rocks::Factory(TableFactory::kBlockBasedTableName(), table_options);
}
TableFactory* NewPlainTableFactory(const PlainTableOptions& options) {
  return new hawthorn::rocks::Factory(TableFactory::kPlainTableName(), options);
}
TableFactory* NewCuckooTableFactory(const CuckooTableOptions& table_options) {
  return new hawthorn::rocks::Factory(TableFactory::kCuckooTableName(), table_options);
}

const FilterPolicy* NewBloomFilterPolicy(double bits_per_key, bool) {
  return new hawthorn::rocks::NamedFilter("bloomfilter", bits_per_key, "false");
}
FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key, int bloom_before_level) {
  return new hawthorn::rocks::NamedFilter("ribbonfilter", bloom_equivalent_bits_per_key,
                                          std::to_string(bloom_before_level));
}

MemTableRepFactory* NewHashSkipListRepFactory(size_t, int32_t, int32_t) {
  return new hawthorn::rocks::MemTables("HashSkipListRepFactory");
}
MemTableRepFactory* NewHashLinkListRepFactory(size_t, size_t, int, bool, uint32_t) {
  return new hawthorn::rocks::MemTables("HashLinkListRepFactory");
}

}  // namespace rocksdb
