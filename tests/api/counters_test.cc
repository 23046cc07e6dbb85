// The file of counters: what other programs find in it, and that nothing they do to it harms.

#include "hawthorn/counters.h"

#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

#include "format/counters_layout.h"
#include "testing/sim_machine.h"
#include "tests/api/api_test_fixture.h"
#include "tests/support/child_process.h"

namespace hawthorn::tests {
namespace {

class CountersFile : public Api {
 protected:
  Counters read() {
    Result<Counters> counters = read_counters(path_);
    EXPECT_OK(counters.status());
    return counters.ok() ? *counters : Counters();
  }
  std::string bytes() {
    std::ifstream file(path_ + "/counters", std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
};

TEST_F(CountersFile, is_there_from_open_on_and_stays) {
  const Counters first = read();
  EXPECT_TRUE(first.alive);
  EXPECT_FALSE(first.closed);
  EXPECT_EQ(first.pid, static_cast<uint64_t>(::getpid()));
  EXPECT_GT(first.opened_us, 0U);
  EXPECT_GE(first.updated_us, first.opened_us);
  EXPECT_EQ(first.value("memory_budget_bytes"), size_t{32} << 20);
  put("a", "1");
  put("b", "2");
  const uint64_t commits = db_->stats().commits;
  ASSERT_OK(db_->close());
  const Counters last = read();
  EXPECT_TRUE(last.closed);
  EXPECT_FALSE(last.alive);
  EXPECT_EQ(last.value("commits"), commits);
  EXPECT_GT(last.value("bytes_written_data").value_or(0), 0U);
  EXPECT_EQ(last.uuid_low, first.uuid_low);
  EXPECT_NE(last.uuid_low | last.uuid_high, 0U);
}

TEST_F(CountersFile, every_entry_has_the_name_of_a_field_once) {
  std::set<std::string> names;
  for (const Counter& counter : read().entries) {
    EXPECT_TRUE(names.insert(counter.name).second) << counter.name;
    EXPECT_EQ(counter.unit == Counter::Unit::kMicroseconds, counter.name.ends_with("_us"))
        << counter.name;
  }
  EXPECT_GT(names.size(), 30U);
}

TEST_F(CountersFile, of_a_database_that_is_gone_without_close_says_so) {
  db_.reset();
  EXPECT_TRUE(read().closed);
}

TEST_F(CountersFile, of_a_process_that_died_is_recognised) {
  ASSERT_OK(db_->close());
  const auto set = [this](size_t offset, const auto& value) {
    std::fstream file(path_ + "/counters", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  // As who is killed leaves it.
  set(offsetof(format::CountersHeader, state), format::kCountersOpen);
  EXPECT_TRUE(read().alive);
  const uint64_t start = read().process_start;
  set(offsetof(format::CountersHeader, process_start), start - 1);
  EXPECT_FALSE(read().alive);
  EXPECT_FALSE(read().closed);
  set(offsetof(format::CountersHeader, process_start), start);
  const pid_t child = start_child([] {});
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  set(offsetof(format::CountersHeader, pid), static_cast<uint64_t>(child));
  EXPECT_FALSE(read().alive);
  EXPECT_FALSE(read().closed);
  open();
  EXPECT_TRUE(read().alive);
}

TEST_F(CountersFile, is_not_touched_by_who_opens_to_read) {
  ASSERT_OK(db_->close());
  db_.reset();
  const std::string before = bytes();
  ASSERT_EQ(before.size(), format::kCountersFileBytes);
  Options to_read = options();
  to_read.read_only = true;
  {
    auto db = Db::open(path_, to_read);
    ASSERT_OK(db.status());
    ASSERT_OK((*db)->close());
  }
  EXPECT_EQ(bytes(), before);
  std::filesystem::remove(path_ + "/counters");
  {
    auto db = Db::open(path_, to_read);
    ASSERT_OK(db.status());
  }
  EXPECT_TRUE(read_counters(path_).status().is_not_found());
}

TEST_F(CountersFile, that_was_half_written_is_no_answer) {
  ASSERT_OK(db_->close());
  {
    std::fstream file(path_ + "/counters", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(16);
    file.put('\1');
  }
  EXPECT_TRUE(read_counters(path_).status().is(StatusCode::kCorruption));
}

TEST_F(CountersFile, goes_with_the_database) {
  ASSERT_OK(db_->close());
  db_.reset();
  ASSERT_OK(Db::destroy(path_));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// Something else stands where the file would: the database is none the worse.
TEST_F(CountersFile, that_cannot_be_made_is_only_a_warning) {
  ASSERT_OK(db_->close());
  std::filesystem::remove(path_ + "/counters");
  std::filesystem::create_directory(path_ + "/counters");
  std::vector<std::string> messages;
  const ClosesFirst closes(db_);
  Options with = options();
  with.log = [&](LogLevel, std::string_view text) { messages.emplace_back(text); };
  open_with(with);
  ASSERT_GT(messages.size(), 0U);
  EXPECT_NE(messages[0].find("counters"), std::string::npos);
  put("a", "1");
  ASSERT_OK(db_->drain());
  EXPECT_FALSE(read_counters(path_).ok());
  ASSERT_OK(db_->close());
  std::filesystem::remove(path_ + "/counters");
  open();
  EXPECT_TRUE(read().alive);
}

// On a simulated machine, whose seconds pass when the test says so.
class SimCounters : public ::testing::Test {
 protected:
  void open() {
    db_.reset();
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.log = [this](LogLevel, std::string_view text) { messages_.emplace_back(text); };
    auto db = Db::open_on(sim_.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
  }
  Result<Counters> read() {
    auto file = disk_.open_file("/db/counters", {.read_only = true});
    if (!file.ok()) return file.status();
    std::string bytes((*file)->size().value(), '\0');
    Status status = (*file)->read_at(0, bytes);
    if (!status.ok()) return status;
    return format::decode_counters(bytes);
  }
  void pass_a_second() {
    sim_.clock().advance_us(1'000'000);
    ASSERT_OK(db_->drain());
  }

  testing::SimDisk disk_{5};
  testing::SimMachine sim_{disk_, 5};
  std::vector<std::string> messages_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_F(SimCounters, follow_each_second) {
  open();
  for (int second = 0; second < 5; ++second) {
    for (int i = 0; i <= second; ++i) ASSERT_OK(db_->put(tree_, std::to_string(i), "v"));
    const uint64_t before = read()->updated_us;
    ASSERT_OK(db_->drain());
    EXPECT_LE(read()->updated_us, before + 1'000'000);
    pass_a_second();
    const Result<Counters> counters = read();
    ASSERT_OK(counters.status());
    EXPECT_EQ(counters->value("commits"), db_->stats().commits);
    EXPECT_GT(counters->updated_us, before);
  }
}

TEST_F(SimCounters, are_whole_again_whatever_others_do_to_the_file) {
  open();
  auto file = disk_.open_file("/db/counters", {});
  ASSERT_OK(file.status());
  const std::string garbage(20000, '\xff');
  ASSERT_OK((*file)->write_at(0, garbage));
  EXPECT_FALSE(read().ok());
  pass_a_second();
  ASSERT_OK(read().status());
  ASSERT_OK((*file)->truncate(0));
  ASSERT_OK(db_->put(tree_, "a", "1"));
  pass_a_second();
  ASSERT_OK(read().status());
  EXPECT_EQ(read()->value("commits"), db_->stats().commits);
  EXPECT_TRUE(clean(*db_));
  ASSERT_OK(db_->close());
  EXPECT_TRUE(read()->closed);
  // A later open cuts off what is too long.
  open();
  EXPECT_EQ((*file)->size().value(), format::kCountersFileBytes);
}

TEST_F(SimCounters, that_cannot_be_written_are_only_a_warning) {
  disk_.fail_path("/counters", testing::SimOp::kWrite, 1, StatusCode::kNoSpace, true);
  open();
  ASSERT_GT(messages_.size(), 0U);
  EXPECT_NE(messages_[0].find("counters"), std::string::npos);
  ASSERT_OK(db_->put(tree_, "a", "1"));
  pass_a_second();
  ASSERT_OK(db_->close());
}

}  // namespace
}  // namespace hawthorn::tests
