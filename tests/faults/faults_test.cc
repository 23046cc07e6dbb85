// Disks that fail, fill up and rot: every call answers with a clear error or does its work, what
// was acknowledged stays readable and survives a reopen, and damage is reported, never shown as
// data (R4, R7, R28; attacks 6, 15, 26, 41).
#include <map>

#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

using Contents = std::map<std::string, std::string>;

Options small_options() {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kFull;
  return options;
}

class Faults : public ::testing::Test {
 protected:
  void SetUp() override { db::log_segment_bytes = size_t{4} << 20; }

  Result<std::unique_ptr<Db>> open(SimMachine& machine, bool read_only = false) {
    Options options = small_options();
    options.read_only = read_only;
    return Db::open_on(machine.machine(), "/db", options);
  }

  // Reads the whole tree; the first error, if any.
  static Status read_all(Db& db, Contents* contents) {
    Result<Tree> tree = db.find_tree("t");
    if (!tree.ok()) return tree.status();
    return db.scan(*tree, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) contents->emplace(entry.key, entry.value);
      return true;
    });
  }

  // A database of all file parts: runs with inline and separated values, large values, and a log.
  static Contents fill(Db& db) {
    Contents contents;
    Result<Tree> tree = db.tree("t");
    EXPECT_OK(tree.status());
    Prng prng(5);
    for (uint64_t i = 0; i < 600; ++i) {
      if (i == 400) {
        EXPECT_OK(db.flush());
      }
      const std::string key = key_of(i);
      const size_t size = i % 100 == 7 ? 100'000 : random_size(prng, false);
      const std::string value = value_of(i, size);
      EXPECT_OK(db.put(*tree, key, value, Durability::kNone));
      contents[key] = value;
    }
    EXPECT_OK(db.sync());
    return contents;
  }
};

