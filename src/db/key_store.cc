#include "db/key_store.h"

#include <algorithm>
#include <span>
#include <utility>

#include "db/manifest_files.h"

namespace hawthorn::db {

namespace {
Status in(std::string_view directory, const Status& status) {
  return {status.code(), std::string(directory) + ": " + std::string(status.message())};
}
}  // namespace

Result<bool> KeyStore::exists(const os::Machine& machine, const std::string& directory) {
  return machine.files->exists(join(directory, format::kKeyFileName));
}

Result<SecretKey> KeyStore::ask(std::string_view key_id) const {
  Result<SecretKey> key = encryption_.key(key_id);
  if (key.ok()) return key;
  return Status(key.status().code(), directory_ + ": key \"" + std::string(key_id) +
                                         "\": " + std::string(key.status().message()));
}

Result<format::KeyFile> KeyStore::read() const {
  auto file =
      machine_.files->open_file(join(directory_, format::kKeyFileName), {.read_only = true});
  if (!file.ok()) return file.status();
  const Result<uint64_t> size = (*file)->size();
  if (!size.ok()) return size.status();
  std::string bytes(std::min<uint64_t>(*size, format::kKeyFileBytes), '\0');
  if (Status s = (*file)->read_at(0, bytes); !s.ok()) {
    // One slot is enough, where a sector of the other cannot be read.
    bool any = false;
    for (size_t at = 0; at < bytes.size(); at += format::kKeySlotBytes) {
      const std::span<char> slot(bytes.data() + at,
                                 std::min(format::kKeySlotBytes, bytes.size() - at));
      const bool read = (*file)->read_at(at, slot).ok();
      if (!read) std::fill(slot.begin(), slot.end(), '\0');
      any = any || read;
    }
    if (!any) return s;
  }
  Result<format::KeyFile> plain = format::read_key_file(bytes);
  if (!plain.ok()) return in(directory_, plain.status());
  const Result<SecretKey> key = ask(plain->key_id);
  if (!key.ok()) return key.status();
  Result<format::KeyFile> opened = format::open_key_file(bytes, *key);
  if (!opened.ok()) return in(directory_, opened.status());
  return opened;
}

Status KeyStore::write(format::KeyFile file, const SecretKey& key) {
  const Result<std::string> bytes = format::encode_key_file(file, key);
  if (!bytes.ok()) return bytes.status();
  const std::string path = join(directory_, format::kKeyFileNewName);
  {
    auto made = machine_.files->open_file(path, {.create = true});
    if (!made.ok()) return made.status();
    if (Status s = (*made)->truncate(0); !s.ok()) return s;
    if (Status s = (*made)->write_at(0, *bytes); !s.ok()) return s;
    if (Status s = (*made)->sync_data(); !s.ok()) return s;
  }
  Status status = machine_.files->rename(path, join(directory_, format::kKeyFileName));
  if (status.ok()) status = machine_.files->sync_directory(directory_);
  if (!status.ok()) return status;
  count_ = static_cast<uint32_t>(file.keys.size());
  file.keys.clear();
  file_ = std::move(file);
  return {};
}

namespace {
Status check_id(std::string_view key_id) {
  if (!key_id.empty() && key_id.size() <= format::kKeyIdBytesMax) return {};
  return {StatusCode::kInvalidArgument, "the id of a key has " + std::to_string(key_id.size()) +
                                            " bytes; it has to have 1 to 255"};
}
}  // namespace

Status KeyStore::create(uint64_t uuid_low, uint64_t uuid_high) {
  format::KeyFile file;
  file.uuid_low = uuid_low;
  file.uuid_high = uuid_high;
  file.generation = 1;
  file.current = 1;
  file.key_id = encryption_.key_id;
  if (Status s = check_id(file.key_id); !s.ok()) {
    return {s.code(), directory_ + ": Options::encryption.key_id: " + std::string(s.message())};
  }
  const Result<SecretKey> key = ask(file.key_id);
  if (!key.ok()) return key.status();
  Result<SecretKey> data_key = SecretKey::generate();
  if (!data_key.ok()) return data_key.status();
  file.keys.emplace_back(1, *data_key);
  return write(std::move(file), *key);
}

Status KeyStore::load(uint64_t uuid_low, uint64_t uuid_high, os::DataKeys* keys) {
  Result<format::KeyFile> file = read();
  if (!file.ok()) return file.status();
  if (file->uuid_low != uuid_low || file->uuid_high != uuid_high) {
    return {StatusCode::kCorruption, directory_ + ": the file of keys belongs to another database"};
  }
  return take(std::move(*file), keys);
}

Status KeyStore::load(os::DataKeys* keys) {
  Result<format::KeyFile> file = read();
  return file.ok() ? take(std::move(*file), keys) : file.status();
}

Status KeyStore::repeat(uint64_t uuid_low, uint64_t uuid_high, const std::string& directory) const {
  Result<format::KeyFile> file = read();
  if (!file.ok()) return file.status();
  const Result<SecretKey> key = ask(file->key_id);
  if (!key.ok()) return key.status();
  file->uuid_low = uuid_low;
  file->uuid_high = uuid_high;
  file->generation = 1;
  return KeyStore(machine_, directory, encryption_).write(std::move(*file), *key);
}

Status KeyStore::take(format::KeyFile file, os::DataKeys* keys) {
  for (const auto& [number, key] : file.keys) keys->add(number, key, number == file.current);
  count_ = static_cast<uint32_t>(file.keys.size());
  file.keys.clear();
  file_ = std::move(file);
  return {};
}

Status KeyStore::rotate(std::string_view key_id) {
  if (Status s = check_id(key_id); !s.ok()) return s;
  Result<format::KeyFile> file = read();
  if (!file.ok()) return file.status();
  const Result<SecretKey> key = ask(key_id);
  if (!key.ok()) return key.status();
  file->key_id.assign(key_id);
  ++file->generation;
  return write(std::move(*file), *key);
}

Result<std::string> KeyStore::copy_for(uint64_t uuid_low, uint64_t uuid_high,
                                       os::DataKeys* keys) const {
  Result<format::KeyFile> file = read();
  if (!file.ok()) return file.status();
  const Result<SecretKey> key = ask(file->key_id);
  if (!key.ok()) return key.status();
  file->uuid_low = uuid_low;
  file->uuid_high = uuid_high;
  file->generation = 1;
  for (const auto& [number, data_key] : file->keys) {
    keys->add(number, data_key, number == file->current);
  }
  return format::encode_key_file(*file, *key);
}

Status KeyStore::add_data_key(os::DataKeys* keys) {
  Result<format::KeyFile> file = read();
  if (!file.ok()) return file.status();
  const Result<SecretKey> key = ask(file->key_id);
  if (!key.ok()) return key.status();
  const Result<SecretKey> data_key = SecretKey::generate();
  if (!data_key.ok()) return data_key.status();
  const uint32_t number = file->keys.back().first + 1;
  file->keys.emplace_back(number, *data_key);
  file->current = number;
  ++file->generation;
  if (Status s = write(std::move(*file), *key); !s.ok()) return s;
  keys->add(number, *data_key, true);
  return {};
}

}  // namespace hawthorn::db
