#pragma once
// How much a thread counts and measures of what it does (perf_context.h).

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
enum PerfLevel : unsigned char {
  kUninitialized = 0,
  kDisable = 1,
  kEnableCount = 2,
  kEnableWait = 3,
  kEnableTimeExceptForMutex = 4,
  kEnableTimeAndCPUTimeExceptForMutex = 5,
  kEnableTime = 6,
  kOutOfBounds = 7,
};

// Of this thread. [mapped]
void SetPerfLevel(PerfLevel level);
// kEnableCount where it was not set. [mapped]
PerfLevel GetPerfLevel();

}  // namespace ROCKSDB_NAMESPACE
