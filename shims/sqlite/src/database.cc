#include "shims/sqlite/src/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>

#include "shims/sqlite/src/place.h"
#include "shims/system_call.h"

namespace hawthorn::sqlite {
namespace {

constexpr char kNumbersTree[] = "sqlite";
constexpr char kRootPrefix[] = "root/";
// What a database takes at most until a program asks for more (PRAGMA cache_size), where the
// control group allows it.
constexpr uint64_t kMemoryBytes = uint64_t{64} << 20;

// The budget with which so much of a database is cached: the rest is for what is not written yet,
// and for the log, which SQLite leaves to the kernel's page cache.
uint64_t budget_for(uint64_t cache_bytes) {
  return std::max<uint64_t>({default_memory_budget_bytes(kMemoryBytes),
                             std::min(cache_bytes, UINT64_MAX / 8) / 3 * 5,
                             Db::limits().memory_budget_bytes_min});
}

int to_opening_code(const Status& status) {
  const int code = to_code(status);
  return code == SQLITE_ERROR || code == SQLITE_IOERR || code == SQLITE_READONLY ? SQLITE_CANTOPEN
                                                                                 : code;
}

bool refuses_writes(const std::string& path) {
  const int file = open_uninterrupted(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  if (file >= 0) ::close(file);
  return file < 0 && (errno == EACCES || errno == EPERM || errno == EROFS);
}

// Then it may be read all the same. What is refused for a moment only (a rename, a new file) leaves
// no connection that can never write: opening fails, and succeeds later. Asked by opening, as a
// sandbox may refuse what permissions allow.
bool cannot_be_written(const Status& status, const std::string& directory) {
  if (!status.is(StatusCode::kReadOnly) && !status.is(StatusCode::kPermissionDenied)) return false;
  if (access(directory.c_str(), W_OK) != 0) return true;
  std::error_code failed;
  std::filesystem::directory_iterator files(directory, failed);
  for (; !failed && files != std::filesystem::directory_iterator(); files.increment(failed)) {
    if (refuses_writes(files->path().string())) return true;
  }
  return static_cast<bool>(failed);
}

}  // namespace

int to_code(const Status& status) {
  int code = SQLITE_ERROR;
  switch (status.code()) {
    case StatusCode::kOk:
      return SQLITE_OK;
    case StatusCode::kBusy:
    case StatusCode::kTimedOut:
    case StatusCode::kConflict:
    case StatusCode::kDeadlock:
      return SQLITE_BUSY;
    case StatusCode::kNoSpace:
      code = SQLITE_FULL;
      break;
    case StatusCode::kCorruption:
      code = SQLITE_CORRUPT;
      break;
    case StatusCode::kIoError:
    case StatusCode::kUnknownOutcome:
    case StatusCode::kForked:
    case StatusCode::kClosed:
      code = SQLITE_IOERR;
      break;
    case StatusCode::kReadOnly:
    case StatusCode::kPermissionDenied:  // SQLite says so when it may not make a journal
      code = SQLITE_READONLY;
      break;
    case StatusCode::kOutOfMemory:
      code = SQLITE_NOMEM;
      break;
    default:
      break;
  }
  try {
    sqlite3_log(code, "hawthorn: %s", status.to_string().c_str());
  } catch (const std::bad_alloc&) {
    return code;  // without a word
  }
  return code;
}

int exception_code() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (...) {
    return SQLITE_ERROR;
  }
}

std::string tree_name(uint32_t root) { return kRootPrefix + std::to_string(root); }

std::optional<uint32_t> root_of(std::string_view name) {
  constexpr std::string_view kPrefix = kRootPrefix;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  uint32_t root = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), root);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return root;
}

std::string Numbers::encode() const {
  std::string bytes(reinterpret_cast<const char*>(meta.data()), sizeof(meta));
  for (const uint32_t number : {next_root, wal, collated}) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return bytes;
}

