#pragma once
// What the fuzz targets share: a check that ends the process, and input taken apart.
//
// Not here: the program around a target, which is libFuzzer's, or replay_main.cc. Threads: one.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// A property that holds for every input. It ends the process, so that the input is kept.
#define FUZZ_CHECK(condition)                                                                     \
  do {                                                                                            \
    if (!(condition)) ::hawthorn::fuzz::fail(__FILE__, __LINE__, #condition, std::string_view()); \
  } while (false)
#define FUZZ_OK(expression)                                                             \
  do {                                                                                  \
    const ::hawthorn::Status fuzz_status = (expression);                                \
    if (!fuzz_status.ok()) {                                                            \
      ::hawthorn::fuzz::fail(__FILE__, __LINE__, #expression, fuzz_status.to_string()); \
    }                                                                                   \
  } while (false)

namespace hawthorn::fuzz {

[[noreturn]] inline void fail(const char* file, int line, const char* what,
                              std::string_view message) {
  std::fprintf(stderr, "%s:%d: does not hold: %s %.*s\n", file, line, what,
               static_cast<int>(message.size()), message.data());
  std::abort();
}

// What is missing at the end reads as zeros. Views are of the input: one byte too much is seen by
// the sanitizer.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::string_view take(size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  template <typename T>
  T number() {
    T value = 0;
    const std::string_view bytes = take(sizeof(T));
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  uint8_t byte() { return number<uint8_t>(); }

 private:
  std::string_view rest_;
};

}  // namespace hawthorn::fuzz
