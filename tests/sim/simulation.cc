#include "tests/sim/simulation.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "os/sync.h"
#include "testing/seeded_random.h"
#include "tests/sim/client.h"
#include "tests/sim/poisoned.h"
#include "tests/sim/reader.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimFaultKind;
using testing::SimFileClass;
using testing::SimFiles;
using testing::SimOp;

constexpr size_t kKB = size_t{1} << 10;

enum class Character : uint8_t { kHonest, kFailing, kLying };

// Reads go to a pool, as on a machine without io_uring: in any order, on several threads.
class PooledQueues : public os::IoQueues {
 public:
  explicit PooledQueues(os::Io* io) : queues_(os::make_io_queues(io)) {}
  Result<std::unique_ptr<os::IoQueue>> create(uint32_t depth, os::IoBackend) override {
    return queues_->create(depth, os::IoBackend::kThreads);
  }
  os::IoBackend backend() override { return os::IoBackend::kThreads; }
  Status uring_status() override {
    return Status(StatusCode::kNotSupported, "io_uring is not used: the machine is simulated");
  }

 private:
  const std::unique_ptr<os::IoQueues> queues_;
};

class Numbers : public os::Random {
 public:
  explicit Numbers(uint64_t seed) : prng_(seed) {}
  uint64_t next() override { return prng_.next(); }

 private:
  Prng prng_;
};

constexpr uint64_t class_bit(SimFileClass file) { return uint64_t{1} << static_cast<size_t>(file); }

// One for each purpose: what one draws does not change what the others do.
Prng dice(uint64_t seed, uint64_t purpose, uint64_t number = 0) {
  return Prng(mix64(mix64(seed) ^ mix64(purpose * 1000 + number)));
}

class Simulation {
 public:
  Simulation(const SimParameters& parameters, SimResult* result, const std::function<void()>& stuck)
      : parameters_(parameters),
        result_(*result),
        prng_(dice(parameters.seed, 1)),
        disk_(std::make_unique<SimDisk>(mix64(parameters.seed))),
        scheduler_({.seed = dice(parameters.seed, 2).next(),
                    .processors = static_cast<uint32_t>(dice(parameters.seed, 3).between(1, 8))},
                   &trace_,
                   [this, stuck](const std::string& why) {
                     world_.fail(why);
                     take_result();
                     stuck();
                   }),
        files_(disk_.get(), &scheduler_, &trace_, &result_.coverage,
               dice(parameters.seed, 4).next()),
        clock_(&scheduler_),
        random_(dice(parameters.seed, 5).next()) {
    if (!parameters.trace.empty() && !trace_.write_to(parameters.trace)) {
      world_.failure = "cannot write " + parameters.trace;
    }
    world_.scheduler = &scheduler_;
    world_.files = &files_;
    world_.trace = &trace_;
    shape();
  }

  void run() {
    uint64_t lives = prng_.between(1, 4);
    if (parameters_.lives != 0) lives = std::min(lives, parameters_.lives);
    for (uint64_t i = 0; i < lives && going_on(); ++i) {
      live(i);
      ++result_.lives;
    }
    if (going_on()) finish();
    take_result();
  }

 private:
  bool going_on() const { return world_.failure.empty() && !ended_; }

  // What does not change from life to life: sizes, the kind of disk.
  void shape() {
    db::log_segment_bytes = (128 * kKB) << prng_.below(4);
    db::log_ring_bytes_max = (128 * kKB) << prng_.below(3);
    db::log_bytes_min = (64 * kKB) << prng_.below(5);
    db::data_file_bytes_first = (512 * kKB) << prng_.below(3);
    db::data_file_bytes_max = db::data_file_bytes_first << prng_.below(3);
    const uint64_t character = prng_.below(10);
    character_ = character < 5   ? Character::kHonest
                 : character < 8 ? Character::kFailing
                                 : Character::kLying;
    world_.keys = uint64_t{20} << prng_.below(5);
    world_.planted = parameters_.planted;
    for (size_t i = 0; i < static_cast<size_t>(SimFeature::kCount); ++i) {
      const bool has = prng_.one_in(i < static_cast<size_t>(SimFeature::kScrub) ? 4 : 6);
      world_.features |= has ? uint64_t{1} << i : 0;
    }
    world_.features &= parameters_.features;
    compression_ = static_cast<Compression>(prng_.below(3));
    latency_us_ = prng_.one_in(4) ? 0 : uint64_t{10} << prng_.below(6);
    // A value of 64 KB, which appends make, has to fit a record of the log, an eighth of the ring.
    if (world_.has(SimFeature::kParts)) {
      db::log_ring_bytes_max = 1024 * kKB;
    }
    if (world_.has(SimFeature::kEncryption)) testing::seed_random(mix64(parameters_.seed));
    direct_ = !prng_.one_in(4);
    disk_->set_direct_supported(direct_);
  }

