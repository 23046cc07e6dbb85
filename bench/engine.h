#pragma once
// What the benchmark driver asks of a database, of ours and of its rivals alike. One adapter file
// per engine implements it (engine_*.cc) the way that engine's experts would use it.
//
// Not here: how long anything takes, and whether the answers are right; the workloads (bank.h,
// upsert.h, micro.h) see to both. Errors: an adapter throws EngineError; a workload lets it
// through. Threads: an Engine may be used from any thread, a Reader, Writer, TxnClient or Clone
// from the one that uses it.
//
// 1. commit() returns when the batch has the durability of EngineConfig::sync; at kNone it survives
//    kill -9. The exceptions (`lmdb-writemap`, `memory`) say so in their settings().
// 2. A batch sees its own writes when it was begun with kReadWrite.
// 3. A Reader begun with kSnapshot shows one moment until end().
// 4. Of a transaction that was answered kConflict nothing was written.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bench/sinks.h"

namespace hawthorn::bench {

enum class SyncMode { kNone, kAsync, kFull };

struct EngineConfig {
  std::string path;         // a directory for this database alone
  size_t memory_bytes = 0;  // the memory figure M of the comparison
  size_t map_bytes = 0;     // address space, for engines that must be told before they start
  SyncMode sync = SyncMode::kNone;
  unsigned writers = 1;       // threads that write at the same time
  bool transactions = false;  // TxnClients are asked for, which some engines must know at open
  bool pretouch = false;      // engines that manage memory themselves make theirs resident at open
};

class EngineError : public std::runtime_error {
 public:
  enum class Kind { kOther, kFull, kBusy };
  explicit EngineError(const std::string& what, Kind kind = Kind::kOther)
      : std::runtime_error(what), kind_(kind) {}
  // The map or the disk is full: a result of a benchmark, not a mistake in it.
  bool full() const { return kind_ == Kind::kFull; }
  // A lock was waited for as long as was agreed, in vain; nothing happened.
  bool busy() const { return kind_ == Kind::kBusy; }

 private:
  Kind kind_;
};

// What a batch will do: kBlind never calls get.
enum class WriteIntent { kBlind, kReadWrite };

// Makes the new value of a key out of the old one, which is empty when the key is missing.
using Change = std::function<void(bool found, std::string_view old, std::string& next)>;

class Writer {
 public:
  virtual ~Writer() = default;

  virtual void begin(WriteIntent intent) = 0;
  virtual void commit() = 0;

  // False when the key is missing. Lifetime of the value: until the next call.
  virtual bool get(std::string_view key, std::string_view& value) = 0;
  virtual void put(std::string_view key, std::string_view value) = 0;
  virtual void del(std::string_view key) = 0;

  // A put whose key is above all keys of the database.
  virtual void append(std::string_view key, std::string_view value) { put(key, value); }
  // A put whose key is new and follows the key of the previous call; the batch does not read it.
  virtual void insert_next(std::string_view key, std::string_view value) { put(key, value); }

  // A get and, of the same key, a put of the same size later in the batch. Two may be under way,
  // in slots 0 and 1: some engines then need not search for the key twice.
  virtual bool get_for_update(unsigned slot, std::string_view key, std::string_view& value) {
    (void)slot;
    return get(key, value);
  }
  virtual void update(unsigned slot, std::string_view key, std::string_view value) {
    (void)slot;
    put(key, value);
  }

  // Outside of batches: one put that is its own commit, by the engine's shortest way.
  virtual void put_now(std::string_view key, std::string_view value);
  // Outside of batches: a get and a put of one key that no other modify of the key comes between,
  // as one commit. Returns how many tries conflicts cost. The inherited one holds a lock for a
  // group of keys meanwhile, which is what an engine without transactions needs.
  virtual uint64_t modify(std::string_view key, const Change& change);
};

// kLatest: each call may show the newest state; cheaper than a snapshot in some engines.
enum class View { kLatest, kSnapshot };

// Reads with several under way at a time: the stream gives the keys and takes the answers. A slot
// stands for one of the reads that are under way.
class ReadStream {
 public:
  virtual ~ReadStream() = default;
  // The key to read next; false when there is none. Lifetime of the key: until done(slot).
  virtual bool next(size_t slot, std::string_view& key) = 0;
  // The engine now sees the read: its latency counts from here.
  virtual void start(size_t slot) = 0;
  // The answer; data() is null when the key is missing.
  virtual void done(size_t slot, std::string_view value) = 0;
};

class Reader {
 public:
  virtual ~Reader() = default;

