#pragma once
// What the library tells of itself, where a program has asked for it (mdbx_setup_debug).
//
// Threads: any.

#include <string_view>

#include "hawthorn/options.h"
#include "shims/mdbx/src/common.h"

namespace hawthorn::mdbx {

void tell(MDBX_log_level_t level, std::string_view message);
// Of a failure, after `what`; nothing where there is no memory for the words.
void tell(MDBX_log_level_t level, std::string_view what, const Status& status) noexcept;
// As Options::log.
void tell_of_the_database(LogLevel level, std::string_view message);
// The MDBX_DBG_ flags as they were last set.
unsigned debug_flags();

}  // namespace hawthorn::mdbx
