#pragma once
// A directory that a call or an object works in: its path from the root, and a file system that
// goes on with that very directory (hold() of os/file.h) whatever becomes of its name.
//
// Not here: the directory of an open database, which does the same (db/impl.h). Threads: one
// object, one thread; its machine from any. Lifetime: it stays where it is, since parts of the
// engine refer to its machine.

#include <memory>
#include <string>

#include "os/machine.h"
#include "os/posix_file.h"

namespace hawthorn::os {

class Place {
 public:
  // Errors: kInvalidArgument for an empty path; those of a working directory that is gone.
  static Result<std::unique_ptr<Place>> of(const Machine& machine, const std::string& path,
                                           uint32_t file_mode = kPrivateFileMode) {
    Result<std::string> from_root = machine.files->absolute(path);
    if (!from_root.ok()) return from_root.status();
    return std::unique_ptr<Place>(new Place(machine, *std::move(from_root), file_mode));
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const Machine& machine() const { return machine_; }
  FileSystem& files() const { return *machine_.files; }
  const std::string& path() const { return path_; }
  // Where it is there already. Errors: kNotFound; those of opening it.
  Status hold() { return machine_.files->hold(); }

 private:
  Place(const Machine& machine, std::string path, uint32_t file_mode)
      : files_(machine.files->of_directory(path, file_mode)),
        machine_(machine),
        path_(std::move(path)) {
    if (files_ != nullptr) machine_.files = files_.get();
  }

  const std::unique_ptr<FileSystem> files_;  // null: those of the machine
  Machine machine_;
  const std::string path_;
};

}  // namespace hawthorn::os
