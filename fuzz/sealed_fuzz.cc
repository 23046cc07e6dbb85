// What an encrypted database seals: header areas of index runs, blocks, records of the log. The
// input changes what was sealed, or the bytes that say under what it was.
//
// What must hold: what opens is what was sealed, whatever was changed; and what was not changed
// opens.
#include <new>
#include <vector>

#include "fuzz/fuzz.h"
#include "hawthorn/encryption.h"
#include "tree/sealed_blocks.h"
#include "wal/record_seal.h"

namespace format = hawthorn::format;
namespace os = hawthorn::os;
namespace tree = hawthorn::tree;
using hawthorn::fuzz::Bytes;

namespace {

constexpr size_t kBlock = 4096;

// As images lie in memory.
template <typename T>
struct Aligned {
  using value_type = T;
  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kBlock)));
  }
  void deallocate(T* at, size_t) { ::operator delete(at, std::align_val_t(kBlock)); }
  bool operator==(const Aligned&) const { return true; }
};
using Words = std::vector<uint64_t, Aligned<uint64_t>>;

os::DataKeys& keys() {
  static os::DataKeys kKeys;
  static const bool kMade = [] {
    kKeys.add(1, *hawthorn::SecretKey::from_bytes(std::string(32, 'k')), false);
    kKeys.add(2, *hawthorn::SecretKey::from_bytes(std::string(32, 'l')), true);
    return true;
  }();
  (void)kMade;
  return kKeys;
}

// Pieces of the input at offsets that it names.
void lay_over(char* bytes, size_t size, Bytes& in) {
  for (int left = in.byte() % 4; left > 0; --left) {
    const size_t offset = in.number<uint32_t>() % size;
    const std::string_view piece = in.take(in.byte() % 9);
    std::memcpy(bytes + offset, piece.data(), std::min(piece.size(), size - offset));
  }
}
Words content(Bytes& in, size_t blocks) {
  Words words(blocks * kBlock / 8);
  const uint64_t number = in.number<uint64_t>();
  for (size_t i = 0; i < words.size(); ++i) words[i] = i * number;
  return words;
}

void header(Bytes& in) {
  const size_t blocks = 1 + in.byte() % 2u;
  const size_t size = blocks * kBlock;
  Words image = content(in, blocks);
  char* const plain = reinterpret_cast<char*>(image.data());
  auto* const run = reinterpret_cast<format::RunHeader*>(plain);
  run->header_blocks = static_cast<uint32_t>(blocks);
  std::memset(run->tag, 0, sizeof(run->tag));
  Words area(image.size());
  char* const sealed = reinterpret_cast<char*>(area.data());
  format::ContainerRecord record;
  FUZZ_OK(tree::seal_header(keys(), plain, size, sealed, &record.seal));
  const Words before = area;
  lay_over(sealed, size, in);
  const bool changed = area != before;
  if (in.byte() % 4 == 0) {
    // A front of one block more, whose header says how long the area is.
    area.resize(area.size() + kBlock / 8);
    const auto status = tree::open_front(&keys(), record, reinterpret_cast<char*>(area.data()),
                                         area.size() * 8, area.size() * 8, "here");
    FUZZ_CHECK(status.ok() || !status.message().empty());
    FUZZ_CHECK(!changed || !status.ok());
    return;
  }
  const auto status = tree::open_header(&keys(), record, sealed, size, "here");
  FUZZ_CHECK(status.ok() == !changed);
  if (!status.ok()) {
    FUZZ_CHECK(!status.message().empty());
    return;
  }
  const size_t behind = sizeof(format::RunHeader);
  FUZZ_CHECK(std::memcmp(sealed + behind, plain + behind, size - behind) == 0);
}

void blocks(Bytes& in) {
  const uint32_t count = 1 + in.byte() % 4u;
  const Words plain = content(in, count);
  Words sealed(plain.size());
  std::vector<uint32_t> words(format::TableShape::kSealWords +
                              format::TableShape::kTagWords * count);
  FUZZ_OK(tree::seal_blocks(keys(), reinterpret_cast<const char*>(plain.data()), count,
                            reinterpret_cast<char*>(sealed.data()), words.data()));
  const Words sealed_before = sealed;
  const std::vector<uint32_t> words_before = words;
  if (in.byte() % 2 == 0) {
    lay_over(reinterpret_cast<char*>(sealed.data()), count * kBlock, in);
  } else {
    lay_over(reinterpret_cast<char*>(words.data()), words.size() * 4, in);
  }
  format::StoredRegion region;
  region.blocks = region.stored_blocks = count;
  region.seal = words.data();
  region.checksums = words.data() + format::TableShape::kSealWords;
  const bool other_seal = !std::equal(words.begin(), words.begin() + format::TableShape::kSealWords,
                                      words_before.begin());
  uint32_t good = 0;
  const auto same = [&](uint32_t block) {
    const size_t tag = format::TableShape::kSealWords + format::TableShape::kTagWords * block;
    return std::memcmp(&words[tag], &words_before[tag], hawthorn::kTagBytes) == 0 &&
           std::memcmp(&sealed[block * kBlock / 8], &sealed_before[block * kBlock / 8], kBlock) ==
               0;
  };
  while (!other_seal && good < count && same(good)) ++good;
  uint32_t opened = 0;
  const auto status =
      tree::open_blocks(keys(), region, 0, count, reinterpret_cast<char*>(sealed.data()), &opened);
  FUZZ_CHECK(opened == good && (status.ok() || other_seal));
  FUZZ_CHECK(std::memcmp(sealed.data(), plain.data(), opened * kBlock) == 0);
}

void record(Bytes& in) {
  os::Machine machine = os::real_machine();
  machine.keys = &keys();
  const format::LogEpoch epoch{.number = 3, .start = 0, .salt = 77, .key = 1 + in.byte() % 2u};
  auto seal = hawthorn::wal::RecordSeal::make(machine, epoch);
  FUZZ_OK(seal.status());
  const std::string payload(in.take(in.byte()));
  format::RecordHeader header{};
  header.lsn = in.number<uint32_t>();
  header.durable_lsn = in.number<uint32_t>();
  header.operations = in.byte();
  header.type = static_cast<uint8_t>(format::RecordType::kCommit);
  header.payload_bytes = static_cast<uint32_t>(payload.size() + hawthorn::kTagBytes);
  std::string sealed(header.payload_bytes, '\0');
  const std::string_view view = payload;
  FUZZ_CHECK((*seal)->seal(header, {&view, 1}, sealed.data()));
  const std::string sealed_before = sealed;
  const format::RecordHeader before = header;
  lay_over(sealed.data(), sealed.size(), in);
  const uint8_t what = in.byte();
  if (what % 8 == 1) header.lsn ^= in.byte();
  if (what % 8 == 2) header.durable_lsn ^= in.byte();
  if (what % 8 == 3) header.operations ^= in.byte();
  if (what % 8 == 4) header.type ^= in.byte();
  if (what % 8 == 5) sealed.resize(in.number<uint16_t>() % (sealed.size() + 1));
  const bool changed = sealed != sealed_before || header.lsn != before.lsn ||
                       header.durable_lsn != before.durable_lsn ||
                       header.operations != before.operations || header.type != before.type;
  std::string opened;
  FUZZ_CHECK((*seal)->open(header, sealed, &opened) == !changed);
  FUZZ_CHECK(changed || opened == payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  switch (in.byte() % 3) {
    case 0:
      header(in);
      break;
    case 1:
      blocks(in);
      break;
    default:
      record(in);
      break;
  }
  return 0;
}
