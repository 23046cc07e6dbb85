// Index runs (format/run_layout.h): what passes the checks can be read in every way without a look
// beyond it, and its entries stand in order. Also: chunks of packed blocks (format/packing.h).
//
// Input: flags. 1: a chunk to unpack. Else a run is built of entries that the input describes (u8
// key size, u8 kind, u8 value size, key), and its image is then changed: pairs of u16 position and
// u8. Positions count what is not zero, so that changes meet what matters; 2 in the flags: all
// bytes.
#include <algorithm>
#include <map>
#include <vector>

#include "base/bytes.h"
#include "format/packing.h"
#include "format/run_layout.h"
#include "fuzz/fuzz.h"
#include "tree/run.h"
#include "tree/run_builder.h"

namespace format = hawthorn::format;
namespace tree = hawthorn::tree;
using hawthorn::StatusCode;
using hawthorn::fuzz::Bytes;

namespace {

constexpr uint32_t kExtentBytes = 100'000;
constexpr size_t kEntriesMax = 60;

// Aligned as runs are, and of exactly its size.
struct Image {
  explicit Image(size_t size)
      : bytes(size), data(static_cast<char*>(std::aligned_alloc(4096, size)), std::free) {}
  size_t bytes;
  std::unique_ptr<char, void (*)(void*)> data;
};

struct Made {
  uint8_t kind = 0;
  uint8_t size = 0;
};

void add(tree::RunBuilder& builder, std::string_view key, const Made& made) {
  const std::string value(made.size, 'v');
  const uint64_t cts = made.kind % 2 == 0 ? 0 : 50;
  switch (made.kind / 2 % 6) {
    case 0:
    case 1:
      return builder.add_inline(key, value, cts, 0);
    case 2:
      return builder.add_inline(key, value, cts, 1000 + made.size);
    case 3:
      return builder.add_separated(key, 0, made.size * 100u, made.size % 2 == 0 ? 128 : made.size,
                                   cts, 0);
    case 4: {
      format::LargeValue large;
      large.size = 70'000;
      large.extents = {{1, made.size, 18}};
      std::string encoded;
      format::append_large_value(encoded, large);
      return builder.add_large(key, encoded, cts, 0);
    }
    default:
      return builder.add_tombstone(key, 50);
  }
}

Image build(Bytes& in, uint8_t flags) {
  std::map<std::string, Made> entries;
  const std::string prefix = (flags & 4) != 0 ? "a prefix of all" : "";
  const size_t count = in.byte() % kEntriesMax;
  const uint8_t fixed = (flags & 8) != 0 ? 8 : 0;  // keys of one size, and small values
  while (entries.size() < count && !in.empty()) {
    const uint8_t key_size = in.byte();
    Made made = {in.byte(), in.byte()};
    std::string key(in.take(fixed != 0 ? fixed : key_size % 20));
    if (fixed != 0) {
      key.resize(fixed);
      if ((flags & 16) != 0) made = {0, 16};
    }
    entries.emplace(prefix + key, made);
  }
  tree::RunBuilder builder;
  builder.start({.container = 3,
                 .tree = 1,
                 .prefix = prefix,
                 .fixed_key_size = fixed == 0 ? 0 : static_cast<uint32_t>(prefix.size()) + fixed,
                 .fixed_value_size = fixed == 0 ? 0u : 128u,
                 .fixed_inline_size = fixed == 0 ? 0u : 16u,
                 .plain_inline = fixed != 0,
                 .wide = (flags & 32) != 0});
  for (const auto& [key, made] : entries) add(builder, key, made);
  const std::vector<uint32_t> sums(hawthorn::align_up(kExtentBytes, 4096) / 4096, 7);
  const tree::BuiltExtent extent = {
      {{1, 100, static_cast<uint32_t>(sums.size())}, kExtentBytes, 10}, sums};
  Image image(builder.image_bytes({&extent, 1}));
  builder.finish({&extent, 1}, 100, 60, image.data.get());
  return image;
}

void change(const Image& image, Bytes& in, bool all) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < image.bytes && !all; ++i) {
    if (image.data.get()[i] != 0 || i < 704) positions.push_back(i);
  }
  while (!in.empty()) {
    const size_t position = in.number<uint16_t>();
    const char byte = static_cast<char>(in.byte());
    const size_t at = all ? position % image.bytes : positions[position % positions.size()];
    image.data.get()[at] = byte;
  }
}

