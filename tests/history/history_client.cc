#include "tests/history/history_client.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/prng.h"

namespace hawthorn::history {
namespace {

constexpr std::string_view kTree = "lists";

std::string key_bytes(Key key) {
  std::string bytes(8, '\0');
  for (size_t i = 8; i > 0; --i, key >>= 8) bytes[i - 1] = static_cast<char>(key & 0xff);
  return bytes;
}

Key key_in(std::string_view bytes) {
  Key key = 0;
  for (const char byte : bytes) key = key << 8 | static_cast<unsigned char>(byte);
  return key;
}

Status list_in(std::string_view bytes, List* list) {
  list->resize(bytes.size() / sizeof(Element));
  if (bytes.size() % sizeof(Element) != 0) {
    return Status(StatusCode::kCorruption,
                  "a list has " + std::to_string(bytes.size()) + " bytes, not a multiple of 8");
  }
  if (!bytes.empty()) std::memcpy(list->data(), bytes.data(), bytes.size());
  return Status();
}

std::string list_bytes(const List& list) {
  return std::string(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(Element));
}

Status recorded(bool fits) {
  if (fits) return Status();
  return Status(StatusCode::kInvalidArgument, "the recording is full: give it larger tracks");
}

// One transaction: what it calls is recorded. Each call's error ends it.
class Step {
 public:
  Step(Db& db, const Tree& tree, const ClientOptions& options, hawthorn::Transaction& transaction,
       Recording::Track& track, Recording& recording)
      : db_(db),
        tree_(tree),
        options_(options),
        transaction_(transaction),
        track_(track),
        recording_(recording) {}

  Status get(Key key, List* list, bool for_update = false) {
    list->clear();
    Value value;
    Status status = for_update ? transaction_.get_for_update(tree_, key_bytes(key), value)
                               : transaction_.get(tree_, key_bytes(key), value);
    if (!status.ok() && !status.is_not_found()) return status;
    if (status.ok()) status = list_in(value.view(), list);
    if (!status.ok() && !status.is_not_found()) return status;
    return recorded(track_.read(key, *list));
  }

  Status multi_get(const std::vector<Key>& keys) {
    std::vector<std::string> bytes;
    for (const Key key : keys) bytes.push_back(key_bytes(key));
    const std::vector<std::string_view> views(bytes.begin(), bytes.end());
    ReadBatch batch;
    if (Status status = transaction_.multi_get(tree_, views, batch); !status.ok()) return status;
    List list;
    for (size_t i = 0; i < keys.size(); ++i) {
      list.clear();
      if (batch[i].found()) {
        if (Status status = list_in(batch[i].value, &list); !status.ok()) return status;
      }
      if (Status status = recorded(track_.read(keys[i], list)); !status.ok()) return status;
    }
    return Status();
  }

  Status range(Key low, Key end, bool backward) {
    std::vector<List> lists(end - low);
    Cursor cursor = transaction_.cursor(tree_, {.lower = key_bytes(low), .upper = key_bytes(end)});
    for (bool more = backward ? cursor.last() : cursor.first(); more;
         more = backward ? cursor.prev() : cursor.next()) {
      const Key key = key_in(cursor.key());
      if (cursor.key().size() != 8 || key < low || key >= end) {
        return Status(StatusCode::kCorruption, "a cursor shows a key outside of its range");
      }
      if (Status status = list_in(cursor.value(), &lists[key - low]); !status.ok()) return status;
    }
    if (Status status = cursor.status(); !status.ok()) return status;
    return recorded(track_.range(low, lists));
  }

  Status append(Key key) {
    List list;
    if (Status status = get(key, &list, options_.for_update); !status.ok()) return status;
    const Element element = recording_.draw_element();
    list.push_back(element);
    if (Status status = recorded(track_.append(key, element)); !status.ok()) return status;
    if (options_.blind_puts) return db_.put(tree_, key_bytes(key), list_bytes(list));
    return transaction_.put(tree_, key_bytes(key), list_bytes(list));
  }

  // Appends what nobody may ever see: it is rolled back, and not recorded.
  Status append_in_vain(Key key) {
    const Result<Savepoint> savepoint = transaction_.savepoint();
    if (!savepoint.ok()) return savepoint.status();
    List list;
    if (Status status = get(key, &list, false); !status.ok()) return status;
    list.push_back(recording_.draw_element());
    if (Status s = transaction_.put(tree_, key_bytes(key), list_bytes(list)); !s.ok()) return s;
    return transaction_.rollback_to(*savepoint);
  }

 private:
  Db& db_;
  const Tree& tree_;
  const ClientOptions& options_;
  hawthorn::Transaction& transaction_;
  Recording::Track& track_;
  Recording& recording_;
};

class Client {
 public:
  Client(Db& db, const Tree& tree, const ClientOptions& options, Recording& recording,
         uint32_t number)
      : db_(db),
        tree_(tree),
        options_(options),
        recording_(recording),
        track_(recording, number),
        process_(recording.draw_process()),
        prng_(options.seed * 1000 + number) {}

  Status run() {
    while (recording_.ended() < options_.transactions) {
      if (Status status = run_one(); !status.ok()) return status;
    }
    return Status();
  }

