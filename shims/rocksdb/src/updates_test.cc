// GetUpdatesSince: who goes on behind the last batch has each commit once, or an error.

#include "shims/rocksdb/src/updates.h"

#include <atomic>
#include <thread>

#include "shims/kill_test_support.h"
#include "shims/rocksdb/src/transactions_test_fixture.h"
#include "testing/wait.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::BatchResult;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

using IteratorPtr = std::unique_ptr<rocksdb::TransactionLogIterator>;

// "put 0 a=1 ..." of each operation.
struct Shower final : WriteBatch::Handler {
  void show(const char* what, uint32_t family, const Slice& key, const Slice& value) {
    shown += std::string(what) + " " + std::to_string(family) + " " + key.ToString() + "=" +
             value.ToString() + "; ";
  }
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    show("put", family, key, value);
    return Status::OK();
  }
  Status PutEntityCF(uint32_t family, const Slice& key, const Slice& value) override {
    rocksdb::PinnableWideColumns columns;
    Status s = columns.SetWideColumnValue(value);
    if (s.ok()) show("entity", family, key, columns.columns().front().value());
    return s;
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    show("delete", family, key, "");
    return Status::OK();
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    show("range", family, begin, end);
    return Status::OK();
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    show("merge", family, key, value);
    return Status::OK();
  }
  std::string shown;
};

class UpdatesTest : public TransactionsTest {
 protected:
  void open_both() { ASSERT_OK(try_open({"default", "other"})); }
  // Those from there on; `next_` is where to go on.
  std::string since(uint64_t sequence) {
    IteratorPtr at;
    Status s = db_->GetUpdatesSince(sequence, &at);
    Shower shower;
    for (; s.ok() && at->Valid(); at->Next()) {
      const BatchResult batch = at->GetBatch();
      EXPECT_GE(batch.sequence, next_);
      EXPECT_EQ(std::memcmp(batch.writeBatchPtr->Data().data(), &batch.sequence, 8), 0);
      EXPECT_OK(batch.writeBatchPtr->Iterate(&shower));
      shower.shown += "| ";
      next_ = batch.sequence + batch.writeBatchPtr->Count();
    }
    if (s.ok()) s = at->status();
    if (s.IsNotFound()) return shower.shown + "(not found)";
    return s.ok() ? shower.shown : shower.shown + s.ToString();
  }
  uint64_t latest() { return db_->GetLatestSequenceNumber(); }

  uint64_t next_ = 0;
};

TEST_F(UpdatesTest, AreBatchesAsTheyWereCommitted) {
  open_both();
  next_ = latest() + 1;
  EXPECT_EQ(since(next_), "(not found)");
  EXPECT_OK(put("a", "1"));
  EXPECT_EQ(since(next_), "put 0 a=1; | ");
  EXPECT_EQ(next_, latest() + 1);
  EXPECT_EQ(since(next_), "(not found)");
  EXPECT_OK(db_->Merge(WriteOptions(), handles_[1], "m", "2"));
  EXPECT_OK(db_->Delete(WriteOptions(), "a"));
  WriteBatch batch;
  EXPECT_OK(batch.Put("b", "3"));
  EXPECT_OK(batch.PutLogData("left out"));
  EXPECT_OK(batch.Put(handles_[1], "b", "4"));
  EXPECT_OK(batch.PutEntity(handles_[1], "e", {{"x", "5"}}));
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  const std::string rest = "merge 1 m=2; | delete 0 a=; | put 0 b=3; put 1 b=4; entity 1 e=5; | ";
  const uint64_t here = next_;
  EXPECT_EQ(since(here), rest);
  EXPECT_EQ(next_, latest() + 3);
  EXPECT_EQ(since(next_), "(not found)");
  next_ = 0;
  EXPECT_EQ(since(here - 1), "put 0 a=1; | " + rest);
}

