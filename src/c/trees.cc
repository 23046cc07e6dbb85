// Trees: named ones, and those that are values.

#include "c/trees.h"

#include "c/handles.h"
#include "c/records.h"

namespace hawthorn::c {

Status take_tree_options(const hawthorn_tree_options* given, TreeOptions* out) {
  hawthorn_tree_options taken;
  if (Status s = take(given, "hawthorn_tree_options", &taken); !s.ok()) return s;
  *out = {};
  if (taken.order != nullptr) out->order = taken.order;
  if (taken.value_order != nullptr) out->value_order = taken.value_order;
  out->multi_value = taken.multi_value != 0;
  out->expires = taken.expires != 0;
  out->ttl_ms = taken.ttl_ms;
  out->subtrees = taken.subtrees != 0;
  return {};
}

void show_tree_options(const TreeOptions& options, Row* row) {
  // What a feed tells of a tree leaves the order of bytes without a name.
  const auto name_of = [](const std::string& order) {
    return order.empty() ? std::string_view("bytewise") : std::string_view(order);
  };
  row->bytes("order", name_of(options.order))
      .bytes("value_order", options.multi_value ? name_of(options.value_order) : std::string_view())
      .flag("multi_value", options.multi_value)
      .flag("expires", options.expires)
      .number("ttl_ms", options.ttl_ms, HAWTHORN_UNIT_MILLISECONDS)
      .flag("subtrees", options.subtrees);
}

Status hand_out_names(std::string_view field, Result<std::vector<std::string>> names,
                      hawthorn_records** out) {
  if (!names.ok()) return names.status();
  hand_out_records(out, list_of(field, *names));
  return {};
}

}  // namespace hawthorn::c

using hawthorn::Status;
using hawthorn::TreeOptions;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::DbGiven;
using hawthorn::c::DurabilityOf;
using hawthorn::c::Given;
using hawthorn::c::hand_out_tree;
using hawthorn::c::need;
using hawthorn::c::SnapshotOf;
using hawthorn::c::take_tree_options;
using hawthorn::c::TreeOf;

hawthorn_code hawthorn_db_tree(hawthorn_db* db, const char* name, size_t name_size,
                               const hawthorn_tree_options* options, hawthorn_tree** out,
                               hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes bytes(name, name_size, "name");
    if (Status s = need(DbGiven(db), bytes, Given(out, "out")); !s.ok()) return s;
    if (options == nullptr) return hand_out_tree(db->db, db->db->tree(bytes), out);
    TreeOptions taken;
    if (Status s = take_tree_options(options, &taken); !s.ok()) return s;
    return hand_out_tree(db->db, db->db->tree(bytes, taken), out);
  });
}

hawthorn_code hawthorn_db_find_tree(hawthorn_db* db, const char* name, size_t name_size,
                                    const hawthorn_snapshot* snapshot, hawthorn_tree** out,
                                    hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes bytes(name, name_size, "name");
    const SnapshotOf at(db, snapshot);
    if (Status s = need(DbGiven(db), bytes, at, Given(out, "out")); !s.ok()) return s;
    return hand_out_tree(db->db, db->db->find_tree(bytes, at.options()), out);
  });
}

hawthorn_code hawthorn_tree_copy(const hawthorn_tree* tree, hawthorn_tree** out,
                                 hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(tree, "the tree"), Given(out, "out")); !s.ok()) return s;
    *out = new hawthorn_tree(*tree);
    return {};
  });
}

uint32_t hawthorn_tree_id(const hawthorn_tree* tree) {
  return tree != nullptr ? tree->tree.id() : 0;
}
void hawthorn_tree_free(hawthorn_tree* tree) { delete tree; }

hawthorn_code hawthorn_db_tree_options(hawthorn_db* db, const hawthorn_tree* tree,
                                       hawthorn_records** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(TreeOf(db, tree)); !s.ok()) return s;
    const auto options = db->db->tree_options(tree->tree);
    if (!options.ok()) return options.status();
    hawthorn_records records;
    hawthorn::c::show_tree_options(*options, &records.add());
    hawthorn::c::hand_out_records(out, std::move(records));
    return {};
  });
}

hawthorn_code hawthorn_db_list_trees(hawthorn_db* db, const hawthorn_snapshot* snapshot,
                                     hawthorn_records** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const SnapshotOf at(db, snapshot);
    if (Status s = need(DbGiven(db), at); !s.ok()) return s;
    return hawthorn::c::hand_out_names("name", db->db->list_trees(at.options()), out);
  });
}

hawthorn_code hawthorn_db_drop_tree(hawthorn_db* db, const char* name, size_t name_size,
                                    hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes bytes(name, name_size, "name");
    if (Status s = need(DbGiven(db), bytes); !s.ok()) return s;
    return db->db->drop_tree(bytes);
  });
}

hawthorn_code hawthorn_db_rename_tree(hawthorn_db* db, const char* from, size_t from_size,
                                      const char* to, size_t to_size, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes old_name(from, from_size, "from");
    const Bytes new_name(to, to_size, "to");
    if (Status s = need(DbGiven(db), old_name, new_name); !s.ok()) return s;
    return db->db->rename_tree(old_name, new_name);
  });
}

