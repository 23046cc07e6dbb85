// Listeners: what they are told, in which order, and what their callbacks may do.

#include "hawthorn/events.h"

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <stdexcept>

#include "testing/sim_machine.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

// Notes all that it is told, as lines of text.
class Recorder : public EventListener {
 public:
  void on_flush_begun(const FlushBegun& e) override {
    if (!e.tree_name.empty()) note("flush begun " + e.tree_name);
  }
  void on_flush_completed(const FlushCompleted& e) override {
    if (!e.tree_name.empty()) note("flush completed " + e.tree_name);
    std::lock_guard lock(mutex_);
    flushed_ = e;
  }
  void on_log_segment_begun(const LogSegmentBegun&) override { note("log segment"); }
  void on_write_stall_begun(const WriteStallBegun&) override { note("stall begun"); }
  void on_write_stall_ended(const WriteStallEnded& e) override {
    note(e.writers > 0 ? "stall ended" : "stall of nobody");
  }
  void on_background_error(const BackgroundError& e) override {
    note(std::string("error ") + (e.read_only ? "for good " : "") +
         std::string(status_code_name(e.status.code())));
  }
  void on_damage_found(const DamageFound& e) override {
    note("damage in " + e.tree_name + " " + std::string(status_code_name(e.status.code())));
    std::lock_guard lock(mutex_);
    damage_ = e;
  }
  void on_data_file_created(const DataFileCreated& e) override {
    note("file created " + std::to_string(e.number));
  }
  void on_data_file_removed(const DataFileRemoved& e) override {
    note("file removed " + std::to_string(e.number));
  }
  void on_tree_changed(const TreeChanged& e) override {
    const char* const changes[] = {"created ", "renamed ", "dropped "};
    note(changes[static_cast<int>(e.change)] + e.name +
         (e.former_name.empty() ? "" : " from " + e.former_name));
  }
  void on_snapshot_changed(const SnapshotChanged& e) override {
    note((e.created ? "snapshot " : "no snapshot ") + e.name);
  }
  void on_manifest_rewritten(const ManifestRewritten& e) override {
    note("manifest rewritten");
    std::lock_guard lock(mutex_);
    manifest_ = e;
  }
  void on_opened(const Opened& e) override {
    note(std::string(e.created ? "created" : "opened") +
         (e.log_bytes_replayed > 0 ? " with a log" : ""));
  }
  void on_closed(const Closed& e) override { note(e.clean ? "closed" : "gone"); }
  void on_events_dropped(uint64_t count) override {
    std::lock_guard lock(mutex_);
    dropped_ += count;
  }

  void note(const std::string& line) {
    {
      std::lock_guard lock(mutex_);
      lines_.push_back(line);
    }
    changed_.notify_all();
  }
  // Waits until the line has come, or the test's time is over.
  void await(const std::string& line) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_locked(line) > 0; });
  }
  size_t count(const std::string& line) {
    std::lock_guard lock(mutex_);
    return count_locked(line);
  }
  // Those that begin so, in order.
  std::vector<std::string> all(const std::vector<std::string>& beginnings) {
    std::lock_guard lock(mutex_);
    std::vector<std::string> found;
    for (const std::string& line : lines_) {
      for (const std::string& beginning : beginnings) {
        if (line.starts_with(beginning)) found.push_back(line);
      }
    }
    return found;
  }
  std::string last() {
    std::lock_guard lock(mutex_);
    return lines_.empty() ? "" : lines_.back();
  }

  std::mutex mutex_;
  FlushCompleted flushed_;
  DamageFound damage_;
  ManifestRewritten manifest_;
  uint64_t dropped_ = 0;

 private:
  size_t count_locked(const std::string& line) const {
    return static_cast<size_t>(std::count(lines_.begin(), lines_.end(), line));
  }
  std::vector<std::string> lines_;
  std::condition_variable changed_;
};

class Events : public Api {
 protected:
  void SetUp() override {}
  void open(std::shared_ptr<EventListener> listener, bool create_tree = true) {
    db_.reset();
    Options with = options();
    with.listeners.push_back(std::move(listener));
    auto db = Db::open(path_, with);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    if (!create_tree) return;
    auto tree = db_->tree("t");
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }
  using Lines = std::vector<std::string>;
  const std::shared_ptr<Recorder> told_ = std::make_shared<Recorder>();
};