  testing::SimFaultPlan quiet() const {
    testing::SimFaultPlan plan;
    plan.latency_us = latency_us_;
    return plan;
  }

  testing::SimFaultPlan plan(uint64_t life) {
    testing::SimFaultPlan plan = quiet();
    Prng prng = dice(parameters_.seed, 6, life);
    const auto choose = [&](SimFaultKind first, SimFaultKind last) {
      const uint64_t period = uint64_t{2} << (2 * prng.below(5));
      for (size_t kind = static_cast<size_t>(first); kind <= static_cast<size_t>(last); ++kind) {
        if (!prng.one_in(3)) continue;
        if ((parameters_.kinds >> kind & 1) != 0) plan.period[kind] = period;
      }
      plan.faults_max = std::min(parameters_.faults, prng.one_in(3) ? 100 : prng.between(1, 3));
    };
    if (character_ == Character::kFailing && !prng.one_in(4)) {
      choose(SimFaultKind::kOpenFails, SimFaultKind::kDirectorySyncFails);
      // Else a sync of the log rarely fails while somebody waits for it.
      constexpr auto kSync = static_cast<size_t>(SimFaultKind::kSyncFails);
      if (prng.one_in(3) && (parameters_.kinds >> kSync & 1) != 0) plan.period[kSync] = 6;
    } else if (character_ == Character::kLying && !prng.one_in(4)) {
      choose(SimFaultKind::kDroppedWrite, SimFaultKind::kBitRot);
    }
    // What makes the database read-only for good.
    if (character_ == Character::kFailing && prng.one_in(3)) {
      plan.period = {};
      for (const SimFaultKind kind : {SimFaultKind::kWriteFails, SimFaultKind::kSyncFails}) {
        if ((parameters_.kinds >> static_cast<size_t>(kind) & 1) == 0) continue;
        plan.period[static_cast<size_t>(kind)] = uint64_t{2} << prng.below(6);
      }
      plan.errors_of = class_bit(SimFileClass::kSegment) | class_bit(SimFileClass::kData) |
                       class_bit(SimFileClass::kManifest);
      plan.faults_max = std::min(parameters_.faults, prng.between(1, 3));
    }
    if (parameters_.planted == SimPlanted::kLies) {
      plan.period = {};
      plan.period[static_cast<size_t>(SimFaultKind::kForgottenWrite)] = 1;
      plan.lies_about = class_bit(SimFileClass::kSegment);
      plan.secret = true;
      plan.faults_max = ~uint64_t{0};
    }
    return plan;
  }

  void live(uint64_t life) {
    Prng prng = dice(parameters_.seed, 7, life);
    const uint64_t clients =
        std::min(prng.between(1, 4), parameters_.clients == 0 ? 4 : parameters_.clients);
    uint64_t operations = prng.between(5, 60);
    if (parameters_.operations != 0) operations = std::min(operations, parameters_.operations);
    const bool lies = parameters_.planted == SimPlanted::kLies;
    const auto kind = lies ? CrashKind::kPowerLossDrop : static_cast<CrashKind>(prng.below(3));
    // Else few lives would get past their opening.
    const testing::SimFaultPlan faults = plan(life);
    const bool late = character_ == Character::kFailing && !prng.one_in(3);
    files_.set_plan(late ? quiet() : faults);
    files_.begin_life();
    if (!prng.one_in(4) && !lies) {
      const uint64_t steps = uint64_t{100} << prng.below(10);
      scheduler_.at_step(scheduler_.steps() + prng.between(1, steps), [this] { disk_->stop(); });
    }
    const bool closes = prng.one_in(4) && !lies;
    bool closed = false;
    {
      Machine machine(*this);
      std::unique_ptr<Db> db = open(machine.machine);
      if (db != nullptr) {
        if (late) files_.set_plan(faults);
        use(*db, life, clients, operations);
        if (closes && going_on()) closed = close(*db);
        // Otherwise the machine stops here, or the database is let go of before.
        if (!closed && prng.one_in(2)) disk_->stop();
      }
    }
    scheduler_.at_step(~uint64_t{0}, {});
    if (parameters_.verbose) tell(life, clients, operations, kind, closed);
    result_.crashes += closed ? 0 : 1;
    crash(kind, closed);
  }

