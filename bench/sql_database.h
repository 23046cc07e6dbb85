#pragma once
// What the SQL workload asks of a database: one connection that prepares statements and steps
// through their rows; and the digest by which the rows of two computations are compared.
//
// Not here: which statements there are, and what they must give (sql_plan.h). Implemented by
// sql_sqlite.cc, and by doubles of tests. Errors: EngineError. Threads: one.
//
// 1. The digest depends on the order of the rows, on the types of their columns, and on where a row
//    ends: a row that is lost, doubled, moved or changed gives another one, but for one in 2^64.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "bench/engine.h"
#include "bench/stamp.h"

namespace hawthorn::bench {

struct SqlConfig {
  std::string path;  // a directory for this database alone
  SyncMode sync = SyncMode::kNone;
  size_t cache_bytes = 0;
};

// What a parameter of a statement is given.
using SqlValue = std::variant<int64_t, std::string>;
// A column of a row; std::monostate is NULL.
using SqlColumn = std::variant<std::monostate, int64_t, double, std::string_view>;

class SqlDigest {
 public:
  void add_null() { take(kNull, 0); }
  void add(int64_t number) { take(kInteger, static_cast<uint64_t>(number)); }
  void add(double number) { take(kReal, std::bit_cast<uint64_t>(number)); }
  void add(std::string_view text) {
    take(kText, text.size());
    while (text.size() >= sizeof(uint64_t)) {
      mix(load64(text.data()));
      text.remove_prefix(sizeof(uint64_t));
    }
    uint64_t word = 0;
    for (const char c : text) word = word << 8 | static_cast<unsigned char>(c);
    mix(word);
  }
  void add_column(const SqlColumn& column);
  void end_row() {
    take(kEnd, 0);
    ++rows_;
  }
  // Rows that a statement that writes says that it changed.
  void add_changes(int64_t changes) { take(kChanges, static_cast<uint64_t>(changes)); }

  uint64_t rows() const { return rows_; }
  uint64_t hash() const { return hash_; }
  bool operator==(const SqlDigest&) const = default;

 private:
  enum Kind : uint64_t { kNull = 1, kInteger, kReal, kText, kEnd, kChanges };

  void mix(uint64_t word) { hash_ = mix64(hash_ * 0x9e3779b97f4a7c15ULL + word); }
  void take(Kind kind, uint64_t word) {
    mix(kind);
    mix(word);
  }

  uint64_t rows_ = 0;
  uint64_t hash_ = 0;
};

inline void SqlDigest::add_column(const SqlColumn& column) {
  if (const auto* number = std::get_if<int64_t>(&column)) {
    add(*number);
  } else if (const auto* text = std::get_if<std::string_view>(&column)) {
    add(*text);
  } else if (const auto* real = std::get_if<double>(&column)) {
    add(*real);
  } else {
    add_null();
  }
}

class SqlStatement {
 public:
  virtual ~SqlStatement() = default;

  // Parameters count from 1. Text stays where it is until the next reset.
  virtual void bind(int index, const SqlValue& value) = 0;
  // Whether there is a row.
  virtual bool step() = 0;
  virtual int columns() const = 0;
  // Lifetime: until the next step or reset.
  virtual SqlColumn column(int index) const = 0;
  virtual void reset() = 0;
  // How many rows it inserted, updated or deleted when it ran last.
  virtual int64_t changes() const = 0;
};

class SqlDatabase {
 public:
  virtual ~SqlDatabase() = default;

  virtual std::string version() const = 0;
  // What was set, in one line; after open.
  virtual std::string settings() const = 0;
  virtual void open(const SqlConfig& config) = 0;
  // No statement is left.
  virtual void close() = 0;
  // Returns when nothing is left to do in the background.
  virtual void drain() = 0;
  // Lifetime: until close.
  virtual std::unique_ptr<SqlStatement> prepare(const std::string& sql) = 0;
};

}  // namespace hawthorn::bench
