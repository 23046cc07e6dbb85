#pragma once
// The data keys of a database in memory, by their numbers, and contexts that seal and open with
// them.
//
// Not here: the file that holds them (db/key_file.h), what is sealed with which nonce (wal/log.h,
// format/manifest_record.h, tree/sealed_blocks.h).
// Threads: every function from any thread; a Lease from one at a time.
//
// 1. A number means one key for the life of a database.
// 2. What is sealed under a Seal has a nonce that is its base and a number. Two Seals never meet,
//    whatever a crash has made happen twice: their salt is drawn at random by each process, again
//    after some, and their bases count from one that is random, too. None is zero, which in the
//    manifest says that there is no seal.

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/aead.h"
#include "os/sync.h"

namespace hawthorn::os {

// Under what a sequence of blocks is sealed. As it is on disk.
//
// OFFSET SIZE FIELD
//      0    4 key   number of the data key
//      4   12 salt  from which its key is derived
//     16    8 base  the nonce of block i: base, then i as u32
struct Seal {
  uint32_t key;
  Salt salt;
  std::array<unsigned char, 8> base;
};
static_assert(sizeof(Seal) == 24);

class DataKeys {
 public:
  // An Aead of a key and a salt, given back when it goes.
  class Lease {
   public:
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Aead* operator->() const { return aead_.get(); }
    Aead& operator*() const { return *aead_; }

   private:
    friend class DataKeys;
    Lease(DataKeys* keys, uint32_t key, const Salt& salt, std::unique_ptr<Aead> aead)
        : keys_(keys), key_(key), salt_(salt), aead_(std::move(aead)) {}
    DataKeys* keys_;
    uint32_t key_;
    Salt salt_;
    std::unique_ptr<Aead> aead_;
  };

  // Adds a key; `current`: what is new is sealed with it from now on.
  void add(uint32_t number, const SecretKey& key, bool current);
  // All but these are overwritten: nothing that is sealed with them is left.
  void keep_only(const std::vector<uint32_t>& numbers);
  uint32_t current() const;
  bool has(uint32_t number) const;

  // Of the current key. Errors: kIoError when the system has no random bytes.
  Result<Seal> new_seal();
  static Result<Salt> new_salt();
  // Errors: kCorruption for a key that does not exist; kOutOfMemory when libcrypto fails.
  Result<Lease> lease(uint32_t key, const Salt& salt);
  Result<Lease> lease(const Seal& seal) { return lease(seal.key, seal.salt); }
  // One that its owner keeps.
  Result<std::unique_ptr<Aead>> make(uint32_t key, const Salt& salt);

  // Asked when a key is not known: another process may have added it. Set before the first lease.
  std::function<Status()> reload;

 private:
  struct Idle {
    uint32_t key;
    Salt salt;
    std::unique_ptr<Aead> aead;
  };
  Status derive(uint32_t key, const Salt& salt, Aead* aead);
  bool derive_known(uint32_t key, const Salt& salt, Aead* aead, Status* status);

  mutable Mutex mutex_;
  std::map<uint32_t, std::unique_ptr<DerivingKey>> keys_ GUARDED_BY(mutex_);
  uint32_t current_ GUARDED_BY(mutex_) = 0;
  std::vector<Idle> idle_ GUARDED_BY(mutex_);
  Seal next_seal_ GUARDED_BY(mutex_) = {};
  uint32_t seals_left_ GUARDED_BY(mutex_) = 0;  // until a salt is drawn
};

}  // namespace hawthorn::os
