#include "tree/run.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <new>

#include "testing/scaled.h"
#include "testing/source_tree.h"
#include "tree/run_test_model.h"

namespace hawthorn::tree::run_test {
namespace {

using run_model::build;
using run_model::generate;
using run_model::Generated;
using run_model::Image;
using run_model::KeyShape;
using run_model::Mix;

uint64_t seed_of_run() { return testing::environment_number("HAWTHORN_SEED", 20240601); }

// What an outline finds in copies of the groups that it asks for, everything else out of reach.
void expect_outlined(const tree::Run& run, const tree::Run& outline, std::string_view key, Lsn ts) {
  const uint64_t head = key_head(key, run.skip());
  for (tree::Run::Range groups = outline.groups_with(key);;) {
    const tree::Run::Bytes at = outline.bytes_of_groups(groups);
    const size_t in_line = at.begin % 64;
    const size_t size = in_line + at.end - at.begin;
    const auto release = [](char* memory) { operator delete(memory, std::align_val_t{64}); };
    const std::unique_ptr<char, decltype(release)> copy(
        static_cast<char*>(operator new(size, std::align_val_t{64})), release);
    std::copy(run.image() + at.begin, run.image() + at.end, copy.get() + in_line);
    const tree::Run known = outline.with_groups(groups, copy.get() + in_line);
    const tree::Run::Range range = known.range_in(groups, key);
    const tree::Run::Range expected = run.range_of(key);
    ASSERT_EQ(range.begin, expected.begin);
    ASSERT_EQ(range.end, expected.end);
    if (known.tells_heap_range(range, groups.end)) {
      const format::HeapRange heap = known.heap_range(range.begin, range.end);
      const format::HeapRange all = run.heap_range(range.begin, range.end);
      ASSERT_EQ(heap.begin, all.begin);
      ASSERT_EQ(heap.end, all.end);
      const tree::Run whole = known.wide() ? known : known.with_heap(run.heap());
      const uint32_t found = whole.find_in(range, key, ts);
      ASSERT_EQ(found, run.find(key, head, ts));
      if (found != tree::Run::kNone) {
        ASSERT_EQ(whole.entry(found).inline_value, run.entry(found).inline_value);
      }
      return;
    }
    ASSERT_LT(groups.end, outline.group_count());
    ++groups.end;
  }
}

void expect_outlined(const tree::Run& run, const std::vector<run_model::Flat>& flat, Prng& prng) {
  // From the run, and from its header area alone.
  const size_t header_bytes = size_t{run.header().header_blocks} * 4096;
  const Image header(header_bytes);
  std::memcpy(header.data.get(), run.image(), header_bytes);
  Result<std::unique_ptr<tree::Run>> attached =
      tree::Run::attach_outline(header.data.get(), run.image_bytes(), run.prefix());
  ASSERT_TRUE(attached.ok()) << attached.status().to_string();
  const bool by_header = prng.one_in(2);
  const std::unique_ptr<tree::Run> outline =
      by_header ? std::move(attached).value() : tree::Run::make_outline(run);
  SCOPED_TRACE(by_header ? "by header" : "of a run");
  ASSERT_NE(outline, nullptr);
  ASSERT_TRUE(outline->is_outline());
  ASSERT_EQ(outline->front_blocks(), run.front_blocks());
  ASSERT_EQ(outline->cut(), run.cut());
  for (uint32_t e = 0; e < run.extent_count(); ++e) {
    ASSERT_TRUE(std::ranges::equal(outline->extent_checksums(e), run.extent_checksums(e)));
  }
  for (const run_model::Flat& one : flat) {
    if (flat.size() > 2000 && !prng.one_in(50)) continue;
    const std::string key = *one.key;
    ASSERT_NO_FATAL_FAILURE(expect_outlined(run, *outline, key, format::kLsnMax));
    ASSERT_NO_FATAL_FAILURE(expect_outlined(run, *outline, key, one.cts));
    ASSERT_NO_FATAL_FAILURE(expect_outlined(run, *outline, key + '\0', format::kLsnMax));
    if (key.empty()) continue;
    std::string other = key;
    other.back() = static_cast<char>(other.back() + 1);
    if (!other.starts_with(run.prefix())) continue;
    ASSERT_NO_FATAL_FAILURE(expect_outlined(run, *outline, other, format::kLsnMax));
  }
}

TEST(RunTest, AgreesWithTheModelForKeysOfAllShapes) {
  const uint64_t seed = seed_of_run();
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  RunBuilder builder;
  for (int shape = 0; shape < static_cast<int>(KeyShape::kCount); ++shape) {
    for (int mix = 0; mix < static_cast<int>(Mix::kCount); ++mix) {
      for (const uint32_t count : {1, 2, 15, 16, 17, 100, 1000}) {
        if (shape == static_cast<int>(KeyShape::kHuge) && count > 20) continue;
        SCOPED_TRACE("shape " + std::to_string(shape) + " mix " + std::to_string(mix) + " count " +
                     std::to_string(count));
        Generated g = generate(prng, static_cast<KeyShape>(shape), static_cast<Mix>(mix), count);
        const Image image = build(builder, g);
        const std::unique_ptr<tree::Run> run = run_model::open(image);
        ASSERT_NE(run, nullptr);
        ASSERT_EQ(run->prefix(), g.prefix);
        ASSERT_EQ(run->cut(), g.cut);
        ASSERT_EQ(run->image_bytes(), image.bytes);
        ASSERT_NO_FATAL_FAILURE(run_model::expect_equal(*run, g.model, g.extents, prng));
        ASSERT_NO_FATAL_FAILURE(expect_outlined(*run, run_model::flatten(g.model), prng));
        for (uint32_t e = 0; e < run->extent_count(); ++e) {
          const std::span<const uint32_t> checksums = run->extent_checksums(e);
          ASSERT_TRUE(std::equal(checksums.begin(), checksums.end(), g.extents.checksums[e].begin(),
                                 g.extents.checksums[e].end()));
          ASSERT_EQ(run->extent_record(e), g.extents.built()[e].record);
        }
      }
    }
  }
}

TEST(RunTest, LargeRuns) {
  Prng prng(7);
  RunBuilder builder;
  for (const KeyShape shape : {KeyShape::kFixed8, KeyShape::kSkewed, KeyShape::kSequence}) {
    Generated g = generate(prng, shape, Mix::kPlainInline, 1);
    const bool sequence = shape == KeyShape::kSequence;
    for (uint32_t i = 0; i < 100000; ++i) {
      const std::string key = sequence ? run_model::big_endian(i * 3)
                                       : run_model::make_key(prng, shape, 0) +
                                             (shape == KeyShape::kSkewed ? std::to_string(i) : "");
      g.model[g.prefix + key][0].value = std::string(g.shape.fixed_inline_size, 'v');
    }
    const Image image = build(builder, g);
    const std::unique_ptr<tree::Run> run = run_model::open(image);
    ASSERT_NE(run, nullptr);
    const std::vector<run_model::Flat> flat = run_model::flatten(g.model);
    ASSERT_EQ(run->entries(), flat.size());
    for (uint32_t i = 0; i < flat.size(); i += 3) {
      ASSERT_NO_FATAL_FAILURE(run_model::expect_searches(*run, flat, *flat[i].key, 0));
    }
    ASSERT_NO_FATAL_FAILURE(run_model::expect_fill(*run, flat, g.extents, prng));
    ASSERT_NO_FATAL_FAILURE(expect_outlined(*run, flat, prng));
  }
}

TEST(RunTest, ARunWithoutEntries) {
  RunBuilder builder;
  for (const std::string prefix : {"", "prefix"}) {
    Generated g;
    g.prefix = prefix;
    const Image image = build(builder, g);
    const std::unique_ptr<tree::Run> run = run_model::open(image);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run->entries(), 0u);
    for (const std::string& rest :
         {std::string(), std::string(8, '\xff'), std::string(9, '\xff')}) {
      const std::string key = prefix + rest;
      const uint64_t head = key_head(key, run->skip());
      EXPECT_EQ(run->find(key, head, 5), tree::Run::kNone);
      EXPECT_EQ(run->find_from(run->locate(head), key, head, 5), tree::Run::kNone);
      EXPECT_EQ(run->lower_bound(key, head), 0u);
    }
  }
}

TEST(RunTest, HeadsOfAllOnesAreNotPadding) {
  RunBuilder builder;
  Generated g;
  for (const size_t size : {7, 8, 9, 20, 3000}) g.model[std::string(size, '\xff')][0];
  Prng prng(1);
  const Image image = build(builder, g);
  const std::unique_ptr<tree::Run> run = run_model::open(image);
  ASSERT_NE(run, nullptr);
  ASSERT_NO_FATAL_FAILURE(run_model::expect_equal(*run, g.model, g.extents, prng));
}

// Every single-byte flip of an image is an error that names the place.
TEST(RunTest, VerifyDetectsEveryFlippedByte) {
  Prng prng(3);
  RunBuilder builder;
  Generated g = generate(prng, KeyShape::kTwoLetters, Mix::kEverything, 60);
  const Image image = build(builder, g);
  char* data = image.data.get();
  for (size_t i = 0; i < image.bytes; ++i) {
    const char flip = static_cast<char>(1 << prng.below(8));
    data[i] = static_cast<char>(data[i] ^ flip);
    const Status s = tree::Run::verify(data, image.bytes, image.checksum, "data.3 at 40960");
    ASSERT_FALSE(s.ok()) << "byte " << i;
    ASSERT_EQ(s.message().substr(0, 16), "data.3 at 40960:");
    data[i] = static_cast<char>(data[i] ^ flip);
  }
  EXPECT_TRUE(tree::Run::verify(data, image.bytes, image.checksum, "").ok());
  EXPECT_FALSE(tree::Run::verify(data, image.bytes - 4096, image.checksum, "").ok());
  EXPECT_FALSE(tree::Run::verify(data, 0, image.checksum, "").ok());
  EXPECT_FALSE(tree::Run::verify(data, image.bytes, image.checksum + 1, "").ok());
}

// Whatever attach accepts can be read through every function without harm.
void read_everything(const Run& run, Prng& prng) {
  std::vector<Entry> out(50);
  std::vector<char> keys(run.key_buffer_bytes(50));
  std::vector<const char*> bases(run.extent_count());
  size_t sum = 0;
  std::string key(format::kRunKeyBytesMax, 0);
  for (uint32_t i = 0; i < run.entries(); ++i) {
    const RunEntry entry = run.entry(i);
    for (const char byte : entry.inline_value) sum += static_cast<unsigned char>(byte);
    key.resize(entry.key_size);
    run.copy_key(i, key.data());
    const uint64_t head = key_head(key, run.skip());
    run.find(key, head, prng.below(100));
    run.lower_bound(key, head);
    sum += run.fill(i, out, bases.data(), prng.one_in(2), keys.data(), keys.size());
  }
  EXPECT_LT(sum, ~size_t{0});
}

TEST(RunTest, DamagedImagesNeverCrash) {
  const uint64_t seed = seed_of_run();
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  RunBuilder builder;
  int accepted = 0;
  for (int round = 0; round < 6; ++round) {
    const auto shape = static_cast<KeyShape>(prng.below(static_cast<int>(KeyShape::kHuge)));
    Generated g = generate(prng, shape, static_cast<Mix>(round % 4), 300);
    if (round == 5) g = run_model::generate_wide(prng, 300);
    const Image whole = build(builder, g);
    EXPECT_EQ(run_model::open(whole)->wide(), builder.wide());
    EXPECT_TRUE(round != 5 || builder.wide());
    for (int i = 0; i < 3000; ++i) {
      const Image damaged(prng.one_in(50) ? 4096 * prng.between(1, 5) : whole.bytes);
      std::memset(damaged.data.get(), 0, damaged.bytes);
      std::memcpy(damaged.data.get(), whole.data.get(), std::min(whole.bytes, damaged.bytes));
      const uint64_t changes = prng.between(1, 4);
      for (uint64_t c = 0; c < changes; ++c) {
        // Half of the time in the header, where the sizes are.
        const size_t at = prng.below(prng.one_in(2) ? 704 : damaged.bytes);
        damaged.data.get()[at] =
            prng.one_in(4) ? static_cast<char>(0xff) : static_cast<char>(prng.next());
      }
      Result<std::unique_ptr<tree::Run>> run = tree::Run::attach(damaged.data.get(), damaged.bytes);
      if (!run.ok()) continue;
      ++accepted;
      read_everything(**run, prng);
    }
  }
  EXPECT_GT(accepted, 0);
  for (int i = 0; i < 2000; ++i) {
    const Image garbage(4096 * prng.between(1, 4));
    for (size_t b = 0; b < garbage.bytes; b += 8) store(garbage.data.get() + b, prng.next());
    EXPECT_FALSE(tree::Run::attach(garbage.data.get(), garbage.bytes).ok());
    EXPECT_FALSE(tree::Run::verify(garbage.data.get(), garbage.bytes, prng.next(), "x").ok());
  }
}

TEST(RunTest, RefusesWhatANewerVersionMayWrite) {
  RunBuilder builder;
  Generated g;
  g.model["key"][0].value = "value";
  for (const size_t offset :
       {offsetof(format::RunHeader, version), offsetof(format::RunHeader, features),
        offsetof(format::RunHeader, codec), offsetof(format::RunHeader, cipher),
        offsetof(format::RunHeader, comparator)}) {
    const Image image = build(builder, g);
    image.data.get()[offset] = static_cast<char>(image.data.get()[offset] + 64);
    EXPECT_TRUE(
        tree::Run::attach(image.data.get(), image.bytes).status().is(StatusCode::kNotSupported));
  }
}

// The same entries for ever: what this test builds must equal the file, byte by byte.
Generated golden_entries() {
  Generated g;
  g.prefix = "golden/";
  g.cut = 900;
  g.shape = {.container = 42,
             .tree = 3,
             .prefix = {},
             .fixed_key_size = 12,
             .fixed_value_size = 16,
             .fixed_inline_size = 4,
             .plain_inline = true};
  g.extents.bytes.resize(2);
  for (uint32_t i = 0; i < 400; ++i) {
    std::string key = g.prefix + std::to_string(10000 + i);
    run_model::Version version;
    Lsn cts = 0;
    switch (i % 8) {
      case 0:
        version.value = "in" + std::to_string(i % 90 + 10);
        break;
      case 1:
        key += "/and a tail";
        version.value = "inline value " + std::to_string(i);
        break;
      case 2:
        version.kind = EntryKind::kTombstone;
        cts = 500 + i;
        break;
      case 3:
        format::append_large_value(version.value, {100000 + i, i * 7919, {{1, i, 25}, {2, i, 1}}});
        version.kind = EntryKind::kLarge;
        break;
      default:
        version.kind = EntryKind::kSeparated;
        version.extent = i % 2;
        version.value = std::string(i % 8 == 7 ? 20 : 16, static_cast<char>('a' + i % 26));
        if (i % 8 == 6) version.expiry = 1000000 + i;
        if (i % 8 == 5) cts = i;
        version.offset = g.extents.append(version.extent, version.value);
    }
    g.model[key].emplace(cts, version);
    if (i % 8 == 2) g.model[key].emplace(0, run_model::Version{EntryKind::kInline, "old", 0, 0, 0});
  }
  return g;
}

Generated wide_golden_entries() {
  Generated g;
  g.prefix = "golden/";
  g.cut = 900;
  g.shape = {.container = 43,
             .tree = 3,
             .prefix = {},
             .fixed_key_size = 12,
             .fixed_inline_size = 9,
             .plain_inline = true,
             .wide = true};
  for (uint32_t i = 0; i < 400; ++i) {
    g.model[g.prefix + std::to_string(10000 + i)][0].value =
        "value " + std::to_string(i % 900 + 100);
  }
  return g;
}

Generated separated_golden_entries() {
  Generated g;
  g.prefix = "golden/";
  g.cut = 900;
  g.shape = {.container = 44, .tree = 3, .prefix = {}};
  for (uint32_t i = 0; i < 700; ++i) {
    g.model[g.prefix + "of one head/" + std::to_string(10000 + i * 7) + "/" +
            std::string(i % 11, 'x')][0]
        .value = "value " + std::to_string(i);
  }
  return g;
}

// `built_now`: this version builds the same image, not only reads it.
void expect_golden(const char* name, Generated g, uint64_t checksum, bool built_now = true) {
  const std::string path = testing::source_tree() + "/tests/compat/v1/" + name;
  RunBuilder builder;
  const Image built = build(builder, g);
  if (built_now && std::getenv("HAWTHORN_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary)
        .write(built.data.get(), static_cast<std::streamsize>(built.bytes));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(bytes.empty()) << path;
  const Image image(bytes.size());
  std::memcpy(image.data.get(), bytes.data(), bytes.size());
  if (built_now) {
    EXPECT_EQ(built.checksum, checksum);
  }
  ASSERT_TRUE(tree::Run::verify(image.data.get(), image.bytes, checksum, "golden").ok());
  Result<std::unique_ptr<tree::Run>> run = tree::Run::attach(image.data.get(), image.bytes);
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  Prng prng(1);
  ASSERT_NO_FATAL_FAILURE(run_model::expect_equal(**run, g.model, g.extents, prng));
  EXPECT_EQ((*run)->view().first_heads != nullptr, built_now);
  if (built_now) {
    EXPECT_EQ(bytes, std::string_view(built.data.get(), built.bytes)) << "the format has changed";
  }
}

TEST(RunTest, TheGoldenImagesOfVersion1) {
  expect_golden("index_run.bin", golden_entries(), 17141291905369532761u, false);
  expect_golden("index_run_first_heads.bin", golden_entries(), 4579285486833942787u);
  expect_golden("index_run_wide.bin", wide_golden_entries(), 9853066389356644172u);
  expect_golden("index_run_separators.bin", separated_golden_entries(), 17497845892582434456u);
}

}  // namespace
}  // namespace hawthorn::tree::run_test
