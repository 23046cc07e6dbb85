#pragma once
// Bytes that a callback of the program makes. Used by callbacks of src/c. Threads: one at a time.

#include <string>

struct hawthorn_buffer {
  std::string* bytes;
};
