#include "db/check_container.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/bytes.h"
#include "base/checksum.h"
#include "os/file.h"
#include "tree/run.h"
#include "tree/sealed_blocks.h"

namespace hawthorn::db {

using format::ExtentAddress;
using Kind = CheckItem::Kind;

namespace {
constexpr uint32_t kBufferBlocks = ContainerCheck::kBufferBytes / os::kBlockBytes;
// Of chunks that are unpacked together: what they take on disk fits the buffer.
constexpr uint32_t kWindowChunks = kBufferBlocks / format::kChunkBlocks - 1;
constexpr size_t kChunkRoom = size_t{64} << 10;
static_assert(kChunkRoom >= format::kChunkBytes);

uint64_t offset_of(const ExtentAddress& address, uint32_t block) {
  return (uint64_t{address.block} + block) * os::kBlockBytes;
}
}  // namespace

ContainerCheck::ContainerCheck(Db::Impl& database, CheckSink& sink, CheckPace& pace,
                               bool verify_values)
    : database_(database), sink_(sink), pace_(pace), verify_values_(verify_values) {}

ContainerCheck::~ContainerCheck() {
  if (buffer_ != nullptr) release(buffer_, kBufferBytes);
  if (chunk_ != nullptr) release(chunk_, kChunkRoom);
}

CheckItem ContainerCheck::item(Kind kind, std::string what) const {
  CheckItem made;
  made.kind = kind;
  made.container = record_->id;
  made.tree = record_->tree;
  made.low_key = target_->low;
  if (target_->has_high) made.high_key = target_->high;
  made.what = std::move(what);
  return made;
}

CheckItem ContainerCheck::item_at(Kind kind, const ExtentAddress& address, uint64_t offset,
                                  uint64_t bytes, std::string what) const {
  CheckItem made = item(kind, std::move(what));
  made.file = space::data_file_name(address.file);
  made.offset = offset_of(address, 0) + offset;
  made.bytes = bytes;
  return made;
}

void ContainerCheck::tell(CheckItem found) {
  if (damage_.ok() && found.kind != Kind::kUnchecked) {
    damage_ = Status(StatusCode::kCorruption, found.to_string());
  }
  sink_.add(std::move(found));
}

void ContainerCheck::tell_failed(CheckItem found, const Status& status) {
  if (damage_.ok() && status.is(StatusCode::kCorruption)) {
    damage_ =
        Status(StatusCode::kCorruption, found.to_string() + ": " + std::string(status.message()));
  }
  sink_.failed(std::move(found), status);
}

// A check must not fail for what else holds the budget.
char* ContainerCheck::take_memory(size_t bytes, std::string_view what) {
  char* memory = database_.arena_->allocate(os::Quota::kMerge, bytes, true);
  if (memory == nullptr) {
    tell(item(Kind::kUnchecked, std::string(what) + ": not checked: there is no memory for " +
                                    std::to_string(bytes) + " bytes"));
  }
  return memory;
}

void ContainerCheck::release(char* memory, size_t bytes) {
  database_.residency_->release(os::Quota::kMerge, memory, bytes);
}

bool ContainerCheck::begin() {
  if (buffer_ == nullptr) buffer_ = take_memory(kBufferBytes, "a container");
  if (buffer_ != nullptr && chunk_ == nullptr) chunk_ = take_memory(kChunkRoom, "a container");
  return buffer_ != nullptr && chunk_ != nullptr;
}

bool ContainerCheck::run(CheckTarget& target) {
  target_ = &target;
  record_ = &target.file->record;
  damage_ = {};
  ended_ = false;
  large_seen_.clear();
  whole_seen_.clear();
  const std::vector<Unflushed> unflushed =
      verify_values_ ? unflushed_in(target) : std::vector<Unflushed>();
  target.deltas = {};
  if (record_->tree != format::kCatalogTree) {
    sink_.entries.fetch_add(record_->entries, std::memory_order_relaxed);
    sink_.containers.fetch_add(1, std::memory_order_relaxed);
  }
  check_file(target);
  // Behind the run: what versions share with those of the run is looked at as the run's.
  for (const Unflushed& one : unflushed) {
    if (ended_ || !begin()) break;
    check_unflushed(one);
  }
  return !ended_;
}

void ContainerCheck::check_file(const CheckTarget& target) {
  if (record_->run.blocks == 0) {
    if (record_->entries != 0 || !record_->values.empty() || !record_->large.empty()) {
      tell(item(Kind::kReference, "the manifest counts entries or extents, but names no run"));
    }
    return;
  }
  if (!begin()) return;
  const size_t bytes = size_t{record_->image_blocks()} * os::kBlockBytes;
  char* image = take_memory(bytes, "an index run");
  if (image == nullptr) return;
  check_run(target, image);
  release(image, bytes);
}

// ---- Blocks

// Reads one, once more than it was read before.
bool ContainerCheck::read_block(const ExtentAddress& address, uint32_t block, char* to,
                                Status* status) {
  *status = database_.space_->file(address.file)
                ->read_at(offset_of(address, block), {to, os::kBlockBytes});
  pace_.count(os::kBlockBytes);
  return status->ok();
}

// To the buffer. Where a piece cannot be read, its blocks are read one by one. False: it is to end.
bool ContainerCheck::read_piece(const ExtentAddress& address, uint32_t first, uint32_t blocks,
                                std::vector<Bad>* bad) {
  HAWTHORN_ASSERT(blocks <= kBufferBlocks);
  if (!pace_.await()) {
    ended_ = true;
    return false;
  }
  const size_t bytes = size_t{blocks} * os::kBlockBytes;
  const Status whole =
      database_.space_->file(address.file)->read_at(offset_of(address, first), {buffer_, bytes});
  pace_.count(bytes);
  sink_.bytes.fetch_add(bytes, std::memory_order_relaxed);
  sink_.blocks.fetch_add(blocks, std::memory_order_relaxed);
  if (whole.ok()) return true;
  for (uint32_t i = 0; i < blocks; ++i) {
    Status status;
    if (read_block(address, first + i, buffer_ + size_t{i} * os::kBlockBytes, &status)) continue;
    if (!bad->empty() && bad->back().unread && bad->back().first + bad->back().count == first + i) {
      ++bad->back().count;
    } else {
      bad->push_back({first + i, 1, true, std::move(status)});
    }
  }
  return true;
}

// Block `number` of a region; a sealed one is opened in its place.
void ContainerCheck::check_block(const ExtentAddress& address, uint32_t block,
                                 const format::StoredRegion& region, uint32_t number, char* bytes,
                                 std::vector<Bad>* bad) {
  const auto right = [&] {
    const Result<uint32_t> good = database_.residency_->confirm_stored(region, number, 1, bytes);
    return good.ok() && *good == 1;
  };
  if (right()) return;
  Status again;
  if (read_block(address, block, bytes, &again) && right()) return;
  // The last block of a window may be the first one of the next.
  if (!bad->empty() && bad->back().first + bad->back().count == block + 1) return;
  if (!bad->empty() && !bad->back().unread && bad->back().first + bad->back().count == block) {
    ++bad->back().count;
  } else {
    bad->push_back({block, 1, false, {}});
  }
}

void ContainerCheck::tell_bad(const ExtentAddress& address, const std::vector<Bad>& bad,
                              const std::string& what) {
  for (const Bad& row : bad) {
    CheckItem found = item_at(Kind::kChecksum, address, uint64_t{row.first} * os::kBlockBytes,
                              uint64_t{row.count} * os::kBlockBytes, what);
    if (row.unread) {
      tell_failed(std::move(found), row.status);
    } else {
      found.what = "checksum mismatch in " + what;
      tell(std::move(found));
    }
  }
}

// All blocks of a region that begins at `first_block` of an extent, and its content to `to`, where
// that is not null. False: something is wrong with it, and was told, or it is to end.
bool ContainerCheck::check_region(const format::StoredRegion& region, const ExtentAddress& address,
                                  uint32_t first_block, char* to, const std::string& what) {
  if (uint64_t{first_block} + region.stored_blocks > address.blocks) {
    tell(item_at(Kind::kStructure, address, 0, 0, what + " is longer than its extent"));
    return false;
  }
  std::vector<Bad> bad;
  const bool good = region.packed() ? check_packed(region, address, first_block, to, &bad, what)
                                    : check_plain(region, address, first_block, to, &bad);
  tell_bad(address, bad, what);
  return good && bad.empty();
}

bool ContainerCheck::check_plain(const format::StoredRegion& region, const ExtentAddress& address,
                                 uint32_t first_block, char* to, std::vector<Bad>* bad) {
  for (uint32_t done = 0; done < region.stored_blocks;) {
    const uint32_t count = std::min(kBufferBlocks, region.stored_blocks - done);
    std::vector<Bad> unread;
    if (!read_piece(address, first_block + done, count, &unread)) return false;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t block = first_block + done + i;
      const bool read = std::none_of(unread.begin(), unread.end(), [&](const Bad& row) {
        return block >= row.first && block < row.first + row.count;
      });
      if (read) {
        check_block(address, block, region, done + i, buffer_ + size_t{i} * os::kBlockBytes, bad);
      }
    }
    bad->insert(bad->end(), unread.begin(), unread.end());
    if (to != nullptr) {
      std::memcpy(to + size_t{done} * os::kBlockBytes, buffer_, size_t{count} * os::kBlockBytes);
    }
    done += count;
  }
  return true;
}

