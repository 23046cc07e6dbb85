#include "bench/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "bench/engine_registry.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// What is parsed as text first.
struct Texts {
  std::string engines;
  std::string memory;
  std::string memory_cap;
  std::string size;
  std::string map_size = "40";
  std::string pretouch;
  std::string sync_mode = "none";
  std::string read_mode;
  std::string batch_sizes = "1";
  std::string value_sizes = "256";
  std::string record_sizes = "128,256,512";
  std::string depths = "1,8,16";
  std::string nvme_phases;
  std::string items = "1M";
  std::string gets = "2M";
  std::string order = "random";
  std::string mode = "upsert-rand";
  std::string phases;
  std::string soak_records;
  std::string backup_rate = "0";
  std::string connections = "1,8";
  std::string cache = "64M";
  uint64_t txn_keys = 0;
  uint64_t txn_value_bytes = 100;
  std::string count_order = "shuffled";
  uint64_t pinned_cache_mb = 0;
};

std::vector<uint64_t> parse_counts(const std::string& text) {
  std::vector<uint64_t> counts;
  for (const std::string& part : split(text, ',')) counts.push_back(parse_count(part));
  return counts;
}

CLI::Validator count_validator() {
  return {[](std::string& text) {
            try {
              text = std::to_string(parse_count(text));
            } catch (const std::invalid_argument& error) {
              return std::string(error.what());
            }
            return std::string();
          },
          "COUNT"};
}

void add_common(CLI::App& app, Command& command, Texts& texts) {
  app.add_option("--engines,--engine", texts.engines,
                 "Engines, separated by commas; `all` for all of this build")
      ->type_name("LIST");
  app.add_option("--repeat", command.repeat, "Runs of each engine, interleaved")
      ->check(CLI::Range(1, 1000));
  app.add_option("--baseline", command.baseline, "The engine that ratios are taken against");
  app.add_option(
      "--memory", texts.memory,
      "The memory figure M of all engines, in GB or with a unit (512M); default 2, or an "
      "engine's share of --memory-cap");
  app.add_option("--memory-cap", texts.memory_cap,
                 "Run each engine in a control group of that much memory, page cache included "
                 "(needs root and the memory controller)");
  app.add_option("--map-size", texts.map_size, "Address space of LMDB and libmdbx, in GB");
  app.add_option("--pretouch", texts.pretouch,
                 "RAM to touch before each run, in GB (default: 2 M, or the cap; 0: none)");
  app.add_option("--sync-mode", texts.sync_mode, "Durability of commits: none, async, sync (full)")
      ->check(CLI::IsMember({"none", "async", "sync", "full"}));
  app.add_option("--read-mode", texts.read_mode,
                 "trie, buffered or latest: all of them are latest here, as the output says")
      ->check(CLI::IsMember({"trie", "buffered", "latest"}));
  app.add_option("-d,--db-path,--db-dir", command.db_path,
                 "Directory for the databases, one below it for each engine");
  app.add_option("--csv,--csv-log", command.csv_file, "Write the rounds, or all rows, as CSV");
  app.add_option("--json", command.json_file, "Write all rows as JSON (docs/benchmarks-json.md)");
  app.add_flag("--keep", command.keep, "Keep the databases of the last repeat");
  app.add_flag("!--no-cgroup", command.use_cgroup,
               "Do not limit engines that use the page cache to M");
  app.add_flag("--quiet", command.quiet, "No progress on standard error");
  app.add_flag("--all-metrics", command.all_metrics, "Print all metrics");
}

void add_compressible(CLI::App& app, Command& command) {
  app.add_flag("--compressible", command.compressible, "Values of which half compresses");
}

void add_size(CLI::App& app, Texts& texts, const std::string& instead_of) {
  const std::string help =
      "Keys and values to write, in GB, with a unit, or in times of --memory-cap (1.6x); in place "
      "of " +
      instead_of;
  app.add_option("--size", texts.size, help)->excludes(instead_of);
}

