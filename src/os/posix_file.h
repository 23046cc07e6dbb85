#pragma once
// The file system of the operating system behind os/file.h.
//
// Not here: asynchronous I/O (io.h). Threads: as file.h says.
//
// 1. Every error names the path, the offset where there is one, and the system's own words.
// 2. A file descriptor is closed by its File only, and not inherited by programs that are started.
// 3. What it makes has its mode, less the umask of the process; what exists keeps its own.
// 4. Only regular files are opened, but for those of OpenFlags::device: what stands in place of one
//    (a symbolic link, a directory, a FIFO, a socket, a device) is kCorruption, and neither
//    followed nor waited for. So is, for writing, a file that has another name: what is written to
//    it would change there, too. Devices are the user's to name, and links to them are followed.
// 5. A child of fork has none of the locks of its parent (OpenFlags::locks).
// 6. A directory that is held (os/file.h) is meant by its descriptor, and by no name any more.

#include "os/file.h"

namespace hawthorn::os {

// What is made without another mode: nobody but the user reads or writes it.
inline constexpr uint32_t kPrivateFileMode = 0600;

// Lifetime: static. It holds no state. What it makes has kPrivateFileMode. What its of_directory
// gives has another mode of files; directories have it, too, and who may read may enter.
FileSystem& posix_file_system();
// A file of a descriptor of any kind, which it closes: for tests of what system calls answer.
std::unique_ptr<File> file_of_descriptor(int descriptor, const std::string& path);

}  // namespace hawthorn::os
