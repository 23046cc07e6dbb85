// Reads that do not wait.

#include <poll.h>

#include <map>

#include "c/c_test_fixture.h"
#include "testing/wait.h"

namespace hawthorn::c {

namespace {

class ReadQueueCTest : public CTest {
 protected:
  QueueHandle queue(uint32_t depth = 0) {
    hawthorn_read_queue* opened = nullptr;
    EXPECT_EQ(C_TEXT(hawthorn_read_queue_open(db_.get(), depth, &opened, &e)), "OK");
    return QueueHandle(opened);
  }
  void fill() {
    for (int i = 0; i < 500; ++i) put("key" + std::to_string(i), "value" + std::to_string(i));
    C_OK(hawthorn_db_flush(db_.get(), &e));
  }
};

struct Answers {
  std::map<uint64_t, std::string> texts;
  hawthorn_value* kept = nullptr;
  static void take(void* context, uint64_t tag, hawthorn_code code, const hawthorn_error* error,
                   hawthorn_value* value) {
    auto* const answers = static_cast<Answers*>(context);
    EXPECT_EQ(code, hawthorn_error_code(error));
    size_t size = 0;
    const void* const data = hawthorn_value_data(value, &size);
    answers->texts[tag] =
        code == HAWTHORN_OK ? std::string(bytes_of(data, size)) : hawthorn_code_name(code);
    if (answers->kept != nullptr && code == HAWTHORN_OK) {
      EXPECT_EQ(hawthorn_value_move(value, answers->kept, nullptr), HAWTHORN_OK);
    }
  }
};

TEST_F(ReadQueueCTest, CallbacksRunInPollAndWait) {
  open_with_tree();
  fill();
  const QueueHandle reads = queue(4);
  Answers answers;
  for (uint64_t i = 0; i < 100; ++i) {
    const std::string key = "key" + std::to_string(i * 10);
    C_OK(hawthorn_read_queue_get(reads.get(), tree_.get(), key.data(), key.size(), nullptr, i,
                                 Answers::take, &answers, &e));
  }
  EXPECT_TRUE(answers.texts.empty());
  EXPECT_EQ(hawthorn_read_queue_pending(reads.get()), 100U);
  while (hawthorn_read_queue_pending(reads.get()) != 0) {
    size_t completed = 0;
    C_OK(hawthorn_read_queue_wait(reads.get(), &completed, &e));
    EXPECT_GT(completed, 0U);
  }
  ASSERT_EQ(answers.texts.size(), 100U);
  EXPECT_EQ(answers.texts[7], "value70");
  EXPECT_EQ(answers.texts[99], "NotFound");
  size_t completed = 9;
  C_OK(hawthorn_read_queue_poll(reads.get(), &completed, &e));
  EXPECT_EQ(completed, 0U);
}

TEST_F(ReadQueueCTest, TagsAreTakenAndValuesKept) {
  open_with_tree();
  fill();
  QueueHandle reads = queue();
  const SnapshotHandle before = snapshot();
  put("key1", "changed");
  C_OK(hawthorn_read_queue_get(reads.get(), tree_.get(), "key1", 4, before.get(), 11, nullptr,
                               nullptr, &e));
  C_OK(hawthorn_read_queue_get(reads.get(), tree_.get(), "none", 4, nullptr, 12, nullptr, nullptr,
                               &e));
  const ValueHandle kept(hawthorn_value_create());
  Answers answers;
  answers.kept = kept.get();
  C_OK(hawthorn_read_queue_get(reads.get(), tree_.get(), "key1", 4, nullptr, 13, Answers::take,
                               &answers, &e));
  // As in an event loop.
  pollfd waiting = {hawthorn_read_queue_event_fd(reads.get()), POLLIN, 0};
  ASSERT_GE(waiting.fd, 0);
  while (hawthorn_read_queue_pending(reads.get()) != 0) {
    ASSERT_GE(::poll(&waiting, 1, static_cast<int>(testing::kHangLimitMs)), 1);
    C_OK(hawthorn_read_queue_poll(reads.get(), nullptr, &e));
  }
  const ValueHandle value(hawthorn_value_create());
  int found = 0;
  uint64_t tag = 0;
  std::map<uint64_t, std::string> taken;
  for (;;) {
    const hawthorn_code code =
        hawthorn_read_queue_take(reads.get(), &found, &tag, value.get(), nullptr);
    if (found == 0) break;
    size_t size = 0;
    const void* const data = hawthorn_value_data(value.get(), &size);
    taken[tag] = code == HAWTHORN_OK ? std::string(bytes_of(data, size)) : hawthorn_code_name(code);
  }
  EXPECT_EQ(taken, (std::map<uint64_t, std::string>{{11, "value1"}, {12, "NotFound"}}));
  EXPECT_EQ(answers.texts[13], "changed");
  reads.reset();
  size_t size = 0;
  const void* const data = hawthorn_value_data(kept.get(), &size);
  EXPECT_EQ(bytes_of(data, size), "changed");
}

TEST_F(ReadQueueCTest, WhatIsPendingGoesWithTheQueue) {
  open_with_tree();
  fill();
  Answers answers;
  {
    const QueueHandle reads = queue(1);
    SnapshotHandle before = snapshot();
    for (uint64_t i = 0; i < 50; ++i) {
      C_OK(hawthorn_read_queue_get(reads.get(), tree_.get(), "key1", 4, before.get(), i,
                                   Answers::take, &answers, &e));
    }
    before.reset();  // the reads keep it
    C_FAILS("Busy", hawthorn_db_close(db_.get(), &e));
  }
  EXPECT_TRUE(answers.texts.empty());
  C_OK(hawthorn_db_close(db_.get(), &e));
}

TEST_F(ReadQueueCTest, MisuseIsTold) {
  open_with_tree();
  hawthorn_read_queue* opened = nullptr;
  C_FAILS("InvalidArgument", hawthorn_read_queue_open(db_.get(), 4097, &opened, &e));
  C_FAILS("InvalidArgument: the database is NULL",
          hawthorn_read_queue_open(nullptr, 1, &opened, &e));
  const QueueHandle reads = queue();
  C_FAILS("InvalidArgument: the tree is NULL",
          hawthorn_read_queue_get(reads.get(), nullptr, "k", 1, nullptr, 0, nullptr, nullptr, &e));
  C_FAILS("InvalidArgument: queue is NULL",
          hawthorn_read_queue_get(nullptr, tree_.get(), "k", 1, nullptr, 0, nullptr, nullptr, &e));
  EXPECT_EQ(hawthorn_read_queue_pending(nullptr), 0U);
  EXPECT_EQ(hawthorn_read_queue_event_fd(nullptr), -1);
}

}  // namespace

}  // namespace hawthorn::c
