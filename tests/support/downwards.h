#pragma once
// The order from the greatest to the least, as a comparison, for tests of trees that have one.
//
// Not here: tests. Threads: any.

#include <string_view>

#include "hawthorn/key_order.h"

namespace hawthorn::tests {

class Downwards : public KeyComparator {
 public:
  std::string_view name() const override { return "downwards"; }
  int compare(std::string_view a, std::string_view b) const override { return b.compare(a); }
};

}  // namespace hawthorn::tests