TEST_F(Events, of_a_database_from_open_to_close) {
  open(told_);
  put("a", "1");
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->create_snapshot("s"));
  ASSERT_OK(db_->drop_snapshot("s"));
  ASSERT_OK(db_->close());
  EXPECT_EQ(told_->all({"created", "flush", "snapshot", "no snapshot", "closed"}),
            (Lines{"created", "created t", "flush begun t", "flush completed t", "snapshot s",
                   "no snapshot s", "closed"}));
  EXPECT_EQ(told_->last(), "closed");
  EXPECT_GT(told_->count("file created 0"), 0U);
  EXPECT_GT(told_->count("log segment"), 0U);
  EXPECT_OK(told_->flushed_.status);
  EXPECT_GT(told_->flushed_.bytes_written, 0U);
  EXPECT_EQ(told_->flushed_.containers, 1U);
}

TEST_F(Events, of_recovery_and_of_an_end_without_close) {
  open(std::make_shared<Recorder>());
  put("a", "1");
  open(told_, false);
  EXPECT_EQ(db_->stats().trees.size(), 1U);
  db_.reset();
  EXPECT_EQ(told_->all({"opened", "created", "closed", "gone"}),
            (Lines{"opened with a log", "gone"}));
  EXPECT_EQ(told_->last(), "gone");
}

TEST_F(Events, of_trees_come_with_their_commit_only) {
  open(told_);
  {
    Transaction t = begin();
    ASSERT_OK(t.tree("a").status());
    ASSERT_OK(t.tree("never").status());
    Savepoint here = t.savepoint().value();
    ASSERT_OK(t.tree("rolled back").status());
    ASSERT_OK(t.rename_tree("t", "rolled back, too"));
    ASSERT_OK(t.rollback_to(here));
    ASSERT_OK(t.rename_tree("a", "b"));
    ASSERT_OK(t.drop_tree("never"));
    Transaction aborted = begin();
    ASSERT_OK(aborted.tree("aborted").status());
    aborted.abort();
    EXPECT_EQ(told_->count("created a"), 0U);
    ASSERT_OK(t.commit());
    ASSERT_OK(db_->rename_tree("b", "c"));
    // A renaming alone may be prepared.
    Transaction prepared = begin();
    ASSERT_OK(prepared.rename_tree("c", "d"));
    ASSERT_OK(prepared.prepare("p"));
  }
  ASSERT_OK(db_->commit_prepared("p"));
  ASSERT_OK(db_->drop_tree("d"));
  ASSERT_OK(db_->close());
  EXPECT_EQ(told_->all({"created ", "renamed ", "dropped "}),
            (Lines{"created t", "created a", "created never", "renamed b from a", "dropped never",
                   "renamed c from b", "renamed d from c", "dropped d"}));
}

TEST_F(Events, of_damage_name_tree_and_range) {
  open(told_);
  for (int i = 0; i < 2000; ++i) put("key" + std::to_string(i), std::string(500, 'v'));
  ASSERT_OK(db_->close());
  {
    // The first megabyte of what was flushed.
    std::fstream file(path_ + "/data.0", std::ios::in | std::ios::out | std::ios::binary);
    const std::string wrong(size_t{1} << 20, '\xaa');
    file.write(wrong.data(), static_cast<std::streamsize>(wrong.size()));
  }
  const auto told = std::make_shared<Recorder>();
  open(told, false);
  // The catalog may lie there, too: then the manifest's names serve.
  auto tree = db_->find_tree("t");
  ASSERT_OK(tree.status());
  Value value;
  size_t failed = 0;
  for (int i = 0; i < 2000; ++i) {
    if (!db_->get(*tree, "key" + std::to_string(i), value).ok()) ++failed;
  }
  EXPECT_GT(failed, 0U);
  ASSERT_OK(db_->check().status());
  db_.reset();
  EXPECT_GT(told->count("damage in t Corruption"), 0U);
  EXPECT_NE(told->damage_.status.message(), "");
}

TEST_F(Events, callbacks_read_write_and_cannot_close) {
  struct Busy : Recorder {
    void on_snapshot_changed(const SnapshotChanged& e) override {
      Value value;
      EXPECT_OK(db->get(tree, "a", value));
      EXPECT_EQ(value.view(), "1");
      EXPECT_OK(db->put(tree, e.name, "by a callback"));
      EXPECT_OK(db->flush());
      EXPECT_GT(db->stats().commits, 0U);
      EXPECT_TRUE(db->close().is(StatusCode::kInvalidArgument));
      note("done");
    }
    void on_closed(const Closed& e) override {
      Value value;
      EXPECT_TRUE(db->get(tree, "a", value).is(StatusCode::kClosed));
      Recorder::on_closed(e);
    }
    Db* db = nullptr;
    Tree tree;
  };
  const auto busy = std::make_shared<Busy>();
  open(busy);
  put("a", "1");
  busy->db = db_.get();
  busy->tree = tree_;
  ASSERT_OK(db_->create_snapshot("s"));
  busy->await("done");
  EXPECT_EQ(get("s"), "by a callback");
  ASSERT_OK(db_->close());
  EXPECT_EQ(busy->last(), "closed");
}

