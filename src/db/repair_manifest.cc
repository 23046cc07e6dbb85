#include "db/repair_manifest.h"

#include <algorithm>

#include "db/manifest.h"
#include "db/manifest_files.h"
#include "format/manifest_reader.h"

namespace hawthorn::db {

namespace {
void lose(RepairReport* report, RepairLoss::Kind kind, std::string file, uint64_t offset,
          std::string what) {
  RepairLoss loss;
  loss.kind = kind;
  loss.file = std::move(file);
  loss.offset = offset;
  loss.what = std::move(what);
  report->losses.push_back(std::move(loss));
}

// The batches of one file up to where it is damaged, applied. *whole: nowhere. Errors:
// kNotSupported.
Status load(RepairSource& source, uint64_t number, RepairManifest* manifest, bool* whole,
            std::string* why, uint64_t* offset) {
  const std::string name = manifest_name(number);
  std::string bytes(source.size_of(name), '\0');
  *whole = false;
  *offset = 0;
  if (bytes.empty() || !source.read(name, 0, {bytes.data(), bytes.size()})) {
    *why = source.file(name) == nullptr ? "it is missing" : "it cannot be read";
    return {};
  }
  format::ManifestReader reader(name);
  std::string_view rest = bytes;
  format::ManifestState state;
  for (bool any = false;; any = true) {
    Result<format::ManifestReader::Step> step = reader.next(rest, true);
    if (!step.ok() && step.status().is(StatusCode::kNotSupported)) return step.status();
    if (step.ok() && *step == format::ManifestReader::Step::kEnd) {
      *whole = any && reader.torn_offset() == 0;
      *offset = reader.torn_offset();
      *why = "its last batch does not validate: it was not finished, or it is damaged";
      // As the engine itself reads it: what was not finished was never said.
      manifest->whole = any;
      break;
    }
    if (step.ok() && reader.identity().number != number) {
      *why = "it bears another's name";
      return {};
    }
    Status applied = step.ok() ? Status() : step.status();
    if (applied.ok()) {
      format::DecodedBatch& batch = reader.batch();
      const uint32_t next_tree = batch.next_tree;
      const uint64_t next_container = batch.next_container;
      applied = apply(std::move(batch.changes), state);
      if (batch.snapshot) {
        state.next_tree = std::max(state.next_tree, next_tree);
        state.next_container = std::max(state.next_container, next_container);
      }
      state.last_batch = batch.number;
    }
    if (!applied.ok()) {
      *why = std::string(applied.message());
      *offset = reader.end_offset();
      if (!any) return {};
      break;
    }
  }
  manifest->any = true;
  manifest->state = std::move(state);
  return {};
}
}  // namespace

Status read_manifest_for_repair(RepairSource& source, RepairManifest* manifest,
                                RepairReport* report) {
  os::FileSystem& files = *source.machine().files;
  std::string warning;
  const Result<format::Superblock> superblock =
      read_superblock(files, source.directory(), &warning);
  manifest->superblock_read = superblock.ok();
  if (!superblock.ok() && superblock.status().is(StatusCode::kNotSupported)) {
    return superblock.status();
  }
  using Kind = RepairLoss::Kind;
  if (!superblock.ok()) {
    lose(report, Kind::kSuperblock, kSuperblockName, 0, std::string(superblock.status().message()));
  } else if (!warning.empty()) {
    lose(report, Kind::kSuperblock, kSuperblockName, 0, warning);
  }
  std::vector<uint64_t> numbers;
  if (superblock.ok()) {
    manifest->features = superblock->features;
    numbers.push_back(superblock->manifest_number);
  }
  // Without a superblock that of the highest number counts: nothing is in it before it is whole.
  Result<std::vector<uint64_t>> found = list_manifests(files, source.directory());
  if (found.ok()) {
    for (auto number = found->rbegin(); number != found->rend(); ++number) {
      if (std::find(numbers.begin(), numbers.end(), *number) == numbers.end()) {
        numbers.push_back(*number);
      }
    }
  }
  bool current = true;
  for (const uint64_t number : numbers) {
    bool whole = false;
    std::string why;
    uint64_t offset = 0;
    if (Status s = load(source, number, manifest, &whole, &why, &offset); !s.ok()) return s;
    if (!whole) lose(report, Kind::kManifest, manifest_name(number), offset, why);
    // An older one says what was true once.
    if (!current) manifest->whole = false;
    if (manifest->any) break;
    current = false;
  }
  if (numbers.empty()) lose(report, Kind::kManifest, "", 0, "no manifest is left");
  report->superblock_read = manifest->superblock_read;
  report->manifest_read = manifest->whole;
  return {};
}

}  // namespace hawthorn::db
