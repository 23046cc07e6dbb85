#include "tree/run_builder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "format/operands.h"
#include "testing/scaled.h"
#include "tree/run_test_model.h"

namespace hawthorn::tree::run_builder_test {
namespace {

using run_model::build;
using run_model::generate;
using run_model::Generated;
using run_model::Image;
using run_model::KeyShape;
using run_model::Mix;
using run_model::Model;
using run_model::Version;

// A merge as a flush does it: ranges of an old run, new keys between and instead of them.
struct MergeCase {
  bool longer_prefix = false;
  bool shorter_prefix = false;
  bool remap = false;
  bool other_sizes = false;
  Lsn floor = 0;
};

void merge(Prng& prng, RunBuilder& builder, KeyShape shape, Mix mix, MergeCase merge_case) {
  Generated old = generate(prng, shape, mix, 400);
  const Image old_image = build(builder, old);
  const std::unique_ptr<tree::Run> old_run = run_model::open(old_image);
  ASSERT_NE(old_run, nullptr);

  Generated g;
  g.cut = 2000;
  g.shape = old.shape;
  g.prefix = old.prefix;
  // With a longer prefix only a part of the old run belongs to the new one.
  uint32_t from = 0;
  uint32_t to = old_run->entries();
  if (merge_case.longer_prefix) {
    std::string key(format::kRunKeyBytesMax, 0);
    key.resize(old_run->copy_key(static_cast<uint32_t>(prng.below(to)), key.data()));
    g.prefix = key.substr(0, old.prefix.size() + prng.below(key.size() - old.prefix.size() + 1));
    from = old_run->seek(g.prefix);
    while (to > from) {
      std::string last(format::kRunKeyBytesMax, 0);
      last.resize(old_run->copy_key(to - 1, last.data()));
      if (last.substr(0, g.prefix.size()) == g.prefix) break;
      --to;
    }
  }
  if (merge_case.shorter_prefix) {
    const size_t cut = prng.below(prng.one_in(2) ? g.prefix.size() + 1 : 4);
    g.prefix.resize(g.prefix.size() - std::min(cut, g.prefix.size()));
  }
  if (merge_case.other_sizes) {
    g.shape.fixed_value_size += 1;
    g.shape.plain_inline = !g.shape.plain_inline;
  }
  std::vector<uint8_t> extent_map(old.extents.bytes.size());
  for (size_t e = 0; e < extent_map.size(); ++e) {
    extent_map[e] = static_cast<uint8_t>(merge_case.remap ? extent_map.size() - 1 - e : e);
  }
  g.extents.bytes.resize(extent_map.size());
  for (size_t e = 0; e < extent_map.size(); ++e) {
    g.extents.bytes[extent_map[e]] = old.extents.bytes[e];
  }

  Generated fresh;  // new keys, with versions above all old ones
  fresh.shape = g.shape;
  fresh.extents.bytes.resize(g.extents.bytes.size());
  fresh.extents.bytes = g.extents.bytes;
  fresh.cut = g.cut;
  for (int i = 0; i < 60; ++i) {
    run_model::add_versions(fresh, prng, g.prefix + run_model::make_key(prng, shape, 12345), mix,
                            1500);
  }
  g.extents.bytes = fresh.extents.bytes;

  g.shape.prefix = g.prefix;
  builder.start(g.shape);
  auto copy = [&](uint32_t begin, uint32_t end) {
    if (prng.one_in(3) && begin < end) {  // in two steps
      const auto middle = static_cast<uint32_t>(prng.between(begin, end));
      builder.append_range(*old_run, begin, middle, extent_map, merge_case.floor);
      begin = middle;
    }
    const bool leave_out = !merge_case.remap && prng.one_in(2);
    builder.append_range(*old_run, begin, end, leave_out ? std::span<const uint8_t>() : extent_map,
                         merge_case.floor);
  };
  uint32_t position = from;
  for (const auto& [key, versions] : fresh.model) {
    const uint32_t next = old_run->seek(key);
    copy(position, next);
    position = next;
    for (const auto& [cts, version] : versions) {
      run_model::add_version(builder, key, cts, version);
      g.model[key].emplace(cts, version);
    }
    // The old versions of this key are replaced.
    if (key.substr(0, old_run->skip()) != old_run->prefix()) continue;
    while (position < to && old_run->compare(position, key, key_head(key, old_run->skip())) == 0) {
      ++position;
    }
  }
  copy(position, to);
  for (const auto& [key, versions] : old.model) {
    if (key.substr(0, g.prefix.size()) != g.prefix || fresh.model.count(key) != 0) continue;
    for (const auto& [cts, version] : versions) {
      Version moved = version;
      moved.extent = version.kind == EntryKind::kSeparated ? extent_map[version.extent] : 0;
      const bool lost = cts <= merge_case.floor && version.kind != EntryKind::kTombstone;
      g.model[key].emplace(lost ? 0 : cts, moved);
    }
  }
  const Image image = run_model::finish(builder, g.extents, g.cut);
  const std::unique_ptr<tree::Run> run = run_model::open(image);
  ASSERT_NE(run, nullptr);
  ASSERT_NO_FATAL_FAILURE(run_model::expect_equal(*run, g.model, g.extents, prng));
}

TEST(RunBuilderTest, MergesAgreeWithTheModel) {
  const uint64_t seed = testing::environment_number("HAWTHORN_SEED", 20240602);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  RunBuilder builder;
  uint64_t turn = 0;
  for (int shape = 0; shape < static_cast<int>(KeyShape::kCount); ++shape) {
    if (shape == static_cast<int>(KeyShape::kHuge)) continue;
    for (int mix = 0; mix < static_cast<int>(Mix::kCount); ++mix) {
      for (int flags = 0; flags < 12; ++flags) {
        if (turn++ % (testing::scaled_step(1) | 1) != 0) continue;
        const MergeCase merge_case{flags >= 4 && flags < 8, flags >= 8, (flags & 1) != 0,
                                   (flags & 2) != 0, 0};
        SCOPED_TRACE("shape " + std::to_string(shape) + " mix " + std::to_string(mix) + " flags " +
                     std::to_string(flags));
        ASSERT_NO_FATAL_FAILURE(
            merge(prng, builder, static_cast<KeyShape>(shape), static_cast<Mix>(mix), merge_case));
      }
    }
  }
}

// Entries lose timestamps at or below the floor, and become plain where they can.
TEST(RunBuilderTest, TheFloorTakesTimestampsAway) {
  RunBuilder builder;
  Generated g;
  g.shape.fixed_key_size = 8;
  g.shape.fixed_inline_size = 3;
  g.shape.plain_inline = true;
  g.extents.bytes.resize(1);
  for (uint64_t i = 0; i < 100; ++i) {
    Version version;
    version.value = i % 3 == 0 ? "abc" : "longer";
    if (i % 10 == 9) version = {EntryKind::kTombstone, "", 0, 0, 0};
    g.model[run_model::big_endian(i * 1000)].emplace(i + 1, version);
  }
  const Image image = build(builder, g);
  const std::unique_ptr<tree::Run> run = run_model::open(image);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->header().timestamp_count, 100u);
  builder.start(g.shape);
  builder.append_range(*run, 0, 100, {}, 50);
  const Image next_image = run_model::finish(builder, g.extents, g.cut);
  const std::unique_ptr<tree::Run> next = run_model::open(next_image);
  ASSERT_NE(next, nullptr);
  Model expected;
  for (const auto& [key, versions] : g.model) {
    for (const auto& [cts, version] : versions) {
      const bool lost = cts <= 50 && version.kind != EntryKind::kTombstone;
      expected[key].emplace(lost ? 0 : cts, version);
    }
  }
  Prng prng(1);
  ASSERT_NO_FATAL_FAILURE(run_model::expect_equal(*next, expected, g.extents, prng));
  EXPECT_EQ(next->header().plain_inline_count,
            15u);  // of 17 multiples of three below 50, two are tombstones
  EXPECT_EQ(next->header().tombstone_count, 10u);
  EXPECT_EQ(next->header().timestamp_count, 55u);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(next->entry(i).cts == 0, i < 50 && i % 10 != 9);
}

TEST(RunBuilderTest, ImageBytesIsWhatFinishWrites) {
  RunBuilder builder;
  Generated g;
  g.extents.bytes = {std::string(100000, 'x'), std::string(4096, 'y'), ""};
  g.model["k"][0] = {EntryKind::kSeparated, std::string(10, 'x'), 0, 50, 0};
  const Image image = build(builder, g);
  EXPECT_EQ(image.bytes, 3u * 4096);  // header, one index block, heap with one record
  const std::unique_ptr<tree::Run> run = run_model::open(image);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->extent_checksums(0).size(), 25u);
  EXPECT_EQ(run->extent_checksums(1).size(), 1u);
  EXPECT_EQ(run->extent_checksums(2).size(), 0u);
}

