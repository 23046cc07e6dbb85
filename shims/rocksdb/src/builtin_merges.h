#pragma once
// The merge operators that RocksDB knows by name.
//
// Used by the texts of options and the C API. Threads: as rocksdb::MergeOperator.

#include <memory>
#include <string>

#include "rocksdb/merge_operator.h"

namespace hawthorn::rocks {

// By its name or its short one; null where there is none of that name.
//
//   PutOperator, put, put_v1                    the newest operand
//   UInt64AddOperator, uint64add                the sum of numbers of eight bytes, little-endian
//   StringAppendOperator, stringappend          all, with a delimiter between
//   StringAppendTESTOperator, stringappendtest  the same
//   MaxOperator, max                            the greatest, byte by byte
//   BytesXOR, bytesxor                          byte by byte; the longer one's rest stays
std::shared_ptr<rocksdb::MergeOperator> builtin_merge(const std::string& name,
                                                      const std::string& delimiter = ",");

// The delimiter of one that has one, or null.
const std::string* delimiter_of(const rocksdb::MergeOperator& of);

}  // namespace hawthorn::rocks
