#include "tests/compat/kept_database.h"

#include <fstream>
#include <iterator>

#include "testing/source_tree.h"
#include "tests/compat/packed_directory.h"

namespace hawthorn::tests {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBudget = size_t{16} << 20;

}  // namespace

Options with(bool read_only) {
  Options options;
  options.memory_budget_bytes = kBudget;
  options.read_only = read_only;
  return options;
}

std::string frozen_bytes(uint64_t number, size_t size) {
  std::string bytes(size, '\0');
  uint64_t state = number;
  for (char& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>(state >> 56);
  }
  return bytes;
}

std::string frozen_number(uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

std::string frozen_wide(uint64_t number, size_t size) {
  std::string bytes(size, '\0');
  if (number % 8 == 0) bytes.replace(0, 8, frozen_number(number));
  return bytes;
}

QuietMachine::QuietMachine() : machine_(os::real_machine()) {
  machine_.background_threads = false;
  machine_.random = &random_;
}

void copy_as_killed(const std::string& from, const std::string& to) {
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    fs::copy_file(entry.path(), to / entry.path().filename());
  }
}

Contents read_all(Db& db) {
  Contents contents;
  const Result<std::vector<std::string>> names = db.list_trees();
  EXPECT_OK(names.status());
  for (const std::string& name : *names) {
    Entries& entries = contents[name];
    const Result<Tree> tree = db.find_tree(name);
    EXPECT_OK(tree.status());
    EXPECT_OK(db.scan(*tree, "", std::nullopt, [&](std::span<const Entry> found) {
      for (const Entry& entry : found) entries.emplace(entry.key, entry.value);
      return true;
    }));
    // The large ones are followed by get.
    for (auto& [key, value] : entries) {
      Value found;
      EXPECT_OK(db.get(*tree, key, found));
      value = found.to_string();
    }
  }
  return contents;
}

void expect_contents(Db& db, const Contents& expected) {
  const Contents found = read_all(db);
  for (const auto& [name, entries] : expected) {
    ASSERT_TRUE(found.contains(name)) << "tree " << name << " is missing";
    const Entries& present = found.at(name);
    EXPECT_EQ(present.size(), entries.size()) << "in tree " << name;
    for (const auto& [key, value] : entries) {
      const auto at = present.find(key);
      ASSERT_TRUE(at != present.end()) << "key " << key << " is missing in tree " << name;
      ASSERT_TRUE(at->second == value) << "wrong value of key " << key << " in tree " << name;
    }
  }
  EXPECT_EQ(found.size(), expected.size()) << "trees";
  EXPECT_TRUE(clean(db));
}

std::map<std::string, std::string> files_of(const std::string& path, const std::string& scratch) {
  EXPECT_EQ(pack_directory(path, scratch), "");
  std::map<std::string, std::string> files;
  for (const char* name : {"contents", "sectors"}) {
    std::ifstream file(scratch + "/" + name, std::ios::binary);
    files[name] = {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  return files;
}

std::string kept_versions() { return testing::source_tree() + "/tests/compat"; }

}  // namespace hawthorn::tests
