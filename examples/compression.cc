// A tree is compressed when it is told so: what is on disk becomes smaller, what is in memory is as
// fast as ever.

#include <cstdio>
#include <string>

#include "must.h"

using hawthorn::Compression;
using hawthorn::Tree;
using hawthorn::TreeStats;
using hawthorn::Value;
using hawthorn::WriteBatch;

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const Tree orders = must(db->tree("orders"));
  // From now on; Options::compression would be for all trees that are created.
  must(db->set_compression(orders, Compression::kZstd));

  for (int i = 0; i < 50'000;) {
    WriteBatch batch;
    for (int n = 0; n < 1000; ++n, ++i) {
      batch.put(orders, std::to_string(100'000 + i),
                "{\"customer\":" + std::to_string(i % 700) +
                    ",\"state\":\"delivered\",\"currency\":\"EUR\",\"total\":" +
                    std::to_string(i * 7 % 10'000) + "}");
    }
    must(db->write(batch));
  }
  must(db->flush());

  const TreeStats stats = db->stats().trees.front();
  const uint64_t on_disk = stats.bytes_index + stats.bytes_values;
  std::printf("%llu bytes take %llu on disk\n",
              static_cast<unsigned long long>(stats.bytes_uncompressed),
              static_cast<unsigned long long>(on_disk));
  must(on_disk * 2 < stats.bytes_uncompressed);

  Value value;
  must(db->get(orders, "100042", value));
  must(value.view().starts_with("{\"customer\":42,"));
  must(db->close());
  return 0;
}
