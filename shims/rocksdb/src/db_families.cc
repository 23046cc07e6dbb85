// Families that come and go while the database is open.

#include <algorithm>
#include <set>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/option_map.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

// The engine's limit of a tree's name, less "cf/" and what a dropped one may need.
constexpr size_t kNameBytesMax = 250;

// The engine is told of filters when it is opened.
S filter_comes_late() {
  return S::NotSupported("a compaction filter", "open the database with one");
}

}  // namespace

HandleImpl::~HandleImpl() {
  if (listeners_ == nullptr) return;
  for (const auto& listener : *listeners_) listener->OnColumnFamilyHandleDeletionStarted(this);
}

rocksdb::Status HandleImpl::GetDescriptor(rocksdb::ColumnFamilyDescriptor* desc) {
  *desc = rocksdb::ColumnFamilyDescriptor(family_->name, family_->options_now());
  return S::OK();
}

std::shared_ptr<Family> DBImpl::find_family(uint32_t id) const {
  const std::shared_lock lock(families_mutex_);
  const auto found = std::find_if(families_.begin(), families_.end(),
                                  [id](const auto& family) { return family->id == id; });
  return found == families_.end() ? nullptr : *found;
}

std::vector<std::shared_ptr<Family>> DBImpl::families() const {
  const std::shared_lock lock(families_mutex_);
  return families_;
}

std::vector<const rocksdb::ColumnFamilyOptions*> DBImpl::family_options() const {
  std::vector<const rocksdb::ColumnFamilyOptions*> all;
  for (const std::shared_ptr<Family>& family : families_) all.push_back(&family->options);
  return all;
}

rocksdb::Status DBImpl::choose_order(const rocksdb::Comparator& comparator, std::string* order) {
  order->clear();
  if (comparator.Name() == std::string_view(rocksdb::BytewiseComparator()->Name())) {
    return S::OK();
  }
  if (comparator.Name() == std::string_view(rocksdb::ReverseBytewiseComparator()->Name())) {
    *order = "reverse";
    return S::OK();
  }
  std::set<std::string> taken;
  const hawthorn::Result<FamilyRows> rows = FamilyRows::read(*db_);
  if (!rows.ok() && !rows.status().is_not_found()) return told(rows.status());
  if (rows.ok()) {
    // Families with the same comparator share its slot.
    for (const auto& [name, row] : rows->families()) {
      if (row.comparator == comparator.Name()) *order = row.order;
      taken.insert(row.order);
    }
    for (const FamilyRow& row : rows->dropped()) taken.insert(row.order);
  }
  if (!order->empty()) return S::OK();
  for (const auto& slot : slots_.orders) {
    if (taken.contains(std::string(slot->name()))) continue;
    *order = slot->name();
    return S::OK();
  }
  return S::NotSupported("more than " + std::to_string(Slots::kOrders) +
                         " comparators in a database");
}

rocksdb::Status DBImpl::choose_merge_slot(uint32_t* slot) {
  const hawthorn::Result<FamilyRows> rows = FamilyRows::read(*db_);
  if (!rows.ok()) return told(rows.status());
  std::set<uint32_t> taken;
  const auto take = [&taken](const FamilyRow& row) {
    if (row.merge_slot.has_value()) taken.insert(*row.merge_slot);
  };
  for (const auto& [name, row] : rows->families()) take(row);
  for (const FamilyRow& row : rows->dropped()) take(row);
  for (uint32_t i = 0; i < Slots::kMerges; ++i) {
    if (taken.contains(i)) continue;
    *slot = i;
    return S::OK();
  }
  return S::NotSupported("more than " + std::to_string(Slots::kMerges) +
                         " column families with a merge operator");
}

rocksdb::Status DBImpl::choose_filter_slot(const FamilyRows& rows,
                                           const rocksdb::ColumnFamilyDescriptor& descriptor,
                                           FamilyRow* row) {
  std::set<uint32_t> taken;
  for (const auto& [name, other] : rows.families()) {
    if (other.filter_slot.has_value()) taken.insert(*other.filter_slot);
  }
  for (uint32_t i = 0; i < filter_slots_.size(); ++i) {
    if (taken.contains(i)) continue;
    row->filter_slot = i;
    filters_[descriptor.name] = engine_filter(descriptor.options, statistics());
    return S::OK();
  }
  return filter_comes_late();
}

// The row is made without a merge slot and without compression, which open_family adds.
rocksdb::Status DBImpl::create_family(const rocksdb::ColumnFamilyDescriptor& descriptor,
                                      std::shared_ptr<Family>* family) {
  if (read_only_) return S::NotSupported("Not supported operation in read only mode.");
  if (S s = check_options(descriptor.options); !s.ok()) return s;
  if (descriptor.name.size() > kNameBytesMax) {
    return S::InvalidArgument("the name of a column family has more than " +
                              std::to_string(kNameBytesMax) + " bytes");
  }
  const hawthorn::Result<FamilyRows> rows = FamilyRows::read(*db_);
  if (!rows.ok()) return told(rows.status());
  if (rows->families().contains(descriptor.name)) {
    return S::InvalidArgument("Column family already exists");
  }
  FamilyRow row;
  row.id = rows->next_id();
  row.comparator = descriptor.options.comparator->Name();
  if (S s = choose_order(*descriptor.options.comparator, &row.order); !s.ok()) return s;
  // While the database is opened, its filter waits for its tree's name.
  if (default_handle_ != nullptr && has_filter(descriptor.options)) {
    if (S s = choose_filter_slot(*rows, descriptor, &row); !s.ok()) return s;
  }
  hawthorn::Result<hawthorn::Transaction> in = db_->begin(hawthorn::TxnMode::kOptimistic);
  if (!in.ok()) return told(in.status());
  hawthorn::Status status = make_family(*in, descriptor.name, row);
  if (status.ok()) status = in->commit(hawthorn::Durability::kFull);
  if (!status.ok()) return told(status);
  // What is there by now goes again where it cannot be used.
  try {
    S s = open_family(descriptor, row, family);
    if (s.ok()) {
      const std::unique_lock lock(families_mutex_);
      families_.push_back(*family);
    } else {
      uncreate_family(descriptor.name, row);
    }
    return s;
  } catch (...) {
    uncreate_family(descriptor.name, row);
    throw;
  }
}

