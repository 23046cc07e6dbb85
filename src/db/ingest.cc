#include "db/ingest.h"

#include <algorithm>

#include "db/large_values.h"
#include "db/stored_key.h"
#include "os/epoch.h"
#include "os/file.h"

namespace hawthorn::db {

namespace {
constexpr size_t kKeptBytes = size_t{1} << 20;   // in memory
constexpr size_t kSmallestPart = 4;              // of a container's size; less goes with the rest
constexpr size_t kSortShare = 8;                 // of the budget
constexpr size_t kEntriesMax = size_t{1} << 24;  // of one container
constexpr uint64_t kTellEntries = 4096;
constexpr size_t kLargeExtentsMax = 4096;  // that its record in the log may name

}  // namespace

IngestSession::IngestSession(Db::Impl* db, tree::TreeState* tree, const IngestOptions& options)
    : db_(db),
      tree_(tree),
      options_(options),
      admission_(db->scheduler_.get()),
      builder_(&db->store_, db->scheduler_.get(), tree->id()) {
  db_->hold();
  kept_.push_back(std::make_unique<EntryFile>(db->machine_, new_path(),
                                              std::min(kKeptBytes, db->arena_->budget() / 64)));
  if (options_.sorted) return;
  const size_t budget = db_->arena_->budget();
  size_t bytes = options_.sort_memory_bytes != 0 ? std::min(options_.sort_memory_bytes, budget / 2)
                                                 : budget / kSortShare;
  bytes = std::max(bytes, ExternalSort::kMemoryBytesMin);
  static_cast<void>(db_->residency_->make_room(bytes));
  db_->arena_->charge(os::Quota::kMerge, static_cast<ptrdiff_t>(bytes));
  sort_bytes_ = bytes;
  sort_ = std::make_unique<ExternalSort>(
      db_->machine_, bytes, [this] { return new_path(); },
      [this](std::string_view encoded) { forget_large(encoded); });
}

IngestSession::~IngestSession() {
  abandon();
  db_->let_go();
}

std::string IngestSession::new_path() {
  return db_->path_ + "/" + ingest_file_name(db_->next_ingest_file_.fetch_add(1));
}

IngestStats IngestSession::stats() const {
  IngestStats stats = stats_;
  stats.bytes_written = builder_.bytes_written();
  return stats;
}

void IngestSession::abandon() {
  open_ = false;
  give_back();
}

// All but what was committed. Writes that are under way must end before their space is free.
void IngestSession::give_back() {
  end_view();
  static_cast<void>(builder_.wait().ok());
  builder_.clear();
  parts_.clear();
  sort_.reset();
  kept_.clear();
  db_->arena_->charge(os::Quota::kMerge, -static_cast<ptrdiff_t>(sort_bytes_));
  sort_bytes_ = 0;
  for (const std::string& encoded : large_) drop_large_value(&db_->store_, encoded);
  large_.clear();
}

void IngestSession::forget_large(std::string_view encoded) {
  const auto at = large_.find(std::string(encoded));
  if (at == large_.end()) return;
  drop_large_value(&db_->store_, encoded);
  large_.erase(at);
}

// ---- Entries

Status IngestSession::usable() const {
  if (Status s = db_->writable(); !s.ok()) return s;
  if (!failed_.ok()) return failed_;
  if (!open_) return Status(StatusCode::kInvalidArgument, "the ingest has ended");
  if (tree_->dropped.load(std::memory_order_acquire)) {
    return Status(StatusCode::kInvalidArgument, "the tree was dropped");
  }
  return {};
}

Status IngestSession::check(std::string_view key, uint64_t value_bytes) const {
  if (Status s = db_->check_sizes(key, 0); !s.ok()) return s;
  if (value_bytes > Db::limits().stream_value_bytes_max) {
    return Status(
        StatusCode::kInvalidArgument,
        "a streamed value of " + std::to_string(value_bytes) + " bytes is over the limit");
  }
  if (options_.sorted && last_key_.has_value() && key <= *last_key_) {
    return Status(StatusCode::kInvalidArgument,
                  "an ingest of sorted entries got the key " + tree::quoted_key(key) + " after " +
                      tree::quoted_key(*last_key_) +
                      (key == *last_key_ ? ": twice" : ": not in order"));
  }
  return {};
}

Status IngestSession::keep(Status status) {
  if (!status.ok() && failed_.ok()) {
    failed_ = status;
    give_back();
  }
  return status;
}

Status IngestSession::add(std::string_view key, std::string_view value) {
  if (Status s = usable(); !s.ok()) return s;
  Status status = db_->check_sizes(key, value.size());
  if (!status.ok()) return keep(status);
  const StoredPair stored(*tree_, key, value);
  if (!stored.ok()) return keep(stored.status());
  key = stored.key();
  value = stored.value();
  if (!stored.note().empty()) {
    if (status = sort_->add({stored.note(), {}, false}); !status.ok()) return keep(status);
  }
  if (status = check(key, value.size()); !status.ok()) return keep(status);
  if (value.size() <= kLargeValueBytes) return keep(accept({key, value, false}));
  size_t given = 0;
  return add_stored(key, value.size(), [&](std::span<char> to) -> Result<size_t> {
    const size_t count = std::min(to.size(), value.size() - given);
    std::memcpy(to.data(), value.data() + given, count);
    given += count;
    return count;
  });
}

Status IngestSession::add_stream(std::string_view key, uint64_t size, const StreamSource& source) {
  if (Status s = usable(); !s.ok()) return s;
  const StoredKey stored(*tree_, key);
  if (!stored.ok()) return keep(stored.status());
  if (expires(*tree_)) {
    return keep(Status(StatusCode::kNotSupported, "a streamed value in a tree whose entries end"));
  }
  if (Status s = check(stored.view(), size); !s.ok()) return keep(s);
  return add_stored(stored.view(), size, source);
}

Status IngestSession::add_stored(std::string_view key, uint64_t size, const StreamSource& source) {
  if (size > kLargeValueBytes) {
    Result<std::string> encoded =
        write_large_value(&db_->store_, db_->scheduler_.get(), size, source, false);
    if (!encoded.ok()) return keep(encoded.status());
    const std::string& kept = *large_.insert(*std::move(encoded)).first;
    return keep(accept({key, kept, true}));
  }
  std::string bytes(size, '\0');
  for (size_t filled = 0; filled < size;) {
    Result<size_t> got = source({bytes.data() + filled, bytes.size() - filled});
    if (!got.ok()) return keep(got.status());
    if (*got == 0 || *got > size - filled) {
      return keep(Status(StatusCode::kInvalidArgument, "the source gave " + std::to_string(filled) +
                                                           " bytes of " + std::to_string(size)));
    }
    filled += *got;
  }
  return keep(accept({key, bytes, false}));
}

Status IngestSession::accept(const IngestEntry& entry) {
  ++stats_.entries;
  if (sort_ != nullptr) return sort_->add(entry);
  if (!last_key_.has_value()) last_key_.emplace();
  last_key_->assign(entry.key);
  return route(entry);
}

// ---- In key order

size_t IngestSession::target_bytes() const {
  return container_bytes(db_->arena_->budget(), db_->space_->used_blocks() * os::kBlockBytes);
}

Status IngestSession::route(const IngestEntry& entry) {
  if (gap_.has_value()) {
    const bool behind = gap_->bound.has_value() && entry.key >= *gap_->bound;
    const bool full = builder_.bytes() >= target_bytes() || builder_.entries() >= kEntriesMax ||
                      builder_.large_extents() >= kLargeExtentsMax;
    if (behind) {
      if (Status s = close_part(&*gap_->bound); !s.ok()) return s;
      gap_.reset();
    } else if (full) {
      // The gap goes on behind it.
      std::string low(entry.key);
      if (Status s = close_part(&low); !s.ok()) return s;
      gap_->low = std::move(low);
    }
  }
  bool exists = false;
  if (!gap_.has_value()) {
    if (Status s = find_gap(entry.key, &exists); !s.ok()) return s;
  }
  if (!routed_key_.has_value()) routed_key_.emplace();
  routed_key_->assign(entry.key);
  if (exists) return kept_.back()->add(entry);
  builder_.add(entry);
  return {};
}

void IngestSession::end_view() {
  cursor_.reset();
  if (registration_.ts != 0) db_->snapshots_->remove(registration_.slot);
  registration_ = {};
}

// What the tree has from `key` on: the key itself, or a gap up to the next one, within one
// container.
Status IngestSession::find_gap(std::string_view key, bool* exists) {
  if (cursor_ == nullptr || ++seeks_ >= kSeeksOfView) {
    end_view();
    registration_ = db_->snapshots_->add(db_->sequencer_->visible());
    tree::TreeCursor::Options options;
    options.key_only = true;
    cursor_ = std::make_unique<tree::TreeCursor>(tree_, tree::ReadView{registration_.ts, 0},
                                                 std::move(options));
    seeks_ = 0;
  }
  Gap gap;
  gap.low = std::string(key);
  if (cursor_->seek(key)) {
    *exists = cursor_->key() == key;
    if (*exists) return {};
    gap.bound = std::string(cursor_->key());
  } else if (const Status& s = cursor_->status(); !s.ok() && !s.is(StatusCode::kNotSupported)) {
    return s;
  }
  std::string container_low;
  {
    os::epoch::Guard guard;
    const tree::Container* container = tree_->directory().find(key);
    container_low = container->low;
    if (container->has_high && (!gap.bound.has_value() || container->high < *gap.bound)) {
      gap.bound = container->high;
    }
  }
  // Where nothing comes before it in its container it takes that one's place, rather than to leave
  // an empty one behind.
  if (!routing_again_ && container_low != key &&
      (!routed_key_.has_value() || *routed_key_ < container_low)) {
    if (!cursor_->seek_for_prev(key)) {
      if (const Status& s = cursor_->status(); !s.ok()) return s;
      gap.low = container_low;
    } else if (cursor_->key() < container_low) {
      gap.low = container_low;
    }
  }
  gap_ = std::move(gap);
  return {};
}

Status IngestSession::close_part(const std::string* high) {
  if (builder_.empty()) return {};
  if (builder_.bytes() < target_bytes() / kSmallestPart) return spill_part();
  Result<tree::Attachment> part = builder_.build(gap_->low, high);
  if (!part.ok()) return part.status();
  parts_.push_back(std::move(*part));
  return {};
}

// Too little for a container.
Status IngestSession::spill_part() {
  for (size_t i = 0; i < builder_.entries(); ++i) {
    if (Status s = kept_.back()->add(builder_.entry(i)); !s.ok()) return s;
  }
  builder_.clear();
  return {};
}

Status IngestSession::sort_all(const IngestProgress& progress) {
  if (Status s = sort_->finish(); !s.ok()) return s;
  for (uint64_t done = 0;; ++done) {
    if (progress != nullptr && done % kTellEntries == 0) {
      if (Status s = progress(done, stats_.entries); !s.ok()) return s;
    }
    IngestEntry entry;
    bool more = false;
    if (Status s = sort_->next(&entry, &more); !s.ok()) return s;
    if (!more) break;
    if (Status s = route(entry); !s.ok()) return s;
  }
  sort_.reset();
  return {};
}

Status IngestSession::finish(const IngestProgress& progress) {
  if (Status s = usable(); !s.ok()) {
    open_ = false;
    return s;
  }
  open_ = false;
  Status status;
  if (sort_ != nullptr) status = sort_all(progress);
  if (status.ok() && gap_.has_value()) {
    status = close_part(gap_->bound.has_value() ? &*gap_->bound : nullptr);
  }
  if (status.ok()) status = kept_.front()->finish();
  if (status.ok()) {
    end_view();
    status = commit();
  }
  if (!status.ok() && !status.is(StatusCode::kUnknownOutcome)) return keep(status);
  give_back();
  return status;
}

}  // namespace hawthorn::db
