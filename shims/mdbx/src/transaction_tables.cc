// What transactions do with tables as wholes.

#include <algorithm>
#include <chrono>
#include <cstring>

#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/debug.h"
#include "shims/mdbx/src/transaction.h"

using hawthorn::Result;
using hawthorn::Status;
using hawthorn::mdbx::Compare;
using hawthorn::mdbx::record_key;
using hawthorn::mdbx::Table;
using hawthorn::mdbx::TableRecord;
using hawthorn::mdbx::tree_name;
using hawthorn::mdbx::TxnTable;
using hawthorn::mdbx::view;
namespace mdbx_shim = hawthorn::mdbx;

int MDBX_txn::table(MDBX_dbi dbi, TxnTable** found) {
  if (dbi < tables.size() && tables[dbi] != nullptr) {
    TxnTable* const known = tables[dbi].get();
    if (known->generation == env->handles[dbi].generation.load(std::memory_order_acquire)) {
      if (known->gone) return MDBX_BAD_DBI;
      *found = known;
      return MDBX_SUCCESS;
    }
    // The number stands for something else now.
    each_cursor(known, [](MDBX_cursor& cursor) { cursor.let_go(); });
    if (known->cursors != nullptr || known->made) return MDBX_BAD_DBI;
    tables[dbi].reset();
  }
  if (dbi >= env->max_dbi) return MDBX_BAD_DBI;
  auto fresh = std::make_unique<TxnTable>();
  if (const int code = look_up(dbi, fresh.get()); code != MDBX_SUCCESS) return code;
  if (tables.size() <= dbi) tables.resize(dbi + 1);
  tables[dbi] = std::move(fresh);
  *found = tables[dbi].get();
  return MDBX_SUCCESS;
}

// What a handle stands for, if it is there for this transaction.
int MDBX_txn::look_up(MDBX_dbi dbi, TxnTable* found) {
  {
    const std::lock_guard<std::mutex> guard(env->mutex);
    const auto& handle = env->handles[dbi];
    if (handle.table == nullptr) return MDBX_BAD_DBI;
    found->table = handle.table;
    found->generation = handle.generation.load(std::memory_order_relaxed);
  }
  const Table& table = *found->table;
  if (table.garbage) return MDBX_SUCCESS;
  if (followed == nullptr && table.since.load(std::memory_order_acquire) <= commits_before) {
    found->tree = table.tree;
    return MDBX_SUCCESS;
  }
  if (const int code = open_catalog(); code != MDBX_SUCCESS) return code;
  hawthorn::Value bytes;
  const Status s = read(catalog, record_key(table.name, table.main), bytes);
  if (!s.ok()) return s.is_not_found() ? MDBX_BAD_DBI : fail(s);
  const auto there = TableRecord::decode(bytes.view());
  if (!there) return MDBX_CORRUPTED;
  if (there->id != table.record.id) {
    // A handle is of a name: what had it when this transaction began, was dropped since.
    if (there->flags != table.record.flags) return MDBX_BAD_DBI;
    auto then = std::make_shared<Table>();
    then->name = table.name;
    then->main = table.main;
    then->record = *there;
    then->compare_keys = table.compare_keys;
    then->compare_values = table.compare_values;
    found->table = std::move(then);
  } else if (!read_only()) {
    // Nobody drops it while this transaction is open: those that begin later need not look.
    found->table->since.store(commits_before, std::memory_order_release);
  }
  found->record = *there;
  if (followed == nullptr && found->table->tree.valid()) {
    found->tree = found->table->tree;
    return MDBX_SUCCESS;
  }
  Result<hawthorn::Tree> tree = find_tree(tree_name(there->id));
  if (!tree.ok()) return fail(tree.status());
  found->tree = *tree;
  if (followed == nullptr) found->table->tree = *tree;
  return MDBX_SUCCESS;
}

int MDBX_txn::record(TxnTable* found, TableRecord** out) {
  if (!found->record) {
    if (found->table->garbage) {
      found->record = found->table->record;
    } else {
      if (const int code = open_catalog(); code != MDBX_SUCCESS) return code;
      hawthorn::Value bytes;
      const Status s = read(catalog, record_key(found->table->name, found->table->main), bytes);
      if (!s.ok()) return s.is_not_found() ? MDBX_BAD_DBI : fail(s);
      const auto there = TableRecord::decode(bytes.view());
      if (!there) return MDBX_CORRUPTED;
      found->record = *there;
    }
  }
  *out = &*found->record;
  return MDBX_SUCCESS;
}

