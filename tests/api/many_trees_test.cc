// Many trees: what a write costs does not depend on how many others there are, and what each takes
// of memory is little, and counted.
#include <malloc.h>

#include <string>
#include <vector>

#include "base/sanitizers.h"
#include "os/test_point.h"
#include "testing/temp_directory.h"
#include "tests/api/sim_api_test_fixture.h"
#include "tree/tree.h"

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

// Where trees have the memory no more are made, and the error says so. Those that are there are
// written to, each for the first time since it rested, and dropped, which makes room again.
TEST_F(ManyTrees, where_no_more_can_be_made_the_others_go_on) {
  Options small = options();
  small.memory_budget_bytes = size_t{16} << 20;
  db_.reset();
  db_ = std::move(*Db::open_on(machine_.machine(), "/db", small));
  const auto make = [this] {
    const Result<Tree> made = db_->tree("tree" + std::to_string(trees_.size()));
    if (made.ok()) trees_.push_back(*made);
    return made.status();
  };
  const auto fill = [&] {
    for (Status status;;) {
      status = make();
      if (status.ok()) {
        ASSERT_OK(db_->put(trees_.back(), "key", "value"));
        continue;
      }
      ASSERT_TRUE(status.is(StatusCode::kOutOfMemory)) << status.to_string();
      EXPECT_NE(status.to_string().find("room for another tree"), std::string::npos)
          << status.to_string();
      return;
    }
  };
  fill();
  const size_t first = trees_.size();
  EXPECT_GT(first, 8000u);
  EXPECT_LE(db_->stats().memory_resident_bytes, small.memory_budget_bytes * 21 / 20);
  for (int round = 0; round < 2; ++round) {
    for (const Tree& tree : trees_) ASSERT_OK(db_->put(tree, "key", std::to_string(round)));
    for (const Tree& tree : trees_) {
      Transaction t = std::move(db_->begin(TxnMode::kOptimistic)).value();
      ASSERT_OK(t.put(tree, "key", "more"));
      ASSERT_OK(t.put(tree, "other", std::string(100, 'v')));
      ASSERT_OK(t.commit());
    }
    ASSERT_OK(db_->flush());
    EXPECT_LE(db_->stats().memory_resident_bytes, small.memory_budget_bytes * 21 / 20);
  }
  constexpr size_t kDropped = 500;
  for (size_t i = 0; i < kDropped; ++i) ASSERT_OK(db_->drop_tree("tree" + std::to_string(i)));
  ASSERT_OK(db_->drain());
  fill();
  EXPECT_GT(trees_.size(), first + kDropped / 2);
  // And another open of it has room enough.
  db_.reset();
  trees_.clear();
  db_ = std::move(*Db::open_on(machine_.machine(), "/db", small));
  ASSERT_OK(db_->put(db_->find_tree("tree500").value(), "key", "value"));
  ASSERT_OK(db_->drop_tree("tree501"));
}

// What trees are charged for is what they take: a database may have as many as fit its budget.
TEST_F(ManyTrees, each_takes_what_the_documents_say) {
  constexpr size_t kTrees = 2000;
  make_trees(kTrees);
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->drain());
  const size_t before = db_->stats().memory_index_bytes;
  make_trees(2 * kTrees);
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->drain());
  const size_t each = (db_->stats().memory_index_bytes - before) / kTrees;
  EXPECT_GT(each, 900u);
  EXPECT_LE(each, 1024u);
}

#if !defined(HAWTHORN_ASAN) && !defined(HAWTHORN_TSAN)
// The same as the heap tells it, of trees with an entry each. The objects that lie in huge pages,
// and not on the heap, are those of every tree.
TEST(ManyTreesHeap, each_takes_a_kilobyte) {
  constexpr size_t kTrees = 16'000;  // beside which what threads hold for a while is little
  constexpr size_t kInHugePages =
      sizeof(tree::TreeState) + sizeof(tree::Container) + sizeof(tree::RunFile) + 32;
  const testing::TempDirectory directory;
  Options options;
  options.memory_budget_bytes = size_t{64} << 20;
  options.durability = Durability::kNone;
  std::unique_ptr<Db> db = std::move(*Db::open(directory.path() + "/db", options));
  size_t made = 0;
  const auto make = [&](size_t count) {
    while (made < count) {
      Transaction t = std::move(db->begin(TxnMode::kOptimistic)).value();
      for (const size_t end = made + 500; made < end; ++made) {
        const Result<Tree> tree = t.tree("tree" + std::to_string(made));
        ASSERT_OK(tree.status());
        ASSERT_OK(t.put(*tree, "key", "a value of 20 bytes."));
      }
      ASSERT_OK(t.commit());
    }
    // The second one finds that what the first one has flushed is durable.
    for (int i = 0; i < 2; ++i) {
      ASSERT_OK(db->put(*db->find_tree("tree0"), "key", std::to_string(i)));
      ASSERT_OK(db->flush());
      ASSERT_OK(db->drain());
    }
  };
  const auto heap = [] {
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
  };
  make(kTrees);
  const size_t before = heap();
  make(2 * kTrees);
  const size_t each = (heap() - before) / kTrees + kInHugePages;
  RecordProperty("bytes_each", static_cast<int>(each));
  EXPECT_GT(each, 700u);
  EXPECT_LE(each, 1024u);
}
#endif

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
