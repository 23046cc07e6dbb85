#include "db/check_walk.h"

#include "os/epoch.h"

namespace hawthorn::db {

ContainerWalk::ContainerWalk(Db::Impl& database, std::vector<tree::TreeRef> trees,
                             std::string first)
    : database_(database), trees_(std::move(trees)), first_(std::move(first)) {
  if (!first_.empty()) trees_.push_back(trees_.front());
}

bool ContainerWalk::next(CheckTarget* target) {
  os::MutexLock lock(mutex_);
  for (; tree_ < trees_.size(); ++tree_, begun_ = false) {
    tree::TreeState* const tree = trees_[tree_];
    if (tree->dropped.load(std::memory_order_acquire)) continue;
    const bool again = !first_.empty() && tree_ + 1 == trees_.size();
    if (!begun_) {
      begun_ = true;
      next_low_ = tree_ == 0 ? first_ : std::string();
      progress_ = {0, tree->directory().size()};
    } else if (next_low_.empty() || (again && next_low_ >= first_)) {
      continue;  // the last one of it was handed out
    }
    // A container that is being replaced is found as it was, or as it will be.
    os::MutexLock structure(tree->structure_mutex());
    const os::epoch::Guard guard;
    const tree::Container* const container = tree->directory().find(next_low_);
    target->low = container->low;
    target->high = container->high;
    target->has_high = container->has_high;
    const tree::Descriptor& descriptor = *container->descriptor.load(std::memory_order_acquire);
    target->file = descriptor.run;
    target->file->ref();
    target->tree = tree::TreeRef(tree);
    target->deltas = {HeldDelta(descriptor.active), HeldDelta(descriptor.frozen)};
    next_low_ = container->has_high ? std::string(container->high) : std::string();
    ++progress_.done;
    return true;
  }
  return false;
}

bool ContainerWalk::writing(const CheckTarget& target) {
  const tree::RunFile& file = *target.file;
  if (file.image && file.image->writing.load(std::memory_order_acquire)) return true;
  for (const tree::ExtentRef& value : file.values) {
    if (value->writing.load(std::memory_order_acquire)) return true;
  }
  return false;
}

Status ContainerWalk::await_written(const CheckTarget& target) {
  if (!writing(target)) return {};
  if (Status s = database_.publisher_->publish(); !s.ok()) return s;
  if (!writing(target)) return {};
  return Status(StatusCode::kBusy, "it is not on disk yet");
}

ContainerWalk::Progress ContainerWalk::progress() {
  os::MutexLock lock(mutex_);
  return progress_;
}

}  // namespace hawthorn::db
