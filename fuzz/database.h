#pragma once
// A database on a simulated disk for the targets that call the public API: small files and a small
// log, so that opening takes a millisecond, and a pool of keys and values known by number.
//
// Not here: what is done with it (operations_run.h, threads_fuzz.cc). Threads: as the database's.

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/prng.h"
#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "fuzz/fuzz.h"
#include "hawthorn/hawthorn.h"
#include "testing/sample_databases.h"
#include "testing/sim_machine.h"

namespace hawthorn::fuzz {

// What is freed is kept from reuse for as long as an input runs, not for many of them: its pages
// need not be new each time.
inline constexpr char kAsanOptions[] = "quarantine_size_mb=16:malloc_context_size=8";

// Once, before the first database is opened.
inline void shrink_sizes() {
  db::log_segment_bytes = size_t{1} << 20;
  db::log_bytes_min = size_t{2} << 20;
  db::log_ring_bytes_max = size_t{128} << 10;
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
}

inline constexpr int kKeys = 256;

// Sorted keys of all shapes: 8 bytes, short, empty, with long common prefixes, zeros and 0xff.
inline const std::vector<std::string>& pool() {
  static const std::vector<std::string> keys = [] {
    std::set<std::string> made = {std::string()};
    for (uint64_t i = 0; made.size() < kKeys; ++i) {
      std::string number(8, '\0');
      store(number.data(), mix64(i));
      switch (i % 8) {
        case 0:
          made.insert("a long common prefix of many keys/" + std::to_string(i));
          break;
        case 1:
          made.insert(std::string(i / 8 % 12, '\0') + std::to_string(i));
          break;
        case 2:
          made.insert(std::string(i / 8 % 12, '\xff') + number.substr(0, 2));
          break;
        case 3:
          made.insert(std::string(i % 64 == 3 ? 600 : 20, 'k') + number);
          break;
        default:
          made.insert(number);
          break;
      }
    }
    return std::vector<std::string>(made.begin(), made.end());
  }();
  return keys;
}
inline const std::string& key(int rank) { return pool()[static_cast<size_t>(rank)]; }
// The first of the pool that is not below it; kKeys: none.
inline int rank_from(const std::string& key) {
  return static_cast<int>(std::lower_bound(pool().begin(), pool().end(), key) - pool().begin());
}

inline std::string value_of(uint32_t number, size_t size) {
  std::string value(size, '\0');
  for (size_t i = 0; i < size; ++i) value[i] = static_cast<char>(number + i / 64);
  std::memcpy(value.data(), &number, std::min(size, sizeof(number)));
  return value;
}
// Mostly small, one above 64 KB.
inline size_t size_of(uint8_t byte) {
  if (byte == 255) return 70'000;
  return byte < 200 ? byte : size_t{100} * (byte - 199u);
}

// By size, then byte by byte.
class BySize : public KeyComparator {
 public:
  std::string_view name() const override { return "by size"; }
  int compare(std::string_view a, std::string_view b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
};

class Database {
 public:
  struct Setup {
    bool background_threads = false;
    bool encrypted = false;
    void (*make)(Db& db) = nullptr;  // what there is beside the tree `t`
  };
  explicit Database(const Setup& setup) : setup_(setup), disk_(made_disk(setup)) { open(); }

  Db& operator*() { return *db_; }
  Db* operator->() { return db_.get(); }
  const Tree& tree() const { return tree_; }
  testing::SimDisk& disk() { return *disk_; }
  const os::Machine& machine() const { return machine_->machine(); }
  // The clock stays there, also behind a crash.
  void pass(uint64_t us) {
    passed_us_ += us;
    machine_->clock().advance_us(us);
  }
  static Options options(bool encrypted) {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 0;
    options.merge_operators = {append_with("|"), uint64_add()};
    options.key_comparators = {std::make_shared<BySize>()};
    if (encrypted) options.encryption = testing::sample_encryption();
    return options;
  }

  // Nothing of it may be open in these.
  void reopen() {
    FUZZ_OK(db_->close());
    db_.reset();
    open();
  }
  // What the disk holds after a crash; what was open is to be destroyed before open_crashed.
  void crash(uint64_t seed, testing::CrashKind kind) { after_ = disk_->crash(seed, kind); }
  void open_crashed() {
    db_.reset();
    machine_.reset();
    disk_ = std::move(after_);
    open();
  }
  void expect_whole() { expect_whole(*db_); }
  static void expect_whole(Db& db) {
    const auto report = db.check();
    FUZZ_OK(report.status());
    if (report->ok()) return;
    fail(__FILE__, __LINE__, "the checker finds nothing",
         report->items.empty() ? std::string_view() : report->items.front().to_string());
  }

 private:
  // Of a database without entries, which is made once for each kind: to open one takes half of the
  // time.
  static std::unique_ptr<testing::SimDisk> made_disk(const Setup& setup) {
    static std::map<std::pair<bool, void (*)(Db&)>, std::unique_ptr<testing::SimDisk>> all;
    auto& made = all[{setup.encrypted, setup.make}];
    if (made == nullptr) {
      shrink_sizes();
      Database first({.encrypted = setup.encrypted}, std::make_unique<testing::SimDisk>(1));
      if (setup.make != nullptr) setup.make(*first);
      FUZZ_OK(first->close());
      first.db_.reset();
      made = std::move(first.disk_);
    }
    return made->after_crash(1, testing::CrashKind::kProcessKill);
  }
  Database(const Setup& setup, std::unique_ptr<testing::SimDisk> disk)
      : setup_(setup), disk_(std::move(disk)) {
    open();
  }

  void open() {
    machine_.reset();
    machine_ = std::make_unique<testing::SimMachine>(*disk_, 1, setup_.background_threads);
    machine_->clock().advance_us(passed_us_);
    auto db = Db::open_on(machine_->machine(), "/db", options(setup_.encrypted));
    FUZZ_OK(db.status());
    db_ = std::move(*db);
    const auto tree = db_->tree("t");
    FUZZ_OK(tree.status());
    tree_ = *tree;
  }

  const Setup setup_;
  uint64_t passed_us_ = 0;
  std::unique_ptr<testing::SimDisk> disk_;
  std::unique_ptr<testing::SimDisk> after_;
  std::unique_ptr<testing::SimMachine> machine_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

}  // namespace hawthorn::fuzz
