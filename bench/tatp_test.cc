// TATP on a real database, and on doubles of it that are wrong in one way each, or into which
// somebody else writes: every such thing must turn the run into a failure.

#include "bench/tatp.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "bench/cases.h"
#include "bench/command_line.h"
#include "bench/engine_registry.h"
#include "bench/program.h"
#include "bench/tatp_model.h"
#include "bench/tatp_source.h"
#include "testing/temp_directory.h"

namespace hawthorn::bench {
namespace {

// Passes everything on, but for what a test overrides.
class PassingClient : public TatpClient {
 public:
  explicit PassingClient(std::unique_ptr<TatpClient> real) : real_(std::move(real)) {}

  void begin(TatpAccess access) override { real_->begin(access); }
  void commit() override { real_->commit(); }
  void rollback() override { real_->rollback(); }
  bool get_subscriber(uint64_t s_id, SubscriberRow& row) override {
    return real_->get_subscriber(s_id, row);
  }
  bool get_access(uint64_t s_id, unsigned ai_type, AccessRow& row) override {
    return real_->get_access(s_id, ai_type, row);
  }
  void get_destinations(uint64_t s_id, unsigned sf_type, unsigned start_time, unsigned end_time,
                        std::vector<Digits>& numbers) override {
    real_->get_destinations(s_id, sf_type, start_time, end_time, numbers);
  }
  std::optional<uint64_t> find_subscriber(const Digits& sub_nbr) override {
    return real_->find_subscriber(sub_nbr);
  }
  unsigned get_facility_types(uint64_t s_id) override { return real_->get_facility_types(s_id); }
  int set_bit_1(uint64_t s_id, int64_t bit) override { return real_->set_bit_1(s_id, bit); }
  int set_data_a(uint64_t s_id, unsigned sf_type, int64_t data_a) override {
    return real_->set_data_a(s_id, sf_type, data_a);
  }
  int set_location(const Digits& sub_nbr, int64_t location) override {
    return real_->set_location(sub_nbr, location);
  }
  TatpInsert insert_forwarding(const ForwardingRow& row) override {
    return real_->insert_forwarding(row);
  }
  int delete_forwarding(uint64_t s_id, unsigned sf_type, unsigned start_time) override {
    return real_->delete_forwarding(s_id, sf_type, start_time);
  }

 protected:
  const std::unique_ptr<TatpClient> real_;
};

// A real database whose connections a test may put something before, and between whose phases it
// may do something.
class PassingDatabase : public TatpDatabase {
 public:
  explicit PassingDatabase(std::unique_ptr<TatpDatabase> real) : real_(std::move(real)) {}

  std::string version() const override { return real_->version(); }
  std::string settings() const override { return real_->settings(); }
  void open(const TatpConfig& config) override { real_->open(config); }
  void close() override { real_->close(); }
  void drain() override { real_->drain(); }
  std::unique_ptr<TatpLoader> loader() override { return real_->loader(); }
  std::unique_ptr<TatpClient> connect() override {
    disturb(before_transactions);
    return wrap ? wrap(real_->connect()) : real_->connect();
  }
  std::unique_ptr<TatpInspector> inspect() override {
    disturb(before_verify);
    return real_->inspect();
  }

  using Disturbance = std::function<void(TatpClient&)>;
  Disturbance before_transactions;
  Disturbance before_verify;
  std::function<std::unique_ptr<TatpClient>(std::unique_ptr<TatpClient>)> wrap;

 private:
  // Once, by a connection of its own.
  void disturb(Disturbance& disturbance) {
    const Disturbance what = std::exchange(disturbance, {});
    if (!what) return;
    const std::unique_ptr<TatpClient> other = real_->connect();
    other->begin(TatpAccess::kWrite);
    what(*other);
    other->commit();
  }

  const std::unique_ptr<TatpDatabase> real_;
};

std::string failures(const Report& report) {
  std::string text;
  for (const std::string& failure : report.failures()) text += failure + "; ";
  return text;
}

class TatpTest : public ::testing::Test {
 protected:
  TatpTest() {
    options_.subscribers = 300;
    options_.transactions = 6000;
    options_.cache_bytes = 1'000'000;
  }

  void SetUp() override {
    for (const EngineInfo& info : engines()) {
      if (info.make_tatp) engine_ = &info;
    }
    if (engine_ == nullptr) GTEST_SKIP() << "no engine of this build understands SQL";
  }

