// Verifies what is on disk: at once, at a rate beside other work, and round after round in the
// background. Here a byte rots; the check says where, and all other keys are still read.

#include <fstream>
#include <string>

#include "must.h"

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "example.db";
  auto db = fresh_database(argc, argv);
  const std::string value(1000, 'v');
  must(db->put(must(db->tree("whole")), "key", value));
  must(db->put(must(db->tree("rotten")), "key", value + "here"));
  must(db->close());
  db.reset();

  // Somewhere in the value of the second tree.
  std::fstream file(path + "/data.0", std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  file.clear();
  file.seekp(static_cast<std::streamoff>(bytes.find("vhere")));
  file.put('?');
  file.close();

  hawthorn::Options options;
  options.scrub_bytes_per_second = 1 << 20;  // all of it, again and again
  db = must(hawthorn::Db::open(path, options));
  const hawthorn::CheckReport report =
      must(db->check({.bytes_per_second = 10 << 20, .threads = 2}));
  must(!report.ok() && report.items.size() == 1);
  const hawthorn::CheckItem& item = report.items[0];
  must(item.file == "data.0" && item.tree_name == "rotten");
  std::printf("%s\n", item.to_string().c_str());

  hawthorn::Value read;
  const hawthorn::Status status = db->get(must(db->find_tree("rotten")), "key", read);
  must(status.is(hawthorn::StatusCode::kCorruption));
  must(db->get(must(db->find_tree("whole")), "key", read));
  must(read.view() == value);
  must(db->close());
}
