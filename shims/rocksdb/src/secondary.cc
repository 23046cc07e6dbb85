#include "shims/rocksdb/src/secondary.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/iterator_around.h"
#include "shims/rocksdb/src/option_map.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using rocksdb::Slice;

// What is not flushed has to fit into a view's budget, whatever the options here say of caches.
constexpr size_t kBudgetMax = size_t{4} << 30;

const std::shared_ptr<Family>& family_of(const rocksdb::ColumnFamilyHandle* handle) {
  return static_cast<const HandleImpl*>(handle)->family();
}

class SecondaryIterator final : public IteratorAround {
 public:
  SecondaryIterator(SecondaryDB* db, const rocksdb::ReadOptions& options,
                    std::shared_ptr<Family> family)
      : IteratorAround(nullptr), db_(db), family_(std::move(family)), options_(options) {
    of_ = db_->iterate(options_, family_, &view_);
  }
  // What it shows goes before the view that has it.
  ~SecondaryIterator() override { of_.reset(); }

  rocksdb::Status Refresh() override { return Refresh(nullptr); }
  rocksdb::Status Refresh(const rocksdb::Snapshot* snapshot) override {
    options_.snapshot = snapshot;
    std::shared_ptr<FollowerView> view;
    of_ = db_->iterate(options_, family_, &view);
    view_ = std::move(view);
    return of_->status();
  }

 private:
  SecondaryDB* const db_;
  const std::shared_ptr<Family> family_;
  rocksdb::ReadOptions options_;
  std::shared_ptr<FollowerView> view_;
};

}  // namespace

SecondaryDB::SecondaryDB(const rocksdb::DBOptions& options, std::string name)
    : options_(options), name_(std::move(name)) {}

SecondaryDB::~SecondaryDB() { snapshots_.let_go_of_all(); }

rocksdb::Status SecondaryDB::refused() {
  return S::NotSupported("Not supported operation in secondary mode.");
}

// ---- Opening and catching up

rocksdb::Status SecondaryDB::open(const rocksdb::DBOptions& options, const std::string& name,
                                  const Descriptors& families, Handles* handles,
                                  std::unique_ptr<rocksdb::DB>* db) {
  db->reset();
  if (handles != nullptr) handles->clear();
  if (S s = DBImpl::check_open(options, name, families); !s.ok()) return s;
  std::unique_ptr<SecondaryDB> impl(new SecondaryDB(options, name));
  std::vector<const rocksdb::ColumnFamilyOptions*> family_options;
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    family_options.push_back(&family.options);
    impl->families_.push_back(std::make_shared<FollowedFamily>());
    impl->families_.back()->name = family.name;
    impl->families_.back()->options = family.options;
  }
  const hawthorn::Options engine = engine_options(options, true);
  hawthorn::FollowerOptions& follower = impl->engine_options_;
  follower.memory_budget_bytes = memory_budget(options, family_options);
  impl->slots_.tell(follower);
  follower.log = engine.log;
  const hawthorn::Status followed = impl->follow(name);
  if (followed.is_not_found()) return S::PathNotFound(name, slice(followed.message()));
  if (!followed.ok()) return to_status(followed);
  impl->directory_ = HeldDirectory(name);
  std::shared_ptr<hawthorn::Db> view = impl->follower_->view();
  const hawthorn::Result<FamilyRows> rows = FamilyRows::read(*view);
  if (!rows.ok()) return to_status(rows.status());
  for (const std::shared_ptr<FollowedFamily>& family : impl->families_) {
    const auto row = rows->families().find(family->name);
    if (row == rows->families().end()) {
      return S::InvalidArgument("Column family not found", family->name);
    }
    family->id = row->second.id;
    if (family->id == 0) impl->default_handle_ = std::make_unique<HandleImpl>(family);
  }
  if (S s = impl->show(*rows, std::move(view)); !s.ok()) return s;
  impl->view_->db->GetDbSessionId(impl->session_id_).PermitUncheckedError();
  if (handles != nullptr) {
    for (const auto& family : impl->families_) handles->push_back(new HandleImpl(family));
  }
  *db = std::move(impl);
  return S::OK();
}

hawthorn::Status SecondaryDB::follow(const std::string& name) {
  for (;; engine_options_.memory_budget_bytes *= 2) {
    auto opened = hawthorn::Follower::open(name, engine_options_);
    if (opened.ok()) follower_ = std::move(opened).value();
    if (!opened.status().is(StatusCode::kOutOfMemory)) return opened.status();
    if (engine_options_.memory_budget_bytes >= kBudgetMax) return opened.status();
  }
}

