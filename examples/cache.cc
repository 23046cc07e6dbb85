// A cache on disk that keeps to a size: what was not used lately goes first, by the CLOCK
// algorithm. Tree `values` holds what is cached, tree `marks` for each key its size, and whether it
// was used since the hand of the clock passed it. The hand goes around in the order of the keys.

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "must.h"

using hawthorn::Cursor;
using hawthorn::Db;
using hawthorn::Entry;
using hawthorn::Status;
using hawthorn::Tree;
using hawthorn::Value;
using hawthorn::WriteBatch;

namespace {

// What is lost at a power loss was in a cache, so nothing waits for the disk.
constexpr hawthorn::Durability kFast = hawthorn::Durability::kNone;

class Cache {
 public:
  Cache(Db& db, uint64_t bytes_max)
      : db_(db),
        bytes_max_(bytes_max),
        values_(must(db.tree("values"))),
        marks_(must(db.tree("marks"))) {
    must(db.scan(marks_, "", std::nullopt, [this](std::span<const Entry> entries) {
      for (const Entry& entry : entries) bytes_ += size_in(entry.value);
      return true;
    }));
  }

  // A read writes only when it is the first behind the hand.
  std::optional<std::string> get(const std::string& key) {
    Value value;
    const Status status = db_.get(values_, key, value);
    if (status.is_not_found()) return std::nullopt;
    must(status);
    const std::string unused = mark_of(false, key.size() + value.size());
    const std::string used = mark_of(true, key.size() + value.size());
    must(db_.replace(marks_, key, unused, used, kFast).status());
    return value.to_string();
  }

  // What is larger than the cache is not kept.
  void put(const std::string& key, std::string_view value) {
    const std::lock_guard<std::mutex> lock(mutex_);  // one thread evicts at a time
    WriteBatch batch;
    uint64_t kept = bytes_ - remove(batch, key);
    const uint64_t size = key.size() + value.size();
    if (size <= bytes_max_) {
      kept = evict(batch, kept, bytes_max_ - size, key) + size;
      batch.put(values_, key, value);
      batch.put(marks_, key, mark_of(false, size));
    }
    must(db_.write(batch, kFast));  // never more than the limit, for nobody who looks
    bytes_ = kept;
  }

  uint64_t bytes() const { return bytes_; }

 private:
  static std::string mark_of(bool used, uint64_t size) {
    return (used ? "+" : "-") + std::to_string(size);
  }
  static bool used_in(std::string_view mark) { return mark[0] == '+'; }
  static uint64_t size_in(std::string_view mark) { return std::stoul(std::string(mark.substr(1))); }

  // Returns how much that frees.
  uint64_t remove(WriteBatch& batch, const std::string& key) {
    Value mark;
    const Status status = db_.get(marks_, key, mark);
    if (status.is_not_found()) return 0;
    must(status);
    batch.del(values_, key);
    batch.del(marks_, key);
    return size_in(mark.view());
  }

  // Moves the hand on until what is kept takes no more than `limit`. What was used gets a second
  // chance, until the hand comes around again. `but`: is replaced anyway.
  uint64_t evict(WriteBatch& batch, uint64_t kept, uint64_t limit, const std::string& but) {
    Cursor cursor = db_.cursor(marks_);
    bool there = kept > limit && cursor.seek(hand_);
    for (int rounds = 0; kept > limit; there = cursor.next()) {
      if (!there) {
        must(cursor.status());
        must(++rounds <= 2 && cursor.first());  // in a second round nothing is marked any more
      }
      hand_ = cursor.key();
      if (hand_ == but) continue;
      const uint64_t size = size_in(cursor.value());
      if (used_in(cursor.value()) && rounds < 2) {
        batch.put(marks_, hand_, mark_of(false, size));
      } else {
        batch.del(values_, hand_);
        batch.del(marks_, hand_);
        kept -= size;
      }
    }
    hand_ += '\0';  // the next time from behind it
    return kept;
  }

  Db& db_;
  const uint64_t bytes_max_;
  Tree values_;
  Tree marks_;
  std::mutex mutex_;
  std::atomic<uint64_t> bytes_ = 0;
  std::string hand_;
};

}  // namespace

int main(int argc, char** argv) {
  constexpr uint64_t kLimit = 64 << 10;
  auto db = fresh_database(argc, argv);
  Cache cache(*db, kLimit);
  const auto hot = [](int i) { return "page/" + std::to_string(i * 7919) + "/hot"; };
  for (int i = 0; i < 20; ++i) cache.put(hot(i), std::string(200, 'h'));

  // Ten times as much as fits passes through; what is read all the time stays.
  for (int i = 0; i < 3000; ++i) {
    cache.put("page/" + std::to_string(i * 104729 % 1000003), std::string(200, 'c'));
    must(cache.bytes() <= kLimit);
    must(cache.get(hot(i % 20)).has_value());
  }
  must(cache.bytes() > kLimit / 2);
  must(!cache.get("page/0").has_value());  // was read by nobody
  cache.put("large", std::string(kLimit, 'l'));
  must(!cache.get("large").has_value() && cache.get(hot(0)).has_value());
  cache.put(hot(0), "new");
  must(cache.get(hot(0)) == "new");

  // The next process goes on with what is there.
  Cache next(*db, kLimit);
  must(next.bytes() == cache.bytes());
  Cache small(*db, 1000);
  small.put("one", "more");
  must(small.bytes() <= 1000 && small.get("one") == "more");
  must(db->close());
}
