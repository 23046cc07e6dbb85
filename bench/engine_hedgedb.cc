// HedgeDB by its C++ interface: coroutines on the threads of its pool, with direct reads over
// io_uring. A thread of the driver hands over a put or a group of reads and sleeps until they are
// done; with several reads under way it hands over the next one as each is answered.
//
// HedgeDB has no batches: a commit is its puts, one after another. It has snapshots of one of its
// partitions at a time only, and a walk through all entries takes one for each. Writes that sit in
// its write buffer are not written out on demand, and come back from its log at the next open.

#include <db/database.h>
#include <fcntl.h>
#include <io/static_pool.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <tmc/sync.hpp>
#include <tmc/task.hpp>
#include <vector>

#include "bench/engine_registry.h"
#include "bench/overlay.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

using Bytes = hedge::db::database::byte_buffer_t;

// By the first two bytes of the keys, which may not be shorter.
constexpr unsigned kPartitionsExponent = 4;
constexpr uint32_t kPartitions = 1U << kPartitionsExponent;
constexpr uint32_t kPrefixesOfPartition = (1U << 16) / kPartitions;
constexpr size_t kKeyBytesMin = 2;
constexpr size_t kKeyBytesMax = 256;
// Key and value have to fit into a block of 4 KB, which is found out when they are flushed.
constexpr size_t kEntryBytesMax = 4000;
constexpr size_t kQueueDepth = 16;
// A cache of less than this is none.
constexpr size_t kCacheBytesMin = size_t{1} << 30;

void check(const hedge::status& status) {
  if (!status) throw EngineError("hedgedb: " + status.error().to_string());
}

// What it throws is no EngineError.
template <class F>
auto guarded(F&& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    throw EngineError(std::string("hedgedb: ") + error.what());
  }
}