TEST_F(Events, a_callback_that_throws_harms_nobody) {
  struct Throwing : EventListener {
    void on_opened(const Opened&) override { throw std::runtime_error("no"); }
    void on_closed(const Closed&) override { throw 7; }
  };
  std::vector<std::string> messages;
  Options with = options();
  with.log = [&](LogLevel, std::string_view message) { messages.emplace_back(message); };
  with.listeners = {std::make_shared<Throwing>(), told_};
  auto db = Db::open(path_, with);
  ASSERT_OK(db.status());
  ASSERT_OK((*db)->close());
  EXPECT_EQ(told_->all({"created", "closed"}), (Lines{"created", "closed"}));
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0], "an event listener threw no");
}

// A callback that does not return: what has no room is counted, in its place, and what comes later
// is there.
TEST_F(Events, that_find_no_room_are_counted) {
  struct Stuck : Recorder {
    void on_opened(const Opened&) override { await("go"); }
  };
  const auto stuck = std::make_shared<Stuck>();
  open(stuck);
  constexpr uint64_t kChanges = 3000;
  for (uint64_t i = 0; i < kChanges; ++i) {
    Transaction t = begin();
    ASSERT_OK(t.rename_tree("t", "u"));
    ASSERT_OK(t.commit(Durability::kNone));
    Transaction back = begin();
    ASSERT_OK(back.rename_tree("u", "t"));
    ASSERT_OK(back.commit(Durability::kNone));
  }
  stuck->note("go");
  stuck->await("renamed t from u");
  ASSERT_OK(db_->close());
  const size_t renamed = stuck->all({"renamed "}).size();
  EXPECT_GT(stuck->dropped_, 0U);
  EXPECT_LT(renamed, 4097U);
  // What else was told in that time may be among the dropped ones.
  EXPECT_GE(renamed + stuck->dropped_, 2 * kChanges);
  EXPECT_EQ(stuck->last(), "closed");
}

TEST_F(Events, null_listeners_are_refused) {
  Options with = options();
  with.listeners.push_back(nullptr);
  EXPECT_TRUE(Db::open(path_, with).status().is(StatusCode::kInvalidArgument));
}

TEST_F(Events, of_writers_that_wait) {
  db_.reset();
  Options with = options();
  with.memory_budget_bytes = size_t{16} << 20;
  with.listeners.push_back(told_);
  auto db = Db::open(path_, with);
  ASSERT_OK(db.status());
  const Tree tree = (*db)->tree("t").value();
  for (uint64_t i = 0; i < 200 || ((*db)->stats().write_waits == 0 && i < 200000); ++i) {
    WriteBatch batch;
    for (uint64_t k = 0; k < 64; ++k) {
      batch.put(tree, counter_key_of(i * 64 + k), value_of(k, 500));
    }
    ASSERT_OK((*db)->write(batch));
  }
  ASSERT_GT((*db)->stats().write_waits, 0U);
  ASSERT_OK((*db)->close());
  const Lines stalls = told_->all({"stall"});
  ASSERT_GT(stalls.size(), 0U);
  for (size_t i = 0; i < stalls.size(); ++i) {
    EXPECT_EQ(stalls[i], i % 2 == 0 ? "stall begun" : "stall ended") << i;
  }
  EXPECT_EQ(stalls.size() % 2, 0U);
}

TEST(EventsOfErrors, that_end_writing) {
  testing::SimDisk disk(7);
  testing::SimMachine sim(disk, 7);
  const auto told = std::make_shared<Recorder>();
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.listeners.push_back(told);
  {
    auto db = Db::open_on(sim.machine(), "/db", options);
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    ASSERT_OK((*db)->put(tree, "a", "1"));
    disk.fail(testing::SimOp::kSync, 1, StatusCode::kIoError, true);
    EXPECT_FALSE((*db)->put(tree, "b", "2").ok());
  }
  EXPECT_GT(told->count("error for good IoError"), 0U);
  EXPECT_EQ(told->last(), "gone");
}

}  // namespace
}  // namespace hawthorn::tests
