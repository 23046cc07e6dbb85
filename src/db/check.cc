#include "db/check.h"

#include <algorithm>

#include "db/check_subtrees.h"
#include "format/large_value.h"
#include "os/epoch.h"
#include "os/test_point.h"
#include "tree/large_read.h"

namespace hawthorn::db {

namespace {
constexpr size_t kBlock = 4096;
constexpr size_t kErrorsMax = 1000;

class Checker {
 public:
  Checker(Db::Impl& database, const CheckOptions& options)
      : database_(database), options_(options) {}

  Result<CheckReport> run();

 private:
  struct Part {
    std::string where;  // "tree 3, keys [...)"
    std::string low;
    std::string high;
    bool has_high = false;
    tree::RunFile* file = nullptr;
  };
  // What of a container was found wrong, to listeners.
  class DamageTeller {
   public:
    DamageTeller(Checker* checker, const Part& part)
        : checker_(checker), part_(part), before_(checker->damages_.size()) {}
    ~DamageTeller() {
      const std::vector<std::string>& errors = checker_->damages_;
      os::EventSink* const events = checker_->database_.machine_.events;
      if (events == nullptr || errors.size() == before_) return;
      events->post(DamageFound{part_.file->record.tree,
                               {},
                               part_.low,
                               {},
                               Status(StatusCode::kCorruption, errors[before_])});
    }
    DamageTeller(const DamageTeller&) = delete;
    DamageTeller& operator=(const DamageTeller&) = delete;

   private:
    Checker* const checker_;
    const Part& part_;
    const size_t before_;
  };
  void check_container(const Part& part);
  void check_values(const Part& part, const tree::Run& run);
  void check_large(const Part& part, const format::LargeValue& value);
  void check_large_extents(const Part& part, std::vector<tree::ExtentAddress>* named);
  void check_overlaps();
  void error(const std::string& message) {
    if (report_.errors.size() < kErrorsMax) report_.errors.push_back(message);
  }
  void damage(const std::string& message) {
    if (damages_.size() < kErrorsMax) damages_.push_back(message);
    error(message);
  }
  // Damage is what was read and is wrong; a disk that does not answer is none.
  void failed(const std::string& where, const Status& status) {
    const std::string message = where + ": " + status.to_string();
    if (status.is(StatusCode::kCorruption)) {
      damage(message);
    } else {
      error(message);
    }
  }
  void note(const tree::ExtentAddress& address, const std::string& where) {
    if (address.blocks != 0) extents_.emplace_back(address, where);
  }
  // Of the merge quota; null after an error.
  char* take_memory(size_t bytes, const std::string& where);
  void release(char* memory, size_t bytes) {
    database_.residency_->release(os::Quota::kMerge, memory, bytes);
  }

