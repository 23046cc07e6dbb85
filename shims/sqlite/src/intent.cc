#include "shims/sqlite/src/intent.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <random>
#include <string_view>

#include "shims/sqlite/src/place.h"
#include "shims/system_call.h"

namespace hawthorn::sqlite {
namespace {

constexpr std::string_view kFirst = "Hawthorn commit for SQLite";
constexpr size_t kIdDigits = 32;
constexpr size_t kIntentBytesMax = 8192;

std::string intent_path(const std::string& directory) { return directory + ".commit"; }
std::string place_of(const std::string& directory) {
  return std::filesystem::path(directory).parent_path().string();
}

// Up to the next line's end, which goes too. False: there is none.
bool take_line(std::string_view* text, std::string_view* line) {
  const size_t end = text->find('\n');
  if (end == std::string_view::npos) return false;
  *line = text->substr(0, end);
  text->remove_prefix(end + 1);
  return true;
}

bool parse_intent(std::string_view text, const std::string& directory, Intent* intent) {
  std::string_view first;
  std::string_view coordinator;
  std::string_view id;
  std::string_view number;
  if (!take_line(&text, &first) || !take_line(&text, &coordinator) || !take_line(&text, &id) ||
      !take_line(&text, &number) || first != kFirst || id.size() != kIdDigits) {
    return false;
  }
  const char* const end = number.data() + number.size();
  if (std::from_chars(number.data(), end, intent->number).ptr != end) return false;
  intent->coordinator = path_beside(directory, std::string(coordinator));
  intent->id = id;
  return true;
}

}  // namespace

std::string name_beside(const std::string& directory, const std::string& other) {
  if (place_of(directory) != place_of(other)) return other;
  return std::filesystem::path(other).filename().string();
}

std::string path_beside(const std::string& directory, const std::string& name) {
  return name.starts_with('/') ? name : place_of(directory) + "/" + name;
}

std::string new_commit_id() {
  std::random_device random;
  char digits[kIdDigits + 1];
  snprintf(digits, sizeof(digits), "%08x%08x%08x%08x", random(), random(), random(), random());
  return digits;
}

Status write_intent(const std::string& directory, const Intent& intent, bool durable) {
  const std::string path = intent_path(directory);
  if ((directory + intent.coordinator).find('\n') != std::string::npos) {
    return Status(StatusCode::kInvalidArgument, "a commit of several databases: a path has lines");
  }
  const std::string text = std::string(kFirst) + "\n" + name_beside(directory, intent.coordinator) +
                           "\n" + intent.id + "\n" + std::to_string(intent.number) + "\n";
  const int file = open_uninterrupted(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return call_failed(path, errno);
  const bool written = write_whole(file, text) && (!durable || sync_uninterrupted(file));
  Status status = written ? Status() : call_failed(path, errno);
  ::close(file);
  if (status.ok() && durable) status = sync_directory(place_of(directory));
  if (!status.ok()) unlink(path.c_str());
  return status;
}

Result<FoundIntent> read_intent(const std::string& directory, Intent* intent) {
  const std::string path = intent_path(directory);
  const int file = open_uninterrupted(path, O_RDONLY);
  if (file < 0 && errno == ENOENT) return FoundIntent::kNone;
  if (file < 0) return call_failed(path, errno);
  char bytes[kIntentBytesMax];
  const ssize_t size = uninterrupted([&] { return pread(file, bytes, sizeof(bytes), 0); });
  const Status status = size >= 0 ? Status() : call_failed(path, errno);
  ::close(file);
  if (!status.ok()) return status;
  return parse_intent({bytes, static_cast<size_t>(size)}, directory, intent) ? FoundIntent::kWhole
                                                                             : FoundIntent::kTorn;
}

void remove_intent(const std::string& directory) { unlink(intent_path(directory).c_str()); }

}  // namespace hawthorn::sqlite
