// What a follower sees, of every kind of commit and of everything that may happen to the database
// meanwhile.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "db/file_sizing.h"
#include "os/test_point.h"
#include "tests/follower/follower_fixture.h"
#include "tests/support/child_process.h"

namespace hawthorn::tests {
namespace {

TEST_F(FollowerTest, sees_what_was_committed_when_it_refreshes) {
  put("a", "1");
  const auto follower = follow();
  EXPECT_EQ(all_of(*follower->view(), "t"), "a=1 ");
  put("b", "2");
  EXPECT_EQ(all_of(*follower->view(), "t"), "a=1 ");
  EXPECT_EQ(seen(*follower), "a=1 b=2 ");
  ASSERT_OK(db_->del(tree_, "a"));
  EXPECT_EQ(seen(*follower), "b=2 ");
  ASSERT_OK(db_->flush());
  EXPECT_EQ(seen(*follower), "b=2 ");
  put("c", "3");
  EXPECT_EQ(seen(*follower), "b=2 c=3 ");
}

TEST_F(FollowerTest, goes_on_with_the_same_view_where_it_can) {
  put("a", "1");
  const auto follower = follow();
  const auto view = follower->view();
  const Result<Tree> tree = view->find_tree("t");
  ASSERT_OK(tree.status());
  const Snapshot before = view->snapshot();
  for (int i = 0; i < 1000; ++i) put("a", std::to_string(i));
  ASSERT_OK(follower->refresh());
  EXPECT_EQ(follower->view(), view);
  Value value;
  ASSERT_OK(view->get(*tree, "a", value));
  EXPECT_EQ(value.view(), "999");
  ASSERT_OK(view->get(*tree, "a", value, {.snapshot = &before}));
  EXPECT_EQ(value.view(), "1");
  EXPECT_EQ(view->count(*tree, "", std::nullopt).value(), 1U);
}

// What follower.h says of who holds a view while others refresh.
TEST_F(FollowerTest, a_held_view_goes_forward_until_there_is_a_newer_one) {
  put("a", "1");
  auto follower = follow();
  const auto view = follower->view();
  const Tree tree = view->find_tree("t").value();
  const Snapshot before = view->snapshot();
  auto one_moment = view->begin({.read_only = true});
  auto each_read = view->begin({.isolation = Isolation::kReadCommitted, .read_only = true});
  ASSERT_OK(one_moment.status());
  ASSERT_OK(each_read.status());
  Cursor cursor = view->cursor(tree, {});
  ASSERT_TRUE(cursor.first());
  put("a", "2");
  put("b", "2");
  Value value;
  ASSERT_OK(view->get(tree, "a", value));
  EXPECT_EQ(value.view(), "1") << "nobody has refreshed";
  ASSERT_OK(follower->refresh());
  ASSERT_EQ(follower->view(), view);
  EXPECT_EQ(all_of(*view, "t"), "a=2 b=2 ");
  ASSERT_OK(each_read->get(tree, "a", value));
  EXPECT_EQ(value.view(), "2");
  const auto expect_begun = [&] {
    EXPECT_EQ(all_of(*view, "t", &before), "a=1 ");
    ASSERT_OK(one_moment->get(tree, "a", value));
    EXPECT_EQ(value.view(), "1");
    EXPECT_TRUE(one_moment->get(tree, "b", value).is_not_found());
    ASSERT_TRUE(cursor.first());
    EXPECT_EQ(cursor.value(), "1");
    EXPECT_FALSE(cursor.next());
    EXPECT_OK(cursor.status());
  };
  expect_begun();
  // From now on it is an older one.
  ASSERT_OK(follower->rebuild());
  ASSERT_NE(follower->view(), view);
  put("c", "3");
  EXPECT_EQ(seen(*follower), "a=2 b=2 c=3 ");
  EXPECT_EQ(all_of(*view, "t"), "a=2 b=2 ");
  const auto last = follower->view();
  follower.reset();
  put("d", "4");
  EXPECT_EQ(all_of(*last, "t"), "a=2 b=2 c=3 ");
  EXPECT_EQ(all_of(*view, "t"), "a=2 b=2 ");
  expect_begun();
}

TEST_F(FollowerTest, options_are_those_of_the_database) {
  Options options;
  options.memory_budget_bytes = size_t{77} << 20;
  options.io_mode = IoMode::kBuffered;
  options.key_orders = {nullptr};
  options.merge_operators = {nullptr, nullptr};
  options.key_comparators = {nullptr, nullptr, nullptr};
  options.encryption.key_id = "k";
  options.log = [](LogLevel, std::string_view) {};
  const FollowerOptions same = FollowerOptions::of(options);
  EXPECT_EQ(same.memory_budget_bytes, options.memory_budget_bytes);
  EXPECT_EQ(same.io_mode, options.io_mode);
  EXPECT_EQ(same.key_orders.size(), 1U);
  EXPECT_EQ(same.merge_operators.size(), 2U);
  EXPECT_EQ(same.key_comparators.size(), 3U);
  EXPECT_EQ(same.encryption.key_id, "k");
  EXPECT_TRUE(same.log);
}

TEST_F(FollowerTest, each_transaction_shows_what_is_committed_when_it_begins) {
  const auto follower = follow();
  for (int i = 0; i < 200; ++i) {
    put("a", std::to_string(i));
    if (i % 50 == 49) ASSERT_OK(db_->flush());
    const Result<std::shared_ptr<Db>> db = follower->latest();
    ASSERT_OK(db.status());
    auto transaction = (*db)->begin({.read_only = true});
    ASSERT_OK(transaction.status());
    put("a", "later");
    Value value;
    ASSERT_OK(transaction->get((*db)->find_tree("t").value(), "a", value));
    EXPECT_EQ(value.view(), std::to_string(i));
  }
}

TEST_F(FollowerTest, writes_nothing) {
  const auto follower = follow();
  const auto view = follower->view();
  const Result<Tree> tree = view->find_tree("t");
  ASSERT_OK(tree.status());
  EXPECT_TRUE(view->put(*tree, "a", "1").is(StatusCode::kReadOnly));
  EXPECT_TRUE(view->tree("new").status().is(StatusCode::kReadOnly));
  EXPECT_TRUE(view->drop_tree("t").is(StatusCode::kReadOnly));
  EXPECT_TRUE(view->create_snapshot("s").is(StatusCode::kReadOnly));
  auto transaction = view->begin({.read_only = true});
  ASSERT_OK(transaction.status());
  put("a", "1");
  ASSERT_OK(follower->refresh());
  Value value;
  EXPECT_TRUE(transaction->get(*tree, "a", value).is_not_found());
}

TEST_F(FollowerTest, sees_trees_come_go_and_change_their_names) {
  const auto follower = follow();
  const auto view = follower->view();
  const Result<Tree> made = db_->tree("made");
  ASSERT_OK(made.status());
  ASSERT_OK(db_->put(*made, "k", "v"));
  EXPECT_EQ(seen(*follower, "made"), "k=v ");
  const Result<Tree> handle = follower->view()->find_tree("made");
  ASSERT_OK(handle.status());
  ASSERT_OK(db_->rename_tree("made", "named"));
  EXPECT_EQ(seen(*follower, "made"), "NotFound");
  EXPECT_EQ(seen(*follower, "named"), "k=v ");
  EXPECT_EQ(follower->view(), view);
  Value value;
  ASSERT_OK(view->get(*handle, "k", value));
  const Snapshot before = view->snapshot();
  ASSERT_OK(db_->drop_tree("named"));
  EXPECT_EQ(seen(*follower, "named"), "NotFound");
  EXPECT_EQ(follower->view(), view);
  EXPECT_TRUE(view->get(*handle, "k", value).is(StatusCode::kInvalidArgument));
  ASSERT_OK(view->get(*handle, "k", value, {.snapshot = &before}));
  EXPECT_EQ(all_of(*view, "named", &before), "k=v ");
  // Another one of the same name is another one.
  const Result<Tree> again = db_->tree("named");
  ASSERT_OK(again.status());
  EXPECT_EQ(seen(*follower, "named"), "");
  EXPECT_EQ(follower->view()->list_trees().value(), (std::vector<std::string>{"named", "t"}));
}

TEST_F(FollowerTest, sees_every_kind_of_commit) {
  const std::string large(200'000, 'x');
  Result<Tree> sums = db_->tree("sums");
  ASSERT_OK(sums.status());
  ASSERT_OK(db_->set_merge_operator(*sums, "uint64_add"));
  const auto follower = follow();
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    Contents expected;
    const auto add = [&](const std::string& key, const std::string& value) {
      expected[key] = value;
    };
    ASSERT_OK(db_->delete_range(tree_, ""));
    // A batch, a value of its own extents, operands, a range.
    WriteBatch batch;
    for (int i = 0; i < 300; ++i) batch.put(tree_, key_of(100 + i), "batch");
    ASSERT_OK(db_->write(batch));
    for (int i = 0; i < 300; ++i) add(key_of(100 + i), "batch");
    ASSERT_OK(db_->put(tree_, "large", large));
    add("large", large);
    const std::string one = std::string(1, '\1') + std::string(7, '\0');
    ASSERT_OK(db_->merge(*sums, "sum", one));
    ASSERT_OK(db_->put(tree_, "z1", "gone"));
    ASSERT_OK(db_->delete_range(tree_, "z", "zz"));
    ASSERT_OK(db_->put(tree_, "z2", "there"));
    add("z2", "there");
    if (round == 1) ASSERT_OK(db_->flush());
    ASSERT_OK(follower->refresh());
    Result<Tree> tree = follower->view()->find_tree("t");
    ASSERT_OK(tree.status());
    EXPECT_TRUE(same(read_all(*follower->view(), *tree), expected));
    // Several chunks; and one that is rolled back.
    {
      Result<Transaction> chunks = db_->begin(TxnMode::kOptimistic);
      ASSERT_OK(chunks.status());
      for (int i = 0; i < 3000; ++i) {
        const std::string key = "chunk" + std::to_string(i);
        ASSERT_OK(chunks->put(tree_, key, value_of(i, 300)));
        add(key, value_of(i, 300));
      }
      ASSERT_OK(follower->refresh());  // the chunks are in the log, and not committed
      ASSERT_OK(chunks->commit());
      Result<Transaction> rolled_back = db_->begin(TxnMode::kOptimistic);
      ASSERT_OK(rolled_back.status());
      for (int i = 0; i < 3000; ++i) {
        ASSERT_OK(rolled_back->put(tree_, "back" + std::to_string(i), value_of(i, 300)));
      }
      rolled_back->abort();
    }
    ASSERT_OK(follower->refresh());
    tree = follower->view()->find_tree("t");
    ASSERT_OK(tree.status());
    EXPECT_TRUE(same(read_all(*follower->view(), *tree), expected));
    // A bulk ingest.
    Contents ingested;
    for (int i = 0; i < 5000; ++i) ingested["i" + big_endian(i)] = value_of(i, 100);
    Result<Ingest> ingest = db_->ingest(tree_);
    ASSERT_OK(ingest.status());
    for (const auto& [key, value] : ingested) ASSERT_OK(ingest->add(key, value));
    ASSERT_OK(ingest->finish());
    for (const auto& [key, value] : ingested) add(key, value);
    ASSERT_OK(follower->refresh());
    tree = follower->view()->find_tree("t");
    ASSERT_OK(tree.status());
    EXPECT_TRUE(same(read_all(*follower->view(), *tree), expected));
    Value sum;
    const Result<Tree> summed = follower->view()->find_tree("sums");
    ASSERT_OK(summed.status());
    ASSERT_OK(follower->view()->get(*summed, "sum", sum));
    EXPECT_EQ(sum.view()[0], static_cast<char>(round + 1));
    EXPECT_TRUE(clean(*follower->view()));
  }
}

TEST_F(FollowerTest, sees_clones_prepared_transactions_and_named_snapshots) {
  put("a", "1");
  const auto follower = follow();
  ASSERT_OK(db_->clone_tree("t", "c").status());
  put("a", "2");
  EXPECT_EQ(seen(*follower, "c"), "a=1 ");
  EXPECT_EQ(seen(*follower, "t"), "a=2 ");
  Result<Transaction> prepared = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(prepared.status());
  ASSERT_OK(prepared->put(tree_, "p", "1"));
  ASSERT_OK(prepared->prepare("id"));
  EXPECT_EQ(seen(*follower), "a=2 ");
  ASSERT_EQ(follower->view()->prepared().value().size(), 1U);
  ASSERT_OK(prepared->commit());
  EXPECT_EQ(seen(*follower), "a=2 p=1 ");
  EXPECT_TRUE(follower->view()->prepared().value().empty());
  ASSERT_OK(db_->create_snapshot("s"));
  put("a", "3");
  ASSERT_OK(follower->rebuild());
  const auto view = follower->view();
  EXPECT_EQ(all_of(*view, "t"), "a=3 p=1 ");
  const Result<Snapshot> named = view->open_snapshot("s");
  ASSERT_OK(named.status());
  EXPECT_EQ(all_of(*view, "t", &*named), "a=2 p=1 ");
}

TEST_F(FollowerTest, outlives_who_writes_and_does_without) {
  put("a", "1");
  const auto follower = follow();
  const auto first = follower->view();
  const Snapshot then = first->snapshot();
  put("b", "2");
  db_.reset();  // not flushed
  EXPECT_EQ(seen(*follower), "a=1 b=2 ");
  open();
  EXPECT_EQ(seen(*follower), "a=1 b=2 ");
  put("c", "3");
  EXPECT_EQ(seen(*follower), "a=1 b=2 c=3 ");
  ASSERT_OK(db_->close());
  EXPECT_EQ(seen(*follower), "a=1 b=2 c=3 ");
  db_.reset();
  EXPECT_EQ(seen(*follower), "a=1 b=2 c=3 ");
  EXPECT_EQ(seen(*follow()), "a=1 b=2 c=3 ");
  open();
  put("d", "4");
  EXPECT_EQ(seen(*follower), "a=1 b=2 c=3 d=4 ");
  EXPECT_EQ(all_of(*first, "t", &then), "a=1 ");
}

#if defined(HAWTHORN_TEST_POINTS)
// Its view is made when the manifest names a log that is not there yet: what was committed until
// that is gone again is not missed.
TEST_F(FollowerTest, sees_what_a_short_life_has_committed) {
  put("a", "1");
  ASSERT_OK(db_->close());
  std::unique_ptr<Follower> follower;
  os::set_test_point("open.after_manifest", [&] {
    if (follower == nullptr) follower = follow();
  });
  open();
  os::clear_test_points();
  ASSERT_NE(follower, nullptr);
  put("b", "2");
  ASSERT_OK(db_->close());
  EXPECT_EQ(seen(*follower), "a=1 b=2 ");
}
#endif

TEST_F(FollowerTest, needs_a_database_that_knows_it) {
  const auto other = Follower::open(directory_ / "none", {});
  EXPECT_TRUE(other.status().is_not_found());
  ASSERT_OK(db_->close());
  db_.reset();
  ASSERT_EQ(unlink((path_ + "/followers").c_str()), 0);
  EXPECT_TRUE(try_follow().status().is_not_found());
  open();
  EXPECT_TRUE(try_follow().ok());
}

TEST_F(FollowerTest, must_be_able_to_say_what_it_reads) {
  put("a", "1");
  ASSERT_EQ(chmod((path_ + "/followers").c_str(), 0444), 0);
  std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
  const pid_t child = start_child([&] {
    // Root may write everything.
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    const Status status = try_follow().status();
    _exit(status.is(StatusCode::kPermissionDenied) ? 0 : 1);
  });
  ASSERT_GT(child, 0);
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result));
  EXPECT_EQ(WEXITSTATUS(result), 0);
}

