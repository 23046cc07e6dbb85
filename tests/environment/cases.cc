#include "tests/environment/cases.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "base/prng.h"
#include "os/posix_error.h"

namespace hawthorn::tests {
namespace {

struct Form {
  std::string_view name;
  Shortage shortage;
  bool has_amount;
  int error;  // what the system answers
};
constexpr Form kForms[] = {
    {"none", Shortage::kNone, false, 0},
    {"calls", Shortage::kCalls, false, 0},
    {"descriptors", Shortage::kDescriptors, true, EMFILE},
    {"file-size", Shortage::kFileSize, true, EFBIG},
    {"memory", Shortage::kMemory, true, ENOMEM},
    {"threads", Shortage::kThreads, false, EAGAIN},
    {"disk", Shortage::kDisk, true, ENOSPC},
    {"chdir", Shortage::kChdir, false, 0},
    {"rename", Shortage::kRename, false, 0},
    {"clock", Shortage::kClock, true, 0},
    {"clock-back", Shortage::kClockBack, true, 0},
};

const Form& form_of(Shortage shortage) {
  return *std::ranges::find_if(kForms, [&](const Form& f) { return f.shortage == shortage; });
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Takes the words of a case one after the other.
class Words {
 public:
  explicit Words(std::string_view text) : words_(words_of(text)) {}

  std::string_view word() { return next_ < words_.size() ? words_[next_++] : std::string_view(); }
  uint64_t number() {
    const std::string_view text = word();
    uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    good_ = good_ && !text.empty() && parsed.ptr == text.data() + text.size();
    return value;
  }
  bool ended() const { return good_ && next_ == words_.size(); }

 private:
  const std::vector<std::string_view> words_;
  size_t next_ = 0;
  bool good_ = true;
};

// Small ones as often as large ones.
uint64_t any_size(Prng& prng, uint64_t most) {
  uint64_t bound = 1;
  for (uint64_t doublings = prng.below(64); doublings > 0 && bound < most; --doublings) bound *= 2;
  return 1 + prng.below(std::min(bound, most));
}

// Where even a write into what was reserved may find no space.
bool takes_reserved_space(const Case& shortage) {
  if (shortage.shortage == Shortage::kFileSize) return true;
  if (shortage.shortage == Shortage::kDisk) return shortage.file_system == "btrfs";
  const bool no_space =
      shortage.error == ENOSPC || shortage.error == EDQUOT || shortage.error == EFBIG;
  return shortage.shortage == Shortage::kCalls && shortage.kind->name == "write" && no_space;
}

bool says(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// By errno: what could not be made is made later, as on a full disk, and has the code of one. Asked
// before anything is short, as an error takes memory.
const std::array<bool, 256> kMadeLater = [] {
  std::array<bool, 256> made_later{};
  for (size_t error = 1; error < made_later.size(); ++error) {
    const Status status = os::error_status(static_cast<int>(error), "", "");
    made_later[error] = os::as_no_space(status).is(StatusCode::kNoSpace);
  }
  return made_later;
}();

// Some APIs have codes and no words of the system's: several causes share one.
bool is_known_code(const Case& shortage, std::string_view api, std::string_view text) {
  if (api != "lmdb" && api != "mdbx" && api != "sqlite") return false;
  // SQLite has one code for all that keeps a file from being opened.
  if (api == "sqlite" && says(text, {"unable to open"})) return true;
  // What a database says that goes on only when it is opened anew.
  if (may_end(shortage) && says(text, {"PANIC", "Read-only", "readonly", strerror(EIO), "I/O"})) {
    return true;
  }
  // A commit that is in the log, whose sync it is not known when will succeed.
  if (takes_reserved_space(shortage) && says(text, {"PANIC", "I/O"})) return true;
  if (kMadeLater.at(static_cast<size_t>(shortage.error)) &&
      says(text, {strerror(ENOSPC), "full"})) {
    return true;
  }
  const bool is_thread = shortage.kind != nullptr && shortage.kind->name == "thread";
  switch (shortage.error) {
    case EACCES:
    case EPERM:
    case EROFS:
      if (is_thread) return says(text, {strerror(EIO), "I/O"});
      return says(text, {strerror(EACCES), strerror(EROFS), "readonly"});
    // Known: a thread (also for want of memory) or a lock that cannot be had has the code of a
    // disk that fails.
    case ENOMEM:
    case EAGAIN:
    case ENOLCK:
      return says(text, {strerror(EIO), "I/O"});
    case EIO:
      return says(text, {"I/O"});
    default:
      return false;
  }
}

}  // namespace

std::optional<Case> parse_case(std::string_view text) {
  Case parsed;
  constexpr std::string_view kReopen = " reopen";
  if (text.ends_with(kReopen)) {
    parsed.reopens = true;
    text.remove_suffix(kReopen.size());
  }
  Words words(text);
  const std::string_view name = words.word();
  const auto* const form =
      std::ranges::find_if(kForms, [&](const Form& known) { return known.name == name; });
  if (form == std::end(kForms)) return std::nullopt;
  parsed.shortage = form->shortage;
  parsed.error = form->error;
  if (parsed.shortage == Shortage::kCalls) {
    parsed.kind = find_call_kind(words.word());
    parsed.error = error_of_name(words.word());
    parsed.first = words.number();
    parsed.count = words.number();
    if (parsed.kind == nullptr || parsed.error == 0) return std::nullopt;
  } else if (parsed.shortage != Shortage::kNone) {
    if (parsed.shortage == Shortage::kDisk) parsed.file_system = words.word();
    if (form->has_amount) parsed.amount = words.number();
    parsed.after = words.number();
  }
  return words.ended() ? std::optional(parsed) : std::nullopt;
}

std::string text_of(const Case& shortage) {
  const Form& form = form_of(shortage.shortage);
  std::string text(form.name);
  const auto add = [&](std::string_view word) { text.append(" ").append(word); };
  if (shortage.shortage == Shortage::kCalls) {
    add(shortage.kind->name);
    add(error_name(shortage.error));
    add(std::to_string(shortage.first));
    add(std::to_string(shortage.count));
  } else if (shortage.shortage != Shortage::kNone) {
    if (!shortage.file_system.empty()) add(shortage.file_system);
    if (form.has_amount) add(std::to_string(shortage.amount));
    add(std::to_string(shortage.after));
  }
  if (shortage.reopens) add("reopen");
  return text;
}

Case draw_case(uint64_t seed) {
  constexpr uint64_t kCallsOf = 5;  // so many of six cases are of system calls
  constexpr uint64_t kCommits = 45;
  constexpr uint64_t kClockSecondsMax = 1'700'000'000;  // back to 1972, at the time of writing
  Prng prng(seed);
  Case drawn;
  drawn.reopens = prng.one_in(3);
  if (prng.below(kCallsOf + 1) > 0) {
    const auto kinds = call_kinds();
    drawn.shortage = Shortage::kCalls;
    drawn.kind = &kinds[prng.below(kinds.size())];
    drawn.error = drawn.kind->errors[prng.below(drawn.kind->errors.size())].error;
    drawn.first = any_size(prng, drawn.kind->usual);
    // EINTR for ever is an endless loop by right.
    const bool for_ever = prng.one_in(3) && drawn.error != EINTR;
    drawn.count = for_ever ? 0 : any_size(prng, 50);
    return drawn;
  }
  drawn.after = prng.one_in(3) ? 0 : prng.below(kCommits);
  drawn.shortage = static_cast<Shortage>(prng.between(static_cast<uint64_t>(Shortage::kDescriptors),
                                                      static_cast<uint64_t>(Shortage::kClockBack)));
  drawn.error = form_of(drawn.shortage).error;
  switch (drawn.shortage) {
    case Shortage::kDescriptors:
      drawn.amount = prng.below(24);
      break;
    case Shortage::kFileSize:
      drawn.amount = any_size(prng, 8 << 10);
      break;
    case Shortage::kMemory:
      drawn.amount = any_size(prng, 64 << 10);
      break;
    case Shortage::kDisk:
      drawn.file_system = prng.one_in(2) ? "ext4" : "btrfs";
      drawn.amount = any_size(prng, 16 << 10);
      break;
    case Shortage::kClock:
    case Shortage::kClockBack:
      drawn.amount = any_size(prng, kClockSecondsMax);
      break;
    default:
      break;
  }
  return drawn;
}

// Each kind of call once at its first, so that opening meets it, or in the midst of work; each
// limit once.
std::span<const char* const> gate_cases() {
  static constexpr const char* kCases[] = {
      "none",
      "calls open EMFILE 1 0",
      "calls open ENFILE 60 0 reopen",
      "calls open EINTR 5 40",
      "calls create ENOSPC 4 1",
      "calls create EROFS 27 48 reopen",
      "calls read EINTR 1 20",
      "calls write EINTR 20 50",
      "calls write ENOSPC 20 30",
      "calls sync EIO 20 1",
      "calls allocate ENOSPC 3 0",
      "calls allocate EOPNOTSUPP 1 0",
      "calls truncate EINTR 1 4",
      "calls stat ENOMEM 1 1",
      "calls stat EIO 4 0",
      "calls stat EACCES 60 21",
      "calls statfs ENOSYS 1 0",
      "calls rename ENOSPC 1 1",
      "calls rename EPERM 7 0 reopen",
      "calls remove EACCES 1 2",
      "calls mkdir ENOSPC 1 1",
      "calls list ENOMEM 1 1",
      "calls lock EINTR 1 10",
      "calls lock EACCES 3 0",
      "calls descriptor EMFILE 1 0",
      "calls map ENOMEM 1 8",
      "calls map ENOMEM 24 0",
      "calls advise EPERM 1 0",
      "calls thread EAGAIN 1 0",
      "calls fork EAGAIN 1 0",
      "calls membarrier EPERM 1 0",
      "calls ring-setup EPERM 1 0",
      "calls ring-enter EINTR 1 4",
      "calls random ENOSYS 1 0",
      "descriptors 0 10",
      "descriptors 4 0 reopen",
      "memory 2048 20",
      "threads 12",
      "disk ext4 512 10",
      "disk btrfs 512 10",
      "file-size 100 10",
      "chdir 8 reopen",
      "rename 8",
      "rename 16 reopen",
      "clock 1000000000 8 reopen",
      "clock-back 1000000000 8",
  };
  return kCases;
}

bool may_end(const Case& shortage) {
  if (shortage.shortage != Shortage::kCalls) return false;
  return std::ranges::any_of(shortage.kind->errors, [&](const Refusal& refusal) {
    return refusal.error == shortage.error && refusal.may_end;
  });
}

bool names_cause(const Case& shortage, std::string_view api, std::string_view text) {
  const int error = shortage.error;
  if (error == 0) return false;
  if (says(text, {strerror(error)})) return true;
  if (error == ENOMEM && says(text, {"memory", "Memory limit", "no address space"})) return true;
  // The C library has no other error for a thread whose stack finds no memory.
  if ((error == EAGAIN || error == ENOMEM) && says(text, {"the thread "})) return true;
  return is_known_code(shortage, api, text);
}

// SQLite forbids it: a thread that the child has not may hold a mutex of SQLite's own, such as its
// allocator's.
bool opens_in_children(std::string_view api) { return api != "sqlite"; }
bool closes_in_children(std::string_view api) { return api != "sqlite"; }

}  // namespace hawthorn::tests
