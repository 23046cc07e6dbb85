// Errors, versions, limits, and values that reads return.

#include <cstdlib>
#include <cstring>

#include "c/buffer.h"
#include "c/call.h"
#include "c/handles.h"
#include "hawthorn/version.h"

namespace hawthorn::c {

namespace {

#define HAWTHORN_SAME(c_name, cc_name) \
  static_assert(HAWTHORN_##c_name == static_cast<hawthorn_code>(StatusCode::cc_name))
HAWTHORN_SAME(OK, kOk);
HAWTHORN_SAME(NOT_FOUND, kNotFound);
HAWTHORN_SAME(INVALID_ARGUMENT, kInvalidArgument);
HAWTHORN_SAME(NOT_SUPPORTED, kNotSupported);
HAWTHORN_SAME(CORRUPTION, kCorruption);
HAWTHORN_SAME(IO_ERROR, kIoError);
HAWTHORN_SAME(NO_SPACE, kNoSpace);
HAWTHORN_SAME(BUSY, kBusy);
HAWTHORN_SAME(CONFLICT, kConflict);
HAWTHORN_SAME(READ_ONLY, kReadOnly);
HAWTHORN_SAME(OUT_OF_MEMORY, kOutOfMemory);
HAWTHORN_SAME(FORKED, kForked);
HAWTHORN_SAME(UNKNOWN_OUTCOME, kUnknownOutcome);
HAWTHORN_SAME(CLOSED, kClosed);
HAWTHORN_SAME(TIMED_OUT, kTimedOut);
HAWTHORN_SAME(DEADLOCK, kDeadlock);
HAWTHORN_SAME(TOO_OLD, kTooOld);
HAWTHORN_SAME(NOT_IN_MEMORY, kNotInMemory);
HAWTHORN_SAME(PERMISSION_DENIED, kPermissionDenied);
#undef HAWTHORN_SAME

// What hawthorn_error_free frees.
struct FullError : hawthorn_error {
  FullError(hawthorn_code of, std::string text)
      : hawthorn_error{of, nullptr}, message(std::move(text)) {}
  const std::string message;
};

// A key that is not there is no reason to allocate, and without memory nothing can be. Threads may
// ask while the process ends.
constinit hawthorn_error not_found_error{HAWTHORN_NOT_FOUND,
                                         "there is nothing of that name or key"};
constinit hawthorn_error memory_error{HAWTHORN_OUT_OF_MEMORY, "the process has no memory left"};

}  // namespace

Status check_structure(const void* given, size_t size, size_t known, const char* name) {
  if (size < known || size > 4096) {
    return invalid(std::string(name) + ".struct_size is " + std::to_string(size) +
                   "; set it to sizeof(" + name + "), which is " + std::to_string(known));
  }
  const auto* bytes = static_cast<const unsigned char*>(given);
  for (size_t at = known; at < size; ++at) {
    if (bytes[at] == 0) continue;
    return Status(StatusCode::kNotSupported,
                  std::string(name) + " has fields that this version of the library does not know");
  }
  return {};
}

hawthorn_code answer(const Status& status, hawthorn_error** error) noexcept {
  const auto code = static_cast<hawthorn_code>(status.code());
  if (error == nullptr) return code;
  if (code == HAWTHORN_NOT_FOUND && status.message().empty()) {
    *error = &not_found_error;
    return code;
  }
  try {
    std::string message(status.message());
    if (message.empty()) message = status_code_name(status.code());
    *error = new FullError(code, std::move(message));
  } catch (...) {
    *error = &memory_error;
  }
  return code;
}

hawthorn_code answer_out_of_memory(hawthorn_error** error) noexcept {
  if (error != nullptr) *error = &memory_error;
  return HAWTHORN_OUT_OF_MEMORY;
}

hawthorn_code answer_exception(const char* what, hawthorn_error** error) noexcept {
  try {
    return answer(Status(kInternal, what), error);
  } catch (...) {
    return answer_out_of_memory(error);
  }
}

Status take_error(hawthorn_error* error) {
  if (error == nullptr) return {};
  size_t size = 0;
  const char* const message = hawthorn_error_message(error, &size);
  Status status(static_cast<StatusCode>(error->code), std::string(message, size));
  hawthorn_error_free(error);
  return status;
}

Status usable(Db& db) {
  const auto names = db.list_snapshots();  // any call that tells, and costs little
  return names.ok() ? Status() : names.status();
}

}  // namespace hawthorn::c

using hawthorn::c::Bytes;
using hawthorn::c::FullError;
using hawthorn::c::Given;

const char* hawthorn_code_name(hawthorn_code code) {
  if (code == HAWTHORN_BUFFER_TOO_SMALL) return "BufferTooSmall";
  if (code == HAWTHORN_INTERNAL) return "Internal";
  if (code < 0 || code > HAWTHORN_PERMISSION_DENIED) return "Unknown";
  return hawthorn::status_code_name(static_cast<hawthorn::StatusCode>(code)).data();
}

hawthorn_code hawthorn_error_code(const hawthorn_error* error) {
  return error != nullptr ? error->code : HAWTHORN_OK;
}

const char* hawthorn_error_message(const hawthorn_error* error, size_t* size) {
  if (error != nullptr && error->fixed == nullptr) {
    const std::string& message = static_cast<const FullError*>(error)->message;
    if (size != nullptr) *size = message.size();
    return message.c_str();
  }
  const char* const message = error != nullptr ? error->fixed : "";
  if (size != nullptr) *size = strlen(message);
  return message;
}

hawthorn_error* hawthorn_error_create(hawthorn_code code, const char* message,
                                      size_t message_size) {
  const bool known = (code > HAWTHORN_OK && code <= HAWTHORN_PERMISSION_DENIED) ||
                     code == HAWTHORN_BUFFER_TOO_SMALL;
  try {
    const Bytes bytes(message, message_size, "message");
    return new FullError(known ? code : HAWTHORN_INTERNAL, std::string(bytes.view()));
  } catch (...) {
    return nullptr;
  }
}

void hawthorn_error_free(hawthorn_error* error) {
  if (error != nullptr && error->fixed == nullptr) delete static_cast<FullError*>(error);
}

const char* hawthorn_version(void) { return hawthorn::version().data(); }
uint32_t hawthorn_format_version(void) { return hawthorn::kFormatVersion; }
uint32_t hawthorn_abi_version(void) { return 1; }
void hawthorn_free(void* memory) { std::free(memory); }

uint64_t hawthorn_limit_key_bytes(void) { return hawthorn::Db::limits().key_bytes_max; }
uint64_t hawthorn_limit_value_bytes(void) { return hawthorn::Db::limits().batch_value_bytes_max; }
uint64_t hawthorn_limit_stream_value_bytes(void) {
  return hawthorn::Db::limits().stream_value_bytes_max;
}
uint64_t hawthorn_limit_tree_name_bytes(void) { return hawthorn::Db::limits().tree_name_bytes_max; }
uint64_t hawthorn_limit_memory_budget_bytes_min(void) {
  return hawthorn::Db::limits().memory_budget_bytes_min;
}

int hawthorn_buffer_append(hawthorn_buffer* buffer, const void* data, size_t size) {
  const Bytes bytes(data, size, "data");
  if (buffer == nullptr || !bytes.fine()) return 0;
  try {
    buffer->bytes->append(bytes.view());
    return 1;
  } catch (...) {
    return 0;
  }
}

const void* hawthorn_buffer_data(const hawthorn_buffer* buffer, size_t* size) {
  if (size != nullptr) *size = buffer != nullptr ? buffer->bytes->size() : 0;
  return buffer != nullptr ? buffer->bytes->data() : nullptr;
}

hawthorn_value* hawthorn_value_create(void) { return hawthorn::c::make_or_null<hawthorn_value>(); }

const void* hawthorn_value_data(const hawthorn_value* value, size_t* size) {
  if (size != nullptr) *size = value != nullptr ? value->value.size() : 0;
  if (value == nullptr) return nullptr;
  const char* const data = value->value.view().data();
  return data != nullptr ? data : "";  // one that is empty has an address, too
}

void hawthorn_value_release(hawthorn_value* value) {
  if (value == nullptr) return;
  value->value.reset();
  value->db.reset();
}

hawthorn_code hawthorn_value_move(hawthorn_value* from, hawthorn_value* to,
                                  hawthorn_error** error) {
  return hawthorn::c::call(error, [&]() -> hawthorn::Status {
    if (auto s = hawthorn::c::need(Given(from, "from"), Given(to, "to")); !s.ok()) return s;
    if (from == to) return {};
    to->value = std::move(from->value);
    to->db = std::move(from->db);
    return {};
  });
}

void hawthorn_value_free(hawthorn_value* value) { delete value; }