int MDBX_txn::write_record(TxnTable* found) {
  TableRecord& mine = *found->record;
  mine.txnid = txnid;
  const Table& identity = *found->table;
  const std::string bytes = mine.encode();
  Status s = engine.put(catalog, record_key(identity.name, identity.main), bytes);
  if (s.ok() && !identity.main) {
    TxnTable* main = nullptr;
    if (const int code = table(mdbx_shim::kMainDbi, &main); code != MDBX_SUCCESS) return code;
    s = engine.put(main->tree, identity.name, bytes);
    if (s.ok()) wrote(main, bytes.size());
  }
  if (!s.ok()) return fail(s);
  flags |= MDBX_TXN_DIRTY;
  return MDBX_SUCCESS;
}

int MDBX_txn::new_record(unsigned wanted, Compare keys, Compare values, TableRecord* record) {
  if (env->next_table == 0) {
    if (const int code = read_number(mdbx_shim::kNextKey, &env->next_table); code != MDBX_SUCCESS) {
      return code;
    }
  }
  record->id = env->next_table++;
  record->flags = wanted & mdbx_shim::kPersistentFlags;
  record->txnid = txnid;
  if (keys != nullptr && keys != mdbx_shim::key_compare(wanted)) record->comparators |= 1;
  if (values != nullptr && values != mdbx_shim::value_compare(wanted)) {
    if (wanted & MDBX_DUPSORT) record->comparators |= 2;
  }
  if (record->comparators != 0) {
    record->slot = static_cast<uint32_t>(record->id % mdbx_shim::kComparatorSlots);
    bool taken = false;
    const int code = names([&](std::string_view, const TableRecord& other) {
      taken |= other.comparators != 0 && other.slot == record->slot;
      return MDBX_SUCCESS;
    });
    if (code != MDBX_SUCCESS) return code;
    if (taken) return MDBX_DBS_FULL;
  }
  const uint64_t next = env->next_table;
  if (const int code = open_catalog(); code != MDBX_SUCCESS) return code;
  const Status s = engine.put(catalog, mdbx_shim::kNextKey, mdbx_shim::stored(next));
  return s.ok() ? MDBX_SUCCESS : fail(s);
}

// Gives a handle to the table, and this transaction what it needs of it.
int MDBX_txn::bind(MDBX_dbi dbi, std::shared_ptr<Table> table, bool made) {
  auto mine = std::make_unique<TxnTable>();
  if (tables.size() <= dbi) tables.resize(dbi + 1);
  mine->tree = table->tree;
  if (followed != nullptr) {
    Result<hawthorn::Tree> tree = find_tree(tree_name(table->record.id));
    if (!tree.ok()) return fail(tree.status());
    mine->tree = *tree;
  }
  // From here on nothing fails: what a handle stands for is undone by who knows of it.
  {
    const std::lock_guard<std::mutex> guard(env->mutex);
    auto& handle = env->handles[dbi];
    mine->before = tables[dbi] != nullptr && tables[dbi]->made ? tables[dbi]->before : handle.table;
    // Of the same name it stays what it is to transactions that have it.
    if (handle.table == nullptr) handle.generation.fetch_add(1, std::memory_order_acq_rel);
    handle.table = table;
    mine->generation = handle.generation.load(std::memory_order_relaxed);
    if (made) env->renames.fetch_add(1, std::memory_order_acq_rel);
    env->handle_count = std::max(env->handle_count, dbi + 1);
  }
  env->give_comparators(*table);
  mine->table = table;
  mine->record = table->record;
  mine->made = made;
  tables[dbi] = std::move(mine);
  return MDBX_SUCCESS;
}

