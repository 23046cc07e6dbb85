#include "format/prepare_record.h"

#include <cstring>

#include "base/bytes.h"
#include "format/operation.h"

namespace hawthorn::format {

namespace {
constexpr char kLockItem = 1;
constexpr char kKeyItem = 2;
constexpr char kRangeItem = 3;
constexpr uint8_t kModes = 3;

Status damaged_prepare(const char* what) { return Status(StatusCode::kCorruption, what); }

void append_text(std::string& to, std::string_view text) {
  append_varint(to, text.size());
  to.append(text);
}

// The byte behind it, or null.
const char* take_bytes(const char* at, const char* end, uint64_t size, std::string* text) {
  if (at == nullptr || size > kKeyBytesMax + 1 || static_cast<uint64_t>(end - at) < size) {
    return nullptr;
  }
  text->assign(at, size);
  return at + size;
}

const char* take_text(const char* at, const char* end, std::string* text) {
  uint64_t size = 0;
  at = at == nullptr ? nullptr : get_varint(at, end, &size);
  return take_bytes(at, end, size, text);
}

const char* take_tree(const char* at, const char* end, uint32_t* tree) {
  uint64_t number = 0;
  at = get_varint(at, end, &number);
  if (at == nullptr || number > UINT32_MAX) return nullptr;
  *tree = static_cast<uint32_t>(number);
  return at;
}

const char* take_lock(const char* at, const char* end, PreparedLock* lock) {
  if (at == end || static_cast<uint8_t>(*at) >= kModes) return nullptr;
  lock->mode = static_cast<uint8_t>(*at++);
  return take_text(take_tree(at, end, &lock->tree), end, &lock->key);
}

const char* take_read(const char* at, const char* end, bool range, PreparedRead* read) {
  at = take_text(take_tree(at, end, &read->tree), end, &read->low);
  if (at == nullptr) return nullptr;
  if (!range) {
    read->high = read->low + '\0';
    return at;
  }
  uint64_t size = 0;
  at = get_varint(at, end, &size);
  if (at == nullptr || size == 0) return at;
  read->high.emplace();
  return take_bytes(at, end, size - 1, &*read->high);
}
}  // namespace

std::string encode_prepare(PrepareHeader header, std::string_view id, std::string_view held) {
  header.id_bytes = static_cast<uint32_t>(id.size());
  std::string payload(reinterpret_cast<const char*>(&header), sizeof(header));
  payload.append(id);
  payload.append(held);
  return payload;
}

Result<PreparePart> decode_prepare(std::string_view payload) {
  PreparePart part;
  if (payload.size() < sizeof(part.header)) return damaged_prepare("a prepare record is too short");
  std::memcpy(&part.header, payload.data(), sizeof(part.header));
  payload.remove_prefix(sizeof(part.header));
  const size_t id_bytes = part.header.id_bytes;
  if (id_bytes == 0 || id_bytes > kPreparedIdBytesMax || id_bytes > payload.size()) {
    return damaged_prepare("a prepare record has no valid id");
  }
  if (part.header.part >= part.header.parts) {
    return damaged_prepare("a prepare record has a part behind its last one");
  }
  part.id = payload.substr(0, id_bytes);
  part.held = payload.substr(id_bytes);
  return part;
}

void append_prepared_lock(std::string& held, uint8_t mode, uint32_t tree, std::string_view key) {
  held += kLockItem;
  held += static_cast<char>(mode);
  append_varint(held, tree);
  append_text(held, key);
}

void append_prepared_read(std::string& held, const PreparedRead& read) {
  const bool key = read.high.has_value() && read.high->size() == read.low.size() + 1 &&
                   read.high->starts_with(read.low) && read.high->back() == '\0';
  held += key ? kKeyItem : kRangeItem;
  append_varint(held, read.tree);
  append_text(held, read.low);
  if (key) return;
  append_varint(held, read.high.has_value() ? read.high->size() + 1 : 0);
  if (read.high.has_value()) held += *read.high;
}

Result<PreparedHeld> decode_prepared_held(std::string_view bytes) {
  PreparedHeld held;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != nullptr && at < end) {
    const char item = *at++;
    if (item == kLockItem) {
      at = take_lock(at, end, &held.locks.emplace_back());
    } else if (item == kKeyItem || item == kRangeItem) {
      at = take_read(at, end, item == kRangeItem, &held.reads.emplace_back());
    } else {
      at = nullptr;
    }
  }
  if (at == nullptr)
    return damaged_prepare("a prepare record holds no valid list of locks and reads");
  return held;
}

}  // namespace hawthorn::format
