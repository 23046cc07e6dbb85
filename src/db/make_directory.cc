#include "db/make_directory.h"

#include <algorithm>

namespace hawthorn::db {

Status make_durable_directory(os::FileSystem& files, const std::string& directory, bool parents) {
  const size_t last = directory.find_last_not_of('/');
  if (last == std::string::npos) return {};  // the root
  const std::string above = directory.substr(0, std::max<size_t>(directory.rfind('/', last), 1));
  if (parents) {
    const Result<bool> there = files.exists(above);
    if (!there.ok()) return there.status();
    if (!*there) {
      if (Status s = make_durable_directory(files, above, true); !s.ok()) return s;
    }
  }
  if (Status s = files.make_directory(directory); !s.ok()) return s;
  return files.sync_directory(above);
}

}  // namespace hawthorn::db
