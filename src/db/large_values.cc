#include "db/large_values.h"

#include <algorithm>

#include "base/bytes.h"

namespace hawthorn::db {

namespace {
constexpr size_t kBlock = 4096;
constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kExtentBytesMax = 16 << 20;  // larger values take several extents
}  // namespace

void drop_large_value(tree::Store* store, std::string_view encoded) {
  const Result<format::LargeValue> value = format::decode_large_value(encoded);
  if (!value.ok()) return;
  for (const tree::ExtentAddress& address : value->extents) {
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

namespace {
// What the bytes pass through: of what is for extents, or a small one of what is left to deltas,
// which make room for it as for any write.
Status take_buffer(tree::Store* store, Scheduler* scheduler, char** buffer, size_t* bytes) {
  for (*bytes = kBufferBytes; *bytes > format::kLargeChunkBytes; *bytes /= 2) {
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

Result<std::string> write_large_value(tree::Store* store, Scheduler* scheduler, uint64_t size,
                                      const StreamSource& source, bool sync) {
  size_t buffer_bytes = 0;
  char* buffer = nullptr;
  if (Status s = take_buffer(store, scheduler, &buffer, &buffer_bytes); !s.ok()) return s;
  format::LargeValue value;
  value.size = size;
  std::vector<tree::ExtentRef> extents;
  Status status;
  uint64_t done = 0;
  while (status.ok() && done < size) {
    const auto extent_bytes = static_cast<size_t>(std::min<uint64_t>(size - done, kExtentBytesMax));
    const auto blocks = static_cast<uint32_t>((extent_bytes + kBlock - 1) / kBlock);
    Result<tree::ExtentAddress> address = take_extent(store, scheduler, blocks);
    if (!address.ok()) {
      status = address.status();
      break;
    }
    auto* extent =
        new tree::Extent(store->residency, *address, static_cast<uint32_t>(extent_bytes), false);
    extent->dropped.store(true, std::memory_order_relaxed);  // until it is whole
    extent->large_value = true;
    extents.emplace_back(extent);
    value.extents.push_back(*address);
    os::File* file = store->space->file(address->file);
    for (size_t at = 0; status.ok() && at < extent_bytes;) {
      const size_t want = std::min(buffer_bytes, extent_bytes - at);
      size_t filled = 0;
      while (filled < want) {
        Result<size_t> got = source({buffer + filled, want - filled});
        if (!got.ok()) {
          status = got.status();
        } else if (*got == 0 || *got > want - filled) {
          status = Status(StatusCode::kInvalidArgument, "the source of a large value gave " +
                                                            std::to_string(done + at + filled) +
                                                            " bytes of " + std::to_string(size));
        }
        if (!status.ok()) break;
        filled += *got;
      }
      if (!status.ok()) break;
      for (size_t chunk = 0; chunk < want; chunk += format::kLargeChunkBytes) {
        value.checksum = format::extend_large_checksum(
            value.checksum, {buffer + chunk, std::min(want - chunk, format::kLargeChunkBytes)});
      }
      const size_t padded = align_up(want, kBlock);
      std::memset(buffer + want, 0, padded - want);
      status = file->write_at(uint64_t{address->block} * kBlock + at, {buffer, padded});
      at += want;
    }
    store->space->mark_written(address->file);
    done += extent_bytes;
  }
  store->residency->release(os::Quota::kMerge, buffer, buffer_bytes);
  if (status.ok() && sync) status = store->space->sync();
  if (!status.ok()) return status;
  for (tree::ExtentRef& extent : extents) {
    extent->dropped.store(false, std::memory_order_release);
    store->large->add(std::move(extent));
  }
  std::string encoded;
  format::append_large_value(encoded, value);
  return encoded;
}

Result<size_t> read_large_part(tree::Store* store, const format::LargeValue& value, uint64_t offset,
                               std::span<char> buffer) {
  if (offset >= value.size) return size_t{0};
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(buffer.size(), value.size - offset));
  size_t done = 0;
  uint64_t start = 0;
  for (const tree::ExtentAddress& extent : value.extents) {
    const uint64_t bytes = uint64_t{extent.blocks} * kBlock;
    const uint64_t at = offset + done;
    if (done < wanted && at < start + bytes) {
      const auto piece = static_cast<size_t>(std::min<uint64_t>(wanted - done, start + bytes - at));
      for (size_t part = 0; part < piece; part += kBufferBytes) {
        const size_t size = std::min(kBufferBytes, piece - part);
        if (Status s = store->residency->read_raw(extent, at - start + part, size,
                                                  buffer.data() + done + part);
            !s.ok()) {
          return s;
        }
      }
      done += piece;
    }
    start += bytes;
  }
  return done;
}

}  // namespace hawthorn::db
