// The scrub: rounds over all that is on disk, at a rate, and what it does when it finds something.

#include <mutex>

#include "tests/check/every_kind.h"

namespace hawthorn::tests {
namespace {

using testing::SimDisk;
using testing::SimMachine;

constexpr uint64_t kSecondUs = 1'000'000;
constexpr uint64_t kHourUs = 3600 * kSecondUs;

struct Listener : EventListener {
  void on_damage_found(const DamageFound& event) override {
    const std::scoped_lock lock(mutex);
    damages.push_back(event);
  }
  void on_background_error(const BackgroundError& event) override {
    const std::scoped_lock lock(mutex);
    errors.push_back(event);
  }
  std::mutex mutex;
  std::vector<DamageFound> damages;
  std::vector<BackgroundError> errors;
};

class ScrubTest : public ::testing::Test {
 protected:
  static const EveryKind& closed() {
    static const EveryKind kClosed(Left::kClosed);
    return kClosed;
  }
  SimMachine& start(uint64_t seed) {
    db_.reset();
    machine_.reset();
    disk_ = closed().copy();
    machine_ = std::make_unique<SimMachine>(*disk_, seed);
    return *machine_;
  }
  void open(SimMachine& machine, uint64_t rate) {
    db_.reset();
    Options options = every_kind_options();
    options.scrub_bytes_per_second = rate;
    options.listeners = {listener_};
    options.log = [this](LogLevel level, std::string_view message) {
      const std::scoped_lock lock(mutex_);
      if (level == LogLevel::kError) told_.emplace_back(message);
    };
    auto db = Db::open_on(machine.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
  }
  // Until so many rounds were made; the simulated machine scrubs when it is drained.
  void scrub(SimMachine& machine, uint64_t rounds, uint64_t step_us) {
    for (int i = 0; i < 20'000 && db_->stats().scrub_rounds < rounds; ++i) {
      machine.clock().advance_us(step_us);
      ASSERT_OK(db_->drain());
    }
    ASSERT_EQ(db_->stats().scrub_rounds, rounds);
  }

  const std::shared_ptr<Listener> listener_ = std::make_shared<Listener>();
  std::mutex mutex_;
  std::vector<std::string> told_;
  std::unique_ptr<SimDisk> disk_;
  std::unique_ptr<SimMachine> machine_;
  std::unique_ptr<Db> db_;
};

TEST_F(ScrubTest, is_off_by_default) {
  EXPECT_EQ(Options().scrub_bytes_per_second, 0u);
  SimMachine& machine = start(2);
  open(machine, 0);
  machine.clock().advance_us(kHourUs);
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().scrub_containers, 0u);
}

TEST_F(ScrubTest, goes_round_the_whole_database) {
  SimMachine& machine = start(2);
  open(machine, size_t{64} << 20);
  ASSERT_NO_FATAL_FAILURE(scrub(machine, 1, kSecondUs));
  const Stats stats = db_->stats();
  const auto report = db_->check();
  ASSERT_OK(report.status());
  // The catalog's containers, too; where it began, its part is looked at last.
  EXPECT_GE(stats.scrub_containers, report->containers);
  EXPECT_LE(stats.scrub_containers, report->containers + 4);
  EXPECT_GE(stats.scrub_bytes, report->blocks_verified * 4096 / 2);
  EXPECT_EQ(stats.scrub_errors, 0u);
  // The next one begins an hour later.
  machine.clock().advance_us(kHourUs / 2);
  for (int i = 0; i < 50; ++i) ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().scrub_containers, stats.scrub_containers);
  machine.clock().advance_us(kHourUs);
  ASSERT_NO_FATAL_FAILURE(scrub(machine, 2, kSecondUs));
  EXPECT_GE(db_->stats().scrub_containers, 2 * report->containers);
}

TEST_F(ScrubTest, keeps_to_its_rate) {
  SimMachine& machine = start(2);
  constexpr uint64_t kRate = 200'000;
  open(machine, kRate);
  const uint64_t began = machine.clock().monotonic_us();
  uint64_t bytes = 0;
  for (int i = 0; i < 40; ++i) {
    machine.clock().advance_us(kSecondUs / 10);
    ASSERT_OK(db_->drain());
    bytes = db_->stats().scrub_bytes;
    const double seconds = static_cast<double>(machine.clock().monotonic_us() - began) / 1e6;
    // Besides what was saved up, and one container.
    ASSERT_LE(static_cast<double>(bytes), kRate * (seconds + 0.1) + 600'000) << seconds;
  }
  EXPECT_GT(bytes, kRate * 2);
}

TEST_F(ScrubTest, tells_what_it_finds) {
  for (const bool values : {false, true}) {
    SCOPED_TRACE(values ? "values" : "an index run");
    const format::ContainerRecord record = closed().containers("separated").front();
    const format::ExtentAddress extent = values ? record.values.front().address : record.run;
    SimMachine& machine = start(2);
    ASSERT_TRUE(disk_->flip_bit(data_path(extent), place_of(extent, 50), 3));
    listener_->damages.clear();
    told_.clear();
    open(machine, size_t{64} << 20);
    ASSERT_NO_FATAL_FAILURE(scrub(machine, 1, kSecondUs));
    EXPECT_EQ(db_->stats().scrub_errors, 1u);
    machine.clock().advance_us(kHourUs);
    ASSERT_NO_FATAL_FAILURE(scrub(machine, 2, kSecondUs));
    EXPECT_EQ(db_->stats().scrub_errors, 2u) << "each round anew";
    db_.reset();  // delivers events
    const std::string place =
        "data." + std::to_string(extent.file) + " at " + std::to_string(place_of(extent));
    ASSERT_EQ(told_.size(), 1u) << "once";
    EXPECT_NE(told_[0].find(place), std::string::npos) << told_[0];
    ASSERT_EQ(listener_->damages.size(), 1u) << "once";
    EXPECT_EQ(listener_->damages[0].tree_name, "separated");
    EXPECT_EQ(listener_->damages[0].low_key, record.low);
    EXPECT_NE(listener_->damages[0].status.message().find(place), std::string_view::npos);
  }
}

TEST_F(ScrubTest, looks_at_the_small_files) {
  SimMachine& machine = start(2);
  open(machine, size_t{64} << 20);
  ASSERT_TRUE(disk_->flip_bit("/db/superblock", 4096 + 77, 3));
  ASSERT_NO_FATAL_FAILURE(scrub(machine, 1, kSecondUs));
  EXPECT_EQ(db_->stats().scrub_errors, 1u);
  db_.reset();
  ASSERT_EQ(listener_->errors.size(), 1u);
  EXPECT_FALSE(listener_->errors[0].read_only);
  EXPECT_NE(listener_->errors[0].status.message().find("superblock at 4096"),
            std::string_view::npos);
}

// Whichever container a round begins with, all are looked at; and several processes, none of which
// lives for a round, do not all look at the same ones.
TEST_F(ScrubTest, begins_anywhere) {
  std::set<uint64_t> bytes;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SimMachine& machine = start(seed);
    open(machine, 1000);
    for (int i = 0; i < 3; ++i) {
      machine.clock().advance_us(kSecondUs / 10);
      ASSERT_OK(db_->drain());
    }
    bytes.insert(db_->stats().scrub_bytes);
    db_.reset();
  }
  EXPECT_GT(bytes.size(), 2u) << "always the same containers";
}

TEST_F(ScrubTest, is_none_of_a_database_that_is_only_read) {
  SimMachine& machine = start(2);
  Options options = every_kind_options();
  options.read_only = true;
  options.scrub_bytes_per_second = 1 << 20;
  auto db = Db::open_on(machine.machine(), "/db", options);
  ASSERT_OK(db.status());
  EXPECT_EQ((*db)->stats().scrub_bytes, 0u);
  EXPECT_OK((*db)->close());
}

// A thread of its own, which ends when the database is closed, however slow it is.
TEST(ScrubThreads, scrubs_and_stops) {
  const TempDirectory directory;
  for (const uint64_t rate : {uint64_t{1}, uint64_t{1} << 30}) {
    Options options = every_kind_options();
    options.scrub_bytes_per_second = rate;
    auto db = Db::open(directory / "db", options);
    ASSERT_OK(db.status());
    if (rate == 1) fill_every_kind(**db, false);
    if (rate != 1) {
      EXPECT_TRUE(wait_until([&] { return (*db)->stats().scrub_rounds > 0; }));
      EXPECT_EQ((*db)->stats().scrub_rounds, 1u);
      EXPECT_EQ((*db)->stats().scrub_errors, 0u);
    }
    // The slow one would take months.
    const uint64_t began = os::real_machine().clock->monotonic_us();
    ASSERT_OK((*db)->close());
    EXPECT_LT(os::real_machine().clock->monotonic_us() - began, testing::kHangLimitMs * 1000);
  }
}

}  // namespace
}  // namespace hawthorn::tests
