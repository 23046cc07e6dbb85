// The reads of a tree: point reads that load what is not in memory, and staged reads of many keys.

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "format/run_layout.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/large_read.h"
#include "tree/point_get.h"
#include "tree/tree.h"
#include "tree/value_access.h"

namespace hawthorn::tree {

PointRead TreeState::read_at(const Descriptor& descriptor, std::string_view key, ReadView view,
                             bool registered, ColdBlocks* cold, Operands* operands) {
  const TxnSlots& slots = *store_->slots;
  if (operands != nullptr) operands->clear();
  if (registered) return read_point(descriptor, key, view, slots, true, cold, operands);
  view.ts = store_->visible->load(std::memory_order_acquire);
  PointRead read = read_point(descriptor, key, view, slots, false, cold, operands);
  if (read.state != PointRead::State::kStale) return read;
  // A commit above view.ts was passed over. Nothing that view.ts needs has been pruned as long as
  // visible_ts has not moved: to wait for that commit to become visible would be spinning.
  if (operands != nullptr) operands->clear();
  read = read_point(descriptor, key, view, slots, true, cold, operands);
  if (store_->visible->load(std::memory_order_acquire) != view.ts) {
    read.state = PointRead::State::kStale;
  }
  return read;
}

Status TreeState::get_encoded(std::string_view key, const ReadView& view, bool registered,
                              Value& value, bool* large, bool* own) {
  std::string before;
  for (;;) {
    PointGet get(this, key, view, registered, &value);
    while (!get.advance()) {
      get.arrived(store_->residency->disk().read(get.request()));
    }
    get.settle();
    *large = get.large() && get.operands().empty();
    if (own != nullptr) *own = get.tree() == this;
    if (!get.status().ok() || *large == get.large()) return get.status();
    // A large value with operands above it: what they make of it is in no extent.
    std::string encoded = value.to_string();
    std::string base;
    Status status = read_large(encoded, [&base](size_t bytes) {
      base.resize(bytes);
      return base.data();
    });
    if (status.is(StatusCode::kCorruption) && encoded != before) {
      before = std::move(encoded);
      continue;
    }
    std::string result;
    if (status.ok()) status = fold(key, base, get.operands(), &result);
    if (status.ok()) internal::ValueAccess::copy(value, result);
    return status;
  }
}

// Reads what an encoded format::LargeValue describes to where `room` says.
Status TreeState::read_large(const std::string& encoded,
                             const std::function<char*(size_t)>& room) const {
  const Result<format::LargeValue> described = format::decode_large_value(encoded);
  if (!described.ok()) return described.status();
  if (described->size > kLargeValueBytesMax) return too_large_to_read(described->size);
  HAWTHORN_TEST_POINT("tree.get.before_large");
  return read_large_value(*store_->residency, *described, room(described->size));
}

Status TreeState::get(std::string_view key, const ReadView& view, bool registered, Value& value) {
  std::string before;
  for (;;) {
    bool large = false;
    Status status = get_encoded(key, view, registered, value, &large);
    if (!status.ok() || !large) return status;
    std::string encoded = value.to_string();
    status = read_large(
        encoded, [&value](size_t bytes) { return internal::ValueAccess::room(value, bytes); });
    // The extents may have been dropped and used again meanwhile. Damage is declared only of what
    // the key still refers to (R24).
    if (!status.is(StatusCode::kCorruption) || encoded == before) return status;
    before = std::move(encoded);
  }
}

namespace {
constexpr size_t kGroupKeys = 64;
constexpr size_t kSlowKeys = os::kLeasedDepth;  // read from disk at once

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
  if (at == nullptr) return;
  for (size_t line = 0; line < 5; ++line) {
    __builtin_prefetch(static_cast<const char*>(at) + line * 64);
  }
}
}  // namespace

