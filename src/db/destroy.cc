// Removing a database: Db::destroy.

#include "base/out_of_memory.h"
#include "db/entry_file.h"
#include "db/follower_registry.h"
#include "db/impl.h"
#include "db/incomplete.h"
#include "db/key_store.h"
#include "db/manifest_files.h"
#include "os/place.h"
#include "space/device_image.h"

namespace hawthorn {

namespace {
// A manifest that cannot be read names none: then its database is gone, and so must be the
// labels, by hand.
Status clear_devices(const os::Machine& real, const std::string& path,
                     const Encryption& encryption) {
  const auto superblock = db::read_superblock(*real.files, path, nullptr);
  if (!superblock.ok()) return {};
  const uint64_t features = superblock->features.incompatible;
  os::Machine machine = real;
  os::DataKeys keys;
  if ((features & format::kFeatureEncryption) != 0) {
    if ((features & format::kFeatureDevices) == 0) return {};
    if (encryption.key == nullptr) {
      return {StatusCode::kInvalidArgument,
              path + ": which devices it has is encrypted, and there are no keys"};
    }
    db::KeyStore store(machine, path, encryption);
    Status status = store.load(superblock->uuid_low, superblock->uuid_high, &keys);
    if (!status.ok()) return status;
    machine.keys = &keys;
  }
  const Result<db::LoadedManifest> loaded = db::Manifest::load(machine, path, nullptr);
  if (!loaded.ok()) return {};
  for (const format::DeviceRecord& device : loaded->state.devices) {
    const Result<std::string> found = space::find_device(machine, path, device);
    if (!found.ok()) return found.status();
    // An image that a destroy before this one has removed already.
    if (*found == space::device_image_name(device.index)) {
      const Result<bool> there = machine.files->exists(*found);
      if (there.ok() && !*there) continue;
    }
    Status s = space::clear_label(machine, *found, loaded->uuid_low, loaded->uuid_high);
    if (!s.ok()) return s;
  }
  return {};
}
}  // namespace

Status Db::destroy(const std::string& named, const Encryption& encryption) try {
  const auto place = os::Place::of(os::real_machine(), named);
  if (!place.ok()) return place.status();
  if (Status s = (*place)->hold(); !s.ok() && !s.is_not_found()) return s;
  const os::Machine& machine = (*place)->machine();
  const std::string& path = (*place)->path();
  if (Status s = db::refuse_incomplete(machine, path); !s.ok()) return s;
  Result<bool> there = db::Manifest::exists(machine, path);
  if (!there.ok()) return there.status();
  if (!*there) return Status(StatusCode::kNotFound, path + " holds no database");
  os::OpenFlags flags;
  flags.create = true;
  flags.locks = true;
  Result<std::unique_ptr<os::File>> lock =
      machine.files->open_file(db::join(path, db::kLockName), flags);
  if (!lock.ok()) return lock.status();
  if (Status s = (*lock)->lock_exclusive(); !s.ok()) return s;
  const Result<bool> has_name = (*lock)->has_name();
  if (!has_name.ok()) return has_name.status();
  if (!*has_name) return Status(StatusCode::kNotFound, path + " holds no database any more");
  if (Status s = db::refuse_incomplete(machine, path); !s.ok()) return s;
  const Result<bool> followed = db::FollowerRegistry::any(machine, path);
  if (!followed.ok()) return followed.status();
  if (*followed) return Status(StatusCode::kBusy, path + " is being read by a follower");
  if (Status s = clear_devices(machine, path, encryption); !s.ok()) return s;
  Result<std::vector<std::string>> names = machine.files->list(path);
  if (!names.ok()) return names.status();
  // The superblock goes last: what is left by a crash is still recognised as a database.
  bool superblock = false;
  bool others = false;
  for (const std::string& name : *names) {
    if (name == "superblock") {
      superblock = true;
    } else if (db::is_manifest_file(name) || wal::is_log_file(name) || space::is_data_file(name) ||
               space::is_device_image(name) || db::is_ingest_file(name) ||
               name == db::OutcomeReserve::kName || name == format::kKeyFileName ||
               name == format::kKeyFileNewName || name == db::CountersFile::kName ||
               name == format::kFollowersName || name == format::kRevocationsName) {
      if (Status s = machine.files->remove(path + "/" + name); !s.ok()) return s;
    } else if (name != db::kLockName) {
      others = true;
    }
  }
  if (Status s = machine.files->sync_directory(path); !s.ok()) return s;
  if (superblock) {
    if (Status s = machine.files->remove(path + "/superblock"); !s.ok()) return s;
  }
  if (Status s = machine.files->remove(db::join(path, db::kLockName)); !s.ok()) return s;
  if (Status s = machine.files->sync_directory(path); !s.ok()) return s;
  return others ? Status() : machine.files->remove_directory(path);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
