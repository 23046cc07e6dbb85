#include "testing/source_tree.h"

namespace hawthorn::testing {

std::string source_tree() { return HAWTHORN_SOURCE_TREE; }

}  // namespace hawthorn::testing
