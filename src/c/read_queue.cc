// Reads that do not wait: by callback, or by tags that are taken behind poll and wait.

#include "hawthorn/c/read_queue.h"

#include <deque>

#include "c/handles.h"

struct hawthorn_read_queue {
  struct Completed {
    uint64_t tag = 0;
    hawthorn::Status status;
    hawthorn::Value value;
  };
  std::shared_ptr<hawthorn::Db> db;
  std::deque<Completed> completed;
  // Last: with reads pending it waits, and nothing is called any more.
  std::unique_ptr<hawthorn::ReadQueue> queue;
};

namespace hawthorn::c {
namespace {

// The completion of one get. It keeps the snapshot that is read.
class Completion {
 public:
  Completion(hawthorn_read_queue* queue, std::shared_ptr<SnapshotHeld> snapshot, uint64_t tag,
             hawthorn_read_callback callback, void* context)
      : queue_(queue),
        snapshot_(std::move(snapshot)),
        tag_(tag),
        callback_(callback),
        context_(context) {}

  void operator()(const Status& status, Value& value) const {
    if (callback_ == nullptr) {
      queue_->completed.push_back({tag_, status, std::move(value)});
      return;
    }
    hawthorn_value shown{queue_->db, std::move(value)};
    hawthorn_error* error = nullptr;
    hawthorn_code code = HAWTHORN_OK;
    if (!status.ok()) code = answer(status, &error);
    callback_(context_, tag_, code, error, &shown);
    hawthorn_error_free(error);
  }

 private:
  hawthorn_read_queue* queue_;
  std::shared_ptr<SnapshotHeld> snapshot_;
  uint64_t tag_;
  hawthorn_read_callback callback_;
  void* context_;
};

template <typename Run>
hawthorn_code run_queue(hawthorn_read_queue* queue, size_t* completed, hawthorn_error** error,
                        Run&& run) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(queue, "queue")); !s.ok()) return s;
    const size_t count = run(*queue->queue);
    if (completed != nullptr) *completed = count;
    return {};
  });
}

}  // namespace
}  // namespace hawthorn::c

using hawthorn::ReadQueue;
using hawthorn::Status;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::Given;
using hawthorn::c::need;
using hawthorn::c::run_queue;

hawthorn_code hawthorn_read_queue_open(hawthorn_db* db, uint32_t depth, hawthorn_read_queue** out,
                                       hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(hawthorn::c::DbGiven(db), Given(out, "out")); !s.ok()) return s;
    hawthorn::ReadQueueOptions options;
    if (depth != 0) options.depth = depth;
    auto opened = db->db->read_queue(options);
    if (!opened.ok()) return opened.status();
    auto queue = std::make_unique<hawthorn_read_queue>();
    queue->db = db->db;
    queue->queue = std::move(*opened);
    *out = queue.release();
    return {};
  });
}

void hawthorn_read_queue_free(hawthorn_read_queue* queue) { delete queue; }

hawthorn_code hawthorn_read_queue_get(hawthorn_read_queue* queue, const hawthorn_tree* tree,
                                      const void* key, size_t key_size,
                                      const hawthorn_snapshot* snapshot, uint64_t tag,
                                      hawthorn_read_callback callback, void* context,
                                      hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes bytes(key, key_size, "key");
    if (Status s = need(Given(queue, "queue")); !s.ok()) return s;
    if (Status s = need(hawthorn::c::TreeOf(&queue->db, tree), bytes); !s.ok()) return s;
    if (snapshot != nullptr && snapshot->held->db != queue->db) {
      return hawthorn::c::invalid("the snapshot is one of another database");
    }
    std::shared_ptr<hawthorn::c::SnapshotHeld> held;
    if (snapshot != nullptr) held = snapshot->held;
    const hawthorn::ReadOptions options{.snapshot = held != nullptr ? &held->snapshot : nullptr};
    queue->queue->get_async(tree->tree, bytes,
                            hawthorn::c::Completion(queue, held, tag, callback, context), options);
    return {};
  });
}

hawthorn_code hawthorn_read_queue_poll(hawthorn_read_queue* queue, size_t* completed,
                                       hawthorn_error** error) {
  return run_queue(queue, completed, error, [](ReadQueue& on) { return on.poll(); });
}
hawthorn_code hawthorn_read_queue_wait(hawthorn_read_queue* queue, size_t* completed,
                                       hawthorn_error** error) {
  return run_queue(queue, completed, error, [](ReadQueue& on) { return on.wait(); });
}

size_t hawthorn_read_queue_pending(const hawthorn_read_queue* queue) {
  return queue != nullptr ? queue->queue->pending() : 0;
}

hawthorn_code hawthorn_read_queue_take(hawthorn_read_queue* queue, int* found, uint64_t* tag,
                                       hawthorn_value* value, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    Status s = need(Given(queue, "queue"), Given(found, "found"), Given(tag, "tag"),
                    Given(value, "value"));
    if (!s.ok()) return s;
    *found = 0;
    if (queue->completed.empty()) return {};
    hawthorn_read_queue::Completed completed = std::move(queue->completed.front());
    queue->completed.pop_front();
    *found = 1;
    *tag = completed.tag;
    value->value = std::move(completed.value);
    value->db = queue->db;
    return completed.status;
  });
}

int hawthorn_read_queue_event_fd(hawthorn_read_queue* queue) {
  int descriptor = -1;
  (void)call(nullptr, [&]() -> Status {
    if (queue != nullptr) descriptor = queue->queue->event_fd();
    return {};
  });
  return descriptor;
}
