// hawthorn: the command line. docs/command.md describes it.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <string>

#include "hawthorn/version.h"
#include "tools/command.h"
#include "tools/json.h"

namespace hawthorn::tools {
namespace {

constexpr char kFooter[] =
    "Keys and values are text in which \\n \\t \\r \\\\ and \\xNN stand for bytes; --hex takes "
    "and\n"
    "prints hexadecimal instead. What begins with '-' goes behind a '--'.\n"
    "Exit codes: 0 ok, 1 not found, 2 usage, 3 corruption, 4 another error, 5 busy.";

// A check whose description would only repeat what the option's help says.
CLI::Validator without_description(CLI::Validator validator) {
  validator.description("");
  return validator;
}

// The whole command line: the options of all commands, and what to run for the one that was chosen.
class CommandLine {
 public:
  CommandLine() : app_("Reads, writes, moves and checks Hawthorn databases.", "hawthorn") {
    app_.set_version_flag("--version", "hawthorn " + std::string(version()));
    app_.require_subcommand(1);
    app_.footer(kFooter);
    describe_entries();
    describe_ranges();
    describe_moves();
    describe_care();
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      // --help and --version come here too, as successes.
      return app_.exit(error) == 0 ? kExitOk : kExitUsage;
    }
    return report(run_());
  }

 private:
  int report(const Status& status) const {
    if (status.ok()) return kExitOk;
    if (common_.json) {
      Json error;
      error.begin_object().begin_object("error");
      error.field("code", status_code_name(status.code()));
      error.field("message", status.message());
      error.end_object().end_object();
      std::printf("%s\n", error.text().c_str());
    }
    std::fprintf(stderr, "hawthorn: %s\n", status.to_string().c_str());
    return exit_code_of(status);
  }

  CLI::App& add_command(const std::string& name, const std::string& description,
                        std::function<Status()> run) {
    CLI::App& command = *app_.add_subcommand(name, description);
    command.callback([this, run = std::move(run)] { run_ = run; });
    command.add_option("directory", common_.directory, "The directory of the database")
        ->required()
        ->type_name("DIR");
    command.add_flag("--json", common_.json, "Print JSON, errors too");
    command.add_option("--memory", common_.memory_bytes, "Memory budget, such as 64MB or 2GB")
        ->transform(without_description(CLI::AsSizeValue(false)))
        ->type_name("SIZE");
    command.add_flag("--verbose", common_.verbose, "Show what the engine reports");
    return command;
  }

  void add_tree_and_hex(CLI::App& command) {
    command.add_option("--tree", common_.tree, "The tree to work on (default: main)")
        ->type_name("NAME");
    command.add_flag("--hex", common_.hex, "Keys and values are hexadecimal");
  }

  void add_progress(CLI::App& command) {
    command.add_flag("--progress", common_.progress,
                     "Show progress on standard error even when it is no terminal");
  }

  static void add_durability(CLI::App& command, Durability& durability,
                             const std::string& default_name) {
    const std::map<std::string, Durability> names = {
        {"none", Durability::kNone}, {"async", Durability::kAsync}, {"full", Durability::kFull}};
    command.add_option("--durability", durability, "none, async or full; default: " + default_name)
        ->transform(without_description(CLI::CheckedTransformer(names)))
        ->type_name("LEVEL");
  }

  static void add_range(CLI::App& command, RangeOptions& range) {
    command.add_option("--from", range.from, "The first key")->type_name("KEY");
    command.add_option("--to", range.to, "The first key that is too far")->type_name("KEY");
    command.add_option("--prefix", range.prefix, "Only keys that begin with this")
        ->type_name("KEY");
  }

  void describe_entries() {
    CLI::App& put = add_command("put", "Write one entry; creates database and tree when missing",
                                [this] { return run_put(common_, put_); });
    put.add_option("key", put_.key)->required()->type_name("KEY");
    CLI::Option* value = put.add_option("value", put_.value)->type_name("VALUE");
    put.add_option("--file", put_.file, "Take the value's bytes from a file; - is standard input")
        ->type_name("FILE")
        ->excludes(value);
    add_durability(put, put_.durability, "full");
    add_tree_and_hex(put);

    CLI::App& get = add_command("get", "Print the value of a key, its bytes as they are",
                                [this] { return run_get(common_, get_); });
    get.add_option("key", get_.key)->required()->type_name("KEY");
    get.add_option("--output", get_.output, "Write the value to a file")->type_name("FILE");
    add_tree_and_hex(get);

    CLI::App& del = add_command("del", "Delete keys, all in one commit",
                                [this] { return run_del(common_, del_); });
    del.add_option("keys", del_.keys)->required()->type_name("KEY");
    add_durability(del, del_.durability, "full");
    add_tree_and_hex(del);
  }

