#pragma once
// What the log of a damaged database says, transaction by transaction: which ones are whole, and of
// their operations those that a repair looks at.
//
// Not here: the records themselves (repair_log.h). Used by db/repair.cc. Threads: one at a time.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "db/repair_log.h"
#include "format/operation.h"

namespace hawthorn::db {

struct RepairOperation {
  format::OperationType type = format::OperationType::kPut;
  uint32_t tree = 0;
  std::string key;
  std::string value;  // of what the filter asked for; else empty
  uint32_t seq = 0;
  format::Lsn lsn = 0;  // of the record it stands in
};

struct RepairTransaction {
  format::Lsn cts = 0;
  format::RecordType type = format::RecordType::kCommit;
  std::vector<RepairOperation> operations;
};

class RepairWalk {
 public:
  // Whether a transaction may stay.
  using Judge = std::function<bool(const RepairTransaction&, std::string* why)>;
  enum class Keep : uint8_t { kNothing, kKey, kAll };
  using Filter = std::function<Keep(const format::Operation&)>;

  RepairWalk(RepairLog& log, RepairReport* report) : log_(log), report_(report) {}
  // Asks about every transaction with a commit record, in their order. What may not stay, or lies
  // in a gap, is dropped, and named in the report.
  void run(const Filter& filter, const Judge& judge);

 private:
  struct Open {
    std::vector<RepairOperation> operations;
  };
  bool parse(const RepairLog::Record& record, std::string_view operations, uint32_t seq,
             const Filter& filter, std::vector<RepairOperation>* to);
  void drop(RepairLog::Record& record, const std::string& why);
  void commit(RepairLog::Record& record, std::string_view payload, const Filter& filter,
              const Judge& judge);

  RepairLog& log_;
  RepairReport* const report_;
  std::map<uint64_t, Open> open_;
};

}  // namespace hawthorn::db
