// Where a function of RocksDB's C API finds no memory it says so, in `errptr` or with the next call
// that has one: nothing is thrown or hangs, no write is left out in silence, and all works again.

#include <cstring>
#include <filesystem>
#include <string>

#include "rocksdb/c.h"
#include "shims/directory_test_support.h"
#include "shims/memory_test_support.h"

namespace hawthorn::rocks {
namespace {

using tests::Refuse;
using tests::refuse_each;
using tests::Undisturbed;

constexpr int kBefore = 40;
// Too long for a string's own bytes, so that a copy of one asks for memory.
constexpr const char* kNewKey = "a key that is not there before a test puts it";
constexpr const char* kFamily = "a family that is not there before a test makes it";

std::string key_of(int i) {
  return "a key that is longer than a short string " + std::to_string(100 + i);
}

// An error of a call, and whether it says that there was no memory.
class Error {
 public:
  Error() = default;
  Error(Error&& from) noexcept : text_(std::exchange(from.text_, nullptr)) {}
  ~Error() { rocksdb_free(text_); }
  Error& operator=(Error&& from) noexcept {
    std::swap(text_, from.text_);
    return *this;
  }
  operator char**() { return &text_; }  // NOLINT(google-explicit-constructor)
  bool none() const { return text_ == nullptr; }
  bool is_of_memory() const { return text_ != nullptr && std::strstr(text_, "Memory limit"); }
  const char* text() const { return text_ == nullptr ? "(none)" : text_; }
  // Where a constructor gave nothing, which says the same.
  static Error of_null() {
    Error error;
    error.text_ = strdup("Memory limit: null");
    return error;
  }

 private:
  char* text_ = nullptr;
};

class RocksMemory : public ::testing::Test {
 protected:
  RocksMemory() {
    directory_ = make_test_directory();
    path_ = directory_ + "/db";
  }
  ~RocksMemory() override {
    close();
    rocksdb_readoptions_destroy(reads_);
    rocksdb_writeoptions_destroy(writes_);
    rocksdb_options_destroy(options_);
    std::filesystem::remove_all(directory_);
  }
  void SetUp() override {
    options_ = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options_, 1);
    reads_ = rocksdb_readoptions_create();
    writes_ = rocksdb_writeoptions_create();
    open();
    for (int i = 0; i < kBefore; ++i) put(key_of(i), "value");
  }
  void open() {
    Error error;
    db_ = rocksdb_open(options_, path_.c_str(), error);
    ASSERT_TRUE(error.none()) << error.text();
  }
  void close() {
    if (db_ != nullptr) rocksdb_close(std::exchange(db_, nullptr));
  }
  void put(const std::string& key, const std::string& value) {
    Error error;
    rocksdb_put(db_, writes_, key.data(), key.size(), value.data(), value.size(), error);
    ASSERT_TRUE(error.none()) << error.text();
  }
  bool has(const std::string& key, const char* value = "value") {
    const Undisturbed look;
    Error error;
    size_t size = 0;
    char* const found = rocksdb_get(db_, reads_, key.data(), key.size(), &size, error);
    EXPECT_TRUE(error.none()) << error.text();
    const bool same = found != nullptr && std::string(found, size) == value;
    rocksdb_free(found);
    return same;
  }
  void remove(const std::string& key) {
    const Undisturbed unnoticed;
    Error error;
    rocksdb_delete(db_, writes_, key.data(), key.size(), error);
    ASSERT_TRUE(error.none()) << error.text();
  }
  void expect_all_there() {
    for (int i = 0; i < kBefore; ++i) ASSERT_TRUE(has(key_of(i))) << i;
  }
  static void expect_answer(const Error& error, bool refused) {
    EXPECT_TRUE(error.none() || (refused && error.is_of_memory())) << error.text();
  }
  template <typename Work>
  void refuse(const char* name, const Work& work) {
    refuse_each(name, Refuse::kShimHelpless, work, expect_answer);
    refuse_each(
        name, Refuse::kAnyMadeUpFor, work,
        [](const Error& error, bool) { EXPECT_TRUE(error.none()) << error.text(); }, 20);
    expect_all_there();
  }
  // What it writes is there where it said nothing, and only there.
  template <typename Work>
  void refuse_writes(const char* name, const Work& work) {
    refuse_each(
        name, Refuse::kShimHelpless,
        [&] {
          remove(kNewKey);
          return work();
        },
        [&](const Error& error, bool refused) {
          expect_answer(error, refused);
          EXPECT_EQ(has(kNewKey, "new"), error.none());
        });
    remove(kNewKey);
    expect_all_there();
  }

