#include "bench/program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "bench/bank_kill.h"
#include "bench/cases.h"
#include "bench/engine_registry.h"
#include "bench/foreign.h"
#include "bench/interrupt.h"
#include "bench/machine.h"
#include "bench/memory_group.h"
#include "bench/results.h"
#include "bench/runner.h"
#include "bench/tables.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

class Program {
 public:
  explicit Program(const Command& command) : command_(command) {}
  int run();

 private:
  size_t pretouch_bytes() const;
  size_t memory_bytes_of(const EngineInfo& info) const;
  void check_cap() const;
  void print_head() const;
  Report run_one(const Case& one, const EngineInfo& info, bool keep);
  std::vector<std::string> foreign_command(const Case& one, const EngineInfo& info,
                                           const RunContext& run) const;
  void run_and_print(const Case& one, unsigned repeat, const std::string& engine, bool keep);
  void run_rounds(const Case& one, unsigned repeat, bool last);
  void write_files() const;

  const Command& command_;
  std::optional<AccountNames> names_;
  std::string base_;
  Results results_;
};

size_t Program::pretouch_bytes() const {
  if (!command_.pretouch_default) return command_.pretouch_bytes;
  const uint64_t used = command_.cap_bytes != 0 ? command_.cap_bytes : 2 * command_.memory_bytes;
  return std::min<size_t>(used, available_memory_bytes() / 2);
}

size_t Program::memory_bytes_of(const EngineInfo& info) const {
  if (command_.cap_bytes == 0 || command_.memory_given) return command_.memory_bytes;
  return static_cast<size_t>(info.share_of_cap * static_cast<double>(command_.cap_bytes));
}

// Before anything is run: half a comparison under a cap is none.
void Program::check_cap() const {
  if (command_.cap_bytes == 0) return;
  const MemoryGroup group(print_text("hawthorn-bench.%d", getpid()), command_.cap_bytes);
  if (!group.valid()) {
    throw std::runtime_error("--memory-cap needs root and the memory controller: " + group.error());
  }
}

void Program::print_head() const {
  const double memory = static_cast<double>(command_.memory_bytes);
  if (command_.cap_bytes != 0) {
    std::cout << "Memory cap, page cache included: "
              << size_text(static_cast<double>(command_.cap_bytes)) << ". ";
  }
  std::cout << "Memory for each engine: "
            << (command_.cap_bytes != 0 && !command_.memory_given ? "its share of the cap"
                                                                  : size_text(memory))
            << ". Durability: "
            << (command_.sync == SyncMode::kFull    ? "every commit synced"
                : command_.sync == SyncMode::kAsync ? "async"
                                                    : "survives kill -9, no sync")
            << ". Runs of each engine: " << command_.repeat << ", interleaved.\n";
  std::cout << describe(command_, names_ ? &*names_ : nullptr) << '\n' << std::flush;
}

Report Program::run_one(const Case& one, const EngineInfo& info, bool keep) {
  RunContext run;
  run.engine_name = info.name;
  run.config.path = (std::filesystem::path(base_) / info.name).string();
  run.config.memory_bytes = memory_bytes_of(info);
  run.config.map_bytes = command_.map_bytes;
  run.config.sync = command_.sync;
  run.config.writers = one.writers;
  run.config.transactions = one.transactions;
  run.verbose = !command_.quiet;
  run.cap_bytes = command_.cap_bytes;
  run.fill = command_.compressible ? Fill::kHalf : Fill::kNoise;
  const ChildLimits limits{command_.memory_bytes, info.limit, command_.use_cgroup,
                           command_.cap_bytes};

  make_database_directory(base_, run.config.path);
  sync_file_system(base_);
  // Before each run: what an earlier one freed may have gone back to a hypervisor meanwhile.
  const size_t touched = pretouch_bytes();
  touch_memory(touched);
  run.config.pretouch = touched != 0;
  Report report;
  if (!info.program.empty()) {
    report = run_in_child(info.name, limits, [&](Report& child) {
      run_foreign(foreign_command(one, info, run), child);
    });
  } else if (command_.kill) {
    const KillOptions kill{.rounds = command_.kill_rounds};
    report = run_killed_bank(info, run.config, one.bank, kill, *names_, limits);
  } else {
    report = run_in_child(info.name, limits, [&](Report& child) {
      run.report = &child;
      const std::unique_ptr<Engine> engine = info.make();
      one.run(run, *engine);
    });
  }
  if (!keep) remove_database_directory(base_, run.config.path);
  return report;
}

std::vector<std::string> Program::foreign_command(const Case& one, const EngineInfo& info,
                                                  const RunContext& run) const {
  if (one.words.empty()) {
    throw EngineError(info.name + " runs upsert, insert, and the bank without kills and backups");
  }
  std::vector<std::string> words = info.program;
  words.insert(words.end(), one.words.begin(), one.words.end());
  const SyncMode sync = run.config.sync;
  for (const std::string& word :
       {"engine=" + info.name, "version=" + info.build.version, "path=" + run.config.path,
        print_text("memory=%zu", run.config.memory_bytes),
        std::string("sync=") + (sync == SyncMode::kFull    ? "full"
                                : sync == SyncMode::kAsync ? "async"
                                                           : "none"),
        std::string("fill=") + (run.fill == Fill::kHalf ? "half" : "noise")}) {
    words.push_back(word);
  }
  return words;
}