std::optional<Numbers> Numbers::decode(std::string_view bytes) {
  Numbers numbers;
  // Databases of the first days have no number behind that of the journal mode.
  constexpr size_t kFirst = sizeof(meta) + sizeof(next_root) + sizeof(wal);
  if (bytes.size() != kFirst && bytes.size() != kFirst + sizeof(collated)) return std::nullopt;
  memcpy(numbers.meta.data(), bytes.data(), sizeof(meta));
  bytes.remove_prefix(sizeof(meta));
  for (uint32_t* const number : {&numbers.next_root, &numbers.wal, &numbers.collated}) {
    if (bytes.empty()) break;
    memcpy(number, bytes.data(), sizeof(*number));
    bytes.remove_prefix(sizeof(*number));
  }
  return numbers;
}

// Told of the timestamp of each commit of a connection; the engine's own are none of these.
class Database::CommitWatch : public CommitHook {
 public:
  void after(const CommitInfo& /*info*/, uint64_t cts, const Status& /*outcome*/) override {
    uint64_t last = last_.load();
    while (cts > last && !last_.compare_exchange_weak(last, cts)) {
    }
  }
  uint64_t last() const { return last_.load(); }

 private:
  std::atomic<uint64_t> last_{0};
};

struct Database::Registry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Database>> databases;  // by canonical directory
};

namespace {
// A database that could not be made whole goes after all that is open of it, unless its file names
// it all the same.
struct Discarder {
  const std::string& file;
  const std::string& directory;
  bool armed = false;

  ~Discarder() {
    if (!armed) return;
    try {
      std::string named;
      const Found found = look_at(file, &named);
      if (found == Found::kUnknown || (found == Found::kOurs && named == directory)) return;
      static_cast<void>(Db::destroy(directory));
    } catch (const std::bad_alloc&) {
      return;  // it goes with the next one at this path
    }
  }
};
}  // namespace

Database::Registry& Database::registry() { return OfProcess<Registry>::get(); }

int Database::open(const std::string& path, bool create, bool read_only, uint64_t memory_bytes,
                   Database** out) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> guard(all.mutex);
  std::error_code failed;
  const std::string file = std::filesystem::weakly_canonical(path, failed).string();
  if (failed) return SQLITE_CANTOPEN;
  std::string directory;
  Found found = look_at(file, &directory);
  Maker maker;
  if (found == Found::kNothing || found == Found::kEmptyFile) {
    if (!create || read_only) return SQLITE_CANTOPEN;
    if (const int code = to_opening_code(maker.begin(file)); code != SQLITE_OK) return code;
    found = look_at(file, &directory);
  }
  if (found == Found::kOther || found == Found::kUnknown) return SQLITE_CANTOPEN;
  const bool made_now = found != Found::kOurs;
  if (made_now) {
    remove_deleted(file);
    directory = new_directory(file);
  }
  if (const auto there = all.databases.find(directory); there != all.databases.end()) {
    *out = there->second.get();
    ++(*out)->users_;
    return SQLITE_OK;
  }
  Options options;
  options.memory_budget_bytes = std::max<uint64_t>(memory_bytes != 0 ? memory_bytes : budget_for(0),
                                                   Db::limits().memory_budget_bytes_min);
  options.create_if_missing = made_now;
  Discarder discarder{file, directory};
  auto watch = std::make_shared<CommitWatch>();
  options.commit_hooks = {watch};
  Result<std::unique_ptr<Db>> opened = Db::open(directory, options);
  if (!made_now && cannot_be_written(opened.status(), directory)) {
    options.read_only = true;
    opened = Db::open(directory, options);
  }
  if (!opened.ok()) return to_opening_code(opened.status());
  discarder.armed = made_now;
  std::unique_ptr<Database> made(new Database);
  made->directory_ = directory;
  made->place_ = HeldDirectory(std::filesystem::path(directory).parent_path().string());
  made->db_ = std::move(*opened);
  made->read_only_ = options.read_only;
  made->fixed_memory_ = memory_bytes != 0;
  made->budget_ = options.memory_budget_bytes;
  made->watch_ = std::move(watch);
  int code = SQLITE_OK;
  const auto place = all.databases.try_emplace(directory).first;
  try {
    code = made->start(made_now);
    if (code == SQLITE_OK && !made_now) code = made->settle_now();
    if (code == SQLITE_OK && made_now) code = to_code(maker.finish(directory));
  } catch (...) {
    code = exception_code();
  }
  if (code != SQLITE_OK) {
    all.databases.erase(place);
    return code;
  }
  discarder.armed = false;
  made->users_ = 1;
  *out = made.get();
  place->second = std::move(made);
  return SQLITE_OK;
}