  // Of one life: its threads end with it.
  struct Machine {
    explicit Machine(Simulation& simulation) : io(os::make_pool_io(3)), queues(io.get()) {
      machine = {.files = &simulation.files_,
                 .io = io.get(),
                 .queues = &queues,
                 .clock = &simulation.clock_,
                 .random = &simulation.random_,
                 .background_threads = true};
    }
    std::unique_ptr<os::Io> io;
    PooledQueues queues;
    os::Machine machine;
  };

  Options options() {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.compression = Compression::kNone;
    options.merge_operators = {append_with(",")};
    options.commit_hooks = {timestamp_hook()};
    options.lock_timeout_ms = 20;
    Prng prng = dice(parameters_.seed, 10, result_.lives);
    if (world_.has(SimFeature::kScrub)) {
      options.scrub_bytes_per_second = uint64_t{1} << prng.between(12, 30);
    }
    if (world_.has(SimFeature::kIoLimit)) {
      options.background_io_bytes_per_second = uint64_t{1} << prng.between(18, 28);
    }
    if (world_.has(SimFeature::kEncryption)) {
      options.encryption.key_id = "simulated";
      options.encryption.key = [](std::string_view) {
        return SecretKey::from_bytes("0123456789abcdef0123456789abcdef");
      };
    }
    return options;
  }

  std::unique_ptr<Db> open(const os::Machine& machine) {
    world_.machine = &machine;
    world_.options = options();
    world_.poisoned = false;
    world_.refusal.clear();
    Result<std::unique_ptr<Db>> db = Db::open_on(machine, "/db", world_.options);
    const bool full = world_.full && db.status().is(StatusCode::kNoSpace);
    if (!db.ok() && !disk_->stopped() && (files_.errors_met() > 0 || full)) {
      // What failed may be tried again.
      files_.set_plan(quiet());
      files_.begin_life();
      disk_->set_capacity(0);
      world_.full = false;
      db = Db::open_on(machine, "/db", world_.options);
    }
    if (!db.ok()) {
      refused(db.status(), "open");
      return nullptr;
    }
    world_.db = db->get();
    if (!make_trees(**db)) return nullptr;
    if (!compare(**db)) return nullptr;
    return std::move(*db);
  }

  // A database that cannot be read ends the run: a damaged disk may come to that.
  void refused(const Status& status, const std::string& what) {
    world_.judge(status, what);
    if (disk_->stopped() || !world_.failure.empty()) return;
    if (files_.damaged() && status.is(StatusCode::kCorruption)) {
      ++result_.corruption;
      ended_ = true;
    }
  }

  bool make_trees(Db& db) {
    for (SimTree i = 0; i < kSimOpened; ++i) {
      TreeOptions tree_options;
      tree_options.expires = i == kSimEnding;
      tree_options.subtrees = i == kSimForest;
      if (i == kSimEnding && !world_.has(SimFeature::kEnding)) continue;
      if (i == kSimForest && !world_.has(SimFeature::kForest)) continue;
      Result<Tree> tree = db.tree(kSimTreeNames[i], tree_options);
      Status status = tree.status();
      if (status.ok() && i == 1) status = db.set_compression(*tree, compression_);
      if (status.ok() && i == 2) status = db.set_merge_operator(*tree, "append:,");
      if (!status.ok()) {
        refused(status, std::string("making ") + kSimTreeNames[i]);
        return false;
      }
      world_.trees[i] = *tree;
    }
    return true;
  }

  // ---- What is there

  bool read(Db& db, SimFound* found) {
    bool read = true;
    const Status all =
        read_all(db, found, [&](SimTree number, const Tree& tree, const Status& why) {
          read = read && !disk_->stopped() && read_singly(db, number, tree, why, found);
          return read;
        });
    if (disk_->stopped() || !read) return false;
    if (!all.ok()) refused(all, "reading all");
    return all.ok();
  }

