#pragma once
// The file system of the operating system behind os/file.h.
//
// Not here: asynchronous I/O (io.h). Threads: as file.h says.
//
// 1. Every error names the path, the offset where there is one, and the system's own words.
// 2. A file descriptor is closed by its File only, and not inherited by programs that are started.

#include "os/file.h"

namespace hawthorn::os {

// Lifetime: static. It holds no state.
FileSystem& posix_file_system();

}  // namespace hawthorn::os
