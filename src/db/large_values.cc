#include "db/large_values.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "format/superblock.h"
#include "os/file.h"
#include "tree/large_read.h"
#include "tree/sealed_blocks.h"

namespace hawthorn::db {

using format::kLargeSumBytes;

namespace {
constexpr size_t kAppendBufferBytes = 1 << 20;
constexpr size_t kBufferBytesMin = size_t{64} << 10;
}  // namespace

void drop_large_value(tree::Store* store, std::string_view encoded) {
  const Result<format::LargeValue> value = format::decode_large_value(encoded);
  // The others belong to the version before it.
  if (value.ok()) drop_extents(store, format::fresh_extents(*value));
}

void drop_extents(tree::Store* store, std::span<const tree::ExtentAddress> extents) {
  for (const tree::ExtentAddress& address : extents) {
    if (tree::ExtentRef extent = store->large->take(address); extent) {
      extent->dropped.store(true, std::memory_order_release);
    }
  }
}

Result<std::string> write_large_value(tree::Store* store, Scheduler* scheduler,
                                      std::string_view bytes) {
  size_t given = 0;
  return write_large_value(store, scheduler, bytes.size(),
                           [&](std::span<char> to) -> Result<size_t> {
                             const size_t count = std::min(to.size(), bytes.size() - given);
                             std::memcpy(to.data(), bytes.data() + given, count);
                             given += count;
                             return count;
                           });
}

Status fill_from(const StreamSource& source, std::span<char> to) {
  for (size_t filled = 0; filled < to.size();) {
    const Result<size_t> got = source(to.subspan(filled));
    if (!got.ok()) return got.status();
    if (*got == 0 || *got > to.size() - filled) {
      return Status(StatusCode::kInvalidArgument, "the source gave " + std::to_string(filled) +
                                                      " bytes of " + std::to_string(to.size()));
    }
    filled += *got;
  }
  return {};
}

namespace {
// What the bytes pass through: of what is for extents, or a small one of what is left to deltas,
// which make room for it as for any write.
Status take_buffer(tree::Store* store, Scheduler* scheduler, uint64_t size, char** buffer,
                   size_t* bytes) {
  *bytes = kBufferBytesMin;
  while (*bytes < kAppendBufferBytes && *bytes < size + kLargeSumBytes) *bytes *= 2;
  for (; *bytes > kBufferBytesMin; *bytes /= 2) {
    *buffer = store->residency->allocate(os::Quota::kMerge, *bytes);
    if (*buffer != nullptr) return {};
  }
  Result<char*> taken = take_memory(store, scheduler, *bytes);
  if (taken.ok()) *buffer = *taken;
  return taken.status();
}
}  // namespace

Result<char*> take_memory(tree::Store* store, Scheduler* scheduler, size_t bytes) {
  char* memory = store->residency->allocate(os::Quota::kMerge, bytes);
  for (uint32_t futile = 0; memory == nullptr;) {
    memory = store->arena->allocate(os::Quota::kMerge, bytes);
    if (memory != nullptr) break;
    if (Status s = scheduler->relieve(&futile); !s.ok()) return s;
  }
  return memory;
}

// Where there is no space the scheduler may find some.
Result<tree::ExtentAddress> take_extent(tree::Store* store, Scheduler* scheduler, uint32_t blocks) {
  tree::ExtentAddress address;
  const auto take = [&]() -> Status {
    Result<tree::ExtentAddress> taken = store->space->allocate(blocks, space::Use::kInsert);
    if (taken.ok()) address = *taken;
    return taken.status();
  };
  Status status = take();
  if (status.is(StatusCode::kNoSpace)) status = scheduler->free_space(take);
  if (!status.ok()) return status;
  return address;
}

Status need_large_pieces(tree::Store* store, Scheduler* scheduler) {
  if (store->large_pieces.load(std::memory_order_acquire)) return {};
  Publisher& publisher = scheduler->publisher();
  if (Status s = publisher.keep_manifest_room(0); !s.ok()) return s;
  format::ManifestBatch batch;
  batch.features = format::kFeatureLargePieces;
  if (Status s = publisher.publish_now(std::move(batch)); !s.ok()) return s;
  store->large_pieces.store(true, std::memory_order_release);
  return {};
}

LargeWriter::~LargeWriter() {
  if (buffer_ != nullptr) store_->residency->release(os::Quota::kMerge, buffer_, buffer_bytes_);
}

Status LargeWriter::begin(uint64_t size) {
  left_ = size;
  if (Status s = need_large_pieces(store_, scheduler_); !s.ok()) return s;
  return take_buffer(store_, scheduler_, size, &buffer_, &buffer_bytes_);
}

// Behind what the buffer takes of the bytes there is room for the table.
Result<std::span<char>> LargeWriter::room() {
  if (extent_left_ == 0) {
    if (Status s = begin_extent(); !s.ok()) return s;
  }
  const size_t free = buffer_bytes_ - kLargeSumBytes - filled_;
  return std::span(buffer_ + filled_, std::min<size_t>(free, extent_left_));
}

Status LargeWriter::begin_extent() {
  HAWTHORN_ASSERT(left_ > 0);
  format::LargeContent content;
  content.bytes = static_cast<uint32_t>(std::min<uint64_t>(left_, format::kLargeExtentBytesMax));
  content.fresh = true;
  if (os::DataKeys* const keys = store_->machine->keys; keys != nullptr) {
    const Result<os::Seal> seal = keys->new_seal();
    if (!seal.ok()) return seal.status();
    seal_ = *seal;
    content.sealed = true;
    content.checksum = tree::base_of(seal_);
  }
  const Result<tree::ExtentAddress> address = take_extent(store_, scheduler_, content.blocks());
  if (!address.ok()) return address.status();
  auto* extent = new tree::Extent(store_->residency, *address,
                                  content.table_at() + content.table_bytes(), false);
  extent->dropped.store(true, std::memory_order_relaxed);  // until it is kept
  extent->large_value = true;
  kept_.emplace_back(extent);
  extents_.push_back(*address);
  contents_.push_back(content);
  extent_left_ = content.bytes;
  extent_at_ = 0;
  sums_.clear();
  return {};
}

Status LargeWriter::took(size_t bytes) {
  filled_ += bytes;
  extent_left_ -= bytes;
  left_ -= bytes;
  if (extent_left_ > 0 && filled_ < buffer_bytes_ - kLargeSumBytes) return {};
  return write_buffer();
}

// Sums of the chunks in the buffer; or seals them there.
Status LargeWriter::sum_up() {
  const format::LargeContent& content = contents_.back();
  if (!content.sealed) {
    for (size_t at = 0; at < filled_; at += kLargeSumBytes) {
      sums_.push_back(format::large_sum({buffer_ + at, std::min(kLargeSumBytes, filled_ - at)}));
    }
    return {};
  }
  Result<os::DataKeys::Lease> aead = store_->machine->keys->lease(seal_);
  if (!aead.ok()) return aead.status();
  for (size_t at = 0; at < filled_; at += kLargeSumBytes) {
    const std::string_view chunk(buffer_ + at, std::min(kLargeSumBytes, filled_ - at));
    const auto number = static_cast<uint32_t>((extent_at_ + at) / kLargeSumBytes);
    char tag[kTagBytes];
    if (!(*aead)->seal(make_nonce(content.checksum, number), {}, chunk, buffer_ + at, tag)) {
      return {StatusCode::kIoError, "a large value: libcrypto failed"};
    }
    sums_.push_back(load<uint64_t>(tag));
    sums_.push_back(load<uint64_t>(tag + sizeof(uint64_t)));
  }
  return {};
}

// Behind the last bytes of an extent, in the buffer; returns what is in it then.
size_t LargeWriter::append_table() {
  format::LargeContent& content = contents_.back();
  if (!content.sealed) content.checksum = sums_.front();
  if (!content.has_table()) return filled_;
  const std::string_view sums(reinterpret_cast<const char*>(sums_.data()), sums_.size() * 8);
  if (!content.sealed) content.checksum = format::large_sum(sums);
  size_t bytes = align_up(filled_, 8);
  std::memset(buffer_ + filled_, 0, bytes - filled_);
  if (content.sealed) {
    std::memcpy(buffer_ + bytes, &seal_, sizeof(seal_));
    bytes += sizeof(seal_);
  }
  copy_bytes(buffer_ + bytes, sums);
  return bytes + sums.size();
}

Status LargeWriter::write_buffer() {
  if (Status s = sum_up(); !s.ok()) return s;
  size_t bytes = filled_;
  if (extent_left_ == 0) {
    bytes = append_table();
    const size_t padded = align_up(bytes, os::kBlockBytes);
    std::memset(buffer_ + bytes, 0, padded - bytes);
    bytes = padded;
  }
  const tree::ExtentAddress& address = extents_.back();
  Status status =
      store_->space->file(address.file)
          ->write_at(uint64_t{address.block} * os::kBlockBytes + extent_at_, {buffer_, bytes});
  store_->space->mark_written(address.file);
  scheduler_->publisher().count_written(bytes);
  extent_at_ += bytes;
  filled_ = 0;
  return status;
}

Status LargeWriter::take(const StreamSource& source, uint64_t size) {
  for (uint64_t done = 0; done < size;) {
    Result<std::span<char>> to = room();
    if (!to.ok()) return to.status();
    const size_t want = static_cast<size_t>(std::min<uint64_t>(to->size(), size - done));
    const Result<size_t> got = source(to->first(want));
    if (!got.ok()) return got.status();
    if (*got == 0 || *got > want) {
      return Status(StatusCode::kInvalidArgument, "the source of a large value gave " +
                                                      std::to_string(done) + " bytes of " +
                                                      std::to_string(size));
    }
    if (Status s = took(*got); !s.ok()) return s;
    done += *got;
  }
  return {};
}

Status LargeWriter::finish(bool sync) {
  HAWTHORN_ASSERT(left_ == 0);
  return sync ? scheduler_->publisher().sync_data() : Status();
}

void LargeWriter::keep() {
  for (tree::ExtentRef& extent : kept_) {
    extent->dropped.store(false, std::memory_order_release);
    store_->large->add(std::move(extent));
  }
  kept_.clear();
}

Result<std::string> write_large_value(tree::Store* store, Scheduler* scheduler, uint64_t size,
                                      const StreamSource& source, bool sync) {
  LargeWriter writer(store, scheduler);
  Status status = writer.begin(size);
  if (status.ok()) status = writer.take(source, size);
  if (status.ok()) status = writer.finish(sync);
  if (!status.ok()) return status;
  format::LargeValue value;
  value.size = size;
  value.sealed = store->machine->keys != nullptr;
  value.extents = writer.extents();
  value.contents = writer.contents();
  for (uint32_t i = 0; i < value.contents.size(); ++i) {
    value.pieces.push_back({i, 0, value.contents[i].bytes});
  }
  writer.keep();
  std::string encoded;
  format::append_large_value(encoded, value);
  return encoded;
}

Result<size_t> read_large_part(tree::Store* store, const format::LargeValue& value, uint64_t offset,
                               std::span<char> buffer) {
  if (offset >= value.size || buffer.empty()) return size_t{0};
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(buffer.size(), value.size - offset));
  tree::LargeRead read(store->residency, value, offset, wanted, buffer.data());
  if (Status s = read.run(); !s.ok()) return s;
  return wanted;
}

}  // namespace hawthorn::db
