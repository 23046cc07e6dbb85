#include "tests/environment/workload.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "testing/wait.h"
#include "tests/environment/taking.h"

namespace hawthorn::tests {
namespace {

constexpr unsigned kSlots = 10;
constexpr unsigned kParts = 3;  // entries of one transaction
constexpr size_t kValueMax = 80'000;
constexpr unsigned kRoundsBefore = 16;  // while something is short, or is going to be
constexpr unsigned kRoundsAfter = 5;

using Key = std::array<char, 16>;

std::string_view key_in(Key& key, unsigned owner, unsigned slot, unsigned part) {
  const int size = snprintf(key.data(), key.size(), "%u/%02u/%u", owner, slot, part);
  return {key.data(), static_cast<size_t>(size)};
}

// Versions of slots; 0: nothing was written yet.
bool is_removal(uint64_t version) { return version % 5 == 0; }

size_t size_of(unsigned owner, unsigned slot, unsigned part, uint64_t version) {
  // Above 64 KB a value is written to the data files before its commit.
  if (part == 0 && version % 8 == 3) return kValueMax - version % 1000;
  return 8 + mix64(version << 16 | owner << 12 | slot << 4 | part) % 9'000;
}

std::string_view value_in(char* buffer, unsigned owner, unsigned slot, unsigned part,
                          uint64_t version) {
  const size_t size = size_of(owner, slot, part, version);
  uint64_t state = version << 16 | owner << 12 | slot << 4 | part;
  for (size_t i = 0; i < size; i += 8) {
    const uint64_t word = i == 0 ? version : splitmix64(state);
    std::memcpy(buffer + i, &word, std::min<size_t>(8, size - i));
  }
  return {buffer, size};
}

struct Slot {
  uint64_t acknowledged = 0;
  // Newer than that: which of them is there, if any, nobody has said.
  std::array<uint64_t, 8> unknown{};
  unsigned unknowns = 0;

  // `found` is 0 where nothing is there.
  bool allows(uint64_t found) const {
    const auto is = [&](uint64_t version) {
      return found == 0 ? is_removal(version) : version == found;
    };
    return is(acknowledged) || std::any_of(unknown.begin(), unknown.begin() + unknowns, is);
  }
};

class Workload;

struct Worker {
  uint64_t version = 0;
  std::array<Slot, kSlots> slots;
  std::array<std::array<char, kValueMax + 8>, kParts> values;
  std::array<char, kValueMax + 8> expected;
};

class Workload {
 public:
  Workload(const Case& shortage, const Place& place, const MakeStore& make_store, Shared& shared)
      : case_(shortage),
        api_(place.api),
        shared_(shared),
        path_(place.directory + "/store"),
        second_path_(place.directory + "/second"),
        child_path_(place.directory + "/child"),
        taking_(shortage, place.directory, path_),
        store_(make_store()),
        second_(make_store()),
        in_child_(make_store()),
        workers_(kThreads) {}

  bool run();

 private:
  bool good() const { return shared_.failures.load() == 0; }
  bool is_short() const { return !shared_.given_back.load(); }
  void beat() { shared_.beats.fetch_add(1); }

  // Whether an operation has ended as it may. Counts it.
  bool judge(const Outcome& outcome, const char* what, bool may_be_short);
  void take_at(uint64_t commits);
  void give_back();

  bool open_store();
  bool close_store(bool may_fail);
  bool reopen_after_end();
  bool check_all(const char* when);
  void stage(unsigned rounds);

  void work(unsigned thread);
  void rounds(unsigned thread, unsigned count);
  void write_slot(unsigned thread, unsigned slot);
  void check_slot(unsigned thread, unsigned owner, unsigned slot);
  void walk(unsigned thread, unsigned owner);
  bool small_life(Store& store, const std::string& path, unsigned thread, bool may_be_short);
  void fork_child(unsigned thread);
  void live_in_child(unsigned thread);

