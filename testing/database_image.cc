#include "testing/database_image.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/checksum.h"
#include "format/run_layout.h"
#include "format/superblock.h"

namespace hawthorn::testing {

namespace {
using format::ManifestRecordType;

constexpr size_t kBlock = format::kManifestBlockBytes;
constexpr size_t kFileBytesMax = size_t{64} << 20;  // no sample has more

template <typename T>
T prefix_of(std::string_view payload) {
  T fixed = {};
  std::memcpy(static_cast<void*>(&fixed), payload.data(), std::min(sizeof(fixed), payload.size()));
  return fixed;
}
template <typename T>
void put(std::string& to, const T& fixed) {
  if (to.size() < sizeof(fixed)) to.resize(sizeof(fixed));
  std::memcpy(to.data(), &fixed, sizeof(fixed));
}
std::string join(const std::string& directory, const std::string& name) {
  return directory + "/" + name;
}
}  // namespace

Result<DatabaseImage> DatabaseImage::read(os::FileSystem& files, const std::string& directory) {
  Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  DatabaseImage image;
  for (const std::string& name : *names) {
    auto file = files.open_file(join(directory, name), {.read_only = true});
    if (!file.ok()) return file.status();
    const Result<uint64_t> size = (*file)->size();
    if (!size.ok()) return size.status();
    if (*size > kFileBytesMax) return Status(StatusCode::kNotSupported, name + " is too large");
    std::string& bytes = image.files_[name];
    bytes.resize(static_cast<size_t>(*size));
    if (Status s = (*file)->read_at(0, bytes); !s.ok()) return s;
  }
  image.find_manifest();
  image.find_log();
  return image;
}

Status DatabaseImage::write(os::FileSystem& files, const std::string& directory) const {
  if (Status s = files.make_directory(directory); !s.ok()) return s;
  Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (files_.contains(name)) continue;
    if (Status s = files.remove(join(directory, name)); !s.ok()) return s;
  }
  for (const auto& [name, bytes] : files_) {
    auto file = files.open_file(join(directory, name), {.create = true});
    if (!file.ok()) return file.status();
    if (Status s = (*file)->truncate(bytes.size()); !s.ok()) return s;
    if (Status s = (*file)->write_at(0, bytes); !s.ok()) return s;
  }
  return {};
}

std::string* DatabaseImage::file(const std::string& name) {
  const auto found = files_.find(name);
  return found == files_.end() ? nullptr : &found->second;
}

void DatabaseImage::seal_superblock() {
  std::string* const bytes = file("superblock");
  if (bytes == nullptr) return;
  constexpr size_t kSealed = offsetof(format::SuperblockSlot, checksum_low);
  for (size_t at = 0; at + kBlock <= bytes->size(); at += kBlock) {
    const Checksum128 checksum = checksum128(bytes->data() + at, kSealed);
    store(bytes->data() + at + kSealed, checksum.low);
    store(bytes->data() + at + kSealed + sizeof(uint64_t), checksum.high);
  }
}

// ---- The manifest

void DatabaseImage::find_manifest() {
  const std::string* const superblock = file("superblock");
  if (superblock == nullptr) return;
  std::string warning;
  const auto chosen = format::choose_superblock(*superblock, &warning);
  if (!chosen.ok()) return;
  manifest_name_ = "manifest." + std::to_string(chosen->manifest_number);
  const std::string* const bytes = file(manifest_name_);
  if (bytes == nullptr || bytes->size() < kBlock) return;
  manifest_salt_ = prefix_of<format::ManifestHeader>(*bytes).salt;
  constexpr size_t kHeader = sizeof(format::ManifestRecordHeader);
  for (size_t at = kBlock; at + kHeader <= bytes->size();) {
    const auto header = load<format::ManifestRecordHeader>(bytes->data() + at);
    const size_t size = kHeader + align_up(header.payload_bytes, 8);
    if (header.type == 0 || size > bytes->size() - at) return;
    const auto type = static_cast<ManifestRecordType>(header.type);
    records_.push_back({type, bytes->substr(at + kHeader, header.payload_bytes)});
    at += size;
  }
}

