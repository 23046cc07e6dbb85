#include "db/expiry_job.h"

#include <algorithm>

#include "base/bytes.h"
#include "db/change_alone.h"
#include "db/impl.h"
#include "db/large_values.h"
#include "os/test_point.h"
#include "tree/cursor.h"

namespace hawthorn::db {

namespace {
constexpr size_t kTogether = 256;  // in one transaction
constexpr size_t kTogetherBytes = size_t{256} << 10;
constexpr uint64_t kExpiryPauseUs = 250'000;
constexpr std::string_view kNotesBegin{"\0", 1};

// The database that is calling Options::on_expiry on this thread, if any.
thread_local const ExpiryJob* telling = nullptr;

// The moment of the entry that a note leads to; nothing where there is none. Of a large value the
// first bytes are read.
Result<std::optional<uint64_t>> moment_at(tree::TreeState* tree, std::string_view stored_key,
                                          const tree::ReadView& view) {
  Value value;
  bool large = false;
  const Status status = tree->get_encoded(stored_key, view, true, value, &large);
  if (status.is_not_found()) return std::optional<uint64_t>();
  if (!status.ok()) return status;
  char bytes[format::TreeShape::kMomentBytes] = {};
  std::string_view stored = value.view();
  if (large) {
    const Result<format::LargeValue> described = format::decode_large_value(stored);
    if (!described.ok()) return described.status();
    const Result<size_t> got = read_large_part(tree->store(), *described, 0, bytes);
    if (!got.ok()) return got.status();
    stored = {bytes, *got};
  }
  const Result<uint64_t> moment = format::TreeShape::moment_of(stored);
  if (!moment.ok()) return moment.status();
  return std::optional<uint64_t>(*moment);
}
}  // namespace

Result<uint64_t> count_ended(tree::TreeState* tree, const tree::ReadView& view,
                             std::string_view low, std::optional<std::string_view> high,
                             uint64_t now_ms) {
  using Shape = format::TreeShape;
  // Notes are rounded up.
  tree::TreeCursor notes(
      tree, view, {std::string(kNotesBegin), Shape::notes_until(Shape::round_up(now_ms)), true});
  uint64_t count = 0;
  std::string stored_key;
  for (bool more = notes.first(); more; more = notes.next()) {
    const Result<uint64_t> noted = Shape::load_note(notes.key(), &stored_key);
    if (!noted.ok()) return noted.status();
    if (stored_key < low || (high.has_value() && stored_key >= *high)) continue;
    const Result<std::optional<uint64_t>> moment = moment_at(tree, stored_key, view);
    if (!moment.ok()) return moment.status();
    if (!moment->has_value() || **moment == 0 || **moment > now_ms) continue;
    // Of several notes of a key, one is its entry's.
    if (Shape::round_up(**moment) == *noted) ++count;
  }
  if (!notes.status().ok()) return notes.status();
  return count;
}

// ---- The thread

// Without a tree whose entries end nothing can come back, and the catalog is not read.
Status ExpiryJob::load_now() {
  if (!db_->store_.expires.load(std::memory_order_acquire)) return {};
  Value value;
  const Status status = db_->catalog_->names()->get(format::kCatalogNowKey, {0, 0}, false, value);
  if (status.is_not_found() || status.is(StatusCode::kCorruption)) return {};
  if (!status.ok()) return status;
  if (value.size() == sizeof(uint64_t)) {
    db_->store_.now_ms.store(load<uint64_t>(value.view().data()), std::memory_order_release);
  }
  return {};
}

void ExpiryJob::start() {
  os::MutexLock lock(mutex_);
  started_ = true;
  begin_thread();
}

void ExpiryJob::wake() {
  os::MutexLock lock(mutex_);
  begin_thread();
}

void ExpiryJob::begin_thread() {
  if (!started_ || thread_.joinable() || !db_->machine_.background_threads ||
      !db_->store_.expires.load(std::memory_order_acquire)) {
    return;
  }
  // Where the system has none to give the next call tries again.
  static_cast<void>(thread_.start("hw-expiry", [this] { run(); }, true).ok());
}

void ExpiryJob::stop() {
  os::Thread ending;
  {
    os::MutexLock lock(mutex_);
    started_ = false;
    ending = std::move(thread_);
  }
  wake_.notify_all();
  if (ending.joinable()) ending.join();
}

bool ExpiryJob::may_go_on() {
  os::MutexLock lock(mutex_);
  return started_;
}

void ExpiryJob::run() {
  for (;;) {
    // What failed is tried again.
    static_cast<void>(run_all().ok());
    os::MutexLock lock(mutex_);
    if (started_) static_cast<void>(wake_.wait_for(mutex_, kExpiryPauseUs));
    if (!started_) return;
  }
}

Status ExpiryJob::run_if_due() {
  if (!db_->store_.expires.load(std::memory_order_acquire)) return {};
  {
    os::MutexLock lock(mutex_);
    const uint64_t now = db_->machine_.clock->monotonic_us();
    if (!started_ || now - looked_us_ < kExpiryPauseUs) return {};
    looked_us_ = now;
  }
  return run_all();
}

Status ExpiryJob::may_end() const {
  if (telling != this) return {};
  return Status(StatusCode::kInvalidArgument,
                "Options::on_expiry can neither close nor compact the database that calls it");
}

// ---- What it does

Status ExpiryJob::run_all() {
  os::MutexLock running(running_);
  Status first;
  for (tree::TreeState* tree : db_->catalog_->all()) {
    if (!expires(*tree) || !tree->stands()) continue;
    Status status = run_tree(tree);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

Status ExpiryJob::run_tree(tree::TreeState* tree) {
  const uint64_t now_ms = expiry_now(db_->store_);
  const tree::HeldSnapshot held(*db_->snapshots_, db_->sequencer_->visible());
  tree::TreeCursor notes(tree, {held.ts(), 0},
                         {std::string(kNotesBegin), format::TreeShape::notes_until(now_ms), true});
  std::vector<Ended> some;
  size_t bytes = 0;
  Status status;
  const auto flush = [&] {
    HAWTHORN_TEST_POINT("expiry.before_apply");
    status = apply(tree, some, held.ts(), now_ms);
    some.clear();
    bytes = 0;
    return status.ok() && may_go_on();
  };
  // One that stands behind the registration keeps its data as long as that lasts.
  bool goes_on = tree->stands() && may_go_on();
  for (bool more = goes_on && notes.first(); more && goes_on; more = notes.next()) {
    Ended ended{std::string(notes.key()), {}, {}};
    if (status = look_at(tree, held.ts(), now_ms, &ended); !status.ok()) return status;
    bytes += ended.note.size() + ended.value.size();
    some.push_back(std::move(ended));
    if (some.size() >= kTogether || bytes >= kTogetherBytes) goes_on = flush();
  }
  if (!status.ok() || !goes_on) return status;
  flush();
  return status.ok() ? notes.status() : status;
}

Status ExpiryJob::look_at(tree::TreeState* tree, format::Lsn seen_at, uint64_t now_ms,
                          Ended* ended) {
  std::string stored_key;
  const Result<uint64_t> noted = format::TreeShape::load_note(ended->note, &stored_key);
  if (!noted.ok()) return noted.status();
  const tree::ReadView view{seen_at, 0};
  const Result<std::optional<uint64_t>> moment = moment_at(tree, stored_key, view);
  if (!moment.ok()) return moment.status();
  if (!moment->has_value() || **moment == 0 || **moment > now_ms) return {};
  // Of several notes of a key that are due, one is its entry's: so that it is told of once.
  if (format::TreeShape::round_up(**moment) != *noted) return {};
  ended->stored_key = std::move(stored_key);
  if (db_->options_.on_expiry == nullptr) return {};
  Value value;
  if (Status s = tree->get(ended->stored_key, view, true, value); !s.ok()) return s;
  ended->value = value.view();
  return {};
}

// One that loses its commit to another transaction does not take the others with it.
Status ExpiryJob::apply(tree::TreeState* tree, std::span<Ended> some, format::Lsn seen_at,
                        uint64_t now_ms) {
  if (some.empty()) return {};
  Status status = apply_together(tree, some, seen_at, now_ms);
  if (!lost_to_another(status) || some.size() == 1) {
    return lost_to_another(status) ? Status() : status;
  }
  for (size_t i = 0; i < some.size(); ++i) {
    status = apply_together(tree, some.subspan(i, 1), seen_at, now_ms);
    if (!status.ok() && !lost_to_another(status)) return status;
  }
  return {};
}

Status ExpiryJob::apply_together(tree::TreeState* tree, std::span<Ended> some, format::Lsn seen_at,
                                 uint64_t now_ms) {
  const std::unique_ptr<txn::Txn> txn = db_->new_txn();
  if (Status s = txn->begin({.mode = txn::Mode::kOptimistic, .at = seen_at}); !s.ok()) return s;
  std::vector<const Ended*> gone;
  for (const Ended& ended : some) {
    Status status;
    if (!ended.stored_key.empty()) {
      status = txn->write(tree, format::OperationType::kDelete, ended.stored_key, {});
      if (status.ok()) gone.push_back(&ended);
    }
    if (status.ok()) status = txn->write(tree, format::OperationType::kDelete, ended.note, {});
    if (status.ok() || lost_to_another(status)) continue;
    txn->abort();
    return status;
  }
  const bool newer = now_ms != written_now_ms_;
  if (!gone.empty() && newer) {
    std::string now;
    append(now, now_ms);
    Status status = txn->write(db_->catalog_->names(), format::OperationType::kPut,
                               format::kCatalogNowKey, now);
    if (!status.ok()) {
      txn->abort();
      return status;
    }
  }
  if (Status s = txn->commit(Durability::kNone); !s.ok()) return s;
  if (!gone.empty()) written_now_ms_ = now_ms;
  removed_.fetch_add(gone.size(), std::memory_order_relaxed);
  for (const Ended* ended : gone) tell(*tree, *ended);
  return {};
}

void ExpiryJob::tell(const tree::TreeState& tree, const Ended& ended) const {
  if (db_->options_.on_expiry == nullptr) return;
  std::string key;
  std::string value;
  if (!tree.shape()->load(ended.stored_key, &key, &value).ok()) return;
  if (!several_values(tree)) value = ended.value.substr(format::TreeShape::kMomentBytes);
  struct Telling {
    explicit Telling(const ExpiryJob* job) : before(std::exchange(telling, job)) {}
    ~Telling() { telling = before; }
    const ExpiryJob* const before;
  };
  const Telling now(this);
  db_->options_.on_expiry(db_->catalog_->manifest_name(tree.id()), key, value);
}

}  // namespace hawthorn::db