std::string key_of(const tree::Run& run, uint32_t index) {
  std::string key(run.key_size(index), '\0');
  FUZZ_CHECK(run.copy_key(index, key.data()) == key.size());
  return key;
}

void read(const tree::Run& run) {
  std::string before;
  for (uint32_t i = 0; i < run.entries(); ++i) {
    const std::string key = key_of(run, i);
    FUZZ_CHECK(i == 0 || before <= key);
    FUZZ_CHECK(key.size() <= run.key_size_max() && key.starts_with(run.prefix()));
    const tree::RunEntry entry = run.entry(i);
    FUZZ_CHECK(entry.kind == run.kind(i) && entry.key_size == key.size());
    // Every byte that it names is there.
    volatile char sink = 0;
    for (const char byte : entry.inline_value) sink = byte;
    (void)sink;
    if (entry.kind == tree::EntryKind::kSeparated) {
      FUZZ_CHECK(entry.extent < run.extent_count());
      FUZZ_CHECK(uint64_t{entry.offset} + entry.size <= run.extent_record(entry.extent).bytes);
    }
    if (entry.kind == tree::EntryKind::kLarge) {
      FUZZ_OK(format::decode_large_value(entry.inline_value).status());
    }
    FUZZ_CHECK(entry.cts <= run.max_ts());
    const uint32_t found = run.find(key, hawthorn::key_head(key, run.skip()), run.max_ts());
    FUZZ_CHECK(found != tree::Run::kNone && found <= i && key_of(run, found) == key);
    const uint32_t sought = run.seek(key + '\0');
    FUZZ_CHECK(sought > i && (sought == run.entries() || key_of(run, sought) > key));
    before = key;
  }
  FUZZ_CHECK(run.seek("") == 0);
  FUZZ_CHECK(run.count_newest() <= run.entries());
}

void unpack(Bytes& in) {
  const uint8_t how = in.byte();
  const uint32_t blocks = 1 + how / 2 % format::kChunkBlocks;
  const std::string_view stored = in.rest().substr(0, blocks * size_t{4096});
  if (stored.empty()) return;
  const uint32_t end = static_cast<uint32_t>(stored.size());
  const format::Packing packing = {
      how % 2 == 0 ? format::Codec::kLz4 : format::Codec::kZstd, 0, blocks, {&end, 1}};
  const auto to = std::make_unique<char[]>(packing.content_bytes(0));
  (void)format::unpack_chunk(packing, nullptr, 0, stored.data(), to.get());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const uint8_t flags = in.byte();
  if ((flags & 1) != 0) {
    unpack(in);
    return 0;
  }
  const Image image = build(in, flags);
  const bool changed = !in.empty();
  change(image, in, (flags & 2) != 0);
  const auto run = tree::Run::attach(image.data.get(), image.bytes);
  if (!run.ok()) {
    FUZZ_CHECK(changed);  // what is built passes
    FUZZ_CHECK(run.status().is(StatusCode::kCorruption) ||
               run.status().is(StatusCode::kNotSupported));
    return 0;
  }
  read(**run);
  // The same where the heap comes from elsewhere, later.
  const format::RunHeader& header = (*run)->header();
  const size_t front = size_t{(*run)->front_blocks()} * 4096;
  if ((*run)->entries() == 0 || header.heap_blocks == 0) return 0;
  const auto parts = tree::Run::attach_parts(image.data.get(), image.bytes,
                                             image.data.get() + front, key_of(**run, 0));
  FUZZ_OK(parts.status());
  read(**parts);
  return 0;
}