  // False: it could not be read, or is wrong.
  bool compare(Db& db) {
    SimFound found;
    if (!read(db, &found)) return false;
    if (world_.may_lose_end()) may_lose_ = SimMayLose::kSuffix;
    size_t lost = 0;
    const std::string error = world_.history.check(found, may_lose_, &lost);
    if (!error.empty() && names_are_lost(db, error)) {
      ++result_.corruption;
      ended_ = true;
      return false;
    }
    if (!error.empty()) {
      const std::string damage = files_.describe_damage();
      world_.fail(error + (damage.empty() ? "" : "\n  damage: " + damage));
      return false;
    }
    result_.commits += world_.history.commits.size();
    result_.lost += lost;
    if (!found.unreadable.empty()) {
      ++result_.corruption;
      ended_ = true;
      return false;
    }
    world_.history.begin_life(found);
    world_.prepared.clear();
    for (const auto& [id, ignored] : found.contents[kSimPrepared]) world_.prepared.push_back(id);
    world_.snapshots.clear();
    for (const auto& [name, ignored] : found.snapshots) world_.snapshots.push_back(name);
    world_.began_at = db.snapshot().timestamp();
    may_lose_ = SimMayLose::kNothing;
    files_.forget_harm();
    const Result<CheckReport> report = db.check();
    if (disk_->stopped()) return false;
    if (!report.ok()) {
      refused(report.status(), "check");
      return report.ok();
    }
    world_.judge(*report, "check");
    if (report->ok() || !world_.failure.empty()) return report->ok();
    // What was read short is there.
    if (!files_.damaged()) return true;
    ++result_.corruption;
    ended_ = true;
    return false;
  }

  // Where the catalog is damaged the manifest's names serve, which are those of no certain moment.
  bool names_are_lost(Db& db, const std::string& error) {
    if (!files_.damaged() ||
        error.find("tree " + std::to_string(kSimNames) + " key") == std::string::npos) {
      return false;
    }
    const Result<CheckReport> report = db.check();
    return report.ok() &&
           std::any_of(report->errors.begin(), report->errors.end(), [&](const std::string& one) {
             return one.starts_with("the catalog: Corruption") && files_.names_harmed(one);
           });
  }

  // Key by key, so that one bad place does not hide the others.
  bool read_singly(Db& db, SimTree number, const Tree& tree, const Status& why, SimFound* found) {
    world_.judge(why, "scan");
    if (!world_.failure.empty()) return false;
    if (!why.is(StatusCode::kCorruption)) return false;
    found->contents[number].clear();
    for (const SimKey& key : world_.history.keys()) {
      // A clone has keys that were written to other trees.
      if (key.first != number && number < kSimMade) continue;
      Value value;
      Status status = db.get(tree, key.second, value);
      uint64_t ends = 0;
      if (status.ok() && number == kSimEnding) {
        const Result<uint64_t> moment = db.expires_at(tree, key.second);
        if (moment.ok()) ends = *moment;
        status = moment.status();
      }
      if (disk_->stopped()) return false;
      constexpr StatusCode kMissing[] = {StatusCode::kNotFound};
      world_.judge(status, "get", kMissing);
      if (!world_.failure.empty()) return false;
      if (status.ok()) {
        found->contents[number].emplace(key.second, number == kSimEnding
                                                        ? ending_value(value.view(), ends)
                                                        : std::string(value.view()));
      } else if (!status.is_not_found()) {
        found->unreadable.insert({number, key.second});
      }
    }
    return true;
  }

  // ---- Lives and deaths

  void use(Db& db, uint64_t life, uint64_t clients, uint64_t operations) {
    world_.was_full = world_.full;
    world_.copying = false;
    Transaction begun;  // before what may make the database read-only
    if (character_ == Character::kFailing && dice(parameters_.seed, 11, life).one_in(2)) {
      Result<Transaction> transaction = db.begin({.isolation = Isolation::kReadCommitted});
      world_.judge_write(false, transaction.status(), "begin");
      if (!transaction.ok()) return;
      begun = std::move(*transaction);
      const Status status = begun.put(world_.trees[0], "begun", "");
      world_.judge_write(false, status, "put");
      if (!status.ok()) return;
    }
    std::vector<std::unique_ptr<SimClient>> all;
    for (uint64_t i = 0; i < clients; ++i) {
      all.push_back(std::make_unique<SimClient>(&world_,
                                                "c" + std::to_string(life) + std::to_string(i),
                                                dice(parameters_.seed, 8, life * 10 + i).next()));
    }
    {
      std::vector<os::Thread> threads;
      threads.reserve(clients);
      for (uint64_t i = 0; i < clients; ++i) {
        const Status started = threads.emplace_back().start(
            "client " + std::to_string(i),
            [client = all[i].get(), operations] { client->run(operations); });
        if (!started.ok()) std::abort();
      }
    }
    if (files_.final_errors_met() > 0) meet_failure(db, life);
    if (world_.poisoned) {
      ++result_.poisoned;
      behind_poison(db, &begun);
    }
  }

