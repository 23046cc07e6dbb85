#pragma once
// Memory that is mapped twice in a row, so that what wraps around is contiguous: a file's own
// pages, or a copy of them for file systems on which a store into a file's page could end the
// process.
//
// Not here: making files, giving them space (posix_file.cc). Threads: any.

#include <memory>

#include "os/file.h"

namespace hawthorn::os {

// The first `size` bytes of a file. nullptr, and errno, where the system refuses. unmap_mirrored
// takes it back.
char* map_mirrored(int descriptor, size_t size, bool read_only);
void unmap_mirrored(char* data, size_t size);

// Whether each page of a file that has a block of its own can be stored into for ever: not where
// the file system puts what changes into other blocks (btrfs, ZFS, bcachefs, F2FS), which a full
// disk does not have; the answer would be SIGBUS. Not known of others, so false.
bool stores_are_safe(int descriptor);

// A copy of the first `size` bytes of a file, which is as large, in memory. What is stored reaches
// the file by write_back alone (MappedFile). Errors: kOutOfMemory; those of reading.
Result<std::unique_ptr<MappedFile>> make_mapped_copy(std::unique_ptr<File> file, size_t size);

}  // namespace hawthorn::os
