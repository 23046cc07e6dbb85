#pragma once
// One container of a damaged database: its run and its values as far as they are readable, entry by
// entry.
//
// Not here: which containers there are (repair_manifest, repair_scan), where what was read goes
// (repair_target). Used by db/repair.cc. Threads: one at a time.
//
// 1. An entry is whole where every block that a byte of it lies in has the checksum that the run's
//    header area says, or opens with the seal that it says, and a large value where its extents
//    have theirs.
// 2. Of a key of which a newer version or another part of the value is lost nothing is given: an
//    older version alone would be something that nobody could have read.
// 3. No more memory is taken than the limit that it is given and a few blocks, whatever the header
//    area says: what would need more is lost, and named.

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/repair_source.h"
#include "format/large_value.h"
#include "format/packing.h"
#include "format/run_layout.h"
#include "tree/run.h"

namespace hawthorn::db {

using RepairDictionaries = std::map<uint32_t, std::unique_ptr<format::Dictionary>>;

struct RepairEntry {
  std::string key;
  tree::EntryKind kind = tree::EntryKind::kInline;
  std::string value;  // of kind large: its reference
  format::Lsn cts = 0;
  uint64_t expiry = 0;
};

// What of a run is lost: keys from `low` on, below `high` where there is one.
struct RepairGap {
  std::string low;
  std::optional<std::string> high;
  uint64_t entries = 0;
  std::string file;
  uint64_t offset = 0;
  std::string what;
};

class RepairRun {
 public:
  RepairRun(RepairSource& source, const RepairDictionaries& dictionaries, size_t memory_max)
      : source_(source), dictionaries_(dictionaries), memory_max_(memory_max) {}

  // Reads what a record of the manifest names; of a container without a run nothing. False: the
  // header area is not what the manifest says, and nothing can be told of the rest.
  bool read(const format::ContainerRecord& record);
  // The same of what lies at an address and may be a run: nothing vouches for its header area.
  // Fills in the record, but for its low key.
  bool find(uint32_t file, uint32_t block, uint32_t file_blocks, format::ContainerRecord* record);

  // Why read or find has answered false.
  const std::string& why() const { return why_; }
  // Whether all is there, large values as well.
  bool whole() const { return whole_; }
  // The first and the last key that are known; false where none is.
  bool span(std::string* first, std::string* last) const;
  const std::vector<RepairEntry>& entries() const { return entries_; }
  std::vector<RepairEntry> take_entries() { return std::move(entries_); }
  // Those of the keys in between; the first one's low is that of the container.
  const std::vector<RepairGap>& gaps() const { return gaps_; }
  const std::vector<format::ExtentAddress>& large() const { return large_; }

 private:
  struct Lost {
    bool any = false;
    uint64_t entries = 0;
    std::string key;  // of the first, where it is known
    bool key_known = false;
    bool groups_lost = false;
    format::ExtentAddress at;
    std::string what;
  };

  bool read_image(const format::ContainerRecord& record, uint32_t header_blocks,
                  uint64_t image_blocks);
  bool read_parts(const format::ContainerRecord& record);
  bool take_memory(uint64_t blocks);
  void read_region(const format::StoredRegion& region, const format::ExtentAddress& address,
                   uint32_t from, char* to, std::vector<bool>* good);
  void collect(const format::ContainerRecord& record);
  bool in_order(const RepairEntry& entry) const;
  // False: a block of it is damaged. *key is what is known of its key.
  bool take(uint32_t index, RepairEntry* entry, bool* key_known, Lost* lost);
  bool take_record(const char* from, RepairEntry* entry, bool* key_known, Lost* lost);
  bool take_value(uint32_t extent, uint32_t offset, uint32_t size, std::string* value, Lost* lost);
  bool verify_large(std::string_view encoded, Lost* lost);
  bool heap_good(size_t from, size_t to, Lost* lost) const;
  void close_gap(Lost* lost, const std::string& low, const std::string* high);

  RepairSource& source_;
  const RepairDictionaries& dictionaries_;
  const size_t memory_max_;
  uint64_t memory_ = 0;
  std::string why_;
  bool prefix_known_ = false;
  std::string prefix_;
  std::unique_ptr<RepairBuffer> image_;
  format::RunView view_;
  format::ExtentAddress run_;
  std::vector<bool> index_good_;
  std::vector<bool> heap_good_;
  std::vector<RepairBuffer> values_;
  std::vector<std::vector<bool>> values_good_;
  bool whole_ = true;
  std::vector<RepairEntry> entries_;
  std::vector<RepairGap> gaps_;
  std::vector<format::ExtentAddress> large_;
};

// The header area of the run that a record names, opened where it is sealed. False: it cannot be
// read, or does not open; then *why may say more.
bool read_run_header(RepairSource& source, const format::ContainerRecord& record,
                     std::span<char> area, std::string* why);

// The bytes of a large value, or false where any is not what its checksums say.
bool verify_large_value(RepairSource& source, const format::LargeValue& value,
                        format::ExtentAddress* bad);

}  // namespace hawthorn::db
