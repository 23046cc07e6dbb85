// Opening and recovery, in the order that impl.h states.

#include <algorithm>

#include "base/bytes.h"
#include "db/budget.h"
#include "db/entry_file.h"
#include "db/file_sizing.h"
#include "db/foreign_files.h"
#include "db/impl.h"
#include "db/incomplete.h"
#include "db/large_values.h"
#include "db/log_sizing.h"
#include "db/make_directory.h"
#include "db/manifest_files.h"
#include "db/replay.h"
#include "db/scrub.h"
#include "os/epoch.h"
#include "os/test_point.h"

namespace hawthorn {

namespace {
constexpr size_t kRingBytesMin = size_t{64} << 10;
constexpr size_t kRingBytesMax = size_t{64} << 20;

// 16 MB outlast a slow sync of the segments' directory; smaller budgets, in which the ring counts
// (R9), have less. Large ones are there for writers that give the disk all it can take: then it
// stands still for 0.1 s now and then, in which they log 40 MB.
size_t ring_bytes_for(size_t budget_bytes) {
  size_t bytes = kRingBytesMax;
  if (budget_bytes < size_t{3} << 30) bytes = kRingBytesMax / 4;
  if (budget_bytes < size_t{512} << 20) bytes = kRingBytesMax / 8;
  while (bytes > std::min(budget_bytes / 8, db::log_ring_bytes_max)) bytes /= 2;
  return bytes;
}
}  // namespace

Status Db::Impl::lock_directory(bool exists) {
  os::OpenFlags flags;
  flags.create = !options_.read_only && !exists;
  flags.locks = true;
  flags.read_only = options_.read_only;
  Result<std::unique_ptr<os::File>> file =
      machine_.files->open_file(db::join(path_, db::kLockName), flags);
  if (!file.ok() && file.status().is_not_found() && exists) {
    // Lost, but not needed for anything that it holds. A reader makes no file.
    if (options_.read_only) {
      log(LogLevel::kWarning,
          path_ + " has no lock file: nothing keeps a writing process out while this one reads");
      return {};
    }
    flags.create = true;
    file = machine_.files->open_file(db::join(path_, db::kLockName), flags);
  }
  if (!file.ok()) return file.status();
  if (Status s = (*file)->lock_exclusive(); !s.ok()) {
    if (!s.is(StatusCode::kBusy)) return s;
    return Status(StatusCode::kBusy,
                  path_ +
                      " is open in another process (or opened twice in this one); Follower reads "
                      "beside it");
  }
  // Who destroys a database removes the file while he has its lock.
  const Result<bool> named = (*file)->has_name();
  if (!named.ok()) return named.status();
  if (!*named) {
    return Status(StatusCode::kBusy,
                  path_ + ": another process has removed the database meanwhile");
  }
  lock_ = std::move(file).value();
  return {};
}

// Files of a database that has no superblock are not overwritten. `beginning`: before the lock is
// taken, when somebody else may be making the database just now.
Status Db::Impl::check_no_remains(bool beginning) const {
  Result<std::vector<std::string>> names = machine_.files->list(path_);
  if (!names.ok()) return names.status();
  const bool lock = std::find(names->begin(), names->end(), db::kLockName) != names->end();
  if (beginning && lock) return {};
  if (Status s = db::refuse_foreign_files(*machine_.files, path_, *names); !s.ok()) return s;
  for (const std::string& name : *names) {
    // A process that died while it created the database may have left the probe for direct I/O.
    if (name == "data.probe") continue;
    if (space::is_data_file(name) || wal::is_log_file(name)) {
      return Status(StatusCode::kCorruption, path_ + " holds " + name +
                                                 ", but no superblock: it may be what is left of "
                                                 "a database, and is not overwritten");
    }
  }
  return {};
}

// The size of the ring that an earlier process left; unchanged when there is none.
Status Db::Impl::present_ring_bytes(size_t* bytes) {
  os::OpenFlags flags;
  flags.read_only = true;
  Result<std::unique_ptr<os::File>> ring = machine_.files->open_file(path_ + "/wal.ring", flags);
  if (!ring.ok()) return ring.status().is_not_found() ? Status() : ring.status();
  Result<uint64_t> size = (*ring)->size();
  if (!size.ok()) return size.status();
  for (size_t known = kRingBytesMin; known <= kRingBytesMax; known *= 2) {
    if (*size == known) *bytes = known;
  }
  return {};
}

// Of the log that is there, or of the one to begin: `epochs` is empty where the last process has
// closed the database, and removed it.
size_t Db::Impl::segment_bytes(const std::vector<format::LogEpoch>& epochs) const {
  if (!epochs.empty()) return db::segment_bytes_of(epochs.back().start);
  const Result<uint64_t> free_bytes = machine_.files->free_bytes(path_);
  return free_bytes.ok() ? db::segment_bytes_for(*free_bytes) : db::log_segment_bytes;
}

Status Db::Impl::open() {
  if (std::count(options_.listeners.begin(), options_.listeners.end(), nullptr) > 0) {
    return Status(StatusCode::kInvalidArgument, "Options::listeners holds a null pointer");
  }
  if (std::count(options_.commit_hooks.begin(), options_.commit_hooks.end(), nullptr) > 0) {
    return Status(StatusCode::kInvalidArgument, "Options::commit_hooks holds a null pointer");
  }
  for (const auto& [name, filter] : options_.flush_filters) {
    if (Status s = db::Catalog::check_name(name); !s.ok()) return s;
    if (filter == nullptr) {
      return Status(StatusCode::kInvalidArgument, "Options::flush_filters holds a null pointer");
    }
  }
  Opened opened;
  const uint64_t began_us = events_ == nullptr ? 0 : machine_.clock->monotonic_us();
  if (Status s = open_all(&opened); !s.ok()) return s;
  opened_ = true;
  if (events_ == nullptr) return {};
  opened.read_only = options_.read_only;
  opened.duration_us = machine_.clock->monotonic_us() - began_us;
  opened.prepared_transactions = prepared_.list().size();
  events_->complete = [this](os::Event& event) { complete_event(event); };
  events_->post(std::move(opened));
  return events_->start();
}

Status Db::Impl::open_view(std::unique_ptr<db::FollowerClaim> claim) {
  view_ = std::make_unique<db::View>(this, std::move(claim));
  return open();
}

Status Db::Impl::open_all(Opened* event) {
  const os::epoch::Call call;
  if (Status s = db::check_budget(options_.memory_budget_bytes); !s.ok()) return s;
  constexpr uint32_t kModeBits = 0666;
  if ((options_.file_mode & ~kModeBits) != 0 || (options_.file_mode & 0600) != 0600) {
    return Status(StatusCode::kInvalidArgument,
                  "Options::file_mode is not 0600 with some of 0066 beside");
  }
  if (options_.compression > Compression::kZstd) {
    return Status(StatusCode::kInvalidArgument, "Options::compression is out of range");
  }
  if (!(options_.space_target >= 1.02 && options_.space_target <= 4)) {
    return Status(StatusCode::kInvalidArgument, "a space target of " +
                                                    std::to_string(options_.space_target) +
                                                    " is not between 1.02 and 4");
  }
  if (Status s = check_merge_operators(); !s.ok()) return s;
  if (Status s = check_key_orders(); !s.ok()) return s;
  if (options_.durability == Durability::kDefault) options_.durability = Durability::kFull;
  const Status held = machine_.files->hold();
  if (!held.ok() && !held.is_not_found()) return held;
  if (Status s = db::refuse_incomplete(machine_, path_); !s.ok()) return s;
  Result<bool> there = db::Manifest::exists(machine_, path_);
  if (!there.ok()) return there.status();
  event->created = !*there;
  if (!*there) {
    if (options_.read_only || !options_.create_if_missing) {
      return Status(StatusCode::kNotFound, path_ + " holds no database");
    }
    const Status made = db::make_durable_directory(*machine_.files, path_, options_.create_parents);
    if (!made.ok()) return made;
    if (Status s = machine_.files->hold(); !s.ok()) return s;
    if (Status s = check_no_remains(true); !s.ok()) return s;
  } else if (options_.error_if_exists) {
    return Status(StatusCode::kInvalidArgument, path_ + " holds a database already");
  }
  if (view_ == nullptr) {
    HAWTHORN_TEST_POINT("open.before_lock");
    if (Status s = lock_directory(*there); !s.ok()) return s;
    // What was looked at before may have changed until nobody else could change it.
    if (Status s = db::refuse_incomplete(machine_, path_); !s.ok()) return s;
    const Result<bool> now = db::Manifest::exists(machine_, path_);
    if (!now.ok()) return now.status();
    if (!*now && *there) {
      return Status(StatusCode::kBusy,
                    path_ + ": another process has removed the database meanwhile");
    }
    // Of several processes that create it one does, and the others have what it made.
    if (*now && !*there && options_.error_if_exists) {
      return Status(StatusCode::kInvalidArgument, path_ + " holds a database already");
    }
    there = *now;
    event->created = !*there;
    if (!*there) {
      if (Status s = check_no_remains(false); !s.ok()) return s;
    }
  }

  db::LoadedManifest loaded;
  if (Status s = open_keys(*there, &loaded); !s.ok()) return s;
  if (*there) {
    std::string warning;
    Result<db::LoadedManifest> result = db::Manifest::load(machine_, path_, &warning);
    if (!result.ok()) {
      return Status(result.status().code(), path_ + ": " + std::string(result.status().message()));
    }
    loaded = std::move(result).value();
    if (!warning.empty()) log(LogLevel::kWarning, warning);
    if (loaded.must_not_write && !options_.read_only) {
      return Status(StatusCode::kNotSupported,
                    path_ +
                        " has features of a newer version, with which this one can only read (" +
                        format::unknown_features(loaded.features) + ")");
    }
    if (view_ != nullptr) {
      if (Status s = view_->check_writer(loaded); !s.ok()) return s;
    }
  }

  uuid_low_ = loaded.uuid_low;
  uuid_high_ = loaded.uuid_high;

  // The parts below the trees.
  const bool direct = options_.io_mode != IoMode::kBuffered;
  if (Status s = open_devices(loaded, *there); !s.ok()) return s;
  wal::LogOptions log_options_used;
  log_options_used.ring_bytes = ring_bytes_for(options_.memory_budget_bytes);
  log_options_used.segment_bytes = segment_bytes(loaded.state.epochs);
  log_options_used.direct = direct;
  Result<std::unique_ptr<os::Arena>> arena = os::Arena::create(options_.memory_budget_bytes);
  if (!arena.ok()) return arena.status();
  arena_ = std::move(arena).value();
  if (options_.preallocate_memory) {
    while (arena_->touch_ahead(options_.memory_budget_bytes)) {
    }
  }
  if (!options_.read_only) {
    arena_->charge(os::Quota::kLog, static_cast<ptrdiff_t>(log_options_used.ring_bytes));
  }
  space::SpaceOptions space_options;
  space_options.direct = direct;
  space_options.read_only = options_.read_only;
  space_options.beside_writer = view_ != nullptr;
  space_options.devices = devices_.get();
  space_options.file_bytes_first = db::data_file_bytes_first;
  space_options.file_bytes_max = db::data_file_bytes_max;
  Result<std::unique_ptr<space::Space>> space = space::Space::open(machine_, path_, space_options);
  if (!space.ok()) return space.status();
  space_ = std::move(space).value();
  if (options_.io_mode == IoMode::kDirect && !space_->direct()) {
    return Status(StatusCode::kNotSupported, path_ + ": the file system has no direct I/O");
  }
  residency_ = std::make_unique<tree::Residency>(machine_, arena_.get(), space_.get());
  slots_ = std::make_unique<tree::TxnSlots>();
  snapshots_ = std::make_unique<tree::Snapshots>();
  large_ = std::make_unique<tree::LargeExtents>();
  sequencer_ = std::make_unique<txn::Sequencer>(slots_.get());
  reappender_ = std::make_unique<txn::Reappender>(slots_.get(), sequencer_.get());
  row_locks_ = std::make_unique<txn::RowLocks>(arena_.get());
  store_.row_gate = row_locks_.get();
  store_.machine = &machine_;
  store_.arena = arena_.get();
  store_.space = space_.get();
  store_.residency = residency_.get();
  store_.slots = slots_.get();
  store_.snapshots = snapshots_.get();
  store_.large = large_.get();
  store_.visible = &sequencer_->visible();
  store_.large_pieces.store((loaded.features.incompatible & format::kFeatureLargePieces) != 0,
                            std::memory_order_relaxed);
  store_.next_container.store(loaded.state.next_container, std::memory_order_relaxed);
  publisher_ = std::make_unique<db::Publisher>(
      machine_, &store_, [this](uint64_t durable) { return catalog_->log_needed(durable); });
  catalog_ = std::make_unique<db::Catalog>(&store_, publisher_.get());
  scheduler_ = std::make_unique<db::Scheduler>(
      machine_, &store_, publisher_.get(), reappender_.get(), [this] { return catalog_->all(); });
  scheduler_->set_budget(options_.memory_budget_bytes);
  scheduler_->set_space_target(options_.space_target);
  scheduler_->on_idle([this] {
    train_dictionary();
    // What fails is the publisher's error, and of everything that follows.
    static_cast<void>(catalog_->remove_ended(false).ok());
    if (filters_ != nullptr && !machine_.background_threads) {
      static_cast<void>(filters_->run_due().ok());
    }
    if (!machine_.background_threads) static_cast<void>(expiry_->run_if_due().ok());
    if (!machine_.background_threads && scrub_ != nullptr) scrub_->run_if_due();
    layer_merger_->try_again();
    expiry_->wake();
    if (counters_ == nullptr) return;
    counters_->update_when_due([this](Stats* stats) { figures(stats); });
  });
  catalog_->merge_operator = [this](std::string_view name) { return merge_operator(name); };
  expiry_ = std::make_unique<db::ExpiryJob>(this);
  catalog_->tell_expires = [this] { expiry_->wake(); };
  catalog_->key_order = [this](std::string_view name, bool compared, char rows) {
    return key_order(name, compared, rows);
  };
  store_.large_delta = [this] { scheduler_->large_delta(); };
  named_snapshots_ = std::make_unique<db::NamedSnapshots>(&store_, publisher_.get());
  named_snapshots_->open(loaded.state);
  feeds_ = std::make_unique<db::Feeds>(&store_, publisher_.get());
  feeds_->open(loaded.state);
  residency_->hold_dropped = [this](const tree::ExtentAddress& address) {
    return feeds_->hold(address);
  };
  publisher_->keep_for(feeds_.get());
  services_ = {&store_,           sequencer_.get(), scheduler_.get(),
               reappender_.get(), row_locks_.get(), catalog_.get()};
  layer_merger_ = std::make_unique<db::LayerMerger>(services_, catalog_.get(), scheduler_.get(),
                                                    publisher_.get());
  catalog_->tell_layers = [this] { layer_merger_->wake(); };
  if (Status s = catalog_->build(loaded.state); !s.ok()) return s;

  // The log: its end, and most of what it holds.
  const format::ManifestState& state = loaded.state;
  format::Lsn flushed = 0;
  for (const auto& [id, record] : state.containers) flushed = std::max(flushed, record.cut);
  format::Lsn visible = std::max(state.log_trim, flushed);
  // The next commit may be the record at the trim, and a view goes on with it.
  if (view_ != nullptr && visible == state.log_trim && visible > flushed) --visible;
  wal::LogOptions recovery_options = log_options_used;
  if (Status s = present_ring_bytes(&recovery_options.ring_bytes); !s.ok()) return s;
  recovery_options.appended_to = view_ != nullptr;
  std::unique_ptr<wal::Recovery> recovery;
  db::Replay replay(
      &store_, scheduler_.get(), [this](uint32_t id) { return catalog_->any(id); },
      [&](const format::Operation& entry, format::Lsn cts, format::Lsn first_lsn) {
        return catalog_->adopt({entry.key, entry.value, cts, first_lsn}, loaded.state);
      },
      [this](const tree::TreeState* of) { return catalog_->make_layer(of); }, state.epochs,
      catalog_->layers_of_manifest(), options_.read_only);
  replay.goes_on_from(db::join(path_, db::manifest_name(loaded.number)));
  if (view_ != nullptr) replay.beside_writer();
  if (!state.epochs.empty()) {
    Result<std::unique_ptr<wal::Recovery>> opened = wal::Recovery::open(
        machine_, path_, recovery_options, state.epochs, state.log_trim, options_.read_only);
    if (!opened.ok()) return opened.status();
    recovery = std::move(opened).value();
    recovery->on_progress(options_.open_progress);
    if (!options_.read_only) replay.keep_for(feeds_.get());
    if (Status s = replay.scan(*recovery, state.log_trim); !s.ok()) return s;
    visible = std::max(visible, replay.newest());
    event->log_bytes_replayed = recovery->bytes();
    // What was flushed, and what a named snapshot shows, was durable in the log first: a log that
    // ends before it has lost commits.
    format::Lsn synced = flushed >= state.log_trim ? flushed : 0;
    for (const auto& [name, record] : state.snapshots) {
      if (record.timestamp > state.log_trim) synced = std::max(synced, record.timestamp);
    }
    if (synced > 0 && recovery->end() <= synced) {
      return Status(StatusCode::kCorruption,
                    path_ + ": the log ends at lsn " + std::to_string(recovery->end()) +
                        ", but commits up to lsn " + std::to_string(synced) + " were synced");
    }
  }
  if (options_.read_only) {
    log_options_ = recovery_options;
    sequencer_->start(nullptr, visible);
    if (recovery != nullptr) {
      if (Status s = replay.finish(*recovery); !s.ok()) return s;
    }
    for (const txn::FoundPrepared& found : replay.prepared()) prepared_.add_found(found);
    if (Status s = catalog_->finish_open(services_, true, {}); !s.ok()) return s;
    if (Status s = expiry_->load_now(); !s.ok() || view_ == nullptr) return s;
    const format::Lsn end = recovery == nullptr ? state.log_trim : recovery->end();
    return view_->begin(std::move(loaded), recovery_options, end);
  }

  // From here on the directory changes: the old log becomes durable, then manifest N+1 names a new
  // epoch (R6, R7).
  format::Lsn bound =
      std::max<format::Lsn>({state.lsn_reserved, visible + 1, log_options_used.segment_bytes});
  if (recovery != nullptr) {
    if (Status s = recovery->make_durable(); !s.ok()) return s;
    if (Status s = space_->sync(); !s.ok()) return s;
    loaded.state.epochs.back().end = recovery->end();
    bound = std::max(bound, recovery->end());
  }
  if (recovery_options.ring_bytes != log_options_used.ring_bytes) {
    // Another budget than last time; what the old ring held is in segments by now.
    if (Status s = machine_.files->remove(path_ + "/wal.ring"); !s.ok() && !s.is_not_found())
      return s;
  }
  format::LogEpoch epoch;
  epoch.number = state.epochs.empty() ? 1 : state.epochs.back().number + 1;
  epoch.start = db::epoch_start_from(bound, log_options_used.segment_bytes);
  if (epoch.start > format::kLsnMax - 2 * db::Publisher::kLsnReserve) {
    return Status(StatusCode::kCorruption,
                  path_ + ": the manifest says that the log has come to its last position");
  }
  epoch.salt = machine_.random->next();
  if (keys_ != nullptr) epoch.key = keys_->current();
  loaded.state.epochs.push_back(epoch);
  loaded.state.lsn_reserved = epoch.start + db::Publisher::kLsnReserve;
  if (recovery == nullptr) loaded.state.log_trim = epoch.start;
  const format::Lsn keep = loaded.state.log_trim;
  const format::Lsn reserved = loaded.state.lsn_reserved;
  if (Status s = label_devices(loaded, *there); !s.ok()) return s;
  // Before the manifest says that this process is there, its followers are told.
  const uint64_t batch = state.last_batch;
  // Who may read must be able to say what is read: that file may be written by the same users.
  const std::unique_ptr<os::FileSystem> shared =
      machine_.files->of_directory(path_, options_.file_mode | (options_.file_mode & 0444) >> 1);
  if (shared != nullptr) {
    if (Status s = shared->hold(); !s.ok()) return s;
  }
  auto followers = db::FollowerRegistry::open(
      machine_, shared != nullptr ? *shared : *machine_.files, path_, epoch.salt,
      state.epochs.size() < 2 ? 0 : state.epochs.rbegin()[1].salt);
  if (!followers.ok()) return followers.status();
  followers_ = std::move(followers).value();
  if (followers_ == nullptr) {
    log(LogLevel::kWarning, "there is no space for the file of followers: nobody can follow");
  }
  const uint64_t uuid_low = loaded.uuid_low;
  const uint64_t uuid_high = loaded.uuid_high;
  log_options_ = log_options_used;
  epochs_ = loaded.state.epochs;
  feeds_->set_epochs(epochs_);
  Result<std::unique_ptr<db::Manifest>> manifest =
      db::Manifest::start(machine_, path_, std::move(loaded), !*there);
  if (!manifest.ok()) return manifest.status();
  manifest_ = std::move(manifest).value();
  uuid_low_ = manifest_->uuid_low();
  uuid_high_ = manifest_->uuid_high();
  if (devices_ != nullptr && !*there) {
    if (Status s = devices_->label(uuid_low, uuid_high, 1); !s.ok()) return s;
  }
  manifest_->on_warning([this](std::string_view message) { log(LogLevel::kWarning, message); });
  HAWTHORN_TEST_POINT("open.after_manifest");
  Result<std::unique_ptr<wal::Log>> started =
      wal::Log::start(machine_, path_, log_options_used, epoch, reserved, keep);
  if (!started.ok()) return started.status();
  log_ = std::move(started).value();
  store_.log = log_.get();
  sequencer_->start(log_.get(), visible);
  publisher_->hold_trim(true);
  publisher_->heed_followers(followers_.get(), batch);
  if (Status s = publisher_->start(manifest_.get(), log_.get()); !s.ok()) return s;
  if (recovery != nullptr) {
    // visible_ts follows the replay, so that a flush that it needs cuts at what is replayed.
    sequencer_->visible().store(keep, std::memory_order_release);
    scheduler_->keep_replayed();
    store_.replaying = true;
    if (Status s = replay.finish(*recovery); !s.ok()) return s;
    store_.replaying = false;
    sequencer_->visible().store(visible, std::memory_order_release);
    for (tree::TreeState* tree : catalog_->all()) tree->end_replay();
    if (Status s = scheduler_->flush_when_full(); !s.ok()) return s;
    std::vector<std::unique_ptr<txn::Txn>> restored;
    Status found = replay.restore(*recovery, [this] { return new_txn(); }, &restored);
    for (std::unique_ptr<txn::Txn>& txn : restored) {
      if (found.ok()) {
        txn->set_hooks(hooks());
        prepared_.add(std::move(txn));
      } else {
        txn->abandon();
      }
    }
    if (!found.ok()) {
      return Status(found.code(), path_ + ": a prepared transaction could not be put back: " +
                                      std::string(found.message()));
    }
    if (recovery->bytes() > 0) {
      log(LogLevel::kInfo, "replayed " + std::to_string(recovery->bytes()) + " bytes of log");
    }
  }
  feeds_->end_replay();
  publisher_->hold_trim(false);
  if (prepared_.empty()) {
    outcome_reserve_.remove();
  } else if (const Status s = outcome_reserve_.keep(log_options_.segment_bytes); !s.ok()) {
    log(LogLevel::kWarning,
        "no space is set aside for ending prepared transactions: " + s.to_string());
  }
  remove_ingest_files();
  snapshots_->refresh(visible);
  start_counters();
  if (!options_.flush_filters.empty()) {
    filters_ = std::make_unique<db::FilterJob>(this);
    scheduler_->on_flushed([this](const tree::TreeState& tree, const std::string& low) {
      filters_->flushed(tree, low);
    });
  }
  if (options_.scrub_bytes_per_second != 0) {
    scrub_ = std::make_unique<db::Scrub>(this, options_.scrub_bytes_per_second);
  }
  if (Status s = scheduler_->start(); !s.ok()) return s;
  if (Status s = catalog_->finish_open(services_, false, named_snapshots_->timestamps()); !s.ok()) {
    return s;
  }
  if (Status s = expiry_->load_now(); !s.ok()) return s;
  if (Status s = start_jobs(); !s.ok()) return s;
  layer_merger_->start();
  layer_merger_->wake_if_due();
  return {};
}

// What runs beside flushes, and stands still while the database closes.
Status Db::Impl::start_jobs() {
  if (filters_ != nullptr) {
    if (Status s = filters_->start(); !s.ok()) return s;
  }
  if (scrub_ != nullptr) {
    if (Status s = scrub_->start(); !s.ok()) return s;
  }
  if (!options_.read_only) expiry_->start();
  return {};
}

// ---- Devices

Status Db::Impl::open_devices(db::LoadedManifest& loaded, bool exists) {
  const bool on_devices = (loaded.features.incompatible & format::kFeatureDevices) != 0;
  if (exists && on_devices == loaded.state.devices.empty()) {
    return Status(StatusCode::kCorruption,
                  path_ + ": superblock and manifest do not agree on whether there are devices");
  }
  if (exists && !on_devices && !options_.devices.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  path_ + " has its data in files, and was opened with devices");
  }
  if (!on_devices && options_.devices.empty()) return {};
  space::DeviceOptions options;
  options.directory = path_;
  for (const std::string& path : options_.devices) {
    Result<std::string> from_root = machine_.files->absolute(path);
    if (!from_root.ok()) return from_root.status();
    options.paths.push_back(*std::move(from_root));
  }
  options.records = loaded.state.devices;
  options.uuid_low = loaded.uuid_low;
  options.uuid_high = loaded.uuid_high;
  options.direct = options_.io_mode != IoMode::kBuffered;
  options.read_only = options_.read_only;
  Result<std::unique_ptr<space::Devices>> devices = space::Devices::open(machine_, options);
  if (!devices.ok()) return devices.status();
  devices_ = std::move(devices).value();
  return {};
}