  Db::Impl& database_;
  const CheckOptions& options_;
  CheckReport report_;
  std::vector<std::string> damages_;  // of its errors, those that are of one container
  std::vector<std::pair<tree::ExtentAddress, std::string>> extents_;
};

char* Checker::take_memory(size_t bytes, const std::string& where) {
  // One extent at a time, whatever else holds the budget: a check must not fail for it.
  char* memory = database_.arena_->allocate(os::Quota::kMerge, bytes, true);
  if (memory == nullptr) {
    error(where + ": not checked, there is no memory for " + std::to_string(bytes) + " bytes");
  }
  return memory;
}

void Checker::check_container(const Part& part) {
  const DamageTeller teller(this, part);
  const tree::RunFile& file = *part.file;
  const format::ContainerRecord& record = file.record;
  note(record.run, part.where);
  for (const format::ValueExtentRecord& value : record.values) note(value.address, part.where);
  for (const tree::ExtentAddress& large : record.large) note(large, part.where);
  if (record.tree != format::kCatalogTree) {
    report_.entries += record.entries;
    ++report_.containers;
  }
  if (record.run.blocks == 0) {
    if (record.entries != 0) damage(part.where + ": the manifest counts entries, but names no run");
    return;
  }
  const size_t bytes = size_t{record.image_blocks()} * kBlock;
  char* image = take_memory(bytes, part.where);
  if (image == nullptr) return;
  const std::string place = space::data_file_name(record.run.file) + " at " +
                            std::to_string(uint64_t{record.run.block} * kBlock);
  Status status = database_.residency_->read_image(record, image);
  report_.bytes_verified += size_t{record.run.blocks} * kBlock;
  std::unique_ptr<tree::Run> run;
  if (status.ok()) {
    Result<std::unique_ptr<tree::Run>> attached = tree::Run::attach(image, bytes);
    if (attached.ok()) {
      run = std::move(attached).value();
    } else {
      status = attached.status();
    }
  }
  if (!status.ok()) {
    failed(part.where, status);
  } else {
    if (run->entries() != record.entries) {
      damage(part.where + ": the run has " + std::to_string(run->entries()) +
             " entries, the manifest says " + std::to_string(record.entries));
    }
    if (run->entries() > 0) {
      std::string key(run->key_size_max() + 64, '\0');
      const uint32_t first = run->copy_key(0, key.data());
      if (std::string_view(key.data(), first) < part.low)
        damage(part.where + ": " + place + ": a key lies below the range");
      const uint32_t last = run->copy_key(run->entries() - 1, key.data());
      if (part.has_high && std::string_view(key.data(), last) >= part.high) {
        damage(part.where + ": " + place + ": a key lies above the range");
      }
    }
    check_values(part, *run);
  }
  run.reset();
  release(image, bytes);
}

void Checker::check_values(const Part& part, const tree::Run& run) {
  const format::ContainerRecord& record = part.file->record;
  if (run.extent_count() != record.values.size()) {
    damage(part.where + ": the run names " + std::to_string(run.extent_count()) +
           " value extents, the manifest " + std::to_string(record.values.size()));
    return;
  }
  std::vector<uint64_t> used(record.values.size(), 0);
  std::vector<tree::ExtentAddress> large;
  for (uint32_t i = 0; i < run.entries(); ++i) {
    const tree::RunEntry entry = run.entry(i);
    if (entry.kind == tree::EntryKind::kLarge) {
      const Result<format::LargeValue> value = format::decode_large_value(entry.inline_value);
      if (!value.ok()) {
        failed(part.where, value.status());
        continue;
      }
      large.insert(large.end(), value->extents.begin(), value->extents.end());
      if (options_.verify_values) check_large(part, *value);
    }
    if (entry.kind != tree::EntryKind::kSeparated) continue;
    if (uint64_t{entry.offset} + entry.size > record.values[entry.extent].bytes) {
      damage(part.where + ": entry " + std::to_string(i) + " lies outside of its value extent");
      continue;
    }
    used[entry.extent] += entry.size;
  }
  check_large_extents(part, &large);
  for (uint32_t e = 0; e < record.values.size(); ++e) {
    const format::ValueExtentRecord& value = record.values[e];
    if (used[e] + value.garbage_bytes != value.bytes) {
      damage(part.where + ": value extent " + std::to_string(e) + " has " +
             std::to_string(value.bytes) + " bytes, of which " + std::to_string(used[e]) +
             " are referred to and " + std::to_string(value.garbage_bytes) + " counted as garbage");
    }
    if (!options_.verify_values) continue;
    const size_t bytes = size_t{format::run_extent_blocks(value.bytes)} * kBlock;
    char* memory = take_memory(bytes, part.where);
    if (memory == nullptr) continue;
    if (Status s = database_.residency_->read_values(record, run, e, memory); !s.ok()) {
      failed(part.where, s);
    }
    report_.bytes_verified += size_t{value.address.blocks} * kBlock;
    release(memory, bytes);
  }
}

// The versions of a key may share extents; the manifest names each once, and none besides.
void Checker::check_large_extents(const Part& part, std::vector<tree::ExtentAddress>* named) {
  std::sort(named->begin(), named->end());
  named->erase(std::unique(named->begin(), named->end()), named->end());
  std::vector<tree::ExtentAddress> listed = part.file->record.large;
  std::sort(listed.begin(), listed.end());
  if (*named == listed) return;
  damage(part.where + ": its large values name " + std::to_string(named->size()) +
         " extents, the manifest " + std::to_string(listed.size()) + ", and not the same ones");
}

void Checker::check_large(const Part& part, const format::LargeValue& value) {
  std::string buffer(4 * format::kLargeChunkBytes, '\0');
  tree::LargeRead read(database_.store_.residency, value, 0, 0, buffer.data());
  uint64_t checksum = 0;
  Status status;
  for (uint64_t at = 0; at < value.size && status.ok(); at += buffer.size()) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(buffer.size(), value.size - at));
    read.go_on(at, size, buffer.data());
    status = read.run();
    report_.bytes_verified += size;
    for (size_t chunk = 0; chunk < size; chunk += format::kLargeChunkBytes) {
      checksum = format::extend_large_checksum(
          checksum, {buffer.data() + chunk, std::min(size - chunk, format::kLargeChunkBytes)});
    }
  }
  if (!status.ok() && !status.is(StatusCode::kCorruption)) return failed(part.where, status);
  if (status.ok() && (value.in_pieces() || checksum == value.checksum)) return;
  const tree::ExtentAddress first =
      value.extents.empty() ? tree::ExtentAddress() : value.extents.front();
  damage(part.where + ": " + space::data_file_name(first.file) + " at " +
         std::to_string(uint64_t{first.block} * kBlock) +
         ": checksum mismatch in a large value of " + std::to_string(value.size) + " bytes");
}

