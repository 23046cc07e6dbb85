#include "tools/keys.h"

#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "tools/json.h"

namespace hawthorn::tools {

namespace {

constexpr size_t kTextBytesMax = 1024;

// Overwritten when it goes.
struct Text {
  char bytes[kTextBytesMax] = {};
  size_t size = 0;
  ~Text() {
    volatile char* const at = bytes;
    for (size_t i = 0; i < sizeof(bytes); ++i) at[i] = 0;
  }
};

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Status read_all(std::FILE* stream, const std::string& name, Text* text) {
  const std::unique_ptr<std::FILE, Close> file(stream);
  if (file == nullptr) {
    const StatusCode code = errno == ENOENT ? StatusCode::kNotFound : StatusCode::kIoError;
    return {code, name + ": " + std::strerror(errno)};
  }
  std::setvbuf(file.get(), nullptr, _IONBF, 0);  // no copy of it stays in a buffer
  text->size = std::fread(text->bytes, 1, kTextBytesMax, file.get());
  if (std::ferror(file.get()) != 0) return {StatusCode::kIoError, name + ": it cannot be read"};
  return {};
}

// 32 bytes as they are, or 64 hexadecimal digits.
Result<SecretKey> parse(const Text& text, const std::string& name) {
  const std::string_view bytes(text.bytes, text.size);
  Result<SecretKey> key =
      bytes.size() == SecretKey::kBytes ? SecretKey::from_bytes(bytes) : SecretKey::from_hex(bytes);
  if (key.ok()) return key;
  return Status(StatusCode::kInvalidArgument,
                name + ": a key is 64 hexadecimal digits, or 32 bytes as they are");
}

Result<SecretKey> read_key(const KeySource& source) {
  const int sources = (source.file.empty() ? 0 : 1) + (source.variable.empty() ? 0 : 1) +
                      (source.descriptor < 0 ? 0 : 1);
  if (sources != 1) {
    return Status(StatusCode::kInvalidArgument,
                  "a key comes from a file, or a variable, or a descriptor");
  }
  Text text;
  if (!source.variable.empty()) {
    const char* const value = std::getenv(source.variable.c_str());
    if (value == nullptr) {
      return Status(StatusCode::kNotFound, "the environment has no " + source.variable);
    }
    text.size = std::min(std::strlen(value), kTextBytesMax);
    std::memcpy(text.bytes, value, text.size);
    return parse(text, source.variable);
  }
  const std::string name =
      source.file.empty() ? "descriptor " + std::to_string(source.descriptor) : source.file;
  Status status = read_all(
      source.file.empty() ? fdopen(source.descriptor, "rb") : std::fopen(source.file.c_str(), "rb"),
      name, &text);
  if (!status.ok()) return status;
  return parse(text, name);
}

Status print_encryption(const CommonOptions& common, const Db& db) {
  const EncryptionInfo info = db.encryption();
  if (common.json) {
    Json json;
    json.begin_object();
    json.field("key_id", info.key_id);
    json.field("data_keys", uint64_t{info.data_keys});
    json.field("data_key", uint64_t{info.data_key});
    json.end_object();
    return print_line(json.text());
  }
  return print_line("key \"" + info.key_id + "\", data key " + std::to_string(info.data_key) +
                    " of " + std::to_string(info.data_keys));
}

}  // namespace

Result<Encryption> encryption_of(const KeySource& source, const std::string& new_id,
                                 const KeySource& other, const std::string& other_id) {
  if (!source.named()) return Encryption();
  Result<SecretKey> key = read_key(source);
  if (!key.ok()) return key.status();
  std::optional<SecretKey> another;
  if (other.named()) {
    Result<SecretKey> read = read_key(other);
    if (!read.ok()) return read.status();
    another = *read;
  }
  Encryption encryption;
  encryption.key_id = new_id;
  encryption.key = [key = *key, another, other_id](std::string_view id) -> Result<SecretKey> {
    return another.has_value() && id == other_id ? *another : key;
  };
  return encryption;
}

Status run_rotate_key(const CommonOptions& common, const RotateKeyOptions& options) {
  if (!options.new_key.named()) {
    return {StatusCode::kInvalidArgument,
            "name where the new key is: --new-key-file, --new-key-env or --new-key-fd"};
  }
  Result<Encryption> encryption =
      encryption_of(common.key, {}, options.new_key, options.new_key_id);
  if (!encryption.ok()) return encryption.status();
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kWrite, &*encryption);
  if (!db.ok()) return db.status();
  if ((*db)->encryption().key_id == options.new_key_id) {
    return {StatusCode::kInvalidArgument, "the present key has this id; another needs another one"};
  }
  if (Status s = (*db)->rotate_key(options.new_key_id); !s.ok()) return s;
  if (Status s = print_encryption(common, **db); !s.ok()) return s;
  return (*db)->close();
}

Status run_rotate_data_key(const CommonOptions& common) {
  Result<std::shared_ptr<Db>> db = open_database(common, Access::kWrite);
  if (!db.ok()) return db.status();
  if (Status s = (*db)->rotate_data_key(); !s.ok()) return s;
  if (Status s = print_encryption(common, **db); !s.ok()) return s;
  return (*db)->close();
}

}  // namespace hawthorn::tools
