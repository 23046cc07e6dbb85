#include "os/data_keys.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace hawthorn::os {
namespace {

// Attack 52: what is sealed twice under one key and nonce gives itself away. Numbers of batches and
// places in files can come again after a crash; a seal's salt and base cannot, since they depend on
// nothing that a process, or the one before it, has counted.
TEST(DataKeys, SealsNeverComeAgain) {
  std::set<std::string> seen;
  constexpr int kProcesses = 20;
  constexpr int kSeals = 50;
  for (int process = 0; process < kProcesses; ++process) {
    DataKeys keys;
    keys.add(1, *SecretKey::from_bytes(std::string(32, 'k')), true);
    for (int i = 0; i < kSeals; ++i) {
      const Result<Seal> seal = keys.new_seal();
      ASSERT_TRUE(seal.ok());
      EXPECT_EQ(seal->key, 1u);
      std::string bytes(sizeof(seal->salt) + sizeof(seal->base), '\0');
      std::memcpy(bytes.data(), seal->salt.data(), sizeof(seal->salt));
      std::memcpy(bytes.data() + sizeof(seal->salt), seal->base.data(), sizeof(seal->base));
      EXPECT_TRUE(seen.insert(bytes).second) << "a seal that was given out before";
    }
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kProcesses) * kSeals);
}

}  // namespace
}  // namespace hawthorn::os