TEST_F(UpdatesTest, GoOnAtTheEndOfAnIterator) {
  open_both();
  EXPECT_OK(put("a", "1"));
  IteratorPtr at;
  ASSERT_OK(db_->GetUpdatesSince(latest(), &at));
  EXPECT_TRUE(at->Valid());
  at->Next();
  EXPECT_FALSE(at->Valid());
  EXPECT_OK(at->status());
  EXPECT_OK(put("b", "2"));
  at->Next();
  ASSERT_TRUE(at->Valid());
  const BatchResult batch = at->GetBatch();
  EXPECT_EQ(batch.sequence, latest());
  EXPECT_EQ(batch.writeBatchPtr->Count(), 1U);
}

TEST_F(UpdatesTest, OfRangesAndOtherOrders) {
  options_.merge_operator.reset();
  open();
  next_ = latest() + 1;
  EXPECT_OK(db_->DeleteRange(WriteOptions(), "a", "c"));
  EXPECT_EQ(since(next_), "range 0 a=c; | ");
  close();
  path_ += "2";
  options_.comparator = rocksdb::ReverseBytewiseComparator();
  options_.merge_operator = std::make_shared<Append>();
  open();
  EXPECT_OK(put("a", "1"));
  next_ = latest() + 1;
  EXPECT_OK(db_->Merge(WriteOptions(), "a", "2"));
  EXPECT_OK(db_->DeleteRange(WriteOptions(), "b", "a"));
  EXPECT_OK(db_->DeleteRange(WriteOptions(), "a", "0"));
  EXPECT_EQ(since(next_), "merge 0 a=2; | delete 0 a=; | ");
}

TEST_F(UpdatesTest, OfFamiliesThatAreGone) {
  open_both();
  next_ = latest() + 1;
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "third", &family));
  EXPECT_OK(put("a", "1", family));
  EXPECT_OK(db_->PutEntity(WriteOptions(), family, "b", {{"x", "2"}}));
  EXPECT_OK(db_->DropColumnFamily(family));
  const uint64_t begin = next_;
  EXPECT_EQ(since(begin), "put 2 a=1; | entity 2 b=2; | ");
  delete family;
  next_ = 0;
  EXPECT_EQ(since(begin), "put 2 a=1; | entity 2 b=2; | ");
  // Who has no memory of it looks it up.
  options_.avoid_flush_during_shutdown = true;
  options_.WAL_ttl_seconds = 1000;
  close();
  open_both();
  next_ = latest() + 1;
  ASSERT_OK(db_->CreateColumnFamily(options_, "fourth", &family));
  EXPECT_OK(put("a", "1", family));
  EXPECT_OK(db_->DropColumnFamily(family));
  delete family;
  close();
  open_both();
  EXPECT_EQ(since(next_), "put 3 a=1; | ");
}

TEST_F(UpdatesTest, AreKeptOverRestartsWhereThatIsAskedFor) {
  open_both();
  EXPECT_OK(put("a", "1"));
  const uint64_t lost = latest();
  close();
  options_.WAL_ttl_seconds = 1000;
  open_both();
  EXPECT_EQ(since(lost), "(not found)");
  EXPECT_OK(put("a", "2"));
  const uint64_t begin = latest();
  EXPECT_OK(db_->Flush(rocksdb::FlushOptions()));
  for (int round = 0; round < 2; ++round) {
    close();
    open_both();
    next_ = 0;
    EXPECT_EQ(since(begin), "put 0 a=2; | ");
  }
}

// Nobody has asked for it to be kept, but somebody reads.
TEST_F(UpdatesTest, AreKeptForWhoHasAsked) {
  open_both();
  EXPECT_OK(put("a", "1"));
  next_ = latest() + 1;
  EXPECT_EQ(since(next_), "(not found)");
  for (int round = 0; round < 3; ++round) {
    EXPECT_OK(db_->Flush(rocksdb::FlushOptions()));
    EXPECT_OK(put("a", "2"));
    EXPECT_EQ(since(next_), "put 0 a=2; | ");
    EXPECT_OK(put("a", "3"));
    close();
    open_both();
    EXPECT_EQ(since(next_), "put 0 a=3; | ");
  }
}

