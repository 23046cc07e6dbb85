#pragma once
// Takes away what a case names, but for system calls (supervisor.h), and gives it back.
//
// Used by the workload. Threads: any, one at a time. It allocates nothing.

#include <sys/resource.h>

#include <string>

#include "tests/environment/cases.h"

namespace hawthorn::tests {

class Taking {
 public:
  // `store`: the directory that another name is given to.
  Taking(const Case& shortage, const std::string& directory, const std::string& store);

  // False: it could not be done, and errno says why.
  bool take();
  bool give_back();
  // The name that the directory has by now.
  const std::string& store() const;

 private:
  bool limit(int resource, rlim_t value);
  bool fill_disk() const;

  const Case& case_;
  const std::string directory_;
  const std::string store_;
  const std::string moved_;
  const std::string filler_;
  int limited_ = -1;  // the resource
  rlimit before_ = {};
};

// Before any thread starts: what the case needs of the process that the workload runs in. Empty, or
// why it cannot be had.
std::string prepare_process(const Case& shortage, const std::string& directory);

}  // namespace hawthorn::tests
