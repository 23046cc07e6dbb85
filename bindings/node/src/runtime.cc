// Environments, threads and jobs.

#include "addon.h"

namespace hawthorn_node {

DbCore::~DbCore() { hawthorn_db_free(db); }

bool DbCore::enter() {
  std::lock_guard<std::mutex> lock(mutex);
  if (closing || closed) return false;
  ++active;
  return true;
}

void DbCore::leave() {
  std::lock_guard<std::mutex> lock(mutex);
  --active;
  left.notify_all();
}

hawthorn_code DbCore::close(bool wait, std::vector<HandleRef>* held, hawthorn_error** error) {
  std::unique_lock<std::mutex> lock(mutex);
  if (closed) return HAWTHORN_OK;
  if (closing || (!wait && active > 0)) {
    if (!closing) forced_by = nullptr;
    static const char kMessage[] = "the database is being closed, or calls to it are under way";
    *error = hawthorn_error_create(HAWTHORN_BUSY, kMessage, sizeof(kMessage) - 1);
    return HAWTHORN_BUSY;
  }
  closing = true;
  left.wait(lock, [this] { return active == 0; });
  held->insert(held->end(), late.begin(), late.end());
  late.clear();
  lock.unlock();
  for (const HandleRef& handle : *held) {
    if (void* const what = std::exchange(handle->ptr, nullptr)) handle->free(what);
  }
  const hawthorn_code code = hawthorn_db_close(db, error);
  lock.lock();
  closing = false;
  forced_by = nullptr;
  closed = code != HAWTHORN_BUSY;
  return code;
}

void Handle::release() {
  if (ptr == nullptr) return;
  void* const what = std::exchange(ptr, nullptr);
  auto task = [what, how = free, keep = core] { how(what); };
  if (strand && strand->running) {
    strand->to_free.push_back(std::move(task));
  } else {
    task();
  }
}

Handle::~Handle() {
  release();
  if (env != nullptr) env->handles.erase(this);
}

void Job::execute() {
  hawthorn_error* error = nullptr;
  try {
    code = run(&error);
  } catch (const std::exception&) {  // buffers that are too large
    code = HAWTHORN_OUT_OF_MEMORY;
  }
  if (code != HAWTHORN_OK) {
    size_t size = 0;
    const char* words = hawthorn_error_message(error, &size);
    message.assign(words, size);
    if (message.empty()) message = hawthorn_code_name(code);
  }
  hawthorn_error_free(error);
}

size_t Pool::runnable() const {
  const size_t room = kPlainMax > plain_running_ ? kPlainMax - plain_running_ : 0;
  return own_.size() + std::min(plain_.size(), room);
}

void Pool::spawn_if_needed() {
  // One at a time: each that takes a job looks again.
  if (runnable() > idle_ && !stopping_) threads_.emplace_back([this] { loop(); });
}

void Pool::submit(Job* job) {
  std::lock_guard<std::mutex> lock(mutex_);
  (job->lane == Lane::kOwn ? own_ : plain_).push_back(job);
  spawn_if_needed();
  wake_.notify_one();
}

// Waits of the library end when the thread of JavaScript does.
static int ends(void* env) { return static_cast<Env*>(env)->closing; }

void Pool::loop() {
  hawthorn_set_interrupt(ends, env_);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || runnable() > 0; });
    --idle_;
    if (stopping_) return;
    const bool plain = own_.empty();
    std::deque<Job*>& queue = plain ? plain_ : own_;
    Job* const job = queue.front();
    queue.pop_front();
    if (plain) ++plain_running_;
    spawn_if_needed();
    if (runnable() > 0) wake_.notify_one();
    lock.unlock();
    job->execute();
    env_->complete(job);
    lock.lock();
    if (plain) --plain_running_;
  }
}

std::vector<Job*> Pool::stop() {
  std::vector<std::thread> threads;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    wake_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<Job*> left(own_.begin(), own_.end());
  left.insert(left.end(), plain_.begin(), plain_.end());
  own_.clear();
  plain_.clear();
  return left;
}

Runner::Runner(Env* env) : env_(env), thread_([this] { loop(); }) { env_->runners.insert(this); }

Runner::~Runner() {
  stop();
  env_->runners.erase(this);
}

void Runner::submit(Job* job) {
  std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back(job);
  wake_.notify_one();
}

void Runner::loop() {
  hawthorn_set_interrupt(ends, env_);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    Job* const job = queue_.front();
    queue_.pop_front();
    lock.unlock();
    job->execute();
    env_->complete(job);
    lock.lock();
  }
}

std::deque<Job*> Runner::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  return std::exchange(queue_, {});
}

void Env::hold() {
  if (pending++ == 0) napi_ref_threadsafe_function(env, notify);
}
void Env::unhold() {
  if (--pending == 0) napi_unref_threadsafe_function(env, notify);
}

static void execute_work(napi_env, void* data) { static_cast<Job*>(data)->execute(); }
static void complete_work(napi_env env, napi_status status, void* data) {
  Job* const job = static_cast<Job*>(data);
  napi_delete_async_work(env, job->work);
  if (status == napi_cancelled) job->code = HAWTHORN_CLOSED, job->message = "the thread ends";
  job->env->finish(job);
}

