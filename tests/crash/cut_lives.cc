#include "tests/crash/cut_lives.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "os/machine.h"
#include "os/posix_file.h"
#include "tests/crash/cut_copies.h"
#include "tests/support/child_process.h"

namespace hawthorn::tests {
namespace {

using testing::Cut;
using testing::CutKind;
using testing::CutState;
using testing::CutStates;
using testing::FileOp;
using testing::RecordedCall;
using testing::Recorder;
using testing::Recording;

constexpr uint64_t kFirstCuts = 13;  // of the recording that begins with nothing
constexpr uint64_t kAgainEvery = 3;  // one in so many of them is recorded, and cut again
constexpr uint64_t kAgainCuts = 3;
static_assert(kFirstCuts + kFirstCuts / kAgainEvery * kAgainCuts == kCutsOfSeed);
constexpr size_t kClassesMax = 64;
// Of what is done beside the writers, and behind them.
constexpr uint64_t kStepsBeside = 40;
constexpr uint64_t kStepsBehind = 4;
constexpr uint64_t kCopiesMax = 2;

struct ClassRow {
  char name[40];
  uint64_t cuts[testing::kCutStates];
};

struct CutShared {
  std::atomic<uint64_t> cuts;
  uint64_t again;
  uint64_t commits;
  uint64_t none;
  uint64_t met[kCutMet];
  ClassRow classes[kClassesMax];
  std::atomic<uint32_t> failed;
  char doing[2000];  // or what failed
};

void note(char (&to)[2000], const std::string& what) {
  const size_t size = std::min(what.size(), sizeof(to) - 1);
  std::memcpy(to, what.data(), size);
  to[size] = '\0';
}

// Stops at the first error, whose text it is; empty: none.
using Error = std::string;

struct Life {
  uint64_t opens = 1;
  uint64_t commits_min = 0;  // of each writer, behind each open
  uint64_t commits_max = 0;
};

class RecordedMachine {
 public:
  explicit RecordedMachine(const std::string& root)
      : root_(root),
        recorder_(root),
        files_(os::posix_file_system(), recorder_),
        machine_(os::real_machine()) {
    machine_.files = &files_;
  }
  const std::string& root() const { return root_; }
  Recorder& recorder() { return recorder_; }
  const os::Machine& machine() const { return machine_; }

 private:
  const std::string root_;
  Recorder recorder_;
  testing::WatchedFiles files_;
  os::Machine machine_;
};

// What a database does behind one open: commits of all writers, and what the seed has beside them.
class Work {
 public:
  Work(Db& db, uint64_t seed, const Life& life, const RecordedMachine& recorded,
       CutWitness& witness, Prng& prng)
      : db_(db), seed_(seed), life_(life), recorded_(recorded), witness_(witness), prng_(prng) {}

  // Behind the acts of others than the writers up to `numbers`, which becomes what is there then.
  Error run(CutNumbers* numbers) {
    const Result<Numbers> there = numbers_of(db_);
    if (!there.ok()) return "numbers: " + there.status().to_string();
    for (uint32_t writer = 0; writer < kWriters; ++writer) {
      const uint64_t from = (*there)[writer] + 1;
      const uint64_t until = from + prng_.between(life_.commits_min, life_.commits_max);
      start([this, writer, from, until] {
        const Upkeep upkeep{.flush = 25, .drain = 40, .compact = 60, .sync = 40};
        return run_writer(db_, seed_, writer, from, until, upkeep, witness_, [] { return false; });
      });
    }
    Aside aside(db_, seed_, *numbers, witness_, prng_.next());
    CutCopier copier(db_, recorded_.machine(), recorded_.root(), witness_, prng_.next());
    std::atomic<bool> written = false;
    const size_t writers = threads_.size();
    start([&] {
      Status status = aside.begin();
      for (uint64_t i = 0; status.ok() && i < kStepsBeside && !written; ++i) status = aside.step();
      // Writers may need all for themselves.
      return status.ok() ? aside.end_all() : status;
    });
    start([&] {
      Status status;
      const uint64_t copies = features_of(seed_).copies ? kCopiesMax : 0;
      for (uint64_t i = 0; status.ok() && i < copies; ++i) status = copier.make();
      return status;
    });
    for (size_t i = 0; i < threads_.size(); ++i) {
      if (i == writers) written = true;
      threads_[i].join();
    }
    // What is prepared now stays so.
    for (uint64_t i = 0; i < kStepsBehind; ++i) {
      if (Status s = aside.step(); !s.ok()) return s.to_string();
    }
    *numbers = aside.numbers();
    for (const Status& outcome : outcomes_) {
      if (!outcome.ok()) return outcome.to_string();
    }
    return {};
  }