  PassingDatabase make_database() const { return PassingDatabase(engine_->make_tatp()); }

  Report run_on(TatpDatabase& database) {
    Report report;
    RunContext context;
    context.engine_name = "double";
    context.config.path = directory_ / "db";
    context.report = &report;
    std::filesystem::remove_all(directory_ / "db");
    std::filesystem::create_directories(directory_ / "db");
    run_tatp(context, options_, database);
    return report;
  }
  template <class Client, class... Arguments>
  Report run_with(const Arguments&... arguments) {
    PassingDatabase database = make_database();
    database.wrap = [arguments...](std::unique_ptr<TatpClient> real) {
      return std::make_unique<Client>(std::move(real), arguments...);
    };
    return run_on(database);
  }

  int run_command(std::vector<std::string> arguments) {
    for (const char* more : {"--quiet", "--pretouch", "0", "--no-cgroup", "--db-path"}) {
      arguments.push_back(more);
    }
    arguments.push_back((directory_ / "program").string());
    std::vector<const char*> argv = {"hawthorn-bench", "tatp"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return run_program(static_cast<int>(argv.size()), argv.data());
  }
  std::string read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(directory_ / name).rdbuf();
    return text.str();
  }

  // The first special facility from there on, and its row of call forwarding from 0, 8 or 16 that
  // is there at first or is not.
  ForwardingRow forwarding_at_first(bool there) const {
    const TatpPopulation population(options_.seed, options_.subscribers);
    for (uint64_t s_id = 1;; ++s_id) {
      for (unsigned type = 1; type <= kFacilityTypes; ++type) {
        const unsigned times = population.start_times_at_first(s_id, type);
        for (unsigned i = 0; population.has_facility(s_id, type) && i < kStartTimes; ++i) {
          if (((times >> i & 1) != 0) == there) {
            return population.forwarding(s_id, type, i * kHoursOfStart, 1);
          }
        }
      }
    }
  }

