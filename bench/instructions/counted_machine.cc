#include "bench/instructions/counted_machine.h"

#include <hwy/targets.h>

#include <atomic>
#include <memory>
#include <string>

#include "bench/instructions/counting.h"
#include "hawthorn/db.h"
#include "os/machine.h"
#include "os/posix_file.h"

namespace hawthorn::bench {
namespace {

class CountingClock : public os::Clock {
 public:
  uint64_t monotonic_us() override { return now_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t wall_us() override { return kWallOrigin + monotonic_us(); }
  void sleep_us(uint64_t us) override { now_.fetch_add(us, std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kWallOrigin = 1'700'000'000'000'000;
  std::atomic<uint64_t> now_{1'000'000};
};

class FixedRandom : public os::Random {
 public:
  uint64_t next() override { return mix(count_.fetch_add(1, std::memory_order_relaxed)); }

 private:
  std::atomic<uint64_t> count_{0};
};

const os::Machine& counted_machine() {
  // Never destroyed, as that of real programs.
  static const os::Machine& machine = *new os::Machine{
      .files = &os::posix_file_system(),
      .io = os::make_inline_io().release(),
      .queues = os::make_inline_io_queues().release(),
      .clock = new CountingClock,
      .random = new FixedRandom,
      .background_threads = false,
  };
  return machine;
}

Db* opened = nullptr;

}  // namespace

void fix_vector_width() {
  // Better targets have smaller bits.
  hwy::DisableTargets(HWY_AVX2 - 1);
  require((hwy::SupportedTargets() & HWY_AVX2) != 0,
          "this processor has no AVX2, with which the table is counted");
}

Db& counted_db() {
  require(opened != nullptr, "no database was opened on the counted machine");
  return *opened;
}

void check(const Status& status, std::string_view what) {
  if (!status.ok()) fail(std::string(what) + ": " + status.to_string());
}

void require_state(std::string_view state) {
  const Stats stats = counted_db().stats();
  uint64_t unflushed = 0;
  for (const TreeStats& tree : stats.trees) unflushed += tree.delta_records;
  const uint64_t least = state == kFlushed     ? 0
                         : state == kUnflushed ? kCountedEntries
                                               : kPartlyUpdates;
  const uint64_t most = state == kFlushed ? 0 : state == kUnflushed ? ~uint64_t{0} : 2 * least;
  if (unflushed < least || unflushed > most || (state == kUnflushed && stats.flushes != 0)) {
    fail(std::string(state) + ": " + std::to_string(unflushed) + " unflushed versions, " +
         std::to_string(stats.flushes) + " flushes");
  }
}

// What the linker calls in place of Db::open.
Result<std::unique_ptr<Db>> open_counted(const std::string& path, const Options& options) __asm__(
    "__wrap__ZN8hawthorn2Db4openERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
    "RKNS_7OptionsE");
Result<std::unique_ptr<Db>> open_counted(const std::string& path, const Options& options) {
  Options counted = options;
  counted.memory_budget_bytes = size_t{1} << 30;
  counted.io_mode = IoMode::kBuffered;
  Result<std::unique_ptr<Db>> db = Db::open_on(counted_machine(), path, counted);
  if (db.ok()) opened = db->get();
  return db;
}

}  // namespace hawthorn::bench
