#pragma once
// What all parts of the addon share: handles, jobs, arguments and results.
//
// Each operation of the C API is one native function. Its first argument says whether it is run at
// once (true: it throws) or on another thread (false: it returns a promise). Arguments are copied
// on the JavaScript thread, `run` is called on the other one, and `done` makes the result on the
// JavaScript thread again.
//
// Invariants:
//  1. Handles, strands and jobs are touched by the thread of their environment alone, but for what
//     `run` reads of its own job.
//  2. A job keeps its handles alive, and the database open (DbCore::enter) until it has ended.
//  3. Of the jobs of one strand (a transaction, its cursors and nested ones; a feed) one is under
//     way at a time, and what is freed meanwhile waits for its end.

#define NAPI_VERSION 8
#include <hawthorn/c.h>
#include <node_api.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

namespace hawthorn_node {

struct Env;
struct Handle;
struct Job;

enum class Kind : uint32_t {
  kDatabase,
  kTree,
  kSnapshot,
  kTransaction,
  kCursor,
  kBatch,
  kIngest,
  kFeed,
  kReplica,
  kFollower,
  kRepository,
  kColumns,
  kReadQueue
};

// A database that one or more environments (threads of JavaScript) use.
struct DbCore {
  hawthorn_db* db = nullptr;
  uint64_t token = 0;
  std::mutex mutex;
  std::condition_variable left;
  size_t active = 0;  // jobs of all environments
  bool closing = false;
  bool closed = false;
  Env* forced_by = nullptr;                   // what it has made of this database is closed, too
  std::vector<std::shared_ptr<Handle>> late;  // made by jobs that were under way then

  ~DbCore();
  bool enter();
  void leave();
  // Waits for others, lets go of `held`, to which it adds `late`, then closes. BUSY leaves the
  // database open.
  hawthorn_code close(bool wait, std::vector<std::shared_ptr<Handle>>* held,
                      hawthorn_error** error);
};
using CoreRef = std::shared_ptr<DbCore>;

// A thread for the calls of one exclusive transaction: the library knows such a one by the thread
// that has begun it, and refuses what that thread would wait for.
class Runner {
 public:
  explicit Runner(Env* env);
  ~Runner();
  void submit(Job* job);
  std::deque<Job*> stop();  // waits for what is under way, returns what has not begun

 private:
  void loop();
  Env* env_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job*> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

// Jobs that must come one after the other (3).
struct Strand {
  std::unique_ptr<Runner> runner;  // where they run, instead of where their lanes say
  std::deque<Job*> waiting;
  bool running = false;
  std::vector<std::function<void()>> to_free;
};
using StrandRef = std::shared_ptr<Strand>;

struct Handle : std::enable_shared_from_this<Handle> {
  Env* env = nullptr;
  Kind kind{};
  void* ptr = nullptr;
  void (*free)(void*) = nullptr;
  CoreRef core;
  StrandRef strand;
  std::atomic<bool> closed{false};

  ~Handle();
  void release();  // frees what `ptr` is now, or behind the job that is under way
  bool is_closed_by_force() const { return kind != Kind::kDatabase && kind != Kind::kTree; }
  template <class T>
  T* as() const {
    return static_cast<T*>(ptr);
  }
};
using HandleRef = std::shared_ptr<Handle>;

// Where a job runs. kRead: threads of libuv; it never waits for other jobs. kWrite: threads of this
// addon, up to 32 at a time; it may wait for rows that others hold. kOwn: the same without a limit:
// what holds something that others wait for, or takes long. So whoever holds rows always gets a
// thread to let go of them.
enum class Lane { kRead, kWrite, kOwn };

struct Job {
  Env* env = nullptr;
  Lane lane = Lane::kRead;
  napi_deferred deferred = nullptr;
  napi_async_work work = nullptr;
  std::vector<HandleRef> handles;
  CoreRef core;  // entered
  StrandRef strand;
  hawthorn_code code = HAWTHORN_OK;
  std::string message;
  napi_ref asked = nullptr;  // the function that Env::ask calls

  virtual ~Job() = default;
  virtual hawthorn_code run(hawthorn_error** error) = 0;
  virtual napi_value done(napi_env env) = 0;
  void execute();
};

// A question of a job to JavaScript (streams, progress): the thread of the job waits.
struct Ask {
  uint64_t id = 0;
  Job* job = nullptr;
  std::string kind;
  const void* data = nullptr;
  size_t size = 0;
  uint64_t number = 0;
  bool answered = false;
  bool failed = false;
  std::string answer;
};

class Pool {
 public:
  explicit Pool(Env* env) : env_(env) {}
  void submit(Job* job);
  std::vector<Job*> stop();  // waits for what is under way, returns what has not begun

 private:
  static constexpr size_t kPlainMax = 32;
  void loop();
  void spawn_if_needed();
  size_t runnable() const;

