#pragma once
// The entries of a tree of the engine, as import and export walk over them.
//
// Threads: one object, one thread.

#include "hawthorn/db.h"
#include "tools/rocksdb/migrate.h"

namespace hawthorn::tools {

class TreeWalk final : public Walk {
 public:
  TreeWalk(Db& db, const Tree& tree) : cursor_(db.cursor(tree)) { cursor_.first(); }
  bool valid() const override { return cursor_.valid(); }
  std::string_view key() const override { return cursor_.key(); }
  std::string_view value() const override { return cursor_.value(); }
  void next() override { cursor_.next(); }
  Status status() const override { return cursor_.status(); }

 private:
  Cursor cursor_;
};

}  // namespace hawthorn::tools
