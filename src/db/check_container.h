#pragma once
// Verifies what one container has on disk: every block against its checksum, order and range of
// the keys, and that counts, places and references agree with the manifest.
//
// Not here: which containers there are (check_walk.h). Used by a thread of a check, and by the
// scrub. Threads: an object from one thread at a time.
//
// 1. Everything is read from disk, past whatever is in memory, which stays as it is. What is read
//    is counted by CheckPace alone.
// 2. Damage does not end it: all other blocks are looked at, and all that can be judged without
//    what is damaged. Who cannot be judged any more is told by the item.
// 3. A mismatch is told only after a second read (R24).
// 4. Memory, from the merge quota, beyond the budget where it must be: a run image, and
//    kBufferBytes + 64 KB.
// 5. Of what is not flushed, the large values have extents, too (check_unflushed.cc). Those may go
//    to a run, or to others, while they are read, so a mismatch counts where the version names them
//    still.

#include <array>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/check_report.h"
#include "format/large_value.h"
#include "format/run_layout.h"

namespace hawthorn::db {

// A delta that stays as long as this does, and versions that are taken out of it, too.
class HeldDelta {
 public:
  HeldDelta() = default;
  // Inside the epoch guard in which it was found; may be null.
  explicit HeldDelta(tree::Delta* delta) : delta_(delta) {
    if (delta_ == nullptr) return;
    delta_->ref();
    delta_->pin();
  }
  HeldDelta(HeldDelta&& other) noexcept : delta_(std::exchange(other.delta_, nullptr)) {}
  HeldDelta& operator=(HeldDelta&& other) noexcept {
    std::swap(delta_, other.delta_);
    return *this;
  }
  ~HeldDelta() {
    if (delta_ == nullptr) return;
    delta_->unpin();
    if (delta_->unref()) delete delta_;
  }
  const tree::Delta* get() const { return delta_; }

 private:
  tree::Delta* delta_ = nullptr;
};

// A container, as a walk has found it. Its file is referenced.
struct CheckTarget {
  std::string low;
  std::string high;
  bool has_high = false;
  tree::RunFile* file = nullptr;
  tree::TreeRef tree;
  std::array<HeldDelta, 2> deltas = {};  // active and frozen, of the same descriptor as the file
};

class ContainerCheck {
 public:
  static constexpr size_t kBufferBytes = size_t{256} << 10;

  ContainerCheck(Db::Impl& database, CheckSink& sink, CheckPace& pace, bool verify_values);
  ~ContainerCheck();
  ContainerCheck(const ContainerCheck&) = delete;
  ContainerCheck& operator=(const ContainerCheck&) = delete;

  // False: the pace has ended it. Lets the target's deltas go as soon as it knows what they name.
  bool run(CheckTarget& target);
  // What the last one has found, the first of it; OK: nothing.
  const Status& damage() const { return damage_; }

 private:
  // A row of blocks that are wrong in the same way.
  struct Bad {
    uint32_t first = 0;
    uint32_t count = 0;
    bool unread = false;
    Status status = {};
  };
  CheckItem item(CheckItem::Kind kind, std::string what) const;
  CheckItem item_at(CheckItem::Kind kind, const format::ExtentAddress& address, uint64_t offset,
                    uint64_t bytes, std::string what) const;
  void tell(CheckItem item);
  void tell_failed(CheckItem item, const Status& status);
  char* take_memory(size_t bytes, std::string_view what);
  void release(char* memory, size_t bytes);
  bool begin();

  bool read_block(const format::ExtentAddress& address, uint32_t block, char* to, Status* status);
  bool read_piece(const format::ExtentAddress& address, uint32_t first, uint32_t blocks,
                  std::vector<Bad>* bad);
  void check_block(const format::ExtentAddress& address, uint32_t block,
                   const format::StoredRegion& region, uint32_t number, char* bytes,
                   std::vector<Bad>* bad);
  void tell_bad(const format::ExtentAddress& address, const std::vector<Bad>& bad,
                const std::string& what);
  bool check_region(const format::StoredRegion& region, const format::ExtentAddress& address,
                    uint32_t first_block, char* to, const std::string& what);
  bool check_plain(const format::StoredRegion& region, const format::ExtentAddress& address,
                   uint32_t first_block, char* to, std::vector<Bad>* bad);
  bool check_packed(const format::StoredRegion& region, const format::ExtentAddress& address,
                    uint32_t first_block, char* to, std::vector<Bad>* bad, const std::string& what);

  void check_file(const CheckTarget& target);
  void check_run(const CheckTarget& target, char* image);
  bool read_header(char* image, uint32_t header_blocks);
  bool check_header(const format::RunView& view);
  void check_entries(const CheckTarget& target, const char* image, size_t bytes);
  void check_garbage(const std::vector<uint64_t>& used);
  void check_values(const format::RunView& view);

  // Large values (check_large.cc).
  void check_large(const format::LargeValue& value);
  void check_large_extents(std::vector<format::ExtentAddress>* named);
  void read_large_value(const format::LargeValue& value, std::vector<CheckItem>* found);
  void read_large_whole(const format::LargeValue& value, std::vector<CheckItem>* found);
  void read_large_pieces(const format::LargeValue& value, std::vector<CheckItem>* found);
  bool read_large_extent(const format::ExtentAddress& address, const format::LargeContent& content,
                         std::vector<CheckItem>* found);
  void judge_table(const format::ExtentAddress& address, const format::LargeContent& content,
                   const std::vector<uint64_t>& sums, std::string_view table,
                   std::vector<CheckItem>* found) const;
  bool walk_extent(const format::ExtentAddress& address, const format::LargeContent& content,
                   std::vector<CheckItem>* found,
                   const std::function<void(uint64_t, std::string_view)>& look);
  bool read_sealed_extent(const format::ExtentAddress& address, const format::LargeContent& content,
                          std::vector<CheckItem>* found);
  bool read_table(const format::ExtentAddress& address, const format::LargeContent& content,
                  std::string* table, std::vector<CheckItem>* found);
  bool read_large(const format::ExtentAddress& address, uint64_t at, size_t bytes,
                  std::vector<CheckItem>* found);
  bool whole_checksum(const format::LargeValue& value, uint64_t* checksum,
                      std::vector<CheckItem>* found);

  // Those of versions that are not flushed (check_unflushed.cc).
  struct Unflushed {
    std::string key;
    std::string encoded;
  };
  static std::vector<Unflushed> unflushed_in(const CheckTarget& target);
  void check_unflushed(const Unflushed& one);
  bool still_named(const Unflushed& one);
  void read_flushed(const Unflushed& one, const format::LargeValue& value,
                    std::vector<CheckItem>* found);

  Db::Impl& database_;
  CheckSink& sink_;
  CheckPace& pace_;
  const bool verify_values_;
  char* buffer_ = nullptr;
  char* chunk_ = nullptr;  // an unpacked one
  const CheckTarget* target_ = nullptr;
  const format::ContainerRecord* record_ = nullptr;
  std::set<format::ExtentAddress> large_seen_;  // of values in pieces,
  std::set<format::ExtentAddress> whole_seen_;  // and the first ones of whole ones
  Status damage_;
  bool ended_ = false;
};

}  // namespace hawthorn::db
