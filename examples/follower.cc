// A second process reads beside the one that writes: commits show as soon as it asks for them, each
// as a whole, and a view that it holds stays as it is.

#include "hawthorn/follower.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "must.h"

using hawthorn::Db;
using hawthorn::Follower;
using hawthorn::Snapshot;
using hawthorn::Tree;
using hawthorn::Value;

namespace {

// Moves something from one account to another, for ever: the sum of both stays 100.
[[noreturn]] void write_for_ever(int argc, char** argv) {
  alarm(100);  // not longer than somebody may still look
  auto db = fresh_database(argc, argv);
  const Tree accounts = must(db->tree("accounts"));
  for (int i = 0;; ++i) {
    hawthorn::WriteBatch batch;
    batch.put(accounts, "a", std::to_string(i % 100));
    batch.put(accounts, "b", std::to_string(100 - i % 100));
    must(db->write(batch, hawthorn::Durability::kNone));
    if (i % 1000 == 0) must(db->flush());
  }
}

// As soon as there is something to follow.
std::unique_ptr<Follower> follow(const std::string& path) {
  for (;; usleep(1000)) {
    auto follower = Follower::open(path);
    if (follower.status().is_not_found()) continue;
    std::unique_ptr<Follower> found = must(std::move(follower));
    const auto accounts = found->view()->find_tree("accounts");
    Value value;
    if (accounts.ok() && found->view()->get(*accounts, "a", value).ok()) return found;
  }
}

int number(Db& db, const Tree& tree, const Snapshot& at, const char* key) {
  Value value;
  must(db.get(tree, key, value, {.snapshot = &at}));
  return std::stoi(value.to_string());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "example.db";
  std::filesystem::remove_all(path);  // of an earlier run, which nobody should follow
  const pid_t writer = fork();
  if (writer == 0) write_for_ever(argc, argv);
  must(writer > 0);

  const std::unique_ptr<Follower> follower = follow(path);
  std::shared_ptr<Db> held = follower->view();
  const Snapshot first = held->snapshot();
  const Tree held_accounts = must(held->find_tree("accounts"));
  const int before = number(*held, held_accounts, first, "a");
  int changes = 0;
  for (int last = before, i = 0; changes < 100 && i < 1'000'000; ++i) {
    const std::shared_ptr<Db> db = must(follower->latest());  // another one now and then
    const Tree accounts = must(db->find_tree("accounts"));
    const Snapshot now = db->snapshot();
    const int a = number(*db, accounts, now, "a");
    must(a + number(*db, accounts, now, "b") == 100);
    changes += a != last ? 1 : 0;
    last = a;
  }
  must(changes == 100);
  must(number(*held, held_accounts, first, "a") == before);

  // Who writes may die at any moment; what it has committed is there.
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
  must(follower->refresh());
  std::printf("saw %d changes, and the sum was 100 each time\n", changes);
}
