#pragma once
// A directory that has its name when what is in it is whole: until then it is NAME.partial, which
// an error takes away again, and the death of the process leaves. Or the same of some files.
//
// Used by commands that import and export. Threads: one object, one thread.

#include <string>
#include <vector>

#include "hawthorn/status.h"

namespace hawthorn::tools {

class PartialDirectory {
 public:
  // Errors: kInvalidArgument where there is something at either name; kIoError.
  static Result<PartialDirectory> make(std::string name);
  PartialDirectory(PartialDirectory&& other) noexcept;
  PartialDirectory& operator=(PartialDirectory&&) = delete;
  ~PartialDirectory();

  const std::string& path() const { return partial_; }
  // What is in it has to be synced.
  Status finish();
  // Instead: moves these of its entries beside where it is, one after the other, and removes the
  // rest. None takes the place of what is there.
  Status finish_by_moving_out(const std::vector<std::string>& names);

 private:
  explicit PartialDirectory(std::string name);
  std::string name_;
  std::string partial_;
  bool open_ = true;
};

}  // namespace hawthorn::tools