hedge::key_t key_of(std::string_view key) {
  if (key.size() < kKeyBytesMin || key.size() > kKeyBytesMax) {
    throw EngineError(print_text("hedgedb: a key of %zu bytes, where it takes %zu to %zu",
                                 key.size(), kKeyBytesMin, kKeyBytesMax));
  }
  return hedge::key_t(key);
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string_view view(const hedge::key_t& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}
// Not null, however short they are.
std::string_view view(const Bytes& bytes) {
  return bytes.empty()
             ? ""
             : std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void check_size(std::string_view key, std::string_view value) {
  if (key.size() + value.size() > kEntryBytesMax) {
    throw EngineError(print_text("hedgedb: an entry of %zu bytes, where it takes %zu",
                                 key.size() + value.size(), kEntryBytesMax));
  }
}

// The last key of each partition, which is there from the first open on: a scan that finds nothing
// ends the process.
std::string marker_of(uint32_t partition) {
  const uint32_t prefix = (partition + 1) * kPrefixesOfPartition - 1;
  std::string key(31, '\xff');
  key[0] = static_cast<char>(prefix >> 8);
  return key;
}

hedge::io::io_executor& pool() { return *hedge::io::static_pool::instance(); }

// Runs it on the pool, and waits for it in this thread.
template <class Result>
Result wait_for(tmc::task<Result> task) {
  return tmc::post_waitable(pool(), std::move(task)).get();
}

// One read, and its answer.
struct Read {
  hedge::key_t key;
  Bytes value;
  bool found = false;
  std::string error;

  // Null when the key is missing. Lifetime: until the next read by this object.
  std::string_view answer() const {
    if (!error.empty()) throw EngineError("hedgedb: " + error);
    return found ? view(value) : std::string_view();
  }
};

tmc::task<void> run_read(hedge::db::database& db, Read& read) {
  auto answer = co_await db.get_async(read.key);
  read.found = answer.has_value();
  read.error.clear();
  if (read.found) {
    read.value = std::move(answer.value());
  } else if (answer.error().code() != hedge::errc::KEY_NOT_FOUND &&
             answer.error().code() != hedge::errc::DELETED) {
    read.error = answer.error().to_string();
  }
}

// The reads of one thread that are under way. Threads: it starts and collects them; the pool's
// threads run them.
class ReadsUnderWay {
 public:
  explicit ReadsUnderWay(hedge::db::database& db) : db_(db) {}
  ~ReadsUnderWay() {
    while (under_way_ != 0) collect();
  }
  ReadsUnderWay(const ReadsUnderWay&) = delete;
  ReadsUnderWay& operator=(const ReadsUnderWay&) = delete;

  void resize(size_t slots) {
    if (reads_.size() < slots) reads_.resize(slots);
  }
  // Its key and answer; of a slot whose read is not under way.
  Read& operator[](size_t slot) { return reads_[slot]; }

  void start(size_t slot) {
    ++under_way_;
    tmc::post(pool(), run(slot));
  }
  // Waits for the end of at least one, if any is under way. Returns the slots of those that ended.
  const std::vector<size_t>& collect() {
    collected_.clear();
    if (under_way_ == 0) return collected_;
    std::unique_lock lock(mutex_);
    ended_some_.wait(lock, [this] { return !ended_.empty(); });
    collected_.swap(ended_);
    under_way_ -= collected_.size();
    return collected_;
  }

 private:
  tmc::task<void> run(size_t slot) {
    co_await run_read(db_, reads_[slot]);
    // The lock outlives the wake-up: the last one may be all that this object is kept for.
    const std::lock_guard lock(mutex_);
    ended_.push_back(slot);
    ended_some_.notify_one();
  }

  hedge::db::database& db_;
  std::vector<Read> reads_;
  size_t under_way_ = 0;
  std::vector<size_t> collected_;
  std::mutex mutex_;
  std::condition_variable ended_some_;
  std::vector<size_t> ended_;
};

tmc::task<hedge::status> write_all(hedge::db::database& db, const Overlay& overlay) {
  for (const Overlay::Entry& entry : overlay.entries()) {
    const hedge::key_t key(overlay.key_of(entry));
    hedge::status status;
    if (entry.deleted) {
      status = co_await db.remove_async(key);
    } else {
      const std::span<const std::byte> value = bytes_of(overlay.value_of(entry));
      status = co_await db.put_async(key, value);
    }
    if (!status) co_return status;
  }
  co_return hedge::ok();
}

class HedgeWriter : public Writer {
 public:
  explicit HedgeWriter(hedge::db::database& db) : db_(db) {}

  void begin(WriteIntent intent) override {
    overlay_.clear();
    reads_ = intent == WriteIntent::kReadWrite;
  }
  void commit() override {
    if (reads_ && overlay_.entries().size() > 1) {
      throw EngineError("hedgedb: no transactions: a batch that reads may write one key");
    }
    check(wait_for(write_all(db_, overlay_)));
  }

  bool get(std::string_view key, std::string_view& value) override {
    if (const Overlay::Entry* own = overlay_.find(key)) {
      value = overlay_.value_of(*own);
      return !own->deleted;
    }
    read_.key = key_of(key);
    wait_for(run_read(db_, read_));
    value = read_.answer();
    return read_.found;
  }
  void put(std::string_view key, std::string_view value) override {
    key_of(key);
    check_size(key, value);
    overlay_.put(key, value);
  }
  void del(std::string_view key) override {
    key_of(key);
    overlay_.del(key);
  }

  void put_now(std::string_view key, std::string_view value) override {
    check_size(key, value);
    const hedge::key_t own = key_of(key);
    const std::span<const std::byte> bytes = bytes_of(value);
    check(wait_for(db_.put_async(own, bytes)));
  }

 private:
  hedge::db::database& db_;
  Overlay overlay_;
  bool reads_ = false;
  Read read_;
};

// Gives the sink up to `count` entries from the key on, in order. What the sink throws waits in
// `thrown`: nothing may leave a coroutine of the pool.
template <class Sink>
tmc::task<hedge::status> scan(hedge::db::database& db, hedge::key_t lower, uint64_t count,
                              Sink& sink, std::exception_ptr& thrown) {
  // As its own benchmark reads ahead in scans of these lengths.
  const size_t read_ahead = size_t{count <= 8192 ? 4U : 64U} << 10;
  const auto* const prefix = reinterpret_cast<const unsigned char*>(lower.data());
  const uint32_t first = (uint32_t{prefix[0]} << 8 | prefix[1]) / kPrefixesOfPartition;
  for (uint32_t partition = first; partition < kPartitions && count != 0; ++partition) {
    const std::string marker = marker_of(partition);
    auto opened = db.scan(std::move(lower), hedge::key_t(std::string_view(marker)), read_ahead);
    if (!opened) co_return opened.error();
    auto iterator = std::move(opened.value());
    for (; count != 0; --count) {
      auto entry = co_await iterator.next();
      if (!entry) {
        if (entry.error().code() == hedge::errc::END_OF_SCAN) break;
        co_return entry.error();
      }
      if (view(entry.value().first) == marker) break;
      try {
        sink.add(view(entry.value().first), view(entry.value().second));
      } catch (...) {
        thrown = std::current_exception();
        co_return hedge::ok();
      }
    }
    const uint32_t end = (partition + 1) * kPrefixesOfPartition;
    const char next[2] = {static_cast<char>(end >> 8), static_cast<char>(end & 0xff)};
    lower = hedge::key_t(std::string_view(next, sizeof next));
  }
  co_return hedge::ok();
}

class HedgeReader : public ReaderOf<HedgeReader> {
 public:
  explicit HedgeReader(hedge::db::database& db) : db_(db), reads_(db) {}

  void begin(View) override {}
  void end() override {}

  bool get(std::string_view key, std::string_view& value) override {
    read_.key = key_of(key);
    wait_for(run_read(db_, read_));
    value = read_.answer();
    return read_.found;
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    reads_.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      reads_[i].key = key_of(keys[i]);
      reads_.start(i);
    }
    while (!reads_.collect().empty()) {
    }
    for (size_t i = 0; i < keys.size(); ++i) values[i] = reads_[i].answer();
  }
  bool reads_together() const override { return true; }

  void read_many(ReadStream& stream, size_t depth) override {
    reads_.resize(depth);
    for (size_t slot = 0; slot < depth; ++slot) start_next(stream, slot);
    for (;;) {
      const std::vector<size_t>& ended = reads_.collect();
      if (ended.empty()) return;
      for (const size_t slot : ended) {
        stream.done(slot, reads_[slot].answer());
        start_next(stream, slot);
      }
    }
  }

  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    walk_from(key_of(key), uint64_t{count} + 1, sink);
  }

  template <class Sink>
  void walk(Sink& sink) {
    walk_from(hedge::key_t(std::string_view("\0\0", 2)), UINT64_MAX, sink);
  }

 private:
  void start_next(ReadStream& stream, size_t slot) {
    std::string_view key;
    if (!stream.next(slot, key)) return;
    reads_[slot].key = key_of(key);
    stream.start(slot);
    reads_.start(slot);
  }

  template <class Sink>
  void walk_from(hedge::key_t lower, uint64_t count, Sink& sink) {
    std::exception_ptr thrown;
    const hedge::status status = wait_for(scan(db_, std::move(lower), count, sink, thrown));
    if (thrown) std::rethrow_exception(thrown);
    check(status);
  }

  hedge::db::database& db_;
  Read read_;
  ReadsUnderWay reads_;
};