void DatabaseImage::seal_manifest() {
  std::string* const bytes = file(manifest_name_);
  if (bytes == nullptr || bytes->size() < kBlock) return;
  const size_t size = bytes->size();
  bytes->resize(kBlock);
  constexpr size_t kUnsealed = offsetof(format::ManifestHeader, checksum);
  store(bytes->data() + kUnsealed, checksum64(bytes->data(), kUnsealed, 0));
  const bool encrypted = prefix_of<format::ManifestHeader>(*bytes).key != 0;
  uint64_t sequence = 0;
  uint64_t chained = manifest_salt_;
  uint64_t count = 0;
  for (Record& record : records_) {
    if (record.type == ManifestRecordType::kBatchBegin) {
      chained = manifest_salt_;
      count = 0;
    }
    format::ManifestRecordHeader header = {};
    if (record.type == ManifestRecordType::kBatchCommit && !encrypted) {
      auto commit = prefix_of<format::BatchCommitPayload>(record.payload);
      commit.checksum = chained;
      commit.record_count = count;
      record.payload.assign(sizeof(commit), '\0');
      put(record.payload, commit);
      const size_t end = bytes->size() + sizeof(header) + sizeof(commit);
      record.payload.resize(sizeof(commit) + align_up(end, kBlock) - end);
    }
    header.payload_bytes = static_cast<uint32_t>(record.payload.size());
    header.sequence = sequence++;
    header.type = static_cast<uint8_t>(record.type);
    const size_t at = bytes->size();
    const size_t record_size = sizeof(header) + align_up(record.payload.size(), 8);
    bytes->append(reinterpret_cast<const char*>(&header), sizeof(header)).append(record.payload);
    bytes->resize(at + record_size, '\0');
    char* const start = bytes->data() + at;
    constexpr size_t kSkip = sizeof(header.checksum);
    store(start, checksum32(start + kSkip, record_size - kSkip, manifest_salt_));
    chained = checksum64(start, record_size, chained);
    ++count;
  }
  bytes->resize(align_up(std::max(bytes->size(), size), kBlock), '\0');
}

std::vector<DatabaseImage::Record*> DatabaseImage::records_of(ManifestRecordType type) {
  std::vector<Record*> found;
  for (Record& record : records_) {
    if (record.type == type) found.push_back(&record);
  }
  return found;
}

// ---- Data files

std::string* DatabaseImage::extent_bytes(uint32_t number) {
  return file("data." + std::to_string(number));
}

bool DatabaseImage::edit_run(Record& container, const Edit& edit) {
  auto fixed = prefix_of<format::ContainerSetPayload>(container.payload);
  std::string* const data = extent_bytes(fixed.run_file);
  const size_t at = size_t{fixed.run_block} * kBlock;
  const size_t size = size_t{fixed.run_blocks} * kBlock;
  if (data == nullptr || size < 2 * kBlock || at + size > data->size()) return false;
  std::string run = data->substr(at, size);
  edit(run);
  run.resize(size, '\0');
  // As many as a reader takes for it.
  const auto header = prefix_of<format::RunHeader>(run);
  const size_t header_blocks =
      std::clamp<size_t>(header.header_blocks, 1, size_t{fixed.run_blocks} - 1);
  for (size_t block = header_blocks; block < fixed.run_blocks; ++block) {
    const size_t word = format::kRunTableOffset + 4 * (block - header_blocks);
    if (word + 4 > header_blocks * kBlock) break;
    store(run.data() + word, checksum32(run.data() + block * kBlock, kBlock, 0));
  }
  fixed.run_checksum = checksum64(run.data(), header_blocks * kBlock, 0);
  data->replace(at, size, run);
  put(container.payload, fixed);
  seal_manifest();
  return true;
}

bool DatabaseImage::edit_values(Record& container, uint32_t extent, const Edit& edit) {
  const auto fixed = prefix_of<format::ContainerSetPayload>(container.payload);
  using Extent = format::ValueExtentPayload;
  size_t words = 0;
  std::optional<Extent> found;
  for (uint32_t i = 0; i <= extent && i < fixed.value_count; ++i) {
    const size_t at = sizeof(fixed) + i * sizeof(Extent);
    if (at + sizeof(Extent) > container.payload.size()) return false;
    const auto one = load<Extent>(container.payload.data() + at);
    if (i == extent) found = one;
    if (i < extent) words += one.blocks;
  }
  if (!found.has_value()) return false;
  std::string* const data = extent_bytes(found->file);
  const size_t at = size_t{found->block} * kBlock;
  const size_t size = size_t{found->blocks} * kBlock;
  if (data == nullptr || size == 0 || at + size > data->size()) return false;
  std::string values = data->substr(at, size);
  edit(values);
  values.resize(size, '\0');
  data->replace(at, size, values);
  return edit_run(container, [&](std::string& run) {
    const auto header = prefix_of<format::RunHeader>(run);
    const size_t own = fixed.run_blocks - std::min(header.header_blocks, fixed.run_blocks);
    for (size_t block = 0; block < found->blocks; ++block) {
      const size_t word = format::kRunTableOffset + 4 * (own + words + block);
      if (word + 4 > run.size()) return;
      store(run.data() + word, checksum32(values.data() + block * kBlock, kBlock, 0));
    }
  });
}

