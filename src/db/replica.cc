// A database that follows another one, by the changes of its feed.

#include "hawthorn/replica.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/out_of_memory.h"
#include "db/feed_impl.h"

namespace hawthorn {

namespace {
// What kReplicaTree holds: "state" leads to u8 version, u8 State, u64 position, id of the source.
constexpr std::string_view kStateKey = "state";
constexpr char kVersion = 1;
constexpr size_t kStateBytes = 10;
constexpr size_t kCopyBytes = size_t{1} << 20;  // of one commit of the first copy

enum class State : char { kCopying = 1, kFollowing = 2 };

Status invalid(std::string text) { return {StatusCode::kInvalidArgument, std::move(text)}; }
}  // namespace

class Replica::Impl {
 public:
  explicit Impl(Db& target) : target_(target) {}
  Status open();
  Status copy(Db& source);
  Status begin_at(std::string_view source_id, uint64_t timestamp);
  Status apply(db::ChangeSource& changes, std::string_view source_id, uint64_t cts,
               uint64_t previous, Durability durability);
  uint64_t position() const { return following_ ? position_ : 0; }
  const std::string& source_id() const { return source_id_; }

 private:
  Status write_state(Transaction& transaction, State state, uint64_t position);
  Status write_state_alone(State state, uint64_t position);
  Status clear();
  Status copy_tree(Db& source, const Snapshot& snapshot, const std::string& name);
  Status copy_streamed(Db& source, const Tree& from, const Snapshot& snapshot, std::string_view key,
                       Transaction& transaction, const Tree& to);
  Status give_operators(const Tree& from, const Tree& to);
  Status apply_change(Transaction& transaction, db::ChangeSource& changes,
                      const FeedChange& change);
  Status write_entry(Transaction& transaction, db::ChangeSource& changes, const FeedChange& change);

  Db& target_;
  Tree state_tree_;
  bool following_ = false;
  uint64_t position_ = 0;
  std::string source_id_;
  std::string copying_;    // the source of a copy that was cut short
  std::string tree_name_;  // the tree of the last change, within a transaction
  Tree tree_;
};

Status Replica::Impl::open() {
  Result<std::vector<std::string>> names = target_.list_trees();
  if (!names.ok()) return names.status();
  const bool there = std::find(names->begin(), names->end(), kReplicaTree) != names->end();
  if (!there && !names->empty()) {
    return invalid(target_.path() + " has trees and is no replica");
  }
  Result<Tree> tree = target_.tree(kReplicaTree);
  if (!tree.ok()) return tree.status();
  state_tree_ = *tree;
  Value value;
  Status status = target_.get(state_tree_, kStateKey, value);
  if (status.is_not_found()) return {};
  if (!status.ok()) return status;
  const std::string_view bytes = value.view();
  if (bytes.size() < kStateBytes || bytes[0] != kVersion) {
    return Status(StatusCode::kNotSupported,
                  target_.path() + ": the state of the replica is of another version");
  }
  const bool copied = bytes[1] == static_cast<char>(State::kFollowing);
  (copied ? source_id_ : copying_) = std::string(bytes.substr(kStateBytes));
  position_ = load<uint64_t>(bytes.data() + 2);
  following_ = copied;
  return {};
}

Status Replica::Impl::write_state(Transaction& transaction, State state, uint64_t position) {
  std::string value(1, kVersion);
  value.push_back(static_cast<char>(state));
  append(value, position);
  value += state == State::kCopying ? copying_ : source_id_;
  return transaction.put(state_tree_, kStateKey, value);
}

Status Replica::Impl::write_state_alone(State state, uint64_t position) {
  Result<Transaction> transaction = target_.begin({.isolation = Isolation::kReadCommitted});
  if (!transaction.ok()) return transaction.status();
  if (Status s = write_state(*transaction, state, position); !s.ok()) return s;
  return transaction->commit(Durability::kFull);
}

Status Replica::Impl::begin_at(std::string_view source_id, uint64_t timestamp) {
  if (following_) return invalid("the replica has a copy already");
  if (source_id.size() != 32) return invalid("the id of a database has 32 digits");
  source_id_ = std::string(source_id);
  if (Status s = write_state_alone(State::kFollowing, timestamp); !s.ok()) {
    source_id_.clear();
    return s;
  }
  following_ = true;
  position_ = timestamp;
  return {};
}

// ---- The first copy

// What a copy that was cut short has left.
Status Replica::Impl::clear() {
  Result<std::vector<std::string>> names = target_.list_trees();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (name == kReplicaTree) continue;
    if (copying_.empty()) return invalid(target_.path() + " has trees already");
    if (Status s = target_.drop_tree(name); !s.ok()) return s;
  }
  return {};
}

