#pragma once
// Keys of encrypted databases, and changing them. A key never stands in the command line, where
// every process of the machine can read it: it comes from a file, a variable of the environment, or
// a descriptor.
//
// Not here: the command line (main.cc). Threads: single-threaded.

#include <string>

#include "hawthorn/encryption.h"
#include "tools/command.h"

namespace hawthorn::tools {

// What Options::encryption takes: of `source` whatever id is asked for, but for `other_id`, of
// which it is `other`. None where no source is named. The sources are read now, once. Errors:
// kInvalidArgument for two sources of one key, or what is no key; kNotFound, kIoError.
Result<Encryption> encryption_of(const KeySource& source, const std::string& new_id,
                                 const KeySource& other = {}, const std::string& other_id = {});

Status run_rotate_key(const CommonOptions& common, const RotateKeyOptions& options);
Status run_rotate_data_key(const CommonOptions& common);

}  // namespace hawthorn::tools