  Env* env_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job*> own_, plain_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  size_t plain_running_ = 0;
  bool stopping_ = false;
};

// A notification that nobody waits for (logs, events, entries that have ended).
struct Notice {
  napi_ref function;
  std::function<void(napi_env, std::vector<napi_value>&)> arguments;
};

// What there is once for each environment.
struct Env {
  explicit Env(napi_env e) : env(e), pool(this) {}
  napi_env env;
  Pool pool;
  napi_threadsafe_function notify = nullptr;
  napi_ref make_error = nullptr;
  size_t pending = 0;  // jobs in the pool, and read queues with gets: they keep the process up
  std::unordered_set<Handle*> handles;
  std::unordered_set<Runner*> runners;
  std::atomic<bool> closing{false};

  std::mutex mutex;
  std::condition_variable answered;
  std::vector<Job*> completed;
  std::deque<Ask*> asks;
  std::map<uint64_t, Ask*> asked;
  std::deque<Notice> notices;
  std::deque<std::function<void(napi_env)>> calls;
  uint64_t next_ask = 1;
  bool notified = false;

  void start(Job* job);
  void finish(Job* job);  // on the thread of JavaScript; deletes it
  void complete(Job* job);
  void drop(Job* job);                            // of an environment that ends
  void post(std::function<void(napi_env)> call);  // any thread
  void notice(Notice notice);                     // any thread
  void wake(std::unique_lock<std::mutex>& lock);
  void drain();
  void hold();
  void unhold();
  // Of the thread of a job. False: JavaScript has failed, or the environment ends; `answer` says
  // why.
  bool ask(Job* job, const char* kind, const void* data, size_t size, uint64_t number,
           std::string* answer);
};
Env* env_of(napi_env env);

napi_value make_error(Env* env, hawthorn_code code, const std::string& message);
// Whether it did what it was to. What is made below is null where it did not: an array or buffer is
// too large, or the thread of JavaScript is being ended. Then there is no result: `take_all_done`
// is false once, and `failure` is the error for it.
bool did(napi_status status);
bool take_all_done();
napi_value failure(Env* env);
napi_value undefined(napi_env env);
napi_value null(napi_env env);
napi_value boolean(napi_env env, bool value);
napi_value number(napi_env env, uint64_t value);  // BigInt where it is no safe integer
napi_value big(napi_env env, uint64_t value);     // always BigInt
napi_value text(napi_env env, const void* data, size_t size);
napi_value buffer(napi_env env, const void* data, size_t size);
napi_value new_buffer(napi_env env, size_t size, void** to);
napi_value new_object(napi_env env);
napi_value new_array(napi_env env, size_t size);
napi_value new_typedarray(napi_env env, napi_typedarray_type type, size_t count, size_t element,
                          void** to);
napi_value rows(napi_env env, const hawthorn_records* records);
void set(napi_env env, napi_value object, const char* name, napi_value value);
void set_at(napi_env env, napi_value list, uint32_t place, napi_value value);
napi_value wrap(Env* env, HandleRef handle);
HandleRef new_handle(Env* env, Kind kind, void* ptr, void (*free)(void*), CoreRef core = nullptr,
                     StrandRef strand = nullptr);
template <auto Free, class T>
void free_as(void* ptr) {
  Free(static_cast<T>(ptr));
}

// Owners of objects of the C API. What a job makes belongs to one until a handle takes it: jobs are
// dropped when their thread of JavaScript ends, and then it is freed.
template <class T, void (*Free)(T*)>
struct Owned {
  T* ptr = nullptr;
  Owned() = default;
  explicit Owned(T* p) : ptr(p) {}
  Owned(Owned&& other) noexcept : ptr(std::exchange(other.ptr, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(ptr, other.ptr);
    return *this;
  }
  ~Owned() { Free(ptr); }
  T* take() { return std::exchange(ptr, nullptr); }
};
using Records = Owned<hawthorn_records, hawthorn_records_free>;
using Value = Owned<hawthorn_value, hawthorn_value_free>;
using ReadBatch = Owned<hawthorn_read_batch, hawthorn_read_batch_free>;
using Options = Owned<hawthorn_options, hawthorn_options_free>;

struct Bytes {
  std::string data;
  bool there = false;
  const void* ptr() const { return there ? data.data() : nullptr; }
  size_t size() const { return data.size(); }
};

// A database, or a transaction of one.
struct Target {
  hawthorn_db* db = nullptr;
  hawthorn_txn* txn = nullptr;
};

template <class Run, class Done>
struct JobOf final : Job {
  JobOf(Run r, Done d) : run_(std::move(r)), done_(std::move(d)) {}
  hawthorn_code run(hawthorn_error** error) override {
    if constexpr (std::is_invocable_v<Run&, hawthorn_error**, Job*>) {
      return run_(error, this);
    } else {
      return run_(error);
    }
  }
  napi_value done(napi_env env) override { return done_(env); }
  Run run_;
  Done done_;
};

// The arguments of a native function, taken from left to right. The first that does not fit is
// remembered, and told by `submit`.
class Args {
 public:
  Args(napi_env env, napi_callback_info info, bool has_mode = true);

