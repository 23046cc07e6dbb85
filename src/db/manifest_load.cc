// Reading the manifest that the superblock names.

#include <algorithm>
#include <cstring>

#include "db/manifest.h"
#include "db/manifest_files.h"
#include "format/manifest_reader.h"
#include "os/data_keys.h"

namespace hawthorn::db {
namespace {

constexpr size_t kReadBytes = size_t{1} << 20;
constexpr int kLoadAttemptsMax = 10;
// File systems that compress make some of zeros.
constexpr uint64_t kHoleBytesMax = uint64_t{4} << 30;

void add_warning(std::string* warning, const std::string& text) {
  if (warning == nullptr || text.empty()) return;
  if (!warning->empty()) *warning += "; ";
  *warning += text;
}

// Reads a file from front to back; keeps what has not been consumed.
class Window {
 public:
  Window(os::File& file, uint64_t size) : file_(file), size_(size) {}
  bool at_end() const { return read_ == size_; }
  std::string_view bytes() const { return {buffer_.data() + from_, buffer_.size() - from_}; }
  void keep(size_t bytes) { from_ = buffer_.size() - bytes; }
  // Makes at least `wanted` bytes available, or all that are left.
  Status fill(size_t wanted) {
    buffer_.erase(0, from_);
    from_ = 0;
    const size_t have = buffer_.size();
    const uint64_t goal = std::max<uint64_t>(wanted, kReadBytes);
    if (goal <= have) return {};
    const auto more = static_cast<size_t>(std::min<uint64_t>(goal - have, size_ - read_));
    buffer_.resize(have + more);
    Status status = file_.read_at(read_, {buffer_.data() + have, more});
    read_ += more;
    return status;
  }

 private:
  os::File& file_;
  const uint64_t size_;
  std::string buffer_;
  size_t from_ = 0;
  uint64_t read_ = 0;
};

// A snapshot's batch makes the state; all others change it.
Status take_batch(format::DecodedBatch& batch, format::ManifestState& state) {
  const uint32_t next_tree = batch.next_tree;
  const uint64_t next_container = batch.next_container;
  if (Status status = apply(std::move(batch.changes), state); !status.ok()) return status;
  state.last_batch = batch.number;
  if (!batch.snapshot) return {};
  if (next_tree < state.next_tree || next_container < state.next_container) {
    return Status(StatusCode::kCorruption, "the snapshot's counters are below its ids");
  }
  state.next_tree = next_tree;
  state.next_container = next_container;
  return {};
}

Status load_file(const os::Machine& machine, const std::string& directory, LoadedManifest& loaded,
                 std::string* warning) {
  os::FileSystem& files = *machine.files;
  const std::string name = manifest_name(loaded.number);
  auto file = files.open_file(join(directory, name), {.read_only = true});
  if (!file.ok()) return file.status();
  Result<uint64_t> size = (*file)->size();
  if (!size.ok()) return size.status();
  // Its rest is zeros that were written, not a hole: of which there may be more than can be read.
  const Result<uint64_t> allocated = (*file)->allocated_bytes();
  if (!allocated.ok()) return allocated.status();
  if (*size > *allocated && *size - *allocated > kHoleBytesMax) {
    return Status(StatusCode::kCorruption, name + ": has " + std::to_string(*size) +
                                               " bytes, of which only " +
                                               std::to_string(*allocated) + " are on the disk");
  }
  Window window(**file, *size);
  format::ManifestReader::Open open_with;
  if (machine.keys != nullptr) {
    open_with = [&](uint32_t key, const Salt& salt) { return machine.keys->make(key, salt); };
  }
  format::ManifestReader reader(name, open_with);
  using Step = format::ManifestReader::Step;
  for (;;) {
    std::string_view bytes = window.bytes();
    Result<Step> step = reader.next(bytes, window.at_end());
    window.keep(bytes.size());
    if (!step.ok()) return step.status();
    if (*step == Step::kEnd) break;
    if (*step == Step::kNeedMore) {
      if (Status status = window.fill(reader.wanted_bytes()); !status.ok()) return status;
      continue;
    }
    const format::ManifestIdentity& identity = reader.identity();
    if (identity.uuid_low != loaded.uuid_low || identity.uuid_high != loaded.uuid_high ||
        identity.number != loaded.number) {
      return reader.corrupt(0, "it belongs to another database, or bears another's name");
    }
    if (Status status = take_batch(reader.batch(), loaded.state); !status.ok()) {
      return reader.corrupt(reader.batch_offset(), status.message());
    }
    ++loaded.batches;
  }
  loaded.bytes = reader.end_offset();
  if (reader.torn_offset() != 0) {
    add_warning(warning, name + " at " + std::to_string(reader.torn_offset()) +
                             ": an unfinished batch was dropped");
  }
  return {};
}

}  // namespace

Result<bool> Manifest::exists(const os::Machine& machine, const std::string& directory) {
  return machine.files->exists(join(directory, kSuperblockName));
}

Result<LoadedManifest> Manifest::load(const os::Machine& machine, const std::string& directory,
                                      std::string* warning) {
  if (warning != nullptr) warning->clear();
  os::FileSystem& files = *machine.files;
  for (int attempt = 1;; ++attempt) {
    std::string superblock_warning;
    Result<format::Superblock> superblock = read_superblock(files, directory, &superblock_warning);
    if (!superblock.ok()) return superblock.status();
    LoadedManifest loaded;
    loaded.uuid_low = superblock->uuid_low;
    loaded.uuid_high = superblock->uuid_high;
    loaded.generation = superblock->generation;
    loaded.number = superblock->manifest_number;
    loaded.features = superblock->features;
    loaded.must_not_write = format::must_not_write(superblock->features);
    std::string file_warning;
    Status status = load_file(machine, directory, loaded, &file_warning);
    if (status.is_not_found()) {
      // A reader beside the writing process may have met the moment of a rewrite: then the
      // superblock names another one by now.
      Result<format::Superblock> again = read_superblock(files, directory, nullptr);
      if (again.ok() && *again != *superblock && attempt < kLoadAttemptsMax) continue;
      return Status(StatusCode::kCorruption,
                    manifest_name(loaded.number) + " is missing, yet the superblock names it");
    }
    if (!status.ok()) return status;
    add_warning(warning, superblock_warning);
    add_warning(warning, file_warning);
    return loaded;
  }
}

}  // namespace hawthorn::db