// The handle that the name has; else the first that is free. MDBX_DBS_FULL.
int MDBX_txn::find_handle(std::string_view name, MDBX_dbi* dbi) {
  const std::lock_guard<std::mutex> guard(env->mutex);
  MDBX_dbi free = env->max_dbi;
  for (MDBX_dbi i = mdbx_shim::kCoreDbis; i < env->max_dbi; ++i) {
    const Table* const table = i < env->handle_count ? env->handles[i].table.get() : nullptr;
    if (table == nullptr) {
      free = std::min(free, i);
      if (i >= env->handle_count) break;
      continue;
    }
    // This transaction may have renamed it, which others learn with its commit.
    const TxnTable* const mine = i < tables.size() ? tables[i].get() : nullptr;
    const bool known = mine != nullptr && mine->table != nullptr &&
                       mine->generation == env->handles[i].generation.load();
    if ((known ? mine->table->name : table->name) == name && !(known && mine->gone)) {
      *dbi = i;
      return MDBX_SUCCESS;
    }
  }
  *dbi = free;
  return free < env->max_dbi ? MDBX_NOTFOUND : MDBX_DBS_FULL;
}

bool MDBX_txn::has_entries(TxnTable* found, bool* any) {
  hawthorn::Cursor cursor = open_cursor(found->tree, {.key_only = true});
  *any = cursor.first();
  return cursor.status().ok();
}

// Another shape for a table that has no entries.
int MDBX_txn::reshape(MDBX_dbi dbi, TxnTable* found, unsigned wanted, Compare keys,
                      Compare values) {
  bool any = false;
  if (!has_entries(found, &any)) return MDBX_CORRUPTED;
  if (any) return MDBX_INCOMPATIBLE;
  if (found->cursors != nullptr) return MDBX_DANGLING_DBI;
  if (read_only()) return MDBX_EACCESS;
  found->scratch.reset();
  auto changed = std::make_shared<Table>();
  changed->name = found->table->name;
  changed->main = found->table->main;
  if (const int code = new_record(wanted, keys, values, &changed->record); code != MDBX_SUCCESS) {
    return code;
  }
  changed->compare_keys = keys != nullptr ? keys : mdbx_shim::key_compare(wanted);
  changed->compare_values = values != nullptr ? values : mdbx_shim::value_compare(wanted);
  if (const Status s = engine.drop_tree(tree_name(found->table->record.id)); !s.ok())
    return fail(s);
  Result<hawthorn::Tree> tree =
      engine.tree(tree_name(changed->record.id), mdbx_shim::tree_options(changed->record));
  if (!tree.ok()) return fail(tree.status());
  changed->tree = *tree;
  if (const int code = bind(dbi, changed, true); code != MDBX_SUCCESS) return code;
  return write_record(tables[dbi].get());
}

int MDBX_txn::open_main(unsigned wanted, Compare keys, Compare values) {
  TxnTable* main = nullptr;
  if (const int code = table(mdbx_shim::kMainDbi, &main); code != MDBX_SUCCESS) return code;
  const unsigned has = main->table->record.flags;
  const bool other_flags = (wanted & ~unsigned{MDBX_CREATE}) != has;
  const bool other_keys = keys != nullptr && keys != main->table->compare_keys;
  const bool other_values = values != nullptr && values != main->table->compare_values;
  if (!other_flags && !other_keys && !other_values) return MDBX_SUCCESS;
  if (wanted == MDBX_DB_ACCEDE) return MDBX_SUCCESS;
  if (wanted == 0 && !other_keys && !other_values) return MDBX_SUCCESS;
  if (!(wanted & MDBX_CREATE)) return MDBX_INCOMPATIBLE;
  return reshape(mdbx_shim::kMainDbi, main, wanted, keys, values);
}

