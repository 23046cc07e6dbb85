#include "txn/sequencer.h"

#include <gtest/gtest.h>

#include <thread>

#include "os/test_point.h"
#include "tree/store_test_fixture.h"

namespace hawthorn::txn {
namespace {

#if defined(HAWTHORN_TEST_POINTS)
// A commit that is preempted between its place in the log and its being visible (R4, attack 14):
// nobody gets a later place meanwhile, so nobody waits behind it for being acknowledged.
TEST(Sequencer, NobodyComesBetweenAPlaceInTheLogAndBeingVisible) {
  tree::fixture::TestStore store;
  Sequencer sequencer(&store.slots);
  sequencer.start(store.log.get(), store.visible.load());
  int stops = 0;
  for (const char* point : {"sequencer.commit.after_append", "sequencer.commit.before_visible"}) {
    os::set_test_point(point, [&store, &stops] {
      ++stops;
      bool had = false;
      std::thread other([&store, &had] {
        if (!store.log->mutex().try_lock()) return;
        had = true;
        store.log->mutex().unlock();
      });
      other.join();
      EXPECT_FALSE(had) << "another commit could have got its place";
    });
  }
  CommitRequest request;
  request.id = store.slots.acquire();
  Lsn cts = 0;
  tree::fixture::must(sequencer.commit(request, &cts));
  os::clear_test_points();
  EXPECT_EQ(stops, 2);
  EXPECT_NE(cts, 0u);
  EXPECT_EQ(sequencer.visible().load(), cts);
  store.slots.release(request.id);
}
#endif

}  // namespace
}  // namespace hawthorn::txn
