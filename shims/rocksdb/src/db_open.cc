// Opening: the engine, then what is kept of families, then each of them.

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "rocksdb/table.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/files.h"
#include "shims/rocksdb/src/filters.h"
#include "shims/rocksdb/src/measure.h"
#include "shims/rocksdb/src/option_map.h"
#include "shims/rocksdb/src/resources.h"
#include "shims/rocksdb/src/statistics_impl.h"
#include "shims/rocksdb/src/updates.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

// Databases that this process has open, by their directory.
struct OpenDatabases {
  std::mutex mutex;
  std::map<std::string, hawthorn::Db*> by_path;
};
OpenDatabases& open_databases() { return OfProcess<OpenDatabases>::get(); }

std::string random_id() {
  static constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr size_t kIdBytes = 20;
  std::random_device random;
  std::string id;
  for (size_t i = 0; i < kIdBytes; ++i) id += kDigits[random() % (sizeof(kDigits) - 1)];
  return id;
}

S open_error(const hawthorn::Status& status, const std::string& name, bool read_only, bool create) {
  if (status.is(StatusCode::kBusy))
    return S::IOError("lock " + name + "/LOCK", slice(status.message()));
  if (status.is(StatusCode::kNotFound)) {
    if (read_only) return S::NotFound(name, "does not exist");
    if (create) return S::IOError(name, slice(status.message()));  // the directory above is missing
    return S::InvalidArgument(name, "does not exist (create_if_missing is false)");
  }
  return to_status(status);
}

bool is_of_rocksdb(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path + "/CURRENT", error);
}

std::vector<const rocksdb::ColumnFamilyOptions*> options_of(
    const DBImpl::Descriptors& descriptors) {
  std::vector<const rocksdb::ColumnFamilyOptions*> all;
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : descriptors) {
    all.push_back(&descriptor.options);
  }
  return all;
}

}  // namespace

DBImpl::DBImpl(const rocksdb::DBOptions& options, std::string name, bool read_only)
    : options_(options),
      name_(std::move(name)),
      session_id_(random_id()),
      read_only_(read_only),
      wal_keeper_(std::make_shared<WalKeeper>(options.WAL_ttl_seconds, options.WAL_size_limit_MB)) {
  OwnKind<DBImpl>::note(this);
}

DBImpl::~DBImpl() {
  snapshots_.let_go_of_all();
  // What cannot be flushed stays in the log.
  if (!Close().ok() && db_ != nullptr) let_go_of_engine();
}

rocksdb::Status DBImpl::Close() {
  if (db_ == nullptr) return S::OK();
  if (inherited()) return told(db_->close());
  if (snapshots_.size() > 0) return S::Aborted("Cannot close DB with unreleased snapshot.");
  figures_asked();
  // Nobody else may call the engine while it closes.
  unsubscribe();
  hawthorn::Status status;
  if (updates_ != nullptr) updates_->let_go_of_readers();
  if (!read_only_ && !GetDBOptions().avoid_flush_during_shutdown) status = db_->close();
  if (status.is(StatusCode::kBusy)) {
    subscribe();  // it stays open
    return S::Busy(slice(status.message()));
  }
  let_go_of_engine();
  return told(status);
}

void DBImpl::let_go_of_engine() {
  if (events_ != nullptr) events_->begin_to_close();
  unsubscribe();
  if (updates_ != nullptr) updates_->let_go_of_readers();
  {
    OpenDatabases& databases = open_databases();
    const std::lock_guard lock(databases.mutex);
    databases.by_path.erase(registered_as_);
  }
  default_handle_.reset();
  default_family_.reset();
  std::vector<std::shared_ptr<Family>> gone;
  {
    const std::unique_lock lock(families_mutex_);
    gone.swap(families_);
  }
  gone.clear();
  // It brings what is still to be told, of no family any more: errors are.
  db_.reset();
  if (events_ != nullptr) events_->stop();
}

rocksdb::Status DBImpl::told(const hawthorn::Status& status) const {
  if (status.ok()) return S::OK();
  if (read_only_ && status.is(StatusCode::kReadOnly)) {
    return S::NotSupported("Not supported operation in read only mode.");
  }
  return to_status(status);
}

rocksdb::Status DBImpl::check_open(const rocksdb::DBOptions& options, const std::string& name,
                                   const Descriptors& families) {
  if (S s = check_options(options); !s.ok()) return s;
  bool has_default = false;
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    if (S s = check_options(family.options); !s.ok()) return s;
    has_default = has_default || family.name == rocksdb::kDefaultColumnFamilyName;
  }
  if (!has_default) return S::InvalidArgument("Default column family not specified");
  if (is_of_rocksdb(name)) {
    return S::NotSupported(name,
                           "was written by RocksDB, whose files are not read; `hawthorn "
                           "import-rocksdb` makes a database of them, in another directory");
  }
  return S::OK();
}