// Its messages are for people, and standard output is the driver's.
class MessagesToErrors {
 public:
  MessagesToErrors() : before_(std::cout.rdbuf(std::cerr.rdbuf())) {}
  ~MessagesToErrors() { std::cout.rdbuf(before_); }
  MessagesToErrors(const MessagesToErrors&) = delete;
  MessagesToErrors& operator=(const MessagesToErrors&) = delete;

 private:
  std::streambuf* const before_;
};

class HedgeEngine : public Engine {
 public:
  ~HedgeEngine() override {
    if (running_) HedgeEngine::close();
  }

  std::string version() const override { return "HedgeDB"; }
  std::string settings() const override {
    return print_text(
        "%u partitions, write buffer %zu MB, %s, direct I/O, %u threads with %zu reads each, no "
        "batches, log %s",
        kPartitions, buffer_bytes() >> 20,
        cache_bytes() == 0 ? "no cache"
                           : ("cache " + size_text(static_cast<double>(cache_bytes()))).c_str(),
        threads(), kQueueDepth,
        config_.sync == SyncMode::kFull    ? "synced"
        : config_.sync == SyncMode::kAsync ? "synced each 128 KB"
                                           : "not synced");
  }

  void open(const EngineConfig& config) override {
    config_ = config;
    raise_open_files();
    const MessagesToErrors messages;
    // Its threads remember the database that they wrote to: each has threads of its own.
    hedge::io::static_pool::instance() = std::make_shared<hedge::io::io_executor>();
    running_ = true;
    guarded([&] {
      pool().init({.name = "hedgedb",
                   .queue_depth = kQueueDepth,
                   .n_threads = threads(),
                   .auto_detect = false});
      const std::filesystem::path path = std::filesystem::path(config.path) / "hedgedb";
      const bool existed = std::filesystem::exists(path);
      auto opened = existed ? hedge::db::database::load(path, options())
                            : hedge::db::database::make_new(path, options());
      if (!opened) throw std::runtime_error(opened.error().to_string());
      db_ = std::move(opened.value());
      if (!existed) write_markers();
    });
  }
  void close() override {
    db_.reset();
    pool().shutdown();
    running_ = false;
  }

