// Db::checkpoint: a copy of a moment, straight into a directory.

#include "base/out_of_memory.h"
#include "db/copy_directory.h"
#include "db/copy_source.h"
#include "db/impl.h"

namespace hawthorn {

Status Db::checkpoint(const std::string& directory, const CheckpointOptions& options) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  db::CopyDirectory target(impl_->machine_, directory, options.share_blocks);
  if (Status s = target.prepare(); !s.ok()) return s;
  db::CopyPace pace(impl_->machine_, options.bytes_per_second, options.progress);
  if (Status s = db::copy_database(*impl_, target, pace); !s.ok()) return s;
  return target.finish();
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