Status Replica::Impl::copy(Db& source) {
  if (following_) return invalid("the replica has a copy already");
  const Snapshot snapshot = source.snapshot();
  Result<std::vector<std::string>> names = source.list_trees({.snapshot = &snapshot});
  if (!names.ok()) return names.status();
  if (std::find(names->begin(), names->end(), kReplicaTree) != names->end()) {
    return Status(StatusCode::kNotSupported,
                  source.path() + " is a replica itself: it has the tree of that");
  }
  if (Status s = clear(); !s.ok()) return s;
  copying_ = source.id();
  if (Status s = write_state_alone(State::kCopying, 0); !s.ok()) return s;
  for (const std::string& name : *names) {
    if (Status s = copy_tree(source, snapshot, name); !s.ok()) return s;
  }
  // All of it is durable before it counts.
  if (Status s = target_.sync(); !s.ok()) return s;
  return begin_at(source.id(), snapshot.timestamp());
}

Status Replica::Impl::give_operators(const Tree& from, const Tree& to) {
  const os::epoch::Call call;
  const tree::TreeState* const state = TreeAccess::state(from);
  const MergeOperator* merges = state == nullptr ? nullptr : state->merge_operator();
  return merges == nullptr ? Status() : target_.set_merge_operator(to, merges->name());
}

Status Replica::Impl::copy_streamed(Db& source, const Tree& from, const Snapshot& snapshot,
                                    std::string_view key, Transaction& transaction,
                                    const Tree& to) {
  const ReadOptions at = {.snapshot = &snapshot};
  // A read at an offset gives a byte exactly when the value is longer than that.
  uint64_t size = 0;
  char byte[1];
  for (uint64_t bit = std::bit_floor(Db::limits().stream_value_bytes_max); bit > 0; bit /= 2) {
    Result<size_t> got = source.read_part(from, key, size + bit - 1, byte, at);
    if (!got.ok()) return got.status();
    if (*got == 1) size += bit;
  }
  uint64_t done = 0;
  return transaction.put_stream(to, key, size, [&](std::span<char> into) -> Result<size_t> {
    Result<size_t> got = source.read_part(from, key, done, into, at);
    if (got.ok()) done += *got;
    return got;
  });
}

Status Replica::Impl::copy_tree(Db& source, const Snapshot& snapshot, const std::string& name) {
  Result<Tree> from = source.find_tree(name, {.snapshot = &snapshot});
  if (!from.ok()) return from.status();
  Result<TreeOptions> options = source.tree_options(*from);
  if (!options.ok()) return options.status();
  Result<Tree> to = target_.tree(name, *options);
  if (!to.ok()) return to.status();
  const auto codec = source.impl_->residency_->compression().plan(from->id()).codec;
  if (Status s = target_.set_compression(*to, static_cast<Compression>(codec)); !s.ok()) return s;
  if (Status s = give_operators(*from, *to); !s.ok()) return s;
  CursorOptions walk;
  walk.snapshot = &snapshot;
  walk.large_as_empty = true;
  Cursor cursor = source.cursor(*from, walk);
  Result<Transaction> transaction = target_.begin({.isolation = Isolation::kReadCommitted});
  size_t bytes = 0;
  for (bool there = cursor.first(); there; there = cursor.next()) {
    if (!transaction.ok()) return transaction.status();
    const std::string_view key = cursor.key();
    const std::string_view value = cursor.value();
    Status status;
    if (value.empty() && cursor.status().is(StatusCode::kNotSupported)) {
      // Too large to be shown; the cursor says so and goes on.
      status = copy_streamed(source, *from, snapshot, key, *transaction, *to);
    } else if (!cursor.status().ok()) {
      status = cursor.status();
    } else if (options->expires) {
      status = transaction->put(*to, key, value, Expiry::at_ms(cursor.expires_at()));
    } else {
      status = transaction->put(*to, key, value);
    }
    if (!status.ok()) return status;
    bytes += key.size() + value.size();
    if (bytes < kCopyBytes) continue;
    if (Status s = transaction->commit(Durability::kNone); !s.ok()) return s;
    transaction = target_.begin({.isolation = Isolation::kReadCommitted});
    bytes = 0;
  }
  if (!cursor.status().ok()) return cursor.status();
  return transaction.ok() ? transaction->commit(Durability::kNone) : transaction.status();
}

// ---- Commits

