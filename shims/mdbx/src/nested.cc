// Transactions inside of others, and what becomes of the cursors of those around them: a nested one
// uses them as its own, and its end gives them back, where it is committed as they are by then, and
// else as they were.

#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/transaction.h"

using hawthorn::Result;
using hawthorn::mdbx::TxnTable;

int MDBX_txn::begin_nested(MDBX_txn* around) {
  owner = around->owner;
  env = around->env;
  db = around->db;
  commits_before = around->commits_before;
  txnid = around->txnid;
  catalog = around->catalog;
  for (auto& table : around->tables) {
    if (table == nullptr) continue;
    around->each_cursor(table.get(), [](MDBX_cursor& cursor) { cursor.let_go(); });
    table->scratch.reset();
  }
  note_cursors(*around);
  Result<hawthorn::Transaction> begun = around->engine.begin_nested();
  if (!begun.ok()) return around->fail(begun.status());
  engine = std::move(*begun);
  tables.resize(around->tables.size());
  for (size_t i = 0; i < tables.size(); ++i) {
    if (around->tables[i] == nullptr) continue;
    const TxnTable& outer = *around->tables[i];
    tables[i] = std::make_unique<TxnTable>();
    TxnTable& inner = *tables[i];
    inner.table = outer.table;
    inner.generation = outer.generation;
    inner.tree = outer.tree;
    inner.record = outer.record;
    inner.gone = outer.gone;
    inner.entries = outer.entries;
    inner.written = outer.written;
  }
  borrow_cursors();
  own_canary = around->own_canary;
  canary_known = around->canary_known;
  parent = around;
  around->child = this;
  around->flags |= MDBX_TXN_HAS_CHILD;
  env->write_txn = this;
  return MDBX_SUCCESS;
}

// Where they stand. What fails leaves them alone.
void MDBX_txn::note_cursors(MDBX_txn& around) {
  for (auto& table : around.tables) {
    if (table == nullptr) continue;
    around.each_cursor(table.get(), [this](MDBX_cursor& cursor) {
      borrowed.push_back({&cursor, std::make_shared<hawthorn::mdbx::CursorPlace>(cursor)});
    });
  }
}

void MDBX_txn::borrow_cursors() {
  for (const Borrowed& one : borrowed) {
    MDBX_cursor& cursor = *one.cursor;
    cursor.txn->detach(&cursor);
    cursor.table = tables[cursor.dbi].get();
    cursor.txn = this;
    attach(&cursor);
    ++cursor.lent;
  }
}

void MDBX_txn::give_cursors_back(bool as_they_are) {
  for (Borrowed& one : borrowed) {
    MDBX_cursor& cursor = *one.cursor;
    --cursor.lent;
    if (cursor.signature == hawthorn::mdbx::kCursorClosing) {
      if (cursor.lent == 0) delete &cursor;
      continue;
    }
    cursor.let_go();
    detach(&cursor);
    if (!as_they_are) static_cast<hawthorn::mdbx::CursorPlace&>(cursor) = std::move(*one.place);
    cursor.table = parent->tables[cursor.dbi].get();
    cursor.txn = parent;
    parent->attach(&cursor);
  }
  borrowed.clear();
}

void MDBX_txn::keep_cursor(MDBX_cursor& cursor) {
  for (MDBX_txn* txn = this; txn != nullptr; txn = txn->parent) {
    std::erase_if(txn->borrowed, [&](const Borrowed& one) { return one.cursor == &cursor; });
  }
  cursor.lent = 0;
}

void MDBX_txn::make_room_in_parent() {
  parent->tables.resize(std::max(parent->tables.size(), tables.size()));
  parent->dropped.reserve(parent->dropped.size() + dropped.size());
}

// After its engine's transaction was committed: takes no memory.
void MDBX_txn::merge_into_parent() {
  for (size_t dbi = 0; dbi < tables.size(); ++dbi) {
    if (tables[dbi] == nullptr) continue;
    auto& outer = parent->tables[dbi];
    if (outer == nullptr) {
      outer = std::move(tables[dbi]);
      continue;
    }
    TxnTable& inner = *tables[dbi];
    outer->table = inner.table;
    outer->generation = inner.generation;
    outer->tree = inner.tree;
    outer->record = inner.record;
    if (inner.made && !outer->made) outer->before = inner.before;
    outer->made |= inner.made;
    outer->gone = inner.gone;
    outer->entries = inner.entries;
    outer->written |= inner.written;
  }
  parent->dropped.insert(parent->dropped.end(), dropped.begin(), dropped.end());
  parent->own_canary = own_canary;
  parent->canary_known = canary_known;
  parent->written_bytes += written_bytes;
  parent->flags |= flags & MDBX_TXN_DIRTY;
  for (auto& table : parent->tables) {
    if (table != nullptr) {
      parent->each_cursor(table.get(), [](MDBX_cursor& cursor) { cursor.table_written(); });
    }
  }
}