rocksdb::Status SecondaryDB::show(const FamilyRows& rows, std::shared_ptr<hawthorn::Db> engine) {
  Descriptors descriptors;
  for (const std::shared_ptr<FollowedFamily>& family : families_) {
    family->row = rows.families().at(family->name);
    descriptors.emplace_back(family->name, family->options);
  }
  auto made = std::make_shared<FollowerView>();
  made->engine = engine;
  Handles handles;
  S s = DBImpl::open_view(options_, name_, descriptors, slots_, std::move(engine), &handles,
                          &made->db);
  for (Handle* handle : handles) made->handles[handle->GetID()].reset(handle);
  if (!s.ok()) return s;
  const std::lock_guard lock(view_mutex_);
  view_ = std::move(made);
  return s;
}

rocksdb::Status SecondaryDB::TryCatchUpWithPrimary() {
  const std::lock_guard lock(admin_);
  const std::shared_ptr<FollowerView> before = current();
  const SnapshotImpl* const last = take_snapshot();
  const HeldSnapshot held(last);
  last->let_go();
  hawthorn::Status status = follower_->refresh();
  if (status.is(StatusCode::kOutOfMemory)) status = follow(directory_.path());
  if (!status.ok()) return to_status(status);
  std::shared_ptr<hawthorn::Db> engine = follower_->view();
  const hawthorn::Result<FamilyRows> rows = FamilyRows::read(*engine);
  if (!rows.ok()) return to_status(rows.status());
  bool same = engine == before->engine;
  std::erase_if(families_, [&](const std::shared_ptr<FollowedFamily>& family) {
    const auto row = rows->families().find(family->name);
    if (row != rows->families().end() && row->second.id == family->id) {
      same = same && row->second.merge_slot == family->row.merge_slot &&
             row->second.mark == family->row.mark;
      return false;
    }
    family->last = HeldSnapshot(last);
    family->dropped = true;
    same = false;
    return true;
  });
  return same ? S::OK() : show(*rows, std::move(engine));
}

rocksdb::Status SecondaryDB::Close() {
  if (snapshots_.size() > 0) return S::Aborted("Cannot close DB with unreleased snapshot.");
  const std::lock_guard lock(admin_);
  follower_.reset();
  const std::lock_guard view_lock(view_mutex_);
  view_.reset();
  return S::OK();
}

// ---- Where reads go to

std::shared_ptr<FollowerView> SecondaryDB::current() const {
  const std::lock_guard lock(view_mutex_);
  return view_;
}

SecondaryDB::Place SecondaryDB::place_of(const rocksdb::Snapshot* snapshot,
                                         const Family& family) const {
  const auto* from = static_cast<const SnapshotImpl*>(snapshot);
  std::shared_ptr<FollowerView> view =
      from == nullptr ? current() : std::static_pointer_cast<FollowerView>(from->of());
  if (family.dropped.load(std::memory_order_acquire)) {
    const SnapshotImpl* const last = static_cast<const FollowedFamily&>(family).last.get();
    if (from == nullptr || from->GetSequenceNumber() > last->GetSequenceNumber()) {
      view = std::static_pointer_cast<FollowerView>(last->of());
      from = last;
    }
  }
  Handle* const handle = view->handles.at(family.id).get();
  return {std::move(view), handle, from};
}

template <typename Call>
rocksdb::Status SecondaryDB::read(const rocksdb::ReadOptions& options, Handle* handle,
                                  const Call& call) {
  const auto once = [&] {
    const Place place = place_of(options.snapshot, *family_of(handle));
    if (place.snapshot == options.snapshot) return call(place.view, options, place.handle);
    rocksdb::ReadOptions own = options;
    own.snapshot = place.snapshot;
    return call(place.view, own, place.handle);
  };
  const S s = once();
  if (!s.IsInvalidArgument()) return s;
  // The view may have come to where the family is dropped, of which it is not marked yet.
  {
    const std::lock_guard lock(admin_);
  }
  return once();
}

// ---- Reads

rocksdb::Status SecondaryDB::Get(const rocksdb::ReadOptions& options, Handle* handle,
                                 const Slice& key, rocksdb::PinnableSlice* value,
                                 std::string* timestamp) {
  return read(options, handle, [&](const auto& from, const auto& with, Handle* in) {
    return from->db->Get(with, in, key, value, timestamp);
  });
}

