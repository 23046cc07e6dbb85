// Large values, a part of the check of a container: every byte of their extents, whichever pieces
// use them.

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "db/check_container.h"
#include "os/file.h"
#include "tree/sealed_blocks.h"

namespace hawthorn::db {

using format::ExtentAddress;
using format::kLargeSumBytes;
using Kind = CheckItem::Kind;

namespace {

// What [from, to) of an extent has of a piece that was read at `at`.
std::string_view part_of_piece(std::string_view piece, uint64_t at, uint64_t from, uint64_t to) {
  const uint64_t begin = std::max(from, at);
  const uint64_t end = std::min(to, at + piece.size());
  return begin < end ? piece.substr(begin - at, end - begin) : std::string_view();
}
}  // namespace

// The versions of a key may share extents; the manifest names each once, and none besides.
void ContainerCheck::check_large_extents(std::vector<ExtentAddress>* named) {
  std::sort(named->begin(), named->end());
  named->erase(std::unique(named->begin(), named->end()), named->end());
  std::vector<ExtentAddress> listed(record_->large.begin(), record_->large.end());
  std::sort(listed.begin(), listed.end());
  const auto tell_those = [&](const std::vector<ExtentAddress>& these,
                              const std::vector<ExtentAddress>& others, const char* what) {
    std::vector<ExtentAddress> only;
    std::set_difference(these.begin(), these.end(), others.begin(), others.end(),
                        std::back_inserter(only));
    for (const ExtentAddress& address : only) {
      tell(item_at(Kind::kReference, address, 0, uint64_t{address.blocks} * os::kBlockBytes, what));
    }
  };
  tell_those(*named, listed, "an extent of a large value that the manifest does not name");
  tell_those(listed, *named, "an extent of a large value that the manifest names, and no entry");
}

void ContainerCheck::check_large(const format::LargeValue& value) {
  sink_.large_values.fetch_add(1, std::memory_order_relaxed);
  std::vector<CheckItem> found;
  read_large_value(value, &found);
  for (CheckItem& one : found) tell(std::move(one));
}

// What is wrong with it, but for extents that were looked at before.
void ContainerCheck::read_large_value(const format::LargeValue& value,
                                      std::vector<CheckItem>* found) {
  if (value.in_pieces()) {
    read_large_pieces(value, found);
  } else {
    read_large_whole(value, found);
  }
}

// To the buffer. False: it could not be read, which was told, or it is to end.
bool ContainerCheck::read_large(const ExtentAddress& address, uint64_t at, size_t bytes,
                                std::vector<CheckItem>* found) {
  std::vector<Bad> bad;
  const auto first = static_cast<uint32_t>(at / os::kBlockBytes);
  if (!read_piece(address, first,
                  static_cast<uint32_t>((bytes + os::kBlockBytes - 1) / os::kBlockBytes), &bad)) {
    return false;
  }
  for (const Bad& row : bad) {
    CheckItem unread = item_at(Kind::kUnchecked, address, uint64_t{row.first} * os::kBlockBytes,
                               uint64_t{row.count} * os::kBlockBytes, "a large value");
    if (row.status.is(StatusCode::kCorruption)) unread.kind = Kind::kReference;
    unread.what += ": " + row.status.to_string();
    found->push_back(std::move(unread));
  }
  return bad.empty();
}

bool ContainerCheck::whole_checksum(const format::LargeValue& value, uint64_t* checksum,
                                    std::vector<CheckItem>* found) {
  static_assert(kBufferBytes % format::kLargeChunkBytes == 0);
  *checksum = 0;
  uint64_t left = value.size;
  std::string chunk;  // chunks are of the value, wherever its extents end
  for (const ExtentAddress& address : value.extents) {
    const uint64_t bytes = std::min<uint64_t>(left, uint64_t{address.blocks} * os::kBlockBytes);
    for (uint64_t at = 0; at < bytes;) {
      const auto size = static_cast<size_t>(std::min<uint64_t>(bytes - at, kBufferBytes));
      if (!read_large(address, at, size, found)) return false;
      for (size_t from = 0; from < size;) {
        const size_t take = std::min(format::kLargeChunkBytes - chunk.size(), size - from);
        chunk.append(buffer_ + from, take);
        from += take;
        left -= take;
        if (chunk.size() < format::kLargeChunkBytes && left > 0) continue;
        *checksum = format::extend_large_checksum(*checksum, chunk);
        chunk.clear();
      }
      at += size;
    }
  }
  return left == 0;
}

// One checksum covers all of it: it does not tell where it is wrong.
void ContainerCheck::read_large_whole(const format::LargeValue& value,
                                      std::vector<CheckItem>* found) {
  const ExtentAddress first = value.extents.empty() ? ExtentAddress() : value.extents.front();
  if (!whole_seen_.insert(first).second) return;
  for (int attempt = 0; attempt < 2 && !ended_; ++attempt) {
    found->clear();
    uint64_t checksum = 0;
    const bool read = whole_checksum(value, &checksum, found);
    if (ended_ || (read && checksum == value.checksum)) return;
    if (!read) continue;
    found->push_back(item_at(Kind::kChecksum, first, 0, value.size,
                             "checksum mismatch in a large value, of which this is the first "
                             "extent of " +
                                 std::to_string(value.extents.size())));
  }
}

void ContainerCheck::read_large_pieces(const format::LargeValue& value,
                                       std::vector<CheckItem>* found) {
  for (size_t i = 0; i < value.extents.size(); ++i) {
    const ExtentAddress& address = value.extents[i];
    if (!large_seen_.insert(address).second) continue;
    std::vector<CheckItem> here;
    for (int attempt = 0; attempt < 2; ++attempt) {
      here.clear();
      if (!read_large_extent(address, value.contents[i], &here) && ended_) return;
      if (here.empty()) break;
    }
    std::move(here.begin(), here.end(), std::back_inserter(*found));
  }
}

// All of an extent: contents, table of sums, and zeros between and behind them.
bool ContainerCheck::read_large_extent(const ExtentAddress& address,
                                       const format::LargeContent& content,
                                       std::vector<CheckItem>* found) {
  static_assert(kBufferBytes % kLargeSumBytes == 0);
  if (content.blocks() > address.blocks) {
    found->push_back(item_at(Kind::kStructure, address, 0, 0,
                             "a part of a large value is longer than its extent"));
    return false;
  }
  if (content.sealed) return read_sealed_extent(address, content, found);
  std::vector<uint64_t> sums;
  std::string table;
  const bool read = walk_extent(address, content, found, [&](uint64_t at, std::string_view piece) {
    const std::string_view bytes = part_of_piece(piece, at, 0, content.bytes);
    for (size_t from = 0; from < bytes.size(); from += kLargeSumBytes) {
      sums.push_back(format::large_sum(bytes.substr(from, kLargeSumBytes)));
    }
    table +=
        part_of_piece(piece, at, content.table_at(), content.table_at() + content.table_bytes());
  });
  if (read) judge_table(address, content, sums, table, found);
  return read;
}

// Hands all of an extent over, piece by piece in the buffer, which may change it; tells what fills
// it up and is not zero.
bool ContainerCheck::walk_extent(const ExtentAddress& address, const format::LargeContent& content,
                                 std::vector<CheckItem>* found,
                                 const std::function<void(uint64_t, std::string_view)>& look) {
  const uint64_t end = uint64_t{content.blocks()} * os::kBlockBytes;
  const uint64_t table_end = content.table_at() + content.table_bytes();
  bool padded = true;
  for (uint64_t at = 0; at < end; at += kBufferBytes) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(end - at, kBufferBytes));
    if (!read_large(address, at, size, found)) return false;
    const std::string_view piece(buffer_, size);
    padded = padded && all_zero(part_of_piece(piece, at, content.bytes, content.table_at())) &&
             all_zero(part_of_piece(piece, at, table_end, end));
    look(at, piece);
  }
  if (!padded) {
    found->push_back(item_at(Kind::kStructure, address, content.bytes, end - content.bytes,
                             "what fills up the extent of a large value is not zero"));
  }
  return true;
}

