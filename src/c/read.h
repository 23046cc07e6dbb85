#pragma once
// What reads of databases and of transactions share. Used by c/read.cc and c/txn_read.cc.
// Threads: any.

#include <cstdint>
#include <string_view>
#include <vector>

#include "c/columns.h"
#include "c/handles.h"

namespace hawthorn::c {

// Copies a value into the caller's buffer, as far as that goes.
Status copy_out(std::string_view value, void* buffer, size_t capacity, size_t* size);
// The keys of an array, and of a column. Errors: kInvalidArgument naming the one that is wrong.
Status take_keys(const hawthorn_bytes* keys, size_t count, std::vector<std::string_view>* out);
Status take_keys(const void* bytes, const int64_t* offsets, size_t count,
                 std::vector<std::string_view>* out);
// Behind a multi_get: the batch knows its size.
void count_bytes(hawthorn_read_batch* batch);
// Answers from `first` on, as many as fit.
Status fill_columns(const hawthorn_read_batch& batch, size_t first, hawthorn_columns* columns);
// What a sink of the program wants, for the engine.
StreamSink sink_of(hawthorn_stream_sink sink, void* context);
// What a source of the program gives, for the engine.
StreamSource source_of(hawthorn_stream_source source, void* context);
// One call of it. Errors: the source's; kInvalidArgument where it says to have written too much.
Result<size_t> ask_source(hawthorn_stream_source source, void* context, std::span<char> buffer);

// The buffer of the caller, which may be NULL where it has no room.
class Room {
 public:
  Room(void* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) {}
  bool fine() const { return (buffer_ != nullptr || capacity_ == 0) && capacity_ <= PTRDIFF_MAX; }
  [[gnu::cold]] std::string problem() const {
    return buffer_ == nullptr ? "buffer is NULL with a capacity of " + std::to_string(capacity_)
                              : "capacity is impossible";
  }
  std::span<char> span() const { return {static_cast<char*>(buffer_), capacity_}; }

 private:
  void* buffer_;
  size_t capacity_;
};

}  // namespace hawthorn::c
