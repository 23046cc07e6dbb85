// Filters of flushed entries: what they see, what they remove, and that nobody sees half of it.

#include "hawthorn/flush_filter.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "os/test_point.h"
#include "testing/sim_machine.h"
#include "testing/waiting_thread.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

using Decision = FlushFilter::Decision;

class Filter : public FlushFilter {
 public:
  using Rule = std::function<Decision(std::string_view, std::string_view, std::string*)>;
  explicit Filter(Rule rule, bool values = true) : rule_(std::move(rule)), values_(values) {}
  std::string_view name() const override { return "test"; }
  Decision filter(std::string_view key, std::string_view value, std::string* changed) override {
    return rule_(key, value, changed);
  }
  bool needs_values() const override { return values_; }

 private:
  const Rule rule_;
  const bool values_;
};

Decision remove_dead(std::string_view, std::string_view value, std::string*) {
  return value.starts_with("dead") ? Decision::kRemove : Decision::kKeep;
}

class FlushFilters : public Api {
 protected:
  void SetUp() override {}
  void open(Filter::Rule rule, bool values = true) {
    db_.reset();
    Options with = options();
    with.merge_operators = {append_with(",")};
    with.flush_filters["t"] = std::make_shared<Filter>(std::move(rule), values);
    with.log = [this](LogLevel, std::string_view text) {
      std::lock_guard lock(mutex_);
      messages_.emplace_back(text);
    };
    auto db = Db::open(path_, with);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
  }
  uint64_t count(const Snapshot* snapshot = nullptr) {
    return db_->count(tree_, "", std::nullopt, {.snapshot = snapshot}).value();
  }
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

TEST_F(FlushFilters, remove_and_change_what_is_flushed) {
  open([](std::string_view key, std::string_view value, std::string* changed) {
    if (value == "dead") return Decision::kRemove;
    if (value != "old") return Decision::kKeep;
    *changed = "new of " + std::string(key);
    return Decision::kChange;
  });
  put("a", "dead");
  put("b", "old");
  put("c", "kept");
  ASSERT_OK(db_->put(db_->tree("other").value(), "a", "dead"));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(get("b"), "new of b");
  EXPECT_EQ(get("c"), "kept");
  EXPECT_EQ(keys(db_->find_tree("other").value()), (std::vector<std::string>{"a"}));
  const Stats stats = db_->stats();
  EXPECT_EQ(stats.filter_removed, 1U);
  EXPECT_EQ(stats.filter_changed, 1U);
  EXPECT_GE(stats.filter_seen, 3U);
  EXPECT_EQ(stats.trees.size(), 2U);
  EXPECT_TRUE(clean(*db_));
}

TEST_F(FlushFilters, work_behind_flushes_without_being_asked) {
  open(remove_dead);
  for (int i = 0; i < 3000; ++i) {
    put("key" + std::to_string(i), i % 2 == 0 ? "dead" : "alive");
  }
  ASSERT_OK(db_->flush());
  while (count() != 1500) std::this_thread::yield();
  EXPECT_EQ(db_->stats().filter_removed, 1500U);
  for (const std::string& key : keys(tree_)) EXPECT_EQ(get(key), "alive");
}

TEST_F(FlushFilters, leave_snapshots_cursors_and_counts_as_they_were) {
  open(remove_dead);
  for (int i = 0; i < 2000; ++i) {
    put("key" + std::to_string(i), i % 2 == 0 ? "dead" : "alive");
  }
  ASSERT_OK(db_->create_snapshot("named"));
  {
    const Snapshot before = db_->snapshot();
    Cursor cursor = db_->cursor(tree_, {.snapshot = &before});
    ASSERT_TRUE(cursor.first());
    ASSERT_OK(db_->compact());
    EXPECT_EQ(count(), 1000U);
    EXPECT_EQ(count(&before), 2000U);
    size_t walked = 1;
    while (cursor.next()) ++walked;
    EXPECT_EQ(walked, 2000U);
    EXPECT_EQ(get("key0", &before), "dead");
    EXPECT_EQ(get("key0"), "NotFound");
  }
  open(remove_dead);
  {
    const Snapshot named = db_->open_snapshot("named").value();
    EXPECT_EQ(count(&named), 2000U);
  }
  ASSERT_OK(db_->drop_snapshot("named"));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(count(), 1000U);
  EXPECT_TRUE(clean(*db_));
}

// Between the look and the removal: the newer value stays.
TEST_F(FlushFilters, lose_to_whoever_changes_the_entry_meanwhile) {
  open([this](std::string_view key, std::string_view value, std::string*) {
    if (key == "b" && value == "dead") EXPECT_OK(db_->put(tree_, "b", "revived"));
    if (key == "c" && value == "dead") EXPECT_OK(db_->del(tree_, "c"));
    return remove_dead(key, value, nullptr);
  });
  for (const char* key : {"a", "b", "c", "d"}) put(key, "dead");
  ASSERT_OK(db_->compact());
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{"b"}));
  EXPECT_EQ(get("b"), "revived");
}

