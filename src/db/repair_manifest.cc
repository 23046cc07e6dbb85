#include "db/repair_manifest.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/bytes.h"
#include "base/checksum.h"
#include "db/manifest.h"
#include "db/manifest_files.h"
#include "format/manifest_reader.h"
#include "os/data_keys.h"

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

// Records that validate, wherever they stand: those of batches that are damaged, too. What they say
// of containers is kept apart, since a record that is lost may have taken it back, and so is what
// it says of the log; of trees and dictionaries all is taken.
// `sealer`: null where payloads are not sealed.
void read_loose_records(std::string_view bytes, uint64_t salt, format::ManifestSealer* sealer,
                        RepairManifest* manifest) {
  format::ManifestState& state = manifest->state;
  std::set<uint32_t> dropped;
  constexpr size_t kHeader = sizeof(format::ManifestRecordHeader);
  const size_t payload_bytes_max =
      format::kManifestPayloadBytesMax + (sealer == nullptr ? 0 : kTagBytes);
  std::string opened;
  for (size_t at = format::kManifestBlockBytes; at + kHeader <= bytes.size();) {
    const auto header = load<format::ManifestRecordHeader>(bytes.data() + at);
    const uint64_t size = kHeader + align_up(header.payload_bytes, format::kManifestRecordAlign);
    const bool plausible =
        header.type != 0 && header.payload_bytes <= payload_bytes_max && size <= bytes.size() - at;
    constexpr size_t kSkip = sizeof(header.checksum);
    if (!plausible ||
        header.checksum != checksum32(bytes.data() + at + kSkip, size - kSkip, salt)) {
      at += format::kManifestRecordAlign;
      continue;
    }
    format::DecodedBatch batch;
    std::string_view payload = bytes.substr(at + kHeader, header.payload_bytes);
    at += size;
    if (sealer != nullptr) {
      if (!sealer->open(header, payload, &opened)) continue;
      payload = opened;
    }
    const auto type = static_cast<format::ManifestRecordType>(header.type);
    if (!format::decode_change(type, payload, batch).ok()) continue;
    for (format::ContainerRecord& record : batch.changes.containers_set) {
      state.next_container = std::max(state.next_container, record.id + 1);
      if (record.run.blocks == 0) continue;
      manifest->known_runs[{record.run.file, record.run.block}] = std::move(record);
    }
    for (const uint32_t id : batch.changes.trees_dropped) dropped.insert(id);
    for (auto* trees : {&batch.changes.trees_created, &batch.changes.trees_set}) {
      for (format::TreeRecord& tree : *trees) {
        state.next_tree = std::max(state.next_tree, tree.id + 1);
        state.trees.set(tree);
        manifest->any = true;
      }
    }
    for (format::DictionaryRecord& dictionary : batch.changes.dictionaries_added) {
      state.dictionaries.try_emplace(dictionary.id, dictionary);
    }
    state.next_tree = std::max(state.next_tree, batch.next_tree);
    state.next_container = std::max(state.next_container, batch.next_container);
    state.lsn_reserved = std::max(state.lsn_reserved, batch.changes.lsn_reserved);
  }
  for (const uint32_t id : dropped) state.trees.erase(id);
  std::erase_if(state.dictionaries,
                [&](const auto& one) { return !state.trees.contains(one.second.tree); });
}

