#include "db/manifest.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "db/manifest_files.h"
#include "db/manifest_image.h"
#include "format/manifest_record.h"
#include "format/tree_shape.h"
#include "hawthorn/version.h"
#include "os/data_keys.h"
#include "os/event_sink.h"
#include "os/posix_error.h"

namespace hawthorn::db {
namespace {

constexpr uint64_t kRewriteBytesMin = uint64_t{1} << 20;
constexpr uint64_t kExtendBytesMin = uint64_t{64} << 10;
constexpr uint64_t kExtendBytesMax = uint64_t{16} << 20;
// By so much a batch may make the state larger.
constexpr uint64_t kMarginBytesMin = uint64_t{16} << 10;
constexpr size_t kZeroBytes = size_t{1} << 20;
constexpr size_t kSnapshotPieceBytes = size_t{64} << 10;  // in memory at a time
constexpr uint64_t kSpareAgainUs = 1'000'000;
// File systems that compress make holes of zeros.
constexpr uint64_t kSpareHoleBytesMax = uint64_t{64} << 20;

}  // namespace

// One manifest file under construction or in use.
struct ManifestFile {
  std::unique_ptr<os::File> file;
  std::optional<format::ManifestEncoder> encoder;
  uint64_t end = 0;             // behind the last batch
  uint64_t allocated = 0;       // size of the file
  uint64_t snapshot_bytes = 0;  // header included
  bool torn = false;            // behind the end may be a part of a batch: another file must follow

  uint64_t goal(uint64_t bytes) const;  // the size that has room for so much more
  Status make_room(uint64_t bytes);
  Status write_zeros(uint64_t from, uint64_t to);
  Status write_pending();
  Status write_snapshot(const format::ManifestIdentity& identity,
                        const format::ManifestState& state,
                        std::shared_ptr<format::ManifestSealer> sealer);
};

struct Manifest::Files {
  os::Machine machine;
  std::string directory;
  format::ManifestState state;
  format::Superblock superblock;
  ManifestFile current;
  uint64_t rewrite_at = 0;
  uint64_t spare_bytes = 0;     // 0: there is none
  uint64_t spare_again_us = 0;  // when to try again what failed for another reason than space
  bool spare_told = false;
  std::function<void(std::string_view)> warn;
  std::atomic<bool> short_of_room{false};
  uint64_t growth = 0;  // expected
  Status failed;

  std::string path_of(uint64_t number) const { return join(directory, manifest_name(number)); }
  Status write_file(uint64_t number, ManifestFile& file);
  Status begin_next(bool new_database);
  void remove_others(uint64_t spare);
  void find_spare();
  Status keep_spare(uint64_t bytes);
  Status make_spare(uint64_t bytes);
  Status make_room(uint64_t bytes);
  Status next();
  Status start_over(const format::ManifestBatch& batch);
  Status rewrite_when_due();
  Status trim();
};

// Extends the file in steps and fills the steps with zeros, so that an append changes neither the
// file's size nor its map of blocks, and its fdatasync need not commit the file system's journal.
Status ManifestFile::make_room(uint64_t bytes) {
  const uint64_t size = goal(bytes);
  if (size <= allocated) return {};
  if (Status status = file->allocate(allocated, size - allocated); !status.ok()) return status;
  // What is about to be written needs no zeros before.
  if (Status status = write_zeros(std::max(allocated, end + bytes), size); !status.ok()) {
    return status;
  }
  allocated = size;
  return {};
}

uint64_t ManifestFile::goal(uint64_t bytes) const {
  const uint64_t needed = end + bytes;
  if (needed <= allocated) return allocated;
  const uint64_t step = std::clamp(end / 4, kExtendBytesMin, kExtendBytesMax);
  return align_up(std::max(needed, allocated + step), kExtendBytesMin);
}

Status ManifestFile::write_zeros(uint64_t from, uint64_t to) {
  static char zeros[kZeroBytes];  // never written, so that it takes no memory
  while (from < to) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(to - from, sizeof(zeros)));
    if (Status status = file->write_at(from, {zeros, size}); !status.ok()) return status;
    from += size;
  }
  return {};
}

Status ManifestFile::write_pending() {
  if (!encoder->good()) {
    return Status(StatusCode::kIoError, "the manifest cannot be written: libcrypto failed");
  }
  const std::string bytes = encoder->take();
  if (Status status = make_room(bytes.size()); !status.ok()) return status;
  if (Status status = write_whole(*file, end, bytes); !status.ok()) return status;
  end += bytes.size();
  return {};
}