int MDBX_txn::open_table(const MDBX_val* name, unsigned wanted, MDBX_dbi* dbi, Compare keys,
                         Compare values) {
  *dbi = 0;
  if (wanted != MDBX_DB_ACCEDE && !mdbx_shim::flags_are_valid(wanted & ~unsigned{MDBX_CREATE})) {
    return MDBX_EINVAL;
  }
  if ((wanted & MDBX_CREATE) && read_only()) return MDBX_EACCESS;
  if (name == nullptr || name->iov_base == nullptr) {
    const int code = open_main(wanted, keys, values);
    if (code == MDBX_SUCCESS) *dbi = mdbx_shim::kMainDbi;
    return code;
  }
  const std::string_view asked = view(*name);
  if (asked.size() > mdbx_shim::kNameMax) return MDBX_EINVAL;
  TxnTable* main = nullptr;
  if (const int code = table(mdbx_shim::kMainDbi, &main); code != MDBX_SUCCESS) return code;
  if (main->table->multi()) {
    if (!(wanted & MDBX_CREATE)) return MDBX_NOTFOUND;
    const int code =
        reshape(mdbx_shim::kMainDbi, main,
                main->table->record.flags & (MDBX_REVERSEKEY | MDBX_INTEGERKEY), nullptr, nullptr);
    if (code != MDBX_SUCCESS) return code;
    main = tables[mdbx_shim::kMainDbi].get();
  }
  MDBX_dbi handle = 0;
  const int known = find_handle(asked, &handle);
  TxnTable* open = nullptr;
  if (known == MDBX_SUCCESS && table(handle, &open) == MDBX_SUCCESS) {
    const Table& has = *open->table;
    const bool other_keys = keys != nullptr && keys != has.compare_keys;
    const bool other_values = values != nullptr && values != has.compare_values;
    if ((wanted & ~unsigned{MDBX_CREATE}) != has.record.flags && wanted != MDBX_DB_ACCEDE &&
        (wanted != 0 || other_keys || other_values)) {
      if (!(wanted & MDBX_CREATE)) return MDBX_INCOMPATIBLE;
      const int code = reshape(handle, open, wanted, keys, values);
      if (code != MDBX_SUCCESS) return code;
    } else if (other_keys || other_values) {
      return MDBX_EINVAL;
    }
    *dbi = handle;
    return MDBX_SUCCESS;
  }
  // Not open, or what is open by the name is not what this transaction would find there.
  if (const int code = open_catalog(); code != MDBX_SUCCESS) return code;
  hawthorn::Value bytes;
  const Status found = read(catalog, record_key(asked, false), bytes);
  if (!found.ok() && !found.is_not_found()) return fail(found);
  auto fresh = std::make_shared<Table>();
  fresh->name = asked;
  bool made = false;
  if (found.ok()) {
    const auto record = TableRecord::decode(bytes.view());
    if (!record) return MDBX_CORRUPTED;
    fresh->record = *record;
  } else if (read(main->tree, asked, bytes).ok()) {
    return MDBX_INCOMPATIBLE;  // an entry of the main table
  } else {
    if (!(wanted & MDBX_CREATE)) return MDBX_NOTFOUND;
    made = true;
  }
  if (known == MDBX_DBS_FULL) return MDBX_DBS_FULL;
  if (known == MDBX_SUCCESS && !made) return MDBX_BAD_DBI;  // it was opened with other flags
  if (made) {
    const int code = new_record(wanted, keys, values, &fresh->record);
    if (code != MDBX_SUCCESS) return code;
  } else if (wanted != MDBX_DB_ACCEDE && wanted != 0 &&
             (wanted & ~unsigned{MDBX_CREATE}) != fresh->record.flags) {
    if (!(wanted & MDBX_CREATE)) return MDBX_INCOMPATIBLE;
  }
  const unsigned has = fresh->record.flags;
  fresh->compare_keys = keys != nullptr ? keys : mdbx_shim::key_compare(has);
  fresh->compare_values = values != nullptr ? values : mdbx_shim::value_compare(has);
  const auto options = mdbx_shim::tree_options(fresh->record);
  if (followed == nullptr) {
    Result<hawthorn::Tree> tree = made ? engine.tree(tree_name(fresh->record.id), options)
                                       : find_tree(tree_name(fresh->record.id));
    if (!tree.ok()) return fail(tree.status());
    fresh->tree = *tree;
  }
  if (!made && !read_only()) fresh->since.store(commits_before, std::memory_order_release);
  if (const int code = bind(handle, fresh, made); code != MDBX_SUCCESS) return code;
  *dbi = handle;
  if (made) {
    env->named_tables.fetch_add(1);
    const int code = write_record(tables[handle].get());
    if (code != MDBX_SUCCESS) *dbi = 0;
    return code;
  }
  // Flags that are not those it has, or functions that are not its order: only while it is empty.
  const bool same_flags =
      wanted == 0 || wanted == MDBX_DB_ACCEDE || (wanted & ~unsigned{MDBX_CREATE}) == has;
  const bool same_keys = keys == nullptr || (fresh->record.comparators & 1) != 0 ||
                         keys == mdbx_shim::key_compare(has);
  const bool same_values = values == nullptr || (fresh->record.comparators & 2) != 0 ||
                           values == mdbx_shim::value_compare(has);
  if (same_flags && same_keys && same_values) return MDBX_SUCCESS;
  const int code = reshape(handle, tables[handle].get(), wanted == 0 ? has : wanted, keys, values);
  if (code != MDBX_SUCCESS) *dbi = 0;
  return code;
}

