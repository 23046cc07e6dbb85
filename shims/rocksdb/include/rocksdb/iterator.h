#pragma once
// A walk over the entries of a column family, over one consistent view.
//
// Threads: one object from one thread at a time. Lifetime: delete iterators before their database.

#include <string>

#include "rocksdb/iterator_base.h"
#include "rocksdb/options.h"
#include "rocksdb/wide_columns.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class Iterator : public IteratorBase {
 public:
  Iterator() = default;
  Iterator(const Iterator&) = delete;
  void operator=(const Iterator&) = delete;
  // Of an entity its default column, or nothing. Lifetime: as that of key().
  virtual Slice value() const = 0;
  // Lifetime: until the next move; of names and values as that of key().
  virtual const WideColumns& columns() const { return kNoWideColumns; }
  // "rocksdb.iterator.is-key-pinned" and "rocksdb.iterator.is-value-pinned" ("1" with
  // ReadOptions::pin_data), "rocksdb.iterator.super-version-number" (always "0"),
  // "rocksdb.iterator.internal-key" (the key).
  virtual Status GetProperty(std::string prop_name, std::string* prop);
};

// Of no entries, and with an error; the caller owns it. [mapped]
Iterator* NewEmptyIterator();
// [mapped]
Iterator* NewErrorIterator(const Status& status);

}  // namespace ROCKSDB_NAMESPACE
