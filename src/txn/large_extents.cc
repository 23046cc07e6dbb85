// The extents of large values that a transaction has written, until its outcome.

#include "format/large_value.h"
#include "txn/transaction.h"

namespace hawthorn::txn {

// What a version of a large value shares with the one before is not its own.
void Txn::own_large(std::string_view encoded) {
  const Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (!value.ok()) return;  // this process, or the log's check, has made it
  large_.push_back(format::fresh_extents(*value));
  large_bytes_ += sizeof(large_.back()) + large_.back().capacity() * sizeof(format::ExtentAddress);
}

void Txn::drop_extents_of(std::string_view encoded) {
  const Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (value.ok() && drop_large) drop_large(format::fresh_extents(*value));
}

void Txn::drop_all_large() {
  if (!drop_large) return;
  for (const auto& extents : large_) drop_large(extents);
}

}  // namespace hawthorn::txn