TEST_F(FollowerTest, keeps_a_database_from_being_destroyed) {
  put("a", "1");
  const auto follower = follow();
  ASSERT_OK(db_->close());
  db_.reset();
  EXPECT_TRUE(Db::destroy(path_).is(StatusCode::kBusy));
  EXPECT_EQ(seen(*follower), "a=1 ");
}

TEST_F(FollowerTest, is_told_of_in_the_statistics) {
  put("a", "1");
  EXPECT_TRUE(db_->stats().followers.empty());
  const uint64_t batch = db_->stats().manifest_batch;
  const auto follower = follow();
  Stats stats = db_->stats();
  ASSERT_EQ(stats.followers.size(), 1U);
  EXPECT_EQ(stats.followers[0].pid, static_cast<uint64_t>(getpid()));
  EXPECT_GT(stats.followers[0].since_us, 0U);
  // The writer's threads may publish one at any time.
  EXPECT_GE(stats.followers[0].batch, batch);
  EXPECT_LE(stats.followers[0].batch, stats.manifest_batch);
  EXPECT_FALSE(stats.followers[0].revoked);
  for (int i = 0; i < 5; ++i) {
    put("a", std::to_string(i));
    ASSERT_OK(db_->flush());
  }
  stats = db_->stats();
  EXPECT_LT(stats.followers[0].batch, stats.manifest_batch);
  EXPECT_GT(stats.follower_bytes_held, 0U);
  ASSERT_OK(follower->rebuild());
  ASSERT_OK(db_->put(tree_, "b", "1"));
  ASSERT_OK(db_->flush());
  stats = db_->stats();
  ASSERT_EQ(stats.followers.size(), 1U);
  ASSERT_OK(follower->rebuild());
  put("c", "1");
  ASSERT_OK(db_->flush());
  EXPECT_LE(db_->stats().follower_bytes_held, uint64_t{64} << 10);
}

