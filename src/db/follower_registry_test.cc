#include "db/follower_registry.h"

#include <gtest/gtest.h>

#include <cstring>

#include "testing/sim_machine.h"

namespace hawthorn::db {
namespace {

using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

constexpr uint64_t kSalt = 11;
constexpr uint64_t kSaltBefore = 12;

class FollowerRegistryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(disk_.make_directory("/db").ok());
    registry_ = open();
  }
  std::unique_ptr<FollowerRegistry> open() {
    auto registry = FollowerRegistry::open(sim_.machine(), disk_, "/db", kSalt, kSaltBefore);
    EXPECT_TRUE(registry.ok()) << registry.status().to_string();
    return registry.ok() ? *std::move(registry) : nullptr;
  }
  std::unique_ptr<FollowerClaim> claim() {
    auto claim = FollowerClaim::make(sim_.machine(), "/db");
    EXPECT_TRUE(claim.ok()) << claim.status().to_string();
    return claim.ok() ? *std::move(claim) : nullptr;
  }
  // As a process that died: its locks are gone, and what it wrote stays.
  void write_slot(uint32_t slot, uint64_t claim, uint64_t batch) {
    format::FollowerSlot dead{};
    dead.claim = claim;
    dead.batch = batch;
    dead.state = static_cast<uint32_t>(format::FollowerState::kPinned);
    format::seal(dead);
    auto file = disk_.open_file("/db/followers", {});
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)
                    ->write_at(format::follower_slot_at(slot),
                               {reinterpret_cast<const char*>(&dead), sizeof(dead)})
                    .ok());
  }

  SimDisk disk_{1};
  SimMachine sim_{disk_, 1};
  std::unique_ptr<FollowerRegistry> registry_;
};

TEST_F(FollowerRegistryTest, NobodyPinsNothing) {
  EXPECT_EQ(registry_->clear(5), 5U);
  EXPECT_FALSE(registry_->reads_log());
  EXPECT_TRUE(registry_->list().empty());
  EXPECT_FALSE(FollowerRegistry::any(sim_.machine(), "/db").value());
}

TEST_F(FollowerRegistryTest, WhoOpensPinsEverythingThenItsBatch) {
  const auto first = claim();
  EXPECT_EQ(registry_->clear(5), 0U);
  EXPECT_TRUE(registry_->reads_log());
  EXPECT_TRUE(FollowerRegistry::any(sim_.machine(), "/db").value());
  ASSERT_TRUE(first->pin(4).ok());
  EXPECT_EQ(registry_->clear(5), 4U);
  EXPECT_FALSE(registry_->reads_log());
  auto second = claim();
  EXPECT_EQ(registry_->clear(6), 0U);
  ASSERT_TRUE(second->pin(6).ok());
  EXPECT_EQ(registry_->clear(6), 4U);
  ASSERT_EQ(registry_->list().size(), 2U);
  EXPECT_EQ(registry_->list()[1].batch, 6U);
  // A batch that this process knows nothing of is of another history.
  ASSERT_TRUE(second->pin(60).ok());
  EXPECT_EQ(registry_->clear(6), 0U);
  second.reset();
  EXPECT_EQ(registry_->clear(7), 4U);
}

TEST_F(FollowerRegistryTest, TheDeadPinNothingAndAreCleared) {
  write_slot(0, 1, 2);
  write_slot(5, 2, 3);
  const auto alive = claim();  // takes the first place
  ASSERT_TRUE(alive->pin(4).ok());
  EXPECT_EQ(registry_->clear(5), 4U);
  ASSERT_EQ(registry_->list().size(), 1U);
  auto file = disk_.open_file("/db/followers", {});
  ASSERT_TRUE(file.ok());
  std::string slot(sizeof(format::FollowerSlot), 'x');
  ASSERT_TRUE((*file)->read_at(format::follower_slot_at(5), slot).ok());
  EXPECT_EQ(slot, std::string(slot.size(), '\0'));
}

TEST_F(FollowerRegistryTest, ASlotThatIsBeingWrittenPinsEverything) {
  const auto one = claim();
  ASSERT_TRUE(one->pin(4).ok());
  auto file = disk_.open_file("/db/followers", {});
  ASSERT_TRUE(file.ok());
  const std::string half = "half";
  ASSERT_TRUE((*file)->write_at(format::follower_slot_at(0) + 32, half).ok());
  EXPECT_EQ(registry_->clear(5), 0U);
  EXPECT_TRUE(registry_->reads_log());
  EXPECT_EQ(registry_->revoke(5), 0U);
}