  const hawthorn::testing::TempDirectory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
  const EngineInfo* engine_ = nullptr;
  TatpOptions options_;
};

TEST_F(TatpTest, PassesWithOneConnectionAndWithSeveral) {
  for (const unsigned connections : {1U, 4U}) {
    options_.connections = connections;
    PassingDatabase database = make_database();
    const Report report = run_on(database);
    EXPECT_TRUE(report.ok()) << failures(report);
    EXPECT_GT(report.value("load", "ops_per_s"), 0);
    EXPECT_GT(report.value("tatp", "tx_per_s"), 0);
    EXPECT_GT(report.value("drain", "tx_per_s"), 0);
    EXPECT_GT(report.value("verify", "bytes_on_disk"), 0);
    EXPECT_EQ(report.value("tatp", "busy", -1), 0);
    for (const TatpKindInfo& kind : kTatpKinds) {
      EXPECT_GT(report.value(kind.phase, "p50_us"), 0) << kind.phase;
    }
    EXPECT_EQ(report.value("get_subscriber_data", "part_failed", -1), 0);
    EXPECT_EQ(report.value("update_location", "part_failed", -1), 0);
    EXPECT_NEAR(report.value("get_access_data", "part_failed"), 0.375, 0.08);
    EXPECT_NEAR(report.value("update_subscriber_data", "part_failed"), 0.375, 0.15);
    EXPECT_NEAR(report.value("insert_call_forwarding", "part_failed"), 0.6875, 0.15);
    EXPECT_NEAR(report.value("delete_call_forwarding", "part_failed"), 0.6875, 0.15);
  }
}

TEST_F(TatpTest, EndsAfterItsSeconds) {
  options_.transactions = uint64_t{1} << 40;
  options_.seconds = 1;
  PassingDatabase database = make_database();
  const Report report = run_on(database);
  EXPECT_TRUE(report.ok()) << failures(report);
}

// A row is changed behind the model's back, before the transactions or behind them.
TEST_F(TatpTest, FailsWhereSomebodyElseWrites) {
  const TatpPopulation population(options_.seed, options_.subscribers);
  const ForwardingRow there = forwarding_at_first(true);
  const ForwardingRow missing = forwarding_at_first(false);
  const auto s_id = static_cast<uint64_t>(there.s_id);
  const auto sf_type = static_cast<unsigned>(there.sf_type);
  const std::vector<PassingDatabase::Disturbance> disturbances = {
      [&](TatpClient& client) {
        EXPECT_EQ(client.set_location(number_of(s_id), population.vlr_location(s_id, 0) ^ 1), 1);
      },
      [&](TatpClient& client) {
        EXPECT_EQ(client.set_bit_1(s_id, 1 - population.bit_1(s_id, 0)), 1);
      },
      [&](TatpClient& client) {
        EXPECT_EQ(client.set_data_a(s_id, sf_type, population.data_a(s_id, sf_type, 0) ^ 1), 1);
      },
      [&](TatpClient& client) {
        EXPECT_EQ(client.delete_forwarding(s_id, sf_type, static_cast<unsigned>(there.start_time)),
                  1);
      },
      [&](TatpClient& client) { EXPECT_EQ(client.insert_forwarding(missing), TatpInsert::kDone); }};
  // So few that none of them writes there again.
  options_.transactions = 1;
  for (size_t i = 0; i < disturbances.size(); ++i) {
    for (const bool before : {true, false}) {
      PassingDatabase database = make_database();
      (before ? database.before_transactions : database.before_verify) = disturbances[i];
      const Report report = run_on(database);
      EXPECT_FALSE(report.ok()) << i << (before ? " before" : " behind");
    }
  }
}

// The same of a row that the transactions meet.
TEST_F(TatpTest, TellsOfTheFirstWrongAnswer) {
  options_.subscribers = 1;
  options_.transactions = 100;
  PassingDatabase database = make_database();
  database.before_transactions = [](TatpClient& client) {
    EXPECT_EQ(client.set_location(number_of(1), 7), 1);
  };
  const Report report = run_on(database);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(failures(report).find("connection 1: "), std::string::npos) << failures(report);
  EXPECT_NE(failures(report).find("subscriber 1 has a vlr_location that it did not have then"),
            std::string::npos)
      << failures(report);
}

enum class Lie {
  kNoSubscriber,
  kStaticColumn,
  kNoAccess,
  kAccessColumn,
  kLosesDestination,
  kExtraDestination,
  kDestinationTwice,
  kOtherSubscriber,
  kLacksFacilityType,
  kLosesUpdate,
  kLosesLocation,
  kLosesInsert,
  kLosesDelete,
  kForbidsInsert,
  kLosesCommit,
};

// Right, but for one kind of answer, of which one in three is wrong.
class LyingClient : public PassingClient {
 public:
  LyingClient(std::unique_ptr<TatpClient> real, Lie lie)
      : PassingClient(std::move(real)), lie_(lie) {}

  bool get_subscriber(uint64_t s_id, SubscriberRow& row) override {
    const bool found = PassingClient::get_subscriber(s_id, row);
    if (lies(Lie::kStaticColumn)) ++row.msc_location;
    return found && !lies(Lie::kNoSubscriber);
  }
  bool get_access(uint64_t s_id, unsigned ai_type, AccessRow& row) override {
    const bool found = PassingClient::get_access(s_id, ai_type, row);
    if (lies(Lie::kAccessColumn)) row.data4[4] = 'a';
    return found && !lies(Lie::kNoAccess);
  }
  void get_destinations(uint64_t s_id, unsigned sf_type, unsigned start_time, unsigned end_time,
                        std::vector<Digits>& numbers) override {
    PassingClient::get_destinations(s_id, sf_type, start_time, end_time, numbers);
    if (lies(Lie::kExtraDestination)) numbers.push_back(number_of(s_id));
    if (numbers.empty()) return;
    if (lies(Lie::kDestinationTwice)) numbers.push_back(numbers[0]);
    if (lies(Lie::kLosesDestination)) numbers.pop_back();
  }
  std::optional<uint64_t> find_subscriber(const Digits& sub_nbr) override {
    std::optional<uint64_t> s_id = PassingClient::find_subscriber(sub_nbr);
    if (lies(Lie::kOtherSubscriber)) ++*s_id;
    return s_id;
  }
  unsigned get_facility_types(uint64_t s_id) override {
    const unsigned types = PassingClient::get_facility_types(s_id);
    return lies(Lie::kLacksFacilityType) ? types & (types - 1) : types;
  }
  int set_data_a(uint64_t s_id, unsigned sf_type, int64_t data_a) override {
    return lies(Lie::kLosesUpdate) ? 1 : PassingClient::set_data_a(s_id, sf_type, data_a);
  }
  int set_location(const Digits& sub_nbr, int64_t location) override {
    return lies(Lie::kLosesLocation) ? 1 : PassingClient::set_location(sub_nbr, location);
  }
  TatpInsert insert_forwarding(const ForwardingRow& row) override {
    if (lies(Lie::kLosesInsert)) return TatpInsert::kDone;
    if (lies(Lie::kForbidsInsert)) return TatpInsert::kDuplicate;
    return PassingClient::insert_forwarding(row);
  }
  int delete_forwarding(uint64_t s_id, unsigned sf_type, unsigned start_time) override {
    if (lies(Lie::kLosesDelete)) return 1;
    return PassingClient::delete_forwarding(s_id, sf_type, start_time);
  }
  void begin(TatpAccess access) override {
    writes_ = access == TatpAccess::kWrite;
    PassingClient::begin(access);
  }
  void commit() override {
    if (writes_ && lies(Lie::kLosesCommit)) return PassingClient::rollback();
    PassingClient::commit();
  }

