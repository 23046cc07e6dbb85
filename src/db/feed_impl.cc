#include "db/feed_impl.h"

#include <algorithm>
#include <cstdio>

#include "base/out_of_memory.h"
#include "db/large_values.h"
#include "tree/cursor.h"

namespace hawthorn {

using format::Lsn;
using format::OperationType;

namespace {
constexpr uint64_t kWaitUs = 10'000;  // between two looks
}  // namespace

std::string Db::id() const { return impl_->id(); }

std::string Db::Impl::id() const {
  char text[33];
  std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(uuid_high_),
                static_cast<unsigned long long>(uuid_low_));
  return text;
}

// ---- Commits

FeedCommit::Impl::Impl(Db::Impl* db, std::string feed)
    : db_(db),
      feed_(std::move(feed)),
      source_id_(db->id()),
      trees_([db](std::string_view name, bool compared, char rows) {
        return db->key_order(name, compared, rows);
      }) {}

Status FeedCommit::Impl::open(Lsn from, Lsn position) {
  const db::CommitReader::Source source{db_->machine_, db_->path_, db_->log_options_, db_->epochs_};
  Result<std::unique_ptr<db::CommitReader>> reader = db::CommitReader::open(source, from, position);
  if (!reader.ok()) return reader.status();
  reader_ = std::move(*reader);
  previous_ = before_ = position;
  return find_trees(source, from, position);
}

// What the commits from the position to now have done to the catalog is read from the log: once,
// when the feed is opened.
Status FeedCommit::Impl::find_trees(const db::CommitReader::Source& source, Lsn from,
                                    Lsn position) {
  std::map<std::string, std::string> entries;
  const auto view = db_->snapshots_->add(db_->sequencer_->visible());
  const Lsn now = view.ts;
  Status status;
  {
    tree::TreeCursor cursor(
        db_->catalog_->names(), {now, 0},
        {std::string(format::kCatalogTreesBegin), std::string(format::kCatalogTreesEnd), false});
    for (bool there = cursor.first(); there; there = cursor.next()) {
      entries.emplace(format::catalog_name(cursor.key()), cursor.value());
    }
    status = cursor.status();
  }
  db_->snapshots_->remove(view.slot);
  if (!status.ok()) return status;
  std::vector<std::pair<std::string, std::string>> puts;
  if (now > position) {
    if (Status s = db_->log_->wait_durable(now); !s.ok()) return s;
    Result<std::unique_ptr<db::CommitReader>> reader =
        db::CommitReader::open(source, from, position);
    if (!reader.ok()) return reader.status();
    while (true) {
      Result<bool> there = (*reader)->next(db_->log_->durable());
      if (!there.ok()) return there.status();
      if (!*there || (*reader)->cts() > now) break;
      format::Operation operation;
      Result<bool> more = (*reader)->next_operation(&operation);
      for (; more.ok() && *more; more = (*reader)->next_operation(&operation)) {
        if (operation.tree != format::kCatalogTree) continue;
        if (operation.type != OperationType::kPut) continue;
        puts.emplace_back(operation.key, operation.value);
      }
      if (!more.ok()) return more.status();
    }
  }
  return trees_.begin(std::move(entries), puts);
}

Result<bool> FeedCommit::Impl::next_commit(Lsn below) {
  FeedChange change;
  while (!drained_) {  // what was left of the last one
    Result<bool> more = next(&change);
    if (!more.ok()) return more;
  }
  writer_.reset();
  while (true) {
    Result<bool> there = reader_->next(below);
    if (!there.ok() || !*there) return there;
    drained_ = false;
    Result<bool> more = next_change(&change);
    if (!more.ok()) return more;
    if (!*more) continue;
    first_ = change;
    begun_ = false;
    previous_ = before_;
    before_ = reader_->cts();
    return true;
  }
}

Result<bool> FeedCommit::Impl::next(FeedChange* change) {
  begun_ = true;
  if (first_.has_value()) {
    *change = *first_;
    first_.reset();
    return true;
  }
  if (drained_) return false;
  if (!feed_.empty()) {
    if (Status s = db_->feeds_->state_of(feed_); !s.ok()) return s;
  }
  return next_change(change);
}

