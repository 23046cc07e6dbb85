#include "db/budget.h"

#include <algorithm>
#include <string>

#include "hawthorn/db.h"
#include "hawthorn/options.h"
#include "os/memory_limit.h"

namespace hawthorn {

size_t default_memory_budget_bytes(size_t most) {
  return static_cast<size_t>(std::min<uint64_t>(most, os::memory_limit_bytes() / 4));
}

namespace db {

Status check_budget(size_t bytes) {
  const size_t least = Db::limits().memory_budget_bytes_min;
  if (bytes >= least) return {};
  std::string text = "a memory budget of " + std::to_string(bytes) +
                     " bytes is below the minimum of " + std::to_string(least);
  if (bytes == default_memory_budget_bytes()) {
    text += "; it is the default, a quarter of the " + std::to_string(os::memory_limit_bytes()) +
            " bytes that the control group allows this process: raise that limit, or set "
            "memory_budget_bytes";
  }
  return {StatusCode::kInvalidArgument, std::move(text)};
}

}  // namespace db
}  // namespace hawthorn
