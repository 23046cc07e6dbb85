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

#include "os/file.h"

namespace hawthorn::os {

// What is made without another mode: nobody but the user reads or writes it.
inline constexpr uint32_t kPrivateFileMode = 0600;

// Lifetime: static. It holds no state. What it makes has kPrivateFileMode.
FileSystem& posix_file_system();
// The same with another mode of files. Directories have it, too, and who may read may enter.
std::unique_ptr<FileSystem> posix_file_system_of_mode(uint32_t file_mode);
// A file of a descriptor of any kind, which it closes: for tests of what system calls answer.
std::unique_ptr<File> file_of_descriptor(int descriptor, const std::string& path);

}  // namespace hawthorn::os
