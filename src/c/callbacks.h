#pragma once
// The program's callbacks as what the engine calls: each is an object over a function and a
// context, which is given back when the last who may call it has gone.
//
// Not here: that options take them (c/options.cc). Threads: as the C++ classes say.

#include <memory>
#include <string>
#include <utility>

#include "c/call.h"
#include "hawthorn/hawthorn.h"

namespace hawthorn::c {

// What the program has given with a callback. It is not given back where the call fails that would
// have taken it: what may throw stands before the construction, or before own().
class Context {
 public:
  Context(void* context, hawthorn_destroy destroy) : context_(context), destroy_(destroy) {}
  void own(hawthorn_destroy destroy) { destroy_ = destroy; }
  ~Context() {
    if (destroy_ != nullptr) destroy_(context_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  void* get() const { return context_; }

 private:
  void* context_;
  hawthorn_destroy destroy_;
};

std::shared_ptr<const MergeOperator> make_merge_operator(const hawthorn_merge_operator& functions);
std::shared_ptr<const KeyOrder> make_key_order(const hawthorn_key_order& functions);
std::shared_ptr<const KeyComparator> make_comparator(const char* name, hawthorn_compare compare,
                                                     void* context, hawthorn_destroy destroy);
std::shared_ptr<FlushFilter> make_flush_filter(const hawthorn_flush_filter& functions);
std::shared_ptr<CommitHook> make_commit_hook(hawthorn_before_commit before,
                                             hawthorn_after_commit after, void* context,
                                             hawthorn_destroy destroy);
std::shared_ptr<EventListener> make_listener(hawthorn_event_callback callback, void* context,
                                             hawthorn_destroy destroy);

// "uint64_add", "max", "append", or "append:" and a separator; null for other names.
std::shared_ptr<const MergeOperator> builtin_merge_operator(std::string_view name);

}  // namespace hawthorn::c
