#include "bench/engine_registry.h"

#include <sstream>

#include "bench/engine_memory.h"

namespace hawthorn::bench {
namespace {

// Hawthorn's budget is all that it takes, and it reads past the page cache. The others need the
// page cache too, and more memory than their caches say: they get half (EngineInfo).
constexpr double kShareOfOwn = 0.85;
// These have no cache of their own: M is the cap.
constexpr double kShareOfMapped = 1.0;

std::vector<EngineInfo> list_engines() {
  std::vector<EngineInfo> list;
#ifdef HAWTHORN_BENCH_HAVE_HAWTHORN
  const auto add_hawthorn = [&list](const char* name, Compression compression,
                                    const char* summary) {
    list.push_back({name, MemoryLimit::kOwn, summary,
                    [compression] { return make_hawthorn(compression); }, kShareOfOwn});
  };
  add_hawthorn("hawthorn", Compression::kNone, "this engine");
  add_hawthorn("hawthorn-lz4", Compression::kLz4, "this engine, compressed with LZ4");
  add_hawthorn("hawthorn-zstd", Compression::kZstd, "this engine, compressed with Zstd");
  list.push_back({"hawthorn-encrypted", MemoryLimit::kOwn, "this engine, encrypted at rest",
                  [] { return make_hawthorn(Compression::kNone, true); }, kShareOfOwn});
#endif
#ifdef HAWTHORN_BENCH_HAVE_ROCKSDB
  const auto add_rocksdb = [&list](const char* name, RocksProfile profile, const char* summary) {
    list.push_back({name, MemoryLimit::kOwn, summary, [profile] { return make_rocksdb(profile); }});
  };
  add_rocksdb("rocksdb", RocksProfile::kDefault, "RocksDB, default options, no compression");
  add_rocksdb("rocksdb-tuned", RocksProfile::kTuned,
              "RocksDB, tuned for two cores and memory M, no compression");
  add_rocksdb("rocksdb-level", RocksProfile::kLevel,
              "RocksDB as TuplDB's comparison sets it: 4 levels, block cache M");
  add_rocksdb("rocksdb-universal", RocksProfile::kUniversal,
              "RocksDB as HedgeDB's comparison sets it: universal, direct I/O, 1 GB cache");
  add_rocksdb("rocksdb-universal-get", RocksProfile::kUniversalGet,
              "the same, with Get in place of MultiGet");
#endif
#ifdef HAWTHORN_BENCH_HAVE_ROCKSDB_SHIM
  list.push_back({"hawthorn-rocksdb", MemoryLimit::kOwn, "this engine by RocksDB's API",
                  [] { return make_rocksdb(RocksProfile::kDefault); }, kShareOfOwn});
#endif
#ifdef HAWTHORN_BENCH_HAVE_MDBX_SHIM
  list.push_back({"hawthorn-mdbx", MemoryLimit::kOwn, "this engine by libmdbx's API",
                  [] { return make_mdbx(false); }, kShareOfOwn});
#endif
#ifdef HAWTHORN_BENCH_HAVE_SQLITE_SHIM
  list.push_back({"hawthorn-sqlite", MemoryLimit::kOwn, "this engine by SQLite's API", make_sqlite,
                  kShareOfOwn});
  list.back().make_tatp = make_tatp_sqlite;
  list.back().make_sql = make_sql_sqlite;
#endif
#ifdef HAWTHORN_BENCH_HAVE_LMDB
  list.push_back({"lmdb", MemoryLimit::kCgroup, "LMDB, MDB_NOSYNC", [] { return make_lmdb(false); },
                  kShareOfMapped});
  list.push_back({"lmdb-writemap", MemoryLimit::kCgroup,
                  "LMDB, MDB_NOSYNC and MDB_WRITEMAP: no crash safety",
                  [] { return make_lmdb(true); }, kShareOfMapped});
#endif
#ifdef HAWTHORN_BENCH_HAVE_MDBX
  quiet_mdbx();
  list.push_back({"mdbx", MemoryLimit::kCgroup, "libmdbx, MDBX_UTTERLY_NOSYNC",
                  [] { return make_mdbx(false); }, kShareOfMapped});
  list.push_back({"mdbx-writemap", MemoryLimit::kCgroup,
                  "libmdbx, MDBX_UTTERLY_NOSYNC and MDBX_WRITEMAP: no crash safety",
                  [] { return make_mdbx(true); }, kShareOfMapped});
#endif
#ifdef HAWTHORN_BENCH_HAVE_SQLITE
  list.push_back({"sqlite", MemoryLimit::kCgroup, "SQLite, WAL, synchronous OFF", make_sqlite});
  list.back().make_tatp = make_tatp_sqlite;
  list.back().make_sql = make_sql_sqlite;
#endif
#ifdef HAWTHORN_BENCH_HAVE_LEVELDB
  list.push_back({"leveldb", MemoryLimit::kCgroup, "LevelDB, no compression", make_leveldb});
#endif
#ifdef HAWTHORN_BENCH_HAVE_WIREDTIGER
  list.push_back({"wiredtiger", MemoryLimit::kOwn, "WiredTiger with its log", make_wiredtiger});
#endif
#ifdef HAWTHORN_BENCH_HAVE_TIDESDB
  list.push_back({"tidesdb", MemoryLimit::kOwn, "TidesDB, no compression", make_tidesdb});
#endif
  list.push_back({"memory", MemoryLimit::kOwn, "a std::map for tests of the driver: no database",
                  [] { return std::make_unique<MemoryEngine>(); }});
  return list;
}

}  // namespace

const std::vector<EngineInfo>& engines() {
  static const std::vector<EngineInfo> list = list_engines();
  return list;
}

const EngineInfo* find_engine(std::string_view name) {
  for (const EngineInfo& info : engines()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

const std::vector<std::string>& missing_engines() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> names;
    // Set by the build: "mdbx: no mdbx.h|tidesdb: switched off".
    std::istringstream text(HAWTHORN_BENCH_MISSING);
    for (std::string name; std::getline(text, name, '|');) {
      if (!name.empty()) names.push_back(name);
    }
    return names;
  }();
  return list;
}

}  // namespace hawthorn::bench