void DBImpl::uncreate_family(const std::string& name, const FamilyRow& row) noexcept {
  try {
    hawthorn::Result<hawthorn::Transaction> in = db_->begin(hawthorn::TxnMode::kOptimistic);
    if (!in.ok() || !drop_family(*in, name, row).ok()) return;
    if (!in->commit(hawthorn::Durability::kFull).ok()) return;
    static_cast<void>(erase_dropped(*db_, row.id));
  } catch (...) {
    return;  // it stays: no memory
  }
}

rocksdb::Status DBImpl::create_and_open(const rocksdb::ColumnFamilyDescriptor& descriptor,
                                        Handle** handle) {
  std::shared_ptr<Family> family;
  {
    const std::lock_guard lock(admin_);
    if (S s = create_family(descriptor, &family); !s.ok()) return s;
  }
  try {
    {
      const std::lock_guard lock(admin_);
      subscribe();
    }
    memory_changed();
    *handle = new HandleImpl(family, &options_.listeners);
  } catch (...) {
    forget(family);
    throw;
  }
  return S::OK();
}

void DBImpl::forget(const std::shared_ptr<Family>& family) noexcept {
  const std::lock_guard lock(admin_);
  family->dropped = true;
  {
    const std::unique_lock families_lock(families_mutex_);
    std::erase(families_, family);
  }
  uncreate_family(family->name, family->row);
}

rocksdb::Status DBImpl::CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                           const std::string& name, Handle** handle) {
  Handles made;
  S s = CreateColumnFamilies({{name, options}}, &made);
  *handle = made.empty() ? nullptr : made.front();
  if (s.IsMemoryLimit() && *handle != nullptr) {
    // Nothing stays of it.
    forget(family_of(*handle));
    delete std::exchange(*handle, nullptr);
  }
  return s;
}

rocksdb::Status DBImpl::CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                             const std::vector<std::string>& names,
                                             Handles* handles) {
  Descriptors families;
  for (const std::string& name : names) families.emplace_back(name, options);
  return CreateColumnFamilies(families, handles);
}

rocksdb::Status DBImpl::CreateColumnFamilies(const Descriptors& families, Handles* handles) {
  handles->clear();
  handles->reserve(families.size());
  S s;
  for (size_t i = 0; s.ok() && i < families.size(); ++i) {
    Handle* handle = nullptr;
    s = create_and_open(families[i], &handle);
    if (s.ok()) handles->push_back(handle);
  }
  if (handles->empty()) return s;
  // The families are there in any case.
  S kept = keep_options_now();
  return s.ok() ? kept : s;
}

rocksdb::Status DBImpl::drop(Handle* handle) {
  if (read_only_) return S::NotSupported("Not supported operation in read only mode.");
  const std::shared_ptr<Family>& family = family_of(handle);
  if (family->id == 0) return S::InvalidArgument("Can't drop default column family");
  {
    const std::lock_guard lock(admin_);
    if (family->dropped) return S::InvalidArgument("Column family already dropped!");
    hawthorn::Result<hawthorn::Transaction> in = db_->begin(hawthorn::TxnMode::kOptimistic);
    if (!in.ok()) return told(in.status());
    hawthorn::Status status = drop_family(*in, family->name, family->row);
    if (status.ok()) status = in->commit(hawthorn::Durability::kFull);
    if (!status.ok()) return told(status);
    family->dropped = true;
    if (const auto filter = filters_.find(family->name); filter != filters_.end()) {
      filter->second->stop();
    }
    const std::unique_lock families_lock(families_mutex_);
    std::erase(families_, family);
  }
  memory_changed();
  return S::OK();
}

rocksdb::Status DBImpl::DropColumnFamily(Handle* handle) { return DropColumnFamilies({handle}); }

rocksdb::Status DBImpl::DropColumnFamilies(const Handles& handles) {
  S s;
  size_t dropped = 0;
  for (; s.ok() && dropped < handles.size(); ++dropped) s = drop(handles[dropped]);
  if (!s.ok() && dropped == 1) return s;
  S kept = handles.empty() ? s : keep_options_now();
  return s.ok() ? kept : s;
}

rocksdb::Status DBImpl::DestroyColumnFamilyHandle(Handle* handle) {
  if (handle == default_handle_.get()) {
    return S::InvalidArgument("Cannot destroy the handle returned by DefaultColumnFamily()");
  }
  delete handle;
  return S::OK();
}

rocksdb::Status DBImpl::mark_entities(Family& family) {
  if (family.mark->get() != nullptr) return S::OK();
  const std::lock_guard lock(admin_);
  if (family.mark->get() != nullptr) return S::OK();
  if (family.dropped) return S::InvalidArgument("the column family is dropped");
  family.row.mark = EntityMark::make();
  S s = write_row(family);
  if (s.ok()) {
    family.mark->set(family.row.mark);
  } else {
    family.row.mark.clear();
  }
  return s;
}

void DBImpl::family_gone(uint32_t id) {
  const std::lock_guard lock(admin_);
  if (db_ == nullptr) return;
  slots_.marks->erase(id);  // ids are never given again
  // What fails here, the next open does.
  static_cast<void>(erase_dropped(*db_, id));
}

}  // namespace hawthorn::rocks
