#include "tests/compat/packed_directory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

namespace hawthorn::tests {
namespace {

constexpr size_t kSectorBytes = 512;

bool all_zeros(const std::vector<char>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

void pack_file(std::ifstream& file, uint64_t size, std::ofstream& contents,
               std::ofstream& sectors) {
  uint64_t from = 0;
  uint64_t end = 0;  // of the stretch that began at `from`
  const auto finish = [&] {
    if (end > from) contents << "at " << from << " " << end - from << "\n";
  };
  std::vector<char> sector;
  for (uint64_t at = 0; at < size; at += kSectorBytes) {
    sector.resize(std::min<uint64_t>(kSectorBytes, size - at));
    if (!file.read(sector.data(), static_cast<std::streamsize>(sector.size()))) return;
    if (all_zeros(sector)) continue;
    if (at != end) {
      finish();
      from = at;
    }
    end = at + sector.size();
    sectors.write(sector.data(), static_cast<std::streamsize>(sector.size()));
  }
  finish();
}

}  // namespace

std::string pack_directory(const std::string& from, const std::string& to) {
  std::filesystem::create_directories(to);
  std::ofstream contents(to + "/contents");
  std::ofstream sectors(to + "/sectors", std::ios::binary);
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    const uint64_t size = std::filesystem::file_size(path);
    contents << "file " << path.filename().string() << " " << size << "\n";
    std::ifstream file(path, std::ios::binary);
    pack_file(file, size, contents, sectors);
    if (!file) return path.string() + " cannot be read";
  }
  contents.close();
  sectors.close();
  return contents && sectors ? "" : to + " cannot be written";
}

std::string unpack_directory(const std::string& from, const std::string& to) {
  std::filesystem::create_directories(to);
  std::ifstream contents(from + "/contents");
  std::ifstream sectors(from + "/sectors", std::ios::binary);
  std::ofstream file;
  std::string path;
  std::string word;
  while (contents >> word) {
    uint64_t bytes = 0;
    if (word == "file") {
      std::string name;
      contents >> name >> bytes;
      path = to + "/" + name;
      file.close();
      {
        const std::ofstream made(path, std::ios::binary);
      }
      std::filesystem::resize_file(path, bytes);
      file.open(path, std::ios::binary | std::ios::in);  // with `in` it is not cut to nothing
    } else if (word == "at") {
      uint64_t offset = 0;
      contents >> offset >> bytes;
      std::vector<char> stretch(bytes);
      sectors.read(stretch.data(), static_cast<std::streamsize>(bytes));
      file.seekp(static_cast<std::streamoff>(offset));
      file.write(stretch.data(), static_cast<std::streamsize>(bytes));
    } else {
      return from + "/contents: what is " + word + "?";
    }
    if (!contents || !sectors || !file) return path + " cannot be unpacked";
  }
  file.close();
  if (path.empty()) return from + " cannot be read";
  if (sectors.peek() != std::ifstream::traits_type::eof()) return from + "/sectors: is too long";
  return file ? "" : path + " cannot be written";
}

}  // namespace hawthorn::tests
