#include "tests/crash/kill_lives.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <thread>
#include <utility>

#include "os/machine.h"
#include "os/posix_file.h"
#include "tests/crash/kill_copies.h"
#include "tests/support/child_process.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kPatienceCommits = 1500;  // for a state to come
constexpr uint64_t kTriesOfState = 10;
constexpr uint64_t kDatabaseRounds = 12;  // kills of one database, before a new one is made

struct Shared {
  std::atomic<uint64_t> begun[kWriters];
  std::atomic<uint64_t> acknowledged[kWriters];
  std::atomic<uint64_t> found[kWriters];
  std::atomic<uint32_t> set_up;
  std::atomic<uint32_t> opened;
  std::atomic<uint32_t> died_in;  // a KillState, and one
  std::atomic<uint32_t> failed;
  CopyFloors floors;
  char message[2000];
};

[[noreturn]] void fail(Shared& shared, const std::string& what) {
  if (shared.failed.exchange(1) == 0) {
    strncpy(shared.message, what.c_str(), sizeof(shared.message) - 1);
  }
  _exit(1);
}

// What holds the database and its copies.
std::string root_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// How far a state lies: most come often, and the first ones are no better than later ones.
uint64_t pick_nth(KillState state, Prng& prng) {
  uint64_t most = 16;
  switch (state) {
    case KillState::kBeforeCommit:
    case KillState::kAfterCommit:
    case KillState::kRecordInRing:
    case KillState::kBeforeStamp:
      most = 400;
      break;
    case KillState::kRecovery:
      most = 120;
      break;
    case KillState::kCreate:
    case KillState::kClose:
    case KillState::kFlush:
    case KillState::kCheckpoint:
    case KillState::kBackup:
    case KillState::kRestore:
    case KillState::kRemoveBackup:
      most = 40;
      break;
    case KillState::kDirectorySync:
    case KillState::kSuperblock:
    case KillState::kManifestRewrite:
    case KillState::kLogRecycle:
      most = 5;
      break;
    default:
      break;
  }
  const uint64_t bound = prng.between(1, most);
  return prng.between(1, bound);
}

Upkeep upkeep_for(KillState state) {
  Upkeep upkeep;
  if (state == KillState::kRecluster) upkeep.compact = 12;
  if (state == KillState::kFlush || state == KillState::kManifestAppend) upkeep.flush = 25;
  if (state == KillState::kDataFiles) upkeep = {.flush = 40, .drain = 40, .compact = 40};
  if (state == KillState::kLogSync) upkeep.sync = 20;
  return upkeep;
}

// The part of a child that works until it is killed.
class Worker : public Witness {
 public:
  Worker(const std::string& path, Shared& shared, uint64_t seed, KillState state, uint64_t nth,
         KillSwitch::When when, bool lose_log)
      : path_(path),
        shared_(shared),
        seed_(seed),
        state_(state),
        switch_(std::make_shared<KillSwitch>(shared.died_in, path)),
        files_(os::posix_file_system(), *switch_) {
    machine_ = os::real_machine();
    machine_.files = &files_;
    if (lose_log) switch_->lose_log();
    if (state != KillState::kAnyTime) switch_->arm(state, nth, when);
  }

  std::unique_ptr<Db> open() {
    Options options = workload_options();
    options.commit_hooks = {switch_};
    options.listeners = {switch_};
    switch_->opens(shared_.set_up.load() == 0);
    Result<std::unique_ptr<Db>> db = Db::open_on(machine_, path_, options);
    if (!db.ok()) fail(shared_, "open: " + db.status().to_string());
    if (Status s = set_up(**db, seed_); !s.ok()) fail(shared_, "set up: " + s.to_string());
    shared_.set_up.store(1);
    take_up(**db);
    switch_->runs();
    shared_.opened.fetch_add(1);
    return std::move(*db);
  }