 private:
  bool lies(Lie kind) { return kind == lie_ && ++asked_ % 3 == 0; }

  const Lie lie_;
  bool writes_ = false;
  uint64_t asked_ = 0;
};

TEST_F(TatpTest, CatchesEveryLie) {
  options_.transactions = 2000;
  for (int lie = 0; lie <= static_cast<int>(Lie::kLosesCommit); ++lie) {
    for (const unsigned connections : {1U, 3U}) {
      options_.connections = connections;
      EXPECT_FALSE(run_with<LyingClient>(static_cast<Lie>(lie)).ok())
          << lie << ", connections: " << connections;
    }
  }
}

// Finds a lock taken that nobody lets go of, now and then: at the begin, or at the commit.
class BusyClient : public PassingClient {
 public:
  BusyClient(std::unique_ptr<TatpClient> real, bool at_commit, std::atomic<uint64_t>* times)
      : PassingClient(std::move(real)), at_commit_(at_commit), times_(times) {}

  void begin(TatpAccess access) override {
    writes_ = access == TatpAccess::kWrite;
    if (!at_commit_) maybe_busy();
    PassingClient::begin(access);
  }
  void commit() override {
    if (at_commit_) maybe_busy();
    PassingClient::commit();
  }

 private:
  void maybe_busy() {
    if (!writes_ || ++asked_ % 10 != 0) return;
    ++*times_;
    throw EngineError("busy", EngineError::Kind::kBusy);
  }

