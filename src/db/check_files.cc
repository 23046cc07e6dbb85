#include "db/check_files.h"

#include <algorithm>
#include <string_view>

#include "db/manifest_files.h"
#include "format/key_file.h"
#include "format/superblock.h"
#include "wal/log_check.h"

namespace hawthorn::db {

using Kind = CheckItem::Kind;

namespace {
constexpr int kFileAttempts = 4;
constexpr int kManifestAttempts = 20;
constexpr uint64_t kAgainUs = 2000;
// Of a walk through the log: two windows with the room for a record before each.
constexpr size_t kLogWalkBytes = size_t{12} << 20;

// What a message says of the place: "DIRECTORY/NAME at OFFSET: WHAT".
CheckItem item_of(const Status& status, std::string_view otherwise) {
  CheckItem item;
  item.kind = Kind::kChecksum;
  item.file = otherwise;
  item.what = status.message();
  const std::string_view message = status.message();
  const size_t at = message.find(" at ");
  const size_t colon = message.find(": ", at == std::string_view::npos ? 0 : at);
  if (at == std::string_view::npos || colon == std::string_view::npos) return item;
  uint64_t offset = 0;
  for (const char c : message.substr(at + 4, colon - at - 4)) {
    if (c < '0' || c > '9') return item;
    offset = offset * 10 + static_cast<uint64_t>(c - '0');
  }
  const std::string_view path = message.substr(0, at);
  item.file = path.substr(path.rfind('/') + 1);
  item.offset = offset;
  item.what = message.substr(colon + 2);
  return item;
}

void add(CheckSink& sink, const Status& status, std::string_view file) {
  CheckItem item = item_of(status, file);
  if (!status.is(StatusCode::kCorruption)) {
    item.kind = Kind::kUnchecked;
    item.what = "not checked: " + status.to_string();
  }
  sink.add(std::move(item));
}

// A writer may be at a slot: it is read again before it counts as damaged.
void check_superblock(Db::Impl& database, CheckSink& sink) {
  os::FileSystem& files = *database.machine_.files;
  for (size_t slot = 0; slot < format::kSuperblockSlots; ++slot) {
    CheckItem item;
    item.file = kSuperblockName;
    item.offset = slot * format::kSuperblockSlotBytes;
    item.bytes = format::kSuperblockSlotBytes;
    item.what = "a slot";
    Status status;
    for (int attempt = 0; attempt < kFileAttempts; ++attempt) {
      if (attempt > 0) database.machine_.clock->sleep_us(kAgainUs);
      auto file = files.open_file(join(database.path_, kSuperblockName), {.read_only = true});
      status = file.status();
      if (!status.ok()) continue;
      std::string block(format::kSuperblockSlotBytes, '\0');
      status = (*file)->read_at(item.offset, block);
      if (!status.ok()) continue;
      const Result<format::Superblock> read = format::decode_superblock(block, slot);
      status = read.status();
      if (!status.ok()) continue;
      if (read->uuid_low != database.uuid_low_ || read->uuid_high != database.uuid_high_) {
        status = Status(StatusCode::kCorruption, "it is of another database");
        continue;
      }
      break;
    }
    sink.bytes.fetch_add(format::kSuperblockSlotBytes, std::memory_order_relaxed);
    if (!status.ok()) sink.failed(std::move(item), status);
  }
}

// The file is replaced as a whole: what was opened stays as it is. Whether its keys open with that
// of the user was seen when they were loaded.
void check_keys(Db::Impl& database, CheckSink& sink) {
  if (database.machine_.keys == nullptr) return;
  std::string bytes(format::kKeyFileBytes, '\0');
  auto file = database.machine_.files->open_file(join(database.path_, format::kKeyFileName),
                                                 {.read_only = true});
  Status read = file.status();
  if (read.ok()) {
    const Result<uint64_t> size = (*file)->size();
    read = size.status();
    bytes.resize(size.ok() ? std::min<uint64_t>(*size, bytes.size()) : 0);
  }
  if (read.ok()) read = (*file)->read_at(0, bytes);
  sink.bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
  const std::string_view first = std::string_view(bytes).substr(0, format::kKeySlotBytes);
  bool good = true;
  for (size_t at = 0; at < format::kKeyFileBytes; at += format::kKeySlotBytes) {
    CheckItem item;
    item.file = format::kKeyFileName;
    item.offset = at;
    item.bytes = format::kKeySlotBytes;
    item.what = "a slot";
    const std::string_view slot =
        std::string_view(bytes).substr(std::min(at, bytes.size()), format::kKeySlotBytes);
    Status status = read;
    if (status.ok()) {
      const Result<format::KeyFile> decoded = format::read_key_slot(slot);
      status = decoded.status();
      if (status.ok() &&
          (decoded->uuid_low != database.uuid_low_ || decoded->uuid_high != database.uuid_high_)) {
        status = Status(StatusCode::kCorruption, "it is of another database");
      } else if (status.ok() && good && slot != first) {
        status = Status(StatusCode::kCorruption, "it differs from the first one");
      }
    }
    good = good && status.ok();
    if (!status.ok()) sink.failed(std::move(item), status);
  }
}

// False: there is none that could be read.
bool check_manifest(Db::Impl& database, CheckSink& sink, LoadedManifest* loaded) {
  // What was durable before it is read must be in it. Where batches are added while it is read,
  // piece by piece, a later piece may have some that an earlier one has not: then it is read again,
  // and what is damage is found in the same place.
  uint64_t durable = database.publisher_->manifest_batch();
  Result<LoadedManifest> read = Manifest::load(database.machine_, database.path_, nullptr);
  Status before;
  for (int attempt = 1; attempt < kManifestAttempts && !read.ok(); ++attempt) {
    if (read.status().message() == before.message()) break;
    before = read.status();
    durable = database.publisher_->manifest_batch();
    read = Manifest::load(database.machine_, database.path_, nullptr);
  }
  if (!read.ok()) {
    add(sink, read.status(), "manifest");
    return false;
  }
  sink.bytes.fetch_add(read->bytes, std::memory_order_relaxed);
  sink.manifest_batches.fetch_add(read->batches, std::memory_order_relaxed);
  if (read->state.last_batch < durable) {
    CheckItem item;
    item.kind = Kind::kReference;
    item.file = manifest_name(read->number);
    item.offset = read->bytes;
    item.what = "it ends with batch " + std::to_string(read->state.last_batch) + ", though batch " +
                std::to_string(durable) + " was durable";
    sink.add(std::move(item));
  }
  *loaded = std::move(read).value();
  return true;
}

// Of a database that is written to: what is in segments and not trimmed.
void check_open_log(Db::Impl& database, CheckSink& sink, CheckPace& pace) {
  wal::LogCheck check(database.machine_, database.path_, database.log_options_);
  check.before_read = [&pace](uint64_t bytes) {
    if (!pace.await()) return false;
    pace.count(bytes);
    return true;
  };
  const Status status =
      check.run(*database.log_, database.epochs_, [&sink](const wal::LogGap& gap) {
        CheckItem item;
        item.file = gap.file;
        item.offset = gap.offset;
        item.bytes = gap.bytes;
        item.what = "no valid record of the log, at lsn " + std::to_string(gap.lsn);
        sink.add(std::move(item));
      });
  sink.log_records.fetch_add(check.records(), std::memory_order_relaxed);
  sink.bytes.fetch_add(check.bytes(), std::memory_order_relaxed);
  if (!status.ok()) add(sink, status, "wal");
}

// Of one that nobody writes to: each record from segment or ring, as the open took it.
void check_log_left(Db::Impl& database, const LoadedManifest& loaded, CheckSink& sink) {
  Result<std::unique_ptr<wal::Recovery>> log =
      wal::Recovery::open(database.machine_, database.path_, database.log_options_,
                          loaded.state.epochs, loaded.state.log_trim, true);
  if (!log.ok()) return add(sink, log.status(), "wal");
  uint64_t records = 0;
  const Status status = (*log)->replay(0, [&records](const wal::RecordView&) {
    ++records;
    return Status();
  });
  sink.log_records.fetch_add(records, std::memory_order_relaxed);
  sink.bytes.fetch_add((*log)->bytes(), std::memory_order_relaxed);
  if (!status.ok()) add(sink, status, "wal");
}
}  // namespace

void check_files(Db::Impl& database, CheckSink& sink, CheckPace& pace) {
  if (!pace.await()) return;
  check_superblock(database, sink);
  check_keys(database, sink);
  LoadedManifest loaded;
  const bool there = check_manifest(database, sink, &loaded);
  // A follower leaves the log to who writes it.
  if (database.view_ != nullptr) return;
  if (database.log_ == nullptr && (!there || loaded.state.epochs.empty())) return;
  os::MutexLock lock(database.log_walk_mutex_);
  const auto bytes = static_cast<ptrdiff_t>(kLogWalkBytes);
  database.arena_->charge(os::Quota::kOther, bytes);
  if (database.log_ != nullptr) {
    check_open_log(database, sink, pace);
  } else {
    check_log_left(database, loaded, sink);
  }
  database.arena_->charge(os::Quota::kOther, -bytes);
}

}  // namespace hawthorn::db
