#include "db/entry_file.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/checksum.h"

namespace hawthorn::db {

namespace {
constexpr std::string_view kPrefix = "ingest.";
constexpr size_t kBlockHeaderBytes = 16;  // of a block
constexpr size_t kBlockBytesMax = EntryFile::kBlockBytes + kEntryHeaderBytes +
                                  format::kKeyBytesMax + format::kValueBytesMax + kTagBytes;
}  // namespace

void append_entry(std::string& to, const IngestEntry& entry) {
  append(to, static_cast<uint8_t>(entry.large));
  append(to, static_cast<uint32_t>(entry.key.size()));
  append(to, static_cast<uint32_t>(entry.value.size()));
  to.append(entry.key).append(entry.value);
}

const char* decode_entry(const char* at, const char* end, IngestEntry* entry) {
  if (static_cast<size_t>(end - at) < kEntryHeaderBytes) return nullptr;
  const auto kind = load<uint8_t>(at);
  const auto key_bytes = load<uint32_t>(at + 1);
  const auto value_bytes = load<uint32_t>(at + 5);
  at += kEntryHeaderBytes;
  if (kind > 1 || static_cast<uint64_t>(end - at) < uint64_t{key_bytes} + value_bytes) {
    return nullptr;
  }
  entry->large = kind == 1;
  entry->key = {at, key_bytes};
  entry->value = {at + key_bytes, value_bytes};
  return at + key_bytes + value_bytes;
}

bool is_ingest_file(std::string_view name) {
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) return false;
  const std::string_view digits = name.substr(kPrefix.size());
  return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string ingest_file_name(uint64_t number) {
  return std::string(kPrefix) + std::to_string(number);
}

EntryFile::EntryFile(const os::Machine& machine, std::string path, size_t kept_bytes)
    : machine_(machine), path_(std::move(path)), kept_bytes_(kept_bytes) {}

EntryFile::~EntryFile() {
  if (file_ == nullptr) return;
  file_.reset();
  // What stays is removed by the next open.
  static_cast<void>(machine_.files->remove(path_).ok());
}

Status EntryFile::add(const IngestEntry& entry) {
  const size_t limit = file_ == nullptr ? std::max(kept_bytes_, kBlockBytes) : kBlockBytes;
  if (!block_.empty() && block_.size() + encoded_bytes(entry) > limit) {
    if (Status s = write_block(); !s.ok()) return s;
  }
  if (block_.empty()) block_.resize(kBlockHeaderBytes);
  append_entry(block_, entry);
  ++block_entries_;
  ++entries_;
  bytes_ += encoded_bytes(entry);
  return {};
}

Status EntryFile::seal_block() {
  if (aead_ == nullptr) {
    const Result<SecretKey> key = SecretKey::generate();
    if (!key.ok()) return key.status();
    aead_ = std::make_unique<Aead>();
    if (!DerivingKey(*key).derive(Salt{}, aead_.get())) {
      return {StatusCode::kOutOfMemory, "libcrypto could not make a context for AES"};
    }
  }
  const std::string_view entries = std::string_view(block_).substr(kBlockHeaderBytes);
  char tag[kTagBytes];
  if (!aead_->seal(make_nonce(written_, 0), {}, entries, block_.data() + kBlockHeaderBytes, tag)) {
    return {StatusCode::kIoError, path_ + ": libcrypto failed"};
  }
  block_.append(tag, kTagBytes);
  return {};
}

Status EntryFile::write_block() {
  if (machine_.keys != nullptr) {
    if (Status s = seal_block(); !s.ok()) return s;
  }
  if (file_ == nullptr) {
    Result<std::unique_ptr<os::File>> file =
        machine_.files->open_file(path_, {.create = true, .exclusive = true});
    if (!file.ok()) return file.status();
    file_ = std::move(*file);
  }
  store(block_.data() + 8, static_cast<uint32_t>(block_.size() - kBlockHeaderBytes));
  store(block_.data() + 12, block_entries_);
  store(block_.data(), checksum64(block_.data() + 8, block_.size() - 8, 0));
  if (Status s = file_->write_at(written_, block_); !s.ok()) return s;
  written_ += block_.size();
  block_.clear();
  if (block_.capacity() > 2 * kBlockBytes) std::string().swap(block_);
  block_entries_ = 0;
  return {};
}

Status EntryFile::finish() {
  if (file_ != nullptr && !block_.empty()) {
    if (Status s = write_block(); !s.ok()) return s;
  }
  rewind();
  return {};
}

void EntryFile::rewind() {
  read_ = 0;
  at_ = kBlockHeaderBytes;
  if (file_ != nullptr) block_.clear();
}

Status EntryFile::read_block() {
  char header[kBlockHeaderBytes];
  if (Status s = file_->read_at(read_, header); !s.ok()) return s;
  const auto bytes = load<uint32_t>(header + 8);
  Status damaged(StatusCode::kCorruption, path_ + " at " + std::to_string(read_) +
                                              ": a temporary file does not hold what was written");
  if (bytes > kBlockBytesMax || read_ + kBlockHeaderBytes + bytes > written_) return damaged;
  block_.resize(kBlockHeaderBytes + bytes);
  if (Status s = file_->read_at(read_, block_); !s.ok()) return s;
  if (load<uint64_t>(block_.data()) != checksum64(block_.data() + 8, block_.size() - 8, 0)) {
    return damaged;
  }
  const uint64_t offset = read_;
  read_ += block_.size();
  at_ = kBlockHeaderBytes;
  if (aead_ == nullptr) return {};
  if (bytes < kTagBytes) return damaged;
  const std::string_view sealed(block_.data() + kBlockHeaderBytes, bytes - kTagBytes);
  if (!aead_->open(make_nonce(offset, 0), {}, sealed, sealed.data() + sealed.size(),
                   block_.data() + kBlockHeaderBytes)) {
    return damaged;
  }
  block_.resize(block_.size() - kTagBytes);
  return {};
}

Status EntryFile::next(IngestEntry* entry, bool* more) {
  *more = false;
  if (at_ >= block_.size()) {
    if (file_ == nullptr || read_ >= written_) return {};
    if (Status s = read_block(); !s.ok()) return s;
  }
  const char* next = decode_entry(block_.data() + at_, block_.data() + block_.size(), entry);
  if (next == nullptr) {
    return Status(StatusCode::kCorruption, path_ + ": an entry does not end in its block");
  }
  at_ = static_cast<size_t>(next - block_.data());
  *more = true;
  return {};
}

}  // namespace hawthorn::db
