#include "shims/rocksdb/src/updates.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "rocksdb/env.h"
#include "rocksdb/statistics.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using hawthorn::ChangeType;

constexpr std::string_view kAnchor = "rocksdb.wal.";
// A key of the families' rows that never is.
constexpr std::string_view kOpenedNote = "opened";
// The engine logs commits in parts from 256 KB on. What an operation takes is never more than what
// is counted here; where keys are not stored as they are, notes of them may stand beside it.
constexpr uint64_t kWholeBytesMax = 250 << 10;
constexpr uint64_t kOverheadOfOperation = 16;
constexpr uint64_t kOverheadOfNote = 64;
constexpr uint64_t kLargeValueInLog = 1024;  // where it stands

uint64_t number_of(const hawthorn::FeedInfo& anchor) {
  uint64_t number = 0;
  const std::string_view digits = std::string_view(anchor.name).substr(kAnchor.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

uint64_t now_us() { return rocksdb::Env::Default()->NowMicros(); }

// What a batch asks of a family.
class Numbered final : public rocksdb::ColumnFamilyHandle {
 public:
  explicit Numbered(uint32_t id) : id_(id) {}
  const std::string& GetName() const override { return none_; }
  uint32_t GetID() const override { return id_; }
  S GetDescriptor(rocksdb::ColumnFamilyDescriptor*) override { return S::NotSupported(); }
  const rocksdb::Comparator* GetComparator() const override { return nullptr; }

 private:
  const uint32_t id_;
  const std::string none_;
};

hawthorn::Status as_engine(const S& status) {
  return status.ok() ? hawthorn::Status()
                     : hawthorn::Status(StatusCode::kCorruption, status.ToString());
}

S told(const hawthorn::Status& status) {
  if (!status.is(StatusCode::kTooOld)) return to_status(status);
  return S::NotFound("the log is not kept from there on", slice(status.message()));
}

}  // namespace

hawthorn::Result<std::vector<hawthorn::FeedInfo>> WalKeeper::anchors(hawthorn::Db& db) {
  hawthorn::Result<std::vector<hawthorn::FeedInfo>> feeds = db.list_feeds();
  if (!feeds.ok()) return feeds;
  std::erase_if(*feeds, [](const auto& feed) { return !feed.name.starts_with(kAnchor); });
  std::sort(feeds->begin(), feeds->end(),
            [](const auto& a, const auto& b) { return number_of(a) < number_of(b); });
  return feeds;
}

bool WalKeeper::is_due(const hawthorn::FeedInfo& newest, uint64_t now_us) const {
  return newest.lost || (ttl_us_ != 0 && now_us >= newest.created_us + ttl_us_ / 2) ||
         (limit_bytes_ != 0 && newest.log_bytes >= limit_bytes_ / 2);
}

bool WalKeeper::may_go(const hawthorn::FeedInfo& oldest, const hawthorn::FeedInfo& next,
                       uint64_t now_us) const {
  return oldest.lost || (ttl_us_ != 0 && now_us >= next.created_us + ttl_us_) ||
         (limit_bytes_ != 0 && oldest.log_bytes > limit_bytes_);
}

hawthorn::Status WalKeeper::look_after(hawthorn::Db& db, uint64_t now_us, bool wanted) {
  const std::lock_guard lock(mutex_);
  hawthorn::Result<std::vector<hawthorn::FeedInfo>> found = anchors(db);
  if (!found.ok()) return found.status();
  const bool make = found->empty() ? wanted || !on_demand_ : is_due(found->back(), now_us);
  if (make) {
    const uint64_t number = found->empty() ? 0 : number_of(found->back()) + 1;
    // On demand nobody looks any more where no program asks.
    hawthorn::Status s = db.create_feed(std::string(kAnchor) + std::to_string(number),
                                        {.log_bytes_max = on_demand_ ? limit_bytes_ : 0});
    if (s.ok()) found = anchors(db);
    if (!s.ok() || !found.ok()) return s.ok() ? found.status() : s;
  }
  for (size_t i = 0; i + 1 < found->size(); ++i) {
    if (!may_go((*found)[i], (*found)[i + 1], now_us)) break;
    hawthorn::Status s = db.drop_feed((*found)[i].name);
    if (s.is(StatusCode::kBusy) && let_go_) {
      let_go_();
      s = db.drop_feed((*found)[i].name);
    }
    if (!s.ok()) return s;
  }
  return {};
}

void WalListener::on_flush_completed(const hawthorn::FlushCompleted&) {
  // What fails now is tried again with the next flush.
  if (hawthorn::Db* const db = db_)
    static_cast<void>(keeper_->look_after(*db, now_us(), false).ok());
}

class UpdatesIterator final : public rocksdb::TransactionLogIterator {
 public:
  UpdatesIterator(Updates* updates, Updates::Reader reader, uint64_t since)
      : updates_(updates), reader_(std::move(reader)), since_(since) {}
  ~UpdatesIterator() override {
    if (!status_.ok()) return;
    const std::lock_guard lock(updates_->mutex_);
    updates_->idle_ = std::move(reader_);
  }

  bool Valid() override { return valid_; }
  void Next() override {
    if (!status_.ok()) return;
    valid_ = false;
    const hawthorn::Result<bool> found = advance();
    if (found.ok()) {
      valid_ = *found;
    } else {
      status_ = told(found.status());
    }
  }
  S status() override { return status_; }
  rocksdb::BatchResult GetBatch() override { return std::move(batch_); }

 private:
  // False: there is none yet.
  hawthorn::Result<bool> advance() {
    uint64_t newest = updates_->db_->snapshot().timestamp();
    // A feed shows what is durable.
    if (newest > reader_.passed) {
      if (hawthorn::Status s = updates_->db_->sync(); !s.ok()) return s;
    }
    while (true) {
      const hawthorn::Result<hawthorn::FeedCommit*> commit = reader_.feed.next(0);
      if (!commit.ok()) return commit.status();
      if (*commit == nullptr) {
        // What was passed over is nothing that a feed delivers.
        reader_.passed = std::max(reader_.passed, newest);
        return false;
      }
      const uint64_t cts = (*commit)->cts();
      reader_.passed = std::max(reader_.passed, cts);
      if (cts < since_) continue;
      hawthorn::Status s = updates_->batch_of(**commit, &batch_);
      if (s.is(StatusCode::kNotSupported)) s = updates_->batch_by_anchor(cts, &batch_);
      if (!s.ok()) return s;
      if (batch_.writeBatchPtr != nullptr) return true;
    }
  }

  Updates* const updates_;
  Updates::Reader reader_;
  const uint64_t since_;
  bool valid_ = false;
  S status_;
  rocksdb::BatchResult batch_;
};

Updates::Updates(hawthorn::Db* db, std::shared_ptr<WalKeeper> keeper)
    : db_(db), keeper_(std::move(keeper)), opened_from_(db->snapshot().timestamp()) {
  keeper_->set_let_go([this] {
    const std::lock_guard lock(large_mutex_);
    large_ = {};
  });
}

S Updates::since(uint64_t sequence, std::unique_ptr<rocksdb::TransactionLogIterator>* iter) {
  iter->reset();
  const hawthorn::Status kept = keeper_->look_after(*db_, now_us(), true);
  if (!kept.ok()) return to_status(kept);
  if (sequence > db_->snapshot().timestamp()) {
    return S::NotFound("Requested sequence not yet written in the db");
  }
  uint64_t position = sequence == 0 ? 0 : sequence - 1;
  if (position >= opened_from_) position = std::max(position, opened_at_);
  Reader reader;
  {
    const std::lock_guard lock(mutex_);
    if (idle_.feed.valid() && idle_.passed <= position) reader = std::exchange(idle_, Reader());
  }
  if (!reader.feed.valid()) {
    hawthorn::Result<hawthorn::Feed> feed = db_->open_feed_at(position);
    if (!feed.ok()) return told(feed.status());
    reader = {std::move(feed).value(), position};
  }
  *iter = std::make_unique<UpdatesIterator>(this, std::move(reader), sequence);
  (*iter)->Next();
  S s = (*iter)->status();
  if (!s.ok()) iter->reset();
  return s;
}

S Updates::start() {
  const hawthorn::Result<hawthorn::Tree> rows = db_->find_tree(kRowsTree);
  if (!rows.ok()) return to_status(rows.status());
  hawthorn::Status s = db_->del(*rows, kOpenedNote, hawthorn::Durability::kNone);
  opened_at_ = db_->snapshot().timestamp();
  if (s.ok()) s = keeper_->look_after(*db_, now_us(), false);
  return to_status(s);
}

void Updates::let_go_of_readers() {
  {
    const std::lock_guard lock(mutex_);
    idle_ = {};
  }
  const std::lock_guard lock(large_mutex_);
  large_ = {};
}

hawthorn::Status Updates::look_up_families() {
  const std::lock_guard lock(mutex_);
  const hawthorn::Result<FamilyRows> rows = FamilyRows::read(*db_);
  if (!rows.ok()) return rows.status();
  const auto add = [this](uint32_t tree, const FamilyRow& row) {
    Known& known = families_[tree];
    known.id = row.id;
    known.keyed = !row.order.empty();
    if (!row.mark.empty() && known.mark.get() == nullptr) known.mark.set(row.mark);
  };
  const auto add_named = [&](const std::string& name, const FamilyRow& row) {
    const hawthorn::Result<hawthorn::Tree> tree = db_->find_tree(name);
    if (tree.ok()) add(tree->id(), row);
    return tree.ok() || tree.status().is_not_found() ? hawthorn::Status() : tree.status();
  };
  for (const auto& [name, row] : rows->families()) {
    if (hawthorn::Status s = add_named(tree_name(name, row), row); !s.ok()) return s;
  }
  for (const FamilyRow& row : rows->dropped()) {
    if (hawthorn::Status s = add_named(dropped_tree_name(row.id), row); !s.ok()) return s;
  }
  return each_erased_family(*db_, add);
}

// Null: it is none of a family.
hawthorn::Result<const Updates::Known*> Updates::family_of(const hawthorn::FeedTree& tree) {
  const bool named = tree.name.starts_with(kFamilyTree) || tree.name.starts_with(kFilteredTree) ||
                     tree.name.starts_with(kDroppedTree);
  if (!named) return nullptr;
  for (int attempt = 0; attempt < 2; ++attempt) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = families_.find(tree.id);
      if (found != families_.end()) return &found->second;
    }
    if (hawthorn::Status s = look_up_families(); !s.ok()) return s;
  }
  return hawthorn::Status(StatusCode::kCorruption, "the log has a family that nobody knows");
}