  // Of those whose calls are over nobody may have heard of it yet.
  void meet_failure(Db& db, uint64_t life) {
    files_.set_plan(quiet());
    SimClient client(&world_, "m" + std::to_string(life), dice(parameters_.seed, 12, life).next());
    for (int i = 0; i < 8 && !world_.poisoned && !world_.stopped(); ++i) {
      client.put();
      // It may be the one that is told of the error as it is.
      world_.judge_write(world_.poisoned, db.flush(), "flush after all clients");
    }
    if (!world_.poisoned && !world_.stopped()) {
      world_.fail("commits go on though a write or a sync has failed");
    }
  }

  // A database that can commit nothing any more still shows what it has.
  void behind_poison(Db& db, Transaction* begun) {
    if (world_.stopped()) return;
    files_.set_plan(quiet());
    if (begun->open()) {
      constexpr StatusCode kPrepared[] = {StatusCode::kConflict};  // by which what it found stays
      world_.judge_write(true, begun->commit(Durability::kNone), "the commit of what was begun",
                         kPrepared);
    }
    write_all_ways(&world_);
    SimFound found;
    if (world_.stopped() || !read(db, &found) || !found.unreadable.empty()) return;
    size_t lost = 0;
    const std::string error = world_.history.check(found, SimMayLose::kNothing, &lost);
    if (!error.empty()) world_.fail("read-only: " + error);
  }

  bool close(Db& db) {
    const uint64_t acknowledged = world_.history.acknowledged();
    const Status status = db.close();
    world_.judge(status, "close");
    if (!status.ok() || disk_->stopped()) return false;
    world_.history.durable_to(acknowledged);
    return true;
  }

  void crash(CrashKind kind, bool closed) {
    std::unique_ptr<SimDisk> after =
        disk_->crash(dice(parameters_.seed, 9, result_.lives).next(), kind);
    files_.set_disk(after.get());
    disk_ = std::move(after);
    // The worst since what is there was last compared.
    const bool power = !closed && kind != CrashKind::kProcessKill;
    may_lose_ = std::max(may_lose_, power ? SimMayLose::kUnsynced : SimMayLose::kUnacknowledged);
  }

  // A last look, without faults: twice, so that what a recovery has shown stays.
  void finish() {
    files_.set_plan({});
    disk_->set_capacity(0);
    world_.full = false;
    for (int i = 0; i < 2 && going_on(); ++i) {
      files_.begin_life();
      Machine machine(*this);
      std::unique_ptr<Db> db = open(machine.machine);
      if (db == nullptr) return;
      if (close(*db)) may_lose_ = SimMayLose::kNothing;
    }
  }

  void take_result() {
    result_.failure = world_.failure;
    result_.steps = scheduler_.steps();
    result_.switches = scheduler_.switches();
    result_.trace = trace_.hash();
    result_.image = disk_->image_hash();
  }

  void tell(uint64_t life, uint64_t clients, uint64_t operations, CrashKind kind, bool closed) {
    const char* end = closed ? "closed" : disk_->stopped() ? "stopped" : "left";
    fprintf(stderr,
            "seed %llu life %llu: %llu clients, %llu operations, %zu commits, step %llu, %s, %s\n",
            static_cast<unsigned long long>(parameters_.seed),
            static_cast<unsigned long long>(life), static_cast<unsigned long long>(clients),
            static_cast<unsigned long long>(operations), world_.history.commits.size(),
            static_cast<unsigned long long>(scheduler_.steps()), end,
            kind == CrashKind::kProcessKill ? "killed" : "power lost");
  }

  const SimParameters parameters_;
  SimResult& result_;
  Prng prng_;
  testing::SimTrace trace_;
  std::unique_ptr<SimDisk> disk_;
  testing::SimScheduler scheduler_;
  SimFiles files_;
  testing::ScheduledClock clock_;
  Numbers random_;
  SimWorld world_;
  Character character_ = Character::kHonest;
  Compression compression_ = Compression::kNone;
  uint64_t latency_us_ = 0;
  bool direct_ = true;
  bool ended_ = false;
  SimMayLose may_lose_ = SimMayLose::kNothing;
};

}  // namespace

void simulate(const SimParameters& parameters, SimResult* result,
              const std::function<void()>& stuck) {
  Simulation(parameters, result, stuck).run();
}

}  // namespace hawthorn::tests
