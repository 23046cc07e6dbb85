#include "tools/stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace hawthorn::tools {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;
constexpr int kClosed = -1;

std::string partial_name(const std::string& name) { return name + ".partial"; }

}  // namespace

Status system_error(const std::string& name, int error) {
  const StatusCode code = error == ENOENT                     ? StatusCode::kNotFound
                          : error == EACCES || error == EPERM ? StatusCode::kPermissionDenied
                                                              : StatusCode::kIoError;
  return Status(code, name + ": " + std::strerror(error));
}

Output Output::to_stdout() { return Output(STDOUT_FILENO, "", ""); }

Result<Output> Output::to_file(const std::string& name) {
  constexpr mode_t kMode = 0600;
  std::string place = name;
  struct stat about{};
  if (::lstat(name.c_str(), &about) == 0 && !S_ISREG(about.st_mode)) {
    std::error_code dangling;
    place = std::filesystem::canonical(name, dangling).string();
    if (dangling || ::stat(name.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) {
      const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
      if (fd < 0) return system_error(name, errno);
      return Output(fd, name, "");
    }
  }
  const std::string partial = partial_name(place);
  // A new file, for nobody else to read: what an earlier run, or somebody else, left at the name
  // keeps neither its permissions nor where it leads.
  ::unlink(partial.c_str());
  const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (fd < 0) return system_error(partial, errno);
  return Output(fd, name, std::move(place));
}

Output::Output(Output&& other) noexcept
    : fd_(std::exchange(other.fd_, kClosed)),
      name_(std::move(other.name_)),
      place_(std::move(other.place_)),
      buffer_(std::move(other.buffer_)),
      status_(std::move(other.status_)),
      bytes_(other.bytes_) {}

Output::~Output() {
  if (fd_ == kClosed || name_.empty()) return;
  ::close(fd_);
  if (!place_.empty()) ::unlink(partial_name(place_).c_str());
}

std::string Output::written_name() const {
  if (name_.empty()) return "standard output";
  return place_.empty() ? name_ : partial_name(place_);
}

bool Output::is_terminal() const { return ::isatty(fd_) == 1; }

void Output::write_out(std::string_view bytes) {
  while (!bytes.empty() && status_.ok()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      status_ = system_error(written_name(), errno);
    }
  }
}

void Output::write(std::string_view bytes) {
  bytes_ += bytes.size();
  if (buffer_.size() + bytes.size() < kBufferBytes) {
    buffer_ += bytes;
    return;
  }
  write_out(buffer_);
  buffer_.clear();
  if (bytes.size() < kBufferBytes) {
    buffer_ += bytes;
  } else {
    write_out(bytes);
  }
}

Status Output::finish() {
  write_out(buffer_);
  buffer_.clear();
  if (name_.empty() || !status_.ok()) return status_;
  const std::string partial = written_name();
  // Pipes and most devices have nothing that could be synced.
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) {
    status_ = system_error(partial, errno);
  }
  if (::close(std::exchange(fd_, kClosed)) != 0 && status_.ok()) {
    status_ = system_error(partial, errno);
  }
  if (place_.empty()) return status_;
  if (status_.ok() && std::rename(partial.c_str(), place_.c_str()) != 0) {
    status_ = system_error(name_, errno);
  }
  if (!status_.ok()) ::unlink(partial.c_str());
  return status_;
}

Input::Input(int fd, std::string name) : fd_(fd), name_(std::move(name)), buffer_(kBufferBytes) {
  struct stat about{};
  if (::fstat(fd_, &about) == 0 && S_ISREG(about.st_mode)) {
    regular_ = true;
    size_ = static_cast<uint64_t>(about.st_size);
  }
}

Result<Input> Input::open(const std::string& name) {
  if (name.empty() || name == "-") return Input(STDIN_FILENO, "standard input");
  const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error(name, errno);
  return Input(fd, name);
}

Input::Input(Input&& other) noexcept
    : fd_(std::exchange(other.fd_, kClosed)),
      name_(std::move(other.name_)),
      regular_(other.regular_),
      size_(other.size_),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      line_number_(other.line_number_),
      bytes_read_(other.bytes_read_) {}

Input::~Input() {
  if (fd_ != kClosed && fd_ != STDIN_FILENO) ::close(fd_);
}

Result<size_t> Input::read(std::span<char> buffer) {
  while (true) {
    const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
    if (got >= 0) {
      bytes_read_ += static_cast<uint64_t>(got);
      return static_cast<size_t>(got);
    }
    if (errno != EINTR) return system_error(name_, errno);
  }
}

Result<bool> Input::next_line(std::string_view& line, size_t line_bytes_max) {
  size_t searched = begin_;
  while (true) {
    const auto begin = buffer_.begin() + static_cast<ptrdiff_t>(searched);
    const auto end = buffer_.begin() + static_cast<ptrdiff_t>(end_);
    const auto newline = std::find(begin, end, '\n');
    if (newline != end) {
      const size_t at = static_cast<size_t>(newline - buffer_.begin());
      line = std::string_view(buffer_.data() + begin_, at - begin_);
      begin_ = at + 1;
      break;
    }
    searched = end_;
    if (end_ - begin_ > line_bytes_max) {
      return Status(StatusCode::kCorruption, name_ + ":" + std::to_string(line_number_ + 1) +
                                                 ": a line of more than " +
                                                 std::to_string(line_bytes_max) + " bytes");
    }
    if (begin_ > 0) {
      std::move(buffer_.begin() + static_cast<ptrdiff_t>(begin_), end, buffer_.begin());
      searched -= begin_;
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    Result<size_t> got = read(std::span<char>(buffer_).subspan(end_));
    if (!got.ok()) return got.status();
    if (*got == 0) {
      if (end_ == 0) return false;
      line = std::string_view(buffer_.data(), end_);
      begin_ = end_;
      break;
    }
    end_ += *got;
  }
  ++line_number_;
  return true;
}

}  // namespace hawthorn::tools
