#pragma once
// What is behind the handles of the C API that several files use. Each holds what it was made from,
// so that the order in which handles are freed is free.
//
// Not here: options (c/options.h), lists of fields (c/records.h). Used by all of src/c.
// Threads: as hawthorn/c/base.h says.
//
// 1. Members are destroyed from the last to the first: what is held stands before what holds it.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c/call.h"
#include "hawthorn/hawthorn.h"

namespace hawthorn::c {

struct SnapshotHeld {
  std::shared_ptr<Db> db;
  Snapshot snapshot;
};

struct TxnHeld {
  std::shared_ptr<Db> db;
  std::shared_ptr<TxnHeld> outer;
  Transaction txn;
  bool prepared = false;
};

}  // namespace hawthorn::c

struct hawthorn_db {
  std::shared_ptr<hawthorn::Db> db;
  bool view = false;  // a follower's
};

struct hawthorn_tree {
  std::shared_ptr<hawthorn::Db> db;
  hawthorn::Tree tree;
};

struct hawthorn_snapshot {
  std::shared_ptr<hawthorn::c::SnapshotHeld> held;
};

struct hawthorn_txn {
  std::shared_ptr<hawthorn::c::TxnHeld> held;
};

struct hawthorn_value {
  std::shared_ptr<hawthorn::Db> db;
  hawthorn::Value value;
};

struct hawthorn_read_batch {
  std::shared_ptr<hawthorn::Db> db;
  hawthorn::ReadBatch batch;
  uint64_t value_bytes = 0;
};

struct hawthorn_cursor {
  std::shared_ptr<hawthorn::Db> db;
  std::shared_ptr<hawthorn::c::SnapshotHeld> snapshot;
  std::shared_ptr<hawthorn::c::TxnHeld> txn;
  hawthorn::Cursor cursor;
  // A batch of which [at, count) is still to be handed out.
  std::vector<hawthorn::Entry> batch = {};
  size_t at = 0;
  size_t count = 0;
  // What ended the columns that were filled last, for the next call to return.
  hawthorn::Status left = {};
};

namespace hawthorn::c {

// ---- Arguments

class DbGiven {
 public:
  explicit DbGiven(const hawthorn_db* db) : db_(db) {}
  bool fine() const { return db_ != nullptr; }
  [[gnu::cold]] static std::string problem() { return "the database is NULL"; }

 private:
  const hawthorn_db* db_;
};

// A tree of this database.
class TreeOf {
 public:
  TreeOf(const std::shared_ptr<Db>* db, const hawthorn_tree* tree) : db_(db), tree_(tree) {}
  TreeOf(const hawthorn_db* db, const hawthorn_tree* tree)
      : TreeOf(db != nullptr ? &db->db : nullptr, tree) {}
  bool fine() const { return db_ != nullptr && tree_ != nullptr && tree_->db == *db_; }
  [[gnu::cold]] std::string problem() const {
    if (db_ == nullptr) return "the database is NULL";
    return tree_ == nullptr ? "the tree is NULL" : "the tree is one of another database";
  }

 private:
  const std::shared_ptr<Db>* db_;
  const hawthorn_tree* tree_;
};

// A snapshot of this database, or none.
class SnapshotOf {
 public:
  SnapshotOf(const hawthorn_db* db, const hawthorn_snapshot* snapshot)
      : db_(db), snapshot_(snapshot) {}
  bool fine() const {
    return db_ != nullptr && (snapshot_ == nullptr || snapshot_->held->db == db_->db);
  }
  [[gnu::cold]] std::string problem() const {
    return db_ == nullptr ? "the database is NULL" : "the snapshot is one of another database";
  }
  const Snapshot* get() const {
    return snapshot_ != nullptr ? &snapshot_->held->snapshot : nullptr;
  }
  ReadOptions options() const { return {.snapshot = get()}; }

 private:
  const hawthorn_db* db_;
  const hawthorn_snapshot* snapshot_;
};

// A transaction, and a tree of its database.
class TxnTree {
 public:
  TxnTree(const hawthorn_txn* txn, const hawthorn_tree* tree) : txn_(txn), tree_(tree) {}
  bool fine() const { return txn_ != nullptr && tree_ != nullptr && tree_->db == txn_->held->db; }
  [[gnu::cold]] std::string problem() const {
    if (txn_ == nullptr) return "the transaction is NULL";
    return tree_ == nullptr ? "the tree is NULL" : "the tree is one of another database";
  }

 private:
  const hawthorn_txn* txn_;
  const hawthorn_tree* tree_;
};

class TxnGiven {
 public:
  explicit TxnGiven(const hawthorn_txn* txn) : txn_(txn) {}
  bool fine() const { return txn_ != nullptr; }
  [[gnu::cold]] static std::string problem() { return "the transaction is NULL"; }

 private:
  const hawthorn_txn* txn_;
};

class DurabilityOf : public OneOf {
 public:
  explicit DurabilityOf(hawthorn_durability durability)
      : OneOf(durability, HAWTHORN_DURABILITY_FULL, "durability"),
        durability_(static_cast<Durability>(durability & 3)) {}
  Durability get() const { return durability_; }

 private:
  Durability durability_;
};

// ---- Write options

struct WriteOptions {
  Durability durability = Durability::kDefault;
  std::optional<Expiry> expiry = {};
};
// Which fields may say something.
enum class Writes : uint8_t { kPut, kOther, kPutInside, kInside };
Status take_write_options(const hawthorn_write_options* given, Writes writes, WriteOptions* out);

Status take_tree_options(const hawthorn_tree_options* given, TreeOptions* out);

// ---- Results

// Puts a new handle where the caller wants it; `out` may be null.
template <typename Handle, typename... Args>
void hand_out(Handle** out, Args&&... args) {
  if (out != nullptr) *out = new Handle{std::forward<Args>(args)...};
}
inline Status hand_out_tree(const std::shared_ptr<Db>& db, Result<Tree> made, hawthorn_tree** out) {
  if (!made.ok()) return made.status();
  hand_out(out, db, *made);
  return {};
}
template <typename T, typename U>
Status hand_out_value(Result<T> result, U* out) {
  if (!result.ok()) return result.status();
  if (out != nullptr) *out = static_cast<U>(*result);
  return {};
}

// OK where the database can be used, else why not.
Status usable(Db& db);

// The database that the value, or batch, belongs to from now on.
template <typename Holder>
void belong_to(Holder* holder, const std::shared_ptr<Db>& db) {
  if (holder->db != db) holder->db = db;
}

}  // namespace hawthorn::c