// A view that is held while everything that it reads is rewritten, moved and given away.
class HeldView : public FollowerTest {
 protected:
  void SetUp() override {
    db::data_file_bytes_first = uint64_t{1} << 20;
    db::data_file_bytes_max = uint64_t{4} << 20;
    FollowerTest::SetUp();
  }
  void TearDown() override {
    db::data_file_bytes_first = uint64_t{64} << 20;
    db::data_file_bytes_max = uint64_t{1} << 30;
  }
  Options options() override {
    Options options = FollowerTest::options();
    options.memory_budget_bytes = size_t{16} << 20;
    return options;
  }
  // So small that next to nothing stays in memory.
  FollowerOptions follower_options() override {
    FollowerOptions options = FollowerTest::follower_options();
    options.memory_budget_bytes = size_t{16} << 20;
    return options;
  }
  void fill(uint64_t seed, Contents* contents) {
    Prng prng(seed);
    for (int i = 0; i < 6000; ++i) {
      const std::string key = key_of(prng.below(8000));
      if (prng.one_in(5)) {
        ASSERT_OK(db_->del(tree_, key));
        contents->erase(key);
        continue;
      }
      const std::string value =
          value_of(prng.next(), prng.one_in(300) ? 100'000 : random_size(prng, false) * 6);
      ASSERT_OK(db_->put(tree_, key, value));
      (*contents)[key] = value;
    }
  }
  static void expect(Db& view, const Contents& contents, const Snapshot* snapshot = nullptr) {
    const Result<Tree> tree = view.find_tree("t");
    ASSERT_OK(tree.status());
    ASSERT_TRUE(same(read_all(view, *tree, snapshot), contents));
  }
};

TEST_F(HeldView, stays_as_it_is) {
  const uint64_t seed = environment_number("HAWTHORN_SEED", 1);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Contents contents;
  fill(seed, &contents);
  ASSERT_OK(db_->flush());
  fill(seed + 1, &contents);
  auto follower = follow();
  const auto held = follower->view();
  const Snapshot then = held->snapshot();
  const Contents shown = contents;
  expect(*held, shown, &then);
  for (uint64_t round = 2; round < 6; ++round) {
    fill(seed + round, &contents);
    ASSERT_OK(round % 2 == 0 ? db_->flush() : db_->compact());
    expect(*held, shown, &then);
  }
  // Nearly all goes; then the files that are empty would.
  for (auto at = contents.begin(); at != contents.end();) {
    if (mix64(at->second.size() + at->first.size()) % 10 == 0) {
      ++at;
      continue;
    }
    ASSERT_OK(db_->del(tree_, at->first));
    at = contents.erase(at);
  }
  ASSERT_OK(db_->compact());
  expect(*held, shown, &then);
  EXPECT_GT(db_->stats().follower_bytes_held, uint64_t{1} << 20);
  ASSERT_OK(follower->refresh());
  expect(*follower->view(), contents);
  EXPECT_TRUE(clean(*held));
  // A clean close cuts and punches files; the next process finds free space that is not free.
  ASSERT_OK(db_->close());
  expect(*held, shown, &then);
  open();
  fill(seed + 7, &contents);
  ASSERT_OK(db_->compact());
  expect(*held, shown, &then);
  db_.reset();
  open();
  fill(seed + 8, &contents);
  ASSERT_OK(db_->compact());
  expect(*held, shown, &then);
  ASSERT_OK(follower->refresh());
  expect(*follower->view(), contents);
  EXPECT_TRUE(clean(*held));
  EXPECT_TRUE(clean(*follower->view()));
  EXPECT_TRUE(clean(*db_));
}

TEST_F(HeldView, gives_its_space_back_when_it_goes) {
  Contents contents;
  fill(1, &contents);
  ASSERT_OK(db_->flush());
  auto follower = follow();
  auto held = follower->view();
  const Contents shown = contents;
  follower.reset();
  for (int round = 0; round < 3; ++round) {
    fill(2, &contents);
    ASSERT_OK(db_->compact());
  }
  const Stats stats = db_->stats();
  EXPECT_GT(stats.follower_bytes_held, uint64_t{1} << 20);
  expect(*held, shown);
  held.reset();
  put("one", "more");
  ASSERT_OK(db_->flush());
  EXPECT_EQ(db_->stats().follower_bytes_held, 0U);
  ASSERT_OK(db_->compact());
  EXPECT_LT(db_->stats().disk_bytes_allocated, stats.disk_bytes_allocated);
}

TEST_F(FollowerTest, sees_values_by_parts_and_trees_in_trees) {
  std::string expected(300'000, 'a');
  ASSERT_OK(db_->put(tree_, "large", expected));
  const Result<Tree> holder = db_->tree("holder", {.subtrees = true});
  ASSERT_OK(holder.status());
  const auto follower = follow();
  for (int i = 0; i < 5; ++i) {
    const auto before = follower->view();
    const Snapshot at = before->snapshot();
    const std::string old = expected;
    ASSERT_OK(db_->write_part(tree_, "large", static_cast<uint64_t>(i) * 50'000, "part"));
    expected.replace(static_cast<size_t>(i) * 50'000, 4, "part");
    ASSERT_OK(db_->append(tree_, "large", "end").status());
    expected += "end";
    const Result<Tree> hung = db_->create_subtree(*holder, key_of(i));
    ASSERT_OK(hung.status());
    ASSERT_OK(db_->put(*hung, "k", "v"));
    if (i % 2 == 0) ASSERT_OK(db_->flush());
    ASSERT_EQ(seen(*follower), "large=" + expected + " ");
    const auto view = follower->view();
    const Result<Tree> parent = view->find_tree("holder");
    ASSERT_OK(parent.status());
    EXPECT_EQ(view->list_subtrees(*parent).value().size(), static_cast<size_t>(i) + 1);
    Value value;
    ASSERT_OK(view->get(view->subtree(*parent, key_of(i)).value(), "k", value));
    EXPECT_EQ(value.view(), "v");
    EXPECT_EQ(all_of(*before, "t", &at), "large=" + old + " ");
  }
}

TEST_F(FollowerTest, sees_trees_whose_order_is_a_comparison) {
  const auto follower = follow();
  Transaction t = db_->begin(TxnMode::kOptimistic).value();
  const Tree tree = t.tree("c", {.order = "downwards"}).value();
  for (const char* key : {"b", "c", "a"}) ASSERT_OK(t.put(tree, key, "1"));
  ASSERT_OK(t.commit());
  EXPECT_EQ(seen(*follower, "c"), "c=1 b=1 a=1 ");
  ASSERT_OK(db_->put(tree, "bb", "2"));
  ASSERT_OK(db_->delete_range(tree, "b", "a"));
  EXPECT_EQ(seen(*follower, "c"), "c=1 bb=2 a=1 ");
  const auto view = follower->view();
  const Tree seen_tree = view->find_tree("c").value();
  Value value;
  EXPECT_OK(view->get(seen_tree, "bb", value));
  EXPECT_TRUE(view->get(seen_tree, "absent", value).is_not_found());
  EXPECT_EQ(view->count(seen_tree, "bz", std::nullopt).value(), 2u);
}

}  // namespace
}  // namespace hawthorn::tests
