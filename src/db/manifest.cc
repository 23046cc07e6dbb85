#include "db/manifest.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "db/manifest_files.h"
#include "format/manifest_record.h"
#include "hawthorn/version.h"

namespace hawthorn::db {
namespace {

constexpr uint64_t kRewriteBytesMin = uint64_t{1} << 20;
constexpr uint64_t kExtendBytesMin = uint64_t{64} << 10;
constexpr uint64_t kExtendBytesMax = uint64_t{16} << 20;
constexpr size_t kChunkBytes = size_t{1} << 20;  // of a snapshot, and of zeros

}  // namespace

// One manifest file under construction or in use.
struct ManifestFile {
  std::unique_ptr<os::File> file;
  std::optional<format::ManifestEncoder> encoder;
  uint64_t end = 0;             // behind the last batch
  uint64_t allocated = 0;       // size of the file
  uint64_t snapshot_bytes = 0;  // header included

  Status make_room(uint64_t bytes);
  Status write_pending();
  Status write_snapshot(const format::ManifestIdentity& identity,
                        const format::ManifestState& state);
};

struct Manifest::Files {
  os::Machine machine;
  std::string directory;
  format::ManifestState state;
  format::Superblock superblock;
  ManifestFile current;
  uint64_t rewrite_at = 0;
  Status failed;

  std::string path_of(uint64_t number) const { return join(directory, manifest_name(number)); }
  Status write_file(uint64_t number, ManifestFile& file);
  Status begin_next(bool new_database);
  void remove_others();
  Status rewrite_when_due();
};

// Extends the file in steps and fills the steps with zeros, so that an append changes neither the
// file's size nor its map of blocks, and its fdatasync need not commit the file system's journal.
Status ManifestFile::make_room(uint64_t bytes) {
  const uint64_t needed = end + bytes;
  if (needed <= allocated) return {};
  const uint64_t step = std::clamp(end / 4, kExtendBytesMin, kExtendBytesMax);
  const uint64_t goal = align_up(std::max(needed, allocated + step), kExtendBytesMin);
  if (Status status = file->allocate(allocated, goal - allocated); !status.ok()) return status;
  // What is about to be written needs no zeros before.
  static const std::string zeros(kChunkBytes, '\0');
  for (uint64_t at = std::max(allocated, needed); at < goal;) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(goal - at, zeros.size()));
    if (Status status = file->write_at(at, {zeros.data(), size}); !status.ok()) return status;
    at += size;
  }
  allocated = goal;
  return {};
}

Status ManifestFile::write_pending() {
  const std::string bytes = encoder->take();
  if (Status status = make_room(bytes.size()); !status.ok()) return status;
  if (Status status = file->write_at(end, bytes); !status.ok()) return status;
  end += bytes.size();
  return {};
}

Status ManifestFile::write_snapshot(const format::ManifestIdentity& identity,
                                    const format::ManifestState& state) {
  const std::string header = format::encode_manifest_header(identity);
  if (Status status = make_room(header.size()); !status.ok()) return status;
  if (Status status = file->write_at(0, header); !status.ok()) return status;
  end = header.size();
  encoder.emplace(identity.salt);
  encoder->begin(state.last_batch, format::ManifestBatchKind::kSnapshot);
  encoder->set_counters(state.next_container, state.next_tree);
  for (const auto& [id, tree] : state.trees) encoder->create_tree(tree);
  for (const format::LogEpoch& epoch : state.epochs) encoder->set_epoch(epoch);
  if (state.log_trim != 0) encoder->trim_log(state.log_trim);
  if (state.lsn_reserved != 0) encoder->reserve_lsn(state.lsn_reserved);
  for (const auto& [id, container] : state.containers) {
    encoder->set_container(container);
    if (encoder->pending_bytes() < kChunkBytes) continue;
    if (Status status = write_pending(); !status.ok()) return status;
  }
  encoder->commit();
  if (Status status = write_pending(); !status.ok()) return status;
  snapshot_bytes = end;
  return {};
}

