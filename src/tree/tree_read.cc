// The reads of a tree: point reads that load what is not in memory, and staged reads of many keys.

#include <algorithm>

#include "format/run_layout.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/large_read.h"
#include "tree/tree.h"
#include "tree/value_access.h"

namespace hawthorn::tree {

// After a point read that found something outside of memory: loads it. `read.file` is pinned.
Status TreeState::fetch(const PointRead& read, Value& value, bool* again) {
  *again = true;
  RunFile* file = read.file;
  if (read.state == PointRead::State::kNeedRun) return store_->residency->load_run(file);
  if (store_->residency->roomy(file->values[read.extent]->disk_bytes())) {
    return store_->residency->load_values(file, read.extent);
  }
  *again = false;
  char* room = internal::ValueAccess::room(value, read.size);
  return store_->residency->read_values(file, read.extent, read.offset, read.size, room);
}

PointRead TreeState::read_at(const Descriptor& descriptor, std::string_view key, ReadView view,
                             bool registered) {
  const TxnSlots& slots = *store_->slots;
  if (registered) return read_point(descriptor, key, view, slots, true);
  view.ts = store_->visible->load(std::memory_order_acquire);
  PointRead read = read_point(descriptor, key, view, slots, false);
  if (read.state != PointRead::State::kStale) return read;
  // A commit above view.ts was passed over. Nothing that view.ts needs has been pruned as long as
  // visible_ts has not moved: to wait for that commit to become visible would be spinning.
  read = read_point(descriptor, key, view, slots, true);
  if (store_->visible->load(std::memory_order_acquire) != view.ts) {
    read.state = PointRead::State::kStale;
  }
  return read;
}

Status TreeState::get_encoded(std::string_view key, const ReadView& view, bool registered,
                              Value& value, bool* large) {
  *large = false;
  for (os::SpinWait wait;;) {
    PointRead read;
    PinnedRunFile pinned;
    {
      os::epoch::Guard guard;
      const Container* container = directory_.find(key);
      container->prefetch_read();
      const Descriptor* descriptor = container->descriptor.load(std::memory_order_acquire);
      // The descriptor comes before the timestamp (R15).
      HAWTHORN_TEST_POINT("tree.get.between_descriptor_and_timestamp");
      read = read_at(*descriptor, key, view, registered);
      switch (read.state) {
        case PointRead::State::kAbsent:
          return Status::not_found();
        case PointRead::State::kFound:
        case PointRead::State::kLarge:
          *large = read.state == PointRead::State::kLarge;
          internal::ValueAccess::copy(value, read.value);
          return {};
        case PointRead::State::kStale:
          break;
        case PointRead::State::kNeedRun:
        case PointRead::State::kNeedValue:
          pinned = PinnedRunFile(read.file);
          break;
      }
    }
    if (read.state == PointRead::State::kStale) {
      wait.once();
      continue;
    }
    HAWTHORN_TEST_POINT("tree.get.before_fetch");
    bool again = false;
    Status status = fetch(read, value, &again);
    if (!status.ok() || !again) return status;
  }
}

Status TreeState::get(std::string_view key, const ReadView& view, bool registered, Value& value) {
  std::string before;
  for (;;) {
    bool large = false;
    Status status = get_encoded(key, view, registered, value, &large);
    if (!status.ok() || !large) return status;
    std::string encoded = value.to_string();
    const Result<format::LargeValue> described = format::decode_large_value(encoded);
    if (!described.ok()) return described.status();
    if (described->size > kLargeValueBytesMax) {
      return Status(StatusCode::kNotSupported,
                    "a value of " + std::to_string(described->size) +
                        " bytes is too large to be read as a whole: read it by parts");
    }
    HAWTHORN_TEST_POINT("tree.get.before_large");
    char* room = internal::ValueAccess::room(value, described->size);
    status = read_large_value(*store_->residency, *described, room);
    // The extents may have been dropped and used again meanwhile. Damage is declared only of what
    // the key still refers to (R24).
    if (!status.is(StatusCode::kCorruption) || encoded == before) return status;
    before = std::move(encoded);
  }
}

namespace {
constexpr size_t kGroupKeys = 64;

// One key of multi_get on its way through the stages.
struct Lookup {
  const Container* container;
  const Descriptor* descriptor;
  const Run* run;
  const char* value;
  uint64_t head;
  uint64_t hash;
  uint32_t group;
  uint32_t size;
  const DeltaEntry* entry;  // that may be the key's; null: no delta holds it
  bool unflushed;
  bool slow;  // goes the way of a single get
};

// As many lines as most versions have, behind an entry or where its newest one is.
void prefetch_version(const void* at) {
  for (size_t line = 0; line < 5; ++line) {
    __builtin_prefetch(static_cast<const char*>(at) + line * 64);
  }
}
}  // namespace

Status TreeState::multi_get(std::span<const std::string_view> keys, const ReadView& view,
                            ReadBatch& out) {
  BatchItem* items = internal::ValueAccess::start(out, keys.size());
  Lookup group[kGroupKeys];
  Value single;
  for (size_t base = 0; base < keys.size(); base += kGroupKeys) {
    const size_t count = std::min(kGroupKeys, keys.size() - base);
    {
      os::epoch::Guard guard;
      for (size_t i = 0; i < count; ++i) {
        group[i].container = directory_.find(keys[base + i]);
        __builtin_prefetch(group[i].container);
      }
      for (size_t i = 0; i < count; ++i) {
        group[i].container->prefetch_read();
        group[i].descriptor = group[i].container->descriptor.load(std::memory_order_acquire);
      }
      for (size_t i = 0; i < count; ++i) {
        Lookup& l = group[i];
        l.run = l.descriptor->run->seen_at(view.ts)->run.load(std::memory_order_acquire);
        l.slow = l.run == nullptr;
        if (l.run != nullptr) {
          l.head = key_head(keys[base + i], l.run->skip());
        }
        // A delta that is empty now will hold nothing for the registered timestamp later.
        const Delta* frozen = l.descriptor->frozen;
        l.unflushed = !l.descriptor->active->empty() || frozen != nullptr;
        if (l.unflushed) {
          l.hash = Delta::hash(keys[base + i]);
          l.descriptor->active->prefetch(l.hash);
          if (frozen != nullptr) frozen->prefetch(l.hash);
        }
      }
      for (size_t i = 0; i < count; ++i) {
        Lookup& l = group[i];
        const Delta* frozen = l.descriptor->frozen;
        l.entry = l.unflushed ? l.descriptor->active->candidate(l.hash) : nullptr;
        if (l.entry == nullptr && frozen != nullptr) l.entry = frozen->candidate(l.hash);
        if (l.entry != nullptr) prefetch_version(l.entry);
        if (l.entry != nullptr || l.slow) continue;
        l.group = l.run->locate(l.head);
        l.run->prefetch(l.group);
      }
      for (size_t i = 0; i < count; ++i) {
        Lookup& l = group[i];
        l.value = nullptr;
        if (l.entry != nullptr) prefetch_version(l.entry->newest.load(std::memory_order_acquire));
        if (l.entry != nullptr || l.slow) continue;
        l.descriptor->run->touch();
        const uint32_t index = l.run->find_from(l.group, keys[base + i], l.head, view.ts);
        if (index == Run::kNone) continue;
        uint32_t extent = 0;
        uint32_t offset = 0;
        if (!l.run->plain(index, &l.value, &extent, &offset)) {
          l.slow = true;
          continue;
        }
        if (l.value == nullptr) {
          const char* bytes = l.descriptor->run->bases[extent].load(std::memory_order_acquire);
          l.slow = bytes == nullptr;
          l.value = l.slow ? nullptr : bytes + offset;
          l.size = l.run->fixed_value_size();
          // The rest of it the hardware fetches as soon as more prefetches would.
          __builtin_prefetch(l.value);
        } else {
          l.size = l.run->fixed_inline_size();
        }
        l.slow = l.slow || l.size > internal::ValueAccess::kCopyMax;
      }
      for (size_t i = 0; i < count; ++i) {
        Lookup& l = group[i];
        if (l.entry != nullptr) {
          const PointRead read =
              read_point(*l.descriptor, keys[base + i], view, *store_->slots, true);
          const bool found = read.state == PointRead::State::kFound;
          l.slow = read.state != PointRead::State::kAbsent &&
                   (!found || read.value.size() > internal::ValueAccess::kCopyMax);
          if (l.slow || !found) continue;
          l.value = read.value.data();
          l.size = static_cast<uint32_t>(read.value.size());
        } else if (l.slow || l.value == nullptr) {
          continue;
        }
        char* room = internal::ValueAccess::room(out, l.size);
        std::memcpy(room, l.value, l.size);
        items[base + i] = {StatusCode::kOk, {room, l.size}};
      }
    }
    for (size_t i = 0; i < count; ++i) {
      if (!group[i].slow) continue;
      Status status = get(keys[base + i], view, true, single);
      if (status.is_not_found()) continue;
      if (!status.ok()) return status;
      const std::string_view bytes = single.view();
      if (bytes.size() <= internal::ValueAccess::kCopyMax) {
        char* room = internal::ValueAccess::room(out, bytes.size());
        std::memcpy(room, bytes.data(), bytes.size());
        items[base + i] = {StatusCode::kOk, {room, bytes.size()}};
      } else {
        auto* kept = new std::string(bytes);
        internal::ValueAccess::add_pin(
            out, {[](void* owner) { delete static_cast<std::string*>(owner); }, kept});
        items[base + i] = {StatusCode::kOk, *kept};
      }
    }
  }
  return {};
}

}  // namespace hawthorn::tree
