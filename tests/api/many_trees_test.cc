// Many trees: what a write costs does not depend on how many others there are.
#include <string>
#include <vector>

#include "os/test_point.h"
#include "tests/api/sim_api_test_fixture.h"

namespace hawthorn::tests {
namespace {

class ManyTrees : public SimApi {
 protected:
  void make_trees(size_t count) {
    while (trees_.size() < count) {
      const Result<Tree> made = db_->tree("tree" + std::to_string(trees_.size()));
      ASSERT_OK(made.status());
      trees_.push_back(*made);
    }
  }

  std::vector<Tree> trees_;
};

// Where trees themselves take all memory, everything that can be flushed was before a write is
// refused, and the error says who has it.
TEST_F(ManyTrees, what_is_unflushed_makes_room_before_a_write_is_refused) {
  Options small = options();
  small.memory_budget_bytes = size_t{16} << 20;
  db_.reset();
  db_ = std::move(*Db::open_on(machine_.machine(), "/db", small));
  Status status;
  while (status.ok() && trees_.size() < 100'000) {
    const Result<Tree> made = db_->tree("tree" + std::to_string(trees_.size()));
    status = made.status();
    if (!status.ok()) break;
    trees_.push_back(*made);
    status = db_->put(trees_.back(), "key", "value");
  }
  ASSERT_TRUE(status.is(StatusCode::kOutOfMemory)) << status.to_string();
  EXPECT_NE(status.to_string().find("trees and indexes"), std::string::npos) << status.to_string();
  EXPECT_EQ(status.to_string().find("transactions"), std::string::npos) << status.to_string();
  const Stats stats = db_->stats();
  EXPECT_LT(stats.memory_delta_bytes, size_t{128} << 10);
  EXPECT_LE(stats.memory_resident_bytes, small.memory_budget_bytes * 21 / 20);
  EXPECT_GT(trees_.size(), 4000u);
}

#if defined(HAWTHORN_TEST_POINTS)
class Reached {
 public:
  explicit Reached(const char* point) {
    os::set_test_point(point, [this] { ++times_; });
  }
  ~Reached() { os::clear_test_points(); }
  size_t times() const { return times_; }

 private:
  size_t times_ = 0;
};

// Flushes, batches of the manifest and drains look at the trees in which something is to be done.
TEST_F(ManyTrees, nobody_looks_at_trees_that_rest) {
  constexpr size_t kTrees = 300;
  constexpr size_t kRounds = 20;
  make_trees(kTrees);
  for (const Tree& tree : trees_) ASSERT_OK(db_->put(tree, "key", "value"));
  // The second one finds that all the first one has flushed is durable.
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(db_->put(tree_, "key", std::to_string(i)));
    ASSERT_OK(db_->flush());
  }
  const Reached all("catalog.looks_at_all");
  const Reached one("tree.looked_at");
  for (size_t i = 0; i < kRounds; ++i) {
    ASSERT_OK(db_->put(trees_[i % 2], "key", std::to_string(i)));
    ASSERT_OK(db_->flush());
    ASSERT_OK(db_->put(trees_[i % 2], "key", std::to_string(i)));
    ASSERT_OK(db_->drain());
  }
  EXPECT_EQ(all.times(), 0u);
  EXPECT_GT(one.times(), kRounds);
  EXPECT_LT(one.times(), kRounds * 40);
  for (size_t i = 0; i < kTrees; ++i) ASSERT_OK(db_->put(trees_[i], "key", "last"));
  open_small();
  for (size_t i = 0; i < kTrees; ++i) {
    Value value;
    ASSERT_OK(db_->get(db_->find_tree("tree" + std::to_string(i)).value(), "key", value));
    EXPECT_EQ(value.view(), "last");
  }
}
#endif

}  // namespace
}  // namespace hawthorn::tests
