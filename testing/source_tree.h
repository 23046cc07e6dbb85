#pragma once
// Where the sources lie, for tests that compare with kept files or documents. Not __FILE__: what a
// compiler cache has built in one checkout may run in another one.

#include <string>

namespace hawthorn::testing {

// The repository's root, without a slash at its end.
std::string source_tree();

}  // namespace hawthorn::testing
