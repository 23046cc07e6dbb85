// Closing a database: what ends in which order, and what stays on disk for the next open.

#include "db/impl.h"
#include "db/scrub.h"
#include "os/epoch.h"

namespace hawthorn {

// Without memory the counters stay as they were written last.
void Db::Impl::close_counters() try {
  if (counters_ == nullptr) return;
  Stats stats;
  figures(&stats);
  counters_->close(stats);
} catch (const std::bad_alloc&) {
}

Status Db::Impl::close() {
  if (!usable().ok()) return close_all();
  if (filters_ != nullptr) {
    if (Status s = filters_->may_end_filters(); !s.ok()) return s;
  }
  if (Status s = expiry_->may_end(); !s.ok()) return s;
  // Callbacks that use the database are outside of it meanwhile, and find it closed afterwards.
  if (events_ != nullptr) {
    if (Status s = events_->pause(); !s.ok()) return s;
  }
  if (filters_ != nullptr) filters_->stop();
  if (scrub_ != nullptr) scrub_->stop();
  expiry_->stop();
  Status status = close_all();
  if (!closed_.load(std::memory_order_acquire)) {
    if (layer_merger_ != nullptr && !options_.read_only) {
      layer_merger_->start();
      layer_merger_->wake_if_due();
    }
    if (const Status s = start_jobs(); !s.ok()) {
      log(LogLevel::kError,
          path_ + " stays open, but not all of its background work: " + s.to_string());
    }
    if (events_ != nullptr) events_->resume();
    return status;
  }
  if (events_ == nullptr) return status;
  events_->post(Closed{.clean = status.ok()});
  events_->stop();
  return status;
}

// Others might take what a close gives back, and the next open could not even delete something: it
// needs a log, room in the manifest and what one merge takes.
bool Db::Impl::space_is_scarce() const {
  const Result<uint64_t> free = machine_.files->free_bytes(path_);
  return free.ok() && *free < log_options_.ring_bytes + 2 * log_options_.segment_bytes +
                                  scheduler_->merge_bytes();
}

Status Db::Impl::close_all() {
  if (Status s = usable(); !s.ok()) return s.is(StatusCode::kClosed) ? Status() : s;
  if (held_.load(std::memory_order_acquire) != 0) {
    return Status(StatusCode::kBusy, std::to_string(held_.load()) +
                                         " snapshots, cursors or transactions are still open");
  }
  if (options_.read_only) {
    closed_.store(true, std::memory_order_release);
    lock_.reset();
    if (view_ != nullptr) view_->end();
    return {};
  }
  layer_merger_->stop();
  const bool layers_kept = layer_merger_->keep_all();
  if (Status s = catalog_->remove_ended(true); !s.ok()) return s;
  // Also what a merge that failed has left of transactions that were rolled back since: it counts
  // as logged at the end. What is prepared cannot be flushed, and of layers and moments of clones
  // that the manifest could not be told of only the log knows: so it stays.
  bool keeps_log = !prepared_.empty() || !layers_kept || !catalog_->clones_kept() ||
                   feeds_->behind(sequencer_->visible().load());
  const format::Lsn end = keeps_log ? log_->head() : format::kLsnMax;
  const Status flushed = scheduler_->flush_all(end);
  if (flushed.is(StatusCode::kCorruption)) {
    // What is damaged keeps what was written to it, which the log has.
    keeps_log = true;
    log(LogLevel::kWarning,
        "the log is kept, since not everything could be flushed: " + flushed.to_string());
  } else if (!flushed.ok()) {
    return flushed;
  }
  if (!keeps_log && !scheduler_->all_flushed()) {
    return Status(StatusCode::kBusy, path_ + ": not everything could be flushed yet");
  }
  if (Status s = publisher_->publish(); !s.ok()) return s;
  const bool scarce = space_is_scarce();
  keeps_log = keeps_log || scarce;
  if (keeps_log) {
    // For want of space it stays open, and may be closed later.
    if (Status s = log_->wait_durable(log_->head()); !s.ok()) return s;
  }
  closed_.store(true, std::memory_order_release);
  scheduler_->stop();
  publisher_->stop();
  close_counters();
  if (keeps_log) {
    if (Status s = log_->close_and_keep(); !s.ok()) return s;
  } else if (Status s = close_log(); !s.ok()) {
    return s;
  }
  os::epoch::drain();
  Status trimmed = space_->trim_files(scarce ? scheduler_->merge_bytes() / os::kBlockBytes : 0);
  if (trimmed.ok() && !scarce) trimmed = publisher_->trim_manifest();
  space_->close_files();
  if (devices_ != nullptr) devices_->close();
  lock_.reset();  // the directory may be opened again while this object is still there
  return trimmed;
}

Status Db::Impl::close_log() {
  // Nothing needs the log any more: the manifest says so before its files go.
  format::ManifestBatch batch;
  for (const format::LogEpoch& epoch : manifest_->state().epochs)
    batch.epochs_deleted.push_back(epoch.number);
  batch.log_trim = log_->head();
  batch.lsn_reserved = std::max(manifest_->state().lsn_reserved, log_->head());
  if (Status s = publisher_->publish_now(std::move(batch)); !s.ok()) return s;
  return log_->close_and_remove();
}

}  // namespace hawthorn
