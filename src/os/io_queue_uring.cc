// A queue on a ring of io_uring.
//
// The ring is set up with COOP_TASKRUN where the kernel has it, and not with SINGLE_ISSUER and
// DEFER_TASKRUN: these bind a ring to one thread for good, and leased queues serve one thread after
// the other. They would save 2% to 5% of the processor time per read; registered files, up
// to 6%, but each ring would hold every data file open beyond the life of its File
// (docs/decisions/0012-reads-by-io-uring.md).
//
// Threads: as IoQueue. Completions are worked up by the thread that submitted them, at its next
// entry into the kernel; a queue that changes hands with reads in flight may see them late while
// that thread does not enter it.
//
// 1. An operation is in free_, staged_ (written to the ring, not yet taken by the kernel) or
//    counted in taken_.
// 2. taken_ <= depth <= entries of the completion ring, so that it cannot overflow.
// 3. Once broken_ (the kernel refuses io_uring_enter for good) nothing is staged: reads are done by
//    read_at, and what the kernel has taken is awaited by looking at the completion ring.

#include "os/io_queue_parts.h"

#if !defined(HAWTHORN_HAVE_URING)

namespace hawthorn::os {

Result<std::unique_ptr<IoQueue>> make_uring_queue(uint32_t /*depth*/) { return probe_uring(); }

Status probe_uring() {
  return Status(StatusCode::kNotSupported, "io_uring is not used: built without liburing");
}

}  // namespace hawthorn::os

#else

#include <fcntl.h>
#include <liburing.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "os/delays.h"
#include "os/posix_error.h"

