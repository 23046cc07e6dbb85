// Files of an encrypted database that somebody has changed, between processes: each read tells what
// was written, or that something is wrong and where; never anything else.
#include <algorithm>
#include <map>

#include "db/file_sizing.h"
#include "tests/encryption/encrypted_work.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;

using Files = std::map<std::string, std::string>;
constexpr size_t kBlock = 4096;

Files files_of(SimDisk& disk) {
  Files files;
  const auto names = disk.list("/db");
  EXPECT_OK(names.status());
  for (const std::string& name : *names) {
    auto file = disk.open_file("/db/" + name, {.read_only = true});
    EXPECT_OK(file.status());
    std::string bytes(*(*file)->size(), '\0');
    EXPECT_OK((*file)->read_at(0, bytes));
    files[name] = std::move(bytes);
  }
  return files;
}

void write(SimDisk& disk, const std::string& name, std::string_view bytes, uint64_t at = 0) {
  auto file = disk.open_file("/db/" + name, {.create = true});
  ASSERT_OK(file.status());
  ASSERT_OK((*file)->write_at(at, bytes));
}

Options with_keys() {
  Options options = small_options();
  options.encryption = encryption_of();
  return options;
}

class Tamper : public ::testing::Test {
 protected:
  // A database with runs, values in extents, large values, and a log; `then` makes its next state.
  void SetUp() override {
    db::data_file_bytes_first = uint64_t{2} << 20;
    disk_ = std::make_unique<SimDisk>(1);
    live(1, true);
    before_ = files_of(*disk_);
    live(2, false);
    after_ = files_of(*disk_);
  }

