// hawthorn-sqlite: what `hawthorn import-sqlite` and `export-sqlite` become. docs/command.md
// describes it.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "hawthorn/version.h"
#include "tools/command.h"
#include "tools/sqlite/move.h"

namespace hawthorn::tools {
namespace {

class CommandLine {
 public:
  CommandLine() : app_("Moves databases between SQLite and Hawthorn.", "hawthorn") {
    app_.set_version_flag("--version", "hawthorn-sqlite " + std::string(version()));
    app_.require_subcommand(1);
    add_command("import-sqlite", "Make a database for hawthorn-sqlite of a file of SQLite's",
                "SQLite's file, in which nothing is changed", run_import_sqlite);
    add_command("export-sqlite", "Make a file of SQLite's of a database for hawthorn-sqlite",
                "The file of the database, in which nothing is changed", run_export_sqlite);
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
  void add_command(const std::string& name, const std::string& description,
                   const std::string& source, Status (*work)(const MoveOptions&)) {
    CLI::App& command = *app_.add_subcommand(name, description);
    command.callback([this, work] { run_ = work; });
    command.add_option("source", options_.source, source)->required()->type_name("SOURCE");
    command.add_option("target", options_.target, "The file to make; must not exist")
        ->required()
        ->type_name("TARGET");
    command
        .add_option("--memory", options_.memory_bytes,
                    "Memory budget of the database, such as 64MB or 2GB")
        ->transform(CLI::AsSizeValue(false).description(""))
        ->type_name("SIZE");
    command.add_flag("--json", options_.json, "Print JSON, errors too");
    CLI::Option* progress =
        command.add_flag("--progress", options_.progress,
                         "Show progress on standard error even when it is no terminal");
    command.add_flag("--quiet", options_.quiet, "Show no progress, on a terminal neither")
        ->excludes(progress);
  }

  CLI::App app_;
  MoveOptions options_;
  std::function<Status(const MoveOptions&)> run_;
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
