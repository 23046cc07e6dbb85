// Feeds files, and those of folders, to a fuzz target: the corpus as a test, and a finding again.
//   fuzz_TARGET [--mutations COUNT] [--first NUMBER] PATH...
// With --mutations as many inputs more, each made of one of the files by its number alone, so that
// `--mutations 1 --first NUMBER` repeats one. The last line before a failure names it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <vector>

#include "fuzz/fuzz.h"

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

void run(const std::string& name, const std::string& bytes) {
  // Of exactly this size, so that a sanitizer sees one byte too much.
  const auto exact = std::make_unique<uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);  // the last one is that which fails
  LLVMFuzzerTestOneInput(exact.get(), bytes.size());
}

std::string mutated(const std::vector<std::string>& inputs, uint64_t number) {
  std::mt19937_64 random(number);
  const auto below = [&](size_t bound) { return bound == 0 ? 0 : random() % bound; };
  std::string bytes = inputs[below(inputs.size())];
  for (uint64_t left = 1 + below(6); left > 0; --left) {
    const size_t at = below(bytes.size());
    const size_t size = std::min(below(16) + 1, bytes.size() - at);
    switch (below(5)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
        break;
      case 1:
        for (size_t i = at; i < at + size; ++i) bytes[i] = static_cast<char>(random());
        break;
      case 2:
        bytes.erase(at, size);
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size()), size));
        break;
      default: {
        const std::string& other = inputs[below(inputs.size())];
        bytes.replace(at, std::string::npos, other, below(other.size()), std::string::npos);
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> paths;
  uint64_t mutations = 0;
  uint64_t first = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if ((argument == "--mutations" || argument == "--first") && i + 1 < argc) {
      (argument == "--first" ? first : mutations) = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::filesystem::is_directory(argument)) {
      for (const auto& entry : std::filesystem::directory_iterator(argument)) {
        paths.push_back(entry.path());
      }
    } else if (std::filesystem::is_regular_file(argument)) {
      paths.emplace_back(argument);
    } else {
      std::fprintf(stderr, "%s is no file\n", argument.c_str());
      return 1;
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const auto& path : paths) inputs.push_back(read(path));
  // A corpus that is not found must not pass.
  if (inputs.empty()) return 1;
  for (size_t i = 0; first == 1 && i < paths.size(); ++i) run(paths[i], inputs[i]);
  for (uint64_t i = 0; i < mutations; ++i) {
    run("--first " + std::to_string(first + i), mutated(inputs, first + i));
  }
  return 0;
}