hawthorn::Status Updates::add(const hawthorn::FeedChange& change, const Known& family,
                              std::string_view value, rocksdb::WriteBatch* batch) {
  Numbered handle(family.id);
  const rocksdb::Slice key = slice(change.key);
  switch (change.type) {
    case ChangeType::kPut: {
      const Content content = family.mark.content(value);
      if (!content.entity) return as_engine(batch->Put(&handle, key, slice(content.bytes)));
      rocksdb::WideColumns columns;
      if (S s = decode_columns(content.bytes, &columns); !s.ok()) return as_engine(s);
      return as_engine(batch->PutEntity(&handle, key, columns));
    }
    case ChangeType::kDelete:
      return as_engine(batch->Delete(&handle, key));
    case ChangeType::kMerge: {
      rocksdb::Slice of_key;
      rocksdb::Slice operand = slice(value);
      if (family.keyed && !split_keyed(value, &of_key, &operand)) {
        return {StatusCode::kCorruption, "the log has an operand without its key"};
      }
      return as_engine(batch->Merge(&handle, key, operand));
    }
    case ChangeType::kDeleteRange:
      if (!change.high.has_value()) break;
      return as_engine(batch->DeleteRange(&handle, key, slice(*change.high)));
    case ChangeType::kCreateTree:
    case ChangeType::kRenameTree:
    case ChangeType::kDropTree:
      return {};
    default:
      break;
  }
  return {StatusCode::kCorruption, "the log has a change of a family that is none of RocksDB's"};
}

