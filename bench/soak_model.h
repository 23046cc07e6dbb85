#pragma once
// What the soak's database may hold at any moment: for each item whether it is there, in which
// version, and whether a write of it is under way.
//
// Items are numbers; their keys are in the same order. They lie in strips, and each strip has one
// writer, the only thread that changes its items. Not here: the threads (soak.cc). Threads: any.
//
// 1. A writer calls begin_write before the commit that it is in, and end_write behind it. So an
//    answer was given while an item had one known state when its state was the same, with no write
//    under way, before the view of the answer began and after the answer came.
// 2. Each write gives an item another version, deletes included: a state comes again only after
//    16,384 of them. Values carry its low eight bits.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sinks.h"
#include "bench/stamp.h"

namespace hawthorn::bench {

class ItemState {
 public:
  ItemState() = default;
  explicit ItemState(uint16_t bits) : bits_(bits) {}

  bool under_way() const { return (bits_ & kUnderWay) != 0; }
  bool present() const { return (bits_ & kPresent) != 0; }
  uint8_t version() const { return static_cast<uint8_t>(bits_); }
  // What a write of the item makes of it.
  ItemState next(bool present) const {
    const auto version = static_cast<uint16_t>((bits_ + 1) & kVersion);
    return ItemState(static_cast<uint16_t>(version | (present ? kPresent : 0)));
  }
  uint16_t bits() const { return bits_; }
  bool operator==(const ItemState&) const = default;

  static constexpr uint16_t kUnderWay = 0x8000;
  static constexpr uint16_t kPresent = 0x4000;
  static constexpr uint16_t kVersion = 0x3fff;

 private:
  uint16_t bits_ = 0;
};

class SoakModel {
 public:
  // Room for `records` that are there at a time, in strips of `writers` writers.
  SoakModel(uint64_t records, uint64_t value_bytes, unsigned writers, Fill fill);

  uint64_t items() const { return items_; }
  uint64_t items_of_strip() const { return items_of_strip_; }
  uint64_t strips_of_writer() const { return items_ / items_of_strip_ / writers_; }
  // The first item of a writer's n-th strip.
  uint64_t strip(unsigned writer, uint64_t n) const {
    return (n * writers_ + writer) * items_of_strip_;
  }
  // Whether the load writes it.
  static bool is_loaded(uint64_t item) { return mix64(item) % kShareOf != 0; }

  ItemState state(uint64_t item) const {
    return ItemState(states_[item].load(std::memory_order_acquire));
  }
  // By the item's writer.
  void begin_write(uint64_t item) { states_[item].fetch_or(ItemState::kUnderWay); }
  void end_write(uint64_t item, ItemState next) { states_[item].store(next.bits()); }

  // The key, as the number that its eight bytes are in order; the item of such a number, or
  // items() where it has none.
  uint64_t number_of(uint64_t item) const { return item * step_ + mix64(item) % step_; }
  uint64_t item_of(uint64_t number) const;

  uint64_t value_bytes(uint64_t item, uint8_t version) const;
  // Keys and values of an item that is there.
  uint64_t bytes(uint64_t item, uint8_t version) const {
    return kKeyBytes + value_bytes(item, version);
  }
  // Whether it is a value of the item, to the last byte, of the version that it says.
  bool is_value(uint64_t item, std::string_view value) const;

  // Whether the answer may be: whether the item was found with this value by a view that began
  // after `before` was read and ended before `after` was.
  bool fits(uint64_t item, ItemState before, ItemState after, bool found,
            std::string_view value) const;

  // What of a range was found, in the order in which it came.
  struct Found {
    uint64_t item = 0;
    uint8_t version = 0;
  };
  // Whether a range of `wanted` entries from `first` on may be that. before, after: the states of
  // the items from `first` on.
  bool fits_range(uint64_t first, std::span<const ItemState> before,
                  std::span<const ItemState> after, std::span<const Found> found,
                  uint64_t wanted) const;

  // For messages.
  std::string describe(uint64_t item, ItemState before, ItemState after) const;

 private:
  friend class SoakRecord;
  static constexpr uint64_t kShareOf = 5;  // one item in so many is missing

  const unsigned writers_;
  const Fill fill_;
  const uint64_t value_bytes_min_;
  const uint64_t value_bytes_max_;
  uint64_t items_of_strip_ = 0;
  uint64_t items_ = 0;
  uint64_t step_ = 0;  // from key to key, as numbers
  std::unique_ptr<std::atomic<uint16_t>[]> states_;
};

// Key and value of an item, in buffers that are used again.
class SoakRecord {
 public:
  explicit SoakRecord(const SoakModel& model)
      : model_(model), value_(model.value_bytes_max_, '\0') {}

  void make_key(uint64_t item);
  void make(uint64_t item, uint8_t version);
  std::string_view key() const { return {key_, sizeof key_}; }
  std::string_view value() const { return {value_.data(), size_}; }

 private:
  const SoakModel& model_;
  char key_[kKeyBytes] = {};
  std::string value_;
  size_t size_ = 0;
};

// Takes what a range hands out, and checks order, keys and values.
class SoakSink : public EntrySink {
 public:
  explicit SoakSink(const SoakModel& model) : model_(model) {}
  void restart() {
    found_.clear();
    errors_ = 0;
  }
  void add(std::string_view key, std::string_view value) override;
  uint64_t errors() const { return errors_; }
  std::span<const SoakModel::Found> found() const { return found_; }

 private:
  const SoakModel& model_;
  std::vector<SoakModel::Found> found_;
  uint64_t errors_ = 0;
};

// Compares all entries with what must be there while nobody writes.
class SoakWalk : public EntrySink {
 public:
  explicit SoakWalk(const SoakModel& model) : model_(model) {}
  void add(std::string_view key, std::string_view value) override;
  // Behind the last entry.
  void finish() { skip_to(model_.items()); }
  uint64_t entries() const { return entries_; }
  uint64_t errors() const { return errors_; }

 private:
  void skip_to(uint64_t item);

  const SoakModel& model_;
  uint64_t next_ = 0;  // the item that may come next
  uint64_t entries_ = 0;
  uint64_t errors_ = 0;
};

}  // namespace hawthorn::bench
