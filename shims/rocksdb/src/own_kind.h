#pragma once
// Whether an object that a program hands in is one that this library has made.
//
// A program may be built without run-time type information (-fno-rtti): what it derives from
// RocksDB's classes has none then, and dynamic_cast or typeid of it crash. So what is asked is the
// address of its table of virtual functions, which is the first word of an object (Itanium C++ ABI,
// 2.4), and that of a class that is final belongs to no other.
// Used by classes that a program can get and hand in. Threads: every function from any thread.

#include <atomic>
#include <cstring>
#include <type_traits>

namespace hawthorn::rocks {

template <typename Kind>
class OwnKind {
 public:
  // In each constructor of Kind.
  static void note(const Kind* object) {
    static_assert(std::is_final_v<Kind> && std::is_polymorphic_v<Kind>);
    table_.store(table_of(object), std::memory_order_relaxed);
  }
  // Null: it is none, or null.
  template <typename Base>
  static auto find(Base* object) {
    using Found = std::conditional_t<std::is_const_v<Base>, const Kind, Kind>;
    const void* const table = table_.load(std::memory_order_relaxed);
    const bool is_one = object != nullptr && table != nullptr && table_of(object) == table;
    return is_one ? static_cast<Found*>(object) : nullptr;
  }

 private:
  static const void* table_of(const void* object) {
    const void* table = nullptr;
    memcpy(&table, object, sizeof(table));
    return table;
  }

  static inline std::atomic<const void*> table_{nullptr};
};

}  // namespace hawthorn::rocks