// The n-th operation of a kind fails, once or from then on. What was acknowledged is there during
// and after; a write whose outcome is unknown may be.
TEST_F(Faults, nth_operation_fails) {
  for (const SimOp op : {SimOp::kWrite, SimOp::kSync, SimOp::kRead, SimOp::kName,
                         SimOp::kSyncDirectory, SimOp::kAllocate}) {
    for (const bool forever : {false, true}) {
      for (uint64_t nth = 1; nth < 40; nth += nth < 4 ? 1 : scaled_step(2)) {
        SCOPED_TRACE("operation " + std::to_string(static_cast<int>(op)) + ", the " +
                     std::to_string(nth) + (forever ? "th and all that follow" : "th"));
        SimDisk disk(nth);
        SimMachine machine(disk, 1);
        Contents sure;
        std::map<std::string, std::vector<std::string>> maybe;
        {
          auto db = open(machine);
          ASSERT_OK(db.status());
          Result<Tree> tree = (*db)->tree("t");
          ASSERT_OK(tree.status());
          disk.fail(op, nth, StatusCode::kIoError, forever);
          for (uint64_t i = 0; i < 60; ++i) {
            const std::string key = key_of(i % 40);
            const std::string value = value_of(i, i % 17 == 3 ? 70'000 : 200);
            const Status status = (*db)->put(*tree, key, value);
            if (status.ok()) {
              sure[key] = value;
              maybe.erase(key);
            } else {
              EXPECT_FALSE(status.message().empty());
              maybe[key].push_back(value);
              if (status.is(StatusCode::kUnknownOutcome)) {
                // From now on it is read-only: it cannot promise anything any more.
                const Status next = (*db)->put(*tree, "next", "");
                EXPECT_TRUE(next.is(StatusCode::kReadOnly) ||
                            next.is(StatusCode::kUnknownOutcome) || next.is(StatusCode::kIoError))
                    << next.to_string();
                maybe["next"].push_back("");
              }
            }
            if (i % 20 == 19) static_cast<void>((*db)->flush().ok());
          }
          if (op != SimOp::kRead) {
            for (const auto& [key, value] : sure) {
              Value found;
              ASSERT_OK((*db)->get(*tree, key, found));
              if (maybe.contains(key)) continue;
              ASSERT_TRUE(found.view() == value);
            }
          }
        }
        disk.clear_faults();
        auto after = disk.crash(nth, CrashKind::kPowerLoss);
        SimMachine again(*after, 2);
        auto db = open(again);
        ASSERT_OK(db.status());
        Contents found;
        ASSERT_OK(read_all(**db, &found));
        for (const auto& [key, value] : sure) {
          ASSERT_TRUE(found.contains(key)) << "lost";
          if (!maybe.contains(key)) {
            ASSERT_TRUE(found[key] == value);
          }
        }
        ASSERT_TRUE(clean(**db));
        ASSERT_OK((*db)->close());
      }
    }
  }
}

// What cannot be made, opened or enlarged is tried again, whatever the reason: as long as nothing
// that is there is lost, no such error is the last one, and all works again without a new open.
TEST_F(Faults, what_cannot_be_made_is_made_later) {
  db::log_segment_bytes = size_t{256} << 10;
  db::log_bytes_min = size_t{1} << 20;
  for (const SimOp op : {SimOp::kOpen, SimOp::kName, SimOp::kAllocate, SimOp::kWrite}) {
    for (const StatusCode code :
         {StatusCode::kNoSpace, StatusCode::kOutOfMemory, StatusCode::kPermissionDenied}) {
      for (uint64_t nth = 1; nth < 12; nth += scaled_step(1)) {
        SCOPED_TRACE("operation " + std::to_string(static_cast<int>(op)) + " from the " +
                     std::to_string(nth) + "th on: " + Status(code).to_string());
        SimDisk disk(nth);
        SimMachine machine(disk, 1);
        auto db = open(machine);
        ASSERT_OK(db.status());
        Result<Tree> tree = (*db)->tree("t");
        ASSERT_OK(tree.status());
        Contents sure;
        const bool loses_power = nth / 4 % 2 == 1;
        const Durability durability = loses_power ? Durability::kFull : Durability::kNone;
        const auto put = [&](uint64_t i) {
          const std::string value = value_of(i, i % 17 == 3 ? 70'000 : 10'000);
          const Status status = (*db)->put(*tree, key_of(i % 100), value, durability);
          if (status.ok()) sure[key_of(i % 100)] = value;
          return status;
        };
        // Of writes, those of data.
        disk.fail_path(op == SimOp::kWrite ? "/data." : "/db", op, nth, code, true);
        for (uint64_t i = 0; i < 250; ++i) {
          if (const Status status = put(i); !status.ok()) {
            EXPECT_TRUE(status.is(StatusCode::kNoSpace) || status.is(code)) << status.to_string();
          }
          if (i % 2 == 1) static_cast<void>((*db)->flush().ok());
        }
        EXPECT_GT(disk.counters().faults, 0U) << "nothing was to be made";
        disk.clear_faults();
        std::unique_ptr<SimDisk> later;
        std::unique_ptr<SimMachine> machine_later;
        if (loses_power) {
          later = disk.crash(nth, CrashKind::kPowerLoss);
          machine_later = std::make_unique<SimMachine>(*later, 2);
          db->reset();
        } else {
          for (uint64_t i = 0; i < 60; ++i) ASSERT_OK(put(i));
          ASSERT_OK((*db)->flush());
          ASSERT_OK((*db)->close());
        }
        db = open(loses_power ? *machine_later : machine);
        ASSERT_OK(db.status());
        Contents found;
        ASSERT_OK(read_all(**db, &found));
        EXPECT_TRUE(found == sure);
        EXPECT_TRUE(clean(**db));
        db->reset();  // before the machine
        if (HasFailure()) return;
      }
    }
  }
}

// Inserts fail when the disk is full; reads go on; after space came back writes do, too.
TEST_F(Faults, full_disk) {
  SimDisk disk(3);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  Result<Tree> tree = (*db)->tree("t");
  ASSERT_OK(tree.status());
  ASSERT_OK((*db)->put(*tree, "first", "1"));
  disk.set_capacity(disk.used_bytes() + (size_t{12} << 20));
  Contents sure;
  Status full;
  for (uint64_t i = 0; full.ok() && i < 100'000; ++i) {
    const std::string value = value_of(i, 1500);
    full = (*db)->put(*tree, big_endian(i), value, Durability::kNone);
    if (full.ok()) sure[big_endian(i)] = value;
  }
  ASSERT_FALSE(full.ok()) << "the disk never became full";
  EXPECT_TRUE(full.is(StatusCode::kNoSpace)) << full.to_string();
  for (const auto& [key, value] : sure) {
    Value found;
    ASSERT_OK((*db)->get(*tree, key, found));
    ASSERT_TRUE(found.view() == value);
  }
  disk.set_capacity(0);
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_OK((*db)->put(*tree, "later" + std::to_string(i), "v"));
    sure["later" + std::to_string(i)] = "v";
  }
  sure["first"] = "1";
  ASSERT_OK((*db)->flush());
  db->reset();
  db = open(machine);
  ASSERT_OK(db.status());
  Contents found;
  ASSERT_OK(read_all(**db, &found));
  found.erase(found.upper_bound(big_endian(sure.size())), found.find("first"));
  for (const auto& [key, value] : sure) ASSERT_TRUE(found[key] == value);
  ASSERT_TRUE(clean(**db));
}

