#pragma once
// A file of known bytes, and buffers for reads of it. Used by the tests of io_queue.h.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "os/io_queue.h"
#include "os/posix_file.h"

namespace hawthorn::os {

class TestFile {
 public:
  explicit TestFile(size_t size, uint64_t seed = 1) : content_(size, '\0') {
    std::string pattern = ::testing::TempDir() + "/hawthorn-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    path_ = directory_ + "/file";
    Prng prng(seed);
    for (char& byte : content_) byte = static_cast<char>(prng.next());
    buffered_ = std::move(posix_file_system().open_file(path_, {.create = true})).value();
    EXPECT_TRUE(buffered_->write_at(0, content_).ok());
    // What is cached is read at once: the disk is to take part.
    EXPECT_TRUE(buffered_->sync_data().ok());
    auto direct = posix_file_system().open_file(path_, {.direct = true});
    if (direct.ok()) direct_ = std::move(direct).value();
  }
  ~TestFile() {
    EXPECT_TRUE(posix_file_system().remove(path_).ok());
    EXPECT_TRUE(posix_file_system().remove_directory(directory_).ok());
  }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;

  File& buffered() { return *buffered_; }
  // nullptr where the file system of the tests has no direct I/O.
  File* direct() { return direct_.get(); }
  // What can be had, the direct one first.
  File& file() { return direct_ == nullptr ? *buffered_ : *direct_; }
  const std::string& content() const { return content_; }
  std::string_view at(uint64_t offset, size_t size) const {
    return std::string_view(content_).substr(offset, size);
  }

 private:
  std::string directory_;
  std::string path_;
  std::string content_;
  std::unique_ptr<File> buffered_;
  std::unique_ptr<File> direct_;
};

// Memory fit for direct reads.
class TestBuffer {
 public:
  explicit TestBuffer(size_t size)
      : size_(size), data_(static_cast<char*>(std::aligned_alloc(kBlockBytes, size))) {}
  ~TestBuffer() { std::free(data_); }
  TestBuffer(const TestBuffer&) = delete;
  TestBuffer& operator=(const TestBuffer&) = delete;
  char* data() { return data_; }
  size_t size() const { return size_; }
  std::string_view at(size_t offset, size_t size) const { return {data_ + offset, size}; }

 private:
  const size_t size_;
  char* const data_;
};

// Reaps all that is in flight; every context is an index into the answer.
inline std::vector<Status> reap_all(IoQueue& queue, size_t requests) {
  std::vector<Status> statuses(requests, Status(StatusCode::kUnknownOutcome));
  IoCompletion done[8];
  for (size_t count = queue.reap(done, 1); count > 0; count = queue.reap(done, 1)) {
    for (size_t i = 0; i < count; ++i) {
      Status& status = statuses[reinterpret_cast<uintptr_t>(done[i].context)];
      EXPECT_TRUE(status.is(StatusCode::kUnknownOutcome)) << "reported twice";
      status = std::move(done[i].status);
    }
  }
  EXPECT_EQ(queue.in_flight(), 0u);
  return statuses;
}

inline void* context_of(size_t index) { return reinterpret_cast<void*>(index); }

// `count` blocks of a file at random offsets into consecutive blocks of a buffer.
inline std::vector<IoRead> random_blocks(TestFile& file, TestBuffer& buffer, size_t count,
                                         uint64_t seed) {
  Prng prng(seed);
  std::vector<IoRead> reads;
  for (size_t i = 0; i < count; ++i) {
    reads.push_back({.file = &file.file(),
                     .offset = prng.next() % (file.content().size() / kBlockBytes) * kBlockBytes,
                     .data = buffer.data() + i * kBlockBytes,
                     .size = kBlockBytes,
                     .context = context_of(i)});
  }
  return reads;
}

inline void expect_content(const TestFile& file, const std::vector<IoRead>& reads) {
  for (const IoRead& read : reads) {
    ASSERT_TRUE(file.at(read.offset, read.size) == std::string_view(read.data, read.size))
        << "at " << read.offset;
  }
}

}  // namespace hawthorn::os
