// Counted by `hawthorn-bench instructions`: the operations of the library's own interface, and what
// it writes and syncs.
//
//   hawthorn-counted-native KEY_BYTES VALUE_BYTES
//
// makes its databases in the current directory, one for each state of the table.

#include <hawthorn/hawthorn.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/instructions/counted_machine.h"
#include "bench/instructions/counting.h"
#include "bench/instructions/data.h"
#include "bench/instructions/system_calls.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kPoints = 2'000;  // gets, puts, seeks and transactions of a row
constexpr uint64_t kRange = 20'000;  // entries of scans and counts
constexpr size_t kMultiGet = 64;
constexpr uint64_t kMultiGets = 30;
constexpr uint64_t kCounts = 10;
constexpr size_t kBatch = 100;
constexpr uint64_t kDurable = 1'000;  // commits that wait for the disk
constexpr const char* kDirectory = "db";

template <typename T>
T checked(Result<T> result, std::string_view what) {
  check(result.status(), what);
  return std::move(result).value();
}

// A database with the entries of data.h.
class Database {
 public:
  explicit Database(const Shape& shape) : shape_(shape) { open(); }
  ~Database() { db_.reset(); }

  void open() {
    Options options;
    options.durability = Durability::kNone;
    db_ = checked(Db::open(kDirectory, options), "open");
    tree_ = checked(db_->tree("main"), "tree");
    log_ = checked(db_->tree("log"), "tree");
  }

  void load() {
    WriteBatch batch;
    for (uint64_t i = 0; i < kCountedEntries; ++i) {
      batch.put(tree_, key_of(shape_, i), value_of(shape_, i));
      if (batch.count() == kBatch) write(batch, Durability::kNone);
    }
  }

  void write(WriteBatch& batch, Durability durability) {
    check(db_->write(batch, durability), "write");
    batch.clear();
  }

  void put(const std::string& key, std::string_view value, Durability durability) {
    check(db_->put(tree_, key, value, durability), "put");
  }

  // So that all that is flushed is in memory.
  void read_all() {
    Value value;
    for (uint64_t i = 0; i < kCountedEntries; ++i) {
      check(db_->get(tree_, key_of(shape_, i), value), "get");
    }
  }

  void flush() {
    check(db_->flush(), "flush");
    read_all();
  }

  std::vector<std::string> random_keys(uint64_t count, uint64_t salt) const {
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < count; ++i) keys.push_back(key_of(shape_, random_entry(i, salt)));
    return keys;
  }
  std::vector<std::string> absent_keys(uint64_t count) const {
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < count; ++i) keys.push_back(key_of(shape_, kCountedEntries + i));
    return keys;
  }

  // What keeps it open goes first.
  void close() {
    tree_ = {};
    log_ = {};
    check(db_->close(), "close");
    db_.reset();
  }
  // As when the process is killed.
  void drop() {
    tree_ = {};
    log_ = {};
    db_.reset();
  }

  Db& db() { return *db_; }
  const Tree& tree() const { return tree_; }
  const Tree& log() const { return log_; }
  const Shape& shape() const { return shape_; }

 private:
  const Shape shape_;
  std::unique_ptr<Db> db_;
  Tree tree_;
  Tree log_;  // what transfers write to
};

// The rows of one state.
class Operations {
 public:
  Operations(const Shape& shape, std::string_view state)
      : database_(shape), state_(state), keys_(database_.random_keys(2 * kPoints, 1)) {
    for (uint64_t i = 0; i < kCountedEntries; ++i) sorted_.push_back(key_of(shape, i));
    std::sort(sorted_.begin(), sorted_.end());
  }

  void run() {
    Snapshot snapshot;
    prepare(snapshot);
    read_points();
    read_ranges();
    write_points();
    transactions();
    snapshot = {};
    open_and_close();
    check(Db::destroy(kDirectory), "destroy");
  }

 private:
  void prepare(Snapshot& snapshot) {
    database_.load();
    if (state_ != kUnflushed) database_.flush();
    if (state_ == kPartly) {
      snapshot = database_.db().snapshot();
      for (uint64_t i = 0; i < kPartlyUpdates; ++i) {
        const uint64_t entry = random_entry(i, 50);
        database_.put(key_of(database_.shape(), entry), value_of(database_.shape(), entry, 1),
                      Durability::kNone);
      }
    }
    database_.read_all();
    require_state(state_);
  }

