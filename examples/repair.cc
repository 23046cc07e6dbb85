// A damaged database is repaired: a new one is made of what is readable, and what is lost is named.

#include <filesystem>
#include <string>

#include "must.h"

using hawthorn::Db;
using hawthorn::RepairLoss;
using hawthorn::RepairReport;
using hawthorn::Tree;
using hawthorn::Value;

int main(int argc, char** argv) {
  auto db = fresh_database(argc, argv);
  const std::string path = db->path();
  const std::string target = path + ".repaired";
  std::filesystem::remove_all(target);
  const Tree stock = must(db->tree("stock"));
  for (const char* fruit : {"apple", "banana", "cherry", "date"}) must(db->put(stock, fruit, "10"));
  must(db->close());
  db.reset();

  // Both slots of the superblock are gone: the database cannot be opened any more.
  std::filesystem::resize_file(path + "/superblock", 0);
  must(!Db::open(path, {}).ok());

  const RepairReport report = must(Db::repair(path, target, {}));
  must(report.losses.size() == 1 && report.losses[0].kind == RepairLoss::Kind::kSuperblock);
  must(report.manifest_read && !report.resurrected_possible && report.opened);

  db = must(Db::open(target, {}));
  Value value;
  must(db->get(must(db->find_tree("stock")), "cherry", value));
  must(value.view() == "10");
  must(must(db->check()).ok());
  db.reset();
  std::filesystem::remove_all(target);
}
