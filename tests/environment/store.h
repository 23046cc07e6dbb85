#pragma once
// What the workload asks of an API: a store of keys and values whose transactions are durable when
// their commit has returned. Each program of this folder makes one of its API.
//
// Threads: any, but for open and close; `thread` is the caller's number, below kThreads, so that
// an API can have something for each.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hawthorn::tests {

inline constexpr unsigned kThreads = 3;

enum class Ending : uint8_t {
  kDone,
  kNone,     // there is no such key
  kAgain,    // another transaction is in the way
  kRefused,  // an error; nothing has changed
  kUnknown,  // an error of a commit that may have been made
};

struct Outcome {
  Ending ending = Ending::kDone;
  char text[1000] = {};  // of the error

  bool done() const { return ending == Ending::kDone; }
  static Outcome of(Ending ending, std::string_view text = {}) {
    Outcome outcome;
    outcome.ending = ending;
    text.copy(outcome.text, sizeof(outcome.text) - 1);
    return outcome;
  }
};

struct Write {
  std::string_view key;
  std::string_view value;
  bool remove = false;
};

// Of each entry; it allocates nothing.
using Visit = void (*)(void* context, std::string_view key, std::string_view value);

class Store {
 public:
  virtual ~Store() = default;
  virtual Outcome open(const std::string& path) = 0;
  virtual Outcome close() = 0;
  // One transaction, which also reads the first key.
  virtual Outcome write(unsigned thread, std::span<const Write> writes) = 0;
  // Lifetime of the value: until the thread's next call.
  virtual Outcome get(unsigned thread, std::string_view key, std::string_view& value) = 0;
  // All entries from `low` on, before `high`.
  virtual Outcome scan(unsigned thread, std::string_view low, std::string_view high, Visit visit,
                       void* context) = 0;
  // What the API has to keep a store in order, another thing each time.
  virtual Outcome tend(unsigned thread, uint64_t turn) = 0;
  // The store's own check of all that it has.
  virtual Outcome check(unsigned thread) = 0;
};

using MakeStore = std::function<std::unique_ptr<Store>()>;

// The program of an API: its main function.
int run_environment(int argc, char** argv, std::string_view api, const MakeStore& make_store);

}  // namespace hawthorn::tests
