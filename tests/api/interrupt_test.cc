// Waits for other users of a database that end because somebody answers that they should: each
// begins with hours to go, or without a limit.
#include <functional>
#include <string>
#include <vector>

#include "os/sync.h"
#include "testing/waiting_thread.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

constexpr uint64_t kHours = 10'000'000;  // ms

class Interrupts : public Api {
 protected:
  struct Asked {
    int times = 0;
    int answers_at = 2;
  };

  static bool answer(void* context) {
    Asked* const asked = static_cast<Asked*>(context);
    return ++asked->times >= asked->answers_at;
  }

  // What the call came to, which was to wait, and asked until the answer came.
  static void interrupts(const char* what, const std::function<Status()>& call) {
    SCOPED_TRACE(what);
    Asked asked;
    set_interrupt(answer, &asked);
    const Status status = call();
    set_interrupt(nullptr, nullptr);
    EXPECT_EQ(status.code(), StatusCode::kTimedOut) << status.to_string();
    EXPECT_EQ(asked.times, asked.answers_at);
  }

  Transaction begin(TxnMode mode) {
    Result<Transaction> transaction = db_->begin(
        {.mode = mode, .isolation = Isolation::kReadCommitted, .lock_timeout_ms = kHours});
    EXPECT_OK(transaction.status());
    return std::move(transaction).value();
  }
  Status begin_exclusive() {
    return db_->begin({.mode = TxnMode::kExclusive, .lock_timeout_ms = kHours}).status();
  }
};

TEST_F(Interrupts, end_waits_for_rows) {
  Transaction holder = begin(TxnMode::kPessimistic);
  ASSERT_OK(holder.put(tree_, "k", "held"));
  Transaction optimist = begin(TxnMode::kOptimistic);
  ASSERT_OK(optimist.put(tree_, "o", "intent"));
  Transaction other = begin(TxnMode::kPessimistic);
  ASSERT_OK(other.put(tree_, "mine", "1"));
  Value value;
  interrupts("put", [&] { return other.put(tree_, "k", "x"); });
  interrupts("get for update", [&] { return other.get_for_update(tree_, "k", value); });
  interrupts("lock", [&] { return other.lock(tree_, "k", RowLock::kShared, kHours); });
  interrupts("a row that an optimistic one has written",
             [&] { return other.put(tree_, "o", "x"); });
  interrupts("the turn of an exclusive one", [&] { return begin_exclusive(); });
  // Nothing of it is left, and nobody is in the way.
  ASSERT_OK(holder.commit());
  optimist.abort();
  ASSERT_OK(other.put(tree_, "k", "later"));
  ASSERT_OK(other.commit());
  ASSERT_OK(begin_exclusive());
  EXPECT_EQ(get("k"), "later");
  EXPECT_EQ(get("mine"), "1");
}

TEST_F(Interrupts, end_waits_for_exclusive_transactions) {
  os::Signal begun;
  os::Signal done;
  testing::WaitingThread holder([&] {
    Transaction exclusive = begin(TxnMode::kExclusive);
    ASSERT_OK(exclusive.put(tree_, "held", "1"));
    begun.set();
    done.wait();
    ASSERT_OK(exclusive.commit());
  });
  begun.wait();
  interrupts("the turn of another one", [&] { return begin_exclusive(); });
  interrupts("a put, which has no limit", [&] { return db_->put(tree_, "k", "x"); });
  interrupts("a commit", [&] {
    Transaction transaction = begin(TxnMode::kOptimistic);
    EXPECT_OK(transaction.put(tree_, "k", "x"));
    return transaction.commit();
  });
  interrupts("a row", [&] {
    Transaction transaction = begin(TxnMode::kPessimistic);
    return transaction.put(tree_, "k", "x");
  });
  done.set();
  holder.join();
  EXPECT_EQ(get("k"), "NotFound");
  EXPECT_EQ(get("held"), "1");
  ASSERT_OK(begin_exclusive());
  ASSERT_OK(db_->put(tree_, "k", "y"));
}

TEST_F(Interrupts, end_waits_of_feeds) {
  ASSERT_OK(db_->create_feed("f"));
  Result<Feed> feed = db_->open_feed("f");
  ASSERT_OK(feed.status());
  Asked asked;
  set_interrupt(answer, &asked);
  const Result<FeedCommit*> none = feed->next(kHours);
  set_interrupt(nullptr, nullptr);
  ASSERT_OK(none.status());
  EXPECT_EQ(*none, nullptr);
  EXPECT_EQ(asked.times, asked.answers_at);
  ASSERT_OK(db_->put(tree_, "k", "v"));
  const Result<FeedCommit*> commit = feed->next(kHours);
  ASSERT_OK(commit.status());
  EXPECT_NE(*commit, nullptr);
}

TEST_F(Interrupts, are_of_one_thread) {
  Transaction holder = begin(TxnMode::kPessimistic);
  ASSERT_OK(holder.put(tree_, "k", "held"));
  Asked asked;
  asked.answers_at = 1;
  set_interrupt(answer, &asked);
  testing::WaitingThread writer([&] { ASSERT_OK(begin_exclusive()); });
  ASSERT_TRUE(writer.wait_until_it_waits());
  ASSERT_OK(holder.commit());
  writer.join();
  set_interrupt(nullptr, nullptr);
  EXPECT_EQ(asked.times, 0);
}

}  // namespace
}  // namespace hawthorn::tests