// A read of a small value needs one block, where nothing else stands in the run.
TEST(RunBuilderTest, SmallPlainValuesStandInWideGroups) {
  Prng prng(20261122);
  RunBuilder builder;
  for (int round = 0; round < 30; ++round) {
    Generated g = run_model::generate_wide(prng, static_cast<uint32_t>(prng.between(1, 3000)));
    SCOPED_TRACE("values of " + std::to_string(g.shape.fixed_inline_size));
    const Image image = build(builder, g);
    ASSERT_TRUE(builder.wide());
    const std::unique_ptr<tree::Run> run = run_model::open(image);
    ASSERT_NE(run, nullptr);
    ASSERT_TRUE(run->wide());
    ASSERT_NO_FATAL_FAILURE(run_model::expect_equal(*run, g.model, g.extents, prng));
    format::ContainerRecord record;
    record.entries = run->entries();
    record.run.blocks = static_cast<uint32_t>(image.bytes / 4096);
    record.wide = true;
    record.first_heads = true;
    EXPECT_EQ(format::run_front(record).header_blocks, run->header().header_blocks);
    EXPECT_EQ(format::run_front(record).blocks, record.run.blocks);
    g.shape.wide = false;
    const Image narrow = build(builder, g);
    EXPECT_FALSE(builder.wide());
    // But for what is left of blocks.
    EXPECT_LE(image.bytes, narrow.bytes / 16 * 17 + size_t{2} * 4096);
    if (g.shape.fixed_inline_size <= 12) {
      EXPECT_LE(image.bytes, narrow.bytes + 4096);
    }
  }
  const auto stays_narrow = [&](const auto& change) {
    Generated g = run_model::generate_wide(prng, 100, 8);
    change(g);
    const Image image = build(builder, g);
    return !builder.wide() && !run_model::open(image)->wide();
  };
  EXPECT_FALSE(stays_narrow([](Generated&) {}));
  EXPECT_TRUE(stays_narrow([](Generated& g) { g.model.clear(); }));
  EXPECT_TRUE(stays_narrow(
      [](Generated& g) { g.model[g.prefix + "a tombstone"][5].kind = EntryKind::kTombstone; }));
  EXPECT_TRUE(
      stays_narrow([](Generated& g) { g.model[g.prefix + "longer than others"][0].value = "v"; }));
  EXPECT_TRUE(stays_narrow([](Generated& g) {
    g.shape.fixed_inline_size = 33;  // few fit a block
    for (auto& [key, versions] : g.model) versions[0].value.resize(g.shape.fixed_inline_size);
  }));
  EXPECT_TRUE(stays_narrow([](Generated& g) {
    Model longer;
    const std::string more(5000, 'p');
    for (auto& [key, versions] : g.model) longer[more + key] = versions;
    g.prefix = more + g.prefix;
    g.shape.fixed_key_size += 5000;
    g.model = longer;
  }));
}

