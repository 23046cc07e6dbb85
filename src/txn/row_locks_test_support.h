#pragma once
// For tests of the row locks: an arena, the locks, transactions that hold some, and threads that
// wait.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "os/arena.h"
#include "txn/row_locks.h"

namespace hawthorn::txn {

inline constexpr LockMode kModes[] = {LockMode::kShared, LockMode::kUpgradable,
                                      LockMode::kExclusive};
inline constexpr LockMode kS = LockMode::kShared;
inline constexpr LockMode kU = LockMode::kUpgradable;
inline constexpr LockMode kX = LockMode::kExclusive;
inline constexpr uint32_t kTree = 3;

class RowLocksTest : public testing::Test {
 protected:
  struct Holder {
    Holder(RowLocks* all, os::Arena* arena, TxnId own) : locks(all), id(own), held(arena) {}
    ~Holder() { locks->release_all(held); }

    Status take(std::string_view key, LockMode mode, uint64_t timeout_us = 0) {
      return locks->acquire(held, id, kTree, key, mode, timeout_us);
    }
    bool takes(std::string_view key, LockMode mode) { return take(key, mode).ok(); }
    void release() { locks->release_all(held); }
    void release_to(size_t mark) { locks->release_to(held, mark); }
    // What it holds, each key once.
    std::map<std::string, LockMode> keys() const {
      std::map<std::string, LockMode> found;
      held.for_each([&found](uint32_t tree, std::string_view key, LockMode mode) {
        EXPECT_EQ(tree, kTree);
        EXPECT_TRUE(found.emplace(key, mode).second) << key << " is listed twice";
      });
      return found;
    }

    RowLocks* const locks;
    const TxnId id;
    HeldLocks held;
  };

  // A call that waits, on its own thread. Returns when it stands in the queue (or has ended, as one
  // with a short time may on a slow machine).
  template <typename Call>
  class Waiting {
   public:
    Waiting(RowLocks* locks, Call call) {
      const uint32_t before = locks->waiting();
      thread_ = std::thread([this, call = std::move(call)] {
        status_ = call();
        ended_.store(true);
      });
      while (locks->waiting() == before && !ended_.load()) std::this_thread::yield();
    }
    ~Waiting() {
      if (thread_.joinable()) thread_.join();
    }
    Status end() {
      thread_.join();
      return status_;
    }

   private:
    Status status_;
    std::atomic<bool> ended_{false};
    std::thread thread_;
  };

  void SetUp() override { make_locks(~uint64_t{0}); }
  void TearDown() override {
    EXPECT_EQ(locks_->waiting(), 0u);
    EXPECT_FALSE(locks_->any());
    EXPECT_EQ(arena_->used(os::Quota::kOther), 0u);
  }
  void make_locks(uint64_t hash_bits) {
    locks_ = nullptr;
    Result<std::unique_ptr<os::Arena>> arena = os::Arena::create(size_t{256} << 20);
    ASSERT_TRUE(arena.ok()) << arena.status().to_string();
    arena_ = std::move(arena).value();
    locks_ = std::make_unique<RowLocks>(arena_.get(), hash_bits);
  }
  Holder begin(TxnId id) { return {locks_.get(), arena_.get(), id}; }
  // Waits in the queue for the lock until it is granted, or the time is over.
  auto waits(Holder& holder, std::string_view key, LockMode mode,
             uint64_t timeout_us = RowLocks::kForever) {
    return Waiting(locks_.get(),
                   [&holder, key, mode, timeout_us] { return holder.take(key, mode, timeout_us); });
  }

  std::unique_ptr<os::Arena> arena_;
  std::unique_ptr<RowLocks> locks_;
};

}  // namespace hawthorn::txn