// Writes and syncs the file and its name. The superblock does not name it yet: a crash leaves it
// behind as litter, which the next start removes.
Status Manifest::Files::write_file(uint64_t number, ManifestFile& file) {
  os::FileSystem& files = *machine.files;
  const std::string path = path_of(number);
  if (Status status = files.remove(path); !status.ok() && !status.is_not_found()) return status;
  auto opened = files.open_file(path, {.create = true, .exclusive = true});
  if (!opened.ok()) return opened.status();
  file.file = std::move(*opened);
  const format::ManifestIdentity identity = {superblock.uuid_low, superblock.uuid_high, number,
                                             machine.random->next()};
  Status status = file.write_snapshot(identity, state);
  if (status.ok()) status = file.file->sync_data();
  if (status.ok()) status = files.sync_directory(directory);
  return status;
}

// Writes manifest N+1 and points the superblock at it. When only the new file could not be written,
// it is removed and the old one goes on; once the superblock has been touched there is no way back
// (`failed`).
Status Manifest::Files::begin_next(bool new_database) {
  const uint64_t number = superblock.manifest_number + 1;
  ManifestFile next;
  if (Status status = write_file(number, next); !status.ok()) {
    next.file.reset();
    // Litter if this fails as well.
    static_cast<void>(machine.files->remove(path_of(number)).ok());
    return status;
  }
  superblock.manifest_number = number;
  superblock.format_version = kFormatVersion;
  failed = new_database ? create_superblock(*machine.files, directory, superblock)
                        : update_superblock(*machine.files, directory, superblock);
  if (!failed.ok()) return failed;
  current = std::move(next);
  rewrite_at = std::max(2 * current.snapshot_bytes, kRewriteBytesMin);
  remove_others();
  return {};
}

// What cannot be removed now is removed by the next start.
void Manifest::Files::remove_others() {
  Result<std::vector<uint64_t>> numbers = list_manifests(*machine.files, directory);
  if (!numbers.ok()) return;
  for (const uint64_t number : *numbers) {
    if (number == superblock.manifest_number) continue;
    static_cast<void>(machine.files->remove(path_of(number)).ok());
  }
}

Status Manifest::Files::rewrite_when_due() {
  if (current.end <= rewrite_at) return {};
  Status status = begin_next(false);
  if (status.ok() || !failed.ok()) return status;
  if (status.is(StatusCode::kNoSpace)) {
    // The present file serves on, if its next extension finds space; try again when it has grown.
    rewrite_at = current.end + kRewriteBytesMin;
    return {};
  }
  return failed = std::move(status);
}

Result<std::unique_ptr<Manifest>> Manifest::start(const os::Machine& machine,
                                                  const std::string& directory,
                                                  LoadedManifest previous, bool new_database) {
  if (previous.must_not_write) {
    return Status(StatusCode::kNotSupported,
                  "superblock: a feature of this database can only be read by this version");
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
  if (Status status = files->begin_next(new_database); !status.ok()) return status;
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
  ManifestFile& current = files.current;
  // Encoded on a copy, so that a batch that found no space leaves no gap in the sequence numbers.
  format::ManifestEncoder encoder = *current.encoder;
  encoder.add_batch(files.state.last_batch + 1, batch);
  if (Status status = current.make_room(encoder.pending_bytes()); !status.ok()) {
    if (!status.is(StatusCode::kNoSpace)) files.failed = status;
    return status;
  }
  *current.encoder = std::move(encoder);
  Status status = current.write_pending();
  if (status.ok()) status = current.file->sync_data();
  if (status.ok()) status = apply(batch, files.state);
  if (!status.ok()) files.failed = status;
  return status;
}

const format::ManifestState& Manifest::state() const { return files_->state; }
uint64_t Manifest::bytes() const { return files_->current.end; }
uint64_t Manifest::number() const { return files_->superblock.manifest_number; }

Manifest::Manifest(std::unique_ptr<Files> files) : files_(std::move(files)) {}
Manifest::~Manifest() = default;

}  // namespace hawthorn::db
