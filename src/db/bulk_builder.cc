#include "db/bulk_builder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes.h"
#include "db/large_values.h"
#include "os/file.h"
#include "tree/merge_work.h"

namespace hawthorn::db {

namespace {
constexpr size_t kWriteBytesMax = size_t{1} << 20;
}  // namespace

BulkBuilder::BulkBuilder(tree::Store* store, Scheduler* scheduler, uint32_t tree)
    : store_(store),
      scheduler_(scheduler),
      tree_(tree),
      builder_(store->arena),
      packer_(store),
      entries_(os::ArenaAllocator<Entry>(store->arena)) {}

BulkBuilder::~BulkBuilder() {
  static_cast<void>(wait().ok());
  store_->arena->charge(os::Quota::kMerge, -static_cast<ptrdiff_t>(counted_bytes_));
}

// What is gathered beside the arena counts.
void BulkBuilder::count_memory() {
  const size_t bytes = buffer_.capacity() + packer_.buffer_bytes();
  if (bytes == counted_bytes_) return;
  store_->arena->charge(os::Quota::kMerge,
                        static_cast<ptrdiff_t>(bytes) - static_cast<ptrdiff_t>(counted_bytes_));
  counted_bytes_ = bytes;
}

void BulkBuilder::add(const IngestEntry& entry) {
  entries_.push_back({buffer_.size(), static_cast<uint32_t>(entry.key.size()),
                      static_cast<uint32_t>(entry.value.size()), entry.large});
  buffer_.append(entry.key).append(entry.value);
  bytes_ += tree::kEntryBytes + entry.key.size() + entry.value.size();
  if (entry.large) {
    // The manifest names each of its extents.
    const Result<format::LargeValue> value = format::decode_large_value(entry.value);
    if (value.ok()) {
      large_extents_ += value->extents.size();
      bytes_ += value->extents.size() * tree::kLargeExtentBytes;
    }
  }
  count_memory();
}

IngestEntry BulkBuilder::entry(size_t index) const {
  const Entry& entry = entries_[index];
  const std::string_view bytes(buffer_);
  return {bytes.substr(entry.at, entry.key_size),
          bytes.substr(entry.at + entry.key_size, entry.value_size), entry.large};
}

void BulkBuilder::clear() {
  buffer_.clear();
  entries_.clear();
  bytes_ = 0;
  large_extents_ = 0;
}

Status BulkBuilder::wait_for(Slot& slot) {
  Status status = slot.group.wait();
  for (Writing& writing : slot.writing) {
    store_->space->mark_written(writing.extent->address.file);
    store_->residency->release(os::Quota::kMerge, writing.memory, writing.extent->disk_bytes());
  }
  slot.writing.clear();
  return status;
}

Status BulkBuilder::wait() {
  Status status;
  for (Slot& slot : slots_) {
    if (Status s = wait_for(slot); status.ok()) status = std::move(s);
  }
  return status;
}

void BulkBuilder::give_back(char* memory, size_t bytes, const tree::StoredCopy& copy) {
  store_->residency->release(os::Quota::kMerge, memory, bytes);
  if (copy.memory == nullptr) return;
  store_->residency->release(os::Quota::kMerge, copy.memory, size_t{copy.blocks} * os::kBlockBytes);
}

// Takes the memory of the content over, and that of its packed copy: what is to be written.
Result<tree::ExtentRef> BulkBuilder::make_extent(char* memory, size_t bytes, bool index,
                                                 const tree::StoredCopy& copy, Slot& slot) {
  const size_t memory_bytes = align_up(bytes, os::kBlockBytes);
  if (copy.memory != nullptr) store_->residency->release(os::Quota::kMerge, memory, memory_bytes);
  char* stored = copy.memory == nullptr ? memory : copy.memory;
  const size_t blocks = copy.memory == nullptr ? memory_bytes / os::kBlockBytes : copy.blocks;
  Result<tree::ExtentAddress> address =
      take_extent(store_, scheduler_, static_cast<uint32_t>(blocks));
  if (!address.ok()) {
    store_->residency->release(os::Quota::kMerge, stored, blocks * os::kBlockBytes);
    return address.status();
  }
  tree::ExtentRef extent(
      new tree::Extent(store_->residency, *address, static_cast<uint32_t>(bytes), index));
  extent->dropped.store(true, std::memory_order_relaxed);  // until it is attached
  slot.writing.push_back({extent, stored});
  return extent;
}

tree::RunShape BulkBuilder::shape_of(std::string_view prefix) const {
  tree::RunShape shape;
  shape.tree = tree_;
  shape.prefix = prefix;
  std::array<tree::EntrySizes, tree::kSizeSamples> samples;
  size_t count = 0;
  for (size_t i = 0; i < std::min(entries_.size(), samples.size()); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.large) samples[count++] = {entry.key_size, entry.value_size};
  }
  tree::choose_plain_sizes({samples.data(), count}, &shape);
  if (shape.fixed_key_size > prefix.size() + 8) shape.fixed_key_size = 0;
  return shape;
}