int Database::start(bool create) {
  Result<Tree> found = db_->find_tree(kNumbersTree);
  if (found.status().is_not_found() && create) {
    Result<Transaction> begun = db_->begin(TxnOptions{});
    if (!begun.ok()) return to_code(begun.status());
    Transaction& txn = *begun;
    found = txn.tree(kNumbersTree);
    Status status = found.status();
    if (status.ok()) status = txn.tree(tree_name(kSchemaRoot)).status();
    if (status.ok()) status = txn.put(*found, kNumbersKey, Numbers().encode());
    if (status.ok()) status = txn.commit(Durability::kFull);
    if (!status.ok()) return to_code(status);
    found = db_->find_tree(kNumbersTree);
  }
  if (found.status().is_not_found()) return SQLITE_NOTADB;
  if (!found.ok()) return to_code(found.status());
  numbers_ = *found;
  return create || read_only_ ? SQLITE_OK : to_code(find_forgotten());
}

Status Database::visit(const std::string& directory, const std::function<Status(Db&)>& use) {
  const Registry& all = registry();
  if (const auto open = all.databases.find(directory); open != all.databases.end()) {
    return use(open->second->db());
  }
  Options options;
  options.memory_budget_bytes = Db::limits().memory_budget_bytes_min;
  options.create_if_missing = false;
  Result<std::unique_ptr<Db>> opened = Db::open(directory, options);
  if (cannot_be_written(opened.status(), directory)) {
    options.read_only = true;
    opened = Db::open(directory, options);
  }
  if (!opened.ok()) return opened.status();
  Status status = use(**opened);
  if (const Status closed = (*opened)->close(); status.ok()) status = closed;
  return status;
}

int Database::settle() {
  const std::lock_guard<std::mutex> guard(registry().mutex);
  return settle_now();
}

Database* Database::share(Database* database) {
  const std::lock_guard<std::mutex> guard(registry().mutex);
  ++database->users_;
  return database;
}

void Database::release(Database* database) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> guard(all.mutex);
  if (--database->users_ != 0) return;
  if (database->has_forgotten_) {
    // Where that fails, they are found again.
    try {
      Result<Transaction> begun = database->db_->begin(TxnOptions{});
      Status status = begun.status();
      if (status.ok()) status = database->erase_forgotten(*begun);
      if (status.ok()) status = begun->commit(Durability::kNone);
      if (!status.ok()) static_cast<void>(to_code(status));
    } catch (...) {
      static_cast<void>(exception_code());
    }
  }
  // Where it cannot be closed cleanly the next open has its log.
  if (const Status status = database->db_->close(); !status.ok()) {
    static_cast<void>(to_code(status));
  }
  all.databases.erase(database->directory_);
}

Status Database::change_cache(uint64_t before, uint64_t after) {
  const std::lock_guard<std::mutex> guard(mutex_);
  cache_bytes_ += after - before;
  const uint64_t budget = budget_for(cache_bytes_);
  if (fixed_memory_ || budget == budget_) return {};
  const Status status = db_->set_memory_budget(budget);
  if (status.is(StatusCode::kOutOfMemory)) return {};
  if (status.ok()) budget_ = budget;
  return status;
}

void Database::end_commit(bool committed) {
  if (committed) ++committed_;
  ++ended_;
}

uint64_t Database::last_commit() const { return watch_->last(); }

uint64_t Database::bytes() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (bytes_ != 0 && now - counted_at_ <= std::chrono::seconds(1)) return bytes_;
  }
  return bytes_now();
}

uint64_t Database::bytes_now() {
  const std::lock_guard<std::mutex> guard(mutex_);
  const Stats stats = db_->stats();
  bytes_ = stats.disk_bytes_reachable + stats.memory_delta_bytes;
  counted_at_ = std::chrono::steady_clock::now();
  return bytes_;
}

}  // namespace hawthorn::sqlite