Status ManifestFile::write_snapshot(const format::ManifestIdentity& identity,
                                    const format::ManifestState& state,
                                    std::shared_ptr<format::ManifestSealer> sealer) {
  const std::string header = format::encode_manifest_header(identity);
  if (Status status = make_room(header.size()); !status.ok()) return status;
  if (Status status = file->write_at(0, header); !status.ok()) return status;
  end = header.size();
  encoder.emplace(identity.salt, std::move(sealer));
  const auto write_some = [this] {
    return encoder->pending_bytes() < kSnapshotPieceBytes ? Status() : write_pending();
  };
  if (Status status = encode_state(state, *encoder, write_some); !status.ok()) return status;
  if (Status status = write_pending(); !status.ok()) return status;
  snapshot_bytes = end;
  return {};
}

// Writes and syncs the file and its name, over the spare where there is one. The superblock does
// not name it yet: a crash leaves it behind as litter, which the next start removes.
Status Manifest::Files::write_file(uint64_t number, ManifestFile& file) {
  os::FileSystem& files = *machine.files;
  const std::string path = path_of(number);
  if (Status status = files.remove(path); !status.ok() && !status.is_not_found()) return status;
  const std::string spare = join(directory, kManifestSpareName);
  const uint64_t allocated = std::exchange(spare_bytes, 0);
  // A spare that somebody has removed is none.
  const bool create = allocated == 0 || !files.rename(spare, path).ok();
  if (!create) file.allocated = allocated;
  auto opened = files.open_file(path, {.create = create, .exclusive = create, .in_place = true});
  if (!opened.ok()) {
    // It is none the worse for that: there may be no descriptor.
    if (!create && files.rename(path, spare).ok()) spare_bytes = allocated;
    return opened.status();
  }
  file.file = std::move(*opened);
  Result<ManifestSeal> seal = seal_manifest(*machine.random, superblock.uuid_low,
                                            superblock.uuid_high, number, machine.keys);
  if (!seal.ok()) return seal.status();
  Status status = file.write_snapshot(seal->identity, state, std::move(seal->sealer));
  if (status.ok() && !create) status = file.write_zeros(file.end, file.allocated);
  if (status.is(StatusCode::kNoSpace) && !create && files.rename(path, spare).ok()) find_spare();
  if (status.ok()) status = file.file->sync_data();
  if (status.ok()) status = files.sync_directory(directory);
  return status;
}

// Writes manifest N+1 and points the superblock at it. When only the new file could not be written,
// or the superblock has no space for its number, it is removed and the old one goes on; else, once
// the superblock has been touched, there is no way back (`failed`).
Status Manifest::Files::begin_next(bool new_database) {
  const uint64_t number = superblock.manifest_number + 1;
  std::unique_ptr<os::File> named_in;
  if (!new_database) {
    // While there is a way back: there may be no descriptor.
    auto opened = open_superblock(*machine.files, directory);
    if (!opened.ok()) return opened.status();
    named_in = std::move(*opened);
  }
  ManifestFile next;
  if (Status status = write_file(number, next); !status.ok()) {
    next.file.reset();
    // Litter if this fails as well.
    static_cast<void>(machine.files->remove(path_of(number)).ok());
    return status;
  }
  const format::Superblock before = superblock;
  superblock.manifest_number = number;
  superblock.format_version = kFormatVersion;
  failed = new_database ? create_superblock(*machine.files, directory, superblock)
                        : update_superblock(*named_in, superblock);
  if (failed.is(StatusCode::kNoSpace) && !new_database) {
    superblock = before;
    next.file.reset();
    if (machine.files->rename(path_of(number), join(directory, kManifestSpareName)).ok()) {
      find_spare();
    } else {
      static_cast<void>(machine.files->remove(path_of(number)).ok());
    }
    return std::exchange(failed, Status());
  }
  if (!failed.ok()) return failed;
  const uint64_t replaced = current.file != nullptr ? number - 1 : 0;
  current = std::move(next);
  rewrite_at = std::max(2 * current.snapshot_bytes, kRewriteBytesMin);
  // What somebody else wrote, or copied here, may lie where it cannot be written over on a full
  // disk: a new one is better, if there is space for it.
  const bool takes = replaced != 0 || keep_spare(current.allocated).is(StatusCode::kNoSpace);
  remove_others(takes ? number - 1 : 0);
  // Where there is no space for it, less will do as long as the state fits.
  if (keep_spare(current.allocated).is(StatusCode::kNoSpace)) {
    static_cast<void>(keep_spare(align_up(current.end + kMarginBytesMin, kExtendBytesMin)).ok());
  }
  if (replaced != 0 && machine.events != nullptr) {
    machine.events->post(ManifestRewritten{number, current.end});
  }
  return {};
}

