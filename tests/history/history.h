#pragma once
// A history: what transactions did, as their clients saw it. Every key holds a list; transactions
// append elements, each of which is appended once in the whole history, and read whole lists. So a
// list tells the order of the key's versions and who wrote each of them.
//
// Not here: what a history must obey (checker.h), who records one (history_client.h). It knows
// nothing of the engine, on purpose. Used by tests/history only. Threads: plain values.
//
// Lists are stored as they were read, not as lengths and hashes: a failing history is looked at by
// people. So clients go on to fresh keys when lists have some dozens of elements.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace hawthorn::history {

using Key = uint64_t;
using Element = uint64_t;
using List = std::vector<Element>;

// Invocations and completions are numbers that all processes draw from one counter.
inline constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

enum class Outcome : uint8_t {
  kCommitted,
  kAborted,
  kUnknown,  // committed if anybody read its appends; otherwise it may be either
};

struct Operation {
  enum class Kind : uint8_t { kAppend, kRead, kRange };

  static Operation append(Key key, Element element);
  static Operation read(Key key, List list);
  // The keys from `low` on, one list each; the list of a key that has none is empty.
  static Operation range(Key low, std::vector<List> lists);

  Kind kind = Kind::kRead;
  Key key = 0;              // the first one of a range
  Element element = 0;      // kAppend
  std::vector<List> lists;  // kRead: one; kRange: of key, key + 1, ...
  bool operator==(const Operation&) const = default;
};

struct Transaction {
  uint64_t id = 0;
  uint64_t process = 0;  // runs one transaction at a time
  Outcome outcome = Outcome::kCommitted;
  uint64_t begin = 0;     // before its first call
  uint64_t end = kNever;  // after its last; kNever: it may take effect at any later time
  std::vector<Operation> operations;
  bool operator==(const Transaction&) const = default;
};

struct History {
  std::vector<Transaction> transactions;
  // The id of the transaction that read every key after all others had ended.
  std::optional<uint64_t> last_read;
  bool operator==(const History&) const = default;
};

// The textual form: a first line, a line for `last_read`, then one line for each transaction:
//
//   history 1
//   last 9
//   7 process 2 committed 31 40: read 5 [1 2]; append 5 3; range 8..10 [] [4]
std::string to_text(const Transaction& transaction);
std::string to_text(const History& history);
// False, with the line and what is wrong with it in *error, where the text is no history.
bool from_text(const std::string& text, History* history, std::string* error);

bool write_file(const History& history, const std::string& path, std::string* error);
bool read_file(const std::string& path, History* history, std::string* error);

}  // namespace hawthorn::history
