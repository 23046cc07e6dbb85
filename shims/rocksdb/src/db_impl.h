#pragma once
// RocksDB's database over the engine's.
//
//   Put, Get, ...  ──> Family ──> hawthorn::Tree
//   Write          ──> records ──> hawthorn::WriteBatch of the thread ──> one commit
//                          └─ what a batch of the engine cannot do ──> an exclusive transaction
//
// Not here: rows of families (families.h), mapping of options (option_map.h).
// Used by programs through rocksdb::DB. Threads: as rocksdb::DB says.
//
// 1. `admin_` is held while families are made, dropped or erased, and options set;
// `families_mutex_` is taken behind
//    it, and alone by who looks for a family by its id.
// 2. Before the engine's Db goes, all families, snapshots and the default handle have gone.

#include <hawthorn/db.h>

#include <atomic>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/db.h"
#include "shims/held_directory.h"
#include "shims/of_process.h"
#include "shims/rocksdb/src/batch_format.h"
#include "shims/rocksdb/src/engine_events.h"
#include "shims/rocksdb/src/engine_tickers.h"
#include "shims/rocksdb/src/families.h"
#include "shims/rocksdb/src/filters.h"
#include "shims/rocksdb/src/own_kind.h"
#include "shims/rocksdb/src/slots.h"
#include "shims/rocksdb/src/snapshots.h"
#include "shims/rocksdb/src/subscribers.h"

namespace hawthorn::rocks {

class EntriesReader;
class Updates;
class WalKeeper;

class HandleImpl final : public rocksdb::ColumnFamilyHandle {
 public:
  using Listeners = std::vector<std::shared_ptr<rocksdb::EventListener>>;
  // Listeners are told when it goes; without them it is of the shim's own.
  explicit HandleImpl(std::shared_ptr<Family> family, const Listeners* listeners = nullptr)
      : family_(std::move(family)), listeners_(listeners) {
    OwnKind<HandleImpl>::note(this);
  }
  ~HandleImpl() override;
  const std::string& GetName() const override { return family_->name; }
  uint32_t GetID() const override { return family_->id; }
  rocksdb::Status GetDescriptor(rocksdb::ColumnFamilyDescriptor* desc) override;
  const rocksdb::Comparator* GetComparator() const override { return family_->options.comparator; }

  const std::shared_ptr<Family>& family() const { return family_; }

 private:
  const std::shared_ptr<Family> family_;
  const Listeners* const listeners_;
};

// Of an operand and its key: the engine's limit of 64 KB, less the size of the key, which keyed
// operands carry, too. Longer ones are folded at once.
inline constexpr size_t kOperandBytesMax = (size_t{64} << 10) - 3;

rocksdb::Status check_options(const rocksdb::WriteOptions& options);
hawthorn::Durability durability_of(const rocksdb::WriteOptions& options);

// Of what is on disk, too.
uint64_t data_in_memory(const hawthorn::Stats& stats);

// Columns of several families, by MultiGetEntity of these families.
rocksdb::Status get_entity_groups(rocksdb::DB& db, const rocksdb::ReadOptions& options,
                                  const rocksdb::Slice& key,
                                  rocksdb::PinnableAttributeGroups* result);
void multi_get_entity_groups(rocksdb::DB& db, const rocksdb::ReadOptions& options, size_t num_keys,
                             const rocksdb::Slice* keys, rocksdb::PinnableAttributeGroups* results);

class DBImpl final : public rocksdb::DB, public Subscriber, public LeftToItsProcess<DBImpl> {
 public:
  using rocksdb::DB::CompactRange;
  using rocksdb::DB::Delete;
  using rocksdb::DB::DeleteRange;
  using rocksdb::DB::Flush;
  using rocksdb::DB::Get;
  using rocksdb::DB::GetApproximateSizes;
  using rocksdb::DB::GetEntity;
  using rocksdb::DB::GetIntProperty;
  using rocksdb::DB::GetMapProperty;
  using rocksdb::DB::GetOptions;
  using rocksdb::DB::GetProperty;
  using rocksdb::DB::IngestExternalFile;
  using rocksdb::DB::KeyMayExist;
  using rocksdb::DB::Level0StopWriteTrigger;
  using rocksdb::DB::Merge;
  using rocksdb::DB::MultiGet;
  using rocksdb::DB::MultiGetEntity;
  using rocksdb::DB::NewIterator;
  using rocksdb::DB::NumberLevels;
  using rocksdb::DB::Put;
  using rocksdb::DB::PutEntity;
  using rocksdb::DB::SetOptions;
  using rocksdb::DB::SingleDelete;
  using rocksdb::DB::VerifyChecksum;
  using Descriptors = std::vector<rocksdb::ColumnFamilyDescriptor>;
  using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;
  using Handle = rocksdb::ColumnFamilyHandle;