 private:
  template <typename Do>
  void start(Do what) {
    Status* const outcome = &outcomes_.emplace_back();
    threads_.emplace_back([outcome, what] { *outcome = what(); });
  }

  Db& db_;
  const uint64_t seed_;
  const Life& life_;
  const RecordedMachine& recorded_;
  CutWitness& witness_;
  Prng& prng_;
  std::deque<Status> outcomes_;
  std::vector<std::thread> threads_;
};

Error close_or_not(std::unique_ptr<Db> db, CutWitness& witness, Prng& prng) {
  if (prng.one_in(3)) return {};  // ~Db: not flushed, replayed by the next open
  if (const Status s = db->close(); !s.ok()) return "close: " + s.to_string();
  witness.mark(CutMark::kClosed);
  return {};
}

// What was recorded is all that was done, or else no cut of it means anything.
Error compare_with_files(const Recording& recording, const std::string& root) {
  CutStates ignored;
  const Cut all{
      .moment = recording.moments, .kind = CutKind::kPrefix, .seed = 1, .without_syncs_of = {}};
  auto disk = testing::disk_after(recording, all, &ignored);
  if (!disk.ok()) return disk.status().to_string();
  const Result<std::string> differs = testing::difference(**disk, root);
  if (!differs.ok()) return "compared with the recording: " + differs.status().to_string();
  return differs->empty() ? Error() : "the recording is not what was done: " + *differs;
}

Error record(const std::string& root, uint64_t seed, Recording* recording) {
  Prng prng(mix64(seed));
  RecordedMachine recorded(root);
  CutWitness witness(recorded.recorder());
  if (Status s = recorded.recorder().begin_with_files(); !s.ok()) return s.to_string();
  const Life life{.opens = prng.between(1, 4), .commits_min = 10, .commits_max = 60};
  CutNumbers numbers = {};
  for (uint64_t i = 0; i < life.opens; ++i) {
    auto db = Db::open_on(recorded.machine(), root + "/db", cut_options(seed));
    if (!db.ok()) return "open: " + db.status().to_string();
    witness.mark(CutMark::kOpened);
    if (Status s = set_up(**db, seed); !s.ok()) return "set up: " + s.to_string();
    witness.mark(CutMark::kSetUp);
    Work work(**db, seed, life, recorded, witness, prng);
    if (Error error = work.run(&numbers); !error.empty()) return error;
    if (Error error = close_or_not(std::move(*db), witness, prng); !error.empty()) return error;
  }
  Result<Recording> made = recorded.recorder().finish(seed);
  if (!made.ok()) return made.status().to_string();
  *recording = std::move(*made);
  return compare_with_files(*recording, root);
}

// Some moments are any; others lie at a call of a kind that was chosen, however seldom it is made.
Cut pick_cut(const Recording& recording, uint64_t number, const std::string& without_syncs_of) {
  Prng prng(mix64(recording.seed) ^ mix64(number + recording.first_moment * 64));
  Cut cut;
  cut.without_syncs_of = without_syncs_of;
  const uint64_t kind = prng.below(8);
  cut.kind = CutKind::kSubset;
  if (kind < 2) cut.kind = CutKind::kPrefix;
  if (kind == 2) cut.kind = CutKind::kSynced;
  cut.seed = prng.next();
  cut.moment = prng.between(recording.first_moment + 1, recording.moments);
  if (prng.one_in(4)) return cut;
  std::map<std::pair<std::string, FileOp>, std::vector<const RecordedCall*>> kinds;
  for (const RecordedCall& call : recording.calls) {
    if (call.begin < recording.first_moment || call.op == FileOp::kClose) continue;
    if (call.op == FileOp::kOpen && !call.creates) continue;
    kinds[{testing::file_class(call.path), call.op}].push_back(&call);
  }
  if (kinds.empty()) return cut;
  const auto chosen = std::next(kinds.begin(), static_cast<ptrdiff_t>(prng.below(kinds.size())));
  const RecordedCall& call = *chosen->second[prng.below(chosen->second.size())];
  const uint64_t near = prng.one_in(2) ? call.begin : call.end;
  cut.moment = std::min(near + 1 + (prng.one_in(3) ? prng.below(12) : 0), recording.moments);
  return cut;
}

std::string text_of(const Cut& cut) {
  static constexpr const char* kKinds[] = {"all of it", "any of what was not synced",
                                           "what was synced"};
  return "power cut at moment " + std::to_string(cut.moment) + ", leaving " +
         kKinds[static_cast<size_t>(cut.kind)];
}

struct Checked {
  Error error;
  Cut cut;
  bool none = false;  // no database yet, as it may be
  CutStates states;
  CutFound found;
  CopiesMet copies;
  std::optional<Recording> again;
};

// Opens what a cut has left. `db` stays null where there may be no database, and none is.
Error open_and_verify(const os::Machine& machine, const std::string& path, uint64_t seed,
                      const CutPromise& promise, std::unique_ptr<Db>* db, CutFound* found) {
  Options options = cut_options(seed);
  options.create_if_missing = false;
  Result<std::unique_ptr<Db>> opened = Db::open_on(machine, path, options);
  if (!opened.ok()) {
    if (opened.status().is_not_found() && !promise.opened) return {};
    return "open: " + opened.status().to_string();
  }
  if (Error error = verify_cut(**opened, seed, promise, found); !error.empty()) return error;
  *db = std::move(*opened);
  return {};
}

// Looks at all that a cut has left.
Error look_at_all(const std::string& root, uint64_t seed, const CutPromise& promise,
                  Checked* checked) {
  std::unique_ptr<Db> db;
  CutFound& found = checked->found;
  Error error = open_and_verify(os::real_machine(), root + "/db", seed, promise, &db, &found);
  checked->none = db == nullptr;
  if (error.empty() && db != nullptr) error = end_prepared(*db, seed, found);
  if (!error.empty()) return error;
  return look_at_cut_copies(root, seed, promise, db.get(), found, &checked->copies);
}

// Looks at the copies, then uses what a cut has left, recorded. Fills `again` where there was a
// database.
Error live_on(const std::string& root, uint64_t seed, const CutPromise& promise, Checked* checked) {
  CutFound& found = checked->found;
  Error error = look_at_cut_copies(root, seed, promise, nullptr, found, &checked->copies);
  if (!error.empty()) return error;
  remove_cut_copies(root);
  RecordedMachine recorded(root);
  Recorder& recorder = recorded.recorder();
  if (Status s = recorder.begin_with_files(); !s.ok()) return s.to_string();
  CutWitness witness(recorder);
  std::unique_ptr<Db> db;
  error = open_and_verify(recorded.machine(), root + "/db", seed, promise, &db, &found);
  checked->none = db == nullptr;
  if (!error.empty() || db == nullptr) return error;
  const bool was_set_up = db->find_tree("bank").ok();
  if (Status s = set_up(*db, seed); !s.ok()) return "set up: " + s.to_string();
  witness.mark(CutMark::kSetUp);
  Prng prng(mix64(seed + promise.at_most[0]));
  const Life life{.opens = 1, .commits_min = 0, .commits_max = 12};
  CutNumbers numbers = found.most;
  if (error = Work(*db, seed, life, recorded, witness, prng).run(&numbers); !error.empty()) {
    return error;
  }
  if (error = close_or_not(std::move(db), witness, prng); !error.empty()) return error;
  Result<Recording> made = recorder.finish(seed);
  if (!made.ok()) return made.status().to_string();
  // All that it began with was on the disk, so what was found is there whenever it is cut.
  std::vector<testing::RecordedMark> first;
  const auto add = [&](CutMark kind, uint32_t writer, uint64_t number) {
    first.push_back({made->first_moment, static_cast<uint32_t>(kind), writer, number});
  };
  add(CutMark::kOpened, 0, 0);
  if (was_set_up) add(CutMark::kSetUp, 0, 0);
  for (uint32_t i = 0; i < kCutActors; ++i) add(CutMark::kShown, i, found.most[i]);
  made->marks.insert(made->marks.begin(), first.begin(), first.end());
  checked->again = std::move(*made);
  return compare_with_files(*checked->again, root);
}

// A new directory of that name.
Error make_root(const std::string& root) {
  std::error_code error;
  std::filesystem::remove_all(root, error);
  if (!error) std::filesystem::create_directories(root, error);
  return error ? root + ": " + error.message() : Error();
}

// Makes the files of one cut in `root`, opens and checks them; where the number says so, uses them.
Checked check_cut(const Recording& recording, uint64_t number, const std::string& drop_syncs,
                  const std::string& root, bool lives_on) {
  Checked checked;
  checked.cut = pick_cut(recording, number, drop_syncs);
  auto disk = testing::disk_after(recording, checked.cut, &checked.states);
  if (!disk.ok()) {
    checked.error = disk.status().to_string();
    return checked;
  }
  if (checked.error = make_root(root); !checked.error.empty()) return checked;
  if (Status s = testing::write_out(**disk, root); !s.ok()) {
    checked.error = s.to_string();
    return checked;
  }
  const CutPromise promise = promise_at(recording, checked.cut.moment);
  checked.error = lives_on ? live_on(root, recording.seed, promise, &checked)
                           : look_at_all(root, recording.seed, promise, &checked);
  if (!checked.error.empty()) {
    checked.error = text_of(checked.cut) + ": " + checked.error;
    // For whoever looks: as the cut left them.
    if (make_root(root).empty()) static_cast<void>(testing::write_out(**disk, root).ok());
  }
  return checked;
}

bool lives_on(const Recording& recording, uint64_t number) {
  const bool is_first =
      !recording.marks.empty() && recording.marks.front().moment != recording.first_moment;
  return is_first && number < kFirstCuts && number % kAgainEvery == kAgainEvery - 1;
}

// The process of one seed.
class Seed {
 public:
  Seed(const CutOptions& options, uint64_t seed, const std::string& where, CutShared& shared)
      : options_(options), seed_(seed), where_(where), shared_(shared) {}

