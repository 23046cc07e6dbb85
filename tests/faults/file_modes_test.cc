// Permissions of what a database makes: 0600 and 0700 whatever the umask lets through, or what
// Options::file_mode says, less what the umask takes; what is there keeps what it has.
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

namespace fs = std::filesystem;

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(umask(mask)) {}
  ~Umask() { umask(before_); }

 private:
  const mode_t before_;
};

uint32_t mode_of(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

Options small_options(uint32_t mode) {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  options.file_mode = mode;
  options.create_parents = true;
  return options;
}

// Makes every kind of file that there is while `look` runs; the directory is new, and so is the one
// above it.
void use(const std::string& path, uint32_t mode, const std::function<void()>& look) {
  auto db = Db::open(path, small_options(mode));
  ASSERT_OK(db.status());
  const Tree tree = (*db)->tree("t").value();
  for (uint64_t i = 0; i < 50; ++i) ASSERT_OK((*db)->put(tree, big_endian(i), value_of(i, 3000)));
  ASSERT_OK((*db)->put(tree, "large", value_of(1, 200'000)));
  ASSERT_OK((*db)->flush());
  // A transaction that stays prepared has a file of its own.
  Transaction transaction = (*db)->begin(TxnOptions{}).value();
  ASSERT_OK(transaction.put(tree, "prepared", "value"));
  ASSERT_OK(transaction.prepare("p"));
  auto ingest = (*db)->ingest(tree, {.sorted = false, .sort_memory_bytes = size_t{512} << 10});
  ASSERT_OK(ingest.status());
  // Not in order: they go to a file of the ingest's.
  for (uint64_t i = 20'000; i > 0; --i) {
    ASSERT_OK(ingest->add("ingested" + big_endian(i), value_of(i, 300)));
  }
  look();
  ingest->abandon();
  *ingest = Ingest();
  transaction = Transaction();
  ASSERT_OK((*db)->rollback_prepared("p"));
  ASSERT_OK((*db)->close());
}

void expect_modes(const std::string& path, uint32_t file, uint32_t directory, uint32_t followers) {
  EXPECT_EQ(mode_of(path), directory);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(path)) {
    const bool of_followers = entry.path().filename() == "followers";
    EXPECT_EQ(mode_of(entry.path()), of_followers ? followers : file) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 9u);
}

struct Case {
  mode_t mask;
  uint32_t mode;
  uint32_t file;
  uint32_t directory;
  uint32_t followers;
};
class FileModes : public ::testing::TestWithParam<Case> {};

TEST_P(FileModes, of_all_files_and_directories) {
  const Case& mode = GetParam();
  const TempDirectory directory;
  const std::string path = directory / "a/b";
  const Umask umask(mode.mask);
  use(path, mode.mode, [&] {
    expect_modes(path, mode.file, mode.directory, mode.followers);
    EXPECT_EQ(mode_of(directory / "a"), mode.directory);
  });
  // And by another process' start, which makes most of them again.
  use(path, mode.mode, [&] { expect_modes(path, mode.file, mode.directory, mode.followers); });
}
INSTANTIATE_TEST_SUITE_P(
    all, FileModes,
    ::testing::Values(Case{0, 0600, 0600, 0700, 0600}, Case{022, 0600, 0600, 0700, 0600},
                      Case{077, 0600, 0600, 0700, 0600}, Case{0, 0640, 0640, 0750, 0660},
                      Case{0, 0666, 0666, 0777, 0666}, Case{077, 0664, 0600, 0700, 0600},
                      Case{027, 0644, 0640, 0750, 0640}));

TEST(FileModesKept, a_directory_that_is_there_stays_as_the_user_set_it) {
  const TempDirectory directory;
  const std::string path = directory / "db";
  ASSERT_EQ(mkdir(path.c_str(), 0755), 0);
  ASSERT_EQ(chmod(path.c_str(), 0751), 0);
  use(path, 0600, [] {});
  EXPECT_EQ(mode_of(path), 0751u);
  ASSERT_EQ(chmod((path + "/superblock").c_str(), 0644), 0);
  use(path, 0600, [] {});
  EXPECT_EQ(mode_of(path + "/superblock"), 0644u);
}

TEST(FileModesKept, others_than_of_files_are_refused) {
  const TempDirectory directory;
  for (const uint32_t mode : {0u, 0400u, 0066u, 0700u, 0601u, 04600u, 0100600u}) {
    const Status status = Db::open(directory / "db", small_options(mode)).status();
    EXPECT_TRUE(status.is(StatusCode::kInvalidArgument)) << mode << status.to_string();
  }
  EXPECT_FALSE(fs::exists(directory / "db"));
}

}  // namespace
}  // namespace hawthorn::tests