  std::unique_ptr<Writer> writer() override { return std::make_unique<HedgeWriter>(*db_); }
  std::unique_ptr<Reader> reader() override { return std::make_unique<HedgeReader>(*db_); }
  bool commits_batches() const override { return false; }

  // It syncs after each put, after so many bytes, or when it flushes, and at no request.
  void sync() override {
    const int directory = ::open(config_.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = directory >= 0 && syncfs(directory) == 0;
    if (directory >= 0) ::close(directory);
    if (!synced) throw EngineError("hedgedb: cannot sync " + config_.path);
  }
  void drain() override { db_->wait_for_compactions_to_finish(); }

  bool is_log(std::string_view file_name) const override { return file_name.starts_with("log"); }
  uint64_t reachable_bytes() override { return 0; }

 private:
  static unsigned threads() { return std::max(2U, std::thread::hardware_concurrency()); }
  // Of which it has up to ten, in pieces of 4 MB for each thread: it writes through a null pointer
  // where a buffer is smaller than one.
  size_t buffer_bytes() const {
    return std::clamp(config_.memory_bytes / 32, size_t{8} << 20, size_t{32} << 20);
  }
  size_t cache_bytes() const {
    return config_.memory_bytes / 2 > kCacheBytesMin ? config_.memory_bytes / 2 : 0;
  }

  // As in its own benchmark, where that says something.
  hedge::db::db_config options() const {
    hedge::db::db_config options;
    options.memtable_budget_bytes = buffer_bytes();
    options.num_partition_exponent = kPartitionsExponent;
    options.bucket_ratio = 1.5;
    options.use_direct_io = true;
    options.index_page_clock_cache_size_bytes = cache_bytes();
    options.num_background_workers = std::max(1U, std::thread::hardware_concurrency() / 2);
    options.min_merge_width = 8;
    options.max_merge_width = 32;
    options.ssts_in_l0_block_write_threshold = std::nullopt;
    options.wal_fsync_bytes_interval = config_.sync == SyncMode::kFull    ? 1
                                       : config_.sync == SyncMode::kAsync ? 128 << 10
                                                                          : 0;
    return options;
  }

  void write_markers() {
    // Until something was flushed, an open leaves out the first write of the log.
    const hedge::key_t none(std::string_view("none"));
    check(wait_for(db_->remove_async(none)));
    for (uint32_t partition = 0; partition < kPartitions; ++partition) {
      const hedge::key_t key(std::string_view(marker_of(partition)));
      const std::span<const std::byte> value = bytes_of("");
      check(wait_for(db_->put_async(key, value)));
    }
  }

  // It keeps a file open for each sorted run of each partition.
  static void raise_open_files() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }

  EngineConfig config_;
  bool running_ = false;
  std::shared_ptr<hedge::db::database> db_;
};

}  // namespace

std::unique_ptr<Engine> make_hedgedb() { return std::make_unique<HedgeEngine>(); }

}  // namespace hawthorn::bench