  const bool at_commit_;
  std::atomic<uint64_t>* const times_;
  bool writes_ = false;
  uint64_t asked_ = 0;
};

TEST_F(TatpTest, CountsTransactionsThatWaitedInVain) {
  for (const bool at_commit : {false, true}) {
    for (const unsigned connections : {1U, 3U}) {
      options_.connections = connections;
      std::atomic<uint64_t> times{0};
      const Report report = run_with<BusyClient>(at_commit, &times);
      EXPECT_TRUE(report.ok()) << failures(report);
      EXPECT_GT(report.value("tatp", "busy"), 0);
      // Some were of the warm-up.
      EXPECT_LE(report.value("tatp", "busy"), static_cast<double>(times));
      EXPECT_NEAR(report.value("tatp", "busy"), static_cast<double>(times) / 1.1,
                  static_cast<double>(times) / 20 + 5);
    }
  }
}

TEST_F(TatpTest, WaitsFiveSecondsForTheWriteLock) {
  const std::unique_ptr<TatpDatabase> database = engine_->make_tatp();
  database->open({.path = directory_, .sync = SyncMode::kNone, .cache_bytes = 1'000'000});
  {
    const std::unique_ptr<TatpLoader> loader = database->loader();
  }
  {
    const std::unique_ptr<TatpClient> holder = database->connect();
    const std::unique_ptr<TatpClient> waiter = database->connect();
    holder->begin(TatpAccess::kWrite);
    const auto start = std::chrono::steady_clock::now();
    try {
      waiter->begin(TatpAccess::kWrite);
      ADD_FAILURE() << "two transactions that write at once";
    } catch (const EngineError& error) {
      EXPECT_TRUE(error.busy()) << error.what();
    }
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(4500));
    waiter->rollback();
    // Readers do not wait, and the lock can be had when it is free.
    waiter->begin(TatpAccess::kRead);
    EXPECT_EQ(waiter->find_subscriber(number_of(1)), std::nullopt);
    waiter->commit();
    holder->rollback();
    waiter->begin(TatpAccess::kWrite);
    waiter->commit();
  }
  database->close();
}

TEST_F(TatpTest, RunsByTheProgram) {
  EXPECT_EQ(run_command({"--num-subscribers", "200", "--num-transactions", "2k", "--connections",
                         "1,2", "--sync-mode", "async", "--json", directory_ / "json", "--csv",
                         directory_ / "csv"}),
            0);
  const std::string json = read("json");
  for (const char* text :
       {"\"tatp:connections=1\"", "\"tatp:connections=2\"", "\"phase\": \"tatp\"",
        "\"phase\": \"update_location\"", "\"part_failed\"", "\"busy\""}) {
    EXPECT_NE(json.find(text), std::string::npos) << text;
  }
  const std::string csv = read("csv");
  EXPECT_TRUE(csv.starts_with("workload,engine,phase,metric,value,unit,repeat\n")) << csv;
  EXPECT_NE(csv.find("\ntatp:connections=2," + engine_->name + ",tatp,tx_per_s,"),
            std::string::npos)
      << csv;
  EXPECT_THROW(run_command({"--engines", "memory"}), std::runtime_error);
}

Command parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), {"hawthorn-bench", "tatp"});
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST_F(TatpTest, TakesItsOptions) {
  const Command usual = parse({});
  EXPECT_EQ(usual.workload, Workload::kTatp);
  EXPECT_EQ(usual.tatp.subscribers, 100'000U);
  EXPECT_EQ(usual.tatp.transactions, 1'000'000U);
  EXPECT_EQ(usual.tatp.seconds, 0U);
  EXPECT_EQ(usual.tatp.cache_bytes, 64'000'000U);
  EXPECT_EQ(usual.connections, (std::vector<uint64_t>{1, 8}));
  EXPECT_EQ(usual.sync, SyncMode::kNone);
  const std::vector<Case> two = make_cases(usual, nullptr);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].name, "tatp:connections=1");
  EXPECT_EQ(two[1].name, "tatp:connections=8");
  EXPECT_EQ(two[1].writers, 8U);
  EXPECT_EQ(two[1].engines, (std::vector<std::string>{engine_->name}));

  const Command given =
      parse({"--num-subscribers", "1M", "--connections", "3", "--num-transactions", "20k",
             "--seconds", "5", "--cache", "128M", "--seed", "7", "--sync-mode", "full"});
  EXPECT_EQ(given.tatp.subscribers, 1'000'000U);
  EXPECT_EQ(given.tatp.transactions, 20'000U);
  EXPECT_EQ(given.tatp.seconds, 5U);
  EXPECT_EQ(given.tatp.cache_bytes, 128'000'000U);
  EXPECT_EQ(given.tatp.seed, 7U);
  EXPECT_EQ(given.sync, SyncMode::kFull);
  ASSERT_EQ(make_cases(given, nullptr).size(), 1U);
  EXPECT_EQ(make_cases(given, nullptr)[0].name, "tatp");

  ::testing::internal::CaptureStderr();
  for (const std::vector<const char*>& wrong :
       std::vector<std::vector<const char*>>{{"--connections", "0"},
                                             {"--connections", "1,many"},
                                             {"--num-subscribers", "0"},
                                             {"--num-transactions", "0"},
                                             {"--cache", "1K"}}) {
    EXPECT_EQ(parse(wrong).exit_code, 2) << wrong[0] << ' ' << wrong[1];
  }
  ::testing::internal::GetCapturedStderr();
}

