#pragma once
// Whether what the catalog says of subtrees agrees with itself, and with the trees in which they
// hang (catalog.h, invariants 5 and 6), at one moment.
//
// Used by check.cc. Threads: any, beside whatever goes on.

#include <cstdint>
#include <functional>
#include <string>

#include "db/impl.h"

namespace hawthorn::db {

// Tells each error; returns how many subtrees there are.
uint64_t check_subtrees(Db::Impl& database, const std::function<void(std::string)>& error);

}  // namespace hawthorn::db
