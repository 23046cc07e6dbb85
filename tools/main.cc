// hawthorn: the command line. docs/command.md describes it.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "hawthorn/version.h"
#include "tools/command.h"
#include "tools/completion.h"
#include "tools/keys.h"
#include "tools/man_page.h"
#include "tools/metrics.h"
#include "tools/top.h"

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
    describe_tables();
    describe_copies();
    describe_care();
    describe_shell();
    describe_web();
    describe_programs();
    describe_itself();
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      // --help and --version come here too, as successes.
      return app_.exit(error) == 0 ? kExitOk : kExitUsage;
    }
    return report_outcome(run_(), common_.json);
  }

 private:
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
    CLI::Option* progress =
        command.add_flag("--progress", common_.progress,
                         "Show progress on standard error even when it is no terminal");
    command.add_flag("--quiet", common_.quiet, "Show no progress, on a terminal neither")
        ->excludes(progress);
    add_key(command, "--", "The database's key", common_.key);
    return command;
  }

  // Never the key itself: the command line is no secret.
  static void add_key(CLI::App& command, const std::string& before, const std::string& what,
                      KeySource& source) {
    const std::string form = ": 64 hexadecimal digits, or 32 bytes";
    CLI::Option* file =
        command.add_option(before + "key-file", source.file, what + form)->type_name("FILE");
    CLI::Option* variable = command
                                .add_option(before + "key-env", source.variable,
                                            what + ", from this variable of the environment")
                                ->type_name("NAME")
                                ->excludes(file);
    command.add_option(before + "key-fd", source.descriptor, what + ", from this descriptor")
        ->type_name("N")
        ->excludes(file)
        ->excludes(variable);
  }

  void add_key_id(CLI::App& command) {
    command
        .add_option("--key-id", common_.key_id,
                    "The id of the key, where the database is created (default: first)")
        ->type_name("ID");
  }

  void add_tree_and_hex(CLI::App& command) {
    command.add_option("--tree", common_.tree, "The tree to work on (default: main)")
        ->type_name("NAME");
    command.add_flag("--hex", common_.hex, "Keys and values are hexadecimal");
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
    add_key_id(put);
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

    CLI::App& explain =
        add_command("explain", "Tell where a key is, and what a read of it takes from disk",
                    [this] { return run_explain(common_, explain_key_); });
    explain.add_option("key", explain_key_)->required()->type_name("KEY");
    add_tree_and_hex(explain);
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
    add_key_id(load);

    CLI::App& dump = add_command("dump", "Write all trees, as of one moment, as a dump file",
                                 [this] { return run_dump(common_, dump_); });
    dump.add_option("file", dump_.file, "The file to write; default: standard output")
        ->type_name("FILE");
    dump.add_option("--tree", dump_.trees, "Only this tree; may be repeated")
        ->type_name("NAME")
        ->expected(1)
        ->take_all();
    dump.add_flag("--base64", dump_.base64, "Base64 instead of escaped text: smaller for bytes");
  }

  void add_table(CLI::App& command, const std::string& file) {
    command.add_option("file", table_.file, file)->type_name("FILE");
    const std::map<std::string, TableFormat> formats = {{"csv", TableFormat::kCsv},
                                                        {"jsonl", TableFormat::kJsonLines}};
    command
        .add_option("--format", table_.format,
                    "csv, or jsonl: a JSON object a line; default: by the end of the file's name")
        ->transform(without_description(CLI::CheckedTransformer(formats)))
        ->type_name("FORMAT");
  }

  void describe_shell() {
    CLI::App& shell = add_command(
        "shell", "Take commands from the terminal, or from standard input; help lists them",
        [this] { return run_shell(common_, shell_options_); });
    shell.add_flag("--read-only", shell_options_.read_only,
                   "Change nothing; beside a process that writes, too");
    shell.add_option("--tree", common_.tree, "The tree to begin with (default: main)")
        ->type_name("NAME");
    add_key_id(shell);
  }

  void describe_web() {
    CLI::App& web = add_command(
        "web", "Show the database on a web page of this machine, until Ctrl-C; changes nothing",
        [this] { return run_web(common_, web_); });
    web.add_option("--port", web_.port, "The port to listen at; 0: any (default: 8080)")
        ->type_name("N");
  }

  void describe_tables() {
    CLI::App& import = add_command("import", "Write what CSV or JSON lines hold to a tree",
                                   [this] { return run_import(common_, table_); });
    add_table(import, "The file; default: standard input");
    import.add_option("--tree", common_.tree, "The tree to write to (default: main)")
        ->type_name("NAME");
    import
        .add_option("--columns", table_.columns,
                    "Of CSV that begins with entries: what the columns are, such as "
                    "key_text,value_hex,-")
        ->type_name("LIST");
    import.add_flag("--bulk", table_.bulk, "Faster, and all or nothing; sorts in the directory");
    add_durability(import, table_.durability, "none, and all of it synced at the end");
    add_key_id(import);

    CLI::App& exported =
        add_command("export", "Write a tree, or a range of it, as CSV or JSON lines",
                    [this] { return run_export(common_, table_); });
    add_table(exported, "The file to write; default: standard output");
    add_range(exported, table_.range);
    add_tree_and_hex(exported);
    exported.add_flag("--base64", table_.base64, "Base64 for all keys and values");
  }

  void add_pace(CLI::App& command) {
    command
        .add_option("--bytes-per-second", copy_.bytes_per_second,
                    "Copy no more than this, such as 50MB; default: no limit")
        ->transform(without_description(CLI::AsSizeValue(false)))
        ->type_name("SIZE");
  }

  void add_target(CLI::App& command, const std::string& what) {
    command.add_option("target", copy_.target, what)->required()->type_name("TARGET");
    add_pace(command);
  }

  void describe_copies() {
    CLI::App& checkpoint = add_command("checkpoint", "Copy the database to a new directory",
                                       [this] { return run_checkpoint(common_, copy_); });
    add_target(checkpoint, "The directory of the copy: missing or empty");
    checkpoint.add_flag("--full", copy_.full, "Copy where the file system could share blocks");
    CLI::App& backup = add_command("backup", "Add a backup of the database to a repository",
                                   [this] { return run_backup(common_, copy_); });
    add_target(backup, "The repository, made when missing; - is standard output");
    backup.add_flag("--full", copy_.full, "Store everything again, not only what is new");
    CLI::App& backups = add_command("backups", "List the backups of the repository DIR",
                                    [this] { return run_backups(common_, backups_); });
    backups.add_option("--remove", backups_.remove, "Delete this one before; may be repeated")
        ->type_name("ID")
        ->expected(1)
        ->take_all();
    CLI::App& verify =
        add_command("verify",
                    "Read the backups of the repository DIR, compare checksums; - is "
                    "standard input",
                    [this] { return run_verify(common_, copy_); });
    verify.add_option("--id", copy_.id, "Which backup; default: all")->type_name("ID");
    CLI::App& restore = add_command("restore",
                                    "Make a database of a backup in the repository DIR; "
                                    "- is standard input",
                                    [this] { return run_restore(common_, copy_); });
    add_target(restore, "The directory of the database: missing or empty");
    restore.add_option("--id", copy_.id, "Which backup; default: the newest")->type_name("ID");
  }

  void describe_care() {
    CLI::App& stats = add_command("stats", "Print what the database says about itself",
                                  [this] { return run_stats(common_, stats_); });
    CLI::Option* watch = stats.add_flag(
        "--watch{1}", stats_.watch_seconds,
        "Of a process that has it open: its figures and their rates, each second, or "
        "--watch=SECONDS");
    stats.add_option("--times", stats_.times, "With --watch: end after so many looks")
        ->type_name("N")
        ->needs(watch);
    CLI::App& top = add_command(
        "top", "Show rates and sizes of a database that a process has open, until q is pressed",
        [this] { return run_top(common_, top_); });
    top.add_option("--every", top_.every_seconds, "Look anew so often; default: 1")
        ->type_name("SECONDS");
    top.add_option("--times", top_.times, "End after so many looks")->type_name("N");
    CLI::App& metrics = add_command(
        "metrics", "Print the figures of a database that a process has open for Prometheus",
        [this] { return run_metrics(common_, metrics_); });
    CLI::Option* file =
        metrics.add_option("--output", metrics_.file, "Write them to this file, whole at any time")
            ->type_name("FILE");
    metrics.add_option("--every", metrics_.every_seconds, "Do so again and again")
        ->type_name("SECONDS")
        ->needs(file);
    metrics
        .add_option("--listen", metrics_.listen,
                    "Serve them at http://ADDRESS:PORT/metrics until Ctrl-C; takes [ADDRESS:]PORT, "
                    "without an address for this machine alone")
        ->type_name("PORT")
        ->excludes(file);
    CLI::App& compact = add_command(
        "compact", "Flush, and rewrite what carries garbage, so that it takes less disk",
        [this] { return run_compact(common_, compact_); });
    compact
        .add_option("--bytes-per-second", compact_.bytes_per_second,
                    "Read and write no more than this, such as 50MB; default: no limit")
        ->transform(without_description(CLI::AsSizeValue(false)))
        ->type_name("SIZE");
    add_command("counters", "Print the figures of a database that any process has open",
                [this] { return run_counters(common_); });

    CLI::App& check = add_command("check", "Verify checksums, order, counts and references",
                                  [this] { return run_check(common_, check_); });
    check.add_flag("--indexes-only", check_.indexes_only, "Do not read values");
    check.add_option("--rate", check_.bytes_per_second, "Read no more than so much per second")
        ->transform(without_description(CLI::AsSizeValue(false)))
        ->type_name("SIZE");
    check
        .add_option("--threads", check_.threads,
                    "Read and verify with so many threads (default: 1)")
        ->check(without_description(CLI::Range(1, 64)))
        ->type_name("N");

    CLI::App& rotate = add_command("rotate-key", "Let another key open an encrypted database",
                                   [this] { return run_rotate_key(common_, rotate_key_); });
    add_key(rotate, "--new-", "The new key", rotate_key_.new_key);
    rotate.add_option("--new-key-id", rotate_key_.new_key_id, "The new key's id")
        ->required()
        ->type_name("ID");
    add_command("rotate-data-key", "Encrypt with a new data key what is written from now on",
                [this] { return run_rotate_data_key(common_); });

    CLI::App& repair = add_command("repair", "Make a new database of all that is readable",
                                   [this] { return run_repair(common_, repair_); });
    repair.add_option("target", repair_.target, "Where; must not exist")
        ->required()
        ->type_name("TARGET");
    repair
        .add_option("--device", repair_.devices,
                    "A device that holds its data, for each of them; without it where the "
                    "manifest says")
        ->type_name("DEVICE");
    repair.add_flag("--ignore-manifest", repair_.ignore_manifest,
                    "Look for containers in the data files, though a manifest can be read");
  }

  void describe_programs() {
    // Only for the list of commands: main() hands them over before anything is parsed.
    const std::pair<const char*, const char*> programs[] = {
        {"bench", "Run hawthorn-bench, with its arguments"},
        {"import-rocksdb", "Make a database for hawthorn-rocksdb of one of RocksDB's"},
        {"export-rocksdb", "Make a database of RocksDB's of one for hawthorn-rocksdb"},
        {"import-sqlite", "Make a database for hawthorn-sqlite of a file of SQLite's"},
        {"export-sqlite", "Make a file of SQLite's of a database for hawthorn-sqlite"},
        {"ldb", "As RocksDB's ldb, on databases of hawthorn-rocksdb"},
        {"mdbx-dump", "As mdb_dump and mdbx_dump, on databases of hawthorn-mdbx"},
        {"mdbx-load", "As mdb_load and mdbx_load, into a database for hawthorn-mdbx"}};
    for (const auto& [name, what] : programs) app_.add_subcommand(name, what)->prefix_command();
  }

  void describe_itself() {
    CLI::App& completion =
        *app_.add_subcommand("completion", "Print what a shell needs to complete this command");
    const std::map<std::string, Shell> shells = {
        {"bash", Shell::kBash}, {"zsh", Shell::kZsh}, {"fish", Shell::kFish}};
    completion.add_option("shell", shell_, "bash, zsh or fish")
        ->required()
        ->transform(without_description(CLI::CheckedTransformer(shells)))
        ->type_name("SHELL");
    completion.callback(
        [this] { run_ = [this] { return print_line(completion_script(app_, shell_)); }; });
    CLI::App& man = *app_.add_subcommand("man", "Print the manual page, or that of one command");
    man.add_option("command", man_command_, "Which command; default: all")->type_name("COMMAND");
    man.callback([this] { run_ = [this] { return print_man_page(); }; });
  }

  Status print_man_page() const {
    const std::string page = man_page(app_, man_command_, version());
    if (!page.empty()) return print_line(page);
    return Status(StatusCode::kInvalidArgument, "there is no command " + man_command_);
  }

  CLI::App app_;
  CommonOptions common_;
  CopyCommandOptions copy_;
  BackupsCommandOptions backups_;
  PutOptions put_;
  GetOptions get_;
  DelOptions del_;
  ScanCommandOptions scan_;
  RangeOptions count_range_;
  LoadOptions load_;
  DumpOptions dump_;
  TableOptions table_;
  StatsOptions stats_;
  TopOptions top_;
  MetricsOptions metrics_;
  CompactOptions compact_;
  ShellOptions shell_options_;
  WebOptions web_;
  std::string explain_key_;
  Shell shell_ = Shell::kBash;
  std::string man_command_;
  CheckCommandOptions check_;
  RotateKeyOptions rotate_key_;
  RepairCommandOptions repair_;
  std::function<Status()> run_;
};

int run(int argc, char** argv) {
  if (const std::optional<Status> status = exec_program(argv); status.has_value()) {
    std::fprintf(stderr, "hawthorn: %s\n", status->to_string().c_str());
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
