#pragma once
// HAWTHORN_EXPORT marks what the shared library shows; everything else in it is hidden.

#if defined(__GNUC__)
#define HAWTHORN_EXPORT [[gnu::visibility("default")]]
#define HAWTHORN_HIDDEN [[gnu::visibility("hidden")]]  // inside of what is shown
#else
#define HAWTHORN_EXPORT
#define HAWTHORN_HIDDEN
#endif
