// A store of measurements: points of many series, each by its time, kept for a while and then gone
// by themselves; means per hour are kept for longer.

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "must.h"

using hawthorn::Cursor;
using hawthorn::Db;
using hawthorn::Entry;
using hawthorn::Expiry;
using hawthorn::Tree;

namespace {

constexpr uint64_t kMinuteMs = 60'000;
constexpr uint64_t kHourMs = 60 * kMinuteMs;
constexpr uint64_t kDayMs = 24 * kHourMs;

struct Point {
  uint64_t time_ms = 0;
  double value = 0;
};

// A series' points lie together, in the order of their times: the name, a zero byte, and eight
// bytes whose order is that of the numbers.
std::string key_of(std::string_view series, uint64_t time_ms) {
  std::string key(series);
  key += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(time_ms >> shift & 0xff);
  return key;
}

Point point_of(std::string_view key, std::string_view value) {
  Point point;
  for (const char c : key.substr(key.size() - 8)) {
    point.time_ms = point.time_ms << 8 | static_cast<unsigned char>(c);
  }
  must(value.size() == sizeof(double));
  std::memcpy(&point.value, value.data(), sizeof(double));
  return point;
}

class TimeSeries {
 public:
  TimeSeries(Db& db, const std::string& name, uint64_t kept_ms)
      : db_(db), kept_ms_(kept_ms), points_(must(db.tree(name, {.expires = true}))) {}

  // All of them at one moment. A point ends by its own time, so one that comes late ends no later.
  void add(std::string_view series, const std::vector<Point>& points) {
    hawthorn::WriteBatch batch;
    for (const Point& point : points) {
      char bytes[sizeof(double)];
      std::memcpy(bytes, &point.value, sizeof(double));
      batch.put(points_, key_of(series, point.time_ms), {bytes, sizeof(bytes)},
                Expiry::at_ms(point.time_ms + kept_ms_));
    }
    must(db_.write(batch, hawthorn::Durability::kAsync));  // a power loss takes milliseconds
  }

  // Those of [from, to), oldest first.
  std::vector<Point> range(std::string_view series, uint64_t from_ms, uint64_t to_ms) {
    std::vector<Point> points;
    const std::string end = key_of(series, to_ms);
    must(db_.scan(points_, key_of(series, from_ms), end, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) points.push_back(point_of(entry.key, entry.value));
      return true;
    }));
    return points;
  }

  std::optional<Point> latest(std::string_view series) {
    Cursor cursor = db_.cursor(points_, {.lower = key_of(series, 0)});
    if (!cursor.seek_for_prev(key_of(series, UINT64_MAX))) {
      must(cursor.status());
      return std::nullopt;
    }
    return point_of(cursor.key(), cursor.value());
  }

  // The means of each `step_ms` of a range.
  std::vector<Point> means(std::string_view series, uint64_t from_ms, uint64_t to_ms,
                           uint64_t step_ms) {
    std::map<uint64_t, std::pair<double, int>> sums;
    for (const Point& point : range(series, from_ms, to_ms)) {
      auto& [sum, count] = sums[point.time_ms / step_ms * step_ms];
      sum += point.value;
      ++count;
    }
    std::vector<Point> means;
    for (const auto& [time_ms, sum] : sums) means.push_back({time_ms, sum.first / sum.second});
    return means;
  }

 private:
  Db& db_;
  const uint64_t kept_ms_;
  Tree points_;
};

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  TimeSeries raw(*db, "raw", 2 * kDayMs);
  TimeSeries hourly(*db, "hourly", 365 * kDayMs);

  // Three days of a sensor, a point a minute; the first day of them is over already.
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ms = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count());
  const uint64_t end_ms = now_ms / kHourMs * kHourMs;
  const uint64_t begin_ms = end_ms - 3 * kDayMs;
  std::vector<Point> day;
  for (uint64_t time_ms = begin_ms; time_ms < end_ms; time_ms += kMinuteMs) {
    day.push_back({time_ms, static_cast<double>((time_ms - begin_ms) / kHourMs)});
    if (day.size() == 24 * 60) raw.add("cellar/temperature", std::exchange(day, {}));
  }
  raw.add("cellar", {{end_ms, -1}});  // another series, whose name begins alike

  must(raw.range("cellar/temperature", begin_ms, begin_ms + 20 * kHourMs).empty());
  must(raw.range("cellar/temperature", end_ms - kDayMs, end_ms).size() == 24 * 60);
  must(raw.latest("cellar/temperature")->value == 71);
  must(raw.latest("cellar")->value == -1 && !raw.latest("attic").has_value());

  // What is to be kept for longer, before the points end.
  hourly.add("cellar/temperature",
             raw.means("cellar/temperature", end_ms - kDayMs, end_ms, kHourMs));
  const std::vector<Point> hours = hourly.range("cellar/temperature", 0, end_ms);
  must(hours.size() == 24 && std::abs(hours.front().value - 48) < 1e-9);

  must(db->compact());  // the disk forgets points that have ended; the background does so, too
  must(db->stats().expired >= 20 * 60);
  must(db->close());
}
