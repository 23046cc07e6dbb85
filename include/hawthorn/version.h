#pragma once
// The version of the library and of the files that it writes.

#include <cstdint>
#include <string_view>

#include "hawthorn/export.h"

#define HAWTHORN_VERSION_MAJOR 0
#define HAWTHORN_VERSION_MINOR 1
#define HAWTHORN_VERSION_PATCH 0

namespace hawthorn {

// The version of the library that is linked, such as "0.1.0". Lifetime: static.
HAWTHORN_EXPORT std::string_view version();

// Databases of this format version and older ones open; newer ones are refused.
inline constexpr uint32_t kFormatVersion = 1;

}  // namespace hawthorn
