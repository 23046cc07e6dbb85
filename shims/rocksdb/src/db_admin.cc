// Care: flushes, checks, memory and limits, sizes.

#include <algorithm>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/measure.h"
#include "shims/rocksdb/src/option_map.h"
#include "shims/rocksdb/src/resources.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {}  // namespace

// ---- The engine's own work

rocksdb::Status DBImpl::Flush(const rocksdb::FlushOptions& options, Handle* handle) {
  return Flush(options, Handles{handle});
}

rocksdb::Status DBImpl::Flush(const rocksdb::FlushOptions&, const Handles& handles) {
  if (handles.empty()) return S::OK();
  if (!options_.listeners.empty() && !read_only_) {
    std::vector<rocksdb::ManualFlushInfo> infos;
    for (const Handle* handle : handles) {
      infos.push_back({handle->GetID(), handle->GetName(), rocksdb::FlushReason::kManualFlush});
    }
    tell_listeners(options_, [&](rocksdb::EventListener& listener) {
      listener.OnManualFlushScheduled(this, infos);
    });
  }
  const hawthorn::Status status = db_->flush();
  figures_asked();
  return told(status);
}

rocksdb::Status DBImpl::FlushWAL(bool sync) { return sync ? SyncWAL() : S::OK(); }
rocksdb::Status DBImpl::SyncWAL() {
  const Measured call(statistics(), rocksdb::WAL_FILE_SYNC_MICROS);
  return told(db_->sync());
}

rocksdb::Status DBImpl::CompactRange(const rocksdb::CompactRangeOptions& options, Handle*,
                                     const rocksdb::Slice*, const rocksdb::Slice*) {
  if (options.full_history_ts_low != nullptr) return S::NotSupported("user timestamps");
  if (manual_compaction_off_ > 0 || (options.canceled != nullptr && *options.canceled)) {
    return S(S::kIncomplete, S::kManualCompactionPaused, S::kNoError, "");
  }
  const hawthorn::Status status = db_->compact();
  figures_asked();
  return told(status);
}

rocksdb::Status DBImpl::WaitForCompact(const rocksdb::WaitForCompactOptions& options) {
  if (options.timeout.count() != 0) return S::NotSupported("WaitForCompactOptions::timeout");
  hawthorn::Status status;
  if (options.flush) status = db_->flush();
  if (status.ok()) status = db_->drain();
  if (!status.ok()) return told(status);
  return options.close_db ? Close() : S::OK();
}

rocksdb::Status DBImpl::VerifyChecksum(const rocksdb::ReadOptions&) {
  const hawthorn::Result<hawthorn::CheckReport> report = db_->check();
  if (!report.ok()) return told(report.status());
  if (options_.statistics != nullptr) {
    options_.statistics->recordTick(rocksdb::VERIFY_CHECKSUM_READ_BYTES, report->bytes_verified);
  }
  return report->ok() ? S::OK() : S::Corruption(report->errors.front());
}

rocksdb::Status DBImpl::GetDbIdentity(std::string& identity) const {
  // In groups of digits, as RocksDB's are (RFC 9562, 4).
  identity = db_->id();
  for (const size_t at : {8, 13, 18, 23}) identity.insert(at, 1, '-');
  return S::OK();
}

rocksdb::Status DBImpl::GetDbSessionId(std::string& session_id) const {
  session_id = session_id_;
  return S::OK();
}

// ---- Memory and limits

size_t DBImpl::budget() const {
  const std::shared_lock lock(families_mutex_);
  return memory_budget(options_, family_options());
}

void DBImpl::memory_changed() {
  const std::lock_guard lock(budget_mutex_);
  // Where what is pinned does not fit, the budget stays as it is.
  static_cast<void>(db_->set_memory_budget(budget()));
}

void DBImpl::rate_changed() {
  const int64_t bytes = options_.rate_limiter->GetBytesPerSecond();
  static_cast<void>(
      db_->set_background_io_limit(static_cast<uint64_t>(std::max<int64_t>(bytes, 0))));
}

void DBImpl::figures_asked() {
  if (options_.statistics != nullptr) tickers_.report(db_->stats(), *options_.statistics);
}

size_t DBImpl::memory_used() { return data_in_memory(db_->stats()); }
size_t DBImpl::memory_pinned() { return db_->stats().memory_pinned_bytes; }

rocksdb::Status DBImpl::GetApproximateSizes(const rocksdb::SizeApproximationOptions& options,
                                            Handle* handle, const rocksdb::Range* ranges, int n,
                                            uint64_t* sizes) {
  if (!options.include_memtables && !options.include_files) {
    return S::InvalidArgument("Invalid options");
  }
  for (int i = 0; i < n; ++i) {
    sizes[i] = 0;
    if (!options.include_files) continue;
    const auto estimate =
        db_->estimate(family_of(handle)->tree, view(ranges[i].start), view(ranges[i].limit));
    if (!estimate.ok()) return told(estimate.status());
    sizes[i] = estimate->bytes;
  }
  return S::OK();
}

}  // namespace hawthorn::rocks