Result<bool> FeedCommit::Impl::next_change(FeedChange* change) {
  trees_.settle();
  has_large_ = false;
  while (true) {
    format::Operation operation;
    Result<bool> more = reader_->next_operation(&operation);
    if (!more.ok()) return more;
    if (!*more) {
      drained_ = true;
      return false;
    }
    Result<bool> means = operation.tree == format::kCatalogTree ? trees_.apply(operation, change)
                                                                : translate(operation, change);
    if (!means.ok() || *means) return means;
  }
}

// False: it means nothing to a program.
Result<bool> FeedCommit::Impl::translate(const format::Operation& operation, FeedChange* change) {
  db::FeedTrees::Known* const tree = trees_.find(operation.tree);
  if (tree == nullptr) {
    return Status(StatusCode::kCorruption, "the commit at " + std::to_string(reader_->cts()) +
                                               " writes to tree " + std::to_string(operation.tree) +
                                               ", which nothing has made");
  }
  *change = {};
  change->tree = &tree->shown;
  change->key = operation.key;
  change->value = operation.value;
  // Notes of entries that end, and labels of keys, are no entries.
  const bool range = operation.type == OperationType::kDeleteRange;
  if (tree->shape != nullptr && !range && !tree->shape->is_entry(operation.key)) return false;
  switch (operation.type) {
    case OperationType::kPut:
    case OperationType::kPutLarge:
      return translate_put(*tree, operation, change);
    case OperationType::kDelete: {
      const bool several = tree->shape != nullptr && tree->shape->multi_value();
      change->type = several ? ChangeType::kDeleteValue : ChangeType::kDelete;
      const Status loaded = load_key(*tree, operation.key, change);
      return loaded.ok() ? Result<bool>(true) : loaded;
    }
    case OperationType::kMerge: {
      change->type = ChangeType::kMerge;
      const os::epoch::Call call;
      const tree::TreeState* state = db_->catalog_->any(operation.tree);
      const MergeOperator* merges = state == nullptr ? nullptr : state->merge_operator();
      if (merges != nullptr) tree->shown.merge_operator = std::string(merges->name());
      const Status loaded = load_key(*tree, operation.key, change);
      change->value_bytes = change->value.size();
      return loaded.ok() ? Result<bool>(true) : loaded;
    }
    case OperationType::kDeleteRange: {
      change->type = ChangeType::kDeleteRange;
      change->value = {};
      const Status loaded = load_range(*tree, operation, change);
      return loaded.ok() ? Result<bool>(true) : loaded;
    }
    case OperationType::kAttach:
      break;
  }
  return Status(StatusCode::kCorruption, "the commit at " + std::to_string(reader_->cts()) +
                                             " attaches a container outside of an ingest");
}

Result<bool> FeedCommit::Impl::translate_put(const db::FeedTrees::Known& tree,
                                             const format::Operation& operation,
                                             FeedChange* change) {
  change->type = ChangeType::kPut;
  const bool expires = tree.shape != nullptr && tree.shape->expires();
  large_skip_ = expires ? format::TreeShape::kMomentBytes : 0;
  if (operation.type == OperationType::kPutLarge) {
    Result<format::LargeValue> value = format::decode_large_value(operation.value);
    if (!value.ok()) return value.status();
    large_ = std::move(*value);
    has_large_ = true;
    change->streamed = true;
    change->value = {};
    change->value_bytes = large_.size - std::min(large_.size, large_skip_);
    char moment[format::TreeShape::kMomentBytes];
    if (expires) {
      Result<size_t> read = db::read_large_part(&db_->store_, large_, 0, moment);
      if (!read.ok()) return read.status();
      const Result<uint64_t> ends = format::TreeShape::moment_of({moment, *read});
      if (!ends.ok()) return ends.status();
      change->expires_at_ms = *ends;
    }
  } else if (expires) {
    const Result<uint64_t> ends = format::TreeShape::moment_of(change->value);
    if (!ends.ok()) return ends.status();
    change->expires_at_ms = *ends;
    change->value.remove_prefix(large_skip_);
  }
  if (Status s = load_key(tree, operation.key, change); !s.ok()) return s;
  if (!change->streamed) change->value_bytes = change->value.size();
  return true;
}

