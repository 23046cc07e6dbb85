#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "tree/layers.h"
#include "tree/store_test_fixture.h"

namespace hawthorn::tree {
namespace {

using namespace fixture;

// A writer that has read the state before a layer came must find it changed, whoever spills at that
// moment.
TEST(LayersConcurrency, EachChangesTheState) {
  constexpr uint64_t kRounds = 20'000;
  TestStore store;
  const std::unique_ptr<TreeState> tree = store.make_tree();
  Layers& layers = tree->layers();
  const uint64_t before = layers.state();
  std::thread spills([&] {
    for (uint64_t i = 0; i < 2 * kRounds; ++i) layers.touch();
  });
  for (uint64_t i = 0; i < kRounds; ++i) {
    const auto layer = std::make_shared<Layer>();
    ASSERT_TRUE(layers.add(layer));
    ASSERT_TRUE(layers.any());
    ASSERT_TRUE(layers.remove(layer.get()));
    ASSERT_FALSE(layers.any());
  }
  spills.join();
  EXPECT_EQ(layers.state(), before + 2 * 4 * kRounds);
}

}  // namespace
}  // namespace hawthorn::tree