 private:
  Status run_one() {
    const uint64_t number = recording_.draw_number();
    Result<hawthorn::Transaction> transaction = options_.begin(db_);
    if (!transaction.ok()) return transaction.status();
    if (Status status = recorded(track_.begun(process_, number)); !status.ok()) return status;
    Step step(db_, tree_, options_, *transaction, track_, recording_);
    Status status = call(step);
    if (status.ok() && !prng_.one_in(30)) {
      if (Status full = recorded(track_.committing()); !full.ok()) return full;
      // A kill between these two records leaves an unknown outcome, of either kind.
      pause();
      status = transaction->commit(any_level());
      if (prng_.one_in(4)) pause();
      if (status.ok()) return recorded(track_.ended(Outcome::kCommitted));
      if (status.is(StatusCode::kUnknownOutcome)) return recorded(track_.ended(Outcome::kUnknown));
    } else {
      transaction->abort();
    }
    const bool lost = status.is_conflict() || status.is(StatusCode::kDeadlock) ||
                      status.is(StatusCode::kTimedOut);
    if (!status.ok() && !lost) return status;
    transaction->abort();
    return recorded(track_.ended(Outcome::kAborted));
  }

  Status call(Step& step) {
    const uint64_t pools = recording_.last_element() / kPoolAppends;
    // Now and then a transaction begins in the pool that the others are leaving.
    low_ = (pools > 0 && prng_.one_in(8) ? pools - 1 : pools) * kPoolKeys;
    switch (prng_.below(4)) {
      case 0:
        return look_and_append(step);
      case 1:
        return look_twice(step);
      default:
        return mix(step);
    }
  }

  // Two of these skew each other's reads where they append to different keys.
  Status look_and_append(Step& step) {
    Status status = look(step);
    if (status.ok()) pause();
    if (status.ok()) status = step.append(any_key());
    if (status.ok()) pause();
    return status;
  }

  Status look_twice(Step& step) {
    Status status = look(step);
    for (uint64_t i = prng_.between(1, 3); i > 0 && status.ok(); --i) {
      pause();
      status = look(step);
    }
    return status;
  }

  Status mix(Step& step) {
    Status status;
    for (uint64_t i = prng_.between(3, 6); i > 0 && status.ok(); --i) {
      status = prng_.one_in(3) ? step.append(any_key()) : look(step);
      if (status.ok() && prng_.one_in(8)) status = step.append_in_vain(any_key());
      pause();
    }
    return status;
  }

  Status look(Step& step) {
    List list;
    switch (prng_.below(4)) {
      case 0:
        return step.range(low_, low_ + kPoolKeys, prng_.one_in(3));
      case 1: {
        const Key from = any_key();
        return step.range(from, low_ + prng_.between(from - low_, kPoolKeys), prng_.one_in(3));
      }
      case 2:
        return step.multi_get({any_key(), any_key(), any_key()});
      default:
        return step.get(any_key(), &list);
    }
  }

  void pause() {
    if (prng_.one_in(40)) {
      std::this_thread::sleep_for(std::chrono::microseconds(prng_.below(300)));
    } else if (prng_.one_in(2)) {
      std::this_thread::yield();
    }
  }

  Key any_key() { return low_ + prng_.below(kPoolKeys); }

  Durability any_level() {
    if (prng_.one_in(200)) return Durability::kFull;
    return prng_.one_in(10) ? Durability::kAsync : Durability::kNone;
  }

  Db& db_;
  const Tree& tree_;
  const ClientOptions& options_;
  Recording& recording_;
  Recording::Track track_;
  const uint64_t process_;
  Prng prng_;
  Key low_ = 0;  // of the pool
};

}  // namespace

Status run_client(Db& db, const ClientOptions& options, Recording& recording) {
  if (options.threads > recording.tracks()) {
    return Status(StatusCode::kInvalidArgument, "the recording has fewer tracks than threads");
  }
  const Result<Tree> tree = db.tree(kTree);
  if (!tree.ok()) return tree.status();
  std::vector<Status> results(options.threads);
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < options.threads; ++number) {
    threads.emplace_back(
        [&, number] { results[number] = Client(db, *tree, options, recording, number).run(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (Status& status : results) {
    if (!status.ok()) return std::move(status);
  }
  return Status();
}

Status read_everything(Db& db, const Begin& begin, Recording& recording) {
  const Result<Tree> tree = db.tree(kTree);
  if (!tree.ok()) return tree.status();
  Recording::Track track(recording, 0);
  const uint64_t process = recording.draw_process();
  const uint64_t number = recording.draw_number();
  Result<hawthorn::Transaction> transaction = begin(db);
  if (!transaction.ok()) return transaction.status();
  if (!track.begun(process, number) || !track.is_last_read()) return recorded(false);
  const ClientOptions options;
  Step step(db, *tree, options, *transaction, track, recording);
  const uint64_t pools = recording.last_element() / kPoolAppends + 1;
  for (uint64_t pool = 0; pool < pools; ++pool) {
    Status status = step.range(pool * kPoolKeys, (pool + 1) * kPoolKeys, false);
    if (!status.ok()) return status;
  }
  if (Status status = recorded(track.committing()); !status.ok()) return status;
  if (Status status = transaction->commit(); !status.ok()) return status;
  return recorded(track.ended(Outcome::kCommitted));
}

}  // namespace hawthorn::history
