#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "os/epoch.h"
#include "tree/delta_test_keys.h"
#include "tree/directory_test_model.h"

namespace hawthorn::tree {
namespace {

using delta_keys::random_bytes;
using directory_model::Model;

// Invariant 2: readers beside a writer find a container whose range covers the key.
TEST(DirectoryConcurrencyTest, ReadersFindAContainerThatCoversTheKey) {
  Model model({});
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> bad{0};
  std::vector<std::thread> readers;
  for (uint64_t r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      Prng prng(r);
      while (!stop.load(std::memory_order_relaxed)) {
        const std::string key = random_bytes(prng, 8);
        const os::epoch::Guard guard;
        if (model.directory().find(key)->low > key) bad.fetch_add(1);
        const Container* before = model.directory().before(key);
        if (before != nullptr && before->low >= key) bad.fetch_add(1);
        if (prng.one_in(100)) {
          const std::vector<Container*> all = model.directory().all();
          for (size_t i = 1; i < all.size(); ++i) {
            if (all[i - 1]->low >= all[i]->low) bad.fetch_add(1);
          }
        }
      }
    });
  }
  Prng prng(9);
  for (int i = 0; i < 3000; ++i) {
    const std::string key = random_bytes(prng, 8);
    model.replace(key, prng.one_in(10) ? 30 : 1, {key, random_bytes(prng, 8)});
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(bad.load(), 0u);
  os::epoch::drain();
}

}  // namespace
}  // namespace hawthorn::tree
