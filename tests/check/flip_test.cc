// Bits of the files of a small database with every kind of data, flipped one at a time: open, the
// check and reads find it and name the file, or every answer is right.
//
// HAWTHORN_FLIPS says how many (300), of databases that are not encrypted and as many of encrypted
// ones; HAWTHORN_SEED where. The long test makes 10,000 of each. A failure prints the place.

#include <algorithm>
#include <map>

#include "tests/check/every_kind.h"

namespace hawthorn::tests {
namespace {

using testing::SimDisk;
using testing::SimMachine;

struct Tally {
  uint64_t open = 0;      // refused
  uint64_t found = 0;     // by the check
  uint64_t harmless = 0;  // everything is right
  uint64_t shorter = 0;   // the log ends before its last commits
};

struct Of {
  Left left;
  bool encrypted;
};

class Flips : public ::testing::TestWithParam<Of> {
 protected:
  struct FileSize {
    std::string name;
    uint64_t size = 0;
  };
  static std::vector<FileSize> files_of(SimDisk& disk) {
    std::vector<FileSize> files;
    const auto names = disk.list("/db");
    EXPECT_OK(names.status());
    for (const std::string& name : *names) {
      auto file = disk.open_file("/db/" + name, {.read_only = true});
      EXPECT_OK(file.status());
      const uint64_t size = (*file)->size().value();
      if (size > 0) files.push_back({name, size});
    }
    return files;
  }
  // Half of them in data that is in use; of the rest half at the beginnings of files and blocks.
  static uint64_t choose(const EveryKind& base, Prng& prng, const std::vector<FileSize>& files,
                         std::string* name) {
    if (prng.one_in(2)) {
      auto at = base.state.containers.begin();
      do {
        at = std::next(base.state.containers.begin(),
                       static_cast<ptrdiff_t>(prng.below(base.state.containers.size())));
      } while (at->second.run.blocks == 0);
      std::vector<format::ExtentAddress> extents{at->second.run};
      for (const auto& value : at->second.values) extents.push_back(value.address);
      for (const auto& large : at->second.large) extents.push_back(large);
      const format::ExtentAddress& extent = extents[prng.below(extents.size())];
      *name = "data." + std::to_string(extent.file);
      return place_of(extent, prng.below(uint64_t{extent.blocks} * 4096));
    }
    const FileSize& file = files[prng.below(files.size())];
    *name = file.name;
    if (prng.one_in(2)) return prng.below(file.size);
    const uint64_t block = prng.below(std::min<uint64_t>(file.size / 4096 + 1, 8)) * 4096;
    return std::min(block + prng.below(128), file.size - 1);
  }
  static bool names_a_file(const Status& status) {
    for (const char* name : {"data.", "manifest", "superblock", "wal", "keys", "/db"}) {
      if (status.message().find(name) != std::string_view::npos) return true;
    }
    return false;
  }

  // Behind the last record that says how far the log was durable a record that is wrong cannot be
  // told from one that was never finished: then a prefix of the commits is there, as after any
  // power loss. Only where the ring was lost, too.
  static bool ends_earlier(const EveryKind& base, const Everything& found) {
    Everything rest = found;
    Everything expected = base.contents;
    const auto late = rest.extract("late");
    expected.erase("late");
    if (rest != expected) return false;
    const auto entries = late.empty() ? Everything::mapped_type() : late.mapped();
    if (entries.size() >= base.contents.at("late").size()) return false;
    std::map<std::string, std::string> first;
    for (uint64_t i = 0; first.size() < entries.size(); ++i) {
      first.emplace(key_of(i), late_value_of(i));
    }
    return std::equal(
        entries.begin(), entries.end(), first.begin(), first.end(),
        [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; });
  }

