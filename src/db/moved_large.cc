#include "db/moved_large.h"

#include <algorithm>
#include <utility>

namespace hawthorn::db {

namespace {
constexpr size_t kBlock = 4096;
constexpr size_t kBufferBytes = size_t{256} << 10;
}  // namespace

MovedLarge::~MovedLarge() { give_back(); }

// What no merge has taken; after one, the copies of values that the delta has replaced.
void MovedLarge::give_back() {
  for (const auto& [from, to] : addresses_) {
    if (tree::ExtentRef extent = store_->large->take(to); extent) {
      extent->dropped.store(true, std::memory_order_release);
    }
  }
  addresses_.clear();
}

Status MovedLarge::copy(const tree::RunFile& from, uint32_t file) {
  const bool any = std::any_of(from.large.begin(), from.large.end(),
                               [&](const auto& extent) { return extent->address.file == file; });
  if (!any) return {};
  char* buffer = store_->residency->allocate(os::Quota::kMerge, kBufferBytes);
  if (buffer == nullptr) {
    return Status(StatusCode::kOutOfMemory, "no memory to move a large value");
  }
  Status status;
  for (const tree::ExtentRef& extent : from.large) {
    if (extent->address.file != file || addresses_.contains(extent->address)) continue;
    Result<tree::ExtentAddress> to = copy(*extent.get(), buffer);
    status = to.status();
    if (!status.ok()) break;
    addresses_.emplace(extent->address, *to);
    old_.push_back(extent);
  }
  store_->residency->release(os::Quota::kMerge, buffer, kBufferBytes);
  // Nobody syncs for these alone: the batch of the merge does for its new run.
  return status;
}

Result<tree::ExtentAddress> MovedLarge::copy(const tree::Extent& extent, char* buffer) {
  Result<tree::ExtentAddress> to = store_->space->allocate(extent.address.blocks);
  if (!to.ok()) return to;
  auto* made = new tree::Extent(store_->residency, *to, extent.bytes, false);
  made->dropped.store(true, std::memory_order_relaxed);  // until it is whole
  made->large_value = true;
  tree::ExtentRef reference(made);
  os::File* const source = store_->space->file(extent.address.file);
  os::File* const target = store_->space->file(to->file);
  for (size_t at = 0; at < extent.disk_bytes(); at += kBufferBytes) {
    const size_t bytes = std::min(kBufferBytes, extent.disk_bytes() - at);
    Status status = source->read_at(uint64_t{extent.address.block} * kBlock + at, {buffer, bytes});
    if (status.ok()) {
      status = target->write_at(uint64_t{to->block} * kBlock + at, {buffer, bytes});
    }
    if (!status.ok()) return status;
  }
  store_->space->mark_written(to->file);
  made->dropped.store(false, std::memory_order_release);
  store_->large->add(std::move(reference));
  return to;
}

std::vector<tree::ExtentRef> MovedLarge::keep() {
  give_back();
  return std::exchange(old_, {});
}

}  // namespace hawthorn::db