  void run() {
    Recording first;
    const std::string live = where_ + "/live";
    note(shared_.doing, "recording");
    Error error = make_root(live);
    if (error.empty()) error = record(live, seed_, &first);
    if (!error.empty()) return fail("recording: " + error);
    for (const testing::RecordedMark& mark : first.marks) {
      const auto kind = static_cast<CutMark>(mark.kind);
      if (kind != CutMark::kReturned && kind != CutMark::kDurable) continue;
      shared_.commits += mark.number > 0 ? 1 : 0;
    }
    if (!cut_all(first, "recording", true)) return;
    std::error_code ignored;
    std::filesystem::remove_all(where_, ignored);
  }

 private:
  void fail(const Error& error) {
    note(shared_.doing, error);
    shared_.failed = 1;
  }

  bool cut_all(const Recording& recording, const std::string& name, bool is_first) {
    const std::string file = where_ + "/" + name;
    if (Status s = recording.save(file); !s.ok()) {
      fail(s.to_string());
      return false;
    }
    // Where a cut leaves no database, there is nothing to go on with: others take its place.
    const uint64_t cuts = is_first ? kFirstCuts : kAgainCuts;
    for (uint64_t number = 0; number < cuts || (is_first && shared_.cuts.load() < kCutsOfSeed);
         ++number) {
      std::string again = "power_cuts --recording " + file + " --cut " + std::to_string(number);
      if (!options_.drop_syncs.empty()) again += " --drop-syncs " + options_.drop_syncs;
      note(shared_.doing, again);
      const std::string root = where_ + "/cut-" + name;
      const Checked checked =
          check_cut(recording, number, options_.drop_syncs, root, lives_on(recording, number));
      if (!checked.error.empty()) {
        fail(again + "\n  " + checked.error + "\n  files: " + root);
        return false;
      }
      count(checked, !is_first);
      if (!checked.again.has_value()) continue;
      if (!cut_all(*checked.again, name + "-" + std::to_string(number), false)) return false;
    }
    return true;
  }

