// Random operations on a database of several families against maps, with snapshots, flushes and
// reopening. ROCKS_MODEL_SEED replays a run.

#include <algorithm>
#include <random>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

using Map = std::map<std::string, std::string>;

class Model : public RocksTest {
 protected:
  static constexpr size_t kFamilies = 4;
  static constexpr size_t kReversed = 2;  // its order; from there on operators
  struct View {
    const rocksdb::Snapshot* snapshot;
    std::vector<Map> maps;
  };

  size_t below(size_t limit) { return random_() % limit; }
  std::string key() {
    // Few, so that operations meet; some long, some with zeros.
    std::string text = "k" + std::to_string(below(300));
    if (below(10) == 0) text += std::string("\0\0x", 3);
    if (below(20) == 0) text.append(200, 'l');
    return text;
  }
  std::string value() {
    return std::string(below(30) == 0 ? 3000 : below(40), static_cast<char>('a' + below(26)));
  }

  void open_all() {
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    rocksdb::ColumnFamilyOptions family(options_);
    descriptors.emplace_back(rocksdb::kDefaultColumnFamilyName, family);
    descriptors.emplace_back("second", family);
    family.comparator = rocksdb::ReverseBytewiseComparator();
    family.merge_operator = std::make_shared<Append>();
    descriptors.emplace_back("reversed", family);
    family.comparator = rocksdb::BytewiseComparator();
    descriptors.emplace_back("merging", family);
    options_.create_missing_column_families = true;
    ASSERT_OK(rocksdb::DB::Open(options_, path_, descriptors, &handles_, &db_));
  }

  // One operation of a batch, on the batch and on the maps.
  void add(WriteBatch& batch, std::vector<Map>& maps) {
    const size_t family = below(kFamilies);
    rocksdb::ColumnFamilyHandle* const handle = handles_[family];
    Map& map = maps[family];
    const std::string at = key();
    switch (below(8)) {
      case 0:
      case 1:
        ASSERT_OK(below(2) == 0 ? batch.Delete(handle, at) : batch.SingleDelete(handle, at));
        map.erase(at);
        break;
      case 2: {
        std::string low = at;
        std::string high = key();
        if (low > high) std::swap(low, high);
        // In reverse the range is from the greater one, which is in it, to the lesser.
        ASSERT_OK(family == kReversed ? batch.DeleteRange(handle, high, low)
                                      : batch.DeleteRange(handle, low, high));
        if (low == high) break;
        const bool reversed = family == kReversed;
        map.erase(reversed ? map.upper_bound(low) : map.lower_bound(low),
                  reversed ? map.upper_bound(high) : map.lower_bound(high));
        break;
      }
      case 3:
        if (family >= kReversed) {
          const std::string operand = value();
          ASSERT_OK(batch.Merge(handle, at, operand));
          const auto [entry, is_new] = map.try_emplace(at, operand);
          if (!is_new) entry->second += "," + operand;
          break;
        }
        [[fallthrough]];
      default: {
        const std::string to = value();
        ASSERT_OK(batch.Put(handle, at, to));
        map[at] = to;
      }
    }
  }

  void write() {
    std::vector<Map> maps = maps_;
    WriteBatch batch;
    for (size_t i = below(below(10) == 0 ? 200 : 5) + 1; i > 0; --i) {
      add(batch, maps);
      if (below(10) != 0) continue;
      batch.SetSavePoint();
      std::vector<Map> undone = maps;
      add(batch, undone);
      ASSERT_OK(batch.RollbackToSavePoint());
    }
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
    maps_ = std::move(maps);
  }

  void compare(const View& view) {
    const size_t family = below(kFamilies);
    const Map& map = view.maps[family];
    ReadOptions options;
    options.snapshot = view.snapshot;
    std::string found;
    const std::string at = key();
    const Status status = db_->Get(options, handles_[family], at, &found);
    ASSERT_EQ(status.ok(), map.contains(at)) << status.ToString();
    if (status.ok()) {
      ASSERT_EQ(found, map.at(at));
    }
    const std::unique_ptr<rocksdb::Iterator> walk(db_->NewIterator(options, handles_[family]));
    std::vector<std::pair<std::string, std::string>> entries(map.begin(), map.end());
    if (family == kReversed) std::reverse(entries.begin(), entries.end());
    if (below(10) == 0) {
      walk->SeekToFirst();
      for (const auto& entry : entries) {
        ASSERT_TRUE(walk->Valid()) << walk->status().ToString();
        ASSERT_EQ(walk->key(), Slice(entry.first));
        ASSERT_EQ(walk->value(), Slice(entry.second));
        walk->Next();
      }
      ASSERT_FALSE(walk->Valid());
    }
    // Some steps from anywhere.
    const auto before = [&](const auto& entry, const std::string& than) {
      return family == kReversed ? entry.first > than : entry.first < than;
    };
    auto place = std::lower_bound(entries.begin(), entries.end(), at, before) - entries.begin();
    walk->Seek(at);
    for (int steps = 0; steps < 6; ++steps) {
      const bool inside = place >= 0 && place < static_cast<ptrdiff_t>(entries.size());
      ASSERT_EQ(walk->Valid(), inside) << walk->status().ToString();
      if (!inside) break;
      ASSERT_EQ(walk->key(), Slice(entries[static_cast<size_t>(place)].first));
      const bool forward = below(2) == 0;
      forward ? walk->Next() : walk->Prev();
      place += forward ? 1 : -1;
    }
  }

  std::mt19937_64 random_;
  std::vector<Map> maps_{kFamilies};
};

TEST_F(Model, AgainstMaps) {
  const char* const given = std::getenv("ROCKS_MODEL_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  SCOPED_TRACE("ROCKS_MODEL_SEED=" + std::to_string(seed));
  random_.seed(seed);
  open_all();
  std::vector<View> views;
  constexpr int kSteps = 4000;
  for (int step = 0; step < kSteps && !HasFatalFailure(); ++step) {
    const size_t what = below(100);
    if (what < 40) {
      write();
    } else if (what < 43) {
      views.push_back({db_->GetSnapshot(), maps_});
    } else if (what < 46 && !views.empty()) {
      db_->ReleaseSnapshot(views.back().snapshot);
      views.pop_back();
    } else if (what == 46) {
      ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
    } else if (what == 47 && below(10) == 0) {
      ASSERT_OK(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
    } else if (what == 48 && below(10) == 0) {
      for (const View& view : views) db_->ReleaseSnapshot(view.snapshot);
      views.clear();
      close();
      options_.avoid_flush_during_shutdown = below(2) == 0;
      open_all();
    } else {
      compare(views.empty() || below(2) == 0 ? View{nullptr, maps_} : views[below(views.size())]);
    }
  }
  for (const View& view : views) db_->ReleaseSnapshot(view.snapshot);
}

}  // namespace
}  // namespace hawthorn::rocks