rocksdb::Status DBImpl::open_view(const rocksdb::DBOptions& options, const std::string& name,
                                  const Descriptors& families, const Slots& slots,
                                  std::shared_ptr<hawthorn::Db> view, Handles* handles,
                                  std::unique_ptr<DBImpl>* db) {
  std::unique_ptr<DBImpl> impl(new DBImpl(options, name, true));
  impl->slots_ = slots;
  impl->db_ = std::move(view);
  S s = impl->open_families(families, handles);
  if (!s.ok()) return s;
  impl->subscribe();
  *db = std::move(impl);
  return s;
}

rocksdb::Status DBImpl::open(const rocksdb::DBOptions& options, const std::string& name,
                             const Descriptors& families, Handles* handles, bool read_only,
                             std::unique_ptr<rocksdb::DB>* db,
                             std::optional<uint64_t> lock_timeout_ms) {
  db->reset();
  if (handles != nullptr) handles->clear();
  if (S s = check_open(options, name, families); !s.ok()) return s;
  std::unique_ptr<DBImpl> impl(new DBImpl(options, name, read_only));
  if (lock_timeout_ms.has_value()) impl->lock_timeout_ms_ = *lock_timeout_ms;
  S s = impl->open_engine(families);
  if (s.ok()) s = impl->open_families(families, handles);
  if (impl->events_ != nullptr) s.ok() ? impl->events_->start(impl.get()) : impl->events_->stop();
  if (!s.ok()) return s;
  impl->subscribe();
  {
    impl->registered_as_ = canonical_path(name);
    OpenDatabases& databases = open_databases();
    const std::lock_guard lock(databases.mutex);
    databases.by_path[impl->registered_as_] = impl->db_.get();
  }
  *db = std::move(impl);
  return S::OK();
}

std::optional<rocksdb::Status> DBImpl::list_families_of_open(const std::string& name,
                                                             std::vector<std::string>* names) {
  OpenDatabases& databases = open_databases();
  const std::lock_guard lock(databases.mutex);
  const auto found = databases.by_path.find(canonical_path(name));
  if (found == databases.by_path.end()) return std::nullopt;
  const hawthorn::Result<FamilyRows> rows = FamilyRows::read(*found->second);
  if (!rows.ok()) return to_status(rows.status());
  *names = rows->names_by_id();
  return S::OK();
}

rocksdb::Status DBImpl::open_engine(const Descriptors& families) {
  hawthorn::Options engine = engine_options(options_, read_only_);
  engine.memory_budget_bytes = memory_budget(options_, options_of(families));
  engine.lock_timeout_ms = lock_timeout_ms_;
  slots_.tell(engine);
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    if (!has_filter(family.options)) continue;
    filters_[family.name] = engine_filter(family.options, statistics());
    engine.flush_filters[tree_name(family.name, {})] = filters_[family.name];
  }
  while (!filters_.empty() && filter_slots_.size() < FilterSlot::kSlots) {
    const auto slot = std::make_shared<FilterSlot>();
    engine.flush_filters[filtered_tree_name(static_cast<uint32_t>(filter_slots_.size()))] = slot;
    filter_slots_.push_back(slot);
  }
  if (EngineEvents::wanted(options_)) {
    events_ = std::make_shared<EngineEvents>(options_);
    engine.listeners.push_back(events_);
  }
  const auto listener = std::make_shared<WalListener>(wal_keeper_);
  if (!wal_keeper_->on_demand() && !read_only_) engine.listeners.push_back(listener);
  hawthorn::Result<std::unique_ptr<hawthorn::Db>> opened = hawthorn::Db::open(name_, engine);
  if (!opened.ok()) return open_error(opened.status(), name_, read_only_, engine.create_if_missing);
  db_ = std::move(opened).value();
  directory_ = HeldDirectory(name_);
  updates_ = std::make_unique<Updates>(db_.get(), wal_keeper_);
  listener->start(db_.get());
  return S::OK();
}