  // One flip, everything that is found of it.
  static void look(const EveryKind& base, SimDisk& rotten, const std::string& name, bool read_only,
                   Tally* tally) {
    SimMachine machine(rotten, 2);
    auto db = open_every_kind(machine, read_only, base.encrypted);
    if (!db.ok()) {
      ++tally->open;
      EXPECT_TRUE(names_a_file(db.status())) << db.status().to_string();
      return;
    }
    const Result<CheckReport> report = (*db)->check();
    ASSERT_OK(report.status());
    Everything found;
    const Status read = read_everything(**db, &found);
    if (report->ok() && name.starts_with("wal") && ends_earlier(base, found)) {
      ++tally->shorter;
      return;
    }
    if (report->ok()) {
      ASSERT_TRUE(read.ok()) << "the checker misses what a read tells: " << read.to_string();
      ASSERT_TRUE(found == base.contents) << "wrong answers";
      ++tally->harmless;
      return;
    }
    ++tally->found;
    for (const CheckItem& item : report->items) {
      EXPECT_TRUE(item.file == name || item.file.empty()) << item.to_string();
    }
    // What can be read is right.
    if (!read.ok()) {
      EXPECT_TRUE(read.is(StatusCode::kCorruption)) << read.to_string();
      EXPECT_TRUE(names_a_file(read)) << read.to_string();
    }
    for (const auto& [tree, entries] : found) {
      const auto expected = base.contents.find(tree);
      ASSERT_NE(expected, base.contents.end());
      const size_t count = std::min(entries.size(), expected->second.size());
      ASSERT_TRUE(std::equal(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(count),
                             expected->second.begin()))
          << "wrong data in " << tree;
      ASSERT_LE(entries.size(), expected->second.size());
    }
    if (read.ok()) {
      ASSERT_TRUE(found == base.contents) << "wrong answers";
    }
  }
};

TEST_P(Flips, are_found_or_harmless) {
  const EveryKind base(GetParam().left, GetParam().encrypted);
  const uint64_t seed = environment_number("HAWTHORN_SEED", 20'250'607);
  const uint64_t flips = (environment_number("HAWTHORN_FLIPS", 300) + 2) / 3;
  const std::vector<FileSize> files = files_of(*base.disk);
  std::map<std::string, Tally> tallies;
  Prng prng(seed + static_cast<uint64_t>(GetParam().left) + (base.encrypted ? 100 : 0));
  uint64_t flipped = 0;
  for (uint64_t i = 0; flipped < flips && i < 2 * flips + 100 && !HasFatalFailure(); ++i) {
    std::string name;
    const uint64_t offset = choose(base, prng, files, &name);
    const auto bit = static_cast<unsigned>(prng.below(8));
    SCOPED_TRACE("seed " + std::to_string(seed) + ", flip " + std::to_string(i) + ": " + name +
                 " at " + std::to_string(offset) + ", bit " + std::to_string(bit));
    const auto rotten = base.copy();
    if (!rotten->flip_bit("/db/" + name, offset, bit)) continue;
    ++flipped;
    look(base, *rotten, name, i % 2 == 0, &tallies[name.substr(0, name.find('.'))]);
  }
  Tally all;
  for (const auto& [name, tally] : tallies) {
    std::printf(
        "%s: %llu refused by open, %llu found by the check, %llu harmless, "
        "%llu ends of the log\n",
        name.c_str(), static_cast<unsigned long long>(tally.open),
        static_cast<unsigned long long>(tally.found),
        static_cast<unsigned long long>(tally.harmless),
        static_cast<unsigned long long>(tally.shorter));
    if (GetParam().left != Left::kWithoutPower) {
      EXPECT_EQ(tally.shorter, 0u) << "the ring has all of it";
    }
    all.open += tally.open;
    all.found += tally.found;
    all.harmless += tally.harmless;
    all.shorter += tally.shorter;
  }
  EXPECT_EQ(flipped, flips);
  EXPECT_EQ(all.open + all.found + all.harmless + all.shorter, flipped) << "one has no outcome";
  EXPECT_GT(all.found, flips / 4) << "hardly any flip was found";
}

INSTANTIATE_TEST_SUITE_P(States, Flips,
                         ::testing::Values(Of{Left::kClosed, false}, Of{Left::kKilled, false},
                                           Of{Left::kWithoutPower, false}, Of{Left::kClosed, true},
                                           Of{Left::kKilled, true}, Of{Left::kWithoutPower, true}),
                         [](const auto& of) {
                           const std::string left = of.param.left == Left::kClosed ? "Closed"
                                                    : of.param.left == Left::kKilled
                                                        ? "Killed"
                                                        : "WithoutPower";
                           return left + (of.param.encrypted ? "Encrypted" : "");
                         });

}  // namespace
}  // namespace hawthorn::tests
