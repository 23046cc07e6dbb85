#pragma once
// How the adapters of other libraries reach the driver: each is a module of its own, which the
// driver loads by name and asks for its engines.
//
// Not here: what the engines are (engine_registry.h). A module holds one library, statically or by
// what it is linked with, and shows one symbol, the entry; so that libraries with the same symbols,
// such as RocksDB and the library that offers its API over this engine, are engines of one program.
// Used by adapter.cc, which is compiled once for each module, and by engine_registry.cc. Which
// modules there are and how their libraries were built is written by the build (CMakeLists.txt).
// Threads: one.
//
// 1. Modules stay loaded: engines and errors may come from them until the program ends.
// 2. Modules and driver are of one build: they share the classes of engine.h, and an EngineError
//    that a module throws is caught by the driver.

#include <string>
#include <vector>

#include "bench/engine_registry.h"

namespace hawthorn::bench {

struct AdapterModule {
  std::string file;    // without a folder: the program's run path has it
  std::string suffix;  // behind the engines' names: "-10.4.2" of a second version of a library
  LibraryBuild build;  // of the library
};

// Of this build, in the order in which tables show them.
std::vector<AdapterModule> adapter_modules();
// Engines that are programs of their own, which tables show behind the modules'.
std::vector<EngineInfo> foreign_engines();
// The adapters that were left out, with the reason and the option that names a library.
std::vector<std::string> left_out_adapters();
// How this program and the engine in it were built.
LibraryBuild own_build();

// The entry of every module. Adds its engines.
inline constexpr const char* kAdapterEntry = "hawthorn_bench_adapter";
using AdapterEntry = void (*)(std::vector<EngineInfo>& engines);

}  // namespace hawthorn::bench
