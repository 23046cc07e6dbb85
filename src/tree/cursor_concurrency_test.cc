#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "os/sync.h"
#include "tree/cursor_test_support.h"

namespace hawthorn::tree::cursor_test {
namespace {

// All commits so far, in their order.
class History {
 public:
  void add(Lsn cts, TestTree::Changes changes) {
    os::MutexLock lock(mutex_);
    commits_.emplace_back(cts, std::move(changes));
  }
  // Brings `contents`, which holds the first *position commits, up to ts.
  void follow(Lsn ts, size_t* position, Contents* contents) {
    os::MutexLock lock(mutex_);
    for (; *position < commits_.size() && commits_[*position].first <= ts; ++*position) {
      TestTree::apply(commits_[*position].second, contents);
    }
  }

 private:
  os::Mutex mutex_;
  std::vector<std::pair<Lsn, TestTree::Changes>> commits_ GUARDED_BY(mutex_);
};

// Values begin with the number of the commit that they come from, and their place in it.
TestTree::Changes some_changes(Generator& generator, uint64_t number) {
  TestTree::Changes changes;
  for (uint64_t i = generator.below(30); i > 0; --i) {
    std::optional<std::string> value;
    if (!generator.chance(4)) value = generator.value();
    if (value.has_value() && value->size() > 24 && !value->starts_with(kLargeMark)) {
      const std::string origin = std::to_string(number) + "." + std::to_string(i) + ":";
      value->replace(0, origin.size(), origin);
    }
    changes.emplace_back(generator.key(), std::move(value));
  }
  return changes;
}

// Walks beside a committer, a transaction that is always rolled back, and a flusher that splits,
// re-clusters and evicts: every cursor sees exactly its snapshot, and a transaction's its own
// writes as well.
void walk_beside_writers(uint64_t seed, uint64_t keys, uint64_t values) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  TestTree test({.budget = size_t{256} << 20,
                 .seed = seed,
                 .policy = {.extents_max = 3, .garbage_max = 0.3, .target_bytes = 24 << 10}});
  History history;
  std::atomic<bool> done{false};
  std::atomic<bool> failed{false};
  std::atomic<int> commits{0};
  std::atomic<int> flushes{0};
  const auto going_on = [&] { return !done.load() && !failed.load(); };

  std::thread committer([&] {
    Generator generator(seed * 10 + 1);
    generator.set_shapes(keys, values);
    Contents contents;
    for (uint64_t number = 0; going_on(); ++number) {
      fixture::TestTxn txn(test.store());
      SCOPED_TRACE("committer at " + std::to_string(txn.view().ts));
      const TestTree::Changes changes = some_changes(generator, number);
      test.write(txn, changes);
      TestTree::apply(changes, &contents);
      if (generator.chance(8)) {
        CheckedCursor cursor(&test, txn.view(), contents, {});
        for (int i = 0; i < 5 && !::testing::Test::HasFatalFailure(); ++i) {
          cursor.random_move(generator.prng(), generator.key());
        }
      }
      // Nobody sees it before it is visible, so it may stand in the history before.
      history.add(txn.sequence(), changes);
      txn.publish();
      txn.stamp();
      txn.release();
      commits.fetch_add(1);
      if (::testing::Test::HasFatalFailure()) failed.store(true);
    }
  });
  std::thread undecided([&] {
    Generator generator(seed * 10 + 2);
    generator.set_shapes(keys, values);
    while (going_on()) {
      fixture::TestTxn txn(test.store());
      for (uint64_t i = generator.below(20); i > 0; --i) test.write(txn, {{generator.key(), "no"}});
      std::this_thread::yield();
      txn.undo_all();
    }
  });
  std::thread flusher([&] {
    Generator generator(seed * 10 + 3);
    generator.set_shapes(keys, values);
    while (going_on()) {
      if (test.flush(generator.key(), generator.chance(6), !generator.chance(4))) {
        flushes.fetch_add(1);
      }
      if (generator.chance(20)) test.residency().make_room(size_t{1} << 20);
      if (generator.chance(3)) test.store().store.cursors.let_go();
      test.store().snapshots.refresh(test.visible());
    }
  });
  std::vector<std::thread> readers;
  for (uint64_t reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&, reader] {
      Generator generator(seed * 10 + 4 + reader);
      generator.set_shapes(keys, values);
      Contents contents;
      size_t position = 0;
      const auto enough = [&] { return commits.load() >= 600 && flushes.load() >= 600; };
      for (int walk = 0; (walk < 60 || !enough()) && !failed.load(); ++walk) {
        const auto snapshot = test.snapshot();
        SCOPED_TRACE("reader at " + std::to_string(snapshot.ts));
        history.follow(snapshot.ts, &position, &contents);
        {
          CheckedCursor cursor(&test, {snapshot.ts, 0}, contents,
                               {.key_only = generator.chance(4)});
          for (int i = 0; i < 12 && !::testing::Test::HasFatalFailure(); ++i) {
            cursor.random_move(generator.prng(), generator.key());
          }
        }
        test.drop(snapshot);
        if (::testing::Test::HasFatalFailure()) failed.store(true);
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  done.store(true);
  committer.join();
  undecided.join();
  flusher.join();
}

TEST(CursorConcurrency, NumbersAsKeys) { walk_beside_writers(1, 0, 1); }
TEST(CursorConcurrency, TiesAndPrefixes) { walk_beside_writers(2, 1, 0); }
TEST(CursorConcurrency, AllShapes) { walk_beside_writers(3, 4, 2); }

}  // namespace
}  // namespace hawthorn::tree::cursor_test
