#pragma once
// For tests of index runs: a model of a run's entries (an ordered map), generators of keys of all
// shapes from a seed, and a comparison of a Run with the model through every function it has.
//
// Not here: the tests (run_test.cc, run_builder_test.cc). Threads: one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "tree/run.h"
#include "tree/run_builder.h"

namespace hawthorn::tree::run_model {

struct Image {
  explicit Image(size_t size)
      : bytes(size), data(static_cast<char*>(std::aligned_alloc(4096, size)), std::free) {}
  size_t bytes;
  std::unique_ptr<char, void (*)(void*)> data;
  uint64_t checksum = 0;
};

struct Version {
  EntryKind kind = EntryKind::kInline;
  std::string
      value;  // inline: the value; large: its encoding; separated: what stands in the extent
  uint32_t extent = 0;
  uint32_t offset = 0;
  uint64_t expiry = 0;
  bool operator==(const Version&) const = default;
};

// Keys in order, versions of a key newest first.
using Model = std::map<std::string, std::map<Lsn, Version, std::greater<>>>;

struct Extents {
  std::vector<std::string> bytes;
  std::vector<std::vector<uint32_t>> checksums;

  uint32_t append(uint32_t extent, const std::string& value) {
    const auto offset = static_cast<uint32_t>(bytes[extent].size());
    bytes[extent] += value;
    return offset;
  }
  std::vector<BuiltExtent> built() {
    std::vector<BuiltExtent> result;
    checksums.resize(bytes.size());
    for (uint32_t e = 0; e < bytes.size(); ++e) {
      const auto blocks = static_cast<uint32_t>(align_up(bytes[e].size(), 4096) / 4096);
      checksums[e].clear();
      for (uint32_t b = 0; b < blocks; ++b) checksums[e].push_back(e * 1000 + b);
      const auto size = static_cast<uint32_t>(bytes[e].size());
      result.push_back({{{e, 100 * e, blocks + 1}, size, std::min(e, size)}, checksums[e]});
    }
    return result;
  }
  std::vector<const char*> bases() const {
    std::vector<const char*> result;
    for (const std::string& extent : bytes) result.push_back(extent.data());
    return result;
  }
};

inline std::string random_bytes(Prng& prng, size_t size, std::string_view alphabet = {}) {
  std::string bytes(size, 0);
  for (char& byte : bytes) {
    byte =
        alphabet.empty() ? static_cast<char>(prng.next()) : alphabet[prng.below(alphabet.size())];
  }
  return bytes;
}

inline std::string big_endian(uint64_t number) {
  std::string bytes(8, 0);
  store(bytes.data(), __builtin_bswap64(number));
  return bytes;
}

inline const std::vector<std::string>& words() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> result;
    std::ifstream file("/usr/share/dict/words");
    for (std::string line; std::getline(file, line);) result.push_back(line);
    if (result.empty()) {
      for (uint32_t i = 0; i < 5000; ++i) {
        result.push_back("word" + std::to_string(mix64(i) % 1000000));
      }
    }
    return result;
  }();
  return all;
}

enum class KeyShape {
  kFixed8,
  kFixedShort,
  kTwoLetters,
  kWords,
  kTied,
  kHuge,
  kDecimal,
  kSequence,
  kSkewed,
  kOne,
  kCount
};

// One key (without the run's prefix) of a shape.
inline std::string make_key(Prng& prng, KeyShape shape, uint64_t salt) {
  static const std::string kEdges(
      "\x00\xff\x00\xff"
      "ab",
      6);
  switch (shape) {
    case KeyShape::kFixed8:
      return big_endian(prng.next());
    case KeyShape::kFixedShort:
      return random_bytes(prng, salt % 9);
    case KeyShape::kTwoLetters:
      return random_bytes(prng, prng.below(14), kEdges);
    case KeyShape::kWords:
      return words()[(salt + prng.below(4000)) % words().size()];
    case KeyShape::kTied:
      return std::string("tiedhead").substr(0, prng.one_in(50) ? prng.below(9) : 8) +
             random_bytes(prng, prng.below(5), kEdges);
    case KeyShape::kHuge:
      return random_bytes(prng, prng.one_in(3) ? 40000 : prng.below(20), "a") +
             random_bytes(prng, prng.below(3));
    case KeyShape::kDecimal:
      return std::to_string(1000000000 + salt % 1000 + prng.below(5000));
    case KeyShape::kSequence:
      return big_endian(salt + prng.below(3000));
    case KeyShape::kSkewed:
      return prng.one_in(3) ? random_bytes(prng, 8) : "zz" + std::to_string(prng.below(2000));
    case KeyShape::kOne:
      return {};
    case KeyShape::kCount:
      break;
  }
  return {};
}