// Before the manifest says so (3 of space/devices.h).
Status Db::Impl::label_devices(db::LoadedManifest& loaded, bool exists) {
  if (devices_ == nullptr) return {};
  uint64_t generation = 0;
  if (exists) {
    generation = loaded.state.devices.front().generation + 1;
  } else {
    // Of an encrypted one there is an id already.
    if (keys_ == nullptr) {
      loaded.uuid_low = machine_.random->next();
      loaded.uuid_high = machine_.random->next();
    }
    loaded.features.incompatible |= format::kFeatureDevices;
  }
  loaded.state.devices = devices_->records(std::max<uint64_t>(generation, 1));
  return devices_->label(loaded.uuid_low, loaded.uuid_high, generation);
}

// Figures for others: nothing that the database needs.
void Db::Impl::start_counters() {
  counters_ = std::make_unique<db::CountersFile>(machine_, path_, manifest_->uuid_low(),
                                                 manifest_->uuid_high());
  Stats stats;
  figures(&stats);
  if (const Status s = counters_->start(stats); !s.ok()) {
    log(LogLevel::kWarning, "there will be no counters for other programs: " + s.to_string());
  }
}

// What bulk ingests of a process that died have left. Nothing refers to them.
void Db::Impl::remove_ingest_files() {
  Result<std::vector<std::string>> names = machine_.files->list(path_);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!db::is_ingest_file(name)) continue;
    if (Status s = machine_.files->remove(path_ + "/" + name); !s.ok()) {
      log(LogLevel::kWarning, "a temporary file could not be removed: " + s.to_string());
    }
  }
}

}  // namespace hawthorn
