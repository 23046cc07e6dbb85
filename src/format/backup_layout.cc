#include "format/backup_layout.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/checksum.h"

namespace hawthorn::format {
namespace {

constexpr uint64_t kRepositoryMagic = 0x4f50455254574148;  // "HAWTREPO"
constexpr uint64_t kBackupMagic = 0x50554b4254574148;      // "HAWTBKUP"
constexpr uint32_t kVersion = 1;
constexpr uint32_t kSealedVersion = 2;  // of an index
constexpr size_t kSealedPieceBytes = size_t{1} << 20;
constexpr uint32_t kReserveFlag = 1;
constexpr uint32_t kNameBytesMax = 255;
constexpr size_t kFileHeadBytes = 24;

Status damaged(size_t offset, std::string_view what) {
  return Status(StatusCode::kCorruption, "at " + std::to_string(offset) + ": " + std::string(what));
}

// Reads what stands behind the header, with the index's checksum already compared.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes), at_(sizeof(BackupHeader)) {}
  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  Status file(uint64_t id, BackupFile* file);

 private:
  Status part(uint64_t id, uint64_t end, BackupFile* file);

  const std::string_view bytes_;
  size_t at_;
};

Status Reader::part(uint64_t id, uint64_t end, BackupFile* file) {
  const auto part = load<BackupPart>(bytes_.data() + at_);
  const uint64_t before =
      file->parts.empty() ? 0 : file->parts.back().offset + file->parts.back().bytes;
  if (part.reserved != 0 || part.bytes == 0 || part.bytes > kBackupPartBytesMax ||
      part.place > kBackupOffsetMax || end > kBackupOffsetMax || part.offset < before ||
      part.offset > end || end - part.offset < part.bytes || part.backup == 0 || part.backup > id) {
    return damaged(at_, "a part that cannot be");
  }
  file->parts.push_back(part);
  at_ += sizeof(BackupPart);
  return {};
}

Status Reader::file(uint64_t id, BackupFile* file) {
  if (left() < kFileHeadBytes) return damaged(at_, "the index ends in a file");
  const char* const head = bytes_.data() + at_;
  const auto name_bytes = load<uint32_t>(head);
  const auto flags = load<uint32_t>(head + 4);
  file->bytes = load<uint64_t>(head + 8);
  const auto count = load<uint64_t>(head + 16);
  if (left() - kFileHeadBytes < name_bytes || flags > kReserveFlag) {
    return damaged(at_, "a file that cannot be");
  }
  file->name.assign(head + kFileHeadBytes, name_bytes);
  file->reserve = flags == kReserveFlag;
  if (!is_backup_file_name(file->name)) return damaged(at_, "a file's name that cannot be");
  at_ += kFileHeadBytes + name_bytes;
  if (count > left() / sizeof(BackupPart)) return damaged(at_, "the index ends in a file's parts");
  file->parts.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) {
    if (Status s = part(id, file->bytes, file); !s.ok()) return s;
  }
  return {};
}

}  // namespace

bool is_sealed_backup(const BackupHeader& header) { return header.version == kSealedVersion; }

bool is_backup_file_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.") ==
             std::string_view::npos &&
         name.front() != '.';
}

std::string encode_repository(uint64_t salt) {
  RepositoryHeader header{kRepositoryMagic, kVersion, 0, salt, 0};
  header.checksum = checksum64(&header, offsetof(RepositoryHeader, checksum), 0);
  return std::string(bytes_of(header));
}

Result<uint64_t> decode_repository(std::string_view bytes) {
  if (bytes.size() != sizeof(RepositoryHeader)) return damaged(0, "it has another size");
  const auto header = load<RepositoryHeader>(bytes.data());
  if (header.magic != kRepositoryMagic ||
      header.checksum != checksum64(&header, offsetof(RepositoryHeader, checksum), 0)) {
    return damaged(0, "magic or checksum differ");
  }
  if (header.version != kVersion) {
    return Status(StatusCode::kNotSupported, "a newer version wrote it");
  }
  return header.salt;
}