void add_bank(CLI::App& app, Command& command, Texts& texts) {
  BankOptions& bank = command.bank;
  app.add_option("--num-accounts", bank.accounts, "Accounts")->transform(count_validator());
  app.add_option("--num-transactions", bank.transactions, "Transfers tried in each phase")
      ->transform(count_validator());
  app.add_option("--batch-size", texts.batch_sizes, "Transfers per commit; a list runs each");
  app.add_option("--sync-every", bank.sync_every, "Sync after so many commits; 0: never");
  app.add_option("--seed", bank.seed, "Seed of names and transfers");
  app.add_option("--initial-balance", bank.initial_balance, "Balance of each account at first");
  app.add_option("--reads-per-tx", bank.reads_per_tx, "Reads of the reader under one snapshot");
  app.add_option("--threads", bank.threads, "Writers, each with accounts of its own")
      ->check(CLI::Range(1, 1000));
  app.add_flag("!--no-reader", bank.with_reader, "Leave out the phase with a reader");
  app.add_option("--backup-rate", texts.backup_rate,
                 "One more phase, beside backups of so many bytes per second, one after another");
  app.add_option("--dictionary", command.dictionary, "Words for account names");
  app.add_flag("--kill", command.kill,
               "Kill the process in the middle, open again and validate, in place of timing");
  app.add_option("--kill-rounds", command.kill_rounds, "Kills one after another")
      ->check(CLI::Range(1, 10000));
}

void add_upsert(CLI::App& app, Command& command, Texts& texts) {
  UpsertOptions& upsert = command.upsert;
  app.add_option("-r,--rounds", upsert.rounds, "Rounds");
  add_size(app, texts, "--rounds");
  add_compressible(app, command);
  app.add_option("-i,--items", upsert.items, "Keys of a round")->transform(count_validator());
  app.add_option("-b,--batch", upsert.batch, "Keys per commit")->check(CLI::PositiveNumber);
  app.add_option("-s,--value-size", upsert.value_bytes, "Bytes of a value")
      ->check(CLI::Range(8, 1 << 20));
  app.add_option("--mode", texts.mode, "upsert-rand: keys that look random")
      ->check(CLI::IsMember({"upsert-rand"}));
  app.add_option("--pinned-cache,--pinned-cache-mb", texts.pinned_cache_mb,
                 "Megabytes that must be held in memory: M is at least that");
}

void add_micro(CLI::App& app, Command& command, Texts& texts) {
  MicroOptions& micro = command.micro;
  add_compressible(app, command);
  app.add_option("-i,--items", texts.items, "Entries");
  app.add_option("-s,--value-size", texts.value_sizes, "Bytes of a value; a list runs each");
  app.add_option("-b,--batch", micro.batch, "Inserts per commit")->check(CLI::PositiveNumber);
  app.add_option("--order", texts.order, "Order of the inserts: random, sequential")
      ->check(CLI::IsMember({"random", "sequential"}));
  app.add_option("--gets", texts.gets, "Gets of each kind");
  app.add_option("--dirty", micro.dirty, "Part to overwrite at random before the gets, not drained")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--remove", micro.remove, "Part to remove in the end")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--seed", micro.seed, "Seed of the gets");
  app.add_option("--phases", texts.phases, "Only these phases after the load");
}

void add_scale(CLI::App& app, Command& command, Texts& texts) {
  ScaleOptions& scale = command.scale;
  app.add_option("-r,--rounds", scale.rounds, "Rounds; with no bound at all, until Ctrl+C");
  add_size(app, texts, "--rounds");
  app.add_option("--seconds", scale.seconds, "End after so many seconds");
  app.add_option("-i,--items", scale.items, "Keys of a round")
      ->transform(count_validator())
      ->check(CLI::PositiveNumber);
  app.add_option("-b,--batch", scale.batch, "Keys per commit")->check(CLI::PositiveNumber);
  app.add_option("-s,--value-size", scale.value_bytes, "Bytes of a value")
      ->check(CLI::Range(8, 1 << 20));
  app.add_option("--readers,--threads", scale.readers, "Threads that read")
      ->check(CLI::Range(0, 1000));
  app.add_option("--multi-get", scale.keys_per_read, "Keys of a read; 1: single gets")
      ->check(CLI::Range(1, 4096));
  app.add_option("--write-rate", scale.write_rate, "Keys that the writer writes per second at most")
      ->transform(count_validator());
  app.add_option("--seed", scale.seed, "Seed of the reads");
  add_compressible(app, command);
}

void add_insert(CLI::App& app, Command& command, Texts& texts) {
  InsertOptions& insert = command.insert;
  app.add_option("-n,--records", insert.records, "Records")->transform(count_validator());
  add_size(app, texts, "--records");
  app.add_option("--record-size", texts.record_sizes,
                 "Bytes of a record, its key of 8 included; a list runs each");
  app.add_option("-b,--batch", insert.batch, "Records per commit; 1: single puts")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", insert.threads, "Threads that insert")->check(CLI::Range(1, 1000));
  add_compressible(app, command);
}

