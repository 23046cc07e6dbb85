// Trees by name, each change in a commit of its own.

#include <algorithm>

#include "base/out_of_memory.h"
#include "db/change_alone.h"
#include "db/cursor_impl.h"

namespace hawthorn {

Result<std::vector<std::string>> name_list(Result<std::vector<db::Catalog::Name>> names) {
  if (!names.ok()) return names.status();
  std::vector<std::string> list;
  for (db::Catalog::Name& name : *names) list.push_back(std::move(name.name));
  std::sort(list.begin(), list.end());
  return list;
}

namespace {
// Durable when it returns.
template <typename Change>
Status change_trees(Db& db, const Db::Impl& impl, Change change) {
  return change_alone(db, impl, Durability::kFull,
                      [&](Transaction& transaction) {
                        Status status = change(transaction);
                        return status.ok() ? Result<bool>(true) : Result<bool>(std::move(status));
                      })
      .status();
}
}  // namespace

Result<Tree> make_tree(Db& db, const Db::Impl& impl,
                       const std::function<Result<Tree>(Transaction&)>& make) {
  Result<Tree> found = Status(StatusCode::kNotFound);
  const Status made = change_trees(db, impl, [&](Transaction& transaction) {
    found = make(transaction);
    return found.status();
  });
  return made.ok() ? found : made;
}

Result<Tree> Db::tree(std::string_view name) try {
  Result<Tree> found = find_tree(name);
  if (!found.status().is_not_found()) return found;
  return make_tree(*this, *impl_, [&](Transaction& t) { return t.tree(name); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Tree> Db::find_tree(std::string_view name, const ReadOptions& options) try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  if (Status s = db::Catalog::check_name(name); !s.ok()) return s;
  const os::epoch::Call call;
  const Snapshot* at = options.snapshot;
  const tree::ReadView view{at == nullptr ? 0 : at->timestamp(), 0};
  Result<tree::TreeState*> found = impl_->catalog_->find(name, view, at != nullptr);
  if (!found.ok()) return found.status();
  return TreeAccess::make(*found);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::vector<std::string>> Db::list_trees(const ReadOptions& options) try {
  if (Status s = impl_->usable(); !s.ok()) return s;
  if (options.snapshot != nullptr) {
    return name_list(impl_->catalog_->list({options.snapshot->timestamp(), 0}));
  }
  const Snapshot now = snapshot();
  return name_list(impl_->catalog_->list({now.timestamp(), 0}));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::drop_tree(std::string_view name) try {
  Status status = change_trees(
      *this, *impl_, [&](Transaction& transaction) { return transaction.drop_tree(name); });
  return status.ok() ? impl_->catalog_->remove_ended(true) : status;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<tree::TreeState*> Db::Impl::clone_tree(txn::Txn& txn, std::string_view to,
                                              tree::TreeState* source, std::string_view from) {
  // Of its merge operator.
  os::MutexLock changing(settings_mutex_);
  if (source->merge_operator() != nullptr) {
    return Status(StatusCode::kNotSupported,
                  "tree \"" + std::string(from) + "\" has a merge operator: it cannot be cloned");
  }
  if (db::holds_subtrees(*source)) {
    return Status(StatusCode::kNotSupported,
                  "trees may hang in tree \"" + std::string(from) + "\": it cannot be cloned");
  }
  const db::StoredRange entries(*source, "", std::nullopt);
  txn.expect_unchanged(source, entries.low(), entries.high());
  return catalog_->clone(txn, {to}, source, from);
}

// It takes the moment of its commit, so it need not have read any other.
Result<Tree> Db::clone_tree(std::string_view from, std::string_view to, Durability durability) try {
  if (Status s = impl_->writable(); !s.ok()) return s;
  // What a large transaction has left beside the tree would stay there for the clone.
  const Result<Tree> source = find_tree(from);
  if (!source.ok()) return source;
  Status status;
  const FoundTree state = impl_->find(*source, &status);
  if (state == nullptr) return status;
  if (state->layers().have_entries()) {
    if (status = impl_->layer_merger_->drain(); !status.ok()) return status;
  }
  Result<Tree> made = Status(StatusCode::kNotFound);
  status = change_alone(*this, *impl_, durability,
                        [&](Transaction& transaction) {
                          made = transaction.clone_tree(from, to);
                          return made.ok() ? Result<bool>(true) : Result<bool>(made.status());
                        },
                        {.isolation = Isolation::kReadCommitted})
               .status();
  return status.ok() ? made : status;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::rename_tree(std::string_view from, std::string_view to) try {
  return change_trees(*this, *impl_,
                      [&](Transaction& transaction) { return transaction.rename_tree(from, to); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
