#include "tests/crash/kill_switch.h"

#include <signal.h>
#include <unistd.h>

#include <string_view>

#include "base/assert.h"
#include "os/test_point.h"

namespace hawthorn::tests {
namespace {

using testing::FileCall;
using testing::FileOp;

struct Named {
  KillState state;
  const char* name;
  const char* test_point = nullptr;
};

constexpr std::array<Named, kKillStates> kStateNames = {{
    {KillState::kAnyTime, "any time"},
    {KillState::kCreate, "creation of a database"},
    {KillState::kRecovery, "recovery"},
    {KillState::kBeforeCommit, "commit, before it"},
    {KillState::kAfterCommit, "commit, not acknowledged yet"},
    {KillState::kDrain, "log: ring to segments"},
    {KillState::kLogSync, "log: sync"},
    {KillState::kLogRecycle, "log: names of segments"},
    {KillState::kFlush, "flush: data written"},
    {KillState::kRecluster, "re-clustering: data written"},
    {KillState::kDataSync, "data: sync"},
    {KillState::kDataFiles, "data files: growth, removal, holes"},
    {KillState::kManifestAppend, "manifest: append"},
    {KillState::kManifestSync, "manifest: sync"},
    {KillState::kManifestRewrite, "manifest: rewrite"},
    {KillState::kSuperblock, "superblock"},
    {KillState::kDirectorySync, "sync of the directory"},
    {KillState::kDropTree, "drop of a tree"},
    {KillState::kClose, "close"},
    {KillState::kCheckpoint, "checkpoint"},
    {KillState::kBackup, "backup"},
    {KillState::kRestore, "restore"},
    {KillState::kRemoveBackup, "removal of a backup"},
    {KillState::kRecordInRing, "commit: record in the ring", "sequencer.commit.after_append"},
    {KillState::kBeforeStamp, "commit: visible, not stamped", "txn.commit.before_stamp"},
    {KillState::kCut, "flush: cut", "tree.cut.before_install"},
    {KillState::kInstall, "flush: installed", "tree.install.before_moved"},
}};

bool is_change(FileOp op) {
  return op != FileOp::kRead && op != FileOp::kUnmap && op != FileOp::kMap && op != FileOp::kOpen &&
         op != FileOp::kClose;
}

bool is_file_sync(FileOp op) { return op == FileOp::kSync || op == FileOp::kSyncMapped; }

bool is_name(const FileCall& call) {
  return call.op == FileOp::kRename || call.op == FileOp::kRemove ||
         (call.op == FileOp::kOpen && call.flags.create);
}

}  // namespace

const char* name_of(KillState state) { return kStateNames[static_cast<size_t>(state)].name; }

const std::vector<KillState>& kill_states() {
  static const std::vector<KillState> states = [] {
    std::vector<KillState> made;
    for (size_t i = 0; i < kKillStates; ++i) {
      HAWTHORN_ASSERT(kStateNames[i].state == static_cast<KillState>(i));
#if !defined(HAWTHORN_TEST_POINTS)
      if (kStateNames[i].test_point != nullptr) continue;
#endif
      made.push_back(kStateNames[i].state);
    }
    return made;
  }();
  return states;
}

void KillSwitch::arm(KillState state, uint64_t nth, When when) {
  state_ = state;
  when_ = when;
  left_ = static_cast<int64_t>(nth);
#if defined(HAWTHORN_TEST_POINTS)
  if (const char* point = kStateNames[static_cast<size_t>(state)].test_point; point != nullptr) {
    os::set_test_point(point, [this, state] {
      if (reach(state)) die();
    });
  }
#endif
}

bool KillSwitch::is_in(const FileCall& call) const {
  const size_t slash = call.path.rfind('/');
  const std::string_view name = std::string_view(call.path).substr(slash + 1);
  const bool log = name.starts_with("wal.");
  const bool segment = log && name != "wal.ring" && name != "wal.new";
  const bool data = name.starts_with("data.");
  const bool manifest = name.starts_with("manifest.");
  const bool change = is_change(call.op) || is_name(call);
  const Phase phase = phase_;
  const bool running = phase == Phase::kRunning;
  const bool rewrites = compacting_ > 0 || rewriting_ > 0;
  const KillState copying = copying_;
  if (copying != KillState::kAnyTime && !call.path.starts_with(database_)) {
    return copying == state_ && change;
  }
  switch (state_.load()) {
    case KillState::kCreate:
      return phase == Phase::kCreating && change;
    case KillState::kRecovery:
      return phase == Phase::kRecovering && (change || call.op == FileOp::kRead);
    case KillState::kClose:
      return phase == Phase::kClosing && change;
    case KillState::kDropTree:
      return running && dropping_ > 0 && change;
    case KillState::kDrain:
      return running && segment && call.op == FileOp::kWrite;
    case KillState::kLogSync:
      return running && log && is_file_sync(call.op);
    case KillState::kLogRecycle:
      return running && log && is_name(call);
    case KillState::kFlush:
      return running && data && call.op == FileOp::kWrite && !rewrites;
    case KillState::kRecluster:
      return running && data && call.op == FileOp::kWrite && rewrites;
    case KillState::kDataSync:
      return running && data && is_file_sync(call.op);
    case KillState::kDataFiles:
      return (running || phase == Phase::kClosing) && data && change && call.op != FileOp::kWrite &&
             !is_file_sync(call.op);
    case KillState::kManifestAppend:
      return running && manifest && call.op == FileOp::kWrite;
    case KillState::kManifestSync:
      return running && manifest && is_file_sync(call.op);
    case KillState::kManifestRewrite:
      // Every open rewrites it, too.
      return phase != Phase::kCreating && manifest && is_name(call);
    case KillState::kSuperblock:
      return phase != Phase::kCreating && name.starts_with("superblock") && change;
    case KillState::kDirectorySync:
      return phase != Phase::kCreating && call.op == FileOp::kSyncDirectory;
    default:
      return false;
  }
}

bool KillSwitch::reach(KillState state) {
  return state_ == state && left_ > 0 && left_.fetch_sub(1) == 1;
}

void KillSwitch::die() {
  died_in_.store(static_cast<uint32_t>(state_.load()) + 1);
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

testing::FileWatcher::Verdict KillSwitch::before(FileCall& call) {
  call.mark = 0;
  if (loses_log_ && call.op == FileOp::kWrite && call.path.find("/wal.") != std::string::npos) {
    return Verdict::kSkip;
  }
  if (!is_in(call) || !reach(state_)) return Verdict::kDo;
  if (when_ == When::kBefore) die();
  call.mark = 1;
  return when_ == When::kHalf ? Verdict::kHalf : Verdict::kDo;
}

void KillSwitch::after(FileCall& call, const Status& /*status*/) {
  if (call.mark == 1) die();
}

Status KillSwitch::before(const CommitInfo& /*info*/) {
  if (reach(KillState::kBeforeCommit)) die();
  return {};
}

void KillSwitch::after(const CommitInfo& /*info*/, uint64_t /*cts*/, const Status& /*outcome*/) {
  if (reach(KillState::kAfterCommit)) die();
}

void KillSwitch::on_flush_begun(const FlushBegun& event) {
  if (event.rewrite) ++rewriting_;
}

void KillSwitch::on_flush_completed(const FlushCompleted& /*event*/) {
  // Which one has ended is not told: one too few is better than one too many.
  int32_t under_way = rewriting_;
  while (under_way > 0 && !rewriting_.compare_exchange_weak(under_way, under_way - 1)) {
  }
}

void KillSwitch::calls(Call call, bool begins) {
  if (call == Call::kDrop) dropping_ += begins ? 1 : -1;
  if (call == Call::kCompact) compacting_ += begins ? 1 : -1;
}

}  // namespace hawthorn::tests
