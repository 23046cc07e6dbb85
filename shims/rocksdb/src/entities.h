#pragma once
// Wide columns as bytes, and how a tree tells them from plain values.
//
//   columns    version 1, count (varints); of each column name (behind its length) and size of the
//              value (varint); the values. As RocksDB has them in a batch.
//   in a tree  the family's mark, 'e', columns
//              the family's mark, 'p', a plain value that begins with the mark
//              any other plain value, as it is
//
// A mark is 16 random bytes, which a family gets, and keeps in its row (families.h), before its
// first entity: no plain value that was there begins with them, and those that come are looked at.
// A family without entities has no mark, and pays one look for it.
//
// Used by all that reads or writes values. Threads: any; a mark is set once.

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/merge_operator.h"
#include "rocksdb/wide_columns.h"

namespace hawthorn::rocks {

// Sorts them. Errors: Corruption for a name that comes twice, as in RocksDB; InvalidArgument for
// sizes.
rocksdb::Status encode_columns(const rocksdb::WideColumns& columns, std::string* bytes);
// Errors: Corruption; NotSupported for a newer version.
rocksdb::Status decode_columns(std::string_view bytes, rocksdb::WideColumns* columns);
// Of an entity without a default column it is empty.
rocksdb::Slice default_of(const rocksdb::WideColumns& columns);
rocksdb::Status default_column(std::string_view bytes, std::string_view* value);
// With this default column in place of the one that they have, or have not.
std::string with_default(const rocksdb::WideColumns& columns, std::string_view value);

struct Content {
  std::string_view bytes;  // the plain value, or columns
  bool entity = false;
};

class EntityMark {
 public:
  static constexpr size_t kBytes = 16;
  // 16 bytes as they are.
  static std::string make();

  // Null: there are no entities. To be asked behind the read whose result is looked at.
  const std::string* get() const { return shown_.load(std::memory_order_acquire); }
  void set(std::string bytes) {
    bytes_ = std::move(bytes);
    shown_.store(&bytes_, std::memory_order_release);
  }
  // What a tree has.
  Content content(std::string_view stored) const {
    const std::string* const mark = get();
    if (mark == nullptr) [[likely]] {
      return {stored};
    }
    return content(*mark, stored);
  }
  // What is to be stored for a plain value; *kept holds it, where it is not the value itself.
  std::string_view plain(std::string_view value, std::string* kept) const {
    const std::string* const mark = get();
    if (mark == nullptr || !value.starts_with(*mark)) [[likely]] {
      return value;
    }
    return *kept = *mark + kPlain + std::string(value);
  }
  // For columns. There is a mark.
  std::string entity(std::string_view columns) const {
    return *get() + kEntity + std::string(columns);
  }

 private:
  static constexpr char kPlain = 'p';
  static constexpr char kEntity = 'e';
  static Content content(const std::string& mark, std::string_view stored);

  std::string bytes_;
  std::atomic<const std::string*> shown_{nullptr};
};

// Reads show of what a tree has. Errors: Corruption.
rocksdb::Status plain_of(const EntityMark& mark, std::string_view stored, std::string_view* value);

// Folds operands onto what a tree has, of entities onto the default column, and makes what the tree
// is to have. False: the operator refuses them.
bool full_merge_stored(const EntityMark& mark, const rocksdb::MergeOperator& with,
                       std::string_view key, std::optional<std::string_view> stored,
                       const std::vector<rocksdb::Slice>& operands, rocksdb::Logger* logger,
                       std::string* result);

}  // namespace hawthorn::rocks
