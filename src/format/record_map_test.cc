#include "format/record_map.h"

#include <gtest/gtest.h>

#include <map>

#include "base/prng.h"
#include "format/manifest_state.h"

namespace hawthorn::format {
namespace {

ContainerRecord any_container(Prng& prng, uint64_t id) {
  const auto any = [&] { return prng.next() >> prng.below(64); };
  const auto address = [&] {
    return ExtentAddress{static_cast<uint32_t>(any()), static_cast<uint32_t>(any()),
                         static_cast<uint32_t>(any())};
  };
  ContainerRecord record;
  record.id = id;
  record.tree = static_cast<uint32_t>(any());
  record.low = std::string(prng.one_in(50) ? 5000 : prng.below(40), static_cast<char>(any()));
  record.cut = any();
  record.max_ts = any();
  record.entries = any();
  record.run = address();
  record.unpacked_blocks = static_cast<uint32_t>(any());
  record.wide = prng.one_in(2);
  record.first_heads = prng.one_in(2);
  record.separated = prng.one_in(2);
  record.separator_blocks = static_cast<uint32_t>(any());
  record.run_checksum = any();
  record.seal = prng.one_in(2) ? any() : 0;
  for (uint64_t i = prng.below(4); i > 0; --i) {
    record.values.push_back(
        {address(), static_cast<uint32_t>(any()), static_cast<uint32_t>(any())});
  }
  for (uint64_t i = prng.below(4); i > 0; --i) record.large.push_back(address());
  return record;
}

TEST(RecordMap, gives_back_every_field_of_a_tree) {
  RecordMap<uint32_t, TreeRecord> map;
  const TreeRecord tree{7, "name", 1, 2, "adds", 3, 4, 5, 6, "shape"};
  map.set(tree);
  map.set({9, ""});
  EXPECT_EQ(map.at(7), tree);
  EXPECT_EQ(map.at(9), (TreeRecord{9, ""}));
  EXPECT_FALSE(map.contains(8));
  EXPECT_FALSE(map.get(8).has_value());
}

// Beside a std::map, through all that may be done.
TEST(RecordMap, has_what_a_map_has) {
  constexpr uint64_t seed = 20;
  Prng prng(seed);
  RecordMap<uint64_t, ContainerRecord> map;
  std::map<uint64_t, ContainerRecord> model;
  for (int round = 0; round < 20; ++round) {
    const bool shrinks = round % 4 == 3;
    const uint64_t ids = round % 2 == 0 ? 300 : 5000;
    for (int i = 0; i < 300; ++i) {
      const uint64_t id = prng.one_in(3) && !model.empty() ? model.rbegin()->first + prng.below(3)
                                                           : prng.below(ids);
      if (prng.one_in(shrinks ? 1 : 4)) {
        const auto at = model.lower_bound(id);
        const uint64_t gone = at == model.end() ? id : at->first;
        EXPECT_EQ(map.erase(gone), model.erase(gone) == 1);
      } else {
        model[id] = any_container(prng, id);
        map.set(model[id]);
      }
    }
    ASSERT_EQ(map.size(), model.size()) << "seed " << seed;
    auto at = model.begin();
    for (const auto& [id, record] : map) {
      ASSERT_EQ(id, at->first) << "seed " << seed;
      ASSERT_EQ(record, at->second) << "seed " << seed;
      ++at;
    }
    for (uint64_t id = 0; id < 300; ++id) ASSERT_EQ(map.contains(id), model.contains(id));
    // Whatever way it came about, the same is the same.
    RecordMap<uint64_t, ContainerRecord> again;
    for (const auto& [id, record] : model) again.set(record);
    EXPECT_TRUE(again == map) << "seed " << seed;
    if (model.empty()) continue;
    model.begin()->second.cut ^= 1;
    again.set(model.begin()->second);
    EXPECT_FALSE(again == map) << "seed " << seed;
    map = again;
    map.erase_if([](const ContainerRecord& record) { return record.id % 7 == 0; });
    std::erase_if(model, [](const auto& one) { return one.first % 7 == 0; });
  }
  map.clear();
  EXPECT_TRUE(map.empty());
  EXPECT_TRUE(map.begin() == map.end());
}

// What this is for: the records of a tree that rests.
TEST(RecordMap, takes_few_bytes) {
  constexpr uint64_t kRecords = 10'000;
  RecordMap<uint64_t, ContainerRecord> containers;
  RecordMap<uint32_t, TreeRecord> trees;
  for (uint64_t id = 1; id <= kRecords; ++id) {
    ContainerRecord record;
    record.id = id;
    record.tree = static_cast<uint32_t>(id);
    record.cut = uint64_t{1} << 40;
    record.max_ts = uint64_t{1} << 40;
    record.entries = 1;
    record.run = {3, 70'000, 1};
    record.run_checksum = ~id;
    containers.set(record);
    trees.set({static_cast<uint32_t>(id), "tree" + std::to_string(id)});
  }
  EXPECT_LT(containers.heap_bytes() / kRecords, 56u);
  EXPECT_LT(trees.heap_bytes() / kRecords, 32u);
}

}  // namespace
}  // namespace hawthorn::format