TEST_F(FollowerRegistryTest, WhatIsRevokedPinsNothingAndKnowsIt) {
  const auto old = claim();
  const auto opening = claim();
  const auto present = claim();
  ASSERT_TRUE(old->pin(4).ok());
  ASSERT_TRUE(present->pin(9).ok());
  EXPECT_EQ(registry_->revoke(9), 2U);
  EXPECT_TRUE(old->revoked());
  EXPECT_TRUE(opening->revoked());
  EXPECT_FALSE(present->revoked());
  EXPECT_EQ(registry_->clear(9), 9U);
  EXPECT_FALSE(registry_->reads_log());
  EXPECT_TRUE(registry_->list()[0].revoked);
  EXPECT_EQ(registry_->revoke(9), 0U);
  // Whoever comes next in the same place is another one.
  const auto next = claim();
  EXPECT_FALSE(next->revoked());
}

TEST_F(FollowerRegistryTest, WhoHangsWhileItOpensHoldsTheLogForTenSeconds) {
  const auto hangs = claim();
  EXPECT_TRUE(registry_->reads_log());
  sim_.clock().advance_us(9'000'000);
  EXPECT_TRUE(registry_->reads_log());
  sim_.clock().advance_us(2'000'000);
  EXPECT_FALSE(registry_->reads_log());
  EXPECT_EQ(registry_->clear(5), 0U);  // the extents stay
  const auto another = claim();
  EXPECT_TRUE(registry_->reads_log());
}

TEST_F(FollowerRegistryTest, TellsFollowersWhoHeedsThem) {
  auto one = claim();
  EXPECT_TRUE(one->heeded(kSalt).value());
  EXPECT_TRUE(one->heeded(kSaltBefore).value());
  EXPECT_FALSE(one->heeded(13).value());
}

TEST_F(FollowerRegistryTest, IsTheSameFileForTheNextProcess) {
  const auto one = claim();
  ASSERT_TRUE(one->pin(4).ok());
  registry_.reset();
  registry_ = open();
  EXPECT_EQ(registry_->clear(5), 4U);
}

TEST_F(FollowerRegistryTest, AnErrorOfTheFilePinsEverything) {
  disk_.fail_path("followers", SimOp::kRead, 1, StatusCode::kIoError);
  EXPECT_EQ(registry_->clear(5), 0U);
  EXPECT_EQ(registry_->clear(5), 5U);
}

// Other users may do so, and read on.
TEST_F(FollowerRegistryTest, WhatIsCutOffPinsEverythingAndEndsNobody) {
  const auto one = claim();
  ASSERT_TRUE(one->pin(4).ok());
  auto file = disk_.open_file("/db/followers", {});
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->truncate(0).ok());
  EXPECT_EQ(registry_->clear(5), 0U);
  EXPECT_FALSE(one->revoked());
  EXPECT_FALSE(one->heeded(kSalt).ok());
  EXPECT_TRUE(FollowerClaim::make(sim_.machine(), "/db").status().is_not_found());
  registry_.reset();
  registry_ = open();
  EXPECT_TRUE(claim()->heeded(kSalt).value());
}

TEST_F(FollowerRegistryTest, WithoutSpaceNobodyFollows) {
  ASSERT_TRUE(disk_.remove("/db/followers").ok());
  disk_.set_capacity(disk_.used_bytes() + 4096);
  EXPECT_EQ(open(), nullptr);
  EXPECT_TRUE(FollowerClaim::make(sim_.machine(), "/db").status().is_not_found());
  disk_.set_capacity(0);
  EXPECT_NE(open(), nullptr);
  EXPECT_TRUE(FollowerClaim::make(sim_.machine(), "/db").ok());
}

TEST_F(FollowerRegistryTest, HasAsManyPlacesAsItSays) {
  std::vector<std::unique_ptr<FollowerClaim>> claims;
  for (uint32_t i = 0; i < format::kFollowerSlots; ++i) claims.push_back(claim());
  EXPECT_TRUE(FollowerClaim::make(sim_.machine(), "/db").status().is(StatusCode::kBusy));
  claims.erase(claims.begin() + 3);
  EXPECT_TRUE(FollowerClaim::make(sim_.machine(), "/db").ok());
}

}  // namespace
}  // namespace hawthorn::db