  std::string directory_;
  std::string path_;
  rocksdb_options_t* options_ = nullptr;
  rocksdb_readoptions_t* reads_ = nullptr;
  rocksdb_writeoptions_t* writes_ = nullptr;
  rocksdb_t* db_ = nullptr;
};

TEST_F(RocksMemory, opens) {
  close();
  refuse_each(
      "open", Refuse::kShimHelpless,
      [&] {
        rocksdb_options_t* const options = rocksdb_options_create();
        if (options == nullptr) return Error::of_null();
        rocksdb_options_set_create_if_missing(options, 1);
        rocksdb_options_set_wal_dir(options, path_.c_str());
        Error error;
        rocksdb_t* const db = rocksdb_open(options, path_.c_str(), error);
        EXPECT_EQ(db == nullptr, !error.none());
        if (db != nullptr) rocksdb_close(db);
        rocksdb_options_destroy(options);
        return error;
      },
      expect_answer);
  refuse_each(
      "open families", Refuse::kShimHelpless,
      [&] {
        Error error;
        const char* const names[] = {"default"};
        rocksdb_column_family_handle_t* handles[1] = {};
        rocksdb_t* const db = rocksdb_open_column_families(options_, path_.c_str(), 1, names,
                                                           &options_, handles, error);
        EXPECT_EQ(db == nullptr, !error.none());
        if (db == nullptr) return error;
        rocksdb_column_family_handle_destroy(handles[0]);
        rocksdb_close(db);
        size_t count = 0;
        char** const list = rocksdb_list_column_families(options_, path_.c_str(), &count, error);
        if (error.none()) rocksdb_list_column_families_destroy(list, count);
        return error;
      },
      expect_answer);
  open();
  expect_all_there();
}

TEST_F(RocksMemory, families) {
  refuse("create", [&] {
    Error error;
    rocksdb_column_family_handle_t* const handle =
        rocksdb_create_column_family(db_, options_, kFamily, error);
    EXPECT_EQ(handle == nullptr, !error.none());
    const Undisturbed after;
    // Nothing is left of it, or it can be dropped.
    Error later;
    rocksdb_column_family_handle_t* const again =
        handle != nullptr ? handle : rocksdb_create_column_family(db_, options_, kFamily, later);
    EXPECT_TRUE(later.none()) << later.text();
    if (again == nullptr) return error;
    rocksdb_drop_column_family(db_, again, later);
    EXPECT_TRUE(later.none()) << later.text();
    rocksdb_column_family_handle_destroy(again);
    return error;
  });
}

TEST_F(RocksMemory, reads) {
  refuse("get", [&] {
    const std::string& key = kNewKey;
    const std::string there = key_of(7);
    Error error;
    size_t size = 0;
    rocksdb_free(rocksdb_get(db_, reads_, key.data(), key.size(), &size, error));
    if (!error.none()) return error;
    rocksdb_pinnableslice_destroy(
        rocksdb_get_pinned(db_, reads_, there.data(), there.size(), error));
    return error;
  });
  refuse("multi_get", [&] {
    const std::string keys[2] = {key_of(3), kNewKey};
    const char* const data[2] = {keys[0].data(), keys[1].data()};
    const size_t sizes[2] = {keys[0].size(), keys[1].size()};
    char* values[2] = {};
    size_t value_sizes[2] = {};
    Error errors[2];
    char* texts[2] = {};
    rocksdb_multi_get(db_, reads_, 2, data, sizes, values, value_sizes, texts);
    *static_cast<char**>(errors[0]) = texts[0];
    *static_cast<char**>(errors[1]) = texts[1];
    EXPECT_EQ(values[0] == nullptr, texts[0] != nullptr);
    for (char* value : values) rocksdb_free(value);
    return std::move(errors[errors[0].none() ? 1 : 0]);
  });
  refuse("walk", [&] {
    rocksdb_iterator_t* const walk = rocksdb_create_iterator(db_, reads_);
    if (walk == nullptr) return Error::of_null();
    int seen = 0;
    for (rocksdb_iter_seek_to_first(walk); rocksdb_iter_valid(walk); rocksdb_iter_next(walk)) {
      ++seen;
    }
    Error error;
    rocksdb_iter_get_error(walk, error);
    EXPECT_TRUE(!error.none() || seen == kBefore) << seen;
    if (error.none()) {
      seen = 0;
      for (rocksdb_iter_seek_to_last(walk); rocksdb_iter_valid(walk); rocksdb_iter_prev(walk)) {
        ++seen;
      }
      rocksdb_iter_get_error(walk, error);
      EXPECT_TRUE(!error.none() || seen == kBefore) << seen;
    }
    {
      // It goes on to work.
      const Undisturbed after;
      const std::string key = key_of(5);
      rocksdb_iter_seek(walk, key.data(), key.size());
      EXPECT_TRUE(rocksdb_iter_valid(walk));
      Error none;
      rocksdb_iter_get_error(walk, none);
      EXPECT_TRUE(none.none()) << none.text();
    }
    rocksdb_iter_destroy(walk);
    return error;
  });
  refuse("told", [&] {
    char* const text = rocksdb_property_value(db_, "rocksdb.stats");
    const bool missing = text == nullptr;
    rocksdb_free(text);
    const rocksdb_snapshot_t* const snapshot = rocksdb_create_snapshot(db_);
    if (snapshot == nullptr) return Error::of_null();
    rocksdb_release_snapshot(db_, snapshot);
    return missing ? Error::of_null() : Error();
  });
}

TEST_F(RocksMemory, writes) {
  const size_t size = std::strlen(kNewKey);
  refuse_writes("put", [&] {
    Error error;
    rocksdb_put(db_, writes_, kNewKey, size, "new", 3, error);
    return error;
  });
  refuse_writes("delete and merge", [&] {
    Error error;
    rocksdb_put(db_, writes_, kNewKey, size, "old", 3, error);
    if (error.none()) rocksdb_delete(db_, writes_, kNewKey, size, error);
    if (error.none()) rocksdb_put(db_, writes_, kNewKey, size, "new", 3, error);
    return error;
  });
  refuse_writes("batch", [&] {
    rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
    if (batch == nullptr) return Error::of_null();
    rocksdb_writebatch_put(batch, kNewKey, size, "old", 3);
    rocksdb_writebatch_put_log_data(batch, kNewKey, size);
    rocksdb_writebatch_set_save_point(batch);
    rocksdb_writebatch_delete(batch, kNewKey, size);
    Error error;
    rocksdb_writebatch_rollback_to_save_point(batch, error);
    rocksdb_writebatch_put(batch, kNewKey, size, "new", 3);
    if (error.none()) rocksdb_write(db_, writes_, batch, error);
    rocksdb_writebatch_destroy(batch);
    return error;
  });
  refuse_writes("batch with an index", [&] {
    rocksdb_writebatch_wi_t* const batch = rocksdb_writebatch_wi_create(0, 1);
    if (batch == nullptr) return Error::of_null();
    rocksdb_writebatch_wi_put(batch, "other", 5, "1", 1);
    rocksdb_writebatch_wi_delete(batch, "other", 5);
    rocksdb_writebatch_wi_put(batch, kNewKey, size, "new", 3);
    Error error;
    rocksdb_write_writebatch_wi(db_, writes_, batch, error);
    {
      // It goes on to work.
      const Undisturbed after;
      rocksdb_writebatch_wi_clear(batch);
      rocksdb_writebatch_wi_put(batch, "other", 5, "1", 1);
      Error none;
      size_t bytes = 0;
      char* const there =
          rocksdb_writebatch_wi_get_from_batch(batch, options_, "other", 5, &bytes, none);
      EXPECT_TRUE(none.none()) << none.text();
      EXPECT_EQ(bytes, 1u);
      rocksdb_free(there);
    }
    rocksdb_writebatch_wi_destroy(batch);
    return error;
  });
  refuse("flush", [&] {
    rocksdb_flushoptions_t* const options = rocksdb_flushoptions_create();
    if (options == nullptr) return Error::of_null();
    Error error;
    rocksdb_flush(db_, options, error);
    rocksdb_flushoptions_destroy(options);
    return error;
  });
}

TEST_F(RocksMemory, transactions) {
  close();
  rocksdb_transactiondb_options_t* const db_options = rocksdb_transactiondb_options_create();
  rocksdb_transaction_options_t* const options = rocksdb_transaction_options_create();
  rocksdb_transactiondb_t* db = nullptr;
  refuse_each(
      "open", Refuse::kShimHelpless,
      [&] {
        if (db != nullptr) rocksdb_transactiondb_close(std::exchange(db, nullptr));
        Error error;
        db = rocksdb_transactiondb_open(options_, db_options, path_.c_str(), error);
        EXPECT_EQ(db == nullptr, !error.none());
        return error;
      },
      expect_answer);
  ASSERT_NE(db, nullptr);
  const size_t size = std::strlen(kNewKey);
  const auto there = [&] {
    const Undisturbed look;
    Error error;
    size_t bytes = 0;
    char* const found = rocksdb_transactiondb_get(db, reads_, kNewKey, size, &bytes, error);
    const bool same = found != nullptr && std::string(found, bytes) == "new";
    rocksdb_free(found);
    return same;
  };
  refuse_each(
      "transaction", Refuse::kShimHelpless,
      [&] {
        {
          const Undisturbed unnoticed;
          Error error;
          rocksdb_transactiondb_delete(db, writes_, kNewKey, size, error);
        }
        rocksdb_transaction_t* const txn = rocksdb_transaction_begin(db, writes_, options, nullptr);
        if (txn == nullptr) return Error::of_null();
        Error error;
        rocksdb_transaction_put(txn, kNewKey, size, "new", 3, error);
        rocksdb_transaction_set_savepoint(txn);
        if (error.none()) rocksdb_transaction_put(txn, kNewKey, size, "other", 5, error);
        if (error.none()) rocksdb_transaction_rollback_to_savepoint(txn, error);
        size_t bytes = 0;
        if (error.none()) {
          rocksdb_free(
              rocksdb_transaction_get_for_update(txn, reads_, kNewKey, size, &bytes, 1, error));
        }
        if (error.none()) rocksdb_transaction_commit(txn, error);
        rocksdb_transaction_destroy(txn);
        return error;
      },
      [&](const Error& error, bool refused) {
        expect_answer(error, refused);
        EXPECT_EQ(there(), error.none());
      });
  rocksdb_transactiondb_close(db);
  rocksdb_transaction_options_destroy(options);
  rocksdb_transactiondb_options_destroy(db_options);
  open();
  expect_all_there();
}

}  // namespace
}  // namespace hawthorn::rocks
