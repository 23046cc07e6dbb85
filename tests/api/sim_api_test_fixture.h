#pragma once
// One open database on the simulated machine, where nothing is done in the background before the
// test says so; it can be opened again with what its disk has.
//
// Not here: tests. Used by the folder tests/api only. Threads: the test's.

#include <utility>

#include "testing/sim_machine.h"
#include "tests/api/api_test_fixture.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {

class SimApi : public Api {
 protected:
  void SetUp() override { open_small(); }
  void open_small(bool read_only = false) {
    db_.reset();
    Options small = options();
    small.read_only = read_only;
    small.lock_timeout_ms = 0;
    small.merge_operators = {append_with("")};
    auto db = Db::open_on(machine_.machine(), "/db", small);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    const Result<Tree> found = db_->find_tree("t");
    if (found.ok()) tree_ = *found;
    if (found.ok() || read_only) return;
    const Result<Tree> made = db_->tree("t");
    ASSERT_OK(made.status());
    tree_ = *made;
  }

  testing::SimDisk disk_{1};
  testing::SimMachine machine_{disk_, 1};
};

}  // namespace hawthorn::tests
