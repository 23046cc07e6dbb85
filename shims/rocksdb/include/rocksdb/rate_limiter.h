#pragma once
// A limit of what background work reads and writes per second: Options::rate_limiter becomes
// the engine's (hawthorn/options.h). Threads: any.

#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class RateLimiter {
 public:
  // The engine's limit is for reads and writes together. [accepted]
  enum class Mode { kReadsOnly = 0, kWritesOnly = 1, kAllIo = 2 };

  virtual ~RateLimiter() = default;
  // Of databases that are open, too.
  virtual void SetBytesPerSecond(int64_t bytes_per_second) = 0;
  virtual int64_t GetBytesPerSecond() const = 0;

 protected:
  RateLimiter() = default;
};

// The caller owns it. [mapped]
RateLimiter* NewGenericRateLimiter(int64_t rate_bytes_per_sec,
                                   int64_t refill_period_us = 100 * 1000, int32_t fairness = 10,
                                   RateLimiter::Mode mode = RateLimiter::Mode::kWritesOnly,
                                   bool auto_tuned = false, int64_t single_burst_bytes = 0);

}  // namespace ROCKSDB_NAMESPACE
