#pragma once
// What is in a directory.
//
// Not std::filesystem::directory_iterator: where memory is missing that ends the process, also the
// one that takes an error_code. Threads: any.

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hawthorn {

// The names of its entries, but for "." and "..", in any order. 0, or the system's error: then
// `names` are not all of them. Throws std::bad_alloc.
inline int list_directory(const std::string& path, std::vector<std::string>* names) {
  struct Close {
    void operator()(DIR* directory) const { ::closedir(directory); }
  };
  const std::unique_ptr<DIR, Close> directory(::opendir(path.c_str()));
  if (directory == nullptr) return errno;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr) return errno;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names->emplace_back(name);
  }
}

}  // namespace hawthorn