void Checker::check_overlaps() {
  std::sort(extents_.begin(), extents_.end());
  for (size_t i = 1; i < extents_.size(); ++i) {
    const tree::ExtentAddress& a = extents_[i - 1].first;
    const tree::ExtentAddress& b = extents_[i].first;
    if (a.file == b.file && uint64_t{a.block} + a.blocks > b.block) {
      error("extents overlap in " + space::data_file_name(a.file) + " at block " +
            std::to_string(b.block) + ": " + extents_[i - 1].second + " and " + extents_[i].second);
    }
  }
}

Result<CheckReport> Checker::run() {
  // Extents of two moments may overlap without fault, so all files stay referenced until all were
  // noted.
  std::vector<std::vector<Part>> of_trees;
  for (tree::TreeState* tree : database_.catalog_->all()) {
    HAWTHORN_TEST_POINT("check.before_tree");
    std::vector<Part>& parts = of_trees.emplace_back();
    {
      // One moment of the tree: its containers, and their files kept alive.
      os::MutexLock lock(tree->structure_mutex());
      os::epoch::Guard guard;
      for (const tree::Container* container : tree->directory().all()) {
        Part part;
        part.where = container->range_text();
        part.low = container->low;
        part.high = container->high;
        part.has_high = container->has_high;
        part.file = container->descriptor.load(std::memory_order_acquire)->run;
        part.file->ref();
        parts.push_back(std::move(part));
      }
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      // A fresh extent may still be on its way to the disk.
      const auto written = [&] {
        if (parts[i].file->image && parts[i].file->image->writing.load(std::memory_order_acquire))
          return false;
        for (const tree::ExtentRef& value : parts[i].file->values) {
          if (value->writing.load(std::memory_order_acquire)) return false;
        }
        return true;
      };
      if (!written()) {
        if (Status s = database_.publisher_->publish(); !s.ok()) error(s.to_string());
      }
      database_.background_io_.await();
      const os::IoLimit::Scope counts(&database_.background_io_);
      check_container(parts[i]);
      if (options_.progress) options_.progress(i + 1, parts.size());
    }
  }
  for (const std::vector<Part>& parts : of_trees) {
    for (const Part& part : parts) part.file->unref();
  }
  check_overlaps();
  report_.subtrees =
      check_subtrees(database_, [this](const std::string& message) { error(message); });
  return report_;
}
}  // namespace

Result<CheckReport> check(Db::Impl& database, const CheckOptions& options) {
  return Checker(database, options).run();
}

}  // namespace hawthorn::db
