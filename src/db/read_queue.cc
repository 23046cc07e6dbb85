// Asynchronous gets: each is a tree::PointGet that goes on whenever the queue of its blocks
// reports, and a tree::LargeRead behind it where the value has extents of its own.
//
// Such a value may be replaced, and its extents used again, while it is read: so a timestamp is
// registered before its address is looked for (again), and kept to the end of the read.

#include "hawthorn/read_queue.h"

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/out_of_memory.h"
#include "db/impl.h"
#include "db/stored_key.h"
#include "os/io_queue.h"
#include "tree/large_read.h"
#include "tree/point_get.h"
#include "tree/value_access.h"

namespace hawthorn {

class ReadQueue::Impl {
 public:
  Impl(Db::Impl* db, std::unique_ptr<os::IoQueue> io, uint32_t depth)
      : db_(db),
        io_(std::move(io)),
        depth_(depth),
        large_max_(std::clamp<size_t>(
            db->arena_->budget() / kLargeShare / tree::LargeRead::kPieceBytes, 1, kLargeMax)) {
    db_->hold();
  }
  [[gnu::noinline]] ~Impl() {
    io_.reset();  // waits: blocks are read into what the gets hold
    for (Get& get : gets_) unregister(&get);
    gets_.clear();
    db_->let_go();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void get(const Tree& tree, std::string_view key, Completion completion,
           const ReadOptions& options);
  size_t run(bool wait);
  size_t pending() const { return waiting_.size() + reading_ + done_.size(); }
  int event_fd();

 private:
  struct Get {
    std::string key;
    Value value;
    Completion completion;
    tree::TreeRef tree;
    tree::ReadView view;
    uint64_t now_ms = 0;
    bool registered = false;
    std::optional<tree::PointGet> read;
    Status status;
    // Of a large value.
    std::optional<tree::Snapshots::Registration> registration;
    std::optional<tree::LargeRead> large;
    std::string encoded;
    std::string wrong;        // the encoding whose bytes did not match
    tree::Operands operands;  // to be folded onto it

    os::IoRead request() const { return large ? large->request() : read->request(); }
  };
  // Large values that are read at once take a 64th of the budget, 2 MB at most.
  static constexpr size_t kLargeShare = 64;
  static constexpr size_t kLargeMax = 8;

  Get* take();
  void start();
  void go_on(Get* get);
  void look_up(Get* get);
  void found_large(Get* get);
  void start_large();
  Status begin_large(Get* get);
  void end_large(Get* get, Status status);
  void unregister(Get* get);
  void finish(Get* get, Status status);
  // What is to be read goes to the kernel at once, or with the call that waits.
  enum class Sending : uint8_t { kNow, kWithReap };
  void submit(Sending sending = Sending::kNow);
  size_t complete();

  Db::Impl* const db_;
  std::unique_ptr<os::IoQueue> io_;
  const size_t depth_;
  std::deque<Get> gets_;      // all there ever were at once
  std::vector<Get*> spare_;   // of them, those not in use
  std::deque<Get*> waiting_;  // for a place among those that read
  size_t reading_ = 0;
  const size_t large_max_;
  std::deque<Get*> large_waiting_;  // of those that read
  size_t large_reading_ = 0;
  std::vector<Get*> unsent_;  // of those that read
  std::deque<Get*> done_;     // their completions are due
  std::vector<os::IoRead> requests_;
  std::vector<os::IoCompletion> reaped_;
  bool told_ = false;  // event_fd was asked for
};

ReadQueue::Impl::Get* ReadQueue::Impl::take() {
  if (spare_.empty()) {
    gets_.emplace_back();
    return &gets_.back();
  }
  Get* get = spare_.back();
  spare_.pop_back();
  return get;
}

void ReadQueue::Impl::get(const Tree& tree, std::string_view key, Completion completion,
                          const ReadOptions& options) {
  Get* get = take();
  get->key.assign(key);
  get->completion = std::move(completion);
  Status status = db_->usable();
  if (status.ok()) {
    const FoundTree state = db_->find(tree, options.snapshot, &status);
    get->tree = tree::TreeRef(state);
  }
  if (get->tree == nullptr) return finish(get, std::move(status));
  if (get->tree->shape() != nullptr) {
    const db::StoredKey stored(*get->tree, key, db::Use::kSeek);
    if (!stored.ok()) return finish(get, stored.status());
    get->key.assign(stored.view());
  }
  get->now_ms = db_->now_of(options.snapshot);
  get->registered = options.snapshot != nullptr;
  get->view = {get->registered ? options.snapshot->timestamp() : 0, 0};
  waiting_.push_back(get);
  start();
  // With nothing on its way there is no later moment that would send it.
  if (unsent_.size() == reading_) submit();
}

// Begins what waits, as far as there are places.
void ReadQueue::Impl::start() {
  while (!waiting_.empty() && reading_ < depth_) {
    Get* get = waiting_.front();
    waiting_.pop_front();
    ++reading_;
    look_up(get);
  }
}

void ReadQueue::Impl::look_up(Get* get) {
  get->read.emplace(get->tree, get->key, get->view, get->registered, &get->value);
  go_on(get);
}

// As far as memory goes. The get may be done then.
void ReadQueue::Impl::go_on(Get* get) {
  if (get->large) {
    if (!get->large->done()) return unsent_.push_back(get);
    return end_large(get, get->large->status());
  }
  if (!get->read->advance()) return unsent_.push_back(get);
  Status status = get->read->status();
  const bool large = get->read->large();
  get->operands = get->read->operands();
  get->read.reset();
  if (status.ok() && large) return found_large(get);
  --reading_;
  finish(get, std::move(status));
}

void ReadQueue::Impl::found_large(Get* get) {
  if (!get->registered) {
    get->registration = db_->snapshots_->add(db_->sequencer_->visible());
    get->registered = true;
    get->view = {get->registration->ts, 0};
    return look_up(get);
  }
  large_waiting_.push_back(get);
  start_large();
}

void ReadQueue::Impl::start_large() {
  while (!large_waiting_.empty() && large_reading_ < large_max_) {
    Get* get = large_waiting_.front();
    large_waiting_.pop_front();
    ++large_reading_;
    if (Status s = begin_large(get); !s.ok()) {
      end_large(get, std::move(s));
    } else {
      go_on(get);
    }
  }
}

Status ReadQueue::Impl::begin_large(Get* get) try {
  get->encoded = get->value.to_string();
  Result<format::LargeValue> described = format::decode_large_value(get->encoded);
  if (!described.ok()) return described.status();
  const uint64_t size = described->size;
  if (size > tree::kLargeValueBytesMax) return tree::too_large_to_read(size);
  char* const room = internal::ValueAccess::room(get->value, size);
  get->large.emplace(db_->store_.residency, std::move(described).value(), room);
  return get->large->begin();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

void ReadQueue::Impl::end_large(Get* get, Status status) {
  get->large.reset();
  --large_reading_;
  if (status.ok() && !get->operands.empty()) {
    std::string result;
    status = get->tree->fold(get->key, get->value.view(), get->operands, &result);
    if (status.ok()) internal::ValueAccess::copy(get->value, result);
    --reading_;
    finish(get, std::move(status));
    return start_large();
  }
  // Damage is declared only of what the key still refers to (R24).
  if (status.is(StatusCode::kCorruption) && get->encoded != get->wrong) {
    get->wrong = get->encoded;
    look_up(get);
  } else {
    --reading_;
    finish(get, std::move(status));
  }
  start_large();
}

void ReadQueue::Impl::unregister(Get* get) {
  if (get->registration) db_->snapshots_->remove(get->registration->slot);
  get->registration.reset();
}

void ReadQueue::Impl::finish(Get* get, Status status) {
  unregister(get);
  get->encoded.clear();
  get->wrong.clear();
  get->operands.clear();
  get->status = std::move(status);
  if (get->status.ok() && get->tree != nullptr && db::expires(*get->tree)) {
    get->status = db::take_moment(*get->tree, get->now_ms, &get->value);
  }
  if (!get->status.ok()) get->value.reset();
  done_.push_back(get);
  if (told_) io_->wake();
}

void ReadQueue::Impl::submit(Sending sending) {
  if (unsent_.empty()) return;
  requests_.clear();
  for (Get* get : unsent_) {
    requests_.push_back(get->request());
    requests_.back().context = get;
  }
  unsent_.clear();
  if (sending == Sending::kWithReap) return io_->stage(requests_);
  io_->submit(requests_);
}

// Runs the completions that are due; those of gets that they start, in a later call.
size_t ReadQueue::Impl::complete() {
  const size_t count = done_.size();
  for (size_t i = 0; i < count; ++i) {
    Get* get = done_.front();
    done_.pop_front();
    const Completion completion = std::move(get->completion);
    completion(get->status, get->value);
    get->value.reset();
    get->completion = nullptr;
    spare_.push_back(get);
  }
  return count;
}

size_t ReadQueue::Impl::run(bool wait) {
  reaped_.resize(depth_);
  for (;;) {
    submit(Sending::kWithReap);
    const size_t wait_for = wait && done_.empty() && reading_ > 0 ? 1 : 0;
    const size_t count = io_->reap(reaped_, wait_for);
    for (size_t i = 0; i < count; ++i) {
      Get* get = static_cast<Get*>(reaped_[i].context);
      if (get->large) {
        get->large->arrived(std::move(reaped_[i].status));
      } else {
        get->read->arrived(std::move(reaped_[i].status));
      }
      go_on(get);
    }
    start();
    submit();
    const size_t ran = complete();
    start();
    submit();
    if (told_ && !done_.empty()) io_->wake();
    if (ran > 0 || !wait || pending() == 0) return ran;
  }
}

int ReadQueue::Impl::event_fd() {
  const int fd = io_->event_fd();
  told_ = fd >= 0;
  if (told_ && !done_.empty()) io_->wake();
  return fd;
}

ReadQueue::ReadQueue(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ReadQueue::~ReadQueue() = default;

void ReadQueue::get_async(const Tree& tree, std::string_view key, Completion completion,
                          const ReadOptions& options) {
  impl_->get(tree, key, std::move(completion), options);
}

void ReadQueue::get_async(const Tree& tree, std::string_view key, Completion completion) {
  impl_->get(tree, key, std::move(completion), {});
}

size_t ReadQueue::poll() { return impl_->run(false); }
size_t ReadQueue::wait() { return impl_->run(true); }
size_t ReadQueue::pending() const { return impl_->pending(); }
int ReadQueue::event_fd() { return impl_->event_fd(); }

Result<std::unique_ptr<ReadQueue>> Db::read_queue(const ReadQueueOptions& options) try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  if (options.depth == 0 || options.depth > os::kIoDepthMax) {
    return Status(StatusCode::kInvalidArgument,
                  "a read queue's depth of " + std::to_string(options.depth) +
                      " is not between 1 and " + std::to_string(os::kIoDepthMax));
  }
  Result<std::unique_ptr<os::IoQueue>> io = impl_->machine_.queues->create(options.depth);
  if (!io.ok()) return io.status();
  return std::unique_ptr<ReadQueue>(new ReadQueue(
      std::make_unique<ReadQueue::Impl>(impl_.get(), std::move(io).value(), options.depth)));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
