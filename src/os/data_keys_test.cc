#include "os/data_keys.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace hawthorn::os {
namespace {

// Attack 52: what is sealed twice under one key and nonce gives itself away. Numbers of batches and
// places in files can come again after a crash; a seal's salt and base cannot, since they depend on
// nothing that the process before has counted.
TEST(DataKeys, SealsNeverComeAgain) {
  std::set<std::string> seen;
  constexpr int kProcesses = 20;
  constexpr int kSeals = 3000;  // more than one salt is used for
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

// A salt belongs to the key that it was drawn for: what is sealed behind a rotation is sealed with
// the new key, also between two draws.
TEST(DataKeys, ANewKeyHasASaltOfItsOwn) {
  DataKeys keys;
  keys.add(1, *SecretKey::from_bytes(std::string(32, 'k')), true);
  const Result<Seal> first = keys.new_seal();
  const Result<Seal> second = keys.new_seal();
  keys.add(2, *SecretKey::from_bytes(std::string(32, 'l')), true);
  const Result<Seal> rotated = keys.new_seal();
  ASSERT_TRUE(first.ok() && second.ok() && rotated.ok());
  EXPECT_EQ(first->salt, second->salt);
  EXPECT_EQ(second->key, 1u);
  EXPECT_EQ(rotated->key, 2u);
  EXPECT_NE(rotated->salt, second->salt);
}

}  // namespace
}  // namespace hawthorn::os