Status FeedCommit::Impl::load_key(const db::FeedTrees::Known& tree, std::string_view stored,
                                  FeedChange* change) {
  if (tree.shape == nullptr) return {};
  if (Status s = tree.shape->load(stored, &key_, &value_); !s.ok()) return s;
  change->key = key_;
  if (tree.shape->multi_value()) change->value = value_;
  return {};
}

// The bounds are keys as they are stored (StoredRange), or the ends of all entries.
Status FeedCommit::Impl::load_range(const db::FeedTrees::Known& tree,
                                    const format::Operation& operation, FeedChange* change) {
  change->high = format::range_end(operation.value);
  if (tree.shape == nullptr) return {};
  const format::TreeShape& shape = *tree.shape;
  if (change->key.empty() || (shape.framed() && change->key == format::TreeShape::kEntries)) {
    change->key = {};
  } else {
    if (Status s = shape.load_head(change->key, &key_); !s.ok()) return s;
    change->key = key_;
  }
  if (!change->high.has_value()) return {};
  if (shape.framed() && *change->high == format::TreeShape::kEntriesEnd) {
    change->high.reset();
    return {};
  }
  if (Status s = shape.load_head(*change->high, &high_); !s.ok()) return s;
  change->high = high_;
  return {};
}

Result<size_t> FeedCommit::Impl::read_value(uint64_t offset, std::span<char> buffer) {
  if (!has_large_) {
    return Status(StatusCode::kInvalidArgument, "the change has no value that is streamed");
  }
  if (feed_.empty()) {
    return Status(StatusCode::kNotSupported,
                  "the space of large values is kept only for feeds that have a name");
  }
  if (Status s = db_->feeds_->state_of(feed_); !s.ok()) return s;
  Result<size_t> read = db::read_large_part(&db_->store_, large_, offset + large_skip_, buffer);
  // If it was lost meanwhile, what was read may be something else.
  if (Status s = db_->feeds_->state_of(feed_); !s.ok()) return s;
  return read;
}

Result<bool> FeedCommit::Impl::encode(std::string* piece) {
  if (!writer_.has_value()) writer_.emplace(source_id_, cts(), previous_);
  return writer_->next(*this, piece);
}

uint64_t FeedCommit::cts() const { return impl_->cts(); }
uint64_t FeedCommit::previous() const { return impl_->previous(); }
Result<bool> FeedCommit::next(FeedChange* change) try {
  return impl_->next(change);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}
Result<size_t> FeedCommit::read_value(uint64_t offset, std::span<char> buffer) try {
  return impl_->read_value(offset, buffer);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}
