#pragma once
// Encryption at rest: keys, and where a database gets them.
//
//   hawthorn::Options options;
//   options.encryption.key_id = "2026";
//   options.encryption.key = [](std::string_view id) { return my_vault.key_of(id); };
//
// A database that is created with a key is encrypted in all that its directory and devices hold of
// the program: keys, values, names of trees, snapshots and feeds, ids of prepared transactions, in
// data files, manifest, log, the log's ring, and temporary files (docs/security.md says what stays
// readable, and what encryption does not protect from). One that was created without is not, and
// neither becomes the other: copy it by dump and load.
//
// Not here: what it takes (AES-256-GCM by libcrypto), the file of data keys (docs/format.md).
// Threads: a SecretKey is a value; the callback may be called from any thread that calls a function
// of the database.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "hawthorn/status.h"

namespace hawthorn {

// 32 bytes that nobody else may know. They are overwritten when the object goes.
class HAWTHORN_EXPORT SecretKey {
 public:
  static constexpr size_t kBytes = 32;

  // Errors: kInvalidArgument for another number of bytes; no message holds any of them.
  static Result<SecretKey> from_bytes(std::string_view bytes);
  // 64 hexadecimal digits, with white space before and behind. Errors: the same.
  static Result<SecretKey> from_hex(std::string_view digits);

  // A new one. Errors: kIoError when the system has no random bytes.
  static Result<SecretKey> generate();

  SecretKey(const SecretKey& other) = default;
  SecretKey& operator=(const SecretKey& other) = default;
  ~SecretKey();

  // Lifetime: this object's.
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

 private:
  SecretKey() = default;
  std::array<unsigned char, kBytes> bytes_{};
};

struct Encryption {
  // Gives the key with this id, as often as it is asked: at open, by Db::rotate_key for both keys,
  // and by checkpoints and backups, which have a file of data keys of their own. What it returns as
  // an error is the error of that call, with the id in front. It must not throw, nor call the
  // database. Null: the database is not encrypted.
  std::function<Result<SecretKey>(std::string_view key_id)> key;

  // The key of a database that is created: 1 to 255 bytes, which stand in its directory as they
  // are. One that exists names its own, and this is not looked at.
  std::string key_id;
};

// What Db::encryption tells.
struct EncryptionInfo {
  bool encrypted = false;
  std::string key_id;       // of the key that opens the data keys
  uint64_t generation = 0;  // of the file `keys`: how often it was written
  uint32_t data_keys = 0;   // how many there are
  uint32_t data_key = 0;    // the number of the one for what is new
};

}  // namespace hawthorn
