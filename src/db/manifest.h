#pragma once
// The manifest's files: superblock slots, manifest.N, appending batches, rewriting.
//
// Not here: what a batch must wait for before it may be appended (db/publisher.h, R13); encoding
// (format/).
// Threads: one caller at a time (the publisher's thread), but for open, before threads exist.
//
// 1. A batch is durable when append returns OK: its records, a commit record with count and
//    checksum, one fdatasync.
// 2. Every open and every rewrite starts manifest N+1: file, directory and superblock are synced in
//    that order before manifest N is deleted. The superblock slots lie in different 4 KB blocks;
//    the one with the highest valid generation wins. Both slots name N+1, one after the other,
//    before N is deleted.
// 3. A torn last batch is dropped at load; damage before it is kCorruption.
// 4. After a failed append or sync the manifest is failed for good. kNoSpace is no failure when it
//    comes before the first byte of the batch: then nothing has changed and the append may be tried
//    again.
// 5. manifest.spare is as large as manifest N: on a full disk N+1 is written into it, and N becomes
//    the next spare. So only a state that outgrows both meets kNoSpace (R28). A clean close leaves
//    both with little more room than the state takes.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "format/manifest_state.h"
#include "format/superblock.h"
#include "hawthorn/status.h"
#include "os/machine.h"

namespace hawthorn::db {

struct LoadedManifest {
  format::ManifestState state;
  uint64_t uuid_low = 0;  // both 0 for a new database: start makes one up
  uint64_t uuid_high = 0;
  uint64_t generation = 0;
  uint64_t number = 0;
  format::Features features;
  uint64_t batches = 0;  // that were read, and how far the last one reaches in its file
  uint64_t bytes = 0;
  bool must_not_write = false;  // features that this version can read but not write; start refuses
};

class Manifest {
 public:
  // Whether the directory holds a database (a superblock file).
  static Result<bool> exists(const os::Machine& machine, const std::string& directory);
  // Errors: kNotFound; kNotSupported for a newer format version or unknown feature bits;
  // kCorruption naming file and offset (one bad superblock slot is tolerated and reported by the
  // log callback's message in `warning`).
  static Result<LoadedManifest> load(const os::Machine& machine, const std::string& directory,
                                     std::string* warning);
  // Makes a new database's first superblock and manifest (state as given). Writes manifest number +
  // 1 with `state` and points the superblock at it; removes the older ones. A crash in between
  // leaves the previous state, or no database. Errors: kInvalidArgument when a new database is to
  // be made where one is; kNotSupported.
  static Result<std::unique_ptr<Manifest>> start(const os::Machine& machine,
                                                 const std::string& directory,
                                                 LoadedManifest previous, bool new_database);
  ~Manifest();

  // Makes the batch durable and applies it to state(). Rewrites the manifest when it exceeds twice
  // its snapshot (1 MB at least). Errors: kCorruption when the batch does not fit the state
  // (nothing changed); kNoSpace (nothing changed); everything else is final.
  Status append(const format::ManifestBatch& batch);
  // Told when the next manifest's file could not be made ready in advance, for another reason than
  // a full disk, and that reason. Nothing is lost by that, and it is tried again. Set before the
  // first append; called by appending threads.
  void on_warning(std::function<void(std::string_view)> warn);
  // By how much the state may grow before the disk is full: while it is not, room for that is kept.
  void expect_growth(uint64_t bytes);
  // Whether a batch that makes the state much larger may meet kNoSpace; any thread may ask.
  bool short_of_room() const;
  // Tries to change that. Errors: kNoSpace; as append.
  Status keep_room();
  // Whether it has failed for good.
  Status status() const;
  // Behind the last append, at a clean close: gives the disk what both files have kept for growth.
  // Errors: those of the file system; nothing is lost by them.
  Status trim();
  const format::ManifestState& state() const;
  uint64_t bytes() const;
  uint64_t number() const;
  uint64_t uuid_low() const;
  uint64_t uuid_high() const;
  const format::Features& features() const;

  struct Files;

 private:
  explicit Manifest(std::unique_ptr<Files> files);
  std::unique_ptr<Files> files_;
};

// The names of its files in a directory, for destroy and check. Destroy removes the others first,
// syncs the directory, and then removes `superblock`: where manifests are left without a superblock
// no new database is made.
bool is_manifest_file(std::string_view name);

// Whether the batch may be applied to the state: kCorruption when it refers to what does not exist,
// creates what exists, or holds a record that could not be read back. Trees, tree 0 included, exist
// from their creation on; ids of dropped trees are never given again.
Status check(const format::ManifestBatch& batch, const format::ManifestState& state);

// Applies a batch to a state, in the order: trees created and set, dictionaries, containers
// deleted, containers set,
// trees dropped (their remaining containers go with them), epochs deleted, epochs set. The log's
// trim and reservation never go back. Counts last_batch up. Errors: as check; then the state is
// unchanged.
Status apply(format::ManifestBatch batch, format::ManifestState& state);

}  // namespace hawthorn::db
