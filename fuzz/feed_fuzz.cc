// Pieces of a feed's commits (db/feed_code.h), with the checksums that they need: what is read can
// be written, and is then read again as the same.
//
// Input: per piece, flags (1: the last; 2: without a valid header), u16 size, payload.
#include <deque>
#include <vector>

#include "base/bytes.h"
#include "base/checksum.h"
#include "db/feed_code.h"
#include "fuzz/fuzz.h"

using hawthorn::FeedChange;
using hawthorn::Result;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::fuzz::Bytes;

namespace {

std::string piece_of(std::string_view payload, uint32_t number, bool last) {
  std::string header(64, '\0');
  char* const at = header.data();
  hawthorn::store(at, uint32_t{0x43465748});
  hawthorn::store(at + 4, uint16_t{1});
  hawthorn::store(at + 6, static_cast<uint16_t>(last ? 1 : 0));
  hawthorn::store(at + 8, uint64_t{100});
  hawthorn::store(at + 16, uint64_t{90});
  hawthorn::store(at + 24, uint64_t{1});
  hawthorn::store(at + 32, uint64_t{2});
  hawthorn::store(at + 40, number);
  hawthorn::store(at + 44, static_cast<uint32_t>(payload.size()));
  hawthorn::store(at + 48, hawthorn::checksum64(payload.data(), payload.size(), 0));
  hawthorn::store(at + 56, hawthorn::checksum64(at, 56, 0));
  return header.append(payload);
}

// A change of its own, without views.
struct Change {
  hawthorn::FeedTree tree;
  FeedChange change;
  std::string key, value, streamed;
  std::optional<std::string> high;
  std::string other;

  bool same(const Change& c) const {
    return change.type == c.change.type && tree.id == c.tree.id && tree.name == c.tree.name &&
           tree.merge_operator == c.tree.merge_operator &&
           tree.options.order == c.tree.options.order &&
           tree.options.value_order == c.tree.options.value_order &&
           tree.options.multi_value == c.tree.options.multi_value &&
           tree.options.expires == c.tree.options.expires &&
           tree.options.ttl_ms == c.tree.options.ttl_ms && tree.compression == c.tree.compression &&
           key == c.key && value == c.value && high == c.high && other == c.other &&
           change.streamed == c.change.streamed && streamed == c.streamed &&
           change.expires_at_ms == c.change.expires_at_ms &&
           change.value_bytes == c.change.value_bytes;
  }
};

// Each piece in memory of exactly its size.
class Source {
 public:
  void add(std::string_view piece) {
    sizes_.push_back(piece.size());
    memory_.push_back(std::make_unique<char[]>(piece.size()));
    std::memcpy(memory_.back().get(), piece.data(), piece.size());
  }
  hawthorn::FeedPieceSource give() {
    return [this]() -> Result<std::string_view> {
      if (at_ > 0) memory_[at_ - 1].reset();  // as its lifetime is
      if (at_ == sizes_.size()) return Status(StatusCode::kIoError, "no more");
      const std::string_view piece(memory_[at_].get(), sizes_[at_]);
      ++at_;
      return piece;
    };
  }

 private:
  std::vector<size_t> sizes_;
  std::vector<std::unique_ptr<char[]>> memory_;
  size_t at_ = 0;
};

// What a commit says of itself.
struct Numbers {
  std::string source;
  uint64_t cts = 0;
  uint64_t previous = 0;
  bool operator==(const Numbers&) const = default;
};

// All changes, and how it ended.
Status read(Source& source, Numbers* numbers, std::deque<Change>* changes) {
  const hawthorn::FeedPieceSource pieces = source.give();
  hawthorn::db::PieceReader reader(pieces);
  if (Status s = reader.open(); !s.ok()) return s;
  *numbers = {reader.source_id(), reader.cts(), reader.previous()};
  for (;;) {
    FeedChange change;
    const Result<bool> more = reader.next(&change);
    if (!more.ok()) return more.status();
    if (!*more) return {};
    Change& own = changes->emplace_back();
    own.tree = *change.tree;
    own.change = change;
    own.key = change.key;
    own.value = change.value;
    if (change.high) own.high = std::string(*change.high);
    own.other = change.other_name;
    while (change.streamed && own.streamed.size() < change.value_bytes) {
      char buffer[100];
      const Result<size_t> got = reader.read_value(own.streamed.size(), buffer);
      if (!got.ok()) return got.status();
      own.streamed.append(buffer, *got);
      if (*got == 0) break;
    }
  }
}

class Given : public hawthorn::db::ChangeSource {
 public:
  explicit Given(std::deque<Change>& changes) : changes_(changes) {}
  Result<bool> next(FeedChange* change) override {
    if (at_ == changes_.size()) return false;
    Change& own = changes_[at_++];
    *change = own.change;
    change->tree = &own.tree;
    change->key = own.key;
    change->value = own.value;
    change->other_name = own.other;
    change->high.reset();
    if (own.high) change->high = *own.high;
    return true;
  }
  Result<size_t> read_value(uint64_t offset, std::span<char> buffer) override {
    return changes_[at_ - 1].streamed.copy(buffer.data(), buffer.size(), offset);
  }

 private:
  std::deque<Change>& changes_;
  size_t at_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  Source source;
  for (uint32_t number = 0; !in.empty(); ++number) {
    const uint8_t flags = in.byte();
    const std::string_view payload = in.take(in.number<uint16_t>());
    source.add((flags & 2) != 0 ? std::string(payload)
                                : piece_of(payload, number, (flags & 1) != 0));
  }
  std::deque<Change> changes;
  Numbers numbers;
  if (!read(source, &numbers, &changes).ok()) return 0;
  // A whole commit.
  Given given(changes);
  hawthorn::db::PieceWriter writer(numbers.source, numbers.cts, numbers.previous);
  Source written;
  std::string piece;
  for (;;) {
    const Result<bool> more = writer.next(given, &piece);
    FUZZ_OK(more.status());
    if (!*more) break;
    written.add(piece);
  }
  std::deque<Change> again;
  Numbers same;
  FUZZ_OK(read(written, &same, &again));
  FUZZ_CHECK(same == numbers);
  FUZZ_CHECK(again.size() == changes.size());
  for (size_t i = 0; i < again.size(); ++i) FUZZ_CHECK(again[i].same(changes[i]));
  return 0;
}
