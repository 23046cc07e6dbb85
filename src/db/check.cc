#include "db/check.h"

#include <atomic>
#include <memory>
#include <new>
#include <vector>

#include "db/check_container.h"
#include "db/check_extents.h"
#include "db/check_files.h"
#include "db/check_subtrees.h"
#include "db/check_walk.h"

namespace hawthorn::db {

namespace {
constexpr uint32_t kThreadsMax = 64;

// Of what was found in a container listeners are told the first.
void tell_damage(Db::Impl& database, const CheckTarget& target, const Status& damage) {
  if (damage.ok() || database.machine_.events == nullptr) return;
  DamageFound event;
  event.tree = target.file->record.tree;
  event.low_key = target.low;
  if (target.has_high) event.high_key = target.high;
  event.status = damage;
  database.machine_.events->post(std::move(event));
}

class Checker {
 public:
  Checker(Db::Impl& database, const CheckOptions& options)
      : database_(database),
        options_(options),
        sink_(database, options.errors_max),
        pace_(database, options.bytes_per_second, {}),
        walk_(database, database.catalog_->all()) {}

  CheckReport run() {
    for (const tree::TreeState* tree : database_.catalog_->all()) {
      sink_.trees.fetch_add(tree->id() == format::kCatalogTree ? 0 : 1);
    }
    if (options_.verify_files) check_files(database_, sink_, pace_);
    check_extents(database_, sink_);
    // A simulated machine has no threads but the caller's.
    const uint32_t others = database_.machine_.background_threads ? options_.threads - 1 : 0;
    std::vector<os::Thread> threads;
    threads.reserve(others);
    for (uint32_t i = 0; i < others; ++i) {
      os::Thread thread;
      // This thread and those before it do all.
      const auto body = [this] {
        try {
          check_containers();
        } catch (const std::bad_alloc&) {
          short_.store(true);
        }
      };
      if (!thread.start("hw-check", body).ok()) break;
      threads.push_back(std::move(thread));
    }
    check_containers();
    for (os::Thread& thread : threads) thread.join();
    if (short_.load()) throw std::bad_alloc();  // as if it had been this thread
    sink_.subtrees.store(check_subtrees(database_, [this](const std::string& message) {
      CheckItem item;
      item.kind = CheckItem::Kind::kReference;
      item.what = message;
      sink_.add(std::move(item));
    }));
    return sink_.take();
  }

 private:
  void check_containers() EXCLUDES(progress_mutex_) {
    ContainerCheck check(database_, sink_, pace_, options_.verify_values);
    CheckTarget target;
    while (walk_.next(&target)) {
      const PutBack holds(&target);
      if (const Status s = walk_.await_written(target); !s.ok()) {
        not_written(target, s);
      } else {
        static_cast<void>(check.run(target));  // nothing ends it
        tell_damage(database_, target, check.damage());
      }
      if (!options_.progress) continue;
      os::MutexLock lock(progress_mutex_);
      const ContainerWalk::Progress progress = walk_.progress();
      options_.progress(progress.done, progress.all);
    }
  }

  // Of a database whose writes have failed: what is on disk is not what it has in memory.
  void not_written(const CheckTarget& target, const Status& status) {
    CheckItem item;
    item.container = target.file->record.id;
    item.tree = target.file->record.tree;
    item.low_key = target.low;
    if (target.has_high) item.high_key = target.high;
    item.what = "a container that is not on disk yet";
    sink_.failed(std::move(item), status);
  }

  Db::Impl& database_;
  const CheckOptions& options_;
  CheckSink sink_;
  CheckPace pace_;
  ContainerWalk walk_;
  os::Mutex progress_mutex_;
  std::atomic<bool> short_{false};  // of memory, in one of the other threads
};
}  // namespace

Result<CheckReport> check(Db::Impl& database, const CheckOptions& options) {
  if (options.threads < 1 || options.threads > kThreadsMax) {
    return Status(StatusCode::kInvalidArgument, "CheckOptions::threads is not between 1 and 64");
  }
  CheckReport report = Checker(database, options).run();
  // What a view was made of may have been given away meanwhile: then that is no damage.
  if (!report.ok()) {
    if (Status s = database.told(Status(StatusCode::kCorruption, "")); s.is(StatusCode::kTooOld)) {
      return s;
    }
  }
  return report;
}

}  // namespace hawthorn::db