// What a named snapshot shows was synced: a log that has lost it is damaged, not shorter.
TEST_F(Faults, log_that_ends_before_a_named_snapshot) {
  SimDisk disk(1);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  const Tree tree = (*db)->tree("t").value();
  for (const char* key : {"a", "b", "c"}) ASSERT_OK((*db)->put(tree, key, "value"));
  ASSERT_OK((*db)->create_snapshot("s"));
  const auto after = disk.crash(1, CrashKind::kPowerLossDrop);
  db->reset();
  std::string segment;
  const std::vector<std::string> names = after->list("/db").value();
  for (const std::string& name : names) {
    if (name.starts_with("wal.0") && name > segment) segment = name;
  }
  {
    auto file = after->open_file("/db/" + segment, {});
    ASSERT_OK(file.status());
    std::string bytes(static_cast<size_t>((*file)->size().value()), '\0');
    ASSERT_OK((*file)->read_at(0, bytes));
    const size_t last = bytes.find_last_not_of('\0');
    ASSERT_NE(last, std::string::npos);
    ASSERT_OK((*file)->write_at(last / 4096 * 4096, std::string(4096, '\0')));
    ASSERT_OK((*file)->sync_data());
  }
  SimMachine again(*after, 2);
  db = open(again);
  EXPECT_TRUE(db.status().is(StatusCode::kCorruption)) << db.status().to_string();
  EXPECT_NE(db.status().message().find("the log ends"), std::string::npos);
}

// The kernel remounts a file system read-only when it meets an error in it: from one moment on
// nothing can be written or synced. Writes say so, reads go on, and nothing acknowledged is lost.
TEST_F(Faults, file_system_turns_read_only) {
  for (const bool while_open : {true, false}) {
    SCOPED_TRACE(while_open ? "while it is open" : "before it is opened");
    SimDisk disk(4);
    SimMachine machine(disk, 1);
    auto db = open(machine);
    ASSERT_OK(db.status());
    Contents sure = fill(**db);
    if (!while_open) db->reset();
    for (const SimOp op :
         {SimOp::kWrite, SimOp::kSync, SimOp::kSyncDirectory, SimOp::kName, SimOp::kAllocate}) {
      disk.fail(op, 1, StatusCode::kReadOnly, true);
    }
    if (while_open) {
      Result<Tree> tree = (*db)->find_tree("t");
      ASSERT_OK(tree.status());
      const Status first = (*db)->put(*tree, "unsure", "");
      EXPECT_TRUE(first.is(StatusCode::kUnknownOutcome)) << first.to_string();
      EXPECT_NE(first.message().find("/db"), std::string_view::npos) << first.to_string();
      for (const Durability level : {Durability::kNone, Durability::kAsync, Durability::kFull}) {
        EXPECT_FALSE((*db)->put(*tree, "unsure", "", level).ok());
      }
      EXPECT_FALSE((*db)->flush().ok());
      EXPECT_FALSE((*db)->tree("new").ok());
      EXPECT_FALSE((*db)->close().ok());
      for (const auto& [key, value] : sure) {
        Value found;
        ASSERT_OK((*db)->get(*tree, key, found));
        ASSERT_TRUE(found.view() == value);
      }
      db->reset();
    }
    const Status refused = open(machine).status();
    EXPECT_TRUE(refused.is(StatusCode::kReadOnly)) << refused.to_string();
    EXPECT_NE(refused.message().find("/db"), std::string_view::npos) << refused.to_string();
    for (const bool read_only : {true, false}) {
      if (!read_only) disk.clear_faults();
      auto again = open(machine, read_only);
      ASSERT_OK(again.status());
      Contents found;
      ASSERT_OK(read_all(**again, &found));
      found.erase("unsure");
      EXPECT_TRUE(found == sure);
      ASSERT_TRUE(clean(**again));
      ASSERT_OK((*again)->close());
    }
  }
}