int MDBX_txn::remove_table(std::string_view name, const TableRecord& record) {
  TxnTable* main = nullptr;
  if (const int code = table(mdbx_shim::kMainDbi, &main); code != MDBX_SUCCESS) return code;
  Status s = engine.drop_tree(tree_name(record.id));
  if (s.ok()) s = engine.del(catalog, record_key(name, false));
  if (s.ok()) s = engine.del(main->tree, name);
  if (!s.ok()) return fail(s);
  dropped.push_back(record.id);
  const std::string gone(name);
  each_cursor(main, [&](MDBX_cursor& cursor) { cursor.entry_deleted(gone, nullptr); });
  wrote(main, 0);
  for (auto& mine : tables) {
    if (mine == nullptr || mine->table == nullptr || mine->table->record.id != record.id) continue;
    each_cursor(mine.get(), [](MDBX_cursor& cursor) { cursor.table_emptied(); });
    mine->scratch.reset();
    mine->gone = true;
  }
  return MDBX_SUCCESS;
}

int MDBX_txn::drop_table(MDBX_dbi dbi, bool remove) {
  TxnTable* mine = nullptr;
  if (const int code = table(dbi, &mine); code != MDBX_SUCCESS) return code;
  if (mine->table->garbage) return MDBX_EACCESS;
  if (const int code = open_catalog(); code != MDBX_SUCCESS) return code;
  if (remove && !mine->table->main) {
    const std::string name = mine->table->name;
    return remove_table(name, mine->table->record);
  }
  if (mine->table->main) {
    // With the main table go all whose names it has.
    std::vector<std::pair<std::string, TableRecord>> all;
    const int code = names([&](std::string_view name, const TableRecord& record) {
      all.emplace_back(name, record);
      return MDBX_SUCCESS;
    });
    if (code != MDBX_SUCCESS) return code;
    for (const auto& [name, record] : all) {
      if (const int failed = remove_table(name, record); failed != MDBX_SUCCESS) return failed;
    }
  }
  mine->scratch.reset();
  if (const Status s = engine.delete_range(mine->tree, ""); !s.ok()) return fail(s);
  each_cursor(mine, [](MDBX_cursor& cursor) { cursor.table_emptied(); });
  wrote(mine, 0);
  mine->entries = 0;
  TableRecord* mine_record = nullptr;
  if (const int code = record(mine, &mine_record); code != MDBX_SUCCESS) return code;
  if (mine_record->sequence == 0 && mine_record->key_bytes == 0 && mine_record->value_bytes == 0) {
    return MDBX_SUCCESS;
  }
  mine_record->sequence = 0;
  mine_record->key_bytes = 0;
  mine_record->value_bytes = 0;
  return write_record(mine);
}

int MDBX_txn::rename_table(MDBX_dbi dbi, std::string_view name) {
  TxnTable* mine = nullptr;
  if (const int code = table(dbi, &mine); code != MDBX_SUCCESS) return code;
  if (dbi < mdbx_shim::kCoreDbis || name.size() > mdbx_shim::kNameMax) return MDBX_EINVAL;
  TxnTable* main = nullptr;
  if (const int code = table(mdbx_shim::kMainDbi, &main); code != MDBX_SUCCESS) return code;
  hawthorn::Value bytes;
  if (const Status s = read(main->tree, name, bytes); !s.is_not_found()) {
    return s.ok() ? MDBX_KEYEXIST : fail(s);
  }
  TableRecord* mine_record = nullptr;
  if (const int code = record(mine, &mine_record); code != MDBX_SUCCESS) return code;
  const std::string before = mine->table->name;
  Status s = engine.del(catalog, record_key(before, false));
  if (s.ok()) s = engine.del(main->tree, before);
  if (!s.ok()) return fail(s);
  each_cursor(main, [&](MDBX_cursor& cursor) { cursor.entry_deleted(before, nullptr); });
  auto renamed = std::make_shared<Table>();
  renamed->name = name;
  renamed->record = *mine_record;
  renamed->compare_keys = mine->table->compare_keys;
  renamed->compare_values = mine->table->compare_values;
  renamed->tree = mine->table->tree;
  mine->table = std::move(renamed);
  return write_record(mine);
}

