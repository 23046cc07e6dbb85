#include "db/follower_registry.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "os/process.h"
#include "os/test_point.h"

namespace hawthorn::db {

using format::FollowersHeader;
using format::FollowerSlot;
using format::FollowerState;

namespace {
std::string path_of(const std::string& directory, std::string_view name = format::kFollowersName) {
  return directory + "/" + std::string(name);
}

template <typename Record>
std::span<const char> bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

// Opens a file, whole and of the right size. Null: there was no space to make it so.
Result<std::unique_ptr<os::File>> open_whole(os::FileSystem& files, const std::string& path,
                                             size_t bytes) {
  auto file = files.open_file(path, {.create = true, .locks = true});
  if (!file.ok()) {
    if (file.status().is(StatusCode::kNoSpace)) return std::unique_ptr<os::File>();
    return file.status();
  }
  const Result<uint64_t> size = (*file)->size();
  if (!size.ok()) return size.status();
  if (*size < bytes) {
    const std::string zeros(bytes - *size, '\0');
    const Status filled = (*file)->write_at(*size, zeros);
    if (filled.is(StatusCode::kNoSpace)) return std::unique_ptr<os::File>();
    if (!filled.ok()) return filled;
  }
  return file;
}
}  // namespace

// ---- The process that writes

Result<std::unique_ptr<FollowerRegistry>> FollowerRegistry::open(const os::Machine& machine,
                                                                 os::FileSystem& shared,
                                                                 const std::string& directory,
                                                                 uint64_t salt,
                                                                 uint64_t salt_before) {
  auto revocations = open_whole(*machine.files, path_of(directory, format::kRevocationsName),
                                format::kRevocationsFileBytes);
  if (!revocations.ok()) return revocations.status();
  auto file = open_whole(shared, path_of(directory), format::kFollowersFileBytes);
  if (!file.ok()) return file.status();
  if (*file == nullptr || *revocations == nullptr) return std::unique_ptr<FollowerRegistry>();
  FollowersHeader header{};
  header.salt = salt;
  header.salt_before = salt_before;
  format::seal(header);
  const Status status = (*file)->write_at(0, bytes_of(header));
  if (status.is(StatusCode::kNoSpace)) return std::unique_ptr<FollowerRegistry>();
  if (!status.ok()) return status;
  return std::unique_ptr<FollowerRegistry>(
      new FollowerRegistry(machine, *std::move(file), *std::move(revocations)));
}

Status FollowerRegistry::look(std::vector<Live>* live) {
  live->clear();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::string bytes(format::kFollowersFileBytes - format::kFollowerSlotsAt, '\0');
  if (Status s = file_->read_at(format::kFollowerSlotsAt, bytes); !s.ok()) return s;
  std::array<uint64_t, format::kFollowerSlots> revoked{};
  if (Status s =
          revocations_->read_at(0, {reinterpret_cast<char*>(revoked.data()), sizeof(revoked)});
      !s.ok()) {
    return s;
  }
  for (uint32_t i = 0; i < format::kFollowerSlots; ++i) {
    Live found;
    found.number = i;
    std::memcpy(&found.slot, bytes.data() + i * sizeof(FollowerSlot), sizeof(FollowerSlot));
    found.readable = format::valid(found.slot);
    if (found.readable && found.slot.claim == 0) continue;
    const uint64_t byte = format::follower_slot_at(i);
    const Status lock = file_->lock_byte(byte);
    if (lock.ok()) {
      // Its process is gone; nobody can claim it meanwhile.
      static constexpr FollowerSlot kFree{};
      static_cast<void>(file_->write_at(byte, bytes_of(kFree)).ok());
      static_cast<void>(file_->unlock_byte(byte).ok());
      continue;
    }
    if (!lock.is(StatusCode::kBusy)) return lock;
    found.revoked = found.readable && revoked[i] == found.slot.claim;
    live->push_back(found);
  }
  return {};
}

uint64_t FollowerRegistry::clear(uint64_t durable) {
  HAWTHORN_TEST_POINT("followers.before_look");
  os::MutexLock lock(mutex_);
  std::vector<Live> live;
  if (!look(&live).ok()) return 0;
  uint64_t clear = durable;
  for (const Live& one : live) {
    if (one.revoked) continue;
    const bool pins_all = !one.readable ||
                          one.slot.state == static_cast<uint32_t>(FollowerState::kOpening) ||
                          one.slot.batch > durable;
    clear = std::min(clear, pins_all ? 0 : one.slot.batch);
  }
  return clear;
}

bool FollowerRegistry::reads_log() {
  os::MutexLock lock(mutex_);
  std::vector<Live> live;
  if (!look(&live).ok()) return false;
  const uint64_t now = machine_.clock->monotonic_us();
  std::map<uint64_t, uint64_t> since;
  bool reads = false;
  for (const Live& one : live) {
    if (!one.readable) {
      reads = true;
      continue;
    }
    if (one.revoked || one.slot.state != static_cast<uint32_t>(FollowerState::kOpening)) continue;
    const auto before = opening_since_us_.find(one.slot.claim);
    const uint64_t from = before == opening_since_us_.end() ? now : before->second;
    since[one.slot.claim] = from;
    reads = reads || now - from < kReadsLogUs;
  }
  opening_since_us_ = std::move(since);
  return reads;
}

size_t FollowerRegistry::revoke(uint64_t batch) {
  os::MutexLock lock(mutex_);
  std::vector<Live> live;
  if (!look(&live).ok()) return 0;
  size_t count = 0;
  for (const Live& one : live) {
    const bool below =
        one.slot.state == static_cast<uint32_t>(FollowerState::kOpening) || one.slot.batch != batch;
    if (one.revoked || !one.readable || !below) continue;
    const uint64_t claim = one.slot.claim;
    const Status told =
        revocations_->write_at(format::follower_revocation_at(one.number), bytes_of(claim));
    count += told.ok() ? 1 : 0;
  }
  return count;
}

std::vector<FollowerStats> FollowerRegistry::list() {
  os::MutexLock lock(mutex_);
  std::vector<Live> live;
  std::vector<FollowerStats> result;
  if (!look(&live).ok()) return result;
  for (const Live& one : live) {
    if (!one.readable) continue;
    result.push_back({one.slot.pid, one.slot.since_us, one.slot.batch, one.revoked});
  }
  return result;
}

Result<bool> FollowerRegistry::any(const os::Machine& machine, const std::string& directory) {
  auto file = machine.files->open_file(path_of(directory), {.locks = true});
  if (!file.ok()) {
    if (file.status().is_not_found()) return false;
    return file.status();
  }
  for (uint32_t i = 0; i < format::kFollowerSlots; ++i) {
    const Status lock = (*file)->lock_byte(format::follower_slot_at(i));
    if (lock.is(StatusCode::kBusy)) return true;
    if (lock.is(StatusCode::kNotSupported)) return false;
    if (!lock.ok()) return lock;
  }
  return false;
}

// ---- A follower

Result<std::unique_ptr<FollowerClaim>> FollowerClaim::make(const os::Machine& machine,
                                                           const std::string& directory) {
  auto file = machine.files->open_file(path_of(directory), {.locks = true});
  if (!file.ok()) {
    if (!file.status().is_not_found()) {
      return Status(file.status().code(),
                    "a follower must be able to write the file in which it says what it reads: " +
                        std::string(file.status().message()));
    }
    return Status(
        StatusCode::kNotFound,
        path_of(directory) +
            " is missing: nobody can follow before the database was opened for writing by "
            "a version that knows followers");
  }
  const Result<uint64_t> size = (*file)->size();
  if (!size.ok()) return size.status();
  if (*size < format::kFollowersFileBytes) {
    return Status(StatusCode::kNotFound, path_of(directory) + " is not complete yet");
  }
  auto mapped = machine.files->map_shared(path_of(directory, format::kRevocationsName),
                                          format::kRevocationsFileBytes, true);
  if (!mapped.ok()) return mapped.status();
  FollowerSlot slot{};
  do slot.claim = machine.random->next();
  while (slot.claim == 0);
  slot.pid = os::process_id();
  slot.process_start = os::process_start(slot.pid);
  slot.since_us = machine.clock->wall_us();
  slot.state = static_cast<uint32_t>(FollowerState::kOpening);
  format::seal(slot);
  for (uint32_t i = 0; i < format::kFollowerSlots; ++i) {
    const uint64_t byte = format::follower_slot_at(i);
    const Status lock = (*file)->lock_byte(byte);
    if (lock.is(StatusCode::kBusy)) continue;
    if (!lock.ok()) return lock;
    if (Status s = (*file)->write_at(byte, bytes_of(slot)); !s.ok()) return s;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    HAWTHORN_TEST_POINT("followers.claimed");
    return std::unique_ptr<FollowerClaim>(
        new FollowerClaim(*std::move(file), *std::move(mapped), i, slot));
  }
  return Status(StatusCode::kBusy, path_of(directory) + ": all " +
                                       std::to_string(format::kFollowerSlots) +
                                       " places for followers are taken");
}

FollowerClaim::~FollowerClaim() {
  static constexpr FollowerSlot kFree{};
  static_cast<void>(file_->write_at(format::follower_slot_at(number_), bytes_of(kFree)).ok());
}

Result<bool> FollowerClaim::heeded(uint64_t salt) const {
  constexpr int kLooksMax = 100;  // a look at what is just being written tells nothing
  FollowersHeader header{};
  for (int look = 0; look < kLooksMax && !format::valid(header); ++look) {
    Status status = file_->read_at(0, {reinterpret_cast<char*>(&header), sizeof(header)});
    if (!status.ok()) return status;
  }
  if (!format::valid(header)) return false;
  return header.salt == salt || header.salt_before == salt;
}

Status FollowerClaim::pin(uint64_t batch) {
  slot_.batch = batch;
  slot_.state =
      static_cast<uint32_t>(batch == 0 ? FollowerState::kOpening : FollowerState::kPinned);
  format::seal(slot_);
  Status status = file_->write_at(format::follower_slot_at(number_), bytes_of(slot_));
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return status;
}

bool FollowerClaim::revoked() const {
  const char* const at = mapped_->data() + format::follower_revocation_at(number_);
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(at), __ATOMIC_ACQUIRE) == slot_.claim;
}

}  // namespace hawthorn::db
