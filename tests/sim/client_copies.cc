// What a simulated client does with whole states: names snapshots, makes checkpoints and backups of
// the database, opens what they have made and reads all of it; and fills the disk.

#include "tests/sim/client.h"
#include "tests/sim/reader.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kSnapshotsMax = 3;
constexpr const char* kRepository = "/backups";

// All of a directory, as far as it goes.
void remove_all(os::FileSystem* files, const std::string& directory) {
  const Result<std::vector<std::string>> names = files->list(directory);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    static_cast<void>(files->remove(directory + "/" + name).ok());
  }
  static_cast<void>(files->remove_directory(directory).ok());
}

}  // namespace

void SimClient::keep_snapshot() {
  using Outcome = History::Outcome;
  Db& db = *world_->db;
  auto& names = world_->snapshots;
  if (!names.empty() && prng_.one_in(2)) {
    const Result<Snapshot> snapshot = db.open_snapshot(names[prng_.below(names.size())]);
    constexpr StatusCode kGone[] = {StatusCode::kNotFound};
    world_->judge(snapshot.status(), name_ + "'s open_snapshot", kGone);
    // What one of an earlier life shows, is compared as a whole.
    if (snapshot.ok() && snapshot->timestamp() > world_->began_at) {
      look(*snapshot, what("named snapshot"));
    }
    return;
  }
  const uint64_t acknowledged = world_->history.acknowledged();
  const bool poisoned = world_->poisoned;
  Status status;
  std::string did;
  const bool creates = names.size() < kSnapshotsMax;
  if (creates) {
    const std::string name = what("snapshot of a name");
    did = name + ", create";
    status = db.create_snapshot(name);
    const bool open = status.is(StatusCode::kUnknownOutcome) || world_->stopped() || !status.ok();
    world_->history.snapshot(name, open ? Outcome::kOpen : Outcome::kIs);
    if (status.ok()) names.push_back(name);
  } else {
    const size_t pick = prng_.below(names.size());
    const std::string name = names[pick];
    names.erase(names.begin() + static_cast<ptrdiff_t>(pick));
    did = name + ", drop";
    status = db.drop_snapshot(name);
    const bool open = world_->stopped() || !status.ok();
    world_->history.snapshot(name, open ? Outcome::kOpen : Outcome::kIsNot);
  }
  world_->judge_write(poisoned, status, did);
  if (world_->stopped()) return;
  // The moment of a new one is durable with it; of a drop that alone is.
  if (status.ok() && creates) world_->history.durable_to(acknowledged);
}

void SimClient::copy() {
  if (world_->copying || !prng_.one_in(4)) return upkeep();
  world_->copying = true;
  const bool checkpoint = prng_.one_in(2);
  const std::string directory = "/copy" + std::to_string(++world_->copies);
  SimState state{.what = what(checkpoint ? "checkpoint" : "backup")};
  state.from = world_->db->snapshot().timestamp();
  const Status status = copy_to(checkpoint, directory);
  state.until = world_->db->snapshot().timestamp();
  world_->judge(status, state.what);
  if (status.ok() && !world_->stopped()) compare_copy(directory, std::move(state));
  remove_all(world_->files, directory);
  world_->copying = false;
}

Status SimClient::copy_to(bool checkpoint, const std::string& directory) {
  if (checkpoint) {
    const bool poisoned = world_->poisoned;
    const Status made = world_->db->checkpoint(directory);
    world_->judge_write(poisoned, made, "a checkpoint");
    return made;
  }
  const auto repository = BackupRepository::open_on(*world_->machine, kRepository);
  if (!repository.ok()) return repository.status();
  BackupOptions options;
  options.full = prng_.one_in(5);
  const bool poisoned = world_->poisoned;
  const Result<BackupInfo> made = world_->db->backup(**repository, options);
  world_->judge_write(poisoned, made.status(), "a backup");
  if (!made.ok()) return made.status();
  if (Status s = (*repository)->verify(made->id); !s.ok()) return s;
  return (*repository)->restore(made->id, directory);
}

// It is a database that can be opened, and has what was there at one moment of its making.
void SimClient::compare_copy(const std::string& directory, SimState state) {
  Options options = world_->options;
  options.commit_hooks = {};
  options.error_if_exists = false;
  options.create_if_missing = false;
  // What the disk has harmed is copied as it is, and in backups outlives what it was copied from.
  const auto judge = [&](const Status& status, const char* what) {
    if (status.is(StatusCode::kCorruption) && !world_->excused(status)) {
      std::string of_source(status.message());
      for (size_t at = 0; (at = of_source.find(directory, at)) != std::string::npos;) {
        of_source.replace(at, directory.size(), "/db");
      }
      if (world_->files->names_harmed(of_source, true)) return;
    }
    world_->judge(status, state.what + what);
  };
  const Result<std::unique_ptr<Db>> copy = Db::open_on(*world_->machine, directory, options);
  judge(copy.status(), ", open");
  if (!copy.ok()) return;
  {
    const Snapshot snapshot = (*copy)->snapshot();
    state.now_ms = snapshot.now_ms();
    const Status status = read_trees(**copy, snapshot, &state.contents);
    judge(status, ", read");
    if (!status.ok() || world_->stopped()) return;
  }
  world_->history.copies.push_back(std::move(state));
}

// Or gives it space again.
void SimClient::fill_disk() {
  testing::SimDisk* const disk = world_->files->disk();
  if (world_->full) {
    disk->set_capacity(0);
    world_->full = false;
    return;
  }
  world_->full = true;
  world_->was_full = true;
  disk->set_capacity(disk->used_bytes() + prng_.below(64) * 4096);
}

}  // namespace hawthorn::tests
