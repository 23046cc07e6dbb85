#include "tree/run_search.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "base/prng.h"

namespace hawthorn::tree {
namespace {

using format::kGroupEntries;
using format::RunGroup;

// The index blocks and tables of a run with these heads.
struct Index {
  explicit Index(std::vector<uint64_t> sorted) : heads(std::move(sorted)) {
    const uint32_t groups = format::run_group_count(static_cast<uint32_t>(heads.size()));
    blocks.resize(format::run_index_blocks(groups));
    heads.resize(size_t{groups} * kGroupEntries, format::kNoHead);
    char* index = reinterpret_cast<char*>(blocks.data());
    for (uint32_t g = 0; g < groups; ++g) {
      auto* group = reinterpret_cast<RunGroup*>(index + table.layout.offset(g));
      std::copy_n(heads.data() + size_t{g} * kGroupEntries, kGroupEntries, group->heads);
      first_heads.push_back(group->heads[0]);
    }
    first_heads.resize(first_heads_count(groups));
    upper.resize(upper_bytes(groups) / sizeof(uint64_t));
    table.index = index;
    build_search_table(table, groups, first_heads.data(), upper.data());
    first_heads.resize(groups);
  }
  uint32_t locate(uint64_t head) const {
    const auto above = std::upper_bound(first_heads.begin(), first_heads.end(), head);
    return above == first_heads.begin() ? 0
                                        : static_cast<uint32_t>(above - first_heads.begin()) - 1;
  }

  struct alignas(4096) Block {
    char bytes[4096];
  };
  std::vector<uint64_t> heads;
  std::vector<Block> blocks;
  std::vector<uint64_t> first_heads;
  std::vector<uint64_t> upper;
  SearchTable table;
};

std::vector<uint64_t> make_heads(Prng& prng, int shape, uint32_t count) {
  std::vector<uint64_t> heads;
  const uint64_t base = prng.next();
  for (uint32_t i = 0; i < count; ++i) {
    switch (shape) {
      case 0:
        heads.push_back(prng.next());
        break;
      case 1:
        heads.push_back(base + i);
        break;
      case 2:
        heads.push_back(prng.next() >> prng.below(64));
        break;
      case 3:
        heads.push_back(prng.below(count / 30 + 1));
        break;
      case 4:
        heads.push_back(prng.one_in(100) ? ~uint64_t{0} : base);
        break;
      default:
        heads.push_back(~uint64_t{0} - prng.below(count));
    }
  }
  std::sort(heads.begin(), heads.end());
  return heads;
}

TEST(RunSearchTest, AllTargetsAgreeWithTheDefinition) {
  Prng prng(20240603);
  std::vector<SearchKernels> kernels;
  for (int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
    hwy::SetSupportedTargetsForTest(targets & -targets);
    kernels.push_back(detect_search_kernels());
  }
  hwy::SetSupportedTargetsForTest(0);
  kernels.push_back(detect_search_kernels());
  EXPECT_GE(kernels.size(), 2u);
  for (int shape = 0; shape < 6; ++shape) {
    for (const uint32_t count : {1, 16, 17, 255, 4000, 4096, 4097, 5000, 30000, 100000}) {
      SCOPED_TRACE("shape " + std::to_string(shape) + " count " + std::to_string(count));
      const Index index(make_heads(prng, shape, count));
      for (int i = 0; i < 500; ++i) {
        const uint64_t head =
            prng.one_in(4) ? prng.next() : index.heads[prng.below(count)] + prng.below(3) - 1;
        const uint32_t group = index.locate(head);
        const uint64_t* heads = index.heads.data() + size_t{group} * kGroupEntries;
        const auto below = std::lower_bound(heads, heads + kGroupEntries, head) - heads;
        const auto equal = std::upper_bound(heads, heads + kGroupEntries, head) - heads - below;
        for (const SearchKernels& kernel : kernels) {
          ASSERT_EQ(kernel.locate(index.table, head), group) << head;
          for (const GroupHit& hit :
               {kernel.search(index.table, group, head), kernel.find(index.table, head)}) {
            ASSERT_EQ(hit.group, group);
            ASSERT_EQ(hit.below, below);
            ASSERT_EQ(hit.equal, equal);
          }
        }
      }
    }
  }
}

TEST(RunSearchTest, SamplesKeepTheirInvariants) {
  Prng prng(5);
  int exact = 0;
  int sampled = 0;
  for (int shape = 0; shape < 6; ++shape) {
    for (const uint32_t count : {1, 300, 4096, 4097, 100000}) {
      const Index index(make_heads(prng, shape, count));
      const SearchTable& t = index.table;
      EXPECT_TRUE(t.span == 16 || t.span % 32 == 0);
      EXPECT_LE(t.groups, uint32_t{t.span} * kTopSamples);
      const auto count_of_samples = static_cast<uint32_t>(align_up(t.groups, t.span));
      EXPECT_EQ(t.first_heads[t.groups], ~uint64_t{0});
      exact += t.exact;
      sampled += !t.exact;
      if (t.exact) {
        for (uint32_t k = 0; k < kTopSamples; ++k) {
          EXPECT_EQ(t.top_heads[k],
                    k * t.span < t.groups ? index.first_heads[k * t.span] : ~uint64_t{0});
        }
        continue;
      }
      EXPECT_TRUE(std::is_sorted(t.samples, t.samples + count_of_samples));
      for (uint32_t g = 0; g < count_of_samples; ++g) {
        EXPECT_EQ(t.samples[g] == 0xffff, g >= t.groups);
      }
      for (uint32_t k = 0; k < kTopSamples; ++k) {
        EXPECT_EQ(t.top[k], k * t.span < t.groups ? t.samples[k * t.span] : 0xffff);
      }
    }
  }
  EXPECT_GT(exact, 5);
  EXPECT_GT(sampled, 5);
}

}  // namespace
}  // namespace hawthorn::tree