#if defined(__SANITIZE_THREAD__)
#define HAWTHORN_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAWTHORN_TSAN 1
#endif
#endif
#if defined(HAWTHORN_TSAN)
extern "C" {
void __tsan_write_range(void* begin, unsigned long bytes);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace hawthorn::os {
namespace {

// Neighbours are joined up to this: beyond it the device gains nothing from larger operations, and
// loses what it could have done at the same time.
constexpr size_t kJoinedBytesMax = size_t{128} << 10;
constexpr size_t kJoinedPartsMax = 32;
// The kernel's limit of one read is a little below 2 GB.
constexpr size_t kOperationBytesMax = size_t{1} << 30;
// Of a read that the kernel puts off (EAGAIN, EINTR); then read_at does it.
constexpr uint32_t kAttemptsMax = 8;

Status refused(const char* doing, int error) {
  return Status(StatusCode::kNotSupported, std::string("io_uring cannot be used: ") + doing + ": " +
                                               std::generic_category().message(error));
}

// What ThreadSanitizer cannot see. The memory of a ring that is gone may become that of another
// thread's ring: the kernel orders the two, and neither liburing's calls nor its own are watched.
// And what the kernel has read into a buffer is a write of the thread that reaps it.
#if defined(HAWTHORN_TSAN)
char ring_memory;
void note_set_up() { __tsan_acquire(&ring_memory); }
void note_torn_down() { __tsan_release(&ring_memory); }
void note_written(char* data, size_t size) { __tsan_write_range(data, size); }
#else
void note_set_up() {}
void note_torn_down() {}
void note_written(char* /*data*/, size_t /*size*/) {}
#endif

// Kernels know more flags than their predecessors, and refuse the ones they do not know.
int set_up(uint32_t depth, io_uring* ring) {
  int error = 0;
  for (const unsigned flags : {IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, 0U}) {
    io_uring_params params;
    std::memset(&params, 0, sizeof(params));
    params.flags = flags | IORING_SETUP_CLAMP;
    error = -io_uring_queue_init_params(depth, ring, &params);
    if (error != EINVAL) break;
  }
  note_set_up();
  return error;
}

void tear_down(io_uring* ring) {
  note_torn_down();
  io_uring_queue_exit(ring);
}

bool put_off(int error) { return error == EAGAIN || error == EINTR || error == ECANCELED; }

class UringQueue : public IoQueueBase {
 public:
  // Takes the ring over.
  UringQueue(const io_uring& ring, uint32_t depth) : ring_(ring), operations_(depth) {
    free_.reserve(depth);
    for (uint32_t i = depth; i-- > 0;) free_.push_back(i);
  }

  ~UringQueue() override {
    if (!forked()) {
      waiting_.clear();
      closing_ = true;
      while (taken_ > 0) {
        await_one();
        harvest();
      }
    }
    tear_down(&ring_);
  }

  void submit(std::span<const IoRead> reads) override {
    stage(reads);
    if (!forked() && !staged_.empty()) enter(0);
    note_ready();
  }

  void stage(std::span<const IoRead> reads) override {
    if (forked()) return refuse(reads);
    for (const IoRead& read : reads) {
      ++in_flight_;
      if (!done_inside(read)) waiting_.push({.read = read});
    }
    stage();
  }

  size_t reap(std::span<IoCompletion> out, size_t wait_for) override {
    if (forked()) return take(out);
    wait_for = std::min({wait_for, out.size(), in_flight_});
    if (event_.is_open()) event_.drain();
    if (wait_for == 0) run_task_work();
    size_t count = 0;
    while (true) {
      harvest();
      count += take(out.subspan(count));
      stage();
      if (count >= wait_for) break;
      await(wait_for - count);
    }
    if (!staged_.empty()) enter(0);
    note_ready();
    return count;
  }

  uint32_t depth() const override { return static_cast<uint32_t>(operations_.size()); }

  void wake() override {
    if (event_.is_open()) event_.signal();
  }

  int event_fd() override {
    if (forked()) return -1;
    if (event_.is_open()) return event_.fd();
    if (!event_.open()) return -1;
    if (const int error = -io_uring_register_eventfd(&ring_, event_.fd()); error != 0) {
      event_.close();
      return -1;
    }
    // What was completed before is told now.
    event_.signal();
    return event_.fd();
  }

  IoBackend backend() const override { return IoBackend::kUring; }

 private:
  // What is left to read of a request.
  struct Part {
    IoRead read;
    uint32_t attempts = 0;  // above 0: not joined with others again
  };
  struct Operation {
    std::vector<Part> parts;
    std::vector<iovec> vectors;  // where there are several
  };

  static bool continues(const Operation& operation, size_t bytes, const Part& next) {
    const Part& last = operation.parts.back();
    return next.attempts == 0 && last.attempts == 0 && next.read.file == last.read.file &&
           next.read.offset == last.read.offset + last.read.size &&
           bytes + next.read.size <= kJoinedBytesMax && operation.parts.size() < kJoinedPartsMax;
  }

  // Writes operations for what waits to the ring, as many as the depth allows.
  void stage() {
    while (!waiting_.empty()) {
      if (broken_) {
        read_inside(waiting_.pop());
        continue;
      }
      if (free_.empty()) return;
      const uint32_t index = free_.back();
      free_.pop_back();
      Operation& operation = operations_[index];
      operation.parts.push_back(waiting_.pop());
      size_t bytes = operation.parts.back().read.size;
      while (!waiting_.empty() && continues(operation, bytes, waiting_.front())) {
        operation.parts.push_back(waiting_.pop());
        bytes += operation.parts.back().read.size;
      }
      write_entry(operation, index);
      staged_.push(index);
    }
  }

  void write_entry(Operation& operation, uint32_t index) {
    // There are at least as many entries as operations.
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    HAWTHORN_ASSERT(entry != nullptr);
    const IoRead& first = operation.parts.front().read;
    if (operation.parts.size() == 1) {
      io_uring_prep_read(entry, first.file->descriptor(), first.data,
                         static_cast<unsigned>(std::min(first.size, kOperationBytesMax)),
                         first.offset);
    } else {
      operation.vectors.clear();
      for (const Part& part : operation.parts) {
        operation.vectors.push_back({part.read.data, part.read.size});
      }
      io_uring_prep_readv(entry, first.file->descriptor(), operation.vectors.data(),
                          static_cast<unsigned>(operation.vectors.size()), first.offset);
    }
    entry->user_data = index;
  }

  // Gives the kernel what is staged; returns when `wait_for` completions are there, or earlier.
  // False: the kernel has no room just now and waits for completions.
  bool enter(unsigned wait_for) {
    while (!broken_) {
      delay_point(Seam::kOperation);
      const int result =
          wait_for == 0 ? io_uring_submit(&ring_) : io_uring_submit_and_wait(&ring_, wait_for);
      if (result >= 0) {
        for (int i = 0; i < result; ++i) static_cast<void>(staged_.pop());
        taken_ += static_cast<size_t>(result);
        if (staged_.empty()) return true;
        if (result > 0) continue;  // it stops at an entry that it refuses, and reports that one
      } else if (result == -EINTR) {
        if (wait_for > 0) return true;
        continue;
      }
      const bool for_now = result >= 0 || result == -EAGAIN || result == -EBUSY;
      if (for_now && taken_ > 0) return false;
      give_up();
    }
    return true;
  }

  // Waits for the kernel until about so many reads are done.
  void await(size_t reads) {
    const size_t operations = taken_ + staged_.size();
    if (operations == 0) return;  // all of it was done inside
    // With joined reads among them, one operation may already be enough.
    const bool joined = in_flight_ != operations + waiting_.size() + ready_.size();
    const size_t wait_for = joined ? 1 : std::min(reads, operations);
    if (!broken_ && enter(static_cast<unsigned>(wait_for))) return;
    if (taken_ > 0) await_one();
  }

  // Waits for one completion of what the kernel has taken, without giving it more.
  void await_one() {
    io_uring_cqe* completion = nullptr;
    while (!broken_) {
      const int error = -io_uring_wait_cqe(&ring_, &completion);
      if (error == 0) return;
      if (error == EINTR || error == EAGAIN) continue;
      give_up();
    }
    SpinWait pause;
    while (io_uring_cq_ready(&ring_) == 0) pause.once();
  }

  // The ring takes nothing any more: another program has closed its descriptor, or a filter that
  // was installed meanwhile denies the call. No read may get lost or block for that.
  void give_up() {
    broken_ = true;
    while (!staged_.empty()) {
      const uint32_t index = staged_.pop();
      for (Part& part : operations_[index].parts) waiting_.push(std::move(part));
      release(index);
    }
    if (closing_) {
      waiting_.clear();
    } else {
      stage();
    }
  }

  // With COOP_TASKRUN the kernel may hold completions back until this thread enters it.
  void run_task_work() {
    const unsigned flags = IO_URING_READ_ONCE(*ring_.sq.kflags);
    if (!broken_ && (flags & IORING_SQ_TASKRUN) != 0) io_uring_get_events(&ring_);
  }

  // Takes all completions from the ring.
  void harvest() {
    delay_point(Seam::kOperation);
    unsigned head = 0;
    unsigned count = 0;
    io_uring_cqe* completion = nullptr;
    io_uring_for_each_cqe(&ring_, head, completion) {
      complete(static_cast<uint32_t>(completion->user_data), completion->res);
      ++count;
    }
    if (count > 0) io_uring_cq_advance(&ring_, count);
    taken_ -= count;
  }

  void complete(uint32_t index, int result) {
    Operation& operation = operations_[index];
    const bool joined = operation.parts.size() > 1;
    size_t got = result > 0 ? static_cast<size_t>(result) : 0;
    for (Part& part : operation.parts) {
      const size_t bytes = std::min(got, part.read.size);
      got -= bytes;
      note_written(part.read.data, bytes);
      part.read.offset += bytes;
      part.read.data += bytes;
      part.read.size -= bytes;
      if (part.read.size == 0) {
        finish(part.read.context, Status());
      } else if (joined) {
        // Which of them the error or the end is about shows when each is read alone.
        part.attempts = 1;
        waiting_.push(std::move(part));
      } else {
        go_on(std::move(part), result);
      }
    }
    release(index);
  }

  // A read that got less than it asked for, or an error.
  void go_on(Part part, int result) {
    const IoRead& read = part.read;
    if (closing_) return;
    if (put_off(-result)) {
      if (++part.attempts > kAttemptsMax) return read_inside(part);
    } else if (result < 0) {
      return finish(read.context, error_status(-result, read.file->path(), "read", read.offset));
    } else if (result == 0 || (read.file->direct() && read.offset % kBlockBytes != 0)) {
      return finish(read.context, ends_early(read.file->path(), read.offset, read.size));
    }
    waiting_.push(std::move(part));
  }

  void read_inside(const Part& part) {
    const IoRead& read = part.read;
    finish(read.context, read.file->read_at(read.offset, {read.data, read.size}));
  }

  void release(uint32_t index) {
    operations_[index].parts.clear();
    free_.push_back(index);
  }

  // What stays ready keeps the descriptor readable.
  void note_ready() {
    if (!ready_.empty() && event_.is_open()) event_.signal();
  }

  io_uring ring_;
  std::vector<Operation> operations_;
  std::vector<uint32_t> free_;
  Fifo<uint32_t> staged_;
  Fifo<Part> waiting_;
  size_t taken_ = 0;
  bool broken_ = false;
  bool closing_ = false;
  EventFd event_;
};

}  // namespace

Result<std::unique_ptr<IoQueue>> make_uring_queue(uint32_t depth) {
  depth = std::clamp(depth, 1U, kIoDepthMax);
  io_uring ring;
  if (const int error = set_up(depth, &ring); error != 0) return refused("setup", error);
  return std::unique_ptr<IoQueue>(new UringQueue(ring, depth));
}

Status probe_uring() {
  io_uring ring;
  if (const int error = set_up(2, &ring); error != 0) return refused("setup", error);
  // A ring that can be made may still be one that cannot be entered, or lack the operations.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    const int error = errno;
    tear_down(&ring);
    return refused("pipe", error);
  }
  char bytes[2] = {'a', 'b'};
  int error = write(ends[1], bytes, sizeof(bytes)) == sizeof(bytes) ? 0 : errno;
  iovec vector = {&bytes[1], 1};
  io_uring_prep_read(io_uring_get_sqe(&ring), ends[0], bytes, 1, 0);
  io_uring_prep_readv(io_uring_get_sqe(&ring), ends[0], &vector, 1, 0);
  for (int pending = 2; error == 0 && pending > 0;) {
    const int entered = io_uring_submit_and_wait(&ring, 1);
    if (entered < 0 && entered != -EINTR) error = -entered;
    for (io_uring_cqe* done = nullptr; error == 0 && io_uring_peek_cqe(&ring, &done) == 0;) {
      if (done->res != 1) error = done->res < 0 ? -done->res : EIO;
      io_uring_cqe_seen(&ring, done);
      --pending;
    }
  }
  tear_down(&ring);
  close(ends[0]);
  close(ends[1]);
  return error == 0 ? Status() : refused("read", error);
}

}  // namespace hawthorn::os

#endif  // HAWTHORN_HAVE_URING
