#pragma once
// Names of files in a directory, and the superblock file. Used by loading and writing the manifest,
// and by all else in db that names files.
//
// Threads: as db/manifest.h.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/superblock.h"
#include "hawthorn/status.h"
#include "os/machine.h"

namespace hawthorn::db {

inline constexpr char kSuperblockName[] = "superblock";
inline constexpr char kSuperblockNewName[] =
    "superblock.new";  // until its first two slots are durable

// Held by the process that has the database open, or makes or removes it.
inline constexpr char kLockName[] = "lock";

// Space for the next manifest: a file of zeros, or one that was replaced.
inline constexpr char kManifestSpareName[] = "manifest.spare";

std::string manifest_name(uint64_t number);
// 0 when the name is not that of a manifest.
uint64_t manifest_number(std::string_view name);
// The number behind the prefix, decimal; 0 when the name is not such a one.
uint64_t number_in_name(std::string_view name, std::string_view prefix);
std::string join(const std::string& directory, std::string_view name);
// The numbers of the manifests in a directory, ascending.
Result<std::vector<uint64_t>> list_manifests(os::FileSystem& files, const std::string& directory);

Result<format::Superblock> read_superblock(os::FileSystem& files, const std::string& directory,
                                           std::string* warning);
// Makes the file with both slots naming the same manifest (generations 1 and 2). Whole or not there
// after a crash.
Status create_superblock(os::FileSystem& files, const std::string& directory,
                         format::Superblock& superblock);
// A write of what counts only as a whole, as its checksum shows. kNoSpace: it does not, though a
// part of it may be there.
Status write_whole(os::File& file, uint64_t offset, std::string_view bytes);
// For update_superblock.
Result<std::unique_ptr<os::File>> open_superblock(os::FileSystem& files,
                                                  const std::string& directory);
// Writes both slots, one durable before the other; superblock.generation goes up by 2, or by 1
// where there is space for one of them. Errors: kNoSpace, and nothing has changed; others, after
// which either may be found.
Status update_superblock(os::File& file, format::Superblock& superblock);

}  // namespace hawthorn::db