// Of the files that are not the current one, one may become the spare. What cannot be removed now
// is removed by the next start.
void Manifest::Files::remove_others(uint64_t spare) {
  Result<std::vector<uint64_t>> numbers = list_manifests(*machine.files, directory);
  if (!numbers.ok()) return;
  const std::string spare_path = join(directory, kManifestSpareName);
  for (const uint64_t number : *numbers) {
    if (number == superblock.manifest_number) continue;
    if (number == spare && machine.files->rename(path_of(number), spare_path).ok()) {
      find_spare();
      continue;
    }
    static_cast<void>(machine.files->remove(path_of(number)).ok());
  }
}

void Manifest::Files::find_spare() {
  // As it will be used: what may not be written is none.
  auto file = machine.files->open_file(join(directory, kManifestSpareName), {});
  if (!file.ok()) return;
  const Result<uint64_t> size = (*file)->size();
  const Result<uint64_t> allocated = (*file)->allocated_bytes();
  if (!size.ok() || !allocated.ok()) return;
  if (*size > *allocated + kSpareHoleBytesMax) {
    // Of no use: what it claims to have would have to be written in full.
    static_cast<void>(machine.files->remove(join(directory, kManifestSpareName)).ok());
    return;
  }
  spare_bytes = *size / kExtendBytesMin * kExtendBytesMin;
}

// Only a precaution: where it fails for another reason than space, that is told once and tried
// again after a while. Errors: kNoSpace.
Status Manifest::Files::keep_spare(uint64_t bytes) {
  if (spare_bytes >= bytes) return {};
  const uint64_t now_us = machine.clock->monotonic_us();
  if (now_us < spare_again_us) return {};
  Status status = make_spare(bytes);
  if (status.ok() || status.is(StatusCode::kNoSpace)) {
    spare_told = false;
    return status;
  }
  if (!spare_told && warn) {
    warn(
        "no file for the next manifest can be made ready, so that on a full disk deletes may be "
        "refused, too: " +
        status.to_string());
    spare_told = true;
  }
  spare_again_us = now_us + kSpareAgainUs;
  return {};
}

// Its space must survive a power loss, its name comes with the next sync of the directory.
Status Manifest::Files::make_spare(uint64_t bytes) {
  const std::string path = join(directory, kManifestSpareName);
  auto file = machine.files->open_file(path, {.create = true, .in_place = true});
  if (!file.ok()) return file.status();
  if (Status status = (*file)->allocate(0, bytes); !status.ok()) return status;
  if (Status status = (*file)->sync_data(); !status.ok()) {
    spare_bytes = 0;
    static_cast<void>(machine.files->remove(path).ok());
    return status;
  }
  spare_bytes = bytes;
  return {};
}

// Room for `bytes` and a margin behind them, and a spare that takes the snapshot of what then
// stands in the file: it is no longer than that. kNoSpace: not even the least margin is there.
Status Manifest::Files::make_room(uint64_t bytes) {
  const uint64_t least = std::max(kMarginBytesMin, current.end / 4);
  Status status;
  for (const uint64_t margin : {std::max(least, growth), least}) {
    status = keep_spare(align_up(current.end + bytes + margin, kExtendBytesMin));
    if (status.ok()) status = os::as_no_space(current.make_room(bytes + margin));
    if (!status.is(StatusCode::kNoSpace)) break;
  }
  short_of_room.store(status.is(StatusCode::kNoSpace), std::memory_order_relaxed);
  return status;
}

Status Manifest::Files::trim() {
  const uint64_t size = align_up(current.end + kMarginBytesMin, kExtendBytesMin);
  const auto cut = [size](os::File& file) {
    Status status = file.truncate(size);
    return status.ok() ? file.sync_data() : status;
  };
  if (current.allocated > size) {
    if (Status status = cut(*current.file); !status.ok()) return status;
    current.allocated = size;
  }
  if (spare_bytes <= size) return {};
  auto spare = machine.files->open_file(join(directory, kManifestSpareName), {});
  if (spare.status().is(StatusCode::kNoSpace)) return {};  // no descriptor: it stays as it is
  if (!spare.ok()) return spare.status();
  if (Status status = cut(**spare); !status.ok()) return status;
  spare_bytes = size;
  return {};
}