struct Generated {
  RunShape shape;
  std::string prefix;
  Model model;
  Extents extents;
  Lsn cut = 1000;
};

// What kinds of entries occur.
enum class Mix { kPlainSeparated, kPlainInline, kInline, kEverything, kCount };

inline void add_versions(Generated& g, Prng& prng, const std::string& key, Mix mix, Lsn ts_min) {
  uint32_t versions = 1;
  if (mix == Mix::kEverything && prng.one_in(8)) versions = prng.one_in(20) ? 40 : 3;
  for (uint32_t v = 0; v < versions; ++v) {
    Lsn cts = 0;
    if (mix == Mix::kEverything && (v + 1 != versions || prng.one_in(6))) {
      cts = prng.between(std::max<Lsn>(ts_min, 1), g.cut);
    }
    Version version;
    if (mix == Mix::kEverything && prng.one_in(12)) {
      version.kind = EntryKind::kTombstone;
      if (cts == 0) cts = prng.between(std::max<Lsn>(ts_min, 1), g.cut);
    } else if (mix == Mix::kEverything && prng.one_in(20)) {
      version.kind = EntryKind::kLarge;
      format::append_large_value(version.value, {.size = prng.below(4096 * 7),
                                                 .checksum = prng.next(),
                                                 .extents = {{1, 2, 3}, {4, 5, 4}}});
    } else if (mix == Mix::kPlainSeparated || (mix == Mix::kEverything && prng.one_in(2))) {
      version.kind = EntryKind::kSeparated;
      version.extent = static_cast<uint32_t>(prng.below(g.extents.bytes.size()));
      const bool odd = mix == Mix::kEverything && prng.one_in(5);
      version.value = random_bytes(prng, odd ? prng.below(300) : g.shape.fixed_value_size);
      version.offset = g.extents.append(version.extent, version.value);
    } else {
      const bool odd = mix == Mix::kInline || (mix == Mix::kEverything && prng.one_in(5));
      version.value = random_bytes(prng, odd ? prng.below(200) : g.shape.fixed_inline_size);
    }
    if (mix == Mix::kEverything && version.kind != EntryKind::kTombstone && prng.one_in(15)) {
      version.expiry = prng.between(5, 500);
    }
    g.model[key].emplace(cts, version);
  }
}

inline Generated generate(Prng& prng, KeyShape keys, Mix mix, uint32_t count) {
  Generated g;
  const uint64_t salt = prng.next() >> prng.below(60);
  g.prefix = random_bytes(prng, prng.one_in(2) ? 0 : prng.one_in(9) ? 3000 : prng.below(40));
  g.shape.container = prng.next();
  g.shape.tree = 7;
  g.shape.fixed_value_size = static_cast<uint32_t>(prng.between(1, 40));
  g.shape.fixed_inline_size = static_cast<uint32_t>(prng.below(30));
  g.shape.plain_inline = mix != Mix::kPlainSeparated && !prng.one_in(4);
  g.shape.wide = !prng.one_in(3);
  g.extents.bytes.resize(prng.between(1, 14));
  for (uint32_t i = 0; i < count; ++i) {
    add_versions(g, prng, g.prefix + make_key(prng, keys, salt), mix, 1);
  }
  g.shape.fixed_key_size = static_cast<uint32_t>(
      prng.one_in(5) ? 0 : std::min(g.model.begin()->first.size(), g.prefix.size() + 8));
  return g;
}

// Of which each entry is a small plain value.
inline Generated generate_wide(Prng& prng, uint32_t count, uint32_t value_bytes) {
  Generated g;
  g.prefix = random_bytes(prng, prng.below(40));
  g.shape = {.container = prng.next(),
             .tree = 7,
             .prefix = {},
             .fixed_key_size = static_cast<uint32_t>(g.prefix.size()) + 8,
             .fixed_inline_size = value_bytes,
             .plain_inline = true,
             .wide = true};
  for (uint32_t i = 0; i < count; ++i) {
    g.model[g.prefix + big_endian(prng.next())][0].value =
        random_bytes(prng, g.shape.fixed_inline_size);
  }
  return g;
}

inline Generated generate_wide(Prng& prng, uint32_t count) {
  uint32_t size = 0;
  do {
    size = static_cast<uint32_t>(prng.below(format::kWideValueBytesMax + 1));
  } while (!format::worth_wide(size));
  return generate_wide(prng, count, size);
}

