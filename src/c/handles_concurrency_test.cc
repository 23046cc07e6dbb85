// Handles that any number of threads use, and free, at a time.

#include <atomic>
#include <thread>

#include "c/c_test_fixture.h"

namespace hawthorn::c {

namespace {

class HandlesCTest : public CTest {};

TEST_F(HandlesCTest, ThreadsShareDatabasesTreesAndSnapshots) {
  open_with_tree();
  for (int i = 0; i < 200; ++i) put("key" + std::to_string(i), "value");
  const SnapshotHandle shared = snapshot();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const ValueHandle value(hawthorn_value_create());
      for (int i = 0; i < 300; ++i) {
        const std::string key = "key" + std::to_string((t * 50 + i) % 200);
        hawthorn_tree* copy = nullptr;
        wrong += hawthorn_tree_copy(tree_.get(), &copy, nullptr);
        const TreeHandle own(copy);
        wrong +=
            hawthorn_db_put(db_.get(), copy, key.data(), key.size(), "new", 3, nullptr, nullptr);
        wrong += hawthorn_db_get(db_.get(), copy, key.data(), key.size(), shared.get(), value.get(),
                                 nullptr);
        size_t size = 0;
        const void* const data = hawthorn_value_data(value.get(), &size);
        wrong += bytes_of(data, size) == "value" ? 0 : 1;
        hawthorn_error* error = nullptr;
        wrong += hawthorn_db_get(db_.get(), copy, "none", 4, nullptr, value.get(), &error) ==
                         HAWTHORN_NOT_FOUND
                     ? 0
                     : 1;
        hawthorn_error_free(error);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// The last handle that goes closes the database, on whatever thread.
TEST_F(HandlesCTest, TheLastHandleClosesTheDatabase) {
  for (int round = 0; round < 5; ++round) {
    open_with_tree();
    put("k", "v");
    std::vector<CursorHandle> cursors;
    for (int t = 0; t < 4; ++t) cursors.push_back(cursor());
    tree_.reset();
    db_.reset();
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (CursorHandle& each : cursors) {
      threads.emplace_back([&wrong, walking = std::move(each)]() mutable {
        wrong += walk(walking.get()) == "k=v" ? 0 : 1;
        walking.reset();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
  open();  // which nobody holds any more
  ASSERT_NE(db_, nullptr);
}

}  // namespace

}  // namespace hawthorn::c