  const Case& case_;
  const std::string_view api_;
  Shared& shared_;
  const std::string path_;
  const std::string second_path_;
  const std::string child_path_;
  Taking taking_;
  const std::unique_ptr<Store> store_;
  const std::unique_ptr<Store> second_;
  const std::unique_ptr<Store> in_child_;
  std::vector<Worker> workers_;
  // Rounds to be made by the threads: the number of the order, and of those who have done it.
  std::atomic<uint32_t> orders_{0};
  std::atomic<uint32_t> finished_{0};
  std::atomic<unsigned> rounds_{0};
};

bool is_for_good(std::string_view text) {
  for (const std::string_view words : {"read-only", "Read-only", "readonly", "PANIC"}) {
    if (text.find(words) != std::string_view::npos) return true;
  }
  return false;
}

bool Workload::judge(const Outcome& outcome, const char* what, bool may_be_short) {
  beat();
  if (outcome.done()) return true;
  shared_.refused.fetch_add(1);
  if (outcome.ending == Ending::kNone || outcome.ending == Ending::kAgain) {
    shared_.fail("%s: an ending that it cannot have: %s", what, outcome.text);
  } else if (!may_be_short) {
    shared_.fail("%s, when nothing is short any more: %s", what, outcome.text);
  } else if (!names_cause(case_, api_, outcome.text)) {
    shared_.fail("%s: the error does not name the cause: %s", what, outcome.text);
  }
  return false;
}

void Workload::take_at(uint64_t commits) {
  if (case_.shortage == Shortage::kNone || case_.shortage == Shortage::kCalls) return;
  if (commits != case_.after || !is_short()) return;
  if (!taking_.take()) shared_.fail("it could not be taken away: %s", strerror(errno));
  shared_.met.fetch_add(1);
}

void Workload::give_back() {
  if (!is_short()) return;
  if (!taking_.give_back()) shared_.fail("it could not be given back: %s", strerror(errno));
  shared_.given_back.store(true);
}

// ---- Slots

void Workload::write_slot(unsigned thread, unsigned number) {
  Worker& worker = workers_[thread];
  Slot& slot = worker.slots[number];
  if (slot.unknowns == slot.unknown.size()) return;
  const uint64_t version = ++worker.version;
  std::array<Key, kParts> keys;
  std::array<Write, kParts> writes;
  for (unsigned part = 0; part < kParts; ++part) {
    writes[part].key = key_in(keys[part], thread, number, part);
    writes[part].remove = is_removal(version);
    if (!writes[part].remove) {
      writes[part].value = value_in(worker.values[part].data(), thread, number, part, version);
    }
  }
  // An order, as background work that could not be done may have to be made up for.
  Outcome outcome;
  const bool ended = testing::wait_until([&] {
    const bool was_short = is_short();
    outcome = store_->write(thread, writes);
    beat();
    if (outcome.ending == Ending::kAgain) return !good();
    if (outcome.ending != Ending::kRefused || was_short) return true;
    // What is said to be for good needs no waiting.
    return !good() || is_for_good(outcome.text);
  });
  if (!ended) shared_.fail("writes are refused for ever: %s", outcome.text);
  if (judge(outcome, "write", true)) {
    slot.acknowledged = version;
    slot.unknowns = 0;
    take_at(shared_.acknowledged.fetch_add(1) + 1);
  } else if (outcome.ending == Ending::kUnknown) {
    slot.unknown[slot.unknowns++] = version;
  }
}

struct Seen {
  Worker* worker;  // whose buffer is used
  Shared* shared;
  unsigned owner;
  std::array<std::array<uint64_t, kParts>, kSlots> versions{};
};

// The version that a value says it is of, after a look at all its bytes; 0: it is of none.
uint64_t version_of(Worker& worker, unsigned owner, unsigned slot, unsigned part,
                    std::string_view value) {
  uint64_t version = 0;
  if (value.size() < sizeof(version)) return 0;
  std::memcpy(&version, value.data(), sizeof(version));
  if (value.size() != size_of(owner, slot, part, version)) return 0;
  return value == value_in(worker.expected.data(), owner, slot, part, version) ? version : 0;
}

void complain(Shared& shared, const Slot& slot, unsigned owner, unsigned number, const char* how,
              const std::array<uint64_t, kParts>& versions) {
  shared.fail(
      "%s of slot %u/%02u has versions %llu, %llu, %llu; %llu was acknowledged, and %u are "
      "unknown",
      how, owner, number, static_cast<unsigned long long>(versions[0]),
      static_cast<unsigned long long>(versions[1]), static_cast<unsigned long long>(versions[2]),
      static_cast<unsigned long long>(slot.acknowledged), slot.unknowns);
}

bool is_right(const Slot& slot, const std::array<uint64_t, kParts>& versions) {
  return versions[0] == versions[1] && versions[1] == versions[2] && slot.allows(versions[0]);
}

void Workload::check_slot(unsigned thread, unsigned owner, unsigned number) {
  std::array<uint64_t, kParts> versions{};
  for (unsigned part = 0; part < kParts; ++part) {
    Key key;
    std::string_view value;
    const bool was_short = is_short();
    const Outcome outcome = store_->get(thread, key_in(key, owner, number, part), value);
    if (outcome.ending == Ending::kNone) {
      beat();
    } else if (!judge(outcome, "get", was_short)) {
      return;
    } else {
      versions[part] = version_of(workers_[thread], owner, number, part, value);
      if (versions[part] == 0) {
        shared_.fail("slot %u/%02u/%u has %zu bytes that nobody has written", owner, number, part,
                     value.size());
      }
    }
  }
  const Slot& slot = workers_[owner].slots[number];
  if (!is_right(slot, versions)) complain(shared_, slot, owner, number, "a get", versions);
}

void Workload::walk(unsigned thread, unsigned owner) {
  Seen seen{&workers_[thread], &shared_, owner, {}};
  const std::array<char, 2> low = {static_cast<char>('0' + owner), '/'};
  const std::array<char, 2> high = {low[0], '0'};  // what comes after '/'
  const auto visit = [](void* context, std::string_view key, std::string_view value) {
    auto& all = *static_cast<Seen*>(context);
    unsigned owner_of_key = 0;
    unsigned slot = 0;
    unsigned part = 0;
    Key text{};
    key.copy(text.data(), text.size() - 1);
    if (sscanf(text.data(), "%u/%u/%u", &owner_of_key, &slot, &part) != 3 ||
        owner_of_key != all.owner || slot >= kSlots || part >= kParts ||
        all.versions[slot][part] != 0) {
      all.shared->fail("a walk of %u finds %s", all.owner, text.data());
      return;
    }
    all.versions[slot][part] = version_of(*all.worker, owner_of_key, slot, part, value);
    if (all.versions[slot][part] == 0) {
      all.shared->fail("a walk finds %zu bytes at %s that nobody has written", value.size(),
                       text.data());
    }
  };
  const bool was_short = is_short();
  const Outcome outcome = store_->scan(thread, {low.data(), 2}, {high.data(), 2}, visit, &seen);
  if (!judge(outcome, "scan", was_short)) return;
  for (unsigned number = 0; number < kSlots; ++number) {
    const Slot& slot = workers_[owner].slots[number];
    if (!is_right(slot, seen.versions[number])) {
      complain(shared_, slot, owner, number, "a walk", seen.versions[number]);
    }
  }
}

// ---- Other stores, and children

bool Workload::small_life(Store& store, const std::string& path, unsigned thread,
                          bool may_be_short) {
  const auto is_good = [&](const Outcome& outcome, const char* what) {
    return judge(outcome, what, may_be_short);
  };
  if (!is_good(store.open(path), "open of another")) return false;
  std::string_view value;
  constexpr std::string_view kKey = "key";
  constexpr std::string_view kValue = "the value of a small life";
  const Write write{kKey, kValue};
  bool lived = is_good(store.write(thread, {&write, 1}), "write to another");
  if (lived && is_good(store.get(thread, kKey, value), "get from another") && value != kValue) {
    shared_.fail("another store has another value");
  }
  return is_good(store.close(), "close of another") && lived;
}

void Workload::live_in_child(unsigned thread) {
  // Its limits stay as they are at the fork.
  if (closes_in_children(api_)) {
    std::string_view value;
    Key key;
    static_cast<void>(store_->get(thread, key_in(key, thread, 0, 0), value));
    beat();
  }
  small_life(*in_child_, child_path_, thread, true);
  if (closes_in_children(api_)) static_cast<void>(store_->close());
  beat();
}

void Workload::fork_child(unsigned thread) {
  const bool was_short = is_short();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    if (!was_short || (errno != EAGAIN && errno != ENOMEM)) {
      shared_.fail("fork: %s", strerror(errno));
    }
    return;
  }
  if (child == 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    live_in_child(thread);
    _exit(good() ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    shared_.fail("a child of fork has ended by signal %d", WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    shared_.fail("a child of fork has ended with %d", WEXITSTATUS(status));
  }
  beat();
}

// ---- Threads

void Workload::rounds(unsigned thread, unsigned count) {
  for (unsigned round = 0; round < count && good(); ++round) {
    const auto slot = static_cast<unsigned>(mix64(workers_[thread].version) % kSlots);
    write_slot(thread, slot);
    if (round % 2 == 0) check_slot(thread, thread, (slot + round) % kSlots);
    const bool was_short = is_short();
    if (thread == 0 && round % 5 == 4) {
      judge(store_->tend(thread, round / 5), "upkeep", was_short);
    }
    if (thread == 1 && round % 9 == 4) {
      small_life(*second_, second_path_, thread, was_short);
    }
    if (thread == 2 && round % 9 == 4 && opens_in_children(api_)) fork_child(thread);
    if (round % 8 == 3) walk(thread, thread);
  }
}

void Workload::work(unsigned thread) {
  for (uint32_t order = 0;; ++order) {
    orders_.wait(order);
    rounds(thread, rounds_.load());
    finished_.fetch_add(1);
    finished_.notify_all();
  }
}

void Workload::stage(unsigned count) {
  rounds_.store(count);
  finished_.store(0);
  orders_.fetch_add(1);
  orders_.notify_all();
  for (uint32_t done = 0; (done = finished_.load()) < kThreads;) finished_.wait(done);
}

// ---- The course

bool Workload::open_store() {
  // From a relative path where another working directory is the case.
  const bool relative =
      case_.shortage == Shortage::kChdir && case_.after > 0 && shared_.acknowledged.load() == 0;
  const auto path = [&] { return relative ? std::string("store") : taking_.store(); };
  for (int attempt = 0; attempt < 3 && is_short(); ++attempt) {
    if (judge(store_->open(path()), "open", true)) return true;
    if (!good()) return false;
  }
  give_back();
  return judge(store_->open(path()), "open", false);
}

bool Workload::close_store(bool may_fail) {
  return judge(store_->close(), "close", may_fail) || (may_fail && good());
}

// Where writes are refused for good, by right.
bool Workload::reopen_after_end() {
  const Write write{"end", "?", false};
  if (store_->write(0, {&write, 1}).done()) return true;
  return close_store(true) && judge(store_->open(path_), "open after the end", false);
}

bool Workload::check_all(const char* when) {
  for (unsigned owner = 0; owner < kThreads && good(); ++owner) {
    for (unsigned slot = 0; slot < kSlots && good(); ++slot) check_slot(0, owner, slot);
    walk(0, owner);
  }
  judge(store_->check(0), when, false);
  return good();
}

bool Workload::run() {
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    std::thread([this, thread] { work(thread); }).detach();
  }
  shared_.armed.store(true);
  take_at(0);
  if (!open_store()) return false;
  if (case_.reopens) {
    stage(kRoundsBefore / 2);
    if (!good() || !close_store(true) || !open_store()) return false;
  }
  stage(case_.reopens ? kRoundsBefore / 2 : kRoundsBefore);
  give_back();
  if (!good() || (may_end(case_) && !reopen_after_end())) return false;
  stage(kRoundsAfter);
  if (!good() || !check_all("the check")) return false;
  if (!close_store(false) || !judge(store_->open(path_), "the last open", false)) return false;
  stage(1);
  return good() && check_all("the last check") && close_store(false);
}

}  // namespace

bool run_workload(const Case& shortage, const Place& place, const MakeStore& make_store,
                  Shared& shared) {
  // Its threads go on to wait for orders when it has ended.
  auto* const workload = new Workload(shortage, place, make_store, shared);
  return workload->run();
}

}  // namespace hawthorn::tests
