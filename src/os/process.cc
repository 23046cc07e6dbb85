#include "os/process.h"

#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

#include "os/schedule.h"
#include "os/system_text.h"

namespace hawthorn::os {

// On a simulated machine there is one process, which is always the same.
uint64_t process_id() {
  if (this_schedule() != nullptr) return 1;
  return static_cast<uint64_t>(::getpid());
}

uint64_t process_start(uint64_t pid) {
  if (this_schedule() != nullptr) return pid;
  const std::string text = system_text("/proc/" + std::to_string(pid) + "/stat");
  // The second field is a name in parentheses, which may hold anything.
  std::string_view rest(text);
  const size_t name_end = rest.rfind(')');
  if (name_end == std::string_view::npos) return 0;
  rest.remove_prefix(name_end + 1);
  constexpr int kFieldsBetween = 20;  // from the third to the 22nd
  for (int field = 0; field < kFieldsBetween; ++field) {
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) return 0;
    rest.remove_prefix(space + 1);
  }
  uint64_t start = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), start);
  return start;
}

}  // namespace hawthorn::os
