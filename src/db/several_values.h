#pragma once
// What the public functions do where a key may have several values.
//
// Not here: what is stored (format/tree_shape.h), cursors (shaped_cursors.cc). Used by db.cc and
// transactions.cc. Threads: any.

#include <string_view>

#include "db/impl.h"
#include "hawthorn/value.h"

namespace hawthorn::db {

// The first value of a key, now or in a snapshot. Errors: those of Db::get.
Status get_first_value(Db::Impl& db, tree::TreeState* tree, std::string_view key,
                       const Snapshot* snapshot, Value& value);

// Removes all values of a key, in a transaction of its own. Errors: those of Db::del.
Status del_values(Db& db, const Db::Impl& impl, const Tree& tree, std::string_view key,
                  Durability durability);

}  // namespace hawthorn::db
