#include "tree/sealed_blocks.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace hawthorn::tree {
namespace {

using format::kRunBlockBytes;
using format::TableShape;

// Attack 52: equal blocks, in one region or in several, with and without the same key at hand, are
// never sealed with one nonce: AES-GCM would give the same bytes.
TEST(SealedBlocks, EqualBlocksLookDifferent) {
  os::DataKeys keys;
  keys.add(1, *SecretKey::from_bytes(std::string(32, 'k')), true);
  constexpr uint32_t kBlocks = 16;
  const std::string blocks(size_t{kBlocks} * kRunBlockBytes, 'a');
  std::set<std::string> seen;
  for (int region = 0; region < 8; ++region) {
    std::string sealed(blocks.size(), '\0');
    std::vector<uint32_t> words(TableShape::kSealWords + TableShape::kTagWords * kBlocks);
    ASSERT_TRUE(seal_blocks(keys, blocks.data(), kBlocks, sealed.data(), words.data()).ok());
    for (uint32_t i = 0; i < kBlocks; ++i) {
      const std::string block = sealed.substr(size_t{i} * kRunBlockBytes, kRunBlockBytes);
      EXPECT_TRUE(seen.insert(block).second) << "block " << i << " of region " << region;
    }
  }
}

}  // namespace
}  // namespace hawthorn::tree
