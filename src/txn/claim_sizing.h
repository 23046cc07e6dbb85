#pragma once
// How often who attaches containers asks for those that are being flushed (attach.cc), a
// millisecond apart.
//
// Used by attach.cc; tests set less. Threads: set before the first database is opened.

#include <cstdint>

namespace hawthorn::txn {

inline uint32_t claim_attempts = 5000;

}  // namespace hawthorn::txn
