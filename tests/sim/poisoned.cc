#include "tests/sim/poisoned.h"

#include "tests/sim/reader.h"

namespace hawthorn::tests {
namespace {

constexpr Durability kDurabilities[] = {Durability::kNone, Durability::kAsync, Durability::kFull};

}  // namespace

void write_all_ways(SimWorld* world) {
  Db& db = *world->db;
  const auto refused = [world](const Status& status, const char* what) {
    world->judge_write(true, status, std::string("at last, ") + what);
  };
  for (const Durability durability : kDurabilities) {
    for (SimTree i = 0; i < kSimTrees; ++i) {
      const Tree& tree = world->trees[i];
      refused(db.put(tree, "late", "late", durability), "put");
      refused(db.del(tree, "", durability), "del");
    }
    WriteBatch batch;
    batch.put(world->trees[0], "late", "late");
    batch.merge(world->trees[2], "late", "late");
    refused(db.write(batch, durability), "write");
    refused(db.merge(world->trees[2], "late", "late", durability), "merge");
    refused(db.delete_range(world->trees[1], "", std::nullopt, durability), "delete_range");
    refused(db.replace(world->trees[1], "late", std::nullopt, "late", durability).status(),
            "replace");
    refused(db.append(world->trees[0], "late", "late", durability).status(), "append");
  }
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kExclusive, TxnMode::kPessimistic}) {
    refused(db.begin({.mode = mode}).status(), "begin");
  }
  refused(db.ingest(world->trees[0]).status(), "ingest");
  refused(db.tree("late").status(), "tree");
  refused(db.drop_tree(kSimTreeNames[0]), "drop_tree");
  refused(db.rename_tree(kSimTreeNames[0], "late"), "rename_tree");
  refused(db.clone_tree(kSimTreeNames[0], "late").status(), "clone_tree");
  refused(db.create_snapshot("late"), "create_snapshot");
  for (const std::string& name : world->snapshots) refused(db.drop_snapshot(name), "drop_snapshot");
  for (const std::string& id : world->prepared) {
    refused(db.commit_prepared(id), "commit_prepared");
    refused(db.rollback_prepared(id), "rollback_prepared");
  }
  refused(db.create_feed("late"), "create_feed");
  refused(db.open_feed_at(0).status(), "open_feed_at");
  refused(db.sync(), "sync");
  refused(db.flush(), "flush");
  refused(db.compact(), "compact");
  refused(db.drain(), "drain");
  refused(db.checkpoint("/late"), "checkpoint");
}

}  // namespace hawthorn::tests
