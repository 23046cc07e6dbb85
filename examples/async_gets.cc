// Many gets on their way at once, from one thread: with completions, and with coroutines. And
// what memory has, without a queue.

#include <coroutine>
#include <exception>

#include "hawthorn/hawthorn.h"
#include "must.h"

namespace {

// The least that a coroutine needs. A program has its own, with a result and a scheduler.
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

// Follows a chain of keys: each value names the next one.
Task follow(hawthorn::ReadQueue& queue, hawthorn::Tree tree, std::string key, int* found) {
  for (;;) {
    const hawthorn::GetResult result = co_await queue.get(tree, key);
    if (!result.status.ok()) co_return;
    ++*found;
    key = result.value.to_string();
  }
}

}  // namespace

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const hawthorn::Tree tree = must(db->tree("links"));
  hawthorn::WriteBatch batch;
  for (int i = 0; i < 100; ++i) batch.put(tree, std::to_string(i), std::to_string(i + 1));
  must(db->write(batch));

  auto queue = must(db->read_queue({.depth = 16}));
  int answers = 0;
  for (int i = 0; i < 50; ++i) {
    queue->get_async(tree, std::to_string(i),
                     [&answers, i](const hawthorn::Status& status, hawthorn::Value& value) {
                       must(status);
                       if (value.view() == std::to_string(i + 1)) ++answers;
                     });
  }
  while (queue->pending() > 0) queue->wait();  // the completions run in here
  must(answers == 50);

  // A thread that must not wait for the disk asks memory first.
  hawthorn::Value value;
  hawthorn::Status status = db->get_in_memory(tree, "7", value);
  if (status.is(hawthorn::StatusCode::kNotInMemory)) {
    queue->get_async(tree, "7", [&value](const hawthorn::Status& read, hawthorn::Value& found) {
      must(read);
      value = std::move(found);
    });
    queue->wait();
    status = {};
  }
  must(status);
  must(value.view() == "8");

  int found = 0;
  follow(*queue, tree, "0", &found);
  follow(*queue, tree, "90", &found);
  while (queue->pending() > 0) queue->wait();
  must(found == 110);
  return 0;
}
