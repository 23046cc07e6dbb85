#pragma once
// HAWTHORN_EXPORT marks what the shared library shows; everything else in it is hidden.

#if defined(__GNUC__)
#define HAWTHORN_EXPORT [[gnu::visibility("default")]]
#else
#define HAWTHORN_EXPORT
#endif
