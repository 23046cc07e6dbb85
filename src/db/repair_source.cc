#include "db/repair_source.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "space/data_files.h"
#include "space/space.h"

namespace hawthorn::db {

namespace {
constexpr int kOpenAttempts = 3;
}  // namespace

RepairBuffer::RepairBuffer(size_t bytes) : bytes_(align_up(std::max<size_t>(bytes, 1), 4096)) {
  data_ = static_cast<char*>(std::aligned_alloc(kRepairBlock, bytes_));
  if (data_ == nullptr) {
    bytes_ = 0;
    return;
  }
  std::memset(data_, 0, bytes_);
}

RepairBuffer::~RepairBuffer() { std::free(data_); }

RepairBuffer::RepairBuffer(RepairBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

RepairBuffer& RepairBuffer::operator=(RepairBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void RepairSource::fill_with_zeros(const format::ExtentAddress& extent, uint64_t begin,
                                   uint64_t end, const char* contents) {
  if (std::all_of(contents + begin, contents + end, [](char byte) { return byte == 0; })) return;
  const uint64_t at = uint64_t{extent.block} * kRepairBlock;
  fills_.push_back({extent.file, at + begin, at + end});
}

void RepairSource::mend(const format::ExtentAddress& blocks, char* contents) const {
  const uint64_t begin = uint64_t{blocks.block} * kRepairBlock;
  const uint64_t end = begin + uint64_t{blocks.blocks} * kRepairBlock;
  for (const Fill& fill : fills_) {
    const uint64_t from = std::max(fill.begin, begin);
    const uint64_t to = std::min(fill.end, end);
    if (fill.file == blocks.file && from < to) std::memset(contents + (from - begin), 0, to - from);
  }
}

Status RepairSource::list() {
  Result<std::vector<std::string>> names = machine_.files->list(directory_);
  if (!names.ok()) return names.status();
  names_ = std::move(names).value();
  for (const std::string& name : names_) {
    uint32_t number = 0;
    if (space::parse_data_file_name(name, &number)) data_files_.push_back(number);
  }
  std::sort(data_files_.begin(), data_files_.end());
  return {};
}

void RepairSource::add_device(uint32_t index, std::unique_ptr<os::File> file) {
  const uint32_t number = format::kDeviceFilesFirst + index;
  files_[space::data_file_name(number)] = std::move(file);
  data_files_.insert(std::upper_bound(data_files_.begin(), data_files_.end(), number), number);
}

bool RepairSource::has_device(uint32_t index) const {
  return std::binary_search(data_files_.begin(), data_files_.end(),
                            format::kDeviceFilesFirst + index);
}

os::File* RepairSource::file(const std::string& name) {
  const auto known = files_.find(name);
  if (known != files_.end()) return known->second.get();
  auto opened = machine_.files->open_file(directory_ + "/" + name, {.read_only = true});
  return (files_[name] = opened.ok() ? std::move(opened).value() : nullptr).get();
}

uint64_t RepairSource::size_of(const std::string& name) {
  os::File* const of = file(name);
  if (of == nullptr) return 0;
  const Result<uint64_t> size = of->size();
  return size.ok() ? *size : 0;
}

bool RepairSource::read(const std::string& name, uint64_t offset, std::span<char> data) {
  os::File* const of = file(name);
  if (of == nullptr) return false;
  const Result<uint64_t> size = of->size();
  if (!size.ok() || offset > *size || data.size() > *size - offset) return false;
  for (int attempt = 0; attempt < kOpenAttempts; ++attempt) {
    if (of->read_at(offset, data).ok()) return true;
  }
  return false;
}

bool RepairSource::holds(const format::ExtentAddress& address) {
  return address.file < format::kDeviceFilesFirst + format::kDevicesMax &&
         uint64_t{address.block} + address.blocks <= format::kFileBlocksMax &&
         (uint64_t{address.block} + address.blocks) * kRepairBlock <=
             size_of(space::data_file_name(address.file));
}

void RepairSource::read_blocks(const format::ExtentAddress& address, char* to,
                               std::vector<bool>* readable) {
  readable->assign(address.blocks, true);
  const std::string name = space::data_file_name(address.file);
  const uint64_t offset = uint64_t{address.block} * kRepairBlock;
  if (read(name, offset, {to, size_t{address.blocks} * kRepairBlock})) return;
  for (uint32_t i = 0; i < address.blocks; ++i) {
    const size_t at = size_t{i} * kRepairBlock;
    if (read(name, offset + at, {to + at, kRepairBlock})) continue;
    std::memset(to + at, 0, kRepairBlock);
    (*readable)[i] = false;
  }
}

}  // namespace hawthorn::db