TEST_F(FlushFilters, pass_over_what_others_have_locked_or_not_committed) {
  open(remove_dead);
  put("a", "dead");
  put("b", "dead");
  Transaction locks = begin({.mode = TxnMode::kPessimistic});
  ASSERT_OK(locks.lock(tree_, "a", RowLock::kExclusive));
  Transaction writes = begin();
  ASSERT_OK(writes.put(tree_, "c", "dead"));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{"a"}));
  locks.abort();
  ASSERT_OK(writes.commit());
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{"a", "c"}));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{}));
}

TEST_F(FlushFilters, make_an_optimistic_reader_conflict_as_any_writer_does) {
  open(remove_dead);
  put("a", "dead");
  Transaction t = begin({.isolation = Isolation::kSerializable});
  EXPECT_EQ(get_in(t, "a"), "dead");
  ASSERT_OK(db_->compact());
  EXPECT_EQ(get_in(t, "a"), "dead");
  ASSERT_OK(t.put(tree_, "b", "because of a"));
  EXPECT_TRUE(t.commit().is_conflict());
}

TEST_F(FlushFilters, need_no_values_where_they_say_so) {
  std::atomic<uint64_t> empty{0};
  const ClosesFirst closes(db_);
  open(
      [&](std::string_view key, std::string_view value, std::string*) {
        if (value.empty()) ++empty;
        return key.starts_with("x") ? Decision::kRemove : Decision::kKeep;
      },
      false);
  put("a", "1");
  put("x1", "2");
  put("x2", value_of(1, 200000));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{"a"}));
  EXPECT_GE(empty.load(), 3U);
}

TEST_F(FlushFilters, see_and_write_large_values) {
  open([](std::string_view, std::string_view value, std::string* changed) {
    if (value.size() != 100000) return Decision::kKeep;
    EXPECT_EQ(value, value_of(1, 100000));
    *changed = value_of(2, 300000);
    return Decision::kChange;
  });
  put("large", value_of(1, 100000));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(get("large"), value_of(2, 300000));
  EXPECT_TRUE(clean(*db_));
}

TEST_F(FlushFilters, see_what_operands_have_made) {
  std::vector<std::string> seen;
  const ClosesFirst closes(db_);
  open([&](std::string_view key, std::string_view value, std::string* changed) {
    std::lock_guard lock(mutex_);
    seen.push_back(std::string(key) + "=" + std::string(value));
    if (value == "c,dead") EXPECT_OK(db_->merge(tree_, "c", "late"));
    if (value.ends_with("dead")) return Decision::kRemove;
    if (value != "only") return Decision::kKeep;
    *changed = "changed";
    return Decision::kChange;
  });
  ASSERT_OK(db_->set_merge_operator(tree_, "append:,"));
  for (const char* key : {"a", "c", "d"}) put(key, key);
  for (const char* key : {"a", "c"}) ASSERT_OK(db_->merge(tree_, key, "dead"));
  ASSERT_OK(db_->merge(tree_, "b", "only"));
  ASSERT_OK(db_->compact());
  {
    std::lock_guard lock(mutex_);
    for (const char* entry : {"a=a,dead", "b=only", "c=c,dead", "d=d"}) {
      EXPECT_GT(std::count(seen.begin(), seen.end(), entry), 0) << entry;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), "a=a"), 0);
  }
  EXPECT_EQ(get("a"), "NotFound");
  EXPECT_EQ(get("b"), "changed");
  EXPECT_EQ(get("c"), "c,dead,late");  // merged behind the filter's look: it keeps all of it
  ASSERT_OK(db_->merge(tree_, "a", "again"));
  ASSERT_OK(db_->merge(tree_, "b", "more"));
  EXPECT_EQ(get("a"), "again");
  EXPECT_EQ(get("b"), "changed,more");
  EXPECT_TRUE(clean(*db_));
}