Result<bool> FeedCommit::encode(std::string* piece) try {
  return impl_->encode(piece);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Feeds

Feed::Impl::~Impl() {
  if (reading_) {
    // Of what the database has committed by itself since nothing is needed: else it would keep log.
    if (broken_.ok() && may_pass() && commit_.passed() > acknowledged_ && usable().ok()) {
      static_cast<void>(db_->feeds_->acknowledge(name_, commit_.passed()).ok());
    }
    db_->feeds_->end_reading(name_);
  }
  db_->let_go();
}

Status Feed::Impl::usable() const { return db_->usable(); }

Status Feed::Impl::open() {
  Result<format::FeedRecord> record = db_->feeds_->begin_reading(name_);
  if (!record.ok()) return record.status();
  acknowledged_ = delivered_ = record->position;
  Status status = commit_.open(record->scan_from, record->position);
  if (!status.ok()) {
    db_->feeds_->end_reading(name_);
    return status;
  }
  reading_ = true;
  return status;
}

Status Feed::Impl::open_at(Lsn position) {
  if (position > db_->sequencer_->visible().load(std::memory_order_acquire)) {
    return Status(StatusCode::kInvalidArgument,
                  "nothing was committed at " + std::to_string(position) + " yet");
  }
  // What lies across the end of what is kept is not whole.
  const Lsn trimmed = db_->log_->trimmed();
  if (position < trimmed) {
    return Status(StatusCode::kTooOld, "the log reaches back to lsn " + std::to_string(trimmed) +
                                           ", not to " + std::to_string(position));
  }
  acknowledged_ = delivered_ = position;
  return commit_.open(trimmed, position);
}

Result<FeedCommit*> Feed::Impl::next(uint64_t timeout_ms) {
  if (Status s = usable(); !s.ok()) return s;
  if (!broken_.ok()) return broken_;
  wal::Log& log = *db_->log_;
  const uint64_t began_us = db_->machine_.clock->monotonic_us();
  while (true) {
    if (!name_.empty()) {
      if (Status s = db_->feeds_->state_of(name_); !s.ok()) return s;
    }
    const Lsn below = log.durable();
    Result<bool> there = commit_.next_commit(below);
    if (!there.ok()) {
      broken_ = there.status();  // it has lost its place
      return broken_;
    }
    if (*there) {
      delivered_ = commit_.cts();
      return &handle_;
    }
    const uint64_t waited_us = db_->machine_.clock->monotonic_us() - began_us;
    if (waited_us >= timeout_ms * 1000 || os::interrupted()) return nullptr;
    const Lsn visible = db_->sequencer_->visible().load(std::memory_order_acquire);
    if (!db_->machine_.background_threads) {
      if (visible < below) return nullptr;
      if (Status s = log.wait_durable(visible); !s.ok()) return s;
      if (log.durable() == below) return nullptr;
      continue;
    }
    if (visible >= below) log.request_durable(visible);
    log.wait_beyond(below, std::min(kWaitUs, timeout_ms * 1000 - waited_us));
    if (Status s = log.status(); !s.ok()) return s;
  }
}

Status Feed::Impl::acknowledge(uint64_t cts) {
  if (Status s = usable(); !s.ok()) return s;
  if (name_.empty()) {
    return Status(StatusCode::kInvalidArgument, "nothing is kept for a feed without a name");
  }
  if (cts > delivered_) {
    return Status(StatusCode::kInvalidArgument,
                  "no commit at " + std::to_string(cts) + " was delivered");
  }
  if (cts <= acknowledged_) return db_->feeds_->state_of(name_);
  if (Status s = db_->feeds_->acknowledge(name_, cts); !s.ok()) return s;
  acknowledged_ = cts;
  return {};
}

namespace {
Status no_feed() {
  return Status(StatusCode::kInvalidArgument, "the feed was never opened, or moved away");
}
}  // namespace

Feed::Feed() = default;
Feed::Feed(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Feed::~Feed() = default;
Feed::Feed(Feed&&) noexcept = default;
Feed& Feed::operator=(Feed&&) noexcept = default;

Result<FeedCommit*> Feed::next(uint64_t timeout_ms) try {
  return impl_ == nullptr ? Result<FeedCommit*>(no_feed()) : impl_->next(timeout_ms);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}
Status Feed::acknowledge(uint64_t cts) try {
  return impl_ == nullptr ? no_feed() : impl_->acknowledge(cts);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}
uint64_t Feed::position() const { return impl_ == nullptr ? 0 : impl_->position(); }
static const std::string no_source_id;
const std::string& Feed::source_id() const {
  return impl_ == nullptr ? no_source_id : impl_->source_id();
}

Status Db::create_feed(std::string_view name, const FeedOptions& options) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  // Whoever ingests may wait for this thread's exclusive transaction.
  if (Status s = impl_->sequencer_->may_wait_for_exclusive(); !s.ok()) return s;
  for (const tree::TreeState* tree : impl_->catalog_->all()) {
    if (db::holds_subtrees(*tree)) {
      return Status(StatusCode::kNotSupported, "a feed of trees that may hang in trees");
    }
  }
  return impl_->feeds_->create(name, options, impl_->ingest_mutex_);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::drop_feed(std::string_view name) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  return impl_->feeds_->drop(name);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::vector<FeedInfo>> Db::list_feeds() try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  return impl_->feeds_->list();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Feed> Db::open_feed(std::string_view name) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  if (name.empty()) return Status(StatusCode::kNotFound, "no feed has an empty name");
  auto impl = std::make_unique<Feed::Impl>(impl_.get(), std::string(name));
  if (Status s = impl->open(); !s.ok()) return s;
  return Feed(std::move(impl));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Feed> Db::open_feed_at(uint64_t position) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  auto impl = std::make_unique<Feed::Impl>(impl_.get(), std::string());
  if (Status s = impl->open_at(position); !s.ok()) return s;
  return Feed(std::move(impl));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
