#include "db/manifest_files.h"

#include <algorithm>

#include "db/manifest.h"

namespace hawthorn::db {
namespace {

constexpr std::string_view kManifestPrefix = "manifest.";
constexpr size_t kNumberDigitsMax = 18;  // no overflow of 64 bits

Status write_slot(os::File& file, const format::Superblock& superblock) {
  const uint64_t offset =
      format::superblock_slot_of(superblock.generation) * format::kSuperblockSlotBytes;
  return write_whole(file, offset, format::encode_superblock(superblock));
}

}  // namespace

std::string manifest_name(uint64_t number) {
  return std::string(kManifestPrefix) + std::to_string(number);
}

uint64_t manifest_number(std::string_view name) { return number_in_name(name, kManifestPrefix); }

uint64_t number_in_name(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return 0;
  const std::string_view digits = name.substr(prefix.size());
  if (digits.empty() || digits.size() > kNumberDigitsMax || digits.front() == '0') return 0;
  uint64_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return 0;
    number = number * 10 + static_cast<uint64_t>(digit - '0');
  }
  return number;
}

bool is_manifest_file(std::string_view name) {
  return name == kSuperblockName || name == kSuperblockNewName || name == kManifestSpareName ||
         manifest_number(name) != 0;
}

std::string join(const std::string& directory, std::string_view name) {
  return directory + "/" + std::string(name);
}

Result<std::vector<uint64_t>> list_manifests(os::FileSystem& files, const std::string& directory) {
  Result<std::vector<std::string>> names = files.list(directory);
  if (!names.ok()) return names.status();
  std::vector<uint64_t> numbers;
  for (const std::string& name : *names) {
    if (const uint64_t number = manifest_number(name); number != 0) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<format::Superblock> read_superblock(os::FileSystem& files, const std::string& directory,
                                           std::string* warning) {
  auto file = files.open_file(join(directory, kSuperblockName), {.read_only = true});
  if (!file.ok()) return file.status();
  Result<uint64_t> size = (*file)->size();
  if (!size.ok()) return size.status();
  std::string bytes(static_cast<size_t>(std::min<uint64_t>(*size, format::kSuperblockBytes)), '\0');
  Status unread;
  if (Status status = (*file)->read_at(0, bytes); !status.ok()) {
    // One block that the device cannot read is no worse than one that is damaged.
    for (size_t offset = 0; offset < bytes.size(); offset += format::kSuperblockSlotBytes) {
      const size_t end = std::min(bytes.size(), offset + format::kSuperblockSlotBytes);
      const std::span<char> block(bytes.data() + offset, end - offset);
      Status again = (*file)->read_at(offset, block);
      if (again.ok()) continue;
      if (unread.ok()) unread = std::move(again);
      std::fill(block.begin(), block.end(), '\0');
    }
  }
  Result<format::Superblock> chosen = format::choose_superblock(bytes, warning);
  // Without the other one, whether it is damaged is not known.
  if (!unread.ok() && chosen.status().is(StatusCode::kCorruption)) return unread;
  return chosen;
}

Status create_superblock(os::FileSystem& files, const std::string& directory,
                         format::Superblock& superblock) {
  const std::string path = join(directory, kSuperblockNewName);
  auto file = files.open_file(path, {.create = true, .in_place = true});
  if (!file.ok()) return file.status();
  if (Status status = (*file)->truncate(0); !status.ok()) return status;
  if (Status status = update_superblock(**file, superblock); !status.ok()) return status;
  if (Status status = files.rename(path, join(directory, kSuperblockName)); !status.ok()) {
    return status;
  }
  return files.sync_directory(directory);
}

Result<std::unique_ptr<os::File>> open_superblock(os::FileSystem& files,
                                                  const std::string& directory) {
  return files.open_file(join(directory, kSuperblockName), {});
}

Status write_whole(os::File& file, uint64_t offset, std::string_view bytes) {
  Status status = file.write_at(offset, bytes);
  if (!status.is(StatusCode::kNoSpace)) return status;
  std::string found(bytes.size(), '\0');
  return file.read_at(offset, found).ok() && found == bytes ? Status() : status;
}

// The slots go one by one, the older one first: whenever the power fails, one of them is whole. One
// is enough: where there is no space for the other one, the next update begins with that.
Status update_superblock(os::File& file, format::Superblock& superblock) {
  for (size_t i = 0; i < format::kSuperblockSlots; ++i) {
    format::Superblock next = superblock;
    ++next.generation;
    if (Status status = write_slot(file, next); !status.ok()) {
      return status.is(StatusCode::kNoSpace) && i > 0 ? Status() : status;
    }
    superblock = next;
    if (Status status = file.sync_data(); !status.ok()) {
      return Status(StatusCode::kIoError, std::string(status.message()));  // there is no way back
    }
  }
  return {};
}

}  // namespace hawthorn::db
