#pragma once
// The entries of a tree of the engine, as import and export walk over them.
//
// Threads: one object, one thread.

#include "hawthorn/db.h"
#include "shims/rocksdb/src/entities.h"
#include "tools/rocksdb/migrate.h"

namespace hawthorn::tools {

class TreeWalk final : public Walk {
 public:
  // Lifetime: the mark, which tells entities, outlives it.
  TreeWalk(Db& db, const Tree& tree, const rocks::EntityMark& mark)
      : cursor_(db.cursor(tree)), mark_(mark) {
    cursor_.first();
  }
  bool valid() const override { return cursor_.valid(); }
  std::string_view key() const override { return cursor_.key(); }
  Content content() const override {
    const rocks::Content content = mark_.content(cursor_.value());
    return {content.bytes, content.entity};
  }
  void next() override { cursor_.next(); }
  Status status() const override { return cursor_.status(); }

 private:
  Cursor cursor_;
  const rocks::EntityMark& mark_;
};

}  // namespace hawthorn::tools