  // Ended by a kill, so that there is a log; or closed.
  void live(uint64_t round, bool closed) {
    SimMachine machine(*disk_, round);
    auto db = Db::open_on(machine.machine(), "/db", with_keys());
    ASSERT_OK(db.status());
    const auto tree = (*db)->tree("t");
    ASSERT_OK(tree.status());
    const std::string salt = std::to_string(round);
    for (uint64_t i = 0; i < 400; ++i) {
      ASSERT_OK((*db)->put(*tree, marked_key(i), std::string(i % 2 == 0 ? 20 : 900, 'v') + salt));
    }
    ASSERT_OK((*db)->put(*tree, "large", std::string(100'000, 'l') + salt));
    ASSERT_OK((*db)->put(*tree, "another", std::string(100'000, 'm') + salt));
    ASSERT_OK((*db)->flush());
    for (uint64_t i = 0; i < 20; ++i) {
      ASSERT_OK((*db)->put(*tree, "logged" + std::to_string(i), "logged" + salt));
    }
    const auto all = read_everything(**db);
    ASSERT_OK(all.status());
    expected_ = *all;
    if (closed) ASSERT_OK((*db)->close());
    auto after = disk_->crash(round, CrashKind::kProcessKill);
    db->reset();
    disk_ = std::move(after);
  }

  // What is told of the disk as it is.
  void judge(SimDisk& disk, const std::string& what) {
    ++judged_;
    SimMachine machine(disk, 5);
    auto db = Db::open_on(machine.machine(), "/db", with_keys());
    if (!db.ok()) return noted(db.status(), what);
    const auto all = read_everything(**db);
    if (!all.ok()) return noted(all.status(), what);
    EXPECT_TRUE(*all == expected_) << what << ": something else was read";
    const auto report = (*db)->check();
    if (!report.ok()) return noted(report.status(), what);
    // One that tells of what was found damaged before names the container alone.
    bool placed = report->ok();
    for (const std::string& error : report->errors) {
      placed = placed || error.find(" at ") != std::string::npos;
    }
    EXPECT_TRUE(placed) << what << ": " << report->errors.front();
    if (!report->ok()) ++refused_;
  }
  void noted(const Status& status, const std::string& what) {
    ++refused_;
    EXPECT_TRUE(status.is(StatusCode::kCorruption)) << what << ": " << status.to_string();
    EXPECT_NE(status.message().find(" at "), std::string_view::npos)
        << what << ": " << status.to_string();
  }

  std::unique_ptr<SimDisk> disk_;
  Files before_;
  Files after_;
  std::string expected_;
  uint64_t judged_ = 0;
  uint64_t refused_ = 0;
};

std::string block_of(const std::string& file, size_t block) {
  return block * kBlock < file.size() ? file.substr(block * kBlock, kBlock) : std::string();
}
bool all_zeros(std::string_view block) {
  return std::all_of(block.begin(), block.end(), [](char byte) { return byte == 0; });
}

std::vector<size_t> used_blocks(const std::string& file) {
  std::vector<size_t> used;
  for (size_t block = 0; block * kBlock < file.size(); ++block) {
    if (!all_zeros(block_of(file, block))) used.push_back(block);
  }
  return used;
}

TEST_F(Tamper, blocks_of_data_change_places) {
  const std::string& data = after_["data.0"];
  const std::vector<size_t> used = used_blocks(data);
  ASSERT_GT(used.size(), 20u);
  for (size_t i = 0; i < used.size(); i += scaled_step(2)) {
    const size_t one = used[i];
    const size_t other = used[(i + 1 + i * 7 % (used.size() - 1)) % used.size()];
    if (block_of(data, one) == block_of(data, other)) continue;
    const auto disk = disk_->after_crash(1, CrashKind::kProcessKill);
    write(*disk, "data.0", block_of(data, one), other * kBlock);
    write(*disk, "data.0", block_of(data, other), one * kBlock);
    judge(*disk, "blocks " + std::to_string(one) + " and " + std::to_string(other));
  }
  EXPECT_GT(refused_, judged_ / 3);
}

TEST_F(Tamper, each_block_of_data_changes) {
  uint64_t bit = 0;
  for (const size_t block : used_blocks(after_["data.0"])) {
    if (block % scaled_step(2) != 1) continue;
    const auto disk = disk_->after_crash(1, CrashKind::kProcessKill);
    bit = mix64(bit + block) % (kBlock * 8);
    ASSERT_TRUE(disk->flip_bit("/db/data.0", block * kBlock + bit / 8, bit % 8));
    judge(*disk, "bit " + std::to_string(bit) + " of block " + std::to_string(block));
  }
  EXPECT_GT(refused_, judged_ / 3);
}

// Blocks that were right once, in their own place.
TEST_F(Tamper, blocks_of_data_from_before) {
  for (const size_t block : used_blocks(before_["data.0"])) {
    const std::string old = block_of(before_["data.0"], block);
    if (old == block_of(after_["data.0"], block)) continue;
    const auto disk = disk_->after_crash(1, CrashKind::kProcessKill);
    write(*disk, "data.0", old, block * kBlock);
    judge(*disk, "block " + std::to_string(block) + " from before");
  }
  // All of them: whole runs and extents, each right in itself.
  const auto disk = disk_->after_crash(1, CrashKind::kProcessKill);
  write(*disk, "data.0", before_["data.0"]);
  judge(*disk, "all from before");
}

// The header's checksums are those of anybody: only the seal tells.
TEST_F(Tamper, a_manifest_from_before) {
  std::string now;
  std::string then;
  for (const auto& [name, bytes] : after_) {
    if (name.starts_with("manifest.") && name != "manifest.spare") now = name;
  }
  for (const auto& [name, bytes] : before_) {
    if (name.starts_with("manifest.") && name != "manifest.spare") then = name;
  }
  ASSERT_FALSE(now.empty() || then.empty() || now == then);
  for (size_t block = 1; block * kBlock < before_[then].size(); ++block) {
    if (all_zeros(block_of(before_[then], block))) break;
    const auto disk = disk_->after_crash(1, CrashKind::kProcessKill);
    write(*disk, now, block_of(before_[then], block), block * kBlock);
    judge(*disk, "block " + std::to_string(block) + " of the manifest from before");
  }
  const auto disk = disk_->after_crash(1, CrashKind::kProcessKill);
  write(*disk, now, before_[then]);
  judge(*disk, "the manifest from before");
  EXPECT_GE(refused_, 2u);
}

TEST_F(Tamper, the_log_from_before) {
  for (const auto& [name, bytes] : after_) {
    if (!name.starts_with("wal.")) continue;
    for (const auto& [old_name, old_bytes] : before_) {
      if (!old_name.starts_with("wal.")) continue;
      const auto disk = disk_->after_crash(1, CrashKind::kProcessKill);
      write(*disk, name, old_bytes.substr(0, bytes.size()));
      judge(*disk, old_name + " as " + name);
    }
  }
}

}  // namespace
}  // namespace hawthorn::tests
