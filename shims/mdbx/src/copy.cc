#include "shims/mdbx/src/copy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hawthorn/backup.h"
#include "shims/directory_entries.h"
#include "shims/mdbx/src/cursor.h"
#include "shims/system_call.h"

namespace hawthorn::mdbx {
namespace {

constexpr unsigned kCopyFlags = MDBX_CP_COMPACT | MDBX_CP_FORCE_DYNAMIC_SIZE | MDBX_CP_DONT_FLUSH |
                                MDBX_CP_THROTTLE_MVCC | MDBX_CP_DISPOSE_TXN | MDBX_CP_RENEW_TXN
#if HAWTHORN_MDBX_API >= 14
                                | MDBX_CP_OVERWRITE
#endif
    ;
constexpr uint64_t kMemoryOfACopy = uint64_t{64} << 20;
constexpr size_t kEntriesOfACommit = 4096;

class DescriptorSink : public BackupSink {
 public:
  explicit DescriptorSink(int fd) : fd_(fd) {}
  Status write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written =
          uninterrupted([&] { return ::write(fd_, bytes.data(), bytes.size()); });
      if (written < 0) return call_failed("writing the copy", errno);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return {};
  }

 private:
  int fd_;
};

// The target is to be new, or empty.
int make_room(const char* target, unsigned flags) {
  struct stat there{};
  if (stat(target, &there) != 0) return errno == ENOENT ? MDBX_SUCCESS : errno;
  bool empty = there.st_size == 0;
  if (S_ISDIR(there.st_mode)) {
    std::vector<std::string> names;
    if (const int code = list_directory(target, &names); code != 0) return code;
    empty = names.empty();
  }
  if (empty) return MDBX_SUCCESS;
#if HAWTHORN_MDBX_API >= 14
  if (flags & MDBX_CP_OVERWRITE) return to_code(Db::destroy(target));
#endif
  static_cast<void>(flags);
  return EEXIST;
}

Status copy_tree(MDBX_txn* txn, Db& target, const std::string& name) {
  Result<Tree> from = txn->find_tree(name);
  if (!from.ok()) return from.status();
  Result<TreeOptions> options = txn->db->tree_options(*from);
  if (!options.ok()) return options.status();
  Result<Tree> to = target.tree(name, *options);
  if (!to.ok()) return to.status();
  Cursor cursor = txn->open_cursor(*from);
  std::vector<Entry> entries(kEntriesOfACommit);
  bool more = cursor.first();
  while (more) {
    WriteBatch batch;
    for (size_t i = 0; more && i < kEntriesOfACommit; ++i) {
      batch.put(*to, cursor.key(), cursor.value());
      more = cursor.next();
    }
    if (Status s = target.write(batch, Durability::kNone); !s.ok()) return s;
  }
  return cursor.status();
}

int finish(MDBX_txn* txn, unsigned flags, int code) {
  if (flags & MDBX_CP_DISPOSE_TXN) txn->abort();
  return code;
}

}  // namespace

int newest_txnid(Db& db, uint64_t* txnid) {
  *txnid = 0;
  Result<Tree> catalog = db.find_tree(kCatalog);
  if (!catalog.ok()) return to_code(catalog.status());
  Value bytes;
  const Status s = db.get(*catalog, kTxnIdKey, bytes);
  if (s.is_not_found()) return MDBX_SUCCESS;
  if (s.ok()) memcpy(txnid, bytes.view().data(), std::min(bytes.size(), sizeof(*txnid)));
  return to_code(s);
}

int copy_environment(MDBX_env& env, const char* target, unsigned flags) {
  if (flags & ~kCopyFlags) return MDBX_EINVAL;
  if (const int code = make_room(target, flags); code != MDBX_SUCCESS) return code;
  if (env.db != nullptr) return to_code(env.db->checkpoint(target));
  MDBX_txn moment(&env, MDBX_TXN_RDONLY, nullptr);
  const int code = moment.begin_look();
  return code == MDBX_SUCCESS ? copy_transaction(&moment, target, flags) : code;
}

int copy_environment(MDBX_env& env, int fd, unsigned flags) {
  if (flags & ~kCopyFlags) return MDBX_EINVAL;
  if (env.db == nullptr) return MDBX_ENOSYS;
  DescriptorSink sink(fd);
  const Result<BackupInfo> copied = env.db->backup_to(sink);
  return copied.ok() ? MDBX_SUCCESS : to_code(copied.status());
}

int copy_transaction(MDBX_txn* txn, const char* target, unsigned flags) {
  if (flags & ~kCopyFlags) return MDBX_EINVAL;
  if (const int code = make_room(target, flags); code != MDBX_SUCCESS) return code;
  Options options;
  options.memory_budget_bytes = kMemoryOfACopy;
  options.key_orders = {integer_order()};
  options.key_comparators = txn->env->comparators.all();
  Result<std::unique_ptr<Db>> made = Db::open(target, options);
  if (!made.ok()) return finish(txn, flags, to_code(made.status()));
  std::vector<std::string> trees;
  if (Result<std::vector<std::string>> names = txn->list_trees(); names.ok()) {
    trees = std::move(*names);
  } else {
    return finish(txn, flags, to_code(names.status()));
  }
  Status s;
  for (const std::string& name : trees) {
    if (s.ok()) s = copy_tree(txn, **made, name);
  }
  if (s.ok()) s = (*made)->close();
  return finish(txn, flags, to_code(s));
}

int copy_transaction(MDBX_txn* txn, int fd, unsigned flags) {
  if (flags & ~kCopyFlags) return MDBX_EINVAL;
  uint64_t newest = 0;
  if (txn->env->db == nullptr) return MDBX_ENOSYS;
  if (const int code = newest_txnid(*txn->env->db, &newest); code != MDBX_SUCCESS) return code;
  // A stream is of the present moment.
  if (txn->id() != newest) return finish(txn, flags, MDBX_MVCC_RETARDED);
  return finish(txn, flags, copy_environment(*txn->env, fd, flags));
}

}  // namespace hawthorn::mdbx
