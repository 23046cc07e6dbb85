// The soak against the in-memory double and against doubles that are wrong in one way each; its
// model of what an answer may be; and what it takes for growth.

#include "bench/soak.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "bench/engine_memory.h"
#include "bench/soak_model.h"
#include "bench/soak_samples.h"
#include "testing/temp_directory.h"

namespace hawthorn::bench {
namespace {

class SoakTest : public ::testing::Test {
 protected:
  SoakTest() {
    context_.engine_name = "double";
    context_.config.path = directory_.path();
    context_.config.memory_bytes = 1 << 30;
    options_.records = 20'000;
    options_.seconds = 3;
    options_.operations_min = 200;
    options_.batch = 20;
    options_.value_bytes = 64;
    options_.hold_ms = 20;
    options_.free_disk_bytes_min = 0;
  }

  Report run(Engine& engine) {
    Report report;
    context_.report = &report;
    run_soak(context_, options_, engine);
    return report;
  }

  const hawthorn::testing::TempDirectory directory_;
  RunContext context_;
  SoakOptions options_;
};

std::string failures(const Report& report) {
  std::string text;
  for (const std::string& failure : report.failures()) text += failure + "; ";
  return text;
}

TEST_F(SoakTest, PassesOnARightEngine) {
  MemoryEngine engine;
  const auto start = std::chrono::steady_clock::now();
  const Report report = run(engine);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(report.ok()) << failures(report);
  for (const char* phase : {"load", "upsert", "overwrite", "remove", "ingest", "get", "multi_get",
                            "range", "snapshot"}) {
    EXPECT_GT(report.value(phase, "ops_per_s"), 0) << phase;
  }
  EXPECT_GT(report.value("get", "p99_us"), 0);
  // Level: about as many records as were wanted, of 8 + 64 bytes in the mean.
  EXPECT_NEAR(report.value("verify", "bytes_raw"), 20'000.0 * 72, 20'000.0 * 72 * 0.15);
  EXPECT_GE(report.csv_lines().size(), 2U);
  EXPECT_LE(static_cast<double>(report.csv_lines().size()), 2 + taken.count());
}

TEST_F(SoakTest, GoesOnWithoutSnapshotsOrReadersAndKeepsToItsRate) {
  options_.hold_ms = 0;
  options_.readers = 0;
  options_.write_rate = 2000;
  MemoryEngine engine;
  const Report report = run(engine);
  EXPECT_TRUE(report.ok()) << failures(report);
  EXPECT_EQ(report.value("snapshot", "ops_per_s"), 0);
  EXPECT_EQ(report.value("get", "ops_per_s"), 0);
  double written = 0;
  for (const char* phase : {"upsert", "overwrite", "remove", "ingest"}) {
    written += report.value(phase, "ops_per_s");
  }
  EXPECT_GT(written, 0);
  // A step may go beyond it, an ingest by two strips for each writer.
  EXPECT_LT(written, 4000);
}

// Often wrong: the soak is short.
TEST_F(SoakTest, CatchesWrongEngines) {
  constexpr uint64_t kPeriod = 50;
  for (const Fault fault :
       {Fault::kLosesPut, Fault::kHidesOwnWrites, Fault::kCorruptsValue, Fault::kLosesCommit,
        Fault::kMovesSnapshots, Fault::kSkipsInScan, Fault::kKeepsRemoved}) {
    MemoryEngine engine(fault, kPeriod);
    EXPECT_FALSE(run(engine).ok()) << static_cast<int>(fault);
  }
}

// Gives an entry too few for each range.
class ShortReader : public ReaderOf<ShortReader> {
 public:
  explicit ShortReader(std::unique_ptr<Reader> inner) : inner_(std::move(inner)) {}
  void begin(View view) override { inner_->begin(view); }
  void end() override { inner_->end(); }
  bool get(std::string_view key, std::string_view& value) override {
    return inner_->get(key, value);
  }
  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    inner_->multi_get(keys, values);
  }
  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    inner_->range(key, count, sink);
  }
  template <class Sink>
  void walk(Sink& sink) {
    inner_->iterate(sink);
  }

