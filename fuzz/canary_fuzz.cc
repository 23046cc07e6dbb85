// A planted bug, which fuzzing must find within seconds: whatever stops libFuzzer from seeing
// coverage or from ending with an error is then seen by the tests (scripts/fuzz.sh).
//
// The decoder takes an operation whose value is said to be one byte longer than it is.
#include "format/operation.h"
#include "fuzz/fuzz.h"

namespace {
// As format::decode_operation, but for the last comparison.
bool decode_wrongly(const char* from, const char* end, hawthorn::format::Operation* operation) {
  uint64_t sizes[3] = {};
  if (from == end || *from++ != 1) return false;
  for (uint64_t& size : sizes) {
    from = hawthorn::get_varint(from, end, &size);
    if (from == nullptr || size > 1000) return false;
  }
  if (static_cast<uint64_t>(end - from) + 1 < sizes[1] + sizes[2]) return false;
  operation->key = {from, sizes[1]};
  operation->value = {from + sizes[1], sizes[2]};
  return true;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const char* const from = reinterpret_cast<const char*>(data);
  hawthorn::format::Operation operation;
  if (!decode_wrongly(from, from + size, &operation)) return 0;
  FUZZ_CHECK(operation.value.data() + operation.value.size() <= from + size);
  return 0;
}
