// hawthorn-rocksdb: what `hawthorn import-rocksdb` and `export-rocksdb` become. docs/command.md
// describes it.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "hawthorn/version.h"
#include "tools/command.h"
#include "tools/rocksdb/migrate.h"

namespace hawthorn::tools {
namespace {

class CommandLine {
 public:
  CommandLine() : app_("Moves databases between RocksDB and Hawthorn.", "hawthorn") {
    app_.set_version_flag("--version", "hawthorn-rocksdb " + std::string(version()));
    app_.require_subcommand(1);
    CLI::App& import =
        add_command("import-rocksdb", "Make a database for hawthorn-rocksdb of one of RocksDB's",
                    "The directory of RocksDB's database, in which nothing is changed", run_import);
    import
        .add_option("--wal-dir", options_.wal_dir,
                    "Where SOURCE's log is, when that is not "
                    "where its options say")
        ->type_name("DIR");
    repeatable(import, "--db-path", options_.db_paths,
               "A directory of its files, as in DBOptions::db_paths", "DIR");
    CLI::App& back =
        add_command("export-rocksdb", "Make a database of RocksDB's of one for hawthorn-rocksdb",
                    "The directory of the database, in which nothing is changed", run_export);
    repeatable(back, "--merge-operator", options_.merge_operators,
               "The merge operator of a column family, by RocksDB's name; none: it needs none",
               "FAMILY=NAME");
    repeatable(back, "--tree", options_.trees,
               "Of any database of Hawthorn: this tree becomes the column family of its name",
               "NAME");
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? kExitOk : kExitUsage;
    }
    return report_outcome(run_(options_), options_.json);
  }

 private:
  CLI::App& add_command(const std::string& name, const std::string& description,
                        const std::string& source, Status (*work)(const MigrateOptions&)) {
    CLI::App& command = *app_.add_subcommand(name, description);
    command.callback([this, work] { run_ = work; });
    command.add_option("source", options_.source, source)->required()->type_name("SOURCE");
    command.add_option("target", options_.target, "The directory to make; must not exist")
        ->required()
        ->type_name("TARGET");
    command.add_flag("--verify", options_.verify,
                     "Compare each entry at the end, and not only how many there are");
    command.add_option("--memory", options_.memory_bytes, "Memory budget, such as 64MB or 2GB")
        ->transform(CLI::AsSizeValue(false).description(""))
        ->type_name("SIZE");
    command.add_flag("--json", options_.json, "Print JSON, errors too");
    CLI::Option* progress =
        command.add_flag("--progress", options_.progress,
                         "Show progress on standard error even when it is no terminal");
    command.add_flag("--quiet", options_.quiet, "Show no progress, on a terminal neither")
        ->excludes(progress);
    return command;
  }

  static void repeatable(CLI::App& command, const std::string& name,
                         std::vector<std::string>& values, const std::string& what,
                         const std::string& type) {
    command.add_option(name, values, what + "; may be repeated")
        ->type_name(type)
        ->expected(1)
        ->take_all();
  }

  CLI::App app_;
  MigrateOptions options_;
  std::function<Status(const MigrateOptions&)> run_;
};

}  // namespace
}  // namespace hawthorn::tools

int main(int argc, char** argv) {
  try {
    hawthorn::tools::CommandLine command_line;
    return command_line.run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hawthorn: %s\n", error.what());
    return hawthorn::tools::kExitError;
  }
}