  [[noreturn]] void run() {
    Prng prng(mix64(seed_) ^ shared_.acknowledged[0].load());
    for (;;) {
      std::unique_ptr<Db> db = open();
      const bool close_soon = state_ == KillState::kClose || state_ == KillState::kSuperblock ||
                              state_ == KillState::kManifestRewrite ||
                              state_ == KillState::kDirectorySync || prng.one_in(4);
      std::vector<std::thread> threads;
      for (uint32_t writer = 0; writer < kWriters; ++writer) {
        const uint64_t from = shared_.acknowledged[writer].load() + 1;
        const uint64_t until = close_soon ? from + prng.below(60) : ~uint64_t{0};
        threads.emplace_back([&, writer, from, until] {
          const Status status = run_writer(*db, seed_, writer, from, until, upkeep_for(state_),
                                           *this, [] { return false; });
          if (!status.ok()) fail(shared_, status.to_string());
        });
      }
      std::atomic<bool> done{false};
      std::thread copier([&] { copy(*db, done); });
      for (std::thread& thread : threads) thread.join();
      done = true;
      copier.join();
      if (prng.one_in(4)) continue;  // ~Db: not flushed, replayed by the next open
      switch_->closes();
      if (const Status s = db->close(); !s.ok()) fail(shared_, "close: " + s.to_string());
    }
  }

  void begins(uint32_t writer, uint64_t number) override {
    if (number > 0) shared_.begun[writer].store(number);
  }
  void ends(uint32_t writer, uint64_t number, bool /*durable*/) override {
    if (number > 0) shared_.acknowledged[writer].store(number);
  }
  void calls(Call call, bool begins) override { switch_->calls(call, begins); }

 private:
  void copy(Db& db, const std::atomic<bool>& done) {
    if (!is_copy_state(state_)) return;
    const auto acknowledged = [&] {
      Numbers numbers = {};
      for (uint32_t w = 0; w < kWriters; ++w) numbers[w] = shared_.acknowledged[w].load();
      return numbers;
    };
    const Status status = copy_for_ever(db, machine_, root_of(path_), state_, *switch_,
                                        shared_.floors, acknowledged, [&] { return done.load(); });
    if (!status.ok()) fail(shared_, status.to_string());
  }

  // A commit that the one before has not acknowledged may be there: it is not made again.
  void take_up(Db& db) {
    const Result<Numbers> there = numbers_of(db);
    if (!there.ok()) fail(shared_, "numbers: " + there.status().to_string());
    for (uint32_t writer = 0; writer < kWriters; ++writer) {
      const uint64_t acknowledged = shared_.acknowledged[writer].load();
      const uint64_t number = (*there)[writer];
      if (number < acknowledged || number > std::max(acknowledged, shared_.begun[writer].load())) {
        fail(shared_, "writer " + std::to_string(writer) + " has commits up to " +
                          std::to_string(number) + ", acknowledged were those up to " +
                          std::to_string(acknowledged));
      }
      shared_.acknowledged[writer].store(number);
    }
  }

  const std::string path_;
  Shared& shared_;
  const uint64_t seed_;
  const KillState state_;
  const std::shared_ptr<KillSwitch> switch_;
  testing::WatchedFiles files_;
  os::Machine machine_;
};

void look(const std::string& path, Shared& shared, uint64_t seed, const Known& known, bool close) {
  Options options = workload_options();
  options.create_if_missing = false;
  Result<std::unique_ptr<Db>> db = Db::open(path, options);
  if (!db.ok()) {
    // Killed before there was a database: nothing was acknowledged then.
    if (db.status().is_not_found() && shared.set_up.load() == 0) return;
    fail(shared, "reopen: " + db.status().to_string());
  }
  Promise promise;
  promise.set_up = shared.set_up.load() != 0;
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    promise.at_least[writer] = shared.acknowledged[writer].load();
    promise.at_most[writer] = std::max(shared.begun[writer].load(), promise.at_least[writer]);
  }
  Known found = known;
  if (const std::string error = verify(**db, seed, promise, found); !error.empty()) {
    fail(shared, error);
  }
  for (uint32_t w = 0; w < kWriters; ++w) shared.found[w].store(found.numbers[w]);
  if (const std::string error =
          look_at_copies(**db, root_of(path), seed, found.numbers, shared.floors);
      !error.empty()) {
    fail(shared, error);
  }
  if (!close) return;
  if (const Status s = (*db)->close(); !s.ok()) fail(shared, "close: " + s.to_string());
}

