// The engines of this build as a registry of modules: libraries with the same symbols side by side,
// and errors that come out of them.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "bench/adapter.h"
#include "bench/engine_registry.h"
#include "bench/runner.h"

namespace hawthorn::bench {
namespace {

TEST(Registry, LoadsEveryModuleOfThisBuild) {
  for (const std::string& missing : missing_engines()) {
    EXPECT_EQ(missing.find("cannot be loaded"), std::string::npos) << missing;
  }
  std::set<std::string> names;
  for (const EngineInfo& info : engines()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name << " is there twice";
  }
  EXPECT_GE(names.size(), adapter_modules().size());
}

TEST(Registry, SaysHowEachLibraryWasBuilt) {
  for (const EngineInfo& info : engines()) {
    EXPECT_FALSE(info.build.version.empty()) << info.name;
    EXPECT_FALSE(info.build.origin.empty()) << info.name;
    EXPECT_EQ(info.build.version, info.make()->version()) << info.name;
  }
#ifdef NDEBUG
  EXPECT_FALSE(find_engine("memory")->build.unfair());
#else
  EXPECT_TRUE(find_engine("memory")->build.unfair());
#endif
}

// Those that no package has are named by options.
TEST(Registry, SaysWhichOptionNamesAMissingEngine) {
  for (const std::string name : {"psitri", "hedgedb", "tupldb"}) {
    std::string option = "-DHAWTHORN_BENCH_" + name;
    for (char& c : option) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    size_t lines = 0;
    for (const std::string& missing : missing_engines()) {
      if (!missing.starts_with(name + ": ")) continue;
      ++lines;
      EXPECT_NE(missing.find(option), std::string::npos) << missing;
    }
    EXPECT_EQ(lines, find_engine(name) == nullptr ? 1 : 0) << name;
  }
}

// A library that offers another's API never takes its place.
TEST(Registry, HasOriginalsNextToOurLibrariesOfTheirApi) {
  for (const char* peer : {"rocksdb", "mdbx", "sqlite"}) {
    const EngineInfo* const ours = find_engine(std::string("hawthorn-") + peer);
    const EngineInfo* const theirs = find_engine(peer);
    if (ours == nullptr || theirs == nullptr) continue;
    const std::filesystem::path base =
        std::filesystem::temp_directory_path() /
        ("hawthorn_registry_test." + std::string(peer) + "." + std::to_string(getpid()));
    // One process opens both: each by its own library, whose files show which one it is.
    const Report report = run_in_child(peer, {}, [&](Report& child) {
      for (const EngineInfo* info : {theirs, ours, theirs}) {
        EngineConfig config;
        config.path = (base / info->name).string();
        config.memory_bytes = size_t{64} << 20;
        config.map_bytes = size_t{1} << 30;
        std::filesystem::remove_all(config.path);
        std::filesystem::create_directories(config.path);
        const std::unique_ptr<Engine> engine = info->make();
        engine->open(config);
        engine->writer()->put_now("key", "value");
        engine->close();
      }
      child.add("verify", "bytes_raw", 8);
    });
    for (const std::string& failure : report.failures()) ADD_FAILURE() << failure;
    const auto has = [&](const std::string& engine, const std::string& start) {
      for (const auto& file : std::filesystem::recursive_directory_iterator(base / engine)) {
        if (file.path().filename().string().starts_with(start)) return true;
      }
      return false;
    };
    EXPECT_TRUE(has(ours->name, "superblock")) << peer;
    EXPECT_FALSE(has(theirs->name, "superblock")) << peer;
    std::filesystem::remove_all(base);
  }
}

// The class of errors is one in the driver and in every module.
TEST(Registry, CatchesTheErrorsOfEveryModule) {
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("hawthorn_registry_test.file." + std::to_string(getpid())))
                               .string();
  std::ofstream(file) << "no directory";
  for (const EngineInfo& info : engines()) {
    if (info.name == "memory" || !info.program.empty()) continue;
    const Report report = run_in_child(info.name, {}, [&](Report& child) {
      EngineConfig config;
      config.path = file + "/database";
      config.memory_bytes = size_t{64} << 20;
      config.map_bytes = size_t{1} << 30;
      try {
        info.make()->open(config);
        child.fail("it opened a database below a file");
      } catch (const EngineError& error) {
        child.add("verify", "bytes_raw", error.full() ? 1 : 8);
      }
    });
    for (const std::string& failure : report.failures()) ADD_FAILURE() << failure;
    EXPECT_EQ(report.value("verify", "bytes_raw"), 8) << info.name;
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace hawthorn::bench