  void count(const Checked& checked, bool again) {
    shared_.cuts.fetch_add(1);
    shared_.again += again ? 1 : 0;
    shared_.none += checked.none ? 1 : 0;
    const auto meet = [&](CutMet what, bool met) { shared_.met[static_cast<size_t>(what)] += met; };
    meet(CutMet::kEncrypted, !checked.none && features_of(seed_).encrypted);
    meet(CutMet::kPrepared, checked.found.prepared > 0);
    meet(CutMet::kForest, checked.found.most[kForest] > 0);
    meet(CutMet::kWholeCopy, checked.copies.whole > 0);
    meet(CutMet::kIncompleteCopy, checked.copies.incomplete > 0);
    meet(CutMet::kBackup, checked.copies.backups > 0);
    for (const auto& [name, states] : checked.states) {
      for (ClassRow& row : shared_.classes) {
        if (row.name[0] != '\0' && name != row.name) continue;
        strncpy(row.name, name.c_str(), sizeof(row.name) - 1);
        for (const CutState state : states) ++row.cuts[static_cast<size_t>(state)];
        break;
      }
    }
  }

  const CutOptions& options_;
  const uint64_t seed_;
  const std::string where_;
  CutShared& shared_;
};

class Cuts {
 public:
  explicit Cuts(const CutOptions& options) : options_(options) {
    void* const memory =
        mmap(nullptr, sizeof(CutShared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    shared_ = new (memory) CutShared{};
    set_small_sizes();
  }
  ~Cuts() { munmap(shared_, sizeof(CutShared)); }
  Cuts(const Cuts&) = delete;
  Cuts& operator=(const Cuts&) = delete;

  CutTotals run() {
    const uint64_t most = options_.until_all_states ? 2 * options_.cuts : options_.cuts;
    for (uint64_t seed = options_.first_seed;; ++seed) {
      if (totals_.cuts >= most && has_met_files()) break;
      if (totals_.cuts >= options_.cuts && totals_.never_met().empty()) break;
      const uint64_t before = totals_.cuts;
      run_seed(seed);
      add_up();
      const bool stuck = totals_.failed > 0 && totals_.cuts == before;
      if (totals_.failed > 0 && (stuck || !options_.drop_syncs.empty())) break;
    }
    return totals_;
  }

 private:
  bool has_met_files() const {
    if (options_.until_files.empty() || totals_.failed > 0) return true;
    return totals_.again > 0 &&
           std::all_of(options_.until_files.begin(), options_.until_files.end(),
                       [&](const std::string& file) { return totals_.states.contains(file); });
  }

  void run_seed(uint64_t seed) {
    new (shared_) CutShared{};
    const std::string where = options_.directory + "/power-cuts-" + std::to_string(seed);
    const pid_t child = start_child([&] { Seed(options_, seed, where, *shared_).run(); });
    ++totals_.seeds;
    if (child <= 0) return failed(seed, "no process can be started");
    int result = 0;
    uint64_t last = 0;
    // For the recording, or one cut.
    for (uint64_t ms = 0; waitpid(child, &result, WNOHANG) != child; ++ms) {
      usleep(1000);
      if (std::exchange(last, shared_->cuts.load()) != last) ms = 0;
      if (ms < testing::kHangLimitMs) continue;
      kill(child, SIGKILL);
      waitpid(child, &result, 0);
      return failed(seed, std::string("hangs: ") + shared_->doing);
    }
    if (shared_->failed.load() != 0) return failed(seed, shared_->doing);
    if (!WIFEXITED(result) || WEXITSTATUS(result) != 0) {
      failed(seed, "the process ended with " + std::to_string(result) + ": " + shared_->doing);
    }
  }

  void failed(uint64_t seed, const std::string& what) {
    ++totals_.failed;
    totals_.failures.push_back("seed " + std::to_string(seed) + ": " + what);
  }

  void add_up() {
    totals_.cuts += shared_->cuts.load();
    totals_.again += shared_->again;
    totals_.commits += shared_->commits;
    totals_.none += shared_->none;
    for (size_t i = 0; i < kCutMet; ++i) totals_.met[i] += shared_->met[i];
    for (const ClassRow& row : shared_->classes) {
      if (row.name[0] == '\0') continue;
      auto& sums = totals_.states[row.name];
      for (size_t i = 0; i < testing::kCutStates; ++i) sums[i] += row.cuts[i];
    }
  }

  const CutOptions options_;
  CutShared* shared_ = nullptr;
  CutTotals totals_;
};

struct Wanted {
  const char* file;
  std::vector<CutState> states;
};

const std::vector<Wanted>& wanted() {
  using enum CutState;
  static const std::vector<Wanted> all = {
      {"wal.N", {kInWrite, kInSync, kKept, kTorn, kLost, kNameKept, kNameLost}},
      {"wal.ring", {kKept, kTorn, kLost}},
      {"data.N", {kInWrite, kInSync, kKept, kTorn, kLost, kNameKept, kNameLost}},
      {"manifest.N", {kInWrite, kInSync, kKept, kTorn, kLost, kNameKept, kNameLost}},
      {"superblock", {kInSync, kLost}},
      {"directory", {kInSync}},
      {"keys.new", {kNameKept, kNameLost}},
      {"prepared.reserve", {kInSync, kNameKept, kNameLost}},
      {"copy.N/data.N", {kNameLost}},
      {"repository/parts.N", {kKept, kLost, kNameLost}},
  };
  return all;
}

}  // namespace

std::vector<std::string> CutTotals::never_met() const {
  std::vector<std::string> missing;
  for (const Wanted& one : wanted()) {
    const auto found = states.find(one.file);
    for (const CutState state : one.states) {
      if (found != states.end() && found->second[static_cast<size_t>(state)] > 0) continue;
      missing.push_back(std::string(one.file) + ": " + name_of(state));
    }
  }
  for (size_t i = 0; i < kCutMet; ++i) {
    if (met[i] == 0) missing.push_back(name_of(static_cast<CutMet>(i)));
  }
  return missing;
}

const char* name_of(CutMet what) {
  static constexpr const char* kNames[kCutMet] = {"encrypted databases", "prepared transactions",
                                                  "trees in trees",      "whole copies",
                                                  "incomplete copies",   "backups"};
  return kNames[static_cast<size_t>(what)];
}

CutTotals run_cuts(const CutOptions& options) { return Cuts(options).run(); }

std::string run_cut_again(const std::string& recording, uint64_t number,
                          const CutOptions& options) {
  set_small_sizes();
  const Result<Recording> loaded = Recording::load(recording);
  if (!loaded.ok()) return loaded.status().to_string();
  return check_cut(*loaded, number, options.drop_syncs, options.directory + "/power-cut-again",
                   lives_on(*loaded, number))
      .error;
}

std::string table_of(const CutTotals& totals) {
  std::string text;
  char cell[64];
  snprintf(cell, sizeof(cell), "  %-26s", "cuts of");
  text += cell;
  for (size_t i = 0; i < testing::kCutStates; ++i) {
    snprintf(cell, sizeof(cell), "%10s", name_of(static_cast<CutState>(i)));
    text += cell;
  }
  text += "\n";
  for (const auto& [name, states] : totals.states) {
    snprintf(cell, sizeof(cell), "  %-26s", name.c_str());
    text += cell;
    for (const uint64_t cuts : states) {
      snprintf(cell, sizeof(cell), "%10llu", static_cast<unsigned long long>(cuts));
      text += cell;
    }
    text += "\n";
  }
  for (size_t i = 0; i < kCutMet; ++i) {
    snprintf(cell, sizeof(cell), "  %-26s%10llu\n", name_of(static_cast<CutMet>(i)),
             static_cast<unsigned long long>(totals.met[i]));
    text += cell;
  }
  for (const std::string& failure : totals.failures) text += "FAILED " + failure + "\n";
  return text;
}

}  // namespace hawthorn::tests
