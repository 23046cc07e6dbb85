#include "bench/instructions/command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "bench/instructions/run_counted.h"
#include "bench/instructions/table.h"

namespace hawthorn::bench {
namespace {

std::filesystem::path program_path(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() /
         ("hawthorn-counted-" + name);
}

std::vector<std::string> chosen_programs(const InstructionsOptions& options) {
  std::vector<std::string> chosen;
  for (const std::string& name : counted_programs()) {
    const bool asked =
        std::find(options.programs.begin(), options.programs.end(), name) != options.programs.end();
    const bool built = std::filesystem::exists(program_path(name));
    if (asked && !built) {
      throw std::runtime_error("the program for '" + name +
                               "' was not built: it needs valgrind/callgrind.h and, but for "
                               "'native', HAWTHORN_BUILD_SHIMS");
    }
    if (asked || (options.programs.empty() && built)) chosen.push_back(name);
  }
  if (chosen.empty()) {
    throw std::runtime_error(
        "this build counts no instructions: configure it where valgrind is installed, whose "
        "valgrind/callgrind.h it needs");
  }
  return chosen;
}

std::vector<size_t> chosen_shapes(const InstructionsOptions& options) {
  std::vector<size_t> chosen;
  for (size_t shape = 0; shape < kShapes.size(); ++shape) {
    if (options.shapes.empty() || std::find(options.shapes.begin(), options.shapes.end(),
                                            kShapes[shape]) != options.shapes.end()) {
      chosen.push_back(shape);
    }
  }
  return chosen;
}

std::string read_document(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + " cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_document(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(path + " cannot be written");
}

int check(const std::string& path, const Comparison& comparison) {
  for (const std::string& note : comparison.notes) std::printf("fell: %s\n", note.c_str());
  for (const std::string& failure : comparison.failures) {
    std::printf("FAILED: %s\n", failure.c_str());
  }
  if (comparison.failures.empty()) {
    std::printf("The counts are those of %s.\n", path.c_str());
    return 0;
  }
  std::printf(
      "Counts may not rise by more than %.0f%% without the table changing in the same commit:\n"
      "  hawthorn-bench instructions --update %s --reason 'WHY'\n",
      100 * kRiseMax, path.c_str());
  return 1;
}

int run(const InstructionsOptions& options) {
  const std::vector<std::string> programs = chosen_programs(options);
  const std::vector<size_t> shapes = chosen_shapes(options);
  // Before minutes are spent.
  CountedTable expected;
  if (!options.check_file.empty()) expected = parse_table(read_document(options.check_file));
  if (!options.update_file.empty()) expected = parse_table(read_document(options.update_file));

  CountedTable counted;
  for (const std::string& program : programs) {
    for (const size_t shape : shapes) {
      run_counted(program_path(program), shape, options.directory, counted);
    }
  }
  if (options.json) {
    std::printf("%s", print_json(counted).c_str());
  } else if (options.markdown) {
    std::printf("%s", print_markdown(counted).c_str());
  } else {
    std::printf("%s", print_text(counted).c_str());
  }
  std::fflush(stdout);
  if (!options.check_file.empty()) {
    return check(options.check_file, compare(expected, counted, programs, shapes));
  }
  if (!options.update_file.empty()) {
    write_document(options.update_file,
                   replace_table(read_document(options.update_file),
                                 updated(expected, counted, programs, shapes, options.reason)));
  }
  return 0;
}

}  // namespace

const std::vector<std::string>& counted_programs() {
  static const std::vector<std::string> names = {"native", "rocksdb", "mdbx", "lmdb", "sqlite"};
  return names;
}

int run_instructions(const InstructionsOptions& options) {
  for (const std::string& name : options.programs) {
    if (std::find(counted_programs().begin(), counted_programs().end(), name) ==
        counted_programs().end()) {
      std::fprintf(stderr, "hawthorn-bench: there is no counted program '%s'\n", name.c_str());
      return 2;
    }
  }
  for (const std::string& name : options.shapes) {
    if (std::find(kShapes.begin(), kShapes.end(), name) == kShapes.end()) {
      std::fprintf(stderr, "hawthorn-bench: there is no shape '%s'\n", name.c_str());
      return 2;
    }
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hawthorn-bench: %s\n", error.what());
    return 1;
  }
}

}  // namespace hawthorn::bench
