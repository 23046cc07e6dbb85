#pragma once
// The options object of the C API. Used by c/options.cc, c/options_by_name.cc and who opens.
// Threads: one at a time.

#include "c/call.h"
#include "hawthorn/hawthorn.h"

struct hawthorn_options {
  hawthorn::Options options;
};

namespace hawthorn::c {

// Its encryption, or none.
inline Encryption encryption_of(const hawthorn_options* options) {
  return options != nullptr ? options->options.encryption : Encryption{};
}

class OptionsGiven {
 public:
  explicit OptionsGiven(const hawthorn_options* options) : options_(options) {}
  bool fine() const { return options_ != nullptr; }
  [[gnu::cold]] static std::string problem() { return "the options are NULL"; }

 private:
  const hawthorn_options* options_;
};

}  // namespace hawthorn::c