hawthorn::Status Updates::batch_of(hawthorn::FeedCommit& commit, rocksdb::BatchResult* result) {
  result->writeBatchPtr.reset();
  rocksdb::WriteBatch batch;
  hawthorn::FeedChange change;
  std::string large;
  uint64_t bytes = 0;
  bool prepared = false;
  while (true) {
    const hawthorn::Result<bool> more = commit.next(&change);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (change.tree->name == kRowsTree) {
      if (change.key.starts_with(kPreparedNote)) {
        prepared = true;
      } else if (change.key != kOpenedNote) {
        if (hawthorn::Status s = look_up_families(); !s.ok()) return s;
      }
      continue;
    }
    const hawthorn::Result<const Known*> family = family_of(*change.tree);
    if (!family.ok()) return family.status();
    if (*family == nullptr) continue;
    std::string_view value = change.value;
    if (change.streamed) {
      large.resize(change.value_bytes);
      const hawthorn::Result<size_t> read = commit.read_value(0, large);
      if (!read.ok()) return read.status();
      value = large;
    }
    bytes += change.key.size() + kOverheadOfOperation;
    bytes += change.streamed ? kLargeValueInLog : change.value_bytes;
    if ((*family)->keyed) bytes += change.key.size() + kOverheadOfNote;
    if (hawthorn::Status s = add(change, **family, value, &batch); !s.ok()) return s;
  }
  const uint32_t count = batch.Count();
  if (count == 0) return {};
  const bool in_parts = count > kNotedOperations && (prepared || bytes > kWholeBytesMax);
  result->sequence = in_parts ? commit.cts() + 1 - count : commit.cts();
  std::string rep = batch.Release();
  std::memcpy(rep.data(), &result->sequence, sizeof(result->sequence));
  result->writeBatchPtr = std::make_unique<rocksdb::WriteBatch>(std::move(rep));
  return {};
}

