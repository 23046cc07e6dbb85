#pragma once
// What the log of a damaged database says, transaction by transaction: which ones are whole, and of
// their operations those that a repair looks at.
//
// Not here: the records themselves (repair_log.h). Used by db/repair.cc. Threads: one at a time.
//
// 1. Which records and operations count is told as db/replay.h does: a transaction's id is its own
//    within an epoch, operations that were rolled back or stand in two chunks count once or not.
// 2. Memory: of a transaction in chunks what the filter asked for, and a range of keys for each
//    tree.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
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

// The keys of a tree that a transaction has written.
struct RepairTouched {
  std::string low;
  std::optional<std::string> high;  // behind the last one; none: to the end of the tree
  uint64_t operations = 0;
};

struct RepairTransaction {
  format::Lsn cts = 0;  // of one that is prepared and open: kLsnMax
  format::RecordType type = format::RecordType::kCommit;
  std::string prepared_as;  // its id, of one that is prepared and open
  // All of its operations are in the log that is there.
  bool complete = true;
  std::vector<RepairOperation> operations;
  std::map<uint32_t, RepairTouched> touched;  // by tree
  std::vector<uint32_t> layered;              // trees of which the operations are in layers
};

class RepairWalk {
 public:
  // Whether a transaction may stay.
  using Judge = std::function<bool(const RepairTransaction&, std::string* why)>;
  enum class Keep : uint8_t { kNothing, kKey, kAll };
  using Filter = std::function<Keep(const format::Operation&)>;

  RepairWalk(RepairLog& log, RepairReport* report) : log_(log), report_(report) {}
  // Asks about every transaction with a commit record, in their order, and then about those that
  // are prepared and open. What may not stay, or lies in a gap, is dropped, and named in the report
  // with what it wrote. Errors: kIoError.
  Status run(const Filter& filter, const Judge& judge);

 private:
  using Key = std::pair<format::Lsn, uint64_t>;  // begin of the epoch, id
  struct Chunk {
    format::Lsn lsn = 0;
    uint32_t first = 0;  // number of its first operation
    uint32_t end = 0;
  };
  struct Open {
    std::vector<RepairOperation> operations;
    std::map<uint32_t, RepairTouched> touched;
    std::vector<Chunk> chunks;
    std::vector<std::pair<format::Lsn, uint32_t>> masks;  // rollbacks
    std::vector<size_t> records;                          // chunks, and what it was prepared with
    uint32_t parts = 0;
    bool prepared = false;
    std::string id;  // that the program gave it
    format::Lsn from = 0;
    uint32_t count = 0;  // of its operations
  };

  void take(size_t index, const std::string& payload, const Filter& filter, const Judge& judge);
  bool parse(const RepairLog::Record& record, std::string_view operations, uint32_t seq,
             const Filter& filter, Open* to, uint32_t* end);
  void drop(RepairLog::Record& record, const RepairTransaction& transaction,
            const std::string& why);
  void drop_records(const Open& open);
  void commit(RepairLog::Record& record, std::string_view payload, const Filter& filter,
              const Judge& judge);
  void prepare(const RepairLog::Record& record, std::string_view payload);
  void judge_prepared(const Judge& judge);
  // Of the operations below `end`, how many count.
  static uint32_t counted(const Open& open, format::Lsn from, uint32_t end);

  RepairLog& log_;
  RepairReport* const report_;
  std::map<Key, Open> open_;
  std::map<std::string, std::vector<Key>> prepared_;  // by id, in the order of the log
};

}  // namespace hawthorn::db