Status Replica::Impl::apply(db::ChangeSource& changes, std::string_view source_id, uint64_t cts,
                            uint64_t previous, Durability durability) {
  if (!following_) return invalid("the replica has no copy yet");
  if (source_id != source_id_) {
    return invalid("the commit is one of database " + std::string(source_id) +
                   ", the replica one of " + source_id_);
  }
  if (cts <= position_) return {};
  if (previous > position_) {
    return invalid("the replica has all up to " + std::to_string(position_) +
                   ", and the commit is the next one behind " + std::to_string(previous));
  }
  Result<Transaction> transaction = target_.begin({.isolation = Isolation::kReadCommitted});
  if (!transaction.ok()) return transaction.status();
  tree_name_.clear();
  FeedChange change;
  while (true) {
    Result<bool> more = changes.next(&change);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (Status s = apply_change(*transaction, changes, change); !s.ok()) return s;
  }
  if (Status s = write_state(*transaction, State::kFollowing, cts); !s.ok()) return s;
  const Status status = transaction->commit(durability);
  if (status.ok() || status.is(StatusCode::kUnknownOutcome)) position_ = cts;
  return status;
}

Status Replica::Impl::apply_change(Transaction& transaction, db::ChangeSource& changes,
                                   const FeedChange& change) {
  const FeedTree& of = *change.tree;
  switch (change.type) {
    case ChangeType::kCreateTree: {
      Result<Tree> made = transaction.tree(of.name, of.options);
      return made.status();
    }
    case ChangeType::kCloneTree:
      return transaction.clone_tree(change.other_name, of.name).status();
    case ChangeType::kDropTree:
      tree_name_.clear();
      return transaction.drop_tree(of.name);
    case ChangeType::kRenameTree:
      tree_name_.clear();
      return transaction.rename_tree(of.name, change.other_name);
    default:
      break;
  }
  if (tree_name_ != of.name) {
    Result<Tree> found = transaction.find_tree(of.name);
    if (!found.ok()) return found.status();
    tree_ = *found;
    tree_name_ = of.name;
  }
  return write_entry(transaction, changes, change);
}

Status Replica::Impl::write_entry(Transaction& transaction, db::ChangeSource& changes,
                                  const FeedChange& change) {
  switch (change.type) {
    case ChangeType::kPut: {
      if (change.streamed) {
        uint64_t done = 0;
        const std::string key(change.key);  // pieces come and go meanwhile
        return transaction.put_stream(tree_, key, change.value_bytes,
                                      [&](std::span<char> into) -> Result<size_t> {
                                        Result<size_t> got = changes.read_value(done, into);
                                        if (got.ok()) done += *got;
                                        return got;
                                      });
      }
      if (!change.tree->options.expires) return transaction.put(tree_, change.key, change.value);
      return transaction.put(tree_, change.key, change.value, Expiry::at_ms(change.expires_at_ms));
    }
    case ChangeType::kDelete:
      return transaction.del(tree_, change.key);
    case ChangeType::kDeleteValue:
      return transaction.del_value(tree_, change.key, change.value);
    case ChangeType::kDeleteRange:
      return transaction.delete_range(tree_, change.key, change.high);
    case ChangeType::kMerge: {
      // The tree was given its operator when no commit could say so.
      const os::epoch::Call call;
      const tree::TreeState* const state = TreeAccess::state(tree_);
      const bool has = state != nullptr && state->merge_operator() != nullptr;
      if (!has && !change.tree->merge_operator.empty()) {
        Status given = target_.set_merge_operator(tree_, change.tree->merge_operator);
        if (!given.ok()) return given;
      }
      return transaction.merge(tree_, change.key, change.value);
    }
    default:
      return Status(StatusCode::kCorruption, "the change is of no known type");
  }
}

// ---- The public object

Replica::Replica(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Replica::~Replica() = default;

Result<std::unique_ptr<Replica>> Replica::open(Db& target) try {
  auto impl = std::make_unique<Impl>(target);
  if (Status s = impl->open(); !s.ok()) return s;
  return std::unique_ptr<Replica>(new Replica(std::move(impl)));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Replica::copy(Db& source) try { return impl_->copy(source); } catch (const std::bad_alloc&) {
  return out_of_memory();
}
Status Replica::begin_at(std::string_view source_id, uint64_t timestamp) try {
  return impl_->begin_at(source_id, timestamp);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}
uint64_t Replica::position() const { return impl_->position(); }
const std::string& Replica::source_id() const { return impl_->source_id(); }

Status Replica::apply(FeedCommit& commit, Durability durability) try {
  FeedCommit::Impl& changes = *commit.impl_;
  if (changes.begun() && changes.cts() > position()) {
    return invalid("changes of the commit were read already: it takes a new delivery");
  }
  return impl_->apply(changes, changes.source_id(), changes.cts(), changes.previous(), durability);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Replica::apply(const FeedPieceSource& pieces, Durability durability) try {
  db::PieceReader reader(pieces);
  if (Status s = reader.open(); !s.ok()) return s;
  return impl_->apply(reader, reader.source_id(), reader.cts(), reader.previous(), durability);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