// Whatever it was that failed, of the log, the data or the manifest: nothing is committed any more,
// by whichever way, and nothing says that it was made durable. Reads go on (R4, attack 196).
TEST_F(Faults, after_a_failed_sync_all_that_writes_says_read_only) {
  const struct {
    const char* file;
    SimOp op;
  } kCases[] = {{"/db/wal.", SimOp::kSync},      {"/db/wal.", SimOp::kWrite},
                {"/db/data.", SimOp::kSync},     {"/db/data.", SimOp::kWrite},
                {"/db/manifest.", SimOp::kSync}, {"/db/manifest.", SimOp::kWrite}};
  for (const auto& [file, op] : kCases) {
    SCOPED_TRACE(std::string(file) + (op == SimOp::kSync ? " sync" : " write"));
    SimDisk disk(7);
    SimMachine machine(disk, 1);
    auto db = open(machine);
    ASSERT_OK(db.status());
    Contents sure = fill(**db);
    Result<Tree> tree = (*db)->find_tree("t");
    ASSERT_OK(tree.status());
    Result<Transaction> began = (*db)->begin(TxnMode::kOptimistic);
    ASSERT_OK(began.status());
    Transaction begun = std::move(*began);
    ASSERT_OK(begun.put(*tree, "begun", ""));
    Transaction unprepared = (*db)->begin(TxnMode::kOptimistic).value();
    ASSERT_OK(unprepared.put(*tree, "unprepared", ""));
    disk.fail_path(file, op, 1, StatusCode::kIoError);
    if (std::string_view(file) == "/db/wal.") {
      const Status unsure = (*db)->put(*tree, "unsure", "", Durability::kFull);
      EXPECT_TRUE(unsure.is(StatusCode::kUnknownOutcome)) << unsure.to_string();
    } else {
      const Status flushed = (*db)->flush();
      EXPECT_TRUE(flushed.is(StatusCode::kIoError)) << flushed.to_string();
    }
    disk.clear_faults();  // it fails once only, and for good all the same
    const auto refused = [&](const Status& status) {
      EXPECT_TRUE(status.is(StatusCode::kReadOnly)) << status.to_string();
      EXPECT_NE(status.message().find(file), std::string_view::npos) << status.to_string();
    };
    refused(begun.commit(Durability::kNone));
    begun = Transaction();
    // Before anything is made for it that could fail in its own way.
    disk.fail_path("/db/prepared", SimOp::kName, 1, StatusCode::kIoError);
    refused(unprepared.prepare("late"));
    disk.clear_faults();
    unprepared = Transaction();
    for (const Durability level : {Durability::kNone, Durability::kAsync, Durability::kFull}) {
      refused((*db)->put(*tree, "late", "", level));
    }
    refused((*db)->del(*tree, sure.begin()->first));
    refused((*db)->delete_range(*tree, ""));
    refused((*db)->begin(TxnMode::kExclusive).status());
    refused((*db)->tree("new").status());
    refused((*db)->create_snapshot("s"));
    refused((*db)->sync());
    refused((*db)->flush());
    refused((*db)->compact());
    refused((*db)->drain());
    refused((*db)->checkpoint("/copy"));
    const Status closed = (*db)->close();
    EXPECT_FALSE(closed.ok() || closed.is(StatusCode::kBusy)) << closed.to_string();
    Contents found;
    ASSERT_OK(read_all(**db, &found));
    found.erase("unsure");
    EXPECT_TRUE(found == sure);
    const Result<uint64_t> count = (*db)->count(*tree, "", std::nullopt);
    ASSERT_OK(count.status());
    EXPECT_GE(*count, sure.size());
    db->reset();
    auto after = disk.crash(1, CrashKind::kPowerLoss);
    SimMachine again(*after, 2);
    db = open(again);
    ASSERT_OK(db.status());
    found.clear();
    ASSERT_OK(read_all(**db, &found));
    found.erase("unsure");
    EXPECT_TRUE(found == sure);
    ASSERT_TRUE(clean(**db));
    ASSERT_OK((*db)->close());
    db->reset();
  }
}