bool ContainerCheck::read_table(const ExtentAddress& address, const format::LargeContent& content,
                                std::string* table, std::vector<CheckItem>* found) {
  const uint64_t table_end = content.table_at() + content.table_bytes();
  for (uint64_t at = content.table_at() / os::kBlockBytes * os::kBlockBytes; at < table_end;
       at += kBufferBytes) {
    const auto size = static_cast<size_t>(
        std::min<uint64_t>(align_up(table_end, os::kBlockBytes) - at, kBufferBytes));
    if (!read_large(address, at, size, found)) return false;
    *table += part_of_piece({buffer_, size}, at, content.table_at(), table_end);
  }
  return true;
}

// The same of a sealed one: its table first, by which all others open.
bool ContainerCheck::read_sealed_extent(const ExtentAddress& address,
                                        const format::LargeContent& content,
                                        std::vector<CheckItem>* found) {
  os::DataKeys* const keys = database_.machine_.keys;
  std::string table;
  if (!read_table(address, content, &table, found)) return false;
  const os::Seal seal = tree::load_seal(table.data());
  if (keys == nullptr || tree::base_of(seal) != content.checksum) {
    found->push_back(item_at(Kind::kChecksum, address, content.table_at(), table.size(),
                             "a large value has another seal than what refers to it"));
    return true;
  }
  Result<os::DataKeys::Lease> aead = keys->lease(seal);
  if (!aead.ok()) {
    found->push_back(item_at(Kind::kUnchecked, address, 0, content.bytes,
                             "a large value: " + aead.status().to_string()));
    return true;
  }
  return walk_extent(address, content, found, [&](uint64_t at, std::string_view piece) {
    const std::string_view bytes = part_of_piece(piece, at, 0, content.bytes);
    for (size_t from = 0; from < bytes.size(); from += kLargeSumBytes) {
      const uint64_t number = (at + from) / kLargeSumBytes;
      const std::string_view chunk = bytes.substr(from, kLargeSumBytes);
      const char* const tag =
          table.data() + format::kLargeSealBytes + static_cast<size_t>(number) * kTagBytes;
      if ((*aead)->open(make_nonce(tree::base_of(seal), static_cast<uint32_t>(number)), {}, chunk,
                        tag, buffer_ + from)) {
        continue;
      }
      found->push_back(item_at(Kind::kChecksum, address, at + from, chunk.size(),
                               "the seal of a part of a large value is broken"));
    }
  });
}

void ContainerCheck::judge_table(const ExtentAddress& address, const format::LargeContent& content,
                                 const std::vector<uint64_t>& sums, std::string_view table,
                                 std::vector<CheckItem>* found) const {
  const auto wrong = [&](uint64_t at, uint64_t bytes, const char* what) {
    found->push_back(item_at(Kind::kChecksum, address, at, bytes,
                             std::string("checksum mismatch in ") + what + " of a large value"));
  };
  if (!content.has_table()) {
    if (sums.front() != content.checksum) wrong(0, content.bytes, "a part");
    return;
  }
  if (format::large_sum(table) != content.checksum) {
    wrong(content.table_at(), table.size(), "the table of sums");
    const std::string_view made(reinterpret_cast<const char*>(sums.data()), sums.size() * 8);
    if (format::large_sum(made) != content.checksum) {
      wrong(0, content.bytes, "a part, or more than one,");
    }
    return;
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    if (load<uint64_t>(table.data() + i * 8) == sums[i]) continue;
    const uint64_t at = i * kLargeSumBytes;
    wrong(at, std::min<uint64_t>(kLargeSumBytes, content.bytes - at), "a part");
  }
}

}  // namespace hawthorn::db
