#pragma once
// What of the operating system programs ask the library for, and loggers.
//
// Not here: environments and file systems of the program's own; the engine reaches its files by
// itself. Threads: any.

#include <cstdarg>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
enum InfoLogLevel : unsigned char {
  DEBUG_LEVEL = 0,
  INFO_LEVEL,
  WARN_LEVEL,
  ERROR_LEVEL,
  FATAL_LEVEL,
  HEADER_LEVEL,
  NUM_INFO_LOG_LEVELS,
};

struct DBOptions;

// Of files, which the engine chooses by itself. [accepted]
struct EnvOptions {
  EnvOptions() = default;
  explicit EnvOptions(const DBOptions& /*options*/) {}
};

// Of threads. [accepted]
enum class CpuPriority { kIdle = 0, kLow = 1, kNormal = 2, kHigh = 3 };

// Gets messages of interest to an operator; the program derives from it. [mapped]
class Logger {
 public:
  static constexpr size_t kDoNotSupportGetLogFileSize = SIZE_MAX;
  static constexpr InfoLogLevel kDefaultLogLevel = INFO_LEVEL;

  explicit Logger(const InfoLogLevel log_level = INFO_LEVEL) : log_level_(log_level) {}
  virtual ~Logger();
  Logger(const Logger&) = delete;
  void operator=(const Logger&) = delete;

  virtual Status Close() { return Status::OK(); }
  virtual void LogHeader(const char* format, va_list ap) { Logv(format, ap); }
  virtual void Logv(const char* format, va_list ap);
  // Leaves out what is below the logger's level, and names the level of the rest.
  virtual void Logv(const InfoLogLevel log_level, const char* format, va_list ap);
  virtual size_t GetLogFileSize() const { return kDoNotSupportGetLogFileSize; }
  virtual void Flush() {}
  virtual InfoLogLevel GetInfoLogLevel() const { return log_level_; }
  virtual void SetInfoLogLevel(const InfoLogLevel log_level) { log_level_ = log_level; }

 private:
  InfoLogLevel log_level_;
};

// The operating system's. A program's own, in DBOptions::env, is refused. [mapped]
class Env {
 public:
  // Of threads, which the engine has by itself. [accepted]
  enum Priority { BOTTOM, LOW, HIGH, USER, TOTAL };
  // [accepted]
  enum IOPriority { IO_LOW = 0, IO_MID = 1, IO_HIGH = 2, IO_USER = 3, IO_TOTAL = 4 };
  // [accepted]
  enum class IOActivity : uint8_t {
    kFlush = 0,
    kCompaction = 1,
    kDBOpen = 2,
    kGet = 3,
    kMultiGet = 4,
    kDBIterator = 5,
    kVerifyDBChecksum = 6,
    kVerifyFileChecksums = 7,
    kGetEntity = 8,
    kMultiGetEntity = 9,
    kGetFileChecksumsFromCurrentManifest = 10,
    kUnknown,
  };

  Env() = default;
  virtual ~Env() = default;
  Env(const Env&) = delete;
  void operator=(const Env&) = delete;

  static const char* Type() { return "Environment"; }
  // Lifetime: static.
  static Env* Default();

  virtual Status FileExists(const std::string& fname);
  virtual Status GetChildren(const std::string& dir, std::vector<std::string>* result);
  virtual Status DeleteFile(const std::string& fname);
  virtual Status CreateDir(const std::string& dirname);
  virtual Status CreateDirIfMissing(const std::string& dirname);
  virtual Status DeleteDir(const std::string& dirname);
  virtual Status GetFileSize(const std::string& fname, uint64_t* file_size);
  virtual Status RenameFile(const std::string& src, const std::string& target);

  // Microseconds since 1970, and nanoseconds since no certain moment.
  virtual uint64_t NowMicros();
  virtual uint64_t NowNanos();
  virtual void SleepForMicroseconds(int micros);
  virtual Status GetCurrentTime(int64_t* unix_time);

  // [accepted]
  virtual void SetBackgroundThreads(int number, Priority pri = LOW);
  // Returns what was set. [accepted]
  virtual int GetBackgroundThreads(Priority pri = LOW);
  // [accepted]
  virtual void IncBackgroundThreadsIfNeeded(int number, Priority pri);
  // [accepted]
  virtual void LowerThreadPoolIOPriority(Priority pool = LOW);
  // [accepted]
  virtual void LowerThreadPoolCPUPriority(Priority pool = LOW);
};

}  // namespace ROCKSDB_NAMESPACE
