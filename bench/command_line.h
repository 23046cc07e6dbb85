#pragma once
// The command line: hawthorn-bench WORKLOAD with its options, and the names and options of the
// programs in the benchmark documents (dwal-bench, bank-bench-ENGINE).
//
// Used by program.h. Threads: one.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/backup.h"
#include "bench/bank.h"
#include "bench/counters.h"
#include "bench/insert.h"
#include "bench/instructions/command.h"
#include "bench/micro.h"
#include "bench/nvme.h"
#include "bench/overwrite.h"
#include "bench/scale.h"
#include "bench/soak.h"
#include "bench/sql.h"
#include "bench/tatp.h"
#include "bench/txn.h"
#include "bench/upsert.h"

namespace hawthorn::bench {

enum class Workload {
  kNone,
  kEngines,
  kBank,
  kUpsert,
  kMicro,
  kScale,
  kInsert,
  kCounters,
  kNvme,
  kOverwrite,
  kSoak,
  kTxn,
  kBackup,
  kTatp,
  kSql,
  kInstructions
};

inline constexpr std::array<std::string_view, 6> kTxnCases = {"point", "counters", "snapshots",
                                                              "clone", "count",    "orders"};

struct Command {
  Workload workload = Workload::kNone;
  int exit_code = 0;  // when workload is kNone: help was printed, or an error

  std::vector<std::string> engines;
  bool engines_given = false;
  unsigned repeat = 1;
  std::string baseline;
  uint64_t memory_bytes = 2'000'000'000;
  uint64_t cap_bytes = 0;     // of a control group around each engine; 0: none
  bool memory_given = false;  // else a cap decides how much each engine is told
  bool compressible = false;
  uint64_t map_bytes = 40'000'000'000;
  uint64_t pretouch_bytes = 0;
  bool pretouch_default = true;
  SyncMode sync = SyncMode::kNone;
  std::string db_path;
  std::string csv_file;
  std::string json_file;
  bool keep = false;
  bool use_cgroup = true;
  bool quiet = false;
  bool all_metrics = false;

  BankOptions bank;
  std::vector<uint64_t> batch_sizes;
  std::string dictionary = "/usr/share/dict/words";
  bool kill = false;
  unsigned kill_rounds = 3;

  UpsertOptions upsert;

  MicroOptions micro;
  std::vector<uint64_t> value_sizes;

  uint64_t size_bytes = 0;  // of keys and values to write; 0: the workload's own count holds
  ScaleOptions scale;
  InsertOptions insert;
  std::vector<uint64_t> record_sizes;
  CountersOptions counters;
  NvmeOptions nvme;
  OverwriteOptions overwrite;
  SoakOptions soak;
  BackupOptionsOfRun backup;

  std::vector<std::string> txn_cases;  // in the order of kTxnCases
  uint64_t txn_rounds = 0;             // of each case; 0: as each has it
  PointOptions point;
  CountersOptions hot_counters{
      .counters = 100, .steps = 500'000, .seconds = 10, .row_locks = true};  // of txn
  SnapshotsOptions snapshots;
  CloneOptions clone;
  CountOptions count;
  OrdersOptions orders;

  TatpOptions tatp;
  std::vector<uint64_t> connections;

  SqlOptions sql;

  InstructionsOptions instructions;
};

Command parse_command_line(int argc, const char* const* argv);

}  // namespace hawthorn::bench
