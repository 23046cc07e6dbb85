// hawthorn-mdbx: what `hawthorn mdbx-dump` and `mdbx-load` become. docs/command.md describes it.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "hawthorn/version.h"
#include "tools/command.h"
#include "tools/mdbx/commands.h"

namespace hawthorn::tools {
namespace {

class CommandLine {
 public:
  CommandLine() : app_("Writes and reads tables as the tools of LMDB and libmdbx do.", "hawthorn") {
    app_.set_version_flag("--version", "hawthorn-mdbx " + std::string(version()));
    app_.require_subcommand(1);
    describe_dump();
    describe_load();
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? kExitOk : kExitUsage;
    }
    Status status = run_();
    if (std::fflush(stdout) != 0 && status.ok()) {
      status = Status(StatusCode::kIoError, "standard output cannot be written");
    }
    if (status.ok()) return kExitOk;
    std::fprintf(stderr, "hawthorn: %s\n", status.to_string().c_str());
    return exit_code_of(status);
  }

 private:
  CLI::App& add_command(const std::string& name, const std::string& description,
                        std::string& directory, std::function<Status()> work) {
    CLI::App& command = *app_.add_subcommand(name, description);
    command.callback([this, work = std::move(work)] { run_ = work; });
    command.add_option("directory", directory, "The directory of the database")
        ->required()
        ->type_name("DIR");
    command.add_flag("-n", no_subdirectory_, "Taken and without a meaning: DIR is a directory");
    return command;
  }

  void describe_dump() {
    CLI::App& dump = add_command("mdbx-dump", "Write tables as mdb_dump and mdbx_dump do",
                                 dump_.directory, [this] { return run_mdbx_dump(dump_); });
    CLI::Option* all = dump.add_flag("-a", dump_.all, "All tables; default: the main one");
    CLI::Option* list = dump.add_flag("-l", dump_.list, "Only the names of tables")->excludes(all);
    dump.add_option("-s", dump_.table, "This table")
        ->type_name("NAME")
        ->excludes(all)
        ->excludes(list);
    dump.add_flag("-p", dump_.printable, "Printable characters as they are");
    dump.add_option("-f", dump_.file, "The file to write; default: standard output")
        ->type_name("FILE");
    dump.add_flag("-q", dump_.quiet, "Without notes");
  }

  void describe_load() {
    CLI::App& load = add_command("mdbx-load", "Read tables that mdb_dump or mdbx_dump wrote",
                                 load_.directory, [this] { return run_mdbx_load(load_); });
    load.add_option("-f", load_.file, "The file to read; default: standard input")
        ->type_name("FILE");
    load.add_option("-s", load_.table, "Load into this table; the file must hold just one")
        ->type_name("NAME");
    load.add_flag("-N", load_.no_overwrite, "Pass over what is there, and overwrite nothing");
    load.add_flag("-a", load_.append, "Only behind what is there: an error where it is not");
    load.add_flag("-T", load_.plain, "Text: a line for each key and each value, without headers");
    load.add_flag("-q", load_.quiet, "Without notes, and without counts at the end");
  }

  CLI::App app_;
  bool no_subdirectory_ = false;
  MdbxDumpOptions dump_;
  MdbxLoadOptions load_;
  std::function<Status()> run_;
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