hawthorn::Status Updates::batch_by_anchor(uint64_t cts, rocksdb::BatchResult* batch) {
  const std::lock_guard lock(large_mutex_);
  if (!large_.feed.valid() || large_.passed >= cts) {
    large_ = {};
    const hawthorn::Result<std::vector<hawthorn::FeedInfo>> anchors = WalKeeper::anchors(*db_);
    if (!anchors.ok()) return anchors.status();
    for (auto at = anchors->rbegin(); at != anchors->rend(); ++at) {
      if (at->position >= cts) continue;
      hawthorn::Result<hawthorn::Feed> feed = db_->open_feed(at->name);
      if (!feed.ok()) return feed.status();
      large_ = {std::move(feed).value(), at->position};
      break;
    }
    if (!large_.feed.valid()) {
      return {StatusCode::kNotSupported,
              "a value of more than 64 KB that was written before the log was kept"};
    }
  }
  while (true) {
    const hawthorn::Result<hawthorn::FeedCommit*> commit = large_.feed.next(0);
    if (!commit.ok()) return commit.status();
    if (*commit == nullptr || (*commit)->cts() > cts) break;
    large_.passed = (*commit)->cts();
    if (large_.passed == cts) return batch_of(**commit, batch);
  }
  return {StatusCode::kCorruption, "a commit is in the log no more"};
}

S DBImpl::GetUpdatesSince(rocksdb::SequenceNumber sequence,
                          std::unique_ptr<rocksdb::TransactionLogIterator>* iter,
                          const rocksdb::TransactionLogIterator::ReadOptions&) {
  if (options_.statistics) options_.statistics->recordTick(rocksdb::GET_UPDATES_SINCE_CALLS);
  if (read_only_) return S::NotSupported("GetUpdatesSince in read only mode");
  return updates_->since(sequence, iter);
}

// The key is one that nobody else has, so nobody waits for its row.
hawthorn::Status DBImpl::note_prepared(hawthorn::Transaction& in, uint32_t operations) {
  if (operations <= kNotedOperations) return {};
  const hawthorn::Result<hawthorn::Tree> rows = in.find_tree(kRowsTree);
  if (!rows.ok()) return rows.status();
  return in.del(*rows, std::string(kPreparedNote) + session_id_ + "/" +
                           std::to_string(prepared_notes_.fetch_add(1)));
}

}  // namespace hawthorn::rocks