inline void add_version(RunBuilder& builder, const std::string& key, Lsn cts, const Version& v) {
  switch (v.kind) {
    case EntryKind::kInline:
      return builder.add_inline(key, v.value, cts, v.expiry);
    case EntryKind::kSeparated:
      return builder.add_separated(key, v.extent, v.offset, static_cast<uint32_t>(v.value.size()),
                                   cts, v.expiry);
    case EntryKind::kLarge:
      return builder.add_large(key, v.value, cts, v.expiry);
    case EntryKind::kTombstone:
      return builder.add_tombstone(key, cts);
    case EntryKind::kOperands:
      return builder.add_operands(key, v.value, cts);
  }
}

inline Image finish(RunBuilder& builder, Extents& extents, Lsn cut) {
  const std::vector<BuiltExtent> built = extents.built();
  Image image(builder.image_bytes(built));
  std::memset(image.data.get(), 0xee, image.bytes);  // finish owes every byte
  image.checksum = builder.finish(built, cut, cut, image.data.get());
  return image;
}

inline Image build(RunBuilder& builder, Generated& g) {
  g.shape.prefix = g.prefix;
  builder.start(g.shape);
  for (const auto& [key, versions] : g.model) {
    for (const auto& [cts, version] : versions) add_version(builder, key, cts, version);
  }
  return finish(builder, g.extents, g.cut);
}

// Verifies, checks and attaches.
inline std::unique_ptr<Run> open(const Image& image) {
  const Status verified = tree::Run::verify(image.data.get(), image.bytes, image.checksum, "test");
  EXPECT_TRUE(verified.ok()) << verified.to_string();
  Result<std::unique_ptr<tree::Run>> run = tree::Run::attach(image.data.get(), image.bytes);
  EXPECT_TRUE(run.ok()) << run.status().to_string();
  return run.ok() ? std::move(run).value() : nullptr;
}

struct Flat {
  const std::string* key;
  Lsn cts;
  const Version* version;
};

inline std::vector<Flat> flatten(const Model& model) {
  std::vector<Flat> result;
  for (const auto& [key, versions] : model) {
    for (const auto& [cts, version] : versions) result.push_back({&key, cts, &version});
  }
  return result;
}

inline void expect_entry(const Run& run, uint32_t i, const Flat& flat, const Extents& extents) {
  const RunEntry entry = run.entry(i);
  const std::string& key = *flat.key;
  std::string copy(key.size() + 1, '#');
  ASSERT_EQ(entry.key_size, key.size());
  ASSERT_EQ(run.key_size(i), key.size());
  ASSERT_EQ(run.copy_key(i, copy.data()), key.size());
  ASSERT_EQ(copy, key + "#");
  ASSERT_EQ(entry.head, key_head(key, run.skip()));
  ASSERT_EQ(entry.kind, flat.version->kind);
  ASSERT_EQ(entry.cts, flat.cts);
  ASSERT_EQ(entry.expiry, flat.version->expiry);
  const bool separated = entry.kind == EntryKind::kSeparated;
  if (separated) {
    ASSERT_EQ(extents.bytes[entry.extent].substr(entry.offset, entry.size), flat.version->value);
  } else {
    ASSERT_EQ(entry.inline_value, flat.version->value);
  }
  const char* value = nullptr;
  uint32_t extent = 0;
  uint32_t offset = 0;
  if (run.plain(i, &value, &extent, &offset)) {
    ASSERT_EQ(flat.cts + flat.version->expiry, 0u);
    ASSERT_EQ(value == nullptr, separated);
    if (separated) {
      ASSERT_EQ(extents.bytes[extent].substr(offset, run.fixed_value_size()), flat.version->value);
    } else {
      ASSERT_EQ(std::string_view(value, run.fixed_inline_size()), flat.version->value);
    }
  }
}

