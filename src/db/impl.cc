#include "db/impl.h"

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "db/large_values.h"
#include "db/scrub.h"
#include "db/thread_txns.h"
#include "os/epoch.h"
#include "os/fork.h"

namespace hawthorn {

namespace {
std::atomic<uint64_t> next_instance{1};
}  // namespace

Db::Impl::Impl(const os::Machine& machine, std::string path, Options options)
    : files_(machine.files->of_directory(path, options.file_mode)),
      events_(options.listeners.empty()
                  ? nullptr
                  : std::make_unique<db::Events>(options.listeners, options.log)),
      background_io_(machine.clock),
      keys_(options.encryption.key == nullptr ? nullptr : std::make_unique<os::DataKeys>()),
      machine_(with_hooks(machine)),
      path_(std::move(path)),
      options_(std::move(options)),
      outcome_reserve_(machine_, path_),
      instance_(next_instance.fetch_add(1, std::memory_order_relaxed)) {
  fork_generation_ = os::fork_generation();
  if (options_.background_io_bytes_per_second > 0) {
    background_io_.set_rate(options_.background_io_bytes_per_second);
  }
}

Db::Impl::~Impl() {
  // Callbacks may still call, and are told that it is closed.
  if (events_ != nullptr) static_cast<void>(events_->pause().ok());
  if (filters_ != nullptr) filters_->stop();
  if (scrub_ != nullptr) scrub_->stop();
  if (expiry_ != nullptr) expiry_->stop();
  if (layer_merger_ != nullptr) layer_merger_->stop();
  const bool was_open = opened_ && !closed_.exchange(true, std::memory_order_acq_rel);
  if (scheduler_ != nullptr) scheduler_->stop();
  if (publisher_ != nullptr) publisher_->stop();
  close_counters();
  prepared_.abandon_all();
  if (events_ != nullptr) {
    if (was_open) events_->post(Closed{});
    events_->stop();
  }
  publisher_.reset();
  log_.reset();
  manifest_.reset();
  catalog_.reset();
  large_.reset();
  os::epoch::drain();  // what the trees have retired refers to the parts below
  scheduler_.reset();
}

os::Machine Db::Impl::with_hooks(const os::Machine& machine) {
  os::Machine hooked = machine;
  if (files_ != nullptr) hooked.files = files_.get();
  hooked.events = events_.get();
  hooked.background_io = &background_io_;
  hooked.keys = keys_.get();
  return hooked;
}

// What only the catalog and the trees know.
void Db::Impl::complete_event(os::Event& event) const {
  const auto name_tree = [this](auto& of) {
    if (of.tree != format::kCatalogTree) of.tree_name = catalog_->manifest_name(of.tree);
  };
  if (auto* begun = std::get_if<FlushBegun>(&event)) name_tree(*begun);
  if (auto* completed = std::get_if<FlushCompleted>(&event)) name_tree(*completed);
  auto* damage = std::get_if<DamageFound>(&event);
  if (damage == nullptr) return;
  name_tree(*damage);
  const os::epoch::Call call;
  const tree::TreeState* tree = catalog_->any(damage->tree);
  if (tree == nullptr) return;
  const os::epoch::Guard guard;
  const tree::Container* container = tree->directory().find(damage->low_key);
  if (container->has_high) damage->high_key = container->high;
}

void Db::Impl::log(LogLevel level, std::string_view message) const {
  if (options_.log) options_.log(level, message);
}

Status Db::Impl::usable() const {
  // A child, or short of memory.
  if (os::process_word.load(std::memory_order_relaxed) != fork_generation_) [[unlikely]] {
    if (inherited()) {
      return Status(StatusCode::kForked, "this database was opened by the parent process");
    }
    if (!closed_.load(std::memory_order_acquire) && os::memory_short()) return out_of_memory();
  }
  if (closed_.load(std::memory_order_acquire))
    return Status(StatusCode::kClosed, "the database is closed");
  if (view_ != nullptr && view_->revoked()) [[unlikely]] {
    return db::View::too_old();
  }
  return {};
}

Status Db::Impl::told(Status status) const {
  if (!status.is(StatusCode::kCorruption) || view_ == nullptr || !view_->revoked()) return status;
  return db::View::too_old();
}

Status Db::Impl::writable() const {
  if (Status s = usable(); !s.ok()) return s;
  if (options_.read_only) return Status(StatusCode::kReadOnly, "the database was opened read-only");
  return log_ == nullptr ? Status() : log_->writable();
}

Status Db::Impl::check_sizes(std::string_view key, uint64_t value_bytes) const {
  const Limits limits = Db::limits();
  if (key.size() > limits.key_bytes_max) {
    return Status(StatusCode::kInvalidArgument, "a key of " + std::to_string(key.size()) +
                                                    " bytes is over the limit of " +
                                                    std::to_string(limits.key_bytes_max));
  }
  if (value_bytes > limits.batch_value_bytes_max) {
    return Status(StatusCode::kInvalidArgument,
                  "a value of " + std::to_string(value_bytes) + " bytes is over the limit of " +
                      std::to_string(limits.batch_value_bytes_max) + "; write it with put_stream");
  }
  return {};
}

// ---- Trees

Status Db::Impl::why_absent(const Tree& tree) const {
  const tree::TreeCell* const cell = TreeAccess::cell(tree);
  if (cell != nullptr && cell->store == &store_) return tree_was_dropped();
  return {StatusCode::kInvalidArgument, "the tree handle is not one of this database"};
}

tree::TreeState* Db::Impl::find_ended(const Tree& tree, Status* status, format::Lsn ts) const {
  tree::TreeState* const state = own(tree, status);
  // It may have been committed just now.
  if (state == nullptr || state->stands()) return state;
  const format::Lsn ended = state->ended.load(std::memory_order_acquire);
  if (ended != tree::TreeState::kUnborn && ended > ts) return state;
  *status = ended == tree::TreeState::kUnborn
                ? Status(StatusCode::kInvalidArgument,
                         "the tree was made by a transaction that has not committed")
                : tree_was_dropped();
  return nullptr;
}

// ---- Writing

namespace {
// Heap memory that counts for as long as this lives.
class ChargedHeap {
 public:
  ChargedHeap(os::Arena* arena, size_t bytes) : arena_(arena), bytes_(bytes) {
    arena_->charge(os::Quota::kOther, static_cast<ptrdiff_t>(bytes_));
  }
  ~ChargedHeap() { arena_->charge(os::Quota::kOther, -static_cast<ptrdiff_t>(bytes_)); }
  ChargedHeap(const ChargedHeap&) = delete;
  ChargedHeap& operator=(const ChargedHeap&) = delete;