Status TreeState::multi_get(std::span<const std::string_view> keys, const ReadView& view,
                            ReadBatch& out) {
  BatchItem* items = internal::ValueAccess::start(out, keys.size());
  Lookup group[kGroupKeys];
  std::vector<uint32_t> slow;
  for (size_t base = 0; base < keys.size(); base += kGroupKeys) {
    const size_t count = std::min(kGroupKeys, keys.size() - base);
    {
      os::epoch::Guard guard;
      const bool layered = base_ != nullptr || layers_.concern(view, true);
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
        l.slow = layered || l.run == nullptr || l.run->heap() == nullptr;
        if (!l.slow) {
          l.head = key_head(keys[base + i], l.run->skip());
        }
        // A delta that is empty now will hold nothing for the registered timestamp later.
        const Delta* frozen = l.descriptor->frozen;
        l.unflushed = !layered && (!l.descriptor->active->empty() || frozen != nullptr);
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
        const bool frozen_too = l.unflushed && l.entry == nullptr && frozen != nullptr;
        if (frozen_too) l.entry = frozen->candidate(l.hash);
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
      if (group[i].slow) slow.push_back(static_cast<uint32_t>(base + i));
    }
  }
  for (size_t at = 0; at < slow.size(); at += kSlowKeys) {
    const auto some = std::span(slow).subspan(at, std::min(kSlowKeys, slow.size() - at));
    if (Status s = read_slow(keys, some, view, out, items); !s.ok()) return s;
  }
  return {};
}

namespace {

// Reads what these gets ask for: many with one submission, blocks that several ask for once.
void read_together(DiskReads& disk, std::vector<PointGet*>& gets, os::IoQueue& queue) {
  std::sort(gets.begin(), gets.end(), [](const PointGet* a, const PointGet* b) {
    const os::IoRead x = a->request();
    const os::IoRead y = b->request();
    return x.file != y.file ? x.file < y.file : x.offset < y.offset;
  });
  std::vector<os::IoRead> reads;
  for (size_t i = 0; i < gets.size(); ++i) {
    if (i > 0 && !reads.empty() &&
        gets[i]->same_blocks(*static_cast<const PointGet*>(reads.back().context))) {
      gets[i]->skip();
      continue;
    }
    reads.push_back(gets[i]->request());
    reads.back().context = gets[i];
  }
  disk.read_all(queue, reads, [](os::IoCompletion done) {
    static_cast<PointGet*>(done.context)->arrived(std::move(done.status));
  });
}

}  // namespace

// The keys of multi_get that memory alone did not answer.
Status TreeState::read_slow(std::span<const std::string_view> keys, std::span<const uint32_t> slow,
                            const ReadView& view, ReadBatch& out, BatchItem* items) {
  std::vector<Value> values(slow.size());
  std::deque<PointGet> gets;
  std::vector<PointGet*> waiting;
  for (size_t i = 0; i < slow.size(); ++i) {
    gets.emplace_back(this, keys[slow[i]], view, true, &values[i]);
    if (!gets.back().advance()) waiting.push_back(&gets.back());
  }
  if (!waiting.empty()) {
    const os::IoQueueLease queue = store_->machine->queues->lease();
    while (!waiting.empty()) {
      read_together(store_->residency->disk(), waiting, *queue);
      std::erase_if(waiting, [](PointGet* get) { return get->advance(); });
    }
  }
  for (PointGet& get : gets) get.settle();
  for (size_t i = 0; i < slow.size(); ++i) {
    Status status = gets[i].status();
    if (status.ok() && gets[i].large()) status = get(keys[slow[i]], view, true, values[i]);
    if (status.is_not_found()) continue;
    if (!status.ok()) return status;
    const std::string_view bytes = values[i].view();
    if (bytes.size() <= internal::ValueAccess::kCopyMax) {
      char* room = internal::ValueAccess::room(out, bytes.size());
      std::memcpy(room, bytes.data(), bytes.size());
      items[slow[i]] = {StatusCode::kOk, {room, bytes.size()}};
    } else {
      auto* kept = new std::string(bytes);
      internal::ValueAccess::add_pin(
          out, {[](void* owner) { delete static_cast<std::string*>(owner); }, kept});
      items[slow[i]] = {StatusCode::kOk, *kept};
    }
  }
  return {};
}

}  // namespace hawthorn::tree
