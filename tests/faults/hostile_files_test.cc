// What stands in place of a file of the database is something else: a symbolic link to a file
// outside of the directory, or to nothing, another name of one, a FIFO, a directory, a socket.
// Whoever opens it gets an answer at once, an error that names the file or a database that is
// whole; nothing outside is changed or made.
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "hawthorn/counters.h"
#include "hawthorn/follower.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kHangsSeconds = 300;  // then the test dies

enum class Kind { kLink, kLinkToNothing, kHardLink, kFifo, kDirectory, kSocket };
constexpr const char* kKinds[] = {"link", "link_to_nothing", "hard_link",
                                  "fifo", "directory",       "socket"};
// Those that exist only for moments, or not in every database.
constexpr const char* kRare[] = {"superblock.new",   "wal.new",        "data.probe",
                                 "prepared.reserve", "manifest.spare", "ingest.1"};

Options small_options(bool read_only) {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  options.read_only = read_only;
  return options;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}
using Files = std::map<std::string, std::string>;
Files files_of(const std::string& path) {
  Files files;
  for (const auto& entry : fs::directory_iterator(path)) {
    files[entry.path().filename()] = bytes_of(entry.path());
  }
  return files;
}

constexpr uint64_t kEntries = 60;

Status put(Db& db, uint64_t from, uint64_t to) {
  const Result<Tree> tree = db.tree("t");
  if (!tree.ok()) return tree.status();
  for (uint64_t i = from; i < to; ++i) {
    if (Status s = db.put(*tree, big_endian(i), value_of(i, 2000)); !s.ok()) return s;
  }
  return {};
}
std::string first_wrong(Db& db) {
  const Result<Tree> tree = db.find_tree("t");
  if (!tree.ok()) return tree.status().to_string();
  for (uint64_t i = 0; i < kEntries; ++i) {
    Value value;
    if (Status s = db.get(*tree, big_endian(i), value); !s.ok()) return s.to_string();
    if (value.view() != value_of(i, 2000)) return "another value";
  }
  return "";
}

class HostileFiles : public ::testing::TestWithParam<Kind> {
 protected:
  // As a killed process leaves it: a part of it is in the log.
  void SetUp() override {
    alarm(kHangsSeconds);
    // Files that are quickly copied.
    db::log_segment_bytes = size_t{1} << 20;
    db::log_bytes_min = size_t{2} << 20;
    db::data_file_bytes_first = uint64_t{1} << 20;
    auto db = Db::open(directory_ / "made", small_options(false));
    ASSERT_OK(db.status());
    ASSERT_OK(put(**db, 0, kEntries / 2));
    ASSERT_OK((*db)->flush());
    ASSERT_OK(put(**db, kEntries / 2, kEntries));
    fs::copy(directory_ / "made", directory_ / "killed");
  }
  void TearDown() override { alarm(0); }

  // False: it cannot be made here.
  bool replace(const std::string& name) {
    const std::string path = directory_ / "db/" + name;
    fs::remove_all(directory_ / "db");
    fs::remove_all(outside_);
    fs::copy(directory_ / "killed", directory_ / "db");
    fs::create_directory(outside_);
    // What a process would get by following it is what it would have had.
    const std::string target = outside_ + "/target";
    std::ofstream(target, std::ios::binary) << (fs::exists(path) ? bytes_of(path) : "a secret");
    fs::remove(path);
    switch (GetParam()) {
      case Kind::kLink:
        fs::create_symlink(target, path);
        return true;
      case Kind::kLinkToNothing:
        fs::create_symlink(outside_ + "/new", path);
        return true;
      case Kind::kHardLink:
        fs::create_hard_link(target, path);
        return true;
      case Kind::kFifo:
        return mkfifo(path.c_str(), 0600) == 0;
      case Kind::kDirectory:
        fs::create_directory(path);
        std::ofstream(path + "/kept") << "kept";
        return true;
      case Kind::kSocket:
        break;
    }
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) return false;
    path.copy(address.sun_path, path.size());
    const int made = socket(AF_UNIX, SOCK_STREAM, 0);
    const bool bound =
        bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    close(made);
    return bound;
  }

  // An error that names the file, of the open or, of data files, of a read; or a database that is
  // whole.
  void expect_answer(const std::string& name, const Status& status, Db* db) {
    const std::string wrong = status.ok() ? first_wrong(*db) : status.to_string();
    EXPECT_TRUE(wrong.empty() || wrong.find("/" + name) != std::string::npos) << wrong;
  }

  void expect_nothing_outside(const std::string& name) {
    for (const bool read_only : {true, false}) {
      if (!replace(name)) return;
      const Files before = files_of(outside_);
      {
        auto db = Db::open(directory_ / "db", small_options(read_only));
        expect_answer(name, db.status(), db.ok() ? db->get() : nullptr);
        if (db.ok() && !read_only) {
          Status written = put(**db, kEntries, 2 * kEntries);
          if (written.ok()) written = (*db)->flush();
          if (written.ok()) written = (*db)->close();
          if (!name.starts_with("data.")) {
            EXPECT_OK(written);
          } else if (!written.ok()) {
            EXPECT_FALSE(written.message().empty());
          }
        }
      }
      EXPECT_EQ(files_of(outside_), before) << name << (read_only ? " read" : " written");
      if (read_only) continue;
      // What is removed is what stands in the directory.
      const Status destroyed = Db::destroy(directory_ / "db");
      if (!destroyed.ok()) {
        EXPECT_NE(destroyed.message().find("db/"), std::string_view::npos);
      }
      EXPECT_EQ(files_of(outside_), before) << name << " destroyed";
    }
  }

  const TempDirectory directory_;
  const std::string outside_ = directory_ / "outside";
};

