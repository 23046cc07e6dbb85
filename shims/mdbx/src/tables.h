#pragma once
// Tables: what is kept of them in the database, their orders, and the functions that compare.
//
// The catalog is a tree of its own, "mdbx", whose keys are:
//   table/NAME   a TableRecord; each table's entries are in the tree "table/ID"
//   main         that of the table without a name
//   next         the next table's id
//   txnid        of the last transaction
//   canary       MDBX_canary
//   geometry     as it was last set
// The main table has an entry for each table with a name, as in the original, so that programs
// which list them find them there; its value is a copy of the record.
//
// Threads: see each class.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/db.h"
#include "shims/mdbx/src/common.h"

namespace hawthorn::mdbx {

constexpr std::string_view kCatalog = "mdbx";
constexpr std::string_view kMainKey = "main";
constexpr std::string_view kNextKey = "next";
constexpr std::string_view kTxnIdKey = "txnid";
constexpr std::string_view kCanaryKey = "canary";
constexpr std::string_view kGeometryKey = "geometry";
constexpr std::string_view kTablePrefix = "table/";

constexpr MDBX_dbi kGarbageDbi = 0;  // the original's list of free pages; here it is empty
constexpr MDBX_dbi kMainDbi = 1;
constexpr MDBX_dbi kCoreDbis = 2;
constexpr MDBX_dbi kMaxDbis = 32765;

// Of keys and values, in bytes. With several values to a key both are a part of what is sorted,
// where a zero byte of the key counts twice.
constexpr size_t kKeyMax = 65535;
constexpr size_t kMultiKeyMax = 16000;
constexpr size_t kMultiValueMax = 32000;
constexpr size_t kValueMax = MDBX_MAXDATASIZE;
// Larger ones are written and read as streams.
constexpr size_t kPlainValueMax = size_t{64} << 20;
constexpr size_t kNameMax = 16000;

// The last of MDBX_option that is the original's.
#if HAWTHORN_MDBX_API >= 14
constexpr unsigned kLastOption = MDBX_opt_presync_threshold;
#else
constexpr unsigned kLastOption = MDBX_opt_subpage_reserve_limit;
#endif

constexpr unsigned kPersistentFlags = MDBX_REVERSEKEY | MDBX_DUPSORT | MDBX_INTEGERKEY |
                                      MDBX_DUPFIXED | MDBX_INTEGERDUP | MDBX_REVERSEDUP;

size_t key_max(unsigned flags);
size_t value_max(unsigned flags);
// Whether these flags of a table go together.
bool flags_are_valid(unsigned flags);

// As the original compares where a program has not given its own functions.
Compare key_compare(unsigned flags);
Compare value_compare(unsigned flags);

struct TableRecord {
  uint64_t id = 0;
  uint64_t sequence = 0;
  uint32_t flags = 0;
  uint32_t key_bytes = 0;    // of MDBX_INTEGERKEY, once there is an entry
  uint32_t value_bytes = 0;  // of MDBX_DUPFIXED, once there is an entry
  uint32_t comparators = 0;  // 1: of keys, 2: of values; in the slot with the table's number
  uint32_t slot = 0;
  uint32_t reserved = 0;
  uint64_t txnid = 0;  // that wrote this record

  std::string encode() const;
  static std::optional<TableRecord> decode(std::string_view bytes);
};

std::string record_key(std::string_view name, bool main);
std::string tree_name(uint64_t id);
TreeOptions tree_options(const TableRecord& record);

// A table that has handles. Does not change; what may be different in a transaction is in that.
// Threads: any.
struct Table {
  std::string name;
  bool main = false;
  bool garbage = false;
  TableRecord record;
  Compare compare_keys = nullptr;
  Compare compare_values = nullptr;
  Tree tree;  // of the database that writes; of others it is looked up
  // Every transaction that began behind so many commits of this environment has it.
  std::atomic<uint64_t> since{UINT64_MAX};
  std::atomic<uint64_t> txnid{0};  // that last wrote it, as far as is known
  // No transaction above it has written the table; none: not known. Told before a commit, so that
  // who sees the commit sees it, too. Under the environment's mutex, as is the next.
  std::optional<uint64_t> unwritten_above;
  std::optional<uint64_t> entries;  // as of then on
  // On disk, when it was last looked. Under that mutex, too.
  struct Size {
    uint64_t bytes = 0;
    uint64_t entries = 0;
    std::chrono::steady_clock::time_point at;
  };
  Size size;

  bool multi() const { return (record.flags & MDBX_DUPSORT) != 0; }
  int order_of_keys(std::string_view a, std::string_view b) const;
  int order_of_values(std::string_view a, std::string_view b) const;
};

// A place for the functions of a program by which the keys, or the values, of one table are
// ordered. They are given when the table is opened, and the database needs an order when it is
// opened itself: that is one of these. Threads: any.
class ComparatorSlot : public KeyComparator {
 public:
  explicit ComparatorSlot(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  int compare(std::string_view a, std::string_view b) const override;
  void set(Compare function) { function_.store(function, std::memory_order_release); }

 private:
  std::string name_;
  std::atomic<Compare> function_{nullptr};
};

constexpr size_t kComparatorSlots = 64;

struct Comparators {
  Comparators();
  std::array<std::shared_ptr<ComparatorSlot>, kComparatorSlots> keys;
  std::array<std::shared_ptr<ComparatorSlot>, kComparatorSlots> values;
  std::vector<std::shared_ptr<const KeyComparator>> all() const;
};

// The order of MDBX_INTEGERKEY and MDBX_INTEGERDUP: numbers of 4 or of 8 bytes, as the machine
// stores them.
std::shared_ptr<const KeyOrder> integer_order();

}  // namespace hawthorn::mdbx
