#include "db/check_report.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hawthorn {

std::string CheckItem::to_string() const {
  std::string text;
  if (!file.empty()) {
    text = file + " at " + std::to_string(offset);
    if (bytes != 0) text += ", " + std::to_string(bytes) + " bytes";
    text += ": ";
  }
  text += what;
  if (container == 0) return text;
  text += " (container " + std::to_string(container) + ", ";
  if (!tree_name.empty()) text += tree::quoted_key(tree_name) + ", ";
  return text + tree::key_range_text(tree, low_key, high_key.value_or(""), high_key.has_value()) +
         ")";
}

}  // namespace hawthorn

namespace hawthorn::db {

namespace {
constexpr uint64_t kCheckSliceUs = 10'000;  // whether it is to end is asked that often
}  // namespace

void CheckSink::add(CheckItem item) {
  found_.fetch_add(1, std::memory_order_relaxed);
  {
    os::MutexLock lock(mutex_);
    if (items_.size() >= errors_max_) return;
  }
  if (item.container != 0 && item.tree != format::kCatalogTree) {
    item.tree_name = database_.catalog_->manifest_name(item.tree);
  }
  os::MutexLock lock(mutex_);
  if (items_.size() < errors_max_) items_.push_back(std::move(item));
}

void CheckSink::failed(CheckItem item, const Status& status) {
  if (status.is(StatusCode::kCorruption)) {
    if (item.kind == CheckItem::Kind::kUnchecked) item.kind = CheckItem::Kind::kStructure;
    item.what += ": " + std::string(status.message());
  } else {
    item.kind = CheckItem::Kind::kUnchecked;
    item.what += ": not checked: " + status.to_string();
  }
  add(std::move(item));
}

CheckReport CheckSink::take() {
  CheckReport report;
  report.trees = trees.load();
  report.containers = containers.load();
  report.entries = entries.load();
  report.subtrees = subtrees.load();
  report.large_values = large_values.load();
  report.bytes_verified = bytes.load();
  report.blocks_verified = blocks.load();
  report.log_records = log_records.load();
  report.manifest_batches = manifest_batches.load();
  report.bytes_unaccounted = bytes_unaccounted.load();
  os::MutexLock lock(mutex_);
  // Those of no container first.
  const auto place = [](const CheckItem& item) {
    return std::tie(item.tree, item.low_key, item.container, item.file, item.offset, item.what);
  };
  std::sort(items_.begin(), items_.end(), [&](const CheckItem& a, const CheckItem& b) {
    const bool first = a.container == 0;
    const bool second = b.container == 0;
    return first != second ? first : place(a) < place(b);
  });
  report.items = std::move(items_);
  items_.clear();
  for (const CheckItem& item : report.items) report.errors.push_back(item.to_string());
  report.errors_left_out = found_.exchange(0) - report.items.size();
  return report;
}

CheckPace::CheckPace(Db::Impl& database, uint64_t bytes_per_second, std::function<bool()> stopped)
    : database_(database), own_(database.machine_.clock), stopped_(std::move(stopped)) {
  own_.set_rate(bytes_per_second);
}

uint64_t CheckPace::wait_us() {
  return std::max(own_.wait_us(), database_.background_io_.wait_us());
}

bool CheckPace::await() {
  for (;;) {
    if (stopped()) return false;
    const uint64_t others = database_.background_io_.wait_us();
    const uint64_t left = std::max(own_.wait_us(), others);
    if (left == 0) return true;
    const uint64_t slice = std::min(left, kCheckSliceUs);
    database_.machine_.clock->sleep_us(slice);
    if (others > 0) database_.background_io_.count_wait(slice);
  }
}

void CheckPace::count(uint64_t bytes) {
  {
    const os::IoLimit::Scope counts(&own_);
    os::IoLimit::note(bytes);
  }
  const os::IoLimit::Scope counts(&database_.background_io_);
  os::IoLimit::note(bytes);
}

}  // namespace hawthorn::db