std::string encode_backup(BackupIndex& index) {
  BackupHeader& header = index.header;
  header.magic = kBackupMagic;
  header.version = index.seal.has_value() ? kSealedVersion : kVersion;
  header.files = index.files.size();
  header.index_bytes = sizeof(header) + sizeof(uint64_t);
  if (index.seal.has_value()) header.index_bytes += sizeof(BackupSeal);
  for (const BackupFile& file : index.files) {
    header.index_bytes +=
        kFileHeadBytes + file.name.size() + file.parts.size() * sizeof(BackupPart);
  }
  header.checksum = checksum64(&header, offsetof(BackupHeader, checksum), 0);
  std::string bytes(bytes_of(header));
  for (const BackupFile& file : index.files) {
    append(bytes, static_cast<uint32_t>(file.name.size()));
    append(bytes, file.reserve ? kReserveFlag : uint32_t{0});
    append(bytes, file.bytes);
    append(bytes, static_cast<uint64_t>(file.parts.size()));
    bytes += file.name;
    for (const BackupPart& part : file.parts) bytes += bytes_of(part);
  }
  if (index.seal.has_value()) bytes += bytes_of(*index.seal);
  append(bytes, checksum64(bytes.data(), bytes.size(), 0));
  return bytes;
}

namespace {
// All before the tag, and the repository: an index is of no other one.
bool chain_of(std::string_view bytes, std::unique_ptr<Aead> aead, uint64_t repository_salt,
              std::array<char, kTagBytes>* tag) {
  BackupChain chain(std::move(aead));
  chain.add(bytes_of(repository_salt));
  bytes.remove_suffix(kTagBytes + sizeof(uint64_t));
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kSealedPieceBytes))) {
    chain.add(bytes.substr(0, kSealedPieceBytes));
  }
  return chain.tag(tag);
}
}  // namespace

Result<std::string> encode_sealed_backup(BackupIndex& index, std::unique_ptr<Aead> aead,
                                         uint64_t repository_salt) {
  std::string bytes = encode_backup(index);
  if (!chain_of(bytes, std::move(aead), repository_salt, &index.seal->tag)) {
    return Status(StatusCode::kIoError, "libcrypto could not seal the index of the backup");
  }
  const size_t end = bytes.size() - sizeof(uint64_t);
  std::memcpy(bytes.data() + end - kTagBytes, index.seal->tag.data(), kTagBytes);
  store<uint64_t>(bytes.data() + end, checksum64(bytes.data(), end, 0));
  return bytes;
}

bool backup_seal_holds(std::string_view bytes, std::unique_ptr<Aead> aead,
                       uint64_t repository_salt) {
  std::array<char, kTagBytes> tag;
  return chain_of(bytes, std::move(aead), repository_salt, &tag) &&
         std::equal(tag.begin(), tag.end(), bytes.end() - sizeof(uint64_t) - kTagBytes);
}

Result<BackupHeader> decode_backup_header(std::string_view bytes) {
  if (bytes.size() < sizeof(BackupHeader)) return damaged(bytes.size(), "it ends in its header");
  const auto header = load<BackupHeader>(bytes.data());
  if (header.magic != kBackupMagic ||
      header.checksum != checksum64(&header, offsetof(BackupHeader, checksum), 0)) {
    return damaged(0, "magic or checksum of the header differ");
  }
  if (header.version != kVersion && header.version != kSealedVersion) {
    return Status(StatusCode::kNotSupported, "a newer version wrote it");
  }
  return header;
}

Result<BackupIndex> decode_backup(std::string_view bytes) {
  Result<BackupHeader> header = decode_backup_header(bytes);
  if (!header.ok()) return header.status();
  const size_t seal_bytes = header->version == kSealedVersion ? sizeof(BackupSeal) : 0;
  if (bytes.size() < sizeof(BackupHeader) + seal_bytes + sizeof(uint64_t)) {
    return damaged(bytes.size(), "it ends behind its header");
  }
  if (bytes.size() != header->index_bytes) {
    return damaged(bytes.size(), "it has another size than its header says");
  }
  const size_t end = bytes.size() - sizeof(uint64_t);
  if (load<uint64_t>(bytes.data() + end) != checksum64(bytes.data(), end, 0)) {
    return damaged(0, "the checksum of the index differs");
  }
  BackupIndex index;
  index.header = *header;
  if (seal_bytes != 0) index.seal = load<BackupSeal>(bytes.data() + end - seal_bytes);
  Reader reader(bytes.substr(0, end - seal_bytes));
  for (uint64_t i = 0; i < header->files; ++i) {
    BackupFile file;
    if (Status s = reader.file(header->id, &file); !s.ok()) return s;
    index.files.push_back(std::move(file));
  }
  if (reader.left() != 0) return damaged(reader.at(), "there is more than its files");
  return index;
}

}  // namespace hawthorn::format
