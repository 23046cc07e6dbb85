#pragma once
// The handle of a change feed, which replicas look into. Threads: one at a time.

#include <memory>
#include <string>

#include "c/handles.h"
#include "hawthorn/c/feed.h"

struct hawthorn_feed {
  std::shared_ptr<hawthorn::Db> db;
  hawthorn::Feed feed;
  hawthorn::FeedCommit* commit = nullptr;  // the feed's
  hawthorn::FeedChange change = {};        // of the commit, the one that was handed out last
  std::string piece = {};
};

namespace hawthorn::c {

// The commit on which the feed stands; null, and *status, where there is none.
FeedCommit* commit_of(hawthorn_feed* feed, Status* status);

}  // namespace hawthorn::c