void Env::drop(Job* job) {
  const StrandRef strand = job->strand;
  const CoreRef core = job->core;
  delete job;
  if (core) core->leave();
  if (!strand) return;
  strand->running = false;
  for (auto& task : std::exchange(strand->to_free, {})) task();
  for (Job* next : std::exchange(strand->waiting, {})) {
    const CoreRef entered = next->core;
    delete next;
    if (entered) entered->leave();
  }
}

void Env::start(Job* job) {
  if (closing) {
    drop(job);
    return;
  }
  if (job->strand && job->strand->runner) {
    job->lane = Lane::kOwn;
    hold();
    job->strand->runner->submit(job);
    return;
  }
  if (job->lane != Lane::kRead) {
    hold();
    pool.submit(job);
    return;
  }
  napi_value name = text(env, "hawthorn", 8);
  if (napi_create_async_work(env, nullptr, name, execute_work, complete_work, job, &job->work) ==
      napi_ok) {
    if (napi_queue_async_work(env, job->work) == napi_ok) return;
    napi_delete_async_work(env, job->work);
  }
  drop(job);  // the thread of JavaScript is being ended
}

// Settles the promise and lets the next job of the strand begin.
void Env::finish(Job* job) {
  if (job->lane != Lane::kRead) unhold();
  const StrandRef strand = job->strand;
  const napi_deferred deferred = job->deferred;
  napi_value result = nullptr;
  bool failed = job->code != HAWTHORN_OK;
  take_all_done();
  if (!failed) {
    result = job->done(env);
    failed = !take_all_done();
    if (failed) result = failure(this);
  } else {
    result = hawthorn_node::make_error(this, job->code, job->message);
  }
  if (job->asked != nullptr) napi_delete_reference(env, job->asked);
  const CoreRef core = job->core;
  delete job;
  if (core) core->leave();
  if (strand) {
    strand->running = false;
    std::vector<std::function<void()>> tasks;
    tasks.swap(strand->to_free);
    for (auto& task : tasks) task();
    if (!strand->waiting.empty()) {
      Job* const next = strand->waiting.front();
      strand->waiting.pop_front();
      strand->running = true;
      start(next);
    }
  }
  if (result == nullptr) result = undefined(env);
  if (failed) {
    napi_reject_deferred(env, deferred, result);
  } else {
    napi_resolve_deferred(env, deferred, result);
  }
}

void Env::wake(std::unique_lock<std::mutex>&) {
  if (std::exchange(notified, true) || closing) return;
  napi_call_threadsafe_function(notify, nullptr, napi_tsfn_nonblocking);
}

void Env::complete(Job* job) {
  std::unique_lock<std::mutex> lock(mutex);
  completed.push_back(job);
  wake(lock);
}

void Env::post(std::function<void(napi_env)> call) {
  std::unique_lock<std::mutex> lock(mutex);
  if (closing) return;
  calls.push_back(std::move(call));
  wake(lock);
}

void Env::notice(Notice notice) {
  constexpr size_t kNoticesMax = 10000;  // a program that does not look loses the oldest ones
  std::unique_lock<std::mutex> lock(mutex);
  if (closing) return;
  if (notices.size() >= kNoticesMax) notices.pop_front();
  notices.push_back(std::move(notice));
  wake(lock);
}

bool Env::ask(Job* job, const char* kind, const void* data, size_t size, uint64_t number,
              std::string* answer) {
  Ask ask;
  ask.job = job;
  ask.kind = kind;
  ask.data = data;
  ask.size = size;
  ask.number = number;
  std::unique_lock<std::mutex> lock(mutex);
  ask.id = next_ask++;
  asked[ask.id] = &ask;
  asks.push_back(&ask);
  wake(lock);
  answered.wait(lock, [&] { return ask.answered || closing; });
  asked.erase(ask.id);
  for (auto it = asks.begin(); it != asks.end(); ++it) {
    if (*it == &ask) {
      asks.erase(it);
      break;
    }
  }
  *answer = ask.answered ? std::move(ask.answer) : "the thread ends";
  return ask.answered && !ask.failed;
}

// Answers of JavaScript: id, whether it failed, the message or the bytes.
static napi_value answer(napi_env env, napi_callback_info info) {
  Args args(env, info, false);
  const uint64_t id = args.u64();
  const bool failed = args.flag();
  Bytes bytes = args.bytes_or_null();
  if (!args.ok()) return args.refuse();
  Env* const self = args.env();
  std::lock_guard<std::mutex> lock(self->mutex);
  const auto found = self->asked.find(id);
  if (found == self->asked.end()) return undefined(env);
  found->second->answered = true;
  found->second->failed = failed;
  found->second->answer = std::move(bytes.data);
  self->answered.notify_all();
  return undefined(env);
}

