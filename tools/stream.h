#pragma once
// Buffered output to a file descriptor, and buffered input in lines, both with errors as values.
//
// Not here: what the lines mean (dump_format.h). Used by every command that prints or reads data.
// Threads: one object, one thread.
//
// 1. The first error of an Output is kept: later writes do nothing, finish() reports it.
// 2. An Output to a file is written under NAME.partial and renamed, after a sync, by finish(): a
//    file with the name that was asked for is complete. What a symbolic link leads to is written so
//    where that lies. Devices, pipes and links that lead nowhere are written in place.
// 3. Neither holds more than its buffer and the longest line in memory.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/status.h"

namespace hawthorn::tools {

// kIoError (kNotFound where there is no such file) with the name and the system's reason.
Status system_error(const std::string& name, int error);

class Output {
 public:
  static Output to_stdout();
  static Result<Output> to_file(const std::string& name);
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();  // without finish(): a file is removed, and what is still buffered is lost

  void write(std::string_view bytes);
  Status finish();
  const Status& status() const { return status_; }
  uint64_t bytes() const { return bytes_; }
  bool is_terminal() const;

 private:
  // `place`: what is renamed in the end; empty: the name is written in place.
  Output(int fd, std::string name, std::string place)
      : fd_(fd), name_(std::move(name)), place_(std::move(place)) {}
  std::string written_name() const;
  void write_out(std::string_view bytes);

  int fd_;
  std::string name_;   // of the file as it was asked for; empty for standard output
  std::string place_;  // where it will be
  std::string buffer_;
  Status status_;
  uint64_t bytes_ = 0;
};

class Input {
 public:
  // "-" or an empty name: standard input.
  static Result<Input> open(const std::string& name);
  Input(Input&& other) noexcept;
  Input& operator=(Input&&) = delete;
  ~Input();

  // Reads the next line without its newline; false at the end. A last line may lack its newline.
  // Errors: kCorruption for a line above line_bytes_max. Lifetime: the line, until the next call.
  Result<bool> next_line(std::string_view& line, size_t line_bytes_max);
  // Reads up to buffer.size() bytes; 0 at the end. Not to be mixed with next_line.
  Result<size_t> read(std::span<char> buffer);

  uint64_t line_number() const { return line_number_; }
  uint64_t bytes_read() const { return bytes_read_; }
  uint64_t size() const { return size_; }  // of a regular file; 0 when unknown
  bool is_regular() const { return regular_; }
  const std::string& name() const { return name_; }

 private:
  Input(int fd, std::string name);

  int fd_;
  std::string name_;
  bool regular_ = false;
  uint64_t size_ = 0;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // of what is buffered and not handed out
  size_t end_ = 0;
  uint64_t line_number_ = 0;
  uint64_t bytes_read_ = 0;
};

}  // namespace hawthorn::tools
