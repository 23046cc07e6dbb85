// Followers on the simulated machine: every step of both sides where the test wants it, a disk that
// is full, and errors of reads.

#include <deque>

#include "db/file_sizing.h"
#include "os/test_point.h"
#include "testing/sim_machine.h"
#include "tests/follower/follower_fixture.h"

namespace hawthorn::tests {
namespace {

using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

class SimFollower : public FollowerTest {
 protected:
  void SetUp() override {
    db::data_file_bytes_first = uint64_t{1} << 20;
    db::data_file_bytes_max = uint64_t{4} << 20;
    path_ = "/db";
    open();
  }
  void TearDown() override {
    db_.reset();
    db::data_file_bytes_first = uint64_t{64} << 20;
    db::data_file_bytes_max = uint64_t{1} << 30;
  }
  void open() override {
    db_.reset();
    Options options = this->options();
    options.memory_budget_bytes = size_t{16} << 20;
    auto db = Db::open_on(machine_.machine(), path_, options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    const Result<Tree> tree = db_->tree("t");
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }
  FollowerOptions follower_options() override {
    FollowerOptions options = FollowerTest::follower_options();
    options.memory_budget_bytes = size_t{16} << 20;
    return options;
  }
  Result<std::unique_ptr<Follower>> try_follow() override {
    return Follower::open_on(machine_.machine(), path_, follower_options());
  }
  static void expect(Db& view, const Contents& contents, const Snapshot* snapshot = nullptr) {
    const Result<Tree> tree = view.find_tree("t", {.snapshot = snapshot});
    ASSERT_OK(tree.status());
    ASSERT_TRUE(same(read_all(view, *tree, snapshot), contents));
  }

  SimDisk disk_{1};
  SimMachine machine_{disk_, 1};
};

TEST_F(SimFollower, follows_random_histories) {
  const uint64_t seed = environment_number("HAWTHORN_SEED", 3);
  const uint64_t steps = scaled(1200);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  Contents contents;
  struct Held {
    std::shared_ptr<Db> view;
    Snapshot snapshot;
    Contents contents;
  };
  std::deque<Held> held;
  std::unique_ptr<Follower> follower = follow();
  ASSERT_NE(follower, nullptr);
  for (uint64_t step = 0; step < steps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const std::string key = key_of(prng.below(400));
    switch (prng.below(40)) {
      case 0:
        ASSERT_OK(db_->flush());
        break;
      case 1:
        ASSERT_OK(db_->compact());
        break;
      case 2:
        ASSERT_OK(db_->drain());
        break;
      case 3: {
        if (prng.one_in(2)) ASSERT_OK(db_->close());
        open();
        break;
      }
      case 4: {
        const std::string high = key_of(prng.below(400));
        ASSERT_OK(db_->delete_range(tree_, std::min(key, high), std::max(key, high)));
        contents.erase(contents.lower_bound(std::min(key, high)),
                       contents.lower_bound(std::max(key, high)));
        break;
      }
      case 5: {
        Contents more;
        for (int i = 0; i < 50; ++i) more[key_of(prng.below(400))] = value_of(step, 200);
        if (prng.one_in(2)) {
          ASSERT_OK(ingest_all(*db_, tree_, more));
        } else {
          Result<Transaction> transaction = db_->begin(TxnMode::kOptimistic);
          ASSERT_OK(transaction.status());
          for (auto& [name, value] : more) {
            value.resize(8000);  // chunks
            ASSERT_OK(transaction->put(tree_, name, value));
          }
          ASSERT_OK(transaction->commit());
        }
        for (auto& [name, value] : more) contents[name] = std::move(value);
        break;
      }
      case 6:
      case 7:
      case 8: {
        ASSERT_OK(prng.one_in(5) ? follower->rebuild() : follower->refresh());
        Held now;
        now.view = follower->view();
        expect(*now.view, contents);
        if (prng.one_in(3)) {
          now.snapshot = now.view->snapshot();
          now.contents = contents;
          held.push_back(std::move(now));
        }
        break;
      }
      case 9:
        if (held.empty()) break;
        expect(*held.front().view, held.front().contents, &held.front().snapshot);
        held.pop_front();
        break;
      case 10:
        if (!prng.one_in(4)) break;
        follower.reset();
        follower = follow();
        ASSERT_NE(follower, nullptr);
        expect(*follower->view(), contents);
        break;
      case 11:
      case 12:
        ASSERT_OK(db_->del(tree_, key));
        contents.erase(key);
        break;
      default: {
        const std::string value =
            value_of(step, prng.one_in(60) ? 70'000 : random_size(prng, false));
        ASSERT_OK(db_->put(tree_, key, value));
        contents[key] = value;
      }
    }
    if (HasFatalFailure()) return;
    if (held.size() > 4) held.pop_front();
  }
  for (const Held& one : held) expect(*one.view, one.contents, &one.snapshot);
  held.clear();
  follower.reset();
  put("one", "more");
  ASSERT_OK(db_->flush());
  EXPECT_EQ(db_->stats().follower_bytes_held, 0U);
  EXPECT_TRUE(clean(*db_));
}

// What a view that nobody lets go of keeps is not worth a write that fails.
TEST_F(SimFollower, a_full_disk_takes_away_what_old_views_keep) {
  Contents contents;
  for (uint64_t i = 0; i < 400; ++i) contents[big_endian(i)] = value_of(i, 5000);
  for (const auto& [key, value] : contents) put(key, value);
  const std::string large(200'000, 'l');
  put("large", large);
  ASSERT_OK(db_->flush());
  const auto follower = follow();
  ASSERT_NE(follower, nullptr);
  const auto held = follower->view();
  const Result<Tree> tree = held->find_tree("t");
  ASSERT_OK(tree.status());
  ASSERT_OK(db_->compact());
  disk_.set_capacity(disk_.used_bytes() + (uint64_t{3} << 20));
  // Several times what is free: without the space of what was overwritten it would not fit.
  for (uint64_t round = 1; round <= 12; ++round) {
    SCOPED_TRACE(round);
    for (auto& [key, value] : contents) {
      value = value_of(round * 1000 + key.size(), 5000);
      put(key, value);
      if (HasFatalFailure()) return;
    }
    put("large", large + std::to_string(round));
    ASSERT_OK(db_->flush());
  }
  contents["large"] = large + "12";
  Value value;
  EXPECT_TRUE(held->get(*tree, big_endian(1), value).is(StatusCode::kTooOld));
  std::string part(100, '\0');
  EXPECT_TRUE(held->read_part(*tree, "large", 0, part).status().is(StatusCode::kTooOld));
  const Stats stats = db_->stats();
  ASSERT_EQ(stats.followers.size(), 1U);
  EXPECT_TRUE(stats.followers[0].revoked);
  ASSERT_OK(follower->refresh());
  expect(*follower->view(), contents);
  EXPECT_FALSE(db_->stats().followers.back().revoked);
}

TEST_F(SimFollower, an_error_of_a_read_is_told_and_passes) {
  put("a", "1");
  ASSERT_OK(db_->flush());
  const auto follower = follow();
  ASSERT_NE(follower, nullptr);
  put("b", "2");
  ASSERT_OK(db_->close());
  disk_.fail_path("superblock", SimOp::kRead, 1, StatusCode::kIoError, true);
  EXPECT_FALSE(follower->refresh().ok());
  EXPECT_TRUE(all_of(*follower->view(), "t").starts_with("a=1 "));
  disk_.clear_faults();
  EXPECT_EQ(seen(*follower), "a=1 b=2 ");
}

TEST_F(SimFollower, damage_is_told_as_such) {
  put("a", std::string(100, 'x'));
  ASSERT_OK(db_->close());
  db_.reset();
  const std::vector<std::string> names = disk_.list(path_).value();
  for (const std::string& name : names) {
    if (name.starts_with("manifest.") && name != "manifest.spare") {
      ASSERT_TRUE(disk_.flip_bit(path_ + "/" + name, 4096 + 100, 3));
    }
  }
  EXPECT_TRUE(try_follow().status().is(StatusCode::kCorruption));
}

#if defined(HAWTHORN_TEST_POINTS)
// Between the look at who follows and what is given away nobody may begin with what goes.
TEST_F(SimFollower, who_comes_behind_the_look_reads_the_newer_manifest) {
  Contents contents;
  for (uint64_t i = 0; i < 300; ++i) contents[big_endian(i)] = value_of(i, 3000);
  for (const auto& [key, value] : contents) put(key, value);
  ASSERT_OK(db_->flush());
  std::unique_ptr<Follower> follower;
  {
    // Its claim comes right before a batch is told of, which has dropped what the last one had.
    bool once = false;
    os::set_test_point("publisher.after_manifest", [&] {
      if (std::exchange(once, true)) return;
      follower = follow();
    });
    for (auto& [key, value] : contents) {
      value = value_of(1000 + key.size(), 3000);
      put(key, value);
    }
    ASSERT_OK(db_->flush());
    os::clear_test_points();
  }
  ASSERT_NE(follower, nullptr);
  const auto view = follower->view();
  const Snapshot then = view->snapshot();
  expect(*view, contents, &then);
  for (int round = 0; round < 3; ++round) {
    for (const auto& [key, value] : contents) put(key, "other");
    ASSERT_OK(db_->compact());
  }
  expect(*view, contents, &then);
}
#endif

}  // namespace
}  // namespace hawthorn::tests