void Program::write_files() const {
  const auto write = [](const std::string& path, const auto& write_to) {
    if (path.empty()) return;
    std::ofstream file(path);
    write_to(file);
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
  };
  write(command_.json_file, [this](std::ostream& out) { results_.write_json(out); });
  write(command_.csv_file, [this](std::ostream& out) { results_.write_csv(out); });
  if (results_.all_ok() || command_.csv_file.empty()) return;
  write(command_.csv_file + ".failed",
        [this](std::ostream& out) { results_.write_failed_csv(out); });
}

void Program::run_and_print(const Case& one, unsigned repeat, const std::string& engine,
                            bool keep) {
  if (!command_.quiet) {
    std::cerr << one.name << ", run " << repeat + 1 << " of " << command_.repeat * one.rounds
              << ": " << engine << '\n';
  }
  const EngineInfo& info = *find_engine(engine);
  Run run{one.name, engine, repeat, run_one(one, info, keep), info.build};
  std::cout << run.workload << ", run " << repeat + 1 << ":\n";
  print_run(run, std::cout);
  std::cout << std::flush;
  results_.add(std::move(run));
  // After each run, so that an interruption keeps what there is.
  write_files();
}

// All rounds of a case in one repeat. Each of them is a repeat of its own in the results.
void Program::run_rounds(const Case& one, unsigned repeat, bool last) {
  const std::vector<std::string>& engines = one.engines.empty() ? command_.engines : one.engines;
  for (unsigned round = 0; round < one.rounds; ++round) {
    for (const std::string& engine : engines) {
      if (interrupted()) return;
      run_and_print(one, repeat * one.rounds + round, engine,
                    last && round + 1 == one.rounds && command_.keep);
    }
  }
}

int Program::run() {
  base_ = command_.db_path;
  if (base_.empty()) {
    base_ = command_.workload == Workload::kBank ? "/tmp/bank_bench_db" : "/tmp/hawthorn_bench_db";
  }
  check_cap();
  if (command_.workload == Workload::kBank) {
    names_.emplace(command_.bank.accounts, command_.bank.seed, command_.dictionary);
  }
  const std::vector<Case> cases = make_cases(command_, names_ ? &*names_ : nullptr);
  if (cases.empty()) throw std::runtime_error("none of the engines has what this needs");
  // The engine under way ends its run with figures; nobody is left to print those of a dead parent.
  if (command_.workload == Workload::kScale || command_.workload == Workload::kSoak) {
    catch_interrupts();
  }
  print_head();
  for (unsigned repeat = 0; repeat < command_.repeat; ++repeat) {
    for (size_t i = 0; i < cases.size(); ++i) {
      run_rounds(cases[i], repeat, repeat + 1 == command_.repeat && i + 1 == cases.size());
    }
  }
  print_tables(results_, {command_.baseline, command_.all_metrics, isatty(STDOUT_FILENO) != 0},
               std::cout);
  return results_.all_ok() ? 0 : 1;
}

void write_engines(std::ostream& out) {
  const char* separator = "{\"engines\": [\n";
  for (const EngineInfo& info : engines()) {
    out << separator << "{\"engine\": " << json_string(info.name)
        << ", \"summary\": " << json_string(info.summary) << ", " << build_json(info.build) << "}";
    separator = ",\n";
  }
  out << "],\n\"missing\": [";
  separator = "\n";
  for (const std::string& missing : missing_engines()) {
    out << separator << json_string(missing);
    separator = ",\n";
  }
  out << "]}\n";
}

void list_engines(const Command& command) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  size_t columns = 24;
  for (const EngineInfo& info : engines()) columns = std::max(columns, info.name.size() + 2);
  for (const EngineInfo& info : engines()) {
    std::cout << info.name << std::string(columns - info.name.size(), ' ') << info.summary << '\n'
              << std::string(columns, ' ')
              << red_text(build_text(info.build), terminal && info.build.unfair()) << '\n';
  }
  for (const std::string& missing : missing_engines()) {
    std::cout << "not built: " << missing << '\n';
  }
  if (!command.json_file.empty()) {
    std::ofstream file(command.json_file);
    write_engines(file);
    if (!file.flush()) throw std::runtime_error("cannot write " + command.json_file);
  }
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  const Command command = parse_command_line(argc, argv);
  if (command.workload == Workload::kNone) return command.exit_code;
  if (command.workload == Workload::kEngines) {
    list_engines(command);
    return 0;
  }
  if (command.workload == Workload::kInstructions) return run_instructions(command.instructions);
  return Program(command).run();
}

}  // namespace hawthorn::bench
