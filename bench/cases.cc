#include "bench/cases.h"

#include "bench/engine_registry.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

// A name says which parameter it was only where a run has several.
std::string word(const char* name, uint64_t number) { return print_text("%s=%lu", name, number); }

// Neither kills nor backups are for programs of their own.
std::vector<std::string> bank_words(const Command& command, const BankOptions& options) {
  if (command.kill || options.backup_rate != 0) return {};
  return {"bank",
          word("accounts", options.accounts),
          word("transactions", options.transactions),
          word("batch", options.batch_size),
          word("sync-every", options.sync_every),
          word("seed", options.seed),
          word("initial-balance", options.initial_balance),
          word("reads-per-tx", options.reads_per_tx),
          word("threads", options.threads),
          word("reader", options.with_reader ? 1 : 0),
          "dictionary=" + command.dictionary};
}

std::vector<Case> bank_cases(const Command& command, const AccountNames& names) {
  std::vector<Case> cases;
  for (const uint64_t batch_size : command.batch_sizes) {
    BankOptions options = command.bank;
    options.batch_size = batch_size;
    std::string name = "bank";
    if (command.kill) name += ":kill";
    if (command.batch_sizes.size() > 1) name += print_text(":batch=%lu", batch_size);
    const auto run = [options, &names](const RunContext& context, Engine& engine) {
      run_bank(context, options, names, engine);
    };
    cases.push_back({name, run, options.threads, options});
    cases.back().words = bank_words(command, options);
  }
  return cases;
}

std::vector<Case> micro_cases(const Command& command) {
  std::vector<Case> cases;
  for (const uint64_t value_bytes : command.value_sizes) {
    MicroOptions options = command.micro;
    options.value_bytes = value_bytes;
    std::string name = "micro";
    if (command.value_sizes.size() > 1) name += print_text(":value=%lu", value_bytes);
    if (options.dirty > 0) name += print_text(":dirty=%g", options.dirty);
    const auto run = [options](const RunContext& context, Engine& engine) {
      run_micro(context, options, engine);
    };
    cases.push_back({name, run, 1, {}});
  }
  return cases;
}

std::vector<Case> tatp_cases(const Command& command) {
  std::vector<std::string> suiting;
  for (const std::string& engine : command.engines) {
    if (find_engine(engine)->make_tatp) suiting.push_back(engine);
  }
  std::vector<Case> cases;
  if (suiting.empty()) return cases;
  for (const uint64_t connections : command.connections) {
    TatpOptions options = command.tatp;
    options.connections = static_cast<unsigned>(connections);
    std::string name = "tatp";
    if (command.connections.size() > 1) name += print_text(":connections=%lu", connections);
    const auto run = [options](const RunContext& context, Engine&) {
      run_tatp(context, options, *find_engine(context.engine_name)->make_tatp());
    };
    cases.push_back(
        {.name = name, .run = run, .writers = options.connections, .bank = {}, .engines = suiting});
  }
  return cases;
}

std::vector<Case> sql_cases(const Command& command) {
  std::vector<std::string> suiting;
  for (const std::string& engine : command.engines) {
    if (find_engine(engine)->make_sql) suiting.push_back(engine);
  }
  if (suiting.empty()) return {};
  const auto run = [options = command.sql](const RunContext& context, Engine&) {
    run_sql(context, options, *find_engine(context.engine_name)->make_sql());
  };
  return {{.name = "sql", .run = run, .bank = {}, .engines = suiting}};
}

InsertOptions insert_options(const Command& command, uint64_t record_bytes) {
  InsertOptions options = command.insert;
  options.record_bytes = record_bytes;
  if (command.size_bytes != 0) {
    options.records = (command.size_bytes + record_bytes - 1) / record_bytes;
  }
  return options;
}

std::vector<Case> insert_cases(const Command& command) {
  std::vector<Case> cases;
  for (const uint64_t record_bytes : command.record_sizes) {
    const InsertOptions options = insert_options(command, record_bytes);
    std::string name = "insert";
    if (command.record_sizes.size() > 1) name += print_text(":record=%lu", record_bytes);
    const auto run = [options](const RunContext& context, Engine& engine) {
      run_insert(context, options, engine);
    };
    cases.push_back({name, run, options.threads, {}});
    cases.back().words = {"insert",
                          word("records", options.records),
                          word("record-bytes", options.record_bytes),
                          word("batch", options.batch),
                          word("threads", options.threads),
                          word("min-disk", options.free_disk_bytes_min)};
  }
  return cases;
}