// begin_next while the database is open: what cannot be made now may be made later.
Status Manifest::Files::next() {
  Status status = begin_next(false);
  return failed.ok() ? os::as_no_space(std::move(status)) : status;
}

Status Manifest::Files::rewrite_when_due() {
  if (current.end <= rewrite_at) return {};
  Status status = next();
  if (status.ok() || !failed.ok()) return status;
  if (status.is(StatusCode::kNoSpace)) {
    // The present file serves on, if its next extension finds space; try again when it has grown.
    rewrite_at = current.end + kRewriteBytesMin;
    return {};
  }
  return failed = std::move(status);
}

namespace {
// The features without which a version cannot read a database with such a tree.
uint64_t features_of(const format::TreeRecord& tree) {
  uint64_t features = 0;
  if (tree.flags != 0) features |= format::kFeatureCompression;
  if (!tree.merge_operator.empty()) features |= format::kFeatureMergeOperators;
  if (tree.layer_of != 0) features |= format::kFeatureLayers;
  if (tree.clone_of != 0) features |= format::kFeatureClones;
  if (!tree.shape.empty()) features |= format::kFeatureTreeShapes;
  const auto shape = format::decode_tree_shape(tree.shape);
  if (shape.has_value() && shape->subtrees) features |= format::kFeatureSubtrees;
  return features;
}
uint64_t features_of(const format::ManifestBatch& batch) {
  uint64_t features = batch.features;
  if (!batch.feeds_set.empty()) features |= format::kFeatureFeeds;
  for (const auto* trees : {&batch.trees_created, &batch.trees_set}) {
    for (const format::TreeRecord& tree : *trees) features |= features_of(tree);
  }
  return features;
}
}  // namespace

Result<std::unique_ptr<Manifest>> Manifest::start(const os::Machine& machine,
                                                  const std::string& directory,
                                                  LoadedManifest previous, bool new_database) {
  if (previous.must_not_write) {
    return Status(StatusCode::kNotSupported,
                  "superblock: this version can only read the database (" +
                      format::unknown_features(previous.features) + ")");
  }
  auto files = std::make_unique<Files>();
  files->machine = machine;
  files->directory = directory;
  if (new_database) {
    Result<bool> present = exists(machine, directory);
    if (!present.ok()) return present.status();
    Result<std::vector<uint64_t>> numbers = list_manifests(*machine.files, directory);
    if (!numbers.ok()) return numbers.status();
    // A creation that was cut short leaves manifest.1 at most.
    if (*present || (!numbers->empty() && numbers->back() > 1)) {
      return Status(StatusCode::kInvalidArgument,
                    directory + ": holds a database" + (*present ? "" : " without a superblock"));
    }
    if (previous.uuid_low == 0 && previous.uuid_high == 0) {
      previous.uuid_low = machine.random->next();
      previous.uuid_high = machine.random->next();
    }
    previous.generation = 0;
    previous.number = 0;
  }
  files->state = std::move(previous.state);
  files->superblock.uuid_low = previous.uuid_low;
  files->superblock.uuid_high = previous.uuid_high;
  files->superblock.generation = previous.generation;
  files->superblock.manifest_number = previous.number;
  files->superblock.features = previous.features;
  // Any flush may need it, and must not wait for a new manifest to say so.
  files->superblock.features.incompatible |=
      format::kFeatureRunShapes | format::kFeatureCatalog | format::kFeatureSeparators;
  if (machine.keys != nullptr) {
    files->superblock.features.incompatible |= format::kFeatureEncryption;
  }
  // Replay may have made trees that no manifest has named.
  for (const auto& [id, tree] : files->state.trees) {
    files->superblock.features.incompatible |= features_of(tree);
  }
  files->find_spare();
  Status status = files->begin_next(new_database);
  if (status.is(StatusCode::kNoSpace) && !new_database && files->failed.ok()) {
    // A crash may have left the one before, named by the older slot, in the place of the spare.
    files->superblock.format_version = kFormatVersion;
    auto named_in = open_superblock(*machine.files, directory);
    if (!named_in.ok()) return named_in.status();
    status = update_superblock(**named_in, files->superblock);
    if (!status.ok()) return status;
    files->remove_others(0);
    status = files->begin_next(false);
  }
  if (!status.ok()) return status;
  return std::unique_ptr<Manifest>(new Manifest(std::move(files)));
}