rocksdb::Status DBImpl::open_families(const Descriptors& descriptors, Handles* handles) {
  hawthorn::Result<FamilyRows> rows = FamilyRows::read(*db_);
  if (!rows.ok() && rows.status().is_not_found()) {
    const hawthorn::Result<std::vector<std::string>> trees = db_->list_trees();
    if (!trees.ok()) return told(trees.status());
    if (read_only_ || !trees->empty()) {
      return S::InvalidArgument(name_, "has no column families: it is not a database of RocksDB's");
    }
    const auto given = std::find_if(descriptors.begin(), descriptors.end(), [](const auto& d) {
      return d.name == rocksdb::kDefaultColumnFamilyName;
    });
    FamilyRow row;
    row.comparator = given->options.comparator->Name();
    if (S s = choose_order(*given->options.comparator, &row.order); !s.ok()) return s;
    if (hawthorn::Status s = make_rows(*db_, row); !s.ok()) return told(s);
    rows = FamilyRows::read(*db_);
  }
  if (!rows.ok()) return told(rows.status());
  if (!read_only_) {
    if (S s = updates_->start(); !s.ok()) return s;
    for (const FamilyRow& row : rows->dropped()) {
      // What a prepared transaction has written to stays until it has ended, and the next open.
      const hawthorn::Status s = erase_dropped(*db_, row.id);
      if (!s.ok() && !s.is(StatusCode::kBusy)) return told(s);
    }
    std::string left_out;
    for (const std::string& name : rows->names_by_id()) {
      const bool named = std::any_of(descriptors.begin(), descriptors.end(),
                                     [&name](const auto& d) { return d.name == name; });
      if (!named) left_out += (left_out.empty() ? "" : ", ") + name;
    }
    if (!left_out.empty()) return S::InvalidArgument("Column families not opened: " + left_out);
  }
  std::vector<std::shared_ptr<Family>> opened;
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : descriptors) {
    std::shared_ptr<Family> family;
    const auto row = rows->families().find(descriptor.name);
    S s;
    if (row != rows->families().end()) {
      s = open_family(descriptor, row->second, &family);
      if (s.ok()) {
        const std::unique_lock lock(families_mutex_);
        families_.push_back(family);
      }
    } else if (options_.create_missing_column_families && !read_only_) {
      s = create_family(descriptor, &family);
    } else {
      s = S::InvalidArgument("Column family not found", descriptor.name);
    }
    if (!s.ok()) return s;
    opened.push_back(family);
    if (family->id == 0) default_family_ = family;
  }
  default_handle_ = std::make_unique<HandleImpl>(default_family_, &options_.listeners);
  if (!read_only_) {
    if (S s = keep_options(directory_.path()); !s.ok()) return s;
  }
  if (handles == nullptr) return S::OK();
  for (std::shared_ptr<Family>& family : opened) {
    handles->push_back(new HandleImpl(std::move(family), &options_.listeners));
  }
  return S::OK();
}

// Where the last who knows a family lets go of it, a dropped one is erased.
void DBImpl::LetGo::operator()(Family* family) const {
  const bool erase = family->dropped;
  const uint32_t id = family->id;
  delete family;
  if (erase) db->family_gone(id);
}

rocksdb::Status DBImpl::open_family(const rocksdb::ColumnFamilyDescriptor& descriptor,
                                    FamilyRow row, std::shared_ptr<Family>* family) {
  const rocksdb::Comparator& comparator = *descriptor.options.comparator;
  if (row.comparator != comparator.Name()) {
    return S::InvalidArgument(comparator.Name(),
                              "does not match existing comparator " + row.comparator);
  }
  const hawthorn::Result<hawthorn::Tree> tree = db_->find_tree(tree_name(descriptor.name, row));
  if (!tree.ok()) return told(tree.status());
  for (const auto& slot : slots_.orders) {
    if (slot->name() == row.order) slot->bind(&comparator);
  }
  std::shared_ptr<Family> made(new Family, LetGo{this});
  made->id = row.id;
  made->name = descriptor.name;
  made->tree = *tree;
  made->options = descriptor.options;
  made->row = std::move(row);
  made->bytewise = made->row.order.empty();
  std::shared_ptr<EntityMark>& mark = (*slots_.marks)[made->id];
  if (mark == nullptr) mark = std::make_shared<EntityMark>();
  made->mark = mark;
  if (!made->row.mark.empty() && mark->get() == nullptr) mark->set(made->row.mark);
  if (S s = bind_merges(*made); !s.ok()) return s;
  if (S s = set_compression(*made, compression_of(made->options)); !s.ok()) return s;
  start_filter(*made);
  *family = std::move(made);
  return S::OK();
}

void DBImpl::start_filter(const Family& family) {
  const auto filter = filters_.find(family.name);
  if (filter == filters_.end() || !has_filter(family.options)) return;
  filter->second->start(family.mark);
  const std::optional<uint32_t> slot = family.row.filter_slot;
  if (slot && *slot < filter_slots_.size()) filter_slots_[*slot]->bind(filter->second);
}

