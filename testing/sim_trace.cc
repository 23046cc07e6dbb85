#include "testing/sim_trace.h"

#include <cinttypes>

#include "base/checksum.h"
#include "base/prng.h"

namespace hawthorn::testing {

SimTrace::~SimTrace() {
  if (file_ != nullptr) fclose(file_);
}

bool SimTrace::write_to(const std::string& path) {
  file_ = fopen(path.c_str(), "w");
  return file_ != nullptr;
}

void SimTrace::add(uint64_t number) { hash_ = mix64(hash_ ^ number); }

void SimTrace::number(const char* what, uint64_t a, uint64_t b) {
  add(a);
  add(b);
  if (file_ != nullptr) fprintf(file_, "%s %" PRIu64 " %" PRIu64 "\n", what, a, b);
}

void SimTrace::bytes(std::string_view what, std::span<const char> data) {
  const uint64_t sum = checksum64(data.data(), data.size(), 0);
  add(checksum64(what.data(), what.size(), 0));
  add(sum);
  if (file_ != nullptr) {
    fprintf(file_, "%.*s %zu %016" PRIx64 "\n", static_cast<int>(what.size()), what.data(),
            data.size(), sum);
  }
}

}  // namespace hawthorn::testing
