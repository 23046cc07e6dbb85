#include "tree/slots.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/prng.h"
#include "tree/visibility.h"

namespace hawthorn::tree {
namespace {

using Outcome = TxnSlots::Outcome;

TEST(SlotsTest, ASlotGoesThroughItsStates) {
  TxnSlots slots;
  const TxnId id = slots.acquire();
  ASSERT_NE(id, 0u);
  EXPECT_EQ(id & kIntentBit, 0u);
  EXPECT_EQ(slots.active(), 1u);
  EXPECT_EQ(slots.find(id).outcome, Outcome::kActive);
  slots.commit(id, 77);
  EXPECT_EQ(slots.find(id).outcome, Outcome::kCommitted);
  EXPECT_EQ(slots.find(id).cts, 77u);
  slots.release(id);
  EXPECT_EQ(slots.find(id).outcome, Outcome::kGone);
  EXPECT_EQ(slots.active(), 0u);

  const TxnId aborted = slots.acquire();
  EXPECT_NE(aborted, id) << "an id never comes back (1)";
  EXPECT_EQ(slots.find(id).outcome, Outcome::kGone) << "also while its slot has another owner";
  slots.abort(aborted);
  EXPECT_EQ(slots.find(aborted).outcome, Outcome::kAborted);
  slots.release(aborted);
}

TEST(SlotsTest, IdsNeverComeBack) {
  TxnSlots slots;
  std::set<TxnId> seen;
  for (int i = 0; i < 5000; ++i) {
    const TxnId id = slots.acquire();
    ASSERT_TRUE(seen.insert(id).second);
    slots.release(id);
  }
}

TEST(SlotsTest, GrowsToManyOpenTransactions) {
  TxnSlots slots;
  std::vector<TxnId> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(slots.acquire());
  EXPECT_EQ(std::set<TxnId>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_EQ(slots.active(), 5000u);
  for (size_t i = 0; i < ids.size(); ++i) slots.commit(ids[i], 100 + i);
  for (size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(slots.find(ids[i]).cts, 100 + i);
  for (const TxnId id : ids) slots.release(id);
  for (const TxnId id : ids) ASSERT_EQ(slots.find(id).outcome, Outcome::kGone);
}

TEST(SlotsTest, KnowsTheOldestLogRecordOfOpenTransactions) {
  TxnSlots slots;
  EXPECT_EQ(slots.oldest_first_lsn(), format::kLsnMax);
  const TxnId a = slots.acquire();
  const TxnId b = slots.acquire();
  slots.set_first_lsn(a, 500);
  slots.set_first_lsn(b, 300);
  EXPECT_EQ(slots.first_lsn(a), 500u);
  EXPECT_EQ(slots.oldest_first_lsn(), 300u);
  slots.release(b);
  EXPECT_EQ(slots.first_lsn(b), format::kLsnMax);
  EXPECT_EQ(slots.oldest_first_lsn(), 500u);
  slots.release(a);
  EXPECT_EQ(slots.oldest_first_lsn(), format::kLsnMax);
  const TxnId c = slots.acquire();
  EXPECT_EQ(slots.first_lsn(c), format::kLsnMax) << "left over from the slot's last owner";
  slots.release(c);
}

TEST(SlotsTest, ContendedNamesTheTransaction) {
  TxnSlots slots;
  const TxnId a = slots.acquire();
  EXPECT_FALSE(slots.contended(a));
  slots.mark_contended(a);
  EXPECT_TRUE(slots.contended(a));
  slots.release(a);
  // The slot's next owner; all others are free, too, so it may take a few rounds to meet it.
  for (int i = 0; i < 2000; ++i) {
    const TxnId next = slots.acquire();
    ASSERT_FALSE(slots.contended(next));
    slots.release(next);
  }
}

}  // namespace
}  // namespace hawthorn::tree
