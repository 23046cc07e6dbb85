#include "db/moved_large.h"

#include <algorithm>
#include <utility>

#include "format/large_value.h"
#include "os/epoch.h"
#include "os/file.h"

namespace hawthorn::db {

namespace {
constexpr size_t kMoveBufferBytes = size_t{256} << 10;
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
  char* buffer = store_->residency->allocate(os::Quota::kMerge, kMoveBufferBytes);
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
  store_->residency->release(os::Quota::kMerge, buffer, kMoveBufferBytes);
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
  for (size_t at = 0; at < extent.disk_bytes(); at += kMoveBufferBytes) {
    const size_t bytes = std::min(kMoveBufferBytes, extent.disk_bytes() - at);
    Status status =
        source->read_at(uint64_t{extent.address.block} * os::kBlockBytes + at, {buffer, bytes});
    if (status.ok()) {
      status = target->write_at(uint64_t{to->block} * os::kBlockBytes + at, {buffer, bytes});
    }
    if (!status.ok()) return status;
  }
  store_->space->mark_written(to->file);
  made->dropped.store(false, std::memory_order_release);
  store_->large->add(std::move(reference));
  return to;
}

// Of the versions that a merge behind this look will not have, those of large values.
template <typename Moves>
bool MovedLarge::any_named(const tree::Container& container, Moves moves) {
  os::epoch::Guard guard;
  const tree::Delta& delta = *container.descriptor.load(std::memory_order_acquire)->active;
  tree::DeltaEntry* entries[64];
  size_t count = delta.collect_first(entries);
  while (count > 0) {
    for (size_t i = 0; i < count; ++i) {
      for (const tree::Version* v = entries[i]->newest.load(std::memory_order_acquire);
           v != nullptr; v = v->older.load(std::memory_order_acquire)) {
        if (v->kind != tree::VersionKind::kLarge) continue;
        const Result<format::LargeValue> value = format::decode_large_value(v->value());
        if (!value.ok()) return true;
        if (std::any_of(value->extents.begin(), value->extents.end(), moves)) return true;
      }
    }
    const tree::DeltaEntry* last = entries[count - 1];
    count = delta.collect(tree::Delta::Seek::kGreater, last->key(), last->head, entries);
  }
  return false;
}

bool MovedLarge::named(const tree::Container& container) const {
  return any_named(container, [this](const auto& address) { return addresses_.contains(address); });
}

bool MovedLarge::named(const tree::Container& container, const tree::RunFile& run, uint32_t file) {
  return any_named(container, [&](const tree::ExtentAddress& address) {
    return address.file == file &&
           std::any_of(run.large.begin(), run.large.end(),
                       [&](const auto& extent) { return extent->address == address; });
  });
}

std::vector<tree::ExtentRef> MovedLarge::keep() {
  give_back();
  return std::exchange(old_, {});
}

}  // namespace hawthorn::db
