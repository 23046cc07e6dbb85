#pragma once
// HAWTHORN_ASSERT states what must hold of our own state; it is checked in debug and sanitizer
// builds. Bytes from disk and from callers are never asserted: they are checked and answered with a
// Status.

#include <cassert>

#define HAWTHORN_ASSERT(condition) assert(condition)

#if defined(__clang__)
#define HAWTHORN_TS(x) __attribute__((x))
#else
#define HAWTHORN_TS(x)
#endif

// Lock annotations, checked by clang's -Wthread-safety.
#define CAPABILITY(x) HAWTHORN_TS(capability(x))
#define SCOPED_CAPABILITY HAWTHORN_TS(scoped_lockable)
#define GUARDED_BY(x) HAWTHORN_TS(guarded_by(x))
#define REQUIRES(...) HAWTHORN_TS(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) HAWTHORN_TS(acquire_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) HAWTHORN_TS(try_acquire_capability(__VA_ARGS__))
#define RELEASE(...) HAWTHORN_TS(release_capability(__VA_ARGS__))
#define EXCLUDES(...) HAWTHORN_TS(locks_excluded(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS HAWTHORN_TS(no_thread_safety_analysis)