bool ContainerCheck::check_packed(const format::StoredRegion& region, const ExtentAddress& address,
                                  uint32_t first_block, char* to, std::vector<Bad>* bad,
                                  const std::string& what) {
  const format::Packing& packing = region.packing;
  const format::Dictionary* dictionary =
      database_.residency_->compression().dictionary(packing.dictionary);
  if (packing.dictionary != 0 && dictionary == nullptr) {
    tell(item_at(Kind::kReference, address, offset_of({}, first_block), 0,
                 what + " is packed with dictionary " + std::to_string(packing.dictionary) +
                     ", which is missing"));
    return false;
  }
  const uint32_t chunks = format::chunk_count(packing.blocks);
  bool good = true;
  uint32_t checked = 0;  // blocks of the region
  for (uint32_t first = 0; first < chunks;) {
    const uint32_t end = std::min(chunks, first + kWindowChunks);
    const auto begin_block = static_cast<uint32_t>(packing.begin_of(first) / os::kBlockBytes);
    const auto end_block =
        static_cast<uint32_t>((packing.ends[end - 1] + os::kBlockBytes - 1) / os::kBlockBytes);
    std::vector<Bad> unread;
    if (!read_piece(address, first_block + begin_block, end_block - begin_block, &unread)) {
      return false;
    }
    const size_t before = bad->size();
    const uint32_t unchecked =
        region.seal == nullptr ? std::max(begin_block, checked) : begin_block;
    for (uint32_t block = unchecked; block < end_block; ++block) {
      if (unread.empty()) {
        check_block(address, first_block + block, region, block,
                    buffer_ + size_t{block - begin_block} * os::kBlockBytes, bad);
      }
    }
    checked = std::max(checked, end_block);
    bad->insert(bad->end(), unread.begin(), unread.end());
    for (uint32_t chunk = first; chunk < end && bad->size() == before; ++chunk) {
      char* const place = to == nullptr ? chunk_ : to + size_t{chunk} * format::kChunkBytes;
      const char* const stored =
          buffer_ + (packing.begin_of(chunk) - begin_block * os::kBlockBytes);
      if (format::unpack_chunk(packing, dictionary, chunk, stored, place)) continue;
      tell(item_at(Kind::kStructure, address, offset_of({}, first_block) + packing.begin_of(chunk),
                   packing.ends[chunk] - packing.begin_of(chunk),
                   "a chunk of " + what + " cannot be unpacked"));
      good = false;
    }
    first = end;
  }
  return good;
}