inline void expect_fill(const Run& run, const std::vector<Flat>& flat, const Extents& extents,
                        Prng& prng) {
  std::vector<const char*> bases = extents.bases();
  const bool hole = !bases.empty() && prng.one_in(3);
  if (hole) bases[0] = nullptr;
  for (const bool key_only : {false, true}) {
    for (uint32_t from = 0; from < flat.size();) {
      const uint32_t want = static_cast<uint32_t>(prng.between(1, 200));
      const size_t room = prng.one_in(4) ? prng.below(200) : run.key_buffer_bytes(want);
      std::vector<Entry> out(want);
      const auto buffer = std::make_unique<char[]>(room);
      const uint32_t got = run.fill(from, out, bases.data(), key_only, buffer.get(), room);
      ASSERT_LE(from + got, flat.size());
      for (uint32_t i = 0; i < got; ++i) {
        const Flat& f = flat[from + i];
        ASSERT_EQ(out[i].key, *f.key);
        ASSERT_EQ(out[i].value, key_only ? std::string_view() : f.version->value);
        ASSERT_EQ(f.cts + f.version->expiry, 0u);
        ASSERT_NE(f.version->kind, EntryKind::kTombstone);
      }
      if (got < want && from + got < flat.size() && room >= run.key_buffer_bytes(want)) {
        const Version& stop = *flat[from + got].version;
        const bool missing = stop.kind == EntryKind::kLarge ||
                             (stop.kind == EntryKind::kSeparated && stop.extent == 0 && hole);
        ASSERT_TRUE(flat[from + got].cts != 0 || stop.expiry != 0 ||
                    stop.kind == EntryKind::kTombstone || (!key_only && missing))
            << "fill stopped at " << from + got << " without a reason";
      }
      from += got + (got < want ? 1 : 0);
    }
  }
}

inline void expect_searches(const Run& run, const std::vector<Flat>& flat, const std::string& key,
                            Lsn ts) {
  const auto below = [](const Flat& f, const std::string& k) { return *f.key < k; };
  const auto at = std::lower_bound(flat.begin(), flat.end(), key, below);
  const auto position = static_cast<uint32_t>(at - flat.begin());
  ASSERT_EQ(run.seek(key), position);
  if (key.substr(0, run.skip()) != run.prefix()) return;
  const uint64_t head = key_head(key, run.skip());
  ASSERT_EQ(run.lower_bound(key, head), position);
  uint32_t expected = position;
  while (expected < flat.size() && *flat[expected].key == key && flat[expected].cts > ts)
    ++expected;
  if (expected == flat.size() || *flat[expected].key != key) expected = tree::Run::kNone;
  ASSERT_EQ(run.find(key, head, ts), expected);
  const uint32_t group = run.locate(head);
  ASSERT_LT(group, run.group_count());
  run.prefetch(group);
  ASSERT_EQ(run.find_from(group, key, head, ts), expected);
  if (position < flat.size()) {
    run.prefetch_entry(position);
    const int order = run.compare(position, key, head);
    ASSERT_EQ(order == 0, *flat[position].key == key);
    ASSERT_GE(order, 0);
  }
  if (position == 0) return;
  ASSERT_LT(run.compare(position - 1, key, head), 0);
}

// Compares all that a Run says with the model.
inline void expect_equal(const Run& run, const Model& model, const Extents& extents, Prng& prng) {
  const std::vector<Flat> flat = flatten(model);
  ASSERT_EQ(run.entries(), flat.size());
  ASSERT_TRUE(run.check_entries().ok());
  bool versions = false;
  for (uint32_t i = 0; i < flat.size(); ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_entry(run, i, flat[i], extents)) << "entry " << i;
    if (i + 1 < flat.size()) {
      ASSERT_EQ(run.same_key_as_next(i), flat[i].key == flat[i + 1].key);
    }
    versions = versions || flat[i].cts != 0 || flat[i].version->kind == EntryKind::kTombstone;
  }
  ASSERT_EQ(run.has_versions(), versions);
  for (uint32_t g = 0; g < run.group_count(); ++g) {
    uint32_t extent = 0;
    uint32_t offset = 0;
    if (!run.guess_value(g, &extent, &offset)) continue;
    ASSERT_LT(extent, run.extent_count());
    ASSERT_LT(offset, extents.bytes[extent].size());
  }
  ASSERT_NO_FATAL_FAILURE(expect_fill(run, flat, extents, prng));
  for (const Flat& f : flat) {
    for (const Lsn ts : {f.cts, f.cts - 1, Lsn{0}, format::kLsnMax}) {
      ASSERT_NO_FATAL_FAILURE(expect_searches(run, flat, *f.key, ts));
    }
    std::string near = *f.key;
    near.push_back(0);
    ASSERT_NO_FATAL_FAILURE(expect_searches(run, flat, near, 0));
    near.pop_back();
    if (near.empty()) continue;
    near.back() = static_cast<char>(near.back() + (prng.one_in(2) ? 1 : -1));
    ASSERT_NO_FATAL_FAILURE(expect_searches(run, flat, near, 0));
    near.pop_back();
    ASSERT_NO_FATAL_FAILURE(expect_searches(run, flat, near, 0));
    if (near.size() > 4) near.resize(prng.below(near.size()));
    ASSERT_NO_FATAL_FAILURE(expect_searches(run, flat, near, 0));
  }
}

}  // namespace hawthorn::tree::run_model
