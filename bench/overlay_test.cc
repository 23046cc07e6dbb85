#include "bench/overlay.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace hawthorn::bench {
namespace {

TEST(Overlay, BehavesAsAMapThroughManyBatches) {
  std::mt19937_64 generator(11);
  Overlay overlay;
  // Batches of very different sizes, so that both ways of clearing are used.
  for (const int writes : {1, 2, 5000, 3, 700, 0, 20'000, 10}) {
    std::map<std::string, std::string> model;
    for (int i = 0; i < writes; ++i) {
      const std::string key =
          std::to_string(generator() % 3000) + std::string(generator() % 12, 'k');
      if (generator() % 5 == 0) {
        overlay.del(key);
        model[key] = "deleted";
      } else {
        const std::string value(generator() % 40, static_cast<char>('a' + generator() % 26));
        overlay.put(key, value);
        model[key] = value + "+";
      }
    }
    EXPECT_EQ(overlay.entries().size(), model.size());
    for (const auto& [key, value] : model) {
      const Overlay::Entry* entry = overlay.find(key);
      ASSERT_NE(entry, nullptr) << key;
      EXPECT_EQ(entry->deleted ? "deleted" : std::string(overlay.value_of(*entry)) + "+", value);
    }
    EXPECT_EQ(overlay.find("absent"), nullptr);
    overlay.clear();
    EXPECT_TRUE(overlay.empty());
    for (const auto& [key, value] : model) EXPECT_EQ(overlay.find(key), nullptr);
  }
}

}  // namespace
}  // namespace hawthorn::bench
