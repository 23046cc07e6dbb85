// The commit of a bulk ingest: room for its containers, then everything at one moment.

#include <algorithm>

#include "db/ingest.h"
#include "db/large_values.h"
#include "format/manifest_record.h"
#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn::db {

namespace {
constexpr size_t kContainerRecordBytes = 512;  // of a container in the manifest
constexpr int kLogSpaceAttempts = 4;
constexpr uint32_t kRounds = 4;  // of entries that are routed again

bool committed(const Status& status) {
  return status.ok() || status.is(StatusCode::kUnknownOutcome);
}

// Memory of the merge quota, for as long as something is read through it.
class Buffer {
 public:
  Buffer(tree::Store* store, Scheduler* scheduler) : store_(store), scheduler_(scheduler) {}
  ~Buffer() {
    if (memory_ != nullptr) store_->residency->release(os::Quota::kMerge, memory_, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Status take(size_t bytes) {
    Result<char*> taken = take_memory(store_, scheduler_, bytes);
    if (!taken.ok()) return taken.status();
    memory_ = *taken;
    bytes_ = bytes;
    return {};
  }
  char* memory() const { return memory_; }

 private:
  tree::Store* const store_;
  Scheduler* const scheduler_;
  char* memory_ = nullptr;
  size_t bytes_ = 0;
};
}  // namespace

// Each attempt that meets somebody else's writes leaves fewer containers to attach.
Status IngestSession::commit() {
  // Whoever has the mutex may wait for this thread's exclusive transaction.
  if (Status s = db_->sequencer_->may_wait_for_exclusive(); !s.ok()) return s;
  os::MutexLock lock(db_->ingest_mutex_);
  if (db_->named_snapshots_->any() || db_->feeds_->any() || tree_->pins().any()) {
    if (Status s = keep_all(); !s.ok()) return s;
  }
  Status status;
  for (int log_attempts = 0;;) {
    status = carve();
    if (!status.ok()) return status;
    status = commit_once();
    if (committed(status)) break;
    if (status.is(StatusCode::kConflict) && !misfits_.empty()) {
      if (Status s = move_misfits(); !s.ok()) return s;
    } else if (status.is(StatusCode::kBusy) && !parts_.empty()) {
      // A flush has held a container for seconds. What is logged needs none.
      if (Status s = keep_all(); !s.ok()) return s;
    } else if (status.is(StatusCode::kNoSpace) && log_attempts < kLogSpaceAttempts &&
               db_->log_->at_its_end()) {
      ++log_attempts;
      const Status s = db_->scheduler_->free_log();
      if (!s.ok() && !s.is(StatusCode::kNoSpace)) return s;
    } else {
      return status;
    }
  }
  large_.clear();  // a container or a delta has each
  stats_.containers = parts_.size();
  for (const tree::Attachment& part : parts_) stats_.entries_attached += part.record.entries;
  for (const auto& file : kept_) stats_.entries_logged += file->entries();
  db_->publisher_->count_written(builder_.bytes_written());
  db_->operations_.fetch_add(stats_.entries_attached + stats_.entries_logged,
                             std::memory_order_relaxed);
  return status;
}

// Everything that the commit record will refer to is durable after it.
Status IngestSession::carve() {
  // What can be seen already need not wait until others do.
  // Where a range was deleted there is room once it is erased.
  if (tree_->layers().ranges() > 0) static_cast<void>(db_->layer_merger_->drain().ok());
  while (!parts_.empty()) {
    if (Status s = db_->publisher_->keep_manifest_room(parts_.size() * kContainerRecordBytes);
        !s.ok()) {
      return s;
    }
    std::vector<std::string> bounds;
    for (const tree::Attachment& part : parts_) {
      if (bounds.empty() || bounds.back() != part.record.low) bounds.push_back(part.record.low);
      if (part.has_high) bounds.push_back(part.high);
    }
    if (Status s = db_->scheduler_->carve(tree_, bounds); !s.ok()) return s;
    if (!tree_->stands()) return tree_was_dropped();
    HAWTHORN_TEST_POINT("ingest.after_carve");
    for (size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].record.id = tree_->container_id(parts_[i].record.low);
      if (tree_->claim(parts_[i]) == tree::TreeState::Claim::kOccupied) misfits_.push_back(i);
      tree::TreeState::release(parts_[i]);
    }
    if (misfits_.empty()) break;
    if (Status s = move_misfits(); !s.ok()) return s;
  }
  if (!tree_->stands()) return tree_was_dropped();
  if (Status s = builder_.wait(); !s.ok()) return s;
  if (!parts_.empty() || !large_.empty()) {
    if (Status s = db_->publisher_->sync_data(); !s.ok()) return s;
  }
  return parts_.empty() ? Status() : db_->publisher_->publish();
}

// All goes with the transaction.
Status IngestSession::keep_all() {
  misfits_.clear();
  for (size_t i = 0; i < parts_.size(); ++i) misfits_.push_back(i);
  rounds_ = kRounds;
  return move_misfits();
}

// Where others have written meanwhile there are smaller gaps; what does not find one, or comes
// again and again, goes with the transaction.
Status IngestSession::move_misfits() {
  if (misfits_.empty()) return {};
  if (Status s = builder_.wait(); !s.ok()) return s;
  kept_.push_back(std::make_unique<EntryFile>(db_->machine_, new_path(), 0));
  std::vector<tree::Attachment> moved;
  for (auto i = misfits_.rbegin(); i != misfits_.rend(); ++i) {
    moved.push_back(std::move(parts_[*i]));
    parts_.erase(parts_.begin() + static_cast<ptrdiff_t>(*i));
  }
  misfits_.clear();
  const bool again = rounds_++ < kRounds;
  // A fresh view, in which they are.
  seeks_ = kSeeksOfView;
  routing_again_ = true;
  for (const tree::Attachment& part : moved) {
    if (Status s = unbuild(part, again); !s.ok()) return s;
  }
  end_view();
  std::sort(parts_.begin(), parts_.end(),
            [](const auto& one, const auto& other) { return one.record.low < other.record.low; });
  return kept_.back()->finish();
}

Status IngestSession::unbuild(const tree::Attachment& part, bool again) {
  Buffer image(&db_->store_, db_->scheduler_.get());
  Buffer values(&db_->store_, db_->scheduler_.get());
  tree::Residency& residency = *db_->residency_;
  if (Status s = image.take(part.image->memory_bytes()); !s.ok()) return s;
  if (Status s = residency.read_image(part.record, image.memory()); !s.ok()) return s;
  Result<std::unique_ptr<tree::Run>> attached =
      tree::Run::attach(image.memory(), part.image->memory_bytes());
  if (!attached.ok()) return attached.status();
  if (!part.values.empty()) {
    if (Status s = values.take(part.values.front()->memory_bytes()); !s.ok()) return s;
    if (Status s = residency.read_values(part.record, **attached, 0, values.memory()); !s.ok()) {
      return s;
    }
  }
  const tree::Run& run = **attached;
  std::string key(run.key_size_max() + 64, '\0');
  gap_.reset();
  for (uint32_t i = 0; i < run.entries(); ++i) {
    const tree::RunEntry entry = run.entry(i);
    IngestEntry kept;
    kept.key = {key.data(), run.copy_key(i, key.data())};
    kept.large = entry.kind == tree::EntryKind::kLarge;
    kept.value = entry.kind == tree::EntryKind::kSeparated
                     ? std::string_view(values.memory() + entry.offset, entry.size)
                     : entry.inline_value;
    if (Status s = again ? route(kept) : kept_.back()->add(kept); !s.ok()) return s;
    // Behind it another part may follow, which the tree does not show.
    if (gap_.has_value() && part.has_high &&
        (!gap_->bound.has_value() || *gap_->bound > part.high)) {
      gap_->bound = part.high;
    }
  }
  if (!gap_.has_value()) return {};
  Status status = close_part(gap_->bound.has_value() ? &*gap_->bound : nullptr);
  gap_.reset();
  return status;
}

Status IngestSession::write_kept(txn::Txn& txn) {
  for (const auto& file : kept_) {
    file->rewind();
    for (;;) {
      IngestEntry entry;
      bool more = false;
      if (Status s = file->next(&entry, &more); !s.ok()) return s;
      if (!more) break;
      const auto type =
          entry.large ? format::OperationType::kPutLarge : format::OperationType::kPut;
      if (Status s = txn.write(tree_, type, entry.key, entry.value); !s.ok()) return s;
    }
  }
  return {};
}

// Its large values stay the ingest's own until it is committed: it may come again.
Status IngestSession::commit_once() {
  txn::Services services = db_->services_;
  services.admission = &admission_;
  txn::Txn txn(services);
  txn::Begin how = db_->blind();
  how.spills = false;  // it may attach containers
  if (Status s = txn.begin(how); !s.ok()) return s;
  if (Status s = write_kept(txn); !s.ok()) {
    txn.abort();
    return s;
  }
  const Durability durability = db_->level(options_.durability);
  if (parts_.empty()) return txn.commit(durability);
  if (Status s = txn.ask_hooks(parts_.size(), durability); !s.ok()) {
    txn.abort();
    return s;
  }
  std::string operations;
  for (const tree::Attachment& part : parts_) {
    format::append_operation(operations, {format::OperationType::kAttach, tree_->id(),
                                          part.record.low, format::encode_container(part.record)});
  }
  return txn.commit_attaching(operations, static_cast<uint32_t>(parts_.size()), *this, durability);
}

Status IngestSession::claim() {
  misfits_.clear();
  for (size_t i = 0; i < parts_.size(); ++i) {
    switch (tree_->claim(parts_[i])) {
      case tree::TreeState::Claim::kClaimed:
        break;
      case tree::TreeState::Claim::kBusy:
        misfits_.clear();
        return Status(StatusCode::kBusy, "a container of the ingest's range is being flushed");
      case tree::TreeState::Claim::kOccupied:
        misfits_.push_back(i);
    }
  }
  // While this is exclusive nobody drops it; who takes the data of a dropped one away waits for
  // what is claimed.
  if (!tree_->stands()) {
    misfits_.clear();
    return tree_was_dropped();
  }
  return misfits_.empty() ? Status() : Status(StatusCode::kConflict);
}

void IngestSession::attach(format::Lsn cts, format::Lsn first_lsn) {
  Edit edit;
  for (tree::Attachment& part : parts_) {
    part.record.cut = cts;
    part.record.max_ts = cts;
    edit.set.push_back(part.record);
  }
  const uint64_t batch = db_->scheduler_->publish_later(std::move(edit));
  for (tree::Attachment& part : parts_) tree_->attach(part, first_lsn, batch);
}

void IngestSession::release() {
  for (tree::Attachment& part : parts_) tree::TreeState::release(part);
}

}  // namespace hawthorn::db