  void describe_ranges() {
    CLI::App& scan = add_command("scan", "Print entries in key order, KEY <tab> VALUE in each line",
                                 [this] { return run_scan(common_, scan_); });
    add_range(scan, scan_.range);
    scan.add_option("--limit", scan_.limit, "Stop after so many entries")->type_name("N");
    scan.add_flag("--reverse", scan_.reverse, "From the last key to the first");
    scan.add_flag("--keys-only", scan_.keys_only, "Print keys alone; values are not read");
    add_tree_and_hex(scan);

    CLI::App& count = add_command("count", "Count the entries of a tree or a key range",
                                  [this] { return run_count(common_, count_range_); });
    add_range(count, count_range_);
    add_tree_and_hex(count);
    add_progress(count);
  }

  void describe_moves() {
    CLI::App& load = add_command("load", "Write what a dump file holds (docs/dump-format.md)",
                                 [this] { return run_load(common_, load_); });
    load.add_option("file", load_.file, "The dump file; default: standard input")
        ->type_name("FILE");
    load.add_option("--tree", load_.tree, "Load into this tree; the file must hold just one")
        ->type_name("NAME");
    CLI::Option* bulk = load.add_flag(
        "--bulk", load_.bulk, "Faster, and each tree whole or not at all; sorts in the directory");
    load.add_flag("--sorted", load_.sorted,
                  "As --bulk, of keys that are in order (as dump writes them): no sorting")
        ->excludes(bulk);
    add_durability(load, load_.durability, "none, and all of it synced at the end");
    const std::map<std::string, Compression> codecs = {
        {"none", Compression::kNone}, {"lz4", Compression::kLz4}, {"zstd", Compression::kZstd}};
    load.add_option("--compression", load_.compression,
                    "none, lz4 or zstd for the trees, from now on; default: as they are")
        ->transform(without_description(CLI::CheckedTransformer(codecs)))
        ->type_name("CODEC");
    add_progress(load);

    CLI::App& dump = add_command("dump", "Write all trees, as of one moment, as a dump file",
                                 [this] { return run_dump(common_, dump_); });
    dump.add_option("file", dump_.file, "The file to write; default: standard output")
        ->type_name("FILE");
    dump.add_option("--tree", dump_.trees, "Only this tree; may be repeated")
        ->type_name("NAME")
        ->expected(1)
        ->take_all();
    dump.add_flag("--base64", dump_.base64, "Base64 instead of escaped text: smaller for bytes");
    add_progress(dump);
  }

  void describe_care() {
    add_command("stats", "Print what the database says about itself",
                [this] { return run_stats(common_); });
    add_command("counters", "Print the figures of a database that any process has open",
                [this] { return run_counters(common_); });

    CLI::App& check = add_command("check", "Verify checksums, order, counts and references",
                                  [this] { return run_check(common_, check_); });
    check.add_flag("--indexes-only", check_.indexes_only, "Do not read values");
    add_progress(check);

    CLI::App& repair = add_command("repair", "Make a new database of all that is readable",
                                   [this] { return run_repair(common_, repair_); });
    repair.add_option("target", repair_.target, "Where; must not exist")
        ->required()
        ->type_name("TARGET");
    repair.add_flag("--ignore-manifest", repair_.ignore_manifest,
                    "Look for containers in the data files, though a manifest can be read");
    add_progress(repair);

    // Only for the list of commands: main() hands it over before anything is parsed.
    app_.add_subcommand("bench", "Run hawthorn-bench, with its arguments")->prefix_command();
  }

  CLI::App app_;
  CommonOptions common_;
  PutOptions put_;
  GetOptions get_;
  DelOptions del_;
  ScanCommandOptions scan_;
  RangeOptions count_range_;
  LoadOptions load_;
  DumpOptions dump_;
  CheckCommandOptions check_;
  RepairCommandOptions repair_;
  std::function<Status()> run_;
};

int run(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "bench") == 0) {
    const Status status = exec_bench(argv + 1);
    std::fprintf(stderr, "hawthorn: %s\n", status.to_string().c_str());
    return kExitError;
  }
  CommandLine command_line;
  return command_line.run(argc, argv);
}

}  // namespace
}  // namespace hawthorn::tools

int main(int argc, char** argv) {
  try {
    return hawthorn::tools::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hawthorn: %s\n", error.what());
    return hawthorn::tools::kExitError;
  }
}
