#include "os/thread_end.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace hawthorn::os {
namespace {

std::string told;

constinit thread_local ThreadEnd first{[] { told += "first "; }};
constinit thread_local ThreadEnd second{[] { told += "second "; }};
constinit thread_local ThreadEnd noting{[] {
  told += "noting ";
  at_thread_end(first);
}};

std::string told_at_end_of(void (*body)()) {
  told.clear();
  std::thread(body).join();
  return told;
}

TEST(ThreadEndTest, TheNewestComesFirst) {
  EXPECT_EQ(told_at_end_of([] {
              at_thread_end(first);
              at_thread_end(second);
            }),
            "second first ");
}

TEST(ThreadEndTest, EachIsCalledOnce) {
  EXPECT_EQ(told_at_end_of([] {
              for (int i = 0; i < 3; ++i) at_thread_end(first);
            }),
            "first ");
}

TEST(ThreadEndTest, OneMayBeNotedAtTheEnd) {
  EXPECT_EQ(told_at_end_of([] {
              at_thread_end(first);
              at_thread_end(noting);
            }),
            "noting first ");
  EXPECT_EQ(told_at_end_of([] { at_thread_end(noting); }), "noting first ");
}

// What runs behind it, as a destructor of a key of the program, may use the library again.
TEST(ThreadEndTest, OneMayBeNotedBehindTheEnd) {
  static std::array<pthread_key_t, 2> keys{};
  for (pthread_key_t& key : keys) {
    ASSERT_EQ(pthread_key_create(&key, [](void*) { at_thread_end(second); }), 0);
  }
  EXPECT_EQ(told_at_end_of([] {
              at_thread_end(first);
              for (const pthread_key_t& key : keys) pthread_setspecific(key, &told);
            }),
            "first second ");
  for (const pthread_key_t& key : keys) pthread_key_delete(key);
}

TEST(ThreadEndTest, NothingIsCalledWhereNothingWasNoted) {
  EXPECT_EQ(told_at_end_of([] {}), "");
}

struct Counted {
  static inline int alive = 0;
  Counted() { ++alive; }
  ~Counted() { --alive; }
};

TEST(OfThreadTest, EachThreadHasOneUntilItEnds) {
  EXPECT_EQ(OfThread<Counted>::find(), nullptr);
  const Counted* const mine = &OfThread<Counted>::get();
  EXPECT_EQ(&OfThread<Counted>::get(), mine);
  EXPECT_EQ(OfThread<Counted>::find(), mine);
  std::thread([&] {
    EXPECT_EQ(OfThread<Counted>::find(), nullptr);
    EXPECT_NE(&OfThread<Counted>::get(), mine);
    EXPECT_EQ(Counted::alive, 2);
  }).join();
  EXPECT_EQ(Counted::alive, 1);
  EXPECT_EQ(OfThread<Counted>::find(), mine);
}

}  // namespace
}  // namespace hawthorn::os
