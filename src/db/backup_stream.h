#pragma once
// A backup into a caller's sink, and from a caller's source, checked.
//
// Not here: the bytes (format/backup_stream_layout.h); what is copied (copy_source.h).
// Threads: one object, one thread.

#include <memory>
#include <optional>

#include "db/copy_sink.h"
#include "format/backup_seal.h"
#include "format/backup_stream_layout.h"
#include "hawthorn/backup.h"

namespace hawthorn::db {

class StreamWriter : public CopySink {
 public:
  StreamWriter(const os::Machine& machine, BackupSink& sink);
  Status start();
  Status seal_with(std::shared_ptr<os::DataKeys> keys) override;
  Status begin(std::string_view name, uint64_t bytes, bool reserve) override;
  Status write(const CopyPart& part, std::span<const char> data) override;
  Status end() override { return {}; }
  Result<BackupInfo> finish();

 private:
  Status send(std::string_view bytes);
  Status send_record(format::StreamRecordType type, uint64_t number, std::string_view payload);

  BackupSink& sink_;
  std::optional<format::BackupChain> chain_;  // of an encrypted database
  const uint64_t salt_;
  uint64_t sequence_ = 0;
  uint64_t sent_ = 0;
  BackupInfo info_;
};

// Reads a whole stream; into the sink if there is one, which gets only what was checked. Errors:
// those of verify_backup, and of the sink.
Result<BackupInfo> read_stream(BackupSource& source, CopySink* sink, CopyPace& pace,
                               const Encryption& encryption);

}  // namespace hawthorn::db
