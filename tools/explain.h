#pragma once
// The words for what is told of a key (hawthorn/explain.h): those of `hawthorn explain`.
//
// Not here: the command itself. Threads: pure functions.

#include "hawthorn/explain.h"

namespace hawthorn::tools {

const char* place_name(KeyExplanation::Place place);
const char* kind_name(KeyExplanation::Kind kind);
const char* resident_name(KeyExplanation::Resident resident);

}  // namespace hawthorn::tools
