// What refers to a large value (format/large_value.h): decoded, it is encoded as the same bytes
// (3), and holds no more than the input has bytes for.
#include "format/large_value.h"
#include "fuzz/fuzz.h"

namespace format = hawthorn::format;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto value = format::decode_large_value(bytes);
  if (!value.ok()) return 0;
  std::string encoded;
  format::append_large_value(encoded, *value);
  FUZZ_CHECK(encoded == bytes);
  FUZZ_CHECK(value->extents.size() <= size && value->pieces.size() <= size);
  FUZZ_CHECK(format::fresh_extents(*value).size() <= value->extents.size());
  if (!value->in_pieces()) return 0;
  uint64_t total = 0;
  for (const format::LargePiece& piece : value->pieces) {
    total += piece.size;
    if (piece.hole()) continue;
    FUZZ_CHECK(piece.extent < value->contents.size());
    FUZZ_CHECK(piece.offset + piece.size <= value->contents[piece.extent].bytes);
  }
  FUZZ_CHECK(total == value->size);
  for (size_t i = 0; i < value->contents.size(); ++i) {
    FUZZ_CHECK(value->extents[i].blocks == value->contents[i].blocks());
  }
  return 0;
}
