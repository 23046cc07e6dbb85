#pragma once
// Removes or changes entries of a tree by a rule of the program's own, in the background: what is
// expired, belongs to nobody any more, or has an old form.
//
//   struct Expired : hawthorn::FlushFilter {
//     std::string_view name() const override { return "expired"; }
//     Decision filter(std::string_view, std::string_view value, std::string*) override {
//       return expiry_of(value) < now() ? Decision::kRemove : Decision::kKeep;
//     }
//   };
//   options.flush_filters["sessions"] = std::make_shared<Expired>();
//
// When a container of the tree was flushed or rewritten, and with Db::compact for all of them, its
// entries are shown to the filter in key order, as they are committed at one moment. What that
// decides is done by ordinary transactions, some hundred entries in each, behind the flush and not
// as a part of it: so counts, cursors, snapshots and other transactions see a removal as they see
// any, all of them the same, and older snapshots still have the entry.
//
// 1. An entry is removed or changed only if it has not changed since the filter saw it. If it has,
//    or another transaction has locked it, it stays, and is shown again after its next flush.
// 2. Not shown: what is not committed, what is only in memory (before its first flush, but by
//    compact), subtrees, and values of more than 64 MB. Of a tree with a merge operator values are
//    shown as a read gives them. Of several values of a key (key_order.h) each is shown, and may be
//    removed, but not changed. Where one cannot be read (damage; operands that were refused), the
//    rest of its container is left out, and Options::log is told.
// 3. What a filter has removed is durable as a commit of level kNone is: a power loss may bring
//    the last of it back, for the filter to see it again.
//
// Threads: one entry at a time, on a thread of the database, or on that which calls compact or
// drain; no lock that reads or writes need is held, and the filter may call the database, but for
// close, compact and drain (kInvalidArgument). It must not wait for a thread that is in one of
// those. An exception ends the work on that container, and is told to Options::log. close waits for
// a call that is under way; what is due then is forgotten until the next flush of its container, or
// compact.

#include <cstdint>
#include <string>
#include <string_view>

#include "hawthorn/export.h"

namespace hawthorn {

class HAWTHORN_EXPORT FlushFilter {
 public:
  enum class Decision : uint8_t { kKeep = 0, kRemove = 1, kChange = 2 };

  virtual ~FlushFilter() = default;
  // For messages.
  virtual std::string_view name() const = 0;
  // kChange: *changed, empty before, is the new value. The views are valid during the call.
  virtual Decision filter(std::string_view key, std::string_view value, std::string* changed) = 0;
  // False: `value` stays empty, and only indexes are read. With values, those of a container are
  // all read whenever it was flushed.
  virtual bool needs_values() const { return true; }
};

}  // namespace hawthorn