  virtual void begin(View view) = 0;
  virtual void end() = 0;

  // False when the key is missing. Lifetime of the value: until the next call.
  virtual bool get(std::string_view key, std::string_view& value) = 0;
  // values[i].data() is null when keys[i] is missing. Lifetime of the values: until the next call.
  virtual void multi_get(std::span<const std::string_view> keys,
                         std::span<std::string_view> values) = 0;
  // Whether multi_get does better than a loop of gets.
  virtual bool reads_together() const { return false; }
  // Reads what the stream asks for until it has no more, with up to `depth` under way. The
  // inherited one hands `depth` keys to multi_get, or one to get where the engine knows nothing
  // better.
  virtual void read_many(ReadStream& stream, size_t depth);

  // The first entry >= key and up to `count` entries after it.
  virtual void seek(std::string_view key, size_t count, StampSink& sink) = 0;
  // The first `count` entries from the key on, for any count: by the engine's best means.
  virtual void range(std::string_view key, size_t count, StampSink& sink) = 0;
  virtual void range(std::string_view key, size_t count, EntrySink& sink) = 0;

  // All entries in order: by cursor, one at a time, and by the engine's fastest means.
  virtual void iterate(StampSink& sink) = 0;
  virtual void iterate(BankSink& sink) = 0;
  virtual void iterate(EntrySink& sink) = 0;
  virtual void iterate_batch(StampSink& sink) = 0;
  virtual void iterate_batch(BankSink& sink) = 0;

  // How many entries there are from `lower` on and below `upper`, or without it to the end: of
  // engines that count.
  virtual uint64_t count(std::string_view lower, std::optional<std::string_view> upper) {
    (void)lower;
    (void)upper;
    throw EngineError("no counts");
  }
};

// Gives the next entry of a bulk load, in ascending order of keys; false at its end. Lifetime of
// key and value: until the next call.
using EntrySource = std::function<bool(std::string_view& key, std::string_view& value)>;

// How transactions keep out of each other's way.
enum class TxnKind {
  kSnapshot,      // optimistic: reads show one moment, of two writers of a key the first one wins
  kSerializable,  // optimistic: as if one transaction ran after the other
  kRowLocks,      // get_for_update locks a key until the end, and shows what is newest there
};

// After kConflict the transaction is over, and may be tried again.
enum class TxnAnswer { kDone, kMissing, kConflict };

// Transactions one after another, each of them from begin() to commit() or to kConflict.
class TxnClient {
 public:
  virtual ~TxnClient() = default;

  virtual void begin() = 0;
  virtual TxnAnswer commit() = 0;

  // kMissing: there is no such key. Lifetime of the value: until the next call.
  virtual TxnAnswer get(std::string_view key, std::string_view& value) = 0;
  // Of kRowLocks.
  virtual TxnAnswer get_for_update(std::string_view key, std::string_view& value) = 0;
  virtual TxnAnswer put(std::string_view key, std::string_view value) = 0;
};

// All entries of one moment as a database of their own, which then changes by itself.
class Clone {
 public:
  virtual ~Clone() = default;

  virtual uint64_t count() = 0;
  // False when the key is missing. Lifetime of the value: until the next call.
  virtual bool get(std::string_view key, std::string_view& value) = 0;
  virtual void put(std::string_view key, std::string_view value) = 0;
  // Removes it. The last call.
  virtual void drop() = 0;
};

// What an engine says that it wrote since it was opened, and what it holds on disk.
struct WriteAccount {
  uint64_t log_bytes = 0;
  uint64_t data_bytes = 0;
  uint64_t allocated_bytes = 0;  // of its files, with what it took ahead of need
};

// Full copies of an engine's database that it makes while it is in use.
class Backups {
 public:
  virtual ~Backups() = default;

  // Makes one more, which is durable then; of at most so many bytes per second, 0: no limit.
  // Returns the bytes that a restore of it writes.
  virtual uint64_t make(uint64_t bytes_per_second) = 0;
  // Of the newest one: reads all of it and compares checksums; makes a database of it; deletes it.
  virtual void verify() = 0;
  virtual void restore(const std::string& directory) = 0;
  virtual void remove() = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string version() const = 0;
  // What was set and why, in one line; after open.
  virtual std::string settings() const = 0;

  // Opens the database of config.path, creating it when missing.
  virtual void open(const EngineConfig& config) = 0;
  // Reads what point reads go by into memory, where open does not do that by itself.
  virtual void warm_up() {}
  virtual void close() = 0;

  // Every writer and reader is destroyed before close().
  virtual std::unique_ptr<Writer> writer() = 0;
  virtual std::unique_ptr<Reader> reader() = 0;