// The batches of one file up to where it is damaged, applied. *whole: nowhere. Errors:
// kNotSupported.
Status load_batches(RepairSource& source, uint64_t number, size_t memory_max,
                    RepairManifest* manifest, bool* whole, std::string* why, uint64_t* offset) {
  const std::string name = manifest_name(number);
  *whole = false;
  *offset = 0;
  const uint64_t size = source.size_of(name);
  if (size == 0 || size > memory_max) {
    *why = source.file(name) == nullptr ? "it is missing"
           : size == 0                  ? "it is empty"
                                        : "it takes more memory than there may be";
    return {};
  }
  std::string bytes(size, '\0');
  for (uint64_t at = 0; at < size; at += kRepairBlock) {
    // Whole where it can be, else what can be read of it: the rest does not validate.
    if (at == 0 && source.read(name, 0, {bytes.data(), bytes.size()})) break;
    const size_t piece = std::min<uint64_t>(kRepairBlock, size - at);
    if (!source.read(name, at, {bytes.data() + at, piece})) {
      std::memset(bytes.data() + at, 0, piece);
      *why = "it cannot be read";
    }
  }
  os::DataKeys* const keys = source.keys();
  format::ManifestReader::Open open_with;
  if (keys != nullptr) {
    open_with = [keys](uint32_t key, const Salt& salt) { return keys->make(key, salt); };
  }
  format::ManifestReader reader(name, open_with);
  std::string_view rest = bytes;
  format::ManifestState state;
  bool any = false;
  bool damaged = false;
  for (;; any = true) {
    Result<format::ManifestReader::Step> step = reader.next(rest, true);
    if (!step.ok() && step.status().is(StatusCode::kNotSupported)) return step.status();
    if (!step.ok() && step.status().is(StatusCode::kInvalidArgument)) {
      return keys_are_missing(source.directory());
    }
    if (step.ok() && *step == format::ManifestReader::Step::kEnd) {
      *whole = any && reader.torn_offset() == 0;
      *offset = reader.torn_offset();
      if (!*whole) *why = "its last batch does not validate: it was not finished, or it is damaged";
      damaged = !any;
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
      damaged = true;
      break;
    }
  }
  const Result<format::ManifestIdentity> identity =
      bytes.size() < format::kManifestBlockBytes
          ? Result<format::ManifestIdentity>(Status(StatusCode::kCorruption, "too short"))
          : format::decode_manifest_header(
                std::string_view(bytes).substr(0, format::kManifestBlockBytes));
  if (any) {
    manifest->any = true;
    manifest->state = std::move(state);
  }
  manifest->whole = any && !damaged;
  manifest->torn = manifest->whole && !*whole;
  if (!identity.ok() || identity->number != number) return {};
  if ((identity->key != 0) != (keys != nullptr)) return {};
  std::unique_ptr<format::ManifestSealer> sealer;
  if (keys != nullptr) {
    Result<std::unique_ptr<Aead>> aead = keys->make(identity->key, identity->key_salt);
    if (!aead.ok()) return {};
    sealer = std::make_unique<format::ManifestSealer>(*identity, std::move(*aead));
  }
  if (manifest->whole) {
    // For a scan that has to be made though it can be read.
    RepairManifest loose;
    read_loose_records(bytes, identity->salt, sealer.get(), &loose);
    manifest->known_runs = std::move(loose.known_runs);
  } else {
    read_loose_records(bytes, identity->salt, sealer.get(), manifest);
  }
  return {};
}
}  // namespace

Status keys_are_missing(const std::string& directory) {
  return {StatusCode::kCorruption, directory +
                                       ": the database is encrypted, and the file of its keys is "
                                       "missing, without which nothing can be read"};
}

Status read_manifest_for_repair(RepairSource& source, size_t memory_max, RepairManifest* manifest,
                                RepairReport* report) {
  os::FileSystem& files = *source.machine().files;
  std::string warning;
  const Result<format::Superblock> superblock =
      read_superblock(files, source.directory(), &warning);
  manifest->superblock_read = superblock.ok();
  if (!superblock.ok() && superblock.status().is(StatusCode::kNotSupported)) {
    return superblock.status();
  }
  using Lost = RepairLoss::Kind;
  if (!superblock.ok()) {
    lose(report, Lost::kSuperblock, kSuperblockName, 0, std::string(superblock.status().message()));
  } else if (!warning.empty()) {
    lose(report, Lost::kSuperblock, kSuperblockName, 0, warning);
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
    if (Status s = load_batches(source, number, memory_max, manifest, &whole, &why, &offset);
        !s.ok())
      return s;
    if (!whole) lose(report, Lost::kManifest, manifest_name(number), offset, why);
    // An older one says what was true once.
    manifest->current = current && manifest->any && !manifest->state.epochs.empty();
    if (!current) manifest->whole = manifest->torn = false;
    if (manifest->any) break;
    current = false;
  }
  if (numbers.empty()) lose(report, Lost::kManifest, "", 0, "no manifest is left");
  report->superblock_read = manifest->superblock_read;
  report->manifest_read = manifest->whole;
  return {};
}

}  // namespace hawthorn::db
