#pragma once
// Directories that survive a power loss: each is a name in the one above, which could go with
// everything in it.
//
// Not here: files in them. Threads: any.

#include <string>

#include "os/file.h"

namespace hawthorn::db {

// Makes a directory whose path is from the root, its name durable; fine where it is there. With
// `parents` also those above it that are missing. Errors: kNotFound, without `parents`, where the
// one above is missing; those of the disk.
Status make_durable_directory(os::FileSystem& files, const std::string& directory,
                              bool parents = false);

}  // namespace hawthorn::db
