// Files of entries of the RocksDB shim. The first byte says whether the rest is a file, or what one
// is made of: an index and blocks, whose checksums are computed anew.
//
// What must hold: reading ends, in both directions, with an error or with the same entries in
// order; what the writer writes of them is read as they are.
#include <fcntl.h>
#include <rocksdb/comparator.h>
#include <rocksdb/sst_file_reader.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fuzz/fuzz.h"
#include "shims/rocksdb/src/checksum.h"
#include "shims/rocksdb/src/entries_file.h"

using hawthorn::fuzz::Bytes;
using namespace hawthorn::rocks;  // NOLINT: a program

namespace {

// A file in memory, with a path.
class File {
 public:
  explicit File(std::string_view bytes) : descriptor_(memfd_create("entries", 0)) {
    FUZZ_CHECK(descriptor_ >= 0);
    FUZZ_CHECK(write(descriptor_, bytes.data(), bytes.size()) ==
               static_cast<ssize_t>(bytes.size()));
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  const int descriptor_;
};

std::string made(Bytes& in) {
  EntriesIndex index;
  index.entries = in.byte();
  index.ranges = in.byte();
  index.others = in.byte();
  index.comparator = rocksdb::BytewiseComparator()->Name();
  std::string file(kEntriesMagic);
  while (!in.empty()) {
    const std::string_view block = in.take(1 + in.byte());
    append_fixed(static_cast<uint32_t>(block.size()), &file);
    append_fixed(crc32c(block), &file);
    file += block;
  }
  return file + encode_index(index);
}

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string shown(const rocksdb::Iterator& at) {
  std::string text = at.value().ToString();
  for (const rocksdb::WideColumn& column : at.columns()) {
    text += column.name().ToString() + ":" + column.value().ToString() + ";";
  }
  return text;
}

void walk(const std::string& path) {
  rocksdb::Options options;
  rocksdb::SstFileReader reader(options);
  if (!reader.Open(path).ok()) return;
  const bool sound = reader.VerifyChecksum().ok();
  const bool whole = reader.VerifyNumEntries(rocksdb::ReadOptions()).ok();
  FUZZ_CHECK(sound || !whole);
  const auto properties = reader.GetTableProperties();
  FUZZ_CHECK((properties != nullptr) == whole);
  const std::unique_ptr<rocksdb::Iterator> at(reader.NewIterator(rocksdb::ReadOptions()));
  Entries forward;
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    forward.emplace_back(at->key().ToString(), shown(*at));
  }
  const bool ended = at->status().ok();
  Entries backward;
  for (at->SeekToLast(); at->Valid(); at->Prev()) {
    backward.emplace_back(at->key().ToString(), shown(*at));
  }
  FUZZ_CHECK(!whole || at->status().ok() == ended);
  FUZZ_CHECK(std::is_sorted(forward.begin(), forward.end()));
  if (!ended || !at->status().ok()) return;
  std::reverse(backward.begin(), backward.end());
  FUZZ_CHECK(forward == backward);
  FUZZ_CHECK(!whole || forward.size() <= properties->num_entries);
  for (const auto& [key, value] : forward) {
    at->Seek(key);
    FUZZ_CHECK(at->Valid() && at->key() == rocksdb::Slice(key) && shown(*at) == value);
    at->SeekForPrev(key);
    FUZZ_CHECK(at->Valid() && at->key() == rocksdb::Slice(key));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  const bool as_it_is = in.byte() % 2 == 0;
  const File file(as_it_is ? std::string(in.rest()) : made(in));
  walk(file.path());
  return 0;
}
