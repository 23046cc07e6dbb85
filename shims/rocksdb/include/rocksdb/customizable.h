#pragma once
// The base of what programs plug in: it has a name.
//
// Not here: making such objects from strings, and their options as text.

#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class Customizable {
 public:
  virtual ~Customizable() = default;
  virtual const char* Name() const = 0;
  virtual std::string GetId() const { return Name(); }
  virtual bool IsInstanceOf(const std::string& name) const { return name == Name(); }
};

}  // namespace ROCKSDB_NAMESPACE
