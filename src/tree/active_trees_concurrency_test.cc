#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "tree/active_trees.h"
#include "tree/store_test_fixture.h"

namespace hawthorn::tree {
namespace {

using namespace fixture;

// Whoever takes a list after a write finds the tree in it, whoever is looking for work meanwhile.
TEST(ActiveTreesConcurrency, ATreeIsListedOnceItWasWritten) {
  TestStore store;
  const std::unique_ptr<TreeState> tree = store.make_tree();
  Flusher flusher{store};
  ActiveTrees& active = tree->store()->active;
  std::atomic<bool> done{false};
  std::thread looks([&] {
    while (!done.load()) active.rest(tree.get(), ~uint64_t{0});
  });
  for (int i = 0; i < 5000; ++i) {
    put(store, *tree, std::to_string(i % 100), "value");
    if (active.list().empty()) {
      ADD_FAILURE() << "write " << i;
      break;
    }
    if (i % 10 == 0) must(flusher.flush(*tree, "").status);
  }
  done.store(true);
  looks.join();
  active.rest(tree.get(), ~uint64_t{0});
  must(flusher.flush(*tree, "").status);
  active.rest(tree.get(), ~uint64_t{0});
  EXPECT_TRUE(active.list().empty());
}

}  // namespace
}  // namespace hawthorn::tree
