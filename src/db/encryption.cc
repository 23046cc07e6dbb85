// Encryption at rest: what of it Db and its opening do. The rest is below, where bytes are written
// and read (os/data_keys.h says where).

#include "base/out_of_memory.h"
#include "db/impl.h"
#include "db/manifest_files.h"

namespace hawthorn {
namespace {
Status not_encrypted(const std::string& path) {
  return {StatusCode::kInvalidArgument,
          path + ": the database is not encrypted, yet Options::encryption has keys"};
}
}  // namespace

// Before the manifest is read. Of a new database the id is made up, as the keys belong to it.
Status Db::Impl::open_keys(bool exists, db::LoadedManifest* loaded) {
  if (keys_ == nullptr) {
    if (!exists) return {};
    const auto superblock = db::read_superblock(*machine_.files, path_, nullptr);
    const bool encrypted =
        superblock.ok() && (superblock->features.incompatible & format::kFeatureEncryption) != 0;
    if (!encrypted) return {};  // what is wrong with the superblock is told by who needs it
    return {StatusCode::kInvalidArgument,
            path_ + ": the database is encrypted, and Options::encryption has no keys"};
  }
  {
    os::MutexLock lock(key_mutex_);
    key_store_ = std::make_unique<db::KeyStore>(machine_, path_, options_.encryption);
    if (Status s = load_keys(exists, loaded); !s.ok()) return s;
  }
  keys_->reload = [this] {
    os::MutexLock lock(key_mutex_);
    db::LoadedManifest unused;
    return load_keys(true, &unused);
  };
  return {};
}

Status Db::Impl::load_keys(bool exists, db::LoadedManifest* loaded) {
  if (exists) {
    const auto superblock = db::read_superblock(*machine_.files, path_, nullptr);
    if (!superblock.ok()) return superblock.status();
    if ((superblock->features.incompatible & format::kFeatureEncryption) == 0) {
      return not_encrypted(path_);
    }
    const Result<bool> there = db::KeyStore::exists(machine_, path_);
    if (!there.ok()) return there.status();
    if (!*there) {
      return {StatusCode::kCorruption,
              path_ + ": the file of keys is missing, without which nothing can be read"};
    }
    return key_store_->load(superblock->uuid_low, superblock->uuid_high, keys_.get());
  }
  // Manifests without a superblock are what is left of a database: Manifest::start says so, and
  // its keys are not written over.
  const auto numbers = db::list_manifests(*machine_.files, path_);
  if (!numbers.ok()) return numbers.status();
  if (!numbers->empty() && numbers->back() > 1) {
    return {StatusCode::kInvalidArgument, path_ + ": holds a database without a superblock"};
  }
  loaded->uuid_low = machine_.random->next();
  loaded->uuid_high = machine_.random->next();
  if (Status s = key_store_->create(loaded->uuid_low, loaded->uuid_high); !s.ok()) return s;
  return key_store_->load(loaded->uuid_low, loaded->uuid_high, keys_.get());
}

EncryptionInfo Db::encryption() const {
  EncryptionInfo info;
  if (impl_->keys_ == nullptr) return info;
  os::MutexLock lock(impl_->key_mutex_);
  const format::KeyFile& file = impl_->key_store_->file();
  info.encrypted = true;
  info.key_id = file.key_id;
  info.generation = file.generation;
  info.data_keys = impl_->key_store_->count();
  info.data_key = file.current;
  return info;
}

Status Db::rotate_key(std::string_view key_id) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  if (impl_->keys_ == nullptr) {
    return {StatusCode::kInvalidArgument, impl_->path_ + ": the database is not encrypted"};
  }
  os::MutexLock lock(impl_->key_mutex_);
  return impl_->key_store_->rotate(key_id);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::rotate_data_key() try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  if (impl_->keys_ == nullptr) {
    return {StatusCode::kInvalidArgument, impl_->path_ + ": the database is not encrypted"};
  }
  os::MutexLock lock(impl_->key_mutex_);
  return impl_->key_store_->add_data_key(impl_->keys_.get());
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
