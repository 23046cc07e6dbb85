#pragma once
// What the commits of the crash workload consist of (workload.h): a function of seed, writer and
// number alone.
//
// Used by workload.cc and verify.cc only. Threads: any.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hawthorn/hawthorn.h"
#include "tests/crash/workload.h"

namespace hawthorn::tests {

struct WorkChange {
  enum class Kind : uint8_t { kPut, kDelete, kDeleteRange, kMake, kDrop, kClone };
  Kind kind = Kind::kPut;
  std::string tree;
  std::string key;
  std::string text;  // kPut: the value; kDeleteRange: the end; kClone: the source
};

struct WorkCommit {
  // Goes into tree_load by a bulk ingest right before: by itself, so it may be there and the commit
  // not.
  std::vector<std::pair<std::string, std::string>> ingest;
  std::vector<WorkChange> changes;
  bool transfers = false;
  Transfer transfer;
  bool drops = false;       // a tree
  bool as_batch = false;    // Db::write
  bool rolls_back = false;  // writes something behind a savepoint, and goes back to it
  TxnOptions how;
  Durability durability = Durability::kNone;
};

WorkCommit work_commit(uint64_t seed, uint32_t writer, uint64_t number);

// The writer's trees. The number of the last commit stands under kNumberKey of the first two.
std::string tree_a(uint32_t writer);
std::string tree_b(uint32_t writer);
std::string tree_sum(uint32_t writer);
std::string tree_extra(uint32_t writer);
std::string tree_copy(uint32_t writer);
std::string tree_load(uint32_t writer);
inline constexpr const char* kNumberKey = "";
inline constexpr const char* kSumKey = "sum of the numbers";

inline constexpr const char* kBank = "bank";
inline constexpr const char* kJournal = "bank journal";
inline constexpr const char* kTicketKey = "last ticket";
inline constexpr uint64_t kAccounts = 40;
inline constexpr uint64_t kFirstBalance = 1000;
std::string account_key(uint64_t account);
std::string number_text(uint64_t number);  // 8 bytes
bool read_number(std::string_view text, uint64_t* number);
std::string journal_entry(uint32_t writer, uint64_t number, const Transfer& transfer);

}  // namespace hawthorn::tests
