// Values by parts: the functions of Transaction and Db that read and change them.

#include <algorithm>
#include <cstring>

#include "base/out_of_memory.h"
#include "db/change_alone.h"
#include "db/large_edit.h"
#include "db/large_reader.h"
#include "db/stored_key.h"
#include "db/transaction_impl.h"

namespace hawthorn {

namespace db {

Status LargeReader::open(tree::TreeState* tree, std::string_view stored_key,
                         const tree::ReadView& view, uint64_t now_ms) {
  bool large = false;
  Status status = tree->get_encoded(stored_key, view, true, value_, &large);
  if (!status.ok()) return status;
  if (!large) {
    status = take_moment(*tree, now_ms, &value_);
    size_ = value_.size();
    return status;
  }
  Result<format::LargeValue> described = format::decode_large_value(value_.view());
  if (!described.ok()) return described.status();
  size_ = described->size;
  large_.emplace(tree->store()->residency, *std::move(described), 0, 0, nullptr);
  if (!expires(*tree)) return {};
  char moment[format::TreeShape::kMomentBytes] = {};
  const Result<size_t> got = read(0, moment);
  if (!got.ok()) return got.status();
  const Result<bool> ended = has_ended({moment, *got}, now_ms);
  if (!ended.ok()) return ended.status();
  skipped_ = sizeof(moment);
  size_ -= skipped_;
  return *ended ? Status::not_found() : Status();
}

Result<size_t> LargeReader::read(uint64_t offset, std::span<char> to) {
  if (offset >= size_ || to.empty()) return size_t{0};
  const auto count = static_cast<size_t>(std::min<uint64_t>(to.size(), size_ - offset));
  if (!large_) {
    std::memcpy(to.data(), value_.view().data() + offset, count);
    return count;
  }
  large_->go_on(skipped_ + offset, count, to.data());
  if (Status s = large_->run(); !s.ok()) return s;
  return count;
}

namespace {
// To the sink, from an offset on.
Status give_all(LargeReader* reader, uint64_t offset, const StreamSink& sink) {
  std::string piece;
  for (uint64_t at = offset; at < reader->size();) {
    piece.resize(std::min<uint64_t>(tree::LargeRead::kPieceBytes, reader->size() - at));
    const Result<size_t> got = reader->read(at, piece);
    if (!got.ok()) return got.status();
    if (!sink(piece)) return {};
    at += *got;
  }
  return {};
}
}  // namespace
}  // namespace db

// ---- Reading

namespace {
template <typename Use>
Status with_part(Transaction::Impl* impl, const Tree& tree, std::string_view key, Use use) {
  if (impl == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl->find(tree, &status);
  if (state == nullptr) return status;
  const db::StoredKey stored(*state, key, impl->use_of_get());
  if (!stored.ok()) return stored.status();
  if (impl->txn().tracks_reads()) impl->txn().note_read(state, stored.view());
  const Transaction::Impl::PartsView seen = impl->parts_view();
  db::LargeReader reader;
  status = reader.open(state, stored.view(), seen.view, impl->now_ms());
  return status.ok() ? use(&reader) : status;
}

template <typename Use>
Status with_part(Db::Impl& impl, const Tree& tree, std::string_view key, const ReadOptions& options,
                 Use use) {
  Status status = impl.usable();
  if (!status.ok()) return status;
  const FoundTree state = impl.find(tree, options.snapshot, &status);
  if (state == nullptr) return status;
  // Registered, so that the extents of a large value stay until its bytes are read.
  Snapshot own;
  const Snapshot* snapshot = options.snapshot;
  if (snapshot == nullptr) {
    own = impl.snapshot();
    snapshot = &own;
  }
  const db::StoredKey stored(*state, key, db::Use::kSeek);
  if (!stored.ok()) return stored.status();
  db::LargeReader reader;
  status = reader.open(state, stored.view(), {snapshot->timestamp(), 0}, impl.now_of(snapshot));
  if (status.ok()) status = use(&reader);
  // Parts of some values have no checksum: what they were read from must still be their own.
  if (Status s = impl.usable(); !s.ok()) return s;
  return impl.told(std::move(status));
}

// A read whose answer is a number.
template <typename T, typename Read, typename Ask>
Result<T> number_of(Read read, Ask ask) {
  T number = 0;
  const Status status = read([&](db::LargeReader* reader) -> Status {
    const Result<T> answer = ask(reader);
    if (answer.ok()) number = *answer;
    return answer.status();
  });
  if (!status.ok()) return status;
  return number;
}
}  // namespace

Result<size_t> Transaction::read_part(const Tree& tree, std::string_view key, uint64_t offset,
                                      std::span<char> buffer) try {
  return number_of<size_t>([&](auto use) { return with_part(impl_.get(), tree, key, use); },
                           [&](auto* reader) { return reader->read(offset, buffer); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<uint64_t> Transaction::size_of(const Tree& tree, std::string_view key) try {
  return number_of<uint64_t>([&](auto use) { return with_part(impl_.get(), tree, key, use); },
                             [](auto* reader) { return Result<uint64_t>(reader->size()); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::read_stream(const Tree& tree, std::string_view key, const StreamSink& sink,
                                uint64_t offset) try {
  return with_part(impl_.get(), tree, key,
                   [&](auto* reader) { return db::give_all(reader, offset, sink); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<size_t> Db::read_part(const Tree& tree, std::string_view key, uint64_t offset,
                             std::span<char> buffer, const ReadOptions& options) try {
  return number_of<size_t>([&](auto use) { return with_part(*impl_, tree, key, options, use); },
                           [&](auto* reader) { return reader->read(offset, buffer); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<uint64_t> Db::size_of(const Tree& tree, std::string_view key,
                             const ReadOptions& options) try {
  return number_of<uint64_t>([&](auto use) { return with_part(*impl_, tree, key, options, use); },
                             [](auto* reader) { return Result<uint64_t>(reader->size()); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::read_stream(const Tree& tree, std::string_view key, const StreamSink& sink,
                       uint64_t offset, const ReadOptions& options) try {
  return with_part(*impl_, tree, key, options,
                   [&](auto* reader) { return db::give_all(reader, offset, sink); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Changing

struct Transaction::Impl::PartChange {
  enum class Kind : uint8_t { kWrite, kAppend, kResize };
  Kind kind = Kind::kWrite;
  uint64_t offset = 0;  // of kAppend the answer; of kResize the new size
  uint64_t size = 0;    // of what is written
  std::string_view bytes = {};
  const StreamSource* source = nullptr;
};

namespace {
using PartChange = Transaction::Impl::PartChange;

class LargeMovesHeld {
 public:
  explicit LargeMovesHeld(tree::LargeMoves* moves) : moves_(moves) { moves_->enter(); }
  ~LargeMovesHeld() { moves_->leave(); }
  LargeMovesHeld(const LargeMovesHeld&) = delete;
  LargeMovesHeld& operator=(const LargeMovesHeld&) = delete;

 private:
  tree::LargeMoves* const moves_;
};

// Whether the value of an entry that ends is over; of a large one its first bytes are read.
Result<bool> over(tree::TreeState* state, std::string_view stored, bool large, uint64_t now_ms) {
  if (!large) return db::has_ended(stored, now_ms);
  const Result<format::LargeValue> described = format::decode_large_value(stored);
  if (!described.ok()) return described.status();
  char moment[format::TreeShape::kMomentBytes] = {};
  const Result<size_t> got = db::read_large_part(state->store(), *described, 0, moment);
  if (!got.ok()) return got.status();
  return db::has_ended({moment, *got}, now_ms);
}
}  // namespace

Status Transaction::Impl::change_part(tree::TreeState* state, std::string_view key,
                                      PartChange* change) const {
  if (db::several_values(*state)) return db::not_with_several_values();
  const db::StoredPair empty(*state, key, {});  // what a missing key counts as
  if (!empty.ok()) return empty.status();
  if (Status s = takes_value(state, empty.key()); !s.ok()) return s;
  const uint64_t skipped = db::expires(*state) ? format::TreeShape::kMomentBytes : 0;
  const LargeMovesHeld held(&db_->store_.large_moves);
  Value value;
  bool large = false;
  bool own = false;
  Status status = read_to_change(state, empty.key(), value, &large, &own);
  if (status.ok() && skipped != 0) {
    const Result<bool> ended = over(state, value.view(), large, now_ms());
    if (!ended.ok()) return ended.status();
    if (*ended) status = Status::not_found();
  }
  if (!status.ok() && !status.is_not_found()) return status;
  const bool missing = !status.ok();
  if (!large || missing) {
    const std::string_view stored = missing ? empty.value() : value.view();
    db::LargeEdit edit(&db_->store_, db_->scheduler_.get(), stored);
    if (missing && change->kind != PartChange::Kind::kResize && change->size == 0) {
      change->offset = change->kind == PartChange::Kind::kAppend ? 0 : change->offset;
      return {};
    }
    if (missing) status = put_note(state, empty);
    if (missing && !status.ok()) return status;
    return write_changed(state, empty.key(), skipped, change, &edit);
  }
  const Result<format::LargeValue> described = format::decode_large_value(value.view());
  if (!described.ok()) return described.status();
  db::LargeEdit edit(&db_->store_, db_->scheduler_.get(), *described, own);
  return write_changed(state, empty.key(), skipped, change, &edit);
}

// `skipped`: bytes before the caller's.
Status Transaction::Impl::write_changed(tree::TreeState* state, std::string_view stored_key,
                                        uint64_t skipped, PartChange* change,
                                        db::LargeEdit* edit) const {
  const uint64_t before = edit->size() - skipped;
  const bool resizes = change->kind == PartChange::Kind::kResize;
  if (change->kind == PartChange::Kind::kAppend) change->offset = before;
  const uint64_t most = Db::limits().stream_value_bytes_max;
  if (change->offset > most || change->size > most - change->offset) {
    return Status(StatusCode::kInvalidArgument,
                  "a value of more than " + std::to_string(most) + " bytes is over the limit");
  }
  const uint64_t end = change->offset + change->size;
  const uint64_t after = resizes ? end : std::max(before, end);
  if (skipped != 0 && after > tree::kLargeValueBytesMax - skipped) {
    return Status(StatusCode::kNotSupported,
                  "a value of more than 64 MB in a tree whose entries end");
  }
  if (!resizes && change->size == 0) return {};
  if (resizes) {
    edit->resize(skipped + after);
  } else if (change->source == nullptr) {
    edit->write(skipped + change->offset, change->bytes);
  } else {
    edit->write(skipped + change->offset, change->size, *change->source);
  }
  if (edit->size() <= db::kLargeValueBytes) {
    const Result<std::string> bytes = edit->bytes();
    return bytes.ok() ? put(state, stored_key, *bytes) : bytes.status();
  }
  const Result<std::string> encoded = edit->finish();
  if (!encoded.ok()) return encoded.status();
  return txn_->write(state, format::OperationType::kPutLarge, stored_key, *encoded);
}

namespace {
Status change(Transaction::Impl* impl, const Tree& tree, std::string_view key,
              const std::function<Status(tree::TreeState*)>& with) {
  if (impl == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl->find_to_write(tree, key, 0, &status);
  return state == nullptr ? status : with(state);
}
}  // namespace

Status Transaction::write_part(const Tree& tree, std::string_view key, uint64_t offset,
                               std::string_view bytes) try {
  PartChange part{.offset = offset, .size = bytes.size(), .bytes = bytes};
  return change(impl_.get(), tree, key,
                [&](auto* state) { return impl_->change_part(state, key, &part); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::write_part_stream(const Tree& tree, std::string_view key, uint64_t offset,
                                      uint64_t size, const StreamSource& source) try {
  PartChange part{.offset = offset, .size = size, .source = &source};
  return change(impl_.get(), tree, key,
                [&](auto* state) { return impl_->change_part(state, key, &part); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<uint64_t> Transaction::append(const Tree& tree, std::string_view key,
                                     std::string_view bytes) try {
  PartChange part{.kind = PartChange::Kind::kAppend, .size = bytes.size(), .bytes = bytes};
  const Status status = change(impl_.get(), tree, key,
                               [&](auto* state) { return impl_->change_part(state, key, &part); });
  if (!status.ok()) return status;
  return part.offset;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<uint64_t> Transaction::append_stream(const Tree& tree, std::string_view key, uint64_t size,
                                            const StreamSource& source) try {
  PartChange part{.kind = PartChange::Kind::kAppend, .size = size, .source = &source};
  const Status status = change(impl_.get(), tree, key,
                               [&](auto* state) { return impl_->change_part(state, key, &part); });
  if (!status.ok()) return status;
  return part.offset;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::resize(const Tree& tree, std::string_view key, uint64_t size) try {
  PartChange part{.kind = PartChange::Kind::kResize, .offset = size};
  return change(impl_.get(), tree, key,
                [&](auto* state) { return impl_->change_part(state, key, &part); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- In commits of their own

namespace {
// Who has lost once takes the row's lock: then nothing is written in vain again.
Status change_part_alone(Db& db, const Db::Impl& impl, Durability durability,
                         const std::function<Status(Transaction&)>& change) {
  {
    Result<Transaction> transaction = db.begin(TxnOptions{});
    if (!transaction.ok()) return transaction.status();
    Status status = change(*transaction);
    if (status.ok()) status = transaction->commit(durability);
    if (!status.is_conflict()) return status;
  }
  const Result<bool> changed =
      change_alone(db, impl, durability,
                   [&](Transaction& transaction) -> Result<bool> {
                     Status status = change(transaction);
                     // With an optimistic one that has written it and waits for the lock.
                     if (status.is(StatusCode::kDeadlock)) return Status(StatusCode::kConflict);
                     if (!status.ok()) return status;
                     return true;
                   },
                   {.mode = TxnMode::kPessimistic, .isolation = Isolation::kReadCommitted});
  return changed.status();
}
}  // namespace

Status Db::write_part(const Tree& tree, std::string_view key, uint64_t offset,
                      std::string_view bytes, Durability durability) try {
  return change_part_alone(*this, *impl_, durability, [&](Transaction& transaction) {
    return transaction.write_part(tree, key, offset, bytes);
  });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<uint64_t> Db::append(const Tree& tree, std::string_view key, std::string_view bytes,
                            Durability durability) try {
  uint64_t at = 0;
  const Status status =
      change_part_alone(*this, *impl_, durability, [&](Transaction& transaction) -> Status {
        const Result<uint64_t> appended = transaction.append(tree, key, bytes);
        if (appended.ok()) at = *appended;
        return appended.status();
      });
  if (!status.ok()) return status;
  return at;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::resize(const Tree& tree, std::string_view key, uint64_t size,
                  Durability durability) try {
  return change_part_alone(*this, *impl_, durability, [&](Transaction& transaction) {
    return transaction.resize(tree, key, size);
  });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