  // Rows of writes begin where nothing waits for the log, and find the state that they are named
  // after.
  template <typename Body>
  void row(const std::string& operation, uint64_t operations, Body&& body) {
    count({"native", operation, state_}, operations, std::forward<Body>(body));
  }
  template <typename Body>
  void write_row(const std::string& operation, Body&& body) {
    check(database_.db().sync(), "sync");
    row(operation, kPoints, std::forward<Body>(body));
    if (state_ == kFlushed) database_.flush();
  }

  void read_points();
  void read_ranges();
  void write_points();
  void transactions();
  void open_and_close();

  Database database_;
  const std::string state_;
  const std::vector<std::string> keys_;
  std::vector<std::string> sorted_;
};

void Operations::read_points() {
  Db& db = database_.db();
  const Tree& tree = database_.tree();
  Value value;
  row("get", kPoints, [&] {
    for (uint64_t i = 0; i < kPoints; ++i) check(db.get(tree, keys_[i], value), "get");
  });
  const std::vector<std::string_view> keys(keys_.begin(), keys_.end());
  ReadBatch found;
  row("multi_get of 64, each key", kMultiGets * kMultiGet, [&] {
    for (uint64_t i = 0; i < kMultiGets; ++i) {
      check(db.multi_get(tree, {keys.data() + i * kMultiGet, kMultiGet}, found), "multi_get");
    }
  });
}

void Operations::read_ranges() {
  Db& db = database_.db();
  const Tree& tree = database_.tree();
  {
    Cursor cursor = db.cursor(tree);
    require(cursor.first(), "the first entry is missing");
    row("Cursor::next", kRange, [&] {
      for (uint64_t i = 0; i < kRange; ++i) cursor.next();
    });
    require(cursor.valid() && cursor.key() == sorted_[kRange], "a cursor missed entries");
    row("Cursor::seek", kPoints, [&] {
      for (uint64_t i = 0; i < kPoints; ++i) cursor.seek(keys_[i]);
    });
    require(cursor.valid() && cursor.key() == keys_[kPoints - 1], "a seek went elsewhere");
  }
  const std::string& low = sorted_[kCountedEntries / 3];
  const std::string& high = sorted_[kCountedEntries / 3 + kRange];
  uint64_t entries = 0;
  row("scan, each entry", kRange, [&] {
    const Status status = db.scan(tree, low, high, [&](std::span<const Entry> run) {
      entries += run.size();
      return true;
    });
    check(status, "scan");
  });
  require(entries == kRange, "a scan missed entries");
  row("count of 20,000 entries", kCounts, [&] {
    for (uint64_t i = 0; i < kCounts; ++i) {
      require(checked(db.count(tree, low, high), "count") == kRange, "a count is wrong");
    }
  });
}

void Operations::write_points() {
  Db& db = database_.db();
  const Tree& tree = database_.tree();
  const std::string value = value_of(database_.shape(), 1, 2);
  const std::vector<std::string> absent = database_.absent_keys(kPoints);
  write_row("put, key is there", [&] {
    for (uint64_t i = 0; i < kPoints; ++i) check(db.put(tree, keys_[i], value), "put");
  });
  write_row("put, new key", [&] {
    for (uint64_t i = 0; i < kPoints; ++i) check(db.put(tree, absent[i], value), "put");
  });
  WriteBatch batch;
  write_row("batch of 100 puts, each put", [&] {
    for (uint64_t i = 0; i < kPoints; ++i) {
      batch.put(tree, keys_[kPoints + i], value);
      if (batch.count() < kBatch) continue;
      check(db.write(batch), "write");
      batch.clear();
    }
  });
}

void transfer(Database& database, const std::string& from, const std::string& to,
              const std::string& entry, const std::string& amount, Durability durability) {
  Value value;
  Transaction transaction = checked(database.db().begin(TxnMode::kExclusive), "begin");
  check(transaction.get(database.tree(), from, value), "get");
  check(transaction.get(database.tree(), to, value), "get");
  check(transaction.put(database.tree(), from, amount), "put");
  check(transaction.put(database.tree(), to, amount), "put");
  check(transaction.put(database.log(), entry, amount), "put");
  check(transaction.commit(durability), "commit");
}