void add_counters(CLI::App& app, Command& command, Texts& texts) {
  CountersOptions& counters = command.counters;
  app.add_option("-n,--counters", counters.counters, "Counters of 8 + 8 bytes")
      ->transform(count_validator());
  add_size(app, texts, "--counters");
  app.add_option("--steps", counters.steps, "Steps; 0: as many as counters")
      ->transform(count_validator());
  app.add_option("--seconds", counters.seconds, "End the steps after so many seconds");
  app.add_option("--threads", counters.threads, "Threads that count")->check(CLI::Range(1, 1000));
  app.add_option("--seed", counters.seed, "Seed of the steps");
}

void add_nvme(CLI::App& app, Command& command, Texts& texts) {
  NvmeOptions& nvme = command.nvme;
  app.add_option("-n,--records", nvme.records, "Records to load")->transform(count_validator());
  add_size(app, texts, "--records");
  app.add_option("--key-size", nvme.key_bytes, "Bytes of a key")
      ->check(CLI::IsMember({8, 16, 24, 32, 40, 48, 56, 64}));
  app.add_option("-s,--value-size", nvme.value_bytes, "Bytes of a value")
      ->check(CLI::Range(8, 1 << 20));
  app.add_option("--threads", nvme.threads, "Threads of every phase")->check(CLI::Range(1, 1000));
  app.add_option("--depths", texts.depths,
                 "Reads that each thread has under way: a list of powers of two up to 64");
  app.add_option("--gets", nvme.gets, "Operations of a phase at most; 0: as many as records")
      ->transform(count_validator());
  app.add_option("--seconds", nvme.seconds, "Seconds of a phase at most, but for the load")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", nvme.seed, "Seed of reads and ranges");
  app.add_option("--phases", texts.nvme_phases, "Of read, range and mix only these after the load");
  add_compressible(app, command);
}

void add_overwrite(CLI::App& app, Command& command, Texts& texts) {
  OverwriteOptions& overwrite = command.overwrite;
  app.add_option("-n,--records", overwrite.records, "Records")->transform(count_validator());
  add_size(app, texts, "--records");
  app.add_option("-b,--batch", overwrite.batch, "Records per commit")->check(CLI::PositiveNumber);
  app.add_option("-s,--value-size", overwrite.value_bytes, "Bytes of a value")
      ->check(CLI::Range(8, 1 << 20));
  app.add_option("--passes", overwrite.passes, "Passes")->check(CLI::Range(1, 9));
  app.add_option("--seed", overwrite.seed, "Seed of the overwrites");
  add_compressible(app, command);
}

void add_backup(CLI::App& app, Command& command, Texts& texts) {
  BackupOptionsOfRun& backup = command.backup;
  app.add_option("-n,--records", backup.records, "Records")->transform(count_validator());
  add_size(app, texts, "--records");
  app.add_option("-s,--value-size", backup.value_bytes, "Bytes of a value")
      ->check(CLI::Range(16, 1 << 19));
  app.add_option("-r,--rounds", backup.rounds, "Backups and restores")->check(CLI::Range(1, 1000));
  app.add_option("--rate", texts.backup_rate, "Bytes per second of a backup at most; 0: no limit");
  add_compressible(app, command);
}

void add_soak(CLI::App& app, Command& command, Texts& texts) {
  SoakOptions& soak = command.soak;
  app.add_option("-n,--records", texts.soak_records,
                 "Records that are there at a time; default: 1.6 times --memory-cap, or 1M");
  add_size(app, texts, "--records");
  app.add_option("--seconds", soak.seconds, "End so many seconds after the load, or at Ctrl+C")
      ->check(CLI::PositiveNumber);
  app.add_option("-b,--batch", soak.batch, "Keys per commit")->check(CLI::PositiveNumber);
  app.add_option("-s,--value-size", soak.value_bytes, "Bytes of a value: the mean")
      ->check(CLI::Range(16, 1 << 19));
  app.add_option("--writers", soak.writers, "Threads that write")->check(CLI::Range(1, 1000));
  app.add_option("--readers", soak.readers, "Threads that read")->check(CLI::Range(0, 1000));
  app.add_option("--hold-ms", soak.hold_ms, "How long a snapshot is held; 0: none is")
      ->check(CLI::Range(0, 1 << 30));
  app.add_option("--write-rate", soak.write_rate, "Keys that are written per second at most")
      ->transform(count_validator());
  app.add_option("--seed", soak.seed, "Seed of everything");
  add_compressible(app, command);
}