int MDBX_txn::names(
    const std::function<int(std::string_view name, const TableRecord& record)>& use) {
  if (const int code = open_catalog(); code != MDBX_SUCCESS) return code;
  hawthorn::Cursor cursor = open_cursor(catalog);
  const std::string_view prefix = mdbx_shim::kTablePrefix;
  for (bool more = cursor.seek(prefix); more && cursor.key().starts_with(prefix);
       more = cursor.next()) {
    const auto there = TableRecord::decode(cursor.value());
    if (!there) return MDBX_CORRUPTED;
    const std::string name(cursor.key().substr(prefix.size()));
    if (const int code = use(name, *there); code != MDBX_SUCCESS) return code;
  }
  return cursor.status().ok() ? MDBX_SUCCESS : fail(cursor.status());
}

int MDBX_txn::entries_of(TxnTable* found, uint64_t* entries) {
  if (found->entries) {
    *entries = *found->entries;
    return MDBX_SUCCESS;
  }
  // What is common to all is the table as it was last committed. One that writes sees that until it
  // has written it.
  Table& table = *found->table;
  std::optional<uint64_t> from;
  if (env->writes() && !found->written && !found->made) {
    const uint64_t sees = read_only() ? id() : txnid - 1;
    const std::lock_guard<std::mutex> guard(env->mutex);
    if (!table.unwritten_above) {
      table.unwritten_above = env->last_txnid.load(std::memory_order_acquire);
    }
    if (*table.unwritten_above <= sees) from = table.unwritten_above;
    if (from && table.entries) {
      *entries = *table.entries;
      if (!read_only()) found->entries = *entries;
      return MDBX_SUCCESS;
    }
  }
  const Result<uint64_t> counted = count(found->tree, "", std::nullopt);
  if (!counted.ok()) return fail(counted.status());
  *entries = *counted;
  if (!read_only()) found->entries = *entries;
  const std::lock_guard<std::mutex> guard(env->mutex);
  if (from && table.unwritten_above == from) table.entries = *entries;
  return MDBX_SUCCESS;
}

// About as many bytes as the table has on disk: as of the last second, while it has about as many
// entries.
uint64_t MDBX_txn::bytes_of(TxnTable* found, uint64_t entries) {
  Table::Size& size = found->table->size;
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard<std::mutex> guard(env->mutex);
    const uint64_t apart = std::max(entries, size.entries) - std::min(entries, size.entries);
    if (now - size.at < std::chrono::seconds(1) && apart <= entries / 16) return size.bytes;
  }
  const Result<hawthorn::RangeEstimate> estimate = db->estimate(found->tree, "", std::nullopt);
  const uint64_t bytes = estimate.ok() ? estimate->bytes : 0;
  const std::lock_guard<std::mutex> guard(env->mutex);
  size = {bytes, entries, now};
  return bytes;
}

int MDBX_txn::stat(TxnTable* found, MDBX_stat* stat, size_t bytes) {
  memset(stat, 0, bytes);
  stat->ms_psize = static_cast<unsigned>(env->page_bytes);
  if (found->table->garbage) return MDBX_SUCCESS;
  if (const int code = finish_reserve(); code != MDBX_SUCCESS) return code;
  if (const int code = entries_of(found, &stat->ms_entries); code != MDBX_SUCCESS) return code;
  // Pages are what the bytes on disk would fill: the engine has none.
  const uint64_t on_disk = bytes_of(found, stat->ms_entries);
  if (stat->ms_entries > 0) {
    stat->ms_leaf_pages = std::max<uint64_t>(1, on_disk / env->page_bytes);
    stat->ms_depth = 1;
    for (uint64_t pages = stat->ms_leaf_pages; pages > 1; pages = (pages + 127) / 128) {
      if (pages != stat->ms_leaf_pages) stat->ms_branch_pages += pages;
      ++stat->ms_depth;
    }
    if (stat->ms_depth > 1) ++stat->ms_branch_pages;
  }
  if (bytes >= offsetof(MDBX_stat, ms_mod_txnid) + sizeof(stat->ms_mod_txnid)) {
    stat->ms_mod_txnid =
        std::max(found->table->record.txnid, found->table->txnid.load(std::memory_order_relaxed));
    if (found->written) stat->ms_mod_txnid = txnid;
  }
  return MDBX_SUCCESS;
}