class Lives {
 public:
  explicit Lives(const KillOptions& options) : options_(options) {
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    shared_ = new (memory) Shared{};
    set_small_sizes();
  }
  ~Lives() { munmap(shared_, sizeof(Shared)); }
  Lives(const Lives&) = delete;
  Lives& operator=(const Lives&) = delete;

  KillTotals run() {
    const auto& states = kill_states();
    uint64_t number = options_.first_seed * kKillsOfSeed;
    for (seed_ = options_.first_seed; !is_enough(); ++seed_) {
      Prng prng(seed_);
      begin_database();
      const uint64_t before = totals_.kills;
      bool held = true;
      while (held && totals_.kills < before + kKillsOfSeed) {
        held = round(states[number++ % states.size()], prng);
      }
      ++totals_.seeds;
      end_database(held);
      if (!held && options_.lose_log) break;
    }
    return totals_;
  }

 private:
  bool is_enough() const {
    if (totals_.kills < options_.kills) return false;
    // Where most die before their first commit there is little to lose.
    if (totals_.failed == 0 && totals_.commits <= totals_.kills) return false;
    // A kill may come too early or too late for the state that it is meant for.
    return !options_.until_all_states || totals_.kills >= kTriesOfState * kill_states().size() ||
           totals_.never_hit().empty();
  }

  void begin_database() {
    path_ = options_.directory + "/kills-" + std::to_string(seed_) + "-" +
            std::to_string(++databases_) + "/db";
    // What an earlier run has left there.
    std::error_code ignored;
    std::filesystem::remove_all(root_of(path_), ignored);
    std::filesystem::create_directories(root_of(path_), ignored);
    known_ = Known();
    rounds_ = 0;
    for (uint32_t writer = 0; writer < kWriters; ++writer) {
      shared_->begun[writer] = shared_->acknowledged[writer] = shared_->found[writer] = 0;
      shared_->floors.copy[writer] = shared_->floors.restored[writer] = 0;
    }
    shared_->set_up = 0;
    shared_->failed = 0;
  }

  // One that failed stays, to be looked at.
  void end_database(bool held) {
    totals_.commits += known_.numbers[0] + known_.numbers[1];
    std::error_code ignored;
    if (held) std::filesystem::remove_all(root_of(path_), ignored);
  }

  bool failed(const std::string& what) {
    ++totals_.failed;
    totals_.failures.push_back("seed " + std::to_string(seed_) + ", " + path_ + ": " + what);
    return false;
  }

  // A life that ends by a kill in `state`, perhaps kills while it is opened, and a look at what is
  // left.
  bool round(KillState state, Prng& prng) {
    if ((state == KillState::kCreate && rounds_ > 0) || rounds_ >= kDatabaseRounds) {
      end_database(true);
      begin_database();
    }
    ++rounds_;
    // Recovery needs something to recover.
    const KillState first = state == KillState::kRecovery ? KillState::kAnyTime : state;
    if (!kill_in(first, prng)) return false;
    while (state == KillState::kRecovery || prng.one_in(5)) {
      if (!kill_in(KillState::kRecovery, prng)) return false;
      if (prng.one_in(2)) break;
    }
    return see(prng.one_in(4));
  }

