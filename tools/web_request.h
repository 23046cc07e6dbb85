#pragma once
// What the parameters of a request to `hawthorn web` say, checked; and its errors as answers.
//
// Threads: pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hawthorn/db.h"
#include "tools/http_server.h"

namespace hawthorn::tools {

// A longer key, in hexadecimal digits, does not fit the address of a request beside other things.
constexpr size_t kAddressKeyBytesMax = 2500;

std::string hex_of(std::string_view bytes);
// Of the hexadecimal digits of a parameter; nothing where it is not there. Errors:
// kInvalidArgument.
Result<std::optional<std::string>> bytes_parameter(const HttpRequest& request,
                                                   std::string_view name);
// Errors: also kInvalidArgument where it is not there.
Result<std::string> needed_bytes(const HttpRequest& request, std::string_view name);
// From `least` to `most`. Errors: kInvalidArgument.
Result<uint64_t> number_parameter(const HttpRequest& request, std::string_view name,
                                  uint64_t otherwise, uint64_t least, uint64_t most);
// Of parameters `tree` and `sub`. Errors: those of the look; kInvalidArgument for more than 64
// steps.
Result<Tree> tree_parameter(Db& db, const HttpRequest& request, const ReadOptions& options);

int http_status_of(StatusCode code);
HttpResponse error_response(const Status& status);

}  // namespace hawthorn::tools