TEST_P(HostileFiles, of_every_name) {
  std::vector<std::string> names(std::begin(kRare), std::end(kRare));
  for (const auto& entry : fs::directory_iterator(directory_ / "killed")) {
    names.push_back(entry.path().filename());
  }
  ASSERT_GE(names.size(), 12u);
  for (const std::string& name : names) expect_nothing_outside(name);
}

TEST_P(HostileFiles, followed) {
  for (const char* name : {"superblock", "followers", "revocations", "wal.ring", "data.0"}) {
    if (!replace(name)) return;
    const Files before = files_of(outside_);
    FollowerOptions options;
    options.memory_budget_bytes = size_t{16} << 20;
    auto follower = Follower::open(directory_ / "db", options);
    const std::shared_ptr<Db> view = follower.ok() ? (*follower)->view() : nullptr;
    expect_answer(name, follower.status(), view.get());
    EXPECT_EQ(files_of(outside_), before) << name;
  }
}

TEST_P(HostileFiles, of_a_directory_without_a_database) {
  for (const char* name :
       {"superblock", "superblock.new", "lock", "counters", "followers", "revocations",
        "manifest.1", "data.0", "data.probe", "wal.ring", "wal.new"}) {
    if (!replace(name)) return;
    for (const auto& entry : fs::directory_iterator(directory_ / "db")) {
      if (entry.path().filename() != name) fs::remove_all(entry.path());
    }
    const Files before = files_of(outside_);
    auto db = Db::open(directory_ / "db", small_options(false));
    if (!db.ok()) {
      EXPECT_NE(db.status().message().find(name), std::string_view::npos)
          << db.status().to_string();
    }
    EXPECT_EQ(files_of(outside_), before) << name;
  }
}

TEST_P(HostileFiles, counters_for_others) {
  if (!replace("counters")) return;
  const auto counters = read_counters(directory_ / "db");
  EXPECT_EQ(counters.ok(), GetParam() == Kind::kHardLink) << counters.status().to_string();
}

INSTANTIATE_TEST_SUITE_P(all, HostileFiles,
                         ::testing::Values(Kind::kLink, Kind::kLinkToNothing, Kind::kHardLink,
                                           Kind::kFifo, Kind::kDirectory, Kind::kSocket),
                         [](const auto& kind) {
                           return std::string(kKinds[static_cast<size_t>(kind.param)]);
                         });

// The way to the directory is the user's.
TEST(HostileFilesPath, links_lead_to_the_directory) {
  const TempDirectory directory;
  fs::create_directory(directory / "real");
  fs::create_symlink(directory / "real", directory / "link");
  auto db = Db::open(directory / "link/db", small_options(false));
  ASSERT_OK(db.status());
  ASSERT_OK(put(**db, 0, kEntries));
  ASSERT_OK((*db)->close());
  db->reset();
  fs::create_symlink(directory / "real/db", directory / "second");
  db = Db::open(directory / "second", small_options(false));
  ASSERT_OK(db.status());
  EXPECT_EQ(first_wrong(**db), "");
}

}  // namespace
}  // namespace hawthorn::tests
