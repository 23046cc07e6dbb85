#include "db/repair_run.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/checksum.h"
#include "os/data_keys.h"
#include "space/space.h"
#include "tree/sealed_blocks.h"

namespace hawthorn::db {

namespace {
using format::ExtentAddress;
using format::kGroupEntries;

// No image is larger: the heap and the locations have 28 bits.
constexpr uint64_t kImageBlocksMax = uint64_t{1} << 18;
// What no database reaches: a header that nothing vouches for must not use up the numbers.
constexpr uint64_t kContainersMax = uint64_t{1} << 60;
constexpr uint32_t kTreesMax = uint32_t{1} << 31;
// Nor does an entry of one have a larger value, of any kind.
constexpr size_t kValueBytesMax = size_t{16} << 20;

// Whether a stored block is the one that the header area says; opened where it is sealed.
bool take_block(os::DataKeys* keys, const format::StoredRegion& region, uint32_t number,
                char* block) {
  if (region.seal == nullptr) {
    return checksum32(block, kRepairBlock, 0) == region.checksums[number];
  }
  uint32_t opened = 0;
  return keys != nullptr && tree::open_blocks(*keys, region, number, 1, block, &opened).ok() &&
         opened == 1;
}

format::ExtentAddress part_of(const ExtentAddress& address, uint32_t from, uint32_t blocks) {
  return {address.file, address.block + from, blocks};
}
}  // namespace

// ---- The parts of a run

// Of the blocks of a region's content, which lies from the address's block `from` on.
void RepairRun::read_region(const format::StoredRegion& region, const ExtentAddress& address,
                            uint32_t from, char* to, std::vector<bool>* good) {
  good->assign(region.blocks, false);
  if (region.blocks == 0) return;
  RepairBuffer stored(region.packed() ? size_t{region.stored_blocks} * kRepairBlock : 0);
  if (!stored.ok()) return;
  char* const bytes = region.packed() ? stored.data() : to;
  std::vector<bool> readable;
  source_.read_blocks(part_of(address, from, region.stored_blocks), bytes, &readable);
  for (uint32_t i = 0; i < region.stored_blocks; ++i) {
    readable[i] =
        readable[i] && take_block(source_.keys(), region, i, bytes + size_t{i} * kRepairBlock);
  }
  if (!region.packed()) {
    *good = std::move(readable);
    return;
  }
  const format::Dictionary* dictionary = nullptr;
  if (region.packing.dictionary != 0) {
    const auto found = dictionaries_.find(region.packing.dictionary);
    if (found == dictionaries_.end()) return;
    dictionary = found->second.get();
  }
  for (uint32_t chunk = 0; chunk < region.packing.ends.size(); ++chunk) {
    const uint32_t begin = region.packing.begin_of(chunk);
    const uint32_t end = region.packing.ends[chunk];
    bool whole = end > begin;
    for (uint32_t i = begin / kRepairBlock; whole && i <= (end - 1) / kRepairBlock; ++i) {
      whole = readable[i];
    }
    const uint32_t first = chunk * format::kChunkBlocks;
    if (!whole || !format::unpack_chunk(region.packing, dictionary, chunk, bytes + begin,
                                        to + size_t{first} * kRepairBlock)) {
      continue;
    }
    const uint32_t blocks = region.packing.content_bytes(chunk) / kRepairBlock;
    for (uint32_t i = first; i < first + blocks; ++i) (*good)[i] = true;
  }
}

// False: that is more than there may be.
bool RepairRun::take_memory(uint64_t blocks) {
  memory_ += blocks * kRepairBlock;
  if (memory_ <= memory_max_) return true;
  why_ = "it takes more memory than " + std::to_string(memory_max_) +
         " bytes; make the repair with a larger memory budget";
  return false;
}

bool RepairRun::read_parts(const format::ContainerRecord& record) {
  const format::RunHeader& h = *view_.header;
  const uint32_t front = h.header_blocks + h.index_blocks;
  uint64_t packed = view_.heap_region().packed() ? view_.heap_region().stored_blocks : 0;
  uint64_t content = 0;
  for (uint32_t e = 0; e < h.extent_count; ++e) {
    const format::StoredRegion region = view_.extent_region(e);
    content += region.blocks;
    if (region.packed()) packed = std::max<uint64_t>(packed, region.stored_blocks);
  }
  if (!take_memory(content + packed)) return false;
  char* const index = image_->data() + size_t{h.header_blocks} * kRepairBlock;
  source_.read_blocks(part_of(run_, h.header_blocks, h.index_blocks), index, &index_good_);
  const format::StoredRegion index_region = view_.index_region();
  for (uint32_t i = 0; i < h.index_blocks; ++i) {
    index_good_[i] = index_good_[i] &&
                     take_block(source_.keys(), index_region, i, index + size_t{i} * kRepairBlock);
  }
  read_region(view_.heap_region(), run_, front, image_->data() + size_t{front} * kRepairBlock,
              &heap_good_);
  values_.clear();
  values_good_.clear();
  for (uint32_t e = 0; e < h.extent_count; ++e) {
    const format::RunExtent& extent = view_.extents[e];
    const format::StoredRegion region = view_.extent_region(e);
    whole_ = whole_ && source_.holds({extent.file, extent.block, extent.blocks});
    values_.emplace_back(size_t{region.blocks} * kRepairBlock);
    values_good_.emplace_back(region.blocks, false);
    if (!values_.back().ok()) continue;
    read_region(region, {extent.file, extent.block, extent.blocks}, 0, values_.back().data(),
                &values_good_.back());
  }
  const auto all = [](const std::vector<bool>& good) {
    return std::find(good.begin(), good.end(), false) == good.end();
  };
  const bool whole_index = all(index_good_) && all(heap_good_);
  if (whole_index && !format::check_run_entries(view_).ok()) {
    why_ = "the entries of an index run contradict its header";
    return false;
  }
  whole_ = whole_ && whole_index && source_.holds(run_);
  for (const std::vector<bool>& good : values_good_) whole_ = whole_ && all(good);
  // Its keys begin with the prefix, and so does the low key of its range.
  prefix_known_ = heap_good(0, h.skip, nullptr);
  if (prefix_known_) prefix_.assign(view_.heap, h.skip);
  if (!prefix_known_ && record.low.size() >= h.skip) {
    prefix_known_ = true;
    prefix_ = record.low.view().substr(0, h.skip);
  }
  collect(record);
  return true;
}

// The header area, into an image of which the rest is zeros.
bool RepairRun::read_image(const format::ContainerRecord& record, uint32_t header_blocks,
                           uint64_t image_blocks) {
  why_ = "the header of an index run is damaged";
  if (header_blocks == 0 || header_blocks > image_blocks || image_blocks > kImageBlocksMax ||
      !source_.holds(part_of(run_, 0, header_blocks))) {
    return false;
  }
  if (!take_memory(image_blocks)) return false;
  image_ = std::make_unique<RepairBuffer>(image_blocks * kRepairBlock);
  if (!image_->ok()) {
    why_ = "there is no memory for an index run";
    return false;
  }
  const size_t area = size_t{header_blocks} * kRepairBlock;
  return read_run_header(source_, record, {image_->data(), area}, &why_) &&
         format::parse_run(image_->data(), image_->size(), &view_).ok();
}

bool read_run_header(RepairSource& source, const format::ContainerRecord& record,
                     std::span<char> area, std::string* why) {
  if (!source.read(space::data_file_name(record.run.file),
                   uint64_t{record.run.block} * kRepairBlock, area)) {
    return false;
  }
  const Status opened = tree::open_header(source.keys(), record, area.data(), area.size(),
                                          "the header of an index run is damaged");
  if (!opened.ok()) why->assign(opened.message());
  return opened.ok();
}

bool RepairRun::read(const format::ContainerRecord& record) {
  if (record.run.blocks == 0) return true;
  run_ = record.run;
  const format::RunFront front = format::run_front(record);
  if (!read_image(record, front.header_blocks, record.image_blocks())) return false;
  const size_t area = size_t{front.header_blocks} * kRepairBlock;
  return checksum64(image_->data(), area, 0) == record.run_checksum &&
         view_.header->header_blocks == front.header_blocks &&
         view_.header->extent_count == record.values.size() && read_parts(record);
}

bool RepairRun::find(uint32_t file, uint32_t block, uint32_t file_blocks,
                     format::ContainerRecord* record) {
  const std::string name = space::data_file_name(file);
  const uint64_t offset = uint64_t{block} * kRepairBlock;
  std::string first(kRepairBlock, '\0');
  why_ = "it cannot be read";
  if (!source_.read(name, offset, {first.data(), kRepairBlock})) return false;
  const auto head = load<format::RunHeader>(first.data());
  why_ = "the header of an index run is damaged";
  const uint64_t stored_heap = head.codec == 0 ? head.heap_blocks : head.heap_stored_blocks;
  const uint64_t stored = uint64_t{head.header_blocks} + head.index_blocks + stored_heap;
  const uint64_t image = uint64_t{head.header_blocks} + head.index_blocks + head.heap_blocks;
  if (head.magic != format::kRunMagic || stored > kImageBlocksMax || block + stored > file_blocks ||
      head.container >= kContainersMax || head.tree >= kTreesMax || head.cut >= format::kLsnMax ||
      head.max_ts > head.cut) {
    return false;
  }
  run_ = {file, block, static_cast<uint32_t>(stored)};
  record->run = run_;
  // That it opens says that it was written by who has the keys; not that it still counts.
  if (head.cipher != 0) record->seal = tree::base_of(tree::load_seal(head.seal));
  if (!read_image(*record, head.header_blocks, image)) return false;
  const size_t area = size_t{head.header_blocks} * kRepairBlock;
  record->id = head.container;
  record->tree = head.tree;
  record->cut = head.cut;
  record->max_ts = head.max_ts;
  record->entries = head.entries;
  record->unpacked_blocks = head.codec == 0 ? 0 : static_cast<uint32_t>(image);
  record->wide = view_.wide();
  record->first_heads = view_.first_heads != nullptr;
  record->separated = view_.separators.count != 0;
  record->separator_blocks = head.separator_blocks;
  record->run_checksum = checksum64(image_->data(), area, 0);
  for (uint32_t e = 0; e < head.extent_count; ++e) {
    const format::RunExtent& extent = view_.extents[e];
    record->values.push_back(
        {{extent.file, extent.block, extent.blocks}, extent.bytes, extent.garbage_bytes});
  }
  return read_parts(*record);
}

// ---- Its entries

bool RepairRun::heap_good(size_t from, size_t to, Lost* lost) const {
  for (size_t i = from / kRepairBlock; from < to && i <= (to - 1) / kRepairBlock; ++i) {
    if (i < heap_good_.size() && heap_good_[i]) continue;
    if (lost != nullptr && lost->what.empty()) {
      const uint32_t front = view_.header->header_blocks + view_.header->index_blocks;
      const auto at = view_.heap_region().packed() ? 0 : static_cast<uint32_t>(i);
      lost->at = {run_.file, run_.block + front + at, 1};
      lost->what = "a block of an index run's heap is damaged";
    }
    return false;
  }
  return true;
}

bool RepairRun::take_value(uint32_t extent, uint32_t offset, uint32_t size, std::string* value,
                           Lost* lost) {
  if (extent >= values_.size() || uint64_t{offset} + size > view_.extents[extent].bytes) {
    lost->what = "its place is none";
    lost->at = run_;
    return false;
  }
  for (size_t i = offset / kRepairBlock; size > 0 && i <= (offset + size - 1) / kRepairBlock; ++i) {
    if (values_good_[extent][i]) continue;
    const format::RunExtent& of = view_.extents[extent];
    const auto at = of.codec != 0 ? 0 : static_cast<uint32_t>(i);
    lost->at = {of.file, of.block + at, 1};
    lost->what = "a block of a value extent is damaged";
    return false;
  }
  value->assign(values_[extent].data() + offset, size);
  return true;
}

bool RepairRun::take_record(const char* from, RepairEntry* entry, bool* key_known, Lost* lost) {
  const format::RunHeader& h = *view_.header;
  const auto begin = static_cast<size_t>(from - view_.heap);
  format::HeapRecord record;
  if (begin >= h.heap_bytes || !heap_good(begin, begin + 1, lost)) return false;
  if (!format::decode_untrusted_record(from, view_.heap + h.heap_bytes, &record)) {
    // Where it goes on in a damaged block that is what is told.
    const size_t next = align_up(begin + 1, kRepairBlock);
    if (!heap_good(begin, std::min<size_t>(next + 1, h.heap_bytes), lost)) return false;
    lost->what = "a record of an index run is malformed";
    lost->at = run_;
    return false;
  }
  if (!heap_good(begin, static_cast<size_t>(record.end - view_.heap), lost)) return false;
  const size_t in_head = std::min<size_t>(record.rest_size, 8);
  entry->key.resize(prefix_.size() + in_head);
  entry->key.append(record.tail);
  *key_known = true;
  entry->cts = record.cts;
  entry->expiry = record.expiry;
  entry->kind =
      record.operands ? tree::EntryKind::kOperands : static_cast<tree::EntryKind>(record.kind);
  if (record.kind == format::RecordKind::kSeparated) {
    entry->kind = tree::EntryKind::kInline;
    return take_value(record.extent, record.offset, record.size, &entry->value, lost);
  }
  entry->value.assign(record.value);
  return record.kind != format::RecordKind::kLarge || verify_large(entry->value, lost);
}

bool RepairRun::take(uint32_t index, RepairEntry* entry, bool* key_known, Lost* lost) {
  *key_known = false;
  const format::RunHeader& h = *view_.header;
  const uint32_t group = index / kGroupEntries;
  const uint32_t slot = index % kGroupEntries;
  const uint32_t block = view_.layout.block_of(group);
  if (!index_good_[block]) {
    lost->groups_lost = true;
    lost->at = {run_.file, run_.block + h.header_blocks + block, 1};
    lost->what = "a block of an index run is damaged";
    return false;
  }
  if (!prefix_known_) {
    lost->groups_lost = true;
    return heap_good(0, h.skip, lost);
  }
  const char* const at = view_.index + view_.layout.offset(group);
  char head[8];
  const uint64_t number = __builtin_bswap64(view_.group(group).heads[slot]);
  std::memcpy(head, &number, sizeof(head));
  const auto plain_key = [&] {
    *key_known = true;
    entry->key.append(head, h.fixed_key_size - h.skip);
  };
  entry->key = prefix_;
  if (h.entries == 0 || (view_.wide() && h.fixed_key_size < h.skip)) return false;
  if (view_.wide()) {
    plain_key();
    entry->value.assign(at + format::kWideValuesOffset + size_t{slot} * h.fixed_inline_size,
                        h.fixed_inline_size);
    return true;
  }
  const uint32_t location = view_.group(group).locations[slot];
  const uint32_t tag = format::location_tag(location);
  const uint32_t offset = format::location_offset(location);
  if (tag == format::kTagRecord) {
    const bool good = take_record(view_.heap + offset, entry, key_known, lost);
    if (*key_known)
      std::memcpy(entry->key.data() + h.skip, head,
                  std::min<size_t>(8, entry->key.size() - h.skip));
    return good;
  }
  if (h.fixed_key_size < h.skip || h.fixed_key_size > h.skip + 8) return false;
  plain_key();
  if (tag < format::kTagPlainInline) {
    return take_value(tag, offset, h.fixed_value_size, &entry->value, lost);
  }
  const size_t end = size_t{offset} + h.fixed_inline_size;
  if (end > h.heap_bytes || !heap_good(offset, end, lost)) return false;
  entry->value.assign(view_.heap + offset, h.fixed_inline_size);
  return true;
}

void RepairRun::close_gap(Lost* lost, const std::string& low, const std::string* high) {
  if (!lost->any) return;
  RepairGap gap;
  gap.low = low;
  if (high != nullptr) gap.high = *high;
  gap.entries = lost->entries;
  gap.file = space::data_file_name(lost->at.file);
  gap.offset = uint64_t{lost->at.block} * kRepairBlock;
  gap.what = lost->what.empty() ? "an entry is damaged" : lost->what;
  gaps_.push_back(std::move(gap));
  *lost = Lost();
}

// Keys ascend, and timestamps of a key descend; where blocks are damaged nothing else vouches for
// that.
bool RepairRun::in_order(const RepairEntry& entry) const {
  if (entry.key.size() > format::kRunKeyBytesMax || entry.value.size() > kValueBytesMax) {
    return false;
  }
  if (entries_.empty()) return true;
  const RepairEntry& last = entries_.back();
  const int order = last.key.compare(entry.key);
  return order < 0 || (order == 0 && last.cts > entry.cts);
}

// Walks through all entries, whose keys ascend: what is between two known keys is lost between
// them.
void RepairRun::collect(const format::ContainerRecord& record) {
  Lost lost;
  std::string low = record.low;  // behind the last key that is known
  std::string spoiled;           // of which nothing more is given
  bool any_spoiled = false;
  const bool versions = view_.header->timestamp_count != 0;
  const auto drop_back = [&](const std::string& key) {
    while (!entries_.empty() && entries_.back().key == key) entries_.pop_back();
  };
  for (uint32_t i = 0; i < view_.header->entries; ++i) {
    RepairEntry entry;
    bool key_known = false;
    Lost why;
    bool good = take(i, &entry, &key_known, &why);
    if (good && any_spoiled && entry.key == spoiled) good = false;
    if (good && !in_order(entry)) {
      good = key_known = false;
      why.what = "an entry of an index run is out of order";
      why.at = run_;
    }
    if (good && memory_ + entry.key.size() + entry.value.size() > memory_max_) {
      good = false;
      why.what = "it takes more memory than " + std::to_string(memory_max_) + " bytes";
      why.at = run_;
    }
    // What is unknown before it may be a newer version of it.
    if (good && versions && lost.any && !lost.key_known) good = false;
    if (good) {
      if (lost.any) close_gap(&lost, low, &entry.key);
      low = entry.key + '\0';
      memory_ += entry.key.size() + entry.value.size() + sizeof(entry);
      entries_.push_back(std::move(entry));
      continue;
    }
    whole_ = false;
    const std::string what = why.what.empty() ? lost.what : why.what;
    const ExtentAddress at = why.what.empty() ? lost.at : why.at;
    if (lost.any && key_known && lost.key_known && lost.key != entry.key &&
        (lost.at != at || lost.what != what)) {
      close_gap(&lost, low, &entry.key);
      low = entry.key;
    }
    if (!lost.any) {
      lost.at = at;
      lost.what = what;
    }
    lost.any = true;
    ++lost.entries;
    lost.key_known = key_known;
    if (!key_known) {
      // Of the key before it this may be an older version: what a snapshot shows of it is lost,
      // and without it operands mean nothing.
      if (versions && lost.entries == 1 && !entries_.empty()) {
        low = entries_.back().key;
        if (entries_.back().kind == tree::EntryKind::kOperands) drop_back(low);
      }
      continue;
    }
    any_spoiled = true;
    lost.key = spoiled = entry.key;
    if (!entries_.empty() && entries_.back().key == spoiled) {
      low = spoiled;
      drop_back(spoiled);
    } else if (lost.entries == 1) {
      low = spoiled;
    }
  }
  if (lost.any) {
    const std::string behind = lost.key_known ? lost.key + '\0' : std::string();
    close_gap(&lost, low, lost.key_known ? &behind : nullptr);
  }
  std::sort(large_.begin(), large_.end());
  large_.erase(std::unique(large_.begin(), large_.end()), large_.end());
}

bool RepairRun::span(std::string* first, std::string* last) const {
  if (entries_.empty()) return false;
  *first = entries_.front().key;
  *last = entries_.back().key;
  return true;
}

// ---- Large values

bool RepairRun::verify_large(std::string_view encoded, Lost* lost) {
  const Result<format::LargeValue> value = format::decode_large_value(encoded);
  ExtentAddress bad = run_;
  if (value.ok() && verify_large_value(source_, *value, &bad)) {
    large_.insert(large_.end(), value->extents.begin(), value->extents.end());
    return true;
  }
  lost->at = bad;
  lost->what = "a large value is damaged";
  return false;
}

namespace {
// By its table, which stands behind what it is of.
bool verify_sealed(os::DataKeys& keys, const format::LargeContent& content, char* bytes) {
  const char* const table = bytes + content.table_at();
  const os::Seal seal = tree::load_seal(table);
  if (tree::base_of(seal) != content.checksum) return false;
  Result<os::DataKeys::Lease> aead = keys.lease(seal);
  if (!aead.ok()) return false;
  std::string opened(format::kLargeSumBytes, '\0');
  for (uint32_t i = 0; i < content.sums(); ++i) {
    const size_t at = size_t{i} * format::kLargeSumBytes;
    const size_t size = std::min<size_t>(format::kLargeSumBytes, content.bytes - at);
    if (!(*aead)->open(make_nonce(content.checksum, i), {}, {bytes + at, size},
                       table + format::kLargeSealBytes + size_t{i} * kTagBytes, opened.data())) {
      return false;
    }
  }
  return true;
}

// By its table, or by its one sum.
bool verify_sums(const format::LargeContent& content, const char* bytes) {
  if (!content.has_table()) {
    return format::large_sum({bytes, content.bytes}) == content.checksum;
  }
  const char* const table = bytes + content.table_at();
  if (format::large_sum({table, content.table_bytes()}) != content.checksum) return false;
  for (uint32_t i = 0; i < content.sums(); ++i) {
    const size_t at = size_t{i} * format::kLargeSumBytes;
    const size_t size = std::min<size_t>(format::kLargeSumBytes, content.bytes - at);
    if (format::large_sum({bytes + at, size}) != load<uint64_t>(table + size_t{i} * 8)) {
      return false;
    }
  }
  return true;
}

bool verify_content(RepairSource& source, const ExtentAddress& address,
                    const format::LargeContent& content) {
  if (content.blocks() > address.blocks || !source.holds(address)) return false;
  if (content.sealed != (source.keys() != nullptr)) return false;
  RepairBuffer bytes(size_t{content.blocks()} * kRepairBlock);
  if (!bytes.ok()) return false;
  std::vector<bool> readable;
  source.read_blocks({address.file, address.block, content.blocks()}, bytes.data(), &readable);
  if (std::find(readable.begin(), readable.end(), false) != readable.end()) return false;
  if (!(content.sealed ? verify_sealed(*source.keys(), content, bytes.data())
                       : verify_sums(content, bytes.data()))) {
    return false;
  }
  // What fills it up is zero, and no checksum's: a copy gets it as it should be.
  const uint64_t end = uint64_t{content.blocks()} * kRepairBlock;
  source.fill_with_zeros(address, content.bytes, content.table_at(), bytes.data());
  source.fill_with_zeros(address, content.table_at() + content.table_bytes(), end, bytes.data());
  return true;
}
}  // namespace

bool verify_large_value(RepairSource& source, const format::LargeValue& value, ExtentAddress* bad) {
  if (!value.extents.empty()) *bad = value.extents.front();
  if (value.in_pieces()) {
    for (size_t i = 0; i < value.extents.size(); ++i) {
      *bad = value.extents[i];
      if (!verify_content(source, value.extents[i], value.contents[i])) return false;
    }
    return true;
  }
  if (source.keys() != nullptr) return false;  // none of an encrypted database is whole
  uint64_t checksum = 0;
  uint64_t left = value.size;
  std::string chunk;  // what of one the extent before has
  for (const ExtentAddress& extent : value.extents) {
    *bad = extent;
    if (!source.holds(extent)) return false;
    const std::string name = space::data_file_name(extent.file);
    uint64_t at = uint64_t{extent.block} * kRepairBlock;
    const uint64_t end = at + std::min(left, uint64_t{extent.blocks} * kRepairBlock);
    left -= end - at;
    while (at < end) {
      const size_t had = chunk.size();
      const size_t more = std::min<uint64_t>(format::kLargeChunkBytes - had, end - at);
      chunk.resize(had + more);
      if (!source.read(name, at, {chunk.data() + had, more})) return false;
      at += more;
      if (chunk.size() < format::kLargeChunkBytes && (at < end || left > 0)) continue;
      checksum = format::extend_large_checksum(checksum, chunk);
      chunk.clear();
    }
  }
  return left == 0 && checksum == value.checksum;
}

}  // namespace hawthorn::db
