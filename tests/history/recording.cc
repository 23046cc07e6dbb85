#include "tests/history/recording.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace hawthorn::history {
namespace {

// An event is a byte that tells its kind and numbers of seven bits per byte; a list is its length
// and its elements.
enum class Event : char {
  kBegun = 1,
  kAppend = 2,
  kRead = 3,
  kRange = 4,
  kCommitting = 5,
  kLastRead = 6,
  kEnded = 7,
  kLifeEnded = 8,
};

class Writer {
 public:
  explicit Writer(Event event) : bytes_(1, static_cast<char>(event)) {}
  Writer& number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  Writer& list(const List& list) {
    number(list.size());
    for (const Element element : list) number(element);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  Reader(const char* begin, uint64_t size) : at_(begin), end_(begin + size) {}
  bool at_end() const { return at_ == end_; }
  Event event() { return static_cast<Event>(*at_++); }
  uint64_t number() {
    uint64_t value = 0;
    for (uint32_t shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  List list() {
    List list(number());
    for (Element& element : list) element = number();
    return list;
  }

 private:
  const char* at_;
  const char* end_;
};

}  // namespace

std::unique_ptr<Recording> Recording::create(const std::string& path, uint32_t tracks,
                                             uint64_t track_bytes, std::string* error) {
  if (tracks == 0 || tracks > kTracksMax) {
    *error = "a recording has 1 to " + std::to_string(kTracksMax) + " tracks";
    return nullptr;
  }
  const size_t bytes = sizeof(Header) + tracks * track_bytes;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  // Allocated: on a full disk a store into the mapping would kill the process.
  int code = file < 0 ? errno : posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* memory = MAP_FAILED;
  if (code == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) code = errno;
  }
  if (file >= 0) close(file);
  if (code != 0) {
    *error = path + ": " + strerror(code);
    return nullptr;
  }
  return std::unique_ptr<Recording>(
      new Recording(static_cast<char*>(memory), bytes, tracks, track_bytes));
}

Recording::Recording(char* memory, size_t bytes, uint32_t tracks, uint64_t track_bytes)
    : memory_(memory),
      bytes_(bytes),
      tracks_(tracks),
      track_bytes_(track_bytes),
      header_(new(memory) Header{}) {}

Recording::~Recording() { munmap(memory_, bytes_); }

bool Recording::put(uint32_t number, const std::string& event) {
  std::atomic<uint64_t>& used = header_->used[number];
  const uint64_t at = used.load(std::memory_order_relaxed);
  if (at + event.size() > track_bytes_) return false;
  std::memcpy(track(number) + at, event.data(), event.size());
  used.store(at + event.size(), std::memory_order_release);
  return true;
}

bool Recording::Track::begun(uint64_t process, uint64_t number) {
  return recording_.put(number_, Writer(Event::kBegun).number(process).number(number).bytes());
}

bool Recording::Track::append(Key key, Element element) {
  return recording_.put(number_, Writer(Event::kAppend).number(key).number(element).bytes());
}

bool Recording::Track::read(Key key, const List& list) {
  return recording_.put(number_, Writer(Event::kRead).number(key).list(list).bytes());
}

bool Recording::Track::range(Key low, std::span<const List> lists) {
  Writer writer(Event::kRange);
  writer.number(low).number(lists.size());
  for (const List& list : lists) writer.list(list);
  return recording_.put(number_, writer.bytes());
}

bool Recording::Track::committing() {
  return recording_.put(number_, Writer(Event::kCommitting).bytes());
}

bool Recording::Track::is_last_read() {
  return recording_.put(number_, Writer(Event::kLastRead).bytes());
}

bool Recording::Track::ended(Outcome outcome) {
  const uint64_t number = outcome == Outcome::kUnknown ? kNever : recording_.draw_number();
  const Writer writer = Writer(Event::kEnded).number(static_cast<uint64_t>(outcome)).number(number);
  if (!recording_.put(number_, writer.bytes())) return false;
  recording_.header_->ended.fetch_add(1);
  return true;
}

void Recording::life_ended() {
  const uint64_t now = draw_number();
  for (uint32_t number = 0; number < tracks_; ++number) {
    // A full track ends its clients with an error; the history is not used then.
    static_cast<void>(put(number, Writer(Event::kLifeEnded).number(now).bytes()));
  }
}

History Recording::history() const {
  History history;
  for (uint32_t number = 0; number < tracks_; ++number) decode(number, &history);
  std::sort(history.transactions.begin(), history.transactions.end(),
            [](const Transaction& a, const Transaction& b) { return a.begin < b.begin; });
  return history;
}

void Recording::decode(uint32_t number, History* history) const {
  Reader reader(track(number), header_->used[number].load(std::memory_order_acquire));
  std::optional<Transaction> open;
  bool committing = false;
  const auto end = [&](Outcome outcome, uint64_t at) {
    open->outcome = outcome;
    open->end = at;
    history->transactions.push_back(std::move(*open));
    open.reset();
  };
  while (!reader.at_end()) {
    switch (reader.event()) {
      case Event::kBegun:
        open.emplace();
        open->process = reader.number();
        open->id = open->begin = reader.number();
        committing = false;
        break;
      case Event::kAppend: {
        const Key key = reader.number();
        open->operations.push_back(Operation::append(key, reader.number()));
        break;
      }
      case Event::kRead: {
        const Key key = reader.number();
        open->operations.push_back(Operation::read(key, reader.list()));
        break;
      }
      case Event::kRange: {
        const Key low = reader.number();
        std::vector<List> lists(reader.number());
        for (List& list : lists) list = reader.list();
        open->operations.push_back(Operation::range(low, std::move(lists)));
        break;
      }
      case Event::kCommitting:
        committing = true;
        break;
      case Event::kLastRead:
        history->last_read = open->id;
        break;
      case Event::kEnded: {
        const auto outcome = static_cast<Outcome>(reader.number());
        end(outcome, reader.number());
        break;
      }
      case Event::kLifeEnded: {
        const uint64_t now = reader.number();
        if (open.has_value()) end(committing ? Outcome::kUnknown : Outcome::kAborted, now);
        break;
      }
    }
  }
  // Still running: as if it never ended.
  if (open.has_value()) end(committing ? Outcome::kUnknown : Outcome::kAborted, kNever);
}

}  // namespace hawthorn::history
