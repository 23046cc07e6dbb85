#pragma once
// The files of a manifest in memory: what a new database has that holds a given state.
//
// Not here: writing them (manifest.h), reading them. Used by the manifest and by copies.
// Threads: pure functions, but for the machine's random numbers.

#include <functional>
#include <string>

#include "format/manifest_record.h"
#include "format/superblock.h"
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

// With an id of its own: two databases must not be taken for one.
ManifestImage make_manifest_image(os::Random& random, const format::ManifestState& state,
                                  const format::Features& features);

}  // namespace hawthorn::db
