#pragma once
// A copy of an encrypted database on its way to a target, or to nowhere, as who has its key sees
// it: whether its keys open, and whether its manifest is that of the same database, whole and as it
// was written.
//
// Not here: parts and their checksums (who reads them compares those); log and data, which are
// sealed in themselves and verify when the database reads them.
// Used by restoring and verifying. Threads: one object, one thread.
//
// 1. The file of keys comes first, and goes on only when it was opened.

#include <memory>
#include <string>

#include "db/copy_sink.h"
#include "format/key_file.h"
#include "format/manifest_reader.h"
#include "hawthorn/encryption.h"

namespace hawthorn::db {

class SealedCopy : public CopySink {
 public:
  // `next`: null: nowhere. Lifetime: of both, this object's.
  SealedCopy(const Encryption& encryption, CopySink* next) : encryption_(encryption), next_(next) {}
  // Errors: kInvalidArgument for a wrong key, and for a copy that is not encrypted; kCorruption;
  // those of the callback and of `next`.
  Status begin(std::string_view name, uint64_t bytes, bool reserve) override;
  Status write(const CopyPart& part, std::span<const char> data) override;
  Status end() override;
  // Behind the last file. Errors: kCorruption where one is missing, or of another database.
  Status finish() const;
  // Null until the file of keys has ended.
  std::shared_ptr<os::DataKeys> keys() const { return keys_; }

 private:
  enum class File : uint8_t { kOther, kKeys, kManifest, kSuperblock };
  Status damaged(std::string_view why) const;
  Status open_keys();
  Status read_manifest(bool last);
  Status read_superblock();

  const Encryption& encryption_;
  CopySink* const next_;
  std::shared_ptr<os::DataKeys> keys_;
  File file_ = File::kOther;
  std::string name_;
  uint64_t at_ = 0;    // of a file that is looked at, which has no holes
  std::string bytes_;  // of it, not yet looked at
  uint64_t uuid_low_ = 0;
  uint64_t uuid_high_ = 0;
  std::unique_ptr<format::ManifestReader> manifest_;
  bool has_manifest_ = false;
  bool has_superblock_ = false;
};

// Whether a copy without a seal may pass for one that somebody has a key for. It may not: error.
Status copy_is_not_encrypted();

}  // namespace hawthorn::db
