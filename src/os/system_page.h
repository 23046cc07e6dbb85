#pragma once
// The kernel's page, which is the least that it gives and takes: 4 KB, elsewhere than on x86 also
// 16 or 64 KB.
//
// Threads: any; tests change it while no other thread asks.

#include <cstddef>

namespace hawthorn::os {

size_t system_page_bytes();
// For tests: what it is from here on, a multiple of what it is; 0: the kernel's again.
void set_system_page_bytes(size_t bytes);

}  // namespace hawthorn::os