TEST(TatpSource, KeepsTheMixAndTheRanges) {
  TatpSource source(1, 1000, 0);
  std::array<uint64_t, kTatpKinds.size()> counts{};
  constexpr uint64_t kCalls = 200'000;
  std::array<uint64_t, kHours + 1> hours{};
  std::array<uint64_t, kHours> starts{};
  std::array<uint64_t, kAccessTypes + 1> accesses{};
  std::array<uint64_t, kFacilityTypes + 1> facilities{};
  for (uint64_t i = 0; i < kCalls; ++i) {
    const TatpCall call = source.next();
    ++counts[static_cast<size_t>(call.kind)];
    ++hours.at(call.end_time);
    ++starts.at(call.start_time);
    ++accesses.at(call.ai_type);
    ++facilities.at(call.sf_type);
    ASSERT_GE(call.s_id, 1U);
    ASSERT_LE(call.s_id, 1000U);
  }
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    EXPECT_NEAR(static_cast<double>(counts[kind]) / kCalls, kTatpKinds[kind].percent / 100.0, 0.005)
        << kTatpKinds[kind].phase;
  }
  EXPECT_EQ(hours[0] + accesses[0] + facilities[0], 0U);
  for (size_t hour = 1; hour <= kHours; ++hour) EXPECT_NEAR(hours[hour], kCalls / 24.0, 500);
  for (const size_t start : {0, 8, 16}) EXPECT_NEAR(starts[start], kCalls / 3.0, 2000);
  for (size_t type = 1; type <= kAccessTypes; ++type) {
    EXPECT_NEAR(accesses[type], kCalls / 4.0, 2000);
    EXPECT_NEAR(facilities[type], kCalls / 4.0, 2000);
  }
}