void add_txn_counts(CLI::App& app, Command& command, Texts& texts) {
  CountOptions& count = command.count;
  app.add_option("--order", texts.count_order,
                 "count: order of the load: shuffled, ascending (each thread's part)")
      ->check(CLI::IsMember({"shuffled", "ascending"}));
  app.add_option("--overwritten", count.overwritten,
                 "count: part of the keys that is overwritten, each of both times")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--counts", count.counts,
                 "count: counts of ranges in each phase; a tenth as many of the whole")
      ->transform(count_validator());
  app.add_option("--count-seconds", count.seconds,
                 "count: end a phase's counts after so many; 0: no bound");
  app.add_option("--count-threads", count.threads, "count: threads that load and overwrite")
      ->check(CLI::Range(1, 1000));
}

void add_txn(CLI::App& app, Command& command, Texts& texts) {
  PointOptions& point = command.point;
  SnapshotsOptions& snapshots = command.snapshots;
  CountersOptions& counters = command.hot_counters;
  app.add_option("--case", command.txn_cases,
                 "Of point, counters, snapshots, clone, count and orders only these; may be given "
                 "several times")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(kTxnCases.begin(), kTxnCases.end())));
  app.add_option("-n,--keys", texts.txn_keys,
                 "Keys of point (default 1M), of snapshots before the upserts (1M), of clone "
                 "(10M), count (10M) and orders (1M)")
      ->transform(count_validator());
  app.add_option("-s,--value-size", texts.txn_value_bytes,
                 "Bytes of a value, but of counters; 8 at least, of point 16")
      ->check(CLI::Range(8, 1 << 16));
  app.add_option("-r,--rounds", command.txn_rounds,
                 "Rounds of point (default 10), counters (5), snapshots (4) and orders (10), in "
                 "each of which all that is compared runs once")
      ->check(CLI::Range(1, 1000));
  app.add_option("--threads", point.threads, "point: threads, besides a run with one")
      ->check(CLI::Range(1, 1000));
  app.add_option("--transactions", point.transactions, "point: transactions of a kind in a round")
      ->transform(count_validator());
  app.add_option("--counters", counters.counters, "counters: how many")
      ->transform(count_validator());
  app.add_option("--steps", counters.steps, "counters: increments of a round")
      ->transform(count_validator());
  app.add_option("--seconds", counters.seconds, "counters: end a round after so many; 0: no bound");
  app.add_option("--counter-threads", counters.threads, "counters: threads")
      ->check(CLI::Range(1, 1000));
  app.add_option("--upserts", snapshots.upserts, "snapshots: upserts of a run")
      ->transform(count_validator());
  app.add_option("--fresh", snapshots.fresh, "snapshots: part of the upserts whose keys are new")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--snapshots", snapshots.snapshots, "snapshots: how many are taken and held")
      ->check(CLI::Range(1, 10'000));
  app.add_option("-b,--batch", snapshots.batch, "snapshots, orders: upserts per commit")
      ->check(CLI::PositiveNumber);
  app.add_option("--clones", command.clone.clones, "clone: how many of each durability")
      ->check(CLI::Range(1, 1'000'000));
  add_txn_counts(app, command, texts);
  app.add_option("--gets", command.orders.gets, "orders: gets by each order in a round")
      ->transform(count_validator());
  app.add_option("--seed", point.seed, "Seed of everything");
}

void add_tatp(CLI::App& app, Command& command, Texts& texts) {
  TatpOptions& tatp = command.tatp;
  app.add_option("--num-subscribers", tatp.subscribers, "Subscribers")
      ->transform(count_validator());
  app.add_option("--connections", texts.connections,
                 "Connections, each with a thread of its own; a list runs each");
  app.add_option("--num-transactions", tatp.transactions, "Transactions of all connections")
      ->transform(count_validator());
  app.add_option("--seconds", tatp.seconds, "End the transactions after so many; 0: no bound");
  app.add_option("--cache", texts.cache, "Cache of each connection, in GB or with a unit");
  app.add_option("--seed", tatp.seed, "Seed of rows and transactions");
}

void add_sql(CLI::App& app, Command& command, Texts& texts) {
  SqlOptions& sql = command.sql;
  app.add_option("--size", sql.size, "Scale of the tables: 100 are 50,000 rows a table")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--cache", texts.cache, "Cache of the connection, in GB or with a unit");
  app.add_option("--seed", sql.seed, "Seed of rows and parameters");
}

void add_instructions(CLI::App& app, Command& command) {
  InstructionsOptions& options = command.instructions;
  app.add_option("--programs", options.programs,
                 "Of these interfaces (native,rocksdb,mdbx,lmdb,sqlite); default: all that were "
                 "built")
      ->delimiter(',');
  app.add_option("--shapes", options.shapes,
                 "With keys and values of these bytes (8+8,8+256,24+8,24+256); default: all")
      ->delimiter(',');
  app.add_option("--dir", options.directory, "Where databases are made, and removed again")
      ->capture_default_str();
  CLI::Option* const check = app.add_option(
      "--check", options.check_file,
      "Compare with the table in this document: 1 where a count rose by more than 3%");
  CLI::Option* const update =
      app.add_option("--update", options.update_file, "Put the counts into this document's table")
          ->excludes(check);
  app.add_option("--reason", options.reason, "Why counts rose, for the table")->needs(update);
  CLI::Option* const json = app.add_flag("--json", options.json, "Print JSON");
  app.add_flag("--markdown", options.markdown, "Print the table as a document has it")
      ->excludes(json);
}

// The other ones have options of their own alone.
bool compares_engines(Workload workload) {
  return workload != Workload::kEngines && workload != Workload::kInstructions;
}

// What is compared where nothing is said.
std::vector<std::string> usual_engines(Workload workload) {
  std::vector<std::string> chosen;
  if (workload == Workload::kTatp || workload == Workload::kSql) {
    for (const EngineInfo& info : engines()) {
      if (info.make_tatp && info.make_sql) chosen.push_back(info.name);
    }
    return chosen;
  }
  for (const char* name : {"hawthorn", "rocksdb", "lmdb", "sqlite"}) {
    const EngineInfo* const info = find_engine(name);
    if (info == nullptr) continue;
    if (workload == Workload::kTxn && !info->make()->offers(TxnKind::kRowLocks)) continue;
    if (workload == Workload::kBackup && !info->make()->backs_up()) continue;
    chosen.emplace_back(name);
  }
  return chosen;
}

bool takes_part(const EngineInfo& info, Workload workload) {
  if (!info.program.empty()) {
    return workload == Workload::kBank || workload == Workload::kUpsert ||
           workload == Workload::kInsert;
  }
  if (workload == Workload::kBank || workload == Workload::kSoak) {
    return info.make()->commits_batches();
  }
  return true;
}

std::vector<std::string> choose_engines(const std::string& text, Workload workload) {
  std::vector<std::string> chosen;
  if (text == "all") {
    for (const EngineInfo& info : engines()) {
      if (info.name != "memory" && takes_part(info, workload)) chosen.push_back(info.name);
    }
    return chosen;
  }
  if (text.empty()) return usual_engines(workload);
  for (const std::string& name : split(text, ',')) {
    const EngineInfo* const info = find_engine(name);
    if (info == nullptr) {
      throw CLI::ValidationError("--engines",
                                 name + " is not in this build; see hawthorn-bench engines");
    }
    if (!takes_part(*info, workload)) {
      throw CLI::ValidationError("--engines",
                                 name + " cannot run this workload: it has no " +
                                     (info->program.empty() ? "atomic batches" : "program for it"));
    }
    chosen.push_back(name);
  }
  return chosen;
}

// Bytes, from text such as "6.4G", or "1.6x" of the memory cap.
uint64_t parse_size_of_cap(const Command& command, const std::string& text) {
  if (!text.ends_with('x')) return parse_size(text);
  if (command.cap_bytes == 0) throw std::invalid_argument(text + " needs a --memory-cap");
  // As so many GB first: the text of the number is checked there.
  const auto factor = static_cast<double>(parse_size(text.substr(0, text.size() - 1))) / 1e9;
  return static_cast<uint64_t>(factor * static_cast<double>(command.cap_bytes));
}

// What a size means for each workload; insert.cc's is a matter of each record size (cases.cc).
void finish_size(Command& command) {
  const auto count = [&command](uint64_t bytes) {
    return (command.size_bytes + bytes - 1) / bytes;
  };
  if (command.size_bytes == 0) return;
  const uint64_t record_bytes = kKeyBytes + command.upsert.value_bytes;
  command.upsert.rounds = count(command.upsert.items * record_bytes);
  command.scale.size_bytes = command.size_bytes;
  command.counters.counters = count(kKeyBytes + sizeof(uint64_t));
  command.nvme.records = count(command.nvme.key_bytes + command.nvme.value_bytes);
  command.overwrite.records = count(kKeyBytes + command.overwrite.value_bytes);
  command.soak.records = count(kKeyBytes + command.soak.value_bytes);
  command.backup.records = count(kKeyBytes + command.backup.value_bytes);
}

// More than memory holds, where nothing else is said.
void finish_soak(Command& command, const std::string& records) {
  constexpr double kTimesOfCap = 1.6;
  if (!records.empty()) {
    command.soak.records = parse_count(records);
  } else if (command.size_bytes == 0 && command.cap_bytes != 0) {
    const auto record_bytes = static_cast<double>(kKeyBytes + command.soak.value_bytes);
    command.soak.records =
        static_cast<uint64_t>(kTimesOfCap * static_cast<double>(command.cap_bytes) / record_bytes);
  }
}

void in_range(uint64_t number, uint64_t low, uint64_t high, const char* option) {
  if (number >= low && number <= high) return;
  throw CLI::ValidationError(option, print_text("%lu is not in [%lu, %lu]", number, low, high));
}

// What belongs to several cases, and what all of them need.
void finish_txn(Command& command, const Texts& texts) {
  const std::vector<std::string> chosen = command.txn_cases;
  command.txn_cases.clear();
  for (const std::string_view name : kTxnCases) {
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end()) {
      command.txn_cases.emplace_back(name);
    }
  }
  if (texts.txn_keys != 0) {
    command.point.keys = command.snapshots.keys = command.clone.keys = texts.txn_keys;
    command.count.keys = command.orders.keys = texts.txn_keys;
  }
  command.point.value_bytes = command.snapshots.value_bytes = command.clone.value_bytes =
      command.count.value_bytes = command.orders.value_bytes = texts.txn_value_bytes;
  command.hot_counters.seed = command.snapshots.seed = command.clone.seed = command.count.seed =
      command.orders.seed = command.point.seed;
  if (command.txn_rounds != 0) {
    command.point.rounds = command.snapshots.rounds = command.orders.rounds = command.txn_rounds;
  }
  command.orders.batch = command.snapshots.batch;
  command.count.ascending = texts.count_order == "ascending";
  // Values of point count their puts.
  if (command.txn_cases[0] == "point") in_range(texts.txn_value_bytes, 16, 1 << 16, "--value-size");
  in_range(command.point.keys, command.point.threads, uint64_t{1} << 40, "--keys");
  in_range(command.point.transactions, 1, ~uint32_t{0}, "--transactions");
  in_range(command.hot_counters.counters, 1, ~uint32_t{0}, "--counters");
  in_range(command.hot_counters.steps, 1, ~uint32_t{0}, "--steps");
  in_range(command.snapshots.upserts, 1, uint64_t{1} << 40, "--upserts");
  in_range(command.count.counts, 1, uint64_t{1} << 40, "--counts");
  in_range(command.orders.gets, 1, uint64_t{1} << 40, "--gets");
}