 private:
  std::unique_ptr<Reader> inner_;
};

class ShortRanges : public MemoryEngine {
 public:
  std::unique_ptr<Reader> reader() override {
    return std::make_unique<ShortReader>(MemoryEngine::reader());
  }
};

TEST_F(SoakTest, CatchesRangesThatEndTooEarly) {
  ShortRanges engine;
  const Report report = run(engine);
  EXPECT_NE(failures(report).find("a range of"), std::string::npos) << failures(report);
}

TEST(SoakModel, KeysAreInTheOrderOfTheItems) {
  const SoakModel model(10'000, 100, 3, Fill::kNoise);
  EXPECT_GE(model.items(), 12'500U);
  EXPECT_EQ(model.items(), 3 * model.strips_of_writer() * model.items_of_strip());
  for (uint64_t item = 0; item < model.items(); ++item) {
    EXPECT_EQ(model.item_of(model.number_of(item)), item);
    EXPECT_EQ(model.item_of(model.number_of(item) + 1), model.items());
    if (item > 0) {
      EXPECT_GT(model.number_of(item), model.number_of(item - 1));
    }
    EXPECT_GE(model.value_bytes(item, 7), 50U);
    EXPECT_LE(model.value_bytes(item, 7), 150U);
  }
  EXPECT_EQ(model.item_of(~uint64_t{0}), model.items());
}

TEST(SoakModel, KnowsWhichAnswersMayBe) {
  SoakModel model(1000, 100, 1, Fill::kNoise);
  const ItemState absent = model.state(5);
  const ItemState first = absent.next(true);
  const ItemState second = first.next(true);
  SoakRecord record(model);
  record.make(5, first.version());
  const std::string old(record.value());
  record.make(5, second.version());
  const std::string now(record.value());

  EXPECT_TRUE(model.fits(5, absent, absent, false, {}));
  EXPECT_FALSE(model.fits(5, absent, absent, true, old));
  EXPECT_TRUE(model.fits(5, second, second, true, now));
  EXPECT_FALSE(model.fits(5, second, second, true, old)) << "an older version";
  EXPECT_FALSE(model.fits(5, second, second, false, {})) << "lost";
  // While it is written it may be either, but never another item's, nor a torn one.
  model.begin_write(5);
  const ItemState under_way = model.state(5);
  EXPECT_TRUE(under_way.under_way());
  EXPECT_TRUE(model.fits(5, first, under_way, true, old));
  EXPECT_TRUE(model.fits(5, first, second, true, now));
  EXPECT_TRUE(model.fits(5, under_way, under_way, true, now));
  EXPECT_TRUE(model.fits(5, first, second, false, {}));
  EXPECT_FALSE(model.fits(6, first, second, true, now));
  EXPECT_FALSE(model.fits(5, first, second, true, now.substr(1)));
  std::string torn = now;
  torn.back() ^= 1;
  EXPECT_FALSE(model.fits(5, first, second, true, torn));
  model.end_write(5, second);
  EXPECT_EQ(model.state(5), second);

  // A version of its own each time, and nothing beside the version changes when it wraps around.
  ItemState state = second;
  for (int i = 0; i < 20'000; ++i) {
    const ItemState next = state.next(true);
    EXPECT_NE(next.version(), state.version());
    EXPECT_TRUE(next.present());
    EXPECT_FALSE(next.under_way());
    state = next;
  }
}

TEST(SoakModel, KnowsWhichRangesMayBe) {
  const SoakModel model(1000, 100, 1, Fill::kNoise);
  const ItemState there = ItemState().next(true);
  const ItemState gone = there.next(false);
  const ItemState writing(ItemState::kUnderWay);
  using Found = std::vector<SoakModel::Found>;
  const auto fits = [&](std::vector<ItemState> before, const std::vector<ItemState>& after,
                        const Found& found, uint64_t wanted) {
    return model.fits_range(10, before, after, found, wanted);
  };
  const std::vector<ItemState> three = {there, gone, there};
  EXPECT_TRUE(fits(three, three, {{10, 1}, {12, 1}}, 2));
  EXPECT_FALSE(fits(three, three, {{10, 1}}, 2)) << "one is missing";
  EXPECT_FALSE(fits(three, three, {{12, 1}, {13, 1}}, 2)) << "the first is missing";
  EXPECT_FALSE(fits(three, three, {{10, 1}, {11, 1}}, 2)) << "one is gone";
  EXPECT_FALSE(fits(three, three, {{10, 2}, {12, 1}}, 2)) << "another version";
  EXPECT_FALSE(fits(three, three, {{9, 1}, {10, 1}}, 2)) << "before the range";
  EXPECT_FALSE(fits(three, three, {{10, 1}, {12, 1}, {13, 1}}, 2)) << "too many";
  // Of one that is written meanwhile nothing is known, but of the others.
  const std::vector<ItemState> other = {there, there, there};
  EXPECT_TRUE(fits(three, other, {{10, 1}, {11, 3}}, 2));
  EXPECT_TRUE(fits(three, other, {{10, 1}, {12, 1}}, 2));
  EXPECT_FALSE(fits(three, other, {{11, 3}, {12, 1}}, 2));
  EXPECT_TRUE(fits({writing, there}, {writing, there}, {{11, 1}, {14, 1}}, 2));
}

SoakSample sample_of(uint64_t data_bytes, uint64_t live_bytes, uint64_t rss) {
  SoakSample sample;
  sample.data_bytes = data_bytes;
  sample.live_bytes = live_bytes;
  sample.rss_bytes = rss;
  return sample;
}

TEST(SoakGrowth, IsWhatTheLastQuarterHasOverTheSecond) {
  std::vector<SoakSample> samples;
  for (int i = 0; i < 40; ++i) {
    samples.push_back(sample_of(900, 100, 9000));
    samples.back().loading = true;
  }
  for (size_t i = 0; i < kSamplesOfGrowth; ++i) samples.push_back(sample_of(300, 100, 1000));
  ASSERT_TRUE(growth_of(samples).has_value());
  EXPECT_EQ(growth_of(samples)->space, 1);
  EXPECT_EQ(growth_of(samples)->memory, 1);
  EXPECT_EQ(complaint(samples), "");
  EXPECT_FALSE(growth_of(std::span(samples).last(kSamplesOfGrowth - 1)).has_value());

  // More data is no growth of space.
  std::vector<SoakSample> more = samples;
  for (size_t i = more.size() - 20; i < more.size(); ++i) more[i] = sample_of(600, 200, 1000);
  EXPECT_EQ(complaint(more), "");
  for (size_t i = more.size() - 20; i < more.size(); ++i) more[i] = sample_of(600, 100, 1000);
  EXPECT_NE(complaint(more).find("space"), std::string::npos) << complaint(more);
  for (size_t i = more.size() - 20; i < more.size(); ++i) more[i] = sample_of(300, 100, 1200);
  EXPECT_NE(complaint(more).find("memory"), std::string::npos) << complaint(more);

  more = samples;
  more[50].cap_bytes = 900;
  EXPECT_NE(complaint(more).find("over the cap"), std::string::npos) << complaint(more);
  more[50].group_bytes = 800;
  EXPECT_EQ(complaint(more), "");
}

TEST(SoakGrowth, IsFoundHoweverSlowItIs) {
  // To twice of what there was, or by a third, in the whole run and bit by bit.
  std::vector<SoakSample> samples;
  for (uint64_t i = 0; i < 1200; ++i) samples.push_back(sample_of(300 + i / 4, 100, 1000));
  EXPECT_NE(complaint(samples), "");
  samples.clear();
  for (uint64_t i = 0; i < 1200; ++i) samples.push_back(sample_of(300, 100, 1000 + i / 4));
  EXPECT_NE(complaint(samples), "");
}

}  // namespace
}  // namespace hawthorn::bench