// Whether a superblock is damaged that no read gets, nobody knows.
TEST_F(Faults, a_superblock_that_cannot_be_read_is_not_called_damaged) {
  SimDisk disk(7);
  SimMachine machine(disk, 1);
  ASSERT_OK(open(machine).status());
  disk.fail_path("/db/superblock", SimOp::kRead, 1, StatusCode::kIoError, true);
  const Status status = open(machine).status();
  EXPECT_TRUE(status.is(StatusCode::kIoError)) << status.to_string();
  EXPECT_NE(status.message().find("/db/superblock"), std::string_view::npos) << status.to_string();
  disk.clear_faults();
  EXPECT_OK(open(machine).status());
}

// One bit of any file flips while the database is closed or was killed: opening, reading or the
// checker says so; nothing that is read is wrong.
TEST_F(Faults, flipped_bits_are_reported) {
  for (const bool closed : {true, false}) {
    auto disk = std::make_unique<SimDisk>(9);
    Contents contents;
    {
      SimMachine machine(*disk, 1);
      auto db = open(machine);
      ASSERT_OK(db.status());
      contents = fill(**db);
      if (closed) {
        ASSERT_OK((*db)->close());
      }
    }
    const Result<std::vector<std::string>> names = disk->list("/db");
    ASSERT_OK(names.status());
    uint64_t noticed = 0;
    for (const std::string& name : *names) {
      if (name == "lock") continue;
      uint64_t size = 0;
      {
        auto file = disk->open_file("/db/" + name, {.read_only = true});
        ASSERT_OK(file.status());
        size = *(*file)->size();
      }
      Prng prng(size);
      const uint64_t flips = scaled(80);
      for (uint64_t n = 0; n < flips && size > 0; ++n) {
        // The beginnings of files and blocks are the interesting places.
        uint64_t offset = prng.below(size);
        if (n % 3 == 0) offset = prng.below(std::min<uint64_t>(size, 128));
        if (n % 3 == 1) offset = offset / 4096 * 4096 + prng.below(64);
        if (offset >= size) continue;
        SCOPED_TRACE(name + " at " + std::to_string(offset) + (closed ? ", closed" : ", killed"));
        auto rotten = disk->after_crash(1, CrashKind::kProcessKill);
        if (!rotten->flip_bit("/db/" + name, offset, static_cast<unsigned>(n % 8))) continue;
        SimMachine machine(*rotten, 2);
        auto db = open(machine, n % 2 == 0);
        if (!db.ok()) {
          ++noticed;
          EXPECT_TRUE(db.status().message().find(name) != std::string_view::npos ||
                      db.status().message().find("/db") != std::string_view::npos)
              << "names no file: " << db.status().to_string();
          continue;
        }
        Contents found;
        const Status status = read_all(**db, &found);
        for (const auto& [key, value] : found) {
          const auto at = contents.find(key);
          ASSERT_TRUE(at != contents.end() && at->second == value) << "wrong data";
        }
        if (!status.ok()) {
          ++noticed;
          EXPECT_FALSE(status.message().empty());
          EXPECT_FALSE(clean(**db)) << "the checker misses what a scan reports";
          continue;
        }
        ASSERT_EQ(found.size(), contents.size()) << "silently lost";
        const Result<CheckReport> report = (*db)->check();
        ASSERT_OK(report.status());
        noticed += report->ok() ? 0 : 1;
      }
    }
    EXPECT_GT(noticed, 10u) << "hardly any flipped bit was noticed";
  }
}

