#pragma once
// How large data files are: at first, and at most (space/space.h).
//
// Used by open.cc; the whole-engine tests set smaller sizes, so that small databases have several
// files, which come and go. Threads: set before the first database is opened. A database may be
// opened with other sizes than it was made with.

#include <cstddef>
#include <cstdint>

namespace hawthorn::db {

inline uint64_t data_file_bytes_first = uint64_t{64} << 20;
inline uint64_t data_file_bytes_max = uint64_t{1} << 30;

}  // namespace hawthorn::db
