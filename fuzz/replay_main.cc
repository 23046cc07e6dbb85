// Feeds files, and those of folders, to a fuzz target: the corpus as a test, and a finding again.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "fuzz/fuzz.h"

namespace {
void replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // Of exactly this size, so that a sanitizer sees one byte too much.
  const auto exact = std::make_unique<uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);  // the last one is that which fails
  LLVMFuzzerTestOneInput(exact.get(), bytes.size());
}
}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      paths.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    if (!std::filesystem::is_regular_file(path)) {
      std::fprintf(stderr, "%s is no file\n", path.c_str());
      return 1;
    }
    replay(path);
  }
  std::printf("%zu inputs\n", paths.size());
  // A corpus that is not found must not pass.
  return paths.empty() ? 1 : 0;
}
