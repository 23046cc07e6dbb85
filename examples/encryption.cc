// A database that is encrypted at rest: nothing of what is stored stands readable in its files,
// another key can take over at any time, and a wrong one is told. So are its backups, which prove
// themselves to who has the key.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "must.h"

using hawthorn::Db;
using hawthorn::Options;
using hawthorn::Result;
using hawthorn::SecretKey;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::Tree;
using hawthorn::Value;

namespace {
// A vault with two keys. A real one asks a service, a card or an operator.
Result<SecretKey> key_of(std::string_view id) {
  if (id == "2025") return SecretKey::from_bytes(std::string(SecretKey::kBytes, '\x25'));
  if (id == "2026") return SecretKey::from_bytes(std::string(SecretKey::kBytes, '\x26'));
  return Status(StatusCode::kNotFound, "there is no such key");
}

bool stands_in(const std::string& directory, const std::string& text) {
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    std::ifstream stream(file.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    if (bytes.find(text) != std::string::npos) return true;
  }
  return false;
}
}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.encryption.key = key_of;
  options.encryption.key_id = "2025";  // of a new database; later it names its key itself
  auto db = fresh_database(argc, argv, options);
  const std::string directory = db->path();
  const Tree patients = must(db->tree("patients"));
  must(db->put(patients, "a name that nobody reads", "and a secret"));
  must(!stands_in(directory, "nobody reads"));  // in the log
  must(db->flush());
  must(!stands_in(directory, "nobody reads"));  // in data files
  must(!stands_in(directory, "patients"));

  // From here on only the key of 2026 opens it; the data are not written again.
  must(db->rotate_key("2026"));
  must(db->encryption().key_id == "2026");
  must(db->close());
  db.reset();

  options.encryption.key = [](std::string_view) { return key_of("2025"); };
  const Status wrong = Db::open(directory, options).status();
  std::printf("%s\n", wrong.to_string().c_str());
  must(wrong.is(StatusCode::kInvalidArgument));

  options.encryption.key = key_of;
  db = must(Db::open(directory, options));
  Value value;
  must(db->get(must(db->find_tree("patients")), "a name that nobody reads", value));
  must(value.view() == "and a secret");

  std::filesystem::remove_all(directory + ".backups");
  std::filesystem::remove_all(directory + ".restored");
  auto repository = must(hawthorn::BackupRepository::open(directory + ".backups"));
  const hawthorn::BackupInfo made = must(db->backup(*repository));
  must(made.encrypted && !stands_in(directory + ".backups", "nobody reads"));
  must(repository->verify(made.id));  // for damage: that takes no key
  must(repository->restore(made.id, directory + ".restored", {.encryption = options.encryption}));
  must(must(Db::open(directory + ".restored", options))->encryption().key_id == "2026");
  must(db->close());
  db.reset();

  // When it is damaged, a repair takes its key, and what it makes has the same one.
  std::filesystem::resize_file(directory + "/superblock", 0);
  const std::string repaired = directory + ".repaired";
  std::filesystem::remove_all(repaired);
  hawthorn::RepairOptions repair;
  must(Db::repair(directory, repaired, repair).status().is(StatusCode::kInvalidArgument));
  repair.database = options;
  must(must(Db::repair(directory, repaired, repair)).opened);
  must(!stands_in(repaired, "nobody reads"));
  db = must(Db::open(repaired, options));
  must(db->get(must(db->find_tree("patients")), "a name that nobody reads", value));
  must(db->close());
  std::filesystem::remove_all(repaired);
  return 0;
}
