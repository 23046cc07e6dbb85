#include "tools/web_request.h"

#include <charconv>

#include "tools/json.h"
#include "tools/text.h"

namespace hawthorn::tools {
namespace {
constexpr size_t kStepsMax = 64;

Status bad(std::string_view name, const std::string& what) {
  return Status(StatusCode::kInvalidArgument, std::string(name) + ": " + what);
}
}  // namespace

std::string hex_of(std::string_view bytes) { return encode(Encoding::kHex, bytes); }

Result<std::optional<std::string>> bytes_parameter(const HttpRequest& request,
                                                   std::string_view name) {
  const std::optional<std::string_view> text = request.parameter(name);
  if (!text) return std::optional<std::string>();
  Result<std::string> bytes = decode(Encoding::kHex, *text);
  if (!bytes.ok()) return bad(name, std::string(bytes.status().message()));
  return std::optional<std::string>(*std::move(bytes));
}

Result<std::string> needed_bytes(const HttpRequest& request, std::string_view name) {
  Result<std::optional<std::string>> bytes = bytes_parameter(request, name);
  if (!bytes.ok()) return bytes.status();
  if (!*bytes) return bad(name, "is missing");
  return std::move(**bytes);
}

Result<uint64_t> number_parameter(const HttpRequest& request, std::string_view name,
                                  uint64_t otherwise, uint64_t least, uint64_t most) {
  const std::optional<std::string_view> text = request.parameter(name);
  if (!text) return otherwise;
  uint64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || at != end || number < least || number > most) {
    return bad(name, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

Result<Tree> tree_parameter(Db& db, const HttpRequest& request, const ReadOptions& options) {
  const Result<std::string> name = needed_bytes(request, "tree");
  if (!name.ok()) return name.status();
  Result<Tree> tree = db.find_tree(*name, options);
  std::optional<std::string_view> rest = request.parameter("sub");
  if (rest && rest->empty()) rest.reset();
  for (size_t steps = 0; tree.ok() && rest; ++steps) {
    if (steps == kStepsMax) return bad("sub", "more than " + std::to_string(kStepsMax) + " steps");
    const size_t comma = rest->find(',');
    const Result<std::string> key = decode(Encoding::kHex, rest->substr(0, comma));
    if (!key.ok()) return bad("sub", std::string(key.status().message()));
    tree = db.subtree(*tree, *key, options);
    rest = comma == std::string_view::npos ? std::nullopt : std::optional(rest->substr(comma + 1));
  }
  return tree;
}

int http_status_of(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return 200;
    case StatusCode::kNotFound:
      return 404;
    case StatusCode::kInvalidArgument:
      return 400;
    case StatusCode::kNotSupported:
      return 501;
    case StatusCode::kBusy:
    case StatusCode::kOutOfMemory:
    case StatusCode::kTooOld:
    case StatusCode::kClosed:
      return 503;
    default:
      return 500;
  }
}

HttpResponse error_response(const Status& status) {
  Json json;
  json.begin_object().begin_object("error");
  const bool bare = status.message().empty();
  json.field("code", status_code_name(status.code()));
  json.field("message", !bare                   ? status.message()
                        : status.is_not_found() ? "no such key"
                                                : status_code_name(status.code()));
  json.end_object().end_object();
  return {.status = http_status_of(status.code()), .body = json.text()};
}

}  // namespace hawthorn::tools