TEST(RunBuilderTest, PackedRegionsAreWhereTheHeaderSays) {
  RunBuilder builder;
  builder.start(RunShape());
  for (uint64_t i = 0; i < 2000; ++i) {
    builder.add_inline("a key that has a tail " + run_model::big_endian(i), "its value", 0, 0);
  }
  builder.add_separated("b", 0, 0, 5000, 0, 0);
  const std::string_view content = builder.heap();
  const auto blocks = static_cast<uint32_t>(content.size() / 4096);
  format::Packer packer;
  std::string stored(content.size(), '\0');
  ASSERT_TRUE(packer.pack(content.data(), blocks, format::Codec::kLz4, nullptr, stored.data()));
  const std::vector<uint32_t> sums{11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  ASSERT_LE(packer.stored_blocks(), sums.size());
  const PackedHeap heap{packer.packing(), packer.stored_blocks(),
                        std::span(sums).first(packer.stored_blocks())};
  // Two packed extents around one that is not.
  const std::vector<uint32_t> ends[2] = {{1000, 2000, 3000}, {500}};
  const std::vector<BuiltExtent> extents{
      {{{1, 10, 1}, 40000, 0}, std::span(sums).first(1), {format::Codec::kZstd, 9, 10, ends[0]}},
      {{{1, 20, 2}, 8000, 0}, std::span(sums).subspan(3, 2)},
      {{{1, 30, 1}, 16384, 0},
       std::span(sums).subspan(5, 1),
       {format::Codec::kLz4, 0, 4, ends[1]}}};
  const size_t bytes = builder.image_bytes(extents, &heap);
  const std::unique_ptr<char, decltype(&free)> image(static_cast<char*>(aligned_alloc(4096, bytes)),
                                                     &free);
  const uint64_t checksum = builder.finish(extents, 0, 0, image.get(), &heap);
  ASSERT_TRUE(tree::Run::verify(image.get(), bytes, checksum, "here").ok());
  auto attached = tree::Run::attach(image.get(), bytes);
  ASSERT_TRUE(attached.ok()) << attached.status().to_string();
  const tree::Run& run = **attached;
  const format::StoredRegion region = run.heap_region();
  ASSERT_TRUE(region.packed());
  EXPECT_EQ(region.blocks, blocks);
  EXPECT_EQ(region.stored_blocks, heap.stored_blocks);
  EXPECT_TRUE(std::ranges::equal(region.packing.ends, heap.packing.ends));
  EXPECT_EQ(region.checksums[0], 11u);
  for (uint32_t e = 0; e < 3; ++e) {
    const format::StoredRegion extent = run.extent_region(e);
    EXPECT_EQ(extent.packed(), e != 1);
    EXPECT_EQ(extent.stored_blocks, extents[e].record.address.blocks);
    EXPECT_TRUE(std::ranges::equal(extent.packing.ends, extents[e].packing.ends));
    EXPECT_EQ(extent.packing.dictionary, e == 0 ? 9u : 0u);
    EXPECT_TRUE(std::ranges::equal(run.extent_checksums(e), extents[e].checksums));
  }
  EXPECT_EQ(run.entry(2000).kind, EntryKind::kSeparated);
  // The manifest's record alone tells how long the front is.
  format::ContainerRecord record;
  record.entries = run.entries();
  record.unpacked_blocks = static_cast<uint32_t>(bytes / 4096);
  record.run.blocks = record.unpacked_blocks - blocks + heap.stored_blocks;
  for (const BuiltExtent& extent : extents) record.values.push_back(extent.record);
  record.first_heads = true;
  record.separator_blocks = builder.separator_blocks();
  EXPECT_EQ(format::run_front(record).header_blocks, run.header().header_blocks);
  EXPECT_EQ(format::run_front(record).blocks, run.front_blocks());
  // Ends that contradict each other are refused.
  auto* damaged = const_cast<uint32_t*>(run.extent_region(0).packing.ends.data());
  damaged[1] = 999;
  EXPECT_TRUE(tree::Run::attach(image.get(), bytes).status().is(StatusCode::kCorruption));
}

// Operands keep their timestamps through a merge, and what is malformed is refused.
TEST(RunBuilder, OperandsAreVersionsWithTimestamps) {
  std::string operands;
  format::append_operand(operands, "one");
  format::append_operand(operands, std::string(300, 'o'));
  const auto make = [](auto add) {
    RunBuilder builder(nullptr);
    RunShape shape;
    shape.prefix = "k";
    builder.start(shape);
    add(builder);
    run_model::Extents none;
    return run_model::finish(builder, none, 1000);
  };
  const Image first = make([&](RunBuilder& builder) {
    builder.add_inline("ka", "plain", 0, 0);
    builder.add_operands("kb", operands, 900);
    builder.add_operands("kb", operands, 800);
    builder.add_inline("kb", "base", 0, 0);
    builder.add_operands("kc", operands, 700);
  });
  const std::unique_ptr<tree::Run> old = run_model::open(first);
  ASSERT_NE(old, nullptr);
  EXPECT_TRUE(old->has_operands() && old->has_versions());
  EXPECT_EQ(old->count_newest(), 3u);
  const Image second = make([&](RunBuilder& builder) {
    builder.append_range(*old, 0, old->entries(), {}, 950);  // all lies below the floor
  });
  const std::unique_ptr<tree::Run> run = run_model::open(second);
  ASSERT_NE(run, nullptr);
  ASSERT_EQ(run->entries(), 5u);
  const Lsn timestamps[] = {0, 900, 800, 0, 700};
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(run->entry(i).cts, timestamps[i]) << i;
    const bool holds = timestamps[i] != 0;
    EXPECT_EQ(run->kind(i) == EntryKind::kOperands, holds) << i;
    EXPECT_EQ(run->entry(i).kind, run->kind(i)) << i;
    if (holds) {
      EXPECT_EQ(run->entry(i).inline_value, operands) << i;
    }
  }
  const uint64_t head = key_head("kb", run->skip());
  EXPECT_EQ(run->find("kb", head, 1000), 1u);
  EXPECT_EQ(run->find("kb", head, 850), 2u);
  EXPECT_EQ(run->find("kb", head, 799), 3u);
  const Image plain = make([](RunBuilder& builder) { builder.add_inline("ka", "plain", 0, 0); });
  EXPECT_FALSE(run_model::open(plain)->has_operands());
  for (const std::string& bad : {std::string(), operands.substr(0, operands.size() - 1),
                                 operands + '\x05', std::string(1, '\xff')}) {
    const Image image = make([&](RunBuilder& builder) { builder.add_operands("kb", bad, 900); });
    EXPECT_TRUE(
        tree::Run::attach(image.data.get(), image.bytes).status().is(StatusCode::kCorruption));
  }
}

}  // namespace
}  // namespace hawthorn::tree::run_builder_test