// A workload that has but one case.
template <class Options>
std::vector<Case> one_case(const char* name, unsigned writers, const Options& options,
                           void (*run)(const RunContext&, const Options&, Engine&)) {
  const auto call = [&options, run](const RunContext& context, Engine& engine) {
    run(context, options, engine);
  };
  return {{name, call, writers, {}}};
}

std::vector<Case> upsert_cases(const Command& command) {
  std::vector<Case> cases = one_case("upsert", 1, command.upsert, run_upsert);
  cases.back().words = {"upsert",
                        word("rounds", command.upsert.rounds),
                        word("items", command.upsert.items),
                        word("batch", command.upsert.batch),
                        word("value-bytes", command.upsert.value_bytes),
                        word("min-disk", command.upsert.free_disk_bytes_min)};
  return cases;
}

// One of kTxnCases: what it asks of an engine, and whether engines are compared where it was not
// said which.
struct TxnCase {
  bool (*suits)(const Engine&);
  bool compares;
};

TxnCase txn_case(const std::string& name) {
  if (name == "counters") {
    return {[](const Engine& engine) { return engine.offers(TxnKind::kRowLocks); }, true};
  }
  if (name == "snapshots") {
    return {[](const Engine& engine) { return engine.holds_snapshots(); }, false};
  }
  if (name == "clone") return {[](const Engine& engine) { return engine.clones(); }, false};
  if (name == "count") {
    return {[](const Engine& engine) { return engine.counts() && engine.holds_snapshots(); },
            false};
  }
  if (name == "orders") return {[](const Engine& engine) { return engine.compares(); }, false};
  return {[](const Engine& engine) {
            return engine.offers(TxnKind::kSnapshot) && engine.offers(TxnKind::kSerializable);
          },
          false};
}

std::vector<std::string> engines_of_txn(const Command& command, const std::string& name) {
  const TxnCase one = txn_case(name);
  std::vector<std::string> suiting;
  for (const std::string& engine : command.engines) {
    if (one.suits(*find_engine(engine)->make())) suiting.push_back(engine);
    if (!command.engines_given && !one.compares) break;
  }
  return suiting;
}

std::vector<Case> point_cases(const Command& command) {
  std::vector<unsigned> threads = {1};
  if (command.point.threads != 1) threads.push_back(command.point.threads);
  std::vector<Case> cases;
  for (const unsigned count : threads) {
    PointOptions options = command.point;
    options.threads = count;
    std::string name = "txn:point";
    if (threads.size() > 1) name += print_text(":threads=%u", count);
    const auto run = [options](const RunContext& context, Engine& engine) {
      run_txn_point(context, options, engine);
    };
    cases.push_back({name, run, count, {}});
  }
  return cases;
}

std::vector<Case> txn_cases(const Command& command) {
  constexpr unsigned kCounterRounds = 5;
  std::vector<Case> cases;
  for (const std::string& name : command.txn_cases) {
    std::vector<Case> some;
    if (name == "point") {
      some = point_cases(command);
    } else if (name == "counters") {
      some = one_case("txn:counters", command.hot_counters.threads, command.hot_counters,
                      run_counters);
      some[0].rounds =
          command.txn_rounds == 0 ? kCounterRounds : static_cast<unsigned>(command.txn_rounds);
    } else if (name == "snapshots") {
      some = one_case("txn:snapshots", 1, command.snapshots, run_txn_snapshots);
    } else if (name == "count") {
      some = one_case("txn:count", command.count.threads, command.count, run_txn_count);
    } else if (name == "orders") {
      some = one_case("txn:orders", 1, command.orders, run_txn_orders);
    } else {
      some = one_case("txn:clone", command.clone.threads, command.clone, run_txn_clone);
    }
    for (Case& one : some) {
      one.transactions = name == "point" || name == "counters";
      one.engines = engines_of_txn(command, name);
      if (!one.engines.empty()) cases.push_back(one);
    }
  }
  return cases;
}

std::string describe_bank(const Command& command, const AccountNames& names) {
  const BankOptions& bank = command.bank;
  std::string text =
      print_text("Bank: %s accounts (%s named by words), ", with_commas(bank.accounts).c_str(),
                 with_commas(names.words()).c_str());
  text += command.kill ? print_text("killed %u times", command.kill_rounds)
                       : print_text("%s transfers tried in each phase, %u %s",
                                    with_commas(bank.transactions).c_str(), bank.threads,
                                    bank.threads == 1 ? "writer" : "writers");
  return text + print_text(", seed %lu.", bank.seed);
}

