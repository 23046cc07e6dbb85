#include "os/test_point.h"

#if defined(HAWTHORN_TEST_POINTS)

#include <atomic>
#include <map>
#include <memory>
#include <utility>

#include "os/delays.h"
#include "os/schedule.h"
#include "os/sync.h"

namespace hawthorn::os {
namespace {

using Hook = std::shared_ptr<const std::function<void()>>;

struct Hooks {
  Mutex mutex;
  std::map<std::string, Hook, std::less<>> by_name GUARDED_BY(mutex);
};

// Never destroyed: background threads may reach points while static variables are torn down.
Hooks& hooks() {
  static Hooks* const all = new Hooks;
  return *all;
}

// Without hooks a point costs one load.
std::atomic<size_t> hook_count{0};

}  // namespace

void reach_test_point(const char* name) {
  delay_point(Seam::kLock);
  if (Schedule* const by = this_schedule(); by != nullptr) by->point(name);
  if (hook_count.load(std::memory_order_acquire) == 0) return;
  Hook hook;
  {
    Hooks& all = hooks();
    MutexLock lock(all.mutex);
    const auto found = all.by_name.find(std::string_view(name));
    if (found != all.by_name.end()) hook = found->second;
  }
  // Run unlocked: a hook may block, or set and remove points.
  if (hook != nullptr) (*hook)();
}

void set_test_point(const std::string& name, std::function<void()> hook) {
  Hooks& all = hooks();
  MutexLock lock(all.mutex);
  if (hook) {
    all.by_name[name] = std::make_shared<const std::function<void()>>(std::move(hook));
  } else {
    all.by_name.erase(name);
  }
  hook_count.store(all.by_name.size(), std::memory_order_release);
}

void clear_test_points() {
  Hooks& all = hooks();
  MutexLock lock(all.mutex);
  all.by_name.clear();
  hook_count.store(0, std::memory_order_release);
}

}  // namespace hawthorn::os

#endif
