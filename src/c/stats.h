#pragma once
// Words for constants, in lists of fields. Threads: any.

#include <string_view>

#include "hawthorn/options.h"

namespace hawthorn::c {

std::string_view compression_name(Compression compression);

}  // namespace hawthorn::c
