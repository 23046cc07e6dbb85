#pragma once
// What a public function returns where the system gives no memory (std::bad_alloc).
//
// Threads: any.

#include <new>

#include "hawthorn/status.h"

namespace hawthorn {

// Takes no memory: kOutOfMemory has words of its own (Status::message).
[[gnu::cold]] Status out_of_memory() noexcept;

}  // namespace hawthorn
