#include "shims/rocksdb/src/entities.h"

#include <algorithm>
#include <limits>
#include <random>

#include "shims/rocksdb/src/batch_format.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/files.h"
#include "shims/rocksdb/src/slots.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using rocksdb::WideColumn;
using rocksdb::WideColumns;

constexpr uint32_t kVersion = 1;
constexpr size_t kSizeMax = std::numeric_limits<uint32_t>::max();

S damaged() { return S::Corruption("wide columns that cannot be read"); }

}  // namespace

S encode_columns(const WideColumns& columns, std::string* bytes) {
  if (columns.size() > kSizeMax) return S::InvalidArgument("Too many wide columns");
  WideColumns sorted(columns);
  std::sort(sorted.begin(), sorted.end(), [](const WideColumn& a, const WideColumn& b) {
    return a.name().compare(b.name()) < 0;
  });
  append_varint32(kVersion, bytes);
  append_varint32(sorted.size(), bytes);
  for (size_t i = 0; i < sorted.size(); ++i) {
    const WideColumn& column = sorted[i];
    if (column.name().size() > kSizeMax || column.value().size() > kSizeMax) {
      return S::InvalidArgument("Wide column name or value too long");
    }
    if (i > 0 && sorted[i - 1].name() == column.name()) {
      return S::Corruption("Wide columns out of order", "a name comes twice");
    }
    append_string(view(column.name()), bytes);
    append_varint32(column.value().size(), bytes);
  }
  for (const WideColumn& column : sorted) bytes->append(view(column.value()));
  return bytes->size() > kSizeMax ? S::InvalidArgument("wide column entity is too large") : S::OK();
}

S decode_columns(std::string_view bytes, WideColumns* columns) {
  columns->clear();
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  uint32_t version = 0;
  uint32_t count = 0;
  if ((at = read_varint32(at, end, &version)) == nullptr) return damaged();
  if (version > kVersion) return S::NotSupported("Unsupported wide column version");
  if ((at = read_varint32(at, end, &count)) == nullptr) return damaged();
  std::vector<uint32_t> sizes;
  for (uint32_t i = 0; i < count; ++i) {
    rocksdb::Slice name;
    uint32_t size = 0;
    at = read_string(at, end, &name);
    if (at == nullptr || (at = read_varint32(at, end, &size)) == nullptr) return damaged();
    if (i > 0 && columns->back().name().compare(name) >= 0) return damaged();
    columns->emplace_back(name, rocksdb::Slice());
    sizes.push_back(size);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (sizes[i] > static_cast<size_t>(end - at)) return damaged();
    (*columns)[i].value() = rocksdb::Slice(at, sizes[i]);
    at += sizes[i];
  }
  return S::OK();
}

rocksdb::Slice default_of(const WideColumns& columns) {
  const bool has = !columns.empty() && columns.front().name() == rocksdb::kDefaultWideColumnName;
  return has ? columns.front().value() : rocksdb::Slice();
}

S default_column(std::string_view bytes, std::string_view* value) {
  WideColumns columns;
  S s = decode_columns(bytes, &columns);
  if (s.ok()) *value = view(default_of(columns));
  return s;
}

std::string with_default(const WideColumns& columns, std::string_view value) {
  WideColumns changed{WideColumn(rocksdb::kDefaultWideColumnName, slice(value))};
  for (const WideColumn& column : columns) {
    if (column.name() != rocksdb::kDefaultWideColumnName) changed.push_back(column);
  }
  std::string bytes;
  encode_columns(changed, &bytes).PermitUncheckedError();  // names that were right before
  return bytes;
}

std::string EntityMark::make() {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < kBytes) append_fixed(static_cast<uint32_t>(random()), &bytes);
  return bytes;
}

Content EntityMark::content(const std::string& mark, std::string_view stored) {
  if (stored.size() <= kBytes || !stored.starts_with(mark)) return {stored};
  return {stored.substr(kBytes + 1), stored[kBytes] == kEntity};
}

S plain_of(const EntityMark& mark, std::string_view stored, std::string_view* value) {
  const Content content = mark.content(stored);
  *value = content.bytes;
  return content.entity ? default_column(content.bytes, value) : S::OK();
}

bool full_merge_stored(const EntityMark& mark, const rocksdb::MergeOperator& with,
                       std::string_view key, std::optional<std::string_view> stored,
                       const std::vector<rocksdb::Slice>& operands, rocksdb::Logger* logger,
                       std::string* result) {
  if (mark.get() == nullptr) return full_merge(with, key, stored, operands, logger, result);
  WideColumns columns;
  bool entity = false;
  if (stored.has_value()) {
    const Content content = mark.content(*stored);
    entity = content.entity;
    stored = content.bytes;
    if (entity && !decode_columns(content.bytes, &columns).ok()) return false;
    if (entity) stored = view(default_of(columns));
  }
  std::string merged;
  if (!full_merge(with, key, stored, operands, logger, &merged)) return false;
  std::string kept;
  *result = entity ? mark.entity(with_default(columns, merged)) : mark.plain(merged, &kept);
  return true;
}

}  // namespace hawthorn::rocks