Status Manifest::append(const format::ManifestBatch& batch) {
  Files& files = *files_;
  if (!files.failed.ok()) return files.failed;
  if (batch.empty()) return {};
  if (Status status = check(batch, files.state); !status.ok()) return status;
  // Before the batch, so that an error of the rewrite never comes back for a batch that is durable
  // already.
  if (Status status = files.rewrite_when_due(); !status.ok()) return status;
  if (files.current.torn) {
    Status status = files.start_over(batch);
    if (!status.ok() && !status.is(StatusCode::kNoSpace)) files.failed = status;
    return status;
  }
  const uint64_t before = files.superblock.features.incompatible;
  if (const uint64_t needed = features_of(batch); (before & needed) != needed) {
    // Older versions must not read on: the superblock says so together with the next manifest.
    files.superblock.features.incompatible |= needed;
    Status status = files.start_over(batch);
    if (status.ok()) return status;
    files.superblock.features.incompatible = before;
    if (files.failed.ok() && !status.is(StatusCode::kNoSpace)) files.failed = status;
    return status;
  }
  if (batch.changes_nothing()) return {};  // its features are named already
  ManifestFile& current = files.current;
  // Encoded on a copy, so that a batch that found no space leaves no gap in the sequence numbers.
  format::ManifestEncoder encoder = *current.encoder;
  encoder.add_batch(files.state.last_batch + 1, batch);
  const uint64_t bytes = encoder.pending_bytes();
  if (Status status = files.make_room(bytes); !status.ok()) {
    if (!status.is(StatusCode::kNoSpace)) return files.failed = status;
    if (current.end + bytes > current.allocated) {
      // All batches so far and this one give way to a snapshot, in the spare; where that cannot be,
      // as there is no descriptor for it, the present file may grow.
      status = files.start_over(batch);
      const bool unchanged = files.failed.ok() && status.is(StatusCode::kNoSpace);
      if (!unchanged || !current.make_room(bytes).ok()) return status;
    }
  }
  *current.encoder = std::move(encoder);
  Status status = current.write_pending();
  if (status.is(StatusCode::kNoSpace)) {
    // What was reserved has been taken away, and a part of the batch may stand there. Nothing
    // follows it, and no other bytes are sealed for the same place.
    current.torn = true;
    return status;
  }
  if (status.ok()) status = current.file->sync_data();
  if (status.ok()) status = apply(batch, files.state);
  if (!status.ok()) files.failed = status;
  return status;
}

Status Manifest::Files::start_over(const format::ManifestBatch& batch) {
  format::ManifestState before = state;
  Status status = apply(batch, state);
  if (status.ok()) status = next();
  if (!status.ok()) state = std::move(before);
  return status;
}

void Manifest::on_warning(std::function<void(std::string_view)> warn) {
  files_->warn = std::move(warn);
}

void Manifest::expect_growth(uint64_t bytes) { files_->growth = bytes; }

bool Manifest::short_of_room() const {
  return files_->short_of_room.load(std::memory_order_relaxed);
}

Status Manifest::keep_room() {
  if (!files_->failed.ok()) return files_->failed;
  Status status = files_->make_room(0);
  if (!status.is(StatusCode::kNoSpace) ||
      files_->current.end < 2 * files_->current.snapshot_bytes) {
    return status;
  }
  if (status = files_->next(); !status.ok()) return status;
  return files_->make_room(0);
}

Status Manifest::status() const { return files_->failed; }

Status Manifest::trim() { return files_->failed.ok() ? files_->trim() : files_->failed; }

const format::ManifestState& Manifest::state() const { return files_->state; }
uint64_t Manifest::bytes() const { return files_->current.end; }
uint64_t Manifest::number() const { return files_->superblock.manifest_number; }
uint64_t Manifest::uuid_low() const { return files_->superblock.uuid_low; }
uint64_t Manifest::uuid_high() const { return files_->superblock.uuid_high; }
const format::Features& Manifest::features() const { return files_->superblock.features; }

Manifest::Manifest(std::unique_ptr<Files> files) : files_(std::move(files)) {}
Manifest::~Manifest() = default;

}  // namespace hawthorn::db