  // Makes every commit so far survive a power loss.
  virtual void sync() = 0;
  // Waits until background work has nothing left to do.
  virtual void drain() = 0;
  // Writes out what sits in write buffers, then drains: the state in which reads are measured.
  virtual void settle() { drain(); }

  // Bytes on disk that live data occupies, by the engine's own account; 0 when it keeps none.
  virtual uint64_t reachable_bytes() = 0;
  // Nothing where it keeps no such account.
  virtual std::optional<WriteAccount> write_account() { return std::nullopt; }
  // The same of its memory that is resident.
  virtual std::optional<uint64_t> resident_bytes() { return std::nullopt; }
  // Whether a file of its directory is a part of its log.
  virtual bool is_log(std::string_view file_name) const {
    (void)file_name;
    return false;
  }

  // Whether a commit of several writes is atomic and kSnapshot shows one moment. Where not, a
  // commit writes one after another, and workloads that ask for more do without the engine.
  virtual bool commits_batches() const { return true; }

  // Whether it loads entries in bulk, beside readers and writers, past what single puts go through.
  virtual bool ingests() const { return false; }
  // Does that, atomically. Returns how many of the entries did go past it.
  virtual uint64_t ingest(const EntrySource& source) {
    (void)source;
    throw EngineError("no bulk loads");
  }

  // Whether it has such transactions, where EngineConfig::transactions asked for them.
  virtual bool offers(TxnKind kind) const {
    (void)kind;
    return false;
  }
  // Destroyed before close(), as writers and readers are.
  virtual std::unique_ptr<TxnClient> transactions(TxnKind kind) {
    (void)kind;
    throw EngineError("no such transactions");
  }

  // Whether its readers count the entries of a range without walking over each of them.
  virtual bool counts() const { return false; }

  // Whether it has trees whose order is a function that compares two keys.
  virtual bool compares() const { return false; }
  // Those of a second tree, with entries of its own, whose function compares byte by byte.
  // Destroyed before close().
  virtual std::unique_ptr<Writer> compared_writer() { throw EngineError("no comparisons"); }
  virtual std::unique_ptr<Reader> compared_reader() { throw EngineError("no comparisons"); }

  // Whether it makes full copies of itself beside writers.
  virtual bool backs_up() const { return false; }
  // Kept in the directory, which is missing or empty. Destroyed before close().
  virtual std::unique_ptr<Backups> backups(const std::string& directory) {
    (void)directory;
    throw EngineError("no backups");
  }

  // Whether commits go on while the thread that makes them holds a hundred readers with snapshots.
  virtual bool holds_snapshots() const { return false; }

  // Whether it clones, without a copy of each entry.
  virtual bool clones() const { return false; }
  // Returns when the clone has that durability. The name: of none that is there. It is dropped or
  // destroyed before close().
  virtual std::unique_ptr<Clone> clone(const std::string& name, SyncMode sync) {
    (void)name;
    (void)sync;
    throw EngineError("no clones");
  }
};

// Gives a reader its ways through entries from templates of its own:
//   template <class Sink> void walk(Sink& sink);
//   template <class Sink> void walk_batch(Sink& sink);   (may be the inherited one)
//   template <class Sink> void seek_from(std::string_view key, size_t count, Sink& sink);
//   template <class Sink> void range_from(...);          (as seek_from; may be the inherited one)
// so that no virtual call stands between an engine's cursor and the check of an entry.
template <class Derived>
class ReaderOf : public Reader {
 public:
  void seek(std::string_view key, size_t count, StampSink& sink) override {
    self().seek_from(key, count, sink);
  }
  void range(std::string_view key, size_t count, StampSink& sink) override {
    self().range_from(key, count, sink);
  }
  void range(std::string_view key, size_t count, EntrySink& sink) override {
    self().range_from(key, count, sink);
  }
  void iterate(StampSink& sink) override { self().walk(sink); }
  void iterate(BankSink& sink) override { self().walk(sink); }
  void iterate(EntrySink& sink) override { self().walk(sink); }
  void iterate_batch(StampSink& sink) override { self().walk_batch(sink); }
  void iterate_batch(BankSink& sink) override { self().walk_batch(sink); }

  template <class Sink>
  void walk_batch(Sink& sink) {
    self().walk(sink);
  }
  template <class Sink>
  void range_from(std::string_view key, size_t count, Sink& sink) {
    if (count != 0) self().seek_from(key, count - 1, sink);
  }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
};

}  // namespace hawthorn::bench