void finish(Command& command, const Texts& texts) {
  static const std::map<std::string, SyncMode> kModes = {{"none", SyncMode::kNone},
                                                         {"async", SyncMode::kAsync},
                                                         {"sync", SyncMode::kFull},
                                                         {"full", SyncMode::kFull}};
  try {
    command.memory_given = !texts.memory.empty() || texts.pinned_cache_mb != 0;
    if (!texts.memory.empty()) command.memory_bytes = parse_size(texts.memory);
    command.memory_bytes = std::max(command.memory_bytes, texts.pinned_cache_mb * 1'000'000);
    if (!texts.memory_cap.empty()) command.cap_bytes = parse_size(texts.memory_cap);
    if (!texts.size.empty()) {
      command.size_bytes = parse_size_of_cap(command, texts.size);
      if (command.size_bytes == 0) throw std::invalid_argument("--size: 0");
    }
    command.record_sizes = parse_counts(texts.record_sizes);
    command.nvme.depths = parse_counts(texts.depths);
    command.map_bytes = parse_size(texts.map_size);
    command.pretouch_default = texts.pretouch.empty();
    if (!texts.pretouch.empty()) command.pretouch_bytes = parse_size(texts.pretouch);
    command.batch_sizes = parse_counts(texts.batch_sizes);
    command.value_sizes = parse_counts(texts.value_sizes);
    command.backup.bytes_per_second = command.bank.backup_rate = parse_size(texts.backup_rate);
    command.micro.items = parse_count(texts.items);
    command.micro.gets = parse_count(texts.gets);
    finish_soak(command, texts.soak_records);
    command.connections = parse_counts(texts.connections);
    command.sql.cache_bytes = command.tatp.cache_bytes = parse_size(texts.cache);
  } catch (const std::invalid_argument& error) {
    throw CLI::ValidationError(error.what());
  }
  command.sync = kModes.at(texts.sync_mode);
  if (!texts.read_mode.empty() && texts.read_mode != "latest") {
    fprintf(stderr, "--read-mode %s: reads are always of the latest commit\n",
            texts.read_mode.c_str());
  }
  command.micro.sequential = texts.order == "sequential";
  const std::vector<std::string> phases = split(texts.phases, ',');
  command.micro.phases = {phases.begin(), phases.end()};
  for (const std::string& phase : phases) {
    const auto known = phase_names();
    if (std::find(known.begin(), known.end(), phase) == known.end()) {
      throw CLI::ValidationError("--phases", "no phase " + phase);
    }
  }

  if (command.cap_bytes != 0) {
    in_range(command.cap_bytes, 64 << 20, uint64_t{1} << 50, "--memory-cap");
    if (!command.use_cgroup) throw CLI::ValidationError("--no-cgroup", "contradicts --memory-cap");
    if (command.memory_given && command.memory_bytes > command.cap_bytes) {
      throw CLI::ValidationError("--memory", "is more than --memory-cap");
    }
  }
  in_range(command.memory_bytes, 16 << 20, uint64_t{1} << 50, "--memory");
  for (const uint64_t size : command.batch_sizes) in_range(size, 1, ~uint64_t{0}, "--batch-size");
  for (const uint64_t size : command.value_sizes) in_range(size, 8, 1 << 20, "--value-size");
  for (const uint64_t size : command.record_sizes) in_range(size, 16, 1 << 20, "--record-size");
  for (const uint64_t count : command.connections) in_range(count, 1, 1000, "--connections");
  for (const uint64_t depth : command.nvme.depths) {
    if (depth == 0 || depth > 64 || (depth & (depth - 1)) != 0) {
      throw CLI::ValidationError("--depths", print_text("%lu is no power of two to 64", depth));
    }
  }
  const std::vector<std::string> nvme_phases = split(texts.nvme_phases, ',');
  for (const std::string& phase : nvme_phases) {
    if (phase != "read" && phase != "range" && phase != "mix") {
      throw CLI::ValidationError("--phases", "no phase " + phase);
    }
  }
  command.nvme.phases = {nvme_phases.begin(), nvme_phases.end()};
  finish_size(command);
  in_range(command.insert.records, 1, ~uint64_t{0}, "--records");
  in_range(command.nvme.records, 1, ~uint64_t{0}, "--records");
  in_range(command.overwrite.records, 1, ~uint64_t{0}, "--records");
  in_range(command.soak.records, 1, uint64_t{1} << 40, "--records");
  in_range(command.backup.records, 1, uint64_t{1} << 40, "--records");
  in_range(command.tatp.subscribers, 1, 100'000'000, "--num-subscribers");
  in_range(command.tatp.transactions, 1, uint64_t{1} << 40, "--num-transactions");
  in_range(command.tatp.cache_bytes, 100'000, uint64_t{1} << 40, "--cache");
  in_range(command.counters.counters, 1, ~uint32_t{0}, "--counters");
  // One counter may take all steps: it counts in 32 bits.
  in_range(command.counters.steps, 0, ~uint32_t{0}, "--steps");
  in_range(command.bank.accounts, 2 * command.bank.threads, uint64_t{1} << 31, "--num-accounts");
  in_range(command.bank.initial_balance, 1, uint64_t{1} << 32, "--initial-balance");
  in_range(command.bank.reads_per_tx, 1, 1 << 20, "--reads-per-tx");
  in_range(command.upsert.items, 1, ~uint64_t{0}, "--items");
  in_range(command.micro.items, 2, ~uint32_t{0}, "--items");
  finish_txn(command, texts);
  command.engines_given = !texts.engines.empty();
  command.engines = choose_engines(texts.engines, command.workload);
  if (command.engines.empty()) throw CLI::ValidationError("--engines", "none");
  if (command.workload == Workload::kTxn && command.baseline.empty() && !command.engines_given &&
      command.engines.size() > 1) {
    command.baseline = command.engines.back();
  }
  if (!command.baseline.empty() && std::find(command.engines.begin(), command.engines.end(),
                                             command.baseline) == command.engines.end()) {
    throw CLI::ValidationError("--baseline", command.baseline + " is not among the engines");
  }
}

// The workload that a program of the documents runs, by the name of this one.
Workload workload_of_name(const std::string& name, Texts& texts) {
  constexpr std::string_view kBankPrefix = "bank-bench-";
  if (name == "dwal-bench") {
    texts.engines = "hawthorn";
    return Workload::kUpsert;
  }
  if (name.starts_with(kBankPrefix)) {
    texts.engines = name.substr(kBankPrefix.size());
    return Workload::kBank;
  }
  return Workload::kNone;
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  Command command;
  Texts texts;
  const std::string name = std::filesystem::path(argv[0]).filename();
  const Workload fixed = workload_of_name(name, texts);
  CLI::App app("Benchmarks of this engine and its rivals. Every answer is checked.", name);
  command.workload = fixed;
  if (fixed != Workload::kNone) {
    // Their programs leave the database where it is.
    command.keep = true;
    add_common(app, command, texts);
    if (fixed == Workload::kBank) {
      add_bank(app, command, texts);
    } else {
      add_upsert(app, command, texts);
    }
  } else {
    app.require_subcommand(1);
    const auto add = [&](const char* word, const char* help, Workload workload,
                         auto&& add_options) {
      CLI::App* const sub = app.add_subcommand(word, help);
      if (compares_engines(workload)) add_common(*sub, command, texts);
      add_options(*sub);
      sub->callback([&command, workload] { command.workload = workload; });
    };
    add("bank", "Transfers between accounts, with and without a reader", Workload::kBank,
        [&](CLI::App& sub) { add_bank(sub, command, texts); });
    add("upsert", "Random upserts into a growing database", Workload::kUpsert,
        [&](CLI::App& sub) { add_upsert(sub, command, texts); });
    add("micro", "Single operations: inserts, gets, seeks, walks, removals", Workload::kMicro,
        [&](CLI::App& sub) { add_micro(sub, command, texts); });
    add("scale", "Inserts beside readers into a database that outgrows its memory",
        Workload::kScale, [&](CLI::App& sub) { add_scale(sub, command, texts); });
    add("insert", "Random inserts of small records by many threads: how even is the rate",
        Workload::kInsert, [&](CLI::App& sub) { add_insert(sub, command, texts); });
    add("counters", "Counters that many threads count up at random", Workload::kCounters,
        [&](CLI::App& sub) { add_counters(sub, command, texts); });
    add("nvme", "Small records on a fast device: load, reads with several under way, ranges, a mix",
        Workload::kNvme, [&](CLI::App& sub) { add_nvme(sub, command, texts); });
    add("overwrite", "Records overwritten at random, pass after pass: the space that takes",
        Workload::kOverwrite, [&](CLI::App& sub) { add_overwrite(sub, command, texts); });
    add("soak", "Everything at once on a database larger than memory: is it right, is it level",
        Workload::kSoak, [&](CLI::App& sub) { add_soak(sub, command, texts); });
    add("txn",
        "What transactions, row locks, held snapshots, clones, counts and orders of keys cost",
        Workload::kTxn, [&](CLI::App& sub) { add_txn(sub, command, texts); });
    add("backup", "Full backups and restores, beside what the disk does in order",
        Workload::kBackup, [&](CLI::App& sub) { add_backup(sub, command, texts); });
    add("tatp", "Short transactions of a telephone network's subscribers, over SQL",
        Workload::kTatp, [&](CLI::App& sub) { add_tatp(sub, command, texts); });
    add("sql", "SQL statements of many kinds, each kind timed by itself", Workload::kSql,
        [&](CLI::App& sub) { add_sql(sub, command, texts); });
    add("instructions",
        "Count instructions, bytes written and syncs of single operations of this engine",
        Workload::kInstructions, [&](CLI::App& sub) { add_instructions(sub, command); });
    add("engines", "List the engines of this build, and how their libraries were built",
        Workload::kEngines, [&](CLI::App& sub) {
          sub.add_option("--json", command.json_file, "Write the list to this file, too");
        });
  }
  try {
    app.parse(argc, argv);
    if (compares_engines(command.workload)) finish(command, texts);
  } catch (const CLI::ParseError& error) {
    command.workload = Workload::kNone;
    command.exit_code = app.exit(error) == 0 ? 0 : 2;
  }
  return command;
}

}  // namespace hawthorn::bench
