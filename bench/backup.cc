#include "bench/backup.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "bench/clock.h"
#include "bench/machine.h"
#include "bench/record.h"
#include "bench/text.h"
#include "bench/whole_sink.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kLoadBatch = 1000;
// Enough for the disk's rate to show, and less than a run has time for.
constexpr uint64_t kDiskFileBytesMax = 4'000'000'000;

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

class BackupRun {
 public:
  BackupRun(const RunContext& run, const BackupOptionsOfRun& options, Engine& engine)
      : run_(run),
        report_(*run.report),
        options_(options),
        engine_(engine),
        record_(kKeyBytes, options.value_bytes, run.fill),
        repository_(run.config.path + ".backups"),
        restored_(run.config.path + ".restored") {}
  ~BackupRun() {
    std::filesystem::remove_all(repository_);
    std::filesystem::remove_all(restored_);
  }

  void run();

 private:
  uint64_t bytes_raw() const { return options_.records * record_.bytes(); }
  void load();
  void measure_disk();
  void back_up();
  void report();
  void compare_restored();

  const RunContext& run_;
  Report& report_;
  const BackupOptionsOfRun& options_;
  Engine& engine_;
  Record record_;
  const std::string repository_;
  const std::string restored_;
  std::vector<double> disk_writes_;
  std::vector<double> disk_reads_;
  std::vector<double> backups_;
  std::vector<double> restores_;
};

void BackupRun::load() {
  progress(run_, "load");
  const Stopwatch watch;
  const std::unique_ptr<Writer> writer = engine_.writer();
  for (uint64_t at = 0; at < options_.records;) {
    const uint64_t end = std::min(options_.records, at + kLoadBatch);
    writer->begin(WriteIntent::kBlind);
    for (; at < end; ++at) {
      record_.make(at);
      writer->put(record_.key(), record_.value());
    }
    writer->commit();
  }
  report_.add("load", "ops_per_s", static_cast<double>(options_.records) / watch.seconds());
  engine_.settle();
  engine_.sync();
}

void BackupRun::measure_disk() {
  progress(run_, "disk");
  const DiskRates rates =
      sequential_rates(run_.config.path + ".disk", std::min(bytes_raw(), kDiskFileBytesMax));
  disk_writes_.push_back(rates.write_bytes_per_s);
  disk_reads_.push_back(rates.read_bytes_per_s);
}

void BackupRun::back_up() {
  progress(run_, "backup");
  std::filesystem::remove_all(repository_);
  std::filesystem::remove_all(restored_);
  sync_file_system(run_.config.path);
  const std::unique_ptr<Backups> backups = engine_.backups(repository_);
  const Stopwatch watch;
  const auto bytes = static_cast<double>(backups->make(options_.bytes_per_second));
  backups_.push_back(bytes / watch.seconds());
  progress(run_, "verify backup");
  backups->verify();
  progress(run_, "restore");
  const Stopwatch restoring;
  backups->restore(restored_);
  restores_.push_back(bytes / restoring.seconds());
}

void BackupRun::report() {
  const double disk = std::min(median(disk_writes_), median(disk_reads_));
  report_.add("disk_write", "bytes_per_s", median(disk_writes_));
  report_.add("disk_read", "bytes_per_s", median(disk_reads_));
  report_.add("backup", "bytes_per_s", median(backups_));
  report_.add("backup", "part_of_disk", median(backups_) / disk);
  report_.add("restore", "bytes_per_s", median(restores_));
  report_.add("restore", "part_of_disk", median(restores_) / disk);
}

// What is open behind it is the restored database.
void BackupRun::compare_restored() {
  engine_.close();
  EngineConfig config = run_.config;
  config.path = restored_;
  engine_.open(config);
  verify_walk(run_, engine_, WholeSink(options_.value_bytes, run_.fill), options_.records);
  engine_.close();
  engine_.open(run_.config);
}

void BackupRun::run() {
  open_engine(run_, engine_);
  load();
  for (uint64_t round = 0; round < options_.rounds; ++round) {
    measure_disk();
    back_up();
  }
  report();
  add_process_figures(report_);
  compare_restored();
  finish_run(run_, engine_, bytes_raw());
}

}  // namespace

void run_backup(const RunContext& run, const BackupOptionsOfRun& options, Engine& engine) {
  BackupRun(run, options, engine).run();
}

}  // namespace hawthorn::bench