TEST_F(FlushFilters, are_not_shown_what_is_too_large_to_read) {
  std::atomic<uint64_t> shown{0};
  const ClosesFirst closes(db_);
  open([&](std::string_view, std::string_view value, std::string*) {
    ++shown;
    return value.empty() ? Decision::kRemove : Decision::kKeep;
  });
  {
    Transaction t = begin();
    ASSERT_OK(t.put(tree_, "a", ""));
    ASSERT_OK(t.put_stream(tree_, "large", (size_t{64} << 20) + 1,
                           [](std::span<char> to) -> Result<size_t> {
                             std::fill(to.begin(), to.end(), 'v');
                             return to.size();
                           }));
    ASSERT_OK(t.put(tree_, "z", ""));
    ASSERT_OK(t.commit());
  }
  ASSERT_OK(db_->compact());
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{"large"}));
}

TEST_F(FlushFilters, may_use_the_database_but_neither_close_compact_nor_drain_it) {
  std::atomic<uint64_t> refused{0};
  std::atomic<bool> wrong{false};
  const ClosesFirst closes(db_);
  open([&](std::string_view, std::string_view, std::string*) {
    const bool all = db_->close().is(StatusCode::kInvalidArgument) &&
                     db_->compact().is(StatusCode::kInvalidArgument) &&
                     db_->drain().is(StatusCode::kInvalidArgument);
    if (!all || !db_->flush().ok() || db_->stats().commits == 0) wrong = true;
    ++refused;
    return Decision::kKeep;
  });
  put("a", "1");
  ASSERT_OK(db_->compact());  // on this thread
  EXPECT_GT(refused.load(), 0U);
  put("b", "1");
  const uint64_t before = refused.load();
  ASSERT_OK(db_->flush());
  while (refused.load() == before) std::this_thread::yield();  // on that of the database
  ASSERT_OK(db_->close());
  EXPECT_FALSE(wrong.load());
}

#if defined(HAWTHORN_TEST_POINTS)
// Also for the one that the filter's own thread is at, whose decisions are not committed.
TEST_F(FlushFilters, are_waited_for_by_drain) {
  std::atomic<bool> deciding{false};
  std::atomic<bool> draining{false};
  std::atomic<bool> drained{false};
  const ClosesFirst closes(db_);
  os::set_test_point("filter.before_apply", [&, drainer = gettid()] {
    deciding = true;
    while (!draining) std::this_thread::yield();
    EXPECT_TRUE(wait_until([&] { return drained || testing::is_asleep(drainer); }));
  });
  open(remove_dead);
  put("a", "dead");
  put("b", "lives");
  ASSERT_OK(db_->flush());
  while (!deciding) std::this_thread::yield();
  EXPECT_EQ(count(), 2U);
  draining = true;
  ASSERT_OK(db_->drain());
  drained = true;
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{"b"}));
  os::clear_test_points();
}

// Close waits for the call that is under way, not for those that would follow; and where it fails,
// the container is shown again.
TEST_F(FlushFilters, do_not_keep_close_waiting) {
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> called{0};
  std::atomic<bool> stopping{false};
  const ClosesFirst closes(db_);
  os::set_test_point("filter.stopping", [&] { stopping = true; });
  open([&](std::string_view, std::string_view, std::string*) {
    if (++calls == 1) {
      while (!stopping) std::this_thread::yield();
    }
    return Decision::kKeep;
  });
  for (int i = 0; i < 100; ++i) put("key" + std::to_string(i), "1");
  {
    const Snapshot held = db_->snapshot();
    ASSERT_OK(db_->flush());
    while (calls == 0) std::this_thread::yield();
    os::set_test_point("filter.stopped", [&] { called = calls.load(); });
    EXPECT_TRUE(db_->close().is(StatusCode::kBusy));
    EXPECT_EQ(called, 1U);
    while (calls < 101) std::this_thread::yield();
  }
  os::clear_test_points();
  ASSERT_OK(db_->close());
}
#endif

