#pragma once
// Ends its own process by SIGKILL in a named state: at the n-th call to a file of a kind, the n-th
// commit, the n-th arrival at a test point.
//
// A new state is an entry of KillState, a row of the table in kill_switch.cc, and its case in
// KillSwitch::is_in (a call to a file), a call of reach(), or a row of the test points.
//
// Not here: what runs meanwhile, and what must be left (kill_lives.h). Used by the folder
// tests/crash.
// Threads: any. One switch in a process.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hawthorn/commit_hook.h"
#include "hawthorn/events.h"
#include "testing/watched_files.h"
#include "tests/crash/workload.h"

namespace hawthorn::tests {

enum class KillState : uint8_t {
  kAnyTime,  // by the parent
  kCreate,
  kRecovery,
  kBeforeCommit,
  kAfterCommit,  // and before it is acknowledged
  kDrain,
  kLogSync,
  kLogRecycle,
  kFlush,
  kRecluster,
  kDataSync,
  kDataFiles,
  kManifestAppend,
  kManifestSync,
  kManifestRewrite,
  kSuperblock,
  kDirectorySync,
  kDropTree,
  kClose,
  kCheckpoint,
  kBackup,
  kRestore,
  kRemoveBackup,
  // In builds with test points.
  kRecordInRing,
  kBeforeStamp,
  kCut,
  kInstall,
  kCount,
};
inline constexpr size_t kKillStates = static_cast<size_t>(KillState::kCount);

const char* name_of(KillState state);
// Those that this build can be killed in.
const std::vector<KillState>& kill_states();

class KillSwitch : public testing::FileWatcher,
                   public CommitHook,
                   public EventListener,
                   public Witness {
 public:
  enum class When : uint8_t { kBefore, kHalf, kAfter };

  // `died_in`: in memory that the parent shares; gets the state right before the end. `database`:
  // its directory; other files are of copies while one is made.
  KillSwitch(std::atomic<uint32_t>& died_in, std::string database)
      : died_in_(died_in), database_(std::move(database)) {}

  // Kills at the n-th call from now on. Half of a call is done where it can be.
  void arm(KillState state, uint64_t nth, When when);
  // All writes to segments of the log are left out: a canary, which a test must find.
  void lose_log() { loses_log_ = true; }

  void opens(bool creates) { phase_ = creates ? Phase::kCreating : Phase::kRecovering; }
  void runs() { phase_ = Phase::kRunning; }
  void closes() { phase_ = Phase::kClosing; }
  // Which copy is being made now (kill_copies.h); kAnyTime: none.
  void copies(KillState state) { copying_ = state; }

  // FileWatcher
  Verdict before(testing::FileCall& call) override;
  void after(testing::FileCall& call, const Status& status) override;
  // CommitHook
  Status before(const CommitInfo& info) override;
  void after(const CommitInfo& info, uint64_t cts, const Status& outcome) override;
  // EventListener
  void on_flush_begun(const FlushBegun& event) override;
  void on_flush_completed(const FlushCompleted& event) override;
  // Witness
  void begins(uint32_t, uint64_t) override {}
  void ends(uint32_t, uint64_t, bool) override {}
  void calls(Call call, bool begins) override;

 private:
  enum class Phase : uint8_t { kNone, kCreating, kRecovering, kRunning, kClosing };

  bool is_in(const testing::FileCall& call) const;
  bool reach(KillState state);  // whether it is the n-th
  [[noreturn]] void die();

  std::atomic<uint32_t>& died_in_;
  const std::string database_;
  std::atomic<bool> loses_log_{false};
  std::atomic<KillState> state_{KillState::kAnyTime};
  std::atomic<int64_t> left_{0};
  std::atomic<When> when_{When::kBefore};
  std::atomic<Phase> phase_{Phase::kNone};
  std::atomic<KillState> copying_{KillState::kAnyTime};
  std::atomic<int32_t> dropping_{0};
  std::atomic<int32_t> compacting_{0};
  std::atomic<int32_t> rewriting_{0};
};

}  // namespace hawthorn::tests
