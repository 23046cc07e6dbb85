// The operating system's part of Env, and Logger.

#include "rocksdb/env.h"

#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>

#include "rocksdb/version.h"
#include "shims/directory_entries.h"
#include "shims/of_process.h"

namespace rocksdb {
namespace {

namespace fs = std::filesystem;

Status status_of(const std::error_code& error, const std::string& path) {
  if (!error) return Status::OK();
  if (error == std::errc::no_such_file_or_directory) {
    return Status::PathNotFound(path, error.message());
  }
  if (error == std::errc::no_space_on_device) return Status::NoSpace(path, error.message());
  return Status::IOError(path, error.message());
}

std::array<std::atomic<int>, Env::TOTAL> thread_counts;

}  // namespace

std::string GetRocksVersionAsString(bool with_patch) {
  std::string text = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);
  if (with_patch) text += "." + std::to_string(ROCKSDB_PATCH);
  return text;
}

Logger::~Logger() = default;

void Logger::Logv(const char*, va_list) {}

void Logger::Logv(const InfoLogLevel log_level, const char* format, va_list ap) {
  static constexpr const char* kNames[] = {"[DEBUG] ", "[INFO] ",  "[WARN] ",
                                           "[ERROR] ", "[FATAL] ", ""};
  if (log_level < log_level_) return;
  if (log_level == INFO_LEVEL || log_level >= HEADER_LEVEL) return Logv(format, ap);
  const std::string named = std::string(kNames[log_level]) + format;
  Logv(named.c_str(), ap);
}

Env* Env::Default() { return &hawthorn::MadeOnce<Env>::get(); }

Status Env::FileExists(const std::string& fname) {
  std::error_code error;
  if (fs::exists(fname, error)) return Status::OK();
  return error ? status_of(error, fname) : Status::NotFound();
}

Status Env::GetChildren(const std::string& dir, std::vector<std::string>* result) {
  result->clear();
  return status_of({hawthorn::list_directory(dir, result), std::system_category()}, dir);
}

Status Env::DeleteFile(const std::string& fname) {
  std::error_code error;
  const bool removed = fs::remove(fname, error);
  if (!error && !removed) error = std::make_error_code(std::errc::no_such_file_or_directory);
  return status_of(error, fname);
}

Status Env::CreateDir(const std::string& dirname) {
  std::error_code error;
  const bool created = fs::create_directory(dirname, error);
  if (!error && !created) error = std::make_error_code(std::errc::file_exists);
  return status_of(error, dirname);
}

Status Env::CreateDirIfMissing(const std::string& dirname) {
  std::error_code error;
  fs::create_directory(dirname, error);
  return status_of(error, dirname);
}

Status Env::DeleteDir(const std::string& dirname) { return DeleteFile(dirname); }

Status Env::GetFileSize(const std::string& fname, uint64_t* file_size) {
  std::error_code error;
  const uintmax_t size = fs::file_size(fname, error);
  *file_size = error ? 0 : size;
  return status_of(error, fname);
}

Status Env::RenameFile(const std::string& src, const std::string& target) {
  std::error_code error;
  fs::rename(src, target, error);
  return status_of(error, src);
}

uint64_t Env::NowMicros() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

uint64_t Env::NowNanos() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void Env::SleepForMicroseconds(int micros) {
  std::this_thread::sleep_for(std::chrono::microseconds(micros));
}

Status Env::GetCurrentTime(int64_t* unix_time) {
  *unix_time = static_cast<int64_t>(NowMicros() / 1'000'000);
  return Status::OK();
}

void Env::SetBackgroundThreads(int number, Priority pri) {
  assert(pri < TOTAL);
  thread_counts[pri] = number;
}

int Env::GetBackgroundThreads(Priority pri) {
  assert(pri < TOTAL);
  return thread_counts[pri];
}

void Env::IncBackgroundThreadsIfNeeded(int number, Priority pri) {
  if (GetBackgroundThreads(pri) < number) SetBackgroundThreads(number, pri);
}

void Env::LowerThreadPoolIOPriority(Priority) {}
void Env::LowerThreadPoolCPUPriority(Priority) {}

}  // namespace rocksdb