  HandleRef handle(Kind kind);
  HandleRef handle_or_null(Kind kind);
  HandleRef other(Kind kind);  // which may be of another database than those before
  Target target();             // also sets the lane of writes to kOwn for a transaction
  hawthorn_db* db();
  hawthorn_tree* tree() { return opt<hawthorn_tree>(handle(Kind::kTree)); }
  hawthorn_snapshot* snapshot();
  std::string bytes();    // a string or an array of bytes
  Bytes bytes_or_null();  // also null and undefined
  std::string string();   // without zero bytes: paths and names of options
  uint64_t u64();
  uint32_t u32();
  double real();
  bool flag();
  napi_value any();
  std::vector<int64_t> offsets(size_t bytes);  // checked against so many bytes
  hawthorn_write_options write_options();
  napi_ref function_or_null();

  void fail(const std::string& message, hawthorn_code code = HAWTHORN_INVALID_ARGUMENT);
  bool ok() const { return ok_; }
  Env* env() const { return env_; }
  bool sync() const { return sync_; }
  const CoreRef& core() const { return core_; }
  const StrandRef& strand() const { return strand_; }
  void run_on(StrandRef strand) { strand_ = std::move(strand); }
  void no_core() { core_ = nullptr; }  // the job closes the database itself
  void ask_by(napi_ref function) { asked_ = function; }

  template <class Run, class Done>
  napi_value submit(Lane lane, Run run, Done done) {
    if (!ok_) return refuse();
    return submit_job(lane, new JobOf<Run, Done>(std::move(run), std::move(done)));
  }
  template <class Run>
  napi_value submit(Lane lane, Run run) {
    return submit(lane, std::move(run), [](napi_env env) { return undefined(env); });
  }
  napi_value refuse();  // throws or rejects with what did not fit

 private:
  template <class T>
  static T* opt(const HandleRef& handle) {
    return handle ? handle->as<T>() : nullptr;
  }
  HandleRef take(napi_value value, bool null_is_fine, uint32_t kinds);
  napi_value submit_job(Lane lane, Job* job);
  bool read_bytes(napi_value value, std::string* out);

  napi_env napi_;
  Env* env_;
  napi_value values_[20];
  size_t count_ = 20;
  size_t next_ = 0;
  bool sync_ = true;
  bool ok_ = true;
  hawthorn_code code_ = HAWTHORN_OK;
  std::string message_;
  std::vector<HandleRef> handles_;
  CoreRef core_;
  StrandRef strand_;
  bool in_txn_ = false;
  napi_ref asked_ = nullptr;
};

// Makes an answer of "not found" one of success.
inline hawthorn_code absent(hawthorn_code code, hawthorn_error** error, bool* found) {
  *found = code == HAWTHORN_OK;
  if (code != HAWTHORN_NOT_FOUND) return code;
  hawthorn_error_free(*error);
  *error = nullptr;
  return HAWTHORN_OK;
}

// Options of a database as pairs of name and value (database.cc).
using OptionList = std::vector<std::pair<std::string, std::string>>;
OptionList take_options(Args& args, napi_env env);
hawthorn_code fill_options(const OptionList& list, hawthorn_options* options,
                           hawthorn_error** error);
napi_value wrap_view(Env* env, hawthorn_db* db);

// Memory that JavaScript sees as arrays, and calls fill (columns.cc).
struct ColumnMemory {
  std::vector<char> keys, values;
  std::vector<int64_t> key_offsets, value_offsets;
  std::vector<uint8_t> found;
  size_t rows = 0;
  hawthorn_columns view();
};
napi_value float64_array(napi_env env, const int64_t* data, size_t count);
napi_value too_small(napi_env env, const hawthorn_columns& columns);

// A cursor, and the memory of its batches.
struct CursorState {
  hawthorn_cursor* cursor = nullptr;
  ColumnMemory memory;
  ~CursorState() { hawthorn_cursor_free(cursor); }
};

using Function = std::pair<const char*, napi_callback>;
void add_database(std::vector<Function>& all);
void add_trees(std::vector<Function>& all);
void add_access(std::vector<Function>& all);
void add_columns(std::vector<Function>& all);
void add_transactions(std::vector<Function>& all);
void add_cursors(std::vector<Function>& all);
void add_copies(std::vector<Function>& all);
void add_feeds(std::vector<Function>& all);

}  // namespace hawthorn_node
