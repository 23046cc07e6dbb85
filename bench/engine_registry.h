#pragma once
// The engines that this program has, by name: this one, and those of the adapters' modules
// (adapter.h), which are loaded at the first question.
//
// Used by the command line and the runner. Threads: any.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/engine.h"
#include "bench/library_build.h"
#include "bench/sql_database.h"
#include "bench/tatp_database.h"
#include "hawthorn/options.h"

namespace hawthorn::bench {

// How an engine is held to the memory figure M.
enum class MemoryLimit {
  kOwn,     // its own options bound its caches and buffers
  kCgroup,  // it relies on the page cache, which a control group bounds
};

struct EngineInfo {
  std::string name;
  MemoryLimit limit;
  std::string summary;
  std::function<std::unique_ptr<Engine>()> make;
  // The part of a memory cap that the engine is told as its memory figure M. The rest is for what M
  // does not bound: the driver, the heap, and the page cache of engines that read through it.
  double share_of_cap = 0.5;
  // Null where it understands no SQL.
  std::function<std::unique_ptr<TatpDatabase>()> make_tatp = {};
  std::function<std::unique_ptr<SqlDatabase>()> make_sql = {};
  LibraryBuild build = {};
  // Of an engine that runs whole workloads by a program of its own (foreign.h): what starts it.
  // Empty of all others.
  std::vector<std::string> program = {};
};

// In the order in which tables show them.
const std::vector<EngineInfo>& engines();
// Null when there is none of that name.
const EngineInfo* find_engine(std::string_view name);
// The names of engines that are not there, with the reason.
const std::vector<std::string>& missing_engines();

// One for each adapter file; a module has that of its own.
std::unique_ptr<Engine> make_hawthorn(Compression compression, bool encrypted = false);
enum class RocksProfile {
  kDefault,
  kTuned,         // for two cores and memory M
  kLevel,         // what TuplDB's comparison gave it
  kUniversal,     // what HedgeDB's comparison gave it
  kUniversalGet,  // the same, but never MultiGet
};
std::unique_ptr<Engine> make_rocksdb(RocksProfile profile);
std::unique_ptr<Engine> make_lmdb(bool writemap);
std::unique_ptr<Engine> make_mdbx(bool writemap);
std::unique_ptr<Engine> make_sqlite();
std::unique_ptr<TatpDatabase> make_tatp_sqlite();
std::unique_ptr<SqlDatabase> make_sql_sqlite();
std::unique_ptr<Engine> make_leveldb();
std::unique_ptr<Engine> make_wiredtiger();
std::unique_ptr<Engine> make_tidesdb();
std::unique_ptr<Engine> make_psitri();
std::unique_ptr<Engine> make_hedgedb();

}  // namespace hawthorn::bench