// ---- The run

bool ContainerCheck::read_header(char* image, uint32_t header_blocks) {
  const size_t bytes = size_t{header_blocks} * os::kBlockBytes;
  std::vector<Bad> bad;
  for (bool again = true;; again = false) {
    bad.clear();
    for (uint32_t done = 0; done < header_blocks;) {
      const uint32_t count = std::min(kBufferBlocks, header_blocks - done);
      if (!read_piece(record_->run, done, count, &bad)) return false;
      std::memcpy(image + size_t{done} * os::kBlockBytes, buffer_, size_t{count} * os::kBlockBytes);
      done += count;
    }
    const bool opened =
        bad.empty() &&
        tree::open_header(database_.machine_.keys, *record_, image, bytes, "the header").ok();
    if (opened && checksum64(image, bytes, 0) == record_->run_checksum) return true;
    if (!again) break;
  }
  if (bad.empty()) bad.push_back({0, header_blocks, false, {}});
  tell_bad(record_->run, bad,
           "the header area of an index run, without which nothing else of its container can be "
           "verified");
  return false;
}

void ContainerCheck::check_run(const CheckTarget& target, char* image) {
  const size_t bytes = size_t{record_->image_blocks()} * os::kBlockBytes;
  const format::RunFront front = format::run_front(*record_);
  if (front.blocks == 0) {
    tell(item_at(Kind::kStructure, record_->run, 0, 0,
                 "the manifest contradicts itself about an index run"));
    return;
  }
  if (!read_header(image, front.header_blocks)) return;
  format::RunView view;
  if (Status s = format::parse_run(image, bytes, &view); !s.ok()) {
    return tell_failed(item_at(Kind::kStructure, record_->run, 0, 0, "an index run"), s);
  }
  if (!check_header(view)) return;
  const uint32_t header_blocks = view.header->header_blocks;
  const uint32_t index_blocks = view.header->index_blocks;
  const format::StoredRegion index = view.index_region();
  const uint32_t heap_at = header_blocks + index_blocks;
  const bool index_good = check_region(index, record_->run, header_blocks,
                                       image + size_t{header_blocks} * os::kBlockBytes,
                                       "the index blocks of an index run");
  if (ended_) return;
  const bool heap_good =
      check_region(view.heap_region(), record_->run, heap_at,
                   image + size_t{heap_at} * os::kBlockBytes, "the heap of an index run");
  if (ended_) return;
  if (index_good && heap_good) check_entries(target, image, bytes);
  if (!ended_ && verify_values_) check_values(view);
}

