#include "db/publisher.h"

#include <algorithm>
#include <bit>
#include <new>
#include <unordered_set>

#include "base/out_of_memory.h"
#include "db/feeds.h"
#include "os/epoch.h"
#include "os/event_sink.h"
#include "os/io_limit.h"
#include "os/posix_error.h"
#include "os/test_point.h"

namespace hawthorn::db {

namespace {
constexpr size_t kPublishBatchBytes = 64 << 20;
// A batch's records are heap memory outside the budget: about so much each, so fewer where all is
// small.
constexpr size_t kPublishBatchRecords = 1024;
constexpr size_t kPublishBatchRecordsMin = 128;
constexpr size_t kRecordMemory = 1024;
constexpr size_t kRecordsPart = 64;  // of the budget
constexpr size_t kShortPart = 8;     // of those records, where memory is short
constexpr uint64_t kBatchUs = 200'000;
constexpr uint64_t kPublishTickUs = 20'000;
constexpr size_t kPublishWriteBytesMax = 1 << 20;

template <typename F>
void each_part(Edit& from, Edit& to, const F& do_with) {
  do_with(from.trees_created, to.trees_created);
  do_with(from.set, to.set);
  do_with(from.deleted, to.deleted);
  do_with(from.fresh, to.fresh);
  do_with(from.dropped, to.dropped);
}

}  // namespace

// The writes of a fresh extent that are under way. With the last one it is complete on disk, as far
// as its writer is concerned: it may be evicted from then on.
struct Publisher::ExtentWrites {
  tree::ExtentRef extent;
  const char* from;
  std::atomic<size_t> left;
  std::atomic<ExtentWrites*>* unwritten;  // of its batch
  std::atomic<bool> failed{false};
  ExtentWrites* next = nullptr;