std::string describe_scale(const ScaleOptions& scale) {
  std::string text =
      print_text("Scale: rounds of %s random keys of 8 bytes, values of %lu bytes, %lu per commit",
                 with_commas(scale.items).c_str(), scale.value_bytes, scale.batch);
  if (scale.write_rate != 0) {
    text += print_text(", at most %s keys/s", with_commas(scale.write_rate).c_str());
  }
  text += print_text("; %u readers of %lu keys a call. Until ", scale.readers, scale.keys_per_read);
  if (scale.rounds != 0) text += print_text("%lu rounds, ", scale.rounds);
  if (scale.size_bytes != 0) {
    text += size_text(static_cast<double>(scale.size_bytes)) + " of keys and values, ";
  }
  if (scale.seconds != 0) text += print_text("%lu seconds, ", scale.seconds);
  return text + (text.ends_with(", ") ? "or Ctrl+C." : "Ctrl+C.");
}

std::string describe_insert(const Command& command) {
  std::string text = "Insert:";
  for (const uint64_t record_bytes : command.record_sizes) {
    const InsertOptions options = insert_options(command, record_bytes);
    text += print_text("%s %s records of %lu bytes", text.back() == ':' ? "" : ",",
                       with_commas(options.records).c_str(), record_bytes);
  }
  return text +
         print_text(", %lu per commit, %u threads.", command.insert.batch, command.insert.threads);
}

std::string describe_nvme(const NvmeOptions& nvme) {
  return print_text(
      "NVMe: %s records of %lu + %lu bytes by single puts, %u threads; each phase after the load "
      "at most %lu s.",
      with_commas(nvme.records).c_str(), nvme.key_bytes, nvme.value_bytes, nvme.threads,
      nvme.seconds);
}

std::string describe_soak(const SoakOptions& soak) {
  std::string text = print_text(
      "Soak: about %s records of 8 + %lu bytes, %u writers, %u readers, %lu per commit",
      with_commas(soak.records).c_str(), soak.value_bytes, soak.writers, soak.readers, soak.batch);
  if (soak.write_rate != 0) {
    text += print_text(", at most %s keys/s", with_commas(soak.write_rate).c_str());
  }
  if (soak.hold_ms != 0) text += print_text(", snapshots of %lu ms", soak.hold_ms);
  return text + print_text(". For %lu seconds behind the load, or until Ctrl+C.", soak.seconds);
}

std::string describe_tatp(const Command& command) {
  const TatpOptions& tatp = command.tatp;
  std::string text =
      print_text("TATP: %s subscribers, %s transactions", with_commas(tatp.subscribers).c_str(),
                 with_commas(tatp.transactions).c_str());
  if (tatp.seconds != 0) text += print_text(" or %lu seconds", tatp.seconds);
  const char* separator = " by ";
  for (const uint64_t connections : command.connections) {
    text += print_text("%s%lu", separator, connections);
    separator = ", ";
  }
  return text + print_text(" connections, caches of %s, seed %lu.",
                           size_text(static_cast<double>(tatp.cache_bytes)).c_str(), tatp.seed);
}

std::string describe_txn_count(const CountOptions& count) {
  return print_text(
      "count: %s keys of 8 + %lu bytes, loaded %s by %u threads, then %.3g%% overwritten, twice; "
      "%s counts of ranges in each phase.",
      with_commas(count.keys).c_str(), count.value_bytes,
      count.ascending ? "in order" : "at random", count.threads, 100 * count.overwritten,
      with_commas(count.counts).c_str());
}

std::string describe_txn_case(const Command& command, const std::string& name) {
  const PointOptions& point = command.point;
  const CountersOptions& counters = command.hot_counters;
  const SnapshotsOptions& snapshots = command.snapshots;
  if (engines_of_txn(command, name).empty()) return name + ": none of the engines has it.";
  if (name == "point") {
    return print_text(
        "point: %s keys of 8 + %lu bytes, a get and a put each; %lu rounds of %s transactions of "
        "each isolation.",
        with_commas(point.keys).c_str(), point.value_bytes, point.rounds,
        with_commas(point.transactions).c_str());
  }
  if (name == "counters") {
    return print_text("counters: %s of 8 + 8 bytes, %s steps under row locks, %u threads.",
                      with_commas(counters.counters).c_str(), with_commas(counters.steps).c_str(),
                      counters.threads);
  }
  if (name == "snapshots") {
    return print_text(
        "snapshots: %s upserts on %s keys of 8 + %lu bytes, %lu per commit, %.0f%% of them new; "
        "%lu rounds without snapshots and with %s that are held.",
        with_commas(snapshots.upserts).c_str(), with_commas(snapshots.keys).c_str(),
        snapshots.value_bytes, snapshots.batch, 100 * snapshots.fresh, snapshots.rounds,
        with_commas(snapshots.snapshots).c_str());
  }
  if (name == "count") return describe_txn_count(command.count);
  if (name == "orders") {
    const OrdersOptions& orders = command.orders;
    return print_text(
        "orders: %s keys of 8 + %lu bytes, %lu inserts per commit, bytewise and by a comparison; "
        "%lu rounds of %s gets of each.",
        with_commas(orders.keys).c_str(), orders.value_bytes, orders.batch, orders.rounds,
        with_commas(orders.gets).c_str());
  }
  return print_text("clone: %s clones of each durability, of %s keys of 8 + %lu bytes.",
                    with_commas(command.clone.clones).c_str(),
                    with_commas(command.clone.keys).c_str(), command.clone.value_bytes);
}

