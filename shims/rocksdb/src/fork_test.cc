// Children of fork while the parent's threads are at work in its databases.

#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/transaction_db.h"
#include "shims/fork_test_support.h"
#include "shims/rocksdb/src/rocksdb_test_fixture.h"
#include "testing/scaled.h"

namespace hawthorn::rocks {
namespace {

// A database of one of three kinds, which all go through the same lists.
std::unique_ptr<rocksdb::DB> open(const std::string& path, bool transactions,
                                  rocksdb::Status* status) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = size_t{4} << 20;
  rocksdb::DB* db = nullptr;
  if (transactions) {
    rocksdb::TransactionDB* made = nullptr;
    *status = rocksdb::TransactionDB::Open(options, {}, path, &made);
    db = made;
  } else {
    *status = rocksdb::DB::Open(options, path, &db);
  }
  return std::unique_ptr<rocksdb::DB>(db);
}

std::string write_and_read(rocksdb::DB& db, const std::string& key) {
  rocksdb::Status s = db.Put({}, key, std::string(300, 'v'));
  std::string value;
  const rocksdb::Snapshot* const snapshot = db.GetSnapshot();
  if (s.ok()) s = db.Get({}, key, &value);
  db.ReleaseSnapshot(snapshot);
  return s.ok() ? std::string() : s.ToString();
}

// A whole life of another database, and of its backup.
std::string live(const std::string& path, bool transactions) {
  rocksdb::Status s;
  std::unique_ptr<rocksdb::DB> db = open(path, transactions, &s);
  if (!s.ok()) return s.ToString();
  for (int i = 0; i < 50; ++i) {
    if (std::string wrong = write_and_read(*db, std::to_string(i)); !wrong.empty()) return wrong;
  }
  rocksdb::BackupEngine* backups = nullptr;
  s = rocksdb::BackupEngine::Open(rocksdb::Env::Default(),
                                  rocksdb::BackupEngineOptions(path + ".backups"), &backups);
  if (s.ok()) s = backups->PurgeOldBackups(0);
  delete backups;
  if (s.ok()) s = db->Close();
  return s.ok() ? std::string() : s.ToString();
}

class Forks : public ::testing::TestWithParam<bool> {
 protected:
  ~Forks() override { std::filesystem::remove_all(directory_); }
  const std::string directory_ = make_test_directory();
};

TEST_P(Forks, ChildrenWorkWhateverTheParentIsDoing) {
  rocksdb::Status s;
  std::unique_ptr<rocksdb::DB> db = open(directory_ + "/db", GetParam(), &s);
  ASSERT_OK(s);
  ASSERT_EQ(write_and_read(*db, "first"), "");
  const rocksdb::Snapshot* const snapshot = db->GetSnapshot();
  std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator({}));
  iterator->SeekToFirst();
  fork_in_the_middle(
      std::max<uint64_t>(10, testing::scaled(40)),
      [&](uint64_t thread, uint64_t round) {
        if (thread == 0 && round % 50 == 1) return live(directory_ + "/other", GetParam());
        return write_and_read(*db, std::to_string(thread << 32 | round % 1000));
      },
      [&](uint64_t child) -> std::string {
        const std::string own = directory_ + "/child" + std::to_string(child % 3);
        if (std::string wrong = live(own, GetParam()); !wrong.empty()) return wrong;
        if (db->Put({}, "key", "value").ok()) return "an inherited database is written";
        db->ReleaseSnapshot(snapshot);
        iterator.reset();
        if (db->Close().ok()) return "an inherited database is closed";
        db.reset();
        return live(own, GetParam());
      });
  EXPECT_TRUE(iterator->Valid());
  iterator.reset();
  db->ReleaseSnapshot(snapshot);
  EXPECT_EQ(write_and_read(*db, "last"), "");
  EXPECT_OK(db->Close());
}

INSTANTIATE_TEST_SUITE_P(Kinds, Forks, ::testing::Bool(), [](const auto& kind) {
  return kind.param ? "with_transactions" : "plain";
});

}  // namespace
}  // namespace hawthorn::rocks