// Gives all entries to the builder; returns the bytes of the value extent.
size_t BulkBuilder::emit(const tree::RunShape& shape) {
  size_t offset = 0;
  separated_.clear();
  for (size_t i = 0; i < entries_.size(); ++i) {
    const IngestEntry next = entry(i);
    if (next.large) {
      builder_.add_large(next.key, next.value, 0, 0);
    } else if (tree::separates(next.key.size(), next.value.size(), shape)) {
      builder_.add_separated(next.key, 0, static_cast<uint32_t>(offset),
                             static_cast<uint32_t>(next.value.size()), 0, 0);
      separated_.push_back(i);
      offset += next.value.size();
    } else {
      builder_.add_inline(next.key, next.value, 0, 0);
    }
  }
  return offset;
}

Result<tree::Attachment> BulkBuilder::build(std::string low, const std::string* high) {
  Slot& slot = slots_[next_slot_];
  next_slot_ = (next_slot_ + 1) % kWrites;
  if (Status s = wait_for(slot); !s.ok()) return s;

  tree::Attachment made;
  made.has_high = high != nullptr;
  if (high != nullptr) made.high = *high;
  format::ContainerRecord& record = made.record;
  record.tree = tree_;
  record.low = std::move(low);
  record.entries = entries_.size();
  // As long as what all keys of the range share, not only those that are there.
  const size_t skip = high != nullptr ? common_prefix(record.low, made.high) : 0;
  const tree::Compression::Plan plan = store_->residency->compression().plan(tree_);
  tree::RunShape shape = shape_of(std::string_view(record.low).substr(0, skip));
  shape.wide = plan.codec == format::Codec::kNone;
  shape.sealed = store_->machine->keys != nullptr;
  builder_.start(shape);
  const size_t value_bytes = emit(shape);
  record.wide = builder_.wide();
  record.first_heads = true;
  record.separated = tree::runs_have_separators;
  record.separator_blocks = builder_.separator_blocks();

  std::vector<tree::BuiltExtent> built;
  if (value_bytes > 0) {
    const size_t memory_bytes = align_up(value_bytes, os::kBlockBytes);
    Result<char*> memory = take_memory(store_, scheduler_, memory_bytes);
    if (!memory.ok()) return memory.status();
    char* to = *memory;
    for (const size_t i : separated_) {
      const IngestEntry from = entry(i);
      copy_bytes(to, from.value);
      to += from.value.size();
    }
    std::memset(to, 0, memory_bytes - value_bytes);
    const auto blocks = static_cast<uint32_t>(memory_bytes / os::kBlockBytes);
    tree::StoredCopy copy = packer_.values(plan, *memory, blocks);
    const Result<std::span<const uint32_t>> words = packer_.table_words(*memory, blocks, &copy);
    if (!words.ok()) {
      give_back(*memory, memory_bytes, copy);
      return words.status();
    }
    Result<tree::ExtentRef> extent = make_extent(*memory, value_bytes, false, copy, slot);
    if (!extent.ok()) return extent.status();
    record.values.push_back({(*extent)->address, static_cast<uint32_t>(value_bytes), 0});
    built.push_back({record.values.back(), *words, packer_.values_packing()});
    made.values.push_back(std::move(*extent));
  }
  tree::ImagePacker::Image packed = packer_.heap(plan, builder_, built);
  const size_t image_bytes = builder_.image_bytes(built, packed.heap());
  Result<char*> memory = take_memory(store_, scheduler_, image_bytes);
  if (!memory.ok()) return memory.status();
  // The run says nothing of its timestamps: the record will.
  record.run_checksum = builder_.finish(built, 0, 0, *memory, packed.heap());
  const Result<tree::StoredCopy> copy = packed.finish(*memory, image_bytes, &record);
  if (!copy.ok()) {
    give_back(*memory, image_bytes, {});
    return copy.status();
  }
  Result<tree::ExtentRef> image = make_extent(*memory, image_bytes, true, *copy, slot);
  if (!image.ok()) return image.status();
  record.run = (*image)->address;
  if ((*image)->packed()) record.unpacked_blocks = (*image)->blocks;
  made.image = std::move(*image);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].large) continue;
    const Result<format::LargeValue> value = format::decode_large_value(entry(i).value);
    if (!value.ok()) return value.status();
    for (const tree::ExtentAddress& extent : value->extents) record.large.push_back(extent);
  }
  std::sort(record.large.begin(), record.large.end());
  start_writes(slot);
  clear();
  return made;
}

void BulkBuilder::start_writes(Slot& slot) {
  std::vector<os::IoRequest> requests;
  for (const Writing& writing : slot.writing) {
    const size_t size = writing.extent->disk_bytes();
    bytes_written_ += size;
    for (size_t at = 0; at < size; at += kWriteBytesMax) {
      os::IoRequest request;
      request.op = os::IoRequest::Op::kWrite;
      request.file = store_->space->file(writing.extent->address.file);
      request.offset = uint64_t{writing.extent->address.block} * os::kBlockBytes + at;
      request.data = writing.memory + at;
      request.size = std::min(kWriteBytesMax, size - at);
      request.group = &slot.group;
      requests.push_back(request);
    }
  }
  store_->machine->io->submit(requests);
}

}  // namespace hawthorn::db
