#pragma once
// A test program's operator new, which refuses what a test tells it to: to be included by one file
// of a program. The program links the shared library of a shim, so that what the shim asks for can
// be told from what the engine does, which has tests of its own (tests/faults/allocation_test.cc).
//
//   refuse_each([&] { return mdb_put(...); }, [&](int code, bool refused) { EXPECT_...; });
//
// Threads: what is refused is refused to the thread that asked for it.

#include <gtest/gtest.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace hawthorn::tests {

enum class Refuse : uint8_t {
  // Of the shim alone, and as if what is set aside were gone: std::bad_alloc.
  kShimHelpless,
  // Whoever asks: what is set aside (the new-handler) makes up for it.
  kAnyMadeUpFor,
};

namespace refusing {

struct Range {
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  bool has(uintptr_t address) const { return address >= begin && address < end; }
};

inline Range shim;
inline Range engine;
// How many more are given before one is refused; negative: all are.
inline constinit thread_local int64_t given = -1;
inline constinit thread_local Refuse who = Refuse::kShimHelpless;

inline int find_ranges(dl_phdr_info* object, size_t, void*) {
  const std::string_view path = object->dlpi_name;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with("libhawthorn")) return 0;
  Range& range = name.starts_with("libhawthorn.") ? engine : shim;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    range.begin = std::min(range.begin, begin);
    range.end = std::max(range.end, begin + object->dlpi_phdr[i].p_memsz);
  }
  return 0;
}

// Whether the first of the two libraries above this call is the shim.
inline bool is_of_the_shim() {
  bool found = false;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* result) {
        const uintptr_t at = _Unwind_GetIP(context);
        if (shim.has(at)) *static_cast<bool*>(result) = true;
        return shim.has(at) || engine.has(at) ? _URC_END_OF_STACK : _URC_NO_REASON;
      },
      &found);
  return found;
}

inline bool refuses() {
  if (given < 0) return false;
  if (who == Refuse::kShimHelpless && !is_of_the_shim()) return false;
  return given-- == 0;
}

inline void* take(size_t bytes, size_t align) {
  for (;;) {
    if (!refuses()) {
      const size_t rounded = (std::max<size_t>(bytes, 1) + align - 1) / align * align;
      if (void* const memory = std::aligned_alloc(align, rounded); memory != nullptr) return memory;
    } else if (who == Refuse::kShimHelpless) {
      throw std::bad_alloc();
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace refusing

// While it lives nothing is refused: for what a test does in between.
class Undisturbed {
 public:
  Undisturbed() : given_(std::exchange(refusing::given, -1)) {}
  ~Undisturbed() { refusing::given = given_; }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  const int64_t given_;
};

// Calls `work` until none of its allocations is refused any more: the n-th call is refused the n-th
// allocation. `check` gets each answer, and whether one was refused. `most`: the most calls.
template <typename Work, typename Check>
void refuse_each(const char* name, Refuse who, const Work& work, const Check& check,
                 int64_t most = INT64_MAX) {
  SCOPED_TRACE(name);
  if (refusing::shim.end == 0) dl_iterate_phdr(refusing::find_ranges, nullptr);
  ASSERT_LT(refusing::shim.begin, refusing::shim.end) << "the shim is not a library of its own";
  // All of the first, then one of some.
  const bool each = std::getenv("HAWTHORN_REFUSE_EACH") != nullptr;
  for (int64_t nth = 0; nth < most; nth += each ? 1 : 1 + nth / 8) {
    SCOPED_TRACE(nth);
    refusing::who = who;
    refusing::given = nth;
    const auto answer = work();
    const bool refused = refusing::given < 0;
    refusing::given = -1;
    check(answer, refused);
    if (!refused || ::testing::Test::HasFailure()) return;
  }
}

}  // namespace hawthorn::tests

// All forms: those of a sanitizer would not fit with these.
void* operator new(size_t bytes) {
  return hawthorn::tests::refusing::take(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t align) {
  return hawthorn::tests::refusing::take(bytes, static_cast<size_t>(align));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept try {
  return ::operator new(bytes);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void* operator new(size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept try {
  return ::operator new(bytes, align);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void* operator new[](size_t bytes) { return ::operator new(bytes); }
void* operator new[](size_t bytes, std::align_val_t align) { return ::operator new(bytes, align); }
void* operator new[](size_t bytes, const std::nothrow_t& none) noexcept {
  return ::operator new(bytes, none);
}
void* operator new[](size_t bytes, std::align_val_t align, const std::nothrow_t& none) noexcept {
  return ::operator new(bytes, align, none);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