// Against the distribution of the formula, by all pairs of the two numbers that it takes.
TEST(TatpSource, AsksForSubscribersUnevenlyAsTheFormulaDoes) {
  constexpr uint64_t kSubscribers = 300;
  constexpr uint64_t kCalls = 1'000'000;
  const uint64_t spread = tatp_spread(kSubscribers);
  std::vector<double> expected(kSubscribers + 1);
  const double pair = kCalls / (static_cast<double>(spread + 1) * kSubscribers);
  for (uint64_t a = 0; a <= spread; ++a) {
    for (uint64_t b = 1; b <= kSubscribers; ++b) expected[((a | b) % kSubscribers) + 1] += pair;
  }
  std::vector<double> counts(kSubscribers + 1);
  TatpSource source(12345, kSubscribers, 3);
  for (uint64_t i = 0; i < kCalls; ++i) ++counts[source.next().s_id];
  double least = kCalls;
  double most = 0;
  for (uint64_t s_id = 1; s_id <= kSubscribers; ++s_id) {
    EXPECT_NEAR(counts[s_id], expected[s_id], 6 * std::sqrt(expected[s_id]) + 1) << s_id;
    least = std::min(least, expected[s_id]);
    most = std::max(most, expected[s_id]);
  }
  EXPECT_GT(most, 1.5 * least);
  EXPECT_EQ(tatp_spread(1'000'000), 65'535U);
  EXPECT_EQ(tatp_spread(1'000'001), 1'048'575U);
  EXPECT_EQ(tatp_spread(10'000'000), 1'048'575U);
  EXPECT_EQ(tatp_spread(10'000'001), 2'097'151U);
}

TEST(TatpSource, FollowsFromSeedAndConnection) {
  const auto first = [](uint64_t seed, unsigned connection) {
    TatpSource source(seed, 100'000, connection);
    std::string text;
    for (int i = 0; i < 10; ++i) text += std::to_string(source.next().s_id) + ' ';
    return text;
  };
  EXPECT_EQ(first(1, 0), first(1, 0));
  EXPECT_NE(first(1, 0), first(1, 1));
  EXPECT_NE(first(1, 0), first(2, 0));
}

TEST(TatpPopulation, HasTheRowsOfTheSpecification) {
  constexpr uint64_t kSubscribers = 20'000;
  const TatpPopulation population(12345, kSubscribers);
  std::array<uint64_t, 5> accesses{};
  std::array<uint64_t, 5> facilities{};
  std::array<uint64_t, 4> forwardings{};
  std::array<uint64_t, kFacilityTypes> of_type{};
  uint64_t active = 0;
  uint64_t all = 0;
  for (uint64_t s_id = 1; s_id <= kSubscribers; ++s_id) {
    ++accesses.at(static_cast<size_t>(std::popcount(population.access_types(s_id))));
    ++facilities.at(static_cast<size_t>(std::popcount(population.facility_types(s_id))));
    for (unsigned type = 1; type <= kFacilityTypes; ++type) {
      const unsigned times = population.start_times_at_first(s_id, type);
      if (!population.has_facility(s_id, type)) {
        ASSERT_EQ(times, 0U);
        continue;
      }
      ++of_type[type - 1];
      ++forwardings.at(static_cast<size_t>(std::popcount(times)));
      ++all;
      active += population.facility(s_id, type, 0).is_active == 1 ? 1 : 0;
      const ForwardingRow row = population.forwarding(s_id, type, 8, 1);
      ASSERT_GE(row.end_time, 9);
      ASSERT_LE(row.end_time, 16);
    }
  }
  EXPECT_EQ(accesses[0] + facilities[0], 0U);
  for (size_t count = 1; count <= 4; ++count) {
    EXPECT_NEAR(accesses[count], kSubscribers / 4.0, 400) << count;
    EXPECT_NEAR(facilities[count], kSubscribers / 4.0, 400) << count;
  }
  const auto rows = static_cast<double>(all);
  for (const uint64_t count : forwardings) EXPECT_NEAR(count, rows / 4, 600);
  for (const uint64_t count : of_type) EXPECT_NEAR(count, rows / 4, 600);
  EXPECT_NEAR(static_cast<double>(active), 0.85 * rows, 300);
}

TEST(TatpPopulation, FollowsFromSeedKeyAndVersion) {
  const TatpPopulation population(1, 100);
  EXPECT_EQ(text_of(number_of(4711)), "000000000004711");
  const SubscriberRow row = population.subscriber(42, 0, 0);
  EXPECT_EQ(row, population.subscriber(42, 0, 0));
  EXPECT_EQ(text_of(row.sub_nbr), "000000000000042");
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(row.bits[i] == 0 || row.bits[i] == 1);
    EXPECT_TRUE(row.hexes[i] >= 0 && row.hexes[i] <= 15);
    EXPECT_TRUE(row.bytes[i] >= 0 && row.bytes[i] <= 255);
  }
  EXPECT_NE(row, population.subscriber(43, 0, 0));
  EXPECT_NE(row, TatpPopulation(2, 100).subscriber(42, 0, 0));
  SubscriberRow moved = population.subscriber(42, 0, 1);
  EXPECT_NE(moved.vlr_location, row.vlr_location);
  moved.vlr_location = row.vlr_location;
  EXPECT_EQ(moved, row);
  EXPECT_NE(population.forwarding(42, 1, 0, 1), population.forwarding(42, 1, 0, 3));
  const AccessRow access = population.access(42, 2);
  for (const char letter : text_of(access.data4)) EXPECT_TRUE(letter >= 'A' && letter <= 'Z');
}

TEST(TatpModel, KnowsWhatWasBegunAndWhatWasCommitted) {
  const TatpPopulation population(12345, 10);
  TatpModel model(population);
  for (unsigned type = 1; type <= kFacilityTypes; ++type) {
    for (unsigned i = 0; i < kStartTimes; ++i) {
      const size_t item = TatpModel::forwarding(10, type, i * kHoursOfStart);
      EXPECT_EQ(TatpModel::is_there(model.committed(item)),
                (population.start_times_at_first(10, type) >> i & 1) != 0);
    }
  }
  const size_t item = TatpModel::location(7);
  EXPECT_EQ(model.begin(item), 1);
  EXPECT_EQ(model.committed(item), 0);
  EXPECT_EQ(model.begun(item), 1);
  model.give_back(item);
  EXPECT_EQ(model.begun(item), 0);
  // Two transactions one after the other, of which the second one is told of first.
  model.begin(item);
  model.begin(item);
  model.commit(item, 2);
  model.commit(item, 1);
  EXPECT_EQ(model.committed(item), 2);
  // Versions wrap.
  for (int i = 0; i < 70'000; ++i) model.commit(item, model.begin(item));
  EXPECT_EQ(model.committed(item), static_cast<uint16_t>(70'002));
  EXPECT_EQ(model.committed(TatpModel::location(8)), 0);
  EXPECT_EQ(model.committed(TatpModel::bit_1(7)), 0);

  EXPECT_TRUE(model.enter());
  EXPECT_FALSE(model.enter());
  model.leave();
  EXPECT_TRUE(model.enter());
}

}  // namespace
}  // namespace hawthorn::bench