hawthorn_code hawthorn_db_clone_tree(hawthorn_db* db, const char* from, size_t from_size,
                                     const char* to, size_t to_size, hawthorn_durability durability,
                                     hawthorn_tree** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes source(from, from_size, "from");
    const Bytes clone(to, to_size, "to");
    const DurabilityOf level(durability);
    if (Status s = need(DbGiven(db), source, clone, level); !s.ok()) return s;
    return hand_out_tree(db->db, db->db->clone_tree(source, clone, level.get()), out);
  });
}

hawthorn_code hawthorn_db_set_compression(hawthorn_db* db, const hawthorn_tree* tree,
                                          hawthorn_compression compression,
                                          hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const hawthorn::c::OneOf kind(compression, HAWTHORN_COMPRESSION_ZSTD, "compression");
    if (Status s = need(TreeOf(db, tree), kind); !s.ok()) return s;
    return db->db->set_compression(tree->tree, static_cast<hawthorn::Compression>(compression));
  });
}

hawthorn_code hawthorn_db_set_merge_operator(hawthorn_db* db, const hawthorn_tree* tree,
                                             const char* name, size_t name_size,
                                             hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes bytes(name, name_size, "name");
    if (Status s = need(TreeOf(db, tree), bytes); !s.ok()) return s;
    return db->db->set_merge_operator(tree->tree, bytes);
  });
}

// ---- Trees as values

hawthorn_code hawthorn_db_create_subtree(hawthorn_db* db, const hawthorn_tree* parent,
                                         const void* key, size_t key_size,
                                         const hawthorn_tree_options* options,
                                         hawthorn_durability durability, hawthorn_tree** out,
                                         hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    const DurabilityOf level(durability);
    TreeOptions taken;
    Status s = need(TreeOf(db, parent), at, level);
    if (s.ok()) s = take_tree_options(options, &taken);
    if (!s.ok()) return s;
    return hand_out_tree(db->db, db->db->create_subtree(parent->tree, at, taken, level.get()), out);
  });
}

hawthorn_code hawthorn_db_subtree(hawthorn_db* db, const hawthorn_tree* parent, const void* key,
                                  size_t key_size, const hawthorn_snapshot* snapshot,
                                  hawthorn_tree** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    const SnapshotOf moment(db, snapshot);
    if (Status s = need(TreeOf(db, parent), at, moment, Given(out, "out")); !s.ok()) return s;
    return hand_out_tree(db->db, db->db->subtree(parent->tree, at, moment.options()), out);
  });
}

hawthorn_code hawthorn_db_list_subtrees(hawthorn_db* db, const hawthorn_tree* parent,
                                        const hawthorn_snapshot* snapshot, hawthorn_records** out,
                                        hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const SnapshotOf moment(db, snapshot);
    if (Status s = need(TreeOf(db, parent), moment); !s.ok()) return s;
    auto keys = db->db->list_subtrees(parent->tree, moment.options());
    return hawthorn::c::hand_out_names("key", std::move(keys), out);
  });
}

hawthorn_code hawthorn_db_attach(hawthorn_db* db, const hawthorn_tree* parent, const void* key,
                                 size_t key_size, const char* name, size_t name_size,
                                 hawthorn_durability durability, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    const Bytes bytes(name, name_size, "name");
    const DurabilityOf level(durability);
    if (Status s = need(TreeOf(db, parent), at, bytes, level); !s.ok()) return s;
    return db->db->attach(parent->tree, at, bytes, level.get());
  });
}

hawthorn_code hawthorn_db_detach(hawthorn_db* db, const hawthorn_tree* parent, const void* key,
                                 size_t key_size, const char* name, size_t name_size,
                                 hawthorn_durability durability, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    const Bytes bytes(name, name_size, "name");
    const DurabilityOf level(durability);
    if (Status s = need(TreeOf(db, parent), at, bytes, level); !s.ok()) return s;
    return db->db->detach(parent->tree, at, bytes, level.get());
  });
}

hawthorn_code hawthorn_db_move_subtree(hawthorn_db* db, const hawthorn_tree* parent,
                                       const void* key, size_t key_size,
                                       const hawthorn_tree* to_parent, const void* to_key,
                                       size_t to_key_size, hawthorn_durability durability,
                                       hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    const Bytes to(to_key, to_key_size, "to_key");
    const DurabilityOf level(durability);
    if (Status s = need(TreeOf(db, parent), TreeOf(db, to_parent), at, to, level); !s.ok()) {
      return s;
    }
    return db->db->move_subtree(parent->tree, at, to_parent->tree, to, level.get());
  });
}

hawthorn_code hawthorn_db_clone_subtree(hawthorn_db* db, const hawthorn_tree* parent,
                                        const void* key, size_t key_size, const char* to,
                                        size_t to_size, hawthorn_durability durability,
                                        hawthorn_tree** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    const Bytes name(to, to_size, "to");
    const DurabilityOf level(durability);
    if (Status s = need(TreeOf(db, parent), at, name, level); !s.ok()) return s;
    return hand_out_tree(db->db, db->db->clone_subtree(parent->tree, at, name, level.get()), out);
  });
}