 private:
  os::Arena* const arena_;
  const size_t bytes_;
};
}  // namespace

// Values over the limit go to extents of their own first; the rewritten operations name those.
Status Db::Impl::write_large_values(std::string_view operations, txn::Txn& txn,
                                    std::string* rewritten) {
  const char* at = operations.data();
  const char* end = at + operations.size();
  while (at < end) {
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr)
      return Status(StatusCode::kInvalidArgument, "a write batch holds no valid operations");
    if (operation.type != format::OperationType::kPut ||
        operation.value.size() <= db::kLargeValueBytes) {
      format::append_operation(*rewritten, operation);
      continue;
    }
    Result<std::string> encoded = db::write_large_value(&store_, scheduler_.get(), operation.value);
    if (!encoded.ok()) return encoded.status();
    format::append_operation(
        *rewritten, {format::OperationType::kPutLarge, operation.tree, operation.key, *encoded});
    txn.own_large(*encoded);
  }
  return {};
}

// Each thread keeps a transaction for its single writes.
txn::Txn& Db::Impl::thread_txn() {
  db::ThreadTxns::Kept& single = db::ThreadTxns::mine().single;
  if (single.instance != instance_) {
    single.txn = std::make_unique<txn::Txn>(services_);
    single.instance = instance_;
    single.txn->drop_large = [this](auto extents) { db::drop_extents(&store_, extents); };
  }
  return *single.txn;
}

txn::Begin Db::Impl::blind() const {
  return {.mode = txn::Mode::kBlind,
          .lock_timeout_us = timeout_us_of(options_.lock_timeout_ms),
          .hooks = hooks()};
}

// `prepared`: what has become of its large values.
Status Db::Impl::commit_operations(txn::Txn& txn, const Status& prepared,
                                   std::string_view operations, uint32_t count,
                                   Durability durability, bool* looks) {
  Status status = prepared;
  if (status.ok()) {
    status = txn.write_all(operations, count, [&](uint32_t id) {
      tree::TreeState* const tree = catalog_->find(id);
      if (tree == nullptr || !db::holds_subtrees(*tree)) return tree;
      HAWTHORN_ASSERT(looks != nullptr);
      *looks = true;
      return static_cast<tree::TreeState*>(nullptr);
    });
  }
  if (!status.ok()) {
    txn.abort();
    return status;
  }
  operations_.fetch_add(count, std::memory_order_relaxed);
  return txn.commit(level(durability));
}

Status Db::Impl::write_operations(std::string_view operations, uint32_t count, bool large,
                                  Durability durability, bool* looks) {
  if (Status s = writable(); !s.ok()) return s;
  if (count == 0) return {};
  HAWTHORN_ASSERT(os::epoch::in_call());
  txn::Txn& txn = thread_txn();
  if (Status s = txn.begin(blind()); !s.ok()) return s;
  if (!large) return commit_operations(txn, {}, operations, count, durability, looks);
  std::string rewritten;
  const Status status = write_large_values(operations, txn, &rewritten);
  const ChargedHeap charged(arena_.get(), rewritten.capacity());
  return commit_operations(txn, status, rewritten, count, durability, looks);
}

Status Db::Impl::write_large(uint32_t tree, std::string_view key, std::string_view value,
                             Durability durability) {
  if (Status s = writable(); !s.ok()) return s;
  HAWTHORN_ASSERT(os::epoch::in_call());
  txn::Txn& txn = thread_txn();
  if (Status s = txn.begin(blind()); !s.ok()) return s;
  Result<std::string> encoded = db::write_large_value(&store_, scheduler_.get(), value);
  const Status prepared = encoded.status();
  std::string operation;
  if (prepared.ok()) {
    format::append_operation(operation, {format::OperationType::kPutLarge, tree, key, *encoded});
    txn.own_large(*encoded);
  }
  return commit_operations(txn, prepared, operation, 1, durability);
}

}  // namespace hawthorn
