// Checkpoints: the engine's.

#include "rocksdb/utilities/checkpoint.h"

#include "shims/rocksdb/src/db_impl.h"

namespace hawthorn::rocks {

rocksdb::Status DBImpl::checkpoint(const std::string& directory, uint64_t* sequence) {
  if (rocksdb::Env::Default()->FileExists(directory).ok()) {
    return rocksdb::Status::InvalidArgument("Directory exists");
  }
  const uint64_t before = GetLatestSequenceNumber();
  if (const hawthorn::Status status = db_->checkpoint(directory); !status.ok()) {
    return told(status);
  }
  rocksdb::Status kept = keep_options(directory);
  if (!kept.ok()) {
    static_cast<void>(hawthorn::Db::destroy(directory));
    return kept;
  }
  if (sequence != nullptr) *sequence = before;
  return kept;
}

namespace {

class CheckpointImpl final : public rocksdb::Checkpoint {
 public:
  explicit CheckpointImpl(DBImpl* db) : db_(db) {}
  rocksdb::Status CreateCheckpoint(const std::string& checkpoint_dir, uint64_t,
                                   uint64_t* sequence_number_ptr) override {
    return db_->checkpoint(checkpoint_dir, sequence_number_ptr);
  }

 private:
  DBImpl* const db_;
};

}  // namespace
}  // namespace hawthorn::rocks

namespace rocksdb {

Status Checkpoint::Create(DB* db, Checkpoint** checkpoint_ptr) {
  *checkpoint_ptr = nullptr;
  using hawthorn::rocks::DBImpl;
  auto* const impl = hawthorn::rocks::OwnKind<DBImpl>::find(db->GetRootDB());
  if (impl == nullptr) return Status::NotSupported("a checkpoint of this database");
  *checkpoint_ptr = new hawthorn::rocks::CheckpointImpl(impl);
  return Status::OK();
}

}  // namespace rocksdb
