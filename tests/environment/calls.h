#pragma once
// Kinds of system calls that a process can be refused, and a filter (seccomp) that asks another
// process about each call of one kind.
//
// Not here: who answers (supervisor.h). Used by this folder. Threads: any.

#include <linux/seccomp.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hawthorn::tests {

// What a call is refused with, and what the engine promises then.
struct Refusal {
  int error;
  // A database may have to be opened again: what was written may not be on disk (a failed sync, a
  // write that failed for another reason than want of space). docs/rules.md, R4.
  bool may_end = false;
};

struct CallKind {
  std::string_view name;
  std::span<const int> numbers;     // of system calls
  std::span<const Refusal> errors;  // that environments give
  uint64_t usual;                   // so many are made while something may be short
};

std::span<const CallKind> call_kinds();
const CallKind* find_call_kind(std::string_view name);

// "EMFILE" and so on, for the errors of the table above; empty, or 0, for others.
std::string_view error_name(int error);
int error_of_name(std::string_view name);

// Whether the call, whose number is one of the kind's, is of the kind: some numbers serve several.
bool is_of_kind(const CallKind& kind, const seccomp_data& call);

// From now on each call of the kind by this thread, and by what it starts, waits for an answer. The
// descriptor from which the calls are read; -1: the kernel has no such filters. Nobody gets rid of
// it: for a child process without threads.
int ask_before_calls(const CallKind& kind);

}  // namespace hawthorn::tests
