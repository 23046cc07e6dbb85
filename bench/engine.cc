#include "bench/engine.h"

#include <array>
#include <mutex>
#include <vector>

#include "bench/stamp.h"

namespace hawthorn::bench {
namespace {

// A lock for each of many groups of keys. A process runs one engine, so one set serves all.
class KeyLocks {
 public:
  std::mutex& of(std::string_view key) {
    uint64_t hash = key.size();
    for (const char c : key) hash = hash * 0x100000001b3ULL ^ static_cast<unsigned char>(c);
    return stripes_[mix64(hash) % kStripes].mutex;
  }

 private:
  static constexpr size_t kStripes = 4096;
  struct alignas(64) Stripe {
    std::mutex mutex;
  };
  std::array<Stripe, kStripes> stripes_;
};

KeyLocks& key_locks() {
  static KeyLocks locks;
  return locks;
}

}  // namespace

void Writer::put_now(std::string_view key, std::string_view value) {
  begin(WriteIntent::kBlind);
  put(key, value);
  commit();
}

uint64_t Writer::modify(std::string_view key, const Change& change) {
  const std::lock_guard lock(key_locks().of(key));
  begin(WriteIntent::kReadWrite);
  std::string_view old;
  const bool found = get(key, old);
  std::string next;
  change(found, old, next);
  put(key, next);
  commit();
  return 0;
}

void Reader::read_many(ReadStream& stream, size_t depth) {
  const size_t together = reads_together() ? depth : 1;
  std::vector<std::string_view> keys(together);
  std::vector<std::string_view> values(together);
  for (bool more = true; more;) {
    size_t count = 0;
    while (count < together && (more = stream.next(count, keys[count]))) ++count;
    if (count == 0) return;
    for (size_t slot = 0; slot < count; ++slot) stream.start(slot);
    if (count == 1) {
      if (!get(keys[0], values[0])) values[0] = {};
    } else {
      multi_get(std::span(keys).first(count), std::span(values).first(count));
    }
    for (size_t slot = 0; slot < count; ++slot) stream.done(slot, values[slot]);
  }
}

}  // namespace hawthorn::bench
