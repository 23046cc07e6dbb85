#pragma once
// The file of data keys of an encrypted database: made, read, and sealed with other keys.
//
// Not here: its format (format/key_file.h), the keys in memory (os/data_keys.h).
// Used by Db::Impl. Threads: one at a time.
//
// 1. The file is replaced by a rename: after a crash it is the old one or the new one, whole.
// 2. A data key is in the durable file before anything is sealed with it.
// 3. No message holds a key.

#include <cstdint>
#include <string>
#include <string_view>

#include "format/key_file.h"
#include "hawthorn/encryption.h"
#include "hawthorn/status.h"
#include "os/data_keys.h"
#include "os/machine.h"

namespace hawthorn::db {

class KeyStore {
 public:
  // `encryption`: whose callback gives keys. Lifetime: of all three, this object's.
  KeyStore(const os::Machine& machine, const std::string& directory, const Encryption& encryption)
      : machine_(machine), directory_(directory), encryption_(encryption) {}

  // Whether there is a file of keys, and the id of the key that opens it. Errors: those of reading.
  static Result<bool> exists(const os::Machine& machine, const std::string& directory);

  // Of a new database, with its first data key. Errors: kInvalidArgument for the id; those of the
  // callback and of the disk.
  Status create(uint64_t uuid_low, uint64_t uuid_high);
  // Gives the keys of the file to `keys`. Errors: kNotFound; kInvalidArgument for a wrong key;
  // kCorruption, also for a file of another database; those of the callback.
  Status load(uint64_t uuid_low, uint64_t uuid_high, os::DataKeys* keys);
  // The same, of whichever database the file says: see file().
  Status load(os::DataKeys* keys);
  // Writes the same data keys into another directory, for the database with this id that is being
  // made there of what they seal. Durable when it returns. Errors: those of load; of the disk.
  Status repeat(uint64_t uuid_low, uint64_t uuid_high, const std::string& directory) const;
  // Seals the same data keys with another key of the user. Durable when it returns. Errors: those
  // of load, create.
  Status rotate(std::string_view key_id);
  // The file of keys of a copy, which is a database with another id: the same data keys, sealed
  // with the same key of the user. Gives them to `keys`, too. Errors: as load.
  Result<std::string> copy_for(uint64_t uuid_low, uint64_t uuid_high, os::DataKeys* keys) const;
  // A new data key, durable and then given to `keys`, for what is sealed from now on.
  Status add_data_key(os::DataKeys* keys);

  // Of the last file read or written.
  const format::KeyFile& file() const { return file_; }
  uint32_t count() const { return count_; }

 private:
  Result<SecretKey> ask(std::string_view key_id) const;
  Result<format::KeyFile> read() const;
  Status take(format::KeyFile file, os::DataKeys* keys);
  Status write(format::KeyFile file, const SecretKey& key);

  const os::Machine& machine_;
  const std::string& directory_;
  const Encryption& encryption_;
  format::KeyFile file_;  // without its keys
  uint32_t count_ = 0;    // of them
};

}  // namespace hawthorn::db