void SecondaryDB::MultiGet(const rocksdb::ReadOptions& options, size_t num_keys, Handle** handles,
                           const Slice* keys, rocksdb::PinnableSlice* values,
                           std::string* timestamps, rocksdb::Status* statuses, bool sorted_input) {
  // All in the view of the first one; who is not there, or is not any more, for itself.
  std::vector<Handle*> here;
  std::shared_ptr<FollowerView> view;
  for (size_t i = 0; i < num_keys; ++i) {
    const Place place = place_of(options.snapshot, *family_of(handles[i]));
    if (i == 0) view = place.view;
    if (place.view == view && place.snapshot == options.snapshot) here.push_back(place.handle);
  }
  if (num_keys > 0 && here.size() == num_keys) {
    view->db->MultiGet(options, num_keys, here.data(), keys, values, timestamps, statuses,
                       sorted_input);
    if (std::none_of(statuses, statuses + num_keys,
                     [](const S& s) { return s.IsInvalidArgument(); })) {
      return;
    }
  }
  for (size_t i = 0; i < num_keys; ++i) {
    std::string* const timestamp = timestamps == nullptr ? nullptr : &timestamps[i];
    statuses[i] = Get(options, handles[i], keys[i], &values[i], timestamp);
  }
}

void SecondaryDB::MultiGet(const rocksdb::ReadOptions& options, Handle* handle, size_t num_keys,
                           const Slice* keys, rocksdb::PinnableSlice* values,
                           rocksdb::Status* statuses, bool sorted_input) {
  std::vector<Handle*> handles(num_keys, handle);
  MultiGet(options, num_keys, handles.data(), keys, values, nullptr, statuses, sorted_input);
}

rocksdb::Status SecondaryDB::GetEntity(const rocksdb::ReadOptions& options, Handle* handle,
                                       const Slice& key, rocksdb::PinnableWideColumns* columns) {
  if (handle == nullptr) return S::InvalidArgument("GetEntity without a column family handle");
  return read(options, handle, [&](const auto& from, const auto& with, Handle* in) {
    return from->db->GetEntity(with, in, key, columns);
  });
}

rocksdb::Status SecondaryDB::GetEntity(const rocksdb::ReadOptions& options, const Slice& key,
                                       rocksdb::PinnableAttributeGroups* result) {
  return get_entity_groups(*this, options, key, result);
}

void SecondaryDB::MultiGetEntity(const rocksdb::ReadOptions& options, Handle* handle,
                                 size_t num_keys, const Slice* keys,
                                 rocksdb::PinnableWideColumns* results, rocksdb::Status* statuses,
                                 bool sorted_input) {
  std::vector<Handle*> handles(num_keys, handle);
  MultiGetEntity(options, num_keys, handles.data(), keys, results, statuses, sorted_input);
}

void SecondaryDB::MultiGetEntity(const rocksdb::ReadOptions& options, size_t num_keys,
                                 Handle** handles, const Slice* keys,
                                 rocksdb::PinnableWideColumns* results, rocksdb::Status* statuses,
                                 bool) {
  // All of one moment.
  rocksdb::ReadOptions with = options;
  if (with.snapshot == nullptr) with.snapshot = GetSnapshot();
  for (size_t i = 0; i < num_keys; ++i) {
    statuses[i] = GetEntity(with, handles[i], keys[i], &results[i]);
  }
  if (options.snapshot == nullptr) ReleaseSnapshot(with.snapshot);
}

void SecondaryDB::MultiGetEntity(const rocksdb::ReadOptions& options, size_t num_keys,
                                 const Slice* keys, rocksdb::PinnableAttributeGroups* results) {
  multi_get_entity_groups(*this, options, num_keys, keys, results);
}

bool SecondaryDB::KeyMayExist(const rocksdb::ReadOptions& options, Handle* handle, const Slice& key,
                              std::string* value, bool* value_found) {
  bool may = false;
  read(options, handle, [&](const auto& from, const auto& with, Handle* in) {
    may = from->db->KeyMayExist(with, in, key, value, value_found);
    return S::OK();
  }).PermitUncheckedError();
  return may;
}

std::unique_ptr<rocksdb::Iterator> SecondaryDB::iterate(const rocksdb::ReadOptions& options,
                                                        const std::shared_ptr<Family>& family,
                                                        std::shared_ptr<FollowerView>* view) {
  std::unique_ptr<rocksdb::Iterator> made;
  HandleImpl handle(family);
  read(options, &handle, [&](const auto& from, const auto& with, Handle* in) {
    made.reset(from->db->NewIterator(with, in));
    *view = from;
    return made->status();
  }).PermitUncheckedError();
  return made;
}

rocksdb::Iterator* SecondaryDB::NewIterator(const rocksdb::ReadOptions& options, Handle* handle) {
  if (options.tailing) {
    return rocksdb::NewErrorIterator(S::NotSupported("a tailing iterator of a secondary"));
  }
  return new SecondaryIterator(this, options, family_of(handle));
}

