// An asynchronous get that is stopped between its request and its answer, while what it reads is
// replaced (R24, attack 37): the place is nobody else's before the answer is there.

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hawthorn/hawthorn.h"
#include "os/io_queue.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

// Queues whose reads are carried out when somebody waits for them, and not before.
class LazyQueues : public os::IoQueues {
 public:
  Result<std::unique_ptr<os::IoQueue>> create(uint32_t depth, os::IoBackend) override {
    return std::unique_ptr<os::IoQueue>(new Queue(this, depth));
  }
  os::IoBackend backend() override { return os::IoBackend::kInline; }
  Status uring_status() override { return {}; }
  // Reads that wait, of the queue that was last submitted to.
  const std::vector<os::IoRead>& asked() const { return last_->asked; }
  bool any() const { return last_ != nullptr && !last_->asked.empty(); }

 private:
  struct Queue : os::IoQueue {
    Queue(LazyQueues* of, uint32_t most) : owner(of), most_at_once(most) {}
    ~Queue() override {
      if (owner->last_ == this) owner->last_ = nullptr;
    }
    void submit(std::span<const os::IoRead> reads) override {
      asked.insert(asked.end(), reads.begin(), reads.end());
      owner->last_ = this;
    }
    size_t reap(std::span<os::IoCompletion> out, size_t wait_for) override {
      size_t done = 0;
      for (; wait_for > 0 && done < out.size() && !asked.empty(); ++done) {
        const os::IoRead read = asked.front();
        asked.erase(asked.begin());
        out[done] = {read.context, read.file->read_at(read.offset, {read.data, read.size})};
      }
      return done;
    }
    size_t in_flight() const override { return asked.size(); }
    uint32_t depth() const override { return most_at_once; }
    int event_fd() override { return -1; }
    void wake() override {}
    os::IoBackend backend() const override { return os::IoBackend::kInline; }

    LazyQueues* const owner;
    const uint32_t most_at_once;
    std::vector<os::IoRead> asked;
  };

  Queue* last_ = nullptr;
};

class ReadInFlight : public ::testing::Test {
 protected:
  static constexpr uint64_t kKeys = 40'000;
  static constexpr uint64_t kBeside = 2'000;  // more than a container has
  static constexpr int kRoundsMax = 60;

  void SetUp() override {
    os::Machine machine = machine_.machine();
    machine.queues = &queues_;
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    auto opened = Db::open_on(machine, "/db", options);
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    tree_ = db_->tree("t").value();
    ASSERT_NO_FATAL_FAILURE(write(0, kKeys));
  }
  std::string value(uint64_t number) const { return value_of(number + round_ * kKeys, 1000); }
  // Values of another round, and what that frees is free.
  void write(uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) ASSERT_OK(db_->put(tree_, big_endian(i), value(i)));
    ASSERT_OK(db_->flush());
    ASSERT_OK(db_->compact());
    ASSERT_OK(db_->drain());
  }
  void write_anew(uint64_t around) {
    ++round_;
    write(around - kBeside, around + kBeside);
  }
  std::string bytes_at(const os::IoRead& place) {
    std::string bytes(place.size, '\0');
    auto file = disk_.open_file(place.file->path(), {.read_only = true});
    EXPECT_OK(file.status());
    EXPECT_OK((*file)->read_at(place.offset, {bytes.data(), bytes.size()}));
    return bytes;
  }

  testing::SimDisk disk_{1};
  testing::SimMachine machine_{disk_, 1};
  LazyQueues queues_;
  std::unique_ptr<Db> db_;
  Tree tree_;
  uint64_t round_ = 0;
};

TEST_F(ReadInFlight, keeps_its_place_until_it_is_answered) {
  auto queue = db_->read_queue({.depth = 1}).value();
  Status answer(StatusCode::kBusy);
  std::string found;
  // One whose blocks are in memory needs no read.
  uint64_t number = kBeside;
  for (; !queues_.any(); number += 501) {
    ASSERT_LT(number + kBeside, kKeys) << "everything is in memory";
    queue->wait();
    queue->get_async(tree_, big_endian(number), [&](const Status& status, Value& got) {
      answer = status;
      found = got.to_string();
    });
  }
  number -= 501;
  answer = Status(StatusCode::kBusy);
  const os::IoRead place = queues_.asked().front();
  const std::string before = bytes_at(place);
  int round = 0;
  for (; round < kRoundsMax / 2; ++round) {
    ASSERT_NO_FATAL_FAILURE(write_anew(number));
    ASSERT_EQ(queue->pending(), 1u);
    ASSERT_TRUE(bytes_at(place) == before) << "its blocks were written in round " << round;
  }
  while (queue->pending() > 0) queue->wait();
  EXPECT_OK(answer);
  EXPECT_TRUE(found == value(number));
  // Nothing but the read kept it.
  for (; bytes_at(place) == before; ++round) {
    ASSERT_LT(round, kRoundsMax) << "the place is not used again";
    ASSERT_NO_FATAL_FAILURE(write_anew(number));
  }
  EXPECT_TRUE(clean(*db_));
}

}  // namespace
}  // namespace hawthorn::tests
