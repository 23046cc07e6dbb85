#pragma once
// Which sanitizer this build runs under: HAWTHORN_ASAN, HAWTHORN_TSAN, or none. GCC defines a macro
// of its own, clang answers __has_feature.

#if defined(__SANITIZE_ADDRESS__)
#define HAWTHORN_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define HAWTHORN_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAWTHORN_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define HAWTHORN_TSAN 1
#endif
#endif
