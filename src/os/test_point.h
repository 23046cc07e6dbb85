#pragma once
// Named places in the engine where a test may stop a thread to force an interleaving. They cost
// nothing unless the build defines HAWTHORN_TEST_POINTS (the debug and sanitizer presets do).

#include <functional>
#include <string>

namespace hawthorn::os {

#if defined(HAWTHORN_TEST_POINTS)
void reach_test_point(const char* name);
// The hook runs on the thread that reaches the point. An empty function removes it.
void set_test_point(const std::string& name, std::function<void()> hook);
void clear_test_points();
#define HAWTHORN_TEST_POINT(name) ::hawthorn::os::reach_test_point(name)
#else
#define HAWTHORN_TEST_POINT(name) static_cast<void>(0)
#endif

}  // namespace hawthorn::os