// Whether it is the run that the manifest means.
bool ContainerCheck::check_header(const format::RunView& view) {
  const format::RunHeader& header = *view.header;
  std::string wrong;
  const auto differs = [&wrong](const char* what, uint64_t run, uint64_t manifest) {
    if (run == manifest || !wrong.empty()) return;
    wrong = std::string("an index run has ") + std::to_string(run) + " " + what +
            ", the manifest says " + std::to_string(manifest);
  };
  differs("entries", header.entries, record_->entries);
  differs("value extents", header.extent_count, record_->values.size());
  const uint64_t heap = view.heap_region().stored_blocks;
  differs("blocks", uint64_t{header.header_blocks} + header.index_blocks + heap,
          record_->run.blocks);
  if (!wrong.empty()) {
    tell(item_at(Kind::kCount, record_->run, 0, 0, std::move(wrong)));
    return false;
  }
  for (uint32_t e = 0; e < header.extent_count; ++e) {
    const format::RunExtent& own = view.extents[e];
    const format::ValueExtentRecord& listed = record_->values[e];
    const ExtentAddress address{own.file, own.block, own.blocks};
    if (address == listed.address && own.bytes == listed.bytes) continue;
    tell(item_at(
        Kind::kReference, record_->run, 0, 0,
        "an index run names another value extent " + std::to_string(e) + " than the manifest"));
    return false;
  }
  return true;
}

void ContainerCheck::check_entries(const CheckTarget& target, const char* image, size_t bytes) {
  Result<std::unique_ptr<tree::Run>> attached = tree::Run::attach(image, bytes);
  if (!attached.ok()) {
    return tell_failed(item_at(Kind::kStructure, record_->run, 0, 0, "an index run"),
                       attached.status());
  }
  const tree::Run& run = **attached;
  std::string key(run.key_size_max() + 64, '\0');
  const auto key_at = [&](uint32_t index) {
    return std::string_view(key.data(), run.copy_key(index, key.data()));
  };
  if (run.entries() > 0 && key_at(0) < target.low) {
    tell(item_at(Kind::kStructure, record_->run, 0, 0,
                 "the key " + tree::quoted_key(key_at(0)) + " lies below its container's range"));
  }
  if (run.entries() > 0 && target.has_high && key_at(run.entries() - 1) >= target.high) {
    tell(item_at(Kind::kStructure, record_->run, 0, 0,
                 "the key " + tree::quoted_key(key_at(run.entries() - 1)) +
                     " lies above its container's range"));
  }
  std::vector<uint64_t> used(record_->values.size(), 0);
  std::vector<ExtentAddress> large;
  for (uint32_t i = 0; i < run.entries() && !ended_; ++i) {
    const tree::RunEntry entry = run.entry(i);
    if (entry.kind == tree::EntryKind::kSeparated) used[entry.extent] += entry.size;
    if (entry.kind != tree::EntryKind::kLarge) continue;
    const Result<format::LargeValue> value = format::decode_large_value(entry.inline_value);
    if (!value.ok()) {
      tell_failed(item_at(Kind::kStructure, record_->run, 0, 0,
                          "what refers to the large value of key " + tree::quoted_key(key_at(i))),
                  value.status());
      continue;
    }
    large.insert(large.end(), value->extents.begin(), value->extents.end());
    if (verify_values_) check_large(*value);
  }
  if (ended_) return;
  check_large_extents(&large);
  check_garbage(used);
}

void ContainerCheck::check_garbage(const std::vector<uint64_t>& used) {
  for (size_t e = 0; e < used.size(); ++e) {
    const format::ValueExtentRecord& value = record_->values[e];
    if (used[e] + value.garbage_bytes == value.bytes) continue;
    tell(item_at(Kind::kCount, value.address, 0, uint64_t{value.address.blocks} * os::kBlockBytes,
                 "a value extent of " + std::to_string(value.bytes) + " bytes, of which " +
                     std::to_string(used[e]) + " are referred to and " +
                     std::to_string(value.garbage_bytes) + " counted as garbage"));
  }
}

void ContainerCheck::check_values(const format::RunView& view) {
  for (uint32_t e = 0; e < record_->values.size() && !ended_; ++e) {
    check_region(view.extent_region(e), record_->values[e].address, 0, nullptr, "a value extent");
  }
}

}  // namespace hawthorn::db
