#pragma once
// Which memory budgets are allowed.
//
// Not here: how it is kept (os/arena.h, tree/residency.h). Threads: any.

#include <cstddef>

#include "hawthorn/status.h"

namespace hawthorn::db {

// Errors: kInvalidArgument with what is missing, and why, where nobody has named this budget.
Status check_budget(size_t bytes);

}  // namespace hawthorn::db