  bool kill_in(KillState state, Prng& prng) {
    shared_->opened = 0;
    shared_->died_in = 0;
    const uint64_t nth = pick_nth(state, prng);
    const auto when = static_cast<KillSwitch::When>(prng.below(3));
    const pid_t child = start_child(
        [&] { Worker(path_, *shared_, seed_, state, nth, when, options_.lose_log).run(); });
    if (child <= 0) return failed("no process can be started");
    ++totals_.lives;
    const auto commits = [&] {
      uint64_t sum = 0;
      for (const std::atomic<uint64_t>& number : shared_->acknowledged) sum += number.load();
      return sum;
    };
    // How far it gets is counted, so that a slow machine kills in the same states. Copies are made
    // for ever, whatever is committed meanwhile.
    uint64_t until = commits() + kPatienceCommits;
    if (state == KillState::kAnyTime) until = commits() + prng.below(prng.one_in(3) ? 400 : 60);
    if (is_copy_state(state)) until = ~uint64_t{0};
    // Mostly behind the open.
    const bool anywhere = state == KillState::kAnyTime && prng.one_in(4);
    const uint64_t pause_ms = prng.below(60);
    uint64_t last = commits();
    uint64_t idle_ms = 0;
    int result = 0;
    for (uint64_t ms = 0; idle_ms < testing::kHangLimitMs; ++ms, ++idle_ms) {
      usleep(1000);
      if (shared_->failed.load() != 0) break;
      if (waitpid(child, &result, WNOHANG) == child) return ended(result, state);
      if (anywhere ? ms >= pause_ms : shared_->opened.load() > 0 && commits() >= until) break;
      if (std::exchange(last, commits()) != last) idle_ms = 0;
    }
    kill(child, SIGKILL);
    waitpid(child, &result, 0);
    if (idle_ms >= testing::kHangLimitMs) return failed("the process that commits hangs");
    return ended(result, state);
  }

  bool ended(int result, KillState wanted) {
    if (shared_->failed.load() != 0) return failed(shared_->message);
    if (!WIFSIGNALED(result) || WTERMSIG(result) != SIGKILL) {
      return failed(std::string("killed in ") + name_of(wanted) + ", the process ended with " +
                    std::to_string(result));
    }
    const uint32_t died_in = shared_->died_in.load();
    ++totals_.kills;
    ++totals_.hits[died_in == 0 ? 0 : died_in - 1];
    return true;
  }

  bool see(bool close) {
    const pid_t child = start_child([&] { look(path_, *shared_, seed_, known_, close); });
    if (child <= 0) return failed("no process can be started");
    ++totals_.lives;
    int result = 0;
    uint64_t ms = 0;
    while (waitpid(child, &result, WNOHANG) != child) {
      usleep(1000);
      if (++ms < testing::kHangLimitMs) continue;
      kill(child, SIGKILL);
      waitpid(child, &result, 0);
      return failed("the process that looks hangs");
    }
    if (shared_->failed.load() != 0) return failed(shared_->message);
    if (!WIFEXITED(result) || WEXITSTATUS(result) != 0) {
      return failed("the process that looks ended with " + std::to_string(result));
    }
    Numbers numbers;
    for (uint32_t w = 0; w < kWriters; ++w) numbers[w] = shared_->found[w].load();
    advance(known_, seed_, numbers);
    for (uint32_t w = 0; w < kWriters; ++w) {
      shared_->acknowledged[w] = shared_->begun[w] = numbers[w];
    }
    return true;
  }

  const KillOptions options_;
  Shared* shared_ = nullptr;
  KillTotals totals_;
  uint64_t seed_ = 0;
  uint64_t databases_ = 0;
  uint64_t rounds_ = 0;
  std::string path_;
  Known known_;
};

}  // namespace

std::vector<KillState> KillTotals::never_hit() const {
  std::vector<KillState> states;
  for (const KillState state : kill_states()) {
    if (hits[static_cast<size_t>(state)] == 0) states.push_back(state);
  }
  return states;
}

KillTotals run_kills(const KillOptions& options) { return Lives(options).run(); }

std::string table_of(const KillTotals& totals) {
  std::string text;
  for (const KillState state : kill_states()) {
    char line[100];
    snprintf(line, sizeof(line), "%8llu  %s\n",
             static_cast<unsigned long long>(totals.hits[static_cast<size_t>(state)]),
             name_of(state));
    text += line;
  }
  for (const std::string& failure : totals.failures) text += "FAILED " + failure + "\n";
  return text;
}

}  // namespace hawthorn::tests