  // lock_timeout_ms: how long writes wait for rows; without it, as the engine does.
  static rocksdb::Status open(const rocksdb::DBOptions& options, const std::string& name,
                              const Descriptors& families, Handles* handles, bool read_only,
                              std::unique_ptr<rocksdb::DB>* db,
                              std::optional<uint64_t> lock_timeout_ms = std::nullopt);
  // Over a view of a follower, which was told of these slots.
  static rocksdb::Status open_view(const rocksdb::DBOptions& options, const std::string& name,
                                   const Descriptors& families, const Slots& slots,
                                   std::shared_ptr<hawthorn::Db> view, Handles* handles,
                                   std::unique_ptr<DBImpl>* db);
  // Whether these options, families and directory can be opened at all.
  static rocksdb::Status check_open(const rocksdb::DBOptions& options, const std::string& name,
                                    const Descriptors& families);
  // Of a database that this process has open; nothing where it has not.
  static std::optional<rocksdb::Status> list_families_of_open(const std::string& name,
                                                              std::vector<std::string>* names);
  ~DBImpl() override;

  rocksdb::Status Close() override;

  // db_families.cc
  rocksdb::Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                     const std::string& name, Handle** handle) override;
  rocksdb::Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                       const std::vector<std::string>& names,
                                       Handles* handles) override;
  rocksdb::Status CreateColumnFamilies(const Descriptors& families, Handles* handles) override;
  rocksdb::Status DropColumnFamily(Handle* handle) override;
  rocksdb::Status DropColumnFamilies(const Handles& handles) override;
  rocksdb::Status DestroyColumnFamilyHandle(Handle* handle) override;
  rocksdb::ColumnFamilyHandle* DefaultColumnFamily() const override {
    return default_handle_.get();
  }

  // db_write.cc
  rocksdb::Status Put(const rocksdb::WriteOptions& options, Handle* handle,
                      const rocksdb::Slice& key, const rocksdb::Slice& value) override;
  rocksdb::Status PutEntity(const rocksdb::WriteOptions& options, Handle* handle,
                            const rocksdb::Slice& key,
                            const rocksdb::WideColumns& columns) override;
  rocksdb::Status PutEntity(const rocksdb::WriteOptions& options, const rocksdb::Slice& key,
                            const rocksdb::AttributeGroups& groups) override;
  rocksdb::Status Delete(const rocksdb::WriteOptions& options, Handle* handle,
                         const rocksdb::Slice& key) override;
  rocksdb::Status SingleDelete(const rocksdb::WriteOptions& options, Handle* handle,
                               const rocksdb::Slice& key) override;
  rocksdb::Status DeleteRange(const rocksdb::WriteOptions& options, Handle* handle,
                              const rocksdb::Slice& begin_key,
                              const rocksdb::Slice& end_key) override;
  rocksdb::Status Merge(const rocksdb::WriteOptions& options, Handle* handle,
                        const rocksdb::Slice& key, const rocksdb::Slice& value) override;
  rocksdb::Status Write(const rocksdb::WriteOptions& options,
                        rocksdb::WriteBatch* updates) override;

  // db_read.cc
  rocksdb::Status Get(const rocksdb::ReadOptions& options, Handle* handle,
                      const rocksdb::Slice& key, rocksdb::PinnableSlice* value,
                      std::string* timestamp) override;
  void MultiGet(const rocksdb::ReadOptions& options, size_t num_keys, Handle** handles,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values, std::string* timestamps,
                rocksdb::Status* statuses, bool sorted_input) override;
  void MultiGet(const rocksdb::ReadOptions& options, Handle* handle, size_t num_keys,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                rocksdb::Status* statuses, bool sorted_input) override;
  rocksdb::Status GetEntity(const rocksdb::ReadOptions& options, Handle* handle,
                            const rocksdb::Slice& key,
                            rocksdb::PinnableWideColumns* columns) override;
  rocksdb::Status GetEntity(const rocksdb::ReadOptions& options, const rocksdb::Slice& key,
                            rocksdb::PinnableAttributeGroups* result) override;
  void MultiGetEntity(const rocksdb::ReadOptions& options, Handle* handle, size_t num_keys,
                      const rocksdb::Slice* keys, rocksdb::PinnableWideColumns* results,
                      rocksdb::Status* statuses, bool sorted_input) override;
  void MultiGetEntity(const rocksdb::ReadOptions& options, size_t num_keys, Handle** handles,
                      const rocksdb::Slice* keys, rocksdb::PinnableWideColumns* results,
                      rocksdb::Status* statuses, bool sorted_input) override;
  void MultiGetEntity(const rocksdb::ReadOptions& options, size_t num_keys,
                      const rocksdb::Slice* keys,
                      rocksdb::PinnableAttributeGroups* results) override;
  bool KeyMayExist(const rocksdb::ReadOptions& options, Handle* handle, const rocksdb::Slice& key,
                   std::string* value, bool* value_found) override;
  rocksdb::Iterator* NewIterator(const rocksdb::ReadOptions& options, Handle* handle) override;
  rocksdb::Status NewIterators(const rocksdb::ReadOptions& options, const Handles& handles,
                               std::vector<rocksdb::Iterator*>* iterators) override;
  const rocksdb::Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const rocksdb::Snapshot* snapshot) override;
  rocksdb::SequenceNumber GetLatestSequenceNumber() const override;

  // updates.cc
  rocksdb::Status GetUpdatesSince(
      rocksdb::SequenceNumber sequence, std::unique_ptr<rocksdb::TransactionLogIterator>* iter,
      const rocksdb::TransactionLogIterator::ReadOptions& options) override;

  // db_properties.cc
  bool GetProperty(Handle* handle, const rocksdb::Slice& property, std::string* value) override;
  bool GetMapProperty(Handle* handle, const rocksdb::Slice& property,
                      std::map<std::string, std::string>* value) override;
  bool GetIntProperty(Handle* handle, const rocksdb::Slice& property, uint64_t* value) override;
  bool GetAggregatedIntProperty(const rocksdb::Slice& property, uint64_t* value) override;
  rocksdb::Status ResetStats() override;

  // db_admin.cc
  rocksdb::Status GetApproximateSizes(const rocksdb::SizeApproximationOptions& options,
                                      Handle* handle, const rocksdb::Range* ranges, int n,
                                      uint64_t* sizes) override;
  rocksdb::Status CompactRange(const rocksdb::CompactRangeOptions& options, Handle* handle,
                               const rocksdb::Slice* begin, const rocksdb::Slice* end) override;
  void DisableManualCompaction() override { manual_compaction_off_.fetch_add(1); }
  void EnableManualCompaction() override { manual_compaction_off_.fetch_sub(1); }
  rocksdb::Status WaitForCompact(const rocksdb::WaitForCompactOptions& options) override;
  const std::string& GetName() const override { return name_; }
  rocksdb::Status Flush(const rocksdb::FlushOptions& options, Handle* handle) override;
  rocksdb::Status Flush(const rocksdb::FlushOptions& options, const Handles& handles) override;
  rocksdb::Status FlushWAL(bool sync) override;
  rocksdb::Status SyncWAL() override;
  rocksdb::Status VerifyChecksum(const rocksdb::ReadOptions& read_options) override;
  rocksdb::Status GetDbIdentity(std::string& identity) const override;
  rocksdb::Status GetDbSessionId(std::string& session_id) const override;

  // db_options.cc
  int NumberLevels(Handle* handle) override;
  int Level0StopWriteTrigger(Handle* handle) override;
  rocksdb::Options GetOptions(Handle* handle) const override;
  rocksdb::DBOptions GetDBOptions() const override;
  rocksdb::Status SetOptions(Handle* handle,
                             const std::unordered_map<std::string, std::string>& changes) override;
  rocksdb::Status SetDBOptions(
      const std::unordered_map<std::string, std::string>& changes) override;

  // db_ingest.cc
  rocksdb::Status IngestExternalFile(Handle* handle, const std::vector<std::string>& files,
                                     const rocksdb::IngestExternalFileOptions& options) override;
  rocksdb::Status IngestExternalFiles(
      const std::vector<rocksdb::IngestExternalFileArg>& args) override;

  // For transactions over it.
  hawthorn::Db& engine() { return *db_; }
  // Null where nobody counts.
  rocksdb::Statistics* statistics() const { return options_.statistics.get(); }
  uint64_t lock_timeout_ms() const { return lock_timeout_ms_; }
  // Null where there is none.
  std::shared_ptr<Family> find_family(uint32_t id) const;
  std::vector<std::shared_ptr<Family>> families() const;
  // As to_status, but what a database that is opened read-only refuses is NotSupported.
  rocksdb::Status told(const hawthorn::Status& status) const;
  // All operations of a batch, which are those of this database's families.
  rocksdb::Status apply_all(hawthorn::Transaction& in, const rocksdb::WriteOptions& options,
                            const std::string& rep);
  // db_options.cc: what a file of options has now.
  rocksdb::Status options_text(std::string* text) const;
  // db_families.cc: before the first entity of a family.
  rocksdb::Status mark_entities(Family& family);
  // updates.h: in a transaction that is to be prepared, or may have been logged in parts.
  hawthorn::Status note_prepared(hawthorn::Transaction& in, uint32_t operations);
  // checkpoint.cc: into a directory that is not there; all up to *sequence is in it.
  rocksdb::Status checkpoint(const std::string& directory, uint64_t* sequence);

  void memory_changed() override;
  void rate_changed() override;
  void figures_asked() override;
  size_t memory_used() override;
  size_t memory_pinned() override;

 private:
  struct LetGo {
    DBImpl* db;
    void operator()(Family* family) const;
  };

  DBImpl(const rocksdb::DBOptions& options, std::string name, bool read_only);

  static const std::shared_ptr<Family>& family_of(const Handle* handle) {
    return static_cast<const HandleImpl*>(handle)->family();
  }

  // db_open.cc
  void let_go_of_engine();
  rocksdb::Status open_engine(const Descriptors& families);
  rocksdb::Status open_families(const Descriptors& families, Handles* handles);
  void start_filter(const Family& family);
  rocksdb::Status open_family(const rocksdb::ColumnFamilyDescriptor& descriptor, FamilyRow row,
                              std::shared_ptr<Family>* family);
  rocksdb::Status bind_merges(Family& family);
  rocksdb::Status set_compression(Family& family, hawthorn::Compression wanted);
  rocksdb::Status write_row(const Family& family);
  // To caches and limits of the options; also of families that have come since.
  void subscribe();
  void unsubscribe();

  // db_families.cc, under admin_
  rocksdb::Status choose_order(const rocksdb::Comparator& comparator, std::string* order);
  rocksdb::Status choose_merge_slot(uint32_t* slot);
  // For the filter of a family that comes later.
  rocksdb::Status choose_filter_slot(const FamilyRows& rows,
                                     const rocksdb::ColumnFamilyDescriptor& descriptor,
                                     FamilyRow* row);
  rocksdb::Status create_family(const rocksdb::ColumnFamilyDescriptor& descriptor,
                                std::shared_ptr<Family>* family);
  // These take admin_.
  // After a failed creation nothing of it stays.
  void uncreate_family(const std::string& name, const FamilyRow& row) noexcept;
  void forget(const std::shared_ptr<Family>& family) noexcept;
  rocksdb::Status create_and_open(const rocksdb::ColumnFamilyDescriptor& descriptor,
                                  Handle** handle);
  rocksdb::Status drop(Handle* handle);
  rocksdb::Status keep_options_now();
  // Under families_mutex_. Lifetime: while that is held.
  std::vector<const rocksdb::ColumnFamilyOptions*> family_options() const;
  void family_gone(uint32_t id);

  // db_options.cc, under admin_
  rocksdb::Status set_budget_with(const Family& changed,
                                  const rocksdb::ColumnFamilyOptions& options);
  // As they are now, in a file of the directory (options_file.h).
  rocksdb::Status keep_options(const std::string& directory) const;

  // db_write.cc
  // Whether the columns are some, and the family may have entities.
  rocksdb::Status expect_entity(const BatchRecord& record, Family& family);
  rocksdb::Status add_record(const BatchRecord& record, Family& family, hawthorn::WriteBatch& batch,
                             bool* by_transaction);
  // An exclusive transaction. Writes have no limit of time, so it waits for others as good as
  // without one.
  hawthorn::Result<hawthorn::Transaction> begin_alone() {
    return db_->begin({.mode = hawthorn::TxnMode::kExclusive, .lock_timeout_ms = 60'000});
  }
  rocksdb::Status write_by_transaction(const rocksdb::WriteOptions& options,
                                       const std::string& rep);
  hawthorn::Status apply(hawthorn::Transaction& in, const BatchRecord& record,
                         const Family& family);
  hawthorn::Status merge_now(hawthorn::Transaction& in, const BatchRecord& record,
                             const Family& family);
  hawthorn::Status commit(const hawthorn::WriteBatch& batch, hawthorn::Durability durability);

  // db_ingest.cc
  struct FilesOfFamily;
  rocksdb::Status open_files(const rocksdb::IngestExternalFileArg& arg, FilesOfFamily* files);
  void tell_of_ingest(const FilesOfFamily& files);
  rocksdb::Status ingest_puts(FilesOfFamily& files);
  rocksdb::Status ingest_by_transaction(std::vector<FilesOfFamily>& all);
  rocksdb::Status apply_file(hawthorn::Transaction& in, EntriesReader& file, const Family& family,
                             bool ranges);

  // db_read.cc. Values are PinnableSlices, or PinnableWideColumns.
  hawthorn::Status read(const Family& family, std::string_view key,
                        const hawthorn::Snapshot* snapshot, bool from_memory,
                        hawthorn::Value& value);
  rocksdb::Status get(const rocksdb::ReadOptions& options, Handle* handle,
                      const rocksdb::Slice& key, bool from_memory, rocksdb::PinnableSlice* value);
  rocksdb::Iterator* new_iterator(const std::shared_ptr<Family>& family,
                                  const rocksdb::ReadOptions& options,
                                  const rocksdb::Snapshot* snapshot);
  template <typename Value>
  hawthorn::Status multi_get(const Family& family, const hawthorn::Snapshot* snapshot,
                             const rocksdb::ReadOptions& options, size_t count,
                             const size_t* places, const rocksdb::Slice* keys, Value* values,
                             rocksdb::Status* statuses, uint64_t* bytes);
  template <typename Value>
  void multi_get_of_families(const rocksdb::ReadOptions& options, size_t num_keys, Handle** handles,
                             const rocksdb::Slice* keys, Value* values, rocksdb::Status* statuses);

  // db_properties.cc
  std::optional<uint64_t> int_property(const Family& family, std::string_view name);
  std::optional<std::string> text_property(const Family& family, std::string_view name);
  std::optional<std::map<std::string, std::string>> map_property(const Family& family,
                                                                 std::string_view name);
  static std::optional<std::string> level_property(const Family& family,
                                                   const hawthorn::TreeStats& tree,
                                                   std::string_view name);
  std::string database_text(const hawthorn::Stats& stats);
  // db_admin.cc
  size_t budget() const;

  // What SetDBOptions changes of it is guarded by families_mutex_.
  rocksdb::DBOptions options_;
  const std::string name_;   // as the program gave it
  HeldDirectory directory_;  // once it is open
  const std::string session_id_;
  const bool read_only_;
  uint64_t lock_timeout_ms_ = hawthorn::Options().lock_timeout_ms;
  std::string registered_as_;  // in the list of open databases
  Slots slots_;
  EngineTickers tickers_;
  const int64_t opened_ = std::time(nullptr);
  std::mutex reset_mutex_;
  hawthorn::Stats reset_;                 // of the last ResetStats, guarded by it
  std::shared_ptr<EngineEvents> events_;  // null where nobody listens
  std::shared_ptr<WalKeeper> wal_keeper_;
  std::unique_ptr<Updates> updates_;
  std::atomic<uint64_t> prepared_notes_{0};
  std::shared_ptr<hawthorn::Db> db_;

  std::mutex admin_;
  std::mutex budget_mutex_;  // held while the budget is changed; families_mutex_ is taken behind it
  mutable std::shared_mutex families_mutex_;
  std::map<std::string, std::shared_ptr<FamilyFilter>> filters_;  // by family; under admin_
  std::vector<std::shared_ptr<FilterSlot>> filter_slots_;         // none without filters
  std::vector<std::shared_ptr<Family>> families_;  // those that are there, guarded by it
  std::unique_ptr<HandleImpl> default_handle_;
  std::shared_ptr<Family> default_family_;
  SnapshotList snapshots_;
  std::atomic<int> manual_compaction_off_{0};
  bool subscribed_ = false;
  std::vector<std::shared_ptr<rocksdb::Cache>> caches_;  // that it has subscribed to
};

}  // namespace hawthorn::rocks
