#pragma once
// A directory for a test, and a database in it that can be closed and opened again.
//
// Used by the tests of the shim. Threads: one object from one thread.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/merge_operator.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shims/directory_test_support.h"
#include "testing/wait.h"

namespace hawthorn::rocks {

#define ASSERT_OK(call)                                            \
  do {                                                             \
    const rocksdb::Status status_of_call = (call);                 \
    ASSERT_TRUE(status_of_call.ok()) << status_of_call.ToString(); \
  } while (false)
#define EXPECT_OK(call)                                            \
  do {                                                             \
    const rocksdb::Status status_of_call = (call);                 \
    EXPECT_TRUE(status_of_call.ok()) << status_of_call.ToString(); \
  } while (false)

// Appends with a comma between, as the usual example of an operator does.
class Append final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "test.Append"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    *result =
        existing == nullptr ? value.ToString() : existing->ToString() + "," + value.ToString();
    return true;
  }
};

// As lengths, and bytewise where these are the same.
class ByLength final : public rocksdb::Comparator {
 public:
  explicit ByLength(const char* name = "test.ByLength") : name_(name) {}
  const char* Name() const override { return name_; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  const char* const name_;
};

// What a program is told, a line each.
class Lines final : public rocksdb::Logger {
 public:
  explicit Lines(rocksdb::InfoLogLevel least = rocksdb::INFO_LEVEL) : Logger(least) {}
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    char line[300];
    vsnprintf(line, sizeof(line), format, ap);
    lines += std::string(line) + "\n";
  }
  void log(rocksdb::InfoLogLevel level, const char* format, ...) {
    va_list ap;
    va_start(ap, format);
    Logv(level, format, ap);
    va_end(ap);
  }
  void header(const char* format, ...) {
    va_list ap;
    va_start(ap, format);
    LogHeader(format, ap);
    va_end(ap);
  }
  std::string lines;
};

// Of files that this process writes, until it is lifted; beyond it they fail.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    rlimit small = before_;
    small.rlim_cur = bytes;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~FileSizeLimit() { lift(); }
  void lift() {
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*const handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before_ = {};
};

class RocksTest : public ::testing::Test {
 protected:
  RocksTest() {
    directory_ = hawthorn::make_test_directory();
    path_ = directory_ + "/db";
    options_.create_if_missing = true;
    // Little, so that what is unflushed is flushed in tests, too.
    options_.write_buffer_size = size_t{4} << 20;
  }
  ~RocksTest() override { std::filesystem::remove_all(directory_); }
  // Before the members of a derived fixture go, which filters and listeners may use.
  void TearDown() override { close(); }

  void open() { ASSERT_OK(rocksdb::DB::Open(options_, path_, &db_)); }
  // With these families, "default" among them; handles_ in the same order.
  rocksdb::Status try_open(const std::vector<std::string>& families) {
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : families) {
      descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions(options_));
    }
    return rocksdb::DB::Open(options_, path_, descriptors, &handles_, &db_);
  }
  void close() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    db_.reset();
  }
  void reopen() {
    close();
    open();
  }

  rocksdb::Status put(const std::string& key, const std::string& value,
                      rocksdb::ColumnFamilyHandle* family = nullptr) {
    return db_->Put(rocksdb::WriteOptions(), family ? family : db_->DefaultColumnFamily(), key,
                    value);
  }
  // Until `done`: the log's files cannot be written any more, which is for good. (What finds no
  // room is written later.)
  void write_to_broken_log(const std::function<bool()>& done) {
    const std::string place = std::filesystem::canonical(directory_).string();
    const int unwritable = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_GE(unwritable, 0);
    int broken = 0;
    std::error_code gone;  // one that was closed meanwhile
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      const std::filesystem::path file = std::filesystem::read_symlink(entry.path(), gone);
      if (gone || !file.string().starts_with(place)) continue;
      if (!file.filename().string().starts_with("wal.0")) continue;
      EXPECT_GE(dup3(unwritable, std::stoi(entry.path().filename()), O_CLOEXEC), 0);
      ++broken;
    }
    ::close(unwritable);
    EXPECT_GT(broken, 0);
    EXPECT_TRUE(testing::wait_until([&] {
      for (int i = 0; i < 100; ++i) static_cast<void>(put("much", std::string(1000, 'v')));
      return done();
    }));
    EXPECT_FALSE(db_->Flush({}).ok());
  }
  // "(missing)" where it is, and an error as text.
  std::string get(const std::string& key, rocksdb::ColumnFamilyHandle* family = nullptr,
                  const rocksdb::Snapshot* snapshot = nullptr) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    std::string value;
    const rocksdb::Status status =
        db_->Get(options, family ? family : db_->DefaultColumnFamily(), key, &value);
    if (status.IsNotFound()) return "(missing)";
    return status.ok() ? value : status.ToString();
  }
  // "a=1 b=2 " of all that an iterator shows, in this direction.
  static std::string walk(rocksdb::Iterator& iterator, bool forward = true) {
    std::string text;
    if (forward) {
      for (iterator.SeekToFirst(); iterator.Valid(); iterator.Next()) text += entry(iterator);
    } else {
      for (iterator.SeekToLast(); iterator.Valid(); iterator.Prev()) text += entry(iterator);
    }
    EXPECT_OK(iterator.status());
    return text;
  }
  std::string all(rocksdb::ColumnFamilyHandle* family = nullptr,
                  const rocksdb::ReadOptions& options = {}) {
    const std::unique_ptr<rocksdb::Iterator> iterator(
        db_->NewIterator(options, family ? family : db_->DefaultColumnFamily()));
    return walk(*iterator);
  }
  static std::string entry(const rocksdb::Iterator& iterator) {
    return iterator.key().ToString() + "=" + iterator.value().ToString() + " ";
  }

  std::string directory_;
  std::string path_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace hawthorn::rocks