TEST_F(UpdatesTest, WithLargeValuesNeedTheLogKept) {
  open_both();
  const std::string large(100'000, 'l');
  EXPECT_OK(put("a", large));
  IteratorPtr at;
  EXPECT_TRUE(db_->GetUpdatesSince(latest(), &at).IsNotSupported());
  next_ = latest() + 1;
  EXPECT_OK(put("a", large));
  EXPECT_OK(put("b", "2"));
  EXPECT_OK(db_->PutEntity(WriteOptions(), handles_[1], "c", {{"x", large}}));
  EXPECT_EQ(since(next_), "put 0 a=" + large + "; | put 0 b=2; | entity 1 c=" + large + "; | ");
}

TEST_F(UpdatesTest, BeyondTheSizeAreNotKept) {
  options_.WAL_size_limit_MB = 4;
  open_both();
  EXPECT_OK(put("a", "1"));
  const uint64_t begin = latest();
  next_ = begin;
  constexpr int kRounds = 40;
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_OK(put("k" + std::to_string(i), std::string(50'000, 'v')));
    if (i % 4 == 3) EXPECT_OK(db_->Flush(rocksdb::FlushOptions()));
  }
  EXPECT_EQ(since(begin).substr(0, 12), "put 0 a=1; |");
  const uint64_t later = latest();
  for (int i = 0; i < 4 * kRounds; ++i) {
    EXPECT_OK(put("k" + std::to_string(i), std::string(50'000, 'v')));
    if (i % 4 == 3) {
      EXPECT_OK(db_->Flush(rocksdb::FlushOptions()));
      IteratorPtr at;
      EXPECT_OK(db_->GetUpdatesSince(latest(), &at));
    }
  }
  EXPECT_OK(db_->Flush(rocksdb::FlushOptions()));
  next_ = 0;
  EXPECT_EQ(since(begin), "(not found)");
  EXPECT_GT(latest(), later);
}

TEST_F(UpdatesTest, OfAReadOnlyDatabaseAreRefused) {
  open();
  close();
  ASSERT_OK(rocksdb::DB::OpenForReadOnly(options_, path_, &db_));
  IteratorPtr at;
  EXPECT_TRUE(db_->GetUpdatesSince(0, &at).IsNotSupported());
  EXPECT_FALSE(rocksdb::TransactionLogIterator::ReadOptions(false).verify_checksums_);
  const rocksdb::TransactionLogIterator::ReadOptions options;
  EXPECT_TRUE(db_->GetUpdatesSince(0, &at, options).IsNotSupported());
  // Programs may have log files of their own.
  struct NoFile final : rocksdb::LogFile {
    std::string PathName() const override { return ""; }
    uint64_t LogNumber() const override { return 0; }
    rocksdb::WalFileType Type() const override { return rocksdb::kAliveLogFile; }
    rocksdb::SequenceNumber StartSequence() const override { return 0; }
    uint64_t SizeFileBytes() const override { return 0; }
  };
  rocksdb::VectorLogPtr files;
  files.push_back(std::make_unique<NoFile>());
  rocksdb::VectorWalPtr& same = files;
  EXPECT_TRUE(db_->GetSortedWalFiles(same).IsNotSupported());
  EXPECT_TRUE(files.empty());
  std::unique_ptr<rocksdb::WalFile> file;
  EXPECT_TRUE(db_->GetCurrentWalFile(&file).IsNotSupported());
}

// Anchors come and go by the clock and by what is kept.
TEST_F(UpdatesTest, AreKeptByAnchors) {
  const auto db = hawthorn::Db::open(path_, {}).value();
  const auto numbers = [&db] {
    std::string names;
    const std::vector<hawthorn::FeedInfo> anchors = WalKeeper::anchors(*db).value();
    for (const hawthorn::FeedInfo& feed : anchors) {
      names += feed.name.substr(feed.name.rfind('.') + 1) + " ";
    }
    return names;
  };
  WalKeeper keeper(10, 0);
  const auto at = [&](uint64_t seconds) {
    const uint64_t first = WalKeeper::anchors(*db).value().front().created_us;
    EXPECT_TRUE(keeper.look_after(*db, first + seconds * 1'000'000, false).ok());
    return numbers();
  };
  WalKeeper on_demand(0, 0);
  EXPECT_TRUE(on_demand.on_demand() && !keeper.on_demand());
  EXPECT_TRUE(on_demand.look_after(*db, 0, false).ok());
  EXPECT_EQ(numbers(), "");
  EXPECT_TRUE(on_demand.look_after(*db, 0, true).ok());
  EXPECT_EQ(numbers(), "0 ");
  EXPECT_EQ(at(4), "0 ");
  EXPECT_EQ(at(5), "0 1 ");  // made now, whatever the keeper was told
  EXPECT_EQ(at(11), "2 ");
}

// A copy that is made by a loop over the updates.
class Copies : public UpdatesTest {
 protected:
  void open_copy() {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const char* name : {"default", "other"}) families.emplace_back(name, options_);
    rocksdb::Options options = options_;
    options.WAL_ttl_seconds = 0;
    ASSERT_OK(rocksdb::DB::Open(options, directory_ + "/copy", families, &copy_handles_, &copy_));
  }
  ~Copies() override {
    for (rocksdb::ColumnFamilyHandle* handle : copy_handles_) delete handle;
  }
  // All that there is from next_ on. With the number in the same batch, as a program would.
  void catch_up() {
    IteratorPtr at;
    const Status begun = db_->GetUpdatesSince(next_, &at);
    if (begun.IsNotFound()) return;
    ASSERT_OK(begun);
    for (; at->Valid(); at->Next()) {
      BatchResult batch = at->GetBatch();
      next_ = batch.sequence + batch.writeBatchPtr->Count();
      ASSERT_OK(copy_->Write(WriteOptions(), batch.writeBatchPtr.get()));
      ++copied_;
    }
    ASSERT_OK(at->status());
  }
  static std::string all_of(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    const std::unique_ptr<rocksdb::Iterator> at(db.NewIterator(rocksdb::ReadOptions(), family));
    return walk(*at);
  }
  void compare() {
    for (size_t i = 0; i < 2; ++i) {
      const std::string whole = all_of(*db_, handles_[i]);
      ASSERT_FALSE(whole.empty());
      ASSERT_TRUE(whole == all_of(*copy_, copy_handles_[i])) << i;
    }
  }

  std::unique_ptr<rocksdb::DB> copy_;
  std::vector<rocksdb::ColumnFamilyHandle*> copy_handles_;
  std::atomic<int> copied_{0};  // batches
};

// Merges count: what is left out, or comes twice, shows. The last of what is written waits until
// the copy has begun, so that it is made beside all of them.
TEST_F(Copies, AreWholeBesideLargeAndPreparedTransactions) {
  open_transactions({"default", "other"});
  open_copy();
  next_ = latest() + 1;
  constexpr int kRounds = 40;
  constexpr int kCopied = 20;
  std::atomic<int> writing{3};
  const auto writer = [&](const auto& work) {
    return std::thread([this, &writing, work] {
      for (int i = 0; i < kRounds; ++i) {
        if (i == kRounds - 1) {
          EXPECT_TRUE(testing::wait_until([this] { return copied_ >= kCopied; }));
        }
        work(i);
      }
      --writing;
    });
  };
  const std::string value(100, 'v');
  std::thread small = writer([&](int i) {
    for (int j = 0; j < 50; ++j) {
      ASSERT_OK(
          db_->Merge(WriteOptions(), handles_[1], "s" + std::to_string(j), std::to_string(i)));
    }
  });
  std::thread large = writer([&](int i) {
    const TransactionPtr t = begin();
    for (int j = 0; j < 4000; ++j) {
      ASSERT_OK(t->Merge(handles_[0], "l" + std::to_string(j), i % 8 == 0 ? value : "x"));
    }
    ASSERT_OK(t->Commit());
  });
  std::thread prepared = writer([&](int i) {
    const TransactionPtr t = begin();
    for (int j = 0; j < 500; ++j) {
      ASSERT_OK(t->Merge(handles_[1], "p" + std::to_string(j), std::to_string(i)));
    }
    ASSERT_OK(t->SetName("t" + std::to_string(i)));
    ASSERT_OK(t->Prepare());
    ASSERT_OK(t->Commit());
  });
  while (writing > 0) ASSERT_NO_FATAL_FAILURE(catch_up());
  for (std::thread* thread : {&small, &large, &prepared}) thread->join();
  ASSERT_NO_FATAL_FAILURE(catch_up());
  compare();
}

TEST_F(Copies, AreWholeBehindBatchesOfManyOperations) {
  open_both();
  open_copy();
  next_ = latest() + 1;
  for (const int operations : {1, 40, 41, 300, 3000, 30'000, 1}) {
    WriteBatch batch;
    for (int i = 0; i < operations; ++i) ASSERT_OK(batch.Merge("k", ""));
    ASSERT_OK(batch.Put(handles_[1], "n", std::to_string(operations)));
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
    ASSERT_OK(db_->Merge(WriteOptions(), handles_[1], "m", std::to_string(operations)));
    if (operations > 1000) continue;
    ASSERT_NO_FATAL_FAILURE(catch_up());
    compare();
  }
  ASSERT_NO_FATAL_FAILURE(catch_up());
  compare();
}

// The parent opens nothing, so that each process begins as a program does.
class KilledCopies : public Copies {
 protected:
  struct Progress {
    std::atomic<int> written{0};
    std::atomic<uint64_t> next{0};
  };

  void write_for_ever() {
    if (!try_open({"default", "other"}).ok()) _exit(1);
    for (int i = progress_->written + 1;; ++i) {
      WriteBatch batch;
      batch.Put("n", std::to_string(i)).PermitUncheckedError();
      batch.Merge(handles_[1], std::to_string(i % 100), std::to_string(i)).PermitUncheckedError();
      if (!db_->Write(WriteOptions(), &batch).ok()) _exit(1);
      if (i % 500 == 0 && !db_->Flush(rocksdb::FlushOptions()).ok()) _exit(1);
      progress_->written = i;
    }
  }
  void begin() {
    open_both();
    progress_->next = latest() + 1;
    close();
  }
  void check() {
    open_copy();
    open_both();
    next_ = progress_->next;
    ASSERT_NO_FATAL_FAILURE(catch_up());
    const std::string last = get("n");
    ASSERT_GE(last == "(missing)" ? 0 : std::stoi(last), progress_->written);
    if (progress_->written > 0) compare();
    progress_->written = last == "(missing)" ? 0 : std::stoi(last);
    progress_->next = next_;
    close();
    for (rocksdb::ColumnFamilyHandle* handle : copy_handles_) delete handle;
    copy_handles_.clear();
    copy_.reset();
  }
  template <typename Work>
  static void in_a_child(const Work& work) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      work();
      std::fflush(nullptr);
      _exit(HasFailure() ? 1 : 0);
    }
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  }
  SharedWithChildren<Progress> progress_;
};

TEST_F(KilledCopies, AreWholeBehindCrashes) {
  options_.WAL_ttl_seconds = 1000;
  ASSERT_NO_FATAL_FAILURE(in_a_child([this] { begin(); }));
  std::mt19937 random(1);
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_NO_FATAL_FAILURE(
        kill_in_the_middle(random, round, progress_->written, [this] { write_for_ever(); }));
    ASSERT_NO_FATAL_FAILURE(in_a_child([this] { check(); }));
  }
  EXPECT_GT(progress_->written, 0);
}

}  // namespace
}  // namespace hawthorn::rocks
