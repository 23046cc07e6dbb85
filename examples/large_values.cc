// A value that is never in memory as a whole: written from a source, read back in parts.

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <span>
#include <vector>

#include "must.h"

using hawthorn::Result;
using hawthorn::Transaction;
using hawthorn::Tree;
using hawthorn::TxnMode;

namespace {

constexpr uint64_t kBytes = 100'000'000;

// The byte that belongs at an offset of the value.
char byte_at(uint64_t offset) { return static_cast<char>(offset % 251); }

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree films = must(db->tree("films"));

  {
    Transaction transaction = must(db->begin(TxnMode::kOptimistic));
    uint64_t written = 0;
    // Called until it has given kBytes; an error that it returns ends the call with that error.
    const auto source = [&written](std::span<char> buffer) -> Result<size_t> {
      const size_t bytes = std::min<uint64_t>(buffer.size(), kBytes - written);
      for (size_t i = 0; i < bytes; ++i) buffer[i] = byte_at(written + i);
      written += bytes;
      return bytes;
    };
    must(transaction.put_stream(films, "metropolis", kBytes, source));
    must(transaction.commit());
  }

  std::vector<char> part(1 << 20);
  uint64_t offset = 0;
  while (true) {
    const size_t bytes = must(db->read_part(films, "metropolis", offset, part));
    for (size_t i = 0; i < bytes; ++i) must(part[i] == byte_at(offset + i));
    offset += bytes;
    if (bytes < part.size()) break;
  }
  std::printf("%" PRIu64 " bytes\n", offset);
  must(offset == kBytes);
  must(db->close());
}
