#include "bench/soak_model.h"

#include <algorithm>

#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr uint64_t kStripItemsMin = 64;
constexpr uint64_t kStripItemsMax = 4096;
constexpr uint64_t kStripsOfWriter = 32;  // at least

uint64_t number_of_key(std::string_view key) { return big_endian(load64(key.data())); }
uint8_t version_in(std::string_view value) { return static_cast<uint8_t>(load64(value.data())); }

}  // namespace

SoakModel::SoakModel(uint64_t records, uint64_t value_bytes, unsigned writers, Fill fill)
    : writers_(writers),
      fill_(fill),
      value_bytes_min_(std::max<uint64_t>(kStampBytes, value_bytes / 2)),
      value_bytes_max_(std::max<uint64_t>(kStampBytes, value_bytes + value_bytes / 2)) {
  const uint64_t wanted = records * kShareOf / (kShareOf - 1);
  items_of_strip_ =
      std::clamp(wanted / (writers * kStripsOfWriter), kStripItemsMin, kStripItemsMax);
  const uint64_t of_writers = writers * items_of_strip_;
  items_ = (wanted + of_writers - 1) / of_writers * of_writers;
  step_ = ~uint64_t{0} / items_;
  states_ = std::make_unique<std::atomic<uint16_t>[]>(items_);
}

uint64_t SoakModel::item_of(uint64_t number) const {
  const uint64_t item = number / step_;
  return item < items_ && number_of(item) == number ? item : items_;
}

uint64_t SoakModel::value_bytes(uint64_t item, uint8_t version) const {
  return value_bytes_min_ +
         scale(mix64(item * 256 + version), value_bytes_max_ - value_bytes_min_ + 1);
}

bool SoakModel::is_value(uint64_t item, std::string_view value) const {
  if (value.size() < kStampBytes || value.size() != value_bytes(item, version_in(value))) {
    return false;
  }
  return value_is_whole(big_endian(number_of(item)), version_in(value), value, fill_);
}

bool SoakModel::fits(uint64_t item, ItemState before, ItemState after, bool found,
                     std::string_view value) const {
  if (found && !is_value(item, value)) return false;
  if (before != after || before.under_way()) return true;
  return found == before.present() && (!found || version_in(value) == before.version());
}

bool SoakModel::fits_range(uint64_t first, std::span<const ItemState> before,
                           std::span<const ItemState> after, std::span<const Found> found,
                           uint64_t wanted) const {
  if (found.size() > wanted || (!found.empty() && found.front().item < first)) return false;
  // How far the entries tell what is there and what is not: to the end where there were too few.
  uint64_t end = first + before.size();
  if (found.size() == wanted) {
    end = found.empty() ? first : std::min(end, found.back().item + 1);
  }
  size_t at = 0;
  for (uint64_t item = first; item < end; ++item) {
    const bool seen = at < found.size() && found[at].item == item;
    const ItemState was = before[item - first];
    if (was == after[item - first] && !was.under_way()) {
      if (seen != was.present() || (seen && found[at].version != was.version())) return false;
    }
    if (seen) ++at;
  }
  return true;
}

std::string SoakModel::describe(uint64_t item, ItemState before, ItemState after) const {
  const auto text = [](ItemState state) {
    return print_text("%s %u%s", state.present() ? "there, version" : "missing since version",
                      state.bits() & ItemState::kVersion,
                      state.under_way() ? " with a write under way" : "");
  };
  return print_text("item %lu (key %016lx), before %s, after %s", item, number_of(item),
                    text(before).c_str(), text(after).c_str());
}

void SoakRecord::make_key(uint64_t item) { store64(key_, big_endian(model_.number_of(item))); }

void SoakRecord::make(uint64_t item, uint8_t version) {
  make_key(item);
  size_ = model_.value_bytes(item, version);
  make_value(load64(key_), version, value_.data(), size_, model_.fill_);
}

void SoakSink::add(std::string_view key, std::string_view value) {
  const uint64_t item =
      key.size() == kKeyBytes ? model_.item_of(number_of_key(key)) : model_.items();
  const bool in_order = found_.empty() || found_.back().item < item;
  if (item == model_.items() || !in_order || !model_.is_value(item, value)) {
    ++errors_;
    return;
  }
  found_.push_back({item, version_in(value)});
}

void SoakWalk::skip_to(uint64_t item) {
  for (; next_ < item; ++next_) errors_ += model_.state(next_).present() ? 1 : 0;
}

void SoakWalk::add(std::string_view key, std::string_view value) {
  ++entries_;
  const uint64_t item =
      key.size() == kKeyBytes ? model_.item_of(number_of_key(key)) : model_.items();
  if (item == model_.items() || item < next_) {
    ++errors_;
    return;
  }
  skip_to(item);
  const ItemState state = model_.state(item);
  errors_ += model_.fits(item, state, state, true, value) ? 0 : 1;
  next_ = item + 1;
}

}  // namespace hawthorn::bench
