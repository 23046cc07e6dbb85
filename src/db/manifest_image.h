#pragma once
// The files of a manifest in memory: what a new database has that holds a given state.
//
// Not here: writing them (manifest.h), reading them. Used by the manifest and by copies.
// Threads: pure functions, but for the machine's random numbers.

#include <functional>
#include <memory>
#include <string>

#include "format/manifest_record.h"
#include "format/superblock.h"
#include "os/data_keys.h"
#include "os/machine.h"

namespace hawthorn::db {

// All of a state, from begin to commit. `some` is called between records, for who takes away what
// is there so far. Errors: those of `some`.
Status encode_state(const format::ManifestState& state, format::ManifestEncoder& encoder,
                    const std::function<Status()>& some);

struct ManifestImage {
  std::string name;  // of the manifest's file
  std::string manifest;
  std::string superblock;
};

// How a manifest's file is known, and what seals its records: with a salt of its own, so that no
// two files share a nonce, under the current one of the keys. Null keys: nothing is sealed.
struct ManifestSeal {
  format::ManifestIdentity identity;
  std::shared_ptr<format::ManifestSealer> sealer;
};
// Errors: kIoError, kOutOfMemory when libcrypto fails.
Result<ManifestSeal> seal_manifest(os::Random& random, uint64_t uuid_low, uint64_t uuid_high,
                                   uint64_t number, os::DataKeys* keys);

// Of a database with this id, whose records are sealed with the current one of `keys`; null: they
// are not. Errors: as seal_manifest.
Result<ManifestImage> make_manifest_image(os::Random& random, const format::ManifestState& state,
                                          const format::Features& features, uint64_t uuid_low,
                                          uint64_t uuid_high, os::DataKeys* keys);

}  // namespace hawthorn::db