rocksdb::Status DBImpl::write_row(const Family& family) {
  hawthorn::Result<hawthorn::Transaction> in = db_->begin(hawthorn::TxnMode::kOptimistic);
  if (!in.ok()) return told(in.status());
  hawthorn::Status status = put_family_row(*in, family.name, family.row);
  if (status.ok()) status = in->commit(hawthorn::Durability::kFull);
  return told(status);
}

rocksdb::Status DBImpl::bind_merges(Family& family) {
  const std::shared_ptr<rocksdb::MergeOperator>& with = family.options.merge_operator;
  if (with != nullptr && !family.row.merge_slot.has_value()) {
    if (read_only_) return S::OK();  // nothing was ever merged there
    uint32_t slot = 0;
    if (S s = choose_merge_slot(&slot); !s.ok()) return s;
    family.row.merge_slot = slot;
    if (S s = write_row(family); !s.ok()) return s;
  }
  family.has_slot = family.row.merge_slot.has_value();
  if (!family.has_slot) return S::OK();
  if (*family.row.merge_slot >= Slots::kMerges) {
    return S::Corruption("the row of family " + family.name + " names no merge slot");
  }
  MergeSlot& slot = *slots_.merges[*family.row.merge_slot];
  const auto fold = [mark = family.mark, logger = options_.info_log.get(), to = statistics()](
                        const rocksdb::MergeOperator& op, std::string_view key,
                        std::optional<std::string_view> stored,
                        const std::vector<rocksdb::Slice>& operands, std::string* result) {
    perf_count(&rocksdb::PerfContextBase::internal_merge_count, operands.size());
    const PerfTimer timer(&rocksdb::PerfContextBase::merge_operator_time_nanos);
    const TimedTick timed(to, rocksdb::MERGE_OPERATION_TOTAL_TIME, rocksdb::kExceptTimers);
    if (full_merge_stored(*mark, op, key, stored, operands, logger, result)) return true;
    if (to != nullptr) to->recordTick(rocksdb::NUMBER_MERGE_FAILURES);
    return false;
  };
  slot.bind(with, !family.bytewise, family.mark.get(), options_.info_log.get(), fold);
  family.merges = with.get();
  if (with == nullptr || read_only_) return S::OK();
  hawthorn::Status status = db_->set_merge_operator(family.tree, slot.name());
  if (status.is(StatusCode::kBusy)) {
    // Deleted ranges are being erased.
    status = db_->drain();
    if (status.ok()) status = db_->set_merge_operator(family.tree, slot.name());
  }
  return told(status);
}

rocksdb::Status DBImpl::set_compression(Family& family, hawthorn::Compression wanted) {
  const uint32_t before = family.row.compression;
  if (read_only_ || before == static_cast<uint32_t>(wanted)) return S::OK();
  if (hawthorn::Status s = db_->set_compression(family.tree, wanted); !s.ok()) return told(s);
  family.row.compression = static_cast<uint32_t>(wanted);
  S s = write_row(family);
  if (s.ok()) return s;
  family.row.compression = before;
  static_cast<void>(db_->set_compression(family.tree, static_cast<hawthorn::Compression>(before)));
  return s;
}

void DBImpl::subscribe() {
  std::vector<std::shared_ptr<rocksdb::Cache>> caches;
  {
    const std::shared_lock lock(families_mutex_);
    caches = caches_of(options_, family_options());
  }
  for (const std::shared_ptr<rocksdb::Cache>& cache : caches) {
    if (std::find(caches_.begin(), caches_.end(), cache) != caches_.end()) continue;
    caches_.reserve(caches_.size() + 1);  // what is subscribed to is known, to be left again
    if (CacheImpl* const impl = cache_impl(cache.get())) impl->subscribers().add(this);
    caches_.push_back(cache);
  }
  if (std::exchange(subscribed_, true)) return;
  if (RateLimiterImpl* const limiter = rate_limiter_impl(options_.rate_limiter.get())) {
    limiter->subscribers().add(this);
  }
  if (auto* const counts = OwnKind<StatisticsImpl>::find(statistics())) {
    counts->subscribers().add(this);
  }
}

void DBImpl::unsubscribe() {
  for (const std::shared_ptr<rocksdb::Cache>& cache : caches_) {
    if (CacheImpl* const impl = cache_impl(cache.get())) impl->subscribers().remove(this);
  }
  caches_.clear();
  if (!std::exchange(subscribed_, false)) return;
  if (RateLimiterImpl* const limiter = rate_limiter_impl(options_.rate_limiter.get())) {
    limiter->subscribers().remove(this);
  }
  if (auto* const counts = OwnKind<StatisticsImpl>::find(statistics())) {
    counts->subscribers().remove(this);
  }
}

}  // namespace hawthorn::rocks
