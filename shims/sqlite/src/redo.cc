#include "shims/sqlite/src/redo.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "shims/sqlite/src/database.h"

namespace hawthorn::sqlite {
namespace {

constexpr size_t kMemoryBytesMax = size_t{1} << 20;

// Before the key and the value of an operation.
struct Head {
  uint64_t offset;
  uint64_t value_bytes;
  uint32_t key_bytes;
  uint32_t root;
  uint64_t kind;
};
static_assert(sizeof(Head) == 32);

Status file_failed(const std::string& what) {
  const StatusCode code =
      errno == ENOSPC || errno == EDQUOT ? StatusCode::kNoSpace : StatusCode::kIoError;
  return Status(code, what + ": " + strerror(errno));
}

Status put_any(Transaction& txn, const Tree& tree, std::string_view key, std::string_view value) {
  if (value.size() <= Db::limits().batch_value_bytes_max) return txn.put(tree, key, value);
  const uint64_t size = value.size();
  return txn.put_stream(tree, key, size, [&value](std::span<char> buffer) {
    const size_t given = std::min(buffer.size(), value.size());
    memcpy(buffer.data(), value.data(), given);
    value.remove_prefix(given);
    return Result<size_t>(given);
  });
}

}  // namespace

Redo::~Redo() {
  if (file_ >= 0) ::close(file_);
}

Status Redo::move_to_file() {
  if (file_ < 0) {
    file_ = ::open(place_.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (file_ < 0) {
      std::string name = place_ + "/redo-XXXXXX";
      file_ = mkostemp(name.data(), O_CLOEXEC);
      if (file_ < 0) return file_failed(name);
      unlink(name.c_str());
    }
  }
  for (size_t done = 0; done < memory_.size();) {
    const ssize_t wrote = pwrite(file_, memory_.data() + done, memory_.size() - done,
                                 static_cast<off_t>(in_file_ + done));
    if (wrote <= 0) return file_failed("a temporary file of a transaction");
    done += static_cast<size_t>(wrote);
  }
  in_file_ += memory_.size();
  memory_.clear();
  return {};
}

Status Redo::add(const Operation& operation) {
  const uint64_t before = size();
  const Head head = {.offset = operation.offset,
                     .value_bytes = operation.value.size(),
                     .key_bytes = static_cast<uint32_t>(operation.key.size()),
                     .root = operation.root,
                     .kind = static_cast<uint64_t>(operation.kind)};
  memory_.append(reinterpret_cast<const char*>(&head), sizeof(head));
  memory_ += operation.key;
  memory_ += operation.value;
  if (memory_.size() <= kMemoryBytesMax) return {};
  Status status = move_to_file();
  if (!status.ok()) truncate(before);
  return status;
}

void Redo::truncate(uint64_t size) {
  if (size >= in_file_) {
    memory_.resize(size - in_file_);
  } else {
    in_file_ = size;
    memory_.clear();
  }
}

Status Redo::read(size_t piece_bytes, const std::function<Status(std::string_view)>& use) const {
  std::string piece;
  for (uint64_t at = 0; at < in_file_;) {
    piece.resize(static_cast<size_t>(std::min<uint64_t>(piece_bytes, in_file_ - at)));
    const ssize_t got = pread(file_, piece.data(), piece.size(), static_cast<off_t>(at));
    if (got <= 0) return Status(StatusCode::kIoError, "a temporary file of a transaction is short");
    at += static_cast<uint64_t>(got);
    const Status status = use(std::string_view(piece).substr(0, static_cast<size_t>(got)));
    if (!status.ok()) return status;
  }
  for (std::string_view rest = memory_; !rest.empty();) {
    const std::string_view next = rest.substr(0, piece_bytes);
    if (Status status = use(next); !status.ok()) return status;
    rest.remove_prefix(next.size());
  }
  return {};
}

namespace {

class Again {
 public:
  Again(Transaction& txn, const Tree& numbers) : txn_(txn), numbers_(numbers) {}

  Status apply(const Redo::Operation& operation) {
    using Kind = Redo::Kind;
    const std::string name = tree_name(operation.root);
    switch (operation.kind) {
      case Kind::kNumbers:
        return txn_.put(numbers_, kNumbersKey, operation.value);
      case Kind::kCreate:
        trees_.erase(operation.root);
        return txn_.tree(name).status();
      case Kind::kDrop:
        trees_.erase(operation.root);
        return txn_.drop_tree(name);
      default:
        break;
    }
    auto known = trees_.find(operation.root);
    if (known == trees_.end()) {
      const Result<Tree> found = txn_.find_tree(name);
      if (!found.ok()) return found.status();
      known = trees_.emplace(operation.root, *found).first;
    }
    const Tree& tree = known->second;
    switch (operation.kind) {
      case Kind::kClear:
        return txn_.delete_range(tree, {});
      case Kind::kPut:
        return put_any(txn_, tree, operation.key, operation.value);
      case Kind::kDelete:
        return txn_.del(tree, operation.key);
      default:
        return txn_.write_part(tree, operation.key, operation.offset, operation.value);
    }
  }

 private:
  Transaction& txn_;
  const Tree& numbers_;
  std::unordered_map<uint32_t, Tree> trees_;
};

Status not_an_operation() {
  return Status(StatusCode::kCorruption, "what is kept of a transaction is damaged");
}

}  // namespace

Status do_again(Transaction& txn, const Tree& numbers, const RedoSource& source) {
  Again again(txn, numbers);
  std::string bytes;
  size_t at = 0;
  for (bool ended = false; !ended;) {
    const Result<std::string_view> more = source();
    if (!more.ok()) return more.status();
    ended = more->empty();
    bytes.erase(0, std::exchange(at, 0));
    bytes += *more;
    while (bytes.size() - at >= sizeof(Head)) {
      Head head{};
      memcpy(&head, bytes.data() + at, sizeof(head));
      if (head.kind > static_cast<uint64_t>(Redo::Kind::kPart) || head.value_bytes > SIZE_MAX / 4) {
        return not_an_operation();
      }
      const size_t whole = sizeof(head) + head.key_bytes + head.value_bytes;
      if (bytes.size() - at < whole) break;
      const std::string_view body(bytes.data() + at + sizeof(head), whole - sizeof(head));
      const Status status = again.apply({.kind = static_cast<Redo::Kind>(head.kind),
                                         .root = head.root,
                                         .offset = head.offset,
                                         .key = body.substr(0, head.key_bytes),
                                         .value = body.substr(head.key_bytes)});
      if (!status.ok()) return status;
      at += whole;
    }
  }
  return at == bytes.size() ? Status() : not_an_operation();
}

}  // namespace hawthorn::sqlite
