// The entry of a module (adapter.h). Compiled for each module, with HAWTHORN_BENCH_ADAPTER_NAME
// defined for its library, and with HAWTHORN_BENCH_OVER_HAWTHORN where that is one of ours.

#include "bench/adapter.h"

#if defined(HAWTHORN_BENCH_ADAPTER_MDBX)
#include <mdbx.h>
#endif

namespace hawthorn::bench {
namespace {

// Of the libraries that offer another's API over this engine: as of the engine itself.
[[maybe_unused]] constexpr double kShareOfOwn = 0.85;
// These have no cache of their own: M is the cap.
[[maybe_unused]] constexpr double kShareOfMapped = 1.0;

#if defined(HAWTHORN_BENCH_ADAPTER_ROCKSDB) && !defined(HAWTHORN_BENCH_OVER_HAWTHORN)
void add_rocksdb(std::vector<EngineInfo>& engines) {
  const auto add = [&engines](const char* name, RocksProfile profile, const char* summary) {
    engines.push_back(
        {name, MemoryLimit::kOwn, summary, [profile] { return make_rocksdb(profile); }});
  };
  add("rocksdb", RocksProfile::kDefault, "RocksDB, default options, no compression");
  add("rocksdb-tuned", RocksProfile::kTuned,
      "RocksDB, tuned for two cores and memory M, no compression");
  add("rocksdb-level", RocksProfile::kLevel,
      "RocksDB as TuplDB's comparison sets it: 4 levels, block cache M");
  add("rocksdb-universal", RocksProfile::kUniversal,
      "RocksDB as HedgeDB's comparison sets it: universal, direct I/O, 1 GB cache");
  add("rocksdb-universal-get", RocksProfile::kUniversalGet,
      "the same, with Get in place of MultiGet");
}
#endif

}  // namespace

extern "C" [[gnu::visibility("default")]] void hawthorn_bench_adapter(
    std::vector<EngineInfo>& engines);

void hawthorn_bench_adapter(std::vector<EngineInfo>& engines) {
#if defined(HAWTHORN_BENCH_ADAPTER_ROCKSDB)
#if defined(HAWTHORN_BENCH_OVER_HAWTHORN)
  engines.push_back({"hawthorn-rocksdb", MemoryLimit::kOwn, "this engine by RocksDB's API",
                     [] { return make_rocksdb(RocksProfile::kDefault); }, kShareOfOwn});
#else
  add_rocksdb(engines);
#endif
#elif defined(HAWTHORN_BENCH_ADAPTER_LMDB)
  engines.push_back({"lmdb", MemoryLimit::kCgroup, "LMDB, MDB_NOSYNC",
                     [] { return make_lmdb(false); }, kShareOfMapped});
  engines.push_back({"lmdb-writemap", MemoryLimit::kCgroup,
                     "LMDB, MDB_NOSYNC and MDB_WRITEMAP: no crash safety",
                     [] { return make_lmdb(true); }, kShareOfMapped});
#elif defined(HAWTHORN_BENCH_ADAPTER_MDBX)
#if defined(HAWTHORN_BENCH_OVER_HAWTHORN)
  engines.push_back({"hawthorn-mdbx", MemoryLimit::kOwn, "this engine by libmdbx's API",
                     [] { return make_mdbx(false); }, kShareOfOwn});
#else
  // Some builds of it tell of every fork and every growth of a file on standard error.
  mdbx_setup_debug(MDBX_LOG_FATAL, MDBX_DBG_NONE, nullptr);
  engines.push_back({"mdbx", MemoryLimit::kCgroup, "libmdbx, MDBX_UTTERLY_NOSYNC",
                     [] { return make_mdbx(false); }, kShareOfMapped});
  engines.push_back({"mdbx-writemap", MemoryLimit::kCgroup,
                     "libmdbx, MDBX_UTTERLY_NOSYNC and MDBX_WRITEMAP: no crash safety",
                     [] { return make_mdbx(true); }, kShareOfMapped});
#endif
#elif defined(HAWTHORN_BENCH_ADAPTER_SQLITE)
#if defined(HAWTHORN_BENCH_OVER_HAWTHORN)
  engines.push_back({"hawthorn-sqlite", MemoryLimit::kOwn, "this engine by SQLite's API",
                     make_sqlite, kShareOfOwn});
#else
  engines.push_back({"sqlite", MemoryLimit::kCgroup, "SQLite, WAL, synchronous OFF", make_sqlite});
#endif
  engines.back().make_tatp = make_tatp_sqlite;
  engines.back().make_sql = make_sql_sqlite;
#elif defined(HAWTHORN_BENCH_ADAPTER_LEVELDB)
  engines.push_back({"leveldb", MemoryLimit::kCgroup, "LevelDB, no compression", make_leveldb});
#elif defined(HAWTHORN_BENCH_ADAPTER_WIREDTIGER)
  engines.push_back({"wiredtiger", MemoryLimit::kOwn, "WiredTiger with its log", make_wiredtiger});
#elif defined(HAWTHORN_BENCH_ADAPTER_TIDESDB)
  engines.push_back({"tidesdb", MemoryLimit::kOwn, "TidesDB, no compression", make_tidesdb});
#elif defined(HAWTHORN_BENCH_ADAPTER_PSITRI)
  engines.push_back({"psitri", MemoryLimit::kCgroup, "PsiTri, not synced", make_psitri});
#elif defined(HAWTHORN_BENCH_ADAPTER_HEDGEDB)
  engines.push_back({"hedgedb", MemoryLimit::kOwn, "HedgeDB, direct I/O over io_uring, no batches",
                     make_hedgedb});
#else
#error "a module is compiled for one library"
#endif
}

}  // namespace hawthorn::bench