std::string describe_txn(const Command& command) {
  std::string text = "Transactions.";
  for (const std::string& name : command.txn_cases) {
    text += "\n  " + describe_txn_case(command, name);
  }
  return text;
}

}  // namespace

std::vector<Case> make_cases(const Command& command, const AccountNames* names) {
  switch (command.workload) {
    case Workload::kBank:
      return bank_cases(command, *names);
    case Workload::kUpsert:
      return upsert_cases(command);
    case Workload::kMicro:
      return micro_cases(command);
    case Workload::kScale:
      return one_case("scale", 1, command.scale, run_scale);
    case Workload::kInsert:
      return insert_cases(command);
    case Workload::kCounters:
      return one_case("counters", command.counters.threads, command.counters, run_counters);
    case Workload::kNvme:
      return one_case("nvme", command.nvme.threads, command.nvme, run_nvme);
    case Workload::kOverwrite:
      return one_case("overwrite", 1, command.overwrite, run_overwrite);
    case Workload::kSoak:
      return one_case("soak", command.soak.writers, command.soak, run_soak);
    case Workload::kTxn:
      return txn_cases(command);
    case Workload::kBackup:
      return one_case("backup", 1, command.backup, run_backup);
    case Workload::kTatp:
      return tatp_cases(command);
    case Workload::kSql:
      return sql_cases(command);
    case Workload::kNone:
    case Workload::kEngines:
    case Workload::kInstructions:
      break;
  }
  return {};
}

std::string describe(const Command& command, const AccountNames* names) {
  const UpsertOptions& upsert = command.upsert;
  const MicroOptions& micro = command.micro;
  const CountersOptions& counters = command.counters;
  const OverwriteOptions& overwrite = command.overwrite;
  switch (command.workload) {
    case Workload::kBank:
      return describe_bank(command, *names);
    case Workload::kUpsert:
      return print_text(
          "Upsert: %lu rounds of %s random keys of 8 bytes, values of %lu bytes, %lu per commit.",
          upsert.rounds, with_commas(upsert.items).c_str(), upsert.value_bytes, upsert.batch);
    case Workload::kMicro:
      return print_text("Micro: %s entries, inserted %s, %lu per commit, %s gets of each kind.",
                        with_commas(micro.items).c_str(),
                        micro.sequential ? "in order" : "at random", micro.batch,
                        with_commas(micro.gets).c_str());
    case Workload::kScale:
      return describe_scale(command.scale);
    case Workload::kInsert:
      return describe_insert(command);
    case Workload::kCounters:
      return print_text(
          "Counters: %s of 8 + 8 bytes, %s steps, %u threads.",
          with_commas(counters.counters).c_str(),
          with_commas(counters.steps == 0 ? counters.counters : counters.steps).c_str(),
          counters.threads);
    case Workload::kNvme:
      return describe_nvme(command.nvme);
    case Workload::kOverwrite:
      return print_text("Overwrite: %s records of 8 + %lu bytes, %u passes, %lu per commit.",
                        with_commas(overwrite.records).c_str(), overwrite.value_bytes,
                        overwrite.passes, overwrite.batch);
    case Workload::kSoak:
      return describe_soak(command.soak);
    case Workload::kTxn:
      return describe_txn(command);
    case Workload::kBackup:
      return print_text("Backup: %s records of 8 + %lu bytes, %lu times.",
                        with_commas(command.backup.records).c_str(), command.backup.value_bytes,
                        command.backup.rounds);
    case Workload::kTatp:
      return describe_tatp(command);
    case Workload::kSql:
      return print_text("SQL: size %lu, tables of %s rows, cache of %s, seed %lu.",
                        command.sql.size, with_commas(command.sql.size * kSqlRowsOfSize).c_str(),
                        size_text(static_cast<double>(command.sql.cache_bytes)).c_str(),
                        command.sql.seed);
    case Workload::kNone:
    case Workload::kEngines:
    case Workload::kInstructions:
      break;
  }
  return {};
}

}  // namespace hawthorn::bench