// Files that end too early.
TEST_F(Faults, truncated_files_are_reported) {
  SimDisk disk(9);
  Contents contents;
  {
    SimMachine machine(disk, 1);
    auto db = open(machine);
    ASSERT_OK(db.status());
    contents = fill(**db);
    ASSERT_OK((*db)->close());
  }
  const Result<std::vector<std::string>> names = disk.list("/db");
  ASSERT_OK(names.status());
  for (const std::string& name : *names) {
    if (name == "lock") continue;
    for (const uint64_t keep : {0, 100, 4096, 8192 + 17}) {
      SCOPED_TRACE(name + " cut to " + std::to_string(keep));
      auto cut = disk.after_crash(1, CrashKind::kProcessKill);
      {
        auto file = cut->open_file("/db/" + name, {});
        ASSERT_OK(file.status());
        if (*(*file)->size() <= keep) continue;
        ASSERT_OK((*file)->truncate(keep));
      }
      SimMachine machine(*cut, 2);
      auto db = open(machine);
      if (!db.ok()) {
        EXPECT_TRUE(db.status().message().find(name) != std::string_view::npos ||
                    db.status().message().find("/db") != std::string_view::npos)
            << db.status().to_string();
        continue;
      }
      Contents found;
      const Status status = read_all(**db, &found);
      for (const auto& [key, value] : found) ASSERT_TRUE(contents[key] == value) << "wrong data";
      if (status.ok()) {
        ASSERT_EQ(found.size(), contents.size()) << "silently lost";
      }
    }
  }
}

TEST_F(Faults, what_is_no_database) {
  SimDisk disk(1);
  SimMachine machine(disk, 1);
  Options options = small_options();
  options.create_if_missing = false;
  EXPECT_TRUE(Db::open_on(machine.machine(), "/none", options).status().is_not_found());
  options.create_if_missing = true;
  options.read_only = true;
  EXPECT_TRUE(Db::open_on(machine.machine(), "/none", options).status().is_not_found());
  options.read_only = false;
  options.memory_budget_bytes = 1 << 20;
  EXPECT_TRUE(
      Db::open_on(machine.machine(), "/none", options).status().is(StatusCode::kInvalidArgument));
  // A superblock of zeros.
  ASSERT_OK(disk.make_directory("/zeros"));
  {
    auto file = disk.open_file("/zeros/superblock", {.create = true});
    ASSERT_OK(file.status());
    ASSERT_OK((*file)->truncate(16384));
  }
  const Status zeros = Db::open_on(machine.machine(), "/zeros", small_options()).status();
  EXPECT_TRUE(zeros.is(StatusCode::kCorruption)) << zeros.to_string();
  EXPECT_NE(zeros.message().find("superblock"), std::string_view::npos) << zeros.to_string();
  // Data files without a superblock are not overwritten.
  ASSERT_OK(disk.make_directory("/rest"));
  ASSERT_OK(disk.open_file("/rest/data.0", {.create = true}).status());
  EXPECT_TRUE(Db::open_on(machine.machine(), "/rest", small_options())
                  .status()
                  .is(StatusCode::kCorruption));
}

TEST_F(Faults, opened_twice) {
  SimDisk disk(1);
  SimMachine machine(disk, 1);
  auto db = open(machine);
  ASSERT_OK(db.status());
  const Status second = open(machine).status();
  EXPECT_TRUE(second.is(StatusCode::kBusy)) << second.to_string();
  EXPECT_OK((*db)->close());
  db->reset();
  Options options = small_options();
  options.error_if_exists = true;
  EXPECT_TRUE(
      Db::open_on(machine.machine(), "/db", options).status().is(StatusCode::kInvalidArgument));
  EXPECT_OK(open(machine).status());
}

}  // namespace
}  // namespace hawthorn::tests
