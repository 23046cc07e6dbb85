#pragma once
// What the tests of the C API share: a database in a directory of its own, handles that free
// themselves, and calls that must succeed.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "c/c_test_handles.h"
#include "hawthorn/c.h"

namespace hawthorn::c {

// "OK", or the name of the code and the message; frees the error.
inline std::string text_of(hawthorn_code code, hawthorn_error* error) {
  const ErrorHandle freed(error);
  if (code == HAWTHORN_OK) return error == nullptr ? "OK" : "OK with an error object";
  if (error == nullptr) return "no error object";
  if (hawthorn_error_code(error) != code) return "the error object has another code";
  return std::string(hawthorn_code_name(code)) + ": " + hawthorn_error_message(error, nullptr);
}

// What a call comes to, with `&e` as its last argument.
#define C_TEXT(...)                                                        \
  [&] {                                                                    \
    auto* e = reinterpret_cast<hawthorn_error*>(alignof(hawthorn_error*)); \
    const hawthorn_code code = __VA_ARGS__;                                \
    return ::hawthorn::c::text_of(code, e);                                \
  }()
#define C_OK(...) ASSERT_EQ(C_TEXT(__VA_ARGS__), "OK")
// The error begins with this text.
#define C_FAILS(text, ...)                                                          \
  do {                                                                              \
    const std::string c_text = C_TEXT(__VA_ARGS__);                                 \
    EXPECT_TRUE(c_text.starts_with(text)) << c_text << "\nin place of: " << (text); \
  } while (false)

inline std::string_view bytes_of(const void* data, size_t size) {
  return {static_cast<const char*>(data), size};
}

class CTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/hawthorn-c-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    options_.reset(hawthorn_options_create());
    C_OK(hawthorn_options_set(options_.get(), "memory_budget_bytes", "32M", &e));
    C_OK(hawthorn_options_set(options_.get(), "durability", "none", &e));
  }
  void TearDown() override {
    value_.reset();
    tree_.reset();
    db_.reset();
    options_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name = "db") const { return folder_ + "/" + name; }

  void open() {
    hawthorn_db* db = nullptr;
    C_OK(hawthorn_db_open(path().c_str(), options_.get(), &db, &e));
    db_.reset(db);
  }
  void open_with_tree(const hawthorn_tree_options* options = nullptr) {
    open();
    ASSERT_NE(db_, nullptr);
    tree_ = tree("tree", options);
  }
  TreeHandle tree(const char* name, const hawthorn_tree_options* options = nullptr) {
    hawthorn_tree* made = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_db_tree(db_.get(), name, HAWTHORN_STRING, options, &made, &e)), "OK");
    return TreeHandle(made);
  }
  void put(std::string_view key, std::string_view value) {
    C_OK(hawthorn_db_put(db_.get(), tree_.get(), key.data(), key.size(), value.data(), value.size(),
                         nullptr, &e));
  }
  // The value, or the name of the code.
  std::string get(std::string_view key, const hawthorn_snapshot* snapshot = nullptr) {
    if (value_ == nullptr) value_.reset(hawthorn_value_create());
    const hawthorn_code code = hawthorn_db_get(db_.get(), tree_.get(), key.data(), key.size(),
                                               snapshot, value_.get(), nullptr);
    if (code != HAWTHORN_OK) return hawthorn_code_name(code);
    size_t size = 0;
    const void* const data = hawthorn_value_data(value_.get(), &size);
    return std::string(bytes_of(data, size));
  }
  SnapshotHandle snapshot() {
    hawthorn_snapshot* made = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_db_snapshot(db_.get(), &made, &e)), "OK");
    return SnapshotHandle(made);
  }
  CursorHandle cursor(const hawthorn_cursor_options* options = nullptr) {
    hawthorn_cursor* made = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_db_cursor(db_.get(), tree_.get(), options, &made, &e)), "OK");
    return CursorHandle(made);
  }
  TxnHandle begin(const hawthorn_txn_options* options = nullptr) {
    hawthorn_txn* made = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_txn_begin(db_.get(), options, &made, &e)), "OK");
    return TxnHandle(made);
  }

  std::string folder_;
  OptionsHandle options_;
  DbHandle db_;
  TreeHandle tree_;
  ValueHandle value_;
};

// Everything that stands in a cursor's range, "key=value" with commas; of columns, the same.
inline std::string walk(hawthorn_cursor* cursor) {
  std::string text;
  int found = 0;
  for (hawthorn_code code = hawthorn_cursor_first(cursor, &found, nullptr);
       code == HAWTHORN_OK && found != 0; code = hawthorn_cursor_next(cursor, &found, nullptr)) {
    size_t key_size = 0;
    size_t value_size = 0;
    const void* const key = hawthorn_cursor_key(cursor, &key_size);
    const void* const value = hawthorn_cursor_value(cursor, &value_size);
    if (!text.empty()) text += ',';
    text.append(bytes_of(key, key_size)).append("=").append(bytes_of(value, value_size));
  }
  return text;
}

// Columns with buffers of their own.
class Columns {
 public:
  Columns(size_t rows, size_t key_bytes, size_t value_bytes)
      : key_bytes_(key_bytes),
        value_bytes_(value_bytes),
        key_offsets_(rows + 1),
        value_offsets_(rows + 1),
        found_(rows) {
    columns_ = HAWTHORN_COLUMNS_INIT;
    columns_.rows_capacity = rows;
    columns_.key_bytes = key_bytes_.data();
    columns_.key_bytes_capacity = key_bytes;
    columns_.key_offsets = key_offsets_.data();
    columns_.value_bytes = value_bytes_.data();
    columns_.value_bytes_capacity = value_bytes;
    columns_.value_offsets = value_offsets_.data();
    columns_.found = found_.data();
  }
  hawthorn_columns* get() { return &columns_; }
  hawthorn_columns* operator->() { return &columns_; }
  std::string_view key(size_t row) const {
    return std::string_view(key_bytes_.data(), key_bytes_.size())
        .substr(static_cast<size_t>(key_offsets_[row]),
                static_cast<size_t>(key_offsets_[row + 1] - key_offsets_[row]));
  }
  std::string_view value(size_t row) const {
    return std::string_view(value_bytes_.data(), value_bytes_.size())
        .substr(static_cast<size_t>(value_offsets_[row]),
                static_cast<size_t>(value_offsets_[row + 1] - value_offsets_[row]));
  }
  bool found(size_t row) const { return found_[row] == 1; }
  std::string text() const {
    std::string all;
    for (size_t row = 0; row < columns_.rows; ++row) {
      if (row != 0) all += ',';
      all.append(key(row)).append("=").append(value(row));
    }
    return all;
  }

 private:
  std::vector<char> key_bytes_;
  std::vector<char> value_bytes_;
  std::vector<int64_t> key_offsets_;
  std::vector<int64_t> value_offsets_;
  std::vector<uint8_t> found_;
  hawthorn_columns columns_;
};

}  // namespace hawthorn::c