void Operations::transactions() {
  Db& db = database_.db();
  const Tree& tree = database_.tree();
  const std::string value = value_of(database_.shape(), 1, 3);
  const std::vector<std::string> keys = database_.random_keys(2 * kPoints, 2);
  const std::vector<std::string> entries = database_.absent_keys(kPoints);
  write_row("transaction: begin, put, commit", [&] {
    for (uint64_t i = 0; i < kPoints; ++i) {
      Transaction transaction = checked(db.begin(TxnMode::kOptimistic), "begin");
      check(transaction.put(tree, keys[i], value), "put");
      check(transaction.commit(), "commit");
    }
  });
  write_row("bank transfer: 2 gets, 3 puts", [&] {
    for (uint64_t i = 0; i < kPoints; ++i) {
      transfer(database_, keys[i], keys[2 * kPoints - 1 - i], entries[i], value,
               Durability::kDefault);
    }
  });
}

// What is unflushed is in the log: opening replays it, and closing flushes it.
void Operations::open_and_close() {
  if (state_ == kFlushed) {
    database_.close();
  } else {
    database_.drop();
  }
  std::unique_ptr<Db> db;
  row("opening", 1, [&] { db = checked(Db::open(kDirectory, Options()), "open"); });
  row("closing", 1, [&] { check(db->close(), "close"); });
}

// Bytes written and syncs of fixed workloads, one after the other on one database.
class Device {
 public:
  explicit Device(const Shape& shape) : shape_(shape) {}

  void run();

 private:
  template <typename Body>
  void row(const std::string& workload, Body&& body) {
    const WriteCalls before = write_calls();
    body();
    const WriteCalls after = write_calls();
    write_row("value", {"native", workload, "bytes written"}, after.bytes - before.bytes);
    write_row("value", {"native", workload, "syncs"}, after.syncs - before.syncs);
  }

  const Shape shape_;
};

void Device::run() {
  std::unique_ptr<Database> database;
  row("a new database", [&] { database = std::make_unique<Database>(shape_); });
  row("200,000 new keys in batches of 100, flush", [&] {
    database->load();
    check(database->db().flush(), "flush");
  });
  row("200,000 puts at random, flush", [&] {
    for (uint64_t i = 0; i < kCountedEntries; ++i) {
      const uint64_t entry = random_entry(i, 60);
      database->put(key_of(shape_, entry), value_of(shape_, entry, 1), Durability::kNone);
    }
    check(database->db().flush(), "flush");
  });
  const std::vector<std::string> keys = database->random_keys(2 * kDurable, 61);
  const std::string value = value_of(shape_, 1, 4);
  row("1,000 puts, each kFull", [&] {
    for (uint64_t i = 0; i < kDurable; ++i) database->put(keys[i], value, Durability::kFull);
  });
  row("1,000 batches of 100 puts, each kFull", [&] {
    WriteBatch batch;
    for (uint64_t i = 0; i < kDurable * kBatch; ++i) {
      batch.put(database->tree(), key_of(shape_, random_entry(i, 62)), value);
      if (batch.count() == kBatch) database->write(batch, Durability::kFull);
    }
  });
  row("1,000 bank transfers, each kFull", [&] {
    const std::vector<std::string> entries = database->absent_keys(kDurable);
    for (uint64_t i = 0; i < kDurable; ++i) {
      transfer(*database, keys[i], keys[2 * kDurable - 1 - i], entries[i], value,
               Durability::kFull);
    }
  });
  row("closing", [&] { database->close(); });
  row("opening and closing, nothing written", [&] {
    database->open();
    database->close();
  });
  database.reset();
  check(Db::destroy(kDirectory), "destroy");
}

}  // namespace
}  // namespace hawthorn::bench

int main(int argc, char** argv) {
  using namespace hawthorn::bench;
  fix_vector_width();
  const Shape shape = shape_of(argc, argv);
  for (const std::string_view state : kStates) Operations(shape, state).run();
  Device(shape).run();
  return 0;
}