// ---- The log

void DatabaseImage::find_log() {
  for (const auto& [name, bytes] : files_) {
    if (name == "wal.ring") look_for_records(name, true, 0);
    if (name.size() != 20 || !name.starts_with("wal.")) continue;
    look_for_records(name, false, std::stoull(name.substr(4), nullptr, 16) * bytes.size());
  }
}

void DatabaseImage::look_for_records(const std::string& name, bool ring, uint64_t first_lsn) {
  std::vector<format::EpochSetPayload> epochs;
  for (const Record* record : records_of(ManifestRecordType::kEpochSet)) {
    epochs.push_back(prefix_of<format::EpochSetPayload>(record->payload));
  }
  const std::string& bytes = files_[name];
  constexpr size_t kHeader = sizeof(format::RecordHeader);
  for (size_t at = 0; at + kHeader <= bytes.size(); at += format::kRecordAlign) {
    const auto header = load<format::RecordHeader>(bytes.data() + at);
    if (header.lsn == 0 || (ring ? header.lsn % bytes.size() != at : header.lsn != first_lsn + at))
      continue;
    if (header.length > bytes.size() - at) continue;
    for (const format::EpochSetPayload& epoch : epochs) {
      if (!format::valid(header, header.lsn, epoch.salt)) continue;
      LogRecord& record = log_[header.lsn];
      record.salt = epoch.salt;
      record.places.push_back({name, at});
      break;
    }
  }
}

std::string* DatabaseImage::file_with(const Place& place, size_t bytes) {
  std::string* const found = file(place.file);
  const size_t size = found == nullptr ? 0 : found->size();
  return place.offset <= size && bytes <= size - place.offset ? found : nullptr;
}

bool DatabaseImage::edit_log(size_t number, const LogEdit& edit) {
  if (log_.empty()) return false;
  auto at = log_.begin();
  std::advance(at, static_cast<ptrdiff_t>(number % log_.size()));
  const LogRecord& record = at->second;
  const Place& first = record.places.front();
  format::RecordHeader header;
  const std::string* const from = file_with(first, sizeof(header));
  if (from == nullptr) return false;
  header = load<format::RecordHeader>(from->data() + first.offset);
  const size_t size = header.payload_bytes;
  if (file_with(first, sizeof(header) + size) == nullptr) return false;
  std::string payload = from->substr(first.offset + sizeof(header), size);
  edit(header, payload);
  payload.resize(size, '\0');
  header.payload_checksum =
      checksum64(payload.data(), std::min<size_t>(header.payload_bytes, size), 0);
  format::seal(header, record.salt);
  for (const Place& place : record.places) {
    std::string* const file = file_with(place, sizeof(header) + size);
    if (file == nullptr) continue;
    std::memcpy(file->data() + place.offset, &header, sizeof(header));
    file->replace(place.offset + sizeof(header), size, payload);
  }
  return true;
}

bool DatabaseImage::append_log(format::RecordType type, uint32_t operations,
                               std::string_view payload) {
  std::string* const ring = file("wal.ring");
  if (log_.empty() || ring == nullptr || ring->empty()) return false;
  const auto& [last_lsn, last] = *log_.rbegin();
  const Place& place = last.places.front();
  const std::string* const from = file_with(place, sizeof(format::RecordHeader));
  if (from == nullptr) return false;
  const auto before = load<format::RecordHeader>(from->data() + place.offset);
  format::RecordHeader header = {};
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.length = static_cast<uint32_t>(format::record_bytes(payload.size()));
  header.lsn = last_lsn + format::record_bytes(before.payload_bytes);
  header.durable_lsn = before.durable_lsn;
  header.payload_checksum = checksum64(payload.data(), payload.size(), 0);
  header.operations = operations;
  header.type = static_cast<uint8_t>(type);
  const uint64_t salt = last.salt;
  format::seal(header, salt);
  const size_t at = header.lsn % ring->size();
  if (header.length > ring->size() / 8 || header.length > ring->size() - at) return false;
  std::memcpy(ring->data() + at, &header, sizeof(header));
  ring->replace(at + sizeof(header), header.length - sizeof(header), header.length - sizeof(header),
                '\0');
  ring->replace(at + sizeof(header), payload.size(), payload);
  log_[header.lsn] = {salt, {{"wal.ring", at}}};
  return true;
}

}  // namespace hawthorn::testing