rocksdb::Status SecondaryDB::NewIterators(const rocksdb::ReadOptions& options,
                                          const Handles& handles,
                                          std::vector<rocksdb::Iterator*>* iterators) {
  iterators->clear();
  if (options.tailing) return S::NotSupported("a tailing iterator of a secondary");
  rocksdb::ReadOptions of_one_moment = options;
  HeldSnapshot moment;
  if (options.snapshot == nullptr) {
    const SnapshotImpl* const taken = take_snapshot();
    moment = HeldSnapshot(taken);
    taken->let_go();
    of_one_moment.snapshot = taken;
  }
  for (Handle* handle : handles) iterators->push_back(NewIterator(of_one_moment, handle));
  return S::OK();
}

const SnapshotImpl* SecondaryDB::take_snapshot() const {
  std::shared_ptr<FollowerView> view = current();
  hawthorn::Snapshot taken = view->engine->snapshot();
  return new SnapshotImpl(std::move(taken), std::time(nullptr), std::move(view));
}

const rocksdb::Snapshot* SecondaryDB::GetSnapshot() {
  const SnapshotImpl* const taken = take_snapshot();
  if (!taken->view().valid()) {
    taken->let_go();
    return nullptr;
  }
  snapshots_.add(taken);
  return taken;
}

void SecondaryDB::ReleaseSnapshot(const rocksdb::Snapshot* snapshot) {
  if (snapshot == nullptr) return;
  const auto* const released = static_cast<const SnapshotImpl*>(snapshot);
  snapshots_.remove(released);
  released->let_go();
}

rocksdb::SequenceNumber SecondaryDB::GetLatestSequenceNumber() const {
  return current()->db->GetLatestSequenceNumber();
}

// ---- Figures

bool SecondaryDB::GetProperty(Handle* handle, const Slice& property, std::string* value) {
  if (const std::optional<uint64_t> number = snapshots_.property(view(property))) {
    *value = std::to_string(*number);
    return true;
  }
  const Place place = place_of(nullptr, *family_of(handle));
  return place.view->db->GetProperty(place.handle, property, value);
}

bool SecondaryDB::GetIntProperty(Handle* handle, const Slice& property, uint64_t* value) {
  if (const std::optional<uint64_t> number = snapshots_.property(view(property))) {
    *value = *number;
    return true;
  }
  const Place place = place_of(nullptr, *family_of(handle));
  return place.view->db->GetIntProperty(place.handle, property, value);
}

bool SecondaryDB::GetMapProperty(Handle* handle, const Slice& property,
                                 std::map<std::string, std::string>* value) {
  const Place place = place_of(nullptr, *family_of(handle));
  return place.view->db->GetMapProperty(place.handle, property, value);
}

bool SecondaryDB::GetAggregatedIntProperty(const Slice& property, uint64_t* value) {
  const std::shared_ptr<FollowerView> shown = current();
  if (const std::optional<uint64_t> number = snapshots_.property(view(property))) {
    *value = *number * shown->handles.size();
    return true;
  }
  return shown->db->GetAggregatedIntProperty(property, value);
}

rocksdb::Status SecondaryDB::GetApproximateSizes(const rocksdb::SizeApproximationOptions& options,
                                                 Handle* handle, const rocksdb::Range* ranges,
                                                 int n, uint64_t* sizes) {
  const Place place = place_of(nullptr, *family_of(handle));
  return place.view->db->GetApproximateSizes(options, place.handle, ranges, n, sizes);
}

rocksdb::Status SecondaryDB::VerifyChecksum(const rocksdb::ReadOptions& options) {
  return current()->db->VerifyChecksum(options);
}

int SecondaryDB::NumberLevels(Handle* handle) { return family_of(handle)->options.num_levels; }

int SecondaryDB::Level0StopWriteTrigger(Handle* handle) {
  return family_of(handle)->options.level0_stop_writes_trigger;
}

rocksdb::Options SecondaryDB::GetOptions(Handle* handle) const {
  return {options_, family_of(handle)->options};
}

rocksdb::Status SecondaryDB::GetDbIdentity(std::string& identity) const {
  return current()->db->GetDbIdentity(identity);
}

rocksdb::Status SecondaryDB::DestroyColumnFamilyHandle(Handle* handle) {
  if (handle == default_handle_.get()) {
    return S::InvalidArgument("Cannot destroy the handle returned by DefaultColumnFamily()");
  }
  delete handle;
  return S::OK();
}

}  // namespace hawthorn::rocks
