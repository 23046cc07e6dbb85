#include "bench/engine_registry.h"

#include <dlfcn.h>

#include <utility>

#include "bench/adapter.h"
#include "bench/engine_memory.h"

namespace hawthorn::bench {
namespace {

// Hawthorn's budget is all that it takes, and it reads past the page cache. The others need the
// page cache too, and more memory than their caches say: they get half (EngineInfo).
constexpr double kShareOfOwn = 0.85;

struct Registry {
  std::vector<EngineInfo> engines;
  std::vector<std::string> missing;
};

void add_own(std::vector<EngineInfo>& list) {
#ifdef HAWTHORN_BENCH_HAVE_HAWTHORN
  const auto add = [&list](const char* name, Compression compression, const char* summary) {
    list.push_back({name, MemoryLimit::kOwn, summary,
                    [compression] { return make_hawthorn(compression); }, kShareOfOwn});
  };
  add("hawthorn", Compression::kNone, "this engine");
  add("hawthorn-lz4", Compression::kLz4, "this engine, compressed with LZ4");
  add("hawthorn-zstd", Compression::kZstd, "this engine, compressed with Zstd");
  list.push_back({"hawthorn-encrypted", MemoryLimit::kOwn, "this engine, encrypted at rest",
                  [] { return make_hawthorn(Compression::kNone, true); }, kShareOfOwn});
#endif
  for (EngineInfo& info : list) info.build = own_build();
}

void add_module(const AdapterModule& module, Registry& registry) {
  // What a module's library is called in two modules must not meet: each sees its own.
  void* const loaded = dlopen(module.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const entry = loaded == nullptr ? nullptr : dlsym(loaded, kAdapterEntry);
  if (entry == nullptr) {
    registry.missing.push_back(module.file + ": cannot be loaded: " + dlerror());
    return;
  }
  std::vector<EngineInfo> engines;
  reinterpret_cast<AdapterEntry>(entry)(engines);
  for (EngineInfo& info : engines) {
    info.name += module.suffix;
    info.build = module.build;
    registry.engines.push_back(std::move(info));
  }
}

Registry make_registry() {
  Registry registry;
  add_own(registry.engines);
  registry.missing = left_out_adapters();
  for (const AdapterModule& module : adapter_modules()) add_module(module, registry);
  for (EngineInfo& info : foreign_engines()) registry.engines.push_back(std::move(info));
  registry.engines.push_back({"memory", MemoryLimit::kOwn,
                              "a std::map for tests of the driver: no database",
                              [] { return std::make_unique<MemoryEngine>(); }});
  registry.engines.back().build = own_build();
  for (EngineInfo& info : registry.engines) info.build.version = info.make()->version();
  return registry;
}

const Registry& registry() {
  static const Registry made = make_registry();
  return made;
}

}  // namespace

const std::vector<EngineInfo>& engines() { return registry().engines; }

const EngineInfo* find_engine(std::string_view name) {
  for (const EngineInfo& info : engines()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

const std::vector<std::string>& missing_engines() { return registry().missing; }

}  // namespace hawthorn::bench
