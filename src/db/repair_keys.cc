// Repair of encrypted databases: the keys of the source, and those of the target, which are the
// same data keys under the same key of the user. So what is copied stays as it is, and nothing is
// ever written that is not sealed.

#include <string>

#include "db/key_store.h"
#include "db/manifest_files.h"
#include "db/repair_impl.h"
#include "format/key_file.h"

namespace hawthorn::db {

// Before the manifest is read. Without a superblock the file of keys tells that there are some.
Status Repair::open_keys() {
  const std::string& directory = source_.directory();
  const std::string name(format::kKeyFileName);
  const Encryption& encryption = options_.database.encryption;
  const Result<format::Superblock> superblock =
      read_superblock(*machine_.files, directory, nullptr);
  const bool there = source_.size_of(name) != 0;
  const bool encrypted = superblock.ok()
                             ? (superblock->features.incompatible & format::kFeatureEncryption) != 0
                             : there;
  if (!encrypted) {
    if (encryption.key == nullptr || !superblock.ok()) return {};
    return {StatusCode::kInvalidArgument,
            directory + ": the database is not encrypted, yet Options::encryption has keys"};
  }
  if (!there) return keys_are_missing(directory);
  if (encryption.key == nullptr) {
    return {StatusCode::kInvalidArgument,
            directory + ": the database is encrypted, and Options::encryption has no keys"};
  }
  key_store_ = std::make_unique<KeyStore>(machine_, directory, encryption);
  if (Status s = key_store_->load(&keys_); !s.ok()) return s;
  const format::KeyFile& file = key_store_->file();
  if (superblock.ok() &&
      (file.uuid_low != superblock->uuid_low || file.uuid_high != superblock->uuid_high)) {
    return {StatusCode::kCorruption, directory + ": the file of keys belongs to another database"};
  }
  source_.set_keys(&keys_);
  std::string slots(format::kKeyFileBytes, '\0');
  const size_t half = format::kKeySlotBytes;
  if (!source_.read(name, 0, {slots.data(), slots.size()}) ||
      slots.compare(0, half, slots, half, half) != 0) {
    lose(RepairLoss::Kind::kOther, "one of the two slots of the keys is damaged; they are the same")
        .file = name;
  }
  return {};
}

// In the target, before anything that is sealed.
Status Repair::repeat_keys() {
  if (key_store_ == nullptr) return {};
  uuid_low_ = machine_.random->next();
  uuid_high_ = machine_.random->next();
  return key_store_->repeat(uuid_low_, uuid_high_, target_);
}

}  // namespace hawthorn::db