  void put_into(std::atomic<ExtentWrites*>& list) {
    next = list.load(std::memory_order_relaxed);
    while (!list.compare_exchange_weak(next, this, std::memory_order_acq_rel)) {
    }
  }
};

void Publisher::piece_written(void* context, const Status& status) {
  auto* const writes = static_cast<ExtentWrites*>(context);
  if (!status.ok()) writes->failed.store(true, std::memory_order_relaxed);
  if (writes->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!writes->failed.load(std::memory_order_relaxed)) return written(writes);
  writes->put_into(*writes->unwritten);
}

void Publisher::written(ExtentWrites* writes) {
  const std::unique_ptr<ExtentWrites> last(writes);
  writes->extent->residency->give_back_stored(writes->extent.get());
  writes->extent->writing.store(false, std::memory_order_release);
}

Publisher::Batch::~Batch() {
  while (ExtentWrites* const writes = unwritten.load(std::memory_order_acquire)) {
    unwritten.store(writes->next, std::memory_order_relaxed);
    delete writes;
  }
}

Publisher::Publisher(const os::Machine& machine, tree::Store* store,
                     std::function<Lsn(uint64_t)> log_needed)
    : machine_(machine), store_(store), log_needed_(std::move(log_needed)) {}

Publisher::~Publisher() {
  stop();
  // Never published: the manifest still lists what these edits dropped, so it is not freed.
  for (Batch* const batch : {kept_.get(), filling_.get()}) {
    if (batch == nullptr) continue;
    static_cast<void>(batch->group.wait().ok());
    for (tree::ExtentRef& extent : batch->edit.dropped) extent.reset();
  }
}

Status Publisher::start(Manifest* manifest, wal::Log* log) {
  manifest_ = manifest;
  log_ = log;
  if (!machine_.background_threads) return {};
  return thread_.start("hw-publish", [this] { run(); }, true);
}

void Publisher::heed_followers(FollowerRegistry* followers, uint64_t batch) {
  followers_ = followers;
  manifest_batch_.store(batch, std::memory_order_release);
  store_->space->on_full([this] { return free_unfollowed(true); });
  if (followers == nullptr) return;
  store_->space->set_batches(batch, followers->clear(batch));
  store_->space->hold_free(batch);
}

// Of what the last batch and those before it have dropped.
void Publisher::free_clear() {
  const uint64_t batch = manifest_batch();
  const uint64_t followed = followers_ == nullptr ? batch : followers_->clear(batch);
  store_->space->set_batches(batch, followed);
}

bool Publisher::free_unfollowed(bool full_disk) {
  const uint64_t held = store_->space->held_blocks();
  free_clear();
  if (store_->space->held_blocks() < held) return true;
  if (!full_disk || held == 0) return false;
  const bool pins = revoke_pins(false);
  const bool followers = followers_ != nullptr && followers_->revoke(manifest_batch()) != 0;
  if (!pins && !followers) return false;
  HAWTHORN_TEST_POINT("publisher.revoked");
  free_clear();
  return store_->space->held_blocks() < held;
}

void Publisher::stop() {
  {
    os::MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status Publisher::status() const {
  os::MutexLock lock(mutex_);
  return status_;
}

void Publisher::fail(const Status& status) {
  Status refusal(StatusCode::kReadOnly);
  try {
    refusal = log_->refuse(status);
  } catch (const std::bad_alloc&) {  // it refuses all the same
  }
  {
    os::MutexLock lock(mutex_);
    if (!status_.ok()) return;
    status_ = refusal;
  }
  if (machine_.events != nullptr) machine_.events->post(BackgroundError{status, true});
}

Status Publisher::sync_data() {
  Status status = store_->space->sync();
  if (!status.ok()) fail(status);
  return status;
}

// What was merged comes to the manifest as a whole. Without memory for that nothing more does, and
// the log is kept: the number is that of a batch that never comes.
uint64_t Publisher::add(Edit edit) noexcept {
  try {
    return add_whole(std::move(edit));
  } catch (const std::bad_alloc&) {
    fail(out_of_memory());
    os::MutexLock lock(mutex_);
    return last_number_ + 1;
  }
}

uint64_t Publisher::add_whole(Edit edit) {
  std::vector<os::IoRequest> requests;
  std::vector<std::unique_ptr<ExtentWrites>> all_writes;  // until nothing takes memory any more
  size_t bytes = 0;
  for (const tree::ExtentRef& extent : edit.fresh) {
    // It belongs to the manifest from here on: only a later batch frees it.
    extent->dropped.store(false, std::memory_order_release);
    const size_t size = extent->disk_bytes();
    bytes += size;
    os::File* file = store_->space->file(extent->address.file);
    char* from = extent->stored;
    if (from == nullptr) from = extent->memory.load(std::memory_order_acquire);
    auto* const writes =
        all_writes
            .emplace_back(new ExtentWrites{
                extent, from, (size + kPublishWriteBytesMax - 1) / kPublishWriteBytesMax, nullptr})
            .get();
    for (size_t at = 0; at < size; at += kPublishWriteBytesMax) {
      os::IoRequest request;
      request.op = os::IoRequest::Op::kWrite;
      request.file = file;
      request.offset = uint64_t{extent->address.block} * 4096 + at;
      request.data = from + at;
      request.size = std::min(kPublishWriteBytesMax, size - at);
      request.completed = piece_written;
      request.context = writes;
      requests.push_back(request);
    }
  }
  bool full = false;
  uint64_t number = 0;
  os::IoGroup* group = nullptr;
  {
    os::MutexLock lock(mutex_);
    if (filling_ == nullptr) {
      filling_ = std::make_unique<Batch>();
      filling_->number = ++last_number_;
      filling_since_us_ = machine_.clock->monotonic_us();
    }
    Batch& batch = *filling_;
    number = batch.number;
    const auto make_room = [](const auto& from, auto& to) {
      const size_t needed = to.size() + from.size();
      if (needed > to.capacity()) to.reserve(std::max(needed, 2 * to.capacity()));
    };
    each_part(edit, batch.edit, make_room);
    for (std::unique_ptr<ExtentWrites>& writes : all_writes) {
      writes.release()->unwritten = &batch.unwritten;
    }
    for (const format::ContainerRecord& record : edit.set)
      batch.max_cut = std::max(batch.max_cut, record.cut);
    const auto move_all = [](auto& from, auto& to) {
      to.insert(to.end(), std::make_move_iterator(from.begin()),
                std::make_move_iterator(from.end()));
    };
    // A container flushed twice in one batch: its last record counts; both stand in order.
    each_part(edit, batch.edit, move_all);
    batch.bytes += bytes;
    full = is_full(batch);
    // Held until the requests are counted: the batch is published only when its group is idle.
    group = &batch.group;
    group->add(1);
    for (os::IoRequest& request : requests) request.group = group;
  }
  machine_.io->submit(requests);
  os::IoLimit::note(bytes);
  group->done(Status());
  bytes_written_.fetch_add(bytes, std::memory_order_relaxed);
  if (full) wake_.notify_all();
  return number;
}

size_t Publisher::records_max() const {
  return std::clamp(store_->arena->budget() / kRecordsPart / kRecordMemory, kPublishBatchRecordsMin,
                    kPublishBatchRecords);
}

bool Publisher::has_much(bool memory_is_short) const {
  const size_t records = records_max() / (memory_is_short ? kShortPart : 1);
  const size_t bytes =
      memory_is_short ? store_->arena->budget() / kRecordsPart : kPublishBatchBytes;
  os::MutexLock lock(mutex_);
  if (filling_ == nullptr || kept_ != nullptr) return false;
  return filling_->records() >= records || filling_->bytes >= bytes;
}

Status Publisher::publish() {
  os::MutexLock lock(publish_mutex_);
  return publish_locked({}, {}, false);
}

Status Publisher::publish_now(format::ManifestBatch batch, std::vector<tree::ExtentRef> dropped) {
  os::MutexLock lock(publish_mutex_);
  return publish_locked(std::move(batch), std::move(dropped), true);
}

Status Publisher::keep_manifest_room(uint64_t growth_bytes) {
  if (manifest_ == nullptr) return {};
  // In powers of two: this waits for the batch that is being published.
  growth_bytes = std::bit_ceil(growth_bytes);
  if (!manifest_->short_of_room() && growth_bytes <= growth_asked_.load()) return {};
  os::MutexLock lock(publish_mutex_);
  if (Status s = status(); !s.ok()) return s;
  growth_asked_.store(std::max(growth_asked_.load(), growth_bytes));
  manifest_->expect_growth(growth_bytes);
  Status kept = manifest_->keep_room();
  if (!kept.ok() && !kept.is(StatusCode::kNoSpace)) fail(kept);
  return kept;
}

Status Publisher::trim_manifest() {
  os::MutexLock lock(publish_mutex_);
  return manifest_ == nullptr ? Status() : manifest_->trim();
}

Status Publisher::publish_locked(format::ManifestBatch extra, std::vector<tree::ExtentRef> dropped,
                                 bool even_empty) {
  std::unique_ptr<Batch> batch;
  std::unique_ptr<Batch> kept;
  {
    os::MutexLock lock(mutex_);
    if (!status_.ok()) return status_;
    batch = std::move(filling_);
    kept = std::move(kept_);
  }
  if (batch == nullptr) batch = std::move(kept);
  if (batch == nullptr) {
    if (!even_empty) return {};
    batch = std::make_unique<Batch>();
  }
  const size_t dropped_before = batch->edit.dropped.size() + (kept ? kept->edit.dropped.size() : 0);
  bool unchanged = false;
  Status status;
  try {
    if (kept != nullptr) batch->go_behind(*kept);
    batch->edit.dropped.insert(batch->edit.dropped.end(), std::make_move_iterator(dropped.begin()),
                               std::make_move_iterator(dropped.end()));
    status = publish_batch(*batch, std::move(extra), &unchanged);
  } catch (const std::bad_alloc&) {
    status = out_of_memory();  // what later batches build on was in this one
  }
  if (unchanged) {
    // What the caller has added is its own to try again.
    batch->edit.dropped.resize(dropped_before);
    os::MutexLock lock(mutex_);
    kept_ = std::move(batch);
  } else if (!status.ok()) {
    fail(status);
  }
  return status;
}

Lsn Publisher::trim_point() {
  if (trim_held_.load(std::memory_order_acquire)) return 0;
  if (followers_ != nullptr && followers_->reads_log()) return 0;
  if (log_pinned()) return 0;
  // The bound is taken first: what is inserted later lies above it.
  const Lsn bound = log_->head();
  Lsn needed = std::min(bound, store_->slots->oldest_first_lsn());
  return std::min(needed, log_needed_(durable_batch()));
}

bool Publisher::is_full(const Batch& batch) const {
  return batch.bytes >= kPublishBatchBytes || batch.records() >= records_max();
}

// Containers that both have count as the later one says.
void Publisher::Batch::go_behind(Batch& earlier) {
  each_part(earlier.edit, edit, [](auto& from, auto& to) {
    to.insert(to.begin(), std::make_move_iterator(from.begin()),
              std::make_move_iterator(from.end()));
  });
  max_cut = std::max(max_cut, earlier.max_cut);
  while (ExtentWrites* const writes = earlier.unwritten.load(std::memory_order_acquire)) {
    earlier.unwritten.store(writes->next, std::memory_order_relaxed);
    writes->put_into(unwritten);
  }
}

// What there was no space for, say.
Status Publisher::write_again(Batch& batch) {
  while (ExtentWrites* const writes = batch.unwritten.load(std::memory_order_acquire)) {
    const tree::Extent& extent = *writes->extent.get();
    Status status = store_->space->file(extent.address.file)
                        ->write_at(uint64_t{extent.address.block} * os::kBlockBytes,
                                   {writes->from, extent.disk_bytes()});
    if (!status.ok()) return os::as_no_space(std::move(status));
    batch.unwritten.store(writes->next, std::memory_order_relaxed);
    written(writes);
  }
  return {};
}

Status Publisher::publish_batch(Batch& batch, format::ManifestBatch extra, bool* unchanged) {
  Lsn kept_for_feeds = 0;
  const uint64_t begin_us = machine_.clock->monotonic_us();
  Status status = os::as_no_space(batch.group.wait());
  if (status.ok() || status.is(StatusCode::kNoSpace)) status = write_again(batch);
  if (!status.ok()) {
    *unchanged = status.is(StatusCode::kNoSpace);
    return status;
  }
  for (const tree::ExtentRef& extent : batch.edit.fresh) {
    store_->space->mark_written(
        extent->address.file);  // only a finished write is covered by the next sync
  }
  if (batch.max_cut > 0) {
    if (Status s = log_->wait_durable(batch.max_cut); !s.ok()) {
      *unchanged = s.is(StatusCode::kNoSpace) && log_->status().ok();
      return s;
    }
  }
  HAWTHORN_TEST_POINT("publisher.before_data_sync");
  if (!batch.edit.fresh.empty()) {
    if (Status s = store_->space->sync(); !s.ok()) return s;
  }
  extra.trees_created = std::move(batch.edit.trees_created);
  // A container may have been made, flushed and joined to another one within this batch. Ids are
  // never used again, so whatever was deleted stays so.
  const std::unordered_set<uint64_t> gone(batch.edit.deleted.begin(), batch.edit.deleted.end());
  extra.containers_set.reserve(extra.containers_set.size() + batch.edit.set.size());
  for (const format::ContainerRecord& record : batch.edit.set) {
    if (!gone.contains(record.id)) extra.containers_set.push_back(record);
  }
  for (const uint64_t id : gone) {
    if (manifest_->state().containers.contains(id)) extra.containers_deleted.push_back(id);
  }
  Lsn trim_to = trim_point();
  if (feeds_ != nullptr) {
    const Lsn needed = trim_to;
    trim_to = feeds_->limit_trim(needed, &extra.feeds_set);
    kept_for_feeds = needed;
  }
  if (trim_to > manifest_->state().log_trim) extra.log_trim = trim_to;
  if (extra.log_trim != 0) {
    for (const format::LogEpoch& epoch : manifest_->state().epochs) {
      // Closing names all epochs itself.
      const auto& deleted = extra.epochs_deleted;
      if (epoch.end <= extra.log_trim &&
          std::find(deleted.begin(), deleted.end(), epoch.number) == deleted.end()) {
        extra.epochs_deleted.push_back(epoch.number);
      }
    }
  }
  const Lsn head = log_->head();
  if (manifest_->state().lsn_reserved < head + kLsnReserve / 2)
    extra.lsn_reserved = head + kLsnReserve;
  {
    // What the batch itself frees is trimmed by the next one.
    os::MutexLock lock(mutex_);
    trims_behind_ = batch.number != 0;
    published_us_ = machine_.clock->monotonic_us();
  }
  if (kept_for_feeds > needed_but_for_feeds_.load(std::memory_order_relaxed)) {
    needed_but_for_feeds_.store(kept_for_feeds, std::memory_order_release);
  }
  if (extra.empty()) return {};
  HAWTHORN_TEST_POINT("publisher.before_manifest");
  const Lsn trim = extra.log_trim;
  const Lsn reserved = extra.lsn_reserved;
  if (Status s = manifest_->append(extra); !s.ok()) {
    *unchanged = s.is(StatusCode::kNoSpace) && manifest_->status().ok();
    batch.edit.trees_created = std::move(extra.trees_created);
    return s;
  }
  if (feeds_ != nullptr) feeds_->published(extra.feeds_set);
  HAWTHORN_TEST_POINT("publisher.after_manifest");
  batch_us_.fetch_add(machine_.clock->monotonic_us() - begin_us, std::memory_order_relaxed);
  batches_.fetch_add(1, std::memory_order_relaxed);
  if (batch.number != 0) durable_batch_.store(batch.number, std::memory_order_release);
  manifest_batch_.store(manifest_->state().last_batch, std::memory_order_release);
  free_clear();
  if (reserved != 0) log_->set_reserved(reserved);
  if (trim != 0) log_->trim(trim);
  for (tree::ExtentRef& extent : batch.edit.dropped) {
    extent->dropped.store(true, std::memory_order_release);
    extent.reset();
  }
  os::epoch::collect();
  return {};
}

void Publisher::run() {
  uint64_t look_again_us = 0;
  for (;;) {
    bool due = false;
    {
      os::MutexLock lock(mutex_);
      if (stopping_) return;
      static_cast<void>(wake_.wait_for(mutex_, kPublishTickUs));
      if (stopping_) return;
      if (!status_.ok()) continue;
      const uint64_t now = machine_.clock->monotonic_us();
      due = filling_ != nullptr
                ? is_full(*filling_) || now - filling_since_us_ >= kBatchUs
                : (trims_behind_ || kept_ != nullptr) && now - published_us_ >= kBatchUs;
    }
    // Lsns run out only when nobody publishes: the reservation is renewed in time whatever else
    // happens.
    const bool reserve = log_->reserved() < log_->head() + kLsnReserve / 2;
    if (due || reserve) {
      os::MutexLock lock(publish_mutex_);
      static_cast<void>(publish_locked({}, {}, true).ok());
    }
    os::epoch::collect();
    const uint64_t now = machine_.clock->monotonic_us();
    if (now >= look_again_us && store_->space->held_blocks() > 0) {
      look_again_us = now + kBatchUs;
      free_unfollowed(false);
    }
  }
}

}  // namespace hawthorn::db
