#pragma once
// The files of a backup repository that are not parts: `repository`, and the index of a backup.
//
// Not here: parts (bytes without headers), files and names (db/backup_repository.h). Pure.
// Threads: pure functions.
//
//   INDEX   BackupHeader, files, BackupSeal where the database is encrypted, checksum64 of all
//   before FILE    u32 name bytes, u32 flags (1: its space is reserved), u64 bytes, u64 parts,
//   name, parts PART    BackupPart

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/backup_seal.h"
#include "hawthorn/status.h"

namespace hawthorn::format {

// OFFSET SIZE FIELD
//      0    8 magic       "HAWTREPO"
//      8    4 version     1
//     12    4 reserved    zero
//     16    8 salt        random; of the second checksum of its parts
//     24    8 checksum    checksum64 of bytes [0, 24)
struct RepositoryHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t reserved;
  uint64_t salt;
  uint64_t checksum;
};
static_assert(sizeof(RepositoryHeader) == 32);
static_assert(offsetof(RepositoryHeader, salt) == 16);
static_assert(offsetof(RepositoryHeader, checksum) == 24);

// OFFSET SIZE FIELD
//      0    8 magic         "HAWTBKUP"
//      8    4 version       1; 2: of an encrypted database, with a BackupSeal
//     12    4 incremental   1: it refers to parts of earlier backups
//     16    8 id
//     24    8 created_us    microseconds since 1970
//     32    8 bytes         of all its parts
//     40    8 bytes_stored  of those in parts.<id>
//     48    8 bytes_read    of the database, to make it
//     56    8 files
//     64    8 index_bytes   of backup.<id>, this header included
//     72    8 checksum      checksum64 of bytes [0, 72)
struct BackupHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t incremental;
  uint64_t id;
  uint64_t created_us;
  uint64_t bytes;
  uint64_t bytes_stored;
  uint64_t bytes_read;
  uint64_t files;
  uint64_t index_bytes;
  uint64_t checksum;
};
static_assert(sizeof(BackupHeader) == 80);
static_assert(offsetof(BackupHeader, bytes) == 32);
static_assert(offsetof(BackupHeader, checksum) == 72);

// OFFSET SIZE FIELD
//      0    8 offset     in the file
//      8    8 backup     it stands in parts.<backup>
//     16    8 place      there
//     24    4 bytes      1048576 at most
//     28    4 reserved   zero
//     32    8 sum_low    checksum128
//     40    8 sum_high
//     48    8 salted     checksum64 with the repository's salt
//     56    8 mark_low   what the database's manifest says that it is; zeros: nothing
//     64    8 mark_high
struct BackupPart {
  uint64_t offset;
  uint64_t backup;
  uint64_t place;
  uint32_t bytes;
  uint32_t reserved;
  uint64_t sum_low;
  uint64_t sum_high;
  uint64_t salted;
  uint64_t mark_low;
  uint64_t mark_high;
};
static_assert(sizeof(BackupPart) == 72);
static_assert(offsetof(BackupPart, bytes) == 24);
static_assert(offsetof(BackupPart, salted) == 48);

inline constexpr uint32_t kBackupPartBytesMax = uint32_t{1} << 20;
// No sum of an offset and a size overflows below it.
inline constexpr uint64_t kBackupOffsetMax = uint64_t{1} << 62;
// What is larger is not read, nor written: a backup of some hundred TB.
inline constexpr uint64_t kBackupIndexBytesMax = uint64_t{16} << 30;

struct BackupFile {
  std::string name;
  bool reserve = false;
  uint64_t bytes = 0;
  std::vector<BackupPart> parts;  // ascending, without overlaps
};

struct BackupIndex {
  BackupHeader header{};
  std::vector<BackupFile> files;
  std::optional<BackupSeal> seal;  // of an encrypted database
};

// Of an encrypted database.
bool is_sealed_backup(const BackupHeader& header);
// A plain name: nothing that leads out of a directory.
bool is_backup_file_name(std::string_view name);

std::string encode_repository(uint64_t salt);
// Errors: kCorruption; kNotSupported for a newer version. So are those of the others. Messages name
// offsets; who calls adds the file.
Result<uint64_t> decode_repository(std::string_view bytes);

// Fills in magic, version, files, index_bytes and checksum of the header.
std::string encode_backup(BackupIndex& index);
// The same of an index that has a seal, whose tag it fills in: with `aead` of the seal's key and
// salt, for the repository with this salt. Errors: kIoError where libcrypto fails.
Result<std::string> encode_sealed_backup(BackupIndex& index, std::unique_ptr<Aead> aead,
                                         uint64_t repository_salt);
// Whether the bytes of an index with a seal are what was sealed. They decode.
bool backup_seal_holds(std::string_view bytes, std::unique_ptr<Aead> aead,
                       uint64_t repository_salt);
Result<BackupHeader> decode_backup_header(std::string_view bytes);
Result<BackupIndex> decode_backup(std::string_view bytes);

}  // namespace hawthorn::format