void Env::drain() {
  std::vector<Job*> jobs;
  std::vector<Ask*> questions;
  std::deque<Notice> told;
  std::deque<std::function<void(napi_env)>> called;
  {
    std::lock_guard<std::mutex> lock(mutex);
    notified = false;
    jobs.swap(completed);
    questions.assign(asks.begin(), asks.end());
    asks.clear();
    told.swap(notices);
    called.swap(calls);
  }
  for (Job* job : jobs) finish(job);
  for (auto& call : called) call(env);
  napi_value global = undefined(env);
  for (Ask* ask : questions) {
    napi_value function = nullptr;
    napi_get_reference_value(env, ask->job->asked, &function);
    napi_value arguments[4] = {number(env, ask->id), text(env, ask->kind.data(), ask->kind.size()),
                               ask->data ? buffer(env, ask->data, ask->size) : undefined(env),
                               number(env, ask->number)};
    napi_value ignored = nullptr;
    napi_call_function(env, global, function, 4, arguments, &ignored);
  }
  for (Notice& notice : told) {
    napi_value function = nullptr;
    if (napi_get_reference_value(env, notice.function, &function) != napi_ok || !function) continue;
    std::vector<napi_value> arguments;
    notice.arguments(env, arguments);
    napi_value ignored = nullptr;
    if (napi_call_function(env, global, function, arguments.size(), arguments.data(), &ignored) ==
        napi_pending_exception) {
      napi_value thrown = nullptr;
      napi_get_and_clear_last_exception(env, &thrown);
      napi_fatal_exception(env, thrown);  // as any error that nobody catches
    }
  }
}

static void call_js(napi_env env, napi_value, void* context, void*) {
  if (env != nullptr) static_cast<Env*>(context)->drain();
}

static void clean_up(void* data) {
  Env* const self = static_cast<Env*>(data);
  {
    std::lock_guard<std::mutex> lock(self->mutex);
    self->closing = true;
    self->answered.notify_all();
  }
  std::vector<Job*> jobs = self->pool.stop();
  for (Runner* runner : self->runners) {
    for (Job* job : runner->stop()) jobs.push_back(job);
  }
  for (Job* job : jobs) self->drop(job);
  for (Job* job : std::exchange(self->completed, {})) self->drop(job);
}

Env* env_of(napi_env env) {
  void* data = nullptr;
  napi_get_instance_data(env, &data);
  return static_cast<Env*>(data);
}

// The function that makes errors of a code, its name and a message.
static napi_value set_error_maker(napi_env env, napi_callback_info info) {
  Args args(env, info, false);
  napi_value function = args.any();
  napi_create_reference(env, function, 1, &args.env()->make_error);
  return undefined(env);
}

napi_value make_error(Env* env, hawthorn_code code, const std::string& message) {
  napi_value maker = nullptr;
  napi_value result = nullptr;
  const char* name = hawthorn_code_name(code);
  napi_value arguments[3] = {number(env->env, static_cast<uint32_t>(code)),
                             text(env->env, name, std::strlen(name)),
                             text(env->env, message.data(), message.size())};
  if (env->make_error != nullptr) napi_get_reference_value(env->env, env->make_error, &maker);
  if (maker == nullptr ||
      napi_call_function(env->env, undefined(env->env), maker, 3, arguments, &result) != napi_ok) {
    napi_create_error(env->env, arguments[1], arguments[2], &result);
  }
  return result;
}

// Calls a native function, and throws where it could not make what it returns.
static napi_value call(napi_env env, napi_callback_info info) {
  void* function = nullptr;
  napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &function);
  take_all_done();
  napi_value result = nullptr;
  try {
    result = reinterpret_cast<napi_callback>(function)(env, info);
  } catch (const std::exception&) {  // buffers that are too large
    napi_throw(env, make_error(env_of(env), HAWTHORN_OUT_OF_MEMORY, "there is no memory"));
    return nullptr;
  }
  if (take_all_done()) return result;
  napi_throw(env, failure(env_of(env)));
  return nullptr;
}

static napi_value init(napi_env env, napi_value exports) {
  Env* const self = new Env(env);
  napi_set_instance_data(
      env, self,
      [](napi_env, void* data, void*) {
        Env* const gone = static_cast<Env*>(data);
        for (Handle* handle : gone->handles) handle->env = nullptr;
        gone->closing = true;  // not freed: a database that others share may still tell it things
      },
      nullptr);
  napi_create_threadsafe_function(env, nullptr, nullptr, text(env, "hawthorn", 8), 0, 1, nullptr,
                                  nullptr, self, call_js, &self->notify);
  napi_unref_threadsafe_function(env, self->notify);
  napi_add_env_cleanup_hook(env, clean_up, self);
  std::vector<Function> all = {{"answer", answer}, {"setErrorMaker", set_error_maker}};
  add_database(all);
  add_trees(all);
  add_access(all);
  add_columns(all);
  add_transactions(all);
  add_cursors(all);
  add_copies(all);
  add_feeds(all);
  for (const Function& one : all) {
    napi_value function = nullptr;
    did(napi_create_function(env, one.first, NAPI_AUTO_LENGTH, call,
                             reinterpret_cast<void*>(one.second), &function));
    set(env, exports, one.first, function);
  }
  if (!take_all_done()) return nullptr;
  return exports;
}

}  // namespace hawthorn_node

NAPI_MODULE_INIT() { return hawthorn_node::init(env, exports); }