TEST_F(FlushFilters, that_throw_or_answer_nonsense_leave_the_entries) {
  std::atomic<bool> throws{true};
  const ClosesFirst closes(db_);
  open([&](std::string_view, std::string_view, std::string* changed) {
    if (throws) throw std::runtime_error("no idea");
    changed->assign(Db::limits().batch_value_bytes_max + 1, 'x');
    return Decision::kChange;
  });
  put("a", "1");
  ASSERT_OK(db_->compact());
  throws = false;
  ASSERT_OK(db_->compact());
  EXPECT_EQ(get("a"), "1");
  std::lock_guard lock(mutex_);
  size_t told = 0;
  for (const std::string& message : messages_) {
    told += message.find("no idea") != std::string::npos ? 1 : 0;
    if (message.find("over the limit") != std::string::npos) told += 1000;
  }
  EXPECT_GE(told, 1001U);
}

TEST_F(FlushFilters, go_with_the_name) {
  open(remove_dead);
  put("a", "dead");
  ASSERT_OK(db_->rename_tree("t", "u"));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{"a"}));
  ASSERT_OK(db_->rename_tree("u", "t"));
  ASSERT_OK(db_->compact());
  EXPECT_EQ(keys(tree_), (std::vector<std::string>{}));
  ASSERT_OK(db_->drop_tree("t"));
  ASSERT_OK(db_->compact());
}

TEST_F(FlushFilters, are_not_kept_and_can_be_wrong) {
  open(remove_dead);
  ASSERT_OK(db_->close());
  Api::open();
  put("a", "dead");
  ASSERT_OK(db_->compact());
  EXPECT_EQ(get("a"), "dead");
  db_.reset();
  Options with = options();
  with.flush_filters["t"] = nullptr;
  EXPECT_TRUE(Db::open(path_, with).status().is(StatusCode::kInvalidArgument));
  with.flush_filters.clear();
  with.flush_filters[""] = std::make_shared<Filter>(remove_dead);
  EXPECT_TRUE(Db::open(path_, with).status().is(StatusCode::kInvalidArgument));
}

// On a machine without threads, drain does what is due.
TEST(FlushFiltersOnSim, work_in_drain) {
  testing::SimDisk disk(3);
  testing::SimMachine sim(disk, 3);
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.flush_filters["t"] = std::make_shared<Filter>(remove_dead);
  options.flush_filters["large"] = options.flush_filters["t"];
  auto db = Db::open_on(sim.machine(), "/db", options);
  ASSERT_OK(db.status());
  const Tree tree = (*db)->tree("t").value();
  for (uint64_t i = 0; i < 20000; ++i) {
    ASSERT_OK(
        (*db)->put(tree, counter_key_of(i), i % 3 == 0 ? "dead" : "alive", Durability::kNone));
  }
  ASSERT_OK((*db)->flush());
  ASSERT_OK((*db)->drain());
  EXPECT_EQ((*db)->count(tree, "", std::nullopt).value(), 20000U - 6667U);
  EXPECT_EQ((*db)->stats().filter_removed, 6667U);
  EXPECT_TRUE(clean(**db));
  // A flush that makes several containers of one: each of them is shown.
  const uint64_t splits = (*db)->stats().splits;
  const Tree large = (*db)->tree("large").value();
  for (uint64_t i = 0; i < 3000; ++i) {
    ASSERT_OK((*db)->put(large, counter_key_of(i),
                         (i % 3 == 0 ? "dead" : "alive") + value_of(i, 1000), Durability::kNone));
  }
  ASSERT_OK((*db)->flush());
  ASSERT_GT((*db)->stats().splits, splits);
  ASSERT_OK((*db)->drain());
  EXPECT_EQ((*db)->count(large, "", std::nullopt).value(), 2000U);
}

}  // namespace
}  // namespace hawthorn::tests
