// Which paths a database, a copy and a repository take, and what is said of the others.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

namespace fs = std::filesystem;

class OpenPaths : public ::testing::Test {
 protected:
  OpenPaths() {
    options_.memory_budget_bytes = Db::limits().memory_budget_bytes_min;
    std::ofstream(directory_ / "file") << "of somebody";
    fs::create_symlink(directory_ / "loop", directory_ / "loop");
  }

  // Each call that makes something at a path.
  std::map<std::string, std::function<Status(const std::string&)>> makers() {
    return {{"open", [this](const std::string& path) { return Db::open(path, options_).status(); }},
            {"checkpoint", [this](const std::string& path) { return db_->checkpoint(path); }},
            {"repository",
             [](const std::string& path) { return BackupRepository::open(path).status(); }},
            {"restore", [this](const std::string& path) { return repository_->restore(1, path); }},
            {"repair", [this](const std::string& path) {
               RepairOptions repair;
               repair.database = options_;
               return Db::repair(directory_ / "source", path, repair).status();
             }}};
  }
  void SetUp() override {
    auto source = Db::open(directory_ / "source", options_);
    ASSERT_OK(source.status());
    ASSERT_OK((*source)->close());
    auto opened = Db::open(directory_ / "db", options_);
    ASSERT_OK(opened.status());
    db_ = std::move(*opened);
    auto repository = BackupRepository::open(directory_ / "backups");
    ASSERT_OK(repository.status());
    repository_ = std::move(*repository);
    ASSERT_OK(db_->backup(*repository_).status());
  }
  size_t entries() const {
    const fs::recursive_directory_iterator all(directory_.path());
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  TempDirectory directory_;
  Options options_;
  std::unique_ptr<Db> db_;
  std::unique_ptr<BackupRepository> repository_;
};

// What another engine has made is neither written over nor hidden by a database beside it.
TEST_F(OpenPaths, with_files_of_other_engines_make_nothing) {
  const std::string sqlite("SQLite format 3\0, and more", 26);
  const struct {
    std::map<std::string, std::string> files;
    const char* command;  // null: they are nobody's
  } cases[] = {
      {{{"CURRENT", "MANIFEST-000004\n"}, {"MANIFEST-000004", "x"}}, "import-rocksdb"},
      {{{"CURRENT", "MANIFEST-000004\n"}, {"000007.sst", "x"}}, "import-rocksdb"},
      {{{"CURRENT", "MANIFEST-000002\n"}, {"000005.ldb", "x"}}, "import-rocksdb"},
      {{{"data.mdb", "x"}, {"lock.mdb", "x"}}, "mdbx-load"},
      {{{"mdbx.dat", "x"}, {"mdbx.lck", "x"}}, "mdbx-load"},
      {{{"app.db", sqlite}}, "import-sqlite"},
      {{{"app.sqlite3", sqlite}, {"other", "x"}}, "import-sqlite"},
      {{{"CURRENT", "x"}, {"other", "x"}}, nullptr},
      {{{"000007.sst", "x"}, {"app.db", "x"}, {"app.sqlite", ""}, {"notes.txt", sqlite}}, nullptr},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    const std::string path = directory_ / ("foreign" + std::to_string(i));
    SCOPED_TRACE(path);
    fs::create_directory(path);
    for (const auto& [name, bytes] : cases[i].files) {
      std::ofstream(path + "/" + name, std::ios::binary) << bytes;
    }
    const size_t before = entries();
    auto db = Db::open(path, options_);
    if (cases[i].command == nullptr) {
      ASSERT_OK(db.status());
      continue;
    }
    EXPECT_TRUE(db.status().is(StatusCode::kNotSupported)) << db.status().to_string();
    EXPECT_NE(db.status().message().find(cases[i].command), std::string_view::npos)
        << db.status().to_string();
    EXPECT_EQ(entries(), before);
  }
}

// Whoever waits until a path is free, as kBusy tells him to, would wait for ever.
TEST_F(OpenPaths, that_lead_to_something_else) {
  const size_t before = entries();
  const std::pair<std::string, StatusCode> paths[] = {
      {"", StatusCode::kInvalidArgument},
      {directory_ / "file", StatusCode::kInvalidArgument},
      {directory_ / "file/db", StatusCode::kInvalidArgument},
      {directory_ / "loop", StatusCode::kInvalidArgument},
      {directory_ / "loop/db", StatusCode::kInvalidArgument},
      {directory_ / std::string(300, 'n'), StatusCode::kInvalidArgument},
      {directory_ / "no/db", StatusCode::kNotFound},
      {directory_ / "no/more/db", StatusCode::kNotFound},
  };
  for (const auto& [call, make] : makers()) {
    for (const auto& [path, code] : paths) {
      SCOPED_TRACE(call + " " + path);
      const Status status = make(path);
      EXPECT_TRUE(status.is(code)) << status.to_string();
      EXPECT_NE(status.message().find(path.substr(0, path.rfind('/'))), std::string_view::npos)
          << status.to_string();
    }
  }
  EXPECT_EQ(entries(), before) << "nothing was made";
  std::ifstream file(directory_ / "file");
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "of somebody");
}

TEST_F(OpenPaths, the_last_directory_is_made) {
  for (const auto& [call, make] : makers()) {
    SCOPED_TRACE(call);
    EXPECT_OK(make(directory_ / ("new-" + call)));
    EXPECT_TRUE(fs::is_directory(directory_ / ("new-" + call)));
  }
}

TEST_F(OpenPaths, those_above_where_it_is_asked_for) {
  options_.create_parents = true;
  EXPECT_OK(Db::open(directory_ / "a/b/c", options_).status());
  EXPECT_TRUE(fs::exists(directory_ / "a/b/c/superblock"));
  EXPECT_OK(Db::open(directory_ / "a/b/c", options_).status());
  EXPECT_TRUE(
      Db::open(directory_ / "file/b/c", options_).status().is(StatusCode::kInvalidArgument));
  options_.create_if_missing = false;
  EXPECT_TRUE(Db::open(directory_ / "x/y", options_).status().is_not_found());
  EXPECT_FALSE(fs::exists(directory_ / "x"));
}

TEST_F(OpenPaths, repositories_only_where_they_are_wanted) {
  const std::string empty = directory_ / "empty";
  fs::create_directory(empty);
  for (const std::string& path : {empty, directory_ / "no", directory_ / "no/no"}) {
    const Status status = BackupRepository::open(path, {.create_if_missing = false}).status();
    EXPECT_TRUE(status.is_not_found()) << status.to_string();
    EXPECT_NE(status.message().find(path), std::string_view::npos);
  }
  EXPECT_TRUE(fs::is_empty(empty));
  EXPECT_FALSE(fs::exists(directory_ / "no"));
  repository_.reset();
  const auto there = BackupRepository::open(directory_ / "backups", {.create_if_missing = false});
  ASSERT_OK(there.status());
  const auto list = (*there)->list();
  ASSERT_OK(list.status());
  EXPECT_EQ(list->size(), 1U);
}

}  // namespace
}  // namespace hawthorn::tests
