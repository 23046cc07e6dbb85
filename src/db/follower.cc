// The public Follower: makes views, and anew where one cannot go on.

#include "hawthorn/follower.h"

#include <algorithm>
#include <utility>

#include "base/out_of_memory.h"
#include "db/copy_directory.h"
#include "db/impl.h"
#include "os/place.h"
#include "os/test_point.h"

namespace hawthorn {

namespace {
// What is read beside a process that changes it may contradict itself. As soon as everything is
// pinned that ends, but for what is damaged.
constexpr int kFollowAttemptsMax = 8;
constexpr uint64_t kFollowPauseUs = 1000;

bool may_pass(const Status& status) {
  return status.is(StatusCode::kCorruption) || status.is_not_found() ||
         status.is(StatusCode::kTooOld) || status.is(StatusCode::kNotSupported);
}

// What a follower's options have in common with those of a database: all of theirs.
template <typename From, typename To>
void copy_followers_options(const From& from, To* to) {
  to->memory_budget_bytes = from.memory_budget_bytes;
  to->io_mode = from.io_mode;
  to->merge_operators = from.merge_operators;
  to->key_orders = from.key_orders;
  to->key_comparators = from.key_comparators;
  to->encryption = from.encryption;
  to->log = from.log;
  to->open_progress = from.open_progress;
}

Options options_of(const FollowerOptions& from) {
  Options options;
  options.read_only = true;
  copy_followers_options(from, &options);
  return options;
}
}  // namespace

FollowerOptions FollowerOptions::of(const Options& options) {
  FollowerOptions result;
  copy_followers_options(options, &result);
  return result;
}

class Follower::Impl {
 public:
  Impl(std::unique_ptr<os::Place> place, const FollowerOptions& options)
      : place_(std::move(place)), options_(options_of(options)) {}

  Status make_view() EXCLUDES(refresh_mutex_) {
    os::MutexLock lock(refresh_mutex_);
    return make_locked();
  }
  Status refresh() EXCLUDES(refresh_mutex_);
  std::shared_ptr<Db> view() const {
    os::MutexLock lock(view_mutex_);
    return view_;
  }

 private:
  Status make_locked() REQUIRES(refresh_mutex_);
  Result<std::shared_ptr<Db>> try_once();
  uint64_t visible_of(const Db& db) const {
    return db.impl_->sequencer_->visible().load(std::memory_order_acquire);
  }

  const std::unique_ptr<os::Place> place_;
  const os::Machine& machine_ = place_->machine();
  const std::string& path_ = place_->path();
  const Options options_;
  os::Mutex refresh_mutex_;  // before the other one
  mutable os::Mutex view_mutex_;
  std::shared_ptr<Db> view_ GUARDED_BY(view_mutex_);
};

Result<std::shared_ptr<Db>> Follower::Impl::try_once() {
  if (Status s = db::refuse_incomplete(machine_, path_); !s.ok()) return s;
  const Result<bool> there = db::Manifest::exists(machine_, path_);
  if (!there.ok()) return there.status();
  if (!*there) return Status(StatusCode::kNotFound, path_ + " holds no database");
  auto claim = db::FollowerClaim::make(machine_, path_);
  if (!claim.ok()) return claim.status();
  auto made = std::make_unique<Db::Impl>(machine_, path_, options_);
  if (Status s = made->open_view(*std::move(claim)); !s.ok()) return s;
  return std::shared_ptr<Db>(new Db(std::move(made)));
}

Status Follower::Impl::make_locked() {
  const std::shared_ptr<Db> before = view();
  for (int attempt = 1;; ++attempt) {
    Result<std::shared_ptr<Db>> made = try_once();
    const bool last = attempt == kFollowAttemptsMax;
    if (!made.ok()) {
      if (last || !may_pass(made.status())) return made.status();
      HAWTHORN_TEST_POINT("follower.tries_again");
      machine_.clock->sleep_us(kFollowPauseUs << attempt);
      continue;
    }
    // Both are right, but a program must not see what it has read go away.
    if (!last && before != nullptr && visible_of(**made) < visible_of(*before)) continue;
    os::MutexLock lock(view_mutex_);
    view_ = *std::move(made);
    return {};
  }
}

Status Follower::Impl::refresh() {
  os::MutexLock lock(refresh_mutex_);
  const std::shared_ptr<Db> present = view();
  Status usable = present->impl_->usable();
  if (usable.is(StatusCode::kForked)) return usable;
  if (usable.ok()) {
    const Result<bool> went_on = present->impl_->view_->go_on();
    if (!went_on.ok()) return went_on.status();
    if (*went_on) return {};
  }
  return make_locked();
}

Follower::Follower(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Follower::~Follower() = default;

Result<std::unique_ptr<Follower>> Follower::open(const std::string& path,
                                                 const FollowerOptions& options) try {
  return open_on(os::real_machine(), path, options);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::unique_ptr<Follower>> Follower::open_on(const os::Machine& machine,
                                                    const std::string& path,
                                                    const FollowerOptions& options) try {
  auto place = os::Place::of(machine, path);
  if (!place.ok()) return place.status();
  if (Status s = (*place)->hold(); !s.ok() && !s.is_not_found()) return s;
  auto impl = std::make_unique<Impl>(*std::move(place), options);
  if (Status s = impl->make_view(); !s.ok()) return s;
  return std::unique_ptr<Follower>(new Follower(std::move(impl)));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Follower::refresh() try { return impl_->refresh(); } catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::shared_ptr<Db>> Follower::latest() try {
  if (Status s = refresh(); !s.ok()) return s;
  return view();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Follower::rebuild() try {
  Status usable = impl_->view()->impl_->usable();
  return usable.is(StatusCode::kForked) ? usable : impl_->make_view();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

std::shared_ptr<Db> Follower::view() const { return impl_->view(); }

}  // namespace hawthorn
